//! COLLAPSE in front of a set: the set holds tuples of component numbers instead of states, and they are the keys.
//!
//! Threads fold states one after the other; the set of tuples they use at once, where it lets them.

use super::{Folder, Full, Set};
use crate::sync::{Mutex, MutexGuard};
use scrimp_system::Batch;
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

pub struct Folded {
    folding: Arc<Mutex<Folding>>,
    set: Box<dyn Set>,
    state_bytes: usize,
    tuples: Batch,
}

struct Folding {
    folder: Folder,
    /// There was no room for a component's new value: none can be made.
    full: bool,
}

impl Folded {
    /// `set` is an empty one for the folder's tuples.
    pub fn new(folder: Folder, set: Box<dyn Set>, state_bytes: usize) -> Folded {
        let tuples = Batch::new(folder.tuple_bytes());
        Folded { folding: Arc::new(Mutex::new(Folding { folder, full: false })), set, state_bytes, tuples }
    }

    fn folding(&self) -> MutexGuard<'_, Folding> {
        self.folding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Set for Folded {
    fn key_bytes(&self) -> usize {
        self.tuples.state_bytes()
    }

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        let Folding { folder, .. } = &*self.folding();
        keys.chunks_exact(self.key_bytes()).for_each(|tuple| folder.unfold(tuple, sources.push_with(0)));
    }

    fn insert(&mut self, batch: &Batch, origins: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        self.tuples.clear();
        {
            let Folding { folder, full } = &mut *self.folding.lock().unwrap_or_else(PoisonError::into_inner);
            let folded = folder.fold_all(batch, &mut self.tuples);
            *full |= folded.is_err();
            folded?;
        }
        self.set.insert(&self.tuples, origins, new, keys)
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        if self.folding().full { Err(Full) } else { self.set.make_room(more) }
    }

    fn is_key(&self, key: &[u8]) -> bool {
        self.folding().folder.knows(key) && self.set.is_key(key)
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        let (folding, set) = (self.folding.clone(), self.set.share()?);
        let tuples = Batch::new(self.tuples.state_bytes());
        Some(Box::new(Folded { folding, set, state_bytes: self.state_bytes, tuples }))
    }

    fn len(&self) -> u64 {
        self.set.len()
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Folding { folder, .. } = &*self.folding();
        let mut state = vec![0; self.state_bytes];
        self.set.each(&mut |tuple| {
            // A set that was read from a file may hold others: its words are too many to look at each.
            folder.knows(tuple) && {
                folder.unfold(tuple, &mut state);
                show(&state)
            }
        })
    }

    fn bytes(&self) -> usize {
        self.folding().folder.bytes() + self.set.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.folding().folder.save(to)?;
        self.set.save(to)
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.folding().folder.restore(from)?;
        self.set.restore(from)
    }
}
