//! From a firing sequence of the reduced net back to one of the original net.

use std::collections::{HashMap, HashSet, VecDeque};

use super::working::{Working, WorkingTransition};
use crate::{Arc, PlaceId, TransitionId};

/// Something that reducing did and that a firing sequence has to be told of.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Transitions with this number or above were made later.
    made_before: TransitionId,
    kind: Kind,
}

/// The arcs that a transition had then with the places that matter to a step: inputs and outputs.
type Arcs = HashMap<TransitionId, (Vec<Arc>, Vec<Arc>)>;

#[derive(Debug, Clone)]
enum Kind {
    /// A transition was fired so many times to begin with.
    Fired(TransitionId, u64),
    /// Places that a transition gives to, as much as anyone wants, went away with it.
    Source { t: TransitionId, gives: Vec<Arc>, initial: HashMap<PlaceId, u64>, arcs: Arcs },
    /// Places between which transitions move single tokens (from, to, by which) became one.
    Circle { initial: HashMap<PlaceId, u64>, moves: Vec<(PlaceId, PlaceId, TransitionId)>, arcs: Arcs },
}

/// Firings that a sequence may have, lifted.
const LONGEST: usize = 20_000_000;

impl Step {
    pub(super) fn fired(net: &Working, t: TransitionId, times: u64) -> Step {
        Step { made_before: net.transitions.len() as TransitionId, kind: Kind::Fired(t, times) }
    }

    pub(super) fn source(net: &Working, t: TransitionId, gives: Vec<Arc>) -> Step {
        let places: Vec<PlaceId> = gives.iter().map(|arc| arc.place).collect();
        let touching: Vec<TransitionId> = places.iter().flat_map(|&place| net.around(place)).collect();
        let (initial, arcs) = (initial(net, &places), arcs(net, &places, &touching));
        Step { made_before: net.transitions.len() as TransitionId, kind: Kind::Source { t, gives, initial, arcs } }
    }

    pub(super) fn circle(
        net: &Working,
        places: &[PlaceId],
        moves: Vec<(PlaceId, PlaceId, TransitionId)>,
        touching: &[TransitionId],
    ) -> Step {
        let (initial, arcs) = (initial(net, places), arcs(net, places, touching));
        Step { made_before: net.transitions.len() as TransitionId, kind: Kind::Circle { initial, moves, arcs } }
    }
}

fn initial(net: &Working, places: &[PlaceId]) -> HashMap<PlaceId, u64> {
    places.iter().map(|&place| (place, net.places[place as usize].initial)).collect()
}

fn arcs(net: &Working, places: &[PlaceId], touching: &[TransitionId]) -> Arcs {
    let places: HashSet<PlaceId> = places.iter().copied().collect();
    let some = |arcs: &[Arc]| arcs.iter().filter(|arc| places.contains(&arc.place)).copied().collect();
    let of = |&t: &TransitionId| {
        (t, (some(&net.transitions[t as usize].inputs), some(&net.transitions[t as usize].outputs)))
    };
    touching.iter().map(of).collect()
}

/// What each transition that rules made stands for.
#[derive(Debug, Clone)]
pub(super) struct History {
    original: TransitionId,
    made: Vec<Vec<(TransitionId, u64)>>,
    steps: Vec<Step>,
}

impl History {
    pub(super) fn new(original: usize, transitions: Vec<WorkingTransition>, steps: Vec<Step>) -> History {
        let made = transitions.into_iter().skip(original).map(|t| t.made_of).collect();
        History { original: original as TransitionId, made, steps }
    }

    /// The original transitions that one stands for, in order, unless steps put others between them.
    pub(super) fn parts(&self, t: TransitionId) -> Option<Vec<TransitionId>> {
        self.expanded(&[t], self.original)
    }

    pub(super) fn lift(&self, mut firing: Vec<TransitionId>) -> Option<Vec<TransitionId>> {
        for step in self.steps.iter().rev() {
            firing = self.expanded(&firing, step.made_before)?;
            firing = match &step.kind {
                Kind::Fired(t, times) => repeated(*t, *times, &firing)?,
                Kind::Source { t, gives, initial, arcs } => {
                    repeated(*t, missing(gives, initial, arcs, &firing)?, &firing)?
                }
                Kind::Circle { initial, moves, arcs } => routed(initial, moves, arcs, &firing)?,
            };
        }
        self.expanded(&firing, self.original)
    }

    /// Puts what they were made of for all transitions from `limit` on.
    fn expanded(&self, firing: &[TransitionId], limit: TransitionId) -> Option<Vec<TransitionId>> {
        let mut lifted = Vec::with_capacity(firing.len());
        let mut open: Vec<(TransitionId, u64)> = Vec::new();
        for &t in firing {
            open.push((t, 1));
            while let Some((t, times)) = open.pop() {
                if t < limit || t < self.original {
                    if times > (LONGEST - lifted.len()) as u64 {
                        return None;
                    }
                    lifted.extend(std::iter::repeat_n(t, times as usize));
                    continue;
                }
                if times > 1 {
                    open.push((t, times - 1));
                }
                open.extend(self.made[(t - self.original) as usize].iter().rev());
            }
        }
        Some(lifted)
    }
}

fn repeated(t: TransitionId, times: u64, firing: &[TransitionId]) -> Option<Vec<TransitionId>> {
    let times = usize::try_from(times).ok().filter(|&times| times <= LONGEST)?;
    let mut all = vec![t; times];
    all.extend_from_slice(firing);
    Some(all)
}

/// How often a source has to fire before so that the sequence never lacks what it gives.
fn missing(gives: &[Arc], initial: &HashMap<PlaceId, u64>, arcs: &Arcs, firing: &[TransitionId]) -> Option<u64> {
    let mut balance: HashMap<PlaceId, i128> = initial.iter().map(|(&place, &tokens)| (place, tokens as i128)).collect();
    let mut lowest = balance.clone();
    for (inputs, outputs) in firing.iter().filter_map(|t| arcs.get(t)) {
        for arc in inputs {
            let tokens = balance.get_mut(&arc.place)?;
            *tokens -= arc.weight as i128;
            let lowest = lowest.get_mut(&arc.place)?;
            *lowest = (*lowest).min(*tokens);
        }
        for arc in outputs {
            *balance.get_mut(&arc.place)? += arc.weight as i128;
        }
    }
    let needed = |arc: &Arc| (-lowest[&arc.place]).max(0).unsigned_abs().div_ceil(arc.weight as u128);
    u64::try_from(gives.iter().map(needed).max().unwrap_or(0)).ok()
}

/// Moves tokens within a circle of places to where the sequence needs them.
fn routed(
    initial: &HashMap<PlaceId, u64>,
    moves: &[(PlaceId, PlaceId, TransitionId)],
    arcs: &Arcs,
    firing: &[TransitionId],
) -> Option<Vec<TransitionId>> {
    let mut tokens = initial.clone();
    let moving: HashSet<TransitionId> = moves.iter().map(|entry| entry.2).collect();
    let mut into: HashMap<PlaceId, Vec<(PlaceId, TransitionId)>> = HashMap::new();
    for &(from, to, t) in moves {
        into.entry(to).or_default().push((from, t));
    }
    let mut all = Vec::with_capacity(firing.len());
    for &t in firing.iter().filter(|t| !moving.contains(t)) {
        if let Some((inputs, outputs)) = arcs.get(&t) {
            for arc in inputs {
                while tokens[&arc.place] < arc.weight {
                    let (from, way) = nearest(&tokens, &into, inputs, arc.place)?;
                    *tokens.get_mut(&from)? -= 1;
                    *tokens.get_mut(&arc.place)? += 1;
                    all.extend(way);
                    (all.len() <= LONGEST).then_some(())?;
                }
            }
            for arc in inputs {
                let place = tokens.get_mut(&arc.place)?;
                *place = place.checked_sub(arc.weight)?;
            }
            for arc in outputs {
                let place = tokens.get_mut(&arc.place)?;
                *place = place.checked_add(arc.weight)?;
            }
        }
        all.push(t);
    }
    Some(all)
}

/// The nearest place with a token more than the transition needs of it, and the way from there.
fn nearest(
    tokens: &HashMap<PlaceId, u64>,
    into: &HashMap<PlaceId, Vec<(PlaceId, TransitionId)>>,
    needed: &[Arc],
    to: PlaceId,
) -> Option<(PlaceId, Vec<TransitionId>)> {
    let mut towards: HashMap<PlaceId, Option<(PlaceId, TransitionId)>> = HashMap::from([(to, None)]);
    let mut open = VecDeque::from([to]);
    while let Some(place) = open.pop_front() {
        if place != to && tokens[&place] > super::working::weight(needed, place) {
            let (mut way, mut at) = (Vec::new(), place);
            while let Some(&Some((next, t))) = towards.get(&at) {
                way.push(t);
                at = next;
            }
            return Some((place, way));
        }
        for &(from, t) in into.get(&place).into_iter().flatten() {
            if let std::collections::hash_map::Entry::Vacant(entry) = towards.entry(from) {
                entry.insert(Some((place, t)));
                open.push_back(from);
            }
        }
    }
    None
}
