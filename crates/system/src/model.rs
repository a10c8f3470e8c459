//! The view that the search has of a model: states are byte strings of one length, and each has successors.

use crate::dependence::Dependence;
use crate::expr::Expr;
use crate::expr::Fault;
use crate::facts::Set;
use crate::symmetry::Symmetry;
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Names one event of a model. What the number means is the model's own business; [`Describe::event`](crate::Describe::event) explains it.
pub type EventCode = u32;

/// A model that can be searched. Implement it for a system of your own, or get one from a model file.
///
/// `expand` must be a function: the same state always yields the same successors, in the same order.
pub trait Model: Sync {
    /// Length of every state.
    fn state_bytes(&self) -> usize;

    /// Appends the initial states. Their event codes mean nothing.
    fn initial(&self, out: &mut Batch);

    /// Appends every enabled event with its successor, and the events that ended in a fault.
    fn expand(&self, state: &[u8], out: &mut Batch);

    /// Appends every distinct state that an event leads from to `state`, once, with the [first event](Model::first_event) of
    /// one such. Among them are all that are reachable, and there may be others. Fails for a state with too many of them.
    fn predecessors(&self, state: &[u8], out: &mut Batch) -> Result<(), Unsuited> {
        let _ = (state, out);
        self.suits_predecessors()
    }

    /// Can this model give [`predecessors`](Model::predecessors)? If not, why?
    fn suits_predecessors(&self) -> Result<(), Unsuited> {
        Err(Unsuited::whole("it does not define predecessors"))
    }

    /// For each [first event](Model::first_event), those with which it can be swapped: where an edge of one follows an edge of
    /// the other, there are edges of both that lead to the same state the other way round. `None` where that is not known.
    fn independence(&self) -> Option<Vec<Set>> {
        None
    }

    /// How its events depend on each other, for what leaves some of them out; or why that is not known.
    fn dependence(&self) -> Result<Arc<Dependence>, String> {
        Err("it does not define how its events depend on each other".into())
    }

    /// Does it say of events whether they are [local](Model::actor)?
    fn knows_local(&self) -> bool {
        false
    }

    /// The process of an event, and whether the event is local: whatever the others do before this process moves, it has the
    /// events it has here and no others, with the same effect; no order of its events and theirs can be told from another; and none of its own
    /// changes what is asked about. A state may be left by the events of one process alone if all of them are local.
    fn actor(&self, code: EventCode) -> (u32, bool) {
        (code, false)
    }

    /// What can be exchanged in its states without anybody noticing, while each of the first conditions stays as it is and the
    /// others may become different ones; or why nothing can.
    fn symmetry(&self, kept: &[&Expr], others: &[&Expr]) -> Result<Symmetry, String> {
        let _ = (kept, others);
        Err("it does not define a symmetry".into())
    }

    /// The event, by its number in [`dependence`](Model::dependence), that an edge with this code begins with.
    fn first_event(&self, code: EventCode) -> u32 {
        code
    }

    /// A hash of everything that the model is made of, so that a search saved in a file is not taken up with another model.
    /// Without one, the first states and their successors tell models apart.
    fn digest(&self) -> Option<u64> {
        None
    }

    /// What was found out while the model was made, such as how many processes there are: with it the same model can be made
    /// again. It is kept in checkpoints.
    fn making(&self) -> &[u64] {
        &[]
    }

    /// The parts that a state consists of, such as processes with their variables, each by where its bytes are. Every byte
    /// belongs to one part. Parts that take few different values, whatever the others do, make a state cheap to keep.
    fn components(&self) -> Vec<Vec<Range<usize>>> {
        let bytes = self.state_bytes();
        (0..bytes).step_by(8).map(|start| std::iter::once(start..bytes.min(start + 8)).collect()).collect()
    }

    /// How far a state is, where the model itself knows: a progress measure.
    fn progress(&self, state: &[u8]) -> Option<u128> {
        let _ = state;
        None
    }

    /// How promising a state is, where the model itself knows; low values come first.
    fn heuristic(&self, state: &[u8]) -> Option<u128> {
        let _ = state;
        None
    }

    /// A search begins, and pays from this budget for what the model itself keeps from now on.
    fn spend_from(&self, budget: Arc<dyn Spend>) {
        let _ = budget;
    }

    /// The search has come to its end: what is expanded from now on, to find runs, was expanded before.
    fn searched(&self) {}

    /// Writes what the model keeps of its own and states refer to, so that a search can be saved with it.
    fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// Reads that again, before a search that was saved is taken up.
    fn restore(&self, from: &mut dyn Read) -> io::Result<()> {
        let _ = from;
        Ok(())
    }

    /// Has a state been expanded for which this model was made too small? Then what was visited is not all there is.
    fn is_outgrown(&self) -> bool {
        false
    }
}

/// What memory is taken from.
pub trait Spend: Send + Sync {
    fn spend(&self, bytes: usize);
}

/// Why a model cannot give the predecessors of its states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsuited {
    /// The event that is to blame; empty when it is the model as a whole.
    pub event: String,
    /// Line in the model's text, 0 when there is none.
    pub line: u32,
    pub reason: String,
}

impl Unsuited {
    /// The model as a whole is unsuited.
    pub fn whole(reason: impl Into<String>) -> Unsuited {
        Unsuited { event: String::new(), line: 0, reason: reason.into() }
    }
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this model cannot be run backwards: ")?;
        match (self.event.as_str(), self.line) {
            ("", _) => f.write_str(&self.reason),
            (event, 0) => write!(f, "event {event}: {}", self.reason),
            (event, line) => write!(f, "line {line}, event {event}: {}", self.reason),
        }
    }
}

impl std::error::Error for Unsuited {}

/// Successor states with the events that led to them, kept one after the other in memory that is reused.
#[derive(Debug)]
pub struct Batch {
    state_bytes: usize,
    stride: usize,
    len: usize,
    states: Vec<u8>,
    events: Vec<EventCode>,
    faults: Vec<FaultRecord>,
    deadlock: Option<bool>,
}

/// An event that was enabled, or whose guard was read, and ended in a fault or violated an assertion. Where an edge stands
/// for several steps, it may be any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct FaultRecord {
    pub event: EventCode,
    pub fault: Fault,
}

impl Batch {
    pub fn new(state_bytes: usize) -> Batch {
        Batch {
            state_bytes,
            stride: state_bytes.next_multiple_of(8),
            len: 0,
            states: Vec::new(),
            events: Vec::new(),
            faults: Vec::new(),
            deadlock: None,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.faults.clear();
        self.deadlock = None;
    }

    /// Forgets all but the first `len` states.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Of the states from number `first` on, keeps those with such events.
    pub fn retain_from(&mut self, first: usize, mut keep: impl FnMut(EventCode) -> bool) {
        let mut kept = first;
        for i in first..self.len {
            if keep(self.events[i]) {
                self.copy(i, kept);
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Of the states from number `first` on, keeps one of each.
    pub fn distinct_from(&mut self, first: usize) {
        let mut kept = first;
        for i in first..self.len {
            if (first..kept).all(|k| self.state(k) != self.state(i)) {
                self.copy(i, kept);
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Copies the state and the event at `from` to the place `to`.
    #[inline]
    pub fn copy(&mut self, from: usize, to: usize) {
        assert!(from < self.len && to < self.len);
        let at = from * self.stride;
        self.states.copy_within(at..at + self.state_bytes, to * self.stride);
        self.events[to] = self.events[from];
    }

    #[inline]
    pub fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    /// Distance between two states: their length rounded up to eight.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    #[inline]
    pub fn state(&self, i: usize) -> &[u8] {
        assert!(i < self.len);
        &self.states[i * self.stride..][..self.state_bytes]
    }

    /// A state and what pads it to the [stride](Batch::stride), which may be anything.
    #[inline]
    pub fn padded(&self, i: usize) -> &[u8] {
        assert!(i < self.len);
        &self.states[i * self.stride..][..self.stride]
    }

    /// All states, each with what pads it.
    #[inline]
    pub fn all_padded(&self) -> impl Iterator<Item = &[u8]> {
        self.states.chunks_exact(self.stride.max(1)).take(self.len)
    }

    #[inline]
    pub fn state_mut(&mut self, i: usize) -> &mut [u8] {
        assert!(i < self.len);
        &mut self.states[i * self.stride..][..self.state_bytes]
    }

    /// The events of all successors, in their order.
    #[inline]
    pub fn events(&self) -> &[EventCode] {
        &self.events[..self.len]
    }

    #[inline]
    pub fn event(&self, i: usize) -> EventCode {
        self.events[..self.len][i]
    }

    #[inline]
    pub fn set_event(&mut self, i: usize, event: EventCode) {
        self.events[..self.len][i] = event;
    }

    #[inline]
    pub fn faults(&self) -> &[FaultRecord] {
        &self.faults
    }

    /// Says whether the state just expanded is a deadlock, where its having successors does not answer that: a claim
    /// may block a system that could move, or move alone when the system cannot.
    pub fn declare_deadlock(&mut self, deadlock: bool) {
        self.deadlock = Some(deadlock);
    }

    /// Whether the state just expanded, with so many successors, is a deadlock.
    #[inline]
    pub fn take_deadlock(&mut self, successors: usize) -> bool {
        self.deadlock.take().unwrap_or(successors == 0)
    }

    #[inline]
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Appends a copy of `state`.
    #[inline]
    pub fn push(&mut self, state: &[u8], event: EventCode) {
        self.push_with(event).copy_from_slice(state);
    }

    /// Appends a state with unspecified contents, for the caller to fill in whole.
    #[inline]
    pub fn push_with(&mut self, event: EventCode) -> &mut [u8] {
        self.reserve(1);
        self.events[self.len] = event;
        self.len += 1;
        self.state_mut(self.len - 1)
    }

    /// Appends so many states, all with event 0: each with what pads it, to be filled in.
    pub fn push_padded(&mut self, more: usize) -> impl Iterator<Item = &mut [u8]> {
        self.reserve(more);
        let first = self.len;
        self.len += more;
        self.events[first..self.len].fill(0);
        self.states[first * self.stride..].chunks_exact_mut(self.stride.max(1)).take(more)
    }

    pub fn push_fault(&mut self, event: EventCode, fault: Fault) {
        self.faults.push(FaultRecord { event, fault });
    }

    /// Makes room for `more` states.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.events.len() < self.len + more {
            self.grow(self.len + more);
        }
    }

    /// Grows by doubling while states are small; large ones get the room that they need.
    #[cold]
    fn grow(&mut self, wanted: usize) {
        const GENEROUS: usize = 1 << 18;
        let doubled = wanted.next_power_of_two().max(64);
        let count = if doubled * self.stride <= GENEROUS { doubled } else { wanted };
        self.events.resize(count, 0);
        let more = count * self.stride - self.states.len();
        self.states.reserve_exact(more);
        self.states.resize(count * self.stride, 0);
    }

    /// Where the next state and its event go, for code that writes them itself: room for what was reserved.
    #[inline]
    pub fn spare(&mut self) -> (*mut u8, *mut EventCode) {
        let (state, event) = (self.len * self.stride, self.len);
        (self.states[state..].as_mut_ptr(), self.events[event..].as_mut_ptr())
    }

    /// Declares that `more` states were written at [`spare`](Batch::spare).
    ///
    /// # Safety
    /// Room for them was reserved since the last change of length, and that many states and events were written there.
    #[inline]
    pub unsafe fn commit(&mut self, more: usize) {
        debug_assert!(self.len + more <= self.events.len());
        self.len += more;
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.states.capacity()
            + self.events.capacity() * size_of::<EventCode>()
            + self.faults.capacity() * size_of::<FaultRecord>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_apart() {
        let mut batch = Batch::new(3);
        for i in 0..100u8 {
            batch.push(&[i, i, i], i as u32);
        }
        assert_eq!(batch.stride(), 8);
        for i in 0..100usize {
            assert_eq!(batch.state(i), [i as u8; 3]);
            assert_eq!(batch.event(i), i as u32);
        }
        batch.truncate(10);
        assert_eq!(batch.len(), 10);
    }
}
