//! Rules that only take away what never matters: transitions that cannot fire or add nothing, places that never hinder.

use std::collections::HashMap;

use super::working::{Working, weight};
use crate::{Arc, PlaceId, TransitionId};

/// Comparisons with others that one transition or place is worth.
const COMPARED: usize = 64;

/// Transitions with an input that never has enough tokens: it has no source of tokens, or only sources that are dead.
pub(super) fn dead_transitions(net: &mut Working) {
    for place in net.alive_places() {
        let around = net.around(place);
        if around.iter().any(|&t| net.effect(t, place) > 0) || has_refill(net, place) {
            continue;
        }
        let initial = net.places[place as usize].initial;
        for t in around.into_iter().filter(|&t| net.input(t, place) > initial).collect::<Vec<_>>() {
            net.remove_transition(t);
        }
    }
    let mut marked: Vec<bool> = net.places.iter().map(|place| place.initial > 0).collect();
    let unmarked = |arcs: &[Arc]| arcs.iter().filter(|arc| !marked[arc.place as usize]).count();
    let mut missing: Vec<usize> = net.transitions.iter().map(|t| unmarked(&t.inputs)).collect();
    let alive = net.alive_transitions();
    let mut open: Vec<TransitionId> = alive.iter().copied().filter(|&t| missing[t as usize] == 0).collect();
    while let Some(t) = open.pop() {
        for arc in &net.transitions[t as usize].outputs {
            if !std::mem::replace(&mut marked[arc.place as usize], true) {
                for &consumer in &net.places[arc.place as usize].consumers {
                    missing[consumer as usize] -= 1;
                    if missing[consumer as usize] == 0 {
                        open.push(consumer);
                    }
                }
            }
        }
    }
    alive.into_iter().filter(|&t| missing[t as usize] > 0).for_each(|t| net.remove_transition(t));
}

/// The effect of a reset is not in the arcs: what it gives after emptying can be more than there was.
fn has_refill(net: &Working, place: PlaceId) -> bool {
    net.places[place as usize].special && !net.places[place as usize].producers.is_empty()
}

/// A place that always has enough for a transition does not have to be asked. What a transition that takes tokens away
/// leaves at least is what the place always has, if it has that at first.
pub(super) fn sufficient_places(net: &mut Working) {
    for place in net.alive_places() {
        if net.places[place as usize].special {
            continue;
        }
        let around = net.around(place);
        let left = around.iter().filter(|&&t| net.effect(t, place) < 0).map(|&t| net.output(t, place)).min();
        let low = left.unwrap_or(u64::MAX).min(net.places[place as usize].initial);
        for t in around {
            let (input, output) = (net.input(t, place), net.output(t, place));
            if input > 0 && input <= low && input <= output {
                net.set_arcs(t, place, 0, output - input);
                net.dropped_inputs += 1;
            }
        }
    }
}

/// Places that nothing takes from and no question sees.
pub(super) fn sink_places(net: &mut Working) {
    for place in net.alive_places() {
        if net.is_free(place) && net.places[place as usize].consumers.is_empty() {
            net.remove_place(place);
        }
    }
}

fn covers(larger: &[Arc], smaller: &[Arc]) -> bool {
    smaller.iter().all(|arc| weight(larger, arc.place) >= arc.weight)
}

/// Transitions that change nothing. Where deadlocks are asked for, only those that never are enabled alone.
pub(super) fn idle_transitions(net: &mut Working) {
    for t in net.alive_transitions() {
        let transition = &net.transitions[t as usize];
        if transition.special || transition.inputs != transition.outputs {
            continue;
        }
        let inputs = &transition.inputs;
        let is_weaker = |&other: &TransitionId| {
            let compared = &net.transitions[other as usize];
            other != t && !compared.special && covers(inputs, &compared.inputs)
        };
        let neighbours = inputs.iter().flat_map(|arc| net.places[arc.place as usize].consumers.iter());
        if !net.deadlock || neighbours.take(COMPARED).any(is_weaker) {
            net.remove_transition(t);
        }
    }
}

/// Where a transition is always enabled there is no deadlock, and if nothing else is asked the rest does not matter.
pub(super) fn always_enabled(net: &mut Working) {
    if !net.deadlock || net.observes_places {
        return;
    }
    let alive = net.alive_transitions();
    let always = |&&t: &&TransitionId| {
        let transition = &net.transitions[t as usize];
        transition.inputs.is_empty() && !transition.special
    };
    let Some(&kept) = alive.iter().find(always) else { return };
    alive.into_iter().filter(|&t| t != kept).for_each(|t| net.remove_transition(t));
    net.places.iter_mut().for_each(|place| place.special = false);
}

fn greatest_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What has the same effect up to a factor, each with its factor.
pub(super) type Alike = HashMap<Vec<(u32, i128)>, Vec<(i128, u32)>>;

/// Divides by the greatest common divisor, which is returned too.
pub(super) fn normal(mut effect: Vec<(u32, i128)>) -> (Vec<(u32, i128)>, i128) {
    let divisor = effect.iter().fold(0, |divisor, entry| greatest_divisor(divisor, entry.1.unsigned_abs()));
    let divisor = i128::try_from(divisor).unwrap_or(1).max(1);
    effect.iter_mut().for_each(|entry| entry.1 /= divisor);
    (effect, divisor)
}

/// Transitions that do what another does once or several times, and need no less for it.
pub(super) fn dominated_transitions(net: &mut Working) {
    let mut groups = Alike::new();
    for t in net.alive_transitions().into_iter().filter(|&t| !net.transitions[t as usize].special) {
        let transition = &net.transitions[t as usize];
        let whole = crate::Transition {
            inputs: transition.inputs.clone(),
            outputs: transition.outputs.clone(),
            ..crate::Transition::default()
        };
        let (effect, times) = normal(whole.effect());
        if !effect.is_empty() {
            groups.entry(effect).or_default().push((times, t));
        }
    }
    for (effect, mut group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let needs =
            |t: TransitionId| net.transitions[t as usize].inputs.iter().map(|arc| arc.weight as u128).sum::<u128>();
        group.sort_by_key(|&(times, t)| (times, needs(t), net.transitions[t as usize].length, t));
        let mut kept: Vec<(i128, TransitionId)> = Vec::new();
        for &(times, t) in &group {
            let dominates = |&(once, other): &(i128, TransitionId)| {
                // Who sees runs sees what is between the firings of one that is repeated.
                times % once == 0
                    && (times == once || net.runs.is_none())
                    && is_repeated(net, other, t, &effect, once, times / once)
            };
            if kept.iter().take(COMPARED).any(dominates) {
                net.remove_transition(t);
            } else {
                kept.push((times, t));
            }
        }
    }
}

/// Where `larger` is enabled, `t` can be fired so many times, one after the other.
fn is_repeated(
    net: &Working,
    t: TransitionId,
    larger: TransitionId,
    unit: &[(u32, i128)],
    once: i128,
    times: i128,
) -> bool {
    let larger = &net.transitions[larger as usize].inputs;
    net.transitions[t as usize].inputs.iter().all(|arc| {
        let change = unit.binary_search_by_key(&arc.place, |entry| entry.0).map_or(0, |at| unit[at].1);
        let taken = (-change).max(0).saturating_mul(once).saturating_mul(times - 1);
        weight(larger, arc.place) as i128 >= taken.saturating_add(arc.weight as i128)
    })
}
