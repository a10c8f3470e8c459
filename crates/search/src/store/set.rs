//! A set of states without numbers: it knows what it holds, and what is open is kept beside it, in an open list.
//!
//! What stands for a state in the open list is its key: the state itself, or something shorter where the set can restore the
//! state from it. Sets that several threads may use at once are shared through one handle for each thread.

use super::Full;
use crate::open::KeyForm;
use scrimp_core::Omission;
use scrimp_system::Batch;
use std::io::{self, Read, Write};

/// The origin of a state that comes from none of the sources loaded last, such as an initial one.
pub const NO_ORIGIN: u32 = u32::MAX;

pub trait Set: Send {
    /// Length of the key of a state.
    fn key_bytes(&self) -> usize;

    /// What keys are: here the states.
    fn key_form(&self) -> KeyForm {
        KeyForm::State
    }

    /// Appends the states that these keys, one after the other, stand for: the sources whose successors are offered next.
    /// Here states are their own keys.
    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        keys.chunks_exact(sources.state_bytes()).for_each(|state| sources.push(state, 0));
    }

    /// Adds all states of a batch. `origins` says for each which of the sources loaded last it is a successor of. Appends to
    /// `new` the places in the batch of those that were not in the set, in ascending order, and their keys to `keys`. Of two
    /// equal states in a batch the first is new. When it fails, nothing was added: the set needs [room](Set::make_room).
    fn insert(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full>;

    /// These states will be added soon to a set that is empty yet; `false` if it cannot take them.
    fn foresee(&mut self, _batch: &Batch) -> bool {
        true
    }

    /// About so many more states are expected, where that is known: for room that is made from now on. No
    /// other handle may be in use.
    fn expect(&mut self, _more: Option<u64>) {}

    /// Makes room for `more` states, so that batches of so many in all can be inserted. No other handle may be in use.
    /// Fails when the budget does not allow it.
    fn make_room(&mut self, more: usize) -> Result<(), Full>;

    /// May this be the key of a state of the set? To be asked of keys that come from a file: whatever else they are, the set
    /// must be able to [load](Set::load) them.
    fn is_key(&self, key: &[u8]) -> bool {
        key.len() == self.key_bytes()
    }

    /// A handle for one more thread, where several may use the set at once.
    fn share(&self) -> Option<Box<dyn Set>> {
        None
    }

    /// Number of states in the set.
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows every state of the set, in any order, until `show` answers `false`. No other handle may be in use. Sets that do
    /// not know their states (the lossy ones) show none and answer `false`.
    fn each(&self, _show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        false
    }

    /// Shows every state of the set as [`each`](Set::each) does, and memory goes as they do: afterwards the set is empty, and can
    /// still [load](Set::load) its keys. Where they are to come `sorted`, those that have most in common come one after the
    /// other. Nothing where a set cannot do that, or has no memory to begin with; it is then as it was.
    fn drain(&mut self, _sorted: bool, _show: &mut dyn FnMut(&[u8]) -> bool) -> Option<bool> {
        None
    }

    /// Why the set can take no more states of this model, however much memory it has.
    fn unsuited(&self) -> Option<String> {
        None
    }

    /// How much was probably missed, where different states may be taken for one.
    fn omission(&self) -> Option<Omission> {
        None
    }

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Writes all that is needed to have the same set again, so that the same keys stand for the same states.
    fn save(&self, to: &mut dyn Write) -> io::Result<()>;

    /// Fills an empty set with what was saved. What cannot have been saved is refused: a checksum is no proof of who wrote it.
    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()>;
}
