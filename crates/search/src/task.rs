//! What every search gets, and what it leaves behind.

use crate::check::Check;
use crate::engine::Front;
use crate::held::Held;
use crate::lts::{Observer, Wanted};
use crate::outcome::Outcome;
use crate::plan::{Plan, StoreChoice};
use crate::reduce::ReductionFactory;
use crate::saver::Saver;
use scrimp_core::{Budget, Control};
use scrimp_system::Model;
use std::io::{self, Read};
use std::sync::Arc;

/// What there is to search, and within which limits.
pub(crate) struct Task<'m, 'a> {
    pub model: &'m dyn Model,
    pub check: &'a dyn Check,
    pub plan: &'a Plan,
    pub control: &'a Control,
    pub budget: &'a Arc<Budget>,
    /// What saves the search and takes one up, where that is wanted.
    pub saver: Option<&'a Saver<'a>>,
    /// Is told of everything found, by one thread that explores every event.
    pub observer: Option<&'a dyn Observer>,
    /// May a trace be wanted?
    pub with_traces: bool,
    /// Makes what leaves events out.
    pub reduce: &'a ReductionFactory,
    /// Is there a reduction that nobody asked for, and that the first states show to pay? Then `reduce` makes it from now on.
    pub offer: &'a dyn Fn() -> bool,
}

impl Task<'_, '_> {
    /// The search to take up, if one is: its store's name, and where the rest can be read.
    pub fn saved(&self) -> io::Result<Option<(String, Box<dyn Read>)>> {
        self.saver.map_or(Ok(None), Saver::resume)
    }
}

/// What came of a search.
pub(crate) struct Done<'m> {
    pub outcome: Outcome,
    pub held: Held<'m>,
    /// What kind of store it was.
    pub stage: StoreChoice,
    /// The plan that took over on the way, if another did.
    pub instead: Option<Plan>,
}

/// A value for each state.
pub type Guide<'a> = dyn Fn(&[u8]) -> u128 + Sync + 'a;

/// What a search may be guided by: functions of a state that the model's owner knows.
#[derive(Default)]
pub struct Guides<'a> {
    /// The progress measure.
    pub progress: Option<&'a Guide<'a>>,
    /// The heuristic for best-first order; low values come first.
    pub heuristic: Option<&'a Guide<'a>>,
    /// Is told whenever the sweep-line has moved.
    pub front: Option<&'a dyn Fn(Front)>,
    /// Finds a progress measure, if one is needed that nobody has asked for.
    pub find_measure: Option<&'a dyn Fn() -> FoundMeasure>,
    /// Gets the reachability graph, where the plan asks for one.
    pub graph: Option<&'a Wanted<'a>>,
}

/// A progress measure, and how it is written.
pub struct FoundMeasure {
    pub text: String,
    pub measure: Box<Guide<'static>>,
}

/// No single state decides such a property.
pub(crate) fn about_runs(name: &str) -> io::Error {
    invalid(format!("property {name} is about infinite runs, and no single state decides it"))
}

pub(crate) fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}
