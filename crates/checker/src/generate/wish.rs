//! What runs are to cover: parts of the model's text, two of them one after the other, or conditions.

use super::graph::Graph;
use crate::coverage::{Coverable, coverable};
use crate::error::CheckError;
use crate::load::Loaded;
use crate::properties::predicate;
use scrimp_core::Predicate;
use scrimp_lang::parse_condition;
use scrimp_native::NativeModel;
use scrimp_net::Net;
use scrimp_report::coverage::{Item, Kind};
use scrimp_report::generated::Cover;
use scrimp_system::{Describe, EventCode, System, Then};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    pub cover: Cover,
    /// The conditions that runs are to reach, as texts, where these are to be covered.
    pub goals: Vec<String>,
    /// Bytes that the whole process may use.
    pub memory: Option<usize>,
}

impl Wish {
    /// Refuses what a model does not have.
    pub fn admit(&self, loaded: &Loaded) -> Result<(), CheckError> {
        let net = loaded.net.as_ref().map(|net| &*net.net);
        match (self.cover, self.goals.is_empty()) {
            (Cover::Goals, true) => {
                return refused("--cover goals needs conditions\nhelp: give each with --goal 'EXPR'");
            }
            (Cover::Goals, false) => {
                return self.goals.iter().try_for_each(|goal| {
                    parse_condition(&loaded.system, "goal", goal).map(drop).map_err(CheckError::from)
                });
            }
            (_, false) => return refused("--goal is for --cover goals\nhelp: leave it out, or add --cover goals"),
            (_, true) => {}
        }
        let kind = self.part(&loaded.system, net).map(|part| part.part.kind);
        let has = match kind {
            Some(Kind::Statement) => ("a Promela model", "statements"),
            Some(Kind::NetTransition) => ("a Petri net", "transitions"),
            Some(Kind::Label) => ("a network", "transitions, which are its labels"),
            _ => ("a DVE model", "transitions"),
        };
        let wrong = match self.cover {
            Cover::Statements => kind != Some(Kind::Statement),
            Cover::Transitions => kind == Some(Kind::Statement),
            _ => false,
        };
        let word = has.1.split(',').next().unwrap_or_default();
        match wrong {
            true => refused(format!(
                "--cover {}: {} has {}\nhelp: use --cover {word}, pairs or goals",
                self.cover.word(),
                has.0,
                has.1
            )),
            false => Ok(()),
        }
    }

    /// The part of a model that is covered item by item, or in pairs of items.
    fn part(&self, system: &System, net: Option<&Net>) -> Option<Coverable> {
        coverable(system, net).into_iter().find(|part| part.part.kind != Kind::Place)
    }

    /// The same in terms of a model.
    pub fn of<'m>(&self, model: &'m NativeModel, net: Option<&Net>) -> Result<Wanted<'m>, CheckError> {
        let system = model.system();
        if self.cover != Cover::Goals {
            let part = self.part(system, net);
            let kind = part.as_ref().map(|part| part.part.kind);
            let (items, by_event) = part.map(|part| (part.part.items, part.by_event)).unwrap_or_default();
            let sets = vec![None; by_event.len()];
            return Ok(Wanted { kind, items, by_event, sets, goals: Vec::new(), doubted: Vec::new() });
        }
        let goal = |text: &String| Ok(predicate(model, &parse_condition(system, "goal", text)?));
        let goals = self.goals.iter().map(goal).collect::<Result<Vec<_>, CheckError>>()?;
        let item = |text: &String| Item { text: text.trim().to_string(), ..Item::default() };
        let (items, doubted) = (self.goals.iter().map(item).collect(), vec![false; goals.len()]);
        Ok(Wanted { kind: None, items, by_event: Vec::new(), sets: Vec::new(), goals, doubted })
    }
}

/// What is to be covered, and by what that happens.
pub struct Wanted<'m> {
    /// What the items are, where they are parts of the text.
    pub kind: Option<Kind>,
    pub items: Vec<Item>,
    by_event: Vec<Vec<u32>>,
    /// The set of each event that is a step by itself, once it is known.
    sets: Vec<Option<u32>>,
    goals: Vec<Predicate<'m>>,
    /// Goals whose evaluation was a run-time error in some state: whether they hold there is not known.
    pub doubted: Vec<bool>,
}

impl Wanted<'_> {
    /// The set of items that a run covers by beginning in a state.
    pub fn initially(&mut self, graph: &mut Graph, state: &[u8]) -> u32 {
        let items = self.holding(state);
        graph.intern(items)
    }

    /// The set of items that an event covers which leads from one state to another.
    pub fn of_edge(
        &mut self,
        graph: &mut Graph,
        model: &NativeModel,
        before: &[u8],
        (code, after): (EventCode, &[u8]),
    ) -> u32 {
        if !self.goals.is_empty() {
            return self.initially(graph, after);
        }
        let number = |code: EventCode| model.parts(code).0.map(|event| event as usize);
        let Some(event) = number(code).filter(|event| *event < self.by_event.len()) else { return 0 };
        // What else a process does that goes on by itself depends on the state.
        if model.system().events[event].then == Then::Free {
            let set = self.sets[event].unwrap_or_else(|| graph.intern(self.by_event[event].clone()));
            self.sets[event] = Some(set);
            return set;
        }
        let mut items = self.by_event[event].clone();
        for (code, _) in model.steps(before, code, after) {
            items.extend(number(code).and_then(|event| self.by_event.get(event)).into_iter().flatten());
        }
        graph.intern(items)
    }

    /// The goals that hold in a state.
    fn holding(&mut self, state: &[u8]) -> Vec<u32> {
        let mut holding = Vec::new();
        for (number, (goal, doubted)) in self.goals.iter().zip(&mut self.doubted).enumerate() {
            match goal(state) {
                Ok(true) => holding.push(number as u32),
                Ok(false) => {}
                Err(_) => *doubted = true,
            }
        }
        holding
    }

    /// Which items were executed, if these events have happened.
    pub fn executed(&self, happened: &[bool]) -> Vec<bool> {
        let mut executed = vec![false; self.items.len()];
        for items in self.by_event.iter().zip(happened).filter(|(_, happened)| **happened).map(|(items, _)| items) {
            items.iter().for_each(|&item| executed[item as usize] = true);
        }
        executed
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError::Asked(why.into()))
}
