//! What a worker does: expands the states that it owns, level by level, sends successors to their owners, and takes in its own.
//!
//! At the end of a level all workers have said the same words to each other and decide the same, so that nobody leads. A worker whose
//! memory is used up lets go of the levels that it kept for a run, and then moves its states to a tree; only where that does not help
//! does the search end, as incomplete.

use crate::coding::{self, Collected};
use crate::exchange::Exchange;
use crate::goal::{Goal, Look};
use crate::kept::Kept;
use crate::lately::Lately;
use crate::level::Level;
use crate::owner::{hash, owner};
use crate::parcel::{Kind, Parcel};
use crate::save::{Saved, Saving};
use crate::signals::{Gone, number_of};
use crate::word::{Finding, Sum, Word};
use scrimp_core::budget::{peak_resident, resident};
use scrimp_core::{Budget, Limit};
use scrimp_native::NativeModel;
use scrimp_system::{Batch, Fault, Model};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// States that are taken in at once.
const AT_ONCE: usize = 256;
/// After so many states a worker looks at what has come.
const LOOK: u64 = 64;

/// What is to be done, by all workers of a process.
pub struct Task {
    pub model: Arc<NativeModel>,
    pub goals: Vec<Goal>,
    pub keep_going: bool,
    pub budget: Arc<Budget>,
    pub saving: Option<Saving>,
}

/// What a worker counts.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    pub visits: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    pub faults: u64,
    pub degree: u64,
}

/// What came of a search; every worker has the same.
pub struct Outcome {
    /// The sizes of the levels; the last may not be whole where the search was cut.
    pub widths: Vec<u64>,
    pub initial: u64,
    pub exhaustive: bool,
    pub sum: Sum,
    /// For each goal that is decided by a state, a shortest run to it, if there was time and memory to find it again.
    pub paths: Vec<Option<Vec<Vec<u8>>>>,
    /// Why the search was not saved, though it should have been.
    pub unsaved: Option<String>,
    /// The level and the states of the search that can be taken up, where that is an earlier one.
    pub earlier: Option<(u32, u64)>,
}

pub struct Search<'s, 'w> {
    pub(crate) exchange: &'s mut Exchange<'w>,
    pub(crate) task: &'s Task,
    pub(crate) me: usize,
    pub(crate) peers: usize,
    pub(crate) kept: Kept,
    /// The level that is expanded, how many of its states were, and the next one with its number.
    now: Level,
    expanded: u64,
    next: Level,
    pub(crate) next_level: u32,
    /// The levels before it that are kept, the last of them last.
    before: VecDeque<Level>,
    /// Levels are kept.
    keeps_levels: bool,
    /// Goals are looked at.
    pub(crate) looks: bool,
    /// What comes was found before, and is of no level that is to be expanded.
    only_keeps: bool,
    collected: Vec<Collected>,
    own: Batch,
    come: Batch,
    out: Batch,
    lately: Lately,
    counts: Counts,
    findings: Vec<Option<Finding>>,
    /// No state is kept any more, and some that came are lost.
    full: bool,
    lost: bool,
    /// This level need not be finished.
    enough: bool,
    wrong: Option<String>,
    told: Told,
    begun: Instant,
    /// How often it was saved, the level and all states when it was last, and the states of this worker then.
    pub(crate) saved: u64,
    pub(crate) saved_at: Option<(u32, u64)>,
    /// Memory that was left at first.
    room: usize,
    pub(crate) kept_then: u64,
}

/// What was told of the figures of this process.
#[derive(Default)]
struct Told {
    states: u64,
    visits: u64,
    transitions: u64,
}

impl<'s, 'w> Search<'s, 'w> {
    pub fn new(exchange: &'s mut Exchange<'w>, task: &'s Task) -> Search<'s, 'w> {
        let (me, peers) = (exchange.me(), exchange.peers());
        let (bytes, budget) = (task.model.state_bytes(), &task.budget);
        budget.take(Exchange::bytes(peers));
        Search {
            exchange,
            task,
            me,
            peers,
            kept: Kept::new(&*task.model, budget),
            now: Level::new(bytes, budget),
            expanded: 0,
            next: Level::new(bytes, budget),
            next_level: 0,
            before: VecDeque::new(),
            keeps_levels: !task.goals.is_empty(),
            looks: true,
            only_keeps: false,
            collected: (0..peers).map(|_| Collected::new(bytes)).collect(),
            own: Batch::new(bytes),
            come: Batch::new(bytes),
            out: Batch::new(bytes),
            lately: Lately::new(bytes, budget),
            counts: Counts::default(),
            findings: vec![None; task.goals.len()],
            full: false,
            lost: false,
            enough: false,
            wrong: None,
            told: Told::default(),
            begun: Instant::now(),
            saved: 0,
            saved_at: None,
            room: budget.left(),
            kept_then: 0,
        }
    }

    /// Searches until everything is visited or decided, or a limit is reached.
    pub fn run(mut self) -> Result<Outcome, Gone> {
        let (mut widths, mut unsaved) = (Vec::new(), None);
        let initial;
        let mut sum = match self.task.saving.as_ref().and_then(|saving| saving.from.as_ref()) {
            Some(saved) => {
                widths.clone_from(&saved.widths);
                initial = saved.initial;
                self.take_up(saved)?
            }
            None => {
                self.take_initial();
                let sum = self.say(Word::default())?;
                initial = sum.total(|word| word.fresh);
                widths.extend((initial > 0).then_some(initial));
                sum
            }
        };
        let exhaustive = loop {
            let (fresh, left) = (sum.total(|word| word.fresh), sum.total(|word| word.left));
            let broken = sum.outgrown().is_some() || sum.any(|word| word.wrong.is_some());
            let cut = broken || sum.limit.is_some();
            let due = sum.limit.is_some() || sum.any(|word| word.save);
            if due && !broken && !sum.any(|word| word.lost) && fresh + left > 0 {
                unsaved = self.save(&sum, &widths, initial)?.or(unsaved);
            }
            if cut || fresh + left == 0 || self.is_over(&sum) {
                break !cut && fresh + left == 0;
            }
            if left == 0 {
                self.go_down();
            }
            self.expand()?;
            sum = self.say(Word::default())?;
            let fresh = sum.total(|word| word.fresh);
            if sum.total(|word| word.left) == 0 && fresh > 0 {
                widths.push(fresh);
            }
        };
        let mut paths = vec![None; self.task.goals.len()];
        if sum.outgrown().is_none() {
            for (goal, finding) in sum.findings.iter().enumerate() {
                if let Some(finding) = finding {
                    paths[goal] = self.way_to(finding)?;
                }
            }
        }
        let earlier = if sum.any(|word| word.lost) { self.saved_at } else { None };
        Ok(Outcome { widths, initial, exhaustive, sum, paths, unsaved, earlier })
    }

    /// Is all decided, or enough?
    fn is_over(&self, sum: &Sum) -> bool {
        let goals = &self.task.goals;
        let found = || goals.iter().zip(&sum.findings).filter(|(_, finding)| finding.is_some());
        let violated = found().any(|(goal, _)| goal.finding_violates());
        !goals.is_empty() && found().count() == goals.len() || violated && !self.task.keep_going
    }

    /// Takes in its share of the initial states.
    pub(crate) fn take_initial(&mut self) {
        let mut all = Batch::new(self.task.model.state_bytes());
        self.task.model.initial(&mut all);
        for i in 0..all.len() {
            if owner(hash(all.state(i)), self.peers) == self.me {
                self.own.push(all.state(i), 0);
            }
        }
        self.take_own();
    }

    /// The next level becomes the present one.
    pub(crate) fn go_down(&mut self) {
        let next = self.take_next();
        let done = std::mem::replace(&mut self.now, next);
        if self.keeps_levels && self.next_level > 0 {
            self.before.push_back(done);
        }
        self.expanded = 0;
        self.next_level += 1;
    }

    /// What was found of the next level, which is empty then.
    pub(crate) fn take_next(&mut self) -> Level {
        std::mem::replace(&mut self.next, Level::new(self.task.model.state_bytes(), &self.task.budget))
    }

    /// The states of a level, where it is still there.
    pub(crate) fn level(&self, number: u32) -> Option<&Level> {
        match self.next_level.checked_sub(number + 1)? as usize {
            0 => Some(&self.now),
            back => self.before.get(self.before.len().checked_sub(back)?),
        }
    }

    /// Begins once more, without looking at goals, and searches up to this level. Fails where there is no time or memory for it.
    pub(crate) fn again(&mut self, level: u32) -> Result<bool, Gone> {
        let (model, budget) = (&*self.task.model, &self.task.budget);
        self.kept = Kept::none();
        self.kept = Kept::new(model, budget);
        (self.now, self.next) = (Level::new(model.state_bytes(), budget), Level::new(model.state_bytes(), budget));
        self.before.clear();
        self.lately.clear();
        (self.next_level, self.expanded, self.full, self.looks, self.keeps_levels) = (0, 0, false, false, true);
        self.take_initial();
        loop {
            let sum = self.say(Word::default())?;
            if sum.limit.is_some() || sum.any(|word| word.wrong.is_some() || word.lost) {
                return Ok(false);
            }
            self.go_down();
            if self.next_level == level + 1 {
                return Ok(true);
            }
            self.expand()?;
        }
    }

    /// Says how this worker stands, and hears how all do.
    pub(crate) fn say(&mut self, word: Word) -> Result<Sum, Gone> {
        self.tell_figures();
        let Counts { visits, transitions, deadlocks, faults, degree } = self.counts;
        let limit = if self.full { Some(Limit::Memory) } else { self.exchange.signals().stopped() };
        let signals = self.exchange.signals();
        // Figures of a process are told by its first worker.
        let first = self.exchange.is_first();
        let word = Word {
            states: self.kept.count(),
            fresh: self.next.len(),
            left: self.now.len() - self.expanded,
            visits,
            transitions,
            deadlocks,
            faults,
            degree,
            limit: limit.map_or(0, number_of),
            lost: self.lost,
            outgrown: self.task.model.outgrown().map(|(state, _)| state.to_vec()),
            findings: self.findings.clone(),
            save: self.should_save(),
            in_tree: self.kept.is_in_tree(),
            kept_bytes: self.kept.bytes() as u64,
            peak_bytes: if first { peak_resident().or_else(resident).unwrap_or(0) as u64 } else { 0 },
            sent_bytes: if first { signals.sent_bytes.load(Ordering::Relaxed) } else { 0 },
            sent_states: if first { signals.sent_states.load(Ordering::Relaxed) } else { 0 },
            waited_ms: self.exchange.waited.as_millis() as u64,
            elapsed_ms: self.begun.elapsed().as_millis() as u64,
            wrong: self.wrong.clone(),
            ..word
        };
        let said = self.exchange.meet(bincode::serialize(&word).unwrap_or_default())?;
        Sum::of(&said, self.task.goals.len(), self.task.model.state_bytes()).ok_or_else(|| {
            self.exchange.signals().lose(usize::MAX, "a worker said what is no word");
            Gone
        })
    }

    /// Is it time to save the search? So it is, too, where half of what was left at first is used: when all of it is, states that come are lost, and
    /// only what was saved before can be taken up.
    fn should_save(&self) -> bool {
        let Some(saving) = self.task.saving.as_ref().filter(|saving| saving.to.is_some()) else { return false };
        let is_short = self.task.budget.left() < self.room / 2;
        self.me == 0 && saving.is_due() || is_short && self.kept.count() > self.kept_then + self.kept_then / 2
    }

    /// Adds to the figures of the process what is new of this worker's.
    fn tell_figures(&mut self) {
        if !self.looks {
            return;
        }
        let signals = self.exchange.signals();
        let add = |to: &std::sync::atomic::AtomicU64, told: &mut u64, now: u64| {
            to.fetch_add(now - *told, Ordering::Relaxed);
            *told = now;
        };
        add(&signals.states, &mut self.told.states, self.kept.count());
        add(&signals.visits, &mut self.told.visits, self.counts.visits);
        add(&signals.transitions, &mut self.told.transitions, self.counts.transitions);
        signals.depth.fetch_max(self.next_level as u64, Ordering::Relaxed);
    }

    /// Expands what is left of the level, and takes in everything of the next.
    pub(crate) fn expand(&mut self) -> Result<(), Gone> {
        self.enough = false;
        let now = std::mem::replace(&mut self.now, Level::new(self.task.model.state_bytes(), &self.task.budget));
        let expanded = self.expand_states(&now);
        self.now = now;
        expanded?;
        self.finish()
    }

    /// Sends what is collected, and takes in everything that was sent in this epoch.
    pub(crate) fn finish(&mut self) -> Result<(), Gone> {
        for to in 0..self.peers {
            self.ship(to)?;
        }
        self.take_own();
        self.exchange.advance();
        loop {
            self.take_come()?;
            if self.exchange.is_over() {
                return Ok(());
            }
            self.exchange.wait()?;
        }
    }

    fn expand_states(&mut self, now: &Level) -> Result<(), Gone> {
        let mut tick = 0;
        while self.expanded < now.len() {
            for state in now.from(self.expanded) {
                if self.full || self.enough || self.task.model.is_outgrown() {
                    return Ok(());
                }
                self.expand_one(state)?;
                self.expanded += 1;
                tick += 1;
                if tick % LOOK == 0 {
                    self.tell_figures();
                    self.exchange.work()?;
                    self.take_come()?;
                    if self.exchange.signals().stopped().is_some() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn expand_one(&mut self, state: &[u8]) -> Result<(), Gone> {
        let mut out = std::mem::replace(&mut self.out, Batch::new(0));
        out.clear();
        self.task.model.expand(state, &mut out);
        let count = out.len();
        let deadlock = out.take_deadlock(count);
        self.counts.visits += 1;
        self.counts.transitions += count as u64;
        self.counts.degree = self.counts.degree.max(count as u64);
        self.counts.deadlocks += deadlock as u64;
        self.counts.faults += out.faults().len() as u64;
        if self.looks {
            self.look_at_source(state, deadlock, &out);
        }
        for i in 0..count {
            self.route(out.state(i))?;
        }
        self.out = out;
        Ok(())
    }

    /// Notes a goal that is met where this state is expanded.
    fn look_at_source(&mut self, state: &[u8], deadlock: bool, out: &Batch) {
        let mut found = false;
        for (goal, finding) in self.task.goals.iter().zip(&mut self.findings) {
            let met = match goal.look {
                Look::Deadlock => deadlock,
                Look::Faults => out.faults().iter().any(|record| record.fault != Fault::Assertion),
                Look::Assertions => out.faults().iter().any(|record| record.fault == Fault::Assertion),
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

    /// To its owner.
    pub(crate) fn route(&mut self, state: &[u8]) -> Result<(), Gone> {
        let hash = hash(state);
        let to = owner(hash, self.peers);
        if to == self.me {
            self.own.push(state, 0);
            if self.own.len() >= AT_ONCE {
                self.take_own();
            }
        } else if !self.lately.has(hash, state) {
            self.collected[to].push(state);
            if self.collected[to].bytes() >= Exchange::full(self.peers) {
                self.ship(to)?;
            }
        }
        Ok(())
    }

    /// Sends what is collected for an owner, as soon as he has room for it.
    fn ship(&mut self, to: usize) -> Result<(), Gone> {
        while !self.exchange.may_send(to) {
            self.exchange.wait()?;
            self.take_come()?;
        }
        let (count, bytes) = self.collected[to].take();
        if count > 0 {
            self.exchange.send(to, count, bytes);
        }
        Ok(())
    }

    /// Takes in its own successors.
    fn take_own(&mut self) {
        let mut own = std::mem::replace(&mut self.own, Batch::new(0));
        self.take_in(&own);
        own.clear();
        self.own = own;
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
        let mut come = std::mem::replace(&mut self.come, Batch::new(0));
        come.clear();
        if !parcel.is(Kind::States) || coding::read(&parcel.bytes, parcel.count, &mut come).is_none() {
            let process = self.exchange.process_of(parcel.from as usize);
            self.exchange.signals().lose(process, "it sent what are no states");
            return Err(Gone);
        }
        self.exchange.took(parcel.from);
        self.take_in(&come);
        self.come = come;
        Ok(())
    }

    /// Keeps states that it owns; those that are new are of the next level.
    fn take_in(&mut self, batch: &Batch) {
        if batch.is_empty() {
            return;
        }
        while !self.full && !self.next.may_take(batch.len()) {
            self.full = !self.has_more_room();
        }
        while !self.full {
            let Ok(new) = self.kept.insert(batch) else {
                self.full = !self.has_more_room();
                continue;
            };
            for state in new.iter().map(|&i| batch.state(i as usize)).filter(|_| !self.only_keeps) {
                self.next.push(state);
                for (goal, finding) in self.task.goals.iter().zip(&mut self.findings).filter(|_| self.looks) {
                    if finding.is_none() && goal.is_met_in(state) {
                        *finding = Some(Finding { level: self.next_level, state: state.to_vec() });
                    }
                }
            }
            return;
        }
        self.lost = true;
    }

    /// The states that are being expanded and those found so far of the next level.
    pub(crate) fn open_states(&self) -> (&Level, &Level) {
        (&self.now, &self.next)
    }

    pub(crate) fn expanded(&self) -> u64 {
        self.expanded
    }

    pub(crate) fn went_wrong(&mut self, why: String) {
        self.wrong.get_or_insert(why);
    }

    pub(crate) fn findings_known(&mut self, findings: &[Option<Finding>]) {
        self.findings.iter_mut().zip(findings).for_each(|(mine, known)| mine.clone_from(known));
    }

    /// What was counted before the search was taken up.
    pub(crate) fn count_before(&mut self, saved: &Saved) {
        let &Saved { visits, transitions, deadlocks, faults, degree, .. } = saved;
        self.counts = Counts { visits, transitions, deadlocks, faults, degree };
    }

    pub(crate) fn only_keep(&mut self, only: bool) {
        self.only_keeps = only;
    }

    /// What came first of a saved search is what was being expanded.
    pub(crate) fn next_is_now(&mut self) {
        (self.now, self.expanded) = (self.take_next(), 0);
    }

    /// To its owner, who has it from a file. That somebody is gone shows where all meet.
    pub(crate) fn route_saved(&mut self, state: &[u8]) {
        let _ = self.route(state);
    }

    /// Makes room: of the levels that are kept for a run the first goes, and then states move to a tree.
    fn has_more_room(&mut self) -> bool {
        self.before.pop_front().is_some() || self.kept.move_to_tree(&*self.task.model, &self.task.budget).is_ok()
    }
}
