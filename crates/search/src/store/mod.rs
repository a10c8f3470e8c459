//! How a state is kept. A store is offered batches of states and says of each whether it is new.

mod archived;
mod automaton;
mod bitstate;
mod collapse;
mod comback;
mod compact;
#[cfg(all(test, feature = "shuttle"))]
mod concurrency;
mod folded;
mod index;
#[cfg(test)]
mod lossy_tests;
mod packed;
mod places;
mod quotient;
mod recent;
mod replaying;
mod set;
pub(crate) mod table;
mod tree;
mod whole;

pub use archived::Archived;
pub use automaton::{Automaton, AutomatonSet, LayerOrder, Tagged};
pub use bitstate::BitState;
pub use collapse::{Collapse, Folder};
pub use comback::ComBack;
pub use compact::Compact;
pub use folded::Folded;
pub use index::prefetch;
pub use packed::PackedTable;
pub use replaying::Replaying;
pub use set::{NO_ORIGIN, Set};
pub use table::Table;
pub(crate) use tree::Keys;
pub use tree::{IndexedTree, Tree};
pub use whole::Whole;

use scrimp_system::{Batch, EventCode};
use std::io::{self, Read, Write};
use std::ops::Range;

/// The number of a stored state. Numbers are given in the order of discovery, without gaps, from zero; once states are
/// removed, their numbers are given anew.
pub type StateId = u32;

/// In place of the number of a state that is stored without one, because all is done with it.
pub const ARCHIVED: StateId = StateId::MAX;

/// How long a state stays that is stored without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    Kept,
    /// Until it is [dropped](Store::drop_passing) with others.
    Passing,
}

/// How many of those that need not stay are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// Any one.
    One,
    /// So many that there is memory again.
    Many,
    All,
}

/// What became of one offered state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub id: StateId,
    pub new: bool,
}

/// The store cannot take more states within its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// Where an offered state comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub source: StateId,
    /// Its place among all successors of the source.
    pub place: u32,
}

pub trait Store {
    /// Looks up states `which` of a batch in turn, storing those that are new; appends one answer for each to `found`.
    /// When it fails, none of them was stored.
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full>;

    /// [`offer`](Store::offer), for successors of stored states: `origins` says for each state of the batch where it comes from,
    /// if the store [wants to know](Store::wants_origins). Successors of one source stand together.
    fn offer_from(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        _origins: &[Origin],
        found: &mut Vec<Found>,
    ) -> Result<(), Full> {
        self.offer(batch, which, found)
    }

    /// Must the store know where states come from?
    fn wants_origins(&self) -> bool {
        false
    }

    /// How many sources should be expanded before the store is offered their successors, where it gains from many.
    fn sources_at_once(&self) -> Option<usize> {
        None
    }

    /// The number of state `which` of a batch, if it is stored.
    fn find(&self, batch: &Batch, which: usize) -> Option<StateId>;

    /// Asks for the memory that looking up these states of a batch will touch.
    fn prefetch(&self, batch: &Batch, which: Range<usize>);

    /// Drops a stored state; its number may be given to another one.
    fn remove(&mut self, id: StateId);

    /// Copies a stored state to `out`.
    fn load(&self, id: StateId, out: &mut [u8]);

    /// The event by which the state, which is kept in full, may later be stripped: not the one it was offered with.
    fn led_by(&mut self, _id: StateId, _event: EventCode) {}

    /// Keeps a state, which is not initial and was found from `predecessor`, by how it was found, where the store can. Both
    /// this one and the predecessor must then stay until it is restored.
    fn strip(&mut self, _id: StateId, _predecessor: StateId) {}

    /// Keeps a state in full again.
    fn restore(&mut self, _id: StateId) -> Result<(), Full> {
        Ok(())
    }

    /// Is a stored state kept in full?
    fn is_whole(&self, _id: StateId) -> bool {
        true
    }

    /// Keeps a state to which nothing refers any more without its number, where the store can and has the memory.
    fn archive(&mut self, _id: StateId, _shelf: Shelf) -> bool {
        false
    }

    /// Drops states without numbers that need not stay; how many?
    fn drop_passing(&mut self, _how_many: Dropped) -> u64 {
        0
    }

    /// Is there memory for more states once some were dropped? In other stores, it serves others in their place.
    fn regains(&self) -> bool {
        false
    }

    /// The states on the way to a state, nearest first, where the store itself knows them.
    fn ancestors(&self, _id: StateId) -> Option<Vec<StateId>> {
        None
    }

    /// Number of states kept in full.
    fn whole(&self) -> usize {
        self.len()
    }

    /// Events run to know what was stripped.
    fn replays(&self) -> u64 {
        0
    }

    /// Number of states that have numbers.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of stored states, with those that have no number any more.
    fn stored(&self) -> usize {
        self.len()
    }

    /// How many states the memory taken so far can hold.
    fn room(&self) -> usize;

    /// All numbers are below this.
    fn numbers(&self) -> usize;

    /// Shows the numbers of all states that have one.
    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        (0..self.numbers() as StateId).for_each(show);
    }

    /// Shows the states that are stored without numbers.
    fn each_archived(&self, _show: &mut dyn FnMut(&[u8], Shelf)) {}

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Has a state turned out not to be what was saved? Then the store takes no more, and what was searched is worth nothing.
    fn is_damaged(&self) -> bool {
        false
    }

    /// Writes all that is needed to have the same states with the same numbers again.
    fn save(&self, _to: &mut dyn Write) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fills an empty store with what was saved. What cannot have been saved is refused: a checksum is no proof of who wrote it.
    fn refill(&mut self, _from: &mut dyn Read) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
