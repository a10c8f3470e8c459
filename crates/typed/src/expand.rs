//! The successors of a state of a typed model.

use crate::code::{Buffers, tree};
use crate::encoded::{Encoded, LISTING, LOCAL, NAMED, PLACES, PROCESSES};
use crate::model::TypedModel;
use crate::panics::caught;
use crate::recent::Recent;
use crate::watch::Call;
use scrimp_system::{Batch, EventCode, Fault};
use std::sync::atomic::Ordering;

/// What a thread uses for every state that it expands.
pub struct OfThread<M: TypedModel> {
    pub recent: Recent<M::State>,
    pub buffers: Buffers,
    actions: Vec<M::Action>,
    /// The places of actions that can happen, where somebody counts.
    happen: Vec<usize>,
}

impl<M: TypedModel> Default for OfThread<M> {
    fn default() -> OfThread<M> {
        OfThread { recent: Recent::default(), buffers: Buffers::default(), actions: Vec::new(), happen: Vec::new() }
    }
}

impl<M: TypedModel> Encoded<M> {
    /// Appends the successors of a state, whose bytes these are.
    pub(crate) fn expand_state(&self, state: &M::State, from: &[u8], own: &mut OfThread<M>, out: &mut Batch) {
        own.actions.clear();
        own.happen.clear();
        let listed = self.watch.running(Call::Actions, || caught(|| self.model.actions(state, &mut own.actions)));
        if listed.is_err() {
            out.push_fault(LISTING, Fault::Model);
            return out.declare_deadlock(false);
        }
        if own.actions.len() >= PLACES as usize - 1 {
            let count = own.actions.len();
            return self.go_wrong(|| format!("{count} actions in one state are too many\n  {}", tree(state)));
        }
        self.coding.follow(from, &mut own.buffers);
        let counting = self.is_counting();
        let mut going = Going { place: 0, appended: out.len(), stuck: true, counting, local: false, written: 0 };
        // What panics is an error of its own, and the actions after it happen all the same.
        while going.place < own.actions.len() {
            let went = self.watch.running(Call::Next, || caught(|| self.go_on(state, &mut going, own, out)));
            match went {
                Ok(Ok(())) => {}
                Ok(Err(wrong)) => return self.go_wrong(|| wrong),
                Err(_) => {
                    // One that was being written is none.
                    out.truncate(going.appended);
                    let action = &own.actions[going.place];
                    out.push_fault(self.code(self.process(action), action, going.place), Fault::Model);
                    own.happen.push(going.place);
                    going.stuck = false;
                    going.place += 1;
                }
            }
        }
        if let Some(claims) = self.local.as_ref().filter(|_| going.local)
            && let Err(wrong) = claims.try_out(self, state, &own.actions)
        {
            self.go_wrong(|| wrong);
        }
        if counting {
            self.count(&own.actions, &own.happen);
        }
        out.declare_deadlock(going.stuck);
    }

    /// Appends one successor after the other, until all are there or the model panics. Fails where the model is wrong.
    fn go_on(&self, state: &M::State, going: &mut Going, own: &mut OfThread<M>, out: &mut Batch) -> Result<(), String> {
        let model = &*self.model;
        while let Some(action) = own.actions.get(going.place) {
            if self.watch.cuts(&mut going.written) {
                (going.place, going.stuck) = (own.actions.len(), false);
                return Ok(());
            }
            let Some(mut next) = model.next(state, action) else {
                going.place += 1;
                continue;
            };
            if self.symmetric {
                next = self.watch.running(Call::Canonical, || model.canonical(&next));
            }
            let mut code = self.code(model.process(action), action, going.place);
            if self.local.is_some() && code < NAMED && model.local(state, action) {
                (code, going.local) = (code | LOCAL, true);
            }
            let written = self.coding.write(&next, &mut own.buffers, out.push_with(code)).inspect_err(|_| {
                out.truncate(out.len() - 1);
            })?;
            let bytes = out.state(out.len() - 1);
            self.look_at(bytes, &next);
            (going.appended, going.stuck) = (out.len(), false);
            if going.counting {
                own.happen.push(going.place);
            }
            going.written += written;
            if self.coding.is_dear() {
                own.recent.written(written);
                own.recent.put(bytes, next);
            }
            going.place += 1;
        }
        Ok(())
    }

    /// The code of an action, which has this place among those of its state.
    fn code(&self, process: usize, action: &M::Action, place: usize) -> EventCode {
        self.meet(process);
        if self.naming.load(Ordering::Relaxed) {
            return self.name(action);
        }
        process.min(PROCESSES - 1) as EventCode * 2 * PLACES + place as EventCode
    }
}

/// How far an expansion has come.
struct Going {
    /// The next action.
    place: usize,
    /// How many successors there are in all, with those of other states.
    appended: usize,
    /// Has nothing happened so far, and was everything tried?
    stuck: bool,
    /// Does somebody count what happens?
    counting: bool,
    /// Does one of them concern its process alone?
    local: bool,
    /// Bytes of states written since the memory was looked at.
    written: usize,
}
