//! A model that notes whether something in it goes on by itself for ever: then not all successors are known, and what a
//! graph says of it may be wrong.

use scrimp_system::{Batch, Fault, Model};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct Watched<'a> {
    model: &'a dyn Model,
    endless: AtomicBool,
}

impl<'a> Watched<'a> {
    pub fn new(model: &'a dyn Model) -> Watched<'a> {
        Watched { model, endless: AtomicBool::new(false) }
    }

    /// Was something met that does not come to an end?
    pub fn is_endless(&self) -> bool {
        self.endless.load(Ordering::Relaxed)
    }
}

impl Model for Watched<'_> {
    fn state_bytes(&self) -> usize {
        self.model.state_bytes()
    }

    fn initial(&self, out: &mut Batch) {
        self.model.initial(out);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let before = out.faults().len();
        self.model.expand(state, out);
        if out.faults()[before..].iter().any(|record| record.fault == Fault::Endless) {
            self.endless.store(true, Ordering::Relaxed);
        }
    }

    fn digest(&self) -> Option<u64> {
        self.model.digest()
    }

    fn making(&self) -> &[u64] {
        self.model.making()
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        self.model.components()
    }

    fn is_outgrown(&self) -> bool {
        self.model.is_outgrown()
    }
}
