//! Looks for one state, to learn a run that leads to it.

use super::{Check, Flow, Seen};
use scrimp_system::FaultRecord;
use std::sync::Mutex;

pub struct Target<'a> {
    state: &'a [u8],
    path: Mutex<Option<Vec<Vec<u8>>>>,
}

impl<'a> Target<'a> {
    pub fn new(state: &'a [u8]) -> Target<'a> {
        Target { state, path: Mutex::new(None) }
    }

    /// The states on the way, if the target was found.
    pub fn into_path(self) -> Option<Vec<Vec<u8>>> {
        self.path.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Check for Target<'_> {
    fn wants_states(&self) -> bool {
        true
    }

    fn state(&self, seen: Seen) -> Flow {
        if seen.state != self.state {
            return Flow::Continue;
        }
        let path = seen.path.and_then(|path| path());
        *self.path.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = path;
        Flow::Stop
    }

    fn expanded(&self, _: Seen, _: bool, _: &[FaultRecord]) -> Flow {
        Flow::Continue
    }
}
