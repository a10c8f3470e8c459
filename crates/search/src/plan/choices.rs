//! The choices for each part of a search: their names on the command line and what each means.

mod cycles;
mod engine;
mod reduce;

pub use cycles::CycleChoice;
pub use engine::{BoundChoice, CardChoice, EngineChoice, StrategyChoice, VariableChoice};
pub use reduce::ReduceChoice;

use crate::forget::Strategy;
use crate::plan::Refusal;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Which state next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderChoice {
    BreadthFirst,
    DepthFirst,
    /// Breadth-first with levels of at most so many states.
    Bounded(usize),
    /// So many levels breadth-first, then so many depth-first, in turns.
    Alternating(u32, u32),
    /// Lowest progress first.
    Progress,
    /// Lowest heuristic value first; with `a_star`, lowest sum of that and the depth.
    Best {
        a_star: bool,
    },
    Random,
    /// The state whose expansion releases most pseudo-root states.
    Releasing,
}

const ORDERS: &str = "bfs, dfs, bbfs:WIDTH, alt:BREADTH,DEPTH, progress, best, best:astar, random, release";

impl OrderChoice {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            OrderChoice::BreadthFirst => "level by level, so that traces are shortest",
            OrderChoice::DepthFirst => "one path at a time, so that few states are open",
            OrderChoice::Bounded(_) => {
                "level by level, each of bounded width: few states are open, and paths stay short"
            }
            OrderChoice::Alternating(..) => "by turns breadth-first and depth-first",
            OrderChoice::Progress => "lowest progress first",
            OrderChoice::Best { a_star: false } => "lowest heuristic value first, to find an error soon",
            OrderChoice::Best { a_star: true } => "lowest sum of depth and heuristic value first: short traces, soon",
            OrderChoice::Random => "any open state, at random",
            OrderChoice::Releasing => "the state whose expansion releases most",
        }
    }
}

impl fmt::Display for OrderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderChoice::BreadthFirst => f.write_str("bfs"),
            OrderChoice::DepthFirst => f.write_str("dfs"),
            OrderChoice::Bounded(usize::MAX) => f.write_str("bbfs:inf"),
            OrderChoice::Bounded(width) => write!(f, "bbfs:{width}"),
            OrderChoice::Alternating(breadth, depth) => {
                let number = |n: u32| if n == u32::MAX { "inf".to_string() } else { n.to_string() };
                write!(f, "alt:{},{}", number(*breadth), number(*depth))
            }
            OrderChoice::Progress => f.write_str("progress"),
            OrderChoice::Best { a_star: false } => f.write_str("best"),
            OrderChoice::Best { a_star: true } => f.write_str("best:astar"),
            OrderChoice::Random => f.write_str("random"),
            OrderChoice::Releasing => f.write_str("release"),
        }
    }
}

impl FromStr for OrderChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<OrderChoice, Refusal> {
        let refuse = |reason: String| Err(Refusal::new(reason, format!("choose from: {ORDERS}")));
        let count = |text: &str| if text == "inf" { Some(u32::MAX) } else { text.parse::<u32>().ok() };
        match text.split_once(':') {
            Some(("bbfs", width)) => match count(width) {
                Some(0) => refuse("expected a width of at least 1, found 0".into()),
                Some(u32::MAX) => Ok(OrderChoice::Bounded(usize::MAX)),
                Some(width) => Ok(OrderChoice::Bounded(width as usize)),
                None => refuse(format!("expected a width such as 16, found `{width}`")),
            },
            Some(("alt", turns)) => match turns.split_once(',').map(|(b, d)| (count(b), count(d))) {
                Some((Some(0), Some(0))) => refuse("alt needs at least one level, breadth-first or depth-first".into()),
                Some((Some(breadth), Some(depth))) => Ok(OrderChoice::Alternating(breadth, depth)),
                _ => refuse(format!("expected two numbers of levels, found `{turns}`")),
            },
            Some(("best", "greedy")) => Ok(OrderChoice::Best { a_star: false }),
            Some(("best", "astar")) => Ok(OrderChoice::Best { a_star: true }),
            None => match text {
                "bfs" => Ok(OrderChoice::BreadthFirst),
                "dfs" => Ok(OrderChoice::DepthFirst),
                "progress" => Ok(OrderChoice::Progress),
                "best" => Ok(OrderChoice::Best { a_star: false }),
                "random" => Ok(OrderChoice::Random),
                "release" => Ok(OrderChoice::Releasing),
                "bbfs" => refuse("bbfs needs a width, as in bbfs:16".into()),
                "alt" => refuse("alt needs two numbers of levels, as in alt:4,8".into()),
                _ => Err(Refusal::unknown("order", text, ORDERS)),
            },
            Some(_) => Err(Refusal::unknown("order", text, ORDERS)),
        }
    }
}

/// A state cache: at most so many states, or as many as memory allows; and which of them go first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheChoice {
    pub most: Option<usize>,
    pub strategy: Strategy,
}

/// Which states may be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetChoice {
    Nothing,
    /// At most so many states, or as many as memory allows, before it becomes state caching.
    PseudoRoot(Option<usize>),
    Cache(CacheChoice),
    Sweep(Option<CacheChoice>),
}

const FORGETTERS: &str =
    "none, pseudo-root[:STATES], cache[:STATES[,STRATEGY]], sweep, sweep+cache[:STATES[,STRATEGY]]";

impl ForgetChoice {
    /// Which states its cache lets go first, if it has one.
    pub(super) fn strategy(&self) -> Option<&Strategy> {
        match self {
            ForgetChoice::Cache(cache) | ForgetChoice::Sweep(Some(cache)) => Some(&cache.strategy),
            _ => None,
        }
    }

    pub(super) fn strategy_mut(&mut self) -> Option<&mut Strategy> {
        match self {
            ForgetChoice::Cache(cache) | ForgetChoice::Sweep(Some(cache)) => Some(&mut cache.strategy),
            _ => None,
        }
    }

    pub(crate) fn reason(&self) -> &'static str {
        match self {
            ForgetChoice::Nothing => "every state is kept",
            ForgetChoice::PseudoRoot(_) => {
                "a state is dropped once all its predecessors were expanded: it cannot be reached again"
            }
            ForgetChoice::Cache(_) => "closed states that led to no open one may be dropped; they may be visited again",
            ForgetChoice::Sweep(None) => "states behind the sweep-line are dropped",
            ForgetChoice::Sweep(Some(_)) => {
                "states behind the sweep-line are dropped, and on it those that led to no open state"
            }
        }
    }
}

impl fmt::Display for CacheChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            Some(most) => write!(f, "cache:{most},{}", self.strategy),
            None => write!(f, "cache:,{}", self.strategy),
        }
    }
}

impl fmt::Display for ForgetChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForgetChoice::Nothing => f.write_str("none"),
            ForgetChoice::PseudoRoot(None) => f.write_str("pseudo-root"),
            ForgetChoice::PseudoRoot(Some(most)) => write!(f, "pseudo-root:{most}"),
            ForgetChoice::Cache(cache) => write!(f, "{cache}"),
            ForgetChoice::Sweep(None) => f.write_str("sweep"),
            ForgetChoice::Sweep(Some(cache)) => write!(f, "sweep+{cache}"),
        }
    }
}

/// A number of states to store; nothing means as many as fit.
fn states(text: &str) -> Result<Option<usize>, Refusal> {
    let refuse = |reason: String| Err(Refusal::new(reason, "give a number of states, from 1 on"));
    match text.replace(['_', '\''], "").parse::<usize>() {
        _ if text.is_empty() => Ok(None),
        Ok(0) => refuse("expected at least 1 state, found 0".into()),
        Ok(number) => Ok(Some(number)),
        Err(_) => refuse(format!("expected a number of states, found `{text}`")),
    }
}

impl FromStr for CacheChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<CacheChoice, Refusal> {
        let (number, strategy) = text.split_once(',').map_or((text, None), |(n, s)| (n, Some(s)));
        let parse = |text: &str| {
            text.parse().map_err(|error: String| {
                let (reason, instead) = error.split_once("; ").unwrap_or((&error, ""));
                Refusal::new(reason, instead)
            })
        };
        Ok(CacheChoice { most: states(number)?, strategy: strategy.map(parse).transpose()?.unwrap_or_default() })
    }
}

impl FromStr for ForgetChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<ForgetChoice, Refusal> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        match name {
            "none" if rest.is_empty() => Ok(ForgetChoice::Nothing),
            "sweep" if rest.is_empty() => Ok(ForgetChoice::Sweep(None)),
            "pseudo-root" => states(rest).map(ForgetChoice::PseudoRoot),
            "cache" => rest.parse().map(ForgetChoice::Cache),
            "sweep+cache" => rest.parse().map(|cache| ForgetChoice::Sweep(Some(cache))),
            _ => Err(Refusal::unknown("forgetting method", text, FORGETTERS)),
        }
    }
}

/// How states are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    Table,
    /// Of every state the bits that tell it from others.
    Packed,
    /// Pairs of words, and pairs of these, each kept once.
    Tree,
    /// Processes and the rest, each kept once, and for a state their numbers.
    Collapse,
    /// A minimized automaton, of the states or of their collapsed form.
    Automaton {
        collapse: bool,
    },
    /// A hash, and how the state was found.
    ComBack,
    /// So many bits of a hash.
    Compact(u32),
    /// Some bits of so many MiB of them.
    BitState(usize),
    /// Sorted files in a directory.
    Disk(PathBuf),
}

const STORES: &str =
    "table, packed, tree, collapse, dfa, dfa+collapse, comback, compact[:BITS], bitstate[:MIB], disk[:DIR]";

/// What the backedges of a ComBack store say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackedgeChoice {
    /// The predecessor, and which of its events led to the state.
    #[default]
    Events,
    /// The predecessor only: the event is found again by running all of them.
    States,
}

impl fmt::Display for BackedgeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BackedgeChoice::Events => "events",
            BackedgeChoice::States => "states",
        })
    }
}

impl FromStr for BackedgeChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<BackedgeChoice, Refusal> {
        match text {
            "events" => Ok(BackedgeChoice::Events),
            "states" => Ok(BackedgeChoice::States),
            _ => Err(Refusal::unknown("kind of backedges", text, "events, states")),
        }
    }
}

impl StoreChoice {
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            StoreChoice::Table => "every state in full: exact, and fastest where it fits",
            StoreChoice::Packed => {
                "of every state the bits that tell it from others: exact, fast, in a few bytes a state"
            }
            StoreChoice::Tree => "pairs of words, and pairs of pairs, each kept once: exact, in a few bytes a state",
            StoreChoice::Collapse => "what a process can look like is kept once, a state is a few numbers: exact",
            StoreChoice::Automaton { collapse: false } => {
                "a minimized automaton that accepts the visited states: exact"
            }
            StoreChoice::Automaton { collapse: true } => {
                "a minimized automaton that accepts the visited states, each as a few numbers: exact"
            }
            StoreChoice::ComBack => "a short hash and how the state was found, replayed in doubt: exact",
            StoreChoice::Compact(_) => "a hash of each state: states with the same hash are taken for one",
            StoreChoice::BitState(_) => "a few bits for each state: states with the same bits are taken for one",
            StoreChoice::Disk(_) => "sorted files, level by level: exact, and as large as the disk",
        }
    }

    /// Does it number its states, so that orders and forgetters can speak of them?
    pub fn gives_numbers(&self) -> bool {
        matches!(self, StoreChoice::Table | StoreChoice::Collapse | StoreChoice::ComBack)
    }

    /// Does it tell all states apart?
    pub fn is_exact(&self) -> bool {
        !matches!(self, StoreChoice::Compact(_) | StoreChoice::BitState(_))
    }
}

impl fmt::Display for StoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreChoice::Table => f.write_str("table"),
            StoreChoice::Packed => f.write_str("packed"),
            StoreChoice::Tree => f.write_str("tree"),
            StoreChoice::Collapse => f.write_str("collapse"),
            StoreChoice::Automaton { collapse: false } => f.write_str("dfa"),
            StoreChoice::Automaton { collapse: true } => f.write_str("dfa+collapse"),
            StoreChoice::ComBack => f.write_str("comback"),
            StoreChoice::Compact(bits) => write!(f, "compact:{bits}"),
            StoreChoice::BitState(mib) => write!(f, "bitstate:{mib}"),
            StoreChoice::Disk(dir) if dir.as_os_str().is_empty() => f.write_str("disk"),
            StoreChoice::Disk(dir) => write!(f, "disk:{}", dir.display()),
        }
    }
}

impl FromStr for StoreChoice {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<StoreChoice, Refusal> {
        let refuse = |reason: String| Err(Refusal::new(reason, format!("choose from: {STORES}")));
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let number = |or: usize| rest.map_or(Some(or), |rest| rest.parse().ok());
        match (name, rest) {
            ("table", None) => Ok(StoreChoice::Table),
            ("packed", None) => Ok(StoreChoice::Packed),
            ("tree", None) => Ok(StoreChoice::Tree),
            ("collapse", None) => Ok(StoreChoice::Collapse),
            ("dfa", None) => Ok(StoreChoice::Automaton { collapse: false }),
            ("dfa+collapse", None) => Ok(StoreChoice::Automaton { collapse: true }),
            ("comback", None) => Ok(StoreChoice::ComBack),
            ("compact", _) => match number(64) {
                Some(bits @ 16..=64) => Ok(StoreChoice::Compact(bits as u32)),
                _ => refuse("compact keeps 16 to 64 bits of a hash, as in compact:40".into()),
            },
            ("bitstate", _) => match number(64) {
                Some(mib @ 1..=1_048_576) => Ok(StoreChoice::BitState(mib)),
                _ => refuse("bitstate takes 1 MiB or more, as in bitstate:256".into()),
            },
            ("disk", _) => Ok(StoreChoice::Disk(rest.unwrap_or_default().into())),
            _ => Err(Refusal::unknown("store", text, STORES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in
            ["bfs", "dfs", "bbfs:16", "bbfs:inf", "alt:4,1", "alt:0,inf", "progress", "best", "best:astar", "random"]
        {
            assert_eq!(text.parse::<OrderChoice>().unwrap().to_string(), text);
        }
        for text in [
            "table",
            "packed",
            "tree",
            "collapse",
            "dfa",
            "dfa+collapse",
            "comback",
            "compact:40",
            "bitstate:256",
            "disk:/x",
        ] {
            assert_eq!(text.parse::<StoreChoice>().unwrap().to_string(), text);
        }
        for text in ["none", "pseudo-root", "pseudo-root:77", "cache:500,depth+lru", "sweep", "sweep+cache:9,random"] {
            assert_eq!(text.parse::<ForgetChoice>().unwrap().to_string(), text);
        }
        for text in [
            "none",
            "edge-lean",
            "por",
            "por:process",
            "por:closure",
            "por:deletion",
            "por+sleep",
            "symmetry",
            "symmetry:orbits",
        ] {
            assert_eq!(text.parse::<ReduceChoice>().unwrap().to_string(), text);
        }
        for text in [
            "explicit",
            "symbolic:bfs",
            "symbolic:chaining",
            "symbolic:saturation",
            "bmc",
            "bmc:20",
            "gpu",
            "gpu:3",
            "gpu:cpu",
            "cluster:4",
        ] {
            assert_eq!(text.parse::<EngineChoice>().unwrap().to_string(), text);
        }
        assert_eq!("cache".parse(), Ok(ForgetChoice::Cache(CacheChoice::default())));
        assert_eq!("cache:,out-degree".parse(), Ok(ForgetChoice::Cache(CacheChoice::default())));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["bbfs:0", "bbfs", "bbfs:x", "alt:0,0", "alt:1", "alt:1,2,3", "best:worst", "breadth", "dfs:1", ""]
        {
            assert!(text.parse::<OrderChoice>().is_err(), "{text}");
        }
        for text in ["ample", "por:", "por+edge-lean", "none:1", ""] {
            assert!(text.parse::<ReduceChoice>().is_err(), "{text}");
        }
        for text in ["bdd", "symbolic:dfs", "bmc:x", "bmc:-1", "gpu:", "gpu:x", "gpu:-1", "cluster", "cluster:0", ""] {
            assert!(text.parse::<EngineChoice>().is_err(), "{text}");
        }
        for text in ["heap", "table:3", "compact:8", "compact:x", "bitstate:0", "dfa+tree", ""] {
            assert!(text.parse::<StoreChoice>().is_err(), "{text}");
        }
        for text in ["cache:0", "cache:many", "cache:5,best", "sweep:3", "none:1", "pseudo-root:0", "sweep+pseudo-root"]
        {
            assert!(text.parse::<ForgetChoice>().is_err(), "{text}");
        }
    }
}
