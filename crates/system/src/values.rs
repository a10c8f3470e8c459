//! Sets of values, as coarse as they must be: a short list, or everything between two numbers.
//!
//! They are the abstract values of [`bounds`](crate::bounds): every operation gives a set that holds all that the
//! operator can give on members of its operands, and perhaps more. Results that are faults are left out.

use crate::expr::{BinaryOp, UnaryOp};
use crate::system::{Domain, Overflow};

/// Longer lists become ranges.
const LIST: usize = 64;

/// Pairs of operands that are tried one by one.
const PAIRS: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// In ascending order, without repetition.
    List(Vec<i64>),
    /// At least as many as make a list too long.
    Range(i64, i64),
}

impl Values {
    pub const NONE: Values = Values::List(Vec::new());

    pub fn one(value: i64) -> Values {
        Values::List(vec![value])
    }

    pub fn any() -> Values {
        Values::Range(i64::MIN, i64::MAX)
    }

    pub fn truth() -> Values {
        Values::List(vec![0, 1])
    }

    /// `low..=high`.
    pub fn between(low: i64, high: i64) -> Values {
        if low > high {
            Values::NONE
        } else if high.wrapping_sub(low) as u64 >= LIST as u64 {
            Values::Range(low, high)
        } else {
            Values::List((low..=high).collect())
        }
    }

    pub fn of(domain: Domain) -> Values {
        Values::between(domain.low, domain.high)
    }

    pub fn collect(values: impl IntoIterator<Item = i64>) -> Values {
        let mut list: Vec<i64> = values.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        match (list.first(), list.last()) {
            (Some(&low), Some(&high)) if list.len() > LIST => Values::Range(low, high),
            _ => Values::List(list),
        }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Values::List(list) if list.is_empty())
    }

    /// The smallest and the largest; the range of an empty set is empty too.
    pub fn hull(&self) -> (i64, i64) {
        match self {
            Values::List(list) => (*list.first().unwrap_or(&0), *list.last().unwrap_or(&-1)),
            Values::Range(low, high) => (*low, *high),
        }
    }

    /// The only member.
    pub fn only(&self) -> Option<i64> {
        match self {
            Values::List(list) if list.len() == 1 => Some(list[0]),
            _ => None,
        }
    }

    pub fn contains(&self, value: i64) -> bool {
        match self {
            Values::List(list) => list.binary_search(&value).is_ok(),
            Values::Range(low, high) => (*low..=*high).contains(&value),
        }
    }

    pub fn within(&self, domain: Domain) -> bool {
        let (low, high) = self.hull();
        low > high || domain.contains(low) && domain.contains(high)
    }

    /// How many there are; very many are `u64::MAX`.
    pub fn count(&self) -> u64 {
        match self {
            Values::List(list) => list.len() as u64,
            Values::Range(low, high) => (high.wrapping_sub(*low) as u64).saturating_add(1),
        }
    }

    pub fn iter(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match self {
            Values::List(list) => Box::new(list.iter().copied()),
            Values::Range(low, high) => Box::new(*low..=*high),
        }
    }

    pub fn join(&self, other: &Values) -> Values {
        match (self, other) {
            (Values::List(a), Values::List(b)) if b.iter().all(|value| a.binary_search(value).is_ok()) => self.clone(),
            (Values::List(a), Values::List(b)) => Values::collect(a.iter().chain(b).copied()),
            (a, b) if a.is_empty() => b.clone(),
            (a, b) if b.is_empty() => a.clone(),
            (a, b) => {
                let ((low, high), (bottom, top)) = (a.hull(), b.hull());
                Values::between(low.min(bottom), high.max(top))
            }
        }
    }

    pub fn meet(&self, other: &Values) -> Values {
        match (self, other) {
            (Values::List(list), set) | (set, Values::List(list)) => {
                Values::List(list.iter().copied().filter(|v| set.contains(*v)).collect())
            }
            (Values::Range(low, high), Values::Range(bottom, top)) => Values::between(*low.max(bottom), *high.min(top)),
        }
    }

    /// What a variable can hold once one of these was stored in it.
    pub fn stored(&self, domain: Domain) -> Values {
        match (self, domain.overflow) {
            _ if self.within(domain) => self.clone(),
            (_, Overflow::Error) => self.meet(&Values::of(domain)),
            (Values::List(list), _) => Values::collect(list.iter().map(|v| domain.wrap(*v))),
            _ => Values::of(domain),
        }
    }

    /// Those members `v` for which `v op w` can be true for a member `w` of `other`.
    pub fn restricted(&self, op: BinaryOp, other: &Values) -> Values {
        let (low, high) = other.hull();
        if low > high {
            return Values::NONE;
        }
        match op {
            BinaryOp::Equal => self.meet(other),
            BinaryOp::NotEqual => match (self, other.only()) {
                (Values::List(list), Some(w)) => Values::List(list.iter().copied().filter(|v| *v != w).collect()),
                (Values::Range(a, b), Some(w)) if w == *a => Values::between(a + 1, *b),
                (Values::Range(a, b), Some(w)) if w == *b => Values::between(*a, b - 1),
                _ => self.clone(),
            },
            BinaryOp::Less => high.checked_sub(1).map_or(Values::NONE, |h| self.meet(&Values::between(i64::MIN, h))),
            BinaryOp::LessEqual => self.meet(&Values::between(i64::MIN, high)),
            BinaryOp::Greater => low.checked_add(1).map_or(Values::NONE, |l| self.meet(&Values::between(l, i64::MAX))),
            BinaryOp::GreaterEqual => self.meet(&Values::between(low, i64::MAX)),
            _ => self.clone(),
        }
    }

    pub fn unary(op: UnaryOp, a: &Values) -> Values {
        match (op, a) {
            (_, Values::List(list)) => Values::collect(list.iter().map(|v| op.apply(*v))),
            (UnaryOp::Not, a) if !a.contains(0) => Values::one(0),
            (UnaryOp::Not, _) => Values::truth(),
            (UnaryOp::Negate, Values::Range(i64::MIN, _)) => Values::any(),
            (UnaryOp::Negate, Values::Range(low, high)) => Values::between(-high, -low),
            (UnaryOp::Complement, Values::Range(low, high)) => Values::between(!high, !low),
        }
    }

    /// Any operator but the two that do not always read their second operand.
    pub fn binary(op: BinaryOp, a: &Values, b: &Values) -> Values {
        match (a, b) {
            _ if a.is_empty() || b.is_empty() => Values::NONE,
            (Values::List(x), Values::List(y)) if x.len() * y.len() <= PAIRS => {
                Values::collect(x.iter().flat_map(|x| y.iter().filter_map(|y| op.apply(*x, *y).ok())))
            }
            _ => Values::coarse(op, a.hull(), b.hull()),
        }
    }

    fn coarse(op: BinaryOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> Values {
        let all = |ends: [Option<i64>; 4]| {
            let ends: Option<Vec<i64>> = ends.into_iter().collect();
            ends.map_or(Values::any(), |e| {
                Values::between(*e.iter().min().unwrap_or(&0), *e.iter().max().unwrap_or(&0))
            })
        };
        let decide = |always: bool, never: bool| match (always, never) {
            (true, _) => Values::one(1),
            (_, true) => Values::one(0),
            _ => Values::truth(),
        };
        match op {
            BinaryOp::Add => all([a.checked_add(c), b.checked_add(d), a.checked_add(c), b.checked_add(d)]),
            BinaryOp::Subtract => all([a.checked_sub(d), b.checked_sub(c), a.checked_sub(d), b.checked_sub(c)]),
            BinaryOp::Multiply => all([a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)]),
            BinaryOp::Divide if c > 0 => Values::between((a / c).min(a / d), (b / c).max(b / d)),
            BinaryOp::Remainder if c > 0 => Values::between(a.min(0).max(1 - d), b.max(0).min(d - 1)),
            BinaryOp::BitAnd if c >= 0 => Values::between(0, if a >= 0 { b.min(d) } else { d }),
            BinaryOp::BitAnd if a >= 0 => Values::between(0, b),
            BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 => {
                Values::between(0, i64::MAX >> (b.max(d).leading_zeros() - 1))
            }
            BinaryOp::ShiftRight if c >= 0 => Values::between(a.min(0), b.max(0)),
            BinaryOp::Equal => decide(a == b && b == c && c == d, b < c || d < a),
            BinaryOp::NotEqual => decide(b < c || d < a, a == b && b == c && c == d),
            BinaryOp::Less => decide(b < c, a >= d),
            BinaryOp::LessEqual => decide(b <= c, a > d),
            BinaryOp::Greater => decide(a > d, b <= c),
            BinaryOp::GreaterEqual => decide(a >= d, b < c),
            _ => Values::any(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_on_ranges_hold_all_results() {
        use BinaryOp::*;
        let ops = [
            Add,
            Subtract,
            Multiply,
            Divide,
            Remainder,
            ShiftLeft,
            ShiftRight,
            BitAnd,
            BitOr,
            BitXor,
            Equal,
            NotEqual,
            Less,
            LessEqual,
            Greater,
            GreaterEqual,
        ];
        let ranges = [(-5, -2), (-3, 4), (0, 6), (2, 5), (7, 7), (1, 9)];
        for op in ops {
            for a in ranges {
                for b in ranges {
                    let coarse = Values::coarse(op, a, b);
                    for x in a.0..=a.1 {
                        for y in b.0..=b.1 {
                            if let Ok(value) = op.apply(x, y) {
                                assert!(coarse.contains(value), "{x} {op:?} {y} in {a:?} {op:?} {b:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn storing_wraps_or_cuts() {
        assert_eq!(Values::between(254, 257).stored(Domain::BYTE), Values::collect([254, 255, 0, 1]));
        assert_eq!(Values::between(0, 1000).stored(Domain::range(0, 5)), Values::between(0, 5));
        assert_eq!(Values::between(-1000, 1000).stored(Domain::BYTE), Values::of(Domain::BYTE));
    }
}
