//! How states are divided among owners, such that few steps lead to another owner, and everybody has as much to do as the others, in all
//! and at each depth. A sample of the states says so: one byte of a state after the other is taken, while that makes it better, and
//! each time the shares go to those who have least to do.

use crate::partition::{Division, Marks, Partition, Sharing, shares};
use scrimp_search::hash;
use scrimp_system::{Batch, Model, Random};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// States of a level that are looked at, and how often it is begun anew where a sample is too small.
const WIDTH: usize = 16;
const WALKS: u64 = 16;
/// States of a sample for each owner, within limits; successors of each; bytes of all, and time.
const FOR_EACH: usize = 128;
const SIZES: std::ops::RangeInclusive<usize> = 4096..=1 << 15;
const SUCCESSORS: usize = 8;
const MOST_BYTES: usize = 4 << 20;
const MOST_TIME: Duration = Duration::from_millis(100);
/// How long bytes are tried.
const MOST_TRYING: Duration = Duration::from_millis(300);
/// Of fewer states nothing can be learnt.
const LEAST: usize = 256;
/// So many depths are told from each other.
const DEPTHS: usize = 8;
/// What a state costs that is sent, in expanded states.
const SENDING: f64 = 1.0;
/// Bytes that are tried after the first one, that are taken, and that may be taken in vain.
const CANDIDATES: usize = 48;
const MOST_MARKS: usize = 24;
const IN_VAIN: usize = 3;

/// A division of a model's states among so many owners.
pub fn choose(model: &dyn Model, owners: usize) -> Division {
    let all = Division::evenly(Marks::all(model.state_bytes()), owners);
    if owners < 2 {
        return all;
    }
    let sample = Sample::of(model, (FOR_EACH * owners).clamp(*SIZES.start(), *SIZES.end()));
    if sample.states.len() < LEAST {
        return all;
    }
    let (cost, found) = sample.best(owners);
    if cost < sample.judge(&all, owners).cost() { found } else { all }
}

/// Some states, and successors of each, with its number for an event.
struct Sample {
    states: Batch,
    successors: Batch,
    /// Which of the depths that are told from each other each state has.
    depths: Vec<usize>,
}

/// How good a division is for a sample.
#[derive(Debug, Clone, Copy)]
struct Judgement {
    /// The part of all steps that lead to another owner.
    leaving: f64,
    /// How much more than a fair part somebody has: of all states, and, on average, of those of a depth.
    unfair: f64,
    unfair_at_once: f64,
}

impl Judgement {
    /// The time of a search, for the one who has most to do.
    fn cost(self) -> f64 {
        (1.0 + SENDING * self.leaving) * self.unfair.max(self.unfair_at_once)
    }
}

/// How many states there are of each depth.
type ByDepth = [u32; DEPTHS];

impl Sample {
    fn of(model: &dyn Model, most: usize) -> Sample {
        let (bytes, deadline) = (model.state_bytes(), Instant::now() + MOST_TIME);
        let [mut states, mut successors, mut level, mut next, mut out] = [(); 5].map(|()| Batch::new(bytes));
        let mut sampled = HashSet::new();
        'walks: for walk in 0..WALKS {
            let (mut random, mut passed) = (Random(walk), HashSet::new());
            level.clear();
            model.initial(&mut level);
            for depth in 0.. {
                keep_some(&mut level, 0, WIDTH, &mut random);
                passed.extend((0..level.len()).map(|i| hash(level.state(i))));
                next.clear();
                for state in (0..level.len()).map(|i| level.state(i)) {
                    if states.len() >= most
                        || states.bytes() + successors.bytes() >= MOST_BYTES
                        || Instant::now() > deadline
                    {
                        break 'walks;
                    }
                    out.clear();
                    model.expand(state, &mut out);
                    let all = (0..out.len()).map(|i| out.state(i));
                    all.clone().filter(|state| !passed.contains(&hash(state))).for_each(|state| next.push(state, 0));
                    if sampled.insert(hash(state)) {
                        let first = successors.len();
                        all.for_each(|successor| successors.push(successor, states.len() as u32));
                        keep_some(&mut successors, first, SUCCESSORS, &mut random);
                        states.push(state, depth);
                    }
                }
                if next.is_empty() {
                    break;
                }
                std::mem::swap(&mut level, &mut next);
            }
        }
        let mut ranks: Vec<usize> = (0..states.len()).collect();
        ranks.sort_by_key(|state| states.event(*state));
        let mut depths = vec![0; states.len()];
        ranks.iter().enumerate().for_each(|(rank, state)| depths[*state] = rank * DEPTHS / states.len());
        Sample { states, successors, depths }
    }

    /// Takes one byte after the other, each time the best one: the best division on the way, and its cost.
    fn best(&self, owners: usize) -> (f64, Division) {
        let (bytes, deadline) = (self.states.state_bytes(), Instant::now() + MOST_TRYING);
        let mut marks = Marks(vec![false; bytes]);
        let first = self.states.state(0);
        let varies = |byte: &usize| (1..self.states.len()).any(|i| self.states.state(i)[*byte] != first[*byte]);
        let mut candidates: Vec<usize> = (0..bytes).filter(varies).collect();
        let mut best = (f64::INFINITY, Division::evenly(Marks::all(bytes), owners));
        let mut in_vain = 0;
        for taken in 0..MOST_MARKS {
            let mut tried: Vec<(f64, usize, Division)> = Vec::with_capacity(candidates.len());
            for &byte in &candidates {
                if Instant::now() > deadline {
                    return best;
                }
                marks.0[byte] = true;
                let division = self.balanced(&marks, owners);
                tried.push((self.judge(&division, owners).cost(), byte, division));
                marks.0[byte] = false;
            }
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
            let most = if taken == 0 { CANDIDATES } else { usize::MAX };
            candidates = tried.iter().skip(1).take(most).map(|(_, byte, _)| *byte).collect();
            let Some((cost, byte, division)) = tried.into_iter().next() else { break };
            marks.0[byte] = true;
            in_vain += 1;
            if cost < best.0 {
                (best, in_vain) = ((cost, division), 0);
            }
            if in_vain == IN_VAIN {
                break;
            }
        }
        best
    }

    /// How many states of each depth each share has.
    fn weights(&self, sharing: &Sharing, shares: usize) -> Vec<ByDepth> {
        let mut weights = vec![[0; DEPTHS]; shares];
        for state in 0..self.states.len() {
            weights[sharing.share(self.states.state(state))][self.depths[state]] += 1;
        }
        weights
    }

    /// Gives the shares, the largest first, to whoever has least to do at their depths.
    fn balanced(&self, marks: &Marks, owners: usize) -> Division {
        let mut division = Division::evenly(marks.clone(), owners);
        let shares = shares(owners);
        let weights = self.weights(&Sharing::new(marks, shares), shares);
        let mut order: Vec<usize> = (0..shares).filter(|share| weights[*share] != [0; DEPTHS]).collect();
        order.sort_by_key(|share| std::cmp::Reverse(weights[*share].iter().sum::<u32>()));
        let mut loads = vec![[0; DEPTHS]; owners];
        for share in order {
            let weight = &weights[share];
            let burden = |load: &ByDepth| -> u64 { load.iter().zip(weight).map(|(l, w)| (l * w) as u64).sum() };
            let least = (0..owners).min_by_key(|owner| (burden(&loads[*owner]), loads[*owner].iter().sum::<u32>()));
            let owner = least.unwrap_or(0);
            loads[owner].iter_mut().zip(weight).for_each(|(load, weight)| *load += weight);
            division.owners[share] = owner as u16;
        }
        division
    }

    fn judge(&self, division: &Division, owners: usize) -> Judgement {
        let partition = Partition::new(division);
        let whose: Vec<usize> = (0..self.states.len()).map(|i| partition.owner(self.states.state(i))).collect();
        let mut loads = vec![[0; DEPTHS]; owners];
        whose.iter().enumerate().for_each(|(state, owner)| loads[*owner][self.depths[state]] += 1);
        let most = loads.iter().map(|load| load.iter().sum::<u32>()).max().unwrap_or(0);
        let most_at_once: u32 = (0..DEPTHS).map(|depth| loads.iter().map(|load| load[depth]).max().unwrap_or(0)).sum();
        let unfair = |most: u32| most as f64 * owners as f64 / self.states.len() as f64;
        let leaves =
            |i: &usize| partition.owner(self.successors.state(*i)) != whose[self.successors.event(*i) as usize];
        let leaving = (0..self.successors.len()).filter(leaves).count();
        Judgement {
            leaving: leaving as f64 / self.successors.len().max(1) as f64,
            unfair: unfair(most),
            unfair_at_once: unfair(most_at_once),
        }
    }
}

/// Keeps so many of the states from number `first` on, by chance.
fn keep_some(states: &mut Batch, first: usize, most: usize, random: &mut Random) {
    for seen in first + most..states.len() {
        let place = random.below(seen + 1 - first);
        if place < most {
            states.copy(seen, first + place);
        }
    }
    states.truncate(first + most);
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_checker::Loaded;
    use scrimp_native::{Mode, NativeModel};
    use std::path::PathBuf;

    fn model(name: &str) -> NativeModel {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
        let loaded = Loaded::open(&path).unwrap_or_else(|e| panic!("{e}"));
        NativeModel::new(loaded.system, Mode::Interpreted).unwrap()
    }

    #[test]
    fn fewer_steps_leave_and_everybody_has_enough_to_do() {
        for name in ["phils6.dve", "leader.pml"] {
            let model = model(name);
            let sample = Sample::of(&model, 4096);
            for owners in [2, 4] {
                let [chosen, all] = [choose(&model, owners), Division::evenly(Marks::all(model.state_bytes()), owners)]
                    .map(|division| sample.judge(&division, owners));
                assert!(chosen.unfair < 1.1 && chosen.unfair_at_once < 1.2, "{name} {owners}: {chosen:?} {all:?}");
                assert!(chosen.leaving < 0.7 * all.leaving, "{name} {owners}: {chosen:?} {all:?}");
            }
        }
    }

    #[test]
    fn one_owner_has_all() {
        let model = model("peterson3.dve");
        assert_eq!(choose(&model, 1), Division::evenly(Marks::all(model.state_bytes()), 1));
    }
}
