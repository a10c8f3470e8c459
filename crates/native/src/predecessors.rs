//! The predecessors of a state: the inverse of the system, run like any other, and its results without repetition.
//!
//! Different events may lead back to the same state, and so may different values of what they overwrite. A few
//! candidates are compared with each other, many go through a small table.

use crate::Mode;
use crate::engine::Engine;
use crate::partition::Limits;
use crate::program::Program;
use crate::pruning::Pruning;
use crate::retrace::Retrace;
use scrimp_system::{Batch, EventId, System, Unsuited, inverse};
use std::cell::RefCell;
use std::sync::Arc;

/// As many candidates are compared each with each.
const FEW: usize = 24;

pub struct Backwards {
    engine: Engine,
    origin: Vec<EventId>,
    pruning: Option<Pruning>,
    retrace: Option<Retrace>,
}

thread_local! {
    /// One more than the place of a state among those kept, by hash; 0 where there is none. Kept from call to call, so
    /// that it need not be allocated for every state.
    static TABLE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

impl Backwards {
    pub fn new(program: &Program, mode: Mode, limits: Limits) -> Result<Backwards, Unsuited> {
        // Steps that are run as one are undone as one.
        let run = System { events: program.rules.events(&program.system).to_vec(), ..System::clone(&program.system) };
        let inverse = inverse(&run)?;
        let retrace = Retrace::new(program, &inverse);
        let pruning = match program.system.packed {
            true => Pruning::new(program, &inverse.system.events),
            false => None,
        };
        let failed = |error: crate::BuildError| Unsuited::whole(error.0);
        let program = Arc::new(program.sibling(Arc::new(inverse.system)).map_err(failed)?);
        let engine = Engine::new(program, mode, limits).map_err(failed)?;
        Ok(Backwards { engine, origin: inverse.origin, pruning, retrace })
    }

    /// Appends the predecessors; `forwards` runs the system itself.
    pub fn predecessors(&self, forwards: &Engine, state: &[u8], out: &mut Batch) -> Result<(), Unsuited> {
        let first = out.len();
        match &self.retrace {
            None => self.engine.expand(state, out),
            Some(retrace) => {
                let undo = |state: &[u8], out: &mut Batch| self.engine.expand(state, out);
                retrace.run(forwards, undo, state, out).inspect_err(|_| out.truncate(first))?
            }
        }
        if let Some(pruning) = &self.pruning {
            pruning.prune(out, first);
        }
        if out.len() - first <= FEW {
            let end = distinct(out, first);
            out.truncate(end);
        } else {
            let end = TABLE.with_borrow_mut(|table| distinct_of_many(out, first, table));
            out.truncate(end);
        }
        for i in first..out.len() {
            out.set_event(i, self.origin[out.event(i) as usize].0);
        }
        Ok(())
    }
}

/// Moves the states from `first` on together so that each is there once; returns where they end.
fn distinct(out: &mut Batch, first: usize) -> usize {
    let mut end = first;
    for i in first..out.len() {
        let candidate = out.state(i);
        // What events write stands at the end of a state, so there two states differ soonest.
        let tail = candidate.last_chunk::<8>();
        if (first..end).all(|j| out.state(j).last_chunk::<8>() != tail || out.state(j) != candidate) {
            if i != end {
                out.copy(i, end);
            }
            end += 1;
        }
    }
    end
}

fn distinct_of_many(out: &mut Batch, first: usize, table: &mut Vec<u32>) -> usize {
    let size = (2 * (out.len() - first)).next_power_of_two();
    table.clear();
    table.resize(size, 0);
    let mut end = first;
    for i in first..out.len() {
        let candidate = out.state(i);
        let mut place = hash(candidate) as usize & (size - 1);
        while table[place] != 0 && out.state(first + table[place] as usize - 1) != candidate {
            place = (place + 1) & (size - 1);
        }
        if table[place] == 0 {
            if i != end {
                out.copy(i, end);
            }
            end += 1;
            table[place] = (end - first) as u32;
        }
    }
    end
}

fn hash(state: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (words, rest) = state.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| mix(hash, *byte as u64));
    hash ^ hash >> 32
}
