//! How a state is kept. A store is offered batches of states and says of each whether it is new.

mod index;
pub(crate) mod table;

pub use table::Table;

use scrimp_system::Batch;
use std::ops::Range;

/// The number of a stored state. Numbers are given in the order of discovery, without gaps, from zero.
pub type StateId = u32;

/// What became of one offered state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub id: StateId,
    pub new: bool,
}

/// The store cannot take more states within its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

pub trait Store {
    /// Looks up states `which` of a batch in turn, storing those that are new; appends one answer for each to `found`.
    /// When it fails, none of them was stored.
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full>;

    /// Copies a stored state to `out`.
    fn load(&self, id: StateId, out: &mut [u8]);

    /// Number of stored states.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    fn bytes(&self) -> usize;
}
