//! The smallest deterministic weak automaton of a property that has one: an obligation, which is what most properties are.
//!
//! Sets of states are followed instead of states. If the property is an obligation then all cycles of a component of these
//! sets accept or none does, and trying one tells which. Components get levels, by which the smallest automaton is found
//! like that of a finite language (Dax, Eisinger, Klaedtke; Löding). Where the formula does not show that it is an
//! obligation, the result is compared with the formula and its negation.

use crate::component::{Components, components};
use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::graph::{Arc, Graph, every};
use crate::limits::TooLarge;
use crate::marks::Outside;
use std::collections::{HashMap, VecDeque};

/// The most sets of states that are followed.
const MOST_SETS_OF_STATES: usize = 4096;
/// The most pairs of states that are compared.
const MOST_PAIRS: usize = 100_000;

/// The smallest weak deterministic automaton for what `graph` accepts. Without `negation` it is certain that there is one;
/// with it, which accepts everything else, `None` says that there is none.
pub(crate) fn obligation(
    graph: &Graph,
    negation: Option<&Graph>,
    diagram: &mut Diagram,
) -> Result<Option<Graph>, TooLarge> {
    let (mut weak, members) = determined(graph, diagram)?;
    let found = weak.components();
    let accepting = accepting_components(graph, &weak, &members, &found, diagram);
    let even = even_levels(&weak, &found, &accepting);
    weak = smallest(&weak, &even, diagram)?;
    if let Some(negation) = negation {
        let mut complement = weak.clone();
        complement.states.iter_mut().flatten().for_each(|arc| arc.marks ^= 1);
        if intersect(graph, &complement, diagram)? || intersect(&weak, negation, diagram)? {
            return Ok(None);
        }
    }
    weak.trim();
    weak.settle_marks(Outside::None);
    weak.merge_edges(diagram)?;
    Ok(Some(weak))
}

/// The complete deterministic graph of sets of states, and the sets.
fn determined(graph: &Graph, diagram: &mut Diagram) -> Result<(Graph, Vec<Vec<u32>>), TooLarge> {
    let first = vec![graph.initial];
    let mut number = HashMap::from([(first.clone(), 0)]);
    let mut members = vec![first];
    let mut states: Vec<Vec<Arc>> = Vec::new();
    while states.len() < members.len() {
        if members.len() > MOST_SETS_OF_STATES {
            return Err(TooLarge::States);
        }
        // The letters, in parts that lead to the same set.
        let mut parts: Vec<(Node, Vec<u32>)> = vec![(ALWAYS, Vec::new())];
        for &state in &members[states.len()] {
            for arc in &graph.states[state as usize] {
                let mut finer = Vec::with_capacity(parts.len());
                for (label, to) in parts {
                    let with = diagram.and(label, arc.label)?;
                    let without = diagram.minus(label, arc.label)?;
                    if with != NEVER {
                        let mut more = to.clone();
                        if let Err(place) = more.binary_search(&arc.to) {
                            more.insert(place, arc.to);
                        }
                        finer.push((with, more));
                    }
                    if without != NEVER {
                        finer.push((without, to));
                    }
                }
                parts = finer;
                if parts.len() > MOST_SETS_OF_STATES {
                    return Err(TooLarge::States);
                }
            }
        }
        let mut arcs = Vec::with_capacity(parts.len());
        for (label, to) in parts {
            let to = *number.entry(to).or_insert_with_key(|to| {
                members.push(to.clone());
                members.len() as u32 - 1
            });
            arcs.push(Arc { to, marks: 0, label });
        }
        states.push(arcs);
    }
    let mut weak = Graph { states, initial: 0, sets: 1 };
    weak.merge_edges(diagram)?;
    Ok((weak, members))
}

/// For each component: nothing when it has no cycle, else whether its cycles accept.
fn accepting_components(
    graph: &Graph,
    weak: &Graph,
    members: &[Vec<u32>],
    found: &Components,
    diagram: &Diagram,
) -> Vec<Option<bool>> {
    let mut accepting = vec![None; found.count];
    for (state, start) in members.iter().enumerate() {
        let component = found.of[state] as usize;
        if accepting[component].is_none()
            && let Some(word) = cycle(weak, found, state, diagram)
        {
            accepting[component] = Some(accepts_cycle(graph, start, &word, diagram));
        }
    }
    accepting
}

/// The letters of a shortest cycle through a state, if there is one.
fn cycle(weak: &Graph, found: &Components, start: usize, diagram: &Diagram) -> Option<Vec<u64>> {
    let mut before: HashMap<usize, (usize, Node)> = HashMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        for arc in weak.states[state].iter().filter(|arc| found.of[arc.to as usize] == found.of[start]) {
            let to = arc.to as usize;
            if before.contains_key(&to) {
                continue;
            }
            before.insert(to, (state, arc.label));
            if to == start {
                let mut word = Vec::new();
                let mut place = start;
                loop {
                    let (from, label) = before[&place];
                    word.push(diagram.letter(label)?);
                    place = from;
                    if place == start {
                        word.reverse();
                        return Some(word);
                    }
                }
            }
            open.push_back(to);
        }
    }
    None
}

/// Is the word, repeated for ever, accepted from one of these states?
fn accepts_cycle(graph: &Graph, start: &[u32], word: &[u64], diagram: &Diagram) -> bool {
    let mut nodes: Vec<(u32, usize)> = start.iter().map(|&state| (state, 0)).collect();
    let mut number: HashMap<(u32, usize), usize> = nodes.iter().enumerate().map(|(i, &node)| (node, i)).collect();
    let mut states: Vec<Vec<Arc>> = Vec::new();
    while states.len() < nodes.len() {
        let (state, position) = nodes[states.len()];
        let mut arcs = Vec::new();
        for arc in graph.states[state as usize].iter().filter(|arc| diagram.holds(arc.label, word[position])) {
            let to = (arc.to, (position + 1) % word.len());
            let to = *number.entry(to).or_insert_with(|| {
                nodes.push(to);
                nodes.len() - 1
            });
            arcs.push(Arc { to: to as u32, ..*arc });
        }
        states.push(arcs);
    }
    let product = Graph { states, initial: 0, sets: graph.sets };
    let found = product.components();
    product.accepting(&found).contains(&true)
}

/// Which states are final when levels are as high as can be: even levels accept, odd ones do not, and no edge leads to a
/// higher one.
fn even_levels(weak: &Graph, found: &Components, accepting: &[Option<bool>]) -> Vec<bool> {
    // As many levels as there are components suffice; whether a level is even is what matters.
    let top = 2 * (found.count as u64 + 1);
    let mut lowest = vec![top; found.count];
    let mut order: Vec<usize> = (0..weak.states.len()).collect();
    order.sort_by_key(|&state| found.of[state]);
    let mut levels = vec![None; found.count];
    for group in order.chunk_by(|&a, &b| found.of[a] == found.of[b]) {
        let component = found.of[group[0]] as usize;
        for arc in group.iter().flat_map(|&state| &weak.states[state]) {
            // Components that edges lead to come first; the own has no level yet.
            if let Some(level) = levels[found.of[arc.to as usize] as usize] {
                lowest[component] = lowest[component].min(level);
            }
        }
        let level = lowest[component];
        let fits = accepting[component].is_none_or(|accepting| accepting == level.is_multiple_of(2));
        levels[component] = Some(if fits { level } else { level - 1 });
    }
    found.of.iter().map(|&component| levels[component as usize].is_some_and(|level| level.is_multiple_of(2))).collect()
}

/// The smallest graph that tells the same words apart, with marks on the edges of final states.
fn smallest(weak: &Graph, accepting: &[bool], diagram: &mut Diagram) -> Result<Graph, TooLarge> {
    let mut classes: Vec<u32> = accepting.iter().map(|&accepts| u32::from(accepts)).collect();
    let mut count = 0;
    loop {
        let mut known: HashMap<(u32, Vec<(u32, Node)>), u32> = HashMap::new();
        let mut finer = Vec::with_capacity(classes.len());
        for (state, arcs) in weak.states.iter().enumerate() {
            let mut to: Vec<(u32, Node)> = arcs.iter().map(|arc| (classes[arc.to as usize], arc.label)).collect();
            to.sort_unstable();
            let mut merged: Vec<(u32, Node)> = Vec::with_capacity(to.len());
            for (class, label) in to {
                match merged.last_mut() {
                    Some(last) if last.0 == class => last.1 = diagram.or(last.1, label)?,
                    _ => merged.push((class, label)),
                }
            }
            let next = known.len() as u32;
            finer.push(*known.entry((classes[state], merged)).or_insert(next));
        }
        classes = finer;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    let mut states = vec![Vec::new(); count];
    let mut done = vec![false; count];
    for (state, arcs) in weak.states.iter().enumerate() {
        let class = classes[state] as usize;
        if !std::mem::replace(&mut done[class], true) {
            let marks = u64::from(accepting[state]);
            states[class] = arcs.iter().map(|arc| Arc { to: classes[arc.to as usize], marks, ..*arc }).collect();
        }
    }
    let mut graph = Graph { states, initial: classes[weak.initial as usize], sets: 1 };
    graph.merge_edges(diagram)?;
    Ok(graph)
}

/// Do both accept some word?
pub(crate) fn intersect(a: &Graph, b: &Graph, diagram: &mut Diagram) -> Result<bool, TooLarge> {
    let sets = a.sets + b.sets;
    if sets > crate::automaton::MOST_SETS {
        return Err(TooLarge::Sets);
    }
    let root = (a.initial, b.initial);
    let mut number = HashMap::from([(root, 0)]);
    let mut nodes = vec![root];
    let mut states: Vec<Vec<(usize, u64)>> = Vec::new();
    while states.len() < nodes.len() {
        if nodes.len() > MOST_PAIRS {
            return Err(TooLarge::States);
        }
        let (first, second) = nodes[states.len()];
        let mut arcs = Vec::new();
        for one in &a.states[first as usize] {
            for other in &b.states[second as usize] {
                if diagram.and(one.label, other.label)? == NEVER {
                    continue;
                }
                let to = *number.entry((one.to, other.to)).or_insert_with(|| {
                    nodes.push((one.to, other.to));
                    nodes.len() - 1
                });
                let marks = u128::from(one.marks) | u128::from(other.marks) << a.sets;
                arcs.push((to, marks as u64));
            }
        }
        states.push(arcs);
    }
    let found = components(states.len(), |state, i| states[state].get(i).map(|&(to, _)| to));
    let mut marks = vec![None; found.count];
    for (state, arcs) in states.iter().enumerate() {
        for &(_, more) in arcs.iter().filter(|(to, _)| found.of[*to] == found.of[state]) {
            let so_far = &mut marks[found.of[state] as usize];
            *so_far = Some(so_far.unwrap_or(0) | more);
        }
    }
    let all = every(sets);
    Ok(marks.into_iter().flatten().any(|marks| marks & all == all))
}
