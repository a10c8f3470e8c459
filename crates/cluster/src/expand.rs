//! Expanding a level: the threads of a process take its states in chunks, expand them, and keep the successors that the process owns where
//! they were found. The others are written down for their owners, but for those that were sent lately. States are dealt with in batches, so
//! that the memory that looking them up takes is asked for ahead.

use crate::coding::{self, Collected};
use crate::exchange::Exchange;
use crate::goal::Look;
use crate::level::Level;
use crate::parcel::{Kind, Parcel};
use crate::partition::Partition;
use crate::search::Search;
use crate::signals::Gone;
use crate::word::Finding;
use crate::words::{Shape, Words, by_words};
use scrimp_core::Budget;
use scrimp_system::{Batch, Fault, Model};
use std::sync::Arc;

/// Successors that are dealt with at once, and the bytes that they may take; after so many sources they are, however few.
const AT_ONCE: usize = 1024;
const AT_ONCE_BYTES: usize = 1 << 18;
const SOURCES: u32 = 256;
/// So many states ahead, it is asked for what was sent lately.
const AHEAD: usize = 16;
/// How often a table may say that it has room, and have none.
const MOST_TIMES: usize = 64;

/// What a thread has in hand.
pub struct Hands {
    shape: Shape,
    /// How many states are dealt with at once.
    at_once: usize,
    /// Successors, and how many sources they are of.
    out: Batch,
    sources: u32,
    /// What is this process's own among them, and what came for it.
    own: Batch,
    come: Batch,
    /// States of the next level that this thread has found.
    found: Level,
    /// For each process the states that it is to be sent.
    collected: Vec<Collected>,
    /// Whose each state of a batch is.
    owners: Vec<u32>,
    /// The places in a batch of the states that are owned here, and of the others, with hashes of these.
    here: Vec<u32>,
    elsewhere: Vec<u32>,
    hashes: Vec<u64>,
}

impl Hands {
    pub fn new(state_bytes: usize, processes: usize, budget: &Arc<Budget>) -> Hands {
        Hands {
            shape: Shape::new(state_bytes),
            at_once: (AT_ONCE_BYTES / state_bytes.max(1)).clamp(1, AT_ONCE),
            out: Batch::new(state_bytes),
            sources: 0,
            own: Batch::new(state_bytes),
            come: Batch::new(state_bytes),
            found: Level::new(state_bytes, budget),
            collected: (0..processes).map(|_| Collected::new(state_bytes)).collect(),
            owners: Vec::new(),
            here: Vec::new(),
            elsewhere: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Says of each state of a batch, whose places answer it, whether it is owned by process `me`.
    #[inline(always)]
    fn divide<const W: usize>(&mut self, batch: &Batch, partition: &Partition, me: usize) {
        let Hands { shape, owners, here, elsewhere, hashes, .. } = self;
        let states = batch.len();
        let state = |i: usize| Words::<W>::new(batch.padded(i), *shape);
        owners.clear();
        owners.extend((0..states).map(|i| partition.owner_of(state(i)) as u32));
        here.resize(states, 0);
        elsewhere.resize(states, 0);
        // Without branches: nobody can guess whose a state is.
        let (mut mine, mut others) = (0, 0);
        for (&owner, i) in owners.iter().zip(0..) {
            let is_mine = owner == me as u32;
            (here[mine], elsewhere[others]) = (i, i);
            mine += is_mine as usize;
            others += !is_mine as usize;
        }
        here.truncate(mine);
        elsewhere.truncate(others);
        hashes.clear();
        hashes.extend(elsewhere.iter().map(|&i| state(i as usize).hash()));
    }

    /// Takes out what is owned here.
    #[inline(always)]
    fn take_own<const W: usize>(&mut self, batch: &Batch) {
        let Hands { shape, own, here, .. } = self;
        for (to, &i) in own.push_padded(here.len()).zip(here.iter()) {
            let state = Words::<W>::new(batch.padded(i as usize), *shape);
            to.as_chunks_mut::<8>().0.iter_mut().zip(state.all()).for_each(|(to, word)| *to = word.to_le_bytes());
        }
    }
}

impl Search<'_, '_> {
    /// Expands what is left of the level, and takes in everything of the next.
    pub(crate) fn expand(&mut self) -> Result<(), Gone> {
        self.enough = false;
        let now = self.now.clone();
        while let Some(states) = self.task.shared.hand_out(&now) {
            let mut at = states.start;
            while at < states.end {
                for state in now.from(at).take((states.end - at) as usize) {
                    self.expand_one(state);
                    at += 1;
                    if (self.hands.out.len() >= self.hands.at_once || self.hands.sources >= SOURCES)
                        && self.deal_with_successors()?
                    {
                        self.task.shared.hand_back(at..states.end);
                        return self.finish();
                    }
                }
            }
        }
        self.finish()
    }

    /// Sends what is collected, and takes in everything that was sent in this epoch.
    pub(crate) fn finish(&mut self) -> Result<(), Gone> {
        self.give_away()?;
        self.keep_own();
        for process in 0..self.processes {
            self.ship(process)?;
        }
        self.exchange.advance();
        loop {
            self.take_come()?;
            if self.exchange.is_over() {
                return Ok(());
            }
            self.exchange.wait()?;
        }
    }

    fn expand_one(&mut self, state: &[u8]) {
        let (model, out) = (&*self.task.model, &mut self.hands.out);
        let (first, faults) = (out.len(), out.faults().len());
        model.expand(state, out);
        let (count, new_faults) = (out.len() - first, out.faults().len() - faults);
        let deadlock = out.take_deadlock(count);
        self.hands.sources += 1;
        self.counts.transitions += count as u64;
        self.counts.degree = self.counts.degree.max(count as u64);
        if deadlock || new_faults > 0 {
            self.counts.deadlocks += deadlock as u64;
            self.counts.faults += new_faults as u64;
            if self.looks {
                self.look_at_source(state, deadlock, faults);
            }
        }
    }

    /// Notes a goal that is met where this state is expanded.
    fn look_at_source(&mut self, state: &[u8], deadlock: bool, first_fault: usize) {
        let mut found = false;
        let faults = &self.hands.out.faults()[first_fault..];
        for (goal, finding) in self.task.goals.iter().zip(&mut self.findings) {
            let met = match goal.look {
                Look::Deadlock => deadlock,
                Look::Faults => faults.iter().any(|record| record.fault != Fault::Assertion),
                Look::Assertions => faults.iter().any(|record| record.fault == Fault::Assertion),
                _ => false,
            };
            if met && finding.is_none() {
                *finding = Some(Finding { level: self.next_level - 1, state: state.to_vec() });
                found |= goal.finding_violates();
            }
        }
        if found && !self.task.keep_going && !self.enough {
            self.enough = true;
            self.exchange.tell_enough();
        }
    }

    /// Gives the successors to their owners, and looks at what has come. Answers whether this level need not be finished, or cannot be.
    fn deal_with_successors(&mut self) -> Result<bool, Gone> {
        self.give_away()?;
        self.tell_figures();
        self.exchange.work()?;
        self.take_come()?;
        let stops = self.task.shared.is_full() || self.exchange.signals().stopped().is_some();
        Ok(stops || self.enough || self.task.model.is_outgrown())
    }

    /// Gives states to their owners: those of this process are kept, and the others sent, or collected for that.
    fn give_away(&mut self) -> Result<(), Gone> {
        self.counts.visits += std::mem::take(&mut self.hands.sources) as u64;
        let mut out = std::mem::replace(&mut self.hands.out, Batch::new(0));
        let given = match self.processes {
            1 => {
                self.take_in(&out);
                Ok(())
            }
            _ => by_words!(self.hands.shape.words, W => self.give_away_words::<W>(&out)),
        };
        out.clear();
        self.hands.out = out;
        given
    }

    fn give_away_words<const W: usize>(&mut self, out: &Batch) -> Result<(), Gone> {
        self.hands.divide::<W>(out, &self.task.partition, self.process);
        self.hands.take_own::<W>(out);
        if self.hands.own.len() >= self.hands.at_once {
            self.keep_own();
        }
        let full = Exchange::full(self.processes - 1);
        let lately = &self.task.shared.lately;
        for at in 0..self.hands.elsewhere.len() {
            let Hands { shape, collected, owners, elsewhere, hashes, .. } = &mut self.hands;
            if let Some(&ahead) = hashes.get(at + AHEAD) {
                lately.prefetch(ahead);
            }
            let i = elsewhere[at] as usize;
            let state = Words::<W>::new(out.padded(i), *shape);
            if !lately.has(hashes[at], state) {
                let to = owners[i] as usize;
                collected[to].push_words(state);
                if collected[to].bytes() >= full {
                    self.ship(to)?;
                }
            }
        }
        Ok(())
    }

    /// A state that comes from a file, for its owner.
    pub(crate) fn route(&mut self, state: &[u8]) -> Result<(), Gone> {
        self.hands.out.push(state, 0);
        if self.hands.out.len() >= self.hands.at_once { self.deal_with_successors().map(|_| ()) } else { Ok(()) }
    }

    /// Keeps the initial states that this process owns: the first thread does.
    pub(crate) fn take_initial(&mut self) {
        if self.thread > 0 {
            return;
        }
        let mut all = Batch::new(self.task.model.state_bytes());
        self.task.model.initial(&mut all);
        by_words!(self.hands.shape.words, W => {
            self.hands.divide::<W>(&all, &self.task.partition, self.process);
            self.hands.take_own::<W>(&all);
        });
        self.keep_own();
    }

    /// Sends what is collected for a process, as soon as it has room for it.
    fn ship(&mut self, process: usize) -> Result<(), Gone> {
        if self.hands.collected[process].count == 0 {
            return Ok(());
        }
        let to = self.exchange.partner(process);
        while !self.exchange.may_send(to) {
            self.exchange.wait()?;
            self.take_come()?;
        }
        let (count, bytes) = self.hands.collected[process].take();
        self.exchange.send(to, count, bytes);
        Ok(())
    }

    /// Keeps what is this process's own among the successors.
    fn keep_own(&mut self) {
        let mut own = std::mem::replace(&mut self.hands.own, Batch::new(0));
        self.take_in(&own);
        own.clear();
        self.hands.own = own;
    }

    /// Takes in what has come from others.
    fn take_come(&mut self) -> Result<(), Gone> {
        while let Some(parcel) = self.exchange.next() {
            if parcel.is(Kind::Enough) {
                self.enough = true;
            } else {
                self.take_parcel(&parcel)?;
            }
        }
        Ok(())
    }

    fn take_parcel(&mut self, parcel: &Parcel) -> Result<(), Gone> {
        let mut come = std::mem::replace(&mut self.hands.come, Batch::new(0));
        come.clear();
        if !parcel.is(Kind::States) || coding::read(&parcel.bytes, parcel.count, &mut come).is_none() {
            let process = self.exchange.process_of(parcel.from as usize);
            self.exchange.signals().lose(process, "it sent what are no states");
            return Err(Gone);
        }
        self.exchange.took(parcel.from);
        self.take_in(&come);
        self.hands.come = come;
        Ok(())
    }

    /// Keeps states that this process owns; those that are new are of the next level.
    fn take_in(&mut self, batch: &Batch) {
        if batch.is_empty() {
            return;
        }
        let (task, found) = (self.task, &mut self.hands.found);
        let shared = &task.shared;
        for _ in 0..MOST_TIMES {
            if shared.is_full() {
                break;
            }
            let seen = shared.rooms();
            if !found.may_take(batch.len()) {
                shared.make_room(seen, None, &*task.model);
                continue;
            }
            let mut kept = shared.kept(self.thread);
            let Ok(new) = kept.insert(batch) else {
                drop(kept);
                shared.make_room(seen, Some(batch.len()), &*task.model);
                continue;
            };
            if self.only_keeps {
                return;
            }
            self.fresh += new.len() as u64;
            for state in new.iter().map(|&i| batch.state(i as usize)) {
                found.push(state);
                for (goal, finding) in task.goals.iter().zip(&mut self.findings).filter(|_| self.looks) {
                    if finding.is_none() && goal.is_met_in(state) {
                        *finding = Some(Finding { level: self.next_level, state: state.to_vec() });
                    }
                }
            }
            return;
        }
        shared.give_up();
        self.lost = true;
    }

    /// Gives what this thread has found of the next level to all of the process.
    pub(crate) fn hand_in(&mut self) {
        let empty = Level::new(self.task.model.state_bytes(), &self.task.budget);
        self.task.shared.hand_in(std::mem::replace(&mut self.hands.found, empty));
    }
}
