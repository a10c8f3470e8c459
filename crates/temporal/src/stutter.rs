//! Whether a formula minds that a letter is repeated. Where it does not, reductions that change how often may be used.

use crate::arena::Arena;
use crate::automaton::{MOST_SETS, Marks};
use crate::component::components;
use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::formula::Formula;
use crate::graph::{Graph, every};
use crate::limits::{Limits, Meter, TooLarge};
use crate::translate::translate;
use std::collections::HashMap;

/// The most kinds of letters that are told apart.
const MOST_LETTERS: usize = 4096;

/// Is the formula true of a word exactly if it is true of every word in which letters are repeated more often, or less
/// often, but finitely often where it was so?
///
/// Without X it is. With X the automata of the formula and of its negation are asked: if the formula minds, there are two
/// words, of which one satisfies it, that become the same by repeating letters.
///
/// # Errors
/// When the automata, or the question, are too large.
pub fn is_stutter_invariant(formula: &Formula<u32>, limits: &Limits) -> Result<bool, TooLarge> {
    if !formula.is_ltl() {
        return Err(TooLarge::Quantifier);
    }
    if !has_next(formula) || !has_next(&simplified(formula, limits)?) {
        return Ok(true);
    }
    let negation = Formula::Not(Box::new(formula.clone()));
    let (yes, no) = (translate(formula, limits)?, translate(&negation, limits)?);
    let mut diagram = Diagram::new(Meter::new(limits));
    let (yes, no) = (Graph::of(&yes, &mut diagram)?, Graph::of(&no, &mut diagram)?);
    let letters = letters(&[&yes, &no], &mut diagram)?;
    Ok(!common_by_repeating(&yes, &no, &letters, &mut diagram)?)
}

fn has_next<A>(formula: &Formula<A>) -> bool {
    matches!(formula, Formula::Next(_)) || formula.operands().into_iter().any(has_next)
}

fn simplified(formula: &Formula<u32>, limits: &Limits) -> Result<Formula<u32>, TooLarge> {
    let mut arena = Arena::new(Meter::new(limits));
    let (root, _) = arena.read(formula)?;
    let small = arena.tree_size(root) <= 4 * formula.size() + 64;
    Ok(if small { arena.write(root) } else { formula.clone() })
}

/// The kinds of letters that the automata tell apart: each label is one of their unions.
fn letters(graphs: &[&Graph], diagram: &mut Diagram) -> Result<Vec<Node>, TooLarge> {
    let mut labels: Vec<Node> =
        graphs.iter().flat_map(|graph| graph.states.iter().flatten().map(|arc| arc.label)).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut kinds = vec![ALWAYS];
    for label in labels {
        let mut finer = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let (with, without) = (diagram.and(kind, label)?, diagram.minus(kind, label)?);
            finer.extend([with, without].into_iter().filter(|&part| part != NEVER));
        }
        kinds = finer;
        if kinds.len() > MOST_LETTERS {
            return Err(TooLarge::Steps);
        }
    }
    Ok(kinds)
}

/// A state of both automata while letters are repeated: the states, and the letter that came last, by its number.
type Place = (u32, u32, u32);
/// No letter came yet.
const NO_LETTER: u32 = u32::MAX;

/// Are there a word of the first and a word of the second that become the same by repeating letters? Both automata read
/// the same word, and each may pass over a letter that is the one before again.
fn common_by_repeating(a: &Graph, b: &Graph, letters: &[Node], diagram: &mut Diagram) -> Result<bool, TooLarge> {
    // Each gets one more set, of the edges on which it does read: it cannot pass over letters for ever.
    let sets = a.sets + b.sets + 2;
    if sets > MOST_SETS {
        return Err(TooLarge::Sets);
    }
    let (reads_a, reads_b): (Marks, Marks) = (1 << (sets - 2), 1 << (sets - 1));
    let root: Place = (a.initial, b.initial, NO_LETTER);
    let mut number = HashMap::from([(root, 0)]);
    let mut nodes = vec![root];
    let mut edges: Vec<Vec<(usize, Marks)>> = Vec::new();
    while edges.len() < nodes.len() {
        diagram.meter.states(nodes.len() / 64)?;
        let (first, second, last) = nodes[edges.len()];
        let mut own = Vec::new();
        for (i, &letter) in letters.iter().enumerate() {
            let repeated = i as u32 == last;
            let mut moves = |graph: &Graph, state: u32, shift: usize, reads: Marks| {
                let mut moves = if repeated { vec![(state, 0)] } else { Vec::new() };
                for arc in &graph.states[state as usize] {
                    if diagram.and(arc.label, letter)? != NEVER {
                        moves.push((arc.to, arc.marks << shift | reads));
                    }
                }
                Ok(moves)
            };
            let (of_a, of_b) = (moves(a, first, 0, reads_a)?, moves(b, second, a.sets, reads_b)?);
            for &(to_a, marks_a) in &of_a {
                for &(to_b, marks_b) in &of_b {
                    let place = (to_a, to_b, i as u32);
                    let to = *number.entry(place).or_insert_with(|| {
                        nodes.push(place);
                        nodes.len() - 1
                    });
                    own.push((to, marks_a | marks_b));
                }
            }
        }
        edges.push(own);
    }
    let found = components(nodes.len(), |node, i| edges[node].get(i).map(|&(to, _)| to));
    let mut marks = vec![None; found.count];
    for (node, own) in edges.iter().enumerate() {
        for &(_, more) in own.iter().filter(|(to, _)| found.of[*to] == found.of[node]) {
            let so_far = &mut marks[found.of[node] as usize];
            *so_far = Some(so_far.unwrap_or(0) | more);
        }
    }
    let all = every(sets);
    Ok(marks.into_iter().flatten().any(|marks| marks & all == all))
}
