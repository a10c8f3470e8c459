//! Conditions and formulas that are put together are made simpler at once: constants vanish, nested conjunctions become
//! one, and negations move inside as far as they can.

use crate::net::{PlaceId, TransitionId};
use crate::question::{Condition, Formula, Sum};

impl Sum {
    pub fn constant(constant: i64) -> Sum {
        Sum { terms: Vec::new(), constant }
    }

    /// The tokens of these places together; one that is listed twice counts twice.
    pub fn tokens(mut places: Vec<PlaceId>) -> Sum {
        places.sort_unstable();
        let terms = places.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as i64)).collect();
        Sum { terms, constant: 0 }
    }

    /// This sum and `factor` times another one; `None` when a weight or the constant cannot be represented.
    pub fn plus(&self, factor: i64, other: &Sum) -> Option<Sum> {
        let scaled = |weight: i64| weight.checked_mul(factor);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let place = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(&&(place, _)), None) | (None, Some(&&(place, _))) => place,
                (Some(&&(first, _)), Some(&&(second, _))) => first.min(second),
            };
            let weight = a.next_if(|term| term.0 == place).map_or(0, |term| term.1);
            let more = b.next_if(|term| term.0 == place).map_or(Some(0), |term| scaled(term.1))?;
            let weight = weight.checked_add(more)?;
            if weight != 0 {
                terms.push((place, weight));
            }
        }
        Some(Sum { terms, constant: self.constant.checked_add(scaled(other.constant)?)? })
    }
}

impl Condition {
    /// The sum is at most zero. No place has fewer than no tokens, which decides some of these.
    pub fn at_most_zero(sum: Sum) -> Condition {
        if sum.constant <= 0 && sum.terms.iter().all(|term| term.1 <= 0) {
            Condition::True
        } else if sum.constant > 0 && sum.terms.iter().all(|term| term.1 >= 0) {
            Condition::False
        } else {
            Condition::AtMostZero(sum)
        }
    }

    /// The first is at most the second; `None` when the difference cannot be represented.
    pub fn at_most(first: &Sum, second: &Sum) -> Option<Condition> {
        Some(Condition::at_most_zero(first.plus(-1, second)?))
    }

    /// The first is less than the second.
    pub fn less(first: &Sum, second: &Sum) -> Option<Condition> {
        Some(Condition::at_most_zero(first.plus(-1, second)?.plus(1, &Sum::constant(1))?))
    }

    pub fn equal(first: &Sum, second: &Sum) -> Option<Condition> {
        Some(Condition::all([Condition::at_most(first, second)?, Condition::at_most(second, first)?]))
    }

    /// One of these transitions is enabled.
    pub fn fireable(mut transitions: Vec<TransitionId>) -> Condition {
        transitions.sort_unstable();
        transitions.dedup();
        match transitions.is_empty() {
            true => Condition::False,
            false => Condition::Fireable(transitions),
        }
    }

    pub fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Condition::True => {}
                Condition::False => return Condition::False,
                Condition::All(inner) => kept.extend(inner),
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Condition::True,
            1 => kept.remove(0),
            _ => Condition::All(kept),
        }
    }

    pub fn any(parts: impl IntoIterator<Item = Condition>) -> Condition {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Condition::False => {}
                Condition::True => return Condition::True,
                Condition::Any(inner) => kept.extend(inner),
                part => kept.push(part),
            }
        }
        match kept.len() {
            0 => Condition::False,
            1 => kept.remove(0),
            _ => Condition::Any(kept),
        }
    }

    /// The contrary, with negations only before what has no contrary of its own.
    pub fn negated(self) -> Condition {
        match self {
            Condition::True => Condition::False,
            Condition::False => Condition::True,
            Condition::Not(inner) => *inner,
            Condition::All(parts) => Condition::any(parts.into_iter().map(Condition::negated)),
            Condition::Any(parts) => Condition::all(parts.into_iter().map(Condition::negated)),
            Condition::AtMostZero(sum) => match Sum::constant(1).plus(-1, &sum) {
                Some(contrary) => Condition::at_most_zero(contrary),
                None => Condition::Not(Box::new(Condition::AtMostZero(sum))),
            },
            other => Condition::Not(Box::new(other)),
        }
    }
}

/// All of these formulas, in one condition as far as they are conditions.
pub fn all_of(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let (conditions, mut others) = sort_out(parts, |part| match part {
        Formula::And(inner) => Ok(inner),
        other => Err(other),
    });
    match Condition::all(conditions) {
        Condition::True if others.len() == 1 => others.remove(0),
        Condition::True if !others.is_empty() => Formula::And(others),
        condition if others.is_empty() || condition == Condition::False => Formula::Atom(condition),
        condition => {
            others.insert(0, Formula::Atom(condition));
            Formula::And(others)
        }
    }
}

/// Any of these formulas, in one condition as far as they are conditions.
pub fn any_of(parts: impl IntoIterator<Item = Formula>) -> Formula {
    let (conditions, mut others) = sort_out(parts, |part| match part {
        Formula::Or(inner) => Ok(inner),
        other => Err(other),
    });
    match Condition::any(conditions) {
        Condition::False if others.len() == 1 => others.remove(0),
        Condition::False if !others.is_empty() => Formula::Or(others),
        condition if others.is_empty() || condition == Condition::True => Formula::Atom(condition),
        condition => {
            others.insert(0, Formula::Atom(condition));
            Formula::Or(others)
        }
    }
}

/// The contrary of a formula.
pub fn negation(formula: Formula) -> Formula {
    match formula {
        Formula::Atom(condition) => Formula::Atom(condition.negated()),
        Formula::Not(inner) => *inner,
        other => Formula::Not(Box::new(other)),
    }
}

/// Conditions apart from formulas that are none; nested ones of the same kind are opened.
fn sort_out(
    parts: impl IntoIterator<Item = Formula>,
    open: impl Fn(Formula) -> Result<Vec<Formula>, Formula>,
) -> (Vec<Condition>, Vec<Formula>) {
    let (mut conditions, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        // What is nested was made simpler before, so that opening it once suffices.
        let inner = open(part).unwrap_or_else(|part| vec![part]);
        for part in inner {
            match part {
                Formula::Atom(condition) => conditions.push(condition),
                other => others.push(other),
            }
        }
    }
    (conditions, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(place: PlaceId) -> Sum {
        Sum::tokens(vec![place])
    }

    #[test]
    fn sums_are_added() {
        let sum = Sum::tokens(vec![3, 1, 3]).plus(-2, &place(3)).unwrap();
        assert_eq!(sum, Sum { terms: vec![(1, 1)], constant: 0 });
        assert_eq!(Sum::constant(i64::MAX).plus(2, &Sum::constant(1)), None);
        assert_eq!(place(0).plus(i64::MIN, &place(1)).unwrap().terms, vec![(0, 1), (1, i64::MIN)]);
    }

    #[test]
    fn negations_move_inside() {
        let few = Condition::at_most(&place(0), &Sum::constant(2)).unwrap();
        let many = few.clone().negated();
        assert_eq!(many, Condition::AtMostZero(Sum { terms: vec![(0, -1)], constant: 3 }));
        assert_eq!(many.clone().negated(), few);
        let both = Condition::all([few.clone(), Condition::Deadlock]);
        assert_eq!(both.negated(), Condition::Any(vec![many, Condition::Not(Box::new(Condition::Deadlock))]));
        // One minus the smallest number is none.
        let odd = Condition::AtMostZero(Sum { terms: vec![(0, 1)], constant: i64::MIN });
        assert_eq!(odd.clone().negated(), Condition::Not(Box::new(odd)));
    }

    #[test]
    fn tokens_are_never_negative() {
        assert_eq!(Condition::at_most(&Sum::constant(0), &place(1)), Some(Condition::True));
        assert_eq!(Condition::less(&place(1), &Sum::constant(0)), Some(Condition::False));
        assert_eq!(Condition::fireable(Vec::new()), Condition::False);
    }

    #[test]
    fn formulas_without_time_are_conditions() {
        let dead = || Formula::Atom(Condition::Deadlock);
        let soon = || Formula::Finally(Box::new(dead()));
        let yes = || Formula::Atom(Condition::True);
        assert_eq!(all_of([dead(), yes()]), dead());
        assert_eq!(all_of([soon(), yes()]), soon());
        assert_eq!(any_of([soon(), yes()]), yes());
        assert_eq!(all_of([all_of([soon(), soon()]), soon()]), Formula::And(vec![soon(), soon(), soon()]));
        assert_eq!(any_of([soon(), dead()]), Formula::Or(vec![dead(), soon()]));
        assert_eq!(negation(negation(soon())), soon());
    }
}
