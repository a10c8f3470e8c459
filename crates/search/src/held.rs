//! What holds the states when a search has ended: what can still be asked of them.

use crate::check::Finding;
use crate::external::{DiskFacts, External};
use crate::outcome::Outcome;
use crate::store::Store;
use crate::trace::Trace;
use scrimp_system::{Batch, Model};

pub(crate) enum Held<'m> {
    /// A set of so many bytes, which is gone by now.
    Set(usize),
    /// A store that can load states by their numbers.
    Store(Box<dyn Store + 'm>),
    Disk(Box<External<'m>>),
}

impl Held<'_> {
    /// Bytes of memory, or of disk where the states are there.
    pub fn bytes(&self) -> usize {
        match self {
            Held::Set(bytes) => *bytes,
            Held::Store(store) => store.bytes(),
            Held::Disk(external) => external.disk_facts().peak_bytes as usize,
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
            Held::Store(store) if !store.wants_origins() && !outcome.levels.is_empty() => {
                Trace::backwards(model, &**store, &outcome.levels, &finding.state, finding.depth)
            }
            Held::Store(store) => Trace::through(model, &way_to(model, &**store, &finding.state)?),
            Held::Disk(external) => external.trace(&finding.state, finding.depth),
            _ => None,
        }
    }
}

/// The states on the way to a state, where the store knows them.
fn way_to(model: &dyn Model, store: &dyn Store, state: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut batch = Batch::new(model.state_bytes());
    batch.push(state, 0);
    let id = store.find(&batch, 0)?;
    let mut way = store.ancestors(id)?;
    way.reverse();
    way.push(id);
    let load = |id| {
        let mut state = vec![0; model.state_bytes()];
        store.load(id, &mut state);
        state
    };
    Some(way.into_iter().map(load).collect())
}
