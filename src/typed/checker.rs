//! What is asked of a typed model, put together call by call.

use super::answer::{Answer, Search};
use super::{formula, liveness, walks};
use scrimp_core::{Condition, Control, Property, PropertyKind, PropertyResult, Report, cores};
use scrimp_report::number::parse_size;
use scrimp_search::{FairnessChoice, ModelFacts, Options, Plan, Refusal, run};
use scrimp_system::Expr;
use scrimp_temporal::Formula;
use scrimp_typed::packed::{Packed, Packing};
use scrimp_typed::{Encoded, Holds, TypedModel};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

/// The name of the property that no code of the model panics.
const PANICS: &str = "no panic";

/// States from which on all cores search, where nobody says how many.
const SMALL: u64 = 1 << 14;

/// Asks questions of a [`TypedModel`].
#[must_use = "nothing is searched before `check` or `count`"]
pub struct Checker<M: TypedModel> {
    model: M,
    name: String,
    asked: Vec<Asked<M>>,
    options: Options,
    /// Nobody has said how many threads search.
    any_threads: bool,
    symmetric: bool,
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
}

impl fmt::Display for CheckerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckerError::Option(why) | CheckerError::File(why) | CheckerError::Formula(why) => f.write_str(why),
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
            packing: None,
            coverage: false,
            wrong: None,
        }
    }

    fn ask(mut self, name: &str, kind: Kind<M>) -> Checker<M> {
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

    /// States that [`canonical`](TypedModel::canonical) makes equal are one. Conditions must not tell them apart.
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

    /// The most memory that the whole program may use, such as `256M`.
    pub fn memory(mut self, size: &str) -> Checker<M> {
        match parse_size(size) {
            Ok(bytes) => self.options.memory = Some(bytes),
            Err(why) => self.fail(CheckerError::Option(why)),
        }
        self
    }

    /// The most time that all may take.
    pub fn time(mut self, time: Duration) -> Checker<M> {
        self.options.time = Some(time);
        self
    }

    /// At most so many threads search; without this, as many as there are cores. A search that cannot be shared, such as one with
    /// fairness, is made by one, and the answer says so.
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

    /// Saves the search to this file now and then.
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
    pub fn check(self) -> Result<Answer<M>, CheckerError> {
        let begun = Instant::now();
        let (encoded, name, asked, mut options) = self.begin()?;
        let time = options.time;
        let mut searches = vec![states(&encoded, &asked, &options)?];
        let held = |search: &Search| search.report.exhaustive && search.report.limit.is_none();
        let whole = held(&searches[0]);
        for asked in asked.iter() {
            options.time = time.map(|time| time.saturating_sub(begun.elapsed()));
            let search = match &asked.kind {
                Kind::Ltl(formula, atoms) => liveness::linear(&encoded, &asked.name, formula, atoms, &options, whole)?,
                Kind::Ctl(formula, atoms) => liveness::branching(&encoded, &asked.name, formula, atoms, &options)?,
                _ => continue,
            };
            searches.push(search);
        }
        Answer::new(encoded, name, asked, searches)
    }

    /// Counts all states. What is asked is not looked at.
    pub fn count(self) -> Result<Answer<M>, CheckerError> {
        let (encoded, name, _, options) = self.begin()?;
        let search = states(&encoded, &[], &options)?;
        Answer::new(encoded, name, Vec::new(), vec![search])
    }

    /// Walks by chance, so many times so far: finds a violation or shows none, but verifies nothing.
    pub fn simulate(self, walks: usize, steps: usize) -> Result<walks::Simulated<M>, CheckerError> {
        let (encoded, name, asked, options) = self.begin()?;
        walks::simulate(encoded, name, asked, (walks, steps), &options)
    }

    #[allow(clippy::type_complexity)]
    fn begin(self) -> Result<(Arc<Encoded<M>>, String, Vec<Asked<M>>, Options), CheckerError> {
        let Checker { model, name, asked, mut options, any_threads, symmetric, packing, coverage, wrong } = self;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if any_threads {
            (options.threads, options.alone_until) = (cores(), SMALL);
        }
        let encoded = Encoded::new(Arc::new(model), symmetric, packing).map_err(CheckerError::Model)?;
        encoded.count_actions(coverage);
        Ok((Arc::new(encoded), name, asked, options))
    }
}

/// Visits all states, and decides what single states decide.
fn states<M: TypedModel>(encoded: &Encoded<M>, asked: &[Asked<M>], options: &Options) -> Result<Search, CheckerError> {
    let mut properties: Vec<Property<Condition>> = Vec::new();
    let condition = |holds| Condition { holds: encoded.predicate(holds), expression: None };
    for asked in asked {
        let kind = match &asked.kind {
            Kind::Deadlock => PropertyKind::Deadlock,
            Kind::Invariant(holds) => PropertyKind::Invariant(condition(holds)),
            Kind::Reach(holds) => PropertyKind::Reach(condition(holds)),
            Kind::Ltl(..) | Kind::Ctl(..) => continue,
        };
        properties.push(Property::new(&asked.name, kind));
    }
    properties.push(Property::new(PANICS, PropertyKind::Faults));
    // Fairness is about infinite runs.
    let options = Options { fair: FairnessChoice::default(), ..options.clone() };
    let plan = plan(&options, &properties, encoded)?;
    let control = Control::new(options.time);
    let report = run(encoded, &properties, &plan, &control).map_err(CheckerError::Search)?;
    // What other searches visit again is not counted twice.
    encoded.count_actions(false);
    sound(encoded, (plan, &options), report)
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

/// What a search has found, unless it turned out that the model is wrong.
pub(super) fn sound<M: TypedModel>(
    encoded: &Encoded<M>,
    (plan, options): (Plan, &Options),
    mut report: Report,
) -> Result<Search, CheckerError> {
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
