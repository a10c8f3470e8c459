//! Breadth-first search on disk, with delayed duplicate detection: memory holds what is being sorted, files hold states.
//!
//! A level is a sorted run. It is read from its beginning to its end; the successors of its states, but for those seen
//! lately, are collected in memory, sorted, and written as runs where they are too many. At the end of the level these are
//! merged, and what is visited already is taken away by looking it up in the runs of visited states, in order as well. What
//! is left is the next level, and one more run of visited states. Nothing is ever read or written at random but through an
//! index that skips what is not asked for, so the size of a state space is bounded by the disk and hardly by memory.
//!
//! Several threads expand a level together, each with buffers of its own. For merging, the states are cut into ranges, and
//! each thread takes one after the other. So a run may come in parts: one for each range.
//!
//! No predecessor is stored: where traces may be wanted the levels stay, and a predecessor is found by expanding the level
//! before once more.
//!
//! The scheme is that of external breadth-first search (Munagala and Ranade; Korf), its visited states kept as in a
//! log-structured merge tree (O'Neil and others).

mod buffer;
mod bytes;
mod crew;
mod disk;
mod expand;
mod filter;
mod index;
mod merge;
mod ranges;
mod recent;
mod resume;
mod run;
mod saved;
mod share;
mod subtract;
#[cfg(test)]
mod tests;
mod trace;
mod visited;

pub use resume::{Enumerate, Resume};

use crate::check::Check;
use crate::estimate::foresee;
use crate::outcome::{Ended, Outcome};
use crate::reduce::{Expansion, ReductionFactory};
use crate::sync::atomic::{AtomicU64, Ordering};
use crew::Crew;
use disk::{Growing, Scratch};
use expand::{Counts, Feed, Thread};
use run::{Aids, Run};
use saved::Begun;
use scrimp_core::{Budget, Control, DiskFacts, GraphFacts, Limit};
use scrimp_system::Model;
use share::Pool;
use std::io;
use std::path::Path;
use std::sync::Arc;
use visited::Visited;

/// Bytes of memory for each purpose, and of disk.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// For states to be sorted, and for those seen lately.
    pub buffer: usize,
    pub recent: usize,
    /// For what helps to look states up in runs.
    pub aids: usize,
    /// The most runs merged at once, and bytes read of each.
    pub fan: usize,
    pub read: usize,
    /// The fewest states for which one more thread is worth its while.
    pub share: u64,
    /// The most bytes on disk.
    pub disk: u64,
}

impl Sizes {
    /// What is left of the budget, but for a little: buffers for reading and writing, successors.
    pub fn within(budget: &Budget, threads: usize) -> Sizes {
        let left = budget.left();
        // Each thread reads a range of all runs.
        let read = (left / 8 / (64 * threads)).clamp(8 << 10, 64 << 10);
        let part = |percent: usize, most: usize| (left / 100 * percent).clamp(64 << 10, most);
        Sizes {
            buffer: part(30, 1 << 30),
            recent: part(30, 1 << 30),
            aids: part(25, usize::MAX),
            fan: (left / 8 / (read * threads)).clamp(4, 64),
            read,
            share: 4096,
            disk: u64::MAX,
        }
    }
}

/// Why a search ends early.
pub(crate) enum Halt {
    Ended(Ended),
    Disk(io::Error),
    /// Another thread has said why.
    Followed,
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
    /// All levels from the first one on, where traces may be wanted.
    levels: Option<Levels>,
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
    threads: usize,
    /// Bytes read of a run at once.
    read: usize,
}

/// Levels, each in parts, and a file for each thread in which they lie.
type Levels = (Vec<Vec<Arc<Run>>>, Vec<Arc<Growing>>);

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
            levels: levels.then(Levels::default),
            scratch,
            depth: 0,
            facts: GraphFacts::default(),
            widths: Vec::new(),
            visits: 0,
            begun: false,
            level: Begun::default(),
            failure: None,
            threads: 1,
            read: 64 << 10,
        })
    }

    /// The search goes on with so many threads, or fewer where there is little memory.
    pub fn use_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Ends the search before it could go on: the disk has failed.
    pub fn fail(&mut self, error: &io::Error) {
        self.failure = Some(error.to_string());
    }

    /// States expanded so far.
    pub fn expanded(&self) -> u64 {
        self.visits
    }

    /// Has the first level been found? Before that there is nothing to be saved.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    pub fn disk_facts(&self) -> DiskFacts {
        DiskFacts { peak_bytes: self.scratch.peak(), failure: self.failure.clone() }
    }

    /// Searches until everything is visited, the check is content, or a limit is reached.
    pub fn search(&mut self, check: &dyn Check, control: &Control, reduce: &ReductionFactory) -> Outcome {
        let ended = match self.run(check, control, reduce) {
            Ok(()) => Ended::Complete,
            Err(Halt::Ended(ended)) => ended,
            Err(Halt::Followed) => Ended::Decided,
            Err(Halt::Disk(error)) => {
                self.failure = Some(error.to_string());
                Ended::Limit(Limit::Disk)
            }
        };
        let mut facts = GraphFacts { open: self.facts.states.saturating_sub(self.visits), ..self.facts.clone() };
        facts.set_level_sizes(self.widths.iter().copied());
        Outcome::of_plain(ended, facts, Vec::new())
    }

    fn run(&mut self, check: &dyn Check, control: &Control, reduce: &ReductionFactory) -> Result<(), Halt> {
        let threads = if self.sizes.is_some() { self.threads } else { threads_within(&self.budget, self.threads) };
        let sizes = self.sizes.unwrap_or_else(|| Sizes::within(&self.budget, threads));
        self.read = sizes.read;
        if let Some((_, files)) = &mut self.levels {
            while files.len() < threads {
                files.push(self.scratch.file()?);
            }
        }
        let buffers = Pool::new(sizes.buffer + sizes.recent, &self.budget);
        let cuts = Pool::new(sizes.buffer / 16, &self.budget);
        let new = |number| {
            let reduce = reduce(Expansion::Stateful);
            Thread::new((number, threads), (self.model, check), reduce, &sizes, (&buffers, &cuts), &self.scratch)
        };
        let mut all: Vec<Thread> = (0..threads).map(new).collect();
        let crew = Crew { threads, share: sizes.share, control: Some(control) };
        let aids = Pool::new(sizes.aids, &self.budget);
        self.visited.use_pool(&aids, &mut crew.watch())?;
        self.all_levels(&mut all, check, control, &crew)
    }

    fn all_levels(
        &mut self,
        threads: &mut [Thread],
        check: &dyn Check,
        control: &Control,
        crew: &Crew,
    ) -> Result<(), Halt> {
        if !self.begun {
            let first = &mut threads[0];
            first.worker.start();
            first.collect(&mut crew.watch())?;
            first.buffer.sort();
            self.close(threads, (check, 0), control, crew)?;
        }
        while !(self.frontier.is_empty() && self.found.is_empty()) {
            if control.pause_due(0) {
                return Err(Halt::Ended(Ended::Paused));
            }
            self.expand(threads, control, crew)?;
            self.close(threads, (check, self.depth + 1), control, crew)?;
        }
        Ok(())
    }

    fn counts<'c>(&self, control: &'c Control) -> Counts<'c> {
        Counts {
            control,
            states: self.facts.states,
            depth: self.depth,
            visits: AtomicU64::new(self.visits),
            transitions: AtomicU64::new(self.facts.transitions),
        }
    }

    /// Expands the states of the level.
    fn expand(&mut self, threads: &mut [Thread], control: &Control, crew: &Crew) -> Result<(), Halt> {
        let width = self.frontier.iter().map(|run| run.count).sum();
        let threads = &mut threads[..crew.threads_for(width)];
        let feed = Feed::new(&self.frontier, self.model.state_bytes(), threads.len(), self.read);
        let counts = self.counts(control);
        let result = crew.together(threads, |thread, watch| thread.expand(&feed, &counts, watch));
        self.visits = counts.visits.load(Ordering::Relaxed);
        for thread in threads {
            self.facts.merge(&std::mem::take(&mut thread.worker.facts));
        }
        (self.facts.back_level_edges, self.facts.longest_back_level_edge) = (None, None);
        result
    }

    /// Makes the new ones among the collected states the next level, at `depth`.
    fn close(
        &mut self,
        threads: &mut [Thread],
        (check, depth): (&dyn Check, u32),
        control: &Control,
        crew: &Crew,
    ) -> Result<(), Halt> {
        let parts = self.subtract(threads, (check, depth), crew)?;
        threads.iter_mut().for_each(Thread::clear);
        let parts: Vec<(Arc<Run>, Option<Aids>)> =
            parts.into_iter().filter(|(run, _)| run.count > 0).map(|(run, aids)| (Arc::new(run), aids)).collect();
        let runs = || parts.iter().map(|(run, _)| run.clone());
        self.frontier = std::mem::take(&mut self.found);
        self.frontier.extend(runs());
        let width = self.frontier.iter().map(|run| run.count).sum::<u64>();
        if let Some((levels, _)) = &mut self.levels {
            levels.push(runs().collect());
        }
        self.facts.widest = self.facts.widest.max(width);
        self.facts.depth += (width > 0) as u32;
        self.widths.extend((width > 0).then_some(width));
        if depth == 0 {
            self.facts.initial_states = self.facts.states;
        }
        self.depth = depth;
        self.level = Begun { facts: self.facts.clone(), widths: self.widths.clone(), depth };
        self.begun = true;
        self.counts(control).add(0, 0);
        foresee(control, self.facts.states, || self.widths.clone());
        self.visited.add(parts, self.read, crew)
    }
}

/// As many threads as there is memory for.
fn threads_within(budget: &Budget, threads: usize) -> usize {
    (budget.left() / (2 << 20)).clamp(1, threads.max(1))
}
