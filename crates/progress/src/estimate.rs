//! A quick estimate of what a measure costs, from random states and their predecessors.
//!
//! In a sweep without regress a state is stored from the time its lowest predecessor is expanded until its own class is
//! done: an interval on the line of classes, which can be known for each state alone. The peak is where most intervals
//! meet. The target of a regress edge is stored from then on for good.

use crate::order::Ranker;
use crate::sample::Sample;
use scrimp_system::Random;

/// A random part of the sampled states ("probes") with all their known predecessors.
#[derive(Debug)]
pub struct Probes {
    /// The states concerned: probes first, then those that only precede one.
    pub members: Vec<u32>,
    count: usize,
    /// `before[starts[p]..starts[p + 1]]` are the predecessors of probe p, as positions in `members`.
    starts: Vec<u32>,
    before: Vec<u32>,
    initial: Vec<bool>,
    ranker: Ranker,
    class: Vec<u32>,
    change: Vec<i32>,
    change_of_floor: Vec<i32>,
    passed: Vec<u32>,
}

/// Shares of the number of states, or of edges.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    pub peak: f64,
    /// Most stored without those of the current class.
    pub floor: f64,
    /// Stored on average while states are expanded.
    pub average: f64,
    pub persistent: f64,
    /// Of all edges.
    pub regress: f64,
}

impl Probes {
    pub fn new(sample: &Sample, count: usize, seed: u64) -> Probes {
        let total = sample.len();
        let count = count.min(total);
        let mut chosen = vec![u32::MAX; total];
        let mut members = Vec::with_capacity(count);
        if count == total {
            members.extend(0..total as u32);
        } else {
            let mut random = Random(seed);
            while members.len() < count {
                let state = random.below(total) as u32;
                if chosen[state as usize] == u32::MAX {
                    chosen[state as usize] = 0;
                    members.push(state);
                }
            }
            members.sort_unstable();
        }
        for (position, &state) in members.iter().enumerate() {
            chosen[state as usize] = position as u32;
        }
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for from in 0..total {
            for &to in sample.successors(from) {
                let probe = chosen[to as usize];
                if (probe as usize) < count && to as usize != from {
                    edges.push((probe, from as u32));
                }
            }
        }
        edges.sort_unstable();
        let (mut starts, mut before) = (vec![0], Vec::with_capacity(edges.len()));
        let mut edges = edges.into_iter().peekable();
        for probe in 0..count as u32 {
            while let Some((_, from)) = edges.next_if(|edge| edge.0 == probe) {
                let position = &mut chosen[from as usize];
                if *position == u32::MAX {
                    *position = members.len() as u32;
                    members.push(from);
                }
                before.push(*position);
            }
            starts.push(before.len() as u32);
        }
        let initial = members[..count].iter().map(|&state| (state as usize) < sample.initial()).collect();
        Probes {
            members,
            count,
            starts,
            before,
            initial,
            ranker: Ranker::default(),
            class: vec![],
            change: vec![],
            change_of_floor: vec![],
            passed: vec![],
        }
    }

    /// Pairs of predecessor and probe, as positions in `members`.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of = |probe: usize| &self.before[self.starts[probe] as usize..self.starts[probe + 1] as usize];
        (0..self.count).flat_map(move |probe| of(probe).iter().map(move |&from| (from as usize, probe)))
    }

    /// The share of regress edges for `keys`, the value of each member.
    pub fn regress<K: Ord + Copy>(&self, keys: &[K]) -> f64 {
        let back = self.edges().filter(|&(from, to)| keys[to] < keys[from]).count();
        back as f64 / self.before.len().max(1) as f64
    }

    /// The cost of the measure with these values.
    pub fn estimate(&mut self, keys: &[u128]) -> Estimate {
        let classes = self.ranker.rank(keys, &mut self.class);
        self.change.clear();
        self.change.resize(classes + 1, 0);
        self.change_of_floor.clear();
        self.change_of_floor.resize(classes + 1, 0);
        self.passed.clear();
        self.passed.resize(classes + 1, 0);
        for &class in &self.class[..self.count] {
            self.passed[class as usize + 1] += 1;
        }
        for class in 0..classes {
            self.passed[class + 1] += self.passed[class];
        }
        let (mut persistent, mut back, mut lived) = (0usize, 0usize, 0u64);
        for probe in 0..self.count {
            let own = self.class[probe];
            let mut birth = if self.initial[probe] { 0 } else { u32::MAX };
            let mut again = u32::MAX;
            for &from in &self.before[self.starts[probe] as usize..self.starts[probe + 1] as usize] {
                let class = self.class[from as usize];
                birth = birth.min(class);
                if class > own {
                    again = again.min(class);
                    back += 1;
                }
            }
            if birth <= own {
                self.change[birth as usize] += 1;
                self.change[own as usize + 1] -= 1;
                self.change_of_floor[birth as usize] += 1;
                self.change_of_floor[own as usize] -= 1;
                lived += (self.passed[own as usize + 1] - self.passed[birth as usize]) as u64;
            }
            if again != u32::MAX {
                persistent += 1;
                self.change[again as usize] += 1;
                self.change_of_floor[again as usize] += 1;
                lived += (self.passed[classes] - self.passed[again as usize]) as u64;
            }
        }
        let highest = |changes: &[i32]| {
            let (mut now, mut highest) = (0i64, 0i64);
            for change in changes {
                now += *change as i64;
                highest = highest.max(now);
            }
            highest
        };
        let (peak, floor) = (highest(&self.change[..classes]), highest(&self.change_of_floor[..classes]));
        let n = self.count as f64;
        Estimate {
            peak: peak as f64 / n,
            floor: floor as f64 / n,
            average: lived as f64 / n / n,
            persistent: persistent as f64 / n,
            regress: back as f64 / self.before.len().max(1) as f64,
        }
    }
}
