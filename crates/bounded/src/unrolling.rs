//! Runs of a system as a formula: one frame for each state, and between two of them exactly one event.

use crate::circuit::Bit;
use crate::encoding::Encoding;
use crate::formula::Formula;
use crate::frame::{Frame, State};
use crate::known_invariants::KnownInvariants;
use crate::limits::Limits;
use crate::word::Word;
use std::rc::Rc;

/// Bits of which one is true are told apart pair by pair up to this number of them.
const PAIRS: usize = 6;

/// Pairs of events that are kept in one order, for each step.
const SWAPS: usize = 100_000;

/// Bytes of circuit and clauses that come with a gate.
const EACH_GATE: usize = 160;

/// A run of a growing number of steps.
pub struct Unrolling<'a, 's> {
    /// What is asserted of it.
    pub formula: Formula<'a>,
    /// Its states, with what can happen in each.
    pub frames: Vec<Frame<'s>>,
    /// For each step the events that may be chosen.
    pub chosen: Vec<Vec<(u32, Bit)>>,
    encoding: &'s Encoding<'s>,
    limits: Rc<Limits<'a>>,
    /// Bytes that the last frame took.
    grown: usize,
    /// What is asserted of each state.
    invariants: Vec<KnownInvariants>,
}

impl<'a, 's> Unrolling<'a, 's> {
    /// Runs that begin in an initial state.
    pub fn from_initial(encoding: &'s Encoding<'s>, limits: Rc<Limits<'a>>) -> Unrolling<'a, 's> {
        let mut formula = Formula::new(limits.clone());
        formula.circuit.allow(limits.left() / EACH_GATE);
        let initial = &encoding.system.initial;
        let mut words: Vec<Word> = Vec::with_capacity(encoding.words());
        for cell in 0..encoding.cells.count() {
            let values = initial.iter().map(|valuation| valuation[cell]);
            let (low, high) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(0));
            words.push(Word::input(&mut formula.circuit, low, high));
        }
        if initial.len() > 1 {
            let which: Vec<Bit> = initial.iter().map(|_| formula.circuit.input()).collect();
            for (valuation, bit) in initial.iter().zip(&which) {
                for (word, value) in words.iter().zip(valuation) {
                    let same = Word::equal(&mut formula.circuit, word, &Word::constant(*value));
                    formula.assert_any(&[!*bit, same]);
                }
            }
            formula.assert_any(&which);
        }
        if !encoding.holders.is_empty() {
            words.push(Word::constant(0));
        }
        Unrolling::beginning(encoding, limits, formula, words)
    }

    /// Runs that begin in any state of which it is not known that it cannot be reached.
    pub fn from_anywhere(encoding: &'s Encoding<'s>, limits: Rc<Limits<'a>>) -> Unrolling<'a, 's> {
        let mut formula = Formula::new(limits.clone());
        formula.circuit.allow(limits.left() / EACH_GATE);
        let words = (0..encoding.words()).map(|word| {
            let (low, high) = encoding.hull(word);
            Word::input(&mut formula.circuit, low, high)
        });
        let words = words.collect();
        let mut unrolling = Unrolling::beginning(encoding, limits, formula, words);
        unrolling.learn(KnownInvariants::of_bounds(encoding));
        unrolling
    }

    fn beginning(
        encoding: &'s Encoding<'s>,
        limits: Rc<Limits<'a>>,
        formula: Formula<'a>,
        words: Vec<Word>,
    ) -> Unrolling<'a, 's> {
        let mut unrolling = Unrolling {
            formula,
            frames: Vec::new(),
            chosen: Vec::new(),
            encoding,
            limits,
            grown: 0,
            invariants: Vec::new(),
        };
        unrolling.push(words);
        unrolling
    }

    fn push(&mut self, words: Vec<Word>) {
        for invariants in &self.invariants {
            invariants.assert(&mut self.formula, &words);
        }
        let frame = Frame::new(&mut self.formula.circuit, State::new(self.encoding, words));
        self.frames.push(frame);
        if self.formula.circuit.is_overfull() {
            self.limits.out_of_memory();
        }
    }

    /// Makes the run one step longer; `false` when a limit forbids it.
    pub fn extend(&mut self) -> bool {
        let before = self.formula.bytes();
        if self.limits.look_closely(true).is_some() {
            return false;
        }
        if self.grown + self.grown / 2 > self.limits.left() {
            self.limits.out_of_memory();
            return false;
        }
        self.formula.circuit.allow(self.limits.left() / EACH_GATE);
        let words = self.step();
        self.push(words);
        self.grown = self.formula.bytes() - before;
        self.limits.reached().is_none()
    }

    /// Lets one event happen in the last state; gives the words of the next.
    fn step(&mut self) -> Vec<Word> {
        let Unrolling { formula, frames, chosen, encoding, .. } = self;
        let Some(frame) = frames.last() else { return Vec::new() };
        let mut choices: Vec<(u32, Bit)> = Vec::new();
        let mut writers: Vec<Vec<(Bit, &Word)>> = vec![Vec::new(); frame.state.words.len()];
        for happening in frame.happenings.iter().filter(|happening| happening.fires != Bit::FALSE) {
            let choice = formula.circuit.input();
            formula.assert_any(&[!choice, happening.fires]);
            choices.push((happening.event, choice));
            for (word, value) in &happening.writes {
                writers[*word].push((choice, value));
            }
        }
        let bits: Vec<Bit> = choices.iter().map(|(_, choice)| *choice).collect();
        // Without an event there is no next state: then this says that nothing is possible.
        formula.assert_any(&bits);
        at_most_one(formula, &bits);
        let mut words = Vec::with_capacity(frame.state.words.len());
        for (number, (old, writers)) in frame.state.words.iter().zip(&writers).enumerate() {
            words.push(next_word(formula, old, writers, bits.len(), encoding.hull(number)));
        }
        if let Some(last) = chosen.last() {
            keep_order(formula, encoding, last, &choices);
        }
        chosen.push(choices);
        words
    }

    /// From now on asserts of each state what is known of all reachable ones.
    pub fn learn(&mut self, invariants: KnownInvariants) {
        for frame in &self.frames {
            invariants.assert(&mut self.formula, &frame.state.words);
        }
        self.invariants.push(invariants);
    }

    /// The words of a state as the solver found them: its cells, and who is alone.
    pub fn values(&self, frame: usize) -> Vec<i64> {
        let words = &self.frames[frame].state.words;
        words.iter().map(|word| word.value(|bit| self.formula.value(bit))).collect()
    }

    /// Is a bit of the circuit true in what the solver found? Works out what the solver was not asked.
    pub fn is_free(&self, frame: usize) -> bool {
        self.formula.computed(self.frames[frame].free)
    }
}

/// The word that a cell is after a step in which one of so many events happens.
fn next_word(
    formula: &mut Formula,
    old: &Word,
    writers: &[(Bit, &Word)],
    events: usize,
    (least, greatest): (i64, i64),
) -> Word {
    if writers.is_empty() {
        return old.clone();
    }
    let may_stay = writers.len() < events;
    let hulls = writers.iter().map(|(_, value)| value.hull()).chain(may_stay.then(|| old.hull()));
    let (low, high) = hulls.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or((least, greatest));
    let (low, high) = (low.max(least), high.min(greatest));
    let new = if low <= high { Word::input(&mut formula.circuit, low, high) } else { Word::constant(least) };
    let count = new.width() + 1;
    for (choice, value) in writers {
        (0..count).for_each(|i| formula.assert_same(*choice, new.bit(i), value.bit(i)));
    }
    if may_stay {
        let written = formula.circuit.any(writers.iter().map(|(choice, _)| *choice));
        (0..count).for_each(|i| formula.assert_same(!written, new.bit(i), old.bit(i)));
    }
    new
}

/// Asserts that no two of these bits are true.
fn at_most_one(formula: &mut Formula, bits: &[Bit]) {
    if bits.len() <= PAIRS {
        for (i, a) in bits.iter().enumerate() {
            for b in &bits[i + 1..] {
                formula.assert_any(&[!*a, !*b]);
            }
        }
        return;
    }
    // They are laid out as a square: at most one row, and at most one column.
    let side = (1..).find(|side| side * side >= bits.len()).unwrap_or(bits.len());
    let mut lines = [Vec::new(), Vec::new()];
    for line in &mut lines {
        line.extend((0..side).map(|_| formula.circuit.input()));
    }
    for (i, bit) in bits.iter().enumerate() {
        formula.assert_any(&[!*bit, lines[0][i / side]]);
        formula.assert_any(&[!*bit, lines[1][i % side]]);
    }
    lines.iter().for_each(|line| at_most_one(formula, line));
}

/// Of two events that can be swapped, the one with the lower number comes first. Runs of the same length that only differ
/// in such an order lead to the same state, so that one of them is enough; and if a run is a shortest one to where it
/// leads, so are all of these.
fn keep_order(formula: &mut Formula, encoding: &Encoding, first: &[(u32, Bit)], second: &[(u32, Bit)]) {
    let mut pairs = 0;
    for (event, choice) in first {
        for (next, next_choice) in second {
            if next < event && encoding.may_swap(*event, *next) {
                pairs += 1;
                if pairs > SWAPS {
                    return;
                }
                formula.assert_any(&[!*choice, !*next_choice]);
            }
        }
    }
}
