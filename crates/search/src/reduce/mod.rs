//! Which events suffice. A reduction says which successors of a state are explored, before they reach the store.

mod deferred_events;
mod edge_lean;
mod grounded;
mod local;
mod on_path;
mod orbits;
mod por_config;
mod sleeping;
pub mod stubborn;
mod unfold;

pub use deferred_events::DeferredEvents;
pub use edge_lean::EdgeLean;
pub use grounded::Grounded;
pub use on_path::OnPath;
pub use orbits::Orbits;
pub(crate) use orbits::changeable;
pub use por_config::PorConfig;
pub use sleeping::{Round, Sleeping};

use scrimp_system::{Batch, EventCode, Model};

/// A state that was expanded, as a reduction sees it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub model: &'a dyn Model,
    pub state: &'a [u8],
    /// The event that led to the state, where one did and the reduction [asks for it](Reduce::wants_events).
    pub via: Option<EventCode>,
}

/// How persistent sets are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Process,
    Closure,
    Deletion,
}

/// What a reduction has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Every event is explored.
    All,
    /// Those marked suffice.
    Some,
    /// Those marked suffice if one of them leads to a state whose own turn comes later. Otherwise events could be left out
    /// all the way round a cycle, and all are needed.
    Proviso,
}

pub trait Reduce: Send {
    /// The successors of `source` are those in `batch` from number `first` on. Marks in `keep`, which is all true and as long
    /// as they are many, those that are to be explored.
    fn choose(&mut self, source: Source, batch: &Batch, first: usize, keep: &mut [bool]) -> Kept;

    /// Must it be known which event led to a state?
    fn wants_events(&self) -> bool {
        false
    }

    /// May it answer [`Kept::Proviso`]?
    fn wants_history(&self) -> bool {
        false
    }
}

/// Whether a reduction must decide the same way when a state is expanded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expansion {
    /// A state is expanded once and never asked for again: what was seen before may play a part.
    Stateful,
    /// The same state, the same choice.
    Stateless,
}

/// Makes a reduction for each thread, where events are to be left out.
pub type ReductionFactory = dyn Fn(Expansion) -> Option<Box<dyn Reduce>> + Sync;

/// Explores every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct AllEvents;

impl Reduce for AllEvents {
    fn choose(&mut self, _: Source, _: &Batch, _: usize, _: &mut [bool]) -> Kept {
        Kept::All
    }
}
