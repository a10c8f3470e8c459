//! The minimal coverability set: the few markings, with ω, that cover all others.

use std::collections::HashSet;
use std::time::Instant;

use super::{Covering, GaveUp, Limits, OMEGA, Tokens, fire};
use crate::{Net, PlaceId, TransitionId};

/// The maximal markings that can be reached or come near to without end, none of which covers another.
#[derive(Debug, Clone)]
pub struct CoverabilitySet {
    maximal: Vec<Box<[u64]>>,
}

/// A marking on the branch that is being followed.
struct Step {
    marking: Covering,
    depth: usize,
}

pub fn coverability_set(net: &Net, limits: &Limits) -> Result<CoverabilitySet, GaveUp> {
    if !net.is_ordinary() {
        return Err(GaveUp::Arcs);
    }
    if net.places.iter().any(|place| place.initial == OMEGA) {
        return Err(GaveUp::Count);
    }
    let initial = Covering::new(net.initial().into());
    let mut kept = vec![initial.clone()];
    let mut seen: HashSet<Box<[u64]>> = HashSet::from([initial.tokens.clone()]);
    // Last in, first out: when a step is taken up, the branch down to it is what `path` has above its depth.
    let mut open = vec![Step { marking: initial, depth: 0 }];
    let mut path: Vec<Covering> = Vec::new();
    while let Some(Step { marking, depth }) = open.pop() {
        path.truncate(depth);
        // Something that was found since covers it, so following that is enough.
        if kept.iter().any(|other| marking.is_covered_by(other) && marking.tokens != other.tokens) {
            continue;
        }
        path.push(marking);
        if Instant::now() >= limits.deadline {
            return Err(GaveUp::Time);
        }
        for t in 0..net.transitions.len() as TransitionId {
            let Some(next) = fire(net, &path[depth].tokens, t) else { continue };
            let next = next?;
            if seen.contains(&next) {
                continue;
            }
            let mut next = Covering::new(next);
            if kept.iter().any(|other| next.is_covered_by(other)) {
                continue;
            }
            accelerate(&path, &mut next);
            kept.retain(|other| !other.is_covered_by(&next));
            kept.push(next.clone());
            seen.insert(next.tokens.clone());
            if seen.len() > limits.nodes {
                return Err(GaveUp::Nodes);
            }
            open.push(Step { marking: next, depth: depth + 1 });
        }
    }
    Ok(CoverabilitySet { maximal: kept.into_iter().map(|marking| marking.tokens).collect() })
}

/// Puts ω where the marking is above one that it came from: what led from there to here can be repeated.
fn accelerate(path: &[Covering], marking: &mut Covering) {
    loop {
        let mut raised = false;
        for earlier in path.iter().rev() {
            if !earlier.is_covered_by(marking) {
                continue;
            }
            for (tokens, &before) in marking.tokens.iter_mut().zip(&earlier.tokens) {
                if *tokens > before && *tokens != OMEGA {
                    *tokens = OMEGA;
                    raised = true;
                }
            }
            // What tells quickly that a marking is covered counts the new ω too.
            marking.total = if raised { u64::MAX } else { marking.total };
        }
        if !raised {
            return;
        }
    }
}

impl CoverabilitySet {
    /// The maximal markings, place by place.
    pub fn maximal(&self) -> impl ExactSizeIterator<Item = Vec<Tokens>> + '_ {
        self.maximal.iter().map(|marking| marking.iter().map(|&tokens| count(tokens)).collect())
    }

    pub fn is_bounded(&self) -> bool {
        !self.maximal.iter().any(|marking| marking.contains(&OMEGA))
    }

    /// The most tokens that these places have together. A place that is listed twice counts twice.
    pub fn bound_of(&self, places: &[PlaceId]) -> Tokens {
        let add = |sum, tokens| match (sum, count(tokens)) {
            (Tokens::Finite(a), Tokens::Finite(b)) => Tokens::Finite(a + b),
            _ => Tokens::Omega,
        };
        let sum = |marking: &[u64]| places.iter().fold(Tokens::Finite(0), |sum, &p| add(sum, marking[p as usize]));
        self.maximal.iter().map(|marking| sum(marking)).max().unwrap_or(Tokens::Finite(0))
    }

    pub fn unbounded_places(&self) -> Vec<PlaceId> {
        let places = self.maximal.first().map_or(0, |marking| marking.len());
        (0..places).filter(|&p| self.maximal.iter().any(|marking| marking[p] == OMEGA)).map(|p| p as PlaceId).collect()
    }

    /// The transition is enabled in some marking of the net that this is the set of.
    pub fn is_fireable(&self, net: &Net, transition: TransitionId) -> bool {
        let inputs = &net.transitions[transition as usize].inputs;
        self.maximal.iter().any(|marking| inputs.iter().all(|arc| marking[arc.place as usize] >= arc.weight))
    }

    /// Transitions that are enabled in no marking at all.
    pub fn dead_transitions(&self, net: &Net) -> Vec<TransitionId> {
        (0..net.transitions.len() as TransitionId).filter(|&t| !self.is_fireable(net, t)).collect()
    }
}

fn count(tokens: u64) -> Tokens {
    if tokens == OMEGA { Tokens::Omega } else { Tokens::Finite(tokens as u128) }
}
