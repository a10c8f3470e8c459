//! What holds the states when a search has ended: what can still be asked of them.

use crate::check::Finding;
use crate::external::{DiskFacts, External};
use crate::outcome::Outcome;
use crate::store::Store;
use crate::trace::Trace;
use scrimp_system::Model;

pub(crate) enum Held<'m> {
    /// A set of so many bytes, which is gone by now.
    Set(usize),
    /// A store that can load states by their numbers.
    Store(Box<dyn Store + 'm>),
    Disk(Box<External<'m>>),
}

impl Held<'_> {
    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        match self {
            Held::Set(bytes) => *bytes,
            Held::Store(store) => store.bytes(),
            Held::Disk(external) => external.bytes(),
        }
    }

    pub fn disk(&self) -> Option<DiskFacts> {
        match self {
            Held::Disk(external) => Some(external.disk_facts()),
            _ => None,
        }
    }

    /// A shortest run to what was found, where levels are known.
    pub fn trace(&self, model: &dyn Model, outcome: &Outcome, finding: &Finding) -> Option<Trace> {
        match self {
            Held::Store(store) if !outcome.levels.is_empty() => {
                Trace::backwards(model, &**store, &outcome.levels, &finding.state, finding.depth)
            }
            Held::Disk(external) => external.trace(&finding.state, finding.depth),
            _ => None,
        }
    }
}
