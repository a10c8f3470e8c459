//! What the first states say about the rest: how many there may be, and what each would take in a table and in a tree.

use crate::breadth_first;
use crate::check;
use crate::graph::InDegrees;
use crate::outcome::{Ended, Position};
use crate::store::{NO_ORIGIN, Set, StateId, Store, Table, Tree};
use scrimp_core::{Budget, Control};
use scrimp_system::{Batch, Model};
use std::io;
use std::sync::Arc;

/// States that are looked at before a store is settled on.
pub const SAMPLE: u64 = 1 << 15;

/// Bytes of index that a state in the table takes beside its own, about.
const INDEX_BYTES: f64 = 7.0;

/// What is to be expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// States that were seen, and whether they are all.
    pub seen: u64,
    pub complete: bool,
    /// How many there may be, where the levels grow more and more slowly or shrink already.
    pub expected: Option<f64>,
    /// Bytes for each state.
    pub in_table: f64,
    pub in_tree: f64,
}

impl Estimate {
    /// Looks at the first states of a model, so many of them.
    pub fn sample(model: &dyn Model, states: u64) -> io::Result<Estimate> {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let mut table = Table::new(model.state_bytes(), budget.clone())?;
        let (mut position, control) = (Position::default(), Control::new(None));
        control.pause_at_states(states);
        let mut in_degrees = InDegrees::new(false, budget);
        let check = check::Nothing;
        let worker = breadth_first::Worker::new(model, &check);
        let ended = breadth_first::search(worker, &mut table, &control, &mut in_degrees, &mut position, None);
        let estimate = Estimate::of(&position, &table, model);
        let complete = ended == Ended::Complete;
        Ok(Estimate { complete, expected: estimate.expected.filter(|_| !complete), ..estimate })
    }

    /// From a search that has paused.
    pub fn of(position: &Position, store: &dyn Store, model: &dyn Model) -> Estimate {
        let in_tree = tree_bytes(store, model);
        Estimate {
            complete: false,
            seen: store.len() as u64,
            expected: expected(&position.widths()),
            in_table: model.state_bytes() as f64 + INDEX_BYTES,
            in_tree: in_tree.unwrap_or(f64::INFINITY),
        }
    }

    /// Do the levels promise more states than a table of so many bytes holds? Quick to say.
    pub fn outgrows_table(position: &Position, state_bytes: usize, bytes: usize) -> bool {
        let room = bytes as f64 / (state_bytes as f64 + INDEX_BYTES);
        expected(&position.widths()).is_some_and(|expected| expected > room)
    }

    /// Would a tree be worth its time from the start, with so many bytes to fill?
    pub fn wants_tree(&self, bytes: usize) -> bool {
        let room = bytes as f64 / self.in_table;
        self.in_tree < self.in_table && self.expected.is_some_and(|expected| expected > room)
    }
}

/// Bytes of a tree for each of the stored states.
fn tree_bytes(store: &dyn Store, model: &dyn Model) -> Option<f64> {
    const AT_ONCE: usize = 256;
    let budget = Arc::new(Budget::new(usize::MAX / 4));
    let mut tree = Tree::of_model(model, &budget).ok()?;
    let state_bytes = model.state_bytes();
    let (mut batch, mut new, mut keys) = (Batch::new(state_bytes), Vec::new(), Vec::new());
    for first in (0..store.len()).step_by(AT_ONCE) {
        batch.clear();
        (first..store.len().min(first + AT_ONCE)).for_each(|id| store.load(id as StateId, batch.push_with(0)));
        new.clear();
        keys.clear();
        tree.make_room(batch.len()).ok()?;
        tree.insert(&batch, &vec![NO_ORIGIN; batch.len()], &mut new, &mut keys).ok()?;
    }
    Some(tree.bytes() as f64 / store.len().max(1) as f64)
}

/// The sizes of breadth-first levels often rise and fall like a bell: their logarithms lie on a parabola. The one that fits
/// the levels best tells how many states there may be in all. Nothing, where they do not bend down.
pub(crate) fn expected(widths: &[u64]) -> Option<f64> {
    const MOST_LEVELS: usize = 1 << 16;
    let widths: Vec<f64> = widths.iter().map(|&width| width as f64).collect();
    if widths.len() < 6 {
        return None;
    }
    // The wider a level, the more it says.
    let points = widths.iter().enumerate().map(|(x, &width)| (x as f64, width.max(1.0).ln(), width.sqrt()));
    let mut sums = [0.0; 5];
    let mut right = [0.0; 3];
    for (x, y, weight) in points {
        let mut power = weight;
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum += power;
            if let Some(right) = right.get_mut(i) {
                *right += power * y;
            }
            power *= x;
        }
    }
    let [a, b, c] =
        solve([[sums[0], sums[1], sums[2]], [sums[1], sums[2], sums[3]], [sums[2], sums[3], sums[4]]], right)?;
    if c >= -1e-6 {
        return None;
    }
    let known: f64 = widths.iter().sum();
    let later = (widths.len()..MOST_LEVELS).map(|x| (a + b * x as f64 + c * (x * x) as f64).exp());
    Some(known + later.take_while(|&width| width >= 0.5).sum::<f64>())
}

/// How many states there may be in all, for those whose search ended before its time. Levels that grow say little of the rest:
/// held against models that were searched to their end, a bell then came to a third of the states, or to millions of times as
/// many. Once the levels shrink it is seldom off by more than half.
pub(crate) fn in_all(widths: &[u64]) -> Option<f64> {
    /// So much narrower than the widest level is the last one where they shrink, and so many times what was found is too much.
    const NARROWER: f64 = 0.75;
    const FARTHEST: f64 = 10.0;
    let (last, widest) = (*widths.last()?, *widths.iter().max()?);
    let found: u64 = widths.iter().sum();
    let shrinks = last as f64 <= NARROWER * widest as f64;
    expected(widths).filter(|&expected| shrinks && expected <= FARTHEST * found as f64)
}

/// How many states may come beyond those of the levels so far, at a guess that costs little: as many again while levels grow,
/// and then as many as levels bring that go on to shrink as the last ones did, some of them taken together. Levels that are
/// narrow beside the widest promise less in any case.
pub(crate) fn still_to_come(widths: &[u64]) -> Option<u64> {
    let some = (widths.len() / 16).max(2);
    let (rest, last) = widths.split_at(widths.len().checked_sub(some)?);
    let before = &rest[rest.len().checked_sub(some)?..];
    let sum = |widths: &[u64]| widths.iter().map(|&width| width as u128).sum::<u128>();
    let most = |widths: &[u64]| widths.iter().max().map_or(1, |&most| most as u128);
    let again = sum(widths) * most(last) / most(widths).max(1);
    let (before, last) = (sum(before), sum(last));
    let shrinking = before.checked_sub(last).filter(|&by| by > 0);
    Some(shrinking.map_or(again, |by| (last * last / by).min(again)) as u64)
}

/// Tells those who watch how many states are to be expected, from the sizes of the levels known so far. Called at the end of
/// each level: it is worked out again when the states have grown by a quarter, or some time has gone by.
pub(crate) fn foresee(control: &Control, states: u64, widths: impl FnOnce() -> Vec<u64>) {
    if control.wants_foresight(states) {
        control.foresee(range(&widths()));
    }
}

/// Between which numbers of states there may be in all, once the levels shrink: what a bell that fits all levels promises, and
/// levels that go on to shrink as the last ones did, with a margin on both sides. While levels grow nothing can be told.
fn range(widths: &[u64]) -> Option<(u64, u64)> {
    /// What is still to come may be so many times less or more.
    const MARGIN: f64 = 1.5;
    let found: u64 = widths.iter().sum();
    let bell = in_all(widths)? - found as f64;
    let shrinking = still_to_come(widths)? as f64;
    let (least, most) = (bell.min(shrinking) / MARGIN, bell.max(shrinking) * MARGIN);
    Some((found + least as u64, found + most.ceil() as u64))
}

/// Solves three linear equations.
fn solve(mut rows: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|&i, &j| rows[i][pivot].abs().total_cmp(&rows[j][pivot].abs()))?;
        rows.swap(pivot, best);
        right.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-12 {
            return None;
        }
        for row in 0..3 {
            if row != pivot {
                let factor = rows[row][pivot] / rows[pivot][pivot];
                (0..3).for_each(|column| rows[row][column] -= factor * rows[pivot][column]);
                right[row] -= factor * right[pivot];
            }
        }
    }
    Some([right[0] / rows[0][0], right[1] / rows[1][1], right[2] / rows[2][2]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_is_foreseen_from_its_beginning() {
        let bell = |x: f64| (1e5 * (-(x - 30.0) * (x - 30.0) / 80.0).exp()).max(1.0) as u64;
        let all: Vec<u64> = (0..60).map(|x| bell(x as f64)).collect();
        let total: u64 = all.iter().sum();
        let guess = expected(&all[..22]).unwrap();
        assert!((0.5..2.0).contains(&(guess / total as f64)), "{guess} of {total}");
    }

    #[test]
    fn levels_promise_a_number_once_they_shrink() {
        let bell = |x: f64| (1e5 * (-(x - 30.0) * (x - 30.0) / 80.0).exp()).max(1.0) as u64;
        let all: Vec<u64> = (0..60).map(|x| bell(x as f64)).collect();
        let total: u64 = all.iter().sum();
        assert_eq!((in_all(&all[..20]), in_all(&all[..33]), in_all(&[])), (None, None, None));
        let guess = in_all(&all[..38]).unwrap();
        assert!((0.8..1.2).contains(&(guess / total as f64)), "{guess} of {total}");
    }

    #[test]
    fn the_range_holds_what_comes() {
        let bell = |x: f64| (1e5 * (-(x - 30.0) * (x - 30.0) / 80.0).exp()).max(1.0) as u64;
        let skewed = |x: f64| (1e5 * (x / 20.0).powi(4) * (-x / 5.0).exp()).max(1.0) as u64;
        for shape in [&bell as &dyn Fn(f64) -> u64, &skewed] {
            let all: Vec<u64> = (1..90).map(|x| shape(x as f64)).collect();
            let total: u64 = all.iter().sum();
            let widest = (0..all.len()).max_by_key(|i| all[*i]).unwrap();
            assert_eq!(range(&all[..widest]), None);
            let (mut told, mut right) = (0, 0);
            for end in widest..all.len() {
                let Some((least, most)) = range(&all[..end]) else { continue };
                told += 1;
                // A thousandth of all is nothing to who waits: the last levels of the bell are of one state each.
                let slack = total / 1000;
                right += u32::from((least.saturating_sub(slack)..=most + slack).contains(&total));
            }
            assert!(told > 20 && right * 10 >= told * 9, "{right} of {told} for {total}");
        }
    }

    #[test]
    fn as_many_again_until_levels_shrink() {
        assert_eq!((still_to_come(&[]), still_to_come(&[3, 2, 1])), (None, None));
        assert_eq!((still_to_come(&[1, 2, 5, 6]), still_to_come(&[4, 4, 4, 4])), (Some(14), Some(16)));
        // Of every second level there is less.
        assert_eq!(still_to_come(&[1000, 400, 100, 400, 50, 200, 25]), Some(225 * 225 / 225));
        assert_eq!(still_to_come(&[400, 400, 399, 400]), Some(1599));
        assert_eq!(still_to_come(&[1000, 900, 10, 9]), Some(0));
    }

    #[test]
    fn endless_growth_is_not() {
        let doubling: Vec<u64> = (0..15).map(|x| 1 << x).collect();
        assert_eq!(expected(&doubling), None);
        assert_eq!(expected(&[1, 2, 3]), None);
    }
}
