//! Models of processes that send messages to each other.
//!
//! An [`Actor`] says what a process does when it starts, when it receives a message and when a timer goes off. [`Actors`] puts
//! several together with a [`Network`] between them: messages may come in order or not, be lost or come twice, and actors may
//! crash and start again. It is a [`TypedModel`](crate::TypedModel) like any other.
//!
//! ```
//! use scrimp::net::{Actor, Actors, Id, Out};
//!
//! /// Passes a number on until it is large enough.
//! struct Relay;
//!
//! impl Actor for Relay {
//!     type State = u8;
//!     type Message = u8;
//!     type Timer = ();
//!
//!     fn start(&self, me: Id, out: &mut Out<u8, ()>) -> u8 {
//!         if me == 0 {
//!             out.send(1, 1);
//!         }
//!         0
//!     }
//!
//!     fn receive(&self, me: Id, state: &mut u8, _from: Id, number: &u8, out: &mut Out<u8, ()>) {
//!         *state = *number;
//!         if *number < 9 {
//!             out.send(1 - me, number + 1);
//!         }
//!     }
//! }
//!
//! let model = Actors::new([Relay, Relay]).lossy();
//! let answer = scrimp::Checker::new(model).reach("nine", |_, world| world.actors[1] == 9).check()?;
//! assert_eq!(answer.trace("nine").expect("where nothing is lost").len(), 9);
//! # Ok::<(), scrimp::CheckerError>(())
//! ```

mod actors;
mod network;

pub use actors::{Actor, Actors, Event, Id, Out, World};
pub use network::{Network, Order};
