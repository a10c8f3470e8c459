//! Carries a plan out and says what came of it.

use crate::budget::{Budget, Control, Limit, peak_resident};
use crate::check::{self, Audit, Check, Property, Safety};
use crate::choices::{ForgetChoice, StoreChoice};
use crate::condensed::{Observer, Recorder, Wanted};
use crate::engine::Front;
use crate::engines::{FormulaFacts, SetFacts};
use crate::external::{DiskFacts, External};
use crate::forget::ForgetFacts;
use crate::graph::GraphFacts;
use crate::held::Held;
use crate::outcome::{Ended, Outcome};
use crate::plan::{Plan, Way};
use crate::reduce::{Blueprint, Maker, Manner};
use crate::saver::Saver;
use crate::settle::{Again, PropertyResult, settle};
use crate::store::Omission;
use crate::{guided, plain, sets, staged};
use scrimp_system::Model;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

/// Everything a run has to say.
#[derive(Debug, Clone)]
pub struct Report {
    /// The limit that ended the search before its work was done.
    pub limit: Option<Limit>,
    /// True when every reachable state was visited.
    pub exhaustive: bool,
    /// What the store has probably missed, where it may take different states for one: counts are then lower bounds.
    pub omission: Option<Omission>,
    /// True when no state was visited twice, so that the facts are those of the state space.
    pub once: bool,
    pub facts: GraphFacts,
    /// States expanded, each time counted.
    pub visits: u64,
    pub forget: ForgetFacts,
    /// Different states visited, where an audit was asked for.
    pub audited: Option<u64>,
    pub properties: Vec<PropertyResult>,
    pub state_bytes: usize,
    /// Bytes of the store, and of what is kept beside it, when the search ended.
    pub store_bytes: usize,
    /// How many states there may be in all, from how the levels grew, where the search did not come to its end.
    pub expected: Option<f64>,
    /// What a search on disk has to say about the disk.
    pub disk: Option<DiskFacts>,
    /// Events were left out, and with them states.
    pub reduced: bool,
    /// The store in which the search ended, and what was decided on the way.
    pub store: StoreChoice,
    pub remarks: Vec<String>,
    /// The most tokens in one place and in all places of a marking, where a net's states were counted.
    pub tokens: Option<(u64, u64)>,
    /// What was counted by an engine that computes with sets of states, or with formulas: then no state was visited.
    pub sets: Option<SetFacts>,
    pub formulas: Option<FormulaFacts>,
    pub peak_resident: Option<usize>,
    pub elapsed: Duration,
}

impl Report {
    /// The report of no search at all: what was to be known was known without one.
    pub fn of_nothing(model: &dyn Model, plan: &Plan, elapsed: Duration) -> Report {
        Report {
            limit: None,
            exhaustive: false,
            omission: None,
            once: true,
            facts: GraphFacts::default(),
            visits: 0,
            forget: ForgetFacts::default(),
            audited: None,
            properties: Vec::new(),
            state_bytes: model.state_bytes(),
            store_bytes: 0,
            expected: None,
            disk: None,
            reduced: plan.options.reduce.leaves_out_states(),
            store: plan.store.clone(),
            remarks: Vec::new(),
            tokens: None,
            sets: None,
            formulas: None,
            peak_resident: peak_resident(),
            elapsed,
        }
    }

    /// The memory that the states found so far take in the store they ended in, and, from how the levels
    /// grew, what all states may need. Where memory was what ended the search.
    pub fn memory_needed(&self) -> Option<(usize, Option<usize>)> {
        let (at_least, states) = (self.store_bytes, self.facts.states.max(1) as f64);
        let all = self.expected.map(|expected| (at_least as f64 * (expected / states).max(1.0)) as usize);
        matches!(self.limit, Some(Limit::Memory | Limit::Cache)).then_some((at_least, all))
    }

    /// Bytes of the store for each state that it held.
    pub fn bytes_per_state(&self) -> f64 {
        self.store_bytes as f64 / self.forget.stored_peak.max(1) as f64
    }
}

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
    pub reduce: &'a Maker,
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
}

/// A value for each state.
pub type Guide<'a> = dyn Fn(&[u8]) -> u128 + 'a;

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
    pub find_measure: Option<&'a dyn Fn() -> Found>,
    /// Gets the condensed graph, where the plan asks for one.
    pub graph: Option<&'a Wanted<'a>>,
}

/// A progress measure, and how it is written.
pub struct Found {
    pub text: String,
    pub measure: Box<Guide<'static>>,
}

/// Searches `model` by `plan` for what decides `properties`; with none, visits all states. Fails when the search cannot
/// begin: no memory for it, no threads, a model that does not suit the plan.
pub fn run(model: &dyn Model, properties: &[Property], plan: &Plan, control: &Control) -> io::Result<Report> {
    run_guided(model, properties, plan, control, Guides::default())
}

/// [`run`], for plans that follow a progress measure or a heuristic.
pub fn run_guided(
    model: &dyn Model,
    properties: &[Property],
    plan: &Plan,
    control: &Control,
    guides: Guides,
) -> io::Result<Report> {
    if model.state_bytes() == 0 {
        return Err(invalid("a model's states must have at least one byte"));
    }
    if let ForgetChoice::PseudoRoot(_) = plan.options.forget {
        // What runs the model backwards is made here, before the budget looks at what is used already.
        model.suits_predecessors().map_err(|e| invalid(format!("pseudo-root states need predecessors, but {e}")))?;
    }
    let budget = Budget::begin(plan.memory)?;
    control.show_figures();
    let safety = Safety::new(properties, plan.options.keep_going);
    let check: &dyn Check = if properties.is_empty() { &check::Nothing } else { &safety };
    let audit = plan.options.audit.then(|| Audit::new(check));
    let check = audit.as_ref().map_or(check, |audit| audit);
    let with_traces = !properties.is_empty();
    let saver = Saver::new(model, properties, plan, &safety, control);
    let wanted = guides.graph.filter(|_| plan.options.graph);
    let recorder = wanted.map(|wanted| Recorder::new(&wanted.labels, wanted.vectors, &budget)).transpose()?;
    let observer = recorder.as_ref().map(|recorder| recorder as &dyn Observer);
    let reduction = Blueprint::of_plan(model, properties, plan)?;
    let reduce = move |manner| reduction.as_ref().map(|reduction| reduction.make(manner));
    let task = Task {
        model,
        check,
        plan,
        control,
        budget: &budget,
        saver: saver.as_ref(),
        observer,
        with_traces,
        reduce: &reduce,
    };
    let Done { outcome, held, stage } = match plan.way() {
        Way::Guided => guided::search(&task, guides)?,
        Way::Plain => plain::search(&task)?,
        Way::Staged => staged::search(&task, guides)?,
        Way::Set => sets::search(&task)?,
        Way::Disk => on_disk(&task)?,
    };
    if model.is_outgrown() {
        return Err(invalid("the model has grown beyond the system that was made for it"));
    }
    if let Ended::Unsuited(reason) = &outcome.ended {
        return Err(invalid(reason));
    }
    if let (Some(wanted), Some(recorder)) = (wanted, recorder) {
        wanted.graph.replace(Some(recorder.finish()));
    }
    let elapsed = control.elapsed();
    control.keep_figures();
    let audited = audit.as_ref().map(Audit::distinct);
    drop(audit);
    let store_bytes = held.bytes() + outcome.beside_bytes;
    let disk = held.disk();
    let properties =
        settle(model, held, properties, safety.into_findings(), &outcome, &Again { plan, control, reduce: &reduce });
    control.finish();
    let limit = match outcome.ended {
        Ended::Limit(limit) => Some(limit),
        _ => None,
    };
    Ok(Report {
        limit,
        exhaustive: outcome.ended == Ended::Complete && outcome.omission.is_none(),
        omission: outcome.omission,

        once: outcome.once,
        facts: outcome.facts,
        visits: outcome.visits,
        forget: outcome.forget,
        audited,
        properties,
        state_bytes: model.state_bytes(),
        store_bytes,
        expected: outcome.expected,
        disk,
        reduced: plan.options.reduce.leaves_out_states(),
        store: stage,
        remarks: control.remarks(),
        tokens: None,
        sets: None,
        formulas: None,
        peak_resident: peak_resident(),
        elapsed,
    })
}

/// Searches with sorted files.
fn on_disk<'m>(task: &Task<'m, '_>) -> io::Result<Done<'m>> {
    let Task { model, check, plan, control, budget, with_traces, reduce, .. } = *task;
    let dir = match &plan.store {
        StoreChoice::Disk(dir) if !dir.as_os_str().is_empty() => dir.clone(),
        _ => std::env::temp_dir(),
    };
    let mut external = External::new(model, &dir, with_traces, budget, None)?;
    let outcome = external.search(check, control, reduce(Manner::Passing));
    Ok(Done { outcome, held: Held::Disk(Box::new(external)), stage: plan.store.clone() })
}

pub(crate) fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}
