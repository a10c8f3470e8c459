//! Paxos: whatever is chosen stays chosen.
//!
//! ```text
//! cargo run --release --example paxos
//! ```
//!
//! Proposers ask acceptors for promises, and then to accept a value: the one that was accepted with the highest ballot that they
//! hear of, or their own where there is none. A *stubborn* proposer always proposes its own, and then two values can be chosen.

use scrimp::net::{Actor, Actors, Id, Out};
use scrimp::{Answer, Checker, CheckerError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Proposers have the first numbers; each has one ballot, and proposes its own number.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub proposers: usize,
    pub acceptors: usize,
    pub stubborn: bool,
}

type Ballot = usize;
type Value = usize;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    Prepare(Ballot),
    Promise(Ballot, Option<(Ballot, Value)>),
    Accept(Ballot, Value),
    Accepted(Ballot, Value),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// Of an acceptor: the highest ballot it has promised, and what it has accepted.
    pub promised: Option<Ballot>,
    pub accepted: Option<(Ballot, Value)>,
    /// Of a proposer: who has promised what, who has accepted, and what is chosen.
    pub promises: BTreeMap<Id, Option<(Ballot, Value)>>,
    pub acceptances: BTreeSet<Id>,
    pub chosen: Option<Value>,
}

impl Node {
    fn all_acceptors(&self) -> std::ops::Range<Id> {
        self.proposers..self.proposers + self.acceptors
    }

    fn is_majority(&self, count: usize) -> bool {
        2 * count > self.acceptors
    }
}

impl Actor for Node {
    type State = State;
    type Message = Message;
    type Timer = ();

    fn start(&self, me: Id, out: &mut Out<Message, ()>) -> State {
        if me < self.proposers {
            out.broadcast(self.all_acceptors(), &Message::Prepare(me));
        }
        State::default()
    }

    fn receive(&self, me: Id, state: &mut State, from: Id, message: &Message, out: &mut Out<Message, ()>) {
        match *message {
            Message::Prepare(ballot) if state.promised.is_none_or(|promised| promised < ballot) => {
                state.promised = Some(ballot);
                out.send(from, Message::Promise(ballot, state.accepted));
            }
            Message::Promise(ballot, accepted) if !self.is_majority(state.promises.len()) => {
                state.promises.insert(from, accepted);
                if self.is_majority(state.promises.len()) {
                    let known = state.promises.values().flatten().max().filter(|_| !self.stubborn);
                    let value = known.map_or(me, |(_, value)| *value);
                    out.broadcast(self.all_acceptors(), &Message::Accept(ballot, value));
                }
            }
            Message::Accept(ballot, value) if state.promised.is_none_or(|promised| promised <= ballot) => {
                (state.promised, state.accepted) = (Some(ballot), Some((ballot, value)));
                out.send(from, Message::Accepted(ballot, value));
            }
            Message::Accepted(_, value) => {
                state.acceptances.insert(from);
                if self.is_majority(state.acceptances.len()) {
                    state.chosen = Some(value);
                }
            }
            _ => {}
        }
    }
}

pub fn check(acceptors: usize, stubborn: bool) -> Result<Answer<Actors<Node>>, CheckerError> {
    let node = Node { proposers: 2, acceptors, stubborn };
    Checker::new(Actors::new(vec![node; 2 + acceptors]))
        .name(if stubborn { "paxos with a stubborn proposer" } else { "paxos" })
        .invariant("one value is chosen", |_, world| {
            world.actors.iter().filter_map(|state| state.chosen).collect::<BTreeSet<Value>>().len() < 2
        })
        .reach("a value is chosen", |_, world| world.actors.iter().any(|state| state.chosen.is_some()))
        .check()
}

fn main() -> Result<(), CheckerError> {
    for stubborn in [false, true] {
        println!("{}", check(3, stubborn)?);
    }
    Ok(())
}
