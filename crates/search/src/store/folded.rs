//! COLLAPSE in front of a set: the set holds tuples of component numbers instead of states, and they are the keys.

use super::{Folder, Full, Set};
use scrimp_system::Batch;
use std::io::{self, Read, Write};

pub struct Folded<S> {
    folder: Folder,
    set: S,
    state_bytes: usize,
    tuples: Batch,
    /// There was no room for a component's new value: none can be made.
    full: bool,
}

impl<S: Set> Folded<S> {
    /// `set` is an empty one for the folder's tuples.
    pub fn new(folder: Folder, set: S, state_bytes: usize) -> Folded<S> {
        Folded { tuples: Batch::new(folder.tuple_bytes()), folder, set, state_bytes, full: false }
    }
}

impl<S: Set> Set for Folded<S> {
    fn key_bytes(&self) -> usize {
        self.folder.tuple_bytes()
    }

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        for tuple in keys.chunks_exact(self.folder.tuple_bytes()) {
            self.folder.unfold(tuple, sources.push_with(0));
        }
    }

    fn insert(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        self.tuples.clear();
        let folded = self.folder.fold_all(batch, &mut self.tuples);
        self.full = folded.is_err();
        folded?;
        self.set.insert(&self.tuples, origins, new, keys)
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        if self.full { Err(Full) } else { self.set.make_room(more) }
    }

    fn is_key(&self, key: &[u8]) -> bool {
        self.folder.knows(key) && self.set.is_key(key)
    }

    fn len(&self) -> u64 {
        self.set.len()
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut state = vec![0; self.state_bytes];
        self.set.each(&mut |tuple| {
            // A set that was read from a file may hold others: its words are too many to look at each.
            self.folder.knows(tuple) && {
                self.folder.unfold(tuple, &mut state);
                show(&state)
            }
        })
    }

    fn bytes(&self) -> usize {
        self.folder.bytes() + self.set.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.folder.save(to)?;
        self.set.save(to)
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.folder.restore(from)?;
        self.set.restore(from)
    }
}
