//! One search of a run: with its measures, in front of who watches it.

use crate::engines::{self, Together};
use crate::error::CheckError;
use crate::foresight::remedies;
use crate::guides::{Measures, find_measure};
use crate::net::Made;
use crate::temporal::{Context, decide};
use scrimp_cluster::Gathering;
use scrimp_core::{Condition, Control, Property, Report};
use scrimp_native::{Mode, NativeModel};
use scrimp_report::coverage::Coverage;
use scrimp_search::lts::{Lts, Wanted};
use scrimp_search::{Front, Guide, Guides, Plan};
use scrimp_system::Expr;
use std::sync::Arc;
use std::time::Duration;

/// Who is told of the searches of a run: shows how far they have come, and keeps what they found.
pub trait Host {
    /// A search begins, which may take so long of the time that is left. Answers what it shares with those who watch it.
    fn begin(&mut self, plan: &Plan, time: Option<Duration>) -> Arc<Control>;

    /// The search has ended with this report.
    fn end(&mut self, _: &Plan, _: &Control, _: &Report) {}

    /// Is it worth telling where the sweep-line stands?
    fn wants_front(&self) -> bool {
        false
    }

    /// The sweep-line has moved; its progress in words.
    fn front(&self, _: Front, _: String) {}

    /// The model has turned out to be too small, and the search begins again: there is more of this than it had room for.
    fn begins_again(&mut self, _: &str) {}

    /// A search of the run is over, and this was found.
    fn found(&mut self, found: Found);
}

/// What a search of a run has found.
pub struct Found<'a> {
    pub model: &'a Arc<NativeModel>,
    pub plan: &'a Plan,
    pub report: Report,
    /// Was the model searched together with its never claim?
    pub with_claim: bool,
    /// What of the model's text was executed, where that is known.
    pub coverage: Option<Coverage>,
    /// The reachability graph, where it was to be written.
    pub graph: Option<Lts>,
    /// All searches that were made for the answers about a net, which may be many.
    pub searches: Option<Vec<Made>>,
    /// Was it made for the sake of the graph alone?
    pub for_graph: bool,
    /// Was it searched for beside something else, where nobody watched?
    pub beside: bool,
    /// What is not looked at any more, because a violation ends the work.
    pub left: Vec<String>,
}

/// What the searches of a run have in common.
pub(crate) struct Searcher<'h> {
    pub host: &'h mut dyn Host,
    pub mode: Mode,
    pub cluster: Option<Arc<Gathering>>,
}

impl Searcher<'_> {
    /// Decides properties of states by a plan, or counts; fills in the graph that is wanted, if the plan says so. The plan
    /// then says what was done.
    pub fn states(
        &mut self,
        model: &NativeModel,
        properties: &[Property<Condition>],
        plan: &mut Plan,
        wanted: Option<&Wanted>,
        time: Option<Duration>,
    ) -> Result<Report, CheckError> {
        let control = self.host.begin(plan, time);
        let (measures, told) = Measures::new(model, plan.clone(), control.stop())?;
        let report = {
            let host: &dyn Host = self.host;
            let progress = measures.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
            let heuristic = measures.heuristic.as_ref().map(|measure| |state: &[u8]| measure.value(state));
            let shown = |front: Front| measures.progress.as_ref().map_or(String::new(), |m| m.show(front.progress));
            let front = |front: Front| host.front(front, shown(front));
            let find = || find_measure(model, plan, control.stop());
            let guides = Guides {
                progress: progress.as_ref().map(|f| f as &Guide),
                heuristic: heuristic.as_ref().map(|f| f as &Guide),
                front: host.wants_front().then_some(&front),
                find_measure: Some(&find),
                graph: wanted,
            };
            let together = self.cluster.as_deref();
            let together = together.map(|gathering| Together { gathering, measure: measures.progress.as_ref() });
            engines::run_engine_of(model, properties, &told, &control, guides, together)
        };
        // It was taken up: a search that begins again, because the model is larger than it looked, is another one.
        *plan = told.afresh();
        let mut report = report?;
        tell_reduction(plan, &report);
        report.advice = remedies(model, plan, &report);
        self.host.end(plan, &control, &report);
        Ok(report)
    }

    /// Decides a property of runs by a plan.
    pub fn runs(
        &mut self,
        model: &NativeModel,
        property: &Property<Expr>,
        fair: &[Expr],
        plan: &mut Plan,
    ) -> Result<Report, CheckError> {
        let control = self.host.begin(plan, None);
        let (measures, told) = Measures::new(model, plan.clone(), control.stop())?;
        let progress = measures.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
        let progress = progress.as_ref().map(|f| f as &Guide);
        let report = decide(
            model,
            property,
            &Context { plan: &told, control: &control, fair, progress, cluster: self.cluster.as_deref() },
        )?;
        *plan = told;
        tell_reduction(plan, &report);
        self.host.end(plan, &control, &report);
        Ok(report)
    }
}

/// A plan that left it open says whether events were left out.
fn tell_reduction(plan: &mut Plan, report: &Report) {
    if report.reduced && plan.options().may_reduce {
        *plan = plan.reducing();
    }
}

/// The graph that is wanted of a search for these properties: their conditions become labels of its states.
pub(crate) fn wanted_graph<'a>(vectors: usize, properties: &'a [Property<Condition<'a>>]) -> Wanted<'a> {
    let mut wanted = Wanted { vectors, ..Wanted::default() };
    for property in properties {
        if let Some(condition) = property.condition() {
            wanted.labels.push((property.name.clone(), Box::new(move |state| (condition.holds)(state))));
        }
    }
    wanted
}
