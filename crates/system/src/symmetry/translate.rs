//! From a system to a set of terms: a renaming of leaves that leaves this set as it is, is a symmetry of the system.
//!
//! The set says everything that the behaviour depends on: events, initial states, where a state without successors is an end,
//! which values a variable can hold, and which element of an array an index names. Names are not among it.

use super::identities::{Identities, Target, Typed, TypedAssign, TypedEvent};
use super::term::{Op, TermId, Terms};
use crate::event::{Event, Moment, Then};
use crate::expr::{BinaryOp, Expr};
use crate::system::{Overflow, ProcessId, System};
use std::collections::{BTreeSet, HashMap};

/// What a symmetry renames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Leaf {
    /// A variable or an element of an array, by its number among all.
    Cell(u32),
    Array(u32),
    /// A type of identities, and a value of it.
    Type(u32),
    Value(u32, i64),
}

pub(super) struct Translation<'s> {
    system: &'s System,
    identities: Identities<'s>,
    pub terms: Terms,
    pub leaves: Vec<Leaf>,
    numbers: HashMap<Leaf, u32>,
    /// The set.
    pub roots: Vec<TermId>,
    /// So many terms, and leaves, are those of the set.
    pub terms_of_set: usize,
    pub leaves_of_set: usize,
    /// Conditions that need not be kept.
    pub others: Vec<TermId>,
}

impl<'s> Translation<'s> {
    /// With conditions that a symmetry must keep, each by itself, and others that it may turn into each other.
    pub fn new(system: &'s System, kept: &[&Expr], others: &[&Expr]) -> Translation<'s> {
        let mut identities = Identities::new(system);
        let events: Vec<TypedEvent> = system.events.iter().map(|event| identities.event(event)).collect();
        let valid_end = system.valid_end.as_ref().map(|e| identities.plain(e));
        let kept: Vec<Typed> = kept.iter().map(|e| identities.condition(e)).collect();
        let others: Vec<Typed> = others.iter().map(|e| identities.condition(e)).collect();
        identities.settle();
        let mut all = Translation {
            system,
            identities,
            terms: Terms::default(),
            leaves: Vec::new(),
            numbers: HashMap::new(),
            roots: Vec::new(),
            terms_of_set: 0,
            leaves_of_set: 0,
            others: Vec::new(),
        };
        for (event, typed) in system.events.iter().zip(&events) {
            let term = all.event(event, typed);
            all.roots.push(term);
        }
        if let Some(end) = &valid_end {
            let end = all.expression(end);
            let root = all.terms.ordered(Op::ValidEnd, vec![end]);
            all.roots.push(root);
        }
        for (number, condition) in kept.iter().enumerate() {
            let (number, condition) = (all.terms.constant(number as i64), all.expression(condition));
            let root = all.terms.ordered(Op::Kept, vec![number, condition]);
            all.roots.push(root);
        }
        all.arrays();
        all.types();
        all.initial();
        all.roots.sort_unstable();
        all.roots.dedup();
        (all.terms_of_set, all.leaves_of_set) = (all.terms.len(), all.leaves.len());
        all.others = others.iter().map(|condition| all.expression(condition)).collect();
        all
    }

    fn leaf(&mut self, leaf: Leaf) -> TermId {
        let next = self.leaves.len() as u32;
        let number = *self.numbers.entry(leaf).or_insert(next);
        if number == next {
            self.leaves.push(leaf);
        }
        self.terms.leaf(number)
    }

    pub fn number(&self, leaf: Leaf) -> Option<u32> {
        self.numbers.get(&leaf).copied()
    }

    /// The number of its first cell.
    pub fn first_cell(&self, v: usize) -> u32 {
        self.identities.first[v]
    }

    pub fn identity_of(&self, v: usize) -> Option<u32> {
        self.identities.of_variable(v)
    }

    /// What leaves that are renamed into each other have in common.
    pub fn colour(&self, leaf: Leaf) -> (u8, i64, i64, bool) {
        match leaf {
            Leaf::Cell(cell) => {
                let domain = self.system.variables[self.variable(cell)].domain;
                (0, domain.low, domain.high, domain.overflow == Overflow::Wrap)
            }
            Leaf::Array(v) => (1, self.system.variables[v as usize].cells() as i64, 0, false),
            Leaf::Type(_) => (2, 0, 0, false),
            Leaf::Value(of, value) => (3, 0, 0, self.identities.values(of).binary_search(&value).is_ok()),
        }
    }

    /// The variable that a cell is of.
    pub fn variable(&self, cell: u32) -> usize {
        self.identities.variable(cell)
    }

    fn value(&mut self, value: i64, identity: Option<u32>) -> TermId {
        match identity {
            Some(of) => self.leaf(Leaf::Value(of, value)),
            None => self.terms.constant(value),
        }
    }

    fn control(&mut self, process: ProcessId) -> TermId {
        let control = self.system.processes[process.index()].control;
        self.leaf(Leaf::Cell(self.identities.first[control.index()]))
    }

    fn event(&mut self, event: &Event, typed: &TypedEvent) -> TermId {
        let moves: Vec<TermId> = event
            .moves
            .iter()
            .map(|m| {
                let operands =
                    vec![self.control(m.process), self.terms.constant(m.from as i64), self.terms.constant(m.to as i64)];
                self.terms.ordered(Op::Move, operands)
            })
            .collect();
        let moves = self.terms.ordered(Op::List, moves);
        let guard = self.expression(&typed.guard);
        let assertion = typed.assertion.as_ref().map(|e| self.expression(e));
        let assertion = self.terms.ordered(Op::List, assertion.into_iter().collect());
        // Which message a run-time error has does not matter, but whether the system was too small does.
        let fault = match event.fault {
            None => 0,
            some if some == self.system.outgrown => 1,
            Some(_) => 2,
        };
        let fault = self.terms.constant(2 * fault + event.late as i64);
        let effects: Vec<TermId> = typed.effects.iter().map(|assign| self.assign(assign)).collect();
        let effects = match self.commute(&typed.effects) {
            true => self.terms.unordered(Op::List, effects),
            false => self.terms.ordered(Op::List, effects),
        };
        let then = match event.then {
            Then::Free => self.terms.ordered(Op::Then(0), Vec::new()),
            Then::Atomic(process) => {
                let control = self.control(process);
                self.terms.ordered(Op::Then(1), vec![control])
            }
            Then::DStep(process) => {
                let control = self.control(process);
                self.terms.ordered(Op::Then(2), vec![control])
            }
        };
        self.terms.ordered(Op::Event, vec![moves, guard, assertion, fault, effects, then])
    }

    /// Does their order not matter? They write different cells, and none reads what another writes.
    fn commute(&self, effects: &[TypedAssign]) -> bool {
        let mut targets = BTreeSet::new();
        let distinct = effects.iter().all(|assign| matches!(assign.target, Target::Cell(cell) if targets.insert(cell)));
        distinct
            && effects.iter().all(|assign| {
                let Target::Cell(own) = assign.target else { return false };
                let (mut apart, mut arrays) = (true, Vec::new());
                assign.value.reads(&mut |cell| apart &= cell == own || !targets.contains(&cell), &mut |v| {
                    arrays.push(v as usize)
                });
                let written = |v: &usize| {
                    let first = self.identities.first[*v];
                    targets.range(first..first + self.system.variables[*v].cells() as u32).next().is_some()
                };
                assign.moment == Moment::Source || apart && !arrays.iter().any(written)
            })
    }

    fn assign(&mut self, assign: &TypedAssign) -> TermId {
        let target = match &assign.target {
            Target::Cell(cell) => self.leaf(Leaf::Cell(*cell)),
            Target::Element(v, index) => self.element(*v, index),
            Target::Outside => self.terms.ordered(Op::Outside, Vec::new()),
        };
        let value = self.expression(&assign.value);
        let moment = self.terms.constant((assign.moment == Moment::Source) as i64);
        self.terms.ordered(Op::Assign, vec![target, value, moment])
    }

    fn element(&mut self, v: u32, index: &Typed) -> TermId {
        let operands = vec![self.leaf(Leaf::Array(v)), self.expression(index)];
        self.terms.ordered(Op::Element, operands)
    }

    fn expression(&mut self, e: &Typed) -> TermId {
        match e {
            Typed::Const(value, node) => self.value(*value, self.identities.identity(*node)),
            Typed::Cell(cell) => self.leaf(Leaf::Cell(*cell)),
            Typed::Element(v, index) => self.element(*v, index),
            Typed::Outside => self.terms.ordered(Op::Outside, Vec::new()),
            Typed::Table(values, index) => {
                let mut operands: Vec<TermId> = values.iter().map(|value| self.terms.constant(*value)).collect();
                operands.push(self.expression(index));
                self.terms.ordered(Op::Table, operands)
            }
            Typed::Unary(op, a) => {
                let a = self.expression(a);
                self.terms.ordered((*op).into(), vec![a])
            }
            Typed::If(c, a, b) => {
                let operands = vec![self.expression(c), self.expression(a), self.expression(b)];
                self.terms.ordered(Op::If, operands)
            }
            Typed::Binary(op, a, b) => self.binary(*op, e, a, b),
        }
    }

    fn binary(&mut self, op: BinaryOp, whole: &Typed, a: &Typed, b: &Typed) -> TermId {
        use BinaryOp::{
            Add, And, BitAnd, BitOr, BitXor, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply, NotEqual, Or,
        };
        match op {
            And | Or | Add | Multiply | BitAnd | BitOr | BitXor => {
                let mut parts = Vec::new();
                flatten(op, whole, &mut parts);
                let operands: Vec<TermId> = parts.iter().map(|part| self.expression(part)).collect();
                // Of a conjunction, what comes first may keep the rest from being an error.
                if matches!(op, And | Or) && parts.iter().any(|part| part.may_fault(&self.identities)) {
                    self.terms.ordered(op.into(), operands)
                } else {
                    self.terms.unordered(op.into(), operands)
                }
            }
            Equal | NotEqual => {
                let operands = vec![self.expression(a), self.expression(b)];
                self.terms.unordered(op.into(), operands)
            }
            Greater | GreaterEqual => {
                let operands = vec![self.expression(b), self.expression(a)];
                self.terms.ordered(if op == Greater { Less } else { LessEqual }.into(), operands)
            }
            _ => {
                let operands = vec![self.expression(a), self.expression(b)];
                self.terms.ordered(op.into(), operands)
            }
        }
    }

    /// Which cell an index names, for arrays of which it is not always known beforehand.
    fn arrays(&mut self) {
        for v in 0..self.system.variables.len() {
            if !self.identities.indexed[v] {
                continue;
            }
            let identity = self.identities.of_index(v);
            for i in 0..self.system.variables[v].cells() as u32 {
                let operands = vec![
                    self.leaf(Leaf::Array(v as u32)),
                    self.value(i as i64, identity),
                    self.leaf(Leaf::Cell(self.identities.first[v] + i)),
                ];
                let root = self.terms.ordered(Op::ElementOf, operands);
                self.roots.push(root);
            }
        }
    }

    /// Which cells are of which type of identities, and its values.
    fn types(&mut self) {
        let cells: Vec<u32> = self
            .leaves
            .iter()
            .filter_map(|leaf| if let Leaf::Cell(cell) = leaf { Some(*cell) } else { None })
            .collect();
        for cell in cells {
            if let Some(of) = self.identity_of(self.variable(cell)) {
                for value in self.identities.values(of).to_vec() {
                    self.leaf(Leaf::Value(of, value));
                }
                let operands = vec![self.leaf(Leaf::Cell(cell)), self.leaf(Leaf::Type(of))];
                let root = self.terms.ordered(Op::HoldsType, operands);
                self.roots.push(root);
            }
        }
        for leaf in self.leaves.clone() {
            if let Leaf::Value(of, _) = leaf {
                let operands = vec![self.leaf(Leaf::Type(of)), self.leaf(leaf)];
                let root = self.terms.ordered(Op::ValueOf, operands);
                self.roots.push(root);
            }
        }
    }

    /// The initial states. Cells that nothing reads or writes keep what they have.
    fn initial(&mut self) {
        let cells: Vec<u32> = self
            .leaves
            .iter()
            .filter_map(|leaf| if let Leaf::Cell(cell) = leaf { Some(*cell) } else { None })
            .collect();
        let system = self.system;
        for values in &system.initial {
            let mut parts = Vec::with_capacity(cells.len());
            for &cell in &cells {
                let identity = self.identity_of(self.variable(cell));
                let operands = vec![self.leaf(Leaf::Cell(cell)), self.value(values[cell as usize], identity)];
                parts.push(self.terms.ordered(Op::Has, operands));
            }
            let root = self.terms.unordered(Op::Initial, parts);
            self.roots.push(root);
        }
    }
}

/// The operands of an operator that is applied again and again.
fn flatten<'e>(op: BinaryOp, e: &'e Typed, parts: &mut Vec<&'e Typed>) {
    match e {
        Typed::Binary(own, a, b) if *own == op => {
            flatten(op, a, parts);
            flatten(op, b, parts);
        }
        other => parts.push(other),
    }
}
