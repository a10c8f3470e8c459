//! The successors of a packed state, where nothing out of the ordinary happens.

use super::Packing;
use crate::encoded::{Encoded, PLACES, PROCESSES};
use crate::model::TypedModel;
use crate::panics::caught;
use scrimp_system::{Batch, EventCode};
use std::sync::atomic::Ordering;

impl<M: TypedModel> Encoded<M> {
    /// The state of these bytes. Where there is none, that is noted.
    #[inline]
    pub(crate) fn unpacked(&self, packing: &Packing<M::State>, bytes: &[u8]) -> Option<M::State> {
        let state = (packing.unpack)(bytes);
        if state.is_none() {
            self.go_wrong(|| "a state that was packed cannot be unpacked".into());
        }
        state
    }

    /// Appends the successors of a state, packed where they are wanted. Panics are caught once for all actions: where there is one,
    /// nothing is appended and the answer is `false`, and each action must be looked at on its own.
    pub(crate) fn expand_packed(&self, packing: &Packing<M::State>, state: &M::State, out: &mut Batch) -> bool {
        let before = out.len();
        match caught(|| self.append(packing, state, out)) {
            Ok(Ok(())) => true,
            Ok(Err(wrong)) => {
                self.go_wrong(|| wrong);
                true
            }
            Err(_) => {
                out.truncate(before);
                false
            }
        }
    }

    /// Appends the successors. Fails where one does not fit.
    fn append(&self, packing: &Packing<M::State>, state: &M::State, out: &mut Batch) -> Result<(), String> {
        let (before, model) = (out.len(), &*self.model);
        let mut actions = Vec::with_capacity(8);
        model.actions(state, &mut actions);
        if actions.len() >= PLACES as usize - 1 {
            return Err(self.too_many(actions.len(), state));
        }
        let mut processes = 0;
        for (place, action) in actions.iter().enumerate() {
            let process = model.process(action);
            processes = processes.max(process + 1);
            // By reference: what was just written in bytes is slow to move in words.
            let next = &model.next(state, action);
            let Some(next) = next else { continue };
            let standing = if self.symmetric { &model.canonical(next) } else { next };
            let code = process.min(PROCESSES - 1) as EventCode * PLACES + place as EventCode;
            packing.push(standing, code, out)?;
            self.look_at(out.state(out.len() - 1), standing);
        }
        if processes > self.processes() {
            self.processes.fetch_max(processes, Ordering::Relaxed);
        }
        out.declare_deadlock(out.len() == before);
        self.count(&actions, out.events()[before..].iter().map(|code| self.place(*code)));
        Ok(())
    }
}
