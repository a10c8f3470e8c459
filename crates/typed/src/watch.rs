//! What those who watch over a search know of the model's own code: which of its functions run, and since when.
//!
//! Every thread that calls a function of the model notes that in a slot of its own, with a count, so that a call that does not
//! come back is told from many short ones. Whoever watches can ask for an end: the search is interrupted, and states that are
//! being expanded then lose the rest of their successors, which [`Watch::is_cut`] says, for no answer may rest on them.

use scrimp_core::budget::resident;
use scrimp_core::{Control, Limit};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A function of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// [`initial`](crate::TypedModel::initial).
    Initial = 1,
    /// [`actions`](crate::TypedModel::actions).
    Actions,
    /// [`next`](crate::TypedModel::next).
    Next,
    /// [`canonical`](crate::TypedModel::canonical).
    Canonical,
    /// A condition of a property.
    Condition,
    /// [`process`](crate::TypedModel::process).
    Process,
    /// Making a state of its bytes again, as serde does it.
    Reading,
}

impl Call {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Call::Initial => "`initial`",
            Call::Actions => "`actions`",
            Call::Next => "`next`",
            Call::Canonical => "`canonical`",
            Call::Condition => "a condition",
            Call::Process => "`process`",
            Call::Reading => "reading a state",
        }
    }

    fn of(slot: u64) -> Option<Call> {
        use Call::*;
        let all = [Initial, Actions, Next, Canonical, Condition, Process, Reading];
        all.into_iter().find(|call| *call as u64 == slot & KIND)
    }
}

/// Bits of a slot that say which function runs; the others count.
const KIND: u64 = 7;

/// Slots for threads. A thread beyond them shares one.
const SLOTS: usize = 128;

/// Bytes of states that may be written before the memory is looked at.
const UNSEEN: usize = 1 << 20;

/// A slot, alone in its cache line.
#[derive(Default)]
#[repr(align(64))]
struct Slot(AtomicU64);

thread_local! {
    /// The watch that this thread had a slot of last, and which.
    static OWN: Cell<(u32, usize)> = const { Cell::new((0, 0)) };
}

/// What is known of the model's own code while a search goes on.
pub struct Watch {
    number: u32,
    slots: Box<[Slot]>,
    given: AtomicUsize,
    /// The most memory of the process, where somebody has said it.
    memory: Option<usize>,
    /// Why the search is to end: 0 where it is not.
    end: AtomicU8,
    /// May expansions be cut short? Not where what was expanded is saved.
    may_cut: bool,
    cut: AtomicBool,
    control: Mutex<Option<Arc<Control>>>,
}

impl Watch {
    /// Watches over a search that may use so much memory. Where it is saved, states are always expanded in full.
    pub fn new(memory: Option<usize>, saved: bool) -> Watch {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        Watch {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            given: AtomicUsize::new(0),
            memory,
            end: AtomicU8::new(0),
            may_cut: !saved,
            cut: AtomicBool::new(false),
            control: Mutex::new(None),
        }
    }

    fn slot(&self) -> &AtomicU64 {
        let (number, mut slot) = OWN.get();
        if number != self.number {
            slot = self.given.fetch_add(1, Ordering::Relaxed) % SLOTS;
            OWN.set((self.number, slot));
        }
        &self.slots[slot].0
    }

    /// Runs a function of the model. A panic must not come out of it, unless it is within another call.
    #[inline]
    pub fn running<T>(&self, call: Call, run: impl FnOnce() -> T) -> T {
        self.noting(call, |_| run())
    }

    /// Runs several functions of the model, one after the other, each of which is noted when it begins.
    #[inline]
    pub(crate) fn noting<T>(&self, first: Call, run: impl FnOnce(&Noted<'_>) -> T) -> T {
        let slot = self.slot();
        let before = slot.load(Ordering::Relaxed) & KIND;
        let noted = Noted { slot, call: Cell::new(first) };
        note(slot, first as u64);
        let result = run(&noted);
        note(slot, before);
        result
    }

    /// What every slot holds now, and the function that it says runs. The same number twice is the same call.
    pub fn calls(&self) -> impl Iterator<Item = (u64, Option<Call>)> {
        let used = self.given.load(Ordering::Relaxed).min(SLOTS);
        self.slots[..used].iter().map(|slot| slot.0.load(Ordering::Relaxed)).map(|slot| (slot, Call::of(slot)))
    }

    /// A search begins, which this ends when it is time.
    pub fn begin(&self, control: &Arc<Control>) {
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
        if self.ended().is_some() {
            control.interrupt();
        }
    }

    /// The search that goes on.
    pub fn control(&self) -> Option<Arc<Control>> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the search, because time or memory is used up. The first reason counts.
    pub fn end(&self, limit: Limit) {
        let code = if limit == Limit::Time { 1 } else { 2 };
        let _ = self.end.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
        if let Some(control) = self.control() {
            control.interrupt();
        }
    }

    /// Why the search is to end.
    pub fn ended(&self) -> Option<Limit> {
        match self.end.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Limit::Time),
            _ => Some(Limit::Memory),
        }
    }

    /// Is a state that is being expanded to lose the rest of its successors? Then that is noted. `written` are the bytes of
    /// states written since the memory was looked at.
    #[inline]
    pub(crate) fn cuts(&self, written: &mut usize) -> bool {
        if *written >= UNSEEN {
            *written = 0;
            self.look_at_memory();
        }
        let cut = self.end.load(Ordering::Relaxed) != 0 && self.may_cut;
        if cut {
            self.cut.store(true, Ordering::Relaxed);
        }
        cut
    }

    /// Ends the search where the process uses more memory than it may.
    pub(crate) fn look_at_memory(&self) -> bool {
        let full = self.memory.is_some_and(|memory| resident().is_some_and(|used| used > memory));
        if full {
            self.end(Limit::Memory);
        }
        full
    }

    /// Has a state lost successors?
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

/// Counts on in a slot, and says which function runs there now.
#[inline]
fn note(slot: &AtomicU64, call: u64) {
    let before = slot.load(Ordering::Relaxed);
    slot.store((before | KIND).wrapping_add(1) | call, Ordering::Relaxed);
}

/// The function of the model that a thread runs now. Threads may share a slot, so it is kept here too.
pub(crate) struct Noted<'w> {
    slot: &'w AtomicU64,
    call: Cell<Call>,
}

impl Noted<'_> {
    /// The one before has come back, and this one begins.
    #[inline]
    pub fn begin(&self, call: Call) {
        self.call.set(call);
        note(self.slot, call as u64);
    }

    /// The one that was begun last.
    pub fn call(&self) -> Call {
        self.call.get()
    }
}

impl Default for Watch {
    /// Watches over nothing but which functions run.
    fn default() -> Watch {
        Watch::new(None, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_from_the_next() {
        let watch = Watch::default();
        let seen = || watch.calls().next();
        assert_eq!(seen(), None);
        let (first, call) = watch.running(Call::Next, || seen().unwrap());
        assert_eq!(call, Some(Call::Next));
        let (second, inner, outer) = watch.running(Call::Next, || {
            let inner = watch.running(Call::Canonical, || seen().unwrap().1);
            (seen().unwrap().0, inner, seen().unwrap().1)
        });
        assert_eq!((inner, outer), (Some(Call::Canonical), Some(Call::Next)));
        assert_ne!(first, second);
        assert_eq!(seen().unwrap().1, None);
    }

    #[test]
    fn an_end_is_kept_and_told_to_searches_that_begin() {
        let watch = Watch::default();
        assert!(!watch.cuts(&mut 0) && watch.ended().is_none());
        watch.end(Limit::Memory);
        watch.end(Limit::Time);
        assert_eq!(watch.ended(), Some(Limit::Memory));
        let control = Arc::new(Control::new(None));
        watch.begin(&control);
        assert_eq!(control.stopped(1), Some(Limit::Interrupt));
        assert!(watch.cuts(&mut 0) && watch.is_cut());
        let saved = Watch::new(None, true);
        saved.end(Limit::Time);
        assert!(!saved.cuts(&mut 0) && !saved.is_cut());
    }
}
