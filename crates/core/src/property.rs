//! What is asked of a model.

use scrimp_system::{Expr, Fault};
use std::fmt;

/// A condition on states.
pub type Condition<'a> = Box<dyn Fn(&[u8]) -> Result<bool, Fault> + Sync + Send + 'a>;

pub enum PropertyKind<'a> {
    /// Every state has a successor.
    Deadlock,
    /// No event ends in a fault. Assertions that events make are no matter of this.
    Faults,
    /// No event violates the assertion that it makes.
    Assertions,
    /// The condition holds in every state. Where evaluating it is a fault, it does not hold.
    Invariant(Condition<'a>),
    /// The condition holds in some state.
    Reach(Condition<'a>),
}

impl fmt::Debug for PropertyKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PropertyKind::Deadlock => "Deadlock",
            PropertyKind::Faults => "Faults",
            PropertyKind::Assertions => "Assertions",
            PropertyKind::Invariant(_) => "Invariant",
            PropertyKind::Reach(_) => "Reach",
        })
    }
}

#[derive(Debug)]
pub struct Property<'a> {
    pub name: String,
    pub kind: PropertyKind<'a>,
    /// The condition of an invariant or of what is to be reached, as an expression, for what must look into it.
    pub expression: Option<Expr>,
}

impl<'a> Property<'a> {
    pub fn new(name: impl Into<String>, kind: PropertyKind<'a>) -> Property<'a> {
        Property { name: name.into(), kind, expression: None }
    }

    /// The same, with its condition as an expression.
    pub fn with_expression(self, expression: Expr) -> Property<'a> {
        Property { expression: Some(expression), ..self }
    }

    pub fn deadlock() -> Property<'a> {
        Property::new("deadlock", PropertyKind::Deadlock)
    }

    pub fn faults() -> Property<'a> {
        Property::new("faults", PropertyKind::Faults)
    }

    /// The assertions that events make.
    pub fn assertions() -> Property<'a> {
        Property::new("assertions", PropertyKind::Assertions)
    }

    pub fn invariant(name: impl Into<String>, holds: impl Fn(&[u8]) -> bool + Sync + Send + 'a) -> Property<'a> {
        Property::new(name, PropertyKind::Invariant(Box::new(move |s| Ok(holds(s)))))
    }

    pub fn reach(name: impl Into<String>, holds: impl Fn(&[u8]) -> bool + Sync + Send + 'a) -> Property<'a> {
        Property::new(name, PropertyKind::Reach(Box::new(move |s| Ok(holds(s)))))
    }

    /// Does finding a state for this property mean that it is violated? (For `reach` it means that it holds.)
    pub fn finding_violates(&self) -> bool {
        !matches!(self.kind, PropertyKind::Reach(_))
    }
}
