//! What every search can do, as data: the only place that knows what combines.
//!
//! A search declares which questions it decides and which features it offers. What never goes together, whoever searches, is
//! listed with the reason, and so is what means nothing without something else. The [plan](super::Plan) compares what is asked
//! for with these tables, and [`docs/combinations.md`] is printed from them.
//!
//! [`docs/combinations.md`]: super::combinations

use super::feature::Feature::{self, *};
use super::feature::Features;

/// The searches that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Breadth-first, in one store after the other, as memory allows.
    Staged,
    /// Breadth-first in a store with state ids.
    Indexed,
    /// The general search: any order, forgetting, fewer events.
    General,
    /// Breadth-first or depth-first in a store without state ids.
    Set,
    /// Breadth-first in sorted files.
    Disk,
    /// Depth-first for accepting cycles: nested searches or components.
    Cycles,
    /// Nested searches by several threads.
    Swarm,
    /// Components by several threads.
    TogetherComponents,
    /// Accepting cycles in the graph that a sweep-line leaves behind.
    SweptCycles,
    /// CTL on the fly.
    Local,
    /// CTL in a graph that is built first.
    OnGraph,
    Symbolic,
    Bounded,
    /// Breadth-first on a graphics card.
    Gpu,
    /// Breadth-first by several processes.
    Cluster,
    /// Accepting cycles by several processes.
    ClusterCycles,
    /// The general search by several processes.
    ClusterShares,
}

/// What a search declares.
#[derive(Debug)]
pub struct Ability {
    pub way: Way,
    pub name: &'static str,
    /// The questions that it decides.
    pub asks: Features,
    pub offers: Features,
    /// It is chosen only where one of these is asked for; nothing, where that does not matter.
    pub only_with: Features,
    /// What it does not do together.
    pub apart: &'static [(Feature, Feature)],
}

const NONE: Features = Features::of(&[]);
/// What a search that visits every state decides.
const STATES: Features = Features::of(&[Count, States, Claim, EveryMarking, Opaque, TellsApart, OfNet, Explicit]);
/// What a search that writes the graph decides.
const GRAPHS: Features = STATES.and(Features::of(&[Liveness]));
/// What is decided by looking for accepting cycles.
const RUNS: Features = Features::of(&[
    Ltl,
    Automaton,
    AcceptingCycles,
    NonProgress,
    NotStutterInvariant,
    TellsApart,
    MayFail,
    BrokenAtInfinity,
    Opaque,
    OfNet,
    Explicit,
    FairCondition,
]);
const OF_CTL: Features = Features::of(&[Ctl, TellsApart, MayFail, Opaque, OfNet, Explicit]);
/// Stores with state ids, and what belongs to them.
const INDEXED: Features = Features::of(&[Table, Collapse, ComBack, BackedgeStates, CachedStates]);
const SAVED: Features = Features::of(&[Checkpoint, Resume]);
const ORDERS: Features =
    Features::of(&[Bfs, Dfs, BoundedBfs, Alternating, ByProgress, BestFirst, RandomOrder, Releasing]);
/// One state for all that symmetries make of it.
pub const ORBITS: Features = Features::of(&[Symmetry, OrbitSizes]);
/// Sets of states, without ids.
const SETS: Features = Features::of(&[Packed, Tree, Dfa, DfaCollapse, Compact, BitState, Layers]);

/// In the order in which they are tried: the first that offers all that is asked for is taken.
pub const ABILITIES: &[Ability] = &[
    Ability {
        way: Way::Staged,
        name: "breadth-first, in the store that memory allows",
        asks: STATES,
        offers: Features::of(&[Bfs, Por, Threads, Audit, Disk]).and(ORBITS).and(SAVED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::Indexed,
        name: "breadth-first in a store with state ids",
        asks: GRAPHS,
        offers: Features::of(&[Bfs, Por, Threads, Audit, Graph, InDegrees]).and(ORBITS).and(INDEXED).and(SAVED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::Set,
        name: "breadth-first in a store without state ids",
        asks: STATES,
        offers: Features::of(&[Bfs, Por, Threads, Audit]).and(ORBITS).and(SETS).and(SAVED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::Set,
        name: "depth-first along one path",
        asks: STATES,
        offers: Features::of(&[Dfs, Table, Por, Audit]).and(ORBITS).and(SETS).and(SAVED),
        only_with: Features::of(&[Por]).and(SETS),
        apart: &[(Por, Checkpoint), (Por, Resume)],
    },
    Ability {
        way: Way::General,
        name: "the general search",
        asks: STATES,
        offers: Features::of(&[
            PseudoRoot,
            Cache,
            Sweep,
            SweepCache,
            EdgeLean,
            Por,
            PorSleep,
            Symmetry,
            OrbitSizes,
            MaxVisits,
            Audit,
            Measure,
            Heuristic,
            Front,
            Chains,
            Stride,
            Strategy,
            Reconstruct,
            Tree,
            Dfa,
            Layers,
        ])
        .and(ORDERS)
        .and(INDEXED)
        .and(SAVED),
        only_with: NONE,
        apart: &[(ComBack, Checkpoint), (ComBack, Resume)],
    },
    Ability {
        way: Way::General,
        name: "the general search, each thread with a share of the states",
        asks: STATES,
        offers: Features::of(&[
            Bfs,
            RandomOrder,
            ByProgress,
            PseudoRoot,
            Cache,
            Sweep,
            SweepCache,
            EdgeLean,
            Por,
            Symmetry,
            OrbitSizes,
            MaxVisits,
            Audit,
            Measure,
            Front,
            Stride,
            Strategy,
            Table,
            Collapse,
            Tree,
            Dfa,
            Layers,
            Threads,
        ])
        .and(SAVED),
        only_with: Features::of(&[Threads]),
        apart: &[],
    },
    Ability {
        way: Way::General,
        name: "breadth-first with a limit on visits, writing the graph",
        asks: GRAPHS,
        offers: Features::of(&[Bfs, MaxVisits, Audit, Graph]).and(INDEXED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::General,
        name: "the sweep-line, writing the graph",
        asks: GRAPHS,
        offers: Features::of(&[ByProgress, Sweep, Measure, Front, MaxVisits, Audit, Graph]).and(INDEXED),
        only_with: Features::of(&[Sweep]),
        apart: &[],
    },
    Ability {
        way: Way::Disk,
        name: "breadth-first in sorted files",
        asks: STATES,
        offers: Features::of(&[Bfs, DiskStore, Por, Threads]).and(ORBITS).and(SAVED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::Cycles,
        name: "depth-first for accepting cycles",
        asks: RUNS,
        offers: Features::of(&[Dfs, Tree, Por, Symmetry, Nested, Components, WeakFairness, StrongFairness])
            .and(INDEXED)
            .and(SAVED),
        only_with: NONE,
        apart: &[(Por, ComBack), (ComBack, Checkpoint), (ComBack, Resume)],
    },
    Ability {
        way: Way::Swarm,
        name: "several threads for accepting cycles",
        asks: RUNS,
        offers: Features::of(&[Dfs, Table, Symmetry, Nested, Threads]),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::TogetherComponents,
        name: "several threads for components that accept",
        asks: RUNS,
        offers: Features::of(&[Dfs, Table, Symmetry, Components, WeakFairness, Threads]),
        only_with: Features::of(&[Components, WeakFairness]),
        apart: &[],
    },
    Ability {
        way: Way::SweptCycles,
        name: "accepting cycles in the graph that a sweep-line leaves",
        asks: RUNS,
        offers: Features::of(&[ByProgress, Sweep, Measure, Symmetry, Nested, Components, WeakFairness, StrongFairness])
            .and(INDEXED),
        only_with: Features::of(&[Sweep]),
        apart: &[],
    },
    Ability {
        way: Way::Local,
        name: "CTL on the fly",
        asks: OF_CTL,
        offers: Features::of(&[Symmetry]).and(INDEXED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::OnGraph,
        name: "CTL in the reachability graph",
        asks: OF_CTL,
        offers: Features::of(&[FairCondition, Symmetry]).and(INDEXED),
        only_with: NONE,
        apart: &[],
    },
    Ability {
        way: Way::OnGraph,
        name: "CTL in the graph that a sweep-line leaves",
        asks: OF_CTL,
        offers: Features::of(&[FairCondition, Symmetry, ByProgress, Sweep, Measure]).and(INDEXED),
        only_with: Features::of(&[Sweep]),
        apart: &[],
    },
    Ability {
        way: Way::Symbolic,
        name: "sets of states, as decision diagrams",
        asks: Features::of(&[
            Count,
            States,
            Ltl,
            Automaton,
            AcceptingCycles,
            Ctl,
            NotStutterInvariant,
            BrokenAtInfinity,
            OfNet,
        ]),
        offers: Features::of(&[
            Symbolic,
            SymbolicBfs,
            SymbolicChaining,
            SymbolicSaturation,
            Por,
            DontCare,
            VariableOrder,
            NoReorder,
            FairCondition,
        ]),
        only_with: Features::of(&[Symbolic, SymbolicBfs, SymbolicChaining, SymbolicSaturation]),
        apart: &[(Por, Ltl), (Por, Automaton), (Por, AcceptingCycles)],
    },
    Ability {
        way: Way::Bounded,
        name: "runs of growing length, as formulas",
        asks: Features::of(&[States, OfNet]),
        offers: Features::of(&[Bounded]),
        only_with: Features::of(&[Bounded]),
        apart: &[],
    },
    Ability {
        way: Way::Gpu,
        name: "breadth-first on a graphics card",
        asks: Features::of(&[Count, States, Claim, OfNet, Ltl]),
        offers: Features::of(&[Gpu]),
        only_with: Features::of(&[Gpu]),
        apart: &[(OfNet, Ltl)],
    },
    Ability {
        way: Way::Cluster,
        name: "breadth-first by several processes",
        asks: Features::of(&[Count, States, Claim, OfNet, Ltl]),
        offers: Features::of(&[Cluster, Bfs, Threads]).and(SAVED),
        only_with: Features::of(&[Cluster]),
        apart: &[(OfNet, Ltl), (Checkpoint, Ltl), (Resume, Ltl)],
    },
    Ability {
        way: Way::ClusterCycles,
        name: "accepting cycles by several processes: a set of states that shrinks (OWCTY)",
        asks: Features::of(&[
            Ltl,
            Automaton,
            AcceptingCycles,
            NonProgress,
            NotStutterInvariant,
            TellsApart,
            MayFail,
            BrokenAtInfinity,
            FairCondition,
        ]),
        offers: Features::of(&[Cluster, Bfs, Threads]),
        only_with: Features::of(&[Cluster]),
        apart: &[],
    },
    Ability {
        way: Way::ClusterShares,
        name: "the general search, each thread of several processes with a share of the states",
        asks: Features::of(&[Count, States, Claim, OfNet]),
        offers: Features::of(&[
            Cluster, Bfs, PseudoRoot, Cache, Sweep, SweepCache, EdgeLean, Por, Measure, Stride, Strategy, Threads,
        ]),
        only_with: Features::of(&[PseudoRoot, Cache, Sweep, SweepCache, EdgeLean, Por, Measure, Stride, Strategy]),
        apart: &[],
    },
];

const BY_PROGRESS: &str =
    "the sweep-line expands states by progress; another order is possible only among states of equal progress";
const BEFORE_ORBITS: &str = "a representative has not all predecessors of the states that it stands for";
const FAIR_TO_ONE: &str = "fairness is about single processes, and symmetry exchanges them";
const ANOTHER_RUN: &str =
    "a run with processes exchanged would be another run to the property, or too many can be exchanged to follow one";
const ONE_DIAGRAM: &str = "all nodes of decision diagrams are in one table, which one thread writes";
const NO_STATES: &str = "it has no single states to keep";
const ON_THE_CARD: &str = "a search on a graphics card keeps states in a table on the card";
const NO_CYCLES_ON_THE_CARD: &str = "--engine gpu cannot look for cycles";
const OWNERS_TREE: &str =
    "each process of a cluster keeps its states in a packed table, and in a tree once memory is used up";
const BY_SETS_IN_A_CLUSTER: &str =
    "a cluster makes the set of states smaller that may be on a cycle, until it stays as it is";
const FAIRNESS_IN_A_CLUSTER: &str = "who takes part in an event is not sent to the other processes";
const ASLEEP_ELSEWHERE: &str = "which events sleep at a state is not sent to its owner";
const BY_LEVELS: &str = "a cluster goes level by level";
const ALL_ON_THE_CARD: &str = "a search on a graphics card tries every event in every state";

/// What no search does together, and why.
pub const APART: &[(Feature, &[Feature], &str)] = &[
    (
        PorSleep,
        &[PseudoRoot, Cache, Sweep, SweepCache],
        "sleep sets are kept with their states: a forgotten state would come back without its sleep set",
    ),
    (PorSleep, &[ComBack], "sleep sets expand states again whose backedges are fixed by then"),
    (
        Dfa,
        &[PseudoRoot],
        "every stored state needs a counter of its predecessors, and an automaton keeps no data with a state",
    ),
    (Dfa, &[SweepCache], "the cache removes single states, and an automaton may grow when a single state is removed"),
    (Dfa, &[Strategy], "an automaton keeps no data with a state that a strategy could choose by"),
    (Dfa, &[PorSleep], "every stored state needs its sleep set, and an automaton keeps no data with a state"),
    (
        ComBack,
        &[PseudoRoot, Cache, SweepCache],
        "the backedges of a ComBack store lead through every state, so that none may be dropped",
    ),
    (ComBack, &[Threads], "states are rebuilt one after the other"),
    (Threads, &[Symbolic, SymbolicBfs, SymbolicChaining, SymbolicSaturation], ONE_DIAGRAM),
    (Threads, &[Bounded], "one solver looks at one length of runs after the other"),
    (Threads, &[Gpu], "the threads are those of the graphics card"),
    (Threads, &[Ctl], "a formula is decided state by state, each question after the one before it"),
    (
        BackedgeStates,
        &[EdgeLean, Por, PorSleep],
        "backedges without events need all successors of a state to tell them apart",
    ),
    (Sweep, &[BoundedBfs, Alternating, BestFirst, Releasing], BY_PROGRESS),
    (SweepCache, &[BoundedBfs, Alternating, BestFirst, Releasing], BY_PROGRESS),
    (Reconstruct, &[Collapse, Tree, Dfa, ComBack], "states are replayed from a table"),
    (
        Reconstruct,
        &[Chains, Stride],
        "it needs the very predecessor of every state of the cache's tree, and these leave some out",
    ),
    (
        Ctl,
        &[Packed, Tree, Dfa, DfaCollapse, Compact, BitState, DiskStore],
        "CTL is decided in a graph, from a store that gives states ids",
    ),
    (
        States,
        &[Nested, Components, WeakFairness, StrongFairness, FairCondition],
        "no property asked for is about infinite runs",
    ),
    (
        Count,
        &[Nested, Components, WeakFairness, StrongFairness, FairCondition],
        "counting has nothing to do with infinite runs",
    ),
    (Threads, &[Dfs], "depth-first order follows one path"),
    (Threads, &[BoundedBfs, Alternating], "this order goes depth-first in part, along one path"),
    (Threads, &[BestFirst, Releasing], "this order needs one queue for all threads"),
    (Threads, &[Chains, Reconstruct], "it follows predecessors that another thread may hold"),
    (Threads, &[PorSleep], "sleep sets are passed on from source to source, one after the other"),
    (DiskStore, &[Dfs, BoundedBfs, Alternating, RandomOrder], "sorted files are searched level by level"),
    (
        Graph,
        &[Dfs, BoundedBfs, Alternating, RandomOrder, PseudoRoot, Cache, SweepCache],
        "the graph is written level by level, or behind the sweep-line",
    ),
    (Symbolic, &[Table, Packed, Tree, Collapse, Dfa, DfaCollapse, ComBack, Compact, BitState], NO_STATES),
    (Bounded, &[Table, Packed, Tree, Collapse, Dfa, DfaCollapse, ComBack, Compact, BitState], NO_STATES),
    (Gpu, &[Table, Packed, Tree, Collapse, Dfa, DfaCollapse, ComBack, Compact, BitState, DiskStore], ON_THE_CARD),
    (Gpu, &[EdgeLean, Por, PorSleep], ALL_ON_THE_CARD),
    (Gpu, &[Symmetry, OrbitSizes], "kernels do not compute representatives"),
    (Gpu, &[BrokenAtInfinity, Automaton, AcceptingCycles, NonProgress, Ctl], NO_CYCLES_ON_THE_CARD),
    (Gpu, &[Opaque], "a condition that is a Rust function cannot run on a graphics card"),
    (Cluster, &[Table, Packed, Tree, Collapse, Dfa, DfaCollapse, ComBack, Compact, BitState, DiskStore], OWNERS_TREE),
    (Cluster, &[PorSleep], ASLEEP_ELSEWHERE),
    (Cluster, &[Chains, Reconstruct], "it follows predecessors that another process may hold"),
    (Cluster, &[Symmetry, OrbitSizes], "processes of a cluster do not compute representatives"),
    (Cluster, &[Dfs, BoundedBfs, Alternating, ByProgress, BestFirst, RandomOrder, Releasing], BY_LEVELS),
    (Cluster, &[Nested, Components], BY_SETS_IN_A_CLUSTER),
    (Cluster, &[WeakFairness, StrongFairness], FAIRNESS_IN_A_CLUSTER),
    (Cluster, &[Liveness], "liveness is decided in the whole graph, of which no process sees all"),
    (Cluster, &[Ctl], "a formula of branching time is decided in the graph, of which no process has all"),
    (Cluster, &[Opaque], "a condition that is a Rust function cannot be sent to another process"),
    (Cluster, &[EveryMarking], "no single marking decides the question, and no process sees all of them"),
    (Cluster, &[Graph, InDegrees], "no process sees every edge of the graph"),
    (Cluster, &[Audit], "no process sees every state"),
    (Cluster, &[MaxVisits], "the processes of a cluster do not count together before a level ends"),
    (Cluster, &[Disk], "states of a cluster do not move to disk"),
    (SymbolicChaining, &[Por], "a reduction looks at what was reached level by level"),
    (SymbolicSaturation, &[Por], "a reduction looks at what was reached level by level"),
    (
        Bounded,
        &[Por, PorSleep, EdgeLean],
        "bounded model checking does not explore states, so there is nothing to reduce",
    ),
    (Graph, &[Threads], "the graph is written by one thread"),
    (Graph, &[Por, PorSleep, EdgeLean], "the graph has every event"),
    (Graph, &[Checkpoint, Resume], "the graph is not saved with a search"),
    (InDegrees, &[Threads], "in-degrees are counted by one thread"),
    (InDegrees, &[Por, PorSleep, EdgeLean], "in-degrees count every event"),
    (Checkpoint, &[PorSleep], "the events that sleep at each state are not saved"),
    (Resume, &[PorSleep], "the events that sleep at each state are not saved"),
    (Resume, &[Audit], "the states that were visited before are not known one by one"),
    (Checkpoint, &[Compact, BitState], "a lossy store is not saved"),
    (Resume, &[Compact, BitState], "a lossy store is not saved"),
    (Claim, &[Por, PorSleep, EdgeLean], "a never claim may observe every step"),
    (
        NotStutterInvariant,
        &[Por, PorSleep],
        "a property that is not stutter-invariant (a formula that uses X, a claim) may observe the steps that are left out",
    ),
    (WeakFairness, &[Por, PorSleep], "which runs are fair depends on every event"),
    (StrongFairness, &[Por, PorSleep], "which runs are fair depends on every event"),
    (StrongFairness, &[Nested], "strong fairness takes components apart, which a nested search does not find"),
    (StrongFairness, &[Tree], "strong fairness takes components apart, which need state ids that a tree does not give"),
    (Packed, &[PseudoRoot, Cache, Sweep, SweepCache], "a packed table cannot drop states"),
    (StrongFairness, &[Threads], "strong fairness takes components apart, which one thread finds"),
    (Opaque, &[Por, PorSleep], "a condition that is a Rust function does not show which events it depends on"),
    (EveryMarking, &[Por, PorSleep], "no single marking decides the question, and a reduction leaves some out"),
    (Liveness, &[Por, PorSleep, EdgeLean], "liveness is decided in the whole graph"),
    (Liveness, &[Threads], "the graph is written by one thread"),
    (OfNet, &[Checkpoint, Resume], "questions about a net are answered by several searches; `scrimp count` saves one"),
    (OfNet, &[Graph], "questions about a net are answered by several searches; `scrimp count` writes the graph"),
    (
        OfNet,
        &[WeakFairness, StrongFairness, FairCondition],
        "a formula about a net says which runs it is about: `ltl: []<> p -> q`",
    ),
    (Symmetry, &[PseudoRoot], BEFORE_ORBITS),
    (OrbitSizes, &[PseudoRoot], BEFORE_ORBITS),
    (Symmetry, &[Graph, InDegrees], "one state stands for several, but the graph needs all of them"),
    (OrbitSizes, &[Graph, InDegrees], "one state stands for several, but the graph needs all of them"),
    (Symmetry, &[Claim], "a never claim moves with the model"),
    (OrbitSizes, &[Claim], "a never claim moves with the model"),
    (Symmetry, &[Opaque], "a condition that is a Rust function does not show what it distinguishes"),
    (OrbitSizes, &[Opaque], "a condition that is a Rust function does not show what it distinguishes"),
    (Symmetry, &[TellsApart], ANOTHER_RUN),
    (OrbitSizes, &[TellsApart], ANOTHER_RUN),
    (Symmetry, &[WeakFairness, StrongFairness, FairCondition], FAIR_TO_ONE),
    (Symmetry, &[EveryMarking, Liveness], "no single marking decides the question, and one stands for several"),
    (OrbitSizes, &[EveryMarking, Liveness], "no single marking decides the question, and one stands for several"),
    (
        OrbitSizes,
        &[Ltl, Automaton, AcceptingCycles, NonProgress, Ctl],
        "orbit sizes are added up only where all states are visited",
    ),
    (OrbitSizes, &[Resume], "the orbits that were visited before are not known one by one"),
    (Symbolic, &[Symmetry, OrbitSizes], "sets of states have no representatives"),
    (Bounded, &[Symmetry, OrbitSizes], "bounded model checking does not explore states, so there is nothing to reduce"),
    (Tree, &[Components], "components need state ids, which a tree does not give"),
    (FairCondition, &[Automaton], "an automaton states its own fairness"),
    (Ctl, &[Por, PorSleep, EdgeLean], "a formula of branching time may observe the steps that are left out"),
];

/// What means nothing without one of others, and why.
pub const NEEDS: &[(Feature, &[Feature], &str)] = &[
    (Sweep, &[Measure], "the sweep-line goes by a progress measure, such as --progress 'sent + received' or auto"),
    (SweepCache, &[Measure], "the sweep-line goes by a progress measure, such as --progress 'sent + received' or auto"),
    (ByProgress, &[Measure], "the order goes by a progress measure, such as --progress 'sent + received' or auto"),
    (Measure, &[Sweep, SweepCache, ByProgress], "nothing else uses a progress measure"),
    (BestFirst, &[Heuristic], "states with low values of a heuristic come first"),
    (Heuristic, &[BestFirst], "nothing else uses a heuristic"),
    (Releasing, &[PseudoRoot], "it looks for states that release pseudo-root states"),
    (Front, &[Sweep, SweepCache], "it logs where the sweep-line stands"),
    (Chains, &[Cache, SweepCache], "it shortens the tree that a state cache keeps"),
    (Stride, &[Cache, SweepCache], "it thins out the tree that a state cache keeps"),
    (Strategy, &[Cache, SweepCache], "it says which states a cache drops"),
    (Reconstruct, &[Cache], "it replays states of the tree that a state cache keeps"),
    (Layers, &[Dfa, DfaCollapse], "layers are those of an automaton"),
    (BackedgeStates, &[ComBack], "backedges are those of a ComBack store"),
    (CachedStates, &[ComBack], "it is the cache of a ComBack store"),
    (
        VariableOrder,
        &[Symbolic, SymbolicBfs, SymbolicChaining, SymbolicSaturation],
        "it is the order of variables in decision diagrams",
    ),
    (
        NoReorder,
        &[Symbolic, SymbolicBfs, SymbolicChaining, SymbolicSaturation],
        "it is the order of variables in decision diagrams",
    ),
    (DontCare, &[Symbolic, SymbolicBfs, SymbolicChaining, SymbolicSaturation], "it is about decision diagrams"),
    (DontCare, &[Por], "it chooses between reduced steps and full ones"),
];

impl Ability {
    /// Does it offer all of this, together?
    fn covers(&self, asked: Features) -> bool {
        asked.is_within(self.asks.and(self.offers))
            && (self.only_with.is_empty() || asked.meets(self.only_with))
            && !self.apart.iter().any(|(a, b)| asked.has(*a) && asked.has(*b))
    }
}

/// The search that offers all of this.
pub fn able(asked: Features) -> Option<&'static Ability> {
    let apart = APART.iter().any(|(one, others, _)| asked.has(*one) && others.iter().any(|other| asked.has(*other)));
    if apart { None } else { ABILITIES.iter().find(|ability| ability.covers(asked)) }
}

/// Why two features do not go together, where that is known.
pub fn why_apart(a: Feature, b: Feature) -> Option<&'static str> {
    let among = |one: Feature, other: Feature| {
        APART.iter().find(|(first, others, _)| *first == one && others.contains(&other)).map(|(.., why)| *why)
    };
    among(a, b).or_else(|| among(b, a))
}
