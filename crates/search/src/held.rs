//! What holds the states when a search has ended: what can still be asked of them.

use crate::check::Finding;
use crate::external::External;
use crate::outcome::Outcome;
use crate::store::Store;
use crate::trace::backwards;
use scrimp_core::{DiskFacts, Trace};
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

    /// Shortest runs to what was found, where levels are known.
    pub fn traces(&self, model: &dyn Model, outcome: &Outcome, findings: &[&Finding]) -> Vec<Option<Trace>> {
        let through = |store: &dyn Store, f: &Finding| Trace::through(model, &way_to(model, store, &f.state)?);
        match self {
            Held::Store(store) if !store.wants_origins() && !outcome.levels.is_empty() => {
                let targets: Vec<_> = findings.iter().map(|f| (&f.state[..], f.depth)).collect();
                backwards(model, &**store, &outcome.levels, &targets)
            }
            Held::Store(store) => findings.iter().map(|f| through(&**store, f)).collect(),
            Held::Disk(external) => findings.iter().map(|f| external.trace(&f.state, f.depth)).collect(),
            Held::Set(_) => findings.iter().map(|_| None).collect(),
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
