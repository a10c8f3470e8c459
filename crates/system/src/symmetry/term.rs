//! Terms without regard to the order of operands where it does not matter, each kept once.
//!
//! Two expressions that differ in nothing but such orders are one term. The leaves are what a symmetry renames; renaming
//! them turns a term into another, and a system, which is a set of terms, into another set.

use crate::expr::{BinaryOp, UnaryOp};
use std::collections::HashMap;

pub(super) type TermId = u32;

/// What a term is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Op {
    Unary(u8),
    Binary(u8),
    If,
    Element,
    Table,
    /// An array at an index that it does not have.
    Outside,
    Assign,
    Move,
    Then(u8),
    Event,
    List,
    /// That a variable has a value.
    Has,
    Initial,
    ValidEnd,
    /// A condition that is kept, by its number.
    Kept,
    /// A value of a type, a variable of a type, an element of an array.
    ValueOf,
    HoldsType,
    ElementOf,
}

impl From<UnaryOp> for Op {
    fn from(op: UnaryOp) -> Op {
        Op::Unary(op as u8)
    }
}

impl From<BinaryOp> for Op {
    fn from(op: BinaryOp) -> Op {
        Op::Binary(op as u8)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// By its number.
    Leaf(u32),
    Const(i64),
    Ordered(Op, Box<[TermId]>),
    /// The operands are sorted.
    Unordered(Op, Box<[TermId]>),
}

/// All terms. A term comes after its operands.
#[derive(Debug, Default)]
pub(super) struct Terms {
    numbers: HashMap<Term, TermId>,
    list: Vec<Term>,
}

impl Terms {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, id: TermId) -> &Term {
        &self.list[id as usize]
    }

    pub fn intern(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.numbers.get(&term) {
            return id;
        }
        let id = self.list.len() as TermId;
        self.list.push(term.clone());
        self.numbers.insert(term, id);
        id
    }

    pub fn leaf(&mut self, leaf: u32) -> TermId {
        self.intern(Term::Leaf(leaf))
    }

    pub fn constant(&mut self, value: i64) -> TermId {
        self.intern(Term::Const(value))
    }

    pub fn ordered(&mut self, op: Op, operands: Vec<TermId>) -> TermId {
        self.intern(Term::Ordered(op, operands.into()))
    }

    pub fn unordered(&mut self, op: Op, mut operands: Vec<TermId>) -> TermId {
        operands.sort_unstable();
        self.intern(Term::Unordered(op, operands.into()))
    }

    /// What each of the first `count` terms becomes when leaves are renamed, where that is a term that there is.
    pub fn renamed(&self, count: usize, leaves: &[u32]) -> Vec<Option<TermId>> {
        let mut images: Vec<Option<TermId>> = Vec::with_capacity(count);
        for term in &self.list[..count] {
            let all = |operands: &[TermId]| operands.iter().map(|&o| images[o as usize]).collect::<Option<Vec<_>>>();
            let image = match term {
                Term::Leaf(leaf) => Some(Term::Leaf(leaves[*leaf as usize])),
                Term::Const(value) => Some(Term::Const(*value)),
                Term::Ordered(op, operands) => all(operands).map(|operands| Term::Ordered(*op, operands.into())),
                Term::Unordered(op, operands) => all(operands).map(|mut operands| {
                    operands.sort_unstable();
                    Term::Unordered(*op, operands.into())
                }),
            };
            images.push(image.and_then(|image| self.numbers.get(&image).copied()));
        }
        images
    }

    /// What a term becomes when leaves are renamed.
    pub fn rename(&mut self, id: TermId, leaves: &[u32], known: &mut HashMap<TermId, TermId>) -> TermId {
        if let Some(&image) = known.get(&id) {
            return image;
        }
        let image = match self.list[id as usize].clone() {
            Term::Leaf(leaf) => self.leaf(leaves[leaf as usize]),
            Term::Const(value) => self.constant(value),
            Term::Ordered(op, operands) => {
                let operands = operands.iter().map(|&o| self.rename(o, leaves, known)).collect();
                self.ordered(op, operands)
            }
            Term::Unordered(op, operands) => {
                let operands = operands.iter().map(|&o| self.rename(o, leaves, known)).collect();
                self.unordered(op, operands)
            }
        };
        known.insert(id, image);
        image
    }
}
