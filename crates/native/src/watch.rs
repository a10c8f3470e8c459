//! Which events have ever happened, for those who ask.

use crate::program::Program;
use scrimp_system::{Batch, EventCode};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A mark for each event, shared by all threads.
pub struct Watch {
    marks: Vec<AtomicBool>,
    /// How many have no mark yet. Once all have one, nobody looks any more.
    left: AtomicUsize,
}

impl Watch {
    pub fn new(events: usize) -> Watch {
        Watch { marks: (0..events).map(|_| AtomicBool::new(false)).collect(), left: AtomicUsize::new(events) }
    }

    /// The same for all successors from this one on, of a system whose codes are the numbers of its events.
    #[inline]
    pub fn happened_plainly(&self, program: &Program, out: &Batch, first: usize) {
        if self.left.load(Ordering::Relaxed) == 0 {
            return;
        }
        for &event in &out.events()[first..] {
            // Threads that only read share the memory; once all is marked, nobody writes.
            if self.marks.get(event as usize).is_some_and(|mark| !mark.load(Ordering::Relaxed)) {
                self.mark_all(program, event);
            }
        }
    }

    pub fn happened(&self, program: &Program, code: EventCode) {
        let Some(event) = program.parts(code).0 else { return };
        if self.marks.get(event as usize).is_some_and(|mark| !mark.load(Ordering::Relaxed)) {
            self.mark_all(program, event);
        }
    }

    /// Marks an event, with those that are run as one with it.
    #[cold]
    fn mark_all(&self, program: &Program, event: u32) {
        for &happened in [event].iter().chain(program.followers(event)) {
            if !self.marks[happened as usize].swap(true, Ordering::Relaxed) {
                self.left.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    pub fn marks(&self) -> Vec<bool> {
        self.marks.iter().map(|mark| mark.load(Ordering::Relaxed)).collect()
    }
}
