//! Automata of formulas by their parts: a disjunction is the union of small automata, a conjunction their product.
//!
//! A tableau follows what all parts still ask at once, so that many parts which have nothing to do with each other make it
//! exponential in their number. A disjunction need not follow them together: the first step chooses one. Of a conjunction,
//! what must hold again and again (`G F p`) needs no states: it is a mark, and each edge has a copy with the mark where the
//! letter earns it. Who meets an edge infinitely often can take each of its copies infinitely often, so one mark on each
//! copy is enough, and there are as many copies as marks instead of one for each set of marks (Babiak and others,
//! "Compositional approach to suspension", 2013).

use crate::arena::{Arena, Id, Term};
use crate::automaton::MOST_SETS;
use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::graph::{Arc, Graph, every};
use crate::limits::TooLarge;
use crate::tableau::{Choice, tableau};
use crate::translate::reduce;
use std::collections::HashMap;

/// Steps that a tableau may take before its formula is taken apart, and states from which on that is tried as well.
const ATTEMPT: u64 = 20_000;
const SMALL: usize = 16;
/// How often parts are taken apart again.
const DEPTH: u32 = 4;
/// Steps that go into making the automaton of a part smaller, and the states up to which that is tried.
const REDUCING: u64 = 50_000;
const REDUCED: usize = 64;

/// The automaton of a formula, as it comes. Its conditions are nodes of the arena's diagram.
pub(crate) fn graph_of(arena: &mut Arena, root: Id) -> Result<Graph, TooLarge> {
    match attempt(arena, root, DEPTH) {
        Err(TooLarge::Steps | TooLarge::States) => whole(arena, root),
        other => other,
    }
}

/// By one tableau, with all the steps there are.
fn whole(arena: &mut Arena, root: Id) -> Result<Graph, TooLarge> {
    // With many atoms there can be too many letters, and few conditions all the same.
    let mut graph = match tableau(arena, root, Choice::ByLetter) {
        Err(TooLarge::Steps) => tableau(arena, root, Choice::ByCover)?,
        other => other?,
    };
    graph.trim();
    Ok(graph)
}

/// By one tableau if that is small and soon done, else by the parts of the formula.
fn attempt(arena: &mut Arena, root: Id, depth: u32) -> Result<Graph, TooLarge> {
    let tableau = with_steps(arena, ATTEMPT, |arena| whole(arena, root));
    if tableau.as_ref().is_ok_and(|graph| graph.states.len() <= SMALL) || depth == 0 {
        return tableau;
    }
    let parts = by_parts(arena, root, depth - 1);
    match (tableau, parts) {
        (Ok(one), Ok(Some(other))) => Ok(if other.states.len() < one.states.len() { other } else { one }),
        (Ok(graph), _) | (Err(_), Ok(Some(graph))) => Ok(graph),
        (Err(why), Ok(None)) | (Err(_), Err(why)) => Err(why),
    }
}

/// Does something with few steps, and takes up the rest afterwards.
fn with_steps<R>(arena: &mut Arena, steps: u64, work: impl FnOnce(&mut Arena) -> R) -> R {
    let part = arena.diagram.meter.part(steps);
    let rest = std::mem::replace(&mut arena.diagram.meter, part);
    let result = work(arena);
    arena.diagram.meter = rest;
    result
}

/// The automaton of a formula from those of its operands, if it has several.
fn by_parts(arena: &mut Arena, root: Id, depth: u32) -> Result<Option<Graph>, TooLarge> {
    if let Some(operands) = operands(arena, root, false) {
        let mut all = Vec::with_capacity(operands.len());
        for operand in operands {
            all.push(part(arena, operand, depth)?);
        }
        let mut graph = union(all);
        graph.trim();
        return Ok(Some(graph));
    }
    let Some(operands) = operands(arena, root, true) else { return Ok(None) };
    let mut again = Vec::new();
    let mut product: Option<Graph> = None;
    for operand in operands {
        if let Some(condition) = recurrence(arena, operand)? {
            again.push(condition);
            continue;
        }
        let one = part(arena, operand, depth)?;
        product = Some(match product {
            None => one,
            Some(all) => smaller(all.product(&one, &mut arena.diagram)?, arena)?,
        });
    }
    // Without anything else to ask for, all there is are marks.
    let everything = Graph { states: vec![vec![Arc { to: 0, marks: 0, label: ALWAYS }]], initial: 0, sets: 0 };
    let mut graph = product.unwrap_or(everything);
    graph.mark(&again, &mut arena.diagram)?;
    graph.trim();
    Ok(Some(graph))
}

/// The automaton of an operand, made small: it is copied, or multiplied.
fn part(arena: &mut Arena, operand: Id, depth: u32) -> Result<Graph, TooLarge> {
    let graph = attempt(arena, operand, depth)?;
    smaller(graph, arena)
}

fn smaller(mut graph: Graph, arena: &mut Arena) -> Result<Graph, TooLarge> {
    graph.trim();
    if graph.states.len() <= REDUCED {
        // When it takes too long it is reduced as far as it came.
        let _ = with_steps(arena, REDUCING, |arena| reduce(&mut graph, &mut arena.diagram, false));
    }
    Ok(graph)
}

/// The operands of a conjunction, or of a disjunction; also of `G` of the one and `F` of the other, which distribute over
/// them. What is about one moment is one operand.
fn operands(arena: &mut Arena, root: Id, conjunction: bool) -> Option<Vec<Id>> {
    let inner = |arena: &Arena, id: Id| match (arena.term(id), conjunction) {
        (Term::And(all), true) | (Term::Or(all), false) => Some(all.clone()),
        _ => None,
    };
    let distributed = match (arena.term(root), conjunction) {
        (&Term::Globally(a), true) | (&Term::Finally(a), false) => Some(a),
        _ => None,
    };
    let all = inner(arena, distributed.unwrap_or(root))?;
    let (now, others): (Vec<Id>, Vec<Id>) = all.into_iter().partition(|&id| arena.shape(id).state);
    let mut parts = Vec::new();
    if !now.is_empty() {
        parts.push(arena.keep_sorted(now, conjunction));
    }
    parts.extend(others);
    if parts.len() < 2 {
        return None;
    }
    if distributed.is_none() {
        // A part may itself be a `G` of a conjunction, or an `F` of a disjunction.
        let mut flat = Vec::new();
        for id in parts {
            let distributes =
                matches!((arena.term(id), conjunction), (Term::Globally(_), true) | (Term::Finally(_), false));
            match distributes.then(|| operands(arena, id, conjunction)).flatten() {
                Some(more) => flat.extend(more),
                None => flat.push(id),
            }
        }
        return Some(flat);
    }
    let term = |id| if conjunction { Term::Globally(id) } else { Term::Finally(id) };
    Some(
        parts
            .into_iter()
            .map(|id| {
                // What is for ever anyway, or at some time, is not said twice.
                let shape = arena.shape(id);
                let needless = if conjunction { shape.universal } else { shape.eventual };
                if needless { id } else { arena.keep(term(id)) }
            })
            .collect(),
    )
}

/// What must hold again and again, where a formula says nothing else.
fn recurrence(arena: &mut Arena, id: Id) -> Result<Option<Node>, TooLarge> {
    if let &Term::Globally(a) = arena.term(id)
        && let &Term::Finally(b) = arena.term(a)
        && arena.shape(b).state
    {
        return arena.condition(b).map(Some);
    }
    Ok(None)
}

/// Accepts what one of them does: the first step chooses.
fn union(graphs: Vec<Graph>) -> Graph {
    let sets = graphs.iter().map(|graph| graph.sets).max().unwrap_or(0);
    let mut states = vec![Vec::new()];
    for graph in graphs {
        let first = states.len() as u32;
        // Sets that others have are met all the time.
        let others = every(sets) & !every(graph.sets);
        let moved = |arc: &Arc| Arc { to: arc.to + first, marks: arc.marks | others, ..*arc };
        let enter: Vec<Arc> = graph.states[graph.initial as usize].iter().map(moved).collect();
        states[0].extend(enter);
        states.extend(graph.states.iter().map(|arcs| arcs.iter().map(moved).collect::<Vec<Arc>>()));
    }
    Graph { states, initial: 0, sets }
}

impl Graph {
    /// Accepts what both do.
    fn product(&self, other: &Graph, diagram: &mut Diagram) -> Result<Graph, TooLarge> {
        let sets = self.sets + other.sets;
        if sets > MOST_SETS {
            return Err(TooLarge::Sets);
        }
        let root = (self.initial, other.initial);
        let mut number = HashMap::from([(root, 0)]);
        let mut nodes = vec![root];
        let mut states: Vec<Vec<Arc>> = Vec::new();
        let mut edges = 0;
        while states.len() < nodes.len() {
            let (first, second) = nodes[states.len()];
            let mut arcs = Vec::new();
            for one in &self.states[first as usize] {
                for two in &other.states[second as usize] {
                    let label = diagram.and(one.label, two.label)?;
                    if label == NEVER {
                        continue;
                    }
                    let to = *number.entry((one.to, two.to)).or_insert_with(|| {
                        nodes.push((one.to, two.to));
                        nodes.len() as u32 - 1
                    });
                    // There are no more than 64 sets, and 64 of the first leave none for the second.
                    let shifted = two.marks.checked_shl(self.sets as u32).unwrap_or(0);
                    arcs.push(Arc { to, marks: one.marks | shifted, label });
                }
            }
            edges += arcs.len();
            states.push(arcs);
            diagram.meter.states(nodes.len().max(edges / 16))?;
        }
        Ok(Graph { states, initial: 0, sets })
    }

    /// One more set for each of the conditions: its mark where the condition holds.
    fn mark(&mut self, conditions: &[Node], diagram: &mut Diagram) -> Result<(), TooLarge> {
        if self.sets + conditions.len() > MOST_SETS {
            return Err(TooLarge::Sets);
        }
        diagram.meter.states(self.edges() * (conditions.len() + 1) / 16)?;
        for arcs in &mut self.states {
            let mut marked = arcs.clone();
            for (i, &condition) in conditions.iter().enumerate() {
                for arc in arcs.iter() {
                    let label = diagram.and(arc.label, condition)?;
                    if label != NEVER {
                        marked.push(Arc { marks: arc.marks | 1 << (self.sets + i), label, ..*arc });
                    }
                }
            }
            *arcs = marked;
        }
        self.sets += conditions.len();
        Ok(())
    }
}

/// Only by the parts, for tests: what a tableau does well enough never comes to them.
#[cfg(test)]
pub(crate) fn forced(arena: &mut Arena, root: Id) -> Result<Option<Graph>, TooLarge> {
    by_parts(arena, root, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Chance, letters};
    use crate::formula::Formula;
    use crate::limits::{Limits, Meter};
    use crate::translate::translate;
    use std::time::{Duration, Instant};

    /// Unions, products and marks accept what the formula says.
    #[test]
    fn parts_together_accept_the_same() {
        let mut chance = Chance(0x5eed_000b);
        let mut by_parts = 0;
        for round in 0..3000 {
            let mut some = || {
                let formula = chance.formula(1 + round % 6, 3);
                match chance.below(4) {
                    0 => Formula::Globally(Box::new(Formula::Finally(Box::new(formula)))),
                    1 => Formula::Finally(Box::new(Formula::Globally(Box::new(formula)))),
                    _ => formula,
                }
            };
            let all: Vec<Formula<u32>> = (0..2 + round % 3).map(|_| some()).collect();
            let formula = if round % 2 == 0 { Formula::And(all) } else { Formula::Or(all) };
            let mut arena = Arena::new(Meter::new(&Limits::default()));
            let (root, _) = arena.read(&formula).expect("small enough");
            let Some(graph) = forced(&mut arena, root).expect("small enough") else { continue };
            by_parts += 1;
            let automaton = graph.automaton(3, &mut arena.diagram).expect("small enough");
            for _ in 0..40 {
                let (stem, cycle) = chance.word(3);
                let holds = formula.holds_on(&stem, &cycle);
                assert_eq!(automaton.accepts(&stem, &cycle), holds, "{formula} on {stem:?} {cycle:?}");
            }
        }
        assert!(by_parts > 1000, "only {by_parts} of them had parts");
    }

    fn atom(number: u32) -> Formula<u32> {
        Formula::Atom(number)
    }

    fn often(number: u32) -> Formula<u32> {
        Formula::Globally(Box::new(Formula::Finally(Box::new(atom(number)))))
    }

    fn not(formula: Formula<u32>) -> Formula<u32> {
        Formula::Not(Box::new(formula))
    }

    /// Twenty parts that have nothing to do with each other: as many states as there must be, and soon.
    #[test]
    fn many_parts_are_soon_translated() {
        let every = |make: fn(u32) -> Formula<u32>| (0..20).map(make).collect::<Vec<_>>();
        let response = |i: u32| {
            let answer = Formula::Finally(Box::new(atom(2 * i + 1)));
            Formula::Globally(Box::new(Formula::Implies(Box::new(atom(2 * i)), Box::new(answer))))
        };
        let sometime = |i: u32| Formula::Finally(Box::new(atom(i)));
        let mixed: Vec<Formula<u32>> = (0..20)
            .map(|i| match i % 3 {
                0 => sometime(i),
                1 => often(i),
                _ => response(i),
            })
            .collect();
        let most = [
            (not(Formula::And(every(sometime))), 21),
            (not(Formula::Or(every(sometime))), 1),
            (not(Formula::And(every(often))), 21),
            (Formula::And(every(often)), 1),
            (Formula::Or(every(often)), 1),
            (not(Formula::Or(every(often))), 2),
            (not(Formula::And(every(response))), 41),
            (not(Formula::And(mixed)), 42),
        ];
        for (formula, most) in most {
            let begun = Instant::now();
            let automaton = translate(&formula, &Limits::default()).expect("small enough");
            let took = begun.elapsed();
            println!("{took:?} {} states: {formula}", automaton.states.len());
            assert!(automaton.states.len() <= most, "{} states: {formula}", automaton.states.len());
            assert!(took < Duration::from_secs(2), "{took:?}: {formula}");
        }
    }

    /// `G` of a conjunction and `F` of a disjunction are taken apart too.
    #[test]
    fn operators_that_distribute_have_parts() {
        let mut arena = Arena::new(Meter::free());
        for (text, conjunction, parts) in
            [("G (F a && F b && c)", true, 3), ("F (G a || G b || c || d)", false, 3), ("G (a && b)", true, 0)]
        {
            let (root, _) = arena.read(&letters(text)).expect("small enough");
            let found = operands(&mut arena, root, conjunction).map_or(0, |all| all.len());
            assert_eq!(found, parts, "{text}");
        }
    }
}
