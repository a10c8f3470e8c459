//! Which events suffice. A reduction takes successors away before they reach the store.

use scrimp_system::Batch;

pub trait Reduce {
    /// The successors of `state` are those in `batch` from number `first` on; removes those that need not be explored.
    fn choose(&mut self, state: &[u8], batch: &mut Batch, first: usize);
}

/// Explores every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct AllEvents;

impl Reduce for AllEvents {
    fn choose(&mut self, _: &[u8], _: &mut Batch, _: usize) {}
}
