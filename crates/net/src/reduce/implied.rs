//! Implied places: places that never disable a transition because another place does before, told from their arcs.

use std::collections::HashMap;

use super::simple::normal;
use super::working::Working;
use crate::{PlaceId, TransitionId};

/// Places that one place is compared with.
const COMPARED: usize = 16;
/// Arcs of a place up to which it is compared at all with places of another shape.
const ARCS: usize = 256;

/// Places that follow another in proportion and always have enough when that has.
pub(super) fn parallel_places(net: &mut Working) {
    let mut groups: HashMap<Vec<(u32, i128)>, Vec<(i128, PlaceId)>> = HashMap::new();
    for place in net.alive_places().into_iter().filter(|&place| !net.places[place as usize].special) {
        let effects = net.around(place).into_iter().map(|t| (t, net.effect(t, place))).filter(|entry| entry.1 != 0);
        let (effect, times) = normal(effects.collect());
        if !effect.is_empty() {
            groups.entry(effect).or_default().push((times, place));
        }
    }
    for group in groups.into_values().filter(|group| group.len() > 1) {
        for &(times, place) in &group {
            let others = group.iter().filter(|&&(_, other)| other != place && net.places[other as usize].alive);
            let is_implied = |&(their_times, other): &(i128, PlaceId)| follows(net, place, times, other, their_times);
            if net.is_free(place) && others.take(COMPARED).any(is_implied) {
                net.remove_place(place);
            }
        }
    }
}

/// The place has `times` of what the other has `their_times` of, and a constant more; enough for all that take from it.
fn follows(net: &Working, place: PlaceId, times: i128, other: PlaceId, their_times: i128) -> bool {
    let scaled = |a: i128, b: u64| a.checked_mul(b as i128);
    let check = || {
        let initial = |place: PlaceId| net.places[place as usize].initial;
        let more = scaled(their_times, initial(place))?.checked_sub(scaled(times, initial(other))?)?;
        let enough = |&t: &TransitionId| {
            let has = scaled(times, net.input(t, other))?.checked_add(more)?;
            Some(has >= scaled(their_times, net.input(t, place))?)
        };
        Some(net.places[place as usize].consumers.iter().all(|t| enough(t).unwrap_or(false)))
    };
    check().unwrap_or(false)
}

/// Places that always have as many tokens as another, plus a constant, or more.
pub(super) fn larger_places(net: &mut Working) {
    for place in net.alive_places() {
        let around = net.around(place);
        if !net.is_free(place) || around.len() > ARCS {
            continue;
        }
        let consumers = &net.places[place as usize].consumers;
        let Some(&shortest) = consumers.iter().min_by_key(|&&t| net.transitions[t as usize].inputs.len()) else {
            continue;
        };
        let inputs = &net.transitions[shortest as usize].inputs;
        let candidates = inputs.iter().map(|arc| arc.place).filter(|&other| other != place).take(COMPARED);
        if candidates.into_iter().any(|other| is_larger(net, place, &around, other)) {
            net.remove_place(place);
        }
    }
}

fn is_larger(net: &Working, place: PlaceId, around: &[TransitionId], other: PlaceId) -> bool {
    let theirs = &net.places[other as usize];
    if theirs.special || theirs.producers.len() > ARCS {
        return false;
    }
    let more = net.places[place as usize].initial as i128 - theirs.initial as i128;
    let grows = |&t: &TransitionId| net.effect(t, place) >= net.effect(t, other);
    let enough = |&t: &TransitionId| {
        let needed = net.input(t, place) as i128;
        needed == 0 || net.input(t, other) as i128 + more >= needed
    };
    around.iter().all(|t| grows(t) && enough(t)) && theirs.producers.iter().all(grows)
}
