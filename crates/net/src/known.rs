//! What a net's structure says of the states of the system that it became: sums that stay small, places that are never
//! marked together.

use crate::co_marked::Together;
use crate::linear::{Inequality, progress_measure};
use crate::net::{Net, PlaceId};
use scrimp_system::{AtMost, BinaryOp, Expr, Known, Literal, System, Terms, VarId, Weight};
use std::collections::{BTreeMap, HashSet};

/// Steps to look for pairs of places.
const WORK: usize = 500_000_000;
/// Terms of a sum that is worth looking at, and sums.
const MOST_TERMS: usize = 40;
const MOST_SUMS: usize = 2_000;

/// Facts about a system whose views are the places of the net.
pub fn known(net: &Net, bounds: &[Option<u64>], inequalities: &[Inequality], system: &System) -> Known {
    let mut known = Known::default();
    if system.views.len() != net.places.len() {
        return known;
    }
    let mut seen = HashSet::new();
    let mut add = |weights: &[(PlaceId, i64)], most: i128| {
        if let Some(sum) = at_most(system, weights, most).filter(|sum| says_something(system, sum))
            && known.sums.len() < MOST_SUMS
            && seen.insert(format!("{sum:?}"))
        {
            known.sums.push(sum);
        }
    };
    for (place, view) in (0..).zip(&system.views) {
        // Nobody stores the tokens of such a place, so nobody sees that there are too few of them or too many.
        if literal(system, &view.value).is_none() && view.value.as_const().is_none() {
            add(&[(place, -1)], 0);
            if let Some(most) = bounds[place as usize] {
                add(&[(place, 1)], most.into());
            }
        }
    }
    for Inequality { weights, bound } in inequalities.iter().filter(|known| known.weights.len() <= MOST_TERMS) {
        add(weights, *bound);
    }
    if let Some(together) = Together::new(net, bounds, inequalities, WORK) {
        pairs(system, &together, &mut known);
    }
    known
}

fn pairs(system: &System, together: &Together, known: &mut Known) {
    let marked = |(place, view): (PlaceId, &scrimp_system::ViewOf)| Some((place, literal(system, &view.value)?));
    let literals: Vec<(PlaceId, Literal)> = (0..).zip(&system.views).filter_map(marked).collect();
    for (a, one) in &literals {
        let apart =
            |(_, (b, other)): &(u32, &(PlaceId, Literal))| one.variable != other.variable && !together.may(*a, *b);
        known.apart.push((0..).zip(&literals).filter(apart).map(|(number, _)| number).collect());
    }
    known.literals = literals.into_iter().map(|(_, literal)| literal).collect();
}

/// When a place is marked: its variable has a value, or is not too small, or not too large.
fn literal(system: &System, tokens: &Expr) -> Option<Literal> {
    let within = |variable: VarId, low: i64, high: i64| {
        let domain = system.variables[variable.index()].domain;
        Some(Literal { variable, low: low.max(domain.low), high: high.min(domain.high) })
    };
    let Expr::Binary(op, a, b) = tokens else {
        let Expr::Var(variable) = tokens else { return None };
        return within(*variable, 1, i64::MAX);
    };
    match (op, &**a, &**b) {
        (BinaryOp::Equal, Expr::Var(v), Expr::Const(value)) => within(*v, *value, *value),
        (BinaryOp::Add, Expr::Var(v), Expr::Const(more)) => within(*v, 1i64.checked_sub(*more)?, i64::MAX),
        (BinaryOp::Add, Expr::Binary(BinaryOp::Multiply, sign, v), Expr::Const(more)) => match (&**sign, &**v) {
            (Expr::Const(-1), Expr::Var(v)) => within(*v, 0, more.checked_sub(1)?),
            _ => None,
        },
        _ => None,
    }
}

/// The net's measure of progress as a sum over the variables of such a system; empty if there is none.
pub fn growing(net: &Net, system: &System) -> Terms {
    if system.views.len() != net.places.len() {
        return Terms::new();
    }
    at_most(system, &progress_measure(net), 0).map(|sum| sum.terms).unwrap_or_default()
}

/// An inequality over places as one over variables; `None` if it has large numbers in it.
fn at_most(system: &System, weights: &[(PlaceId, i64)], most: i128) -> Option<AtMost> {
    let mut sum = Summing { system, most, times: BTreeMap::new(), tables: BTreeMap::new() };
    for &(place, weight) in weights {
        sum.add(&system.views[place as usize].value, weight)?;
    }
    let mut terms = Terms::new();
    terms.extend(sum.times.into_iter().filter(|(_, w)| *w != 0).map(|(v, w)| (v, Weight::Times(w))));
    terms.extend(sum.tables.into_iter().map(|(v, table)| (v, Weight::Of(table))));
    let sum = AtMost { terms, most: i64::try_from(sum.most).ok()? };
    let (low, high) = range(system, &sum);
    (low > i128::from(i64::MIN) && high < i128::from(i64::MAX)).then_some(sum)
}

/// Some values of the variables are too large together.
fn says_something(system: &System, sum: &AtMost) -> bool {
    range(system, sum).1 > i128::from(sum.most)
}

fn range(system: &System, sum: &AtMost) -> (i128, i128) {
    let mut range = (0i128, 0i128);
    for (variable, weight) in &sum.terms {
        let domain = system.variables[variable.index()].domain;
        let (low, high) = match weight {
            Weight::Times(weight) => {
                let end = |value: i64| i128::from(value) * i128::from(*weight);
                (end(domain.low).min(end(domain.high)), end(domain.low).max(end(domain.high)))
            }
            Weight::Of(table) => {
                let each = || table.iter().map(|&w| i128::from(w));
                (each().min().unwrap_or(0), each().max().unwrap_or(0))
            }
        };
        range = (range.0 + low, range.1 + high);
    }
    range
}

struct Summing<'a> {
    system: &'a System,
    most: i128,
    times: BTreeMap<VarId, i64>,
    tables: BTreeMap<VarId, Vec<i64>>,
}

impl Summing<'_> {
    /// Adds so many times an expression; trees of sums are not deep.
    fn add(&mut self, e: &Expr, weight: i64) -> Option<()> {
        match e {
            Expr::Const(value) => self.most -= i128::from(*value) * i128::from(weight),
            Expr::Var(variable) => {
                let sum = self.times.entry(*variable).or_default();
                *sum = sum.checked_add(weight)?;
            }
            Expr::Binary(op, a, b) => match (op, &**a, &**b) {
                (BinaryOp::Add, a, b) => {
                    self.add(a, weight)?;
                    self.add(b, weight)?;
                }
                (BinaryOp::Multiply, Expr::Const(factor), rest) => self.add(rest, weight.checked_mul(*factor)?)?,
                (BinaryOp::Equal, Expr::Var(variable), Expr::Const(value)) => {
                    let values = usize::try_from(self.system.variables[variable.index()].domain.high).ok()? + 1;
                    let table = self.tables.entry(*variable).or_insert_with(|| vec![0; values]);
                    let entry = table.get_mut(usize::try_from(*value).ok()?)?;
                    *entry = entry.checked_add(weight)?;
                }
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }
}
