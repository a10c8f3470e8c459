//! What can be asked for, one bit each: kinds of questions, and the values of flags.

use super::choices::{
    BackedgeChoice, CycleChoice, EngineChoice, ForgetChoice, OrderChoice, ReduceChoice, StoreChoice, StrategyChoice,
};
use super::fairness::FairnessKind;
use super::options::Options;
use crate::store::LayerOrder;
use std::fmt;

/// Something that a search may be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Feature {
    // What is asked.
    Count,
    States,
    Claim,
    EveryMarking,
    Liveness,
    Ltl,
    Automaton,
    AcceptingCycles,
    NonProgress,
    Ctl,
    // What its conditions are like.
    OfNet,
    Opaque,
    NotStutterInvariant,
    TellsApart,
    MayFail,
    BrokenAtInfinity,
    // Engines.
    Explicit,
    Symbolic,
    SymbolicBfs,
    SymbolicChaining,
    SymbolicSaturation,
    Bounded,
    Gpu,
    Cluster,
    // Orders.
    Bfs,
    Dfs,
    BoundedBfs,
    Alternating,
    ByProgress,
    BestFirst,
    RandomOrder,
    Releasing,
    // Stores.
    Table,
    Packed,
    Tree,
    Collapse,
    Dfa,
    DfaCollapse,
    ComBack,
    Compact,
    BitState,
    DiskStore,
    // Forgetting.
    PseudoRoot,
    Cache,
    Sweep,
    SweepCache,
    // Reductions.
    EdgeLean,
    Por,
    PorSleep,
    Symmetry,
    OrbitSizes,
    // Infinite runs.
    Nested,
    Components,
    WeakFairness,
    StrongFairness,
    FairCondition,
    // Everything else.
    Threads,
    MaxVisits,
    Audit,
    Checkpoint,
    Resume,
    Disk,
    Graph,
    InDegrees,
    Measure,
    Heuristic,
    Front,
    Chains,
    Stride,
    Strategy,
    Reconstruct,
    Layers,
    BackedgeStates,
    CachedStates,
    VariableOrder,
    NoReorder,
    DontCare,
}

/// Which flag a feature is a value of: at most one value of an axis is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    Asked,
    Nature,
    Engine,
    Order,
    Store,
    Forget,
    Reduce,
    Cycles,
    Fair,
    Fairness,
    Alone,
}

use Feature::*;

/// Every feature, with its axis and its name: what the user writes, or what is asked.
pub const FEATURES: [(Feature, Axis, &str); 77] = [
    (Count, Axis::Asked, "counting states"),
    (States, Axis::Asked, "properties of states"),
    (Claim, Axis::Asked, "the search with the never claim"),
    (EveryMarking, Axis::Asked, "questions about every marking of a net"),
    (Liveness, Axis::Asked, "the liveness of a net"),
    (Ltl, Axis::Asked, "LTL formulas"),
    (Automaton, Axis::Asked, "automata and claims"),
    (AcceptingCycles, Axis::Asked, "acceptance cycles"),
    (NonProgress, Axis::Asked, "non-progress cycles"),
    (Ctl, Axis::Asked, "CTL formulas"),
    (OfNet, Axis::Nature, "questions about a net"),
    (Opaque, Axis::Nature, "conditions that are functions, not expressions"),
    (NotStutterInvariant, Axis::Nature, "properties that are not stutter-invariant"),
    (TellsApart, Axis::Nature, "properties that tell apart what is interchangeable"),
    (MayFail, Axis::Nature, "conditions of formulas whose evaluation may be a run-time error"),
    (BrokenAtInfinity, Axis::Nature, "formulas that no finite run breaks"),
    (Explicit, Axis::Engine, "--engine explicit"),
    (Symbolic, Axis::Engine, "--engine symbolic"),
    (SymbolicBfs, Axis::Engine, "--engine symbolic:bfs"),
    (SymbolicChaining, Axis::Engine, "--engine symbolic:chaining"),
    (SymbolicSaturation, Axis::Engine, "--engine symbolic:saturation"),
    (Bounded, Axis::Engine, "--engine bmc"),
    (Gpu, Axis::Engine, "--engine gpu"),
    (Cluster, Axis::Engine, "--engine cluster"),
    (Bfs, Axis::Order, "--order bfs"),
    (Dfs, Axis::Order, "--order dfs"),
    (BoundedBfs, Axis::Order, "--order bbfs"),
    (Alternating, Axis::Order, "--order alt"),
    (ByProgress, Axis::Order, "--order progress"),
    (BestFirst, Axis::Order, "--order best"),
    (RandomOrder, Axis::Order, "--order random"),
    (Releasing, Axis::Order, "--order release"),
    (Table, Axis::Store, "--store table"),
    (Packed, Axis::Store, "--store packed"),
    (Tree, Axis::Store, "--store tree"),
    (Collapse, Axis::Store, "--store collapse"),
    (Dfa, Axis::Store, "--store dfa"),
    (DfaCollapse, Axis::Store, "--store dfa+collapse"),
    (ComBack, Axis::Store, "--store comback"),
    (Compact, Axis::Store, "--store compact"),
    (BitState, Axis::Store, "--store bitstate"),
    (DiskStore, Axis::Store, "--store disk"),
    (PseudoRoot, Axis::Forget, "--forget pseudo-root"),
    (Cache, Axis::Forget, "--forget cache"),
    (Sweep, Axis::Forget, "--forget sweep"),
    (SweepCache, Axis::Forget, "--forget sweep+cache"),
    (EdgeLean, Axis::Reduce, "--reduce edge-lean"),
    (Por, Axis::Reduce, "--reduce por"),
    (PorSleep, Axis::Reduce, "--reduce por+sleep"),
    (Symmetry, Axis::Reduce, "--reduce symmetry"),
    (OrbitSizes, Axis::Reduce, "--reduce symmetry:orbits"),
    (Nested, Axis::Cycles, "--cycles nested"),
    (Components, Axis::Cycles, "--cycles components"),
    (WeakFairness, Axis::Fair, "--fair weak"),
    (StrongFairness, Axis::Fair, "--fair strong"),
    (FairCondition, Axis::Fairness, "--fair EXPR"),
    (Threads, Axis::Alone, "--threads"),
    (MaxVisits, Axis::Alone, "--max-visits"),
    (Audit, Axis::Alone, "--audit"),
    (Checkpoint, Axis::Alone, "--checkpoint"),
    (Resume, Axis::Alone, "--resume"),
    (Disk, Axis::Alone, "--disk"),
    (Graph, Axis::Alone, "--graph"),
    (InDegrees, Axis::Alone, "--in-degrees"),
    (Measure, Axis::Alone, "--progress"),
    (Heuristic, Axis::Alone, "--heuristic"),
    (Front, Axis::Alone, "--front"),
    (Chains, Axis::Alone, "--chains"),
    (Stride, Axis::Alone, "--stride"),
    (Strategy, Axis::Alone, "--forget cache:,STRATEGY"),
    (Reconstruct, Axis::Alone, "--reconstruct"),
    (Layers, Axis::Alone, "--layers"),
    (BackedgeStates, Axis::Alone, "--backedges states"),
    (CachedStates, Axis::Alone, "--cache"),
    (VariableOrder, Axis::Alone, "--variables"),
    (NoReorder, Axis::Alone, "--reorder never"),
    (DontCare, Axis::Alone, "--dont-care"),
];

impl Feature {
    pub fn axis(self) -> Axis {
        FEATURES[self as usize].1
    }

    /// Is it a flag, so that the user may leave it out?
    pub fn is_flag(self) -> bool {
        !matches!(self.axis(), Axis::Asked | Axis::Nature)
    }

    /// May the search do without where it must? A permission, or something that is done beside the search.
    pub fn is_permission(self) -> bool {
        matches!(self, EdgeLean | Por | PorSleep | Symmetry | OrbitSizes | Threads | Checkpoint | Resume | Disk | Audit)
    }

    /// Is it about one kind of question only, and no matter of the others?
    pub fn is_about_runs(self) -> bool {
        matches!(self, Nested | Components | WeakFairness | StrongFairness | FairCondition)
    }

    /// Is it about visiting every state, and no matter of questions about runs?
    pub fn is_about_states(self) -> bool {
        matches!(self, Graph | InDegrees)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FEATURES[*self as usize].2)
    }
}

/// A set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u128);

impl Features {
    pub const fn of(list: &[Feature]) -> Features {
        let (mut bits, mut i) = (0, 0);
        while i < list.len() {
            bits |= 1 << list[i] as u8;
            i += 1;
        }
        Features(bits)
    }

    pub const fn and(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    pub fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 == 1
    }

    pub fn with(self, feature: Feature) -> Features {
        Features(self.0 | 1 << feature as u8)
    }

    pub fn without(self, feature: Feature) -> Features {
        Features(self.0 & !(1 << feature as u8))
    }

    pub fn is_within(self, other: Features) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn meets(self, other: Features) -> bool {
        self.0 & other.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl DoubleEndedIterator<Item = Feature> {
        FEATURES.iter().map(|(feature, ..)| *feature).filter(move |feature| self.has(*feature))
    }
}

impl Options {
    /// What these options ask for beyond the defaults.
    pub fn features(&self) -> Features {
        let plain = Options::default();
        let mut all = Features::default();
        let mut add = |given: bool, feature: Feature| {
            if given {
                all = all.with(feature);
            }
        };
        match self.engine {
            EngineChoice::Explicit => {}
            EngineChoice::Symbolic(StrategyChoice::Automatic) => add(true, Symbolic),
            EngineChoice::Symbolic(StrategyChoice::BreadthFirst) => add(true, SymbolicBfs),
            EngineChoice::Symbolic(StrategyChoice::Chaining) => add(true, SymbolicChaining),
            EngineChoice::Symbolic(StrategyChoice::Saturation) => add(true, SymbolicSaturation),
            EngineChoice::Bounded(_) => add(true, Bounded),
            EngineChoice::Gpu(_) => add(true, Gpu),
            EngineChoice::Cluster(_) => add(true, Cluster),
        }
        if let Some(order) = self.order {
            add(true, order_feature(order));
        }
        if let Some(store) = &self.store {
            add(true, store_feature(store));
        }
        match &self.forget {
            ForgetChoice::Nothing => {}
            ForgetChoice::PseudoRoot(_) => add(true, PseudoRoot),
            ForgetChoice::Cache(_) => add(true, Cache),
            ForgetChoice::Sweep(None) => add(true, Sweep),
            ForgetChoice::Sweep(Some(_)) => add(true, SweepCache),
        }
        match self.reduce {
            ReduceChoice::Nothing => {}
            ReduceChoice::EdgeLean => add(true, EdgeLean),
            ReduceChoice::Persistent(_) => add(true, Por),
            ReduceChoice::PersistentSleep => add(true, PorSleep),
            ReduceChoice::Symmetry { sizes: false } => add(true, Symmetry),
            ReduceChoice::Symmetry { sizes: true } => add(true, OrbitSizes),
        }
        add(self.cycles == CycleChoice::Nested, Nested);
        add(self.cycles == CycleChoice::Components, Components);
        add(self.fair.strongest() == Some(FairnessKind::Weak), WeakFairness);
        add(self.fair.strongest() == Some(FairnessKind::Strong), StrongFairness);
        add(self.fair_conditions > 0, FairCondition);
        add(self.threads != 1, Threads);
        add(self.visits.is_some(), MaxVisits);
        add(self.audit, Audit);
        add(self.checkpoint.is_some(), Checkpoint);
        add(self.resume.is_some(), Resume);
        add(self.disk.is_some(), Disk);
        add(self.graph, Graph);
        add(self.in_degrees, InDegrees);
        add(self.progress.is_some(), Measure);
        add(self.heuristic.is_some(), Heuristic);
        add(self.front, Front);
        add(self.chains, Chains);
        add(self.stride.is_some(), Stride);
        add(self.forget.strategy().is_some_and(|strategy| !strategy.is_usual()), Strategy);
        add(self.reconstruct, Reconstruct);
        add(self.layers != LayerOrder::Best, Layers);
        add(self.backedges == BackedgeChoice::States, BackedgeStates);
        add(self.cached.is_some(), CachedStates);
        add(self.variables != plain.variables, VariableOrder);
        add(!self.reorder, NoReorder);
        add(self.dont_care, DontCare);
        all
    }

    /// The same without one of them.
    pub fn without(&self, feature: Feature) -> Options {
        let (mut options, plain) = (self.clone(), Options::default());
        match feature {
            Explicit | Symbolic | SymbolicBfs | SymbolicChaining | SymbolicSaturation | Bounded | Gpu | Cluster => {
                options.engine = plain.engine
            }
            Bfs | Dfs | BoundedBfs | Alternating | ByProgress | BestFirst | RandomOrder | Releasing => {
                options.order = None
            }
            Table | Packed | Tree | Collapse | Dfa | DfaCollapse | ComBack | Compact | BitState | DiskStore => {
                options.store = None
            }
            PseudoRoot | Cache | Sweep | SweepCache => options.forget = plain.forget,
            EdgeLean | Por | PorSleep | Symmetry | OrbitSizes => options.reduce = plain.reduce,
            Nested | Components => options.cycles = plain.cycles,
            WeakFairness | StrongFairness => options.fair = plain.fair,
            FairCondition => options.fair_conditions = 0,
            Threads => options.threads = 1,
            MaxVisits => options.visits = None,
            Audit => options.audit = false,
            Checkpoint => (options.checkpoint, options.every) = (None, None),
            Resume => options.resume = None,
            Disk => options.disk = None,
            Graph => options.graph = false,
            InDegrees => options.in_degrees = false,
            Measure => options.progress = None,
            Heuristic => options.heuristic = None,
            Front => options.front = false,
            Chains => options.chains = false,
            Stride => options.stride = None,
            Strategy => {
                if let Some(strategy) = options.forget.strategy_mut() {
                    *strategy = Default::default();
                }
            }
            Reconstruct => options.reconstruct = false,
            Layers => options.layers = plain.layers,
            BackedgeStates => options.backedges = plain.backedges,
            CachedStates => options.cached = None,
            VariableOrder => options.variables = plain.variables,
            NoReorder => options.reorder = true,
            DontCare => options.dont_care = false,
            // What is asked is not an option.
            Count | States | Claim | EveryMarking | Liveness | Ltl | Automaton | AcceptingCycles | NonProgress
            | Ctl | OfNet | Opaque | NotStutterInvariant | TellsApart | MayFail | BrokenAtInfinity => {}
        }
        options
    }

    /// How the user wrote a feature.
    pub fn written(&self, feature: Feature) -> String {
        match (feature.axis(), feature) {
            (Axis::Engine, _) => format!("--engine {}", self.engine),
            (Axis::Order, _) => self.order.map_or_else(|| feature.to_string(), |order| format!("--order {order}")),
            (Axis::Store, _) => {
                self.store.as_ref().map_or_else(|| feature.to_string(), |store| format!("--store {store}"))
            }
            (Axis::Reduce, _) => format!("--reduce {}", self.reduce),
            (Axis::Fair, _) if !self.fair.is_empty() => format!("--fair {}", self.fair),
            (_, Threads) => format!("--threads {}", self.threads),
            (_, Strategy) => format!("--forget {}", self.forget),
            (_, MaxVisits) => self.visits.map_or_else(String::new, |visits| format!("--max-visits {visits}")),
            _ => feature.to_string(),
        }
    }
}

pub(super) fn order_feature(order: OrderChoice) -> Feature {
    match order {
        OrderChoice::BreadthFirst => Bfs,
        OrderChoice::DepthFirst => Dfs,
        OrderChoice::Bounded(_) => BoundedBfs,
        OrderChoice::Alternating(..) => Alternating,
        OrderChoice::Progress => ByProgress,
        OrderChoice::Best { .. } => BestFirst,
        OrderChoice::Random => RandomOrder,
        OrderChoice::Releasing => Releasing,
    }
}

pub(super) fn store_feature(store: &StoreChoice) -> Feature {
    match store {
        StoreChoice::Table => Table,
        StoreChoice::Packed => Packed,
        StoreChoice::Tree => Tree,
        StoreChoice::Collapse => Collapse,
        StoreChoice::Automaton { collapse: false } => Dfa,
        StoreChoice::Automaton { collapse: true } => DfaCollapse,
        StoreChoice::ComBack => ComBack,
        StoreChoice::Compact(_) => Compact,
        StoreChoice::BitState(_) => BitState,
        StoreChoice::Disk(_) => DiskStore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_stand_where_their_numbers_say() {
        for (number, (feature, ..)) in FEATURES.iter().enumerate() {
            assert_eq!(*feature as usize, number, "{feature}");
        }
        assert!(FEATURES.len() <= 128);
    }

    #[test]
    fn what_is_left_out_is_not_asked_for() {
        let options = Options {
            threads: 4,
            store: Some(StoreChoice::Tree),
            reduce: ReduceChoice::EdgeLean,
            fair: crate::plan::FairnessChoice::weak(),
            ..Options::default()
        };
        let mut left = options.clone();
        for feature in options.features().iter() {
            left = left.without(feature);
            assert!(!left.features().has(feature), "{feature}");
        }
        assert_eq!(left, Options::default());
    }
}
