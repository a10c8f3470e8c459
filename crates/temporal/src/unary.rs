//! Constructors that simplify: operators over one formula. Those over two are in `binary`, conjunctions and disjunctions in
//! `junction`.
//!
//! The rules are those known of LTL: constants, operators that move outwards or vanish, operands that hold eventually or
//! for ever, and implications between the operands.

use crate::arena::{Arena, Id, Shape, Term};
use crate::limits::TooLarge;

/// How deep rules may lead to others.
const NESTED: u32 = 60;

/// Operands in two parts.
pub(crate) type Parts = (Vec<Id>, Vec<Id>);

impl Arena {
    /// May another rule be tried? Not when there were many, nor when they are nested deep.
    pub(crate) fn rule(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && self.nested < NESTED
    }

    /// Tries rules, which may lead to others.
    pub(crate) fn deeper<R>(&mut self, rules: impl FnOnce(&mut Arena) -> R) -> R {
        self.nested += 1;
        let result = rules(self);
        self.nested -= 1;
        result
    }

    /// The operands of which something holds, if there are some, and the others; the second part of it may be empty.
    pub(crate) fn parted(&self, operands: &[Id], which: impl Fn(&Arena, Id) -> bool) -> Option<Parts> {
        let parts: Parts = operands.iter().partition(|&&id| which(self, id));
        (!parts.0.is_empty()).then_some(parts)
    }

    pub(crate) fn anywhere(&self, id: Id) -> bool {
        self.shape(id).anywhere()
    }

    pub(crate) fn next(&mut self, a: Id) -> Result<Id, TooLarge> {
        self.deeper(|arena| arena.next_by_rules(a))
    }

    fn next_by_rules(&mut self, a: Id) -> Result<Id, TooLarge> {
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
        self.deeper(|arena| arena.finally_by_rules(a))
    }

    fn finally_by_rules(&mut self, a: Id) -> Result<Id, TooLarge> {
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
                // Kept as it is: a rule for the until could find its way back.
                if let Some(not_yet) = self.not_yet(&all, true, |shape| shape.eventual)? {
                    return Ok(self.keep(Term::Until(not_yet, a)));
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

    /// When some operands are about one moment and it does not matter at which moment the others are asked, the earliest
    /// is as good as any: the negation of the first.
    fn not_yet(
        &mut self,
        operands: &[Id],
        conjunction: bool,
        which: impl Fn(Shape) -> bool,
    ) -> Result<Option<Id>, TooLarge> {
        let (now, others): Parts = operands.iter().partition(|&&id| self.shape(id).state);
        if now.is_empty() || others.is_empty() || !others.iter().all(|&id| which(self.shape(id))) {
            return Ok(None);
        }
        let now = self.keep_sorted(now, conjunction);
        self.negation(now)
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
        self.deeper(|arena| arena.globally_by_rules(a))
    }

    fn globally_by_rules(&mut self, a: Id) -> Result<Id, TooLarge> {
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
                if let Some(not_yet) = self.not_yet(&all, false, |shape| shape.universal)? {
                    return Ok(self.keep(Term::Release(not_yet, a)));
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
}
