//! Is there a bad run? Searched for state by state.

use super::Context;
use crate::fairness::FairProcesses;
use crate::properties::predicate;
use scrimp_core::{Never, Predicate, Report};
use scrimp_native::NativeModel;
use scrimp_search::FairnessChoice;
use scrimp_search::liveness::{self, Fairness, MOST_MARKS, Question};
use scrimp_system::{Describe, Expr, Model};
use scrimp_temporal::Automaton;
use std::io;
use std::time::Instant;

/// The processes of a model, for fairness. Fails where there are too many, or none.
fn fairness<'a>(model: &'a NativeModel, choice: &FairnessChoice, automaton: &Automaton) -> io::Result<Fairness<'a>> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let FairProcesses { weak, strong, begins, moves, may_move } =
        FairProcesses::new(model.system(), choice).map_err(invalid)?;
    if weak + 2 * strong + automaton.sets > MOST_MARKS {
        let count = weak + strong;
        return Err(invalid(format!("fairness of {count} processes is not supported for this formula")));
    }
    let begins = move |code| begins[model.first_event(code) as usize];
    let moves = move |state: &[u8], code, next: &[u8]| {
        let of = |code| moves[model.first_event(code) as usize];
        match of(code) {
            alone if alone == may_move[model.first_event(code) as usize] => alone,
            // Who else takes part depends on the way.
            _ => model.steps(state, code, next).iter().fold(0, |all, (code, _)| all | of(*code)),
        }
    };
    Ok(Fairness { weak, strong, begins: Box::new(begins), moves: Box::new(moves) })
}

/// Looks for a bad run.
pub fn run_liveness(model: &NativeModel, name: &str, never: &Never<Expr>, means: &Context) -> io::Result<Report> {
    let Context { plan, control, progress, .. } = *means;
    let begun = Instant::now();
    plan.say_decisions(control);
    let atoms: Vec<Predicate> = never.atoms.iter().map(|e| predicate(model, e)).collect();
    let choice = &plan.options().fair;
    let fairness = (!choice.is_empty()).then(|| fairness(model, choice, &never.automaton)).transpose()?;
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
    Ok(answer.report(name, model, plan, control, begun))
}
