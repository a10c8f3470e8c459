//! Formulas made simpler before anything is searched: what always holds or never does goes, what is about one marking becomes
//! one condition, and negations move inside.
//!
//! In linear time a run that cannot go on repeats its last marking; in branching time it ends there. The rules here hold in
//! both readings, those for [`Formula::Next`] among them: `EX true` says that something is enabled.

use scrimp_net::{Condition, Formula};

/// An equal formula that is simpler, where conditions are replaced by what is `known` of them first.
pub fn simple(formula: &Formula, known: &mut dyn FnMut(&Condition) -> Condition) -> Formula {
    let mut inner = |f: &Formula| simple(f, known);
    match formula {
        Formula::True => is(Condition::True),
        Formula::False => is(Condition::False),
        Formula::Atom(condition) => is(known(condition)),
        Formula::Not(a) => not(inner(a)),
        Formula::And(parts) => all(parts.iter().map(inner).collect()),
        Formula::Or(parts) => any(parts.iter().map(inner).collect()),
        Formula::Implies(a, b) => any(vec![not(inner(a)), inner(b)]),
        Formula::Equivalent(a, b) => equivalent(inner(a), inner(b)),
        Formula::AllPaths(path) => on_paths(true, inner_path(path, known)),
        Formula::ExistsPath(path) => on_paths(false, inner_path(path, known)),
        path => linear(inner_path(path, known)),
    }
}

/// A formula with simpler operands.
fn inner_path(path: &Formula, known: &mut dyn FnMut(&Condition) -> Condition) -> Formula {
    let mut inner = |f: &Formula| Box::new(simple(f, known));
    match path {
        Formula::Next(a) => Formula::Next(inner(a)),
        Formula::Finally(a) => Formula::Finally(inner(a)),
        Formula::Globally(a) => Formula::Globally(inner(a)),
        Formula::Until(a, b) => Formula::Until(inner(a), inner(b)),
        Formula::WeakUntil(a, b) => Formula::WeakUntil(inner(a), inner(b)),
        Formula::Release(a, b) => Formula::Release(inner(a), inner(b)),
        Formula::StrongRelease(a, b) => Formula::StrongRelease(inner(a), inner(b)),
        other => *inner(other),
    }
}

pub fn is(condition: Condition) -> Formula {
    Formula::Atom(condition)
}

/// What the formula is, if it is always or never the case.
pub fn constant(formula: &Formula) -> Option<bool> {
    match formula {
        Formula::True | Formula::Atom(Condition::True) => Some(true),
        Formula::False | Formula::Atom(Condition::False) => Some(false),
        _ => None,
    }
}

fn always(truth: bool) -> Formula {
    is(if truth { Condition::True } else { Condition::False })
}

pub fn all(parts: Vec<Formula>) -> Formula {
    scrimp_net::all_of(parts)
}

pub fn any(parts: Vec<Formula>) -> Formula {
    scrimp_net::any_of(parts)
}

fn equivalent(a: Formula, b: Formula) -> Formula {
    match (constant(&a), constant(&b)) {
        (Some(true), _) => b,
        (Some(false), _) => not(b),
        (_, Some(true)) => a,
        (_, Some(false)) => not(a),
        _ if a == b => always(true),
        _ => Formula::Equivalent(Box::new(a), Box::new(b)),
    }
}

/// The contrary, with negations only where nothing else can be said.
pub fn not(formula: Formula) -> Formula {
    let boxed = |a: Box<Formula>| Box::new(not(*a));
    match formula {
        Formula::True => always(false),
        Formula::False => always(true),
        Formula::Atom(condition) => is(condition.negated()),
        Formula::Not(a) => *a,
        Formula::And(parts) => any(parts.into_iter().map(not).collect()),
        Formula::Or(parts) => all(parts.into_iter().map(not).collect()),
        Formula::Implies(a, b) => all(vec![*a, not(*b)]),
        Formula::Equivalent(a, b) => Formula::Equivalent(boxed(a), b),
        Formula::Next(a) => Formula::Next(boxed(a)),
        Formula::Finally(a) => Formula::Globally(boxed(a)),
        Formula::Globally(a) => Formula::Finally(boxed(a)),
        Formula::Until(a, b) => Formula::Release(boxed(a), boxed(b)),
        Formula::Release(a, b) => Formula::Until(boxed(a), boxed(b)),
        Formula::WeakUntil(a, b) => Formula::StrongRelease(boxed(a), boxed(b)),
        Formula::StrongRelease(a, b) => Formula::WeakUntil(boxed(a), boxed(b)),
        Formula::AllPaths(path) => match *path {
            Formula::Next(_) | Formula::Finally(_) | Formula::Globally(_) => Formula::ExistsPath(boxed(path)),
            path => Formula::Not(Box::new(Formula::AllPaths(Box::new(path)))),
        },
        Formula::ExistsPath(path) => match *path {
            Formula::Next(_) | Formula::Finally(_) | Formula::Globally(_) => Formula::AllPaths(boxed(path)),
            path => Formula::Not(Box::new(Formula::ExistsPath(Box::new(path)))),
        },
    }
}

/// A temporal operator of linear time over simple operands. "Next" moves outwards, where it often vanishes; what it leaves behind
/// does not see how often a marking is repeated, and can be asked of smaller nets.
fn linear(path: Formula) -> Formula {
    let next = |path: Formula| linear(Formula::Next(Box::new(linear(path))));
    match path {
        Formula::Finally(a) if is_next(&a) => next(Formula::Finally(under_next(*a))),
        Formula::Globally(a) if is_next(&a) => next(Formula::Globally(under_next(*a))),
        Formula::Until(a, b) if is_next(&a) && is_next(&b) => next(Formula::Until(under_next(*a), under_next(*b))),
        Formula::Release(a, b) if is_next(&a) && is_next(&b) => next(Formula::Release(under_next(*a), under_next(*b))),
        Formula::Next(a) if constant(&a).is_some() || is_tail(&a) => *a,
        Formula::Finally(a) if constant(&a).is_some() || is_tail(&a) => *a,
        Formula::Globally(a) if constant(&a).is_some() || is_tail(&a) => *a,
        Formula::Finally(a) => match *a {
            Formula::Finally(_) => *a,
            Formula::Until(_, b) => linear(Formula::Finally(b)),
            other => Formula::Finally(Box::new(other)),
        },
        Formula::Globally(a) => match *a {
            Formula::Globally(_) => *a,
            Formula::Release(_, b) => linear(Formula::Globally(b)),
            other => Formula::Globally(Box::new(other)),
        },
        Formula::Until(a, b) => match (constant(&a), constant(&b)) {
            (_, Some(_)) | (Some(false), _) => *b,
            (Some(true), _) => linear(Formula::Finally(b)),
            _ if matches!(*b, Formula::Finally(_)) || is_tail(&b) => *b,
            _ => Formula::Until(a, b),
        },
        Formula::Release(a, b) => match (constant(&a), constant(&b)) {
            (_, Some(_)) | (Some(true), _) => *b,
            (Some(false), _) => linear(Formula::Globally(b)),
            _ if matches!(*b, Formula::Globally(_)) || is_tail(&b) => *b,
            _ => Formula::Release(a, b),
        },
        other => other,
    }
}

fn is_next(formula: &Formula) -> bool {
    matches!(formula, Formula::Next(_))
}

/// What comes next, where the formula says so.
fn under_next(formula: Formula) -> Box<Formula> {
    match formula {
        Formula::Next(a) => a,
        other => Box::new(other),
    }
}

/// Is this the same at every moment of a run, as what happens again and again is?
fn is_tail(formula: &Formula) -> bool {
    match formula {
        Formula::Globally(a) => matches!(**a, Formula::Finally(_)) || is_tail(a),
        Formula::Finally(a) => matches!(**a, Formula::Globally(_)) || is_tail(a),
        Formula::Next(a) => is_tail(a),
        Formula::Not(a) => is_tail(a),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_tail),
        _ => false,
    }
}

/// A path formula over simple operands, on all paths or on some.
fn on_paths(all_paths: bool, path: Formula) -> Formula {
    let quantified = |path: Formula| match all_paths {
        true => Formula::AllPaths(Box::new(path)),
        false => Formula::ExistsPath(Box::new(path)),
    };
    // What is no formula of branching time is one of linear time.
    if !path.is_temporal() {
        return match path.is_ltl() && !path.is_state() {
            true => quantified(path),
            false => path,
        };
    }
    if !path.operands().into_iter().all(Formula::is_ctl) {
        return quantified(linear(path));
    }
    match path {
        Formula::Next(a) => match constant(&a) {
            Some(truth) if truth == all_paths => always(truth),
            Some(true) => is(Condition::Deadlock.negated()),
            Some(false) => is(Condition::Deadlock),
            None => quantified(Formula::Next(a)),
        },
        Formula::Finally(a) => finally(all_paths, *a),
        Formula::Globally(a) => not(finally(!all_paths, not(*a))),
        Formula::Until(a, b) => match (constant(&a), constant(&b)) {
            (_, Some(_)) | (Some(false), _) => *b,
            (Some(true), _) => finally(all_paths, *b),
            _ => match (&*b, all_paths) {
                // Where it will be in the end it may as well be now.
                (Formula::ExistsPath(inner), _) if matches!(**inner, Formula::Finally(_)) => *b,
                (Formula::AllPaths(inner), true) if matches!(**inner, Formula::Finally(_)) => *b,
                _ => quantified(Formula::Until(a, b)),
            },
        },
        other => quantified(other),
    }
}

/// `AF` or `EF` of a state formula.
fn finally(all_paths: bool, a: Formula) -> Formula {
    if constant(&a).is_some() {
        return a;
    }
    let quantified = |a: Formula| {
        let path = Box::new(Formula::Finally(Box::new(a)));
        if all_paths { Formula::AllPaths(path) } else { Formula::ExistsPath(path) }
    };
    match a {
        // EF EF, and AF EF.
        Formula::ExistsPath(path) => match *path {
            Formula::Finally(_) => Formula::ExistsPath(path),
            Formula::Until(_, b) if !all_paths => finally(false, *b),
            path => quantified(Formula::ExistsPath(Box::new(path))),
        },
        // AF AF, and EF AF.
        Formula::AllPaths(path) => match *path {
            Formula::Finally(b) => finally(all_paths, *b),
            Formula::Until(_, b) => finally(all_paths, *b),
            path => quantified(Formula::AllPaths(Box::new(path))),
        },
        other => quantified(other),
    }
}

/// What is left of a formula at a marking: what is known of it there without looking further.
pub fn first(formula: &Formula, holds: &dyn Fn(&Condition) -> bool) -> Formula {
    let here = |f: &Formula| first(f, holds);
    match formula {
        Formula::True => always(true),
        Formula::False => always(false),
        Formula::Atom(condition) => always(holds(condition)),
        Formula::Not(a) => not(here(a)),
        Formula::And(parts) => all(parts.iter().map(here).collect()),
        Formula::Or(parts) => any(parts.iter().map(here).collect()),
        Formula::Implies(a, b) => any(vec![not(here(a)), here(b)]),
        Formula::Equivalent(a, b) => equivalent(here(a), here(b)),
        Formula::AllPaths(path) | Formula::ExistsPath(path) => match here(path) {
            // A temporal operator about which nothing is known yet, or a formula of linear time.
            path if path.is_temporal() || !path.is_ctl() => match formula {
                Formula::AllPaths(_) => Formula::AllPaths(Box::new(path)),
                _ => Formula::ExistsPath(Box::new(path)),
            },
            state => state,
        },
        Formula::Next(_) => formula.clone(),
        Formula::Finally(a) => match constant(&here(a)) {
            Some(true) => always(true),
            _ => formula.clone(),
        },
        Formula::Globally(a) => match constant(&here(a)) {
            Some(false) => always(false),
            _ => formula.clone(),
        },
        Formula::Until(a, b) | Formula::WeakUntil(a, b) => {
            let b = here(b);
            match (constant(&here(a)), constant(&b)) {
                (_, Some(true)) | (Some(false), _) => b,
                _ => formula.clone(),
            }
        }
        Formula::Release(a, b) | Formula::StrongRelease(a, b) => {
            let b = here(b);
            match (constant(&here(a)), constant(&b)) {
                (_, Some(false)) | (Some(true), _) => b,
                _ => formula.clone(),
            }
        }
    }
}
