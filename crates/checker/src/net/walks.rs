//! Answers by walking: what a walk meets is there.

use super::PetriNet;
use super::answers::{Answer, Answers, Run};
use super::goal::{Goal, Known};
use super::inquiry::Context;
use scrimp_net::walk::{Walks, walk};
use scrimp_net::{Condition, Sum};
use std::time::{Duration, Instant};

/// How long to walk before looking up.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Transitions that are looked for by themselves, at most.
const MOST_TRANSITIONS: usize = 10_000;

const HOW: &str = "by a walk";

/// Walks for so long, and looks now and then whether that is still wanted.
pub fn answer<E>(net: &PetriNet, answers: &mut Answers, slice: Duration, means: &Context<E>) {
    let deadline = means.end_of(slice);
    for seed in 1.. {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || means.is_over() || !walk_once(net, answers, Instant::now() + left.min(AT_ONCE), seed) {
            return;
        }
    }
}

/// Walks until the deadline; `false` when there is nothing to look for.
fn walk_once(net: &PetriNet, answers: &mut Answers, deadline: Instant, seed: u64) -> bool {
    let (mut goals, mut reach, mut sums, mut bounds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut deadlocks = Vec::new();
    for i in answers.open() {
        match &answers.goals[i] {
            Goal::Reach { condition: Condition::Deadlock, found } => deadlocks.push((i, *found)),
            Goal::Reach { condition, found } => {
                goals.push(condition.clone());
                reach.push((i, *found));
            }
            Goal::Bound(places) => {
                sums.push((Sum::tokens(places.clone()), answers.most[i].map(i128::from)));
                bounds.push(i);
            }
            _ => {}
        }
    }
    let live = answers.open().iter().any(|&i| answers.goals[i] == Goal::Live);
    let mut transitions = Vec::new();
    if answers.wants_fireable() {
        let unknown = (0..answers.fireable.len()).filter(|&t| answers.fireable[t].is_none());
        transitions.extend(unknown.take(MOST_TRANSITIONS).map(|t| t as u32));
        goals.extend(transitions.iter().map(|&t| Condition::Fireable(vec![t])));
    }
    if goals.is_empty() && sums.is_empty() && deadlocks.is_empty() && !live {
        return false;
    }
    let deadlock = !deadlocks.is_empty() || live;
    let met = walk(&net.net, &Walks { goals, deadlock, sums, deadline, firings: u64::MAX, seed });
    let run = |transitions: &[u32]| Some(Run { transitions: transitions.to_vec(), shortest: false, cycle: None });
    let mut found = met.goals.iter();
    for ((i, truth), firings) in reach.into_iter().zip(&mut found) {
        if let Some(firings) = firings {
            let known = Known::Truth(truth);
            answers.settle(i, Answer { known, run: run(firings), how: Some(HOW.into()) });
        }
    }
    for (t, firings) in transitions.into_iter().zip(&mut found) {
        if firings.is_some() {
            answers.fireable[t as usize] = Some(true);
        }
    }
    if let Some(firings) = &met.deadlock {
        for (i, truth) in deadlocks {
            answers.settle(i, Answer { known: Known::Truth(truth), run: run(firings), how: Some(HOW.into()) });
        }
        if !answers.fireable.is_empty() {
            answers.settle_kind(|goal| *goal == Goal::Live, false, "there is a deadlock");
        }
    }
    for (i, largest) in bounds.into_iter().zip(met.largest) {
        answers.bound(i, None, u64::try_from(largest).ok().map(|largest| (largest, None)), "by a walk and a bound");
    }
    answers.conclude(net);
    true
}
