//! Models in editors: the Language Server Protocol, for Promela, DVE and files of properties.
//!
//! Names are found in the text alone, so that they are known while it is written; what is wrong with it is found by reading it as
//! a check would; verdicts come from the command, in processes of their own.

mod checks;
mod commands;
mod document;
mod features;
mod names;
mod problems;
mod properties;
mod reader;
mod rename;
mod runs;
mod same;
mod server;
mod text;
mod uri;
mod values;
mod verdicts;
mod wire;
mod words;

pub use server::serve;
