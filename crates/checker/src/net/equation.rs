//! Answers by structure: bounds of places, the state equation, traps and siphons. What they refute is nowhere to be found.

use super::PetriNet;
use super::answers::{Answer, Answers};
use super::goal::{Goal, Known};
use super::inquiry::Context;
use scrimp_net::linear::{Refuter, deadlock_free};
use scrimp_net::{Condition, Sum};
use std::time::{Duration, Instant};

/// What one question may take before the user is asked again whether to go on.
const AT_ONCE: Duration = Duration::from_secs(5);
/// Cases that a condition may fall into before it is left to others.
const CASES: usize = 20_000;

const HOW: &str = "by the state equation";

/// What can be seen without any effort: the first marking, and sums of bounds.
pub fn at_a_glance(net: &PetriNet, answers: &mut Answers) {
    let initial = net.net.initial();
    for (t, fires) in net.net.transitions.iter().zip(&mut answers.fireable) {
        let too_few = |arc: &scrimp_net::Arc| net.bounds[arc.place as usize].is_some_and(|bound| bound < arc.weight);
        if t.inputs.iter().any(too_few) {
            *fires = Some(false);
        }
    }
    for t in 0..net.net.transitions.len() {
        if net.net.is_enabled(&initial, t as u32) {
            answers.fireable[t] = Some(true);
        }
    }
    answers.conclude(net);
    for i in answers.open() {
        if let Goal::Bound(places) = &answers.goals[i] {
            let most = places.iter().try_fold(0u64, |sum, &p| sum.checked_add(net.bounds[p as usize]?));
            let least = Sum::tokens(places.clone()).value(&initial);
            answers.bound(i, most, Some((u64::try_from(least).unwrap_or(u64::MAX), None)), "by place invariants");
        }
    }
    if net.bounds.iter().all(Option::is_some) {
        answers.settle_kind(|goal| *goal == Goal::Bounded, true, "by place invariants");
    }
}

/// All that structure can say in so much time.
pub fn answer<E>(net: &PetriNet, answers: &mut Answers, slice: Duration, means: &Context<E>) {
    let deadline = means.end_of(slice);
    let Some(mut refuter) = Refuter::new(&net.net, &net.bounds) else { return };
    let open = answers.open();
    for (at, &i) in open.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || means.is_over() {
            return;
        }
        // Each gets its share, and a little more because most are quick.
        let share = Instant::now() + (left * 2 / (open.len() - at + 1) as u32).min(left).min(AT_ONCE);
        match answers.goals[i].clone() {
            Goal::Reach { condition: Condition::Deadlock, found } => {
                match deadlock_free(&net.net, &net.bounds, share) {
                    Some(true) => settle(answers, i, !found, "by siphons, traps and the state equation"),
                    Some(false) => settle(answers, i, found, "the first marking is a deadlock"),
                    None => {}
                }
            }
            Goal::Reach { condition, found } if refuter.never_holds(&condition, CASES, share) => {
                settle(answers, i, !found, HOW);
            }
            Goal::Bound(places) => {
                let most = refuter.upper_bound(&Sum::tokens(places), CASES, share);
                answers.bound(i, most.and_then(|most| u64::try_from(most).ok()), None, HOW);
            }
            _ => {}
        }
    }
    if answers.wants_fireable() {
        for t in 0..answers.fireable.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || means.is_over() {
                break;
            }
            let share = Instant::now() + left.min(Duration::from_millis(50));
            if answers.fireable[t].is_none()
                && refuter.never_holds(&Condition::Fireable(vec![t as u32]), CASES / 100, share)
            {
                answers.fireable[t] = Some(false);
            }
        }
        answers.conclude(net);
    }
}

fn settle(answers: &mut Answers, i: usize, truth: bool, how: &str) {
    answers.settle(i, Answer { known: Known::Truth(truth), run: None, how: Some(how.to_string()) });
}
