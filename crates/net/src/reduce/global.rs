//! Rules that look at the whole net: what cannot influence the observed places, tokens that move freely, tokens from nowhere.

use std::collections::HashSet;

use super::agglomerate::merged;
use super::lift::Step;
use super::working::Working;
use crate::{Arc, Net, PlaceId, TransitionId};

/// How the tokens of a place matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matters {
    Not,
    /// More are never worse.
    More,
    Exactly,
}

/// Takes away transitions that cannot have a part in a change of the observed places. A place that is only needed as an
/// input asks only for what gives to it.
pub(super) fn irrelevant_transitions(net: &mut Working, original: &Net) {
    if net.deadlock {
        return;
    }
    let mut resetting: Vec<Vec<TransitionId>> = vec![Vec::new(); net.places.len()];
    let special: Vec<TransitionId> =
        net.alive_transitions().into_iter().filter(|&t| net.transitions[t as usize].special).collect();
    for &t in &special {
        // Rules never make a transition with such arcs, so its number is that of the original net.
        original.transitions[t as usize].resets.iter().for_each(|&place| resetting[place as usize].push(t));
    }
    let mut matters = vec![Matters::Not; net.places.len()];
    let mut open: Vec<PlaceId> = net.alive_places().into_iter().filter(|&p| net.places[p as usize].observed).collect();
    open.iter().for_each(|&place| matters[place as usize] = Matters::Exactly);
    let mut relevant = vec![false; net.transitions.len()];
    while let Some(place) = open.pop() {
        let exactly = matters[place as usize] == Matters::Exactly;
        let changes = |&t: &TransitionId| if exactly { net.effect(t, place) != 0 } else { net.effect(t, place) > 0 };
        let resets = |&&t: &&TransitionId| exactly || net.output(t, place) > 0;
        let mut touching: Vec<TransitionId> = net.around(place).into_iter().filter(changes).collect();
        touching.extend(resetting[place as usize].iter().filter(resets));
        for t in touching {
            if std::mem::replace(&mut relevant[t as usize], true) {
                continue;
            }
            let inputs = net.transitions[t as usize].inputs.iter().map(|arc| (arc.place, Matters::More));
            let inhibitors: &[Arc] =
                if net.transitions[t as usize].special { &original.transitions[t as usize].inhibitors } else { &[] };
            for (place, how) in inputs.chain(inhibitors.iter().map(|arc| (arc.place, Matters::Exactly))) {
                let before = &mut matters[place as usize];
                if *before == Matters::Not || (*before == Matters::More && how == Matters::Exactly) {
                    *before = how;
                    open.push(place);
                }
            }
        }
    }
    net.alive_transitions().into_iter().filter(|&t| !relevant[t as usize]).for_each(|t| net.remove_transition(t));
    // Without the transitions that had them, arcs that kept a place from being touched are gone.
    net.places.iter_mut().for_each(|place| place.special = false);
    for t in special.into_iter().filter(|&t| relevant[t as usize]) {
        let t = &original.transitions[t as usize];
        for place in t.inhibitors.iter().map(|arc| arc.place).chain(t.resets.iter().copied()) {
            net.places[place as usize].special = true;
        }
    }
}

/// Places that a transition without inputs gives to, seen by nobody, have as many tokens as anyone wants.
pub(super) fn endless_sources(net: &mut Working) {
    if net.deadlock {
        return;
    }
    for t in net.alive_transitions() {
        let transition = &net.transitions[t as usize];
        let is_source = transition.inputs.is_empty() && !transition.outputs.is_empty() && !transition.special;
        if !transition.alive || !is_source || !net.are_free(&transition.outputs) {
            continue;
        }
        let gives = transition.outputs.clone();
        let places: Vec<PlaceId> = gives.iter().map(|arc| arc.place).collect();
        net.steps.push(Step::source(net, t, gives));
        places.into_iter().for_each(|place| net.remove_place(place));
        net.remove_transition(t);
    }
}

/// Places among which tokens move freely become one. Where deadlocks are asked for, that tokens can always move there is
/// kept as a transition that takes one and gives it back.
pub(super) fn free_circles(net: &mut Working) {
    let mut moves: Vec<Vec<(PlaceId, TransitionId)>> = vec![Vec::new(); net.places.len()];
    for t in net.alive_transitions() {
        let transition = &net.transitions[t as usize];
        if let ([from], [to]) = (&transition.inputs[..], &transition.outputs[..])
            && (from.weight, to.weight, transition.special) == (1, 1, false)
            && from.place != to.place
            && net.is_free(from.place)
            && net.is_free(to.place)
        {
            moves[from.place as usize].push((to.place, t));
        }
    }
    for circle in components(&moves) {
        collapse(net, &circle, &moves);
    }
}

fn collapse(net: &mut Working, circle: &[PlaceId], moves: &[Vec<(PlaceId, TransitionId)>]) {
    let members: HashSet<PlaceId> = circle.iter().copied().collect();
    let initial = circle.iter().try_fold(0u64, |sum, &place| sum.checked_add(net.places[place as usize].initial));
    let inside = |&place: &PlaceId| {
        let inner = moves[place as usize].iter().filter(|(to, _)| members.contains(to));
        inner.map(|&(to, t)| (place, to, t)).collect::<Vec<_>>()
    };
    let inside: Vec<(PlaceId, PlaceId, TransitionId)> = circle.iter().flat_map(inside).collect();
    let mut touching: Vec<TransitionId> = circle.iter().flat_map(|&place| net.around(place)).collect();
    touching.sort_unstable();
    touching.dedup();
    // What each has to do with the one place that stays.
    let one = circle[0];
    let together = |arcs: &[Arc]| {
        let inner =
            arcs.iter().filter(|arc| members.contains(&arc.place)).map(|arc| Arc { place: one, weight: arc.weight });
        Some(merged(inner.collect())?.first().map_or(0, |arc| arc.weight))
    };
    let sums = |&t: &TransitionId| {
        Some((t, together(&net.transitions[t as usize].inputs)?, together(&net.transitions[t as usize].outputs)?))
    };
    let (Some(initial), Some(sums)) = (initial, touching.iter().map(sums).collect::<Option<Vec<_>>>()) else { return };
    net.steps.push(Step::circle(net, circle, inside.clone(), &touching));
    let kept = if net.deadlock { inside.first().map(|entry| entry.2) } else { None };
    for &(_, _, t) in inside.iter().filter(|entry| Some(entry.2) != kept) {
        net.remove_transition(t);
    }
    circle[1..].iter().for_each(|&place| net.remove_place(place));
    net.places[one as usize].initial = initial;
    for (t, input, output) in sums {
        if net.transitions[t as usize].alive {
            net.set_arcs(t, one, input, output);
        }
    }
}

/// The strongly connected components with more than one place, found without recursion.
fn components(moves: &[Vec<(PlaceId, TransitionId)>]) -> Vec<Vec<PlaceId>> {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NEW; moves.len()], vec![0u32; moves.len()]);
    let mut on_stack = vec![false; moves.len()];
    let (mut stack, mut found, mut count): (Vec<PlaceId>, Vec<Vec<PlaceId>>, u32) = (Vec::new(), Vec::new(), 0);
    for root in 0..moves.len() {
        if index[root] != NEW || moves[root].is_empty() {
            continue;
        }
        let mut calls = vec![(root as PlaceId, 0usize)];
        while let Some((place, next)) = calls.last_mut() {
            let at = *place as usize;
            if *next == 0 {
                (index[at], low[at], on_stack[at]) = (count, count, true);
                count += 1;
                stack.push(*place);
            }
            if let Some(&(to, _)) = moves[at].get(*next) {
                *next += 1;
                if index[to as usize] == NEW {
                    calls.push((to, 0));
                } else if on_stack[to as usize] {
                    low[at] = low[at].min(index[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(above, _)) = calls.last() {
                low[above as usize] = low[above as usize].min(low[at]);
            }
            if low[at] == index[at] {
                let begin = stack.iter().rposition(|&other| other as usize == at).unwrap_or(0);
                let component = stack.split_off(begin);
                component.iter().for_each(|&member| on_stack[member as usize] = false);
                if component.len() > 1 {
                    found.push(component);
                }
            }
        }
    }
    found
}
