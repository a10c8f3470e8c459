//! Which events have ever happened, for those who ask.

use crate::program::Program;
use scrimp_system::EventCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// A mark for each event, shared by all threads.
pub struct Watch(Vec<AtomicBool>);

impl Watch {
    pub fn new(events: usize) -> Watch {
        Watch((0..events).map(|_| AtomicBool::new(false)).collect())
    }

    pub fn happened(&self, program: &Program, code: EventCode) {
        let Some(event) = program.parts(code).0 else { return };
        // Threads that only read share the memory; once all is marked, nobody writes.
        if self.0.get(event as usize).is_some_and(|mark| !mark.load(Ordering::Relaxed)) {
            for &happened in [event].iter().chain(program.followers(event)) {
                self.0[happened as usize].store(true, Ordering::Relaxed);
            }
        }
    }

    pub fn marks(&self) -> Vec<bool> {
        self.0.iter().map(|mark| mark.load(Ordering::Relaxed)).collect()
    }
}
