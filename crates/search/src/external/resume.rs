//! Taking over from a search whose memory is used up.
//!
//! The states of its store come in any order; they are sorted piece by piece, in what little memory is left, and become the
//! first runs of visited states. Levels that lie behind are not known, so there are no traces.

use super::buffer::Buffer;
use super::crew::Crew;
use super::expand::spill;
use super::merge::Source;
use super::run::{Aids, Help, Reader, Run, To, Writer};
use super::saved::Begun;
use super::share::Pool;
use super::visited::merge;
use super::{External, Halt};
use scrimp_core::{Budget, GraphFacts};
use std::io;
use std::sync::Arc;

/// Memory in which states are sorted as long as the other search is there too: a small part of the budget.
fn buffer_bytes(budget: &Budget) -> usize {
    (budget.memory() / 64).clamp(128 << 10, 4 << 20)
}

/// Runs merged at once: each takes memory to be read.
fn many(budget: &Budget) -> usize {
    (budget.memory() / 64 / (64 << 10)).clamp(4, 32)
}

/// Shows all states of some set, in any order, until it is told to stop by `false`; `false` when it was, or cannot.
pub type Enumerate<'a> = dyn FnMut(&mut dyn FnMut(&[u8]) -> bool) -> bool + 'a;

/// A breadth-first search that has come some way.
pub struct Resume<'a> {
    /// All states found so far, those to be expanded among them.
    pub visited: &'a mut Enumerate<'a>,
    /// The states of the present level that are still to be expanded, and those of the next level found so far.
    pub now: &'a mut Enumerate<'a>,
    pub next: &'a mut Enumerate<'a>,
    /// The depth of the present level.
    pub depth: u32,
    /// What was counted so far, the widest level among it.
    pub facts: GraphFacts,
    /// How many states each level has, up to the present one.
    pub widths: Vec<u64>,
}

impl External<'_> {
    /// Takes over. Everything is on disk afterwards; the other search may let go of its memory before this one goes on.
    pub fn resume(&mut self, from: Resume) -> io::Result<()> {
        let (visited, aids) = self.sorted(from.visited)?;
        let (now, _) = self.sorted(from.now)?;
        let (next, _) = self.sorted(from.next)?;
        let states = visited.count;
        self.visits = states.saturating_sub(now.count + next.count);
        self.visited.add(vec![(Arc::new(visited), aids)], self.read, &Crew::ALONE).map_err(only_disk)?;
        let some = |run: Run| if run.count > 0 { vec![Arc::new(run)] } else { Vec::new() };
        let (now, next) = (some(now), some(next));
        (self.frontier, self.found) = (now, next);
        self.levels = None;
        self.depth = from.depth;
        self.widths = from.widths;
        // The next level counts once it is complete.
        self.facts = GraphFacts { states, depth: from.depth + 1, ..from.facts };
        self.level = Begun { facts: self.facts.clone(), widths: self.widths.clone(), depth: self.depth };
        self.begun = true;
        Ok(())
    }

    /// The states as one sorted run.
    fn sorted(&self, each: &mut Enumerate) -> io::Result<(Run, Option<Aids>)> {
        let n = self.model.state_bytes();
        let bytes = self.sizes.map_or(buffer_bytes(&self.budget), |sizes| sizes.buffer);
        let mut buffer = Buffer::new(n, bytes, &Pool::new(bytes, &self.budget));
        let mut runs = Vec::new();
        let writer = |help| Writer::new(n, To::Own(&self.scratch), help);
        let mut result = Ok(());
        let whole = each(&mut |state| {
            buffer.push(state);
            if buffer.is_full() {
                result = spill(&mut buffer, writer(Help::None)).map(|(run, _)| runs.push(run));
            }
            if runs.len() > many(&self.budget) && result.is_ok() {
                result = join(n, &runs, writer(Help::None)).map(|(run, _)| runs = vec![run]);
            }
            result.is_ok()
        });
        result?;
        if !whole {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the store does not know its states"));
        }
        if !buffer.is_empty() {
            runs.push(spill(&mut buffer, writer(Help::None))?.0);
        }
        drop(buffer);
        join(n, &runs, writer(Help::Lookup(None, self.visited.pool())))
    }
}

/// Makes one run of several.
fn join(state_bytes: usize, runs: &[Run], writer: Writer) -> io::Result<(Run, Option<Aids>)> {
    let sources = runs.iter().map(|run| Source::Run(Reader::new(run, None))).collect();
    merge(state_bytes, sources, None, writer, &mut Crew::ALONE.watch()).map_err(only_disk)
}

/// Where nothing else can end the work.
fn only_disk(halt: Halt) -> io::Error {
    match halt {
        Halt::Disk(error) => error,
        Halt::Ended(_) | Halt::Followed => io::ErrorKind::Interrupted.into(),
    }
}
