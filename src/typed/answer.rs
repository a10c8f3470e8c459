//! What was found out about a typed model.

use super::checker::{Asked, CheckerError, named};
use scrimp_core::{PropertyResult, Report, Verdict};
use scrimp_report::chart::{Chart, Row};
use scrimp_report::coverage::{Coverage, Item, Kind as Covered, Part};
use scrimp_report::html::{Document, Kind as Command};
use scrimp_report::json;
use scrimp_report::{Overall, Style, Subject, text};
use scrimp_search::Plan;
use scrimp_typed::{Encoded, Path, PathOf, Taken, TypedModel, Unshown};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// One search of those that an answer rests on.
#[derive(Debug, Clone)]
pub struct Search {
    /// How it was made.
    pub plan: Plan,
    /// What came of it.
    pub report: Report,
}

/// The answer to all that was asked. Printed, it says what `scrimp check` would say.
pub struct Answer<M: TypedModel> {
    pub(super) encoded: Arc<Encoded<M>>,
    name: String,
    pub(super) asked: Arc<Vec<Asked<M>>>,
    searches: Vec<Search>,
    paths: HashMap<String, Path<M::Action, M::State>>,
    taken: Option<Vec<Taken>>,
}

/// A search whose runs are runs of the model itself, with names for what happens; and those runs.
#[allow(clippy::type_complexity)]
pub(super) fn with_paths<M: TypedModel>(
    encoded: &Encoded<M>,
    mut search: Search,
) -> Result<(Search, Vec<(String, PathOf<M>)>), CheckerError> {
    let mut paths = Vec::new();
    let remarks = &mut search.report.remarks;
    for result in &mut search.report.properties {
        let Some(trace) = &result.trace else { continue };
        let (path, named) = match encoded.path(trace, result.cycle) {
            Ok(found) => found,
            Err(Unshown::Wrong(why)) => return Err(CheckerError::Model(why)),
            Err(_) => {
                remarks.push(format!("{}: there is no memory left for the states of its run", result.name));
                (result.trace, result.cycle) = (None, None);
                continue;
            }
        };
        if let Some((code, _)) = result.fault
            && let Some(said) = encoded.panic_at(path.last(), code)
        {
            remarks.push(said);
        }
        if result.cycle.is_some() && path.lasso().is_none() {
            let why = "is infinite, but takes very long to come back to the same state: one round of it is shown";
            remarks.push(format!("{}: the run {why}", result.name));
        }
        result.cycle = path.lasso();
        if encoded.is_symmetric() && result.state.is_some() {
            result.state = Some(named.last().to_vec());
        }
        paths.push((result.name.clone(), path));
        result.trace = Some(named);
    }
    Ok((search, paths))
}

impl<M: TypedModel> Answer<M> {
    /// An answer that says nothing yet.
    pub(super) fn new(encoded: Arc<Encoded<M>>, name: String, asked: Arc<Vec<Asked<M>>>) -> Answer<M> {
        Answer { encoded, name, asked, searches: Vec::new(), paths: HashMap::new(), taken: None }
    }

    /// What another search has found.
    pub(super) fn add(&mut self, search: Search, paths: Vec<(String, PathOf<M>)>) {
        self.searches.push(search);
        self.paths.extend(paths);
        self.taken = self.encoded.taken();
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.encoded.model
    }

    /// The searches that were made, the one of all states first.
    pub fn searches(&self) -> &[Search] {
        &self.searches
    }

    /// How many states there are, as far as they were visited; where symmetric ones are one, how many of those.
    pub fn states(&self) -> u64 {
        self.searches[0].report.facts.states
    }

    /// How many transitions there are, as far as they were visited.
    pub fn transitions(&self) -> u64 {
        self.searches[0].report.facts.transitions
    }

    /// Was all visited that there is?
    pub fn is_complete(&self) -> bool {
        let report = &self.searches[0].report;
        report.exhaustive && report.limit.is_none()
    }

    /// What is known of a property.
    ///
    /// # Panics
    /// Where there is no such property.
    pub fn verdict(&self, property: &str) -> Verdict {
        match self.result(property) {
            Some(result) => result.verdict,
            None => {
                let names: Vec<&str> = self.results().map(|result| &result.name[..]).collect();
                panic!("there is no property `{property}`, but {}", names.join(", "))
            }
        }
    }

    /// A search as reports want it.
    fn subject<'a>(&'a self, search: &'a Search) -> Subject<'a> {
        let (name, model, plan, report) = (&self.name, &*self.encoded, &search.plan, &search.report);
        let first = std::ptr::eq(search, &self.searches[0]);
        let coverage = if first && self.is_complete() { self.covered() } else { None };
        Subject { name, model, plan, report, coverage, record: None }
    }

    /// How often each kind of action was taken, by the names of their variants, while all states were visited; 0 where one was
    /// offered, but led nowhere each time. States that are expanded twice, as `.forget(…)` and stores that make states anew do, are
    /// counted twice. Empty where nobody has asked for it by [`Checker::coverage`](super::Checker::coverage).
    pub fn coverage(&self) -> &[Taken] {
        self.taken.as_deref().unwrap_or_default()
    }

    /// The same as reports want it.
    fn covered(&self) -> Option<Coverage> {
        let item = |taken: &Taken| Item {
            text: taken.action.clone(),
            reached: taken.times > 0,
            times: Some(taken.times),
            ..Item::default()
        };
        let items = self.taken.as_ref()?.iter().map(item).collect();
        Some(Coverage { parts: vec![Part { kind: Covered::Action, items }] })
    }

    fn overall(&self) -> Overall {
        let overall = self.searches.iter().map(|search| Overall::of(&search.report)).reduce(Overall::and);
        overall.unwrap_or(Overall::Incomplete)
    }

    /// The answer as one JSON object, as `scrimp check --json` has it for model files.
    pub fn json(&self) -> String {
        let answers = self.searches.iter().map(|search| json::leaving(&self.subject(search), &[])).collect();
        format!("{:#}", json::together(answers, self.overall()))
    }

    /// Writes the answer as a page for a browser, as `scrimp check --report` does for model files, with a sequence chart of each run. Its
    /// lanes are the processes.
    pub fn report_html(&self, file: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        let mut document = Document::new(Command::Check, &self.name, format!("Checker::new({}).check()", self.name));
        for search in &self.searches {
            let charts = search.report.properties.iter().map(|result| Some(self.chart(self.paths.get(&result.name)?)));
            document.add(&self.subject(search), charts.collect());
        }
        scrimp_search::replace(file.as_ref(), |out| out.write_all(document.page().as_bytes()))
    }

    /// A run as a sequence chart: a lane for every process that takes part.
    fn chart(&self, path: &Path<M::Action, M::State>) -> Chart {
        let acting: Vec<usize> = path.actions().map(|action| self.encoded.process(action)).collect();
        let processes: BTreeSet<usize> = acting.iter().copied().collect();
        let lane = |process: &usize| processes.iter().take_while(|other| *other < process).count();
        let rows = path.actions().zip(&acting).map(|(action, process)| Row::step(lane(process), format!("{action:?}")));
        let lanes = processes.iter().map(|process| format!("process {process}")).collect();
        Chart { lanes, rows: rows.collect(), numbers: Vec::new(), again: path.lasso() }
    }

    fn results(&self) -> impl Iterator<Item = &PropertyResult> {
        self.searches.iter().flat_map(|search| &search.report.properties)
    }

    fn result(&self, property: &str) -> Option<&PropertyResult> {
        named(&self.searches, property)
    }

    /// Does everything hold that was asked?
    pub fn holds(&self) -> bool {
        self.results().all(|result| result.verdict == Verdict::Verified) && self.is_complete()
    }

    /// The run that shows the answer to a property: to a state that violates an invariant, or where a condition to be reached
    /// holds; or on for ever. `None` where no run shows it.
    pub fn trace(&self, property: &str) -> Option<Path<M::Action, M::State>> {
        self.paths.get(property).cloned()
    }

    /// Writes the run that shows the answer to a property to a file, from which [`Path::load`] reads it. Fails where there is no
    /// such run.
    pub fn save(&self, property: &str, file: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        let none = || std::io::Error::new(std::io::ErrorKind::NotFound, format!("there is no run about `{property}`"));
        self.paths.get(property).ok_or_else(none)?.save(file)
    }

    /// For tests: goes on where everything holds.
    ///
    /// # Panics
    /// Where something does not hold, or is not known. The message is the whole answer, with the runs.
    pub fn assert_holds(&self) {
        if self.holds() {
            return;
        }
        let explore = if cfg!(feature = "explorer") { "\n`.explore()` shows it in the browser.\n" } else { "" };
        panic!("{self}{explore}");
    }

    /// The trace that the explorer begins with, and everything that is about single states.
    #[cfg(feature = "explorer")]
    fn shown(&self) -> Option<scrimp_core::Trace> {
        let worst = self.results().find(|result| result.verdict == Verdict::Violated);
        worst.or_else(|| self.results().next()).and_then(|result| result.trace.clone())
    }

    /// Shows the model in the browser, at the end of the run that violates something. Goes on until Ctrl-C.
    #[cfg(feature = "explorer")]
    pub fn explore(&self) -> std::io::Result<()> {
        use super::checker::Kind;
        use crate::explore::{Serve, serve};
        use scrimp_core::{Condition, Property, PropertyKind};
        self.encoded.name_events();
        let condition = |holds: &scrimp_typed::Holds<M>| {
            let (encoded, holds) = (self.encoded.clone(), holds.clone());
            Condition { holds: Box::new(move |state| encoded.predicate(&holds)(state)), expression: None }
        };
        let properties: Vec<Property<Condition<'static>>> = (self.asked.iter())
            .filter_map(|asked| {
                let kind = match &asked.kind {
                    Kind::Deadlock => PropertyKind::Deadlock,
                    Kind::Invariant(holds) => PropertyKind::Invariant(condition(holds)),
                    Kind::Reach(holds) => PropertyKind::Reach(condition(holds)),
                    Kind::Ltl(..) | Kind::Ctl(..) => return None,
                };
                Some(Property::new(&asked.name, kind))
            })
            .collect();
        let how = Serve { name: Some(self.name.clone()), run: self.shown(), ..Serve::default() };
        serve(super::shared::Shared(self.encoded.clone()), properties, &how)
    }
}

impl<M: TypedModel> fmt::Display for Answer<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = Style::PLAIN;
        let told = self.searches.iter().map(|search| text::leaving(&self.subject(search), &[], style));
        let told: Vec<text::Told> = told.collect();
        f.write_str(&text::together(&self.name, &told, &[], self.overall(), style))
    }
}

impl<M: TypedModel> fmt::Debug for Answer<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
