//! A run: states in ascending order, each once, in a file, or in memory while they are few.
//!
//! Neighbours have most of their bytes in common. A state is written as the length of the beginning it shares with the one
//! before, the number of bytes that follow up to where the two end alike, and these bytes. Where an entry of the index
//! begins, a state is written in full, so that reading can start there.

use super::bytes::{common_from, copy, end_of_difference};
use super::disk::{Growing, Scratch};
use super::filter::Filter;
use super::index::Index;
use super::share::Pool;
use crate::words::hash;
use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

/// Runs up to this many bytes stay in memory.
const SMALL: usize = 16 << 10;
/// Bytes read at once: first a few, then more while reading goes on.
const FIRST_READ: usize = 4 << 10;
const MOST_READ: usize = 64 << 10;
const WRITE: usize = 64 << 10;

pub struct Run {
    state_bytes: usize,
    pub count: u64,
    /// The first state.
    pub first: Vec<u8>,
    bytes: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    /// From this offset on.
    File(Arc<Growing>, u64),
}

/// What helps to look states up in a run.
pub struct Aids {
    pub index: Index,
    pub filter: Option<Filter>,
}

/// The two numbers before a state's bytes, in as little room as their size allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Nibbles,
    Bytes,
    Shorts,
    Words,
}

impl Head {
    fn of(state_bytes: usize) -> Head {
        match state_bytes {
            ..=16 => Head::Nibbles,
            17..=256 => Head::Bytes,
            257..=65536 => Head::Shorts,
            _ => Head::Words,
        }
    }

    fn len(self) -> usize {
        match self {
            Head::Nibbles => 1,
            Head::Bytes => 2,
            Head::Shorts => 4,
            Head::Words => 8,
        }
    }

    /// A shared beginning, less than the state, and a number of bytes that follow, at least one.
    #[inline]
    fn write(self, shared: usize, follow: usize, out: &mut Vec<u8>) {
        let follow = follow - 1;
        match self {
            Head::Nibbles => out.push((shared << 4 | follow) as u8),
            Head::Bytes => out.extend_from_slice(&[shared as u8, follow as u8]),
            Head::Shorts => {
                out.extend_from_slice(&(shared as u16).to_le_bytes());
                out.extend_from_slice(&(follow as u16).to_le_bytes());
            }
            Head::Words => {
                out.extend_from_slice(&(shared as u32).to_le_bytes());
                out.extend_from_slice(&(follow as u32).to_le_bytes());
            }
        }
    }

    #[inline]
    fn read(self, bytes: &[u8]) -> (usize, usize) {
        let (shared, follow) = match self {
            Head::Nibbles => ((bytes[0] >> 4) as usize, (bytes[0] & 15) as usize),
            Head::Bytes => (bytes[0] as usize, bytes[1] as usize),
            Head::Shorts => {
                (u16::from_le_bytes([bytes[0], bytes[1]]) as usize, u16::from_le_bytes([bytes[2], bytes[3]]) as usize)
            }
            Head::Words => (
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize,
                u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize,
            ),
        };
        (shared, follow + 1)
    }
}

/// Where a run is to be written.
pub enum To<'a> {
    /// In memory, or in a file of its own.
    Own(&'a Arc<Scratch>),
    /// At the end of a file.
    End(&'a Arc<Growing>),
}

/// What a run is written with.
pub enum Help<'a> {
    /// It is only read from its beginning.
    None,
    /// It can be cut into ranges.
    Cuts(&'a Pool),
    /// States are looked up in it, with a filter of so many words where there is one.
    Lookup(Option<usize>, &'a Pool),
}

/// Entries of an index that only serves to cut a run.
const CUTS: usize = 64;

pub struct Writer {
    run: Run,
    aids: Option<Aids>,
    head: Head,
    buffer: Vec<u8>,
    last: Vec<u8>,
    scratch: Option<Arc<Scratch>>,
}

impl Writer {
    pub fn new(state_bytes: usize, to: To, help: Help) -> Writer {
        let (place, scratch) = match to {
            To::Own(scratch) => (Place::Memory(Vec::new()), Some(scratch.clone())),
            To::End(file) => (Place::File(file.clone(), file.len()), None),
        };
        let run = Run { state_bytes, count: 0, first: Vec::new(), bytes: 0, place };
        let aids = match help {
            Help::None => None,
            Help::Cuts(pool) => Some(Aids { index: Index::new(state_bytes, CUTS, pool), filter: None }),
            Help::Lookup(words, pool) => Some(Aids {
                filter: words.map(|words| Filter::new(words, pool)),
                index: Index::new(state_bytes, usize::MAX, pool),
            }),
        };
        Writer { run, aids, head: Head::of(state_bytes), buffer: Vec::new(), last: vec![0; state_bytes], scratch }
    }

    pub fn count(&self) -> u64 {
        self.run.count
    }

    /// Appends a state, which is beyond the last one.
    pub fn push(&mut self, state: &[u8]) -> io::Result<()> {
        match self.aids {
            Some(Aids { filter: Some(_), .. }) => self.push_hashed(state, hash(state)),
            _ => self.push_unfiltered(state),
        }
    }

    /// Appends a state whose hash is known.
    pub fn push_hashed(&mut self, state: &[u8], hash: u64) -> io::Result<()> {
        if let Some(Aids { filter: Some(filter), .. }) = &mut self.aids {
            filter.add(hash);
        }
        self.push_unfiltered(state)
    }

    #[inline]
    fn push_unfiltered(&mut self, state: &[u8]) -> io::Result<()> {
        let offset = self.run.bytes + self.buffer.len() as u64;
        let mut whole = self.run.count == 0;
        if whole {
            self.run.first = state.to_vec();
        }
        if let Some(Aids { index, .. }) = &mut self.aids
            && index.is_due(offset)
        {
            index.push(state, offset);
            whole = true;
        }
        if whole {
            self.head.write(0, state.len(), &mut self.buffer);
            self.buffer.extend_from_slice(state);
        } else {
            let shared = common_from(&self.last, state, 0);
            let end = end_of_difference(&self.last, state, shared);
            self.head.write(shared, end - shared, &mut self.buffer);
            self.buffer.extend_from_slice(&state[shared..end]);
        }
        copy(&mut self.last, state);
        self.run.count += 1;
        if self.buffer.len() >= WRITE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let (Place::Memory(_), Some(scratch)) = (&self.run.place, &self.scratch) {
            self.run.place = Place::File(scratch.file()?, 0);
        }
        if let Place::File(file, _) = &self.run.place {
            file.append(&self.buffer)?;
        }
        self.run.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<(Run, Option<Aids>)> {
        match &mut self.run.place {
            Place::Memory(bytes) if self.buffer.len() <= SMALL => {
                self.run.bytes = self.buffer.len() as u64;
                *bytes = std::mem::take(&mut self.buffer);
                bytes.shrink_to_fit();
            }
            _ => self.flush()?,
        }
        if let Some(Aids { index, .. }) = &mut self.aids {
            index.finish();
        }
        Ok((self.run, self.aids))
    }
}

/// Reads a run from its beginning to its end.
pub struct Reader<'a> {
    run: &'a Run,
    index: Option<&'a Index>,
    head: Head,
    state: Vec<u8>,
    /// Bytes of the run's file from `start` on, where it is not in memory.
    buffer: Vec<u8>,
    start: u64,
    /// Where the next state begins.
    at: u64,
    /// Bytes to read next time, and at most.
    read: usize,
    most_read: usize,
    /// The index's entry at or before the place last looked for.
    entry: usize,
    begun: bool,
    done: bool,
}

impl<'a> Reader<'a> {
    pub fn new(run: &'a Run, index: Option<&'a Index>) -> Reader<'a> {
        Reader {
            run,
            index,
            head: Head::of(run.state_bytes),
            state: vec![0; run.state_bytes],
            buffer: Vec::new(),
            start: 0,
            at: 0,
            read: FIRST_READ,
            most_read: MOST_READ,
            entry: 0,
            begun: false,
            done: false,
        }
    }

    /// Reads so many bytes at once, at most.
    pub fn reading(self, bytes: usize) -> Reader<'a> {
        Reader { read: FIRST_READ.min(bytes), most_read: bytes, ..self }
    }

    /// Begins at this offset, that of an entry of the run's index.
    pub fn at(self, offset: u64) -> Reader<'a> {
        Reader { at: offset, start: offset, ..self }
    }

    /// The state read last.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Reads the next state; `false` at the end.
    pub fn next(&mut self) -> io::Result<bool> {
        Ok(self.step()?.is_some())
    }

    /// Reads the next state and says how much of the one before it shares, at least.
    #[inline]
    fn step(&mut self) -> io::Result<Option<usize>> {
        if self.at >= self.run.bytes {
            self.done = true;
            return Ok(None);
        }
        let head = self.head;
        let longest = head.len() + self.state.len();
        let bytes = match &self.run.place {
            Place::Memory(bytes) => &bytes[self.at as usize..],
            Place::File(..) => {
                let have = (self.start + self.buffer.len() as u64).saturating_sub(self.at);
                if self.at < self.start || have < longest as u64 && self.at + have < self.run.bytes {
                    self.fill(longest)?;
                }
                &self.buffer[(self.at - self.start) as usize..]
            }
        };
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a file of states is damaged");
        if bytes.len() < head.len() {
            return Err(damaged());
        }
        let (shared, follow) = head.read(bytes);
        let target = self.state.get_mut(shared..shared + follow).ok_or_else(damaged)?;
        copy(target, bytes.get(head.len()..head.len() + follow).ok_or_else(damaged)?);
        self.at += (head.len() + follow) as u64;
        self.begun = true;
        Ok(Some(shared))
    }

    /// Reads the bytes at the next state.
    #[cold]
    fn fill(&mut self, longest: usize) -> io::Result<()> {
        let Place::File(file, offset) = &self.run.place else {
            return Ok(());
        };
        let wanted = self.read.max(longest) as u64;
        let len = wanted.min(self.run.bytes - self.at) as usize;
        self.read = (self.read * 2).min(self.most_read);
        self.buffer.resize(len, 0);
        self.start = self.at;
        file.read(&mut self.buffer, offset + self.at)
    }

    /// Is this state in the run? Asked in ascending order.
    pub fn holds(&mut self, target: &[u8]) -> io::Result<bool> {
        if let Some(index) = self.index {
            let entry = index.find(self.entry, target);
            if entry != self.entry {
                self.entry = entry;
                let offset = index.offset(entry);
                // The reader may be there already: what it read last may be beyond the entry.
                if offset > self.at {
                    if offset > self.start + self.buffer.len() as u64 {
                        self.read = FIRST_READ.min(self.most_read);
                    }
                    self.at = offset;
                    self.begun = false;
                }
            }
        }
        if self.done {
            return Ok(false);
        }
        if !self.begun && self.step()?.is_none() {
            return Ok(false);
        }
        // How far the state read last agrees with the target tells, with what the next one shares with it, how that one
        // compares: only where the two lengths are the same must bytes be looked at.
        let mut common = common_from(&self.state, target, 0);
        loop {
            match self.state.get(common).cmp(&target.get(common)) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(true),
                Ordering::Greater => return Ok(false),
            }
            loop {
                let Some(shared) = self.step()? else {
                    return Ok(false);
                };
                if shared <= common {
                    common = common_from(&self.state, target, shared);
                    break;
                }
            }
        }
    }
}
