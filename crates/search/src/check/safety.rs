//! Safety properties: no deadlock, no fault, an invariant, and the reachability of a condition.
//!
//! Each property is decided by one state. The check ends the search with the first violation, or, when asked to keep
//! going, once every property is decided.

use super::{Check, Flow, Seen};
use scrimp_core::{Condition, Property, PropertyKind};
use scrimp_system::{EventCode, Fault, FaultRecord};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The state that decides a property.
#[derive(Debug, Clone)]
pub struct Finding {
    pub property: usize,
    pub state: Vec<u8>,
    pub depth: u32,
    /// The run that led there, where the search had it at hand.
    pub path: Option<Vec<Vec<u8>>>,
    /// The event that ends in a fault there.
    pub fault: Option<(EventCode, Fault)>,
    /// The fault met when the condition itself was evaluated.
    pub condition_fault: Option<Fault>,
}

pub struct Safety<'a> {
    properties: &'a [Property<Condition<'a>>],
    keep_going: bool,
    decided: Vec<AtomicBool>,
    undecided: AtomicUsize,
    findings: Mutex<Vec<Finding>>,
    /// Numbers of the properties that look at every state, and of those about deadlocks and faults.
    conditions: Vec<usize>,
    deadlocks: Vec<usize>,
    faults: Vec<usize>,
    assertions: Vec<usize>,
}

impl<'a> Safety<'a> {
    pub fn new(properties: &'a [Property<Condition<'a>>], keep_going: bool) -> Safety<'a> {
        let those = |test: fn(&PropertyKind<Condition>) -> bool| -> Vec<usize> {
            (0..properties.len()).filter(|&i| test(&properties[i].kind)).collect()
        };
        Safety {
            properties,
            keep_going,
            decided: properties.iter().map(|_| AtomicBool::new(false)).collect(),
            undecided: AtomicUsize::new(properties.len()),
            findings: Mutex::new(Vec::new()),
            conditions: those(|k| matches!(k, PropertyKind::Invariant(_) | PropertyKind::Reach(_))),
            deadlocks: those(|k| matches!(k, PropertyKind::Deadlock)),
            faults: those(|k| matches!(k, PropertyKind::Faults)),
            assertions: those(|k| matches!(k, PropertyKind::Assertions)),
        }
    }

    /// What was found, by property.
    pub fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        findings.sort_by_key(|f| f.property);
        findings
    }

    /// What was found so far.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Takes what was found before the search was interrupted as found.
    pub fn remember(&self, findings: Vec<Finding>) {
        for finding in findings.into_iter().filter(|finding| finding.property < self.properties.len()) {
            self.decide(finding);
        }
    }

    fn open(&self, property: usize) -> bool {
        !self.decided[property].load(Ordering::Relaxed)
    }

    fn decide(&self, finding: Finding) -> Flow {
        let property = finding.property;
        if self.decided[property].swap(true, Ordering::Relaxed) {
            return Flow::Continue;
        }
        self.findings.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(finding);
        let none_left = self.undecided.fetch_sub(1, Ordering::Relaxed) == 1;
        if none_left || (!self.keep_going && self.properties[property].finding_violates()) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

impl Finding {
    fn at(property: usize, seen: Seen) -> Finding {
        Finding {
            property,
            state: seen.state.to_vec(),
            depth: seen.depth,
            path: seen.path.and_then(|path| path()),
            fault: None,
            condition_fault: None,
        }
    }
}

impl Check for Safety<'_> {
    fn wants_states(&self) -> bool {
        !self.conditions.is_empty()
    }

    fn state(&self, seen: Seen) -> Flow {
        for &i in self.conditions.iter().filter(|&&i| self.open(i)) {
            let (condition, sought) = match &self.properties[i].kind {
                PropertyKind::Invariant(c) => (c, false),
                PropertyKind::Reach(c) => (c, true),
                _ => continue,
            };
            let value = (condition.holds)(seen.state);
            let found = match value {
                Ok(holds) => holds == sought,
                Err(_) => !sought,
            };
            if found {
                let finding = Finding { condition_fault: value.err(), ..Finding::at(i, seen) };
                if self.decide(finding) == Flow::Stop {
                    return Flow::Stop;
                }
            }
        }
        Flow::Continue
    }

    fn expanded(&self, seen: Seen, deadlock: bool, faults: &[FaultRecord]) -> Flow {
        let first = |asserted: bool| {
            let record = faults.iter().find(|record| (record.fault == Fault::Assertion) == asserted)?;
            Some((record.event, record.fault))
        };
        let mut found: [(&[usize], _); 3] = [(&[], None); 3];
        if let Some(fault) = first(false) {
            found[0] = (&self.faults, Some(fault));
        }
        if let Some(fault) = first(true) {
            found[1] = (&self.assertions, Some(fault));
        }
        if deadlock {
            found[2] = (&self.deadlocks, None);
        }
        for (i, fault) in found.into_iter().flat_map(|(those, fault)| those.iter().map(move |&i| (i, fault))) {
            if self.open(i) && self.decide(Finding { fault, ..Finding::at(i, seen) }) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}
