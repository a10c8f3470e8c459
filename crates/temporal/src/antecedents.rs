//! Implications whose consequent does not matter: what a formula says of them when it holds for no good reason.

use crate::formula::Formula;

/// For each implication (also written as a disjunction with negations), its antecedent and the formula in which the
/// consequent is as hard as can be: `false`, or `true` where the implication stands under an odd number of negations.
/// When that stronger formula holds too, the consequent never mattered: the antecedent does not happen where it would.
///
/// Implications below an equivalence stand under both kinds of negations and are passed over.
pub fn antecedents<A: Clone>(formula: &Formula<A>) -> Vec<(Formula<A>, Formula<A>)> {
    let mut found = Vec::new();
    walk(formula, true, &mut Vec::new(), &mut |path, antecedent, replacement| {
        found.push((antecedent, with(formula, path, replacement)));
    });
    found
}

/// What is done with an implication: the way to it, its antecedent, and what stands there instead.
type Show<'s, A> = dyn FnMut(&[usize], Formula<A>, Formula<A>) + 's;

/// Shows each implication: the way to it, its antecedent, and what stands there instead.
fn walk<A: Clone>(formula: &Formula<A>, positive: bool, path: &mut Vec<usize>, show: &mut Show<'_, A>) {
    let hardest = || if positive { Formula::False } else { Formula::True };
    match formula {
        Formula::Implies(a, _) => {
            show(path, (**a).clone(), Formula::Implies(a.clone(), Box::new(hardest())));
        }
        Formula::Or(all) => {
            let (negated, others): (Vec<_>, Vec<_>) = all.iter().partition(|a| matches!(a, Formula::Not(_)));
            if !negated.is_empty() && !others.is_empty() {
                let inner = |a: &&Formula<A>| match a {
                    Formula::Not(a) => (**a).clone(),
                    a => (*a).clone(),
                };
                let mut antecedent: Vec<_> = negated.iter().map(inner).collect();
                let antecedent = if antecedent.len() == 1 { antecedent.remove(0) } else { Formula::And(antecedent) };
                let kept = negated.into_iter().cloned().chain([hardest()]).collect();
                show(path, antecedent, Formula::Or(kept));
            }
        }
        Formula::Equivalent(..) => return,
        _ => {}
    }
    for (i, operand) in formula.operands().into_iter().enumerate() {
        let turned = matches!(formula, Formula::Not(_)) || i == 0 && matches!(formula, Formula::Implies(..));
        path.push(i);
        walk(operand, positive != turned, path, show);
        path.pop();
    }
}

/// The formula with something else at the end of the way.
fn with<A: Clone>(formula: &Formula<A>, path: &[usize], replacement: Formula<A>) -> Formula<A> {
    let mut changed = formula.clone();
    let mut place = &mut changed;
    for &step in path {
        place = match place {
            Formula::And(all) | Formula::Or(all) => &mut all[step],
            Formula::Not(a)
            | Formula::Next(a)
            | Formula::Finally(a)
            | Formula::Globally(a)
            | Formula::AllPaths(a)
            | Formula::ExistsPath(a) => a,
            Formula::Implies(a, b)
            | Formula::Equivalent(a, b)
            | Formula::Until(a, b)
            | Formula::WeakUntil(a, b)
            | Formula::Release(a, b)
            | Formula::StrongRelease(a, b) => {
                if step == 0 {
                    a
                } else {
                    b
                }
            }
            // Nothing is below these.
            Formula::True | Formula::False | Formula::Atom(_) => return changed,
        };
    }
    *place = replacement;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(name: &'static str) -> Box<Formula<&'static str>> {
        Box::new(Formula::Atom(name))
    }

    fn shown(formula: &Formula<&'static str>) -> Vec<(String, String)> {
        antecedents(formula).into_iter().map(|(a, stronger)| (a.to_string(), stronger.to_string())).collect()
    }

    #[test]
    fn consequents_become_as_hard_as_can_be() {
        let response = Formula::Implies(atom("request"), Box::new(Formula::Finally(atom("grant"))));
        let always = Formula::Globally(Box::new(response.clone()));
        assert_eq!(shown(&always), [("request".into(), "G (request -> false)".into())]);
        let quantified = Formula::AllPaths(Box::new(Formula::Not(Box::new(always))));
        assert_eq!(shown(&quantified), [("request".into(), "A !G (request -> true)".into())]);
        let or = Formula::Or(vec![Formula::Not(atom("p")), Formula::Finally(atom("q"))]);
        assert_eq!(shown(&or), [("p".into(), "!p || false".into())]);
        let nested = Formula::Implies(Box::new(response), atom("r"));
        let expected = [("request -> F grant", "(request -> F grant) -> false"), ("request", "(request -> true) -> r")];
        assert_eq!(shown(&nested), expected.map(|(a, b)| (a.to_string(), b.to_string())));
        assert_eq!(shown(&Formula::Equivalent(Box::new(nested), atom("s"))), []);
    }
}
