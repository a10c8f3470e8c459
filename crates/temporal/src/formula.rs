//! Formulas of LTL and CTL over atoms of any kind.

use std::fmt;

/// A temporal formula, as it was written. Nested at most [`Formula::DEPTH`] deep, so that what walks over it may recurse.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula<A> {
    True,
    False,
    Atom(A),
    Not(Box<Formula<A>>),
    And(Vec<Formula<A>>),
    Or(Vec<Formula<A>>),
    Implies(Box<Formula<A>>, Box<Formula<A>>),
    Equivalent(Box<Formula<A>>, Box<Formula<A>>),
    Next(Box<Formula<A>>),
    Finally(Box<Formula<A>>),
    Globally(Box<Formula<A>>),
    /// The first until the second, which does come.
    Until(Box<Formula<A>>, Box<Formula<A>>),
    /// The first until the second, which need not come.
    WeakUntil(Box<Formula<A>>, Box<Formula<A>>),
    /// The second up to where the first holds too, which need not come.
    Release(Box<Formula<A>>, Box<Formula<A>>),
    /// The second up to where the first holds too, which does come.
    StrongRelease(Box<Formula<A>>, Box<Formula<A>>),
    AllPaths(Box<Formula<A>>),
    ExistsPath(Box<Formula<A>>),
}

impl<A> Formula<A> {
    /// How deep formulas may be nested.
    pub const DEPTH: usize = 1000;

    /// The operands, from left to right.
    pub fn operands(&self) -> Vec<&Formula<A>> {
        match self {
            Formula::True | Formula::False | Formula::Atom(_) => Vec::new(),
            Formula::Not(a)
            | Formula::Next(a)
            | Formula::Finally(a)
            | Formula::Globally(a)
            | Formula::AllPaths(a)
            | Formula::ExistsPath(a) => vec![a],
            Formula::And(all) | Formula::Or(all) => all.iter().collect(),
            Formula::Implies(a, b)
            | Formula::Equivalent(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b)
            | Formula::StrongRelease(a, b) => vec![a, b],
        }
    }

    /// The same formula over other atoms; the first atom that has no counterpart ends it.
    pub fn try_map<'f, B, E>(&'f self, atom: &mut dyn FnMut(&'f A) -> Result<B, E>) -> Result<Formula<B>, E> {
        self.try_replace(&mut |a| atom(a).map(Formula::Atom))
    }

    /// The same formula with another one in the place of each atom; the first atom that has no counterpart ends it.
    pub fn try_replace<'f, B, E>(
        &'f self,
        atom: &mut dyn FnMut(&'f A) -> Result<Formula<B>, E>,
    ) -> Result<Formula<B>, E> {
        let mut one = |a: &'f Formula<A>| a.try_replace(atom).map(Box::new);
        Ok(match self {
            Formula::True => Formula::True,
            Formula::False => Formula::False,
            Formula::Not(a) => Formula::Not(one(a)?),
            Formula::Next(a) => Formula::Next(one(a)?),
            Formula::Finally(a) => Formula::Finally(one(a)?),
            Formula::Globally(a) => Formula::Globally(one(a)?),
            Formula::AllPaths(a) => Formula::AllPaths(one(a)?),
            Formula::ExistsPath(a) => Formula::ExistsPath(one(a)?),
            Formula::Implies(a, b) => Formula::Implies(one(a)?, one(b)?),
            Formula::Equivalent(a, b) => Formula::Equivalent(one(a)?, one(b)?),
            Formula::Until(a, b) => Formula::Until(one(a)?, one(b)?),
            Formula::WeakUntil(a, b) => Formula::WeakUntil(one(a)?, one(b)?),
            Formula::Release(a, b) => Formula::Release(one(a)?, one(b)?),
            Formula::StrongRelease(a, b) => Formula::StrongRelease(one(a)?, one(b)?),
            Formula::And(all) => Formula::And(all.iter().map(|a| a.try_replace(atom)).collect::<Result<_, _>>()?),
            Formula::Or(all) => Formula::Or(all.iter().map(|a| a.try_replace(atom)).collect::<Result<_, _>>()?),
            Formula::Atom(a) => atom(a)?,
        })
    }

    /// The same formula over other atoms.
    pub fn map<'f, B>(&'f self, atom: &mut dyn FnMut(&'f A) -> B) -> Formula<B> {
        let mapped: Result<_, std::convert::Infallible> = self.try_map(&mut |a| Ok(atom(a)));
        match mapped {
            Ok(formula) => formula,
            Err(never) => match never {},
        }
    }

    /// The same formula in which some parts are replaced, from the outside inwards: what replaces a part is not looked
    /// into, and what replaces nothing is. Atoms that are left become others.
    pub fn replaced<B>(&self, part: &dyn Fn(&Formula<A>) -> Option<Formula<B>>, atom: &dyn Fn(&A) -> B) -> Formula<B> {
        if let Some(other) = part(self) {
            return other;
        }
        let one = |a: &Formula<A>| Box::new(a.replaced(part, atom));
        let each = |all: &[Formula<A>]| all.iter().map(|a| a.replaced(part, atom)).collect();
        match self {
            Formula::True => Formula::True,
            Formula::False => Formula::False,
            Formula::Atom(a) => Formula::Atom(atom(a)),
            Formula::Not(a) => Formula::Not(one(a)),
            Formula::And(all) => Formula::And(each(all)),
            Formula::Or(all) => Formula::Or(each(all)),
            Formula::Implies(a, b) => Formula::Implies(one(a), one(b)),
            Formula::Equivalent(a, b) => Formula::Equivalent(one(a), one(b)),
            Formula::Next(a) => Formula::Next(one(a)),
            Formula::Finally(a) => Formula::Finally(one(a)),
            Formula::Globally(a) => Formula::Globally(one(a)),
            Formula::Until(a, b) => Formula::Until(one(a), one(b)),
            Formula::WeakUntil(a, b) => Formula::WeakUntil(one(a), one(b)),
            Formula::Release(a, b) => Formula::Release(one(a), one(b)),
            Formula::StrongRelease(a, b) => Formula::StrongRelease(one(a), one(b)),
            Formula::AllPaths(a) => Formula::AllPaths(one(a)),
            Formula::ExistsPath(a) => Formula::ExistsPath(one(a)),
        }
    }

    /// Shows every atom, from left to right, as often as it stands there.
    pub fn atoms<'f>(&'f self, show: &mut dyn FnMut(&'f A)) {
        match self {
            Formula::Atom(a) => show(a),
            _ => self.operands().into_iter().for_each(|operand| operand.atoms(show)),
        }
    }

    /// Is it about one moment only?
    pub fn is_state(&self) -> bool {
        match self {
            Formula::True | Formula::False | Formula::Atom(_) => true,
            Formula::Not(_) | Formula::And(_) | Formula::Or(_) | Formula::Implies(..) | Formula::Equivalent(..) => {
                self.operands().into_iter().all(Formula::is_state)
            }
            _ => false,
        }
    }

    /// Is it about one run: without path quantifiers?
    pub fn is_ltl(&self) -> bool {
        !matches!(self, Formula::AllPaths(_) | Formula::ExistsPath(_))
            && self.operands().into_iter().all(Formula::is_ltl)
    }

    /// Does every temporal operator stand right behind a path quantifier, and nothing else?
    pub fn is_ctl(&self) -> bool {
        match self {
            Formula::AllPaths(path) | Formula::ExistsPath(path) => {
                path.is_temporal() && path.operands().into_iter().all(Formula::is_ctl)
            }
            _ => !self.is_temporal() && self.operands().into_iter().all(Formula::is_ctl),
        }
    }

    /// Is its outermost operator a temporal one?
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            Formula::Next(_)
                | Formula::Finally(_)
                | Formula::Globally(_)
                | Formula::Until(..)
                | Formula::WeakUntil(..)
                | Formula::Release(..)
                | Formula::StrongRelease(..)
        )
    }

    /// How many operators and atoms it has.
    pub fn size(&self) -> usize {
        1 + self.operands().into_iter().map(Formula::size).sum::<usize>()
    }
}

/// In the words of the property language; operands in parentheses unless they are single words.
impl<A: fmt::Display> fmt::Display for Formula<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |f: &mut fmt::Formatter<'_>, a: &Formula<A>| match a {
            Formula::And(_)
            | Formula::Or(_)
            | Formula::Implies(..)
            | Formula::Equivalent(..)
            | Formula::Until(..)
            | Formula::WeakUntil(..)
            | Formula::Release(..)
            | Formula::StrongRelease(..) => write!(f, "({a})"),
            _ => write!(f, "{a}"),
        };
        let joined = |f: &mut fmt::Formatter<'_>, operator: &str, all: &[&Formula<A>]| {
            for (i, a) in all.iter().enumerate() {
                if i > 0 {
                    write!(f, " {operator} ")?;
                }
                inner(f, a)?;
            }
            Ok(())
        };
        let prefix = |f: &mut fmt::Formatter<'_>, operator: &str, a: &Formula<A>| {
            f.write_str(operator)?;
            inner(f, a)
        };
        match self {
            Formula::True => f.write_str("true"),
            Formula::False => f.write_str("false"),
            Formula::Atom(a) => write!(f, "{a}"),
            Formula::Not(a) => prefix(f, "!", a),
            Formula::And(all) if all.is_empty() => f.write_str("true"),
            Formula::Or(all) if all.is_empty() => f.write_str("false"),
            Formula::And(all) => joined(f, "&&", &all.iter().collect::<Vec<_>>()),
            Formula::Or(all) => joined(f, "||", &all.iter().collect::<Vec<_>>()),
            Formula::Implies(a, b) => joined(f, "->", &[a, b]),
            Formula::Equivalent(a, b) => joined(f, "<->", &[a, b]),
            Formula::Next(a) => prefix(f, "X ", a),
            Formula::Finally(a) => prefix(f, "F ", a),
            Formula::Globally(a) => prefix(f, "G ", a),
            Formula::Until(a, b) => joined(f, "U", &[a, b]),
            Formula::WeakUntil(a, b) => joined(f, "W", &[a, b]),
            Formula::Release(a, b) => joined(f, "R", &[a, b]),
            Formula::StrongRelease(a, b) => joined(f, "M", &[a, b]),
            Formula::AllPaths(a) => prefix(f, "A ", a),
            Formula::ExistsPath(a) => prefix(f, "E ", a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_what() {
        let p = || Box::new(Formula::Atom("p"));
        let always = Formula::Globally(Box::new(Formula::Implies(p(), Box::new(Formula::Finally(p())))));
        assert!(always.is_ltl() && !always.is_ctl() && !always.is_state());
        assert_eq!(always.to_string(), "G (p -> F p)");
        let branching = Formula::AllPaths(Box::new(Formula::Globally(Box::new(Formula::ExistsPath(Box::new(
            Formula::Finally(p()),
        ))))));
        assert!(branching.is_ctl() && !branching.is_ltl());
        assert_eq!(branching.size(), 5);
    }
}
