//! Whether one formula implies another, seen by their shape alone. `false` says only that it is not seen.

use crate::arena::{Arena, FALSE, Id, TRUE, Term};
use crate::limits::TooLarge;

/// How deep it looks.
const DEPTH: u32 = 40;
/// How deep a formula may be that is negated for a rule.
const NEGATED: u32 = 200;

impl Arena {
    pub(crate) fn implies(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        self.implies_within(f, g, DEPTH)
    }

    /// Does the negation of the first imply the second?
    pub(crate) fn covers(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        match self.negation(f)? {
            Some(not_f) => self.implies(not_f, g),
            None => Ok(false),
        }
    }

    /// Does the first imply the negation of the second?
    pub(crate) fn excludes(&mut self, f: Id, g: Id) -> Result<bool, TooLarge> {
        match self.negation(g)? {
            Some(not_g) => self.implies(f, not_g),
            None => Ok(false),
        }
    }

    /// The negation, unless it is too deep to be worth it.
    pub(crate) fn negation(&mut self, id: Id) -> Result<Option<Id>, TooLarge> {
        if self.shape(id).depth > NEGATED || self.fuel == 0 { Ok(None) } else { self.negated(id).map(Some) }
    }

    fn negated(&mut self, id: Id) -> Result<Id, TooLarge> {
        if let Some(&negation) = self.negations.get(&id) {
            return Ok(negation);
        }
        let negation = match self.term(id).clone() {
            Term::False => TRUE,
            Term::True => FALSE,
            Term::Literal(atom, positive) => self.keep(Term::Literal(atom, !positive)),
            Term::And(all) => {
                let none = all.into_iter().map(|a| self.negated(a)).collect::<Result<_, _>>()?;
                self.keep_sorted(none, false)
            }
            Term::Or(all) => {
                let none = all.into_iter().map(|a| self.negated(a)).collect::<Result<_, _>>()?;
                self.keep_sorted(none, true)
            }
            Term::Next(a) => self.negated_operands(a, a, |a, _| Term::Next(a))?,
            Term::Finally(a) => self.negated_operands(a, a, |a, _| Term::Globally(a))?,
            Term::Globally(a) => self.negated_operands(a, a, |a, _| Term::Finally(a))?,
            Term::Until(a, b) => self.negated_operands(a, b, Term::Release)?,
            Term::Release(a, b) => self.negated_operands(a, b, Term::Until)?,
            Term::Weak(a, b) => self.negated_operands(a, b, Term::Strong)?,
            Term::Strong(a, b) => self.negated_operands(a, b, Term::Weak)?,
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        Ok(negation)
    }

    fn negated_operands(&mut self, a: Id, b: Id, make: impl Fn(Id, Id) -> Term) -> Result<Id, TooLarge> {
        let (a, b) = (self.negated(a)?, self.negated(b)?);
        Ok(self.keep(make(a, b)))
    }

    /// A conjunction or disjunction, in order, otherwise as it is.
    pub(crate) fn keep_sorted(&mut self, mut all: Vec<Id>, conjunction: bool) -> Id {
        all.sort_unstable();
        all.dedup();
        match (all.as_slice(), conjunction) {
            ([], true) => TRUE,
            ([], false) => FALSE,
            (&[one], _) => one,
            (_, true) => self.keep(Term::And(all)),
            (_, false) => self.keep(Term::Or(all)),
        }
    }

    fn implies_within(&mut self, f: Id, g: Id, depth: u32) -> Result<bool, TooLarge> {
        if f == g || f == FALSE || g == TRUE {
            return Ok(true);
        }
        if f == TRUE || g == FALSE || depth == 0 || self.fuel == 0 {
            return Ok(false);
        }
        if self.shape(f).state && self.shape(g).state {
            let (f, g) = (self.condition(f)?, self.condition(g)?);
            return self.diagram.implies(f, g);
        }
        if let Some(&known) = self.implied.get(&(f, g)) {
            return Ok(known);
        }
        self.fuel -= 1;
        let answer = self.implies_by_shape(f, g, depth - 1)?;
        self.implied.insert((f, g), answer);
        Ok(answer)
    }

    fn implies_by_shape(&mut self, f: Id, g: Id, depth: u32) -> Result<bool, TooLarge> {
        let (from, to) = (self.term(f).clone(), self.term(g).clone());
        // Each operand that has to imply, or be implied, one after the other.
        if let Term::Or(all) = &from {
            return self.all(all.iter().map(|&a| (a, g)), depth);
        }
        if let Term::And(all) = &to {
            return self.all(all.iter().map(|&b| (f, b)), depth);
        }
        if let Term::And(all) = &from
            && self.any(all.iter().map(|&a| (a, g)), depth)?
        {
            return Ok(true);
        }
        if let Term::Or(all) = &to
            && self.any(all.iter().map(|&b| (f, b)), depth)?
        {
            return Ok(true);
        }
        if self.implies_in_pairs(&from, &to, depth)? {
            return Ok(true);
        }
        let (universal, eventual) = (self.shape(f).universal, self.shape(g).eventual);
        // What the first says of this moment, or of some later one when the second does not mind.
        let weaker = match from {
            Term::Globally(a) => self.implies_within(a, g, depth)?,
            Term::Finally(a) | Term::Next(a) => eventual && self.implies_within(a, g, depth)?,
            Term::Until(a, b) => self.implies_within(b, g, depth)? && (eventual || self.implies_within(a, g, depth)?),
            Term::Weak(a, b) => self.all([(a, g), (b, g)].into_iter(), depth)?,
            Term::Release(_, b) => self.implies_within(b, g, depth)?,
            Term::Strong(a, b) => self.implies_within(b, g, depth)? || eventual && self.implies_within(a, g, depth)?,
            _ => false,
        };
        if weaker {
            return Ok(true);
        }
        match to {
            Term::Finally(b) => self.implies_within(f, b, depth),
            Term::Globally(b) | Term::Next(b) => Ok(universal && self.implies_within(f, b, depth)?),
            Term::Until(_, b) => self.implies_within(f, b, depth),
            Term::Weak(a, b) => Ok(self.implies_within(f, b, depth)? || universal && self.implies_within(f, a, depth)?),
            Term::Release(a, b) => {
                Ok(self.implies_within(f, b, depth)? && (universal || self.implies_within(f, a, depth)?))
            }
            Term::Strong(a, b) => self.all([(f, a), (f, b)].into_iter(), depth),
            _ => Ok(false),
        }
    }

    /// Operators that are monotonous in their operands.
    fn implies_in_pairs(&mut self, from: &Term, to: &Term, depth: u32) -> Result<bool, TooLarge> {
        match (from, to) {
            (Term::Next(a), Term::Next(b)) => self.implies_within(*a, *b, depth),
            (Term::Until(a, b), Term::Until(c, d) | Term::Weak(c, d))
            | (Term::Weak(a, b), Term::Weak(c, d))
            | (Term::Release(a, b), Term::Release(c, d))
            | (Term::Strong(a, b), Term::Strong(c, d) | Term::Release(c, d))
            | (Term::Release(b, a), Term::Weak(c, d))
            | (Term::Strong(b, a), Term::Weak(c, d) | Term::Until(c, d)) => {
                self.all([(*a, *c), (*b, *d)].into_iter(), depth)
            }
            (Term::Globally(a), Term::Weak(b, _) | Term::Release(_, b)) => self.implies_within(*a, *b, depth),
            _ => Ok(false),
        }
    }

    fn all(&mut self, pairs: impl Iterator<Item = (Id, Id)>, depth: u32) -> Result<bool, TooLarge> {
        for (f, g) in pairs {
            if !self.implies_within(f, g, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn any(&mut self, pairs: impl Iterator<Item = (Id, Id)>, depth: u32) -> Result<bool, TooLarge> {
        for (f, g) in pairs {
            if self.implies_within(f, g, depth)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
