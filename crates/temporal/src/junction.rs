//! Conjunctions and disjunctions that simplify: operands that others make superfluous go, and pairs that are one operator
//! become it.

use crate::arena::{Arena, FALSE, Id, TRUE, Term};
use crate::limits::TooLarge;

/// With more operands than this pairs are not compared.
const COMPARED: usize = 24;

impl Arena {
    pub(crate) fn and(&mut self, operands: Vec<Id>) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.and_by_rules(operands))
    }

    fn and_by_rules(&mut self, operands: Vec<Id>) -> Result<Id, TooLarge> {
        let mut all = Vec::new();
        for id in operands {
            match self.term(id) {
                Term::And(inner) => all.extend_from_slice(inner),
                Term::True => {}
                Term::False => return Ok(FALSE),
                _ => all.push(id),
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.len() < 2 || all.len() > COMPARED || !self.rule() {
            return Ok(self.keep_sorted(all, true));
        }
        for i in 0..all.len() {
            for j in i + 1..all.len() {
                let (a, b) = (all[i], all[j]);
                if self.excludes(a, b)? || self.excludes(b, a)? {
                    return Ok(FALSE);
                }
                let pair = if self.implies(a, b)? {
                    Some(a)
                } else if self.implies(b, a)? {
                    Some(b)
                } else {
                    match self.both(a, b)? {
                        Some(one) => Some(one),
                        None => self.both(b, a)?,
                    }
                };
                if let Some(one) = pair {
                    all.remove(j);
                    all[i] = one;
                    return self.and(all);
                }
            }
        }
        Ok(self.keep_sorted(all, true))
    }

    pub(crate) fn or(&mut self, operands: Vec<Id>) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.or_by_rules(operands))
    }

    fn or_by_rules(&mut self, operands: Vec<Id>) -> Result<Id, TooLarge> {
        let mut all = Vec::new();
        for id in operands {
            match self.term(id) {
                Term::Or(inner) => all.extend_from_slice(inner),
                Term::False => {}
                Term::True => return Ok(TRUE),
                _ => all.push(id),
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.len() < 2 || all.len() > COMPARED || !self.rule() {
            return Ok(self.keep_sorted(all, false));
        }
        for i in 0..all.len() {
            for j in i + 1..all.len() {
                let (a, b) = (all[i], all[j]);
                if self.covers(a, b)? || self.covers(b, a)? {
                    return Ok(TRUE);
                }
                let pair = if self.implies(a, b)? {
                    Some(b)
                } else if self.implies(b, a)? {
                    Some(a)
                } else {
                    match self.either(a, b)? {
                        Some(one) => Some(one),
                        None => self.either(b, a)?,
                    }
                };
                if let Some(one) = pair {
                    all.remove(j);
                    all[i] = one;
                    return self.or(all);
                }
            }
        }
        Ok(self.keep_sorted(all, false))
    }

    /// One operator, or two simpler ones, for a conjunction of two.
    fn both(&mut self, f: Id, g: Id) -> Result<Option<Id>, TooLarge> {
        let one = match (self.term(f).clone(), self.term(g).clone()) {
            (Term::Globally(a), Term::Globally(b)) => {
                let both = self.and(vec![a, b])?;
                self.globally(both)?
            }
            (Term::Next(a), Term::Next(b)) => {
                let both = self.and(vec![a, b])?;
                self.next(both)?
            }
            (Term::Finally(a), Term::Finally(b)) if self.shape(a).universal && self.shape(b).universal => {
                let both = self.and(vec![a, b])?;
                self.finally(both)?
            }
            (Term::Until(a, b), Term::Until(c, d) | Term::Weak(c, d)) if b == d => {
                let both = self.and(vec![a, c])?;
                self.until(both, b)?
            }
            (Term::Weak(a, b), Term::Weak(c, d)) if b == d => {
                let both = self.and(vec![a, c])?;
                self.weak(both, b)?
            }
            (Term::Strong(a, b), Term::Strong(c, d) | Term::Release(c, d)) if a == c => {
                let both = self.and(vec![b, d])?;
                self.strong(a, both)?
            }
            (Term::Release(a, b), Term::Release(c, d)) if a == c => {
                let both = self.and(vec![b, d])?;
                self.release(a, both)?
            }
            (Term::Weak(a, b), Term::Finally(c)) if b == c => self.until(a, b)?,
            (Term::Release(a, b), Term::Finally(c)) if a == c => self.strong(a, b)?,
            (Term::Globally(a), Term::Until(b, c)) if self.implies(a, b)? => {
                let sometime = self.finally(c)?;
                self.and(vec![f, sometime])?
            }
            (Term::Globally(a), Term::Strong(b, c)) if self.implies(a, c)? => {
                let sometime = self.finally(b)?;
                self.and(vec![f, sometime])?
            }
            (_, Term::Next(a)) if *self.term(a) == Term::Globally(f) => a,
            _ => return Ok(None),
        };
        Ok(Some(one))
    }

    /// One operator, or two simpler ones, for a disjunction of two.
    fn either(&mut self, f: Id, g: Id) -> Result<Option<Id>, TooLarge> {
        let one = match (self.term(f).clone(), self.term(g).clone()) {
            (Term::Finally(a), Term::Finally(b)) => {
                let either = self.or(vec![a, b])?;
                self.finally(either)?
            }
            (Term::Next(a), Term::Next(b)) => {
                let either = self.or(vec![a, b])?;
                self.next(either)?
            }
            (Term::Globally(a), Term::Globally(b)) if self.shape(a).eventual && self.shape(b).eventual => {
                let either = self.or(vec![a, b])?;
                self.globally(either)?
            }
            (Term::Release(a, b), Term::Release(c, d) | Term::Strong(c, d)) if b == d => {
                let either = self.or(vec![a, c])?;
                self.release(either, b)?
            }
            (Term::Strong(a, b), Term::Strong(c, d)) if b == d => {
                let either = self.or(vec![a, c])?;
                self.strong(either, b)?
            }
            (Term::Weak(a, b), Term::Weak(c, d) | Term::Until(c, d)) if a == c => {
                let either = self.or(vec![b, d])?;
                self.weak(a, either)?
            }
            (Term::Until(a, b), Term::Until(c, d)) if a == c => {
                let either = self.or(vec![b, d])?;
                self.until(a, either)?
            }
            (Term::Strong(a, b), Term::Globally(c)) if b == c => self.release(a, b)?,
            (Term::Until(a, b), Term::Globally(c)) if a == c => self.weak(a, b)?,
            (Term::Finally(a), Term::Release(b, c)) if self.implies(b, a)? => {
                let always = self.globally(c)?;
                self.or(vec![f, always])?
            }
            (Term::Finally(a), Term::Weak(b, c)) if self.implies(c, a)? => {
                let always = self.globally(b)?;
                self.or(vec![f, always])?
            }
            (_, Term::Next(a)) if *self.term(a) == Term::Finally(f) => a,
            _ => return Ok(None),
        };
        Ok(Some(one))
    }
}
