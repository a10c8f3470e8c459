//! The markings of small nets by the definition of firing alone: what every answer is compared with.

use scrimp_net::{Condition, Formula, Group, Marking, Net, Question};
use std::collections::HashMap;

pub struct Graph {
    pub markings: Vec<Marking>,
    pub firings: u64,
    /// For each marking, whether some transition is enabled.
    pub stuck: Vec<bool>,
    /// Where each level of the breadth-first order begins.
    starts: Vec<usize>,
    pub levels: usize,
    /// Which transitions can fire.
    pub fired: Vec<bool>,
}

/// All reachable markings; `None` if there are more than `limit`.
pub fn explore(net: &Net, limit: usize) -> Option<Graph> {
    let mut numbers: HashMap<Marking, ()> = HashMap::new();
    let initial = net.initial();
    numbers.insert(initial.clone(), ());
    let mut graph = Graph {
        markings: vec![initial],
        firings: 0,
        stuck: Vec::new(),
        starts: Vec::new(),
        levels: 0,
        fired: vec![false; net.transitions.len()],
    };
    let (mut at, mut level_end) = (0, 0);
    while at < graph.markings.len() {
        if at == level_end {
            graph.levels += 1;
            graph.starts.push(at);
            level_end = graph.markings.len();
        }
        let mut stuck = true;
        for t in 0..net.transitions.len() as u32 {
            if !net.is_enabled(&graph.markings[at], t) {
                continue;
            }
            stuck = false;
            graph.firings += 1;
            graph.fired[t as usize] = true;
            let mut next = graph.markings[at].clone();
            assert!(net.fire(&mut next, t), "too many tokens");
            if numbers.insert(next.clone(), ()).is_none() {
                graph.markings.push(next);
                if graph.markings.len() > limit {
                    return None;
                }
            }
        }
        graph.stuck.push(stuck);
        at += 1;
    }
    Some(graph)
}

impl Graph {
    /// How many firings lead to the nearest marking where nothing is enabled.
    pub fn first_stuck(&self) -> Option<usize> {
        let first = self.stuck.iter().position(|stuck| *stuck)?;
        Some(self.starts.partition_point(|start| *start <= first) - 1)
    }

    pub fn most_in_a_place(&self) -> u64 {
        self.markings.iter().flatten().copied().max().unwrap_or(0)
    }

    pub fn most_in_all(&self) -> u64 {
        self.markings.iter().map(|marking| marking.iter().sum()).max().unwrap_or(0)
    }

    pub fn some(&self, net: &Net, condition: &Condition) -> bool {
        self.markings.iter().zip(&self.stuck).any(|(marking, stuck)| match condition {
            Condition::Deadlock => *stuck,
            condition => condition.holds(net, marking),
        })
    }

    /// The answer, if it is one that the set of markings has: written as the contest writes it.
    pub fn answer(&self, net: &Net, question: &Question) -> Option<String> {
        let truth = |yes: bool| Some(if yes { "TRUE" } else { "FALSE" }.to_string());
        match question {
            Question::Bound(places) => {
                Some(self.markings.iter().map(|marking| sum(marking, places)).max()?.to_string())
            }
            // The contest takes a coloured place with all its colours, and a coloured transition with all its bindings.
            Question::OneSafe => {
                let sums = |marking: &Marking| net.place_groups.iter().all(|group| sum(marking, &group.members) <= 1);
                truth(self.markings.iter().all(sums))
            }
            Question::QuasiLiveness => {
                let can = |group: &Group| group.members.iter().any(|t| self.fired[*t as usize]);
                truth(net.transition_groups.iter().all(can))
            }
            Question::StableMarking => {
                let stable = |group: &Group| {
                    let first = sum(&self.markings[0], &group.members);
                    self.markings.iter().all(|marking| sum(marking, &group.members) == first)
                };
                truth(net.place_groups.iter().any(stable))
            }
            Question::Formula(Formula::ExistsPath(inner)) => match &**inner {
                Formula::Finally(inner) => match &**inner {
                    Formula::Atom(condition) => truth(self.some(net, condition)),
                    _ => None,
                },
                _ => None,
            },
            Question::Formula(Formula::AllPaths(inner)) => match &**inner {
                Formula::Globally(inner) => match &**inner {
                    Formula::Atom(condition) => truth(!self.some(net, &condition.clone().negated())),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}

fn sum(marking: &Marking, places: &[u32]) -> u64 {
    places.iter().map(|place| marking[*place as usize]).sum()
}
