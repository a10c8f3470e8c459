//! What happened, for people and for scripts. Nothing here knows how a search works; nothing there knows how it is told.

pub mod branching;
pub mod chart;
pub mod counted;
pub mod coverage;
pub mod generated;
pub mod html;
pub mod json;
pub mod lasso;
mod lengths;
pub mod markup;
pub mod number;
pub mod plot;
pub mod record;
pub mod schema;
pub mod simulation;
pub mod style;
pub mod text;
pub mod trace;

pub use record::Record;
pub use style::Style;

pub use lengths::leave_out_long_runs;
use scrimp_core::{Report, Verdict};
use scrimp_search::Plan;
use scrimp_system::Describe;

/// Everything a report is made from.
pub struct Subject<'a> {
    /// The name of the model as the user gave it.
    pub name: &'a str,
    pub model: &'a dyn Describe,
    pub plan: &'a Plan,
    pub report: &'a Report,
    /// What of the model's text was executed, once every state was visited.
    pub coverage: Option<coverage::Coverage>,
    /// How the run went, where that was recorded.
    pub record: Option<&'a Record>,
}

/// The verdict on a whole run, from which the exit code follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overall {
    Verified,
    Violated,
    Incomplete,
    /// The search came to its end without an error, but may have missed states.
    NoErrorFound,
}

impl Overall {
    pub fn of(report: &Report) -> Overall {
        if report.properties.iter().any(|p| p.verdict == Verdict::Violated) {
            Overall::Violated
        } else if report.limit.is_some() && (report.properties.is_empty() || undecided(report)) {
            Overall::Incomplete
        } else if report.omission.is_some() && (report.properties.is_empty() || undecided(report)) {
            Overall::NoErrorFound
        } else if undecided(report) {
            Overall::Incomplete
        } else {
            Overall::Verified
        }
    }

    /// The verdict on two runs together: the worse of both.
    pub fn and(self, other: Overall) -> Overall {
        let order = [Overall::Violated, Overall::Incomplete, Overall::NoErrorFound];
        order.into_iter().find(|worse| self == *worse || other == *worse).unwrap_or(Overall::Verified)
    }

    pub fn word(self) -> &'static str {
        match self {
            Overall::Verified => "verified",
            Overall::Violated => "violated",
            Overall::Incomplete => "incomplete",
            Overall::NoErrorFound => "no-error-found",
        }
    }

    pub fn exit_code(self) -> u8 {
        match self {
            Overall::Verified => 0,
            Overall::Violated => 1,
            Overall::Incomplete => 3,
            Overall::NoErrorFound => 4,
        }
    }
}

fn undecided(report: &Report) -> bool {
    report.properties.iter().any(|p| p.verdict == Verdict::Undecided)
}
