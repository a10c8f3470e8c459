//! The most tokens in a place and in a marking, for nets, whose places are views of the cells.

use crate::diagram::Set;
use crate::engine::Engine;
use crate::term::Term;
use scrimp_system::Expr;

/// The most tokens in one place, and in all places of a marking. `None` where the system is no net, or a place is not a
/// sum over cells.
pub fn most_tokens(engine: &Engine, states: Set) -> Option<(u64, u64)> {
    let system = engine.system;
    if system.views.is_empty() || states.is_empty() {
        return None;
    }
    let occurring = engine.diagrams.values_by_level(states);
    let mut total = Weights::new(&occurring);
    let mut most = 0;
    for view in &system.views {
        let term = term(engine, &view.value)?;
        let levels: Vec<usize> = term.support().iter().map(|cell| engine.space.level(*cell)).collect();
        total.add(engine, &term, &occurring)?;
        let here = match levels[..] {
            [] => term.eval(&|_| 0).ok()?,
            [level] => {
                let cell = engine.space.cell(level);
                let value = |number: &u32| term.eval(&|_| engine.space.value(cell, *number)).ok();
                occurring[level].iter().filter_map(value).max()?
            }
            _ => {
                let mut weights = Weights::new(&occurring);
                weights.add(engine, &term, &occurring)?;
                weights.most(engine, states)?
            }
        };
        most = most.max(u64::try_from(here).ok()?);
    }
    Some((most, u64::try_from(total.most(engine, states)?).ok()?))
}

/// A view as a term over cells.
fn term(engine: &Engine, e: &Expr) -> Option<Term> {
    Some(match e {
        Expr::Const(value) => Term::Const(*value),
        Expr::Var(v) => {
            let cell = engine.space.cells.first(*v);
            engine.space.constant(cell).map_or(Term::Cell(cell), Term::Const)
        }
        Expr::Unary(op, a) => Term::unary(*op, term(engine, a)?),
        Expr::Binary(op, a, b) => Term::binary(*op, term(engine, a)?, term(engine, b)?),
        _ => return None,
    })
}

/// A number for each value of each level, to be added up.
struct Weights {
    weights: Vec<Vec<(u32, i64)>>,
    constant: i64,
}

impl Weights {
    fn new(occurring: &[Vec<u32>]) -> Weights {
        Weights { weights: occurring.iter().map(|list| list.iter().map(|n| (*n, 0)).collect()).collect(), constant: 0 }
    }

    fn add(&mut self, engine: &Engine, term: &Term, occurring: &[Vec<u32>]) -> Option<()> {
        match term {
            Term::Sum(parts, constant) => {
                self.constant = self.constant.checked_add(*constant)?;
                parts.iter().try_for_each(|(factor, part)| self.part(engine, *factor, part, occurring))
            }
            term => self.part(engine, 1, term, occurring),
        }
    }

    fn part(&mut self, engine: &Engine, factor: i64, term: &Term, occurring: &[Vec<u32>]) -> Option<()> {
        match term.support()[..] {
            [] => self.constant = self.constant.checked_add(factor.checked_mul(term.eval(&|_| 0).ok()?)?)?,
            [cell] => {
                let level = engine.space.level(cell);
                for (at, number) in occurring[level].iter().enumerate() {
                    let value = term.eval(&|_| engine.space.value(cell, *number)).ok()?;
                    let weight = &mut self.weights[level][at].1;
                    *weight = weight.checked_add(factor.checked_mul(value)?)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn most(&self, engine: &Engine, states: Set) -> Option<i64> {
        // Weights must not be negative: each level is lifted to zero, and that is taken off again.
        let least: Vec<i64> = self.weights.iter().map(|level| level.iter().map(|w| w.1).min().unwrap_or(0)).collect();
        let weight = |level: usize, number: u32| {
            let found = self.weights[level].binary_search_by_key(&number, |w| w.0).ok();
            found.map_or(0, |at| (self.weights[level][at].1 - least[level]) as u64)
        };
        let sum = i64::try_from(engine.diagrams.most_sum(states, &weight)).ok()?;
        least.iter().try_fold(sum.checked_add(self.constant)?, |sum, least| sum.checked_add(*least))
    }
}
