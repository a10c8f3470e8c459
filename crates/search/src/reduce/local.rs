//! One process at a time, where its events concern no other: what the model itself says (see [`Model::actor`]).
//!
//! All events of one process, each of them local, are an ample set. Others neither enable nor disable an event of that process
//! before it moves, nor depend on the order, which is the first condition on such sets; local events are invisible, which is the
//! second. The third, that no event is put off all the way round a cycle, is the proviso.

use super::{Kept, Reduce, Source};
use scrimp_system::{Batch, Model};

/// Leaves a state by the events of one process.
#[derive(Default)]
pub struct Local {
    /// Each process with events here: how many, and whether all are local.
    processes: Vec<(u32, usize, bool)>,
}

impl Local {
    fn count(&mut self, model: &dyn Model, batch: &Batch, first: usize) -> bool {
        self.processes.clear();
        for i in first..batch.len() {
            let (process, local) = model.actor(batch.event(i));
            match self.processes.iter_mut().find(|(known, ..)| *known == process) {
                Some((_, events, all)) => (*events, *all) = (*events + 1, *all && local),
                None => self.processes.push((process, 1, local)),
            }
        }
        self.processes.len() > 1
    }
}

impl Reduce for Local {
    fn choose(&mut self, source: Source, batch: &Batch, first: usize, keep: &mut [bool]) -> Kept {
        if !self.count(source.model, batch, first) {
            return Kept::All;
        }
        let alone = self.processes.iter().filter(|(_, _, local)| *local).min_by_key(|(_, events, _)| *events);
        let Some((process, ..)) = alone else { return Kept::All };
        for (i, keep) in keep.iter_mut().enumerate() {
            *keep = source.model.actor(batch.event(first + i)).0 == *process;
        }
        Kept::Proviso
    }

    fn wants_history(&self) -> bool {
        true
    }
}
