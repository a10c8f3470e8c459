//! Which events suffice. A reduction takes successors away before they reach the store.

mod edge_lean;
pub mod stubborn;

pub use edge_lean::EdgeLean;

use scrimp_system::{Batch, EventCode};

pub trait Reduce {
    /// The successors of a state are those in `batch` from number `first` on; removes those that need not be explored.
    /// `via` is the event that led to the state, where one did and the reduction [asks for it](Reduce::wants_events).
    fn choose(&mut self, via: Option<EventCode>, batch: &mut Batch, first: usize);

    /// Must it be known which event led to a state?
    fn wants_events(&self) -> bool {
        false
    }
}

/// Explores every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct AllEvents;

impl Reduce for AllEvents {
    fn choose(&mut self, _: Option<EventCode>, _: &mut Batch, _: usize) {}
}
