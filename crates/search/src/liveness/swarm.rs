//! Several threads look for a cycle together, each with nested searches of its own.
//!
//! All of them begin at the initial states and turn their edges in different ways, so that they soon part. What one is done
//! with is blue, what its inner searches have seen is red, and no other goes there again. An inner search begins when its
//! state is done, and what it has seen becomes red only when all accepting states among it are: another thread may still
//! be at work on one, and its verdict counts. A state may be blue while what it leads to is still on another thread's path:
//! so everything is known only when all threads are through. After Evangelista, Laarman,
//! Petrucci and van de Pol, "Improved multi-core nested depth-first search" (2012).
//!
//! The table grows while all threads but one wait at a gate: each passes it now and then, and leaves it while it waits.

use super::lasso::Rough;
use super::path_set::PathSet;
use super::product::{INSIDE, Mover, Product, WEAK};
use super::states::{Key, States};
use super::walk::{Halt, Walk};
use crate::column::Column;
use crate::panics::Panics;
use crate::store::table::Concurrent;
use crate::store::{Found, Full, StateId, Store, Table};
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, size, thread};
use scrimp_core::{Budget, Control, GraphFacts, Limit};
use scrimp_system::{Batch, Fault, Model};
use scrimp_temporal::Marks;
use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, PoisonError};

const BLUE: u8 = 1;
const RED: u8 = 2;
/// Steps between two looks at the gate.
const STRIDE: u64 = size(256, 2) as u64;
/// Numbers that each thread may hold unused.
const BLOCK: usize = size(512, 4);

/// What came of the search.
pub(super) enum Ended {
    /// There is no cycle that accepts.
    Complete,
    Found(Option<Rough>),
    Fault(Fault),
    Limit(Limit),
}

/// What all threads share.
struct Common<'c> {
    gate: RwLock<()>,
    /// Colours by number. They grow only behind the gate.
    colours: UnsafeCell<Column<u8>>,
    /// Numbers that each thread holds unused, as it last said.
    gaps: Mutex<Vec<Range<u32>>>,
    stop: AtomicBool,
    ended: Mutex<Option<Ended>>,
    panics: Panics,
    states: AtomicU64,
    transitions: AtomicU64,
    control: &'c Control,
    all: Marks,
}

// SAFETY: `colours` changes its size only behind the gate, when no other thread is inside; what it holds is used as atomics.
unsafe impl Sync for Common<'_> {}

impl Common<'_> {
    fn colours(&self) -> &Column<u8> {
        // SAFETY: nobody changes the column's size now; see above.
        unsafe { &*self.colours.get() }
    }

    fn colour(&self, key: Key) -> &AtomicU8 {
        debug_assert!((key as usize) < self.colours().len());
        // SAFETY: every number that `keys` has given out is within the column.
        unsafe { &*(self.colours().address(key as StateId) as *const AtomicU8) }
    }

    fn end(&self, ended: Ended) {
        let mut place = lock(&self.ended);
        // A cycle is an answer, whatever else has happened.
        if place.is_none() || matches!(ended, Ended::Found(_)) && !matches!(*place, Some(Ended::Found(_))) {
            *place = Some(ended);
        }
        self.stop.store(true, Ordering::Release);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's way to the states.
struct Member<'c> {
    common: &'c Common<'c>,
    number: usize,
    table: Table,
    inside: Option<RwLockReadGuard<'c, ()>>,
    path: PathSet,
    found: Vec<Found>,
    threads: usize,
}

impl<'c> Member<'c> {
    /// Says what is unused and goes out of the gate.
    fn go_out(&mut self) {
        lock(&self.common.gaps)[self.number] = self.table.gap();
        self.inside = None;
    }

    fn go_in(&mut self) {
        self.inside = Some(self.common.gate.read().unwrap_or_else(PoisonError::into_inner));
    }

    /// Makes room for so many states, while all others wait.
    fn make_room(&mut self, states: usize) -> Result<(), Full> {
        self.go_out();
        let closed = self.common.gate.write().unwrap_or_else(PoisonError::into_inner);
        let shared = self.table.shared();
        let more = states + BLOCK * (self.threads + 1);
        // SAFETY: whoever is not inside the gate does not use the table, and only this thread is.
        let result = unsafe {
            shared.prepare_room(more, 0).and_then(|emptied| {
                if emptied {
                    let gaps = lock(&self.common.gaps).clone();
                    shared.fill_index::<true>(0..shared.len() as u32, &gaps);
                }
                (*self.common.colours.get()).ensure(self.table.room().max(shared.len()) + BLOCK)
            })
        };
        drop(closed);
        self.go_in();
        result
    }
}

impl States for Member<'_> {
    fn keys(&mut self, batch: &Batch, _: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full> {
        loop {
            self.found.clear();
            match self.table.offer(batch, 0..batch.len(), &mut self.found) {
                Ok(()) => break,
                Err(Full) => self.make_room(batch.len())?,
            }
        }
        // Where the table could grow and the colours could not, the search is about to end for want of memory.
        if self.table.numbers() > self.common.colours().len() {
            return Err(Full);
        }
        keys.extend(self.found.iter().map(|found| found.id as Key));
        Ok(())
    }

    fn load(&mut self, key: Key, out: &mut Batch) {
        self.table.load(key as StateId, out.push_with(0));
    }

    fn visit(&mut self, key: Key) -> Result<bool, Full> {
        Ok(self.common.colour(key).load(Ordering::Acquire) & BLUE == 0 && !self.is_on_path(key))
    }

    fn is_on_path(&self, key: Key) -> bool {
        self.path.contains(key)
    }

    fn enter_path(&mut self, key: Key) -> Result<(), Full> {
        self.path.insert(key)
    }

    fn leave_path(&mut self, key: Key) {
        self.path.remove(key);
    }

    fn redden(&mut self, key: Key) -> Result<bool, Full> {
        Ok(self.common.colour(key).fetch_or(RED, Ordering::AcqRel) & RED == 0)
    }

    fn is_full(&self, _: Key) -> bool {
        true
    }

    fn make_full(&mut self, _: Key) -> Result<(), Full> {
        Ok(())
    }

    fn len(&self) -> u64 {
        self.common.states.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.path.bytes()
    }
}

/// One thread's search.
struct Searcher<'c, 'p, 'a> {
    mover: Mover<'p, 'a>,
    member: Member<'c>,
    outer: Walk,
    inner: Walk,
    /// What the inner search has seen, and those of it that accept.
    pink: HashSet<Key>,
    accepting: Vec<Key>,
    ticks: u64,
}

impl Searcher<'_, '_, '_> {
    /// Searches, and says whether everything was followed.
    fn search(&mut self) -> bool {
        self.member.go_in();
        let common = self.member.common;
        let followed = common.panics.catch(|| self.follow_all());
        self.member.go_out();
        match followed {
            // What others have on their paths may not have been looked at.
            Some(Ok(())) => return true,
            Some(Err(Halt::Full)) => common.end(Ended::Limit(Limit::Memory)),
            Some(Err(Halt::Limit(limit))) => common.end(Ended::Limit(limit)),
            Some(Err(Halt::Fault(fault))) => common.end(Ended::Fault(fault)),
            // The finder has said so, or somebody else has ended it. Nobody pauses.
            Some(Err(Halt::Found | Halt::Paused)) => {}
            // Others may wait for what this thread has begun.
            None => common.stop.store(true, Ordering::Release),
        }
        false
    }

    fn follow_all(&mut self) -> Result<(), Halt> {
        let mut initial = Batch::new(self.mover.product.state_bytes());
        self.mover.product.initial(&mut initial);
        let mut roots = Vec::new();
        self.member.keys(&initial, None, &mut roots)?;
        for root in roots {
            if self.member.visit(root)? {
                self.open(root)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    fn open(&mut self, key: Key) -> Result<(), Halt> {
        self.member.enter_path(key)?;
        self.outer.push(key, &mut self.member, &mut self.mover)?;
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Halt> {
        let all = self.member.common.all;
        while !self.outer.is_empty() {
            self.tick()?;
            let Some((to, marks)) = self.outer.next(&mut self.member, &mut self.mover)? else {
                self.close()?;
                continue;
            };
            if self.member.is_on_path(to) {
                if marks & WEAK != 0 || marks & INSIDE != 0 && marks & all == all {
                    return self.found(to, &[]);
                }
            } else if self.member.visit(to)? {
                self.open(to)?;
            }
        }
        Ok(())
    }

    /// All edges of the state at the end of the outer path are done.
    fn close(&mut self) -> Result<(), Halt> {
        let common = self.member.common;
        let (edges, accepts) = self.outer.summary(common.all, &mut self.member, &mut self.mover)?;
        let key = self.outer.key(self.outer.len() - 1);
        if accepts {
            self.look_inside(key)?;
        }
        if common.colour(key).fetch_or(BLUE, Ordering::AcqRel) & BLUE == 0 {
            common.states.fetch_add(1, Ordering::Relaxed);
            common.transitions.fetch_add(edges, Ordering::Relaxed);
        }
        self.outer.pop();
        self.member.leave_path(key);
        Ok(())
    }

    /// Looks for a cycle through the accepting state at the end of the outer path.
    fn look_inside(&mut self, seed: Key) -> Result<(), Halt> {
        let common = self.member.common;
        self.pink.clear();
        self.accepting.clear();
        self.pink.insert(seed);
        self.inner.push(seed, &mut self.member, &mut self.mover)?;
        while !self.inner.is_empty() {
            self.tick()?;
            let Some((next, marks)) = self.inner.next(&mut self.member, &mut self.mover)? else {
                self.inner.pop();
                continue;
            };
            if marks & INSIDE == 0 {
                continue;
            }
            if self.member.is_on_path(next) {
                // The first one is the end of the outer path itself.
                let further: Vec<Key> = self.inner.keys().skip(1).collect();
                return self.found(next, &further);
            }
            if common.colour(next).load(Ordering::Acquire) & RED == 0 && self.pink.insert(next) {
                self.inner.push(next, &mut self.member, &mut self.mover)?;
                if self.inner.summary(common.all, &mut self.member, &mut self.mover)?.1 {
                    self.accepting.push(next);
                }
            }
        }
        // Accepting states are the business of whoever has them on its path.
        for at in 0..self.accepting.len() {
            while common.colour(self.accepting[at]).load(Ordering::Acquire) & RED == 0 {
                self.member.go_out();
                thread::yield_now();
                self.member.go_in();
                self.check_end()?;
            }
        }
        for &key in &self.pink {
            common.colour(key).fetch_or(RED, Ordering::AcqRel);
        }
        Ok(())
    }

    /// A cycle: from where this state is on the outer path to its end, and on through further states.
    fn found(&mut self, begin: Key, further: &[Key]) -> Result<(), Halt> {
        let path: Vec<Key> = self.outer.keys().collect();
        let place = path.iter().rposition(|key| *key == begin).unwrap_or(0);
        let mut one = Batch::new(self.mover.product.state_bytes());
        let member = &mut self.member;
        let mut load = |key: &Key| {
            one.clear();
            member.load(*key, &mut one);
            one.state(0).to_vec()
        };
        let stem = path[..=place].iter().map(&mut load).collect();
        let cycle = path[place + 1..].iter().chain(further).chain([&begin]).map(&mut load).collect();
        self.member.common.end(Ended::Found(Some(Rough { stem, cycle, marks: Vec::new() })));
        Err(Halt::Found)
    }

    fn check_end(&self) -> Result<(), Halt> {
        match self.member.common.stop.load(Ordering::Acquire) {
            true => Err(Halt::Found),
            false => Ok(()),
        }
    }

    fn tick(&mut self) -> Result<(), Halt> {
        self.ticks += 1;
        if !self.ticks.is_multiple_of(STRIDE) {
            return Ok(());
        }
        self.check_end()?;
        self.member.go_out();
        self.member.go_in();
        let Common { control, states, transitions, .. } = self.member.common;
        if self.member.number == 0 {
            let seen = transitions.load(Ordering::Relaxed);
            control.show_path(states.load(Ordering::Relaxed), seen, self.outer.len() as u64);
        }
        control.stopped(0).map_or(Ok(()), |limit| Err(Halt::Limit(limit)))
    }
}

/// Searches with so many threads. The automaton's marks must be those of its states: all edges of a state have the mark, or
/// none has.
pub(super) fn search(
    product: &Product,
    threads: usize,
    control: &Control,
    budget: &Arc<Budget>,
) -> io::Result<(Ended, GraphFacts, usize)> {
    let table = Table::new(product.state_bytes(), budget.clone())?;
    let common = &common_of(product, &table, threads, control, budget)?;
    let bytes = product.state_bytes();
    let mut equipment = Vec::new();
    for (number, table) in table.share(threads).into_iter().enumerate() {
        let walk = || Ok::<Walk, io::Error>(Walk::new(bytes, budget)?.turned(number as u64));
        equipment.push((number, table, PathSet::new(budget)?, walk()?, walk()?));
    }
    let held: Vec<(bool, usize)> = thread::scope(|scope| {
        let begin = |(number, table, path, outer, inner)| {
            scope.spawn(move || {
                let member = Member { common, number, table, inside: None, path, found: Vec::new(), threads };
                let mover = Mover::new(product, None);
                let (pink, accepting) = (HashSet::new(), Vec::new());
                let mut searcher = Searcher { mover, member, outer, inner, pink, accepting, ticks: 0 };
                let through = searcher.search();
                let Searcher { member, outer, inner, .. } = searcher;
                let own = member.bytes() + outer.bytes() + inner.bytes();
                (through, own + if number == 0 { member.table.bytes() } else { 0 })
            })
        };
        let handles: Vec<_> = equipment.into_iter().map(begin).collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    common.panics.pass_on();
    let facts = GraphFacts {
        states: common.states.load(Ordering::Relaxed),
        transitions: common.transitions.load(Ordering::Relaxed),
        ..GraphFacts::default()
    };
    let ended = lock(&common.ended).take();
    let complete = held.iter().all(|(through, _)| *through);
    let otherwise = if complete { Ended::Complete } else { Ended::Limit(Limit::Interrupt) };
    Ok((ended.unwrap_or(otherwise), facts, held.iter().map(|(_, bytes)| bytes).sum()))
}

fn common_of<'c>(
    product: &Product,
    table: &Table,
    threads: usize,
    control: &'c Control,
    budget: &Arc<Budget>,
) -> io::Result<Common<'c>> {
    let mut colours = Column::new(budget)?;
    colours.ensure(table.room() + BLOCK).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(Common {
        gate: RwLock::new(()),
        colours: UnsafeCell::new(colours),
        gaps: Mutex::new(vec![0..0; threads]),
        stop: AtomicBool::new(false),
        ended: Mutex::new(None),
        panics: Panics::default(),
        states: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        control,
        all: product.all_marks(),
    })
}
