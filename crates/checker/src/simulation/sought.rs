//! What walks look for: the states that decide properties.

use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_system::{EventCode, Fault, FaultRecord};

/// How a state decides a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decided {
    /// The event that ends in a fault there.
    pub fault: Option<(EventCode, Fault)>,
    /// The fault met when the condition itself was evaluated.
    pub condition_fault: Option<Fault>,
}

/// Whether a state decides a property, and how.
pub(super) fn decides(
    property: &Property<Condition>,
    state: &[u8],
    deadlock: bool,
    faults: &[FaultRecord],
) -> Option<Decided> {
    let nothing = Decided { fault: None, condition_fault: None };
    let first = |asserted: bool| {
        let record = faults.iter().find(|record| (record.fault == Fault::Assertion) == asserted)?;
        Some(Decided { fault: Some((record.event, record.fault)), ..nothing })
    };
    match &property.kind {
        PropertyKind::Deadlock => deadlock.then_some(nothing),
        PropertyKind::Faults => first(false),
        PropertyKind::Assertions => first(true),
        PropertyKind::Invariant(condition) => match (condition.holds)(state) {
            Ok(true) => None,
            Ok(false) => Some(nothing),
            Err(fault) => Some(Decided { condition_fault: Some(fault), ..nothing }),
        },
        PropertyKind::Reach(condition) => ((condition.holds)(state) == Ok(true)).then_some(nothing),
        _ => None,
    }
}
