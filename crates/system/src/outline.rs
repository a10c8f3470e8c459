//! The text of a program as traces show it: its statements, where processes stand, and names for values.
//!
//! Nothing of a system's behaviour depends on this; a language that does not fill it in is shown by its labels.

use crate::source::Span;
use crate::system::{ProcessId, VarId};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// All statements of the program, also of processes that never start.
    pub statements: Vec<Statement>,
    /// All transitions of its processes, also those that no event stands for, where the language has transitions.
    pub transitions: Vec<TextTransition>,
    /// For each process of the system, what each of its locations is.
    pub places: Vec<Vec<Place>>,
    /// Tables of names for numbers.
    pub names: Vec<BTreeMap<i64, String>>,
    /// For variables, the table by which their values are shown.
    pub shown_by: BTreeMap<VarId, u32>,
    /// Channels, which are shown as what is in them.
    pub queues: Vec<Queue>,
    /// For variables of a process that can be one thing or another, which of them they are of, as [`Place::instance`] says.
    pub instances: BTreeMap<VarId, u32>,
}

/// A statement of a process type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The name of the process type.
    pub process: String,
    pub text: String,
    /// The number by which the language's own tool knows it.
    pub number: u32,
    pub span: Span,
    /// Only a way to another statement, such as a jump.
    pub passes: bool,
}

/// A transition as the text has it. An event that makes it has its process among its moves, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTransition {
    /// The name of the process.
    pub process: String,
    pub text: String,
    pub span: Span,
}

/// A location of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the process type; empty where there is no process.
    pub process: String,
    pub number: u32,
    pub span: Span,
    /// The process may stop here for ever.
    pub end: bool,
    /// Who has this location: a process can be one of several, of one type or of different ones.
    pub instance: u32,
}

/// The variables of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub name: String,
    pub owner: Option<ProcessId>,
    pub length: VarId,
    pub fields: Vec<VarId>,
}

impl Outline {
    /// The name of a value in one of the tables.
    pub fn name(&self, table: Option<u32>, value: i64) -> Option<&str> {
        self.names.get(table? as usize)?.get(&value).map(String::as_str)
    }
}
