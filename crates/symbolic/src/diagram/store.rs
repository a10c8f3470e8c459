//! The nodes themselves: blocks in one array of words, found by their contents.
//!
//! A node's number is the place of its block, so an edge is followed with one look into memory. A block is a head (what
//! it is, how many edges) and the edges: `value, child` in a set, after the level `from, to, child` in a relation.
//! Collection marks and sweeps; blocks never move, free neighbours become one run, and new nodes are laid into the runs.

use super::{Edge, Halt};
use scrimp_core::Budget;
use scrimp_system::Stop;
use std::sync::Arc;

/// The set without vectors, and the set with the empty vector: blocks without edges.
pub const EMPTY: u32 = 0;
pub const UNIT: u32 = 1;

const MARK: u32 = 1 << 31;
const FREE: u32 = 1 << 30;
const RELATION: u32 = 1 << 29;
const COUNT: u32 = RELATION - 1;

/// Numbers have 31 bits: the cache has a use for the last one.
const MOST_WORDS: usize = 1 << 31;
const LEAST_SLOTS: usize = 1 << 12;
/// A block of more words is laid into wide runs only, so that a search for its place does not use up the narrow ones.
const LARGE: usize = 64;
const WIDE: usize = 1024;
/// Waste below this many words is not worth a collection; the tests are to see some.
const LITTER: usize = if cfg!(test) { 1 << 12 } else { 16 << 20 };

/// Nodes that are asked for between two looks at the clock.
const PATIENCE: u32 = 1 << 12;

pub struct Store {
    words: Vec<u32>,
    /// Where the nodes are: the low half is the number, the high half the hash; 0 for none.
    slots: Vec<u64>,
    nodes: usize,
    peak: usize,
    /// Words in blocks, and what it was after the last collection.
    used: usize,
    kept: usize,
    /// The run that is being filled.
    at: usize,
    end: usize,
    narrow: Vec<(u32, u32)>,
    wide: Vec<(u32, u32)>,
    /// A relation's node in the making.
    block: Vec<u32>,
    budget: Arc<Budget>,
    stop: Stop,
    /// How many nodes may still be asked for before it is looked whether it is time to stop.
    patience: u32,
}

/// Where the edges of a node are.
#[derive(Clone, Copy)]
pub struct Span {
    pub at: usize,
    pub end: usize,
}

#[inline]
fn mix(hash: u64, part: u64) -> u64 {
    let wide = u128::from(hash ^ part) * 0x9E37_79B9_7F4A_7C15;
    (wide >> 64) as u64 ^ wide as u64
}

fn hash_of(block: &[u32]) -> u32 {
    let mut hash = 0x243F_6A88_85A3_08D3_u64;
    let mut pairs = block.chunks_exact(2);
    for pair in &mut pairs {
        hash = mix(hash, u64::from(pair[0]) << 32 | u64::from(pair[1])).wrapping_add(0x1319_8A2E_0370_7344);
    }
    if let [last] = pairs.remainder() {
        hash = mix(hash, u64::from(*last)).wrapping_add(1);
    }
    (hash.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
}

#[inline]
pub fn hash_of_edges(edges: impl Iterator<Item = Edge>) -> u32 {
    let mut hash = 0xA409_3822_299F_31D0_u64;
    for edge in edges {
        hash = mix(hash, u64::from(edge.value) << 32 | u64::from(edge.child)).wrapping_add(0x1319_8A2E_0370_7344);
    }
    (hash.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
}

impl Store {
    pub fn new(budget: &Arc<Budget>, stop: &Stop) -> Result<Store, Halt> {
        if !budget.may_take(LEAST_SLOTS * 8) {
            return Err(Halt::Full);
        }
        budget.take(LEAST_SLOTS * 8);
        Ok(Store {
            words: vec![0, 0],
            slots: vec![0; LEAST_SLOTS],
            nodes: 0,
            peak: 0,
            used: 0,
            kept: 0,
            at: 2,
            end: 2,
            narrow: Vec::new(),
            wide: Vec::new(),
            block: Vec::new(),
            budget: budget.clone(),
            stop: stop.clone(),
            patience: PATIENCE,
        })
    }

    pub fn bytes(&self) -> usize {
        self.words.capacity() * 4 + self.slots.len() * 8 + (self.narrow.capacity() + self.wide.capacity()) * 8
    }

    pub fn live(&self) -> usize {
        self.nodes
    }

    pub fn peak(&self) -> usize {
        self.peak
    }

    /// All numbers of nodes are below this.
    pub fn extent(&self) -> usize {
        self.words.len()
    }

    pub fn is_littered(&self) -> bool {
        self.used - self.kept.min(self.used) > LITTER.max(self.kept)
    }

    /// Words in blocks.
    pub fn used(&self) -> usize {
        self.used
    }

    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Makes sure that so many nodes find room once the store is empty, the largest of them with `widest` words.
    pub fn fits(&mut self, nodes: usize, words: usize, widest: usize) -> Result<(), Halt> {
        while nodes * 4 > self.slots.len() * 3 {
            let before = self.slots.len();
            self.grow_slots()?;
            if self.slots.len() == before {
                return Err(Halt::Full);
            }
        }
        // At the end of a run, less than a block is lost; there may be a few runs.
        let needed = words + 8 * widest + WIDE;
        while self.words.len() < needed {
            self.leave_run();
            self.grow_words(1)?;
        }
        Ok(())
    }

    #[inline]
    pub fn word(&self, place: usize) -> u32 {
        self.words[place]
    }

    /// The edges of a set's node: two words each.
    #[inline]
    pub fn span(&self, node: u32) -> Span {
        let at = node as usize + 1;
        Span { at, end: at + 2 * (self.words[node as usize] & COUNT) as usize }
    }

    /// The edges of a set's node as words.
    #[inline]
    pub fn edges(&self, node: u32) -> impl DoubleEndedIterator<Item = Edge> + ExactSizeIterator + '_ {
        let span = self.span(node);
        // A node of no edges may stand at the very beginning, before another.
        let words = if span.at < span.end { &self.words[span.at..span.end] } else { &[] };
        words.chunks_exact(2).map(|pair| Edge { value: pair[0], child: pair[1] })
    }

    /// The child at this value; the empty set where there is none.
    #[inline]
    pub fn child(&self, node: u32, value: u32) -> u32 {
        let span = self.span(node);
        let (mut low, mut high) = (0, (span.end - span.at) / 2);
        while low < high {
            let middle = (low + high) / 2;
            let place = span.at + 2 * middle;
            match self.words[place].cmp(&value) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return self.words[place + 1],
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        EMPTY
    }

    /// The level of a relation's node, which must not be the empty one or the identity.
    #[inline]
    pub fn level(&self, node: u32) -> usize {
        self.words[node as usize + 1] as usize
    }

    /// The edges of a relation's node: `from, to, child` each.
    #[inline]
    pub fn triples(&self, node: u32) -> Span {
        let at = node as usize + 2;
        Span { at, end: at + 3 * (self.words[node as usize] & COUNT) as usize }
    }

    /// Makes nodes until this says stop; gives what said so before.
    pub fn stop_at(&mut self, stop: Stop) -> Stop {
        std::mem::replace(&mut self.stop, stop)
    }

    /// Fails where it is time to stop. Every operation asks for nodes, so none goes on for long.
    #[inline]
    fn look(&mut self) -> Result<(), Halt> {
        self.patience -= 1;
        if self.patience == 0 { self.look_up() } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self) -> Result<(), Halt> {
        self.patience = PATIENCE;
        self.stop.due().map_or(Ok(()), |cause| Err(Halt::Limit(cause.into())))
    }

    /// The set's node with these edges.
    #[inline]
    pub fn set_node(&mut self, edges: &[Edge]) -> Result<u32, Halt> {
        self.look()?;
        let hash = hash_of_edges(edges.iter().copied());
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                break;
            }
            if (entry >> 32) as u32 == hash && self.has_edges(entry as u32, edges) {
                return Ok(entry as u32);
            }
            slot = (slot + 1) & mask;
        }
        let words = 1 + 2 * edges.len();
        let node = self.place(words)?;
        let block = &mut self.words[node..node + words];
        block[0] = edges.len() as u32;
        for (pair, edge) in block[1..].chunks_exact_mut(2).zip(edges) {
            pair[0] = edge.value;
            pair[1] = edge.child;
        }
        self.enter(node as u32, hash)
    }

    #[inline]
    fn has_edges(&self, node: u32, edges: &[Edge]) -> bool {
        self.words[node as usize] == edges.len() as u32
            && self.edges(node).zip(edges).all(|(mine, edge)| mine.value == edge.value && mine.child == edge.child)
    }

    /// The relation's node at this level with these edges, sorted by `from` and `to`; the empty relation without edges.
    pub fn relation_node(&mut self, level: usize, triples: &[(u32, u32, u32)]) -> Result<u32, Halt> {
        if triples.is_empty() {
            return Ok(EMPTY);
        }
        self.look()?;
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        block.extend([RELATION | triples.len() as u32, level as u32]);
        block.extend(triples.iter().flat_map(|&(from, to, child)| [from, to, child]));
        let answer = self.block_node(&block);
        self.block = block;
        answer
    }

    fn block_node(&mut self, block: &[u32]) -> Result<u32, Halt> {
        let hash = hash_of(block);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let entry = self.slots[slot];
            let start = entry as u32 as usize;
            if (entry >> 32) as u32 == hash && self.words.get(start..start + block.len()) == Some(block) {
                return Ok(entry as u32);
            }
            slot = (slot + 1) & mask;
        }
        let node = self.place(block.len())?;
        self.words[node..node + block.len()].copy_from_slice(block);
        self.enter(node as u32, hash)
    }

    /// Puts a new node into the table. The slot is looked for again, for the table may have grown.
    #[inline]
    fn enter(&mut self, node: u32, hash: u32) -> Result<u32, Halt> {
        self.insert(node, hash);
        self.nodes += 1;
        self.peak = self.peak.max(self.nodes);
        Ok(node)
    }

    #[inline]
    fn insert(&mut self, node: u32, hash: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = u64::from(hash) << 32 | u64::from(node);
    }

    /// Room for a block.
    #[inline]
    fn place(&mut self, words: usize) -> Result<usize, Halt> {
        if (self.nodes + 1) * 4 > self.slots.len() * 3 {
            self.grow_slots()?;
        }
        if self.end - self.at < words {
            self.next_run(words)?;
        }
        let place = self.at;
        self.at += words;
        self.used += words;
        Ok(place)
    }

    /// A full table is no end as long as it has some free slots: it is slower, but there may be no memory for a larger one.
    #[cold]
    fn grow_slots(&mut self) -> Result<(), Halt> {
        let slots = self.slots.len() * 2;
        if slots > 1 << 32 || !self.budget.may_take(slots * 8) {
            let crowded = (self.nodes + 1) * 16 > self.slots.len() * 15;
            return if crowded { Err(Halt::Full) } else { Ok(()) };
        }
        self.budget.take(slots * 8);
        let smaller = std::mem::replace(&mut self.slots, vec![0; slots]);
        for entry in smaller.iter().filter(|&&entry| entry != 0) {
            self.insert(*entry as u32, (entry >> 32) as u32);
        }
        self.budget.give_back(smaller.len() * 8);
        Ok(())
    }

    /// Turns to a run with room for so many words; what is left of the present one is kept for later.
    #[cold]
    fn next_run(&mut self, words: usize) -> Result<(), Halt> {
        self.leave_run();
        if words <= LARGE {
            while let Some((at, size)) = self.narrow.pop() {
                if size as usize >= words {
                    (self.at, self.end) = (at as usize, at as usize + size as usize);
                    return Ok(());
                }
            }
        }
        if let Some(index) = self.wide.iter().rposition(|&(_, size)| size as usize >= words) {
            let (at, size) = self.wide.swap_remove(index);
            (self.at, self.end) = (at as usize, at as usize + size as usize);
            return Ok(());
        }
        self.grow_words(words)
    }

    /// Marks what is left of the present run as free.
    fn leave_run(&mut self) {
        let (at, size) = (self.at, self.end - self.at);
        if size > 0 {
            self.words[at] = FREE | size as u32;
            match size {
                WIDE.. => self.wide.push((at as u32, size as u32)),
                3.. => self.narrow.push((at as u32, size as u32)),
                _ => {}
            }
        }
        self.end = at;
    }

    fn grow_words(&mut self, words: usize) -> Result<(), Halt> {
        let length = self.words.len();
        let chunk = (length / 8).clamp(1 << 14, 1 << 24).max(words);
        if chunk > COUNT as usize || length + chunk > MOST_WORDS || !self.budget.may_take(chunk * 4) {
            return Err(Halt::Full);
        }
        self.budget.take(chunk * 4);
        self.words.reserve_exact(chunk);
        self.words.resize(length + chunk, 0);
        (self.at, self.end) = (length, length + chunk);
        Ok(())
    }

    /// Marks what can be reached from these.
    pub fn mark(&mut self, roots: impl Iterator<Item = u32>) {
        self.words[EMPTY as usize] |= MARK;
        self.words[UNIT as usize] |= MARK;
        let mut open: Vec<u32> = Vec::new();
        for root in roots {
            self.mark_one(root, &mut open);
            while let Some(node) = open.pop() {
                let relation = self.words[node as usize] & RELATION != 0;
                let (span, step) = if relation { (self.triples(node), 3) } else { (self.span(node), 2) };
                for place in (span.at..span.end).step_by(step) {
                    let child = self.words[place + step - 1];
                    self.mark_one(child, &mut open);
                }
            }
        }
    }

    #[inline]
    fn mark_one(&mut self, node: u32, open: &mut Vec<u32>) {
        let head = &mut self.words[node as usize];
        if *head & MARK == 0 {
            *head |= MARK;
            open.push(node);
        }
    }

    #[inline]
    pub fn is_marked(&self, node: u32) -> bool {
        self.words[node as usize] & MARK != 0
    }

    /// Frees the blocks that are not marked, and takes the marks off the others.
    pub fn sweep(&mut self) {
        self.leave_run();
        self.words[EMPTY as usize] = 0;
        self.words[UNIT as usize] = 0;
        self.narrow.clear();
        self.wide.clear();
        self.slots.fill(0);
        (self.nodes, self.used) = (0, 0);
        let (mut place, mut run) = (2, 2);
        while place < self.words.len() {
            let head = self.words[place];
            let size = match head & (FREE | RELATION) {
                0 => 1 + 2 * (head & COUNT) as usize,
                RELATION => 2 + 3 * (head & COUNT) as usize,
                _ => (head & COUNT) as usize,
            };
            if head & (FREE | MARK) == MARK {
                self.free_run(run, place);
                self.words[place] = head & !MARK;
                let hash = if head & RELATION == 0 {
                    hash_of_edges(self.edges(place as u32))
                } else {
                    hash_of(&self.words[place..place + size])
                };
                self.insert(place as u32, hash);
                self.nodes += 1;
                self.used += size;
                run = place + size;
            }
            place += size;
        }
        self.free_run(run, self.words.len());
        // The lists are used from the end: what comes first in memory is filled first.
        self.narrow.reverse();
        self.wide.reverse();
        (self.at, self.end) = (2, 2);
        self.kept = self.used;
    }

    /// Notes that these words are free. A run longer than a head can tell becomes several.
    fn free_run(&mut self, mut from: usize, to: usize) {
        while from < to {
            let size = (to - from).min(COUNT as usize);
            (self.at, self.end) = (from, from + size);
            self.leave_run();
            from += size;
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.budget.give_back((self.words.len() - 2) * 4 + self.slots.len() * 8);
    }
}
