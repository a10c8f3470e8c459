//! Which states may go. A forgetter watches the search and drops states that will not be needed, or can be found again.

mod cache;
mod passing;
mod pseudo_root;
mod strategy;
mod sweep;

pub use cache::{Cache, Tree};
pub use passing::Passing;
pub use pseudo_root::PseudoRoot;
pub use strategy::{Key, Strategy};
pub use sweep::Sweep;

use crate::column::Column;
use crate::store::{Full, Shelf, StateId, Store};
use scrimp_core::{Budget, ForgetFacts};
use scrimp_system::{EventCode, Unsuited};
use std::io;
use std::sync::Arc;

/// A state that is new, and how it was found.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    pub id: StateId,
    pub state: &'a [u8],
    pub initial: bool,
    /// The state that led to it, where it is stored.
    pub from: Option<StateId>,
    pub depth: u32,
    /// It lies behind the sweep-line.
    pub behind: bool,
    /// It has a single successor to explore. Only known where the forgetter [wants chains](Forget::wants_chains).
    pub single: bool,
    /// The state of another share that led to it, and stays for its sake.
    pub tie: Option<Tie>,
}

/// A state of another share of the state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tie {
    pub share: u8,
    pub id: StateId,
    /// How often the sweep-line had moved: what was tied before it moved is not followed any more.
    pub epoch: u32,
}

/// What a forgetter knows that lets a state stay for the sake of what it led to, in another share of the state space. A state that
/// sends one to another share is tied to it; the share that gets it keeps the tie while it needs it, and then sends it back.
pub trait Ties {
    /// A successor of this state is sent to another share. The tie is one of this share's then.
    fn tie(&mut self, id: StateId) -> Tie;

    /// A tie of another share is not needed, or no longer.
    fn send_back(&mut self, tie: Tie);

    /// The ties to send back.
    fn sent_back(&mut self) -> Vec<Tie>;

    /// A tie of this share came back.
    fn untie(&mut self, tie: Tie, store: &mut dyn Store);
}

pub trait Forget {
    /// Secures memory for what is kept beside `numbers` states.
    fn prepare(&mut self, numbers: usize) -> Result<(), Full>;

    /// The most states to be stored in full.
    fn most(&self) -> usize {
        usize::MAX
    }

    /// How many sources may be expanded together when so many states are stored.
    fn at_once(&self, _stored: usize) -> usize {
        usize::MAX
    }

    /// A state was found and stored. Fails where the model does not suit the method.
    fn opened(&mut self, link: Link, store: &dyn Store) -> Result<(), Unsuited>;

    /// What it knows of a stored state beyond whether it is open, as a number that can be saved.
    fn note(&self, _: StateId) -> u32 {
        0
    }

    /// Takes a state of a saved search as found, knowing so much of it.
    fn adopt(&mut self, link: Link, _note: u32, store: &dyn Store) -> Result<(), Unsuited> {
        self.opened(link, store)
    }

    /// Takes what a saved search had done as done.
    fn remember(&mut self, _: &ForgetFacts) {}

    /// Must [`reached`](Forget::reached) be called at all?
    fn heeds_reached(&self) -> bool {
        true
    }

    /// An event led to a state that is stored already, from one that may be.
    fn reached(&mut self, id: StateId, from: Option<StateId>, event: EventCode, store: &mut dyn Store);

    /// A state with so many successors is about to be expanded. Where that happens in one go, it may be dropped already:
    /// then the answer is `true`, and it will not be closed.
    fn expanding(&mut self, _: StateId, _: usize, _in_one_go: bool, _: &mut dyn Store) -> bool {
        false
    }

    /// All events of a state have been run.
    fn closed(&mut self, id: StateId, store: &mut dyn Store);

    /// The sweep-line leaves the place where it stood, to begin `again` or to go on.
    fn advanced(&mut self, _: &mut dyn Store, _again: bool) {}

    /// May it drop states when there is no room?
    fn reclaims(&self) -> bool {
        true
    }

    /// Drops a state, so that another fits. `false` when none may go.
    fn reclaim(&mut self, store: &mut dyn Store) -> bool;

    /// Can waiting states be given up that are certain to be found again?
    fn retracts(&self) -> bool {
        false
    }

    /// Drops a waiting state if it is certain to be found again.
    fn retract(&mut self, _: StateId, _: &mut dyn Store) -> bool {
        false
    }

    /// Must successors that are equal be told from one another?
    fn wants_distinct(&self) -> bool {
        false
    }

    /// Must [`reached`](Forget::reached) be called too for stored states to which a reduction leaves events out?
    fn heeds_left_out(&self) -> bool {
        false
    }

    /// Must single successors be known when a state is found?
    fn wants_chains(&self) -> bool {
        false
    }

    /// The ties between states of different shares, where states stay for what they led to.
    fn ties(&mut self) -> Option<&mut dyn Ties> {
        None
    }

    /// Has it become another method because memory is short? Then all shares of the state space must.
    fn has_fallen_back(&self) -> bool {
        false
    }

    /// Becomes the other method.
    fn fall_back(&mut self) {}

    /// A waiting state whose expansion will release one more, and what that is worth.
    fn promotion(&mut self) -> Option<(StateId, u32)> {
        None
    }

    /// The ancestors of a state that are stored, nearest first; `None` where they are not kept.
    fn ancestors(&self, _: StateId) -> Option<Vec<StateId>> {
        None
    }

    /// Was every state found only once so far?
    fn once(&self) -> bool {
        true
    }

    fn facts(&self) -> ForgetFacts;

    /// Bytes held.
    fn bytes(&self) -> usize;
}

/// Keeps every state, and, where traces may be wanted, how each was found.
pub struct Nothing {
    pred: Option<Column<StateId>>,
}

/// No predecessor.
const NONE: StateId = StateId::MAX;

impl Nothing {
    pub fn new(with_ancestors: bool, budget: &Arc<Budget>) -> io::Result<Nothing> {
        Ok(Nothing { pred: with_ancestors.then(|| Column::new(budget)).transpose()? })
    }
}

impl Forget for Nothing {
    fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        self.pred.as_mut().map_or(Ok(()), |pred| pred.ensure(numbers))
    }

    fn opened(&mut self, link: Link, _: &dyn Store) -> Result<(), Unsuited> {
        if let Some(pred) = &mut self.pred {
            pred[link.id] = link.from.unwrap_or(NONE);
        }
        Ok(())
    }

    fn heeds_reached(&self) -> bool {
        false
    }

    fn reached(&mut self, _: StateId, _: Option<StateId>, _: EventCode, _: &mut dyn Store) {}

    fn closed(&mut self, id: StateId, store: &mut dyn Store) {
        store.archive(id, Shelf::Kept);
    }

    fn reclaims(&self) -> bool {
        false
    }

    fn reclaim(&mut self, _: &mut dyn Store) -> bool {
        false
    }

    fn ancestors(&self, id: StateId) -> Option<Vec<StateId>> {
        let pred = self.pred.as_ref()?;
        let before = |&id: &StateId| Some(pred[id]).filter(|&pred| pred != NONE);
        Some(std::iter::successors(before(&id), before).collect())
    }

    fn facts(&self) -> ForgetFacts {
        ForgetFacts::default()
    }

    fn bytes(&self) -> usize {
        self.pred.as_ref().map_or(0, Column::bytes)
    }
}
