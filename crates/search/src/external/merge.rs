//! Sorted sources become one sorted stream, in which each state comes once.

use super::buffer::Buffer;
use super::bytes::{compare, copy};
use super::ranges::Range;
use super::run::Reader;
use std::cmp::Ordering;
use std::io;

/// States of a buffer that are fetched ahead: they lie in no order.
pub const AHEAD: usize = 12;

pub enum Source<'a> {
    Run(Reader<'a>),
    /// A sorted buffer, and the place of the present state and the next one.
    Buffer(&'a Buffer, usize),
}

impl Source<'_> {
    /// Goes to the first state from `low` on; `false` when there is none.
    fn start(&mut self, low: &[u8]) -> io::Result<bool> {
        if let Source::Buffer(buffer, next) = self {
            *next = buffer.place(low);
        }
        while self.next()? {
            if self.state() >= low {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next(&mut self) -> io::Result<bool> {
        match self {
            Source::Run(reader) => reader.next(),
            Source::Buffer(buffer, next) => {
                *next += 1;
                buffer.prefetch(*next + AHEAD);
                Ok(*next <= buffer.sorted())
            }
        }
    }

    #[inline]
    fn state(&self) -> &[u8] {
        match self {
            Source::Run(reader) => reader.state(),
            Source::Buffer(buffer, next) => buffer.state(*next - 1),
        }
    }
}

/// A heap of sources, the one with the lowest state on top.
pub struct Merge<'a> {
    sources: Vec<Source<'a>>,
    last: Vec<u8>,
    begun: bool,
    /// States from this one on do not come.
    high: Option<&'a [u8]>,
}

impl<'a> Merge<'a> {
    /// Of all states, or those of a range.
    pub fn new(state_bytes: usize, sources: Vec<Source<'a>>, range: Option<&'a Range>) -> io::Result<Merge<'a>> {
        let low = range.map_or([].as_slice(), |range| &range.low);
        let high = range.and_then(|range| range.high.as_deref());
        let last = vec![0; state_bytes];
        let mut merge = Merge { sources: Vec::with_capacity(sources.len()), last, begun: false, high };
        for mut source in sources {
            if source.start(low)? {
                merge.sources.push(source);
            }
        }
        for at in (0..merge.sources.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.sources.len() {
                return;
            }
            let state = |i: usize| self.sources[i].state();
            let child = if right < self.sources.len() && compare(state(right), state(left)) == Ordering::Less {
                right
            } else {
                left
            };
            if compare(state(at), state(child)) != Ordering::Greater {
                return;
            }
            self.sources.swap(at, child);
            at = child;
        }
    }

    /// The next state, greater than the one before.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        while let Some(top) = self.sources.first_mut() {
            let new = !self.begun || compare(top.state(), &self.last) != Ordering::Equal;
            if new {
                if self.high.is_some_and(|high| top.state() >= high) {
                    return Ok(None);
                }
                copy(&mut self.last, top.state());
                self.begun = true;
            }
            if top.next()? {
                self.sift_down(0);
            } else {
                self.sources.swap_remove(0);
                self.sift_down(0);
            }
            if new {
                return Ok(Some(&self.last));
            }
        }
        Ok(None)
    }
}
