//! Models for agents: the Model Context Protocol, over standard input and output.
//!
//! Every tool is a run of the command, in a process of its own, that keeps its limits, says how far it is and can be ended. What it
//! answers is made small here. Nothing outside one [`Folder`] is read.

mod answer;
mod arguments;
mod call;
mod folder;
mod found;
mod inbox;
mod message;
mod models;
mod progress;
mod protocol;
mod reply;
mod server;
mod tools;
mod traces;
mod turn;
mod window;

pub use folder::Folder;
pub use inbox::{Ending, Inbox};
pub use server::{Serving, serve};
