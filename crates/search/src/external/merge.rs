//! Sorted sources become one sorted stream, in which each state comes once.

use super::buffer::Buffer;
use super::run::Reader;
use std::io;

pub enum Source<'a> {
    Run(Reader<'a>),
    /// A sorted buffer, and the place of the present state and the next one.
    Buffer(&'a Buffer, usize),
}

impl Source<'_> {
    fn next(&mut self) -> io::Result<bool> {
        match self {
            Source::Run(reader) => reader.next(),
            Source::Buffer(buffer, next) => {
                *next += 1;
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
}

impl<'a> Merge<'a> {
    pub fn new(state_bytes: usize, sources: Vec<Source<'a>>) -> io::Result<Merge<'a>> {
        let mut merge = Merge { sources: Vec::with_capacity(sources.len()), last: vec![0; state_bytes], begun: false };
        for mut source in sources {
            if source.next()? {
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
            let child = if right < self.sources.len() && state(right) < state(left) { right } else { left };
            if state(at) <= state(child) {
                return;
            }
            self.sources.swap(at, child);
            at = child;
        }
    }

    /// The next state, greater than the one before.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        while let Some(top) = self.sources.first_mut() {
            let new = !self.begun || top.state() != self.last;
            if new {
                self.last.copy_from_slice(top.state());
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
