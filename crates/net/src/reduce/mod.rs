//! Smaller nets with the same answers: reductions, each of which says what it keeps, until none has anything left to do.
//!
//! Three things can be kept. *Projections*: the observed places have the same numbers of tokens, together, in the reachable
//! markings of both nets; so every condition over them is reachable in both or in none, and bounds are the same.
//! *Deadlocks*: the same for the markings without enabled transitions. Rules that keep only projections do nothing where
//! deadlocks are asked for. *Runs*: what formulas see of them; fewer rules do. Places with inhibitor or reset arcs are
//! treated as observed.

mod agglomerate;
mod global;
mod implied;
mod lift;
mod question;
mod runs;
mod simple;
mod working;

use std::time::Instant;

use crate::{Arc, Net, Place, PlaceId, Transition, TransitionId};
use lift::History;
use working::Working;

pub use runs::reduce_for;

/// What a question sees of a net.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    pub places: Vec<PlaceId>,
    /// It asks whether transitions are enabled at all.
    pub deadlock: bool,
    /// It asks about runs, of linear or of branching time; about deadlocks too, then.
    pub runs: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    Linear,
    Branching,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Transitions whose inputs never have enough tokens. Keeps all.
    DeadTransitions,
    /// Places are not asked where they always have enough. Keeps all.
    SufficientPlaces,
    /// Places that nothing takes from. Keeps all.
    SinkPlaces,
    /// Transitions that change nothing. Keeps all; with deadlocks does less.
    IdleTransitions,
    /// All but one transition where that one is always enabled. Only for questions about deadlocks alone.
    AlwaysEnabled,
    /// Transitions that do what others do, identical ones among them. Keeps all.
    DominatedTransitions,
    /// Places in proportion to another. Keeps all.
    ParallelPlaces,
    /// Places that always have at least what another has. Keeps all.
    LargerPlaces,
    /// Transitions that cannot influence the observed places. Keeps projections.
    IrrelevantTransitions,
    /// Places with as many tokens as anyone wants. Keeps projections.
    EndlessSources,
    /// Places among which tokens move freely. Keeps all.
    FreeCircles,
    /// What takes from a place fires at once. Keeps all.
    PostAgglomeration,
    /// What gives to a place waits. Keeps all.
    PreAgglomeration,
    /// What gives to a place waits, although others take from the same places. Keeps projections.
    FreeAgglomeration,
}

impl Rule {
    /// In the order in which they are tried: the cheap ones first.
    pub const ALL: [Rule; 14] = [
        Rule::AlwaysEnabled,
        Rule::DeadTransitions,
        Rule::IrrelevantTransitions,
        Rule::SufficientPlaces,
        Rule::SinkPlaces,
        Rule::IdleTransitions,
        Rule::EndlessSources,
        Rule::DominatedTransitions,
        Rule::ParallelPlaces,
        Rule::LargerPlaces,
        Rule::FreeCircles,
        Rule::PostAgglomeration,
        Rule::PreAgglomeration,
        Rule::FreeAgglomeration,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Rule::DeadTransitions => "dead-transitions",
            Rule::SufficientPlaces => "sufficient-places",
            Rule::SinkPlaces => "sink-places",
            Rule::IdleTransitions => "idle-transitions",
            Rule::AlwaysEnabled => "always-enabled",
            Rule::DominatedTransitions => "dominated-transitions",
            Rule::ParallelPlaces => "parallel-places",
            Rule::LargerPlaces => "larger-places",
            Rule::IrrelevantTransitions => "irrelevant-transitions",
            Rule::EndlessSources => "endless-sources",
            Rule::FreeCircles => "free-circles",
            Rule::PostAgglomeration => "post-agglomeration",
            Rule::PreAgglomeration => "pre-agglomeration",
            Rule::FreeAgglomeration => "free-agglomeration",
        }
    }
}

/// Which rules are used, and with how much effort.
#[derive(Debug, Clone)]
pub struct Rules {
    pub on: Vec<Rule>,
    pub deadline: Instant,
    /// Transitions by which agglomerating one place may make the net larger.
    pub growth: usize,
}

impl Rules {
    pub fn all(deadline: Instant) -> Rules {
        Rules { on: Rule::ALL.to_vec(), deadline, growth: 0 }
    }
}

/// What a rule took away in all. Agglomerating may make transitions more, and then they are below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    pub rule: Rule,
    pub places: i64,
    pub transitions: i64,
    /// Input arcs between places and transitions that stay.
    pub inputs: i64,
}

#[derive(Debug, Clone)]
pub struct Reduced {
    pub net: Net,
    /// Which place of the original net each is.
    pub places: Vec<PlaceId>,
    /// What each rule that did something did.
    pub removed: Vec<Removed>,
    /// Which transition each is while reducing.
    transitions: Vec<TransitionId>,
    history: History,
}

pub fn reduce(net: &Net, observed: &Observed, rules: &Rules) -> Reduced {
    let mut working = Working::new(net, observed, rules);
    let mut removed: Vec<Removed> = Vec::new();
    let mut changed = true;
    while changed && !working.is_late() {
        changed = false;
        for rule in Rule::ALL.into_iter().filter(|rule| rules.on.contains(rule)) {
            let before = (working.alive_places as i64, working.alive_transitions as i64, working.dropped_inputs as i64);
            apply(&mut working, rule, net);
            let places = before.0 - working.alive_places as i64;
            let transitions = before.1 - working.alive_transitions as i64;
            let inputs = working.dropped_inputs as i64 - before.2;
            if (places, transitions, inputs) == (0, 0, 0) {
                continue;
            }
            changed = true;
            match removed.iter_mut().find(|removed| removed.rule == rule) {
                Some(entry) => {
                    entry.places += places;
                    entry.transitions += transitions;
                    entry.inputs += inputs;
                }
                None => removed.push(Removed { rule, places, transitions, inputs }),
            }
        }
    }
    finish(working, net, removed)
}

fn apply(net: &mut Working, rule: Rule, original: &Net) {
    let no = agglomerate::Ways { post: false, pre: false, free: false };
    match rule {
        Rule::DeadTransitions => simple::dead_transitions(net),
        Rule::SufficientPlaces => simple::sufficient_places(net),
        Rule::SinkPlaces => simple::sink_places(net),
        Rule::IdleTransitions => simple::idle_transitions(net),
        Rule::AlwaysEnabled => simple::always_enabled(net),
        Rule::DominatedTransitions => simple::dominated_transitions(net),
        Rule::ParallelPlaces => implied::parallel_places(net),
        Rule::LargerPlaces => implied::larger_places(net),
        Rule::IrrelevantTransitions => global::irrelevant_transitions(net, original),
        Rule::EndlessSources => global::endless_sources(net),
        Rule::FreeCircles => global::free_circles(net),
        Rule::PostAgglomeration => agglomerate::agglomerate(net, agglomerate::Ways { post: true, ..no }),
        Rule::PreAgglomeration => agglomerate::agglomerate(net, agglomerate::Ways { pre: true, ..no }),
        Rule::FreeAgglomeration => agglomerate::agglomerate(net, agglomerate::Ways { free: true, ..no }),
    }
}

/// The net that is left, with places and transitions numbered anew.
fn finish(working: Working, original: &Net, removed: Vec<Removed>) -> Reduced {
    let (places, transitions) = (working.alive_places(), working.alive_transitions());
    let mut number = vec![PlaceId::MAX; working.places.len()];
    places.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as PlaceId);
    let renumbered = |arcs: &[Arc]| -> Vec<Arc> {
        arcs.iter().map(|arc| Arc { place: number[arc.place as usize], weight: arc.weight }).collect()
    };
    let mut net = Net { name: original.name.clone(), ..Net::default() };
    for &place in &places {
        let initial = working.places[place as usize].initial;
        net.places.push(Place { initial, ..original.places[place as usize].clone() });
    }
    for &t in &transitions {
        let transition = &working.transitions[t as usize];
        let mut made = Transition {
            inputs: renumbered(&transition.inputs),
            outputs: renumbered(&transition.outputs),
            ..Transition::default()
        };
        if let Some(old) = original.transitions.get(t as usize) {
            made.name.clone_from(&old.name);
            made.line = old.line;
            made.inhibitors = renumbered(&old.inhibitors);
            made.resets = old.resets.iter().map(|&place| number[place as usize]).collect();
        }
        net.transitions.push(made);
    }
    let history = History::new(original.transitions.len(), working.transitions, working.steps);
    for (made, &t) in net.transitions.iter_mut().zip(&transitions) {
        if t as usize >= original.transitions.len() {
            let parts = history.parts(t).unwrap_or_default();
            let names = parts.iter().take(4).map(|&part| &original.transitions[part as usize].name[..]);
            made.name = names.collect::<Vec<_>>().join(";");
            if parts.len() > 4 || parts.is_empty() {
                made.name += &format!(";…#{t}");
            }
        }
    }
    Reduced { net, places, removed, transitions, history }
}

impl Reduced {
    /// A firing sequence of the original net that does what this one does to the observed places; checked by firing it.
    pub fn lift(&self, original: &Net, firing: &[TransitionId]) -> Option<Vec<TransitionId>> {
        let firing = firing.iter().map(|&t| self.transitions.get(t as usize).copied()).collect::<Option<Vec<_>>>()?;
        let lifted = self.history.lift(firing)?;
        let mut marking = original.initial();
        lifted.iter().all(|&t| original.is_enabled(&marking, t) && original.fire(&mut marking, t)).then_some(lifted)
    }

    /// Lifts a firing sequence that ends in a deadlock to one that does too: what waited for nothing is fired in the end.
    pub fn lift_to_deadlock(&self, original: &Net, firing: &[TransitionId]) -> Option<Vec<TransitionId>> {
        const MORE: usize = 100_000;
        let mut lifted = self.lift(original, firing)?;
        let mut marking = original.initial();
        lifted.iter().all(|&t| original.fire(&mut marking, t)).then_some(())?;
        for _ in 0..MORE {
            let Some(t) = (0..original.transitions.len() as u32).find(|&t| original.is_enabled(&marking, t)) else {
                return Some(lifted);
            };
            lifted.push(t);
            original.fire(&mut marking, t).then_some(())?;
        }
        None
    }
}

#[cfg(test)]
mod tests;
