//! How cycles are looked for, as the command line has it.

use crate::plan::Refusal;
use std::fmt;
use std::str::FromStr;

/// How infinite runs are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CycleChoice {
    /// The one that suits the store and what is asked.
    #[default]
    Automatic,
    /// Nested depth-first search.
    Nested,
    /// Strongly connected components.
    Components,
}

impl CycleChoice {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            CycleChoice::Automatic => "components where states have numbers, else nested searches",
            CycleChoice::Nested => "an inner search from every accepting edge, for the least memory",
            CycleChoice::Components => "states that reach each other, for the earliest answer",
        }
    }
}

impl fmt::Display for CycleChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CycleChoice::Automatic => "auto",
            CycleChoice::Nested => "nested",
            CycleChoice::Components => "components",
        })
    }
}

impl FromStr for CycleChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<CycleChoice, Refusal> {
        match text {
            "auto" => Ok(CycleChoice::Automatic),
            "nested" => Ok(CycleChoice::Nested),
            "components" | "scc" => Ok(CycleChoice::Components),
            _ => Err(Refusal::unknown("way to look for cycles", text, "auto, nested, components")),
        }
    }
}
