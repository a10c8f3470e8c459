//! Random and directed walks: what they meet is reachable, whatever the size of the net; what they do not meet is unknown.
//!
//! Walks begin at the initial marking again and again, each with a manner of choosing among the enabled transitions and a
//! length of its own. Between them a search goes best first towards one open condition after the other. Whatever is
//! returned was fired again in the net.

mod directed;
mod goals;
mod random;
mod wiring;

use std::time::Instant;

use crate::{Condition, Net, Sum, TransitionId};
use goals::{Goals, Values};
use random::Random;
use wiring::{Walker, Wiring};

/// What walks look for and for how long.
#[derive(Debug, Clone)]
pub struct Walks {
    /// Conditions of which a marking is looked for.
    pub goals: Vec<Condition>,
    /// A marking without enabled transitions is looked for too.
    pub deadlock: bool,
    /// Sums whose largest values are of interest, each with a value that is known to be the most possible, if any is.
    pub sums: Vec<(Sum, Option<i128>)>,
    pub deadline: Instant,
    /// No more firings than this.
    pub firings: u64,
    pub seed: u64,
}

/// What walks met.
#[derive(Debug, Clone, Default)]
pub struct Met {
    /// For each condition the firings that lead to where it holds.
    pub goals: Vec<Option<Vec<TransitionId>>>,
    pub deadlock: Option<Vec<TransitionId>>,
    /// The largest value met of each sum: a lower bound of what is possible.
    pub largest: Vec<i128>,
    pub firings: u64,
}

/// How a walk chooses among the enabled transitions.
#[derive(Clone, Copy)]
enum Manner {
    Uniform,
    /// Of a few the one that comes first in an order that holds for the whole walk.
    Ranked(u64),
    /// The same again as long as it can.
    Repeating,
    /// Of a few the one that leads nearest to a condition.
    Towards(u32),
}

struct Search<'a> {
    net: &'a Net,
    walks: &'a Walks,
    wiring: Wiring,
    goals: Goals,
    random: Random,
    met: Met,
    /// The conditions that were not met yet.
    open: Vec<u32>,
    sums_open: bool,
}

const SHORTEST: u64 = 256;
/// Between two looks at the clock.
const SLICE: u64 = 4096;

pub fn walk(net: &Net, walks: &Walks) -> Met {
    let nothing = Met {
        goals: vec![None; walks.goals.len()],
        largest: walks.sums.iter().map(|(sum, _)| sum.value(&net.initial())).collect(),
        ..Met::default()
    };
    let sums: Vec<Sum> = walks.sums.iter().map(|(sum, _)| sum.clone()).collect();
    let (Some(wiring), Some(goals)) = (Wiring::new(net), Goals::new(net, &walks.goals, &sums)) else { return nothing };
    let random = Random::new(walks.seed);
    let open = (0..walks.goals.len() as u32).collect();
    let mut search = Search { net, walks, wiring, goals, random, met: nothing, open, sums_open: true };
    search.sums_open = search.are_sums_open();
    search.run();
    search.met
}

impl Search<'_> {
    fn run(&mut self) {
        let mut walker = self.wiring.start();
        let mut effort = 1u64;
        for round in 0u64.. {
            let length = SHORTEST << (round.trailing_ones().min(12));
            let directed = self.open.get(round as usize / 4 % self.open.len().max(1)).copied();
            let manner = match (round % 4, directed) {
                (0, _) => Manner::Uniform,
                (1, _) => Manner::Ranked(self.random.next()),
                (2, Some(goal)) => Manner::Towards(goal),
                (2, None) => Manner::Ranked(self.random.next()),
                _ => Manner::Repeating,
            };
            self.wiring.restart(&mut walker);
            // A walk that cannot go anywhere counts too, or nothing would ever be used up.
            self.met.firings += 1;
            self.one_walk(&mut walker, manner, length);
            if self.is_over() {
                return;
            }
            // Best first takes turns with the walks, with more effort each time round the open conditions.
            if round % 64 == 63
                && let Some(&goal) = self.open.get((round / 64) as usize % self.open.len().max(1))
            {
                effort = effort.saturating_add(1);
                directed::best_first(self, goal, 2_000 * effort);
                if self.is_over() {
                    return;
                }
            }
        }
    }

    /// Nothing is open any more, or time or firings are used up.
    fn is_over(&self) -> bool {
        let sought = !self.open.is_empty() || (self.walks.deadlock && self.met.deadlock.is_none()) || self.sums_open;
        !sought || self.met.firings >= self.walks.firings || Instant::now() >= self.walks.deadline
    }

    fn are_sums_open(&self) -> bool {
        let pairs = self.walks.sums.iter().zip(&self.met.largest);
        pairs.into_iter().any(|((_, most), largest)| most.is_none_or(|most| *largest < most))
    }

    fn one_walk(&mut self, walker: &mut Walker, manner: Manner, length: u64) {
        let mut values = self.goals.values(&walker.marking);
        self.goals.raise(&values, &mut self.met.largest);
        let mut trace: Vec<TransitionId> = Vec::new();
        self.look(walker, &mut values, &trace);
        for step in 1..=length {
            let Some(t) = self.choose(walker, &mut values, manner, trace.last().copied()) else { return };
            trace.push(t);
            self.met.firings += 1;
            if !walker.fire(&self.wiring, t) {
                return;
            }
            if self.goals.follow(&mut values, walker, &mut self.met.largest) {
                self.sums_open = self.are_sums_open();
            }
            self.look(walker, &mut values, &trace);
            if step % SLICE == 0 && self.is_over() {
                return;
            }
        }
    }

    /// Notes the conditions that hold here and were open.
    #[inline]
    fn look(&mut self, walker: &Walker, values: &mut Values, trace: &[TransitionId]) {
        let stuck = walker.enabled().is_empty();
        if stuck && self.met.deadlock.is_none() && self.is_confirmed(&Condition::Deadlock, trace) {
            self.met.deadlock = Some(trace.to_vec());
        }
        while let Some(goal) = values.next_dirty() {
            if self.met.goals[goal as usize].is_none()
                && self.goals.holds(goal, values, stuck)
                && self.is_confirmed(&self.walks.goals[goal as usize], trace)
            {
                self.met.goals[goal as usize] = Some(trace.to_vec());
                self.open.retain(|&other| other != goal);
            }
        }
    }

    /// Fires the trace in the net itself, which shares nothing with how walks keep their markings.
    fn is_confirmed(&self, condition: &Condition, trace: &[TransitionId]) -> bool {
        let mut marking = self.net.initial();
        trace.iter().all(|&t| self.net.is_enabled(&marking, t) && self.net.fire(&mut marking, t))
            && condition.holds(self.net, &marking)
    }

    #[inline]
    fn choose(
        &mut self,
        walker: &Walker,
        values: &mut Values,
        manner: Manner,
        last: Option<TransitionId>,
    ) -> Option<TransitionId> {
        const SAMPLES: usize = 6;
        let enabled = walker.enabled();
        if enabled.len() < 2 {
            return enabled.first().copied();
        }
        let any = enabled[self.random.below(enabled.len())];
        let exact = enabled.len() <= SAMPLES;
        let candidate = |i: usize, random: &mut Random| enabled[if exact { i } else { random.below(enabled.len()) }];
        match manner {
            Manner::Uniform => Some(any),
            Manner::Repeating => {
                let again = last.filter(|&t| walker.is_enabled(t) && !self.random.next().is_multiple_of(16));
                Some(again.unwrap_or(any))
            }
            Manner::Ranked(salt) => {
                if self.random.next().is_multiple_of(8) {
                    return Some(any);
                }
                let rank = |t: TransitionId| (t as u64 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (0..enabled.len().min(SAMPLES)).map(|i| candidate(i, &mut self.random)).min_by_key(|&t| rank(t))
            }
            Manner::Towards(goal) => {
                if self.random.next().is_multiple_of(8) {
                    return Some(any);
                }
                let (mut best, mut nearest) = (any, i128::MAX);
                let offset = self.random.below(enabled.len());
                for i in 0..enabled.len().min(SAMPLES) {
                    let t = if exact { enabled[(i + offset) % enabled.len()] } else { candidate(i, &mut self.random) };
                    let distance = self.goals.distance_after(goal, values, self.wiring.changes(t));
                    if distance < nearest {
                        (best, nearest) = (t, distance);
                    }
                }
                Some(best)
            }
        }
    }
}

#[cfg(test)]
mod tests;
