//! Is there a bad run? Searched for state by state.

use super::Means;
use crate::properties::predicate;
use scrimp_core::{Never, Predicate, PropertyResult, Report, Verdict};
use scrimp_native::NativeModel;
use scrimp_search::liveness::{self, Fairness, MOST_MARKS, Question};
use scrimp_system::{Expr, Model};
use scrimp_temporal::{Automaton, Marks};
use std::io;
use std::time::Instant;

/// The processes of a model, for fairness. Fails where there are too many, or none.
fn fairness<'a>(model: &'a NativeModel, automaton: &Automaton) -> io::Result<Fairness<'a>> {
    let system = model.system();
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let mut number: Vec<Option<u32>> = vec![None; system.processes.len()];
    let mut processes = 0;
    // What several do together is the move of the one who begins it: of a message, its sender.
    let first = |event: &scrimp_system::Event| event.moves.first().map(|m| m.process.index());
    for process in system.events.iter().filter_map(first) {
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
    let of_event =
        |event: &scrimp_system::Event| first(event).and_then(|process| number[process]).map_or(0, |bit| 1 << bit);
    let actors: Vec<Marks> = system.events.iter().map(of_event).collect();
    let actors = move |code| actors[model.first_event(code) as usize];
    Ok(Fairness { processes: processes as usize, actors: Box::new(actors) })
}

/// Looks for a bad run.
pub fn run_liveness(model: &NativeModel, name: &str, never: &Never<Expr>, means: &Means) -> io::Result<Report> {
    let Means { plan, control, progress, .. } = *means;
    let begun = Instant::now();
    let atoms: Vec<Predicate> = never.atoms.iter().map(|e| predicate(model, e)).collect();
    let fairness = plan.options.fair.then(|| fairness(model, &never.automaton)).transpose()?;
    let question = Question {
        model,
        automaton: &never.automaton,
        atoms: &atoms,
        expressions: &never.atoms,
        fairness: fairness.as_ref(),
        stutters: never.stutters,
        repeats: never.repeats,
        progress,
    };
    let answer = liveness::search(&question, plan, control)?;
    control.finish();
    let mut report = Report::of_nothing(model, begun.elapsed());
    let mut result = PropertyResult::undecided(name);
    if let Some(fault) = answer.fault {
        report.remarks.push(format!("{}: evaluating its conditions ended in a fault: {fault}", name));
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
    report.reduced = answer.reduced;
    report.remarks.extend(control.remarks());
    Ok(report)
}
