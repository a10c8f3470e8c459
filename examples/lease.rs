//! A lease server: one client at a time may write, as long as its lease lasts.
//!
//! ```text
//! cargo run --release --example lease
//! ```
//!
//! The server's clock and the clients' do not agree: a client may still write when its lease has been given to another, and what it
//! writes may come late. So every lease has a number, and the store takes no write with a lower one than it has seen. Without
//! these *fences* an old write overwrites a new one.

use scrimp::net::{Actor, Actors, Id, Out};
use scrimp::{Answer, Checker, CheckerError};
use serde::{Deserialize, Serialize};

/// Actor 0 is the server, actor 1 the store, the others are clients.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub clients: usize,
    /// So many leases are given.
    pub leases: u8,
    pub fences: bool,
}

const SERVER: Id = 0;
const STORE: Id = 1;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Message {
    Ask,
    Lease(u8),
    Write(u8),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Timer {
    /// The server's: the lease is over.
    Expired,
    /// A client's: it writes, or it stops.
    Write,
    Stop,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// The last lease: of the server, that it gave; of a client, that it has; of the store, that it saw.
    pub lease: u8,
    /// The server's: somebody has it, and others wait.
    pub given: bool,
    pub waiting: Vec<Id>,
    /// The store's: it has taken a write of an older lease after that of a newer one.
    pub went_back: bool,
}

impl Node {
    /// Gives the lease to who has waited longest.
    fn give(&self, state: &mut State, out: &mut Out<Message, Timer>) {
        if !state.given && !state.waiting.is_empty() && state.lease < self.leases {
            (state.given, state.lease) = (true, state.lease + 1);
            out.send(state.waiting.remove(0), Message::Lease(state.lease));
            out.set(Timer::Expired);
        }
    }
}

impl Actor for Node {
    type State = State;
    type Message = Message;
    type Timer = Timer;

    fn start(&self, me: Id, out: &mut Out<Message, Timer>) -> State {
        if me > STORE {
            out.send(SERVER, Message::Ask);
        }
        State::default()
    }

    fn receive(&self, _me: Id, state: &mut State, from: Id, message: &Message, out: &mut Out<Message, Timer>) {
        match *message {
            Message::Ask => {
                state.waiting.push(from);
                self.give(state, out);
            }
            Message::Lease(lease) => {
                state.lease = lease;
                out.set(Timer::Write);
                out.set(Timer::Stop);
            }
            Message::Write(lease) if lease < state.lease && self.fences => {}
            Message::Write(lease) => {
                state.went_back |= lease < state.lease;
                state.lease = state.lease.max(lease);
            }
        }
    }

    fn timeout(&self, _me: Id, state: &mut State, timer: &Timer, out: &mut Out<Message, Timer>) {
        match timer {
            Timer::Expired => {
                state.given = false;
                self.give(state, out);
            }
            Timer::Write => out.send(STORE, Message::Write(state.lease)),
            Timer::Stop => {
                out.cancel(Timer::Write);
                out.send(SERVER, Message::Ask);
            }
        }
    }
}

pub fn check(clients: usize, leases: u8, fences: bool) -> Result<Answer<Actors<Node>>, CheckerError> {
    let node = Node { clients, leases, fences };
    Checker::new(Actors::new(vec![node; 2 + clients]))
        .name(if fences { "lease server" } else { "lease server without fences" })
        .invariant("nothing old is written", |_, world| !world.actors[STORE].went_back)
        .reach("all leases are used", |model, world| world.actors[STORE].lease == model.actor(STORE).leases)
        .check()
}

fn main() -> Result<(), CheckerError> {
    for fences in [true, false] {
        println!("{}", check(2, 3, fences)?);
    }
    Ok(())
}
