//! Constructors that simplify: operators over two formulas.

use crate::arena::{Arena, FALSE, Id, TRUE, Term};
use crate::limits::TooLarge;

impl Arena {
    /// The first operand of an until without what the second makes unimportant.
    fn until_first(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        let (all, conjunction) = match self.term(a).clone() {
            Term::And(all) => (all, true),
            Term::Or(all) => (all, false),
            _ => return Ok(a),
        };
        let mut kept = Vec::new();
        for &c in &all {
            let unimportant = if conjunction { self.covers(b, c)? } else { self.implies(c, b)? };
            if !unimportant {
                kept.push(c);
            }
        }
        match kept.len() == all.len() {
            true => Ok(a),
            false if conjunction => self.and(kept),
            false => self.or(kept),
        }
    }

    /// The first operand of a release without what the second makes unimportant.
    fn release_first(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        let (all, conjunction) = match self.term(a).clone() {
            Term::And(all) => (all, true),
            Term::Or(all) => (all, false),
            _ => return Ok(a),
        };
        let mut kept = Vec::new();
        for &c in &all {
            let unimportant = if conjunction { self.implies(b, c)? } else { self.excludes(c, b)? };
            if !unimportant {
                kept.push(c);
            }
        }
        match kept.len() == all.len() {
            true => Ok(a),
            false if conjunction => self.and(kept),
            false => self.or(kept),
        }
    }

    pub(crate) fn until(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.until_by_rules(a, b))
    }

    fn until_by_rules(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        if self.shape(b).eventual || a == FALSE {
            return Ok(b);
        }
        if a == TRUE {
            return self.finally(b);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Until(a, b)));
        }
        if self.implies(a, b)? {
            return Ok(b);
        }
        if self.covers(a, b)? {
            return self.finally(b);
        }
        let first = self.until_first(a, b)?;
        if first != a {
            return self.until(first, b);
        }
        match (self.term(a).clone(), self.term(b).clone()) {
            (Term::Next(c), Term::Next(d)) => {
                let inner = self.until(c, d)?;
                return self.next(inner);
            }
            (_, Term::Or(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, |arena, c| arena.shape(c).eventual) {
                    let rest = self.or(rest)?;
                    out.push(self.until(a, rest)?);
                    return self.or(out);
                }
            }
            (_, Term::And(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.and(rest)?;
                    out.push(self.until(a, rest)?);
                    return self.and(out);
                }
            }
            (_, Term::Until(c, d)) => {
                if self.implies(a, c)? {
                    return Ok(b);
                }
                if self.implies(c, a)? {
                    return self.until(a, d);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Until(a, b)))
    }

    pub(crate) fn weak(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.weak_by_rules(a, b))
    }

    fn weak_by_rules(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        if a == TRUE || b == TRUE {
            return Ok(TRUE);
        }
        if a == FALSE {
            return Ok(b);
        }
        if b == FALSE {
            return self.globally(a);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Weak(a, b)));
        }
        if self.implies(a, b)? {
            return Ok(b);
        }
        if self.covers(a, b)? {
            return Ok(TRUE);
        }
        if self.shape(a).universal {
            return self.or(vec![a, b]);
        }
        if self.shape(b).eventual {
            let always = self.globally(a)?;
            return self.or(vec![always, b]);
        }
        let first = self.until_first(a, b)?;
        if first != a {
            return self.weak(first, b);
        }
        match (self.term(a).clone(), self.term(b).clone()) {
            (Term::Next(c), Term::Next(d)) => {
                let inner = self.weak(c, d)?;
                return self.next(inner);
            }
            (_, Term::Or(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, |arena, c| arena.shape(c).eventual) {
                    let rest = self.or(rest)?;
                    out.push(self.weak(a, rest)?);
                    return self.or(out);
                }
            }
            (_, Term::Weak(c, d)) => {
                if self.implies(a, c)? {
                    return Ok(b);
                }
                if self.implies(c, a)? {
                    return self.weak(a, d);
                }
            }
            (_, Term::Until(c, d)) if self.implies(c, a)? => return self.weak(a, d),
            (_, Term::Globally(c)) if self.implies(c, a)? => return self.globally(a),
            _ => {}
        }
        Ok(self.keep(Term::Weak(a, b)))
    }

    pub(crate) fn release(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.release_by_rules(a, b))
    }

    fn release_by_rules(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        if self.shape(b).universal || a == TRUE {
            return Ok(b);
        }
        if a == FALSE {
            return self.globally(b);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Release(a, b)));
        }
        if self.implies(b, a)? {
            return Ok(b);
        }
        if self.excludes(b, a)? {
            return self.globally(b);
        }
        let first = self.release_first(a, b)?;
        if first != a {
            return self.release(first, b);
        }
        match (self.term(a).clone(), self.term(b).clone()) {
            (Term::Next(c), Term::Next(d)) => {
                let inner = self.release(c, d)?;
                return self.next(inner);
            }
            (_, Term::And(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, |arena, c| arena.shape(c).universal) {
                    let rest = self.and(rest)?;
                    out.push(self.release(a, rest)?);
                    return self.and(out);
                }
            }
            (_, Term::Or(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.or(rest)?;
                    out.push(self.release(a, rest)?);
                    return self.or(out);
                }
            }
            (_, Term::Release(c, d)) => {
                if self.implies(c, a)? {
                    return Ok(b);
                }
                if self.implies(a, c)? {
                    return self.release(a, d);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Release(a, b)))
    }

    pub(crate) fn strong(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.strong_by_rules(a, b))
    }

    fn strong_by_rules(&mut self, a: Id, b: Id) -> Result<Id, TooLarge> {
        if a == FALSE || b == FALSE {
            return Ok(FALSE);
        }
        if a == TRUE {
            return Ok(b);
        }
        if b == TRUE {
            return self.finally(a);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Strong(a, b)));
        }
        if self.implies(b, a)? {
            return Ok(b);
        }
        if self.excludes(b, a)? {
            return Ok(FALSE);
        }
        if self.shape(a).eventual {
            return self.and(vec![a, b]);
        }
        if self.shape(b).universal {
            let sometime = self.finally(a)?;
            return self.and(vec![sometime, b]);
        }
        let first = self.release_first(a, b)?;
        if first != a {
            return self.strong(first, b);
        }
        match (self.term(a).clone(), self.term(b).clone()) {
            (Term::Next(c), Term::Next(d)) => {
                let inner = self.strong(c, d)?;
                return self.next(inner);
            }
            (_, Term::And(all)) => {
                if let Some((mut out, rest)) = self.parted(&all, |arena, c| arena.shape(c).universal) {
                    let rest = self.and(rest)?;
                    out.push(self.strong(a, rest)?);
                    return self.and(out);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Strong(a, b)))
    }
}
