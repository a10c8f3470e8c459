//! What engines that do not visit state after state have to say beside verdicts.

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
