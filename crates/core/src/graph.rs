//! What a search learnt about the shape of the state space.

/// Levels whose sizes are told.
const MOST_LEVELS: usize = 100_000;

/// Facts about the reachability graph. Transitions are (state, event) pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphFacts {
    pub states: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    /// Events that ended in a fault, and those that violated an assertion, which have a successor all the same.
    pub faults: u64,
    pub initial_states: u64,
    /// Breadth-first levels, that of the initial states included; longest path in depth-first order.
    pub depth: u32,
    /// States on the widest level; most open states in depth-first order.
    pub widest: u64,
    pub max_out_degree: u64,
    /// Known for small graphs, and where it was asked for: it costs memory for every state.
    pub max_in_degree: Option<u64>,
    /// Breadth-first only: transitions to a state of the same or an earlier level, and the longest way back among them.
    pub back_level_edges: Option<u64>,
    pub longest_back_level_edge: Option<u64>,
    /// Open states when the search ended.
    pub open: u64,
    /// Level by level only: how many states each of the first 100,000 levels has; the last one may not be whole where the
    /// search did not come to its end.
    pub level_sizes: Vec<u64>,
}

impl GraphFacts {
    /// Tells the sizes of levels: those known, and what else was found, which is of the next one.
    pub fn set_level_sizes(&mut self, known: impl IntoIterator<Item = u64>) {
        self.level_sizes.clear();
        let mut rest = self.states;
        for size in known {
            rest = rest.saturating_sub(size);
            if self.level_sizes.len() == MOST_LEVELS {
                return;
            }
            self.level_sizes.push(size);
        }
        self.level_sizes.extend((rest > 0).then_some(rest));
    }

    /// One more state of a level.
    pub fn count_on_level(&mut self, level: u32) {
        let level = level as usize;
        if level >= self.level_sizes.len() && level < MOST_LEVELS {
            self.level_sizes.resize(level + 1, 0);
        }
        if let Some(size) = self.level_sizes.get_mut(level) {
            *size += 1;
        }
    }

    /// Adds what was found among other states of the same space.
    pub fn add(&mut self, other: &GraphFacts) {
        self.merge(other);
        self.states += other.states;
        self.initial_states += other.initial_states;
        self.open += other.open;
        self.depth = self.depth.max(other.depth);
        let levels = self.level_sizes.len().max(other.level_sizes.len());
        self.level_sizes.resize(levels, 0);
        self.level_sizes.iter_mut().zip(&other.level_sizes).for_each(|(size, more)| *size += more);
    }

    /// Adds what another thread saw of the same search.
    pub fn merge(&mut self, other: &GraphFacts) {
        self.transitions += other.transitions;
        self.deadlocks += other.deadlocks;
        self.faults += other.faults;
        self.max_out_degree = self.max_out_degree.max(other.max_out_degree);
        self.back_level_edges = add(self.back_level_edges, other.back_level_edges);
        self.longest_back_level_edge = self.longest_back_level_edge.max(other.longest_back_level_edge);
    }
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_levels_sum_up() {
        let mut facts = GraphFacts { states: 10, ..GraphFacts::default() };
        facts.set_level_sizes([1, 4]);
        assert_eq!(facts.level_sizes, [1, 4, 5], "what else was found is of the next level");
        facts.set_level_sizes([1, 4, 5]);
        assert_eq!(facts.level_sizes, [1, 4, 5]);
        facts.set_level_sizes([]);
        assert_eq!(facts.level_sizes, [10]);
        facts.states = 0;
        facts.set_level_sizes([]);
        assert!(facts.level_sizes.is_empty());
    }

    #[test]
    fn very_many_levels_are_cut() {
        let mut facts = GraphFacts { states: 300_000, ..GraphFacts::default() };
        facts.set_level_sizes(vec![1; 200_000]);
        assert_eq!(facts.level_sizes.len(), MOST_LEVELS);
        let mut facts = GraphFacts::default();
        for level in 0..200_000 {
            facts.count_on_level(level);
            facts.count_on_level(level);
        }
        assert!(facts.level_sizes.len() == MOST_LEVELS && facts.level_sizes.iter().all(|size| *size == 2));
    }
}
