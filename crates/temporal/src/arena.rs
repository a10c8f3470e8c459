//! Formulas of LTL with negations at the atoms only, each kept once, so that equal formulas are the same number.
//!
//! What every formula tells by its shape is kept beside it. The constructors that simplify are in `unary`, `binary` and `junction`; those here
//! take a formula as it is.

use crate::diagram::{ALWAYS, Diagram, NEVER, Node};
use crate::formula::Formula;
use crate::limits::{Meter, TooLarge};
use std::collections::HashMap;

/// A formula of the arena.
pub(crate) type Id = u32;
pub(crate) const FALSE: Id = 0;
pub(crate) const TRUE: Id = 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    False,
    True,
    Literal(u32, bool),
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Finally(Id),
    Globally(Id),
    Until(Id, Id),
    Weak(Id, Id),
    Release(Id, Id),
    Strong(Id, Id),
}

/// What the shape of a formula tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// It is about one moment.
    pub state: bool,
    /// Once it holds later, it holds now.
    pub eventual: bool,
    /// Where it holds now, it holds for ever.
    pub universal: bool,
    /// What violates it does so by a prefix.
    pub safety: bool,
    /// What satisfies it does so by a prefix.
    pub guarantee: bool,
    /// A Boolean combination of the two.
    pub obligation: bool,
    /// How deep it is nested.
    pub depth: u32,
}

impl Shape {
    /// Eventual and universal: it does not matter where it is asked.
    pub fn anywhere(self) -> bool {
        self.eventual && self.universal
    }
}

pub(crate) struct Arena {
    terms: Vec<Term>,
    shapes: Vec<Shape>,
    known: HashMap<Term, Id>,
    /// Conditions on atoms, for what is about one moment.
    pub diagram: Diagram,
    nodes: HashMap<Id, Node>,
    pub(crate) negations: HashMap<Id, Id>,
    pub(crate) implied: HashMap<(Id, Id), bool>,
    /// How many rules may still be tried: rewriting ends.
    pub(crate) fuel: u32,
    /// How deep rules have led to others.
    pub(crate) nested: u32,
}

/// How many rules a formula may take; when they are used up it is kept as it is.
const FUEL: u32 = 200_000;

impl Arena {
    pub fn new(meter: Meter) -> Arena {
        let mut arena = Arena {
            terms: Vec::new(),
            shapes: Vec::new(),
            known: HashMap::new(),
            diagram: Diagram::new(meter),
            nodes: HashMap::new(),
            negations: HashMap::new(),
            implied: HashMap::new(),
            fuel: FUEL,
            nested: 0,
        };
        arena.keep(Term::False);
        arena.keep(Term::True);
        arena
    }

    pub fn term(&self, id: Id) -> &Term {
        &self.terms[id as usize]
    }

    pub fn shape(&self, id: Id) -> Shape {
        self.shapes[id as usize]
    }

    /// The formula as it is.
    pub fn keep(&mut self, term: Term) -> Id {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let id = self.terms.len() as Id;
        let shape = self.shape_of(&term);
        self.shapes.push(shape);
        self.terms.push(term.clone());
        self.known.insert(term, id);
        id
    }

    fn shape_of(&self, term: &Term) -> Shape {
        let of = |id: Id| self.shape(id);
        let leaf = |constant| Shape {
            state: true,
            eventual: constant,
            universal: constant,
            safety: true,
            guarantee: true,
            obligation: true,
            depth: 0,
        };
        // What holds for an operator when it holds for all its operands; single operators add to it.
        let all = |operands: &[Id]| {
            operands.iter().fold(leaf(true), |all, &id| {
                let one = of(id);
                Shape {
                    state: all.state && one.state,
                    eventual: all.eventual && one.eventual,
                    universal: all.universal && one.universal,
                    safety: all.safety && one.safety,
                    guarantee: all.guarantee && one.guarantee,
                    obligation: all.obligation && one.obligation,
                    depth: all.depth.max(one.depth.saturating_add(1)),
                }
            })
        };
        let temporal = |operands: &[Id]| Shape { state: false, ..all(operands) };
        let classes = |shape: Shape, safety: bool, guarantee: bool, obligation: bool| Shape {
            safety,
            guarantee,
            obligation: safety || guarantee || obligation,
            ..shape
        };
        match *term {
            Term::False | Term::True => leaf(true),
            Term::Literal(..) => leaf(false),
            Term::And(ref operands) | Term::Or(ref operands) => all(operands),
            Term::Next(a) => temporal(&[a]),
            Term::Finally(a) => {
                let shape = temporal(&[a]);
                Shape { eventual: true, ..classes(shape, false, shape.guarantee, false) }
            }
            Term::Globally(a) => {
                let shape = temporal(&[a]);
                Shape { universal: true, ..classes(shape, shape.safety, false, false) }
            }
            Term::Until(a, b) => {
                let shape = temporal(&[a, b]);
                classes(shape, false, shape.guarantee, of(a).obligation && of(b).guarantee)
            }
            Term::Strong(a, b) => {
                let shape = temporal(&[a, b]);
                classes(shape, false, shape.guarantee, of(a).guarantee && of(b).obligation)
            }
            Term::Weak(a, b) => {
                let shape = temporal(&[a, b]);
                classes(shape, shape.safety, false, of(a).safety && of(b).obligation)
            }
            Term::Release(a, b) => {
                let shape = temporal(&[a, b]);
                classes(shape, shape.safety, false, of(a).obligation && of(b).safety)
            }
        }
    }

    /// The condition on a letter that a formula about one moment is.
    pub fn condition(&mut self, id: Id) -> Result<Node, TooLarge> {
        if let Some(&node) = self.nodes.get(&id) {
            return Ok(node);
        }
        let node = match self.term(id).clone() {
            Term::True => ALWAYS,
            Term::Literal(atom, positive) => self.diagram.literal(atom, positive)?,
            Term::And(operands) => {
                let mut all = ALWAYS;
                for operand in operands {
                    let one = self.condition(operand)?;
                    all = self.diagram.and(all, one)?;
                }
                all
            }
            Term::Or(operands) => {
                let mut any = NEVER;
                for operand in operands {
                    let one = self.condition(operand)?;
                    any = self.diagram.or(any, one)?;
                }
                any
            }
            _ => NEVER,
        };
        self.nodes.insert(id, node);
        Ok(node)
    }

    /// The formula and its negation, simplified.
    pub fn read(&mut self, formula: &Formula<u32>) -> Result<(Id, Id), TooLarge> {
        self.diagram.meter.tick()?;
        let of_two = |arena: &mut Arena, a: &Formula<u32>, b: &Formula<u32>| Ok((arena.read(a)?, arena.read(b)?));
        Ok(match formula {
            Formula::True => (TRUE, FALSE),
            Formula::False => (FALSE, TRUE),
            Formula::Atom(atom) if *atom >= 64 => return Err(TooLarge::Atoms),
            Formula::Atom(atom) => (self.keep(Term::Literal(*atom, true)), self.keep(Term::Literal(*atom, false))),
            Formula::Not(a) => {
                let (yes, no) = self.read(a)?;
                (no, yes)
            }
            Formula::And(all) | Formula::Or(all) => {
                let read = all.iter().map(|a| self.read(a)).collect::<Result<Vec<_>, _>>()?;
                let (yes, no): (Vec<Id>, Vec<Id>) = read.into_iter().unzip();
                if matches!(formula, Formula::And(_)) {
                    (self.and(yes)?, self.or(no)?)
                } else {
                    (self.or(yes)?, self.and(no)?)
                }
            }
            Formula::Implies(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                (self.or(vec![not_a, b])?, self.and(vec![a, not_b])?)
            }
            Formula::Equivalent(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                let (both, none) = (self.and(vec![a, b])?, self.and(vec![not_a, not_b])?);
                let (first, second) = (self.and(vec![a, not_b])?, self.and(vec![not_a, b])?);
                (self.or(vec![both, none])?, self.or(vec![first, second])?)
            }
            Formula::Next(a) => {
                let (a, not_a) = self.read(a)?;
                (self.next(a)?, self.next(not_a)?)
            }
            Formula::Finally(a) => {
                let (a, not_a) = self.read(a)?;
                (self.finally(a)?, self.globally(not_a)?)
            }
            Formula::Globally(a) => {
                let (a, not_a) = self.read(a)?;
                (self.globally(a)?, self.finally(not_a)?)
            }
            Formula::Until(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                (self.until(a, b)?, self.release(not_a, not_b)?)
            }
            Formula::WeakUntil(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                (self.weak(a, b)?, self.strong(not_a, not_b)?)
            }
            Formula::Release(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                (self.release(a, b)?, self.until(not_a, not_b)?)
            }
            Formula::StrongRelease(a, b) => {
                let ((a, not_a), (b, not_b)) = of_two(self, a, b)?;
                (self.strong(a, b)?, self.weak(not_a, not_b)?)
            }
            Formula::AllPaths(_) | Formula::ExistsPath(_) => return Err(TooLarge::Quantifier),
        })
    }

    /// The formula for others to read.
    pub fn write(&self, id: Id) -> Formula<u32> {
        let one = |id: &Id| Box::new(self.write(*id));
        match self.term(id) {
            Term::False => Formula::False,
            Term::True => Formula::True,
            Term::Literal(atom, true) => Formula::Atom(*atom),
            Term::Literal(atom, false) => Formula::Not(Box::new(Formula::Atom(*atom))),
            Term::And(all) => Formula::And(all.iter().map(|id| self.write(*id)).collect()),
            Term::Or(all) => Formula::Or(all.iter().map(|id| self.write(*id)).collect()),
            Term::Next(a) => Formula::Next(one(a)),
            Term::Finally(a) => Formula::Finally(one(a)),
            Term::Globally(a) => Formula::Globally(one(a)),
            Term::Until(a, b) => Formula::Until(one(a), one(b)),
            Term::Weak(a, b) => Formula::WeakUntil(one(a), one(b)),
            Term::Release(a, b) => Formula::Release(one(a), one(b)),
            Term::Strong(a, b) => Formula::StrongRelease(one(a), one(b)),
        }
    }

    /// How large the formula is when it is written out.
    pub fn tree_size(&self, id: Id) -> usize {
        // Operands have smaller numbers than what they are operands of.
        let mut sizes: Vec<usize> = Vec::with_capacity(id as usize + 1);
        for term in &self.terms[..=id as usize] {
            let of = |id: Id| sizes[id as usize];
            let inner = match term {
                Term::False | Term::True | Term::Literal(..) => 0,
                Term::And(all) | Term::Or(all) => all.iter().fold(0, |sum: usize, &a| sum.saturating_add(of(a))),
                Term::Next(a) | Term::Finally(a) | Term::Globally(a) => of(*a),
                Term::Until(a, b) | Term::Weak(a, b) | Term::Release(a, b) | Term::Strong(a, b) => {
                    of(*a).saturating_add(of(*b))
                }
            };
            sizes.push(inner.saturating_add(1));
        }
        sizes[id as usize]
    }
}
