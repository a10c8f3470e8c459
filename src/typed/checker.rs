//! What is asked of a typed model, put together call by call.

use super::answer::{Answer, Search};
use super::learnt::Learnt;
use super::watched::{Left, Limits, watched};
use super::{formula, liveness, walks};
use scrimp_core::{Condition, Limit, Property, PropertyKind, PropertyResult, Report, Verdict, cores};
use scrimp_report::number::parse_size;
use scrimp_search::{FairnessChoice, ModelFacts, Options, Plan, Refusal, run};
use scrimp_system::Expr;
use scrimp_temporal::Formula;
use scrimp_typed::packed::{Packed, Packing};
use scrimp_typed::{Encoded, Guides, Holds, TypedModel};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

/// The name of the property that no code of the model panics.
const PANICS: &str = "no panic";

/// States from which on all cores search, where nobody says how many.
const SMALL: u64 = 1 << 14;

/// Asks questions of a [`TypedModel`].
#[must_use = "nothing was searched: call `check` or `count` first"]
pub struct Checker<M: TypedModel> {
    model: M,
    name: String,
    asked: Vec<Asked<M>>,
    options: Options,
    /// Nobody has said how many threads search.
    any_threads: bool,
    symmetric: bool,
    guides: Guides<M>,
    packing: Option<Packing<M::State>>,
    /// Actions are counted.
    coverage: bool,
    /// The first thing that was asked for in vain.
    wrong: Option<CheckerError>,
}

/// A property.
pub(super) struct Asked<M: TypedModel> {
    pub name: String,
    pub kind: Kind<M>,
}

impl<M: TypedModel> Asked<M> {
    /// The conditions on states that it is about.
    fn conditions(&self) -> Vec<(String, Holds<M>)> {
        let all = match &self.kind {
            Kind::Deadlock => &[][..],
            Kind::Invariant(holds) | Kind::Reach(holds) => std::slice::from_ref(holds),
            Kind::Ltl(_, atoms) | Kind::Ctl(_, atoms) => atoms,
        };
        all.iter().map(|holds| (self.name.clone(), holds.clone())).collect()
    }
}

/// What is asked.
pub(super) enum Kind<M: TypedModel> {
    Deadlock,
    Invariant(Holds<M>),
    Reach(Holds<M>),
    /// A formula whose atoms are variables, by the numbers of these conditions.
    Ltl(Formula<Expr>, Vec<Holds<M>>),
    Ctl(Formula<Expr>, Vec<Holds<M>>),
}

/// A condition in a formula, with its name.
pub type Named<'a, M> = (&'a str, fn(&M, &<M as TypedModel>::State) -> bool);

/// Why there is no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckerError {
    /// An option that is none, such as an amount of memory.
    Option(String),
    /// A model file that cannot be read or run.
    File(String),
    /// A formula that cannot be read.
    Formula(String),
    /// Options that do not go together, or with what is asked.
    Refused(Refusal),
    /// The model is not what a model must be: it says what is wrong, and with which state.
    Model(String),
    /// The search could not begin.
    Search(io::Error),
    /// Time or memory was used up before there was anything to tell: it says which function of the model has not come back.
    Unfinished(String),
}

impl fmt::Display for CheckerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckerError::Option(why)
            | CheckerError::File(why)
            | CheckerError::Formula(why)
            | CheckerError::Unfinished(why) => f.write_str(why),
            CheckerError::Refused(refusal) => refusal.fmt(f),
            CheckerError::Model(why) => write!(f, "the model is wrong: {why}"),
            CheckerError::Search(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckerError {}

impl<M: TypedModel> Checker<M> {
    /// Asks of this model.
    pub fn new(model: M) -> Checker<M> {
        let name = std::any::type_name::<M>();
        Checker {
            model,
            name: name.rsplit("::").next().unwrap_or(name).to_string(),
            asked: Vec::new(),
            options: Options { keep_going: true, ..Options::default() },
            any_threads: true,
            symmetric: false,
            guides: Guides::default(),
            packing: None,
            coverage: false,
            wrong: None,
        }
    }

    fn ask(mut self, name: &str, kind: Kind<M>) -> Checker<M> {
        if name == PANICS {
            self.fail(CheckerError::Option(format!("`{PANICS}` is asked of every model: choose another name")));
        }
        if self.asked.iter().any(|asked| asked.name == name) {
            self.fail(CheckerError::Option(format!("there are two properties `{name}`")));
        }
        self.asked.push(Asked { name: name.into(), kind });
        self
    }

    fn fail(&mut self, error: CheckerError) {
        self.wrong.get_or_insert(error);
    }

    /// The condition holds in every state.
    pub fn invariant(self, name: &str, holds: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Checker<M> {
        self.ask(name, Kind::Invariant(Arc::new(holds)))
    }

    /// The condition holds in some state.
    pub fn reach(self, name: &str, holds: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Checker<M> {
        self.ask(name, Kind::Reach(Arc::new(holds)))
    }

    /// Something can happen in every state.
    pub fn no_deadlock(self) -> Checker<M> {
        self.ask("deadlock", Kind::Deadlock)
    }

    /// On every run the condition holds some time. A run that cannot go on stays in its last state.
    pub fn eventually(self, name: &str, holds: impl Fn(&M, &M::State) -> bool + Send + Sync + 'static) -> Checker<M> {
        let formula = formula::read("ltl", "<> holds", &["holds"]).unwrap_or(Formula::False);
        self.ask(name, Kind::Ltl(formula, vec![Arc::new(holds)]))
    }

    /// The formula of linear time holds on every run. Its conditions are named: `[] (asked -> <> answered)`.
    pub fn ltl<const N: usize>(self, name: &str, text: &str, conditions: [Named<'_, M>; N]) -> Checker<M> {
        self.formula("ltl", name, text, conditions)
    }

    /// The formula of branching time holds in every initial state: `AG EF idle`.
    pub fn ctl<const N: usize>(self, name: &str, text: &str, conditions: [Named<'_, M>; N]) -> Checker<M> {
        self.formula("ctl", name, text, conditions)
    }

    fn formula<const N: usize>(
        mut self,
        logic: &str,
        name: &str,
        text: &str,
        conditions: [Named<'_, M>; N],
    ) -> Checker<M> {
        let names: Vec<&str> = conditions.iter().map(|(name, _)| *name).collect();
        let holds = conditions.into_iter().map(|(_, holds)| Arc::new(holds) as Holds<M>).collect();
        match formula::read(logic, text, &names) {
            Ok(formula) if logic == "ctl" => self.ask(name, Kind::Ctl(formula, holds)),
            Ok(formula) => self.ask(name, Kind::Ltl(formula, holds)),
            Err(why) => {
                self.fail(CheckerError::Formula(why));
                self
            }
        }
    }

    /// Of infinite runs only those count on which a process that could always act acts again and again.
    pub fn fair_weak(mut self) -> Checker<M> {
        self.options.fair = FairnessChoice::weak();
        self
    }

    /// Of infinite runs only those count on which a process that could act again and again does.
    pub fn fair_strong(mut self) -> Checker<M> {
        self.options.fair = FairnessChoice::strong();
        self
    }

    /// States that [`canonical`](TypedModel::canonical) makes equal are one. Conditions must not tell them apart. Fairness does, so
    /// the two do not go together.
    pub fn symmetry(mut self) -> Checker<M> {
        self.symmetric = true;
        self
    }

    /// States are packed into bits, as [`Packed`] says, and not taken apart by serde: states of fixed size take less time and room.
    pub fn packed(mut self) -> Checker<M>
    where
        M::State: Packed,
    {
        self.packing = Some(Packing::of());
        self
    }

    /// Counts how often each kind of action is taken while all states are visited: [`Answer::coverage`].
    pub fn coverage(mut self) -> Checker<M> {
        self.coverage = true;
        self
    }

    /// The most memory that the whole program may use, such as `256M`. Where a function of the model alone takes more and more
    /// than that, it cannot be stopped: then the process ends with exit code 3, and what is known is on its standard error.
    pub fn memory(mut self, size: &str) -> Checker<M> {
        match parse_size(size) {
            Ok(bytes) => self.options.memory = Some(bytes),
            Err(why) => self.fail(CheckerError::Option(why)),
        }
        self
    }

    /// The most time that all may take. What a function of the model does not come back from by then is left behind.
    pub fn time(mut self, time: Duration) -> Checker<M> {
        self.options.time = Some(time);
        self
    }

    /// At most so many threads search; without this, as many as there are cores. A search that cannot be shared, such as one with
    /// strong fairness, is made by one, and the answer says so.
    pub fn threads(mut self, threads: usize) -> Checker<M> {
        (self.options.threads, self.any_threads) = (threads.max(1), false);
        self
    }

    /// How states are stored: `table`, `tree`, `collapse`, `dfa`, `comback`, …, as in `scrimp check --store`.
    pub fn store(mut self, store: &str) -> Checker<M> {
        match store.parse() {
            Ok(store) => self.options.store = Some(store),
            Err(why) => self.fail(CheckerError::Option(format!("{why}"))),
        }
        self
    }

    /// In which order states are visited: `bfs`, `dfs`, …, as in `scrimp check --order`.
    pub fn order(mut self, order: &str) -> Checker<M> {
        match order.parse() {
            Ok(order) => self.options.order = Some(order),
            Err(why) => self.fail(CheckerError::Option(format!("{why}"))),
        }
        self
    }

    /// Which visited states are forgotten, as in `scrimp check --forget`.
    pub fn forget(mut self, forget: &str) -> Checker<M> {
        match forget.parse() {
            Ok(forget) => self.options.forget = forget,
            Err(why) => self.fail(CheckerError::Option(format!("{why}"))),
        }
        self
    }

    /// What may be left out: `por`, where [`local`](TypedModel::local) says what concerns one process alone. The states that are
    /// counted are then fewer than there are.
    pub fn reduce(mut self, reduce: &str) -> Checker<M> {
        match reduce.parse() {
            Ok(reduce) => self.options.reduce = reduce,
            Err(why) => self.fail(CheckerError::Option(format!("{why}"))),
        }
        self
    }

    /// How far a state is: for `.forget("sweep")`, which forgets what lies behind, and `.order("progress")`.
    pub fn progress(mut self, measure: impl Fn(&M, &M::State) -> u64 + Send + Sync + 'static) -> Checker<M> {
        self.guides.progress = Some(Arc::new(measure));
        self.options.progress = Some("given".into());
        self
    }

    /// How promising a state is, low values first: for `.order("best")`.
    pub fn heuristic(mut self, measure: impl Fn(&M, &M::State) -> u64 + Send + Sync + 'static) -> Checker<M> {
        self.guides.heuristic = Some(Arc::new(measure));
        self.options.heuristic = Some("given".into());
        self
    }

    /// Saves the search to this file now and then, and where it ends before its time. One search is saved: formulas have searches
    /// of their own, and are asked without.
    pub fn checkpoint(mut self, file: impl Into<PathBuf>) -> Checker<M> {
        self.options.checkpoint = Some(file.into());
        self
    }

    /// Takes up a search that was saved.
    pub fn resume(mut self, file: impl Into<PathBuf>) -> Checker<M> {
        self.options.resume = Some(file.into());
        self
    }

    /// Anything else that searches can be told.
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Checker<M> {
        change(&mut self.options);
        self
    }

    /// What answers call the model; without this, the name of its type.
    pub fn name(mut self, name: &str) -> Checker<M> {
        self.name = name.into();
        self
    }

    /// Decides everything that is asked, and that no code of the model panics.
    ///
    /// Where time or memory is limited, the search has a thread of its own. What the model's own code does not come back from
    /// when the time is over is left behind: it cannot be stopped, and goes on beside what the program does next. The answer
    /// says so, and what is known without it.
    pub fn check(self) -> Result<Answer<M>, CheckerError> {
        self.watched(Checker::decide, Learnt::leave)
    }

    /// Counts all states. What is asked is not looked at.
    pub fn count(mut self) -> Result<Answer<M>, CheckerError> {
        self.asked.clear();
        self.check()
    }

    /// Walks by chance, so many times so far: finds a violation or shows none, but verifies nothing.
    pub fn simulate(self, walks: usize, steps: usize) -> Result<walks::Simulated<M>, CheckerError> {
        self.alone(move |encoded, name, asked, options| walks::simulate(encoded, name, asked, (walks, steps), options))
    }

    /// Does something within the limits that has nothing to tell where these are over before.
    pub(super) fn alone<T: Send + 'static>(
        self,
        work: impl FnOnce(Arc<Encoded<M>>, String, &[Asked<M>], &Options) -> Result<T, CheckerError> + Send + 'static,
    ) -> Result<T, CheckerError> {
        let work = move |checker: Checker<M>, learnt: &Learnt<M>| {
            let (encoded, name, asked, options) = checker.begin(learnt)?;
            work(encoded, name, &asked, &options)
        };
        self.watched(work, |_, left| Err(CheckerError::Unfinished(left.to_string())))
    }

    /// Does something with the model within the limits.
    fn watched<T: Send + 'static>(
        self,
        work: impl FnOnce(Checker<M>, &Learnt<M>) -> Result<T, CheckerError> + Send + 'static,
        without: impl FnOnce(&Learnt<M>, &Left) -> Result<T, CheckerError>,
    ) -> Result<T, CheckerError> {
        let learnt = Arc::new(Learnt::new(&self.options));
        let limits = Limits { time: self.options.time, memory: self.options.memory };
        watched(limits, learnt, move |learnt| work(self, learnt), without)
    }

    fn decide(self, learnt: &Learnt<M>) -> Result<Answer<M>, CheckerError> {
        let begun = Instant::now();
        let (encoded, name, asked, mut options) = self.begin(learnt)?;
        let time = options.time;
        // What is refused is refused before anything is searched.
        for asked in asked.iter() {
            liveness::planned(&encoded, asked, &options)?;
        }
        learnt.begin(Answer::new(encoded.clone(), name, asked.clone()));
        let search = states(&encoded, learnt, &asked, &options)?;
        let whole = search.report.exhaustive && search.report.limit.is_none();
        learnt.found(search)?;
        for asked in asked.iter() {
            options.time = time.map(|time| time.saturating_sub(begun.elapsed()));
            let both = (&*encoded, learnt);
            let search = match &asked.kind {
                Kind::Ltl(formula, atoms) => liveness::linear(both, &asked.name, (formula, atoms), &options, whole)?,
                Kind::Ctl(formula, atoms) => liveness::branching(both, &asked.name, (formula, atoms), &options)?,
                _ => continue,
            };
            learnt.found(search)?;
        }
        learnt.finish()
    }

    #[allow(clippy::type_complexity)]
    fn begin(self, learnt: &Learnt<M>) -> Result<(Arc<Encoded<M>>, String, Arc<Vec<Asked<M>>>, Options), CheckerError> {
        let Checker { model, name, asked, mut options, any_threads, symmetric, guides, packing, coverage, wrong } =
            self;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let formulas = asked.iter().any(|asked| matches!(asked.kind, Kind::Ltl(..) | Kind::Ctl(..)));
        let refused = [
            (
                formulas && (options.checkpoint.is_some() || options.resume.is_some()),
                "a checkpoint is of one search, and formulas have searches of their own: check them without it",
            ),
            (
                symmetric && !options.fair.is_empty(),
                "fairness and symmetry are not supported together: fairness tells processes apart",
            ),
            (
                symmetric && options.reduce.leaves_out_events(),
                "symmetry and partial-order reduction are not supported together for models in Rust",
            ),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(refused, _)| *refused) {
            return Err(CheckerError::Option(why.into()));
        }
        if any_threads {
            (options.threads, options.alone_until) = (cores(), SMALL);
        }
        let encoded = Encoded::new(Arc::new(model), symmetric, packing, learnt.watch.clone());
        let mut encoded = encoded.map_err(|why| match learnt.watch.ended() {
            Some(_) => CheckerError::Unfinished(why),
            None => CheckerError::Model(why),
        })?;
        encoded.guides = guides;
        encoded.count_actions(coverage);
        if options.reduce.leaves_out_events() {
            encoded.say_local(asked.iter().flat_map(Asked::conditions).collect());
        }
        Ok((Arc::new(encoded), name, Arc::new(asked), options))
    }
}

/// Visits all states, and decides what single states decide.
fn states<M: TypedModel>(
    encoded: &Encoded<M>,
    learnt: &Learnt<M>,
    asked: &[Asked<M>],
    options: &Options,
) -> Result<Search, CheckerError> {
    let mut properties: Vec<Property<Condition>> = Vec::new();
    let condition = |name: &str, holds, (wanted, otherwise)| {
        let holds = learnt.noting(name, wanted, otherwise, encoded.predicate(holds));
        Condition { holds, expression: None }
    };
    for asked in asked {
        let name = &asked.name;
        let kind = match &asked.kind {
            Kind::Deadlock => PropertyKind::Deadlock,
            Kind::Invariant(holds) => PropertyKind::Invariant(condition(name, holds, (true, Verdict::Violated))),
            Kind::Reach(holds) => PropertyKind::Reach(condition(name, holds, (false, Verdict::Verified))),
            Kind::Ltl(..) | Kind::Ctl(..) => continue,
        };
        properties.push(Property::new(&asked.name, kind));
    }
    properties.push(Property::new(PANICS, PropertyKind::Faults));
    // Fairness is about infinite runs.
    let options = Options { fair: FairnessChoice::default(), ..options.clone() };
    let plan = plan(&options, &properties, encoded)?;
    let names = properties.iter().map(|property| property.name.clone()).collect();
    let control = learnt.search(&plan, names, options.time);
    let mut report = run(encoded, &properties, &plan, &control).map_err(CheckerError::Search)?;
    tell_panics(encoded, learnt, &mut report);
    sound(encoded, (plan, &options), report, false)
}

/// Conditions that panic: that is what `no panic` is about, too, and what was not reached may have been.
fn tell_panics<M: TypedModel>(encoded: &Encoded<M>, learnt: &Learnt<M>, report: &mut Report) {
    for (name, bytes) in learnt.panicked() {
        let state = encoded.shown(&bytes);
        report.remarks.push(format!("{name}: the condition panics in {state}"));
        for result in &mut report.properties {
            if result.name == PANICS && result.verdict != Verdict::Violated {
                (result.verdict, result.state) = (Verdict::Violated, Some(bytes.clone()));
            }
            // No state shows that a goal is missed.
            if result.name == name && result.verdict == Verdict::Violated && result.state.is_none() {
                result.verdict = Verdict::Undecided;
            }
        }
    }
}

/// The plan, with one thread where it cannot have several.
pub(super) fn plan<M: TypedModel, C: scrimp_core::AsExpression>(
    options: &Options,
    properties: &[Property<C>],
    encoded: &Encoded<M>,
) -> Result<Plan, CheckerError> {
    let facts = ModelFacts::of(encoded);
    match Plan::new(options, properties, &facts) {
        Err(refusal) if options.threads > 1 => {
            let alone = Options { threads: 1, alone_until: 0, ..options.clone() };
            // Where that does not help, the first reason is the one to tell.
            Plan::new(&alone, properties, &facts).map_err(|_| CheckerError::Refused(refusal))
        }
        plan => plan.map_err(CheckerError::Refused),
    }
}

/// What a search has found, unless it turned out that the model is wrong. What rests on states that were not expanded in full
/// is not known: everything about `runs`, and that there is no state of some kind.
pub(super) fn sound<M: TypedModel>(
    encoded: &Encoded<M>,
    (plan, options): (Plan, &Options),
    mut report: Report,
    runs: bool,
) -> Result<Search, CheckerError> {
    if let Some(limit) = encoded.watch.ended() {
        let cut = encoded.watch.is_cut();
        if cut || report.limit == Some(Limit::Interrupt) {
            report.limit = Some(limit);
        }
        if cut {
            report.exhaustive = false;
            for result in &mut report.properties {
                if runs || (result.verdict == Verdict::Verified && result.trace.is_none()) {
                    *result = PropertyResult::undecided(&result.name);
                }
            }
        }
    }
    // Where nobody has said how many, there is nothing to explain.
    if plan.options().threads < options.threads && options.alone_until == 0 {
        report.remarks.push("this search cannot be shared: one thread has made it".into());
    }
    match encoded.wrong() {
        Some(wrong) => Err(CheckerError::Model(wrong.into())),
        None => Ok(Search { plan, report }),
    }
}

/// Of several results, the one of this name.
pub(super) fn named<'a>(searches: &'a [Search], name: &str) -> Option<&'a PropertyResult> {
    searches.iter().flat_map(|search| &search.report.properties).find(|result| result.name == name)
}
