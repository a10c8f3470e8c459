//! k-induction: what k good states in a row cannot lead out of is good for ever, if it is at the beginning.
//!
//! A shortest run to a bad state has only good states before it, and none of them twice. So it is enough that no run of k
//! steps, from anywhere that is not known to be unreachable, through k different good states, leads to a bad one. That
//! states are different is asserted only of those that a run found by the solver has twice.

use crate::circuit::Bit;
use crate::encoding::Encoding;
use crate::formula::Answer;
use crate::known_invariants::KnownInvariants;
use crate::limits::Limits;
use crate::unrolling::Unrolling;
use scrimp_core::Property;
use scrimp_system::Expr;
use std::collections::HashMap;
use std::rc::Rc;

/// The step cases of all properties.
pub struct Induction<'a, 's> {
    run: Unrolling<'a, 's>,
    encoding: &'s Encoding<'s>,
    /// For each property what [`found`] says of each frame.
    found: Vec<Vec<Bit>>,
    /// Properties that hold everywhere.
    proven: Vec<usize>,
}

impl<'a, 's> Induction<'a, 's> {
    /// The step case with no step at all.
    pub fn new(encoding: &'s Encoding<'s>, limits: Rc<Limits<'a>>, goals: &[Property<Expr>]) -> Induction<'a, 's> {
        let run = Unrolling::from_anywhere(encoding, limits);
        let mut induction = Induction { run, encoding, found: vec![Vec::new(); goals.len()], proven: Vec::new() };
        induction.look(goals);
        induction
    }

    /// Uses what is known of all reachable states.
    pub fn learn(&mut self, invariants: KnownInvariants) {
        self.run.learn(invariants);
    }

    /// One step more; `false` when a limit forbids it.
    pub fn extend(&mut self, goals: &[Property<Expr>]) -> bool {
        let extended = self.run.extend();
        if extended {
            self.look(goals);
        }
        extended
    }

    fn look(&mut self, goals: &[Property<Expr>]) {
        let Some(frame) = self.run.frames.last() else { return };
        for (goal, found) in goals.iter().zip(&mut self.found) {
            found.push(crate::found::found(goal, &mut self.run.formula.circuit, self.encoding, frame));
        }
        for goal in &self.proven {
            let Some(found) = self.found[*goal].last() else { continue };
            self.run.formula.assert_any(&[!*found]);
        }
    }

    /// Can good states lead to a bad one? [`Answer::Impossible`] is the proof that they cannot.
    pub fn prove(&mut self, goal: usize) -> Answer {
        let Some((last, before)) = self.found[goal].split_last() else { return Answer::Unknown };
        let mut assumed: Vec<Bit> = before.iter().map(|found| !*found).collect();
        assumed.push(*last);
        loop {
            match self.run.formula.solve(&assumed) {
                Answer::Possible if self.tell_apart() => {}
                Answer::Impossible | Answer::Never => return Answer::Impossible,
                answer => return answer,
            }
        }
    }

    /// The property holds in all reachable states, which helps with the others.
    pub fn rely_on(&mut self, goal: usize) {
        for found in &self.found[goal] {
            self.run.formula.assert_any(&[!*found]);
        }
        self.proven.push(goal);
    }

    /// Asserts that states which the solver made equal are different; `false` if there are none.
    fn tell_apart(&mut self) -> bool {
        let mut seen: HashMap<Vec<i64>, usize> = HashMap::new();
        let mut equal = Vec::new();
        for frame in 0..self.run.frames.len() {
            if let Some(first) = seen.insert(self.run.values(frame), frame) {
                equal.push((first, frame));
            }
        }
        for (first, second) in &equal {
            let (a, b) = (&self.run.frames[*first].state.words, &self.run.frames[*second].state.words);
            let formula = &mut self.run.formula;
            let mut differ = Vec::new();
            for (a, b) in a.iter().zip(b) {
                for i in 0..=a.width().max(b.width()) {
                    differ.push(formula.circuit.xor(a.bit(i), b.bit(i)));
                }
            }
            formula.assert_any(&differ);
        }
        !equal.is_empty()
    }

    /// Clauses, variables and conflicts.
    pub fn counts(&self) -> [u64; 3] {
        let formula = &self.run.formula;
        [formula.clauses(), formula.variables(), formula.conflicts()]
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.run.formula.bytes()
    }
}
