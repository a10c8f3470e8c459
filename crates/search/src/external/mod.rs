//! Breadth-first search on disk, with delayed duplicate detection: memory holds what is being sorted, files hold states.
//!
//! A level is a sorted run. It is read from its beginning to its end; the successors of its states, but for those seen
//! lately, are collected in memory, sorted, and written as runs where they are too many. At the end of the level these are
//! merged, and what is visited already is taken away by looking it up in the runs of visited states, in order as well. What
//! is left is the next level, and one more run of visited states. Nothing is ever read or written at random but through an
//! index that skips what is not asked for, so the size of a state space is bounded by the disk and hardly by memory.
//!
//! No predecessor is stored: where traces may be wanted the levels stay, and a predecessor is found by expanding the level
//! before once more.
//!
//! The scheme is that of external breadth-first search (Munagala and Ranade; Korf), its visited states kept as in a
//! log-structured merge tree (O'Neil and others).

mod buffer;
mod disk;
mod filter;
mod index;
mod merge;
mod recent;
mod resume;
mod run;
mod saved;
mod share;
#[cfg(test)]
mod tests;
mod trace;
mod visited;

pub use resume::{Enumerate, Resume};

use crate::breadth_first::Worker;
use crate::check::{Check, Flow, Seen};
use crate::estimate::foresee;
use crate::outcome::{Ended, Outcome, batch_size};
use crate::reduce::Reduce;
use crate::words::hash;
use buffer::Buffer;
use disk::{Growing, Scratch};
use merge::{Merge, Source};
use recent::Recent;
use run::{Aids, Reader, Run, To, Writer};
use saved::Begun;
use scrimp_core::{Budget, Control, DiskFacts, GraphFacts, Limit};
use scrimp_system::Model;
use share::Pool;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use visited::Visited;

/// Bytes of memory for each purpose, and of disk.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// For states to be sorted, and for those seen lately.
    pub buffer: usize,
    pub recent: usize,
    /// For what helps to look states up in runs.
    pub aids: usize,
    /// The most runs merged at once.
    pub fan: usize,
    /// The most bytes on disk.
    pub disk: u64,
}

impl Sizes {
    /// What is left of the budget, but for a little: buffers for reading and writing, successors.
    pub fn within(budget: &Budget) -> Sizes {
        let left = budget.left();
        let part = |percent: usize, most: usize| (left / 100 * percent).clamp(64 << 10, most);
        Sizes {
            buffer: part(30, 1 << 30),
            recent: part(30, 1 << 30),
            aids: part(25, usize::MAX),
            fan: (left / 8 / (64 << 10)).clamp(4, 64),
            disk: u64::MAX,
        }
    }
}

/// Why a search ends early.
pub(crate) enum Halt {
    Ended(Ended),
    Disk(io::Error),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        Halt::Disk(error)
    }
}

pub struct External<'a> {
    model: &'a dyn Model,
    budget: Arc<Budget>,
    sizes: Option<Sizes>,
    scratch: Arc<Scratch>,
    visited: Visited,
    /// The level to be expanded, in one run or several.
    frontier: Vec<Arc<Run>>,
    /// Those found of the next level before this search took over.
    found: Vec<Arc<Run>>,
    /// All levels from the first one on, where traces may be wanted, and the file in which they lie.
    levels: Option<(Vec<Arc<Run>>, Arc<Growing>)>,
    depth: u32,
    facts: GraphFacts,
    /// How many states each level has.
    widths: Vec<u64>,
    /// States expanded.
    visits: u64,
    begun: bool,
    /// How the search stood when its level began.
    level: Begun,
    failure: Option<String>,
}

impl<'a> External<'a> {
    /// A search whose files go into a new directory under `dir`; with `levels`, traces can be found. Memory is taken when
    /// the search begins, as `sizes` say or as the budget then allows.
    pub fn new(
        model: &'a dyn Model,
        dir: &Path,
        levels: bool,
        budget: &Arc<Budget>,
        sizes: Option<Sizes>,
    ) -> io::Result<External<'a>> {
        let scratch = Scratch::new(dir, sizes.map_or(u64::MAX, |sizes| sizes.disk))?;
        let pool = Pool::new(0, budget);
        Ok(External {
            model,
            budget: budget.clone(),
            sizes,
            visited: Visited::new(model.state_bytes(), &scratch, &pool),
            frontier: Vec::new(),
            found: Vec::new(),
            levels: levels.then(|| scratch.file().map(|file| (Vec::new(), file))).transpose()?,
            scratch,
            depth: 0,
            facts: GraphFacts::default(),
            widths: Vec::new(),
            visits: 0,
            begun: false,
            level: Begun::default(),
            failure: None,
        })
    }

    /// Ends the search before it could go on: the disk has failed.
    pub fn fail(&mut self, error: &io::Error) {
        self.failure = Some(error.to_string());
    }

    /// Has the first level been found? Before that there is nothing to be saved.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    pub fn disk_facts(&self) -> DiskFacts {
        DiskFacts { peak_bytes: self.scratch.peak(), failure: self.failure.clone() }
    }

    /// Searches until everything is visited, the check is content, or a limit is reached.
    pub fn search(&mut self, check: &dyn Check, control: &Control, reduce: Option<Box<dyn Reduce>>) -> Outcome {
        let ended = match self.run(check, control, reduce) {
            Ok(()) => Ended::Complete,
            Err(Halt::Ended(ended)) => ended,
            Err(Halt::Disk(error)) => {
                self.failure = Some(error.to_string());
                Ended::Limit(Limit::Disk)
            }
        };
        let mut facts = GraphFacts { open: self.facts.states.saturating_sub(self.visits), ..self.facts.clone() };
        facts.set_level_sizes(self.widths.iter().copied());
        Outcome::of_plain(ended, facts, Vec::new())
    }

    fn run(&mut self, check: &dyn Check, control: &Control, reduce: Option<Box<dyn Reduce>>) -> Result<(), Halt> {
        let sizes = self.sizes.unwrap_or_else(|| Sizes::within(&self.budget));
        let n = self.model.state_bytes();
        let pool = Pool::new(sizes.buffer + sizes.recent, &self.budget);
        let mut level = Level {
            // What is new turns out when the level is over: too late to take events up after all.
            worker: Worker::new(self.model, check).reducing(reduce, false),
            check,
            control,
            recent: Recent::new(n, sizes.recent, &pool),
            buffer: Buffer::new(n, sizes.buffer, &pool),
            spilled: Vec::new(),
            fan: sizes.fan,
            tick: 0,
        };
        let aids = Pool::new(sizes.aids, &self.budget);
        let result = self.visited.use_pool(&aids, &mut || level.go_on()).and_then(|()| self.all_levels(&mut level));
        self.facts.merge(&level.worker.facts);
        (self.facts.back_level_edges, self.facts.longest_back_level_edge) = (None, None);
        result
    }

    fn all_levels(&mut self, level: &mut Level) -> Result<(), Halt> {
        if !self.begun {
            level.worker.start();
            level.collect(&self.scratch)?;
            self.close(level, 0)?;
        }
        while !(self.frontier.is_empty() && self.found.is_empty()) {
            if level.control.pause_due(0) {
                return Err(Halt::Ended(Ended::Paused));
            }
            self.expand(level)?;
            self.close(level, self.depth + 1)?;
        }
        Ok(())
    }

    /// Expands the states of the level.
    fn expand(&mut self, level: &mut Level) -> Result<(), Halt> {
        let batch = batch_size(self.model.state_bytes());
        for run in &self.frontier {
            let mut reader = Reader::new(run, None);
            let mut more = true;
            while more {
                let sources = &mut level.worker.sources;
                sources.clear();
                while sources.len() < batch {
                    more = reader.next()?;
                    if !more {
                        break;
                    }
                    sources.push(reader.state(), 0);
                }
                level.go_on()?;
                if level.worker.expand_sources(self.depth) == Flow::Stop {
                    return Err(Halt::Ended(Ended::Decided));
                }
                let expanded = level.worker.sources.len() as u64;
                level.worker.answered_new(&[], self.depth + 1);
                level.collect(&self.scratch)?;
                self.visits += expanded;
                self.publish(level);
            }
        }
        Ok(())
    }

    fn publish(&self, level: &Level) {
        let control = level.control;
        control.states.store(self.facts.states, Ordering::Relaxed);
        control.visits.store(self.visits, Ordering::Relaxed);
        control.transitions.store(self.facts.transitions + level.worker.facts.transitions, Ordering::Relaxed);
        control.open.store(self.facts.states.saturating_sub(self.visits), Ordering::Relaxed);
        control.depth.store(self.depth as u64, Ordering::Relaxed);
    }

    /// Makes the new ones among the collected states the next level, at `depth`.
    fn close(&mut self, level: &mut Level, depth: u32) -> Result<(), Halt> {
        let (run, aids) = self.subtract(level, depth)?;
        let run = Arc::new(run);
        self.frontier = std::mem::take(&mut self.found);
        let width = run.count + self.frontier.iter().map(|run| run.count).sum::<u64>();
        if run.count > 0 {
            self.frontier.push(run.clone());
        }
        if let Some((levels, _)) = &mut self.levels {
            levels.push(run.clone());
        }
        self.facts.widest = self.facts.widest.max(width);
        self.facts.depth += (width > 0) as u32;
        self.widths.extend((width > 0).then_some(width));
        if depth == 0 {
            self.facts.initial_states = self.facts.states;
        }
        self.depth = depth;
        let mut facts = self.facts.clone();
        facts.merge(&level.worker.facts);
        self.level = Begun { facts, widths: self.widths.clone(), depth };
        self.begun = true;
        self.publish(level);
        foresee(level.control, self.facts.states, || self.widths.clone());
        self.visited.add(run, aids, &mut || level.go_on())
    }

    fn subtract(&mut self, level: &mut Level, depth: u32) -> Result<(Run, Option<Aids>), Halt> {
        const BLOCK: usize = 256;
        let n = self.model.state_bytes();
        let Level { buffer, spilled, check, control, tick, .. } = level;
        buffer.sort();
        let most = spilled.iter().map(|run| run.count).sum::<u64>() + buffer.sorted() as u64;
        let mut sources: Vec<Source> = spilled.iter().map(|run| Source::Run(Reader::new(run, None))).collect();
        sources.push(Source::Buffer(buffer, 0));
        let mut merge = Merge::new(n, sources)?;
        let to = match &self.levels {
            Some((_, file)) => To::End(file),
            None => To::Own(&self.scratch),
        };
        let mut writer = Writer::new(n, to, Some((Some(most), self.visited.pool())));
        let mut lookup = self.visited.lookup();
        let (mut states, mut hashes, mut known) = (Vec::with_capacity(BLOCK * n), Vec::new(), Vec::new());
        let wants_states = check.wants_states();
        let mut more = true;
        while more {
            states.clear();
            hashes.clear();
            while hashes.len() < BLOCK {
                let Some(state) = merge.next()? else {
                    more = false;
                    break;
                };
                states.extend_from_slice(state);
                hashes.push(hash(state));
            }
            *tick += 1;
            if let Some(limit) = control.stopped(*tick) {
                return Err(Halt::Ended(Ended::Limit(limit)));
            }
            known.clear();
            known.resize(hashes.len(), false);
            lookup.mark(&states, &hashes, &mut known)?;
            for (i, state) in states.chunks_exact(n).enumerate().filter(|&(i, _)| !known[i]) {
                writer.push_hashed(state, hashes[i])?;
                self.facts.states += 1;
                if wants_states && check.state(Seen { state, depth, path: None }) == Flow::Stop {
                    return Err(Halt::Ended(Ended::Decided));
                }
            }
        }
        drop((merge, lookup));
        buffer.clear();
        spilled.clear();
        Ok(writer.finish()?)
    }
}

/// What is needed to go through one level after the other.
struct Level<'a> {
    worker: Worker<'a>,
    check: &'a dyn Check,
    control: &'a Control,
    recent: Recent,
    buffer: Buffer,
    /// Sorted runs of what did not fit in the buffer.
    spilled: Vec<Run>,
    fan: usize,
    tick: u64,
}

impl Level<'_> {
    fn go_on(&mut self) -> Result<(), Halt> {
        self.tick += 1;
        self.control.stopped(self.tick).map_or(Ok(()), |limit| Err(Halt::Ended(Ended::Limit(limit))))
    }

    /// Collects the successors that were not seen lately.
    fn collect(&mut self, scratch: &Arc<Scratch>) -> Result<(), Halt> {
        let Level { worker, recent, buffer, spilled, .. } = self;
        let mut result = Ok(());
        recent.sift(&worker.successors, |state| {
            if buffer.is_full() && result.is_ok() {
                result = spill(buffer, spilled, scratch);
            }
            buffer.push(state);
        });
        result?;
        if self.spilled.len() >= self.fan { self.join_spilled(scratch) } else { Ok(()) }
    }

    /// Makes one run of all that were spilled.
    fn join_spilled(&mut self, scratch: &Arc<Scratch>) -> Result<(), Halt> {
        let spilled = std::mem::take(&mut self.spilled);
        let sources = spilled.iter().map(|run| Source::Run(Reader::new(run, None))).collect();
        let n = self.worker.successors.state_bytes();
        let (run, _) = visited::merge(n, sources, Writer::new(n, To::Own(scratch), None), &mut || self.go_on())?;
        self.spilled.push(run);
        Ok(())
    }
}

/// Writes a full buffer as a sorted run.
fn spill(buffer: &mut Buffer, spilled: &mut Vec<Run>, scratch: &Arc<Scratch>) -> io::Result<()> {
    buffer.sort();
    let n = buffer.state_bytes();
    let mut writer = Writer::new(n, To::Own(scratch), None);
    for place in 0..buffer.sorted() {
        writer.push(buffer.state(place))?;
    }
    buffer.clear();
    spilled.push(writer.finish()?.0);
    Ok(())
}
