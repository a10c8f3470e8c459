//! A depth-first path, as a reduction must know it: which states are on it, and how far the events of each were explored.
//!
//! Events left out on condition get what was promised when one of the successors explored is not on the path: it is explored,
//! or was, before its source is left.

use super::{Kept, Reduce, Source};
use crate::store::Full;
use crate::words::hash;
use scrimp_core::Budget;
use scrimp_system::Batch;
use std::collections::HashMap;

/// How far the events of a state on the path are to be explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Those that were chosen.
    Chosen,
    /// Those that were chosen, and the others after them unless one leads off the path.
    Proviso,
    /// All after all: first those that were chosen, then the others.
    Widened,
}

/// A path, for a reduction.
pub struct OnPath<'a> {
    reduce: Box<dyn Reduce>,
    keep: Vec<bool>,
    left_out: Batch,
    /// For each state on the path.
    extents: Vec<Extent>,
    hashes: Vec<u64>,
    /// How often each hash occurs there: what has none is certainly not on the path.
    on_path: HashMap<u64, u32>,
    budget: &'a Budget,
    bytes: usize,
}

impl<'a> OnPath<'a> {
    pub fn new(reduce: Box<dyn Reduce>, state_bytes: usize, budget: &'a Budget) -> OnPath<'a> {
        OnPath {
            reduce,
            keep: Vec::new(),
            left_out: Batch::new(state_bytes),
            extents: Vec::new(),
            hashes: Vec::new(),
            on_path: HashMap::new(),
            budget,
            bytes: 0,
        }
    }

    /// A state was found and becomes the end of the path.
    pub fn push(&mut self, state: &[u8]) -> Result<(), Full> {
        let hash = hash(state);
        self.extents.push(Extent::Chosen);
        self.hashes.push(hash);
        *self.on_path.entry(hash).or_insert(0) += 1;
        if self.hashes.len().is_multiple_of(4096) {
            // A map has a key and a number for each of its places, and a byte beside them.
            let bytes = self.hashes.capacity() * 9 + self.on_path.capacity() * 8 / 7 * 17;
            if bytes > self.bytes {
                if !self.budget.may_take(bytes - self.bytes) {
                    return Err(Full);
                }
                self.budget.take(bytes - self.bytes);
                self.bytes = bytes;
            }
        }
        Ok(())
    }

    /// The end of the path is left.
    pub fn pop(&mut self) {
        self.extents.pop();
        if let Some(hash) = self.hashes.pop()
            && let Some(times) = self.on_path.get_mut(&hash)
        {
            *times -= 1;
            if *times == 0 {
                self.on_path.remove(&hash);
            }
        }
    }

    /// A successor of the end of the path was found.
    pub fn found(&mut self, state: &[u8], new: bool) {
        if let Some(extent @ Extent::Proviso) = self.extents.last_mut()
            && (new || !self.on_path.contains_key(&hash(state)))
        {
            *extent = Extent::Chosen;
        }
    }

    /// Must what was left out at the end of the path be explored after all? It will be when the successors are chosen
    /// again.
    pub fn expand_fully(&mut self) -> bool {
        match self.extents.last_mut() {
            Some(extent @ Extent::Proviso) => {
                *extent = Extent::Widened;
                true
            }
            _ => false,
        }
    }

    /// Of the successors from `first` on, those of the end of the path, leaves those that are to be explored.
    pub fn choose(&mut self, source: Source, successors: &mut Batch, first: usize, first_time: bool) {
        self.keep.clear();
        self.keep.resize(successors.len() - first, true);
        let kept = self.reduce.choose(source, successors, first, &mut self.keep);
        let Some(extent) = self.extents.last_mut().filter(|_| kept != Kept::All) else {
            return;
        };
        if first_time && kept == Kept::Proviso {
            *extent = Extent::Proviso;
        }
        self.left_out.clear();
        for (place, _) in self.keep.iter().enumerate().filter(|(_, keep)| !**keep) {
            self.left_out.push(successors.state(first + place), successors.event(first + place));
        }
        let mut keep = self.keep.iter();
        successors.retain_from(first, |_| keep.next().copied().unwrap_or(true));
        if *extent == Extent::Widened {
            (0..self.left_out.len()).for_each(|i| successors.push(self.left_out.state(i), self.left_out.event(i)));
        }
    }
}

impl Drop for OnPath<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
