//! Answers about nets that may be unbounded: whether they are, and how many tokens places can have, by coverability.

use super::PetriNet;
use super::answers::{Answer, Answers, Run};
use super::goal::{Goal, Known};
use scrimp_net::coverability::{Boundedness, Limits, Tokens, boundedness, coverability_set};
use std::time::Instant;

/// Markings that a tree may have: an eighth of the memory.
pub fn nodes(net: &PetriNet, memory: usize) -> usize {
    memory / 8 / (8 * net.net.places.len() + 100)
}

/// Answers what coverability can where structure gave no bound to some place.
pub fn answer(net: &mut PetriNet, answers: &mut Answers, deadline: Instant, memory: usize) {
    if net.bounds.iter().all(Option::is_some) || net.unbounded.is_some() && !answers.asks_for_bounds() {
        return;
    }
    let limits = Limits { deadline, nodes: nodes(net, memory) };
    if net.unbounded.is_none() {
        match boundedness(&net.net, &limits) {
            Boundedness::Bounded => {
                net.unbounded = Some(false);
                answers.settle_kind(|goal| *goal == Goal::Bounded, true, "by its coverability graph");
            }
            Boundedness::Unbounded { place, prefix, pump } => {
                net.unbounded = Some(true);
                let name = &net.net.places[place as usize].name;
                let how = format!(
                    "{name} gets more tokens whenever the last {} again",
                    match pump.len() {
                        1 => "transition fires".to_string(),
                        many => format!("{many} transitions fire"),
                    }
                );
                let run = Run { transitions: prefix.into_iter().chain(pump).collect(), shortest: false, cycle: None };
                for i in answers.open().into_iter().filter(|&i| answers.goals[i] == Goal::Bounded).collect::<Vec<_>>() {
                    let known = Known::Truth(false);
                    answers.settle(i, Answer { known, run: Some(run.clone()), how: Some(how.clone()) });
                }
            }
            Boundedness::Unknown(_) => {}
        }
    }
    if !answers.asks_for_bounds() {
        return;
    }
    let Ok(set) = coverability_set(&net.net, &limits) else { return };
    net.unbounded = Some(!set.is_bounded());
    for i in answers.open() {
        let Goal::Bound(places) = &answers.goals[i] else { continue };
        let known = match set.bound_of(places) {
            Tokens::Omega => Known::Unbounded,
            Tokens::Finite(tokens) => match u64::try_from(tokens) {
                Ok(tokens) => Known::Tokens(tokens),
                Err(_) => continue,
            },
        };
        answers.settle(i, Answer { known, run: None, how: Some("by its coverability graph".into()) });
    }
    for t in 0..answers.fireable.len() {
        answers.fireable[t] = Some(set.is_fireable(&net.net, t as u32));
    }
    answers.conclude(net);
}
