//! Formulas about runs: what they come to, and what decides them.
//!
//! A formula is [made simpler](simple) and taken apart at the first marking: what is left is known there, asks for one marking,
//! or must be [decided](decide) by looking at runs.

mod convert;
mod decide;
mod known;
mod simple;
mod smaller;

pub use decide::{Decider, Found, Runs};
pub use known::{learn, replaced};
pub use smaller::SmallerNets;

use super::goal::Goal;
use scrimp_net::{Condition, Formula, Net};

/// The goals that a formula comes to, joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree<G> {
    Known(bool),
    Goal(G),
    Not(Box<Tree<G>>),
    All(Vec<Tree<G>>),
    Any(Vec<Tree<G>>),
    Same(Box<Tree<G>>, Box<Tree<G>>),
}

impl<G> Tree<G> {
    /// What it is, as far as its goals are known.
    pub fn value(&self, known: &dyn Fn(&G) -> Option<bool>) -> Option<bool> {
        match self {
            Tree::Known(truth) => Some(*truth),
            Tree::Goal(goal) => known(goal),
            Tree::Not(a) => a.value(known).map(|truth| !truth),
            Tree::All(parts) => joined(parts, known, false),
            Tree::Any(parts) => joined(parts, known, true),
            Tree::Same(a, b) => Some(a.value(known)? == b.value(known)?),
        }
    }

    /// The same with other goals.
    pub fn map<H>(self, goal: &mut dyn FnMut(G) -> H) -> Tree<H> {
        let mut many = |parts: Vec<Tree<G>>| parts.into_iter().map(|part| part.map(goal)).collect();
        match self {
            Tree::Known(truth) => Tree::Known(truth),
            Tree::All(parts) => Tree::All(many(parts)),
            Tree::Any(parts) => Tree::Any(many(parts)),
            Tree::Goal(one) => Tree::Goal(goal(one)),
            Tree::Not(a) => Tree::Not(Box::new(a.map(goal))),
            Tree::Same(a, b) => Tree::Same(Box::new(a.map(goal)), Box::new(b.map(goal))),
        }
    }
}

impl Tree<usize> {
    /// Shows the goals that may still matter.
    pub fn open(&self, known: &dyn Fn(&usize) -> Option<bool>, show: &mut dyn FnMut(usize)) {
        if self.value(known).is_some() {
            return;
        }
        match self {
            Tree::Known(_) => {}
            Tree::Goal(goal) => show(*goal),
            Tree::Not(a) => a.open(known, show),
            Tree::All(parts) | Tree::Any(parts) => parts.iter().for_each(|part| part.open(known, show)),
            Tree::Same(a, b) => {
                a.open(known, show);
                b.open(known, show);
            }
        }
    }
}

/// A part that is `deciding` decides; all must be known otherwise.
fn joined<G>(parts: &[Tree<G>], known: &dyn Fn(&G) -> Option<bool>, deciding: bool) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.value(known) {
            Some(truth) if truth == deciding => return Some(deciding),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!deciding)
}

/// What a formula comes to at the first marking, with what is known of its conditions; `None` where it is neither of linear
/// nor of branching time.
pub fn tree(formula: &Formula, net: &Net, known: &mut dyn FnMut(&Condition) -> Condition) -> Option<Tree<Goal>> {
    let initial = net.initial();
    let holds = |condition: &Condition| condition.holds(net, &initial);
    if formula.is_ctl() {
        let left = simple::first(&simple::simple(formula, known), &holds);
        return Some(branching(left));
    }
    let path = match formula {
        Formula::AllPaths(path) => path,
        other => other,
    };
    path.is_ltl().then(|| linear(simple::first(&simple::simple(path, known), &holds)))
}

/// A formula of branching time of which nothing more is known at the first marking.
fn branching(formula: Formula) -> Tree<Goal> {
    let reach = |condition: Condition, found: bool| Tree::Goal(Goal::Reach { condition, found });
    match formula {
        Formula::True | Formula::Atom(Condition::True) => Tree::Known(true),
        Formula::False | Formula::Atom(Condition::False) => Tree::Known(false),
        Formula::Not(a) => Tree::Not(Box::new(branching(*a))),
        Formula::And(parts) => Tree::All(parts.into_iter().map(branching).collect()),
        Formula::Or(parts) => Tree::Any(parts.into_iter().map(branching).collect()),
        Formula::Equivalent(a, b) => Tree::Same(Box::new(branching(*a)), Box::new(branching(*b))),
        Formula::ExistsPath(path) => match *path {
            Formula::Finally(inner) => match *inner {
                Formula::Atom(condition) => reach(condition, true),
                Formula::Or(parts) => Tree::Any(parts.into_iter().map(|part| branching(possibly(part))).collect()),
                inner => Tree::Goal(Goal::Runs(Runs::Branching(possibly(inner)))),
            },
            // What is linear is shown by a run.
            Formula::Globally(inner) if matches!(*inner, Formula::Atom(_)) => {
                let never = Formula::Finally(Box::new(simple::not(*inner)));
                Tree::Not(Box::new(Tree::Goal(Goal::Runs(Runs::Linear(never)))))
            }
            path => Tree::Goal(Goal::Runs(Runs::Branching(Formula::ExistsPath(Box::new(path))))),
        },
        Formula::AllPaths(path) => match *path {
            Formula::Globally(inner) => match *inner {
                Formula::Atom(condition) => reach(condition.negated(), false),
                Formula::And(parts) => Tree::All(parts.into_iter().map(|part| branching(everywhere(part))).collect()),
                inner => Tree::Goal(Goal::Runs(Runs::Branching(everywhere(inner)))),
            },
            path if is_linear(&path) => Tree::Goal(Goal::Runs(Runs::Linear(path))),
            path => Tree::Goal(Goal::Runs(Runs::Branching(Formula::AllPaths(Box::new(path))))),
        },
        other => Tree::Goal(Goal::Runs(Runs::Branching(other))),
    }
}

/// Does a path formula over conditions say the same of runs that end and of those that repeat their last marking?
fn is_linear(path: &Formula) -> bool {
    let conditions = |path: &Formula| path.operands().into_iter().all(|operand| matches!(operand, Formula::Atom(_)));
    matches!(path, Formula::Finally(_) | Formula::Until(..)) && conditions(path)
}

fn possibly(formula: Formula) -> Formula {
    Formula::ExistsPath(Box::new(Formula::Finally(Box::new(formula))))
}

fn everywhere(formula: Formula) -> Formula {
    Formula::AllPaths(Box::new(Formula::Globally(Box::new(formula))))
}

/// A formula of linear time of which nothing more is known at the first marking: that it holds of every run.
fn linear(formula: Formula) -> Tree<Goal> {
    match formula {
        Formula::True | Formula::Atom(Condition::True) => Tree::Known(true),
        Formula::False | Formula::Atom(Condition::False) => Tree::Known(false),
        Formula::And(parts) => Tree::All(parts.into_iter().map(linear).collect()),
        Formula::Globally(inner) => match *inner {
            Formula::Atom(condition) => Tree::Goal(Goal::Reach { condition: condition.negated(), found: false }),
            Formula::And(parts) => {
                let always = |part: Formula| linear(Formula::Globally(Box::new(part)));
                Tree::All(parts.into_iter().map(always).collect())
            }
            inner => Tree::Goal(Goal::Runs(Runs::Linear(Formula::Globally(Box::new(inner))))),
        },
        other => Tree::Goal(Goal::Runs(Runs::Linear(other))),
    }
}
