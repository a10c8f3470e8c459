//! A model in step with an automaton: a state of the product is a state of the model and one of the automaton.
//!
//! The automaton reads the state that is left, so every successor of the model is paired with every edge of the automaton
//! whose guard holds there. A state that the model does not leave repeats for ever: then the automaton moves alone. An edge
//! of the product carries the marks of the automaton's edge, and, under weak fairness, one for each process that takes part
//! in the event or cannot move: a run is fair if it meets the marks of every process infinitely often. Under strong fairness
//! it carries a request of each process that can move, and a grant of the one that does.
//!
//! Where a search can only look for one mark, the product counts: it waits for one set after the other, and marks the edge
//! that completes a round.

use super::acceptance::Acceptance;
use crate::reduce::{Kept, Reduce, Source};
use scrimp_core::Predicate;
use scrimp_system::{Batch, EventCode, Fault, Model};
use scrimp_temporal::{Automaton, Kind, Letter, Marks};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The code of "nothing more can happen".
pub const STUTTER: EventCode = EventCode::MAX;
/// Marked beside the sets: the edge stays within a component of the automaton, so that it can be on a cycle.
pub(super) const INSIDE: Marks = 1 << 63;
/// Marked beside the sets: every cycle that the edge is on accepts.
pub(super) const WEAK: Marks = 1 << 62;
/// The most sets, of the automaton and of processes together.
pub const MOST_MARKS: usize = 62;

/// Which processes runs must be fair to: a bit for each, first of those that they must be weakly fair to, then of those that they
/// must be strongly fair to.
pub struct Fairness<'a> {
    pub weak: usize,
    pub strong: usize,
    /// Who begins an event: it is enabled where the event is.
    pub begins: Box<dyn Fn(EventCode) -> Marks + Sync + 'a>,
    /// Who takes part in what leads from a state, by an event, to a successor.
    pub moves: Box<MovesOn<'a>>,
}

type MovesOn<'a> = dyn Fn(&[u8], EventCode, &[u8]) -> Marks + Sync + 'a;

impl Fairness<'_> {
    /// The marks that it takes: one for each process, and for those of strong fairness two.
    pub fn marks(&self) -> usize {
        self.weak + 2 * self.strong
    }

    /// The marks of an edge that these processes take part in, where those are enabled.
    fn of_edge(&self, moves: Marks, enabled: Marks) -> Marks {
        let weak = (1u64 << self.weak) - 1;
        let strong = ((1u64 << self.strong) - 1) << self.weak;
        (moves | !enabled) & weak | moves & strong | (enabled & strong) << self.strong
    }
}

pub struct Product<'a> {
    pub model: &'a dyn Model,
    automaton: &'a Automaton,
    atoms: &'a [Predicate<'a>],
    fairness: Option<&'a Fairness<'a>>,
    /// The sets to wait for, one after the other, where the product counts.
    rounds: Option<usize>,
    /// The component of each state of the automaton, and the atoms that its edges look at.
    components: Vec<u32>,
    support: Vec<Letter>,
    weak: Vec<bool>,
    rejecting: Vec<bool>,
    /// Bytes of the model's state, of the automaton's and of the counter.
    widths: [usize; 3],
    /// Has something been met that goes on by itself and does not come to an end?
    endless: AtomicBool,
    /// What comes to an end is no run.
    ends: bool,
}

impl<'a> Product<'a> {
    /// `one_set`: edges have one mark that stands for all.
    pub fn new(
        model: &'a dyn Model,
        automaton: &'a Automaton,
        atoms: &'a [Predicate<'a>],
        fairness: Option<&'a Fairness<'a>>,
        one_set: bool,
    ) -> Product<'a> {
        let sets = automaton.sets + fairness.map_or(0, |fairness| fairness.weak);
        let kinds = automaton.kinds();
        let fair = fairness.is_some_and(|fairness| fairness.marks() > 0);
        let support = |edges: &Vec<scrimp_temporal::Edge>| edges.iter().fold(0, |all, e| all | e.guard.support());
        let states = automaton.states.len();
        Product {
            model,
            automaton,
            atoms,
            fairness,
            rounds: (one_set && sets != 1).then_some(sets),
            components: automaton.components(),
            support: automaton.states.iter().map(support).collect(),
            weak: kinds.iter().map(|kind| matches!(kind, Kind::Weak | Kind::Terminal) && !fair).collect(),
            rejecting: kinds.iter().map(|kind| matches!(kind, Kind::Transient | Kind::Rejecting)).collect(),
            endless: AtomicBool::new(false),
            ends: false,
            widths: [model.state_bytes(), if states > 256 { 4 } else { 1 }, if one_set && sets > 1 { 1 } else { 0 }],
        }
    }

    /// The same, where runs that come to an end may not count as going on in their last state.
    pub fn ending(self, ends: bool) -> Product<'a> {
        Product { ends, ..self }
    }

    /// Every mark that a cycle must meet.
    pub(super) fn all_marks(&self) -> Marks {
        self.acceptance().all
    }

    /// When a cycle counts.
    pub(super) fn acceptance(&self) -> Acceptance {
        let (weak, strong) = self.fairness.map_or((0, 0), |fairness| (fairness.weak, fairness.strong));
        match self.rounds {
            Some(_) => Acceptance::new(1, 0),
            None => Acceptance::new(self.automaton.sets + weak, strong),
        }
    }

    /// Are there no cycles that only some of the marks decide about?
    pub(super) fn is_weak(&self) -> bool {
        self.weak.iter().zip(&self.rejecting).all(|(weak, rejecting)| *weak || *rejecting)
    }

    /// Has something been met that goes on by itself and does not come to an end?
    pub fn is_endless(&self) -> bool {
        self.endless.load(Ordering::Relaxed)
    }

    /// Such a thing was met, now or before the search was saved.
    pub(super) fn meet_endless(&self) {
        self.endless.store(true, Ordering::Relaxed);
    }

    /// The model's part of a state.
    pub fn system<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[..self.widths[0]]
    }

    /// The automaton's part of a state.
    fn place(&self, state: &[u8]) -> usize {
        let bytes = &state[self.widths[0]..][..self.widths[1]];
        bytes.iter().rev().fold(0, |place, &byte| place << 8 | byte as usize)
    }

    fn level(&self, state: &[u8]) -> usize {
        let [system, place, level] = self.widths;
        if level == 0 { 0 } else { state[system + place] as usize }
    }

    /// Fills in what stands behind the model's part.
    fn write(&self, state: &mut [u8], place: usize, level: usize) {
        let [system, width, counter] = self.widths;
        state[system..system + width].copy_from_slice(&(place as u64).to_le_bytes()[..width]);
        if counter > 0 {
            state[system + width] = level as u8;
        }
    }

    /// Counts: the next set to wait for, and the one mark if all were met.
    fn count(&self, mut level: usize, marks: Marks) -> (usize, Marks) {
        let Some(rounds) = self.rounds else { return (0, marks) };
        while level < rounds && marks & 1 << level != 0 {
            level += 1;
        }
        if level < rounds {
            return (level, 0);
        }
        level = 0;
        while level + 1 < rounds && marks & 1 << level != 0 {
            level += 1;
        }
        (level, 1)
    }

    /// The automaton's moves from a state of the product, each as where it leads and its marks.
    fn moves(&self, state: &[u8], moves: &mut Vec<(usize, Marks)>) -> Result<(), Fault> {
        let place = self.place(state);
        let system = self.system(state);
        let mut letter: Letter = 0;
        let mut wanted = self.support[place];
        while wanted != 0 {
            let atom = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            letter |= Letter::from(self.atoms[atom](system)?) << atom;
        }
        moves.clear();
        for edge in self.automaton.states[place].iter().filter(|edge| edge.guard.holds(letter)) {
            // Who has the choice between two edges again and again can take each again and again.
            match moves.iter_mut().find(|(to, _)| *to == edge.to as usize) {
                Some((_, marks)) => *marks |= edge.marks,
                None => moves.push((edge.to as usize, edge.marks)),
            }
        }
        Ok(())
    }
}

/// What expanding a state was like.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expansion {
    /// Events were left out.
    pub left_out: bool,
    pub deadlock: bool,
    pub faults: u64,
}

/// Expands states of a product, with memory for one thread.
pub(super) struct Mover<'p, 'a> {
    pub product: &'p Product<'a>,
    successors: Batch,
    moves: Vec<(usize, Marks)>,
    reduce: Option<Box<dyn Reduce>>,
    keep: Vec<bool>,
}

impl Product<'_> {
    /// How many initial states there are.
    pub fn initial_states(&self) -> u64 {
        let mut initial = Batch::new(self.state_bytes());
        self.initial(&mut initial);
        (0..initial.len()).map(|i| initial.state(i)).collect::<HashSet<_>>().len() as u64
    }
}

impl<'p, 'a> Mover<'p, 'a> {
    pub fn new(product: &'p Product<'a>, reduce: Option<Box<dyn Reduce>>) -> Mover<'p, 'a> {
        let successors = Batch::new(product.model.state_bytes());
        Mover { product, successors, moves: Vec::new(), reduce, keep: Vec::new() }
    }

    /// Appends the successors of a state and the marks of the edges to them. Unless it is to be `full`, events may be
    /// left out; if it is, those that would have been left out come last. Fails where an atom cannot be evaluated.
    pub fn expand(
        &mut self,
        state: &[u8],
        full: bool,
        out: &mut Batch,
        marks: &mut Vec<Marks>,
    ) -> Result<Expansion, Fault> {
        let Mover { product, successors, moves, reduce, keep } = self;
        let Product { model, automaton, fairness, .. } = product;
        product.moves(state, moves)?;
        if moves.is_empty() {
            return Ok(Expansion::default());
        }
        successors.clear();
        let system = product.system(state);
        model.expand(system, successors);
        let mut expansion = Expansion { faults: successors.faults().len() as u64, ..Expansion::default() };
        if successors.faults().iter().any(|record| record.fault == Fault::Endless) {
            product.meet_endless();
        }
        successors.clear_faults();
        let count = successors.len();
        successors.take_deadlock(count);
        let (place, level) = (product.place(state), product.level(state));
        let mut enabled: Marks = 0;
        if let Some(fairness) = fairness {
            (0..count).for_each(|i| enabled |= (fairness.begins)(successors.event(i)));
        }
        let mut pair = |system: &[u8], event: EventCode, moves_on: Marks| {
            for &(to, given) in &*moves {
                let fair = fairness.map_or(0, |f| f.of_edge(moves_on, enabled));
                let mut given = given | fair << automaton.sets;
                let inside = product.components[place] == product.components[to] && !product.rejecting[to];
                let mut next = 0;
                if inside {
                    (next, given) = product.count(level, given);
                    given |= INSIDE | if product.weak[to] { WEAK } else { 0 };
                } else {
                    given = 0;
                }
                let successor = out.push_with(event);
                successor[..system.len()].copy_from_slice(system);
                product.write(successor, to, next);
                marks.push(given);
            }
        };
        if count == 0 {
            expansion.deadlock = true;
            if product.ends {
                return Ok(expansion);
            }
            pair(system, STUTTER, Marks::MAX);
            return Ok(expansion);
        }
        keep.clear();
        keep.resize(count, true);
        let chosen = reduce.as_mut().map_or(Kept::All, |reduce| {
            let source = Source { model: *model, state: system, via: None };
            reduce.choose(source, successors, 0, keep)
        });
        expansion.left_out = chosen != Kept::All && !full && keep.contains(&false);
        for first in [true, false] {
            if !first && (chosen == Kept::All || !full) {
                break;
            }
            for (i, kept) in keep.iter().enumerate() {
                if chosen == Kept::All || *kept == first {
                    let (event, next) = (successors.event(i), successors.state(i));
                    pair(next, event, fairness.map_or(0, |f| (f.moves)(system, event, next)));
                }
            }
        }
        Ok(expansion)
    }
}

thread_local! {
    /// The model's successors, and the automaton's moves, while states are expanded for their own sake.
    static SCRATCH: RefCell<(Batch, Vec<(usize, Marks)>)> = RefCell::new((Batch::new(1), Vec::new()));
}

/// The product as a model: all its edges, without their marks.
impl Model for Product<'_> {
    fn state_bytes(&self) -> usize {
        self.widths.iter().sum()
    }

    fn initial(&self, out: &mut Batch) {
        let mut initial = Batch::new(self.model.state_bytes());
        self.model.initial(&mut initial);
        for i in 0..initial.len() {
            let state = out.push_with(0);
            state[..self.widths[0]].copy_from_slice(initial.state(i));
            self.write(state, self.automaton.initial as usize, 0);
        }
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let (mut successors, moves) = SCRATCH.replace((Batch::new(1), Vec::new()));
        if successors.state_bytes() != self.model.state_bytes() {
            successors = Batch::new(self.model.state_bytes());
        }
        let mut mover = Mover { product: self, successors, moves, reduce: None, keep: Vec::new() };
        // Where an atom cannot be evaluated, no search goes on.
        let _ = mover.expand(state, true, out, &mut Vec::new());
        SCRATCH.set((mover.successors, mover.moves));
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        let mut components = self.model.components();
        components.push(std::iter::once(self.widths[0]..self.state_bytes()).collect());
        components
    }

    fn is_outgrown(&self) -> bool {
        self.model.is_outgrown()
    }
}
