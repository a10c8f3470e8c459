//! Properties of runs: what is asked, and which search decides it.

mod bad;
mod branching;
mod claim;
mod liveness;
mod vacuity;

pub use bad::Bad;
pub use branching::Numbered;
pub use claim::{Apart, apart};
pub use liveness::run_liveness;
pub use scrimp_temporal::{Automaton, Formula};

use crate::engines::sets;
use crate::{Control, NativeModel, Plan, Report};
use scrimp_search::Guide;
use scrimp_search::plan::{EngineChoice, ReduceChoice};
use scrimp_symbolic::{Question, QuestionKind};
use scrimp_system::Expr;
use std::io;
use std::time::Duration;

/// A property of runs.
#[derive(Debug, Clone)]
pub struct RunProperty {
    pub name: String,
    pub kind: RunKind,
}

#[derive(Debug, Clone)]
pub enum RunKind {
    /// The formula holds on every run.
    Ltl(Formula<Expr>),
    /// The formula holds in every initial state.
    Ctl(Formula<Expr>),
    /// No run is infinitely often where this holds.
    Accepting(Expr),
    /// No run stays for ever where this holds.
    Progress(Expr),
    /// The claim accepts no run.
    Claim(Box<Apart>),
    /// There is no such run.
    No(Box<Bad>),
}

impl RunProperty {
    pub fn new(name: impl Into<String>, kind: RunKind) -> RunProperty {
        RunProperty { name: name.into(), kind }
    }

    /// The runs that break it, of those on which these conditions hold again and again. Fails where that takes too long.
    pub fn bad(&self, fair: &[Expr], patience: Duration) -> Result<Bad, String> {
        match &self.kind {
            RunKind::Claim(claim) => Ok(Bad::of_claim(claim)),
            RunKind::No(bad) => Ok(Bad::clone(bad)),
            RunKind::Ltl(formula) => Bad::soon(&self.name, &under(fair, formula), patience),
            RunKind::Accepting(e) => {
                let often = Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(e.clone())))));
                Bad::soon(&self.name, &under(fair, &Formula::Not(Box::new(often))), patience)
            }
            RunKind::Progress(e) => {
                let ever = Formula::Finally(Box::new(Formula::Globally(Box::new(Formula::Atom(e.clone())))));
                let bad = Bad::soon(&self.name, &under(fair, &Formula::Not(Box::new(ever))), patience)?;
                Ok(Bad { repeats: false, ..bad })
            }
            RunKind::Ctl(_) => Err(format!("{}: a formula of CTL is about more than single runs", self.name)),
        }
    }
}

/// What a property of runs is decided with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub plan: &'a Plan,
    pub control: &'a Control,
    /// Only runs count on which each of these holds again and again.
    pub fair: &'a [Expr],
    /// The progress measure, where the plan sweeps.
    pub progress: Option<&'a Guide<'a>>,
}

/// Decides a property of runs, and says if it holds because a condition never happens.
pub fn decide(model: &NativeModel, property: &RunProperty, means: &Means) -> io::Result<Report> {
    let mut report = decide_alone(model, property, means)?;
    vacuity::look(model, property, means, &mut report);
    Ok(report)
}

fn decide_alone(model: &NativeModel, property: &RunProperty, means: &Means) -> io::Result<Report> {
    let Means { plan, fair, .. } = *means;
    let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let weak = "weak fairness of processes is decided state by state, of formulas in LTL and of claims";
    let symbolic = match plan.options.engine {
        EngineChoice::Explicit => None,
        EngineChoice::Symbolic(_) if plan.options.fair => return Err(invalid(weak)),
        EngineChoice::Symbolic(strategy) => Some(strategy),
        EngineChoice::Bounded(_) => {
            return Err(invalid("runs that go on for ever are not looked for with formulas; use another --engine"));
        }
    };
    if plan.options.checkpoint.is_some() || plan.options.resume.is_some() {
        means.control.say("a search for runs is neither saved nor taken up");
    }
    match &property.kind {
        RunKind::Ctl(_) if plan.options.fair => return Err(invalid(weak)),
        RunKind::Ctl(formula) if symbolic.is_some() => {
            return with_sets(model, &property.name, QuestionKind::Ctl(formula.clone()), means);
        }
        RunKind::Ctl(formula) => return branching::decide(model, &property.name, formula, means),
        RunKind::Claim(_) | RunKind::No(_) if !fair.is_empty() => {
            return Err(invalid("an automaton says by itself which runs it is about; leave out conditions of --fair"));
        }
        RunKind::Progress(_) if symbolic.is_some() => {
            return Err(invalid("cycles without progress are looked for state by state; use --engine explicit"));
        }
        _ => {}
    }
    let patience = plan.options.time.map_or(Duration::MAX, |time| time.saturating_sub(means.control.elapsed()));
    let bad = property.bad(fair, patience).map_err(|reason| invalid(&reason))?;
    if symbolic.is_some() {
        let Bad { name, automaton, atoms, .. } = bad;
        return with_sets(model, &name, QuestionKind::Automaton { automaton, atoms }, means);
    }
    run_liveness(model, &bad, means)
}

/// Decides it with sets of states.
fn with_sets(model: &NativeModel, name: &str, kind: QuestionKind, means: &Means) -> io::Result<Report> {
    let question = Question { name: name.to_string(), kind };
    let Means { plan, control, fair, .. } = *means;
    let mut plan = plan.clone();
    if plan.options.reduce.leaves_out_states() {
        control.say("sets of states are not reduced for properties of runs");
        plan.options.reduce = ReduceChoice::Nothing;
    }
    let mut conditions: Vec<&Expr> = fair.iter().collect();
    match &question.kind {
        QuestionKind::Ctl(formula) => formula.atoms(&mut |e| conditions.push(e)),
        QuestionKind::Automaton { atoms, .. } => conditions.extend(atoms),
        _ => {}
    }
    if conditions.into_iter().any(|e| e.may_fault(&model.system().variables)) {
        let reason = "evaluating a condition of the formula may end in a fault: that is decided state by state";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let (mut report, results) = sets(model, &[question], fair, &plan, control)?;
    report.properties = results;
    report.reduced = false;
    Ok(report)
}

/// The formula, where conditions hold again and again.
fn under(fair: &[Expr], formula: &Formula<Expr>) -> Formula<Expr> {
    if fair.is_empty() {
        return formula.clone();
    }
    let often = |e: &Expr| Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(e.clone())))));
    Formula::Implies(Box::new(Formula::And(fair.iter().map(often).collect())), Box::new(formula.clone()))
}
