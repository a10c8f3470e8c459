//! Conditions as walks see them: sums whose values follow the changed places, and a distance to where a condition holds.

use std::collections::HashMap;

use super::wiring::{Lists, Walker};
use crate::{Condition, Net, PlaceId, Sum};

/// A condition with negations at the sums.
enum Node {
    Known(bool),
    AtMostZero(u32),
    Positive(u32),
    All(Vec<Node>),
    Any(Vec<Node>),
    Stuck(bool),
}

pub(super) struct Goals {
    trees: Vec<Node>,
    /// Sums of conditions first come, then sums that are only watched for their largest values.
    sums: Vec<Sum>,
    /// The sums that a place is in, with its weight there.
    of_place: Lists<(u32, i64)>,
    /// The conditions that a sum is in.
    users: Lists<u32>,
    /// Conditions that ask for deadlocks.
    asking_stuck: Vec<u32>,
    first_watched: u32,
}

/// The values of the sums where a walk is.
pub(super) struct Values {
    values: Vec<i128>,
    holds: Vec<bool>,
    touched: Vec<u32>,
    /// Conditions to be looked at again.
    pub(super) dirty: Vec<u32>,
    is_dirty: Vec<bool>,
}

struct Compiler<'a> {
    net: &'a Net,
    sums: Vec<Sum>,
    known: HashMap<(Vec<(PlaceId, i64)>, i64), u32>,
    used: Vec<u32>,
    stuck: bool,
}

impl Compiler<'_> {
    fn sum(&mut self, sum: &Sum) -> u32 {
        let id = *self.known.entry((sum.terms.clone(), sum.constant)).or_insert(self.sums.len() as u32);
        if id as usize == self.sums.len() {
            self.sums.push(sum.clone());
        }
        self.used.push(id);
        id
    }

    /// At least so many tokens (or, turned round, fewer), as a sum of tokens that is above zero.
    fn at_least(&mut self, place: PlaceId, weight: u64, truth: bool) -> Node {
        let Ok(weight) = i64::try_from(weight) else { return Node::Known(!truth) };
        let sum = self.sum(&Sum { terms: vec![(place, 1)], constant: 1 - weight });
        if truth { Node::Positive(sum) } else { Node::AtMostZero(sum) }
    }

    fn compile(&mut self, condition: &Condition, truth: bool) -> Node {
        let group = |parts: Vec<Node>, all: bool| if all { Node::All(parts) } else { Node::Any(parts) };
        match condition {
            Condition::True => Node::Known(truth),
            Condition::False => Node::Known(!truth),
            Condition::Not(inner) => self.compile(inner, !truth),
            Condition::All(parts) => group(parts.iter().map(|part| self.compile(part, truth)).collect(), truth),
            Condition::Any(parts) => group(parts.iter().map(|part| self.compile(part, truth)).collect(), !truth),
            Condition::AtMostZero(sum) => {
                let sum = self.sum(sum);
                if truth { Node::AtMostZero(sum) } else { Node::Positive(sum) }
            }
            Condition::Fireable(transitions) => {
                let mut any = Vec::new();
                for &t in transitions {
                    let net = self.net;
                    let transition = &net.transitions[t as usize];
                    let mut all = Vec::new();
                    all.extend(transition.inputs.iter().map(|arc| self.at_least(arc.place, arc.weight, truth)));
                    all.extend(transition.inhibitors.iter().map(|arc| self.at_least(arc.place, arc.weight, !truth)));
                    any.push(group(all, truth));
                }
                group(any, !truth)
            }
            Condition::Deadlock => {
                self.stuck = true;
                Node::Stuck(truth)
            }
        }
    }
}

impl Goals {
    /// `None` when there is more than can be numbered.
    pub(super) fn new(net: &Net, goals: &[Condition], watched: &[Sum]) -> Option<Goals> {
        let mut compiler = Compiler { net, sums: Vec::new(), known: HashMap::new(), used: Vec::new(), stuck: false };
        let (mut trees, mut users, mut asking_stuck) = (Vec::new(), Vec::new(), Vec::new());
        for (goal, condition) in goals.iter().enumerate() {
            trees.push(compiler.compile(condition, true));
            compiler.used.sort_unstable();
            compiler.used.dedup();
            users.extend(compiler.used.drain(..).map(|sum| (sum, goal as u32)));
            if std::mem::take(&mut compiler.stuck) {
                asking_stuck.push(goal as u32);
            }
        }
        let mut sums = compiler.sums;
        let first_watched = u32::try_from(sums.len()).ok()?;
        sums.extend_from_slice(watched);
        let term = |(id, sum): (usize, &Sum)| -> Vec<_> {
            sum.terms.iter().map(|&(place, weight)| (place, (id as u32, weight))).collect()
        };
        let terms = sums.iter().enumerate().flat_map(term).collect();
        let of_place = Lists::new(net.places.len(), terms)?;
        let users = Lists::new(sums.len(), users)?;
        Some(Goals { trees, sums, of_place, users, asking_stuck, first_watched })
    }

    pub(super) fn values(&self, marking: &[u64]) -> Values {
        let values: Vec<i128> = self.sums.iter().map(|sum| sum.value(marking)).collect();
        let holds = values.iter().map(|&value| value <= 0).collect();
        let dirty = (0..self.trees.len() as u32).collect();
        Values { values, holds, touched: Vec::new(), dirty, is_dirty: vec![true; self.trees.len()] }
    }

    /// The largest values so far of the watched sums.
    pub(super) fn raise(&self, values: &Values, largest: &mut [i128]) {
        for (best, &value) in largest.iter_mut().zip(&values.values[self.first_watched as usize..]) {
            *best = value.max(*best);
        }
    }

    /// Follows what the last firing changed; says whether a watched sum grew past its largest value.
    #[inline]
    pub(super) fn follow(&self, values: &mut Values, walker: &Walker, largest: &mut [i128]) -> bool {
        values.touched.clear();
        for &(place, before) in &walker.changed {
            let change = walker.marking[place as usize] as i128 - before as i128;
            for &(sum, weight) in self.of_place.of(place) {
                values.values[sum as usize] += change * weight as i128;
                values.touched.push(sum);
            }
        }
        let mut grew = false;
        for i in 0..values.touched.len() {
            let sum = values.touched[i];
            let value = values.values[sum as usize];
            if sum >= self.first_watched {
                let best = &mut largest[(sum - self.first_watched) as usize];
                if value > *best {
                    *best = value;
                    grew = true;
                }
            } else if values.holds[sum as usize] != (value <= 0) {
                values.holds[sum as usize] = value <= 0;
                for &goal in self.users.of(sum) {
                    values.mark(goal);
                }
            }
        }
        for &goal in &self.asking_stuck {
            values.mark(goal);
        }
        grew
    }

    pub(super) fn holds(&self, goal: u32, values: &Values, stuck: bool) -> bool {
        fn holds(node: &Node, values: &Values, stuck: bool) -> bool {
            match node {
                Node::Known(truth) => *truth,
                Node::AtMostZero(sum) => values.holds[*sum as usize],
                Node::Positive(sum) => !values.holds[*sum as usize],
                Node::All(parts) => parts.iter().all(|part| holds(part, values, stuck)),
                Node::Any(parts) => parts.iter().any(|part| holds(part, values, stuck)),
                Node::Stuck(truth) => stuck == *truth,
            }
        }
        holds(&self.trees[goal as usize], values, stuck)
    }

    /// How many tokens are in the wrong place, roughly; nought where the condition holds, deadlocks left aside.
    pub(super) fn distance(&self, goal: u32, values: &Values) -> i128 {
        fn distance(node: &Node, values: &[i128]) -> i128 {
            match node {
                Node::Known(true) | Node::Stuck(_) => 0,
                Node::Known(false) => i64::MAX as i128,
                Node::AtMostZero(sum) => values[*sum as usize].clamp(0, i64::MAX as i128),
                Node::Positive(sum) => (1 - values[*sum as usize]).clamp(0, i64::MAX as i128),
                Node::All(parts) => parts.iter().fold(0, |total, part| total + distance(part, values)),
                Node::Any(parts) => parts.iter().map(|part| distance(part, values)).min().unwrap_or(i64::MAX as i128),
            }
        }
        distance(&self.trees[goal as usize], &values.values)
    }

    /// The distance once these changes are made.
    pub(super) fn distance_after(&self, goal: u32, values: &mut Values, changes: &[(PlaceId, i64)]) -> i128 {
        self.shift(values, changes, 1);
        let distance = self.distance(goal, values);
        self.shift(values, changes, -1);
        distance
    }

    fn shift(&self, values: &mut Values, changes: &[(PlaceId, i64)], sign: i128) {
        for &(place, change) in changes {
            for &(sum, weight) in self.of_place.of(place) {
                values.values[sum as usize] += sign * change as i128 * weight as i128;
            }
        }
    }
}

impl Values {
    fn mark(&mut self, goal: u32) {
        if !std::mem::replace(&mut self.is_dirty[goal as usize], true) {
            self.dirty.push(goal);
        }
    }

    /// One of the conditions to be looked at again, which then counts as looked at.
    pub(super) fn next_dirty(&mut self) -> Option<u32> {
        let goal = self.dirty.pop()?;
        self.is_dirty[goal as usize] = false;
        Some(goal)
    }
}
