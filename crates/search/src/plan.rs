//! What combines with what. The only place that knows.
//!
//! Options say what the user wants; a plan is a combination that is sound. What is not is refused, with the reason and
//! what to ask for instead.

use crate::budget;
pub use crate::choices::{CacheChoice, EngineChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice};
use std::fmt;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Without one, breadth-first, or by progress under the sweep-line.
    pub order: Option<OrderChoice>,
    pub store: StoreChoice,
    pub forget: ForgetChoice,
    pub reduce: ReduceChoice,
    pub engine: EngineChoice,
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
    /// Go on after a violation until every property is decided.
    pub keep_going: bool,
    /// Count in-degrees however many states there are.
    pub in_degrees: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: None,
            store: StoreChoice::Table,
            forget: ForgetChoice::Nothing,
            reduce: ReduceChoice::Nothing,
            engine: EngineChoice::Explicit,
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
            keep_going: false,
            in_degrees: false,
        }
    }
}

/// A sound combination, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub order: OrderChoice,
    pub memory: usize,
    /// Everything else is as it was asked for.
    pub options: Options,
}

/// The loops that search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Breadth-first, keeping every numbered state and exploring every event.
    Plain,
    /// Any order, forgetting, and fewer events.
    Guided,
    /// Breadth-first or depth-first over a store that gives no numbers.
    Set,
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
    fn new(reason: impl Into<String>, instead: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), instead: instead.into() }
    }
}

impl Plan {
    pub fn new(options: &Options) -> Result<Plan, Refusal> {
        let sweeps = matches!(options.forget, ForgetChoice::Sweep(_));
        let order = options.order.unwrap_or(if sweeps { OrderChoice::Progress } else { OrderChoice::BreadthFirst });
        match unsound(options, order) {
            Some(refusal) => Err(refusal),
            None => Ok(Plan {
                order,
                memory: options.memory.unwrap_or_else(budget::default_memory),
                options: options.clone(),
            }),
        }
    }

    /// Does it go level by level, so that the depth of a state is that of its level?
    pub fn is_by_level(&self) -> bool {
        self.way() != Way::Guided && self.order == OrderChoice::BreadthFirst
    }

    /// Are traces shortest runs?
    pub fn finds_shortest(&self) -> bool {
        self.way() == Way::Plain
    }

    /// The loop that carries it out.
    pub(crate) fn way(&self) -> Way {
        let Options { forget, reduce, visits, .. } = &self.options;
        let plain = *forget == ForgetChoice::Nothing && *reduce == ReduceChoice::Nothing && visits.is_none();
        match (self.order, &self.options.store) {
            (OrderChoice::BreadthFirst, StoreChoice::Table | StoreChoice::Collapse) if plain => Way::Plain,
            (_, StoreChoice::Table | StoreChoice::Collapse) => Way::Guided,
            _ => Way::Set,
        }
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
            ("store", options.store.to_string()),
            ("forget", options.forget.to_string()),
            ("reduce", options.reduce.to_string()),
            ("engine", options.engine.to_string()),
            ("threads", options.threads.to_string()),
            ("memory", self.memory.to_string()),
        ];
        parts.extend(options.progress.iter().map(|text| ("progress", text.clone())));
        parts.extend(options.heuristic.iter().map(|text| ("heuristic", text.clone())));
        parts.extend(options.chains.then(|| ("chains", "yes".to_string())));
        if matches!(options.forget, ForgetChoice::Cache(_) | ForgetChoice::Sweep(Some(_))) {
            parts.push(("stride", self.stride().to_string()));
        }
        parts.extend(options.reconstruct.then(|| ("reconstruct", "yes".to_string())));
        parts.extend(options.time.map(|time| ("time", format!("{}s", time.as_secs_f64()))));
        parts.extend(options.visits.map(|visits| ("visits", visits.to_string())));
        parts
    }

    /// Why a part of the plan is as it is.
    pub fn reason(&self, part: &str) -> &'static str {
        match part {
            "order" => self.order.reason(),
            "store" => self.options.store.reason(),
            "forget" => self.options.forget.reason(),
            "reduce" => self.options.reduce.reason(),
            "engine" => self.options.engine.reason(),
            "chains" => "states with one successor do not stay for the cache's sake",
            "stride" => "the cache's tree keeps some ancestors of open states, not all",
            "reconstruct" => "closed ancestors of open states are kept as an event and what it led from",
            "memory" if self.options.memory.is_some() => "as asked for",
            "memory" => "nine tenths of what is free now",
            _ => "",
        }
    }
}

/// Why these options cannot be carried out, if they cannot.
fn unsound(options: &Options, order: OrderChoice) -> Option<Refusal> {
    let Options { forget, reduce, chains, threads, .. } = options;
    let refuse = |reason: &str, instead: &str| Some(Refusal::new(reason, instead));
    let caches = matches!(forget, ForgetChoice::Cache(_) | ForgetChoice::Sweep(Some(_)));
    let sweeps = matches!(forget, ForgetChoice::Sweep(_));
    let pseudo_root = matches!(forget, ForgetChoice::PseudoRoot(_));
    let by_progress = order == OrderChoice::Progress;
    let lossy = matches!(options.store, StoreChoice::Compact(_) | StoreChoice::BitState(_));
    if !lossy && !matches!(options.store, StoreChoice::Table | StoreChoice::Collapse | StoreChoice::Tree) {
        return Some(Refusal::new(
            format!("store '{}' is not available in this version", options.store),
            "choose from: table, collapse, tree, compact, bitstate",
        ));
    }
    if *threads == 0 || *threads > 1024 {
        return Some(Refusal::new(
            format!("{threads} threads cannot search"),
            "use --threads with a number from 1 to 1024",
        ));
    }
    if *threads > 1 && order != OrderChoice::BreadthFirst {
        let reason = if order == OrderChoice::DepthFirst {
            "depth-first order follows one path and has no work for a second thread".to_string()
        } else {
            format!("order {order} is kept by one thread")
        };
        return Some(Refusal::new(reason, "use --threads 1, or --order bfs with several threads"));
    }
    if *threads > 1 && *forget != ForgetChoice::Nothing {
        return Some(Refusal::new(
            format!("forgetting method {forget} follows the order of one thread"),
            "use --threads 1, or --forget none with several threads",
        ));
    }
    if *threads > 1 && (*reduce != ReduceChoice::Nothing || options.visits.is_some()) {
        return refuse("reductions and limits on visits are for one thread", "use --threads 1");
    }
    if options.in_degrees && (*threads > 1 || order != OrderChoice::BreadthFirst) {
        return refuse(
            "in-degrees are counted by one thread, level by level",
            "use --threads 1 --order bfs, or leave --in-degrees out",
        );
    }
    if options.in_degrees && (*forget != ForgetChoice::Nothing || *reduce != ReduceChoice::Nothing) {
        return refuse(
            "in-degrees can be counted only where every state is kept and every event explored",
            "leave --in-degrees out, or --forget and --reduce",
        );
    }
    if sweeps && !by_progress {
        return Some(Refusal::new(
            format!("the sweep-line explores states by progress and cannot follow order {order}"),
            "leave --order out",
        ));
    }
    if by_progress && options.progress.is_none() {
        return refuse(
            "exploring by progress needs a progress measure",
            "add --progress EXPR, such as --progress 'sent + received', or --progress auto",
        );
    }
    if options.progress.is_some() && !by_progress {
        return refuse(
            "the progress measure would not be used",
            "add --forget sweep or --order progress, or leave it out",
        );
    }
    let best = matches!(order, OrderChoice::Best { .. });
    if best && options.heuristic.is_none() {
        return refuse("best-first order needs a heuristic", "add --heuristic EXPR: states with low values come first");
    }
    if options.heuristic.is_some() && !best {
        return refuse("the heuristic would not be used", "add --order best, or leave it out");
    }
    if order == OrderChoice::Releasing && !pseudo_root {
        return refuse("order release looks for states that release pseudo-root states", "add --forget pseudo-root");
    }
    if *chains && !caches {
        return refuse("--chains shortens the tree that a state cache keeps", "add --forget cache, or leave it out");
    }
    if options.stride == Some(0) {
        return refuse("a stride of 0 keeps no ancestor", "use --stride with a number from 1 to 255");
    }
    if options.stride.is_some_and(|stride| stride > 255) {
        return refuse("a stride beyond 255 is not supported", "use --stride with a number from 1 to 255");
    }
    if options.stride.is_some() && !caches {
        return refuse("--stride thins out the tree that a state cache keeps", "add --forget cache, or leave it out");
    }
    if options.reconstruct && !matches!(forget, ForgetChoice::Cache(_)) {
        return refuse(
            "--reconstruct replays states of the tree that a state cache keeps, and only there are their predecessors \
             certain to stay",
            "use --forget cache, or leave it out",
        );
    }
    if options.reconstruct && options.store != StoreChoice::Table {
        return refuse("--reconstruct has a store of its own", "use --store table, or leave it out");
    }
    if options.reconstruct && (*chains || options.stride.is_some_and(|stride| stride > 1)) {
        return refuse(
            "--reconstruct needs the very predecessor of every state of the tree, and --chains and --stride leave some out",
            "leave out these or --reconstruct",
        );
    }
    if pseudo_root && *reduce == ReduceChoice::EdgeLean {
        return refuse(
            "pseudo-root states wait for every predecessor to lead to them, and edge-lean search leaves some of these events \
             out: they would wait for ever",
            "use --reduce none, or --forget cache",
        );
    }
    None
}
