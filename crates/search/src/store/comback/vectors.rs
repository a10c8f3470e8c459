//! States in full, as far as there is room: those found last, and some of the older ones.
//!
//! States are kept in blocks of consecutive numbers, each state as what [differs](super::delta) from the one before, and the
//! first as what differs from the first state of the chunk of memory that holds the block. Chunks are filled one after the
//! other. When there is no room for one more, the oldest is given up. Path shortening: a block of it moves to the chunks
//! that stay for good where the way to a state of it would otherwise become too long; the others are gone.
//! Without a block, its states can be replayed.

use super::backedges::Backedges;
use super::delta;
use crate::column::Column;
use crate::store::index::prefetch;
use crate::store::{Full, StateId};
use scrimp_core::Budget;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// States in a block.
pub const BLOCK: usize = 16;
/// Bytes of a chunk, where states are not very long.
const CHUNK: usize = 1 << 14;
/// The longest way to replay, however little room there is.
const LONGEST_WAY: u8 = 250;
/// The place of a block that is gone.
const GONE: u32 = 0;

/// A chunk that is being filled.
struct Writer {
    chunk: u32,
    /// Bytes used.
    used: usize,
    /// The state that the next one is compared with.
    before: Vec<u8>,
    /// The blocks in it.
    blocks: Vec<u32>,
}

pub struct Vectors {
    words: usize,
    state_bytes: usize,
    chunk_bytes: usize,
    chunks: Column<u8>,
    /// Chunks ever used, and those of them that are free.
    touched: u32,
    free: Vec<u32>,
    /// Chunks with the states found last, oldest first, each with its blocks.
    window: VecDeque<(u32, Vec<u32>)>,
    newest: Writer,
    /// Chunks that stay for good are written here.
    lasting: Writer,
    /// Where each block is, in units of four bytes, plus one.
    places: Column<u32>,
    /// How many events the longest way to a state of the block has, counted from states in full.
    ways: Column<u8>,
    /// The longest way that is allowed now.
    longest_way: u8,
    /// Blocks in full.
    blocks: usize,
    /// States of the block that is not complete.
    tail: Vec<u8>,
    len: usize,
    /// Those before this number are not in it.
    tail_from: usize,
    /// How many states of a block may go, where that is known: then a block stays until all may.
    passed: Option<Column<u8>>,
    buffer: Vec<u8>,
    stay: Stay,
}

/// Blocks of a chunk that is given up, each with whether it stays for good, and their states.
#[derive(Default)]
struct Stay {
    blocks: Vec<(u32, bool)>,
    states: Vec<u8>,
}

/// The state decoded last.
pub struct Cursor {
    block: u32,
    place: u32,
    /// How many states of it were decoded, and where the next one is written.
    count: usize,
    next: usize,
    state: Vec<u8>,
}

impl Cursor {
    pub fn new(state_bytes: usize) -> Cursor {
        Cursor { block: u32::MAX, place: GONE, count: 0, next: 0, state: vec![0; state_bytes.next_multiple_of(8)] }
    }
}

impl Vectors {
    pub fn new(state_bytes: usize, budget: &Arc<Budget>) -> io::Result<Vectors> {
        let words = state_bytes.div_ceil(8);
        let chunk_bytes = CHUNK.max((8 * words + 4 * BLOCK * delta::longest(words)).next_power_of_two());
        let writer = || Writer { chunk: u32::MAX, used: chunk_bytes, before: vec![0; 8 * words], blocks: Vec::new() };
        Ok(Vectors {
            words,
            state_bytes,
            chunk_bytes,
            chunks: Column::new(budget)?,
            touched: 0,
            free: Vec::new(),
            window: VecDeque::new(),
            newest: writer(),
            lasting: writer(),
            places: Column::new(budget)?,
            ways: Column::new(budget)?,
            longest_way: 1,
            blocks: 0,
            tail: vec![0; BLOCK * 8 * words],
            len: 0,
            tail_from: 0,
            passed: None,
            buffer: vec![0; BLOCK * delta::longest(words)],
            stay: Stay::default(),
        })
    }

    /// Keeps what was not [passed](Vectors::pass) as long as there is memory for it.
    pub fn sweeping(mut self, budget: &Arc<Budget>) -> io::Result<Vectors> {
        self.passed = Some(Column::new(budget)?);
        Ok(self)
    }

    /// A state will not be expanded any more.
    pub fn pass(&mut self, id: StateId) {
        if let Some(passed) = &mut self.passed {
            passed[(id as usize / BLOCK) as u32] += 1;
        }
    }

    /// Makes room to note where so many more states are.
    pub fn ensure(&mut self, more: usize) -> Result<(), Full> {
        let blocks = (self.len + more) / BLOCK + 1;
        self.places.ensure(blocks)?;
        self.ways.ensure(blocks)?;
        self.passed.as_mut().map_or(Ok(()), |passed| passed.ensure(blocks))
    }

    /// Appends a state. All chunks together should take at most `allowed` bytes.
    #[inline(always)]
    pub fn push(&mut self, state: &[u8], backedges: &Backedges, allowed: usize) {
        let at = self.len % BLOCK * 8 * self.words;
        self.tail[at..at + self.state_bytes].copy_from_slice(state);
        self.len += 1;
        if self.len.is_multiple_of(BLOCK) {
            self.complete(backedges, allowed);
        }
    }

    /// Goes on behind `len` states, none of them in full.
    pub fn skip(&mut self, len: usize, backedges: &Backedges) {
        (self.len, self.tail_from) = (len, len);
        for block in 0..(len / BLOCK) as u32 {
            self.places[block] = GONE;
            self.ways[block] = self.way(block, backedges);
        }
    }

    /// Writes the block that is complete now.
    fn complete(&mut self, backedges: &Backedges, allowed: usize) {
        let block = (self.len / BLOCK - 1) as u32;
        self.places[block] = GONE;
        if self.tail_from > self.len - BLOCK {
            self.ways[block] = self.way(block, backedges);
            return;
        }
        let tail = std::mem::take(&mut self.tail);
        // While there is no room for it, older ones go. Where these are still to be expanded, that may not help.
        let mut tries = if self.passed.is_some() { 2 } else { usize::MAX };
        while !self.write(block, &tail, false, if tries == 0 { usize::MAX } else { allowed }) {
            let oldest = if tries > 0 { self.window.pop_front() } else { None };
            let Some((chunk, blocks)) = oldest else {
                self.ways[block] = self.way(block, backedges);
                break;
            };
            self.give_up(chunk, blocks, backedges, allowed);
            tries -= 1;
        }
        self.tail = tail;
    }

    /// Writes a block to the newest chunk, or to the one that stays. `false` when a chunk is needed and may not be had.
    fn write(&mut self, block: u32, states: &[u8], lasting: bool, allowed: usize) -> bool {
        let stride = 8 * self.words;
        let writer = if lasting { &mut self.lasting } else { &mut self.newest };
        // The first state of a chunk stands there in full.
        if writer.used == self.chunk_bytes {
            let Some(chunk) =
                take_chunk(&mut self.free, &mut self.touched, &mut self.chunks, self.chunk_bytes, allowed)
            else {
                return false;
            };
            (writer.chunk, writer.used) = (chunk, stride);
            let start = chunk as usize * self.chunk_bytes;
            self.chunks.stretch_mut(start, stride).copy_from_slice(&states[..stride]);
        }
        let start = writer.chunk as usize * self.chunk_bytes;
        writer.before.copy_from_slice(self.chunks.stretch(start, stride));
        let mut size = 0;
        for state in states.chunks_exact(stride) {
            size += delta::write(&mut writer.before, state, &mut self.buffer[size..]);
        }
        if writer.used + size + delta::SLACK > self.chunk_bytes {
            let full = std::mem::replace(&mut writer.used, self.chunk_bytes);
            debug_assert!(full > stride);
            if !lasting {
                self.window.push_back((writer.chunk, std::mem::take(&mut writer.blocks)));
            }
            return self.write(block, states, lasting, allowed);
        }
        let at = start + writer.used;
        self.chunks.stretch_mut(at, size).copy_from_slice(&self.buffer[..size]);
        writer.used += size.next_multiple_of(4);
        if !lasting {
            writer.blocks.push(block);
        }
        self.places[block] = (at / 4) as u32 + 1;
        self.blocks += 1;
        self.ways[block] = 0;
        true
    }

    /// The oldest chunk makes room. Those of its blocks stay to which the way would become too long.
    #[cold]
    fn give_up(&mut self, chunk: u32, mut blocks: Vec<u32>, backedges: &Backedges, allowed: usize) {
        let mut cursor = Cursor::new(self.state_bytes);
        let (stride, lasting_allowed) = (8 * self.words, allowed / 4 * 3);
        let mut stay = std::mem::take(&mut self.stay);
        for block in blocks.drain(..) {
            let way = self.way(block, backedges);
            let open = self.passed.as_ref().is_some_and(|passed| (passed[block] as usize) < BLOCK);
            if open || (way > self.longest_way && self.lasting_bytes() < lasting_allowed) {
                for i in 0..BLOCK {
                    self.decode((block as usize * BLOCK + i) as StateId, &mut cursor);
                    stay.states.extend_from_slice(&cursor.state);
                }
                stay.blocks.push((block, !open));
            }
            self.places[block] = GONE;
            self.ways[block] = way;
            self.blocks -= 1;
        }
        self.free.push(chunk);
        if self.newest.blocks.capacity() == 0 {
            self.newest.blocks = blocks;
        }
        for (&(block, lasting), states) in stay.blocks.iter().zip(stay.states.chunks_exact(BLOCK * stride)) {
            // What is still to be expanded stays as long as the budget has room.
            let allowed = if lasting { allowed } else { usize::MAX };
            self.write(block, states, lasting, allowed);
        }
        stay.blocks.clear();
        stay.states.clear();
        self.stay = stay;
        // Ways may be longer when too much is kept for good, and shorter when there is room: the window gets half of all.
        if self.lasting_bytes() > allowed / 2 {
            self.longest_way = (self.longest_way + 1).min(LONGEST_WAY);
        } else if self.lasting_bytes() < allowed / 8 * 3 {
            self.longest_way = (self.longest_way - 1).max(1);
        }
    }

    fn lasting_bytes(&self) -> usize {
        (self.touched as usize - self.free.len() - self.window.len()) * self.chunk_bytes
    }

    /// How long the longest way to a state of a block would be if the block were gone.
    fn way(&self, block: u32, backedges: &Backedges) -> u8 {
        let first = block as usize * BLOCK;
        let mut ways = [0u8; BLOCK];
        for i in 0..BLOCK {
            let predecessor = backedges.get((first + i) as StateId).predecessor as usize;
            let before = match predecessor.checked_sub(first) {
                Some(j) if j == i => continue,
                Some(j) => ways[j],
                None => self.ways[(predecessor / BLOCK) as u32],
            };
            ways[i] = before.saturating_add(1);
        }
        ways.into_iter().max().unwrap_or(0)
    }

    /// Is the state kept in full?
    #[inline(always)]
    pub fn has(&self, id: StateId) -> bool {
        let block = id as usize / BLOCK;
        if block == self.len / BLOCK { id as usize >= self.tail_from } else { self.places[block as u32] != GONE }
    }

    /// Shows a state that is kept in full.
    #[inline(always)]
    pub fn state<'a>(&'a self, id: StateId, cursor: &'a mut Cursor) -> &'a [u8] {
        let block = id as usize / BLOCK;
        if block == self.len / BLOCK {
            let at = id as usize % BLOCK * 8 * self.words;
            return &self.tail[at..at + self.state_bytes];
        }
        self.decode(id, cursor);
        &cursor.state[..self.state_bytes]
    }

    /// Asks for the memory of a state that is kept in full.
    #[inline(always)]
    pub fn prefetch(&self, id: StateId) {
        let block = id as usize / BLOCK;
        if block < self.len / BLOCK {
            let at = (self.places[block as u32] as usize - 1) * 4;
            prefetch(self.chunks.address(0).wrapping_add(at));
            prefetch(self.chunks.address(0).wrapping_add(at + 64));
        }
    }

    #[inline(always)]
    fn decode(&self, id: StateId, cursor: &mut Cursor) {
        let (block, i) = ((id as usize / BLOCK) as u32, id as usize % BLOCK);
        let place = self.places[block];
        let at = (place as usize - 1) * 4;
        let chunk = at & !(self.chunk_bytes - 1);
        if cursor.block != block || cursor.place != place || cursor.count > i + 1 {
            cursor.state.copy_from_slice(self.chunks.stretch(chunk, 8 * self.words));
            *cursor = Cursor { block, place, count: 0, next: at, state: std::mem::take(&mut cursor.state) };
        }
        let bytes = self.chunks.stretch(cursor.next, chunk + self.chunk_bytes - cursor.next);
        cursor.next += delta::read(i + 1 - cursor.count, bytes, &mut cursor.state);
        cursor.count = i + 1;
    }

    /// Number of states kept in full.
    pub fn whole(&self) -> usize {
        self.blocks * BLOCK + self.len - self.tail_from.max(self.len / BLOCK * BLOCK)
    }

    /// Bytes used beside chunks: where blocks are.
    pub fn beside(&self) -> usize {
        self.len / BLOCK * (5 + self.passed.is_some() as usize)
    }

    pub fn bytes(&self) -> usize {
        self.touched as usize * self.chunk_bytes + self.beside()
    }
}

/// A free chunk, or a new one where `allowed` bytes are not exceeded and the budget has it.
fn take_chunk(
    free: &mut Vec<u32>,
    touched: &mut u32,
    chunks: &mut Column<u8>,
    chunk_bytes: usize,
    allowed: usize,
) -> Option<u32> {
    if let Some(chunk) = free.pop() {
        return Some(chunk);
    }
    // A few chunks there must be, or nothing could ever be given up.
    let needed = (*touched as usize + 1) * chunk_bytes;
    if (needed > allowed && *touched > 3) || needed / 4 > u32::MAX as usize - 1 || chunks.ensure(needed).is_err() {
        return None;
    }
    *touched += 1;
    Some(*touched - 1)
}
