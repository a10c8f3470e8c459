//! Several threads look together for a strongly connected component that has all marks.
//!
//! All of them search depth-first, and unite what they know to reach each other in one [forest](Forest). A thread that comes to a set
//! in which it is at work already has closed a cycle: all sets on its path from there on become one. A set is left only when all its
//! states are explored, whoever did that: until then a thread goes on with any of them. So threads share the work within a component,
//! and no state is explored again once its set is dead. The marks of an edge belong to a set when both its ends do, which the thread that
//! took it sees when the sets on its path become one, or when it leaves the one that the edge led to. All states of a set are in one
//! component, but what lies between them may join them only later, before the set is dead.
//! After Bloemen, Laarman and van de Pol, "Multi-core on-the-fly SCC decomposition" (2016), and, for the marks, Bloemen and van de Pol,
//! "Multi-core SCC-based LTL model checking" (2016).

use super::acceptance::Acceptance;
use super::crew::{Crew, Ended, Gone, Mate};
use super::forest::{Claim, Forest, Room};
use super::gather::around;
use super::lasso::Rough;
use super::product::{INSIDE, Mover, Product, WEAK};
use super::states::{Access, Key};
use super::walk::{Halt, Walk};
use crate::column::{Column, Stack};
use crate::store::table::Concurrent;
use crate::store::{Full, StateId, Store, Table};
use crate::sync::thread;
use scrimp_core::{Budget, Control, GraphFacts};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Each thread has a bit.
const MOST_THREADS: usize = 64;

/// One thread's way to the states. Of a cycle, a state is known and the marks to meet.
struct Member<'c>(Mate<'c, Room, (u32, Marks)>);

impl Member<'_> {
    fn forest(&self) -> Forest<'_> {
        Forest(self.0.crew.beside())
    }
}

impl Access for Member<'_> {
    fn keys(&mut self, batch: &Batch, source: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full> {
        let crew = self.0.crew;
        for found in self.0.offer(batch)? {
            Forest(crew.beside()).reach(found.id, source.map(|source| source as StateId));
            keys.push(found.id as Key);
        }
        Ok(())
    }

    fn load(&mut self, key: Key, out: &mut Batch) {
        self.0.load(key as StateId, out);
    }

    fn is_full(&self, _: Key) -> bool {
        true
    }

    fn make_full(&mut self, _: Key) -> Result<(), Full> {
        Ok(())
    }
}

/// The sets on a thread's path, each by the state with which it was entered, and the marks of the edge there.
struct Entries {
    states: Stack,
    marks: Column<u64>,
}

impl Entries {
    fn push(&mut self, state: u32, marks: Marks) -> Result<(), Full> {
        let place = self.states.len();
        self.states.ensure(place + 1)?;
        self.marks.ensure(place + 1)?;
        self.states.push(state);
        self.marks[place as u32] = marks;
        Ok(())
    }

    fn last(&self) -> Option<u32> {
        self.before(1)
    }

    /// The one so many places before the end.
    fn before(&self, count: usize) -> Option<u32> {
        self.states.len().checked_sub(count).map(|place| self.states.get(place))
    }

    /// The marks of the last one, which is taken away.
    fn pop(&mut self) -> Marks {
        self.states.pop();
        self.marks[self.states.len() as u32]
    }
}

/// One thread's search.
struct Searcher<'c, 'p, 'a> {
    mover: Mover<'p, 'a>,
    member: Member<'c>,
    number: usize,
    /// States that are being explored, and for each the one with which the thread came to its set.
    path: Walk,
    owners: Stack,
    entries: Entries,
    acceptance: Acceptance,
}

impl Searcher<'_, '_, '_> {
    /// Searches, and says whether everything was followed.
    fn search(&mut self) -> bool {
        self.member.0.go_in();
        let crew = self.member.0.crew;
        let followed = crew.panics.catch(|| self.follow_all());
        self.member.0.finish(followed)
    }

    fn follow_all(&mut self) -> Result<(), Halt> {
        let mut initial = Batch::new(self.mover.product.state_bytes());
        self.mover.product.initial(&mut initial);
        let mut roots = Vec::new();
        self.member.keys(&initial, None, &mut roots)?;
        let first = self.number % roots.len().max(1);
        roots.rotate_left(first);
        for root in roots {
            if self.claim(root) == Claim::New {
                self.open(root, 0)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    fn claim(&self, key: Key) -> Claim {
        self.member.forest().claim(key as u32, 1 << self.number)
    }

    /// Comes to a set that is new to this thread.
    fn open(&mut self, key: Key, marks: Marks) -> Result<(), Halt> {
        self.entries.push(key as u32, marks)?;
        self.owners.ensure(self.owners.len() + 1)?;
        self.owners.push(key as u32);
        self.path.push(key, &mut self.member, &mut self.mover)?;
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Halt> {
        while let Some(place) = self.owners.len().checked_sub(1) {
            self.member.0.tick(self.path.len())?;
            let owner = self.owners.get(place);
            if self.member.forest().is_dead(owner) {
                self.path.pop();
                self.leave(owner)?;
                continue;
            }
            let Some((to, marks)) = self.path.next(&mut self.member, &mut self.mover)? else {
                self.go_on(owner)?;
                continue;
            };
            match self.claim(to) {
                Claim::New => self.open(to, marks)?,
                Claim::Known => self.join(to as u32, marks)?,
                Claim::Dead => {}
            }
        }
        Ok(())
    }

    /// All edges of the state at the end of the path are done: another one of its set follows, if there is one.
    fn go_on(&mut self, owner: u32) -> Result<(), Halt> {
        let (edges, _) = self.path.summary(0, &mut self.member, &mut self.mover)?;
        let expansion = self.path.expansion();
        let done = self.path.pop();
        if self.member.forest().finish(done as u32) {
            self.member.0.count(edges, expansion);
        }
        if self.entries.last() != Some(owner) {
            // The set is that of an entry further down the path: what is left of it is explored from there.
            self.owners.pop();
            return Ok(());
        }
        match self.member.forest().pick(owner) {
            Some(next) => self.path.push(next as Key, &mut self.member, &mut self.mover).map(drop),
            None => self.leave(owner),
        }
    }

    /// The set of a state is dead.
    fn leave(&mut self, owner: u32) -> Result<(), Halt> {
        self.owners.pop();
        if self.entries.last() != Some(owner) {
            return Ok(());
        }
        let before = self.entries.before(2);
        let marks = self.entries.pop();
        // Others have found that the edge by which this thread came here is on a cycle.
        match before.is_some_and(|before| self.member.forest().is_same(before, owner)) {
            true => self.mark(owner, marks),
            false => Ok(()),
        }
    }

    /// An edge leads back to a set on the path: all from there on reach each other.
    fn join(&mut self, to: u32, mut marks: Marks) -> Result<(), Halt> {
        while let (Some(last), Some(before)) = (self.entries.last(), self.entries.before(2)) {
            let forest = self.member.forest();
            // Others may have united sets of this path before.
            if forest.is_same(to, last) && !forest.is_same(last, before) {
                break;
            }
            forest.unite(last, before);
            marks |= self.entries.pop();
        }
        debug_assert!(self.entries.last().is_some_and(|last| self.member.forest().is_same(to, last)));
        self.mark(to, marks)
    }

    /// Edges with these marks lie within the set of a state.
    fn mark(&self, state: u32, marks: Marks) -> Result<(), Halt> {
        let marks = self.member.forest().mark(state, marks & (self.acceptance.kept() | INSIDE | WEAK));
        // Components of the product lie within those of the automaton.
        if marks & INSIDE != 0 && (marks & WEAK != 0 || self.acceptance.accepts(marks)) {
            self.member.0.crew.end(Ended::Found((state, self.acceptance.wanted(marks))));
            return Err(Halt::Found);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let entries = self.entries.states.bytes() + self.entries.marks.bytes();
        self.path.bytes() + self.owners.bytes() + entries
    }
}

/// Searches with so many threads. Without strong fairness, for which components would have to be taken apart.
pub(super) fn search(
    product: &Product,
    threads: usize,
    control: &Control,
    budget: &Arc<Budget>,
) -> io::Result<(Ended<Option<Rough>>, GraphFacts, usize)> {
    let threads = threads.clamp(1, MOST_THREADS);
    let bytes = product.state_bytes();
    let table = Table::new(bytes, budget.clone())?;
    // One more, for who tells of a cycle that was found.
    let crew = &Crew::new(&table, threads + 1, control, budget)?;
    let mut tables = table.share(threads + 1);
    let own = tables.pop();
    let mut equipment = Vec::new();
    for (number, table) in tables.into_iter().enumerate() {
        let path = Walk::new(bytes, budget)?.turned(number as u64);
        let entries = Entries { states: Stack::new(budget)?, marks: Column::new(budget)? };
        equipment.push((number, table, path, Stack::new(budget)?, entries));
    }
    let gone: Vec<Gone> = thread::scope(|scope| {
        let begin = |(number, table, path, owners, entries)| {
            scope.spawn(move || {
                let (mover, acceptance) = (Mover::new(product, None), product.acceptance());
                let member = Member(Mate::new(crew, number, threads + 1, table));
                let mut searcher = Searcher { mover, member, number, path, owners, entries, acceptance };
                Gone { through: searcher.search(), deepest: searcher.path.deepest, bytes: searcher.bytes() }
            })
        };
        let handles: Vec<_> = equipment.into_iter().map(begin).collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let (ended, facts, bytes) = crew.outcome(product, &gone);
    let bytes = bytes + own.as_ref().map_or(0, Table::bytes);
    let ended = match (ended, own) {
        (Ended::Found((state, marks)), Some(table)) => {
            Ended::Found(run(Member(Mate::new(crew, threads, threads + 1, table)), product, state, marks))
        }
        (Ended::Found(_), None) => Ended::Found(None),
        (Ended::Complete, _) => Ended::Complete,
        (Ended::Fault(fault), _) => Ended::Fault(fault),
        (Ended::Limit(limit), _) => Ended::Limit(limit),
    };
    Ok((ended, facts, bytes))
}

/// The run to a state and round through its set.
fn run(mut member: Member, product: &Product, state: u32, wanted: Marks) -> Option<Rough> {
    member.0.go_in();
    let crew = member.0.crew;
    let via = |state: &u32| Forest(crew.beside()).via(*state);
    let mut path: Vec<Key> = std::iter::successors(Some(state), via).map(|state| state as Key).collect();
    path.reverse();
    let counts = |key: Key| Forest(crew.beside()).is_same(key as u32, state);
    let mover = &mut Mover::new(product, None);
    let rough = around(&mut member, mover, path.clone(), wanted, &counts, &counts).or_else(|| {
        // Two states of a set may reach each other through one that nobody has come back from yet.
        let inside = |key: Key| counts(key) || Forest(crew.beside()).is_open(key as u32);
        around(&mut member, mover, path, wanted, &inside, &counts)
    });
    member.0.go_out();
    rough
}
