//! Which values occur: a sample of the states that a search meets first, and of runs that go far.

use crate::packing::bits_for;
use scrimp_system::bounds::{Cells, bounds};
use scrimp_system::{Batch, Domain, Layout, Model, Random, System, VarId};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// States that are looked at, breadth first.
const STATES: usize = 10_000;
/// Runs that are followed: as many in a row as show nothing new, their length, and how long all of them may take.
const RUNS: usize = 100;
const STEPS: usize = 500;
const TIME: Duration = Duration::from_millis(250);

/// The least and the greatest value for which each variable has room.
#[derive(Debug, Clone)]
pub struct Ranges {
    ranges: Vec<(i64, i64)>,
    /// The first variable like each: those whose names differ by numbers alone have the same values sooner or later.
    like: Vec<usize>,
    /// How often a variable was given more room.
    widened: Vec<u32>,
    /// Sizes of the first levels, as the model itself has them.
    widths: Vec<u64>,
}

impl Ranges {
    /// What a sample shows; all that can occur, where that takes hardly more.
    pub fn learn(model: &dyn Model, system: &System, layout: &Layout) -> Ranges {
        let mut seen = Seen { layout, ranges: vec![None; system.variables.len()] };
        let mut known = HashSet::new();
        let mut open: Vec<Vec<u8>> = Vec::new();
        let mut batch = Batch::new(model.state_bytes());
        model.initial(&mut batch);
        let first: Vec<Vec<u8>> = (0..batch.len()).map(|i| batch.state(i).to_vec()).collect();
        for state in &first {
            seen.look_at(state);
            if known.insert(state.clone()) {
                open.push(state.clone());
            }
        }
        let (mut next, mut level, mut widths) = (0, open.len(), vec![open.len() as u64]);
        while next < open.len() && open.len() < STATES {
            batch.clear();
            model.expand(&open[next], &mut batch);
            batch.take_deadlock(0);
            for i in 0..batch.len() {
                if known.insert(batch.state(i).to_vec()) {
                    seen.look_at(batch.state(i));
                    open.push(batch.state(i).to_vec());
                }
            }
            next += 1;
            if next == level && open.len() > level {
                widths.push((open.len() - level) as u64);
                level = open.len();
            }
        }
        if next < open.len() {
            seen.follow_runs(model, first);
        }
        let like = alike(system);
        for (v, first) in like.iter().enumerate() {
            seen.ranges[*first] = hull(seen.ranges[*first], seen.ranges[v]);
        }
        like.iter().enumerate().for_each(|(v, first)| seen.ranges[v] = seen.ranges[*first]);
        let (cells, mut ranges) = (Cells::new(system), Vec::new());
        let possible = bounds(system, &cells);
        for (v, variable) in system.variables.iter().enumerate() {
            let (low, high) = seen.ranges[v].unwrap_or((variable.domain.low, variable.domain.low));
            // Numbers that are never negative count from zero.
            let low = if low > 0 { variable.domain.low.max(0) } else { low };
            let first = cells.first(VarId(v as u32)) as usize;
            let hulls = possible[first..first + variable.cells()].iter().filter(|set| !set.is_empty());
            let hull = hulls.map(|set| set.hull()).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            let whole = hull.filter(|&(least, most)| bits_for(least, most) <= bits_for(low, high) + 1);
            ranges.push(whole.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
        }
        Ranges { widened: vec![0; ranges.len()], ranges, like, widths }
    }

    /// Has a search levels of the same sizes as the model, as far as both know them? With `all`, it has no more levels.
    pub fn agree(&self, widths: &[u64], all: bool) -> bool {
        let common = self.widths.len().min(widths.len());
        self.widths[..common] == widths[..common] && (!all || common == self.widths.len())
    }

    pub fn all(&self) -> &[(i64, i64)] {
        &self.ranges
    }

    /// Gives a variable more room, and those like it; `false` if it has all there is.
    pub fn widen(&mut self, system: &System, variable: VarId) -> bool {
        let before = self.ranges[variable.index()];
        for v in 0..self.ranges.len() {
            // Others may have had more room than this one since long.
            if self.like[v] == self.like[variable.index()] && contains(before, self.ranges[v]) {
                self.widen_one(system, v);
            }
        }
        self.ranges[variable.index()] != before
    }

    fn widen_one(&mut self, system: &System, v: usize) {
        let domain = system.variables[v].domain;
        let before = self.ranges[v];
        let bits = bits_for(domain.low, domain.high).min(32);
        let more = (bits_for(before.0, before.1) + 3).min(31);
        self.widened[v] += 1;
        let reach = 1i64 << more;
        let low = if domain.low < 0 { (-reach).max(domain.low).min(before.0) } else { domain.low.min(before.0) };
        let some = (low, low.max(0).saturating_add(reach - 1).min(domain.high).max(before.1));
        self.ranges[v] = match self.widened[v] {
            1 | 2 if bits > 8 && some != before => some,
            _ => (domain.low, domain.high),
        };
    }
}

fn contains((low, high): (i64, i64), (least, most): (i64, i64)) -> bool {
    low <= least && most <= high
}

fn hull(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    a.into_iter().chain(b).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// For each variable the first one with the same domain whose name differs by numbers alone.
fn alike(system: &System) -> Vec<usize> {
    let mut first = HashMap::new();
    let key = |v: usize| {
        let mut name = system.full_name(VarId(v as u32));
        name.retain(|letter| !letter.is_ascii_digit());
        let Domain { low, high, .. } = system.variables[v].domain;
        (name, low, high)
    };
    (0..system.variables.len()).map(|v| *first.entry(key(v)).or_insert(v)).collect()
}

struct Seen<'a> {
    layout: &'a Layout,
    ranges: Vec<Option<(i64, i64)>>,
}

impl Seen<'_> {
    /// Says whether there is anything in a state that was in none before.
    fn look_at(&mut self, state: &[u8]) -> bool {
        let mut new = false;
        for (v, range) in self.ranges.iter_mut().enumerate() {
            let variable = VarId(v as u32);
            for index in 0..self.layout.slot(variable).length {
                let Ok(value) = self.layout.read(state, variable, index as i64) else { continue };
                let (low, high) = range.unwrap_or((value, value));
                new |= range.is_none() || value < low || value > high;
                *range = Some((low.min(value), high.max(value)));
            }
        }
        new
    }

    /// Follows runs at random, each from a state that has shown something new, or from the first ones.
    fn follow_runs(&mut self, model: &dyn Model, mut from: Vec<Vec<u8>>) {
        let (mut random, mut batch) = (Random(1), Batch::new(model.state_bytes()));
        let (begun, mut in_vain) = (Instant::now(), 0);
        while in_vain < RUNS && begun.elapsed() < TIME {
            in_vain += 1;
            let mut state = from[random.below(from.len())].clone();
            for _ in 0..STEPS {
                batch.clear();
                model.expand(&state, &mut batch);
                batch.take_deadlock(0);
                if batch.is_empty() {
                    break;
                }
                state.copy_from_slice(batch.state(random.below(batch.len())));
                if self.look_at(&state) {
                    from.push(state.clone());
                    in_vain = 0;
                }
            }
        }
    }
}
