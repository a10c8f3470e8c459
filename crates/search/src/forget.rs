//! Which states may go. A forgetter watches the search and gives up states that it knows will not be needed.

use crate::store::{Found, StateId};

pub trait Forget {
    /// State `id` was expanded and led to `found`, one entry for each of its events.
    fn expanded(&mut self, id: StateId, found: &[Found]);
}

/// Keeps every state.
#[derive(Debug, Default, Clone, Copy)]
pub struct Nothing;

impl Forget for Nothing {
    fn expanded(&mut self, _: StateId, _: &[Found]) {}
}
