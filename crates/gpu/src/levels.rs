//! The search itself, level by level: the table, the two queues, and the kernels over them.
//!
//! A level is expanded in parts. Where a part finds the table or the queue full, it is counted as if it had not been begun, there
//! is made room, and it begins again: what it has added is known by then, and stays.

use crate::device::{Device, Job, Kernel, Memory};
use crate::key::Key;
use scrimp_core::{Control, Limit};
use scrimp_system::VarId;
use std::io;
use std::sync::atomic::Ordering;

/// Bytes of a bucket, and slots in it.
const BUCKET: usize = 128;
const SLOTS: u64 = 16;
/// States whose words lie beside each other.
const LANES: usize = 32;
/// A table is enlarged when so many of a hundred slots are taken.
const FULL: u64 = 75;

/// Why a search cannot go on as it is.
#[derive(Debug)]
pub enum Halt {
    Limit(Limit),
    /// Variables have no room for a value.
    Widen(Vec<VarId>),
    /// The table of parts is full.
    Parts,
    /// A process goes on by itself for too long.
    TooLong,
    /// The system is too small for its model.
    Outgrown,
    Failed(io::Error),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        match error.kind() {
            io::ErrorKind::OutOfMemory => Halt::Limit(Limit::Memory),
            _ => Halt::Failed(error),
        }
    }
}

/// What a search has counted, as the text declares it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub next: u64,
    pub transitions: u64,
    pub faults: u64,
    pub deadlocks: u64,
    pub degree: u64,
    /// Why it wants to stop.
    flags: u64,
    variable: u64,
    /// What was found, bit by bit.
    pub found: u64,
    place: u64,
    narrow: [u64; 8],
}

const TABLE_FULL: u64 = 1;
const NODES_FULL: u64 = 2;
const QUEUE_FULL: u64 = 4;
const NO_ROOM: u64 = 8;
const TOO_LONG: u64 = 16;
const OUTGROWN_SYSTEM: u64 = 32;

impl Counts {
    /// Words of 64 bits. The first one has a line of its own.
    const WORDS: usize = 32;
    const BYTES: usize = 8 * Counts::WORDS;
    const APART: usize = 16;

    fn to_bytes(self) -> [u8; Counts::BYTES] {
        let Counts { next, transitions, faults, deadlocks, degree, flags, variable, found, place, narrow } = self;
        let mut words = [0; Counts::WORDS];
        words[0] = next;
        let others = [transitions, faults, deadlocks, degree, flags, variable, found, place];
        words[Counts::APART..].iter_mut().zip(others.into_iter().chain(narrow)).for_each(|(to, word)| *to = word);
        let mut bytes = [0; Counts::BYTES];
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
        bytes
    }

    fn of_bytes(bytes: &[u8; Counts::BYTES]) -> Counts {
        let word = |i: usize| u64::from_ne_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap_or_default());
        let other = |i: usize| word(Counts::APART + i);
        Counts {
            next: word(0),
            transitions: other(0),
            faults: other(1),
            deadlocks: other(2),
            degree: other(3),
            flags: other(4),
            variable: other(5),
            found: other(6),
            place: other(7),
            narrow: std::array::from_fn(|i| other(8 + i)),
        }
    }

    /// The variables without room for a value.
    fn narrow(&self) -> Vec<VarId> {
        let bits = (0..512).filter(|bit| self.narrow[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| bit as u64);
        let mut all: Vec<VarId> = bits.chain([self.variable]).map(|variable| VarId(variable as u32)).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// What is known of a text before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Words of a state.
    pub words: usize,
    pub key: Key,
    pub node_log: u32,
    pub groups: u32,
    /// Things that can be found, and words of 64 bits for each.
    pub findings: usize,
    pub found_words: usize,
}

/// States in the order in which they were found.
struct Queue<'d> {
    memory: Memory<'d>,
    capacity: u64,
}

impl<'d> Queue<'d> {
    fn bytes(words: usize, capacity: u64) -> usize {
        words * 4 * capacity as usize
    }

    fn new(device: &'d dyn Device, words: usize, capacity: u64) -> io::Result<Queue<'d>> {
        let capacity = capacity.next_multiple_of(LANES as u64);
        Ok(Queue { memory: Memory::new(device, Queue::bytes(words, capacity))?, capacity })
    }
}

/// States of a level, as they lie in a queue.
pub struct Level {
    pub words: Vec<u32>,
    pub states: u64,
}

impl Level {
    /// From states one after the other.
    pub fn of(states: &[u32], words: usize) -> Level {
        let count = states.len() / words;
        let mut level = vec![0; count.next_multiple_of(LANES) * words];
        for (i, state) in states.chunks_exact(words).enumerate() {
            state.iter().enumerate().for_each(|(j, word)| level[place(i, j, words)] = *word);
        }
        Level { words: level, states: count as u64 }
    }

    pub fn state(&self, i: usize, words: usize) -> Vec<u32> {
        (0..words).map(|j| self.words[place(i, j, words)]).collect()
    }
}

fn place(state: usize, word: usize, words: usize) -> usize {
    (state / LANES * words + word) * LANES + state % LANES
}

/// A search on a device.
pub struct Levels<'d> {
    device: &'d dyn Device,
    shape: Shape,
    memory: usize,
    /// States of a level that are expanded together.
    part: u64,
    slots: Memory<'d>,
    log: u32,
    nodes: Memory<'d>,
    counts_at: Memory<'d>,
    found: Memory<'d>,
    degree: Memory<'d>,
    /// What the device has counted, as it was last seen there or put there.
    put: Counts,
    now: Queue<'d>,
    next: Queue<'d>,
    /// States of the level in `now`, and how many of them were expanded.
    pub width: u64,
    pub expanded: u64,
    pub counts: Counts,
    /// Sizes of the levels so far, that in `now` included.
    pub widths: Vec<u64>,
    /// The most bytes that were allocated.
    pub peak: usize,
}

impl<'d> Levels<'d> {
    /// A search with nothing in it yet, of at most so many bytes.
    pub fn new(device: &'d dyn Device, shape: Shape, memory: usize) -> Result<Levels<'d>, Halt> {
        // What is moved later need not be moved.
        let first = (device.first_table(memory) / BUCKET).max(1).ilog2();
        let log = shape.key.least_log.max(10).max(first);
        let nodes = if shape.key.parts { BUCKET << shape.node_log } else { 1 };
        let a_state = 2 * Queue::bytes(shape.words, 1) + 4;
        let capacity = device.part().min(1 << (memory / 8 / a_state).max(LANES).ilog2());
        let found = shape.findings * shape.found_words * 8;
        let queues = 2 * Queue::bytes(shape.words, capacity) + 4 * capacity as usize;
        let needed = (BUCKET << log) + nodes + queues + found + Counts::BYTES;
        if needed > memory {
            return Err(Halt::Limit(Limit::Memory));
        }
        Ok(Levels {
            device,
            shape,
            memory,
            part: capacity,
            slots: Memory::new(device, BUCKET << log)?,
            log,
            nodes: Memory::new(device, nodes)?,
            counts_at: Memory::new(device, Counts::BYTES)?,
            found: Memory::new(device, found)?,
            degree: Memory::new(device, 4 * capacity as usize)?,
            now: Queue::new(device, shape.words, capacity)?,
            next: Queue::new(device, shape.words, capacity)?,
            put: Counts::default(),
            width: 0,
            expanded: 0,
            counts: Counts::default(),
            widths: Vec::new(),
            peak: needed,
        })
    }

    pub fn states(&self) -> u64 {
        self.widths.iter().sum()
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        let Levels { slots, nodes, counts_at, found, degree, now, next, .. } = self;
        [slots, nodes, counts_at, found, degree, &now.memory, &next.memory].iter().map(|memory| memory.bytes()).sum()
    }

    /// Bytes of the tables.
    pub fn table_bytes(&self) -> usize {
        self.slots.bytes() + self.nodes.bytes()
    }

    fn job(&self) -> Job {
        Job {
            slots: self.slots.at(),
            nodes: self.nodes.at(),
            log: self.log as u64,
            node_log: self.shape.node_log as u64,
            now: self.now.memory.at(),
            next: self.next.memory.at(),
            capacity: self.next.capacity,
            degree: self.degree.at(),
            counts: self.counts_at.at(),
            found: self.found.at(),
            ..Job::default()
        }
    }

    fn put_counts(&mut self, counts: Counts) -> io::Result<()> {
        if self.put != counts {
            self.device.write(self.counts_at.at(), &counts.to_bytes())?;
            self.put = counts;
        }
        Ok(())
    }

    fn get_counts(&mut self) -> io::Result<Counts> {
        let mut bytes = [0; Counts::BYTES];
        self.device.read(self.counts_at.at(), &mut bytes)?;
        self.put = Counts::of_bytes(&bytes);
        Ok(self.put)
    }

    /// Lets all events be tried in so many states of the level, from one on; with a target, only looks for that.
    fn launch(&self, begin: u64, length: u64, target: u64) -> io::Result<()> {
        self.device.zero(self.degree.at(), 4 * length as usize)?;
        let groups = self.device.groups(length, self.shape.groups);
        let job = Job { begin, length, target, groups: groups as u64, ..self.job() };
        self.device.launch(Kernel::Expand, &job, length, self.shape.groups.div_ceil(groups))?;
        self.device.launch(Kernel::Settle, &job, length, 1)
    }

    /// May so many bytes more be allocated, for a while?
    fn may_take(&mut self, bytes: usize) -> Result<(), Halt> {
        let all = self.bytes() + bytes;
        if all > self.memory {
            return Err(Halt::Limit(Limit::Memory));
        }
        self.peak = self.peak.max(all);
        Ok(())
    }

    /// Makes these states the first level.
    pub fn begin(&mut self, initial: &[u32]) -> Result<(), Halt> {
        let level = Level::of(initial, self.shape.words);
        self.reserve(level.states)?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.reserve(level.states)?;
        self.put(&level)?;
        loop {
            self.put_counts(self.counts)?;
            let job = Job { length: level.states, ..self.job() };
            self.device.launch(Kernel::Begin, &job, level.states, 1)?;
            if self.part_done(self.counts)? {
                break;
            }
        }
        self.counts.transitions = 0;
        self.turn();
        Ok(())
    }

    fn put(&mut self, level: &Level) -> io::Result<()> {
        let bytes: Vec<u8> = level.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.device.write(self.now.memory.at(), &bytes)
    }

    /// What was found last is the level to expand.
    fn turn(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
        (self.width, self.expanded) = (std::mem::take(&mut self.counts.next), 0);
        if self.width > 0 {
            self.widths.push(self.width);
        }
    }

    /// Expands the level, and makes what it leads to the next one.
    pub fn expand(&mut self, control: &Control) -> Result<(), Halt> {
        while self.expanded < self.width {
            let begin = self.expanded;
            if let Some(limit) = control.stopped(0) {
                return Err(Halt::Limit(limit));
            }
            let length = self.part.min(self.width - begin);
            self.make_room(length)?;
            let before = self.counts;
            self.put_counts(before)?;
            self.launch(begin, length, 0)?;
            if self.part_done(before)? {
                self.expanded += length;
                self.show(control);
            }
        }
        self.turn();
        Ok(())
    }

    fn show(&self, control: &Control) {
        let states = self.states() + self.counts.next;
        control.states.store(states, Ordering::Relaxed);
        control.transitions.store(self.counts.transitions, Ordering::Relaxed);
        control.open.store(self.width - self.expanded + self.counts.next, Ordering::Relaxed);
        control.depth.store(self.widths.len().saturating_sub(1) as u64, Ordering::Relaxed);
    }

    /// Reads what a part has counted; `false` where it must begin again.
    fn part_done(&mut self, before: Counts) -> Result<bool, Halt> {
        let counts = self.get_counts()?;
        if counts.flags == 0 {
            self.counts = counts;
            return Ok(true);
        }
        let next = counts.next.min(self.next.capacity);
        self.counts = Counts { next, found: counts.found, ..before };
        match counts.flags {
            flags if flags & OUTGROWN_SYSTEM != 0 => return Err(Halt::Outgrown),
            flags if flags & NO_ROOM != 0 => return Err(Halt::Widen(counts.narrow())),
            flags if flags & TOO_LONG != 0 => return Err(Halt::TooLong),
            flags if flags & NODES_FULL != 0 => return Err(Halt::Parts),
            _ => {}
        }
        if counts.flags & QUEUE_FULL != 0 {
            self.reserve(2 * self.next.capacity)
                .or_else(|_| self.reserve(self.next.capacity / 8 * 9 + LANES as u64))?;
        }
        if counts.flags & TABLE_FULL != 0 {
            self.grow()?;
        }
        Ok(false)
    }

    /// Room for what a part leads to, most probably.
    fn make_room(&mut self, length: u64) -> Result<(), Halt> {
        let found = self.states() + self.counts.next;
        while (found + length) * 100 > (SLOTS * FULL) << self.log {
            match self.grow() {
                // While there are empty slots, it may be enough.
                Err(Halt::Limit(Limit::Memory)) if found * 100 < (SLOTS * 95) << self.log => break,
                grown => grown?,
            }
        }
        let likely = self.counts.next + 2 * length;
        if likely > self.next.capacity {
            // In scarce memory as little as may do: where it does not, the part begins again.
            for states in [likely.max(self.next.capacity * 2), likely, self.counts.next + length] {
                match self.reserve(states) {
                    Err(Halt::Limit(Limit::Memory)) => continue,
                    reserved => return reserved,
                }
            }
        }
        Ok(())
    }

    /// Room for so many states in the queue that is being filled.
    fn reserve(&mut self, states: u64) -> Result<(), Halt> {
        if states <= self.next.capacity {
            return Ok(());
        }
        self.may_take(Queue::bytes(self.shape.words, states))?;
        let larger = Queue::new(self.device, self.shape.words, states)?;
        let filled = self.counts.next.min(self.next.capacity).next_multiple_of(LANES as u64);
        self.device.copy(self.next.memory.at(), larger.memory.at(), Queue::bytes(self.shape.words, filled))?;
        self.next = larger;
        Ok(())
    }

    /// Moves all keys to a larger table.
    fn grow(&mut self) -> Result<(), Halt> {
        for log in self.log + 1.. {
            self.may_take(BUCKET << log)?;
            let larger = Memory::new(self.device, BUCKET << log)?;
            let (log_now, old, old_log) = (log as u64, self.slots.at(), self.log as u64);
            let job = Job { slots: larger.at(), log: log_now, old, old_log, ..self.job() };
            self.put_counts(Counts::default())?;
            self.device.launch(Kernel::MoveKeys, &job, SLOTS << self.log, 1)?;
            if self.get_counts()?.flags == 0 {
                (self.slots, self.log) = (larger, log);
                break;
            }
        }
        Ok(())
    }

    /// The state in which this was found.
    pub fn finding(&self, what: usize) -> io::Result<Vec<u32>> {
        let mut bytes = vec![0; 8 * self.shape.found_words];
        self.device.read(self.found.at() + (8 * self.shape.found_words * what) as u64, &mut bytes)?;
        let words = bytes[8..].chunks_exact(4).take(self.shape.words);
        Ok(words.map(|word| u32::from_ne_bytes(word.try_into().unwrap_or_default())).collect())
    }

    /// The level to expand, as it lies in its queue.
    pub fn level(&self) -> io::Result<Level> {
        let mut bytes = vec![0; Queue::bytes(self.shape.words, self.width.next_multiple_of(LANES as u64))];
        self.device.read(self.now.memory.at(), &mut bytes)?;
        let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap_or_default())).collect();
        Ok(Level { words, states: self.width })
    }

    /// A state of this level from which one event leads to the target.
    pub fn predecessor(&mut self, level: &Level, target: &[u32]) -> Result<Option<Vec<u32>>, Halt> {
        self.counts = Counts::default();
        self.reserve(level.states)?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.put(level)?;
        let bytes: Vec<u8> = target.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let wanted = Memory::new(self.device, bytes.len())?;
        self.device.write(wanted.at(), &bytes)?;
        let mut begin = 0;
        while begin < level.states {
            let length = self.part.min(level.states - begin);
            self.put_counts(Counts { place: u64::MAX, ..Counts::default() })?;
            self.launch(begin, length, wanted.at())?;
            let Counts { place, flags, .. } = self.get_counts()?;
            if place != u64::MAX {
                return Ok(Some(level.state(place as usize, self.shape.words)));
            }
            if flags != 0 {
                return Err(Halt::Failed(io::Error::other(
                    "internal error: a level is expanded in another way than before",
                )));
            }
            begin += length;
        }
        Ok(None)
    }
}
