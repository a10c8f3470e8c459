//! What is known of all reachable states beyond the domains of variables, worked out when it is first asked for: only those
//! who run a system backwards want it.

use crate::system::{System, VarId};
use std::fmt;
use std::sync::Arc;

/// Facts about reachable states.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub sums: Vec<AtMost>,
    pub literals: Vec<Literal>,
    /// For each literal those that never hold together with it.
    pub apart: Vec<Vec<u32>>,
}

/// The sum of what variables weigh is never more than a number. Nothing that is summed leaves the range of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtMost {
    pub terms: Vec<(VarId, Weight)>,
    pub most: i64,
}

/// What a variable weighs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weight {
    /// So many times its value.
    Times(i64),
    /// What stands here for its value, of which the least is 0.
    Of(Vec<i64>),
}

/// A variable is within these bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Literal {
    pub variable: VarId,
    pub low: i64,
    pub high: i64,
}

type Find = Arc<dyn Fn(&System) -> Known + Send + Sync>;

/// Facts that are found out later, or never.
#[derive(Clone, Default)]
pub struct Later(Option<Find>);

impl Later {
    pub fn new(find: impl Fn(&System) -> Known + Send + Sync + 'static) -> Later {
        Later(Some(Arc::new(find)))
    }

    /// Finds them out now.
    pub fn of(&self, system: &System) -> Known {
        self.0.as_ref().map(|find| find(system)).unwrap_or_default()
    }
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Later" } else { "Nothing" })
    }
}

impl Weight {
    pub fn of(&self, value: i64) -> i64 {
        match self {
            Weight::Times(weight) => weight.wrapping_mul(value),
            Weight::Of(table) => usize::try_from(value).ok().and_then(|at| table.get(at)).copied().unwrap_or(0),
        }
    }
}

impl Literal {
    pub fn holds_for(&self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
