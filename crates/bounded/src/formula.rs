//! A circuit together with the solver that is asked about it.
//!
//! Gates become clauses when a bit that depends on them is asserted or assumed for the first time, and not before.

use crate::circuit::{Bit, Circuit, Gate};
use crate::limits::Limits;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::collections::HashMap;
use std::rc::Rc;

/// Lets the solver look at the limits while it works.
struct Watch<'a>(Rc<Limits<'a>>);

impl Callbacks for Watch<'_> {
    fn stop(&self) -> bool {
        self.0.look()
    }
}

/// What the solver says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There are values for all bits; [`Formula::value`] has them.
    Possible,
    /// There are none under these assumptions.
    Impossible,
    /// There are none, whatever is assumed.
    Never,
    /// A limit was reached first.
    Unknown,
}

/// Clauses over the bits of a circuit.
pub struct Formula<'a> {
    /// What the bits mean.
    pub circuit: Circuit,
    solver: Solver<Watch<'a>>,
    variables: Vec<Option<Var>>,
    clauses: u64,
    literals: u64,
    scratch: Vec<Lit>,
}

impl<'a> Formula<'a> {
    /// A formula that says nothing yet.
    pub fn new(limits: Rc<Limits<'a>>) -> Formula<'a> {
        Formula {
            circuit: Circuit::new(),
            solver: Solver::new(SolverOpts::default(), Watch(limits)),
            variables: Vec::new(),
            clauses: 0,
            literals: 0,
            scratch: Vec::new(),
        }
    }

    /// Clauses that it was given.
    pub fn clauses(&self) -> u64 {
        self.clauses
    }

    /// Variables of the solver.
    pub fn variables(&self) -> u64 {
        self.solver.num_vars() as u64
    }

    /// Conflicts met so far.
    pub fn conflicts(&self) -> u64 {
        self.solver.num_conflicts()
    }

    /// Bytes held by circuit and clauses, about; what the solver learns is not counted.
    pub fn bytes(&self) -> usize {
        const EACH_CLAUSE: usize = 48;
        const EACH_VARIABLE: usize = 120;
        self.circuit.bytes()
            + self.variables.capacity() * size_of::<Option<Var>>()
            + self.literals as usize * size_of::<Lit>()
            + self.clauses as usize * EACH_CLAUSE
            + self.solver.num_vars() as usize * EACH_VARIABLE
    }

    fn add(&mut self, literals: &[Lit]) {
        self.clauses += 1;
        self.literals += literals.len() as u64;
        let mut clause = std::mem::take(&mut self.scratch);
        clause.clear();
        clause.extend_from_slice(literals);
        // Whether the formula can still be true, the next question will tell.
        self.solver.add_clause_reuse(&mut clause);
        self.scratch = clause;
    }

    /// The literal of a bit that is not a constant; the gates that it depends on become clauses.
    fn literal(&mut self, bit: Bit) -> Lit {
        self.variables.resize(self.circuit.len(), None);
        if self.variables[bit.gate()].is_none() {
            let mut waiting = vec![bit.gate()];
            while let Some(&gate) = waiting.last() {
                if self.variables[gate].is_some() {
                    waiting.pop();
                    continue;
                }
                let before = waiting.len();
                let needs = match self.circuit.gate(gate) {
                    Gate::False | Gate::Input => [None; 3],
                    Gate::And(a, b) | Gate::Xor(a, b) => [Some(a), Some(b), None],
                    Gate::Choose(which, a, b) => [Some(which), Some(a), Some(b)],
                };
                let missing = needs.into_iter().flatten().map(Bit::gate);
                waiting.extend(missing.filter(|gate| self.variables[*gate].is_none()));
                if waiting.len() == before {
                    waiting.pop();
                    self.define(gate);
                }
            }
        }
        self.known_literal(bit)
    }

    fn known_literal(&self, bit: Bit) -> Lit {
        let variable = self.variables[bit.gate()].expect("the gate is defined");
        Lit::new(variable, !bit.is_complement())
    }

    /// Gives a gate its clauses; those that it depends on have theirs.
    fn define(&mut self, gate: usize) {
        let variable = self.solver.new_var_default();
        self.variables[gate] = Some(variable);
        let out = Lit::new(variable, true);
        match self.circuit.gate(gate) {
            Gate::False => self.add(&[!out]),
            Gate::Input => {}
            Gate::And(a, b) => {
                let (a, b) = (self.known_literal(a), self.known_literal(b));
                self.add(&[!out, a]);
                self.add(&[!out, b]);
                self.add(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (self.known_literal(a), self.known_literal(b));
                self.add(&[!out, a, b]);
                self.add(&[!out, !a, !b]);
                self.add(&[out, !a, b]);
                self.add(&[out, a, !b]);
            }
            Gate::Choose(which, a, b) => {
                let [which, a, b] = [which, a, b].map(|bit| self.known_literal(bit));
                self.add(&[!which, !a, out]);
                self.add(&[!which, a, !out]);
                self.add(&[which, !b, out]);
                self.add(&[which, b, !out]);
                // These follow, but show earlier what is known.
                self.add(&[!a, !b, out]);
                self.add(&[a, b, !out]);
            }
        }
    }

    /// From now on at least one of these bits is true.
    pub fn assert_any(&mut self, bits: &[Bit]) {
        if bits.contains(&Bit::TRUE) || self.circuit.is_overfull() {
            return;
        }
        let open = bits.iter().filter(|bit| **bit != Bit::FALSE);
        let literals: Vec<Lit> = open.map(|bit| self.literal(*bit)).collect();
        self.add(&literals);
    }

    /// From now on the two bits are the same where `condition` is true.
    pub fn assert_same(&mut self, condition: Bit, a: Bit, b: Bit) {
        if a != b {
            self.assert_any(&[!condition, a, !b]);
            self.assert_any(&[!condition, !a, b]);
        }
    }

    /// Are there values for all bits with which these are true?
    pub fn solve(&mut self, assumed: &[Bit]) -> Answer {
        if assumed.contains(&Bit::FALSE) {
            return Answer::Impossible;
        }
        let open = assumed.iter().filter(|bit| **bit != Bit::TRUE);
        let literals: Vec<Lit> = open.map(|bit| self.literal(*bit)).collect();
        let answer = self.solver.solve_limited(&literals);
        if answer == lbool::TRUE {
            Answer::Possible
        } else if answer == lbool::FALSE {
            if self.solver.is_ok() { Answer::Impossible } else { Answer::Never }
        } else {
            Answer::Unknown
        }
    }

    /// After [`Answer::Possible`]: the value of a bit that something asserted or assumed depends on; of others, false.
    pub fn value(&self, bit: Bit) -> bool {
        self.gate_value(bit.gate()) != bit.is_complement()
    }

    fn gate_value(&self, gate: usize) -> bool {
        let variable = self.variables.get(gate).copied().flatten();
        variable.is_some_and(|variable| self.solver.value_var(variable) == lbool::TRUE)
    }

    /// After [`Answer::Possible`]: the value of any bit, worked out from the inputs.
    pub fn computed(&self, bit: Bit) -> bool {
        let mut found: HashMap<usize, bool> = HashMap::new();
        let mut waiting = vec![bit.gate()];
        while let Some(&gate) = waiting.last() {
            let before = waiting.len();
            let mut of = |bit: Bit| match found.get(&bit.gate()) {
                Some(value) => *value != bit.is_complement(),
                None => {
                    waiting.push(bit.gate());
                    false
                }
            };
            let value = match self.circuit.gate(gate) {
                Gate::False => false,
                Gate::Input => self.gate_value(gate),
                Gate::And(a, b) => of(a) & of(b),
                Gate::Xor(a, b) => of(a) ^ of(b),
                Gate::Choose(which, a, b) => {
                    let (which, a, b) = (of(which), of(a), of(b));
                    if which { a } else { b }
                }
            };
            if waiting.len() == before {
                waiting.pop();
                found.insert(gate, value);
            }
        }
        found.get(&bit.gate()).is_some_and(|value| *value != bit.is_complement())
    }
}
