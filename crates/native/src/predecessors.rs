//! The predecessors of a state: the inverse of the system, run like any other, and its results without repetition.
//!
//! Different events may lead back to the same state, and so may different values of what they overwrite. A few
//! candidates are compared with each other, many go through a small table.

use crate::Mode;
use crate::engine::Engine;
use crate::partition::Limits;
use crate::program::Program;
use scrimp_system::{Batch, EventId, Unsuited, inverse};
use std::cell::RefCell;
use std::sync::Arc;

/// As many candidates are compared each with each.
const FEW: usize = 24;

pub struct Backwards {
    engine: Engine,
    origin: Vec<EventId>,
}

/// What a thread needs for a moment, kept so that it need not be allocated for every state.
struct Scratch {
    candidates: Batch,
    /// One more than the place of a state in the output, by hash; 0 where there is none.
    table: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch { candidates: Batch::new(0), table: Vec::new() });
}

impl Backwards {
    pub fn new(program: &Program, mode: Mode, limits: Limits) -> Result<Backwards, Unsuited> {
        let inverse = inverse(&program.system)?;
        let failed = |error: crate::BuildError| Unsuited::whole(error.0);
        let program = Arc::new(program.sibling(Arc::new(inverse.system)).map_err(failed)?);
        Ok(Backwards { engine: Engine::new(program, mode, limits).map_err(failed)?, origin: inverse.origin })
    }

    pub fn predecessors(&self, state: &[u8], out: &mut Batch) {
        SCRATCH.with_borrow_mut(|Scratch { candidates, table }| {
            if candidates.state_bytes() != state.len() {
                *candidates = Batch::new(state.len());
            }
            candidates.clear();
            self.engine.expand(state, candidates);
            let count = candidates.len();
            let first = out.len();
            let code = |i: usize| self.origin[candidates.event(i) as usize].0;
            if count <= FEW {
                for i in 0..count {
                    let candidate = candidates.state(i);
                    if (first..out.len()).all(|j| out.state(j) != candidate) {
                        out.push(candidate, code(i));
                    }
                }
                return;
            }
            let size = (2 * count).next_power_of_two();
            table.clear();
            table.resize(size, 0);
            for i in 0..count {
                let candidate = candidates.state(i);
                let mut place = hash(candidate) as usize & (size - 1);
                while table[place] != 0 && out.state(first + table[place] as usize - 1) != candidate {
                    place = (place + 1) & (size - 1);
                }
                if table[place] == 0 {
                    out.push(candidate, code(i));
                    table[place] = (out.len() - first) as u32;
                }
            }
        });
    }
}

fn hash(state: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (words, rest) = state.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| mix(hash, *byte as u64));
    hash ^ hash >> 32
}
