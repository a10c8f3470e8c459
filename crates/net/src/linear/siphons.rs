//! Siphons and traps: sets of places that stay empty once they are, and sets that stay marked once they are.
//!
//! A siphon is a set of places such that each transition that gives to it also takes from it. A trap is a set such that each
//! transition that takes from it, or resets a place of it, also gives to it. Neither depends on weights.

use crate::net::{Net, PlaceId};
use std::collections::HashSet;
use std::time::Instant;

/// The largest siphon among these places; `set` and the answer say it for each place.
pub fn maximal_siphon_in(net: &Net, set: &[bool]) -> Vec<bool> {
    Sets::new(net).maximal_siphon(net, set)
}

/// The largest trap among these places.
pub fn maximal_trap_in(net: &Net, set: &[bool]) -> Vec<bool> {
    Sets::new(net).maximal_trap(net, set)
}

/// Siphons none of which has another within it: at most `limit`, and whether these are all.
pub fn minimal_siphons(net: &Net, limit: usize, deadline: Instant) -> (Vec<Vec<PlaceId>>, bool) {
    let sets = Sets::new(net);
    let mut found: Vec<Vec<PlaceId>> = Vec::new();
    let mut seen: HashSet<Vec<PlaceId>> = HashSet::new();
    let mut left_out: Vec<Vec<PlaceId>> = vec![Vec::new()];
    let mut tries = 0usize;
    while let Some(without) = left_out.pop() {
        tries += 1;
        if found.len() >= limit || tries > limit.saturating_mul(20) || Instant::now() >= deadline {
            return (found, false);
        }
        let mut allowed = vec![true; net.places.len()];
        without.iter().for_each(|&p| allowed[p as usize] = false);
        // One that is known already serves as well as a new one.
        let known = found.iter().find(|siphon| siphon.iter().all(|&p| allowed[p as usize])).cloned();
        let siphon = match known {
            Some(siphon) => siphon,
            None => match sets.minimal_siphon(net, &allowed, deadline) {
                Some(new) if new.is_empty() => continue,
                Some(new) => {
                    found.push(new.clone());
                    new
                }
                None => return (found, false),
            },
        };
        // Every other minimal siphon lacks one of its places.
        for &place in &siphon {
            let mut next = without.clone();
            next.push(place);
            next.sort_unstable();
            if seen.insert(next.clone()) {
                left_out.push(next);
            }
        }
    }
    (found, true)
}

/// Who takes from a place and who gives to it.
pub(super) struct Sets {
    takers: Vec<Vec<u32>>,
    givers: Vec<Vec<u32>>,
}

impl Sets {
    pub fn new(net: &Net) -> Sets {
        let mut sets = Sets { takers: vec![Vec::new(); net.places.len()], givers: vec![Vec::new(); net.places.len()] };
        for (t, transition) in net.transitions.iter().enumerate() {
            transition.inputs.iter().for_each(|arc| sets.takers[arc.place as usize].push(t as u32));
            transition.outputs.iter().for_each(|arc| sets.givers[arc.place as usize].push(t as u32));
        }
        sets
    }

    /// Transitions that take from the place.
    pub fn takers(&self, place: PlaceId) -> &[u32] {
        &self.takers[place as usize]
    }

    pub fn maximal_siphon(&self, net: &Net, set: &[bool]) -> Vec<bool> {
        let mut set = set.to_vec();
        let inside = |arcs: &[crate::net::Arc], set: &[bool]| arcs.iter().filter(|a| set[a.place as usize]).count();
        let mut inputs: Vec<usize> = net.transitions.iter().map(|t| inside(&t.inputs, &set)).collect();
        let mut work: Vec<u32> = (0..inputs.len() as u32).filter(|&t| inputs[t as usize] == 0).collect();
        while let Some(t) = work.pop() {
            for arc in &net.transitions[t as usize].outputs {
                if std::mem::take(&mut set[arc.place as usize]) {
                    for &taker in &self.takers[arc.place as usize] {
                        inputs[taker as usize] -= 1;
                        if inputs[taker as usize] == 0 {
                            work.push(taker);
                        }
                    }
                }
            }
        }
        set
    }

    pub fn maximal_trap(&self, net: &Net, set: &[bool]) -> Vec<bool> {
        let mut set = set.to_vec();
        let inside = |arcs: &[crate::net::Arc], set: &[bool]| arcs.iter().filter(|a| set[a.place as usize]).count();
        let mut outputs: Vec<usize> = net.transitions.iter().map(|t| inside(&t.outputs, &set)).collect();
        let mut work: Vec<u32> = (0..outputs.len() as u32).filter(|&t| outputs[t as usize] == 0).collect();
        while let Some(t) = work.pop() {
            let transition = &net.transitions[t as usize];
            for place in transition.inputs.iter().map(|arc| arc.place).chain(transition.resets.iter().copied()) {
                if std::mem::take(&mut set[place as usize]) {
                    for &giver in &self.givers[place as usize] {
                        outputs[giver as usize] -= 1;
                        if outputs[giver as usize] == 0 {
                            work.push(giver);
                        }
                    }
                }
            }
        }
        set
    }

    /// One minimal siphon among these places, empty when there is none; nothing when the time is up.
    fn minimal_siphon(&self, net: &Net, allowed: &[bool], deadline: Instant) -> Option<Vec<PlaceId>> {
        let mut set = self.maximal_siphon(net, allowed);
        for place in 0..set.len() {
            if !set[place] {
                continue;
            }
            if Instant::now() >= deadline {
                return None;
            }
            let mut smaller = set.clone();
            smaller[place] = false;
            let smaller = self.maximal_siphon(net, &smaller);
            if smaller.contains(&true) {
                set = smaller;
            }
        }
        Some((0..set.len() as u32).filter(|&p| set[p as usize]).collect())
    }

    /// A small trap among these places that is marked at first: it will never be empty.
    pub fn marked_trap(&self, net: &Net, set: &[bool]) -> Option<Vec<PlaceId>> {
        let marked = |set: &[bool]| net.places.iter().zip(set).any(|(place, &inside)| inside && place.initial > 0);
        let mut set = self.maximal_trap(net, set);
        if !marked(&set) {
            return None;
        }
        // Smaller traps say more. Halves first would be faster, but sets that come here are small.
        let mut tries = 200;
        for place in 0..set.len() {
            if !set[place] || tries == 0 {
                continue;
            }
            tries -= 1;
            let mut smaller = set.clone();
            smaller[place] = false;
            let smaller = self.maximal_trap(net, &smaller);
            if marked(&smaller) {
                set = smaller;
            }
        }
        Some((0..set.len() as u32).filter(|&p| set[p as usize]).collect())
    }
}

/// Places that are never marked: the largest siphon that is empty at first.
pub fn never_marked(net: &Net) -> Vec<bool> {
    let empty: Vec<bool> = net.places.iter().map(|place| place.initial == 0).collect();
    maximal_siphon_in(net, &empty)
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, reachable};
    use super::*;
    use proptest::prelude::*;

    fn soon() -> Instant {
        Instant::now() + std::time::Duration::from_secs(10)
    }

    #[test]
    fn a_ring_is_its_own_siphon_and_trap() {
        let net = net_of(&[1, 0, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)]), (&[(2, 1)], &[])]);
        assert_eq!(minimal_siphons(&net, 10, soon()), (vec![vec![2], vec![0, 1]], true));
        assert_eq!(maximal_trap_in(&net, &[true; 3]), vec![true, true, false]);
        assert_eq!(never_marked(&net), vec![false, false, true]);
    }

    proptest! {
        #[test]
        fn siphons_stay_empty_and_traps_stay_marked(net in super::super::brute::nets(), mask in 0u32..256) {
            let set: Vec<bool> = (0..net.places.len()).map(|p| mask >> p & 1 == 1).collect();
            let siphon = maximal_siphon_in(&net, &set);
            let trap = maximal_trap_in(&net, &set);
            let marked = |m: &[u64], set: &[bool]| m.iter().zip(set).any(|(&n, &inside)| inside && n > 0);
            let (markings, _) = reachable(&net, 300);
            for m in &markings {
                for t in 0..net.transitions.len() as u32 {
                    let mut next = m.clone();
                    if net.is_enabled(m, t) && net.fire(&mut next, t) {
                        prop_assert!(marked(m, &siphon) || !marked(&next, &siphon));
                        prop_assert!(!marked(m, &trap) || marked(&next, &trap));
                    }
                }
                let never = never_marked(&net);
                prop_assert!(!marked(m, &never));
            }
        }

        #[test]
        fn minimal_siphons_are_all_that_are_minimal(net in super::super::brute::nets()) {
            let places = net.places.len();
            let is_siphon = |mask: u32| net.transitions.iter().all(|t| {
                !t.outputs.iter().any(|a| mask >> a.place & 1 == 1) || t.inputs.iter().any(|a| mask >> a.place & 1 == 1)
            });
            let all: Vec<u32> = (1..1u32 << places).filter(|&m| is_siphon(m)).collect();
            let minimal: HashSet<u32> = all.iter().copied().filter(|&m| !all.iter().any(|&o| o != m && o & m == o)).collect();
            let (found, complete) = minimal_siphons(&net, 1000, soon());
            let found: HashSet<u32> = found.iter().map(|s| s.iter().map(|p| 1 << p).sum()).collect();
            prop_assert!(complete);
            prop_assert_eq!(found, minimal);
        }
    }
}
