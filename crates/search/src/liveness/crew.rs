//! Threads that look for a cycle together: a table that all of them fill, something that is kept beside each state, and an end that
//! all of them hear of.
//!
//! The table grows while all threads but one wait at a gate: each passes it now and then, and leaves it while it waits.

use super::product::{Expansion, Product};
use super::walk::Halt;
use crate::column::{Column, Pod};
use crate::panics::Panics;
use crate::store::{Found, Full, StateId, Store, Table};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Apart, Mutex, MutexGuard, RwLock, RwLockReadGuard, size};
use scrimp_core::{Budget, Control, GraphFacts, Limit};
use scrimp_system::{Batch, Fault};
use std::cell::UnsafeCell;
use std::io;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// Steps between two looks at the gate.
const STRIDE: u64 = size(256, 2) as u64;
/// Numbers that each thread may hold unused.
const BLOCK: usize = size(512, 4);

/// What came of the search; `F` says where a cycle is.
#[derive(Debug)]
pub(super) enum Ended<F> {
    /// There is no cycle that accepts.
    Complete,
    Found(F),
    Fault(Fault),
    Limit(Limit),
}

/// What a thread leaves behind: whether it has followed everything, the most states that its path had, the bytes of its own.
pub(super) struct Gone {
    pub through: bool,
    pub deepest: u32,
    pub bytes: usize,
}

/// What all threads share.
pub(super) struct Crew<'c, T: Pod, F> {
    gate: Apart<RwLock<()>>,
    /// A value for each number. They grow only behind the gate.
    beside: UnsafeCell<Column<T>>,
    /// Numbers that each thread holds unused, as it last said.
    gaps: Apart<Mutex<Vec<Range<u32>>>>,
    stop: AtomicBool,
    ended: Mutex<Option<Ended<F>>>,
    pub panics: Panics,
    /// States that are done, and edges, as the threads last said.
    pub states: Apart<AtomicU64>,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    faults: AtomicU64,
    control: &'c Control,
}

// SAFETY: `beside` changes its size only behind the gate, when no other thread is inside; what it holds is used as atomics.
unsafe impl<T: Pod, F: Send> Sync for Crew<'_, T, F> {}

impl<'c, T: Pod, F> Crew<'c, T, F> {
    pub fn new(
        table: &Table,
        threads: usize,
        control: &'c Control,
        budget: &Arc<Budget>,
    ) -> io::Result<Crew<'c, T, F>> {
        let mut beside = Column::new(budget)?;
        beside.ensure(table.room() + BLOCK * (threads + 1)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        Ok(Crew {
            gate: Apart::default(),
            beside: UnsafeCell::new(beside),
            gaps: Apart(Mutex::new(vec![0..0; threads])),
            stop: AtomicBool::new(false),
            ended: Mutex::new(None),
            panics: Panics::default(),
            states: Apart::default(),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            control,
        })
    }

    /// The values. Those of numbers that [`Mate::offer`] has given out are there.
    pub fn beside(&self) -> &Column<T> {
        // SAFETY: nobody changes the column's size now; see above.
        unsafe { &*self.beside.get() }
    }

    pub fn end(&self, ended: Ended<F>) {
        let mut place = lock(&self.ended);
        // A cycle is an answer, whatever else has happened.
        if place.is_none() || matches!(ended, Ended::Found(_)) && !matches!(*place, Some(Ended::Found(_))) {
            *place = Some(ended);
        }
        self.stop.store(true, Ordering::Release);
    }

    /// Does somebody say that it is over?
    pub fn check_end(&self) -> Result<(), Halt> {
        if self.stop.load(Ordering::Acquire) { Err(Halt::Found) } else { Ok(()) }
    }

    /// What came of it, when all threads are gone, and the bytes that they held.
    pub fn outcome(&self, product: &Product, gone: &[Gone]) -> (Ended<F>, GraphFacts, usize) {
        self.panics.pass_on();
        let complete = gone.iter().all(|gone| gone.through);
        let otherwise = if complete { Ended::Complete } else { Ended::Limit(Limit::Interrupt) };
        let facts = GraphFacts {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            deadlocks: self.deadlocks.load(Ordering::Relaxed),
            faults: self.faults.load(Ordering::Relaxed),
            initial_states: product.initial_states(),
            depth: gone.iter().map(|gone| gone.deepest).max().unwrap_or(0),
            ..GraphFacts::default()
        };
        let bytes = self.beside().bytes() + gone.iter().map(|gone| gone.bytes).sum::<usize>();
        (lock(&self.ended).take().unwrap_or(otherwise), facts, bytes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's way to the states.
pub(super) struct Mate<'c, T: Pod, F> {
    pub crew: &'c Crew<'c, T, F>,
    number: usize,
    threads: usize,
    table: Table,
    inside: Option<RwLockReadGuard<'c, ()>>,
    found: Vec<Found>,
    ticks: u64,
    /// States that are done, their edges, deadlocks and run-time errors, since it was last said.
    done: (u64, u64, u64, u64),
}

impl<'c, T: Pod, F> Mate<'c, T, F> {
    pub fn new(crew: &'c Crew<'c, T, F>, number: usize, threads: usize, table: Table) -> Mate<'c, T, F> {
        Mate { crew, number, threads, table, inside: None, found: Vec::new(), ticks: 0, done: (0, 0, 0, 0) }
    }

    /// A state is done, which has so many edges.
    pub fn count(&mut self, edges: u64, expansion: Expansion) {
        let (states, all, deadlocks, faults) = self.done;
        self.done = (states + 1, all + edges, deadlocks + expansion.deadlock as u64, faults + expansion.faults);
    }

    /// Says what is done and unused and goes out of the gate.
    pub fn go_out(&mut self) {
        let (states, transitions, deadlocks, faults) = std::mem::take(&mut self.done);
        self.crew.states.fetch_add(states, Ordering::Relaxed);
        self.crew.transitions.fetch_add(transitions, Ordering::Relaxed);
        self.crew.deadlocks.fetch_add(deadlocks, Ordering::Relaxed);
        self.crew.faults.fetch_add(faults, Ordering::Relaxed);
        lock(&self.crew.gaps)[self.number] = self.table.gap();
        self.inside = None;
    }

    pub fn go_in(&mut self) {
        self.inside = Some(self.crew.gate.read().unwrap_or_else(PoisonError::into_inner));
    }

    /// What is found of each state of a batch; those that were not there are now.
    pub fn offer(&mut self, batch: &Batch) -> Result<&[Found], Full> {
        loop {
            self.found.clear();
            match self.table.offer(batch, 0..batch.len(), &mut self.found) {
                Ok(()) => break,
                Err(Full) => self.make_room(batch.len())?,
            }
        }
        // Threads that take numbers at the same time may go a little beyond the room that was measured.
        if self.table.numbers() > self.crew.beside().len() {
            self.make_room(0)?;
        }
        Ok(&self.found)
    }

    pub fn load(&self, id: StateId, out: &mut Batch) {
        self.table.load(id, out.push_with(0));
    }

    /// Makes room for so many states, while all others wait.
    fn make_room(&mut self, states: usize) -> Result<(), Full> {
        self.go_out();
        let closed = self.crew.gate.write().unwrap_or_else(PoisonError::into_inner);
        let shared = self.table.shared();
        let more = states + BLOCK * (self.threads + 1);
        // SAFETY: whoever is not inside the gate does not use the table, and only this thread is.
        let result = unsafe {
            shared.prepare_room(more, 0).and_then(|emptied| {
                if emptied {
                    let gaps = lock(&self.crew.gaps).clone();
                    shared.fill_index::<true>(0..shared.len() as u32, &gaps);
                }
                (*self.crew.beside.get()).ensure(self.table.room().max(shared.len()) + BLOCK * (self.threads + 1))
            })
        };
        drop(closed);
        self.go_in();
        result
    }

    /// One step, at the end of a path of this length: now and then the gate is passed, and limits are looked at.
    pub fn tick(&mut self, path: u32) -> Result<(), Halt> {
        self.ticks += 1;
        if !self.ticks.is_multiple_of(STRIDE) {
            return Ok(());
        }
        self.crew.check_end()?;
        self.go_out();
        self.go_in();
        let Crew { control, states, transitions, .. } = self.crew;
        if self.number == 0 {
            let seen = transitions.load(Ordering::Relaxed);
            control.show_path(states.load(Ordering::Relaxed), seen, path as u64);
        }
        control.stopped(0).map_or(Ok(()), |limit| Err(Halt::Limit(limit)))
    }

    /// Goes out after the work, and tells all others how it ended. Says whether everything was followed.
    pub fn finish(&mut self, followed: Option<Result<(), Halt>>) -> bool {
        self.go_out();
        match followed {
            // What others have on their paths may not have been looked at.
            Some(Ok(())) => return true,
            Some(Err(Halt::Full)) => self.crew.end(Ended::Limit(Limit::Memory)),
            Some(Err(Halt::Limit(limit))) => self.crew.end(Ended::Limit(limit)),
            Some(Err(Halt::Fault(fault))) => self.crew.end(Ended::Fault(fault)),
            // The finder has said so, or somebody else has ended it. Nobody pauses.
            Some(Err(Halt::Found | Halt::Paused)) => {}
            // Others may wait for what this thread has begun.
            None => self.crew.stop.store(true, Ordering::Release),
        }
        false
    }
}
