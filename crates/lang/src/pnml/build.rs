//! From a draft without colours to a net.

use super::draft::{ArcKind, Draft, DraftArc, Meaning};
use super::names::Names;
use super::nupn;
use super::wiring::{Wire, wire};
use super::wrong::Wrong;
use scrimp_net::{Group, Net, Place, Transition};
use scrimp_system::{Rounds, Stop};

/// An arc with its ends resolved: the transition's number, and which way it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub place: u32,
    pub transition: u32,
    /// From the place to the transition.
    pub into: bool,
}

pub(super) fn ends(draft: &Draft, arc: &DraftArc) -> Result<Ends, Wrong> {
    let source = draft.end(arc.source, arc.at, "source")?;
    let target = draft.end(arc.target, arc.at, "target")?;
    let ends = match (source, target) {
        (Meaning::Place(place), Meaning::Transition(transition)) => Ends { place, transition, into: true },
        (Meaning::Transition(transition), Meaning::Place(place)) => Ends { place, transition, into: false },
        (Meaning::Place(_), _) => return Err(Wrong::new(arc.at, "an arc from a place to a place")),
        _ => return Err(Wrong::new(arc.at, "an arc from a transition to a transition")),
    };
    match arc.kind {
        ArcKind::Inhibitor | ArcKind::Test if !ends.into => {
            let what = if arc.kind == ArcKind::Test { "a test" } else { "an inhibitor" };
            Err(Wrong::new(arc.at, format!("{what} arc from a transition to a place"))
                .help("such an arc goes from the place to the transition"))
        }
        _ => Ok(ends),
    }
}

/// Arcs sorted by transition: where each transition's arcs begin, and the numbers of the arcs.
pub(super) fn by_transition(draft: &Draft) -> Result<(Vec<usize>, Vec<u32>), Wrong> {
    let mut starts = vec![0usize; draft.transitions.len() + 1];
    for arc in &draft.arcs {
        starts[ends(draft, arc)?.transition as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut next = starts.clone();
    let mut order = vec![0; draft.arcs.len()];
    for (number, arc) in draft.arcs.iter().enumerate() {
        let slot = &mut next[ends(draft, arc)?.transition as usize];
        order[*slot] = number as u32;
        *slot += 1;
    }
    Ok((starts, order))
}

pub(super) fn build(mut draft: Draft, stop: &Stop) -> Result<Net, Wrong> {
    let rounds = Rounds::new(stop, 1 << 10);
    draft.resolve_references()?;
    let (starts, order) = by_transition(&draft)?;
    let mut transitions = Vec::with_capacity(draft.transitions.len());
    let mut wires = Vec::new();
    for (number, t) in draft.transitions.iter().enumerate() {
        rounds.next()?;
        wires.clear();
        for &arc in &order[starts[number]..starts[number + 1]] {
            let arc = &draft.arcs[arc as usize];
            let Ends { place, into, .. } = ends(&draft, arc)?;
            wires.push(Wire { place, kind: arc.kind, into, weight: arc.weight, at: arc.at });
        }
        let mut transition = Transition { line: t.at.line, ..Transition::default() };
        wire(&mut transition, &mut wires)?;
        transitions.push(transition);
    }
    let units = nupn::resolve(&draft)?;
    let names = Names::of(&mut draft);
    let (mut place_groups, mut transition_groups) = (names.places, names.transitions);
    let places = draft.places.iter().zip(&mut place_groups).zip(names.place_names).enumerate();
    let places = places.map(|(number, ((place, group), name))| {
        group.members = vec![number as u32];
        Place { name, initial: place.initial, line: place.at.line }
    });
    let places = places.collect();
    fn own(groups: &mut [Group]) {
        for (number, group) in groups.iter_mut().enumerate() {
            group.members = vec![number as u32];
        }
    }
    own(&mut transition_groups);
    for (transition, name) in transitions.iter_mut().zip(names.transition_names) {
        transition.name = name;
    }
    let positions = draft.placing.done();
    Ok(Net { name: draft.name, places, transitions, place_groups, transition_groups, units, positions })
}
