//! What is known of all reachable states beyond the domains of variables, worked out when it is asked for: only those who
//! run a system backwards, or want to see its progress, do.

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

/// What is summed: variables and what they weigh.
pub type Terms = Vec<(VarId, Weight)>;

/// The sum of what variables weigh is never more than a number. Nothing that is summed leaves the range of 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtMost {
    pub terms: Terms,
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

type Find<T> = Arc<dyn Fn(&System) -> T + Send + Sync>;

/// Something that is found out later, or never.
#[derive(Clone)]
pub struct Later<T>(Option<Find<T>>);

impl<T> Default for Later<T> {
    fn default() -> Later<T> {
        Later(None)
    }
}

impl<T: Default> Later<T> {
    pub fn new(find: impl Fn(&System) -> T + Send + Sync + 'static) -> Later<T> {
        Later(Some(Arc::new(find)))
    }

    /// Finds it out now.
    pub fn of(&self, system: &System) -> T {
        self.0.as_ref().map(|find| find(system)).unwrap_or_default()
    }
}

impl<T> fmt::Debug for Later<T> {
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
