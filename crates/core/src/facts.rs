//! What engines have to say beside verdicts.

use std::time::Duration;

/// What a search with sets of states counted. Numbers are written out: they may be larger than any machine integer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetFacts {
    pub states: String,
    /// Pairs of a state and an event that leads on from it, where they were counted.
    pub transitions: Option<String>,
    pub deadlocks: Option<String>,
    /// Levels, where the search went level by level.
    pub levels: Option<u32>,
    /// Variables of the diagrams.
    pub variables: usize,
    /// The most nodes that there were at once, and those of the set of reachable states.
    pub peak_nodes: u64,
    pub final_nodes: u64,
    /// How often the order of variables was changed.
    pub reorderings: u32,
}

/// What a search with formulas came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormulaFacts {
    /// Every run of so many events was looked at; none if not even those without any.
    pub steps: Option<u32>,
    pub clauses: u64,
    pub variables: u64,
    pub conflicts: u64,
}

/// What a search on a graphics card has to say of the card.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardFacts {
    /// What the kernels ran on.
    pub name: String,
    /// Bits of a state there.
    pub state_bits: u32,
    /// Most bytes of the card that were taken at one time.
    pub peak_bytes: usize,
    /// How long the search itself took, and how long it took to make the kernels before.
    pub searched: Duration,
    pub made: Duration,
}

/// What was searched, where one state stands for all that symmetries make of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrbitFacts {
    /// How many symmetries there are, where that is known: so many states may be one.
    pub symmetries: Option<u128>,
    /// Has every orbit one representative? Otherwise it may have been visited more than once.
    pub exact: bool,
    /// States in all orbits, where they were to be added up and could be.
    pub states: Option<u128>,
}

/// What forgetting did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgetFacts {
    /// Most states stored at one time.
    pub stored_peak: u64,
    /// Pseudo-root states dropped, and predecessors counted of which no event ever came.
    pub released: u64,
    pub never_came: u64,
    /// Open states given up because they are certain to be found again.
    pub retracted: u64,
    /// States that had to make room, and most of those that could have at one time.
    pub evictions: u64,
    pub candidates_peak: u64,
    /// Most states of the termination-detection tree at one time, where room was so scarce that it had to be known.
    pub tree_peak: Option<u64>,
    /// Events run again to know states of the tree that have no vector.
    pub replays: u64,
    /// Of the sweep-line: how often it went through, what it may not delete, the most states of one progress value.
    pub sweeps: u64,
    pub persistent: u64,
    pub largest_class: u64,
}

impl ForgetFacts {
    /// Adds what was forgotten of other states of the same space. Peaks add up to what there was at most.
    pub fn add(&mut self, other: &ForgetFacts) {
        self.stored_peak += other.stored_peak;
        self.released += other.released;
        self.never_came += other.never_came;
        self.retracted += other.retracted;
        self.evictions += other.evictions;
        self.candidates_peak += other.candidates_peak;
        self.tree_peak = match (self.tree_peak, other.tree_peak) {
            (Some(one), Some(more)) => Some(one + more),
            (one, more) => one.or(more),
        };
        self.replays += other.replays;
        self.sweeps = self.sweeps.max(other.sweeps);
        self.persistent += other.persistent;
        self.largest_class += other.largest_class;
    }
}

/// What a search by several processes has to say of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterFacts {
    pub processes: usize,
    /// Threads of each process.
    pub threads: usize,
    /// States that went from one process to another, and their bytes.
    pub sent_states: u64,
    pub sent_bytes: u64,
    /// The most memory that a process took.
    pub peak_bytes: u64,
    /// Processes whose states moved to a tree, because memory was used up.
    pub in_trees: usize,
}

/// What a search on disk has to say about the disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskFacts {
    /// Most bytes in files at one time.
    pub peak_bytes: u64,
    /// Why the disk ended the search.
    pub failure: Option<String>,
}
