//! From properties to a reduction: what must be kept follows from what is asked.
//!
//! - **Deadlocks** are kept by every persistent set, without any condition.
//! - **Faults and violated assertions** are things that events do: an event left out must only not be left out for ever.
//! - **Conditions** on states can be changed by some events, which are visible. A set without visible events keeps the
//!   conditions, again if nothing is left out for ever.

use super::closure::Closure;
use super::{Kept, Manner, Reduce, Source};
use crate::check::{Property, PropertyKind};
use crate::plan::Plan;
use crate::run::invalid;
use scrimp_system::dependence::Dependence;
use scrimp_system::{Batch, EventId, Model};
use std::io;
use std::sync::Arc;

/// Everything that the reductions of all threads have in common.
#[derive(Debug)]
pub struct Blueprint {
    dependence: Arc<Dependence>,
    /// Events that may change a condition that is asked for.
    visible: Arc<[bool]>,
    /// Does what is asked for depend on nothing being left out for ever?
    provided: bool,
}

impl Blueprint {
    /// The reduction that a plan asks for, if it asks for one that leaves states out.
    pub fn of_plan(model: &dyn Model, properties: &[Property], plan: &Plan) -> io::Result<Option<Blueprint>> {
        if !plan.options.reduce.leaves_out_states() {
            return Ok(None);
        }
        let impossible = |reason: String| invalid(format!("partial-order reduction is not possible: {reason}"));
        let dependence = model.dependence().map_err(impossible)?;
        let mut visible = vec![false; dependence.events()];
        let mut provided = dependence.outgrown().next().is_some();
        for property in properties {
            match &property.kind {
                PropertyKind::Deadlock => {}
                PropertyKind::Faults | PropertyKind::Assertions => {
                    provided |= (0..dependence.events() as u32).any(|event| dependence.may_fault(EventId(event)));
                }
                PropertyKind::Invariant(_) | PropertyKind::Reach(_) => {
                    provided = true;
                    let Some(expression) = &property.expression else {
                        let reason = "is no expression that shows which events it depends on";
                        return Err(impossible(format!("the condition of property {} {reason}", property.name)));
                    };
                    let changing = dependence.visible(expression);
                    visible.iter_mut().zip(changing).for_each(|(visible, changes)| *visible |= changes);
                }
            }
        }
        Ok(Some(Blueprint { dependence, visible: visible.into(), provided }))
    }

    /// A reduction for one thread.
    pub fn make(&self, _: Manner) -> Box<dyn Reduce> {
        let closure = Closure::new(self.dependence.clone(), self.visible.clone());
        Box::new(Persistent { closure, enabled: Vec::new(), leads: Vec::new(), provided: self.provided })
    }
}

/// Explores persistent sets.
struct Persistent {
    closure: Closure,
    enabled: Vec<u32>,
    leads: Vec<u32>,
    provided: bool,
}

impl Reduce for Persistent {
    fn choose(&mut self, source: Source, batch: &Batch, first: usize, keep: &mut [bool]) -> Kept {
        let Persistent { closure, enabled, leads, provided } = self;
        if keep.len() < 2 {
            return Kept::All;
        }
        leads.clear();
        leads.extend((first..batch.len()).map(|i| source.model.first_event(batch.event(i))));
        enabled.clear();
        enabled.extend_from_slice(leads);
        // A fault may be one of a later step of an edge, whose event is not enabled here.
        let faulty = source.faults.iter().map(|record| source.model.first_event(record.event));
        enabled.extend(faulty.filter(|&event| closure.is_enabled(event, source.state)));
        enabled.sort_unstable();
        enabled.dedup();
        leads.dedup();
        if !closure.choose(source.state, enabled, leads) {
            return Kept::All;
        }
        for (keep, i) in keep.iter_mut().zip(first..) {
            *keep = closure.contains(source.model.first_event(batch.event(i)));
        }
        if *provided { Kept::Provided } else { Kept::Some }
    }

    fn wants_history(&self) -> bool {
        self.provided
    }
}
