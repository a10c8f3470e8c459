//! Raft's election: nodes vote, and no term has two leaders.
//!
//! ```text
//! cargo run --release --example raft
//! ```
//!
//! Messages come in any order, may be lost or come twice, and nodes may crash. A node must keep its term and its vote on disk: one
//! that is *forgetful* votes again after a crash, and then a term can have two leaders.

use scrimp::net::{Actor, Actors, Id, Out};
use scrimp::{Answer, Checker, CheckerError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub nodes: usize,
    /// Nobody stands for a later term.
    pub terms: u8,
    pub forgetful: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    Follower,
    Candidate,
    Leader,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    pub term: u8,
    pub role: Role,
    /// Whom it has voted for in this term.
    pub vote: Option<Id>,
    /// Who has voted for it.
    pub votes: BTreeSet<Id>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    RequestVote { term: u8 },
    Vote { term: u8 },
}

impl Node {
    fn follower(term: u8) -> State {
        State { term, role: Role::Follower, vote: None, votes: BTreeSet::new() }
    }
}

impl Actor for Node {
    type State = State;
    type Message = Message;
    /// The election timer.
    type Timer = ();

    fn start(&self, _me: Id, out: &mut Out<Message, ()>) -> State {
        out.set(());
        Node::follower(0)
    }

    fn timeout(&self, me: Id, state: &mut State, _: &(), out: &mut Out<Message, ()>) {
        if state.term < self.terms && state.role != Role::Leader {
            let term = state.term + 1;
            *state = State { term, role: Role::Candidate, vote: Some(me), votes: BTreeSet::from([me]) };
            out.broadcast((0..self.nodes).filter(|other| *other != me), &Message::RequestVote { term });
            out.set(());
        }
    }

    fn receive(&self, _me: Id, state: &mut State, from: Id, message: &Message, out: &mut Out<Message, ()>) {
        let (Message::RequestVote { term } | Message::Vote { term }) = message;
        if *term > state.term {
            *state = Node::follower(*term);
            out.set(());
        }
        match message {
            Message::RequestVote { term } if *term == state.term && state.vote.is_none_or(|vote| vote == from) => {
                state.vote = Some(from);
                out.send(from, Message::Vote { term: *term });
            }
            Message::Vote { term } if *term == state.term && state.role == Role::Candidate => {
                state.votes.insert(from);
                if 2 * state.votes.len() > self.nodes {
                    state.role = Role::Leader;
                }
            }
            _ => {}
        }
    }

    fn restart(&self, _me: Id, before: &State, out: &mut Out<Message, ()>) -> State {
        out.set(());
        let vote = before.vote.filter(|_| !self.forgetful);
        State { vote, ..Node::follower(before.term) }
    }
}

pub fn check(nodes: usize, terms: u8, forgetful: bool) -> Result<Answer<Actors<Node>>, CheckerError> {
    let node = Node { nodes, terms, forgetful };
    Checker::new(Actors::new(vec![node; nodes]).crashes(1))
        .name(if forgetful { "raft with a forgetful node" } else { "raft" })
        .invariant("one leader a term", |_, world| {
            let mut terms = BTreeSet::new();
            world.actors.iter().filter(|state| state.role == Role::Leader).all(|leader| terms.insert(leader.term))
        })
        .reach("elected", |_, world| world.actors.iter().any(|state| state.role == Role::Leader))
        .check()
}

fn main() -> Result<(), CheckerError> {
    for forgetful in [false, true] {
        println!("{}", check(3, 1, forgetful)?);
    }
    Ok(())
}
