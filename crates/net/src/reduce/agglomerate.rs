//! Agglomeration: a place between two sets of transitions goes, and a step from the one set to the other becomes one.
//!
//! *Post*: what takes from the place needs nothing else and nobody sees it fire, so it may as well fire at once. *Pre*: what
//! gives to the place gives to no other and nobody sees it fire, so it may as well wait until its tokens are needed. A
//! transition that waits keeps what it would have taken. That can only help others to fire; but where deadlocks are asked
//! for, nothing else may take from there, or waiting would hide the deadlock that firing leads to.

use super::Time;
use super::lift::Step;
use super::working::{Working, WorkingTransition};
use crate::{Arc, PlaceId, TransitionId};

/// Firings of the original net that one firing may stand for.
const LENGTH: u64 = 10_000;

/// Which of the two ways are used.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    pub(super) post: bool,
    pub(super) pre: bool,
    /// Pre-agglomeration where others take from the same places too.
    pub(super) free: bool,
}

pub(super) fn agglomerate(net: &mut Working, ways: Ways) {
    for (count, place) in net.alive_places().into_iter().enumerate() {
        if count % 64 == 63 && net.is_late() {
            return;
        }
        let (givers, takers) = (&net.places[place as usize].producers, &net.places[place as usize].consumers);
        if !net.is_free(place) || givers.is_empty() || takers.is_empty() {
            continue;
        }
        let bad = |&t: &TransitionId| {
            net.transitions[t as usize].special || (net.output(t, place) > 0 && net.input(t, place) > 0)
        };
        if givers.iter().chain(takers).any(bad) {
            continue;
        }
        let (givers, takers) = (givers.clone(), takers.clone());
        let made = if ways.post { post(net, place, &givers, &takers) } else { None };
        let made = made.or_else(|| if ways.pre || ways.free { pre(net, place, &givers, &takers, ways) } else { None });
        if let Some(made) = made {
            givers.into_iter().chain(takers).for_each(|t| net.remove_transition(t));
            net.remove_place(place);
            made.into_iter().for_each(|t| net.add(t));
        }
    }
}

/// The new transitions when each giver is followed by takers at once.
fn post(
    net: &mut Working,
    place: PlaceId,
    givers: &[TransitionId],
    takers: &[TransitionId],
) -> Option<Vec<WorkingTransition>> {
    let unit = net.input(takers[0], place);
    let alone = |&t: &TransitionId| {
        let taker = &net.transitions[t as usize];
        taker.inputs == [Arc { place, weight: unit }] && net.are_free(&taker.outputs)
    };
    // To choose at once is to choose too early where it is seen when choices are made.
    let too_early = net.runs == Some(Time::Branching) && takers.len() > 1;
    if too_early || !takers.iter().all(alone) || !givers.iter().all(|&t| net.output(t, place).is_multiple_of(unit)) {
        return None;
    }
    let limit = givers.len() + takers.len() + net.growth;
    let mut made = Vec::new();
    for &giver in givers {
        let times = net.output(giver, place) / unit;
        for chosen in choices(takers, times, limit - made.len().min(limit))? {
            let mut parts = vec![(giver, 1)];
            parts.extend_from_slice(&chosen);
            made.push(join(net, place, &parts)?);
        }
    }
    // Tokens that are there at first are moved on, if there is no choice how.
    let times = net.places[place as usize].initial / unit;
    if made.len() > limit || (times > 0 && (takers.len() > 1 || times > LENGTH)) {
        return None;
    }
    if times > 0 {
        let more = |arc: &Arc| {
            let sum = arc.weight.checked_mul(times)?.checked_add(net.places[arc.place as usize].initial)?;
            Some((arc.place, sum))
        };
        let moved: Option<Vec<(PlaceId, u64)>> = net.transitions[takers[0] as usize].outputs.iter().map(more).collect();
        for (place, initial) in moved? {
            net.places[place as usize].initial = initial;
        }
        net.steps.push(Step::fired(net, takers[0], times));
    }
    Some(made)
}

/// The new transitions when givers wait until a taker needs them.
fn pre(
    net: &Working,
    place: PlaceId,
    givers: &[TransitionId],
    takers: &[TransitionId],
    ways: Ways,
) -> Option<Vec<WorkingTransition>> {
    let unit = net.output(givers[0], place);
    let quiet = |&t: &TransitionId| {
        let giver = &net.transitions[t as usize];
        giver.outputs == [Arc { place, weight: unit }] && net.are_free(&giver.inputs)
    };
    let undisturbed = |&t: &TransitionId| {
        let inputs = &net.transitions[t as usize].inputs;
        let only_givers = |arc: &Arc| net.places[arc.place as usize].consumers.iter().all(|t| givers.contains(t));
        !inputs.is_empty() && inputs.iter().all(only_givers)
    };
    if net.places[place as usize].initial > 0
        || !givers.iter().all(quiet)
        || !takers.iter().all(|&t| net.input(t, place).is_multiple_of(unit))
    {
        return None;
    }
    // With several givers, firing one early may lose a choice that waiting keeps, and with it a deadlock.
    let few = if net.deadlock { 1 } else { 64 };
    let persistent = || givers.len() <= few && givers.iter().all(undisturbed);
    if !(ways.free && !net.deadlock || ways.pre && persistent()) {
        return None;
    }
    let limit = givers.len() + takers.len() + net.growth;
    let mut made = Vec::new();
    for &taker in takers {
        let times = net.input(taker, place) / unit;
        for mut chosen in choices(givers, times, limit - made.len().min(limit))? {
            chosen.push((taker, 1));
            made.push(join(net, place, &chosen)?);
        }
    }
    (made.len() <= limit).then_some(made)
}

/// All ways to choose so many of these, in any order; `None` when there are more than `limit`.
fn choices(of: &[TransitionId], times: u64, limit: usize) -> Option<Vec<Vec<(TransitionId, u64)>>> {
    if of.len() == 1 {
        return (limit > 0).then(|| vec![vec![(of[0], times)]]);
    }
    if times == 1 {
        return (of.len() <= limit).then(|| of.iter().map(|&t| vec![(t, 1)]).collect());
    }
    let mut partial = vec![(Vec::new(), times)];
    for (i, &t) in of.iter().enumerate() {
        let mut next = Vec::new();
        for (chosen, left) in partial {
            let least = if i + 1 == of.len() { left } else { 0 };
            for count in least..=left {
                let mut longer: Vec<(TransitionId, u64)> = chosen.clone();
                longer.extend((count > 0).then_some((t, count)));
                next.push((longer, left - count));
                if next.len() > limit {
                    return None;
                }
            }
        }
        partial = next;
    }
    Some(partial.into_iter().map(|(chosen, _)| chosen).collect())
}

/// One transition for all of these, one after the other, with the place between them left out.
fn join(net: &Working, place: PlaceId, parts: &[(TransitionId, u64)]) -> Option<WorkingTransition> {
    let (mut inputs, mut outputs, mut length) = (Vec::new(), Vec::new(), 0u64);
    for &(t, times) in parts {
        let part = &net.transitions[t as usize];
        length = part.length.checked_mul(times)?.checked_add(length).filter(|&length| length <= LENGTH)?;
        for (to, from) in [(&mut inputs, &part.inputs), (&mut outputs, &part.outputs)] {
            for arc in from.iter().filter(|arc| arc.place != place) {
                to.push(Arc { place: arc.place, weight: arc.weight.checked_mul(times)? });
            }
        }
    }
    let (inputs, outputs) = (merged(inputs)?, merged(outputs)?);
    Some(WorkingTransition { alive: true, special: false, inputs, outputs, made_of: parts.to_vec(), length })
}

/// One arc for each place.
pub(super) fn merged(mut arcs: Vec<Arc>) -> Option<Vec<Arc>> {
    arcs.sort_unstable();
    let mut merged: Vec<Arc> = Vec::new();
    for arc in arcs {
        match merged.last_mut().filter(|last| last.place == arc.place) {
            Some(last) => last.weight = last.weight.checked_add(arc.weight)?,
            None => merged.push(arc),
        }
    }
    Some(merged)
}
