//! Putting a measure together: one component after the other, whatever lowers the peak of the sweep most.
//!
//! Each step tries every candidate at every place of the vector. A quick estimate sorts them, and the few best are run
//! through the sampled graph. When nothing can be added with profit, components are replaced, moved and removed.

use crate::auto::AutoOptions;
use crate::candidates::{Candidate, Candidates};
use crate::component::Component;
use crate::estimate::{Estimate, Probes};
use crate::measure::{BITS, bits};
use crate::order::Ranker;
use crate::sample::Sample;
use crate::sweep::{Patience, Sweep, Sweeper};
use scrimp_system::{Layout, Stop, System};
use std::collections::BTreeMap;

/// States that the quick estimate looks at.
const PROBES: usize = 4000;
/// Fewest and most vectors that are simulated in each step; in between, as much time is spent on that as on estimates.
const TRIALS: (u64, u64) = (3, 12);
/// The share of the closed states of a class that a cache is expected to keep.
const CACHED: f64 = 0.25;
/// A step must lower the score by this share.
const GAIN: f64 = 0.005;
/// Components of a vector.
const MOST_COMPONENTS: usize = 12;
/// Visits, in multiples of the number of states, that a sweep may take.
const MOST_VISITS: f64 = 4.5;

pub struct Search<'a> {
    sample: &'a Sample,
    probes: Probes,
    candidates: Vec<Candidate>,
    sweeper: Sweeper,
    ranker: Ranker,
    class: Vec<u32>,
    /// The values of candidates in all states, from the lowest on, and how many that may be.
    columns: BTreeMap<usize, (Vec<u32>, u32)>,
    /// What a closed state of the current class counts.
    closed: f64,
    /// What was done so far, in steps of about a nanosecond, and what may be.
    work: u64,
    effort: u64,
    /// When it has to end, whatever was done.
    stop: &'a Stop,
}

/// A vector of candidates, by number, and what it comes to.
#[derive(Debug, Clone)]
pub struct Found {
    pub vector: Vec<usize>,
    pub sweep: Sweep,
    pub score: f64,
}

/// What stays the same while one component of a vector changes: the keys of those before and behind it.
struct Gap {
    at: usize,
    before: Vec<u128>,
    behind: Vec<u128>,
    before_width: u128,
    behind_width: u128,
    /// Bits of a value that the others take.
    bits: u32,
}

impl<'a> Search<'a> {
    pub fn new(
        system: &System,
        layout: &Layout,
        sample: &'a Sample,
        options: AutoOptions,
        stop: &'a Stop,
    ) -> Search<'a> {
        let probes = Probes::new(sample, PROBES, options.seed);
        let most = (options.bytes / 4 / (4 * probes.members.len().max(1))).max(20);
        let mut candidates = Candidates { system, layout, sample, probes: &probes, most, found: vec![] };
        candidates.collect();
        let candidates = candidates.found;
        let closed = if options.caching { CACHED } else { 1.0 };
        let (sweeper, ranker) = (Sweeper::default(), Ranker::default());
        Search {
            sample,
            probes,
            candidates,
            sweeper,
            ranker,
            class: vec![],
            columns: BTreeMap::new(),
            closed,
            work: 0,
            effort: options.effort,
            stop,
        }
    }

    pub fn components(&self, vector: &[usize]) -> Vec<Component> {
        vector.iter().map(|&number| self.candidates[number].component.clone()).collect()
    }

    /// Runs the sweep; it is given up once it cannot have a better score than `beat`.
    pub fn judge(&mut self, vector: Vec<usize>, share: f64, beat: f64) -> Found {
        let n = self.sample.len() as f64;
        let patience = Patience {
            visits: (n * MOST_VISITS) as usize,
            peak: if beat.is_finite() { (n * beat / self.closed) as usize } else { usize::MAX },
            regress: (share * self.sample.edges() as f64) as usize,
        };
        let classes = self.classify(&vector);
        let sweep = self.sweeper.run(self.sample, &self.class, classes, patience);
        self.work += 70 * self.sample.len() as u64 + 30 * sweep.visits as u64;
        let again = sweep.visits as f64 / n - 1.0;
        let stored = sweep.floor as f64 + self.closed * (sweep.peak - sweep.floor) as f64;
        let score = if sweep.aborted { f64::INFINITY } else { stored / n * (1.0 + 0.1 * again) };
        Found { vector, sweep, score }
    }

    /// Ranks all states by their values.
    fn classify(&mut self, vector: &[usize]) -> usize {
        let mut keys = vec![0u128; self.sample.len()];
        for &number in vector {
            let component = &self.candidates[number].component;
            let (column, width) = self.columns.entry(number).or_insert_with(|| column(self.sample, component));
            keys.iter_mut().zip(column).for_each(|(key, value)| *key = *key * *width as u128 + *value as u128);
        }
        self.ranker.rank(&keys, &mut self.class)
    }

    /// Improves a vector step by step while its regress edges stay below `share` of all. If that was done up to the
    /// share `tried`, the first step need not look at what was possible then.
    pub fn climb(&mut self, start: Found, share: f64, tried: Option<f64>) -> Found {
        let mut best = start;
        let mut above = tried.unwrap_or(-1.0);
        while self.work < self.effort && self.stop.due().is_none() {
            let additions = (0..=best.vector.len()).map(|at| (at, false)).collect();
            let next = self.step(&best, (above, share), additions, vec![]).or_else(|| {
                let replacements = (0..best.vector.len()).map(|at| (at, true)).collect();
                self.step(&best, (above, share), replacements, rearranged(&best.vector))
            });
            match next {
                Some(found) => (best, above) = (found, -1.0),
                None => break,
            }
        }
        best
    }

    /// Leaves out the components that decide nothing in the sample.
    pub fn simplify(&mut self, mut found: Found) -> Found {
        self.classify(&found.vector);
        let whole = self.class.clone();
        for at in (0..found.vector.len()).rev() {
            let mut without = found.vector.clone();
            without.remove(at);
            self.classify(&without);
            self.work += 40 * whole.len() as u64;
            if self.class == whole {
                found.vector = without;
            }
        }
        found
    }

    /// The best vector with a component put in at one of the places, or one of `others`, if any is better.
    fn step(
        &mut self,
        best: &Found,
        shares: (f64, f64),
        places: Vec<(usize, bool)>,
        others: Vec<Vec<usize>>,
    ) -> Option<Found> {
        let begin = self.work;
        let mut options: Vec<(f64, Vec<usize>)> = Vec::new();
        for (at, replaces) in places {
            if best.vector.len() >= MOST_COMPONENTS && !replaces {
                continue;
            }
            let Some(gap) = self.gap(&best.vector, at, replaces) else { continue };
            for number in 0..self.candidates.len() {
                if self.stop.due().is_some() {
                    return None;
                }
                if !best.vector.contains(&number)
                    && let Some(estimate) = self.estimate(&gap, number, shares)
                {
                    let mut vector = best.vector.clone();
                    match replaces {
                        true => vector[gap.at] = number,
                        false => vector.insert(gap.at, number),
                    }
                    options.push((self.guess(&estimate), vector));
                }
            }
        }
        for vector in others {
            if let Some(last) = vector.last()
                && let Some(gap) = self.gap(&vector, vector.len() - 1, true)
                && let Some(estimate) = self.estimate(&gap, *last, shares)
            {
                options.push((self.guess(&estimate), vector));
            }
        }
        options.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
        self.columns.retain(|number, _| best.vector.contains(number));
        let mut next: Option<Found> = None;
        let trials = ((self.work - begin) / (115 * self.sample.len() as u64)).clamp(TRIALS.0, TRIALS.1);
        // What is estimated alike to the last bit is alike.
        options.dedup_by_key(|option| option.0);
        for (_, vector) in options.into_iter().take(trials as usize) {
            let beat = next.as_ref().map_or(best.score * (1.0 - GAIN), |n| n.score);
            let found = self.judge(vector, shares.1, beat);
            if found.score < beat {
                next = Some(found);
            }
        }
        next
    }

    fn gap(&self, vector: &[usize], at: usize, replaces: bool) -> Option<Gap> {
        let (before, before_width) = self.keys(&vector[..at])?;
        let (behind, behind_width) = self.keys(&vector[at + replaces as usize..])?;
        let others = vector[..at].iter().chain(&vector[at + replaces as usize..]);
        let bits = others.map(|&number| bits(&self.candidates[number].component)).sum();
        Some(Gap { at, before, behind, before_width, behind_width, bits })
    }

    fn keys(&self, vector: &[usize]) -> Option<(Vec<u128>, u128)> {
        let mut keys = vec![0u128; self.probes.members.len()];
        let mut total = 1u128;
        for &number in vector {
            let candidate = &self.candidates[number];
            let width = candidate.width as u128;
            total = total.checked_mul(width)?;
            keys.iter_mut().zip(&candidate.column).for_each(|(key, &value)| *key = *key * width + value as u128);
        }
        Some((keys, total))
    }

    /// The estimate of a vector with this candidate in the gap, if its share of regress edges is within those given.
    fn estimate(&mut self, gap: &Gap, number: usize, shares: (f64, f64)) -> Option<Estimate> {
        let candidate = &self.candidates[number];
        if gap.bits + bits(&candidate.component) > BITS {
            return None;
        }
        let width = candidate.width as u128;
        gap.before_width.checked_mul(width)?.checked_mul(gap.behind_width)?;
        let outer = gap.before.iter().zip(&gap.behind);
        let join = |((before, behind), &own): ((&u128, &u128), &u32)| {
            (before * width + own as u128) * gap.behind_width + behind
        };
        let keys: Vec<u128> = outer.zip(&candidate.column).map(join).collect();
        self.work += 8 * keys.len() as u64;
        let regress = self.probes.regress(&keys);
        if regress <= shares.0 || regress > shares.1 {
            return None;
        }
        self.work += 40 * keys.len() as u64;
        Some(self.probes.estimate(&keys))
    }

    /// One number to sort by: the peak most of all, but where many are equal, what leads to a lower one later.
    fn guess(&self, e: &Estimate) -> f64 {
        let peak = e.floor + self.closed * (e.peak - e.floor).max(0.0);
        0.6 * peak + 0.2 * e.average + 0.2 * peak.max(e.persistent + 0.5 * peak)
    }
}

/// The distance of a component's value from its least, in each state, and one more than the largest.
fn column(sample: &Sample, component: &Component) -> (Vec<u32>, u32) {
    let values: Vec<i64> = (0..sample.len()).map(|state| component.value(sample.state(state))).collect();
    let low = values.iter().copied().min().unwrap_or(0);
    let column: Vec<u32> = values.iter().map(|v| v.wrapping_sub(low).clamp(0, u32::MAX as i64 - 1) as u32).collect();
    let width = column.iter().copied().max().unwrap_or(0) + 1;
    (column, width)
}

/// The vector with one component removed, or moved to another place.
fn rearranged(vector: &[usize]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for at in 0..vector.len() {
        let mut without = vector.to_vec();
        let one = without.remove(at);
        for to in (0..=without.len()).filter(|&to| to != at) {
            let mut moved = without.clone();
            moved.insert(to, one);
            found.push(moved);
        }
        found.push(without);
    }
    found
}
