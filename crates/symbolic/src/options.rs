//! How sets of states are worked with: the choices that a caller has.

use crate::reach::Strategy;
use scrimp_system::Expr;

/// Which cell at which level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// What events tie together stands together.
    #[default]
    Force,
    /// As the model has its variables.
    Given,
}

impl std::str::FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        match text {
            "force" => Ok(Order::Force),
            "given" => Ok(Order::Given),
            _ => Err("expected force or given".into()),
        }
    }
}

/// How sets are worked with.
#[derive(Debug, Clone)]
pub struct Options {
    pub strategy: Strategy,
    pub order: Order,
    /// Look for a better order when the diagrams have grown.
    pub reorder: bool,
    /// Bytes for the whole process; nine tenths of what is free where it is not said.
    pub memory: Option<usize>,
    /// Look at as few events as suffice for the questions. Breadth-first, whatever the strategy; states are not counted then.
    pub reduce: bool,
    /// With `reduce`: of all sets that would do, take one with few nodes.
    pub dont_care: bool,
    /// Decide every question, even where one is violated.
    pub keep_going: bool,
    /// Count steps and deadlocks too.
    pub count_all: bool,
    /// Of the runs that formulas of CTL are about, those count on which each of these holds again and again.
    pub fairness: Vec<Expr>,
    /// Look for runs that show why questions about runs are answered as they are.
    pub evidence: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strategy: Strategy::default(),
            order: Order::default(),
            reorder: true,
            memory: None,
            reduce: false,
            dont_care: false,
            keep_going: false,
            count_all: true,
            fairness: Vec::new(),
            evidence: true,
        }
    }
}
