//! Which events and states may be skipped, as the command line has it.

use crate::plan::Refusal;
use crate::reduce::Method;
use std::fmt;
use std::str::FromStr;

/// Which events and states may be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReduceChoice {
    Nothing,
    /// Of two events that can be swapped, one order.
    EdgeLean,
    /// Persistent sets, found by this method or by the one that seems right.
    Persistent(Option<Method>),
    /// Persistent sets, and of two events that can be swapped one order.
    PersistentSleep,
    /// Of states that differ only in what is interchangeable, one; and perhaps how many these are is added up.
    Symmetry {
        sizes: bool,
    },
}

const REDUCTIONS: &str =
    "none, por, por:process, por:closure, por:deletion, por+sleep, edge-lean, symmetry, symmetry:orbits";

impl ReduceChoice {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            ReduceChoice::Nothing => "every event is explored",
            ReduceChoice::EdgeLean => "of two events that can be swapped one order is explored; all states are visited",
            ReduceChoice::Persistent(_) => {
                "events that do not influence each other are not explored in every order; only what is asked for is kept"
            }
            ReduceChoice::PersistentSleep => {
                "as por, and no event is explored that was explored before it came to matter"
            }
            ReduceChoice::Symmetry { .. } => {
                "of states that differ only in what is interchangeable, such as equal processes, one is visited"
            }
        }
    }

    /// Are there states that it leaves out?
    pub fn leaves_out_states(self) -> bool {
        self.leaves_out_events() || matches!(self, ReduceChoice::Symmetry { .. })
    }

    /// Are there states of which it leaves events out that lead to others?
    pub fn leaves_out_events(self) -> bool {
        matches!(self, ReduceChoice::Persistent(_) | ReduceChoice::PersistentSleep)
    }
}

impl fmt::Display for ReduceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReduceChoice::Nothing => "none",
            ReduceChoice::EdgeLean => "edge-lean",
            ReduceChoice::Persistent(None) => "por",
            ReduceChoice::Persistent(Some(Method::Process)) => "por:process",
            ReduceChoice::Persistent(Some(Method::Closure)) => "por:closure",
            ReduceChoice::Persistent(Some(Method::Deletion)) => "por:deletion",
            ReduceChoice::PersistentSleep => "por+sleep",
            ReduceChoice::Symmetry { sizes: false } => "symmetry",
            ReduceChoice::Symmetry { sizes: true } => "symmetry:orbits",
        })
    }
}

impl FromStr for ReduceChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<ReduceChoice, Refusal> {
        Ok(match text {
            "none" => ReduceChoice::Nothing,
            "edge-lean" => ReduceChoice::EdgeLean,
            "por" => ReduceChoice::Persistent(None),
            "por:process" => ReduceChoice::Persistent(Some(Method::Process)),
            "por:closure" => ReduceChoice::Persistent(Some(Method::Closure)),
            "por:deletion" => ReduceChoice::Persistent(Some(Method::Deletion)),
            "por+sleep" => ReduceChoice::PersistentSleep,
            "symmetry" => ReduceChoice::Symmetry { sizes: false },
            "symmetry:orbits" => ReduceChoice::Symmetry { sizes: true },
            _ => return Err(Refusal::unknown("reduction", text, REDUCTIONS)),
        })
    }
}
