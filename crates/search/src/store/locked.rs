//! A set that one thread at a time may use, for several: each waits its turn.

use super::{Full, NO_ORIGIN, Set};
use crate::sync::{Mutex, MutexGuard};
use scrimp_core::Omission;
use scrimp_system::Batch;
use std::io::{self, Read, Write};
use std::sync::{Arc, PoisonError};

pub struct Locked {
    set: Arc<Mutex<Box<dyn Set>>>,
    key_bytes: usize,
    /// Other threads load sources too, so the set is not told where states come from.
    origins: Vec<u32>,
}

impl Locked {
    pub fn new(set: Box<dyn Set>) -> Locked {
        Locked { key_bytes: set.key_bytes(), set: Arc::new(Mutex::new(set)), origins: Vec::new() }
    }

    fn set(&self) -> MutexGuard<'_, Box<dyn Set>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Set for Locked {
    fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    fn load(&mut self, keys: &[u8], sources: &mut Batch) {
        self.set().load(keys, sources);
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        self.origins.clear();
        self.origins.resize(batch.len(), NO_ORIGIN);
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.insert(batch, &self.origins, new, keys)
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        self.set().make_room(more)
    }

    fn is_key(&self, key: &[u8]) -> bool {
        self.set().is_key(key)
    }

    fn share(&self) -> Option<Box<dyn Set>> {
        Some(Box::new(Locked { set: self.set.clone(), key_bytes: self.key_bytes, origins: Vec::new() }))
    }

    fn len(&self) -> u64 {
        self.set().len()
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.set().each(show)
    }

    fn omission(&self) -> Option<Omission> {
        self.set().omission()
    }

    fn bytes(&self) -> usize {
        self.set().bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.set().save(to)
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.set().restore(from)
    }
}
