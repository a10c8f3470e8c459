//! One random walk: from an initial state, one event after the other by chance.
//!
//! A walk is the same for the same seed, whoever makes it and however the model is run. So only its seed is kept, and it is made
//! once more where somebody wants to see it.

use scrimp_native::NativeModel;
use scrimp_system::{Batch, EventCode, FaultRecord, Model, Random};

/// Makes walks through a model.
pub(super) struct Walker<'m> {
    model: &'m NativeModel,
    /// Choose among events in the order of their numbers. What runs a net finds them in another order, which depends on how
    /// much room its places have.
    by_number: bool,
    batch: Batch,
    order: Vec<usize>,
    before: Vec<u8>,
    state: Vec<u8>,
}

/// A state on a walk.
pub(super) struct Visit<'a> {
    /// How many events lie before it.
    pub step: u64,
    /// The event that led here, and from where; nothing for an initial state.
    pub by: Option<(&'a [u8], EventCode)>,
    pub state: &'a [u8],
    pub deadlock: bool,
    pub faults: &'a [FaultRecord],
}

impl<'m> Walker<'m> {
    pub fn new(model: &'m NativeModel, by_number: bool) -> Walker<'m> {
        let (batch, before, state) = (Batch::new(model.state_bytes()), Vec::new(), Vec::new());
        Walker { model, by_number, batch, order: Vec::new(), before, state }
    }

    /// Makes a walk of so many events at most, as long as `visit` wants more.
    pub fn walk(&mut self, seed: u64, steps: u64, mut visit: impl FnMut(Visit) -> bool) {
        let mut random = Random(seed);
        self.batch.clear();
        self.model.initial(&mut self.batch);
        if self.batch.is_empty() {
            return;
        }
        let first = random.below(self.batch.len());
        self.state.clear();
        self.state.extend_from_slice(self.batch.state(first));
        let mut event = None;
        for step in 0..=steps {
            self.batch.clear();
            self.model.expand(&self.state, &mut self.batch);
            let deadlock = self.batch.take_deadlock(self.batch.len());
            let by = event.map(|event| (&self.before[..], event));
            let go_on = visit(Visit { step, by, state: &self.state, deadlock, faults: self.batch.faults() });
            if !go_on || self.batch.is_empty() || step == steps {
                return;
            }
            let choice = self.choose(random.below(self.batch.len()));
            std::mem::swap(&mut self.before, &mut self.state);
            self.state.clear();
            self.state.extend_from_slice(self.batch.state(choice));
            event = Some(self.batch.event(choice));
        }
    }

    fn choose(&mut self, choice: usize) -> usize {
        if !self.by_number {
            return choice;
        }
        self.order.clear();
        self.order.extend(0..self.batch.len());
        self.order.sort_unstable_by_key(|&i| self.batch.event(i));
        self.order[choice]
    }
}
