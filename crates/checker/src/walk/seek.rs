//! Looking ahead: a shortest way from a state to an event or a condition, as far as a bounded number of states goes.

use super::{Failed, Node, Walk, expand};
use crate::Explorable;
use scrimp_lang::parse_condition;
use scrimp_system::EventCode;
use std::collections::{HashMap, HashSet};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Sought<'a> {
    /// An event whose text has this in it, in capitals or not.
    Event(&'a str),
    /// A state in which this expression of the property language holds; not the one at hand.
    Condition(&'a str),
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// The choices that lead there.
    Way(Vec<usize>),
    /// All states from here on were looked at.
    Nowhere,
    /// There are more states than may be looked at.
    TooFar,
}

impl Walk {
    /// Looks for a shortest way from a state, through so many states at most.
    pub fn seek(&mut self, from: Node, sought: Sought, most: usize) -> Result<Sight, Failed> {
        loop {
            let seen = self.look(from, sought, most)?;
            if !self.make_room()? {
                return Ok(seen);
            }
        }
    }

    fn look(&self, from: Node, sought: Sought, most: usize) -> Result<Sight, Failed> {
        match sought {
            Sought::Event(text) => {
                let text = text.to_lowercase();
                let model = self.model();
                let mut known: HashMap<EventCode, bool> = HashMap::new();
                let mut named = |code: EventCode| *known.entry(code).or_insert_with(|| names(model, code, &text));
                Ok(search(model, self.state(from), most, |before, code, after| {
                    named(code) || model.steps(before, code, after).into_iter().any(|(code, _)| named(code))
                }))
            }
            Sought::Condition(text) => {
                let model = self.model().file().ok_or("expressions are about model files")?;
                let condition = parse_condition(model.system(), "until", text)?;
                let predicate = model.predicate(&condition);
                Ok(search(model, self.state(from), most, |_, _, after| predicate.holds(after) == Ok(true)))
            }
        }
    }
}

/// Does the text of an event have these (small) letters in it?
fn names(model: &dyn Explorable, code: EventCode, text: &str) -> bool {
    let event = model.event(code);
    let statements = event.steps.iter().map(|step| &step.statement);
    std::iter::once(&event.label).chain(statements).any(|words| words.to_lowercase().contains(text))
}

fn search(
    model: &dyn Explorable,
    from: &[u8],
    most: usize,
    mut found: impl FnMut(&[u8], EventCode, &[u8]) -> bool,
) -> Sight {
    let mut known: HashSet<Vec<u8>> = HashSet::from([from.to_vec()]);
    // Each state with the number of the one before it and the choice that led to it.
    let mut states = vec![(0, 0, from.to_vec())];
    let mut next = 0;
    while next < states.len() {
        let state = states[next].2.clone();
        let batch = expand(model, &state).batch;
        for choice in 0..batch.len() {
            if found(&state, batch.event(choice), batch.state(choice)) {
                let mut way = vec![choice];
                let mut at = next;
                while at != 0 {
                    way.push(states[at].1);
                    at = states[at].0;
                }
                way.reverse();
                return Sight::Way(way);
            }
            if known.insert(batch.state(choice).to_vec()) {
                states.push((next, choice, batch.state(choice).to_vec()));
            }
        }
        if states.len() > most {
            return Sight::TooFar;
        }
        next += 1;
    }
    Sight::Nowhere
}
