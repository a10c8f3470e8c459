//! What is looked for in states and where they are expanded.

use scrimp_core::{Property, PropertyKind};
use scrimp_native::{NativeModel, Predicate};
use scrimp_system::Expr;
use serde::{Deserialize, Serialize};

/// A goal as it is sent to other processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Sought {
    Deadlock,
    Faults,
    Assertions,
    Invariant(Expr),
    Reach(Expr),
}

impl Sought {
    /// `None` for properties of runs.
    pub fn of(property: &Property<Expr>) -> Option<Sought> {
        Some(match &property.kind {
            PropertyKind::Deadlock => Sought::Deadlock,
            PropertyKind::Faults => Sought::Faults,
            PropertyKind::Assertions => Sought::Assertions,
            PropertyKind::Invariant(condition) => Sought::Invariant(condition.clone()),
            PropertyKind::Reach(condition) => Sought::Reach(condition.clone()),
            _ => return None,
        })
    }
}

pub enum Look {
    Deadlock,
    Faults,
    Assertions,
    Invariant(Predicate),
    Reach(Predicate),
}

pub struct Goal {
    pub look: Look,
}

impl Goal {
    pub fn new(sought: &Sought, model: &NativeModel) -> Goal {
        Goal {
            look: match sought {
                Sought::Deadlock => Look::Deadlock,
                Sought::Faults => Look::Faults,
                Sought::Assertions => Look::Assertions,
                Sought::Invariant(condition) => Look::Invariant(model.predicate(condition)),
                Sought::Reach(condition) => Look::Reach(model.predicate(condition)),
            },
        }
    }

    pub fn finding_violates(&self) -> bool {
        !matches!(self.look, Look::Reach(_))
    }

    /// Does the state itself decide it?
    pub fn is_met_in(&self, state: &[u8]) -> bool {
        match &self.look {
            Look::Invariant(condition) => condition.holds(state) != Ok(true),
            Look::Reach(condition) => condition.holds(state) == Ok(true),
            _ => false,
        }
    }
}
