//! The same chain of calls for model files.
//!
//! ```no_run
//! use scrimp::Checker;
//!
//! let answer = Checker::open("protocol.pml")?.property("ltl: [] (asked -> <> answered)").memory("512M").check()?;
//! println!("{answer}");
//! answer.assert_holds();
//! # Ok::<(), scrimp::CheckerError>(())
//! ```

use super::answer::Search;
use super::checker::{Checker, CheckerError, named};
use super::logs::{self, HeldLogs};
use scrimp_checker::{Check, CheckError, Count, Found, Host, Loaded, Open, Request, Setting};
use scrimp_cluster::{Cluster, Gathering};
use scrimp_conform::{Log, Mapping, Question, Unseen, conform_file};
use scrimp_core::{Control, Trace, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_report::number::parse_size;
use scrimp_report::{Overall, Style, Subject, text};
use scrimp_search::plan::EngineChoice;
use scrimp_search::{FairnessChoice, Options, Plan};
use scrimp_typed::TypedModel;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fmt::Display};

/// What [`Checker::open`] reads: there is no such model in Rust.
pub enum ModelFile {}

impl TypedModel for ModelFile {
    type State = ();
    type Action = ();

    fn initial(&self) -> Vec<()> {
        match *self {}
    }

    fn actions(&self, _: &(), _: &mut Vec<()>) {
        match *self {}
    }

    fn next(&self, _: &(), _: &()) -> Option<()> {
        match *self {}
    }
}

impl Checker<ModelFile> {
    /// Asks of a model file: DVE, Promela, PNML or a network of LTSs.
    pub fn open(file: impl AsRef<Path>) -> Result<FileChecker, CheckerError> {
        let file = file.as_ref();
        let loaded = Loaded::open(file).map_err(|error| CheckerError::File(error.to_string()))?;
        Ok(FileChecker {
            name: file.display().to_string(),
            loaded,
            request: Request::default(),
            options: Options { keep_going: true, ..Options::default() },
            open: Open { threads: true, reduce: true, engine: true },
            cluster: None,
            wrong: None,
        })
    }
}

/// Asks questions of a model file.
#[must_use = "nothing was searched: call `check` or `count` first"]
pub struct FileChecker {
    name: String,
    loaded: Loaded,
    request: Request,
    options: Options,
    open: Open,
    cluster: Option<Arc<Gathering>>,
    wrong: Option<CheckerError>,
}

impl FileChecker {
    /// A property as `scrimp check --property` has it: `deadlock`, `invariant: x < 3`, `ltl: [] p`, `ctl: AG EF p`. Without any,
    /// everything is asked that the model asks of itself.
    pub fn property(mut self, text: &str) -> FileChecker {
        self.request.properties.push(text.into());
        self
    }

    /// A file with one property on each line.
    pub fn property_file(mut self, file: impl Into<PathBuf>) -> FileChecker {
        self.request.property_file = Some(file.into());
        self
    }

    /// Of infinite runs only fair ones count, as `scrimp check --fair` has it: `weak`, `strong`, `SF(P)`, or a condition.
    pub fn fair(mut self, text: &str) -> FileChecker {
        if !FairnessChoice::is_about_processes(text) {
            self.request.fair.push(text.into());
        } else if let Err(why) = self.options.fair.add(text) {
            self.fail(why);
        }
        self
    }

    /// The most memory that the whole program may use, such as `512M`.
    pub fn memory(mut self, size: &str) -> FileChecker {
        match parse_size(size) {
            Ok(bytes) => self.options.memory = Some(bytes),
            Err(why) => self.fail(why),
        }
        self
    }

    /// The most time that all may take.
    pub fn time(mut self, time: Duration) -> FileChecker {
        self.options.time = Some(time);
        self
    }

    /// How many threads search; without this, as many as there are cores.
    pub fn threads(mut self, threads: usize) -> FileChecker {
        (self.options.threads, self.open.threads) = (threads.max(1), false);
        self
    }

    /// How states are stored, as `scrimp check --store` has it.
    pub fn store(mut self, store: &str) -> FileChecker {
        match store.parse() {
            Ok(store) => self.options.store = Some(store),
            Err(why) => self.fail(why),
        }
        self
    }

    /// In which order states are visited, as `scrimp check --order` has it.
    pub fn order(mut self, order: &str) -> FileChecker {
        match order.parse() {
            Ok(order) => self.options.order = Some(order),
            Err(why) => self.fail(why),
        }
        self
    }

    /// Which visited states are forgotten, as `scrimp check --forget` has it.
    pub fn forget(mut self, forget: &str) -> FileChecker {
        match forget.parse() {
            Ok(forget) => self.options.forget = forget,
            Err(why) => self.fail(why),
        }
        self
    }

    /// Which events may be left out, as `scrimp check --reduce` has it.
    pub fn reduce(mut self, reduce: &str) -> FileChecker {
        match reduce.parse() {
            Ok(reduce) => (self.options.reduce, self.open.reduce) = (reduce, false),
            Err(why) => self.fail(why),
        }
        self
    }

    /// Which engine decides, as `scrimp check --engine` has it.
    pub fn engine(mut self, engine: &str) -> FileChecker {
        self.open.engine = engine == "auto";
        match engine.parse::<EngineChoice>() {
            _ if self.open.engine => {}
            Ok(engine) => self.options.engine = engine,
            Err(why) => self.fail(why),
        }
        self
    }

    /// Searches with the processes of a cluster, which this program leads; others [follow](scrimp_cluster::follow).
    pub fn cluster(mut self, cluster: Cluster) -> FileChecker {
        (self.options.threads, self.open.threads) = (cluster.threads(), false);
        self.options.engine = EngineChoice::Cluster(cluster.processes() as u32);
        self.open.engine = false;
        self.cluster = Some(Arc::new(cluster.into()));
        self
    }

    /// Anything else that searches can be told.
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> FileChecker {
        change(&mut self.options);
        self
    }

    /// What is wrong with what was asked for.
    fn sound(&mut self) -> Result<(), CheckerError> {
        if let (EngineChoice::Cluster(processes), None) = (self.options.engine, &self.cluster) {
            self.fail(format!(
                "engine cluster:{processes}: bring its processes together with FileChecker::cluster (Cluster::here, or Cluster::lead)"
            ));
        }
        self.wrong.take().map_or(Ok(()), Err)
    }

    fn fail(&mut self, why: impl Display) {
        self.wrong.get_or_insert(CheckerError::Option(why.to_string()));
    }

    /// Are these logs, of JSON lines, a run of the model?
    pub fn conform(self, logs: &[Log], mapping: &Mapping, unseen: Unseen) -> Result<HeldLogs, CheckerError> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let (memory, stop) = logs::limits(&self.options);
        let question = Question { logs, mapping, unseen: Some(unseen), memory };
        let (model, found) = conform_file(self.loaded, &question, &stop).map_err(logs::wrong)?;
        Ok(HeldLogs { found, name: self.name, model })
    }

    /// Decides everything that is asked, or that the model asks of itself.
    pub fn check(mut self) -> Result<FileAnswer, CheckerError> {
        self.sound()?;
        let FileChecker { name, loaded, request, options, open, cluster, .. } = self;
        let time = options.time;
        let setting = Setting { options, open, mode: Mode::Auto, watch: false, vectors: 0, cluster };
        let check = Check::new(loaded, &request, &setting).map_err(failed)?;
        let mut found = Finding { time, all: Vec::new() };
        let left = check.run(&mut found).map_err(failed)?;
        Ok(FileAnswer { name, found: found.all, left })
    }

    /// Counts all states.
    pub fn count(mut self) -> Result<FileAnswer, CheckerError> {
        self.sound()?;
        let FileChecker { name, loaded, options, open, cluster, .. } = self;
        let time = options.time;
        let setting = Setting { options, open, mode: Mode::Auto, watch: false, vectors: 0, cluster };
        let count = Count::new(loaded, &setting).map_err(failed)?;
        let mut found = Finding { time, all: Vec::new() };
        count.run(&mut found).map_err(failed)?;
        Ok(FileAnswer { name, found: found.all, left: Vec::new() })
    }
}

fn failed(error: CheckError) -> CheckerError {
    match error {
        CheckError::Refused(refusal) => CheckerError::Refused(refusal),
        CheckError::Search(error) => CheckerError::Search(error),
        CheckError::Asked(why) => CheckerError::Option(why),
        CheckError::Load(error) => CheckerError::File(error.to_string()),
        error => CheckerError::File(error.to_string()),
    }
}

/// Keeps what searches find.
struct Finding {
    time: Option<Duration>,
    all: Vec<(Arc<NativeModel>, Search)>,
}

impl Host for Finding {
    fn begin(&mut self, _: &Plan, time: Option<Duration>) -> Arc<Control> {
        Arc::new(Control::new(time.or(self.time)))
    }

    fn found(&mut self, found: Found) {
        let Found { model, plan, report, .. } = found;
        self.all.push((model.clone(), Search { plan: plan.clone(), report }));
    }
}

/// The answer to all that was asked of a model file. Printed, it says what `scrimp check` says.
pub struct FileAnswer {
    name: String,
    found: Vec<(Arc<NativeModel>, Search)>,
    /// What there was no time to look at.
    left: Vec<String>,
}

impl FileAnswer {
    /// The searches that were made.
    pub fn searches(&self) -> impl Iterator<Item = &Search> {
        self.found.iter().map(|(_, search)| search)
    }

    /// How many states the first search has visited.
    pub fn states(&self) -> u64 {
        self.searches().next().map_or(0, |search| search.report.facts.states)
    }

    /// What is known of a property, by its name; `None` where there is none.
    pub fn verdict(&self, property: &str) -> Option<Verdict> {
        self.searches().find_map(|search| named(std::slice::from_ref(search), property)).map(|result| result.verdict)
    }

    /// The run that shows the answer to a property.
    pub fn trace(&self, property: &str) -> Option<&Trace> {
        let result = self.searches().find_map(|search| named(std::slice::from_ref(search), property));
        result.and_then(|result| result.trace.as_ref())
    }

    /// Does everything hold that was asked?
    pub fn holds(&self) -> bool {
        self.overall() == Overall::Verified
    }

    /// The verdict on all together.
    pub fn overall(&self) -> Overall {
        let left = if self.left.is_empty() { Overall::Verified } else { Overall::Incomplete };
        self.searches().map(|search| Overall::of(&search.report)).fold(left, Overall::and)
    }

    /// For tests: goes on where everything holds.
    ///
    /// # Panics
    /// Where something does not hold, or is not known. The message is the whole answer, with the runs.
    pub fn assert_holds(&self) {
        assert!(self.holds(), "{self}");
    }
}

impl fmt::Display for FileAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = Style::PLAIN;
        let subject = |(model, search): &'_ (Arc<NativeModel>, Search)| {
            let (plan, report) = (&search.plan, &search.report);
            let subject = Subject { name: &self.name, model: &**model, plan, report, coverage: None, record: None };
            text::leaving(&subject, &[], style)
        };
        let told: Vec<text::Told> = self.found.iter().map(subject).collect();
        f.write_str(&text::together(&self.name, &told, &self.left, self.overall(), style))
    }
}

impl fmt::Debug for FileAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
