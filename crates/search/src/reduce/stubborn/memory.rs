//! What was chosen before, to be chosen again without thinking.
//!
//! A choice is made from a few things only: where the processes are, which events have successors, and the guards that were
//! looked at on the way. Where these are the same, so is the choice; states differ mostly in data that no guard looks at.

use super::Chosen;
use crate::words::hash;
use scrimp_system::{Dependence, Guard};

/// Choices that are remembered.
const ENTRIES: usize = 1 << 15;

/// Longer ones are not.
const LONGEST: usize = 256;

#[derive(Debug)]
struct Entry {
    /// Places and events, as bytes.
    key: Box<[u8]>,
    looked: Box<[(Guard, bool)]>,
    chosen: Chosen,
    keep: Box<[u32]>,
}

/// Choices made before.
#[derive(Debug)]
pub(super) struct Memory {
    entries: Vec<Option<Box<Entry>>>,
    /// The bytes of a state where processes are.
    places: Vec<std::ops::Range<usize>>,
    key: Vec<u8>,
    hash: usize,
    bytes: usize,
}

impl Memory {
    pub fn new(dependence: &Dependence) -> Memory {
        let slots = dependence.system().processes.iter().map(|process| dependence.layout().slot(process.control));
        // Bits of a packed system stand among others; whole bytes tell apart more than is needed, which does no harm.
        let places = slots.map(|slot| slot.offset..slot.offset + slot.width).collect();
        Memory { entries: Vec::new(), places, key: Vec::new(), hash: 0, bytes: 0 }
    }

    /// What was chosen in a state that is like this one, if it is remembered.
    pub fn recall(
        &mut self,
        dependence: &Dependence,
        state: &[u8],
        successors: &[u32],
        keep: &mut Vec<u32>,
    ) -> Option<Chosen> {
        self.key.clear();
        self.places.iter().for_each(|place| self.key.extend_from_slice(&state[place.clone()]));
        successors.iter().for_each(|event| self.key.extend_from_slice(&event.to_le_bytes()));
        self.hash = hash(&self.key) as usize;
        // Two places each: the same places and events may come with other guards.
        for at in [self.hash, self.hash ^ 1] {
            if let Some(Some(entry)) = self.entries.get(at % ENTRIES)
                && *entry.key == *self.key
                && entry.looked.iter().all(|&(guard, held)| dependence.holds(guard, state) == held)
            {
                keep.clear();
                keep.extend_from_slice(&entry.keep);
                return Some(entry.chosen);
            }
        }
        None
    }

    /// Remembers what was chosen in the state that was asked for last.
    pub fn learn(&mut self, looked: &[(Guard, bool)], chosen: Chosen, keep: &[u32]) {
        if looked.len() > LONGEST || self.key.len() > 16 * LONGEST {
            return;
        }
        if self.entries.is_empty() {
            self.entries.resize_with(ENTRIES, || None);
            self.bytes = ENTRIES * size_of::<usize>();
        }
        let entry = Entry { key: self.key.as_slice().into(), looked: looked.into(), chosen, keep: keep.into() };
        let size = |entry: &Entry| size_of::<Entry>() + entry.key.len() + entry.looked.len() * 8 + entry.keep.len() * 4;
        let first = self.hash % ENTRIES;
        let at = if self.entries[first].is_some() { first ^ 1 } else { first };
        self.bytes += size(&entry);
        if let Some(before) = self.entries[at].replace(Box::new(entry)) {
            self.bytes -= size(&before);
        }
        if at != first {
            // The one that was used last stands first.
            self.entries.swap(first, at);
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
