//! What the user wants of a search.

use super::choices::{
    BackedgeChoice, CycleChoice, EngineChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice, VariableChoice,
};
use super::fairness::FairnessChoice;
use crate::store::LayerOrder;
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
    /// Where all events are to be explored: where the first states show that it pays, some may be left out after all.
    pub may_reduce: bool,
    pub engine: EngineChoice,
    /// Of the symbolic engine: the order of variables to begin with, whether it may change on the way, and whether
    /// reduced steps may grow up to whole ones where that makes sets smaller to write down.
    pub variables: VariableChoice,
    pub reorder: bool,
    pub dont_care: bool,
    /// How infinite runs are looked for, and to which processes they must be fair to count.
    pub cycles: CycleChoice,
    pub fair: FairnessChoice,
    /// How many conditions must hold again and again on the runs that count.
    pub fair_conditions: usize,
    /// Leave chains of states with one successor out of the cache's tree.
    pub chains: bool,
    /// Keep only every n-th ancestor in the cache's tree; without one, every eighth.
    pub stride: Option<u32>,
    /// Keep closed states of the cache's tree as a predecessor and an event.
    pub reconstruct: bool,
    /// The progress measure, and the heuristic, as the user wrote them.
    pub progress: Option<String>,
    pub heuristic: Option<String>,
    pub seed: u64,
    pub threads: usize,
    /// One thread searches until there are so many states: by then most models are done.
    pub alone_until: u64,
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
    /// Write the reachability graph.
    pub graph: bool,
    /// Log where the sweep-line stands.
    pub front: bool,
}

impl Options {
    /// Is it the sweep-line that is asked for?
    pub fn sweeps(&self) -> bool {
        matches!(self.forget, ForgetChoice::Sweep(_))
    }
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
            may_reduce: false,
            engine: EngineChoice::Explicit,
            variables: VariableChoice::Force,
            reorder: true,
            dont_care: false,
            cycles: CycleChoice::Automatic,
            fair: FairnessChoice::default(),
            fair_conditions: 0,
            chains: false,
            stride: None,
            reconstruct: false,
            progress: None,
            heuristic: None,
            seed: 1,
            threads: 1,
            alone_until: 0,
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
            front: false,
        }
    }
}
