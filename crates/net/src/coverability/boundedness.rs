//! Whether a net is bounded: a search depth first that stops at the first marking above one that it came from.
//!
//! Without inhibitor arcs more tokens never hurt, so a marking that another covers need not be followed. With inhibitor arcs
//! only the same marking again is left out. Then, and with reset arcs, the answer may stay unknown, whatever the effort.

use std::collections::HashSet;
use std::time::Instant;

use super::{Covering, GaveUp, Limits, OMEGA};
use crate::{Net, PlaceId, TransitionId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundedness {
    Bounded,
    /// After `prefix`, each time that `pump` is fired the place has more tokens than before, for ever.
    Unbounded {
        place: PlaceId,
        prefix: Vec<TransitionId>,
        pump: Vec<TransitionId>,
    },
    Unknown(GaveUp),
}

struct Step {
    marking: Covering,
    depth: usize,
    fired: TransitionId,
}

pub fn boundedness(net: &Net, limits: &Limits) -> Boundedness {
    let monotone = net.transitions.iter().all(|t| t.inhibitors.is_empty());
    let initial = Covering::new(net.initial().into());
    let mut kept = vec![initial.clone()];
    let mut seen: HashSet<Box<[u64]>> = HashSet::from([initial.tokens.clone()]);
    let mut open = vec![Step { marking: initial, depth: 0, fired: 0 }];
    let (mut path, mut fired): (Vec<Covering>, Vec<TransitionId>) = (Vec::new(), Vec::new());
    while let Some(step) = open.pop() {
        if Instant::now() >= limits.deadline {
            return Boundedness::Unknown(GaveUp::Time);
        }
        path.truncate(step.depth);
        fired.truncate(step.depth);
        let covered = |other: &Covering| step.marking.is_covered_by(other) && step.marking.tokens != other.tokens;
        if monotone && kept.iter().any(covered) {
            continue;
        }
        path.push(step.marking);
        fired.push(step.fired);
        for t in 0..net.transitions.len() as TransitionId {
            let mut tokens = path[step.depth].tokens.to_vec();
            if !net.is_enabled(&tokens, t) {
                continue;
            }
            if !net.fire(&mut tokens, t) || tokens.contains(&OMEGA) {
                return Boundedness::Unknown(GaveUp::Count);
            }
            if seen.contains(&tokens[..]) {
                continue;
            }
            let next = Covering::new(tokens.into());
            if monotone && kept.iter().any(|other| next.is_covered_by(other)) {
                continue;
            }
            for earlier in (0..path.len()).rev().filter(|&earlier| path[earlier].is_covered_by(&next)) {
                let prefix = fired[1..=earlier].to_vec();
                let pump = fired[earlier + 1..].iter().copied().chain([t]).collect();
                if let Some(place) = growing(net, &prefix, &pump) {
                    return Boundedness::Unbounded { place, prefix, pump };
                }
            }
            seen.insert(next.tokens.clone());
            if seen.len() > limits.nodes {
                return Boundedness::Unknown(GaveUp::Nodes);
            }
            if monotone {
                kept.retain(|other| !other.is_covered_by(&next));
                kept.push(next.clone());
            }
            open.push(Step { marking: next, depth: step.depth + 1, fired: t });
        }
    }
    Boundedness::Bounded
}

/// A place that grows each time that `pump` is fired after `prefix`, if there is one for certain.
///
/// The pump can be fired again when it leaves no place with fewer tokens, and the places that its inhibitor arcs read with
/// just as many. A place grows by the same again when nothing in the pump empties it.
fn growing(net: &Net, prefix: &[TransitionId], pump: &Vec<TransitionId>) -> Option<PlaceId> {
    let fire = |marking: &mut Vec<u64>, firing: &[TransitionId]| {
        firing.iter().all(|&t| net.is_enabled(marking, t) && net.fire(marking, t))
    };
    let mut before = net.initial();
    fire(&mut before, prefix).then_some(())?;
    let mut after = before.clone();
    fire(&mut after, pump).then_some(())?;
    let of_pump = || pump.iter().map(|&t| &net.transitions[t as usize]);
    let same = |place: PlaceId| before[place as usize] == after[place as usize];
    let repeatable = before.iter().zip(&after).all(|(before, after)| before <= after)
        && of_pump().all(|t| t.inhibitors.iter().all(|arc| same(arc.place)));
    if !repeatable {
        return None;
    }
    let grows = |&place: &PlaceId| !same(place) && of_pump().all(|t| t.resets.binary_search(&place).is_err());
    (0..net.places.len() as PlaceId).find(grows)
}
