//! Models for agents: the Model Context Protocol, over standard input and output.
//!
//! Every tool is a run of the command, in a process of its own, that keeps its limits, says how far it is and can be ended. What it
//! answers is made small here. Nothing outside one [`Folder`] is read.

mod answer;
mod arguments;
mod call;
mod folder;
mod message;
mod models;
mod server;
mod tools;
mod traces;

pub use folder::Folder;
pub use server::{Serving, serve};
