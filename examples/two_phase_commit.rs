//! Two-phase commit: a coordinator asks, everybody votes, and all must come to the same end.
//!
//! ```text
//! cargo run --release --example two_phase_commit
//! ```
//!
//! Messages may be lost, and nobody waits for ever: the coordinator gives up when votes are missing. A *hasty* one does not: after
//! a while it takes silence for consent, and then one participant may abort what another commits.

use scrimp::net::{Actor, Actors, Id, Out};
use scrimp::{Answer, Checker, CheckerError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The coordinator is actor 0, the others are participants.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub participants: usize,
    pub hasty: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    Prepare,
    Vote(bool),
    Decision(bool),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Timer {
    /// A participant makes up its mind.
    Vote(bool),
    /// The coordinator has waited long enough.
    Patience,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// Who has voted yes.
    pub yes: BTreeSet<Id>,
    /// Committed or not, once that is known.
    pub decided: Option<bool>,
}

impl Node {
    fn decide(&self, state: &mut State, commit: bool, out: &mut Out<Message, Timer>) {
        state.decided = Some(commit);
        out.cancel(Timer::Patience);
        out.broadcast(1..=self.participants, &Message::Decision(commit));
    }
}

impl Actor for Node {
    type State = State;
    type Message = Message;
    type Timer = Timer;

    fn start(&self, me: Id, out: &mut Out<Message, Timer>) -> State {
        if me == 0 {
            out.broadcast(1..=self.participants, &Message::Prepare);
            out.set(Timer::Patience);
        }
        State::default()
    }

    fn receive(&self, _me: Id, state: &mut State, from: Id, message: &Message, out: &mut Out<Message, Timer>) {
        match message {
            Message::Prepare => [true, false].into_iter().for_each(|yes| out.set(Timer::Vote(yes))),
            Message::Vote(yes) if state.decided.is_none() => {
                state.yes.extend(yes.then_some(from));
                if !yes || state.yes.len() == self.participants {
                    self.decide(state, *yes, out);
                }
            }
            Message::Decision(commit) => state.decided = Some(*commit),
            Message::Vote(_) => {}
        }
    }

    fn timeout(&self, _me: Id, state: &mut State, timer: &Timer, out: &mut Out<Message, Timer>) {
        match timer {
            Timer::Vote(yes) => {
                out.cancel(Timer::Vote(!yes));
                // Who votes no knows the end.
                state.decided = (!yes).then_some(false);
                out.send(0, Message::Vote(*yes));
            }
            Timer::Patience => self.decide(state, self.hasty, out),
        }
    }
}

pub fn check(participants: usize, hasty: bool) -> Result<Answer<Actors<Node>>, CheckerError> {
    let node = Node { participants, hasty };
    Checker::new(Actors::new(vec![node; participants + 1]).lossy())
        .name(if hasty { "hasty two-phase commit" } else { "two-phase commit" })
        .invariant("all decide alike", |_, world| {
            let ends: BTreeSet<bool> = world.actors.iter().filter_map(|state| state.decided).collect();
            ends.len() < 2
        })
        .reach("all commit", |_, world| world.actors.iter().all(|state| state.decided == Some(true)))
        .eventually("the coordinator decides", |_, world| world.actors[0].decided.is_some())
        .fair_weak()
        .check()
}

fn main() -> Result<(), CheckerError> {
    for hasty in [false, true] {
        println!("{}", check(2, hasty)?);
    }
    Ok(())
}
