//! Proofs that no reachable marking satisfies a condition.
//!
//! The condition is explored like a formula of propositional logic whose atoms are bounds on sums of tokens: a bound that
//! must hold is asserted in the state equation, and of alternatives only those are tried that the equation's present
//! solution does not satisfy anyway. A solution that empties an initially marked trap is excluded for good; one with
//! fractions is split. Each refutation knows on which decisions it rests, and alternatives that play no part are skipped.

use super::causes;
use super::equation::{Equation, upper_bound_in};
use super::literal::{Literal, Node};
use super::simplex::Feasible;
use super::siphons::Sets;
use super::tableau::{NO_LOWER, NO_UPPER, Stop};
use crate::net::Net;
use crate::question::{Condition, Sum};
use std::time::Instant;

/// The decisions that something rests on, a bit for each.
type Reasons = u128;
const MOST_DECISIONS: u32 = 127;
/// Decisions about fractions, one below the other.
const MOST_SPLITS: u32 = 12;
/// Traps learnt for one net.
const MOST_TRAPS: usize = 400;
/// Facts about the order of firings learnt for one net.
const MOST_LEARNT: usize = 2000;

/// What came of a branch: refuted for these reasons, or not.
enum Branch {
    Refuted(Reasons),
    Open,
}

/// The state equation of one net with what was learnt about it, ready for many questions.
pub struct Refuter<'a> {
    net: &'a Net,
    bounds: Vec<Option<u64>>,
    sets: Sets,
    equation: Equation,
    /// Why each variable has its lower and its upper bound.
    reasons: Vec<(Reasons, Reasons)>,
    /// Bounds to put back: variable, lower, upper, and their reasons.
    trail: Vec<(u32, i64, i64, (Reasons, Reasons))>,
    traps: usize,
    /// What the order of firings taught.
    learnt: Vec<Node>,
    /// Branches that may still be tried for this question.
    budget: usize,
    deadline: Instant,
}

impl<'a> Refuter<'a> {
    /// With bounds of places that are known; nothing when the net has numbers that are too large.
    pub fn new(net: &'a Net, bounds: &[Option<u64>]) -> Option<Refuter<'a>> {
        let equation = with_bounds(net, bounds)?;
        let deadline = Instant::now();
        Some(Refuter {
            net,
            bounds: bounds.to_vec(),
            sets: Sets::new(net),
            equation,
            reasons: Vec::new(),
            trail: Vec::new(),
            traps: 0,
            learnt: Vec::new(),
            budget: 0,
            deadline,
        })
    }

    /// Whether it is proven that no reachable marking satisfies the condition. At most so many cases are looked at.
    pub fn never_holds(&mut self, condition: &Condition, cases: usize, deadline: Instant) -> bool {
        self.budget = cases;
        self.deadline = deadline;
        let Ok(node) = Node::of(&mut self.equation, self.net, condition, true) else { return false };
        let start = self.trail.len();
        let answer = self.explore(vec![(&node, 0)], 0, 0);
        self.undo(start);
        match answer {
            Ok(Branch::Refuted(_)) => true,
            Ok(Branch::Open) => false,
            Err(Stop) => {
                self.start_again();
                false
            }
        }
    }

    /// Whether it is proven that no reachable marking has all these sums at most zero.
    pub fn unreachable(&mut self, sums: &[Sum], cases: usize, deadline: Instant) -> bool {
        self.never_holds(&Condition::All(sums.iter().cloned().map(Condition::AtMostZero).collect()), cases, deadline)
    }

    /// The most that a sum can be, first by the equation alone, then lowered as long as the value is refuted.
    pub fn upper_bound(&mut self, sum: &Sum, cases: usize, deadline: Instant) -> Option<i128> {
        let feasible = self.equation.tableau.make_feasible(deadline);
        let most = match feasible {
            Ok(Feasible::Yes) => upper_bound_in(&mut self.equation, sum, deadline),
            _ => Err(Stop),
        };
        let Ok(most) = most else {
            self.start_again();
            return None;
        };
        let mut most = most?;
        let at_first = super::number::dot(&sum.terms, |p| self.equation.initial[p as usize].into())?;
        let least = at_first.checked_add(sum.constant.into())?;
        while most > least {
            // sum >= most: most - sum <= 0.
            let terms = sum.terms.iter().map(|&(p, w)| Some((p, w.checked_neg()?))).collect::<Option<Vec<_>>>();
            let constant = i64::try_from(most.checked_sub(sum.constant.into())?).ok();
            let (Some(terms), Some(constant)) = (terms, constant) else { break };
            if !self.unreachable(&[Sum { terms, constant }], cases, deadline) {
                break;
            }
            most -= 1;
        }
        Some(most)
    }

    /// A tableau whose numbers grew too large, or that was left in the middle of a step, is of no use any more.
    fn start_again(&mut self) {
        if let Some(equation) = with_bounds(self.net, &self.bounds) {
            self.equation = equation;
            self.reasons.clear();
            self.trail.clear();
            self.traps = 0;
            self.learnt.clear();
        }
    }

    fn undo(&mut self, to: usize) {
        while self.trail.len() > to {
            if let Some((variable, lower, upper, reasons)) = self.trail.pop() {
                let v = variable as usize;
                self.equation.tableau.lower[v] = lower;
                self.equation.tableau.upper[v] = upper;
                self.reasons[v] = reasons;
            }
        }
    }

    /// Makes a bound hold; the reasons of the opposite one when they exclude each other.
    fn assert(&mut self, literal: Literal, why: Reasons) -> Result<Option<Reasons>, Stop> {
        let v = literal.variable as usize;
        if self.reasons.len() < self.equation.tableau.lower.len() {
            self.reasons.resize(self.equation.tableau.lower.len(), (0, 0));
        }
        let (lower, upper) = (self.equation.tableau.lower[v], self.equation.tableau.upper[v]);
        let saved = (literal.variable, lower, upper, self.reasons[v]);
        let tableau = &mut self.equation.tableau;
        if literal.at_most {
            if upper != NO_UPPER && upper <= literal.bound {
                return Ok(None);
            }
            if lower != NO_LOWER && lower > literal.bound {
                return Ok(Some(why | self.reasons[v].0));
            }
            tableau.upper[v] = literal.bound;
            self.reasons[v].1 = why;
        } else {
            if lower != NO_LOWER && lower >= literal.bound {
                return Ok(None);
            }
            if upper != NO_UPPER && upper < literal.bound {
                return Ok(Some(why | self.reasons[v].1));
            }
            tableau.lower[v] = literal.bound;
            self.reasons[v].0 = why;
        }
        self.trail.push(saved);
        let outside = if literal.at_most {
            tableau.value(literal.variable).0 > i128::from(literal.bound)
        } else {
            tableau.value(literal.variable).0 < i128::from(literal.bound)
        };
        // Variables that are not basic are always kept within their bounds.
        if tableau.row(literal.variable).is_none() && outside {
            tableau.move_to(literal.variable, literal.bound)?;
        }
        Ok(None)
    }

    /// What the bounds alone say: `Some(true)`, `Some(false)` with reasons, or nothing.
    fn known(&self, node: &Node) -> (Option<bool>, Reasons) {
        match node {
            Node::Bound(literal) => {
                let v = literal.variable as usize;
                let (lower, upper) = (self.equation.tableau.lower[v], self.equation.tableau.upper[v]);
                let why = self.reasons.get(v).copied().unwrap_or((0, 0));
                let (small, large) =
                    (upper != NO_UPPER && upper <= literal.bound, lower != NO_LOWER && lower > literal.bound);
                let (many, few) =
                    (lower != NO_LOWER && lower >= literal.bound, upper != NO_UPPER && upper < literal.bound);
                match literal.at_most {
                    true if small => (Some(true), why.1),
                    true if large => (Some(false), why.0),
                    false if many => (Some(true), why.0),
                    false if few => (Some(false), why.1),
                    _ => (None, 0),
                }
            }
            Node::All(parts) => {
                let (mut all, mut together) = (true, 0);
                for part in parts {
                    match self.known(part) {
                        (Some(false), why) => return (Some(false), why),
                        (Some(true), why) => together |= why,
                        (None, _) => all = false,
                    }
                }
                if all { (Some(true), together) } else { (None, 0) }
            }
            Node::Any(parts) => {
                let (mut none, mut together) = (true, 0);
                for part in parts {
                    match self.known(part) {
                        (Some(true), why) => return (Some(true), why),
                        (Some(false), why) => together |= why,
                        (None, _) => none = false,
                    }
                }
                if none { (Some(false), together) } else { (None, 0) }
            }
        }
    }

    /// Whether the point where the tableau is satisfies the node.
    fn at_point(&self, node: &Node) -> bool {
        match node {
            Node::Bound(literal) => {
                let (numerator, denominator) = self.equation.tableau.value(literal.variable);
                let bound = i128::from(literal.bound) * i128::from(denominator);
                if literal.at_most { numerator <= bound } else { numerator >= bound }
            }
            Node::All(parts) => parts.iter().all(|part| self.at_point(part)),
            Node::Any(parts) => parts.iter().any(|part| self.at_point(part)),
        }
    }

    /// Asserts what must hold until nothing follows any more; `open` is left with what still has alternatives.
    fn propagate<'n>(&mut self, open: &mut Vec<(&'n Node, Reasons)>) -> Result<Option<Reasons>, Stop> {
        loop {
            let mut changed = false;
            let mut kept = Vec::with_capacity(open.len());
            let mut work: Vec<(&'n Node, Reasons)> = std::mem::take(open);
            work.reverse();
            while let Some((node, why)) = work.pop() {
                match node {
                    Node::Bound(literal) => {
                        let before = self.trail.len();
                        if let Some(reasons) = self.assert(*literal, why)? {
                            return Ok(Some(reasons));
                        }
                        changed |= self.trail.len() > before;
                    }
                    Node::All(parts) => work.extend(parts.iter().map(|part| (part, why))),
                    Node::Any(parts) => {
                        let mut excluded = why;
                        let mut only = None;
                        let mut left = 0;
                        let mut satisfied = false;
                        for part in parts {
                            match self.known(part) {
                                (Some(true), _) => satisfied = true,
                                (Some(false), reasons) => excluded |= reasons,
                                (None, _) => {
                                    left += 1;
                                    only = Some(part);
                                }
                            }
                        }
                        match (satisfied, left, only) {
                            (true, _, _) => {}
                            (false, 0, _) => return Ok(Some(excluded)),
                            (false, 1, Some(part)) => work.push((part, excluded)),
                            _ => kept.push((node, why)),
                        }
                    }
                }
            }
            *open = kept;
            if !changed || open.is_empty() {
                return Ok(None);
            }
        }
    }

    /// The reasons of a row that contradicts its bounds.
    fn explain(&self, at: usize, larger: bool) -> Reasons {
        let why = |variable: u32| self.reasons.get(variable as usize).copied().unwrap_or((0, 0));
        let row = &self.equation.tableau.rows[at];
        let own = if larger { why(row.basic).0 } else { why(row.basic).1 };
        row.entries.iter().fold(own, |sum, &(variable, weight)| {
            let up = (weight > 0) == larger;
            sum | if up { why(variable).1 } else { why(variable).0 }
        })
    }

    fn explore(&mut self, open: Vec<(&Node, Reasons)>, level: u32, splits: u32) -> Result<Branch, Stop> {
        let mut open = open;
        if self.budget == 0 || Instant::now() >= self.deadline || level >= MOST_DECISIONS {
            return Ok(Branch::Open);
        }
        self.budget -= 1;
        if let Some(reasons) = self.propagate(&mut open)? {
            return Ok(Branch::Refuted(reasons));
        }
        loop {
            if let Feasible::No { row, larger } = self.equation.tableau.make_feasible(self.deadline)? {
                if !self.equation.is_contradiction(row, larger) {
                    return Err(Stop);
                }
                return Ok(Branch::Refuted(self.explain(row, larger)));
            }
            let unsatisfied = open.iter().enumerate().filter(|(_, (node, _))| !self.at_point(node));
            if let Some(at) = unsatisfied.min_by_key(|(_, (node, _))| self.choices(node)).map(|(at, _)| at) {
                return self.decide(open, at, level, splits);
            }
            if self.traps >= MOST_TRAPS || !self.equation.learn_trap(self.net, &self.sets)? {
                break;
            }
            self.traps += 1;
        }
        if let Some(node) = self.order_of_firings()? {
            let mut open = open;
            open.push((&node, 0));
            let at = open.len() - 1;
            return self.decide(open, at, level, splits);
        }
        match self.fraction() {
            Some(literal) if splits < MOST_SPLITS => {
                let Some(other) = literal.negated() else { return Ok(Branch::Open) };
                let node = Node::Any(vec![Node::Bound(literal), Node::Bound(other)]);
                let mut open = open;
                open.push((&node, 0));
                let at = open.len() - 1;
                self.decide(open, at, level, splits + 1)
            }
            _ => Ok(Branch::Open),
        }
    }

    fn choices(&self, node: &Node) -> usize {
        match node {
            Node::Any(parts) => parts.iter().filter(|part| self.known(part).0.is_none()).count(),
            _ => 0,
        }
    }

    /// Something that holds of every run and not where the tableau is: found before, or new.
    fn order_of_firings(&mut self) -> Result<Option<Node>, Stop> {
        if let Some(node) = self.learnt.iter().find(|node| !self.at_point(node)) {
            return Ok(Some(node.clone()));
        }
        if self.learnt.len() >= MOST_LEARNT {
            return Ok(None);
        }
        let found = match causes::too_early(self.net, &self.sets, &mut self.equation)? {
            Some(node) => Some(node),
            None => causes::vanished(self.net, &mut self.equation)?,
        };
        self.learnt.extend(found.clone());
        Ok(found)
    }

    /// A variable that is between two integers: places first, then moves. Sums follow from these.
    fn fraction(&self) -> Option<Literal> {
        let (moves, places) = (self.equation.moves() as u32, self.equation.places() as u32);
        let split = |variable: u32| {
            let (numerator, denominator) = self.equation.tableau.value(variable);
            let denominator = i128::from(denominator);
            if numerator.rem_euclid(denominator) == 0 {
                return None;
            }
            let bound = i64::try_from(numerator.div_euclid(denominator)).ok()?;
            Some(Literal { variable, at_most: true, bound })
        };
        (moves..moves + places).chain(0..moves).find_map(split)
    }

    /// Tries each alternative of one open node.
    fn decide(&mut self, open: Vec<(&Node, Reasons)>, at: usize, level: u32, splits: u32) -> Result<Branch, Stop> {
        let (node, why) = open[at];
        let Node::Any(parts) = node else { return Ok(Branch::Open) };
        let here: Reasons = 1 << level;
        let mut all = why;
        let start = self.trail.len();
        for part in parts {
            if let (Some(false), reasons) = self.known(part) {
                all |= reasons;
                continue;
            }
            let before = self.trail.len();
            let mut next: Vec<(&Node, Reasons)> = vec![(part, here)];
            next.extend(open.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, entry)| *entry));
            let outcome = self.explore(next, level + 1, splits);
            self.undo(before);
            match outcome? {
                Branch::Open => {
                    self.undo(start);
                    return Ok(Branch::Open);
                }
                Branch::Refuted(reasons) if reasons & here == 0 => {
                    self.undo(start);
                    return Ok(Branch::Refuted(reasons));
                }
                Branch::Refuted(reasons) => {
                    all |= reasons & !here;
                    // What was refuted does not hold in what follows.
                    if let Node::Bound(literal) = part
                        && let Some(opposite) = literal.negated()
                        && let Some(conflict) = self.assert(opposite, reasons & !here)?
                    {
                        self.undo(start);
                        return Ok(Branch::Refuted(conflict));
                    }
                }
            }
        }
        self.undo(start);
        Ok(Branch::Refuted(all & !here))
    }
}

fn with_bounds(net: &Net, bounds: &[Option<u64>]) -> Option<Equation> {
    let mut equation = Equation::new(net)?;
    for (place, bound) in bounds.iter().enumerate().take(equation.places()) {
        if let Some(most) = bound.and_then(|most| i64::try_from(most).ok()) {
            let more = most - equation.initial[place];
            let variable = equation.place(place as u32) as usize;
            equation.tableau.upper[variable] = more.max(0);
        }
    }
    Some(equation)
}

/// Cases that are looked at where the caller does not say.
const CASES: usize = 20_000;

/// Whether it is proven that no reachable marking satisfies the condition.
pub fn never_holds(net: &Net, condition: &Condition, deadline: Instant) -> bool {
    Refuter::new(net, &[]).is_some_and(|mut refuter| refuter.never_holds(condition, CASES, deadline))
}

/// Whether it is proven that no reachable marking has all these sums at most zero.
pub fn unreachable(net: &Net, sums: &[Sum], deadline: Instant) -> bool {
    Refuter::new(net, &[]).is_some_and(|mut refuter| refuter.unreachable(sums, CASES, deadline))
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets, reachable};
    use super::super::place_bounds;
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn sums() -> impl Strategy<Value = Condition> {
        (proptest::collection::btree_map(0u32..7, prop_oneof![Just(1i64), Just(-1), Just(2), Just(-3)], 0..4), -4i64..5)
            .prop_map(|(terms, constant)| Condition::AtMostZero(Sum { terms: terms.into_iter().collect(), constant }))
    }

    fn conditions() -> impl Strategy<Value = Condition> {
        let leaf = prop_oneof![
            10 => sums(),
            2 => proptest::collection::vec(0u32..8, 0..3).prop_map(Condition::Fireable),
            2 => Just(Condition::Deadlock),
            1 => Just(Condition::True),
            1 => Just(Condition::False),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Condition::All),
                proptest::collection::vec(inner, 0..4).prop_map(Condition::Any),
            ]
        })
    }

    /// Leaves out places and transitions that the net does not have.
    fn fit(condition: Condition, net: &Net) -> Condition {
        let list = |parts: Vec<Condition>| parts.into_iter().map(|part| fit(part, net)).collect();
        match condition {
            Condition::Not(inner) => Condition::Not(Box::new(fit(*inner, net))),
            Condition::All(parts) => Condition::All(list(parts)),
            Condition::Any(parts) => Condition::Any(list(parts)),
            Condition::AtMostZero(mut sum) => {
                sum.terms.retain(|e| (e.0 as usize) < net.places.len());
                Condition::AtMostZero(sum)
            }
            Condition::Fireable(mut which) => {
                which.retain(|&t| (t as usize) < net.transitions.len());
                Condition::Fireable(which)
            }
            other => other,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_refuted_never_holds(net in nets(), conditions in proptest::collection::vec(conditions(), 1..4)) {
            let deadline = Instant::now() + Duration::from_secs(10);
            let (markings, _) = reachable(&net, 400);
            let bounds = place_bounds(&net, deadline);
            let mut refuter = Refuter::new(&net, &bounds).unwrap();
            for condition in conditions {
                let condition = fit(condition, &net);
                if never_holds(&net, &condition, deadline) || refuter.never_holds(&condition, 1000, deadline) {
                    for m in &markings {
                        prop_assert!(!condition.holds(&net, m), "{:?} in {:?}", condition, m);
                    }
                }
                if let Condition::AtMostZero(sum) = &condition
                    && let Some(most) = refuter.upper_bound(sum, 1000, deadline)
                {
                    for m in &markings {
                        prop_assert!(sum.value(m) <= most);
                    }
                }
            }
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    fn at_least(place: u32, tokens: i64) -> Condition {
        Condition::AtMostZero(Sum { terms: vec![(place, -1)], constant: tokens })
    }

    #[test]
    fn two_processes_with_a_lock_exclude_each_other() {
        let net = net_of(
            &[1, 0, 1, 0, 1],
            &[
                (&[(0, 1), (4, 1)], &[(1, 1)]),
                (&[(1, 1)], &[(0, 1), (4, 1)]),
                (&[(2, 1), (4, 1)], &[(3, 1)]),
                (&[(3, 1)], &[(2, 1), (4, 1)]),
            ],
        );
        assert!(never_holds(&net, &Condition::All(vec![at_least(1, 1), at_least(3, 1)]), soon()));
        assert!(never_holds(&net, &Condition::Deadlock, soon()));
        assert!(!never_holds(&net, &at_least(3, 1), soon()));
    }

    /// The equation lets the token vanish here, and only the trap knows better.
    #[test]
    fn a_trap_proves_what_the_equation_does_not() {
        let net = net_of(&[1, 0, 0], &[(&[(0, 1)], &[(1, 2)]), (&[(1, 2)], &[(1, 1)]), (&[(1, 1)], &[(1, 1), (2, 1)])]);
        let empty = Condition::Not(Box::new(Condition::Any(vec![at_least(0, 1), at_least(1, 1)])));
        assert!(never_holds(&net, &empty, soon()));
    }

    #[test]
    fn tokens_are_whole() {
        let net = net_of(&[2, 0], &[(&[(0, 2)], &[(1, 2)])]);
        assert!(never_holds(&net, &Condition::All(vec![at_least(0, 1), at_least(1, 1)]), soon()));
    }
}
