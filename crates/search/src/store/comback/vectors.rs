//! States in full, as far as there is room: those found last, and some of the older ones.
//!
//! States are kept in blocks of consecutive numbers, each state as what [differs](super::delta) from the one before, and the
//! first as what differs from the first state of the chunk of memory that holds the block. Chunks are filled one after the
//! other. When there is no room for one more, the oldest is given up. Path shortening: a state of it moves to the chunks
//! that stay for good where the way to it would otherwise become too long; the others are gone, and can be replayed.

use super::backedges::Backedges;
use super::delta;
use crate::column::Column;
use crate::store::index::prefetch;
use crate::store::{Full, StateId};
use crate::words::{Shape, by_words, copy_at};
use scrimp_core::Budget;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// States in a block.
pub const BLOCK: usize = 16;
/// Bytes of a chunk, where states are not very long.
const CHUNK: usize = 1 << 14;
/// The longest way to replay, however little room there is.
const LONGEST_WAY: usize = 100;
/// Ways are as short as can be until states that stay for good take this share of all; from there to all, they may double so
/// many times.
const LASTING: f64 = 0.25;
const DOUBLINGS: f64 = 20.0;
/// Blocks start at multiples of so many bytes.
const UNIT: usize = 2;
/// All states of a block.
const ALL: u16 = u16::MAX;
const _: () = assert!(BLOCK == ALL.count_ones() as usize);

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
    shape: Shape,
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
    /// Where each block is, in units, if anything of it is left.
    places: Column<u32>,
    /// Which states of each block are in full, as bits.
    kept: Column<u16>,
    /// How long the way to a state of each block may be, where some are not in full.
    ways: Column<u8>,
    /// The longest way that is allowed now: how many events may lead to a state from the last one in full.
    longest_way: usize,
    /// How often blocks have moved.
    moves: u32,
    /// States in full, but for those of the block that is not complete.
    whole: usize,
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

/// What stays of a chunk that is given up: which states of each block, and these one after the other. Blocks of which all
/// stay move to the newest chunk.
#[derive(Default)]
struct Stay {
    blocks: Vec<(u32, u16)>,
    states: Vec<u8>,
}

/// The state decoded last.
pub struct Cursor {
    block: u32,
    /// It means nothing once blocks have moved.
    moves: u32,
    /// How many of its states in full were decoded, and where the next one is written.
    count: usize,
    next: usize,
    state: Vec<u8>,
}

impl Cursor {
    pub fn new(state_bytes: usize) -> Cursor {
        Cursor { block: u32::MAX, moves: 0, count: 0, next: 0, state: vec![0; state_bytes.next_multiple_of(8)] }
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
            shape: Shape::new(state_bytes),
            chunk_bytes,
            chunks: Column::new(budget)?,
            touched: 0,
            free: Vec::new(),
            window: VecDeque::new(),
            newest: writer(),
            lasting: writer(),
            places: Column::new(budget)?,
            kept: Column::new(budget)?,
            ways: Column::new(budget)?,
            longest_way: 1,
            moves: 0,
            whole: 0,
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
        self.kept.ensure(blocks)?;
        self.ways.ensure(blocks)?;
        self.passed.as_mut().map_or(Ok(()), |passed| passed.ensure(blocks))
    }

    /// Appends a state. All chunks together should take at most `allowed` bytes.
    #[inline(always)]
    pub fn push(&mut self, state: &[u8], backedges: &Backedges, allowed: usize) {
        let at = self.len % BLOCK * 8 * self.words;
        assert!(state.len() == self.state_bytes);
        let to = self.tail[at..at + self.state_bytes].as_mut_ptr();
        // SAFETY: a state of this shape, and room for one that belongs to this structure.
        by_words!(self.shape, W => unsafe { copy_at::<W>(state.as_ptr(), to, self.shape) });
        self.len += 1;
        if self.len.is_multiple_of(BLOCK) {
            self.complete(backedges, allowed);
        }
    }

    /// Goes on behind `len` states, none of them in full.
    pub fn skip(&mut self, len: usize) {
        (self.len, self.tail_from) = (len, len);
        self.kept.first_mut(len / BLOCK).fill(0);
        self.ways.first_mut(len / BLOCK).fill(u8::MAX);
    }

    /// Writes the block that is complete now.
    fn complete(&mut self, backedges: &Backedges, allowed: usize) {
        let block = (self.len / BLOCK - 1) as u32;
        (self.kept[block], self.ways[block]) = (0, u8::MAX);
        if self.tail_from > self.len - BLOCK {
            return;
        }
        let tail = std::mem::take(&mut self.tail);
        // While there is no room for it, older ones go. Where these are still to be expanded, that may not help.
        let mut tries = if self.passed.is_some() { 2 } else { usize::MAX };
        while !self.write(block, ALL, &tail, if tries == 0 { usize::MAX } else { allowed }) {
            let oldest = if tries > 0 { self.window.pop_front() } else { None };
            let Some((chunk, blocks)) = oldest else {
                break;
            };
            self.give_up(chunk, blocks, backedges, allowed);
            tries -= 1;
        }
        self.tail = tail;
    }

    /// Writes a block to the newest chunk, or some of its states to the one that stays. `false` when a chunk is needed and
    /// may not be had.
    fn write(&mut self, block: u32, which: u16, states: &[u8], allowed: usize) -> bool {
        let (stride, lasting) = (8 * self.words, which != ALL);
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
            return self.write(block, which, states, allowed);
        }
        let at = start + writer.used;
        self.chunks.stretch_mut(at, size).copy_from_slice(&self.buffer[..size]);
        writer.used += size.next_multiple_of(UNIT);
        if !lasting {
            writer.blocks.push(block);
        }
        self.places[block] = (at / UNIT) as u32;
        self.kept[block] = which;
        self.whole += which.count_ones() as usize;
        true
    }

    /// The oldest chunk makes room. Those of its states stay to which the way would become too long.
    #[cold]
    fn give_up(&mut self, chunk: u32, mut blocks: Vec<u32>, backedges: &Backedges, allowed: usize) {
        let mut cursor = Cursor::new(self.state_bytes);
        let stride = 8 * self.words;
        let lasting = self.lasting_bytes() < allowed / 4 * 3;
        let mut stay = std::mem::take(&mut self.stay);
        for block in blocks.drain(..) {
            let open = self.passed.as_ref().is_some_and(|passed| (passed[block] as usize) < BLOCK);
            self.kept[block] = 0;
            self.whole -= BLOCK;
            let staying = if open {
                ALL
            } else if lasting {
                self.far(block, backedges)
            } else {
                0
            };
            if staying == 0 {
                continue;
            }
            for i in (0..BLOCK).filter(|i| staying >> i & 1 == 1) {
                self.decode(block, i + 1, &mut cursor);
                stay.states.extend_from_slice(&cursor.state);
            }
            stay.blocks.push((block, staying));
        }
        self.free.push(chunk);
        if self.newest.blocks.capacity() == 0 {
            self.newest.blocks = blocks;
        }
        let mut states = &stay.states[..];
        for &(block, which) in &stay.blocks {
            // What is still to be expanded stays as long as the budget has room.
            let allowed = if which == ALL { usize::MAX } else { allowed };
            let these;
            (these, states) = states.split_at(which.count_ones() as usize * stride);
            self.kept[block] = 0;
            self.write(block, which, these, allowed);
        }
        stay.blocks.clear();
        stay.states.clear();
        self.stay = stay;
        self.moves += 1;
        // The more is kept for good, the longer ways may be, so that most is left for the window.
        let share = self.lasting_bytes() as f64 / allowed as f64;
        self.longest_way = (((share - LASTING) * DOUBLINGS).exp2() as usize).clamp(1, LONGEST_WAY);
    }

    fn lasting_bytes(&self) -> usize {
        (self.touched as usize - self.free.len() - self.window.len()) * self.chunk_bytes
    }

    /// Which states of a block, none of them in full, should be, so that no way to one of them is too long.
    fn far(&mut self, block: u32, backedges: &Backedges) -> u16 {
        let mut longest = 0;
        for i in 0..BLOCK {
            let way = self.way((block as usize * BLOCK + i) as StateId, backedges);
            // All of them together would mean something else.
            if way > self.longest_way && i + 1 < BLOCK {
                self.kept[block] |= 1 << i;
            } else {
                longest = longest.max(way);
            }
        }
        self.ways[block] = longest as u8;
        self.kept[block]
    }

    /// How many events lead to a state that is not in full from one that is; where that is not too long, it may be less.
    fn way(&self, id: StateId, backedges: &Backedges) -> usize {
        let mut at = id;
        for way in 1..=self.longest_way {
            let before = backedges.get(at).predecessor;
            if before == at || self.has(before) {
                return way;
            }
            let block = before as usize / BLOCK;
            let at_most = way + self.ways[block as u32] as usize;
            if at_most <= self.longest_way && block != id as usize / BLOCK {
                return at_most;
            }
            at = before;
        }
        self.longest_way + 1
    }

    /// Is the state kept in full?
    #[inline(always)]
    pub fn has(&self, id: StateId) -> bool {
        let block = id as usize / BLOCK;
        if block == self.len / BLOCK {
            id as usize >= self.tail_from
        } else {
            self.kept[block as u32] >> (id as usize % BLOCK) & 1 == 1
        }
    }

    /// Shows a state that is kept in full.
    #[inline(always)]
    pub fn state<'a>(&'a self, id: StateId, cursor: &'a mut Cursor) -> &'a [u8] {
        let block = id as usize / BLOCK;
        if block == self.len / BLOCK {
            let at = id as usize % BLOCK * 8 * self.words;
            return &self.tail[at..at + self.state_bytes];
        }
        let before_it = self.kept[block as u32] & ((2u32 << (id as usize % BLOCK)) - 1) as u16;
        self.decode(block as u32, before_it.count_ones() as usize, cursor);
        &cursor.state[..self.state_bytes]
    }

    /// Asks for the memory of a state that is kept in full.
    #[inline(always)]
    pub fn prefetch(&self, id: StateId) {
        let block = id as usize / BLOCK;
        if block < self.len / BLOCK {
            let at = self.places[block as u32] as usize * UNIT;
            prefetch(self.chunks.address(0).wrapping_add(at));
            prefetch(self.chunks.address(0).wrapping_add(at + 64));
        }
    }

    /// Decodes so many of the states of a block that are in full, and shows the last of them.
    #[inline(always)]
    fn decode(&self, block: u32, count: usize, cursor: &mut Cursor) {
        let at = self.places[block] as usize * UNIT;
        let chunk = at & !(self.chunk_bytes - 1);
        if cursor.block != block || cursor.moves != self.moves || cursor.count > count {
            cursor.state.copy_from_slice(self.chunks.stretch(chunk, 8 * self.words));
            *cursor = Cursor { block, moves: self.moves, count: 0, next: at, state: std::mem::take(&mut cursor.state) };
        }
        let bytes = self.chunks.stretch(cursor.next, chunk + self.chunk_bytes - cursor.next);
        cursor.next += delta::read(count - cursor.count, bytes, &mut cursor.state);
        cursor.count = count;
    }

    /// Number of states kept in full.
    pub fn whole(&self) -> usize {
        self.whole + self.len - self.tail_from.max(self.len / BLOCK * BLOCK)
    }

    /// Bytes used beside chunks: where blocks are.
    pub fn beside(&self) -> usize {
        self.len / BLOCK * (7 + self.passed.is_some() as usize)
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
    if (needed > allowed && *touched > 3) || needed / UNIT > u32::MAX as usize || chunks.ensure(needed).is_err() {
        return None;
    }
    *touched += 1;
    Some(*touched - 1)
}
