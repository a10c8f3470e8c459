//! What is known of each question, whoever found it.

use super::goal::{Goal, Known};
use super::runs::{Tree, tree};
use super::{Made, PetriNet};
use scrimp_core::{PropertyResult, Report, Trace, Verdict};
use scrimp_native::NativeModel;
use scrimp_net::{Condition, Formula, Marking, NamedQuestion, Net, Question};
use scrimp_system::Model;
use std::collections::BTreeMap;

/// Tokens of places in markings of runs that can be told in a moment, and how many of them one event is worth.
const MOST_TOLD: usize = 2_000_000;
const EVENT: usize = 100;

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
    /// After how many of them it begins to repeat itself for ever.
    pub cycle: Option<usize>,
}

pub struct Answers {
    names: Vec<String>,
    /// The formulas among the questions.
    formulas: Vec<Option<Formula>>,
    /// What the questions come to, and behind these the goals that some of them are made of.
    pub goals: Vec<Goal>,
    known: Vec<Option<Answer>>,
    /// For goals that are bounds: a number that is never exceeded, and the largest that was met.
    pub most: Vec<Option<u64>>,
    pub least: Vec<u64>,
    /// For each transition, whether it fires anywhere, as far as that is known.
    pub fireable: Vec<Option<bool>>,
    /// The searches that were made, in order.
    pub searches: Vec<Made>,
}

impl Answers {
    pub fn new(net: &PetriNet, questions: Vec<NamedQuestion>) -> Answers {
        let goals: Vec<Goal> = questions.iter().map(|q| Goal::of(&q.question, &net.net)).collect();
        let formula = |q: &NamedQuestion| match &q.question {
            Question::Formula(formula) => Some(formula.clone()),
            _ => None,
        };
        let mut answers = Answers {
            formulas: questions.iter().map(formula).collect(),
            names: questions.into_iter().map(|q| q.name).collect(),
            known: vec![None; goals.len()],
            most: vec![None; goals.len()],
            least: vec![0; goals.len()],
            fireable: vec![None; net.net.transitions.len()],
            searches: Vec::new(),
            goals,
        };
        answers.restate(&net.net, &mut |condition| condition.clone(), "at the first marking");
        answers
    }

    /// Works out anew what open formulas come to, with what is known of their conditions.
    pub fn restate(&mut self, net: &Net, known: &mut dyn FnMut(&Condition) -> Condition, how: &str) {
        for i in 0..self.names.len() {
            let Some(formula) = self.formulas[i].as_ref().filter(|_| self.known[i].is_none()) else { continue };
            match tree(formula, net, known) {
                None => {}
                Some(Tree::Known(truth)) => {
                    self.known[i] = Some(Answer { known: Known::Truth(truth), run: None, how: Some(how.to_string()) });
                }
                Some(Tree::Goal(goal)) => self.goals[i] = goal,
                Some(tree) => {
                    let joined = tree.map(&mut |goal| self.goal(goal));
                    self.goals[i] = Goal::Joined(joined);
                }
            }
        }
        self.join();
    }

    /// The number of a goal that questions are made of.
    fn goal(&mut self, goal: Goal) -> usize {
        let own = self.names.len();
        if let Some(at) = self.goals[own..].iter().position(|known| *known == goal) {
            return own + at;
        }
        self.goals.push(goal);
        self.known.push(None);
        self.most.push(None);
        self.least.push(0);
        self.goals.len() - 1
    }

    /// The formulas that are not decided yet.
    pub fn open_formulas(&self) -> Vec<Formula> {
        let open = (0..self.names.len()).filter(|&i| self.known[i].is_none());
        open.filter_map(|i| self.formulas[i].clone()).collect()
    }

    /// The goals that matter and are not decided yet.
    fn all_open(&self) -> Vec<usize> {
        let mut open: Vec<usize> = (0..self.names.len()).flat_map(|i| self.open_goals(i)).collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Those of one question.
    fn open_goals(&self, i: usize) -> Vec<usize> {
        let mut open = Vec::new();
        match &self.goals[i] {
            _ if self.known[i].is_some() => {}
            Goal::Joined(tree) => tree.open(&|&goal| self.truth(goal), &mut |goal| open.push(goal)),
            Goal::Beyond => {}
            _ => open.push(i),
        }
        open
    }

    /// Notes a search for these goals, which are still open.
    pub fn searched(&mut self, goals: &[usize], made: Made) {
        let asked = (0..self.names.len()).filter(|&i| self.open_goals(i).iter().any(|goal| goals.contains(goal)));
        let properties = asked.map(|i| PropertyResult::undecided(&self.names[i])).collect();
        self.searches.push(Made { report: Report { properties, ..made.report }, ..made });
    }

    fn truth(&self, i: usize) -> Option<bool> {
        match self.known[i].as_ref()?.known {
            Known::Truth(truth) => Some(truth),
            _ => None,
        }
    }

    /// What can still be decided by markings.
    pub fn open(&self) -> Vec<usize> {
        self.all_open().into_iter().filter(|&i| !matches!(self.goals[i], Goal::Runs(_))).collect()
    }

    /// What can still be decided by runs.
    pub fn open_runs(&self) -> Vec<usize> {
        self.all_open().into_iter().filter(|&i| matches!(self.goals[i], Goal::Runs(_))).collect()
    }

    /// How many goals are left.
    pub fn left(&self) -> usize {
        self.all_open().len()
    }

    /// Is nothing left to do?
    pub fn is_done(&self) -> bool {
        self.all_open().is_empty()
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
        self.join();
        if deadlock && !self.fireable.is_empty() {
            self.settle_kind(|goal| *goal == Goal::Live, false, "there is a deadlock");
        }
    }

    /// Answers the questions that follow from others.
    fn join(&mut self) {
        for i in 0..self.names.len() {
            let Goal::Joined(tree) = &self.goals[i] else { continue };
            if self.known[i].is_some() {
                continue;
            }
            let Some(truth) = tree.value(&|&goal| self.truth(goal)) else { continue };
            // Where one part decides, its run and its reason are those of the whole.
            let mut parts = Vec::new();
            tree.open(&|_| None, &mut |goal| parts.push(goal));
            let mut decided = parts.iter().filter_map(|&goal| self.known[goal].as_ref());
            let (run, how) = match (decided.next(), decided.next()) {
                (Some(only), None) => (only.run.clone(), only.how.clone()),
                _ => (None, None),
            };
            let how = how.or_else(|| Some("from its parts".to_string())).filter(|_| run.is_none());
            self.known[i] = Some(Answer { known: Known::Truth(truth), run, how });
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

    /// The answers as results, their runs in the states of this model; all runs, if there is time to tell them.
    pub fn results(&self, net: &PetriNet, model: &NativeModel, patient: bool) -> Vec<PropertyResult> {
        let longest = if patient { usize::MAX } else { self.longest_told(net.net.places.len()) };
        (0..self.names.len()).map(|i| self.result(i, net, model, longest)).collect()
    }

    /// How long runs may be so that all that are no longer can be told in a moment.
    fn longest_told(&self, places: usize) -> usize {
        let own = self.known[..self.names.len()].iter().flatten();
        let mut lengths: Vec<usize> = own.filter_map(|a| Some(a.run.as_ref()?.transitions.len())).collect();
        lengths.sort_unstable();
        let mut told = 0usize;
        let fits = |length: &&usize| {
            told = told.saturating_add(length.saturating_mul(places + EVENT));
            told <= MOST_TOLD
        };
        lengths.iter().take_while(fits).last().copied().unwrap_or(0)
    }

    fn result(&self, i: usize, net: &PetriNet, model: &NativeModel, longest: usize) -> PropertyResult {
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
        if let Some(run) = answer.run.as_ref().filter(|run| run.transitions.len() > longest) {
            result.how =
                Some(format!("by a run of {} events; there was no time to write it out", run.transitions.len()));
        } else if let Some(run) = &answer.run {
            result.trace = trace(net, model, &run.transitions);
            result.state = result.trace.as_ref().map(|trace| trace.last().to_vec());
            result.shortest = run.shortest;
            result.cycle = run.cycle.filter(|_| result.trace.is_some());
        }
        result
    }

    /// What is known where there is no answer.
    fn partly(&self, i: usize) -> Option<String> {
        match &self.goals[i] {
            Goal::Beyond => Some("the formula is neither LTL nor CTL".into()),
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
