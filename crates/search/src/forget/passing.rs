//! The sweep-line over a store that can replay states: what lies behind the line keeps its number and loses its vector.
//!
//! Nothing is forgotten for good, so an edge that leads behind the line leads either to a state that is known, which the
//! store finds out by replaying it, or to a new one, which is opened at once: the line goes back there. There is a single
//! sweep, and every state is visited once (the combination of section 2.5.1 of Westergaard's thesis).

use super::{Forget, Link};
use crate::store::{Full, StateId, Store};
use scrimp_core::ForgetFacts;
use scrimp_system::{EventCode, Unsuited};

#[derive(Default)]
pub struct Passing {
    class_size: u64,
    largest_class: u64,
}

impl Forget for Passing {
    fn prepare(&mut self, _: usize) -> Result<(), Full> {
        Ok(())
    }

    fn opened(&mut self, _: Link, _: &dyn Store) -> Result<(), Unsuited> {
        Ok(())
    }

    fn heeds_reached(&self) -> bool {
        false
    }

    fn reached(&mut self, _: StateId, _: Option<StateId>, _: EventCode, _: &mut dyn Store) {}

    fn closed(&mut self, id: StateId, store: &mut dyn Store) {
        self.class_size += 1;
        self.largest_class = self.largest_class.max(self.class_size);
        store.strip(id, id);
    }

    fn advanced(&mut self, _: &mut dyn Store, _: bool) {
        self.class_size = 0;
    }

    fn reclaim(&mut self, _: &mut dyn Store) -> bool {
        false
    }

    fn facts(&self) -> ForgetFacts {
        ForgetFacts { sweeps: 1, largest_class: self.largest_class, ..ForgetFacts::default() }
    }

    fn bytes(&self) -> usize {
        0
    }
}
