//! Properties of runs: from a formula or a claim to a search for a run that breaks it.

mod claim;

pub use claim::{Apart, apart};
pub use scrimp_temporal::{Automaton, Formula};

use crate::{Control, NativeModel, Plan, PropertyResult, Report, Verdict};
use scrimp_search::check::Condition;
use scrimp_search::liveness::{self, Fairness, MOST_MARKS, Question};
use scrimp_system::{BinaryOp, Expr, Model};
use scrimp_temporal::{Limits, Marks, is_stutter_invariant, propositions, translate};
use std::io;
use std::time::{Duration, Instant};

/// What may go into an automaton before it is given up.
const MOST_STATES: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// What no run of a model may be like.
#[derive(Debug, Clone)]
pub struct Bad {
    pub name: String,
    pub automaton: Automaton,
    /// What its atoms stand for.
    pub atoms: Vec<Expr>,
    /// Does it not tell a state from its repetition?
    pub stutters: bool,
}

impl Bad {
    /// The runs on which a formula does not hold.
    pub fn against(name: impl Into<String>, formula: &Formula<Expr>) -> Result<Bad, String> {
        let name = name.into();
        let limits = Limits { states: MOST_STATES, until: Some(Instant::now() + PATIENCE) };
        let (letters, atoms) = propositions(&Formula::Not(Box::new(formula.clone())));
        let atoms: Vec<Expr> = atoms.iter().map(condition).collect();
        if atoms.len() > scrimp_temporal::MOST_ATOMS {
            return Err(format!("{name}: more than {} conditions are not supported", scrimp_temporal::MOST_ATOMS));
        }
        let too_large = |_| format!("{name}: the automaton of this formula is too large");
        let automaton = translate(&letters, &limits).map_err(too_large)?;
        let stutters = is_stutter_invariant(&letters, &limits).unwrap_or(false);
        Ok(Bad { name, automaton, atoms, stutters })
    }

    /// The runs that are infinitely often where a condition holds.
    pub fn again_and_again(name: impl Into<String>, condition: Expr) -> Result<Bad, String> {
        let often = Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(condition)))));
        Bad::against(name, &Formula::Not(Box::new(often)))
    }

    /// The runs that are some time for ever where a condition holds.
    pub fn for_ever(name: impl Into<String>, condition: Expr) -> Result<Bad, String> {
        let ever = Formula::Finally(Box::new(Formula::Globally(Box::new(Formula::Atom(condition)))));
        Bad::against(name, &Formula::Not(Box::new(ever)))
    }

    /// The runs that a claim accepts.
    pub fn of_claim(claim: &Apart) -> Bad {
        let Apart { automaton, atoms, name, .. } = claim.clone();
        Bad { name, automaton, atoms, stutters: false }
    }
}

/// A formula about one moment as an expression.
fn condition(formula: &Formula<Expr>) -> Expr {
    let both = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    let joined = |op, all: &[Formula<Expr>], empty: Expr| {
        all.iter().map(condition).reduce(|a, b| both(op, a, b)).unwrap_or(empty)
    };
    match formula {
        Formula::True => Expr::TRUE,
        Formula::False => Expr::Const(0),
        Formula::Atom(e) => e.clone(),
        Formula::Not(a) => Expr::not(condition(a)),
        Formula::And(all) => joined(BinaryOp::And, all, Expr::TRUE),
        Formula::Or(all) => joined(BinaryOp::Or, all, Expr::Const(0)),
        Formula::Implies(a, b) => both(BinaryOp::Or, Expr::not(condition(a)), condition(b)),
        Formula::Equivalent(a, b) => both(BinaryOp::Equal, Expr::not(condition(a)), Expr::not(condition(b))),
        // Propositions are about one moment.
        _ => Expr::TRUE,
    }
}

/// The processes of a model, for fairness. Fails where there are too many, or none.
fn fairness<'a>(model: &'a NativeModel, automaton: &Automaton) -> io::Result<Fairness<'a>> {
    let system = model.system();
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let mut number: Vec<Option<u32>> = vec![None; system.processes.len()];
    let mut processes = 0;
    for process in system.events.iter().flat_map(|event| &event.moves).map(|m| m.process.index()) {
        if number[process].is_none() {
            number[process] = Some(processes);
            processes += 1;
        }
    }
    if processes == 0 {
        return Err(invalid("there are no processes that fairness could be about".into()));
    }
    if processes as usize + automaton.sets > MOST_MARKS {
        return Err(invalid(format!("fairness of {processes} processes is not supported, only of {}", MOST_MARKS - 2)));
    }
    let of_event = |event: &scrimp_system::Event| {
        event.moves.iter().filter_map(|m| number[m.process.index()]).fold(0, |all, bit| all | 1 << bit)
    };
    let actors: Vec<Marks> = system.events.iter().map(of_event).collect();
    let actors = move |code| actors[model.first_event(code) as usize];
    Ok(Fairness { processes: processes as usize, actors: Box::new(actors) })
}

/// Looks for a bad run.
pub fn run_liveness(model: &NativeModel, bad: &Bad, plan: &Plan, control: &Control) -> io::Result<Report> {
    let begun = Instant::now();
    let predicate = |e: &Expr| -> Condition {
        let predicate = model.predicate(e);
        Box::new(move |state| predicate.holds(state))
    };
    let atoms: Vec<Condition> = bad.atoms.iter().map(predicate).collect();
    let fairness = plan.options.fair.then(|| fairness(model, &bad.automaton)).transpose()?;
    let question = Question {
        model,
        automaton: &bad.automaton,
        atoms: &atoms,
        expressions: &bad.atoms,
        fairness: fairness.as_ref(),
        stutters: bad.stutters,
    };
    let answer = liveness::search(&question, plan, control)?;
    control.finish();
    let mut report = Report::of_nothing(model, plan, begun.elapsed());
    let mut result = PropertyResult::undecided(&bad.name);
    if let Some(fault) = answer.fault {
        report.remarks.push(format!("{}: evaluating its conditions ended in a fault: {fault}", bad.name));
    }
    result.verdict = match answer.accepted {
        Some(true) => Verdict::Violated,
        Some(false) => Verdict::Verified,
        None => Verdict::Undecided,
    };
    if let Some(lasso) = answer.lasso {
        result.state = Some(lasso.trace.last().to_vec());
        result.cycle = Some(lasso.cycle);
        result.trace = Some(lasso.trace);
    }
    report.properties = vec![result];
    report.limit = answer.limit;
    report.exhaustive = answer.accepted == Some(false);
    report.visits = answer.facts.states;
    report.forget.stored_peak = answer.facts.states;
    report.facts = answer.facts;
    report.state_bytes = answer.state_bytes;
    report.store_bytes = answer.store_bytes;
    report.store = answer.store;
    report.remarks.extend(control.remarks());
    Ok(report)
}
