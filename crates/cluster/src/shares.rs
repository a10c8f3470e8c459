//! What a worker does where all together search as the engine's threads do, each a share of the states: with a cache, along a
//! sweep-line, from pseudo-roots, with fewer events. The engine's own search runs here; what lies [between](crate::between) the shares is the cluster's.

use crate::between::Between;
use crate::exchange::Exchange;
use crate::goal::Sought;
use crate::mail::Mail;
use crate::partition::Partition;
use crate::signals::{Gone, number_of};
use crate::word::{Finding, Sum, Word};
use scrimp_core::budget::{peak_resident, resident};
use scrimp_core::{Budget, Condition, Control, ForgetFacts, Property, PropertyKind};
use scrimp_native::NativeModel;
use scrimp_progress::Measure;
use scrimp_search::engine::Share;
use scrimp_search::part::{Ended, OfShare, run_share};
use scrimp_search::plan::{ForgetChoice, ReduceChoice};
use scrimp_search::{Guides, ModelFacts, Options, Plan};
use scrimp_system::{Expr, Model};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What is forgotten or left out, and how, as it is sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    pub forget: String,
    pub reduce: String,
    /// The measure of progress, as it is written and as expressions: names are not sent.
    pub measure: Option<(String, Vec<Expr>)>,
    pub stride: Option<u32>,
    pub seed: u64,
}

/// What is to be done, by all workers of a process.
pub struct Task {
    pub model: Arc<NativeModel>,
    pub goals: Vec<Sought>,
    pub keep_going: bool,
    pub manner: Manner,
    pub measure: Option<Measure>,
    pub partition: Partition,
    pub memory: usize,
    pub budget: Arc<Budget>,
}

/// What came of it; every worker has the same.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    pub sum: Sum,
    pub exhaustive: bool,
    /// Was every state found only once?
    pub once: bool,
    pub initial: u64,
    pub depth: u32,
    /// Most states open at the beginning of a round.
    pub widest: u64,
    pub forget: ForgetFacts,
}

/// What every worker says at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Said {
    figures: Word,
    complete: bool,
    once: bool,
    initial: u64,
    depth: u32,
    widest: u64,
    forgot: [u64; 10],
    tree_peak: Option<u64>,
}

/// Searches with all others until everything is visited or decided, or a limit is reached.
pub fn search(exchange: &mut Exchange, task: &Task) -> Result<Shared, Gone> {
    let begun = Instant::now();
    let peers = exchange.peers();
    task.budget.take(Exchange::bytes(peers - 1) + exchange.buffer_bytes());
    let mail = Mail::new(exchange, task.model.state_bytes());
    let (me, between) = (mail.exchange.me(), Between::new(mail, &task.partition, &task.model, &task.budget));
    let found = task.search_share(Share { exchange: &between, number: me }, peers);
    if found.is_err() {
        between.refuse();
    }
    let stopped = between.stopped.get();
    let mail = between.into_mail()?;
    let mut said = Said::of(found, task.goals.len());
    let figures = &mut said.figures;
    if figures.limit == 0 {
        figures.limit = stopped.map_or(0, number_of);
    }
    figures.outgrown = task.model.outgrown().map(|(state, _)| state.to_vec());
    let signals = mail.exchange.signals();
    // Figures of a process are told by its first worker.
    if mail.exchange.is_first() {
        figures.peak_bytes = peak_resident().or_else(resident).unwrap_or(0) as u64;
        figures.sent_bytes = signals.sent_bytes.load(Ordering::Relaxed);
        figures.sent_states = signals.sent_states.load(Ordering::Relaxed);
    }
    figures.waited_ms = mail.exchange.waited.as_millis() as u64;
    figures.elapsed_ms = begun.elapsed().as_millis() as u64;
    said.complete &= figures.limit == 0 && figures.outgrown.is_none();
    let heard = mail.exchange.meet(bincode::serialize(&said).unwrap_or_default())?;
    let all: Option<Vec<Said>> = heard.iter().map(|said| bincode::deserialize(said).ok()).collect();
    let Some(all) = all else {
        mail.exchange.signals().lose(usize::MAX, "a worker said what is no word");
        return Err(Gone);
    };
    Ok(Shared::of(all))
}

impl Task {
    fn search_share(&self, share: Share, of: usize) -> io::Result<OfShare> {
        let properties: Vec<Property<Condition>> = self.goals.iter().map(|goal| self.property(goal)).collect();
        let manner = &self.manner;
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        let options = Options {
            forget: manner.forget.parse::<ForgetChoice>().map_err(|why| invalid(why.to_string()))?,
            reduce: manner.reduce.parse::<ReduceChoice>().map_err(|why| invalid(why.to_string()))?,
            progress: manner.measure.as_ref().map(|(text, _)| text.clone()),
            stride: manner.stride,
            seed: manner.seed,
            threads: of,
            memory: Some(self.memory),
            keep_going: self.keep_going,
            ..Options::default()
        };
        let plan = Plan::new(&options, &properties, &ModelFacts::of(&*self.model))
            .map_err(|refusal| invalid(refusal.to_string()))?;
        let progress = |state: &[u8]| self.measure.as_ref().map_or(0, |measure| measure.value(state));
        let guides = Guides { progress: self.measure.is_some().then_some(&progress), ..Guides::default() };
        run_share(&*self.model, &properties, &plan, &Control::new(None), &self.budget, guides, share)
    }

    fn property(&self, goal: &Sought) -> Property<Condition<'_>> {
        let condition = |e: &Expr| {
            let predicate = self.model.predicate(e);
            Condition { holds: Box::new(move |state| predicate.holds(state)), expression: Some(e.clone()) }
        };
        let kind = match goal {
            Sought::Deadlock => PropertyKind::Deadlock,
            Sought::Faults => PropertyKind::Faults,
            Sought::Assertions => PropertyKind::Assertions,
            Sought::Invariant(e) => PropertyKind::Invariant(condition(e)),
            Sought::Reach(e) => PropertyKind::Reach(condition(e)),
        };
        Property { name: String::new(), kind }
    }
}

impl Said {
    fn of(found: io::Result<OfShare>, goals: usize) -> Said {
        let OfShare { outcome, findings, store_bytes } = match found {
            Ok(found) => found,
            Err(why) => {
                let figures = Word { wrong: Some(why.to_string()), findings: vec![None; goals], ..Word::default() };
                return Said { figures, once: true, ..Said::default() };
            }
        };
        let mut decided = vec![None; goals];
        for finding in findings {
            decided[finding.property] = Some(Finding { level: finding.depth, state: finding.state });
        }
        let (facts, forget) = (&outcome.facts, &outcome.forget);
        let figures = Word {
            states: facts.states,
            left: facts.open,
            visits: outcome.visits,
            transitions: facts.transitions,
            deadlocks: facts.deadlocks,
            faults: facts.faults,
            degree: facts.max_out_degree,
            limit: if let Ended::Limit(limit) = outcome.ended { number_of(limit) } else { 0 },
            findings: decided,
            kept_bytes: (store_bytes + outcome.beside_bytes) as u64,
            wrong: if let Ended::Unsuited(why) = &outcome.ended { Some(why.clone()) } else { None },
            ..Word::default()
        };
        Said {
            figures,
            complete: outcome.ended == Ended::Complete,
            once: outcome.once,
            initial: facts.initial_states,
            depth: facts.depth,
            widest: facts.widest,
            forgot: [
                forget.stored_peak,
                forget.released,
                forget.never_came,
                forget.retracted,
                forget.evictions,
                forget.candidates_peak,
                forget.replays,
                forget.sweeps,
                forget.persistent,
                forget.largest_class,
            ],
            tree_peak: forget.tree_peak,
        }
    }

    fn forget(&self) -> ForgetFacts {
        let [
            stored_peak,
            released,
            never_came,
            retracted,
            evictions,
            candidates_peak,
            replays,
            sweeps,
            persistent,
            largest_class,
        ] = self.forgot;
        ForgetFacts {
            stored_peak,
            released,
            never_came,
            retracted,
            evictions,
            candidates_peak,
            tree_peak: self.tree_peak,
            replays,
            sweeps,
            persistent,
            largest_class,
        }
    }
}

impl Shared {
    fn of(all: Vec<Said>) -> Shared {
        let mut shared = Shared { exhaustive: true, once: true, ..Shared::default() };
        for said in &all {
            shared.exhaustive &= said.complete;
            shared.once &= said.once;
            shared.initial += said.initial;
            shared.depth = shared.depth.max(said.depth);
            shared.widest = shared.widest.max(said.widest);
            shared.forget.add(&said.forget());
        }
        shared.sum = Sum::of_words(all.into_iter().map(|said| said.figures).collect());
        shared
    }
}
