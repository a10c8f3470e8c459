//! Answers from smaller nets: the question decides what may go, and a run of what is left is a run of the whole.

use super::PetriNet;
use super::answers::{Answer, Answers, Run};
use super::explicit::explore;
use super::goal::{Goal, Known};
use super::inquiry::Context;
use scrimp_core::{Limit, Trace};
use scrimp_lang::LoadError;
use scrimp_native::BuildError;
use scrimp_net::reduce::{Observed, Reduced, Rules, reduce};
use scrimp_net::{Condition, Sum};
use scrimp_search::Refusal;
use std::time::Duration;

/// What taking away may take before the user is asked again whether to go on.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Reduces the net for one question and searches what is left for so long. Says what ended the search; nothing when there
/// was nothing to gain.
pub fn answer<E: From<LoadError> + From<BuildError> + From<Refusal>>(
    net: &PetriNet,
    answers: &mut Answers,
    i: usize,
    slice: Duration,
    means: &mut Context<E>,
) -> Result<Option<Limit>, E> {
    if !answers.is_open(i) {
        return Ok(None);
    }
    let goal = answers.goals[i].clone();
    let observed = match &goal {
        // Where a deadlock is only part of the condition, taking away could lose what is no deadlock.
        Goal::Reach { condition, .. } if *condition != Condition::Deadlock && condition.asks_for_deadlock() => {
            return Ok(None);
        }
        Goal::Reach { condition, .. } => {
            Observed { places: condition.places(&net.net), deadlock: *condition == Condition::Deadlock, runs: None }
        }
        Goal::Bound(places) => Observed {
            places: Sum::tokens(places.clone()).terms.iter().map(|(place, _)| *place).collect(),
            ..Observed::default()
        },
        _ => return Ok(None),
    };
    let reduced = reduce(&net.net, &observed, &Rules::all(means.end_of((slice / 4).min(AT_ONCE))));
    let whole = (net.net.places.len(), net.net.transitions.len());
    let left = (reduced.net.places.len(), reduced.net.transitions.len());
    if left == whole {
        return Ok(None);
    }
    let Some(smaller_goal) = restated(&reduced, net, &goal) else { return Ok(None) };
    let mut smaller = PetriNet::within(reduced.net.clone(), String::new(), net.structure, means.end_of(slice / 4));
    let options = means.options_for(slice);
    let explored =
        explore(&mut smaller, &[(&smaller_goal, answers.most[i])], &options, false, means.mode, means.search)?;
    let how =
        format!("after reduction from {} places and {} transitions to {} and {}", whole.0, whole.1, left.0, left.1);
    let mut made = explored.made;
    let limit = made.report.limit;
    made.report.remarks.push(how.clone());
    answers.searched(&[i], made);
    let Some(finding) = explored.found.into_iter().next().flatten() else { return Ok(limit) };
    let run = finding.trace.as_ref().and_then(|trace| lifted(&reduced, net, &goal, trace));
    // A run that does not lead there in the whole net shows nothing, and casts doubt on the rest.
    if let (Some(run), Goal::Reach { condition, .. }) = (&run, &goal) {
        let mut marking = net.net.initial();
        let fires = run.transitions.iter().all(|&t| net.net.is_enabled(&marking, t) && net.net.fire(&mut marking, t));
        if !fires || !condition.holds(&net.net, &marking) {
            return Ok(None);
        }
    }
    answers.settle(i, Answer { known: finding.known, run, how: Some(how) });
    if let Known::Tokens(tokens) = finding.known {
        answers.least[i] = tokens;
    }
    Ok(None)
}

/// The goal in terms of the smaller net.
fn restated(reduced: &Reduced, net: &PetriNet, goal: &Goal) -> Option<Goal> {
    match goal {
        Goal::Reach { condition, found } => {
            Some(Goal::Reach { condition: reduced.question(&net.net, condition)?, found: *found })
        }
        Goal::Bound(places) => {
            Some(Goal::Bound(places.iter().map(|&place| reduced.place(place)).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// The run of the whole net that this run of the smaller one stands for.
fn lifted(reduced: &Reduced, net: &PetriNet, goal: &Goal, trace: &Trace) -> Option<Run> {
    let firing: Vec<u32> = trace.steps.iter().map(|(event, _)| *event).collect();
    let transitions = match goal {
        Goal::Reach { condition: Condition::Deadlock, .. } => reduced.lift_to_deadlock(&net.net, &firing)?,
        _ => reduced.lift(&net.net, &firing)?,
    };
    Some(Run { transitions, shortest: false, cycle: None })
}
