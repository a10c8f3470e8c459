//! From a number to its state: known lately, kept in full, or replayed from an ancestor that is.

use super::Tables;
use super::backedges::Backedge;
use super::vectors::Cursor;
use crate::store::StateId;
use crate::store::recent::Recent;
use scrimp_system::Batch;

/// No number.
const NONE: StateId = StateId::MAX;

pub struct Replay {
    /// Events that were run, each with all others of its source.
    pub events: u64,
    /// A state was not among the successors of its predecessor, as one that comes from a forged file may be.
    pub damaged: bool,
    pub recent: Recent,
    /// The state that was prepared.
    current: Vec<u8>,
    /// The successors of a state, as they were generated last.
    source: StateId,
    successors: Batch,
    /// What is left of the way down, last state first.
    way: Vec<(StateId, Backedge)>,
    /// Where questions, and sources, were decoded last.
    asked: Cursor,
    loaded: Cursor,
}

impl Replay {
    pub fn new(recent: Recent) -> Replay {
        let state_bytes = recent.state_bytes;
        Replay {
            events: 0,
            damaged: false,
            current: vec![0; state_bytes],
            source: NONE,
            successors: Batch::new(state_bytes),
            way: Vec::new(),
            asked: Cursor::new(state_bytes),
            loaded: Cursor::new(state_bytes),
            recent,
        }
    }

    /// Is the stored state `id` this one?
    pub fn is(&mut self, id: StateId, state: &[u8], tables: &Tables) -> bool {
        if let Some(known) = self.recent.get(id) {
            return tables.same(known, state);
        }
        if tables.vectors.has(id) {
            return tables.same(tables.vectors.state(id, &mut self.asked), state);
        }
        self.prepare(id, tables);
        tables.same(&self.current, state)
    }

    /// Copies a stored state to `out`.
    pub fn load(&mut self, id: StateId, tables: &Tables, out: &mut [u8]) {
        if tables.vectors.has(id) {
            return out.copy_from_slice(tables.vectors.state(id, &mut self.loaded));
        }
        self.prepare(id, tables);
        out.copy_from_slice(&self.current);
    }

    /// Makes the state's vector.
    fn prepare(&mut self, id: StateId, tables: &Tables) {
        let mut from = id;
        loop {
            if let Some(state) = self.recent.get(from) {
                break self.current.copy_from_slice(state);
            }
            if tables.vectors.has(from) {
                break self.current.copy_from_slice(tables.vectors.state(from, &mut self.asked));
            }
            let backedge = tables.backedges.get(from);
            if backedge.predecessor == from {
                break self.current.copy_from_slice(tables.roots.state(backedge.place as usize));
            }
            if backedge.predecessor == self.source {
                break self.pick(from, backedge, tables);
            }
            self.way.push((from, backedge));
            from = backedge.predecessor;
        }
        while let Some((id, backedge)) = self.way.pop() {
            self.successors.clear();
            tables.model.expand(&self.current, &mut self.successors);
            self.source = backedge.predecessor;
            self.events += 1;
            self.pick(id, backedge, tables);
        }
    }

    /// Takes a state from the successors of its predecessor.
    fn pick(&mut self, id: StateId, backedge: Backedge, tables: &Tables) {
        let successors = &self.successors;
        let in_table = |i| tables.index.find(tables.piece(successors.state(i)), |other| other == id).is_some();
        let is_it = |&i: &usize| i < successors.len() && in_table(i);
        let place = if tables.with_places {
            Some(backedge.place as usize).filter(|i| if tables.restored { is_it(i) } else { *i < successors.len() })
        } else if let Some(&place) = tables.exceptions.get(&id) {
            Some(place as usize).filter(is_it)
        } else {
            (0..successors.len()).find(|i| is_it(i))
        };
        match place {
            Some(place) => self.current.copy_from_slice(successors.state(place)),
            None => self.damaged = true,
        }
        self.recent.put(id, &self.current);
    }

    pub fn bytes(&self) -> usize {
        self.recent.bytes() + self.successors.bytes()
    }
}
