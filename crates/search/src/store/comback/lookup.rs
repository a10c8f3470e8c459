//! Looking states up: what can be answered at once, and the questions that wait until all are asked.
//!
//! A batch goes through in groups, each in passes that ask for the memory of the next one. A state whose hash is unknown is
//! new. One whose hash is known is compared with the stored state where that was known lately; otherwise it is a doubt.
//! Doubts are settled together, in the order of the numbers. A state that turns out to be another than the stored one with
//! the same hash is looked up once more, this time comparing it with every candidate.

use super::backedges::Backedge;
use super::replay::Replay;
use super::{ComBack, Tables};
use crate::store::{Found, Full, Origin, StateId};
use scrimp_system::Batch;
use std::ops::Range;

/// States that go through the passes together.
const GROUP: usize = 64;
/// How many doubts lie between asking for memory and using it.
const AHEAD: usize = 12;

/// What a batch needs while it is looked up.
#[derive(Default)]
pub struct Buffers {
    /// The hashes of its states, as far as they were computed.
    pieces: Vec<u32>,
    /// Places in the batch with the numbers of stored states, of those to be compared at once.
    likely: Vec<(u32, StateId)>,
    /// Those to be compared later, the number first, so that they can be sorted.
    doubts: Vec<u64>,
    /// Those that are not what they seemed to be.
    mistaken: Vec<u32>,
}

impl ComBack<'_> {
    pub(super) fn offer_all(
        &mut self,
        batch: &Batch,
        which: Range<usize>,
        origins: Option<&[Origin]>,
        found: &mut Vec<Found>,
    ) -> Result<(), Full> {
        assert!(batch.state_bytes() == self.tables.state_bytes && which.end <= batch.len());
        // There is no use in going on.
        if self.replay.get_mut().damaged {
            return Err(Full);
        }
        self.make_room(which.len())?;
        let mut buffers = std::mem::take(&mut self.lookup);
        let answers = found.len();
        buffers.pieces.clear();
        self.hash(batch, which.start..which.end.min(which.start + GROUP), &mut buffers.pieces);
        for start in which.clone().step_by(GROUP) {
            let group = start..which.end.min(start + GROUP);
            self.hash(batch, group.end..which.end.min(group.end + GROUP), &mut buffers.pieces);
            for i in group {
                let piece = buffers.pieces[i - which.start];
                match self.tables.index.find(piece, |_| true) {
                    Some(id) => {
                        self.replay.get_mut().recent.prefetch(id);
                        buffers.likely.push((i as u32, id));
                        found.push(Found { id, new: false });
                    }
                    None => found.push(self.insert(batch, i, piece, origins)),
                }
            }
            let recent = &self.replay.get_mut().recent;
            for (i, id) in buffers.likely.drain(..) {
                if !recent.is(id, batch.state(i as usize)) {
                    buffers.doubts.push((id as u64) << 32 | i as u64);
                }
            }
        }
        self.settle_doubts(batch, &mut buffers);
        for i in buffers.mistaken.drain(..) {
            let (i, state) = (i as usize, batch.state(i as usize));
            let piece = buffers.pieces[i - which.start];
            let known = self.find_exactly(state, piece, &mut self.replay.borrow_mut());
            found[answers + i - which.start] = match known {
                Some(id) => Found { id, new: false },
                None => self.insert(batch, i, piece, origins),
            };
        }
        self.lookup = buffers;
        Ok(())
    }

    fn hash(&self, batch: &Batch, which: Range<usize>, pieces: &mut Vec<u32>) {
        for i in which {
            let piece = self.tables.piece(batch.state(i));
            self.tables.index.prefetch(piece);
            pieces.push(piece);
        }
    }

    /// Compares states with what they seem to be, in the order of the numbers.
    fn settle_doubts(&mut self, batch: &Batch, buffers: &mut Buffers) {
        let replay = self.replay.get_mut();
        buffers.doubts.sort_unstable();
        for (at, &doubt) in buffers.doubts.iter().enumerate() {
            if let Some(&later) = buffers.doubts.get(at + AHEAD) {
                self.tables.prefetch((later >> 32) as StateId);
            }
            let (id, i) = ((doubt >> 32) as StateId, doubt as u32);
            if !replay.is(id, batch.state(i as usize), &self.tables) {
                buffers.mistaken.push(i);
            }
        }
        buffers.doubts.clear();
        buffers.mistaken.sort_unstable();
    }

    /// The number of a state.
    pub(super) fn find_exactly(&self, state: &[u8], piece: u32, replay: &mut Replay) -> Option<StateId> {
        self.tables.index.find(piece, |id| replay.is(id, state, &self.tables))
    }

    /// Stores a state, number `i` of a batch, for which room was made.
    #[inline(always)]
    fn insert(&mut self, batch: &Batch, i: usize, piece: u32, origins: Option<&[Origin]>) -> Found {
        let (state, id) = (batch.state(i), self.tables.len);
        let backedge = match origins {
            Some(origins) => self.tables.backedge(id, batch, i, piece, origins),
            None => {
                self.tables.roots.push(state, 0);
                Backedge { predecessor: id, place: self.tables.roots.len() as u32 - 1 }
            }
        };
        let Tables { index, backedges, vectors, len, .. } = &mut self.tables;
        index.enter(piece, id);
        backedges.push(backedge);
        *len += 1;
        vectors.push(state, backedges, self.allowed);
        self.replay.get_mut().recent.put(id, state);
        Found { id, new: true }
    }
}

impl Tables<'_> {
    /// Asks for the memory from which a state will be made.
    #[inline(always)]
    fn prefetch(&self, id: StateId) {
        if self.vectors.has(id) {
            self.vectors.prefetch(id);
        } else {
            self.backedges.prefetch(id);
        }
    }

    /// How the new state `id`, number `i` of a batch, was found.
    #[inline(always)]
    fn backedge(&mut self, id: StateId, batch: &Batch, i: usize, piece: u32, origins: &[Origin]) -> Backedge {
        let Origin { source, place } = origins[i];
        if self.with_places {
            return Backedge { predecessor: source, place };
        }
        // Is there another state with the same hash among the source's successors before this one?
        let siblings = (0..i).rev().take_while(|&k| origins[k].source == source);
        if siblings.into_iter().any(|k| self.piece(batch.state(k)) == piece && batch.state(k) != batch.state(i)) {
            self.exceptions.insert(id, place);
        }
        Backedge { predecessor: source, place: 0 }
    }
}
