//! The net while it is reduced: arcs by place and by transition, and what became of what.

use std::time::Instant;

use super::lift::Step;
use super::{Observed, Rules, Time};
use crate::{Arc, Net, PlaceId, TransitionId};

pub(super) struct Working {
    pub(super) places: Vec<WorkingPlace>,
    /// Those of the original net first, then those that rules made. A number is never used for another.
    pub(super) transitions: Vec<WorkingTransition>,
    /// What lifting a firing sequence has to know, in the order of reducing.
    pub(super) steps: Vec<Step>,
    pub(super) deadlock: bool,
    pub(super) runs: Option<Time>,
    pub(super) observes_places: bool,
    pub(super) deadline: Instant,
    pub(super) growth: usize,
    pub(super) alive_places: usize,
    pub(super) alive_transitions: usize,
    /// Input arcs that were taken away although both ends stayed.
    pub(super) dropped_inputs: usize,
}

#[derive(Default)]
pub(super) struct WorkingPlace {
    pub(super) alive: bool,
    pub(super) initial: u64,
    pub(super) observed: bool,
    /// Has inhibitor or reset arcs.
    pub(super) special: bool,
    pub(super) consumers: Vec<TransitionId>,
    pub(super) producers: Vec<TransitionId>,
}

#[derive(Default)]
pub(super) struct WorkingTransition {
    pub(super) alive: bool,
    /// Has inhibitor or reset arcs.
    pub(super) special: bool,
    pub(super) inputs: Vec<Arc>,
    pub(super) outputs: Vec<Arc>,
    /// The older transitions that it stands for, each with how often, in order; none for one of the original net.
    pub(super) made_of: Vec<(TransitionId, u64)>,
    /// Firings of the original net that one firing stands for.
    pub(super) length: u64,
}

pub(super) fn weight(arcs: &[Arc], place: PlaceId) -> u64 {
    arcs.binary_search_by_key(&place, |arc| arc.place).map_or(0, |at| arcs[at].weight)
}

fn set_weight(arcs: &mut Vec<Arc>, place: PlaceId, weight: u64) {
    match arcs.binary_search_by_key(&place, |arc| arc.place) {
        Ok(at) if weight == 0 => drop(arcs.remove(at)),
        Ok(at) => arcs[at].weight = weight,
        Err(_) if weight == 0 => {}
        Err(at) => arcs.insert(at, Arc { place, weight }),
    }
}

fn forget(list: &mut Vec<TransitionId>, t: TransitionId) {
    if let Some(at) = list.iter().position(|&other| other == t) {
        list.swap_remove(at);
    }
}

impl Working {
    pub(super) fn new(net: &Net, observed: &Observed, rules: &Rules) -> Working {
        let place =
            |place: &crate::Place| WorkingPlace { alive: true, initial: place.initial, ..WorkingPlace::default() };
        let mut working = Working {
            places: net.places.iter().map(place).collect(),
            transitions: Vec::new(),
            steps: Vec::new(),
            deadlock: observed.deadlock,
            runs: observed.runs,
            observes_places: !observed.places.is_empty(),
            deadline: rules.deadline,
            growth: rules.growth,
            alive_places: net.places.len(),
            alive_transitions: 0,
            dropped_inputs: 0,
        };
        for &place in &observed.places {
            working.places[place as usize].observed = true;
        }
        for t in &net.transitions {
            for place in t.inhibitors.iter().map(|arc| arc.place).chain(t.resets.iter().copied()) {
                working.places[place as usize].special = true;
            }
            let special = !t.inhibitors.is_empty() || !t.resets.is_empty();
            let (inputs, outputs) = (t.inputs.clone(), t.outputs.clone());
            working.add(WorkingTransition { alive: true, special, inputs, outputs, made_of: Vec::new(), length: 1 });
        }
        working
    }

    pub(super) fn add(&mut self, transition: WorkingTransition) {
        let id = self.transitions.len() as TransitionId;
        for arc in &transition.inputs {
            self.places[arc.place as usize].consumers.push(id);
        }
        for arc in &transition.outputs {
            self.places[arc.place as usize].producers.push(id);
        }
        self.transitions.push(transition);
        self.alive_transitions += 1;
    }

    pub(super) fn alive_places(&self) -> Vec<PlaceId> {
        (0..self.places.len() as PlaceId).filter(|&p| self.places[p as usize].alive).collect()
    }

    pub(super) fn alive_transitions(&self) -> Vec<TransitionId> {
        (0..self.transitions.len() as TransitionId).filter(|&t| self.transitions[t as usize].alive).collect()
    }

    /// No question sees the place and no arc but plain ones have to do with it.
    pub(super) fn is_free(&self, place: PlaceId) -> bool {
        let place = &self.places[place as usize];
        place.alive && !place.observed && !place.special
    }

    pub(super) fn are_free(&self, arcs: &[Arc]) -> bool {
        arcs.iter().all(|arc| self.is_free(arc.place))
    }

    pub(super) fn input(&self, t: TransitionId, place: PlaceId) -> u64 {
        weight(&self.transitions[t as usize].inputs, place)
    }

    pub(super) fn output(&self, t: TransitionId, place: PlaceId) -> u64 {
        weight(&self.transitions[t as usize].outputs, place)
    }

    pub(super) fn effect(&self, t: TransitionId, place: PlaceId) -> i128 {
        self.output(t, place) as i128 - self.input(t, place) as i128
    }

    /// The transitions with an arc to or from the place, each once.
    pub(super) fn around(&self, place: PlaceId) -> Vec<TransitionId> {
        let place = &self.places[place as usize];
        let mut around: Vec<TransitionId> = place.consumers.iter().chain(&place.producers).copied().collect();
        around.sort_unstable();
        around.dedup();
        around
    }

    pub(super) fn remove_transition(&mut self, t: TransitionId) {
        if !std::mem::replace(&mut self.transitions[t as usize].alive, false) {
            return;
        }
        self.alive_transitions -= 1;
        for arc in &self.transitions[t as usize].inputs {
            forget(&mut self.places[arc.place as usize].consumers, t);
        }
        for arc in &self.transitions[t as usize].outputs {
            forget(&mut self.places[arc.place as usize].producers, t);
        }
    }

    /// Takes a place away with its arcs.
    pub(super) fn remove_place(&mut self, place: PlaceId) {
        if !std::mem::replace(&mut self.places[place as usize].alive, false) {
            return;
        }
        self.alive_places -= 1;
        for t in std::mem::take(&mut self.places[place as usize].consumers) {
            set_weight(&mut self.transitions[t as usize].inputs, place, 0);
        }
        for t in std::mem::take(&mut self.places[place as usize].producers) {
            set_weight(&mut self.transitions[t as usize].outputs, place, 0);
        }
    }

    /// Sets the weights of the arcs between a transition and a place.
    pub(super) fn set_arcs(&mut self, t: TransitionId, place: PlaceId, input: u64, output: u64) {
        let (transition, place_arcs) = (&mut self.transitions[t as usize], &mut self.places[place as usize]);
        for (arcs, list, now) in [
            (&mut transition.inputs, &mut place_arcs.consumers, input),
            (&mut transition.outputs, &mut place_arcs.producers, output),
        ] {
            let before = weight(arcs, place);
            set_weight(arcs, place, now);
            if before == 0 && now > 0 {
                list.push(t);
            } else if before > 0 && now == 0 {
                forget(list, t);
            }
        }
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}
