//! The successors of a state of a typed model.

use crate::code::{Buffers, tree};
use crate::encoded::{Encoded, LISTING, LOCAL, NAMED, PLACES, PROCESSES};
use crate::model::TypedModel;
use crate::panics::caught;
use crate::recent::Recent;
use crate::watch::{Call, Noted};
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
    /// Appends the successors of the state with these bytes. All of it is one piece of the model's own code for those who watch and
    /// catch, since both cost time in every state; which of its functions runs is noted.
    pub(crate) fn expand_with(&self, from: &[u8], own: &mut OfThread<M>, out: &mut Batch) {
        own.actions.clear();
        own.happen.clear();
        let counting = self.is_counting();
        let mut going = Going {
            state: if self.coding.is_dear() { own.recent.take(from) } else { None },
            place: 0,
            appended: out.len(),
            stuck: true,
            counting,
            local: false,
            written: 0,
        };
        self.watch.noting(Call::Reading, |noted| {
            loop {
                match caught(|| self.go_on(from, noted, &mut going, own, out)) {
                    Ok(Ok(())) => break,
                    Ok(Err(wrong)) => return self.go_wrong(|| wrong),
                    Err(said) if noted.call() == Call::Reading => return self.unread(Err(said)).unwrap_or(()),
                    Err(_) if noted.call() == Call::Actions => {
                        out.push_fault(LISTING, Fault::Model);
                        return out.declare_deadlock(false);
                    }
                    Err(said) if going.place >= own.actions.len() => return self.go_wrong(|| undroppable(&said)),
                    // What panics is an error of its own, and the actions after it happen all the same.
                    Err(_) => {
                        // One that was being written is none.
                        out.truncate(going.appended);
                        let action = &own.actions[going.place];
                        out.push_fault(self.code(self.process(action), action, going.place), Fault::Model);
                        own.happen.push(going.place);
                        going.stuck = false;
                        going.place += 1;
                        noted.begin(Call::Next);
                    }
                }
            }
            if counting {
                self.count(&own.actions, &own.happen);
            }
            out.declare_deadlock(going.stuck);
        });
    }

    /// Reads the state, unless it is known, lists its actions, unless they are, and appends one successor after the other, until all
    /// are there or the model panics. Fails where the model is wrong.
    fn go_on(
        &self,
        from: &[u8],
        noted: &Noted<'_>,
        going: &mut Going<M::State>,
        own: &mut OfThread<M>,
        out: &mut Batch,
    ) -> Result<(), String> {
        let model = &*self.model;
        let known = going.state.take().map_or_else(|| self.coding.read(from, &mut own.buffers), Ok)?;
        let state = &*going.state.insert(known);
        if noted.call() == Call::Reading {
            noted.begin(Call::Actions);
            model.actions(state, &mut own.actions);
            if own.actions.len() >= PLACES as usize - 1 {
                return Err(format!("{} actions in one state are too many\n  {}", own.actions.len(), tree(state)));
            }
            self.coding.follow(from, &mut own.buffers);
            noted.begin(Call::Next);
        }
        while let Some(action) = own.actions.get(going.place) {
            if self.watch.cuts(&mut going.written) {
                (going.place, going.stuck) = (own.actions.len(), false);
                break;
            }
            let Some(mut next) = model.next(state, action) else {
                going.place += 1;
                continue;
            };
            if self.symmetric {
                noted.begin(Call::Canonical);
                next = model.canonical(&next);
                noted.begin(Call::Next);
            }
            let mut code = self.code(model.process(action), action, going.place);
            if self.local.is_some() && code < NAMED && model.local(state, action) {
                (code, going.local) = (code | LOCAL, true);
            }
            let bytes = out.push_with(code);
            let written = match self.coding.write(&next, &mut own.buffers, bytes) {
                Ok(written) => written,
                Err(wrong) => {
                    out.truncate(going.appended);
                    return Err(wrong);
                }
            };
            self.look_at(bytes, &next);
            if self.coding.is_dear() {
                own.recent.written(written);
                own.recent.put(bytes, next);
            } else {
                // As long as it is known whose it is: that may panic.
                drop(next);
            }
            (going.appended, going.stuck) = (out.len(), false);
            if going.counting {
                own.happen.push(going.place);
            }
            going.written += written;
            going.place += 1;
        }
        if let Some(claims) = self.local.as_ref().filter(|_| going.local) {
            claims.try_out(self, state, &own.actions)?;
        }
        going.state = None;
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

/// What is wrong where a state cannot be dropped.
pub(crate) fn undroppable(said: &str) -> String {
    format!("dropping a state panics: {said}")
}

/// How far an expansion has come.
struct Going<S> {
    /// The state, once it is read.
    state: Option<S>,
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
