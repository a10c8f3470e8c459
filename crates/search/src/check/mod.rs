//! What is looked for. A check sees every new state and every expansion, from all threads, and may end the search.

mod audit;
mod orbit_sizes;
mod safety;
mod target;

pub use audit::Audit;
pub use orbit_sizes::OrbitSizes;
pub use safety::{Finding, Safety};
pub use target::Target;

use scrimp_system::FaultRecord;

/// Where something was seen: the state, and how many events lie before it.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub state: &'a [u8],
    pub depth: u32,
    /// The run that led there, where the search has it at hand: its states, the first one initial, perhaps with gaps.
    pub path: Option<&'a dyn Fn() -> Option<Vec<Vec<u8>>>>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Stop,
}

pub trait Check: Sync {
    /// Must [`state`](Check::state) be called at all?
    fn wants_states(&self) -> bool;

    /// A state was found for the first time.
    fn state(&self, seen: Seen) -> Flow;

    /// A state was expanded and is a deadlock, or these of its events ended in a fault.
    fn expanded(&self, seen: Seen, deadlock: bool, faults: &[FaultRecord]) -> Flow;
}

/// Looks for nothing: the whole space is visited.
#[derive(Debug, Default, Clone, Copy)]
pub struct Nothing;

impl Check for Nothing {
    fn wants_states(&self) -> bool {
        false
    }

    fn state(&self, _: Seen) -> Flow {
        Flow::Continue
    }

    fn expanded(&self, _: Seen, _: bool, _: &[FaultRecord]) -> Flow {
        Flow::Continue
    }
}
