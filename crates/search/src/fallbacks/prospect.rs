//! What a tree and a minimized automaton would take, from the first states of a search, which lie in a table level by level.

use super::grouped;
use crate::estimate::{self, SAMPLE};
use crate::set_bfs::layers;
use crate::store::{AutomatonSet, LayerOrder, NO_ORIGIN, Set, StateId, Store, Table, Tree};
use crate::table_bfs::TableBfs;
use crate::task::Task;
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::sync::Arc;

/// An automaton is far slower than a tree: it must be so many times smaller to be gone to at once.
const SMALLER: f64 = 3.0;
/// What is tried out takes about this part of the memory, or less.
const PART: usize = 32;
/// There are often more states than the levels promise.
const MARGIN: f64 = 4.0;

/// What is to be expected of a search that has outgrown its table.
pub struct Prospect {
    /// States in all, from how the levels grew.
    expected: Option<f64>,
    /// Bytes for the states.
    bytes: f64,
    /// Bytes that each further state takes: what the second half of those that were tried out added.
    in_tree: Option<f64>,
    in_automaton: Option<f64>,
}

impl Prospect {
    pub fn of(task: &Task, table: &TableBfs<Table>) -> Prospect {
        let store = table.store();
        let most = task.budget.memory() / PART / task.model.state_bytes();
        let states = store.len().min(most.clamp(1000, SAMPLE as usize));
        // It is gone before the search goes on.
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let tree = Tree::of_model(task.model, &budget).ok();
        let in_tree = tree.and_then(|mut tree| rate(&mut tree, store, states, task, |tree| Some(tree.bytes())));
        let order = layers(task, &LayerOrder::sample(task.model)).ok();
        let automaton = order.and_then(|order| AutomatonSet::new(task.model.state_bytes(), &order, &budget).ok());
        let in_automaton = automaton.and_then(|mut set| rate(&mut set, store, states, task, nodes));
        Prospect {
            expected: estimate::expected(&table.position.widths()),
            bytes: (task.budget.left() + store.bytes()) as f64,
            in_tree,
            in_automaton,
        }
    }

    /// Should the search go on in an automaton at once? Where a tree may not do, and it is far smaller.
    pub fn is_for_automaton(&self, task: &Task) -> bool {
        let (Some(expected), Some(tree), Some(automaton)) = (self.expected, self.in_tree, self.in_automaton) else {
            return false;
        };
        let wanted =
            task.plan.options().disk.is_none() && expected * MARGIN * tree > self.bytes && automaton * SMALLER < tree;
        if wanted {
            task.control.say(format!(
                "{} states or more are to be expected: {tree:.1} bytes each in a tree, which may be too much, and \
                 {automaton:.1} in an automaton",
                grouped(expected as u64),
            ));
        }
        wanted
    }
}

/// Bytes of an automaton's nodes, with all states in it.
fn nodes(set: &mut AutomatonSet) -> Option<usize> {
    let automaton = set.automaton().ok()?;
    Some(automaton.bytes() - automaton.free_bytes())
}

/// Bytes that each further state takes in a set.
fn rate<S: Set>(
    set: &mut S,
    store: &dyn Store,
    states: usize,
    task: &Task,
    bytes: impl Fn(&mut S) -> Option<usize>,
) -> Option<f64> {
    const AT_ONCE: usize = 256;
    let (mut batch, mut new, mut keys) = (Batch::new(task.model.state_bytes()), Vec::new(), Vec::new());
    let mut half = None;
    for first in (0..states).step_by(AT_ONCE) {
        batch.clear();
        (first..states.min(first + AT_ONCE)).for_each(|id| store.load(id as StateId, batch.push_with(0)));
        new.clear();
        keys.clear();
        set.make_room(batch.len()).ok()?;
        set.insert(&batch, &vec![NO_ORIGIN; batch.len()], &mut new, &mut keys).ok()?;
        let done = first + batch.len();
        if half.is_none() && 2 * done >= states {
            half = Some((done, bytes(set)?));
        }
    }
    let (done, before) = half?;
    Some(bytes(set)?.saturating_sub(before) as f64 / (states - done).max(1) as f64)
}
