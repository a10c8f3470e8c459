//! Which variables hold identities: values that are only ever copied, compared for equality and used as indices.
//!
//! Such values can be renamed, as in scalarsets (Ip and Dill, "Better Verification Through Symmetry", 1996), but here nobody
//! declares them: types are inferred by unification. What arithmetic touches, or an order, is a plain number, and so is
//! what it is compared with or assigned to.

use crate::event::{Assign, Event, Moment};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::system::System;
use std::sync::Arc;

/// The type of plain numbers.
const PLAIN: u32 = 0;
/// A type of values farther apart than this is plain.
const WIDEST: i64 = 4096;

/// An expression whose constants have types.
#[derive(Debug, Clone)]
pub(super) enum Typed {
    Const(i64, u32),
    /// A variable or an element of an array, by its number among all.
    Cell(u32),
    /// An element of an array that another value names.
    Element(u32, Box<Typed>),
    /// An array is read at an index that it does not have.
    Outside,
    Table(Arc<[i64]>, Box<Typed>),
    Unary(UnaryOp, Box<Typed>),
    Binary(BinaryOp, Box<Typed>, Box<Typed>),
    If(Box<Typed>, Box<Typed>, Box<Typed>),
}

/// What an assignment writes.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Cell(u32),
    Element(u32, Typed),
    Outside,
}

#[derive(Debug, Clone)]
pub(super) struct TypedAssign {
    pub target: Target,
    pub value: Typed,
    pub moment: Moment,
}

/// The parts of an event that are about values.
#[derive(Debug, Clone)]
pub(super) struct TypedEvent {
    pub guard: Typed,
    pub assertion: Option<Typed>,
    pub effects: Vec<TypedAssign>,
}

pub(super) struct Identities<'s> {
    system: &'s System,
    /// For each variable, the number of its first cell.
    pub first: Vec<u32>,
    /// The value of a cell that no event writes.
    pub frozen: Vec<Option<i64>>,
    /// Is an element of this array read or written that is not known beforehand?
    pub indexed: Vec<bool>,
    parents: Vec<u32>,
    values: Vec<Vec<i64>>,
    /// Constants are those of conditions: no variable gets its value from them.
    of_conditions: bool,
    /// The type of each variable's values, and of each array's indices.
    element: Vec<u32>,
    index: Vec<u32>,
}

impl<'s> Identities<'s> {
    pub fn new(system: &'s System) -> Identities<'s> {
        let count = system.variables.len();
        let mut first = Vec::with_capacity(count);
        let mut cells = 0;
        for variable in &system.variables {
            first.push(cells);
            cells += variable.cells() as u32;
        }
        let mut all = Identities {
            system,
            first,
            frozen: Vec::new(),
            indexed: vec![false; count],
            parents: vec![PLAIN],
            values: vec![Vec::new()],
            of_conditions: false,
            element: Vec::new(),
            index: Vec::new(),
        };
        all.element = (0..count).map(|_| all.fresh()).collect();
        all.index = (0..count).map(|_| all.fresh()).collect();
        all.frozen = all.find_frozen(cells as usize);
        for process in &system.processes {
            all.unify(all.element[process.control.index()], PLAIN);
        }
        for values in &system.initial {
            for v in 0..count {
                let at = all.first[v] as usize;
                let held = &values[at..at + system.variables[v].cells()];
                all.values[all.element[v] as usize].extend(held);
            }
        }
        all
    }

    /// Cells that keep what they begin with.
    fn find_frozen(&self, cells: usize) -> Vec<Option<i64>> {
        let [initial] = &self.system.initial[..] else { return vec![None; cells] };
        let mut frozen: Vec<Option<i64>> = initial.iter().map(|value| Some(*value)).collect();
        for event in &self.system.events {
            for m in &event.moves {
                frozen[self.first[self.system.processes[m.process.index()].control.index()] as usize] = None;
            }
            for Assign { target, index, .. } in &event.effects {
                let (at, length) = (self.first[target.index()] as usize, self.system.variables[target.index()].cells());
                match index.as_ref().map(Expr::as_const) {
                    None => frozen[at] = None,
                    Some(Some(i)) if (0..length as i64).contains(&i) => frozen[at + i as usize] = None,
                    Some(Some(_)) => {}
                    Some(None) => frozen[at..at + length].fill(None),
                }
            }
        }
        frozen
    }

    fn fresh(&mut self) -> u32 {
        self.parents.push(self.parents.len() as u32);
        self.values.push(Vec::new());
        self.parents.len() as u32 - 1
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    fn unify(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        // The type of plain numbers is the lowest of all, and stays its own root.
        let (low, high) = (a.min(b), a.max(b));
        if low != high {
            self.parents[high as usize] = low;
            let values = std::mem::take(&mut self.values[high as usize]);
            self.values[low as usize].extend(values);
        }
    }

    fn constant(&mut self, value: i64) -> (Typed, u32) {
        let node = self.fresh();
        if !self.of_conditions {
            self.values[node as usize].push(value);
        }
        (Typed::Const(value, node), node)
    }

    fn cell(&mut self, cell: u32, node: u32) -> (Typed, u32) {
        match self.frozen[cell as usize] {
            Some(value) => self.constant(value),
            None => (Typed::Cell(cell), node),
        }
    }

    /// The cell of an array that an index names, where that is known beforehand: none where the array has no such element.
    /// Otherwise the index.
    fn at(&mut self, v: usize, index: &Expr) -> Result<Option<u32>, Typed> {
        let (index, node) = self.typed(index);
        if let Typed::Const(i, _) = index {
            let inside = (0..self.system.variables[v].cells() as i64).contains(&i);
            return Ok(inside.then(|| self.first[v] + i as u32));
        }
        self.unify(node, self.index[v]);
        self.indexed[v] = true;
        Err(index)
    }

    /// An operator on known values is a value.
    fn folded(&mut self, folded: Option<i64>, typed: Typed) -> (Typed, u32) {
        match folded {
            Some(value) => self.constant(value),
            None => (typed, PLAIN),
        }
    }

    fn typed(&mut self, e: &Expr) -> (Typed, u32) {
        match e {
            Expr::Const(value) => self.constant(*value),
            Expr::Var(v) => self.cell(self.first[v.index()], self.element[v.index()]),
            Expr::Element(v, index) => {
                let (v, node) = (v.index(), self.element[v.index()]);
                match self.at(v, index) {
                    Ok(Some(cell)) => self.cell(cell, node),
                    Ok(None) => (Typed::Outside, node),
                    Err(index) => (Typed::Element(v as u32, Box::new(index)), node),
                }
            }
            Expr::Table(values, index) => {
                let index = self.plain(index);
                let known = index.value().and_then(|i| values.get(usize::try_from(i).ok()?)).copied();
                self.folded(known, Typed::Table(values.clone(), Box::new(index)))
            }
            Expr::Unary(op, a) => {
                let a = self.plain(a);
                self.folded(a.value().map(|a| op.apply(a)), Typed::Unary(*op, Box::new(a)))
            }
            Expr::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), a, b) => {
                let ((a, of_a), (b, of_b)) = (self.typed(a), self.typed(b));
                let known = a.value().zip(b.value()).and_then(|(a, b)| op.apply(a, b).ok());
                if known.is_none() {
                    self.unify(of_a, of_b);
                }
                self.folded(known, Typed::Binary(*op, Box::new(a), Box::new(b)))
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.plain(a), self.plain(b));
                let known = a.value().zip(b.value()).and_then(|(a, b)| op.apply(a, b).ok());
                self.folded(known, Typed::Binary(*op, Box::new(a), Box::new(b)))
            }
            Expr::If(c, a, b) => {
                let c = self.plain(c);
                let ((a, of_a), (b, of_b)) = (self.typed(a), self.typed(b));
                self.unify(of_a, of_b);
                (Typed::If(Box::new(c), Box::new(a), Box::new(b)), of_a)
            }
        }
    }

    /// An expression whose value is a number or a truth.
    pub fn plain(&mut self, e: &Expr) -> Typed {
        let (typed, node) = self.typed(e);
        self.unify(node, PLAIN);
        typed
    }

    /// A condition that is asked about.
    pub fn condition(&mut self, e: &Expr) -> Typed {
        self.of_conditions = true;
        let typed = self.plain(e);
        self.of_conditions = false;
        typed
    }

    pub fn event(&mut self, event: &Event) -> TypedEvent {
        let guard = self.plain(&event.guard);
        let assertion = event.assertion.as_ref().map(|e| self.plain(e));
        let effects = event.effects.iter().map(|assign| self.assign(assign)).collect();
        TypedEvent { guard, assertion, effects }
    }

    fn assign(&mut self, assign: &Assign) -> TypedAssign {
        let v = assign.target.index();
        let target = match &assign.index {
            None => Target::Cell(self.first[v]),
            Some(index) => match self.at(v, index) {
                Ok(Some(cell)) => Target::Cell(cell),
                Ok(None) => Target::Outside,
                Err(index) => Target::Element(v as u32, index),
            },
        };
        let (value, node) = self.typed(&assign.value);
        self.unify(node, self.element[v]);
        TypedAssign { target, value, moment: assign.moment }
    }

    /// Makes types plain that no variable and no index is of, and those whose values some variable cannot hold: to store them
    /// would be more than to copy them.
    pub fn settle(&mut self) {
        let mut held = vec![false; self.parents.len()];
        for (v, variable) in self.system.variables.iter().enumerate() {
            let first = self.first[v] as usize;
            if self.frozen[first..first + variable.cells()].iter().any(Option::is_none) {
                held[self.root(self.element[v]) as usize] = true;
            }
            if self.indexed[v] {
                held[self.root(self.index[v]) as usize] = true;
                held[self.root(self.element[v]) as usize] = true;
            }
        }
        for node in 1..self.parents.len() as u32 {
            if self.root(node) == node && !held[node as usize] {
                self.unify(node, PLAIN);
            }
        }
        loop {
            let mut changed = false;
            for (v, variable) in self.system.variables.iter().enumerate() {
                let node = self.root(self.element[v]);
                if node != PLAIN && self.values[node as usize].iter().any(|value| !variable.domain.contains(*value)) {
                    self.unify(node, PLAIN);
                    changed = true;
                }
            }
            for node in 1..self.parents.len() as u32 {
                let values = &self.values[node as usize];
                let (low, high) = (values.iter().min(), values.iter().max());
                let wide = low.zip(high).is_some_and(|(low, high)| high.abs_diff(*low) > WIDEST as u64);
                if wide && self.root(node) == node {
                    self.unify(node, PLAIN);
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for values in &mut self.values {
            values.sort_unstable();
            values.dedup();
        }
    }

    /// The variable that a cell is of.
    pub fn variable(&self, cell: u32) -> usize {
        self.first.partition_point(|&first| first <= cell) - 1
    }

    /// The type of identities that a node stands for; `None` for plain numbers.
    pub fn identity(&self, node: u32) -> Option<u32> {
        Some(self.root(node)).filter(|root| *root != PLAIN)
    }

    pub fn of_variable(&self, v: usize) -> Option<u32> {
        self.identity(self.element[v])
    }

    pub fn of_index(&self, v: usize) -> Option<u32> {
        self.identity(self.index[v])
    }

    /// The values that a type of identities can have.
    pub fn values(&self, identity: u32) -> &[i64] {
        &self.values[identity as usize]
    }
}

impl Typed {
    /// Its value, where that is known.
    fn value(&self) -> Option<i64> {
        match self {
            Typed::Const(value, _) => Some(*value),
            _ => None,
        }
    }

    /// Could evaluating it be a run-time error?
    pub fn may_fault(&self, all: &Identities) -> bool {
        match self {
            Typed::Const(..) | Typed::Cell(_) => false,
            Typed::Outside => true,
            Typed::Element(v, index) => !index.is_below(all.system.variables[*v as usize].cells(), all),
            Typed::Table(values, index) => !index.is_below(values.len(), all),
            Typed::Unary(_, a) => a.may_fault(all),
            Typed::Binary(BinaryOp::Divide | BinaryOp::Remainder, a, b) => {
                a.may_fault(all) || !matches!(**b, Typed::Const(divisor, _) if divisor != 0)
            }
            Typed::Binary(_, a, b) => a.may_fault(all) || b.may_fault(all),
            Typed::If(a, b, c) => [a, b, c].into_iter().any(|e| e.may_fault(all)),
        }
    }

    /// Is it a variable that is always an index of so many elements?
    fn is_below(&self, length: usize, all: &Identities) -> bool {
        let Typed::Cell(cell) = self else { return false };
        let domain = all.system.variables[all.variable(*cell)].domain;
        domain.low >= 0 && domain.high < length as i64
    }

    /// Calls `visit` for each cell read, and `array` for each array of which any element may be.
    pub fn reads(&self, visit: &mut dyn FnMut(u32), array: &mut dyn FnMut(u32)) {
        match self {
            Typed::Const(..) | Typed::Outside => {}
            Typed::Cell(cell) => visit(*cell),
            Typed::Element(v, index) => {
                array(*v);
                index.reads(visit, array);
            }
            Typed::Table(_, a) | Typed::Unary(_, a) => a.reads(visit, array),
            Typed::Binary(_, a, b) => {
                a.reads(visit, array);
                b.reads(visit, array);
            }
            Typed::If(a, b, c) => [a, b, c].into_iter().for_each(|e| e.reads(visit, array)),
        }
    }
}
