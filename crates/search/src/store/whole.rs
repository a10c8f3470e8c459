//! A table as a set: states in full, whose keys they are. For searches that keep what is open in a list of their own.

use super::{Found, Full, Set, Store, Table};
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub struct Whole {
    table: Table,
    state_bytes: usize,
    found: Vec<Found>,
}

impl Whole {
    pub fn new(state_bytes: usize, budget: Arc<Budget>) -> io::Result<Whole> {
        Ok(Whole { table: Table::new(state_bytes, budget)?, state_bytes, found: Vec::new() })
    }
}

impl Set for Whole {
    fn key_bytes(&self) -> usize {
        self.state_bytes
    }

    fn insert(&mut self, batch: &Batch, _: &[u32], new: &mut Vec<u32>, keys: &mut Vec<u8>) -> Result<(), Full> {
        self.found.clear();
        self.table.offer(batch, 0..batch.len(), &mut self.found)?;
        for i in (0..batch.len()).filter(|&i| self.found[i].new) {
            new.push(i as u32);
            keys.extend_from_slice(batch.state(i));
        }
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Full> {
        // SAFETY: a table of its own, with a single owner.
        unsafe { self.table.shared().make_room(more, None) }
    }

    fn len(&self) -> u64 {
        self.table.len() as u64
    }

    fn each(&self, show: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut state = vec![0; self.state_bytes];
        (0..self.table.len() as u32).all(|id| {
            self.table.load(id, &mut state);
            show(&state)
        })
    }

    fn bytes(&self) -> usize {
        self.table.bytes()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.table.save(to)
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.table.refill(from)
    }
}
