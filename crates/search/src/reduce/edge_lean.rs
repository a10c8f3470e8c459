//! Edge-lean search (Bošnački, Elkind, Genest, Peled): of two events that can be swapped, one order is enough.
//!
//! A state was found by event a. An event b enabled there is left out when a and b can be swapped, so that b was enabled
//! before a as well and both orders lead to the same state, and b comes after a in a fixed order of events. Every state is
//! still visited, in any search order. For take a state t that is not, with an event b left out that leads to it from a
//! visited state s found by a from r. Then r leads by b to some u, and u by a to t. If u was visited, a was left out there,
//! and a is earlier than b; if not, b was left out at r, which was found before s. Neither can go on for ever.
//!
//! Where a process goes on by itself after an event, all that it does until others may move counts as one event, called by
//! its first step; it may have several outcomes, and whether they are left out depends on that step alone.
//!
//! Left out is the later event, not the earlier one: depth-first search runs events in their order, so that the first
//! path explores least and the stack stays short (1.29 events a state instead of 1.51 on iprotocol.2).

use super::{Kept, Reduce, Source};
use scrimp_system::{Batch, EventCode, Set};

#[derive(Debug)]
pub struct EdgeLean {
    /// For each event a, the events b after it that can be swapped with it: a, b becomes b, a.
    swaps: Vec<Set>,
}

impl EdgeLean {
    /// Why it cannot be used with a model that does not know.
    pub const UNSUITED: &'static str = "edge-lean search must know which events are independent; of this model \
        that is not known, because of its claim or its very many events";

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
        // A code beyond the events is one of several outcomes.
        let event = |code: EventCode| match code as usize {
            code if code < self.swaps.len() => code,
            _ => source.model.first_event(code) as usize,
        };
        let swaps = source.via.and_then(|a| self.swaps.get(event(a))).filter(|swaps| !swaps.is_empty());
        let Some(swaps) = swaps else {
            return Kept::All;
        };
        keep.iter_mut().zip(first..).for_each(|(keep, i)| *keep = !swaps.contains(event(batch.event(i))));
        Kept::Some
    }

    fn wants_events(&self) -> bool {
        true
    }
}
