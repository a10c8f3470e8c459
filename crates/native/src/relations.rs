//! How the events of a system depend on each other: worked out once for all models of the system.

use scrimp_system::System;
use scrimp_system::dependence::Dependence;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

type Relation = OnceLock<Result<Arc<Dependence>, String>>;

/// Systems that are in use, and what is known of each.
static KNOWN: Mutex<Vec<(Weak<System>, Arc<Relation>)>> = Mutex::new(Vec::new());

/// The dependence of the events of a system, or why it cannot be had.
pub fn dependence(system: &Arc<System>) -> Result<Arc<Dependence>, String> {
    let relation = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(system, _)| system.strong_count() > 0);
        let here = known.iter().find(|(other, _)| other.as_ptr() == Arc::as_ptr(system));
        here.map(|(_, relation)| relation.clone()).unwrap_or_else(|| {
            let relation = Arc::new(Relation::new());
            known.push((Arc::downgrade(system), relation.clone()));
            relation
        })
    };
    let work_out = || match Dependence::refused(system) {
        Some(reason) => Err(reason),
        None => Ok(Arc::new(Dependence::new(system))),
    };
    relation.get_or_init(work_out).clone()
}
