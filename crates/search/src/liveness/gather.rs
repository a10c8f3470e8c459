//! From what a search has found to a run of the product.

use super::components::Components;
use super::lasso::Rough;
use super::nested::Nested;
use super::product::{INSIDE, Mover};
use super::states::{Access, Key};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::collections::HashMap;

/// The longest run that is written down.
const LONGEST: usize = 2_000_000;

fn load(states: &mut dyn Access, keys: impl Iterator<Item = Key>, bytes: usize) -> Vec<Vec<u8>> {
    let mut one = Batch::new(bytes);
    let mut load = |key| {
        one.clear();
        states.load(key, &mut one);
        one.state(0).to_vec()
    };
    keys.map(&mut load).collect()
}

/// The run that a nested search has found.
pub(super) fn of_nested(nested: &mut Nested, bytes: usize) -> Option<Rough> {
    let (place, further) = nested.cycle.take()?;
    let path: Vec<Key> = nested.outer.keys().collect();
    if path.len() + further.len() > LONGEST {
        return None;
    }
    let begin = path[place as usize];
    let stem = load(nested.states, path[..=place as usize].iter().copied(), bytes);
    let cycle = path[place as usize + 1..].iter().copied().chain(further).chain([begin]);
    let cycle = load(nested.states, cycle, bytes);
    Some(Rough { stem, cycle, marks: Vec::new() })
}

/// A run through the component that was found, which meets all marks.
pub(super) fn of_component(components: &mut Components, mover: &mut Mover) -> Option<Rough> {
    let place = components.found?;
    let mut path: Vec<Key> = components.path.keys().take(place as usize + 1).collect();
    if path.len() > LONGEST {
        return None;
    }
    let wanted = components.wanted;
    let (states, inside) = components.found_in();
    let root = *path.last()?;
    if !inside.has_in_part(root) {
        let to_part = |_: Key, to: Key, _: Marks| inside.has_in_part(to);
        let way = within(states, mover, root, &|key| inside.has(key), &to_part)?;
        path.extend(way.into_iter().map(|(key, _)| key));
    }
    let within = |key| inside.has_in_part(key);
    around(states, mover, path, wanted, &within, &within)
}

/// A run: a path, and from its end once round, through states that are inside, such that all marks are met that are wanted, on edges
/// between states that count. Those that count reach each other through states that are inside.
pub(super) fn around(
    states: &mut dyn Access,
    mover: &mut Mover,
    path: Vec<Key>,
    wanted: Marks,
    inside: &dyn Fn(Key) -> bool,
    counts: &dyn Fn(Key) -> bool,
) -> Option<Rough> {
    if path.len() > LONGEST {
        return None;
    }
    let root = *path.last()?;
    let mut missing = wanted;
    let (mut cycle, mut marks): (Vec<Key>, Vec<Marks>) = (Vec::new(), Vec::new());
    let mut at = root;
    while missing != 0 {
        let some = |from: Key, to: Key, marks: Marks| marks & missing != 0 && counts(from) && counts(to);
        for (key, met) in within(states, mover, at, inside, &some)? {
            cycle.push(key);
            marks.push(met);
            missing &= !met;
        }
        at = *cycle.last()?;
    }
    if at != root || cycle.is_empty() {
        for (key, met) in within(states, mover, at, inside, &|_, to, _| to == root)? {
            cycle.push(key);
            marks.push(met);
        }
    }
    let bytes = mover.product.state_bytes();
    let stem = load(states, path.into_iter(), bytes);
    let cycle = load(states, cycle.into_iter(), bytes);
    Some(Rough { stem, cycle, marks })
}

/// The shortest way through states that are inside whose last edge is wanted: its states but the first, each with the marks of the
/// edge to it.
fn within(
    states: &mut dyn Access,
    mover: &mut Mover,
    from: Key,
    inside: &dyn Fn(Key) -> bool,
    wanted: &dyn Fn(Key, Key, Marks) -> bool,
) -> Option<Vec<(Key, Marks)>> {
    let mut parents: HashMap<Key, (Key, Marks)> = HashMap::from([(from, (from, 0))]);
    let mut queue = std::collections::VecDeque::from([from]);
    let bytes = mover.product.state_bytes();
    let (mut state, mut successors, mut marks, mut keys) =
        (Batch::new(bytes), Batch::new(bytes), Vec::new(), Vec::new());
    while let Some(source) = queue.pop_front() {
        state.clear();
        successors.clear();
        marks.clear();
        keys.clear();
        states.load(source, &mut state);
        let full = states.is_full(source);
        mover.expand(state.state(0), full, &mut successors, &mut marks).ok()?;
        states.keys(&successors, Some(source), &mut keys).ok()?;
        for (&to, &given) in keys.iter().zip(&marks) {
            if given & INSIDE == 0 || !inside(to) {
                continue;
            }
            if wanted(source, to, given) {
                let mut way = vec![(to, given)];
                let mut at = source;
                while at != from {
                    let (parent, marks) = parents[&at];
                    way.push((at, marks));
                    at = parent;
                }
                way.reverse();
                return Some(way);
            }
            if parents.len() < LONGEST && !parents.contains_key(&to) {
                parents.insert(to, (source, given));
                queue.push_back(to);
            }
        }
    }
    None
}
