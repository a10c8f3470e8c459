//! The sweep-line by all workers together: they agree on the least progress of a state that is open anywhere, expand what has it, with
//! what that leads to, until nothing open is left there, and drop what lies behind before they move on.
//!
//! An edge that leads behind the line makes its destination persistent: it stays for good and is a root of the next sweep. So every
//! worker does what one worker with all states would do, and visits and counts are the same. After Kristensen and Mailund, *A generalised sweep-line
//! method for safety properties* (FME 2002).

use crate::exchange::Exchange;
use crate::goal::Goal;
use crate::line::Line;
use crate::mail::Mail;
use crate::partition::Partition;
use crate::search::Counts;
use crate::signals::{Gone, number_of};
use crate::word::{Finding, Sum, Word};
use scrimp_core::budget::{peak_resident, resident};
use scrimp_core::{Budget, ForgetFacts, Limit};
use scrimp_native::NativeModel;
use scrimp_progress::Measure;
use scrimp_system::{Batch, Model};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// After so many states a worker looks at what has come.
const LOOK: u64 = 64;

/// What is to be done, by all workers of a process.
pub struct Task {
    pub model: Arc<NativeModel>,
    pub goals: Vec<Goal>,
    pub keep_going: bool,
    pub measure: Measure,
    pub partition: Partition,
    pub budget: Arc<Budget>,
}

/// What came of it; every worker has the same.
#[derive(Debug, Clone, Default)]
pub struct Swept {
    pub sum: Sum,
    pub initial: u64,
    pub exhaustive: bool,
    /// Most states open at the end of a round.
    pub most_open: u64,
    pub forget: ForgetFacts,
}

/// What every worker says at the end of a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Said {
    figures: Word,
    least: [Option<u128>; 2],
    class: u64,
    persistent: u64,
    peak: u64,
}

struct Sweep<'s, 'w, 't> {
    task: &'t Task,
    mail: Mail<'s, 'w>,
    line: Line<'t>,
    me: usize,
    state: Vec<u8>,
    out: Batch,
    counts: Counts,
    findings: Vec<Option<Finding>>,
    told: [u64; 3],
    begun: Instant,
}

/// Sweeps through all states; ends at once where there is no memory to begin with.
pub fn search(exchange: &mut Exchange, task: &Task) -> Result<Swept, Gone> {
    let (bytes, me, peers) = (task.model.state_bytes(), exchange.me(), exchange.peers());
    task.budget.take(Exchange::bytes(peers));
    let line = Line::new(bytes, &task.measure, &task.goals, &task.budget).ok();
    let all = exchange.meet(vec![line.is_some() as u8])?;
    let Some(line) = line.filter(|_| all.iter().all(|said| said[..] == [1])) else {
        return Ok(Swept { sum: Sum { limit: Some(Limit::Memory), ..Sum::default() }, ..Swept::default() });
    };
    let sweep = Sweep {
        task,
        mail: Mail::new(exchange, bytes),
        line,
        me,
        state: vec![0; bytes],
        out: Batch::new(bytes),
        counts: Counts::default(),
        findings: vec![None; task.goals.len()],
        told: [0; 3],
        begun: Instant::now(),
    };
    sweep.run()
}

impl Sweep<'_, '_, '_> {
    fn run(mut self) -> Result<Swept, Gone> {
        let mut swept = Swept { forget: ForgetFacts { sweeps: 1, ..ForgetFacts::default() }, ..Swept::default() };
        let mut initial = Batch::new(self.task.model.state_bytes());
        self.task.model.initial(&mut initial);
        for i in 0..initial.len() {
            if self.task.partition.owner(initial.state(i)) == self.me {
                self.mail.post(self.me, initial.state(i), &[], &mut self.line)?;
            }
        }
        self.mail.finish(&mut self.line)?;
        for round in 0u64.. {
            let said = self.say()?;
            let sum = Sum::of_words(said.iter().map(|said| said.figures.clone()).collect());
            let total = |figure: fn(&Said) -> u64| said.iter().map(figure).sum::<u64>();
            if round == 0 {
                swept.initial = sum.total(|word| word.states);
            }
            let forget = &mut swept.forget;
            forget.largest_class = forget.largest_class.max(total(|said| said.class));
            (forget.persistent, forget.stored_peak) = (total(|said| said.persistent), total(|said| said.peak));
            swept.most_open = swept.most_open.max(sum.total(|word| word.left));
            let least = |which: usize| said.iter().filter_map(|said| said.least[which]).min();
            let (ahead, roots) = (least(0), least(1));
            let cut = sum.limit.is_some() || sum.outgrown().is_some();
            let over = cut || self.is_over(&sum);
            swept.exhaustive = !cut && ahead.is_none() && roots.is_none();
            swept.sum = sum;
            if over || swept.exhaustive {
                break;
            }
            let next = match ahead {
                Some(next) => next,
                None => {
                    self.line.sweep_again();
                    swept.forget.sweeps += 1;
                    roots.unwrap_or(0)
                }
            };
            if next != self.line.stands || ahead.is_none() {
                self.line.leave();
                self.line.stands = next;
            }
            self.expand()?;
        }
        Ok(swept)
    }

    /// Is all decided, or enough?
    fn is_over(&self, sum: &Sum) -> bool {
        let goals = &self.task.goals;
        let found = || goals.iter().zip(&sum.findings).filter(|(_, finding)| finding.is_some());
        let violated = found().any(|(goal, _)| goal.finding_violates());
        !goals.is_empty() && found().count() == goals.len() || violated && !self.task.keep_going
    }

    /// Expands what is open where the line stands.
    fn expand(&mut self) -> Result<(), Gone> {
        let mut list = self.line.take_class(self.line.stands);
        let mut tick = 0u64;
        while !self.stops()
            && let Some(number) = self.line.next_of(&mut list)
        {
            self.expand_one(number)?;
            tick += 1;
            if tick.is_multiple_of(LOOK) {
                self.tell_figures();
                self.mail.look(&mut self.line)?;
            }
        }
        self.mail.finish(&mut self.line)
    }

    fn stops(&self) -> bool {
        let stopped = self.mail.exchange.signals().stopped().is_some();
        stopped || self.line.full || self.mail.enough || self.task.model.is_outgrown()
    }

    fn expand_one(&mut self, number: u32) -> Result<(), Gone> {
        self.line.load(number, &mut self.state);
        let mut out = std::mem::replace(&mut self.out, Batch::new(0));
        out.clear();
        self.task.model.expand(&self.state, &mut out);
        let count = out.len();
        let deadlock = out.take_deadlock(count);
        self.line.close(number);
        self.counts.visits += 1;
        self.counts.transitions += count as u64;
        self.counts.degree = self.counts.degree.max(count as u64);
        self.counts.deadlocks += deadlock as u64;
        self.counts.faults += out.faults().len() as u64;
        let mut enough = false;
        for (goal, finding) in self.task.goals.iter().zip(&mut self.findings) {
            if finding.is_none() && goal.is_met_at(deadlock, &out) {
                *finding = Some(Finding { level: 0, state: self.state.clone() });
                enough |= goal.finding_violates() && !self.task.keep_going;
            }
        }
        if enough && !self.mail.enough {
            self.mail.enough = true;
            self.mail.exchange.tell_enough();
        }
        for i in 0..count {
            let state = out.state(i);
            self.mail.post(self.task.partition.owner(state), state, &[], &mut self.line)?;
        }
        self.out = out;
        Ok(())
    }

    /// Says how this worker stands, and hears how all do.
    fn say(&mut self) -> Result<Vec<Said>, Gone> {
        self.tell_figures();
        let said = Said {
            figures: self.figures(),
            least: self.line.least(),
            class: self.line.class,
            persistent: self.line.persistent,
            peak: self.line.peak,
        };
        let heard = self.mail.exchange.meet(bincode::serialize(&said).unwrap_or_default())?;
        let all: Option<Vec<Said>> = heard.iter().map(|said| bincode::deserialize(said).ok()).collect();
        all.ok_or_else(|| {
            self.mail.exchange.signals().lose(usize::MAX, "a worker said what is no word");
            Gone
        })
    }

    fn figures(&self) -> Word {
        let Counts { visits, transitions, deadlocks, faults, degree } = self.counts;
        let signals = self.mail.exchange.signals();
        let stopped = if self.line.full { Some(Limit::Memory) } else { signals.stopped() };
        // Figures of a process are told by its first worker.
        let first = self.mail.exchange.is_first();
        let findings = self.findings.iter().zip(&self.line.findings);
        Word {
            states: self.line.states,
            left: self.line.open,
            visits,
            transitions,
            deadlocks,
            faults,
            degree,
            limit: stopped.map_or(0, number_of),
            lost: self.line.full,
            outgrown: self.task.model.outgrown().map(|(state, _)| state.to_vec()),
            findings: findings.map(|(at, within)| at.clone().or_else(|| within.clone())).collect(),
            kept_bytes: self.line.bytes() as u64,
            peak_bytes: if first { peak_resident().or_else(resident).unwrap_or(0) as u64 } else { 0 },
            sent_bytes: if first { signals.sent_bytes.load(Ordering::Relaxed) } else { 0 },
            sent_states: if first { signals.sent_states.load(Ordering::Relaxed) } else { 0 },
            waited_ms: self.mail.exchange.waited.as_millis() as u64,
            elapsed_ms: self.begun.elapsed().as_millis() as u64,
            ..Word::default()
        }
    }

    /// Adds to the figures of the process what is new of this worker's.
    fn tell_figures(&mut self) {
        let signals = self.mail.exchange.signals();
        let figures = [&signals.states, &signals.visits, &signals.transitions];
        let now = [self.line.states, self.counts.visits, self.counts.transitions];
        for ((figure, told), now) in figures.into_iter().zip(&mut self.told).zip(now) {
            figure.fetch_add(now - *told, Ordering::Relaxed);
            *told = now;
        }
    }
}
