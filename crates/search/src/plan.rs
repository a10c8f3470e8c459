//! What is to be done: which loop with which parts. With its `rules`, the only place that knows.
//!
//! Options say what the user wants; a plan is a combination that is sound. What is not is refused, with the reason and
//! what to ask for instead.

pub use crate::choices::{
    BackedgeChoice, BoundChoice, CacheChoice, CycleChoice, EngineChoice, ForgetChoice, OrderChoice, ReduceChoice,
    StoreChoice, StrategyChoice, VariableChoice,
};
use crate::rules;
use crate::store::LayerOrder;
use scrimp_core::budget;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Without one, breadth-first, or by progress under the sweep-line.
    pub order: Option<OrderChoice>,
    /// Without one, the fastest that memory allows: it may change on the way.
    pub store: Option<StoreChoice>,
    /// The order of an automaton's layers.
    pub layers: LayerOrder,
    /// Of a ComBack store: what its backedges say, and how many states are at hand in full; without one, what seems right.
    pub backedges: BackedgeChoice,
    pub cached: Option<usize>,
    pub forget: ForgetChoice,
    pub reduce: ReduceChoice,
    pub engine: EngineChoice,
    /// Of the symbolic engine: the order of variables to begin with, whether it may change on the way, and whether
    /// reduced steps may grow up to whole ones where that makes sets smaller to write down.
    pub variables: VariableChoice,
    pub reorder: bool,
    pub dont_care: bool,
    /// How runs that go on for ever are looked for, and whether only those count on which no process waits for ever
    /// though it could always move.
    pub cycles: CycleChoice,
    pub fair: bool,
    /// Leave chains of states with one successor out of the cache's tree.
    pub chains: bool,
    /// Keep only every so-manieth ancestor in the cache's tree; without one, every eighth.
    pub stride: Option<u32>,
    /// Keep closed states of the cache's tree as a predecessor and an event.
    pub reconstruct: bool,
    /// The progress measure, and the heuristic, as the user wrote them.
    pub progress: Option<String>,
    pub heuristic: Option<String>,
    pub seed: u64,
    pub threads: usize,
    pub memory: Option<usize>,
    pub time: Option<Duration>,
    /// The most states to expand.
    pub visits: Option<u64>,
    /// Remember all visited states beside the search, to prove that it visits them all.
    pub audit: bool,
    /// The file to which the search is saved now and then, and how often that is; the file of one to take up.
    pub checkpoint: Option<PathBuf>,
    pub every: Option<Duration>,
    pub resume: Option<PathBuf>,
    /// Where sorted files may go when memory is used up.
    pub disk: Option<PathBuf>,
    /// Go on after a violation until every property is decided.
    pub keep_going: bool,
    /// Count in-degrees however many states there are.
    pub in_degrees: bool,
    /// Build the condensed graph.
    pub graph: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: None,
            store: None,
            layers: LayerOrder::Best,
            backedges: BackedgeChoice::Events,
            cached: None,
            forget: ForgetChoice::Nothing,
            reduce: ReduceChoice::Nothing,
            engine: EngineChoice::Explicit,
            variables: VariableChoice::Force,
            reorder: true,
            dont_care: false,
            cycles: CycleChoice::Automatic,
            fair: false,
            chains: false,
            stride: None,
            reconstruct: false,
            progress: None,
            heuristic: None,
            seed: 1,
            threads: 1,
            memory: None,
            time: None,
            visits: None,
            audit: false,
            checkpoint: None,
            every: None,
            resume: None,
            disk: None,
            keep_going: false,
            in_degrees: false,
            graph: false,
        }
    }
}

/// A sound combination, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub order: OrderChoice,
    /// The store, or the first one where it is [chosen](Plan::is_automatic) on the way.
    pub store: StoreChoice,
    pub memory: usize,
    /// Everything else is as it was asked for.
    pub options: Options,
}

/// The loops that search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Breadth-first, in one store after the other.
    Staged,
    /// Breadth-first, keeping every numbered state.
    Plain,
    /// Any order, forgetting, and fewer events.
    Guided,
    /// Breadth-first or depth-first over a store that gives no numbers.
    Set,
    /// Breadth-first, with sorted files.
    Disk,
}

/// A combination that would not be sound or does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: String,
    pub instead: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}; {}", self.reason, self.instead)
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>, instead: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), instead: instead.into() }
    }
}

impl Plan {
    pub fn new(options: &Options) -> Result<Plan, Refusal> {
        let sweeps = matches!(options.forget, ForgetChoice::Sweep(_));
        let order = options.order.unwrap_or(if sweeps { OrderChoice::Progress } else { OrderChoice::BreadthFirst });
        let store = options.store.clone().unwrap_or(StoreChoice::Table);
        match rules::unsound(options, order, &store) {
            Some(refusal) => Err(refusal),
            None => Ok(Plan {
                order,
                store,
                memory: options.memory.unwrap_or_else(budget::default_memory),
                options: options.clone(),
            }),
        }
    }

    /// Does it go level by level, so that the depth of a state is that of its level?
    pub fn is_by_level(&self) -> bool {
        self.way() != Way::Guided && self.order == OrderChoice::BreadthFirst
    }

    /// Does it keep every state that it finds, and expand each once?
    fn is_whole(&self) -> bool {
        let Options { forget, reduce, visits, .. } = &self.options;
        let plain = matches!(reduce, ReduceChoice::Nothing | ReduceChoice::Persistent(_));
        *forget == ForgetChoice::Nothing && plain && visits.is_none()
    }

    /// Is the store chosen by how much memory there is, and changed when there is not enough?
    pub fn is_automatic(&self) -> bool {
        let Options { store, in_degrees, graph, .. } = &self.options;
        store.is_none() && !in_degrees && !graph && self.order == OrderChoice::BreadthFirst && self.is_whole()
    }

    /// The loop that carries it out.
    pub(crate) fn way(&self) -> Way {
        let by_level = self.order == OrderChoice::BreadthFirst && self.is_whole();
        match &self.store {
            _ if self.is_automatic() => Way::Staged,
            StoreChoice::Disk(_) => Way::Disk,
            // A path can be saved, the general loop cannot.
            StoreChoice::Table if self.saves() && !by_level => Way::Set,
            // A reduction gains from knowing what is on the path, and the general loop leaves a state with its last event.
            StoreChoice::Table if self.order == OrderChoice::DepthFirst && self.is_whole() && self.reduces() => {
                Way::Set
            }
            store if !store.gives_numbers() => Way::Set,
            _ if by_level => Way::Plain,
            _ => Way::Guided,
        }
    }

    fn reduces(&self) -> bool {
        self.options.reduce.leaves_out_states()
    }

    fn saves(&self) -> bool {
        self.options.checkpoint.is_some() || self.options.resume.is_some()
    }

    /// How often the search is saved.
    pub fn every(&self) -> Duration {
        self.options.every.unwrap_or(Duration::from_secs(600))
    }

    /// What must agree when a search is taken up again: all but limits, threads and files.
    pub fn essence(&self) -> String {
        let Options { progress, heuristic, keep_going, seed, chains, reconstruct, layers, backedges, .. } =
            &self.options;
        let store = if self.is_automatic() { "automatic".to_string() } else { self.store.to_string() };
        format!(
            "{} {store} {} {} {} {progress:?} {heuristic:?} {keep_going} {seed} {chains} {reconstruct} {layers} {backedges} {}",
            self.order,
            self.options.forget,
            self.options.reduce,
            self.options.engine,
            self.stride(),
        )
    }

    /// Which ancestors a cache's tree keeps: every so-manieth. To replay states, it must keep all.
    pub fn stride(&self) -> u32 {
        self.options.stride.unwrap_or(if self.options.reconstruct { 1 } else { 8 })
    }

    /// The plan in short words, part by part.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let options = &self.options;
        let mut parts = vec![
            ("order", self.order.to_string()),
            ("store", self.store.to_string()),
            ("forget", options.forget.to_string()),
            ("reduce", options.reduce.to_string()),
            ("engine", options.engine.to_string()),
            ("threads", options.threads.to_string()),
            ("memory", self.memory.to_string()),
        ];
        if options.engine != EngineChoice::Explicit {
            parts.retain(|(part, _)| ["reduce", "engine", "memory"].contains(part));
        }
        if matches!(options.engine, EngineChoice::Symbolic(_)) {
            parts.push(("variables", options.variables.to_string()));
            parts.push(("reorder", if options.reorder { "auto" } else { "never" }.to_string()));
            parts.extend(options.dont_care.then(|| ("dont-care", "yes".to_string())));
        }
        parts.extend((options.cycles != CycleChoice::Automatic).then(|| ("cycles", options.cycles.to_string())));
        parts.extend(options.fair.then(|| ("fair", "weak".to_string())));
        parts.extend(options.progress.iter().map(|text| ("progress", text.clone())));
        parts.extend(options.heuristic.iter().map(|text| ("heuristic", text.clone())));
        parts.extend(options.chains.then(|| ("chains", "yes".to_string())));
        if matches!(options.forget, ForgetChoice::Cache(_) | ForgetChoice::Sweep(Some(_))) {
            parts.push(("stride", self.stride().to_string()));
        }
        parts.extend(options.reconstruct.then(|| ("reconstruct", "yes".to_string())));
        if matches!(self.store, StoreChoice::Automaton { .. }) {
            parts.push(("layers", options.layers.to_string()));
        }
        parts.extend(options.time.map(|time| ("time", format!("{}s", time.as_secs_f64()))));
        parts.extend(options.visits.map(|visits| ("visits", visits.to_string())));
        parts
    }

    /// Why a part of the plan is as it is.
    pub fn reason(&self, part: &str) -> &'static str {
        match part {
            "order" => self.order.reason(),
            "store" => self.store.reason(),
            "forget" => self.options.forget.reason(),
            "reduce" => self.options.reduce.reason(),
            "engine" => self.options.engine.reason(),
            "variables" if self.options.variables == VariableChoice::Given => "in the order of their declarations",
            "variables" => "those that events touch together stand together",
            "reorder" if self.options.reorder => "the order changes when diagrams grow",
            "dont-care" => "any set between the reduced step and the whole one will do: the one with fewest nodes",
            "cycles" => self.options.cycles.reason(),
            "fair" => "no process that could always move waits for ever",
            "chains" => "states with one successor do not stay for the cache's sake",
            "stride" => "the cache's tree keeps some ancestors of open states, not all",
            "reconstruct" => "closed ancestors of open states are kept as an event and what it led from",
            "layers" => "which byte of a state each layer of the automaton stands for",
            "memory" if self.options.memory.is_some() => "as asked for",
            "memory" => "nine tenths of what is free now",
            _ => "",
        }
    }
}
