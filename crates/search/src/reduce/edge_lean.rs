//! Edge-lean search (Bošnački, Elkind, Genest, Peled): of two events that can be swapped, one order is enough.
//!
//! A state was found by event a. An event b enabled there is left out when a and b can be swapped, so that b was enabled
//! before a as well and both orders lead to the same state, and b comes after a in a fixed order of events. Every state is
//! still visited, in any search order. For take a state t that is not, with an event b left out that leads to it from a
//! visited state s found by a from r. Then r leads by b to some u, and u by a to t. If u was visited, a was left out there,
//! and a is earlier than b; if not, b was left out at r, which was found before s. Neither can go on for ever.
//!
//! Left out is the later event, not the earlier one: depth-first search runs events in their order, so that the first
//! path explores least and the stack stays short (1.29 events a state instead of 1.51 on iprotocol.2).

use super::{Kept, Reduce, Source};
use scrimp_system::{Batch, Set};

#[derive(Debug)]
pub struct EdgeLean {
    /// For each event a, the events b after it that can be swapped with it: a, b becomes b, a.
    swaps: Vec<Set>,
}

impl EdgeLean {
    /// `independent` has for each event those with which it can be swapped.
    pub fn new(independent: Vec<Set>) -> EdgeLean {
        let events = independent.len();
        let after = |(a, set): (usize, Set)| {
            let mut swaps = Set::new(events);
            set.iter().filter(|&b| b > a).for_each(|b| swaps.insert(b));
            swaps
        };
        EdgeLean { swaps: independent.into_iter().enumerate().map(after).collect() }
    }
}

impl Reduce for EdgeLean {
    fn choose(&mut self, source: Source, batch: &Batch, first: usize, keep: &mut [bool]) -> Kept {
        let swaps = source.via.and_then(|a| self.swaps.get(a as usize)).filter(|swaps| !swaps.is_empty());
        let Some(swaps) = swaps else {
            return Kept::All;
        };
        keep.iter_mut().zip(first..).for_each(|(keep, i)| *keep = !swaps.contains(batch.event(i) as usize));
        Kept::Some
    }

    fn wants_events(&self) -> bool {
        true
    }
}
