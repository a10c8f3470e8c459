//! What is known of each question, whoever found it.

use super::PetriNet;
use super::goal::{Goal, Known};
use scrimp_native::NativeModel;
use scrimp_net::{Condition, Marking, NamedQuestion, Net};
use scrimp_search::{PropertyResult, Trace, Verdict};
use scrimp_system::Model;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Answer {
    pub known: Known,
    /// A run of the net to the marking that decides it.
    pub run: Option<Run>,
    /// How it was found, where that was not by visiting markings.
    pub how: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Run {
    pub transitions: Vec<u32>,
    pub shortest: bool,
}

pub struct Answers {
    names: Vec<String>,
    pub goals: Vec<Goal>,
    known: Vec<Option<Answer>>,
    /// For goals that are bounds: a number that is never exceeded, and the largest that was met.
    pub most: Vec<Option<u64>>,
    pub least: Vec<u64>,
    /// For each transition, whether it fires anywhere, as far as that is known.
    pub fireable: Vec<Option<bool>>,
}

impl Answers {
    pub fn new(net: &PetriNet, questions: Vec<NamedQuestion>) -> Answers {
        let goals: Vec<Goal> = questions.iter().map(|q| Goal::of(&q.question, &net.net)).collect();
        Answers {
            names: questions.into_iter().map(|q| q.name).collect(),
            known: vec![None; goals.len()],
            most: vec![None; goals.len()],
            least: vec![0; goals.len()],
            fireable: vec![None; net.net.transitions.len()],
            goals,
        }
    }

    /// The questions that can still be answered.
    pub fn open(&self) -> Vec<usize> {
        (0..self.goals.len()).filter(|&i| self.known[i].is_none() && self.goals[i] != Goal::Temporal).collect()
    }

    /// Is anything known?
    pub fn any_known(&self) -> bool {
        self.known.iter().any(Option::is_some)
    }

    pub fn is_open(&self, i: usize) -> bool {
        self.known[i].is_none()
    }

    pub fn settle(&mut self, i: usize, answer: Answer) {
        // A marking without successors from which every transition could fire again there is not.
        let deadlock = matches!(&self.goals[i], Goal::Reach { condition: Condition::Deadlock, found } if answer.known == Known::Truth(*found));
        self.known[i].get_or_insert(answer);
        if deadlock && !self.fireable.is_empty() {
            self.settle_kind(|goal| *goal == Goal::Live, false, "there is a deadlock");
        }
    }

    /// Answers all open questions of a kind.
    pub fn settle_kind(&mut self, kind: impl Fn(&Goal) -> bool, truth: bool, how: &str) {
        for i in 0..self.goals.len() {
            if kind(&self.goals[i]) && self.known[i].is_none() {
                self.known[i] = Some(Answer { known: Known::Truth(truth), run: None, how: Some(how.to_string()) });
            }
        }
    }

    /// Notes that a bound is at most, or at least, so many tokens; where both are the same, that is the answer.
    pub fn bound(&mut self, i: usize, most: Option<u64>, met: Option<(u64, Option<Run>)>, how: &str) {
        if let Some(most) = most {
            self.most[i] = Some(self.most[i].map_or(most, |known| known.min(most)));
        }
        if let Some((least, _)) = &met {
            self.least[i] = self.least[i].max(*least);
        }
        if self.most[i] == Some(self.least[i]) && self.known[i].is_none() {
            let run = met.and_then(|(_, run)| run);
            let known = Known::Tokens(self.least[i]);
            self.known[i] = Some(Answer { known, run, how: Some(how.to_string()) });
        }
    }

    /// Answers what follows from which transitions fire at all. What the text calls a transition fires where one that it
    /// was unfolded into does, and what it calls a place has the tokens of all colours.
    pub fn conclude(&mut self, net: &PetriNet) {
        let fires = |t: &u32| self.fireable[*t as usize];
        let groups = &net.net.transition_groups;
        if groups.iter().any(|group| group.members.iter().all(|t| fires(t) == Some(false))) {
            let dead = "a transition never fires";
            self.settle_kind(|goal| matches!(goal, Goal::QuasiLive | Goal::Live), false, dead);
        } else if groups.iter().all(|group| group.members.iter().any(|t| fires(t) == Some(true))) {
            self.settle_kind(|goal| *goal == Goal::QuasiLive, true, "every transition was seen to fire");
        }
        // What a transition empties may have been empty.
        if net.net.transitions.iter().any(|t| !t.resets.is_empty()) {
            return;
        }
        let mut group_of = vec![0; net.net.places.len()];
        for (number, group) in net.net.place_groups.iter().enumerate() {
            group.members.iter().for_each(|&place| group_of[place as usize] = number);
        }
        // What is never touched by what may fire stays as it is; what is touched by what does fire does not.
        let number = net.net.place_groups.len();
        let (mut may_change, mut changes) = (vec![false; number], vec![false; number]);
        let mut effect: BTreeMap<usize, i128> = BTreeMap::new();
        for (t, fires) in net.net.transitions.iter().zip(&self.fireable) {
            effect.clear();
            t.effect()
                .iter()
                .for_each(|&(place, change)| *effect.entry(group_of[place as usize]).or_default() += change);
            for (&group, _) in effect.iter().filter(|(_, change)| **change != 0) {
                may_change[group] |= *fires != Some(false);
                changes[group] |= *fires == Some(true);
            }
        }
        if may_change.contains(&false) {
            self.settle_kind(|goal| *goal == Goal::Stable, true, "nothing that can fire changes some place");
        } else if !changes.contains(&false) {
            self.settle_kind(|goal| *goal == Goal::Stable, false, "every place was seen to change");
        }
    }

    /// Are bounds of places among what is open?
    pub fn asks_for_bounds(&self) -> bool {
        self.open().iter().any(|&i| matches!(self.goals[i], Goal::Bound(_) | Goal::QuasiLive))
    }

    /// Do open questions depend on which transitions fire?
    pub fn wants_fireable(&self) -> bool {
        self.open().iter().any(|&i| matches!(self.goals[i], Goal::Stable | Goal::QuasiLive | Goal::Live))
    }

    /// The most tokens that each place has on the runs that were found.
    pub fn most_on_runs(&self, net: &Net) -> Marking {
        let mut most = net.initial();
        for run in self.known.iter().flatten().filter_map(|answer| answer.run.as_ref()) {
            let mut marking = net.initial();
            for &t in &run.transitions {
                if !net.is_enabled(&marking, t) || !net.fire(&mut marking, t) {
                    break;
                }
                // Only what the transition gives to can be more than before.
                for arc in &net.transitions[t as usize].outputs {
                    let place = arc.place as usize;
                    most[place] = most[place].max(marking[place]);
                }
            }
        }
        most
    }

    /// The answers as results, their runs in the states of this model.
    pub fn results(&self, net: &PetriNet, model: &NativeModel) -> Vec<PropertyResult> {
        (0..self.goals.len()).map(|i| self.result(i, net, model)).collect()
    }

    fn result(&self, i: usize, net: &PetriNet, model: &NativeModel) -> PropertyResult {
        let mut result = PropertyResult::undecided(&self.names[i]);
        let Some(answer) = &self.known[i] else {
            result.how = self.partly(i);
            return result;
        };
        (result.verdict, result.answer) = match answer.known {
            Known::Truth(true) => (Verdict::Verified, Some("TRUE".to_string())),
            Known::Truth(false) => (Verdict::Violated, Some("FALSE".to_string())),
            Known::Tokens(tokens) => (Verdict::Verified, Some(tokens.to_string())),
            Known::Unbounded => (Verdict::Verified, Some("ω".to_string())),
            Known::Counted => (Verdict::Verified, None),
        };
        let visited = || (answer.known == Known::Truth(false)).then(|| "all markings were visited".to_string());
        result.how = answer.how.clone().or_else(|| if answer.run.is_none() { visited() } else { None });
        if let Some(run) = &answer.run {
            result.trace = trace(net, model, &run.transitions);
            result.state = result.trace.as_ref().map(|trace| trace.last().to_vec());
            result.shortest = run.shortest;
        }
        result
    }

    /// What is known where there is no answer.
    fn partly(&self, i: usize) -> Option<String> {
        match &self.goals[i] {
            Goal::Temporal => Some("temporal logic cannot be decided yet".into()),
            Goal::Bound(_) => Some(match self.most[i] {
                Some(most) => format!("between {} and {most}", self.least[i]),
                None => format!("at least {}", self.least[i]),
            }),
            _ => None,
        }
    }
}

/// The run that these transitions make, where they can fire one after the other, in the states of a model of the net.
fn trace(net: &PetriNet, model: &NativeModel, transitions: &[u32]) -> Option<Trace> {
    let lowered = net.lowered().ok()?;
    let mut marking = net.net.initial();
    let state = |marking: &[u64]| {
        let mut state = vec![0; model.state_bytes()];
        model.layout().encode(&lowered.valuation(marking), &mut state);
        state
    };
    let (initial, mut steps) = (state(&marking), Vec::with_capacity(transitions.len()));
    for &transition in transitions {
        if !net.net.is_enabled(&marking, transition) || !net.net.fire(&mut marking, transition) {
            return None;
        }
        steps.push((transition, state(&marking)));
    }
    Some(Trace { initial, steps })
}
