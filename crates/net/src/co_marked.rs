//! Which places can be marked at the same time, as far as pairs of places tell.
//!
//! Two places may be marked together if they are at first, or if a transition whose inputs may all be marked together gives
//! to both, or gives to one while the other stays marked. That is too much rather than too little: what is not found can
//! never be. Inequalities that are known rule out more.

use crate::linear::Inequality;
use crate::net::{Net, PlaceId};

/// Places beyond which the table would be too large.
const MOST_PLACES: usize = 10_000;

/// For each place those that may be marked with it; itself if it may have more than one token.
pub struct Together {
    width: usize,
    rows: Vec<u64>,
    /// What other knowledge rules out.
    never: Vec<u64>,
}

struct Search<'n> {
    net: &'n Net,
    found: Together,
    marked: Vec<bool>,
    takers: Vec<Vec<u32>>,
    queued: Vec<bool>,
    queue: Vec<u32>,
}

impl Together {
    /// `None` if it takes more than this many steps of about a nanosecond.
    pub fn new(net: &Net, bounds: &[Option<u64>], known: &[Inequality], mut work: usize) -> Option<Together> {
        let places = net.places.len();
        if places > MOST_PLACES {
            return None;
        }
        let width = places.div_ceil(64);
        let blank = vec![0; places * width];
        let mut found = Together { width, rows: blank.clone(), never: blank };
        found.rule_out(bounds, known, &mut work)?;
        let mut takers = vec![Vec::new(); places];
        for (t, transition) in net.transitions.iter().enumerate() {
            transition.inputs.iter().for_each(|arc| takers[arc.place as usize].push(t as u32));
        }
        let transitions = net.transitions.len();
        let mut search = Search {
            net,
            found,
            marked: vec![false; places],
            takers,
            queued: vec![true; transitions],
            queue: (0..transitions as u32).rev().collect(),
        };
        let first = net.places.iter().zip(0..).filter(|(place, _)| place.initial > 0);
        let first: Vec<(PlaceId, bool)> = first.map(|(place, number)| (number, place.initial > 1)).collect();
        work = work.checked_sub(first.len() * first.len())?;
        search.meet(&first, &vec![0; width]);
        let mut others = vec![0; width];
        while let Some(t) = search.queue.pop() {
            search.queued[t as usize] = false;
            let transition = &net.transitions[t as usize];
            work = work.checked_sub(width * (1 + transition.inputs.len() + transition.outputs.len()))?;
            if search.beside(t, &mut others) {
                let outputs: Vec<(PlaceId, bool)> =
                    transition.outputs.iter().map(|arc| (arc.place, arc.weight > 1)).collect();
                work = work.checked_sub(outputs.len() * outputs.len())?;
                work = work.checked_sub(search.meet(&outputs, &others))?;
            }
        }
        Some(search.found)
    }

    /// May both be marked?
    pub fn may(&self, a: PlaceId, b: PlaceId) -> bool {
        self.rows[a as usize * self.width + b as usize / 64] >> (b % 64) & 1 == 1
    }

    fn rule_out(&mut self, bounds: &[Option<u64>], known: &[Inequality], work: &mut usize) -> Option<()> {
        for place in (0..bounds.len()).filter(|&place| bounds[place].is_some_and(|most| most <= 1)) {
            self.never[place * self.width + place / 64] |= 1 << (place % 64);
        }
        for Inequality { weights, bound } in known.iter().filter(|known| known.weights.iter().all(|&(_, w)| w > 0)) {
            *work = work.checked_sub(weights.len() * weights.len())?;
            for &(a, one) in weights {
                for &(b, other) in weights {
                    if i128::from(one) + i128::from(other) > *bound {
                        self.never[a as usize * self.width + b as usize / 64] |= 1 << (b % 64);
                    }
                }
            }
        }
        Some(())
    }
}

impl Search<'_> {
    /// What may be marked when a transition takes its tokens, beside these; `false` if it never can.
    fn beside(&self, t: u32, others: &mut [u64]) -> bool {
        let inputs = &self.net.transitions[t as usize].inputs;
        others.fill(!0);
        for (at, arc) in inputs.iter().enumerate() {
            let apart = |other: &crate::net::Arc| !self.found.may(arc.place, other.place);
            let alone = arc.weight > 1 && !self.found.may(arc.place, arc.place);
            if !self.marked[arc.place as usize] || alone || inputs[..at].iter().any(apart) {
                return false;
            }
            let row = &self.found.rows[arc.place as usize * self.found.width..][..self.found.width];
            others.iter_mut().zip(row).for_each(|(word, row)| *word &= row);
        }
        true
    }

    /// These places, some with more than one token, are marked together, each beside any of the others. Returns steps.
    fn meet(&mut self, places: &[(PlaceId, bool)], others: &[u64]) -> usize {
        let width = self.found.width;
        let mut all = others.to_vec();
        places.iter().for_each(|&(place, _)| all[place as usize / 64] |= 1 << (place % 64));
        let mut steps = 0;
        for &(place, several) in places {
            let own = place as usize;
            let mut grown = !std::mem::replace(&mut self.marked[own], true);
            for word in 0..width {
                let at = own * width + word;
                let mut more = all[word];
                let alone = word == own / 64 && !several && others[word] >> (place % 64) & 1 == 0;
                if alone {
                    more &= !(1 << (place % 64));
                }
                let mut new = more & !self.found.rows[at] & !self.found.never[at];
                // The last word has bits for which there are no places.
                if word + 1 == width && !self.net.places.len().is_multiple_of(64) {
                    new &= (1 << (self.net.places.len() % 64)) - 1;
                }
                grown |= new != 0;
                self.found.rows[at] |= new;
                while new != 0 {
                    let other = 64 * word + new.trailing_zeros() as usize;
                    new &= new - 1;
                    self.found.rows[other * width + own / 64] |= 1 << (place % 64);
                    steps += 1 + self.takers[other].len();
                    self.reconsider(other);
                }
            }
            if grown {
                steps += self.takers[own].len();
                self.reconsider(own);
            }
        }
        steps
    }

    fn reconsider(&mut self, place: usize) {
        for &t in &self.takers[place] {
            if !std::mem::replace(&mut self.queued[t as usize], true) {
                self.queue.push(t);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{bounds, place_flows};
    use crate::testing::{nets, some_markings};
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    proptest! {
        #[test]
        fn what_is_seen_together_may_be(net in nets(true)) {
            let positive: Vec<_> = place_flows(&net, 100_000).flows.iter()
                .filter(|flow| flow.is_positive()).map(|flow| flow.as_inequality()).collect();
            let found = bounds(&net, &positive, Instant::now() + Duration::from_secs(10));
            let Some(together) = Together::new(&net, &found.places, &found.proofs, 10_000_000) else {
                return Err(TestCaseError::fail("small nets take no time"));
            };
            for m in some_markings(&net, 300).0.into_keys() {
                for a in 0..m.len() {
                    for b in 0..m.len() {
                        let both = if a == b { m[a] > 1 } else { m[a] > 0 && m[b] > 0 };
                        prop_assert!(!both || together.may(a as u32, b as u32));
                    }
                }
            }
        }
    }
}
