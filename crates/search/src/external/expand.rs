//! Expanding a level: threads take blocks of its states and collect the successors, each for itself.

use super::buffer::Buffer;
use super::crew::Watch;
use super::disk::Scratch;
use super::merge::{AHEAD, Source};
use super::recent::Recent;
use super::run::{Aids, Help, Reader, Run, To, Writer};
use super::share::Pool;
use super::visited::merge;
use super::{Halt, Sizes};
use crate::breadth_first::Worker;
use crate::check::{Check, Flow};
use crate::outcome::{Ended, batch_size};
use crate::reduce::Reduce;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use scrimp_core::Control;
use scrimp_system::Model;
use std::io;
use std::sync::{Arc, PoisonError};

/// Bytes of a block, at most.
const BLOCK: usize = 64 << 10;

/// A level as it is handed out. Each thread begins in a part of its own, as states near each other have successors in
/// common, and helps the others when that is done.
pub struct Feed<'a> {
    parts: Vec<Mutex<Option<Reader<'a>>>>,
    threads: usize,
    /// Bytes of a block.
    block: usize,
}

impl<'a> Feed<'a> {
    pub fn new(level: &'a [Arc<Run>], state_bytes: usize, threads: usize, read: usize) -> Feed<'a> {
        let states: u64 = level.iter().map(|run| run.count).sum();
        let parts = level.iter().map(|run| Mutex::new(Some(Reader::new(run, None).reading(read)))).collect();
        let each = (states as usize / (threads * 16)).clamp(1, BLOCK.div_ceil(state_bytes));
        Feed { parts, threads, block: each * state_bytes }
    }

    /// Where a thread begins.
    fn begin(&self, thread: usize) -> usize {
        thread * self.parts.len() / self.threads
    }

    /// Fills a block with states of the part, or of another where that has no more; `false` where none has.
    fn take(&self, part: &mut usize, block: &mut Vec<u8>) -> io::Result<bool> {
        block.clear();
        for _ in 0..self.parts.len() {
            let mut source = self.parts[*part].lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(reader) = &mut *source {
                if block.len() >= self.block {
                    return Ok(true);
                }
                if reader.next()? {
                    block.extend_from_slice(reader.state());
                } else {
                    *source = None;
                }
            }
            if !block.is_empty() {
                return Ok(true);
            }
            *part = (*part + 1) % self.parts.len();
        }
        Ok(false)
    }
}

/// What all threads have counted, shown while they work.
pub struct Counts<'a> {
    pub control: &'a Control,
    /// States known when the level began.
    pub states: u64,
    pub depth: u32,
    pub visits: AtomicU64,
    pub transitions: AtomicU64,
}

impl Counts<'_> {
    pub fn add(&self, visits: u64, transitions: u64) {
        let add = |count: &AtomicU64, more: u64| count.fetch_add(more, Ordering::Relaxed) + more;
        let (visits, transitions) = (add(&self.visits, visits), add(&self.transitions, transitions));
        self.control.states.store(self.states, Ordering::Relaxed);
        self.control.visits.store(visits, Ordering::Relaxed);
        self.control.transitions.store(transitions, Ordering::Relaxed);
        self.control.open.store(self.states.saturating_sub(visits), Ordering::Relaxed);
        self.control.depth.store(self.depth as u64, Ordering::Relaxed);
    }
}

/// One thread's share of the memory, and what it has collected.
pub struct Thread<'a> {
    number: usize,
    pub worker: Worker<'a>,
    recent: Recent,
    pub buffer: Buffer,
    /// Sorted runs of what did not fit in the buffer.
    pub spilled: Vec<(Run, Option<Aids>)>,
    /// How many of them there may be.
    most_spilled: usize,
    read: usize,
    scratch: Arc<Scratch>,
    /// For what helps to cut the runs into ranges.
    cuts: Pool,
}

impl<'a> Thread<'a> {
    pub fn new(
        (number, threads): (usize, usize),
        (model, check): (&'a dyn Model, &'a dyn Check),
        reduce: Option<Box<dyn Reduce>>,
        sizes: &Sizes,
        (buffers, cuts): (&Pool, &Pool),
        scratch: &Arc<Scratch>,
    ) -> Thread<'a> {
        let n = model.state_bytes();
        Thread {
            number,
            // What is new turns out when the level is over: too late to take events up after all.
            worker: Worker::new(model, check).reducing(reduce, false),
            recent: Recent::new(n, sizes.recent / threads, buffers),
            buffer: Buffer::new(n, sizes.buffer / threads, buffers),
            spilled: Vec::new(),
            most_spilled: (sizes.fan / threads).max(2),
            read: sizes.read,
            scratch: scratch.clone(),
            cuts: cuts.clone(),
        }
    }

    /// Expands states of the level as long as there are some. What was collected is sorted then.
    pub fn expand(&mut self, feed: &Feed, counts: &Counts, watch: &mut Watch) -> Result<(), Halt> {
        let n = self.buffer.state_bytes();
        let (mut part, mut block, batch) = (feed.begin(self.number), Vec::new(), batch_size(n));
        while feed.take(&mut part, &mut block)? {
            for states in block.chunks(batch * n) {
                watch.go_on()?;
                let worker = &mut self.worker;
                worker.sources.clear();
                states.chunks_exact(n).for_each(|state| worker.sources.push(state, 0));
                if worker.expand_sources(counts.depth) == Flow::Stop {
                    return Err(Halt::Ended(Ended::Decided));
                }
                worker.answered_new(&[], counts.depth + 1);
                counts.add(worker.sources.len() as u64, worker.successors.len() as u64);
                self.collect(watch)?;
            }
        }
        self.buffer.sort();
        Ok(())
    }

    /// Collects the successors that were not seen lately.
    pub fn collect(&mut self, watch: &mut Watch) -> Result<(), Halt> {
        let Thread { worker, recent, buffer, spilled, scratch, cuts, .. } = self;
        let mut result = Ok(());
        recent.sift(&worker.successors, |state| {
            if buffer.is_full() && result.is_ok() {
                let writer = Writer::new(buffer.state_bytes(), To::Own(scratch), Help::Cuts(cuts));
                result = spill(buffer, writer).map(|run| spilled.push(run));
            }
            buffer.push(state);
        });
        result?;
        if self.spilled.len() >= self.most_spilled { self.join_spilled(watch) } else { Ok(()) }
    }

    /// Makes one run of all that were spilled.
    fn join_spilled(&mut self, watch: &mut Watch) -> Result<(), Halt> {
        let spilled = std::mem::take(&mut self.spilled);
        let sources = spilled.iter().map(|(run, _)| Source::Run(Reader::new(run, None).reading(self.read))).collect();
        let n = self.buffer.state_bytes();
        let writer = Writer::new(n, To::Own(&self.scratch), Help::Cuts(&self.cuts));
        self.spilled.push(merge(n, sources, None, writer, watch)?);
        Ok(())
    }

    pub fn clear(&mut self) {
        self.buffer.clear();
        self.spilled.clear();
    }
}

/// Writes a full buffer as a sorted run.
pub fn spill(buffer: &mut Buffer, mut writer: Writer) -> io::Result<(Run, Option<Aids>)> {
    buffer.sort();
    for place in 0..buffer.sorted() {
        buffer.prefetch(place + AHEAD);
        writer.push(buffer.state(place))?;
    }
    buffer.clear();
    writer.finish()
}
