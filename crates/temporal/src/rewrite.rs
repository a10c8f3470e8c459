//! Constructors that simplify: operators over one or two formulas. Conjunctions and disjunctions are in `junction`.
//!
//! The rules are those known of LTL: constants, operators that move outwards or vanish, operands that hold eventually or
//! for ever, and implications between the operands.

use crate::arena::{Arena, FALSE, Id, TRUE, Term};
use crate::limits::TooLarge;

/// Operands in two parts.
type Parts = (Vec<Id>, Vec<Id>);

impl Arena {
    /// May another rule be tried?
    pub(crate) fn rule(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    /// The operands of which something holds, if there are some, and the others; the second part of it may be empty.
    fn parted(&self, operands: &[Id], which: impl Fn(&Arena, Id) -> bool) -> Option<Parts> {
        let parts: Parts = operands.iter().partition(|&&id| which(self, id));
        (!parts.0.is_empty()).then_some(parts)
    }

    fn anywhere(&self, id: Id) -> bool {
        self.shape(id).anywhere()
    }

    pub(crate) fn next(&mut self, a: Id) -> Result<Id, TooLarge> {
        if self.anywhere(a) || !self.rule() {
            return Ok(if self.anywhere(a) { a } else { self.keep(Term::Next(a)) });
        }
        match self.term(a).clone() {
            Term::And(all) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.and(rest)?;
                    out.push(self.next(rest)?);
                    return self.and(out);
                }
            }
            Term::Or(all) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.or(rest)?;
                    out.push(self.next(rest)?);
                    return self.or(out);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Next(a)))
    }

    pub(crate) fn finally(&mut self, a: Id) -> Result<Id, TooLarge> {
        if self.shape(a).eventual {
            return Ok(a);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Finally(a)));
        }
        match self.term(a).clone() {
            Term::Next(b) => {
                let inner = self.finally(b)?;
                return self.next(inner);
            }
            Term::Until(_, b) => return self.finally(b),
            Term::Strong(b, c) => {
                let both = self.and(vec![b, c])?;
                return self.finally(both);
            }
            Term::Or(all) => {
                let inner = all.iter().map(|&b| self.without_finally(b)).collect::<Result<Vec<_>, _>>()?;
                if inner != all {
                    let inner = self.or(inner)?;
                    return self.finally(inner);
                }
                if let Some((mut out, rest)) = self.parted(&all, |arena, b| arena.shape(b).eventual) {
                    let rest = self.or(rest)?;
                    out.push(self.finally(rest)?);
                    return self.or(out);
                }
            }
            Term::And(all) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.and(rest)?;
                    out.push(self.finally(rest)?);
                    return self.and(out);
                }
            }
            Term::Globally(b) => {
                if let Some(simpler) = self.finally_globally(b)? {
                    return Ok(simpler);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Finally(a)))
    }

    /// What is as good inside of an F.
    fn without_finally(&mut self, a: Id) -> Result<Id, TooLarge> {
        match *self.term(a) {
            Term::Finally(b) | Term::Until(_, b) => Ok(b),
            Term::Strong(b, c) => self.and(vec![b, c]),
            _ => Ok(a),
        }
    }

    /// From some moment on always: what can be said of single operands.
    fn finally_globally(&mut self, a: Id) -> Result<Option<Id>, TooLarge> {
        let (mut out, rest) = match self.term(a).clone() {
            Term::Or(all) => {
                let which = |arena: &Arena, b: Id| arena.shape(b).eventual || arena.shape(b).universal;
                let Some(parts) = self.parted(&all, which) else { return Ok(None) };
                parts
            }
            Term::Until(b, c) => {
                let either = self.or(vec![b, c])?;
                let (lasting, often) = (self.globally(either)?, self.finally(c)?);
                let both = vec![self.finally(lasting)?, self.globally(often)?];
                return self.and(both).map(Some);
            }
            Term::Strong(b, c) => {
                let (lasting, often) = (self.globally(c)?, self.finally(b)?);
                let both = vec![self.finally(lasting)?, self.globally(often)?];
                return self.and(both).map(Some);
            }
            _ => return Ok(None),
        };
        for part in &mut out {
            *part = if self.shape(*part).eventual { self.globally(*part)? } else { self.finally(*part)? };
        }
        let rest = self.or(rest)?;
        let lasting = self.globally(rest)?;
        out.push(self.finally(lasting)?);
        self.or(out).map(Some)
    }

    pub(crate) fn globally(&mut self, a: Id) -> Result<Id, TooLarge> {
        if self.shape(a).universal {
            return Ok(a);
        }
        if !self.rule() {
            return Ok(self.keep(Term::Globally(a)));
        }
        match self.term(a).clone() {
            Term::Next(b) => {
                let inner = self.globally(b)?;
                return self.next(inner);
            }
            Term::Release(_, b) => return self.globally(b),
            Term::Weak(b, c) => {
                let either = self.or(vec![b, c])?;
                return self.globally(either);
            }
            Term::And(all) => {
                let inner = all.iter().map(|&b| self.without_globally(b)).collect::<Result<Vec<_>, _>>()?;
                if inner != all {
                    let inner = self.and(inner)?;
                    return self.globally(inner);
                }
                if let Some((mut out, rest)) = self.parted(&all, |arena, b| arena.shape(b).universal) {
                    let rest = self.and(rest)?;
                    out.push(self.globally(rest)?);
                    return self.and(out);
                }
            }
            Term::Or(all) => {
                if let Some((mut out, rest)) = self.parted(&all, Arena::anywhere) {
                    let rest = self.or(rest)?;
                    out.push(self.globally(rest)?);
                    return self.or(out);
                }
            }
            Term::Finally(b) => {
                if let Some(simpler) = self.globally_finally(b)? {
                    return Ok(simpler);
                }
            }
            _ => {}
        }
        Ok(self.keep(Term::Globally(a)))
    }

    /// What is as good inside of a G.
    fn without_globally(&mut self, a: Id) -> Result<Id, TooLarge> {
        match *self.term(a) {
            Term::Globally(b) | Term::Release(_, b) => Ok(b),
            Term::Weak(b, c) => self.or(vec![b, c]),
            _ => Ok(a),
        }
    }

    /// Again and again: what can be said of single operands.
    fn globally_finally(&mut self, a: Id) -> Result<Option<Id>, TooLarge> {
        let (mut out, rest) = match self.term(a).clone() {
            Term::And(all) => {
                let which = |arena: &Arena, b: Id| arena.shape(b).eventual || arena.shape(b).universal;
                let Some(parts) = self.parted(&all, which) else { return Ok(None) };
                parts
            }
            Term::Release(b, c) => {
                let both = self.and(vec![b, c])?;
                let (lasting, often) = (self.globally(c)?, self.finally(both)?);
                let either = vec![self.finally(lasting)?, self.globally(often)?];
                return self.or(either).map(Some);
            }
            Term::Weak(b, c) => {
                let (lasting, often) = (self.globally(b)?, self.finally(c)?);
                let either = vec![self.finally(lasting)?, self.globally(often)?];
                return self.or(either).map(Some);
            }
            _ => return Ok(None),
        };
        for part in &mut out {
            *part = if self.shape(*part).eventual { self.globally(*part)? } else { self.finally(*part)? };
        }
        let rest = self.and(rest)?;
        let often = self.finally(rest)?;
        out.push(self.globally(often)?);
        self.and(out).map(Some)
    }

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
