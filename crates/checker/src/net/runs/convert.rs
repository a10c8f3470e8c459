//! Formulas of linear time that say the same in branching time, where sets of markings can decide them.
//!
//! On every run means on all paths, operator by operator, as long as at each step it is known from the marking which part of
//! the formula is to hold from there on: conjunctions, alternatives between a condition and a formula, `X`, `G`, and `F`, `U`
//! and `R` between conditions. (That is a part of what is common to both logics.)

use super::simple::{any, not};
use scrimp_net::{Condition, Formula};

/// How large a formula may become: each `X` doubles what is in it.
const MOST: usize = 400;

/// A formula of branching time that holds exactly if this one holds of every run.
pub fn branching(formula: &Formula) -> Option<Formula> {
    let converted = convert(formula)?;
    (converted.size() <= MOST).then_some(converted)
}

fn convert(formula: &Formula) -> Option<Formula> {
    let on_all = |path: Formula| Some(Formula::AllPaths(Box::new(path)));
    let state = |f: &Formula| matches!(f, Formula::Atom(_)).then(|| Box::new(f.clone()));
    match formula {
        Formula::Atom(_) => Some(formula.clone()),
        Formula::And(parts) => Some(Formula::And(parts.iter().map(convert).collect::<Option<_>>()?)),
        Formula::Or(parts) => {
            let (conditions, others): (Vec<&Formula>, Vec<&Formula>) =
                parts.iter().partition(|part| matches!(part, Formula::Atom(_)));
            let [other] = others[..] else { return None };
            Some(any(conditions.into_iter().cloned().chain([convert(other)?]).collect()))
        }
        // A run that cannot go on repeats its last marking.
        Formula::Next(a) => {
            let a = convert(a)?;
            if a.size() > MOST {
                return None;
            }
            let stuck = any(vec![Formula::Atom(Condition::Deadlock.negated()), a.clone()]);
            Some(Formula::And(vec![Formula::AllPaths(Box::new(Formula::Next(Box::new(a)))), stuck]))
        }
        Formula::Globally(a) => on_all(Formula::Globally(Box::new(convert(a)?))),
        Formula::Finally(a) => on_all(Formula::Finally(state(a)?)),
        Formula::Until(a, b) => on_all(Formula::Until(state(a)?, state(b)?)),
        // The second as long as the first has not come: not (not a until not b).
        Formula::Release(a, b) => {
            let path = Formula::Until(Box::new(not(*state(a)?)), Box::new(not(*state(b)?)));
            Some(Formula::Not(Box::new(Formula::ExistsPath(Box::new(path)))))
        }
        _ => None,
    }
}
