//! What a worker does: with the other threads of its process it expands the states that the process owns, level by level, sends successors
//! to their owners, and takes in what comes (`expand`).
//!
//! At the end of a level all workers have said the same words to each other and decide the same, so that nobody leads. A process whose
//! memory is used up lets go of the levels that it kept for a run, and then moves its states to a tree; only where that does not help
//! does the search end, as incomplete.

use crate::exchange::Exchange;
use crate::expand::Hands;
use crate::goal::Goal;
use crate::level::Level;
use crate::partition::Partition;
use crate::save::{Saved, Saving};
use crate::shared::Shared;
use crate::signals::{Gone, number_of};
use crate::word::{Finding, Sum, Word};
use scrimp_core::budget::{peak_resident, resident};
use scrimp_core::{Budget, Limit};
use scrimp_native::NativeModel;
use scrimp_system::Model;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What is to be done, by all workers of a process.
pub struct Task {
    pub model: Arc<NativeModel>,
    pub goals: Vec<Goal>,
    pub keep_going: bool,
    pub budget: Arc<Budget>,
    pub saving: Option<Saving>,
    pub partition: Partition,
    pub shared: Shared,
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
    /// The process, which owns states, and how many there are.
    pub(crate) process: usize,
    pub(crate) processes: usize,
    /// This thread of it.
    pub(crate) thread: usize,
    /// How often the threads have gone on to other states.
    turn: u64,
    /// The level that is expanded, by all threads of the process, and how many states of the next one this thread has found.
    pub(crate) now: Arc<Level>,
    pub(crate) fresh: u64,
    pub(crate) next_level: u32,
    /// Levels are kept.
    keeps_levels: bool,
    /// Goals are looked at.
    pub(crate) looks: bool,
    /// What comes was found before, and is of no level that is to be expanded.
    pub(crate) only_keeps: bool,
    pub(crate) hands: Hands,
    pub(crate) counts: Counts,
    pub(crate) findings: Vec<Option<Finding>>,
    /// Some states that came are lost: there is no memory.
    pub(crate) lost: bool,
    /// This level need not be finished.
    pub(crate) enough: bool,
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
        let (processes, budget) = (exchange.processes(), &task.budget);
        budget.take(Exchange::bytes(processes - 1));
        let state_bytes = task.model.state_bytes();
        Search {
            process: exchange.process(),
            processes,
            thread: exchange.thread(),
            turn: 0,
            now: Arc::new(Level::new(state_bytes, budget)),
            fresh: 0,
            next_level: 0,
            keeps_levels: !task.goals.is_empty(),
            looks: true,
            only_keeps: false,
            hands: Hands::new(state_bytes, processes, budget),
            counts: Counts::default(),
            findings: vec![None; task.goals.len()],
            lost: false,
            enough: false,
            wrong: None,
            told: Told::default(),
            begun: Instant::now(),
            saved: 0,
            saved_at: None,
            room: budget.left(),
            kept_then: 0,
            exchange,
            task,
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

    /// The next level becomes the present one.
    pub(crate) fn go_down(&mut self) {
        self.now = self.task.shared.go_down(&mut self.turn, self.keeps_levels && self.next_level > 0);
        self.fresh = 0;
        self.next_level += 1;
    }

    /// What came first of a saved search is what was left of the level that was being expanded.
    pub(crate) fn next_is_now(&mut self) {
        self.now = self.task.shared.take_up(&mut self.turn);
        self.fresh = 0;
    }

    /// The states of a level of this process, where it is still there.
    pub(crate) fn level(&self, number: u32) -> Option<Arc<Level>> {
        self.task.shared.level(self.next_level.checked_sub(number + 1)? as usize)
    }

    /// Begins once more, without looking at goals, and searches up to this level. Fails where there is no time or memory for it.
    pub(crate) fn again(&mut self, level: u32) -> Result<bool, Gone> {
        self.now = self.task.shared.begin_anew(&mut self.turn, &*self.task.model);
        (self.next_level, self.fresh, self.looks, self.keeps_levels) = (0, 0, false, true);
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
    pub(crate) fn say(&mut self, mut word: Word) -> Result<Sum, Gone> {
        self.tell_figures();
        self.hand_in();
        let (first, shared) = (self.exchange.is_first(), &self.task.shared);
        let Counts { visits, transitions, deadlocks, faults, degree } = self.counts;
        let limit = if shared.is_full() { Some(Limit::Memory) } else { self.exchange.signals().stopped() };
        let signals = self.exchange.signals();
        let (kept, left) = (shared.kept(self.thread), if first { shared.left() } else { 0 });
        // Figures of a process are told by its first worker.
        let word = Word {
            states: kept.count(),
            fresh: self.fresh,
            left,
            visits,
            transitions,
            deadlocks,
            faults,
            degree,
            limit: limit.map_or(0, number_of),
            lost: self.lost,
            outgrown: self.task.model.outgrown().map(|(state, _)| state.to_vec()),
            findings: self.findings.clone(),
            save: self.should_save(kept.count()),
            in_tree: first && kept.is_in_tree(),
            kept_bytes: if first { kept.bytes() as u64 } else { 0 },
            peak_bytes: if first { peak_resident().or_else(resident).unwrap_or(0) as u64 } else { 0 },
            sent_bytes: if first { signals.sent_bytes.load(Ordering::Relaxed) } else { 0 },
            sent_states: if first { signals.sent_states.load(Ordering::Relaxed) } else { 0 },
            waited_ms: self.exchange.waited.as_millis() as u64,
            elapsed_ms: self.begun.elapsed().as_millis() as u64,
            wrong: word.wrong.take().or_else(|| self.wrong.clone()),
            ..word
        };
        drop(kept);
        let said = self.exchange.meet(bincode::serialize(&word).unwrap_or_default())?;
        let signals = self.exchange.signals();
        let Some(sum) = Sum::of(&said, self.task.goals.len(), self.task.model.state_bytes()) else {
            signals.lose(usize::MAX, "a worker said what is no word");
            return Err(Gone);
        };
        if sum.outgrown().is_none() {
            // Known to all, whatever becomes of the search.
            signals.find(&sum.findings);
        }
        Ok(sum)
    }

    /// Is it time to save the search? So it is, too, where half of what was left at first is used: when all of it is, states that come are lost, and
    /// only what was saved before can be taken up.
    fn should_save(&self, kept: u64) -> bool {
        let Some(saving) = self.task.saving.as_ref().filter(|saving| saving.to.is_some()) else { return false };
        let is_short = self.task.budget.left() < self.room / 2;
        self.exchange.me() == 0 && saving.is_due() || is_short && kept > self.kept_then + self.kept_then / 2
    }

    /// Adds to the figures of the process what is new of this worker's.
    pub(crate) fn tell_figures(&mut self) {
        if !self.looks {
            return;
        }
        let signals = self.exchange.signals();
        let add = |to: &std::sync::atomic::AtomicU64, told: &mut u64, now: u64| {
            to.fetch_add(now - *told, Ordering::Relaxed);
            *told = now;
        };
        add(&signals.states, &mut self.told.states, self.task.shared.kept(self.thread).count());
        add(&signals.visits, &mut self.told.visits, self.counts.visits);
        add(&signals.transitions, &mut self.told.transitions, self.counts.transitions);
        signals.depth.fetch_max(self.next_level as u64, Ordering::Relaxed);
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
}
