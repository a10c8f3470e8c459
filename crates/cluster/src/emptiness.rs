//! Is there a run that an automaton accepts? By all workers together: one way catch them young (OWCTY).
//!
//! No worker sees a whole cycle, and depth-first order cannot be kept among several. So the set of states that may be on an accepting
//! cycle is made smaller, breadth-first, until it stays as it is: what no accepting edge of the set leads to leaves it, and then, again
//! and again, what has no predecessor in it, which is counted. Where nothing is left, no run is accepted; where a set stays as it is,
//! every state of it is reached from an accepting edge within it, so that it has an accepting cycle. After Černá and Pelánek,
//! *Distributed explicit fair cycle detection* (SPIN 2003), with marks on edges.
//!
//! Then states are reached once more, and each notes from which state it was reached first. On the way back from any of them a
//! state is met twice: all others were reached before the states that they lead to, so that an accepting edge is on that cycle. A cycle of one edge is
//! seen at once, when its state is expanded first.

use crate::exchange::Exchange;
use crate::mail::Mail;
use crate::never::Sought;
use crate::numbered::{ACCEPTS, Address, NUMBER, Numbered, Phase, ROOT, Round, SET};
use crate::partition::Partition;
use crate::search::Counts;
use crate::signals::{Gone, number_of};
use crate::word::{Sum, Word};
use scrimp_core::budget::{peak_resident, resident};
use scrimp_core::{Budget, Limit, Predicate};
use scrimp_native::NativeModel;
use scrimp_search::liveness::{EdgeKind, Edges, FoundRun, Product};
use scrimp_system::{Batch, Fault, Model};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// After so many states a worker looks at what has come.
const LOOK: u64 = 64;

/// What is to be done, by all workers of a process.
pub struct Task {
    pub model: Arc<NativeModel>,
    pub sought: Sought,
    pub partition: Partition,
    pub budget: Arc<Budget>,
}

/// What came of it; every worker has the same, but the run.
#[derive(Debug, Clone, Default)]
pub struct Emptiness {
    /// Is there such a run? Nothing where that is not known.
    pub accepted: Option<bool>,
    /// The run, as the first worker has it.
    pub run: Option<FoundRun>,
    pub fault: Option<Fault>,
    /// Something in the model does not come to an end.
    pub endless: bool,
    pub sum: Sum,
    pub widths: Vec<u64>,
    pub initial: u64,
    pub exhaustive: bool,
    /// How often the set was made smaller, and how large it was each time.
    pub sets: Vec<u64>,
    /// A set was left that has an accepting cycle.
    pub there: bool,
    /// The cycle has one edge, and was seen while states were explored.
    pub seen_early: bool,
    pub in_tree: bool,
}

/// On the way back: the state that was asked for, from where it was reached, and whether it was passed before.
pub(crate) type Passed = (Vec<u8>, Option<Address>, bool);

/// What every worker says at the end of a round.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Said {
    /// The usual figures, where they are of interest.
    pub(crate) figures: Option<Word>,
    pub(crate) limit: u8,
    pub(crate) waiting: u64,
    pub(crate) set: u64,
    pub(crate) reached: u64,
    /// A state with an accepting edge to itself.
    pub(crate) loops: Option<u32>,
    pub(crate) first: Option<u32>,
    pub(crate) hit: bool,
    /// What an atom came to that could not be evaluated, as a number.
    pub(crate) fault: u32,
    pub(crate) endless: bool,
    pub(crate) unknown: bool,
    /// On the way back: the state that is asked for, from where it was reached, whether it was passed before.
    pub(crate) step: Option<Passed>,
}

/// What all said.
pub(crate) struct All(Vec<Said>);

impl All {
    pub(crate) fn total(&self, figure: impl Fn(&Said) -> u64) -> u64 {
        self.0.iter().map(figure).sum()
    }

    pub(crate) fn any(&self, what: impl Fn(&Said) -> bool) -> bool {
        self.0.iter().any(what)
    }

    /// The first worker that has one, and what it has.
    pub(crate) fn address(&self, of: impl Fn(&Said) -> Option<u32>) -> Option<Address> {
        let found = self.0.iter().zip(0..).find_map(|(said, worker)| Some((worker, of(said)?)));
        found.map(|(worker, number)| Address { worker, number })
    }

    pub(crate) fn step(self) -> Option<Passed> {
        self.0.into_iter().find_map(|said| said.step)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.limit().is_some()
    }

    fn limit(&self) -> Option<Limit> {
        self.0.iter().map(|said| said.limit).filter(|limit| *limit > 0).min().and_then(crate::signals::limit_of)
    }

    fn sum(&self) -> Sum {
        Sum::of_words(self.0.iter().filter_map(|said| said.figures.clone()).collect())
    }
}

/// Which edges of a state matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Accepting,
    OnCycles,
}

/// How a part of the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    Cut,
}

pub(crate) struct Searcher<'s, 'w, 'm> {
    model: &'m NativeModel,
    pub(crate) mail: Mail<'s, 'w>,
    pub(crate) owned: Numbered<'m>,
    pub(crate) product: &'m Product<'m>,
    edges: Edges<'m, 'm>,
    pub(crate) me: usize,
    partition: &'m Partition,
    out: Batch,
    kinds: Vec<EdgeKind>,
    state: Vec<u8>,
    counts: Counts,
    /// States expanded in all phases.
    expanded: u64,
    depth: u64,
    loops: Option<u32>,
    fault: Option<Fault>,
    told: [u64; 3],
    begun: Instant,
    found: Emptiness,
}

/// Searches for a run that the automaton accepts; nothing where there is no memory to begin with.
pub fn search(exchange: &mut Exchange, task: &Task) -> Result<Emptiness, Gone> {
    let Task { model, sought, partition, budget } = task;
    let model = &**model;
    let atom = |number: usize| -> Predicate { Box::new(move |state: &[u8]| sought.atoms[number].holds(state)) };
    let atoms: Vec<Predicate> = (0..sought.atoms.len()).map(atom).collect();
    let product = Product::new(model, &sought.automaton, &atoms, None, true).ending(!sought.repeats);
    budget.take(Exchange::bytes(exchange.peers()));
    for in_tree in [false, true] {
        // Everybody of a process has given its memory back.
        exchange.meet(Vec::new())?;
        let owned = Numbered::new(&product, in_tree, budget).ok();
        // Whoever has no memory to begin with says so.
        let all = exchange.meet(vec![owned.is_some() as u8])?;
        let Some(owned) = owned.filter(|_| all.iter().all(|said| said[..] == [1])) else { continue };
        let mut searcher = Searcher::new(exchange, model, &product, partition, owned);
        searcher.found.in_tree = in_tree;
        let found = searcher.run()?;
        if in_tree || found.sum.limit != Some(Limit::Memory) || found.accepted.is_some() {
            return Ok(found);
        }
    }
    let sum = Sum { limit: Some(Limit::Memory), ..Sum::default() };
    Ok(Emptiness { sum, ..Emptiness::default() })
}

impl<'s, 'w, 'm> Searcher<'s, 'w, 'm> {
    fn new(
        exchange: &'s mut Exchange<'w>,
        model: &'m NativeModel,
        product: &'m Product<'m>,
        partition: &'m Partition,
        owned: Numbered<'m>,
    ) -> Searcher<'s, 'w, 'm> {
        let (me, bytes) = (exchange.me(), product.state_bytes());
        Searcher {
            model,
            mail: Mail::new(exchange, bytes),
            owned,
            product,
            edges: Edges::new(product),
            me,
            partition,
            out: Batch::new(bytes),
            kinds: Vec::new(),
            state: Vec::new(),
            counts: Counts::default(),
            expanded: 0,
            depth: 0,
            loops: None,
            fault: None,
            told: [0; 3],
            begun: Instant::now(),
            found: Emptiness::default(),
        }
    }

    fn run(mut self) -> Result<Emptiness, Gone> {
        let explored = self.explore()?;
        let cut = self.found.sum.limit;
        let mut closes = None;
        let looped = self.said()?.address(|said| said.loops);
        if let Some(at) = looped.filter(|_| cut.is_none_or(|limit| limit == Limit::Memory)) {
            self.found.seen_early = true;
            closes = self.loop_of(at)?;
        } else if explored == Ended::Complete {
            self.found.exhaustive = true;
            match self.shrink()? {
                Some(true) => {
                    self.found.there = true;
                    closes = self.cycle()?;
                }
                Some(false) => self.found.accepted = Some(false),
                None => {}
            }
        }
        if let Some((cycle, at)) = closes {
            self.found.accepted = Some(true);
            self.found.run = self.stem(at)?.map(|stem| FoundRun { stem, cycle });
        }
        let all = self.said_in_full()?;
        let limit = self.found.sum.limit.or(all.limit());
        let limit = limit
            .filter(|_| self.found.accepted.is_none() || self.found.accepted == Some(true) && self.found.run.is_none());
        self.found.sum = Sum { limit, ..all.sum() };
        self.found.fault = all.0.iter().find_map(|said| Fault::from_code(said.fault));
        self.found.endless = all.any(|said| said.endless);
        if self.found.fault.is_some() || self.found.endless {
            // Not all successors are known.
            self.found.accepted = self.found.accepted.filter(|accepted| *accepted);
        }
        if all.any(|said| said.unknown) {
            self.found.accepted = None;
            let why = "internal error: a state has other successors than before".to_string();
            self.found.sum.words.iter_mut().take(1).for_each(|word| word.wrong = Some(why.clone()));
        }
        self.tell_nothing();
        Ok(self.found)
    }

    /// Finds all states, level by level.
    fn explore(&mut self) -> Result<Ended, Gone> {
        let mut initial = Batch::new(self.product.state_bytes());
        self.product.initial(&mut initial);
        let mut mine = Batch::new(initial.state_bytes());
        let own = |i: &usize| self.partition.owner(initial.state(*i)) == self.me;
        (0..initial.len()).filter(own).for_each(|i| mine.push(initial.state(i), 0));
        crate::mail::Takes::take(&mut self.owned, self.me, &mine);
        let mut done = 0;
        loop {
            let fresh = (self.owned.len() - done) as u64;
            let all = self.say(Said { waiting: fresh, ..Said::default() }, true)?;
            self.found.sum = all.sum();
            self.found.sum.limit = all.limit();
            let fresh = all.total(|said| said.waiting);
            if self.found.widths.is_empty() {
                self.found.initial = fresh;
            }
            let broken = self.found.sum.outgrown().is_some();
            if all.limit().is_some() || broken || all.any(|said| said.loops.is_some()) {
                return Ok(Ended::Cut);
            }
            if fresh == 0 {
                return Ok(Ended::Complete);
            }
            self.found.widths.push(fresh);
            self.depth += 1;
            let end = self.owned.len();
            while done < end && self.goes_on()? && !self.mail.enough {
                self.expand(done, Which::All, false)?;
                done += 1;
            }
            self.mail.finish(&mut self.owned)?;
        }
    }

    /// Makes the set smaller until it stays as it is, or nothing is left: is there something left? Nothing where that was cut.
    fn shrink(&mut self) -> Result<Option<bool>, Gone> {
        self.owned.begin(Phase::Seed, true);
        loop {
            let set = self.said()?.total(|said| said.set);
            self.found.sets.push(set);
            if set == 0 {
                return Ok(Some(false));
            }
            let Some(reached) = self.reach([Phase::Seed, Phase::Reach], false)? else { return Ok(None) };
            if reached == set {
                return Ok(Some(true));
            }
            self.owned.remove_unreached();
            if self.rounds(Which::OnCycles, false)? == Ended::Cut {
                return Ok(None);
            }
            self.owned.begin(Phase::Seed, false);
        }
    }

    /// Reaches all states of the set from its accepting edges: how many are there?
    pub(crate) fn reach(&mut self, [seed, on]: [Phase; 2], with_numbers: bool) -> Result<Option<u64>, Gone> {
        self.owned.phase = seed;
        for number in 0..self.owned.len() {
            if self.owned.has(number, SET) && self.owned.has(number, ACCEPTS) {
                if !self.goes_on()? {
                    break;
                }
                self.expand(number, Which::Accepting, with_numbers)?;
            }
        }
        self.mail.finish(&mut self.owned)?;
        if self.said()?.limit().is_some() {
            return Ok(None);
        }
        self.owned.phase = on;
        let ended = self.rounds(Which::OnCycles, with_numbers)?;
        let reached = self.said()?.total(|said| said.reached);
        Ok((ended == Ended::Complete).then_some(reached))
    }

    /// Expands what waits, round by round, until nothing does.
    fn rounds(&mut self, which: Which, with_numbers: bool) -> Result<Ended, Gone> {
        loop {
            let all = self.said()?;
            if all.limit().is_some() {
                return Ok(Ended::Cut);
            }
            if all.total(|said| said.waiting) == 0 {
                return Ok(Ended::Complete);
            }
            self.round(which, with_numbers)?;
        }
    }

    fn round(&mut self, which: Which, with_numbers: bool) -> Result<(), Gone> {
        let mut round: Round = self.owned.begin_round();
        while let Some(number) = self.owned.next_of(&mut round) {
            if !self.goes_on()? {
                break;
            }
            self.expand(number, which, with_numbers)?;
        }
        self.mail.finish(&mut self.owned)
    }

    /// Reaches all states from the initial ones until a target is among them. Each notes from where.
    pub(crate) fn reach_target(&mut self) -> Result<bool, Gone> {
        let mut initial = Batch::new(self.product.state_bytes());
        self.product.initial(&mut initial);
        for i in 0..initial.len() {
            if self.partition.owner(initial.state(i)) == self.me
                && let Some(number) = self.owned.find(initial.state(i))
                && self.owned.reach(number)
            {
                self.owned.mark(number, ROOT);
                self.owned.hit |= self.owned.has(number, crate::numbered::TARGET);
            }
        }
        loop {
            let all = self.said()?;
            if all.any(|said| said.hit) {
                return Ok(true);
            }
            if all.limit().is_some() || all.total(|said| said.waiting) == 0 {
                return Ok(false);
            }
            self.round(Which::All, true)?;
        }
    }

    /// Now and then looks at what has come, and whether there is a reason to stop.
    fn goes_on(&mut self) -> Result<bool, Gone> {
        self.expanded += 1;
        if self.expanded.is_multiple_of(LOOK) {
            self.tell_figures();
            self.mail.look(&mut self.owned)?;
        }
        let stopped = self.mail.exchange.signals().stopped().is_some();
        Ok(!stopped && !self.owned.full && !self.product.is_outgrown())
    }

    /// Sends what edges of a state lead to, with its number where that is wanted.
    fn expand(&mut self, number: u32, which: Which, with_number: bool) -> Result<(), Gone> {
        let explores = self.owned.phase == Phase::Explore;
        self.owned.load(number, &mut self.state);
        let expanded = match self.edges.of(&self.state, &mut self.out, &mut self.kinds) {
            Ok(expanded) => expanded,
            Err(fault) => {
                self.fault.get_or_insert(fault);
                return Ok(());
            }
        };
        if explores {
            let count = self.out.len() as u64;
            self.counts.visits += 1;
            self.counts.transitions += count;
            self.counts.degree = self.counts.degree.max(count);
            self.counts.deadlocks += expanded.deadlock as u64;
            self.counts.faults += expanded.faults;
            for (i, _) in self.kinds.iter().enumerate().filter(|(_, kind)| **kind == EdgeKind::Accepts) {
                self.owned.mark(number, ACCEPTS);
                if self.out.state(i) == &self.state[..] && self.loops.is_none() {
                    self.loops = Some(number);
                    self.mail.enough = true;
                    self.mail.exchange.tell_enough();
                }
            }
        }
        let beside = number.to_le_bytes();
        let beside = if with_number { &beside[..NUMBER] } else { &[] };
        for (i, kind) in self.kinds.iter().enumerate() {
            let matters = match which {
                Which::All => true,
                Which::Accepting => *kind == EdgeKind::Accepts,
                Which::OnCycles => *kind != EdgeKind::Leaves,
            };
            if matters {
                let state = self.out.state(i);
                let to = self.partition.owner(state);
                self.mail.post(to, state, beside, &mut self.owned)?;
            }
        }
        Ok(())
    }

    /// Says how this worker stands, and hears how all do.
    pub(crate) fn said(&mut self) -> Result<All, Gone> {
        self.say(Said { waiting: self.owned.waiting(), ..Said::default() }, false)
    }

    fn said_in_full(&mut self) -> Result<All, Gone> {
        self.say(Said { waiting: self.owned.waiting(), ..Said::default() }, true)
    }

    pub(crate) fn say(&mut self, said: Said, in_full: bool) -> Result<All, Gone> {
        self.tell_figures();
        let stopped = self.mail.exchange.signals().stopped();
        let explores = self.owned.phase == Phase::Explore;
        let limit = if self.owned.full && explores { Some(Limit::Memory) } else { stopped };
        let said = Said {
            figures: in_full.then(|| self.figures()),
            limit: limit.map_or(0, number_of),
            set: self.owned.set,
            reached: self.owned.reached,
            loops: self.loops,
            hit: self.owned.hit,
            fault: self.fault.map_or(0, |fault| fault as u32),
            endless: self.product.is_endless(),
            unknown: self.owned.unknown,
            ..said
        };
        let heard = self.mail.exchange.meet(bincode::serialize(&said).unwrap_or_default())?;
        let all: Option<Vec<Said>> = heard.iter().map(|said| bincode::deserialize(said).ok()).collect();
        all.map(All).ok_or_else(|| {
            self.mail.exchange.signals().lose(usize::MAX, "a worker said what is no word");
            Gone
        })
    }

    fn figures(&self) -> Word {
        let Counts { visits, transitions, deadlocks, faults, degree } = self.counts;
        let signals = self.mail.exchange.signals();
        // Figures of a process are told by its first worker.
        let first = self.mail.exchange.is_first();
        Word {
            states: self.owned.len() as u64,
            left: self.owned.len() as u64 - visits,
            visits,
            transitions,
            deadlocks,
            faults,
            degree,
            lost: self.owned.full,
            outgrown: self.model.outgrown().map(|(state, _)| state.to_vec()),
            in_tree: first && self.found.in_tree,
            kept_bytes: self.owned.bytes() as u64,
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
        let now = [self.owned.len() as u64, self.counts.visits, self.counts.transitions];
        self.tell(now);
        self.mail.exchange.signals().depth.fetch_max(self.depth, Ordering::Relaxed);
    }

    fn tell(&mut self, now: [u64; 3]) {
        let signals = self.mail.exchange.signals();
        let figures = [&signals.states, &signals.visits, &signals.transitions];
        for ((figure, told), now) in figures.into_iter().zip(&mut self.told).zip(now) {
            figure.fetch_add(now.wrapping_sub(*told), Ordering::Relaxed);
            *told = now;
        }
    }

    /// A search that begins again in a tree tells its own figures.
    fn tell_nothing(&mut self) {
        if self.found.sum.limit == Some(Limit::Memory) && !self.found.in_tree {
            self.tell([0; 3]);
        }
    }
}
