//! What can happen: guarded steps of processes, with all that languages attach to one.

use crate::expr::Expr;
use crate::source::Span;
use crate::system::{ProcessId, VarId};

/// One thing that can happen. From one state it leads to at most one state.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Event {
    /// What a trace shows, such as `P.try -> P.wait` or `c!x: P.a -> P.b, Q.c -> Q.d`.
    pub label: String,
    /// The processes that take part, each leaving one location for another. Events of nets have none.
    pub moves: Vec<Move>,
    /// Read in the source state, with the moves' `from` locations already known to hold.
    pub guard: Expr,
    /// Read where the guard holds. If it is zero, that is a [`Fault::Assertion`](crate::Fault::Assertion), and the event
    /// happens all the same.
    pub assertion: Option<Expr>,
    /// Where the guard holds, the event is a [`Fault::Model`](crate::Fault::Model) and nothing else: this one of the
    /// system's [`fault_messages`](crate::System::fault_messages).
    pub fault: Option<u32>,
    /// Run one after the other, once all moves are made.
    pub effects: Vec<Assign>,
    /// Who may move once the event has happened.
    pub then: Then,
    /// Tried only in states where no other event is enabled; one that ends in a fault counts as enabled.
    pub late: bool,
    pub span: Span,
    /// Where the second move is written, where that is elsewhere.
    pub partner: Option<Span>,
    /// What is passed from one process to another, for sequence charts.
    pub message: Option<Message>,
    /// What a simulation prints when the event happens.
    pub print: Option<Print>,
    /// The statements that the processes of the first moves execute, as numbers in the
    /// [`Outline`](crate::Outline::statements); empty where the label says it all.
    pub statements: Vec<u32>,
}

/// A text to print, as Promela's `printf` has it: conversions such as `%d` stand for the values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Print {
    pub format: String,
    /// Read in the state that the event leaves.
    pub values: Vec<Expr>,
    /// For each value, the [table](crate::Outline::names) by which a name is printed for it, if that is asked for.
    pub shown_by: Vec<Option<u32>>,
}

/// Who may move once an event has happened.
///
/// A process that goes on by itself runs the events that are not late and whose first move is its own, along every
/// branch, until one of them lets everybody move again. What it passes through are no states of the model, and a claim does
/// not move there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Then {
    /// Everybody: the successor is a state.
    #[default]
    Free,
    /// This process alone. Where it cannot move, that is a state after all, and everybody may.
    Atomic(ProcessId),
    /// This process alone. Where it cannot move, that is a [`Fault::Stuck`](crate::Fault::Stuck).
    DStep(ProcessId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Move {
    pub process: ProcessId,
    pub from: u32,
    pub to: u32,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assign {
    pub target: VarId,
    /// The element of an array, read in the state as it is when the assignment runs.
    pub index: Option<Expr>,
    pub value: Expr,
    /// Which state `value` is read in.
    pub moment: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Moment {
    /// The state that the event leaves (what a sender passes to a receiver).
    Source,
    /// The state as the moves and the assignments before this one have made it.
    Current,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Message {
    /// The name of the channel, such as is not that of another.
    pub channel: String,
    /// Its number among the [`queues`](crate::Outline::queues), where it is one of them.
    pub queue: Option<u32>,
    pub from: Option<ProcessId>,
    pub to: Option<ProcessId>,
    /// What is sent or received, read in the state that the event leaves; empty where the language does not say.
    pub values: Vec<Expr>,
    /// For each value, the [table](crate::Outline::names) by which it is shown, if there is one.
    pub shown_by: Vec<Option<u32>>,
}

impl Default for Event {
    /// An event that is always enabled and changes nothing.
    fn default() -> Event {
        Event {
            label: String::new(),
            moves: Vec::new(),
            guard: Expr::TRUE,
            assertion: None,
            fault: None,
            effects: Vec::new(),
            then: Then::Free,
            late: false,
            span: Span::default(),
            partner: None,
            message: None,
            print: None,
            statements: Vec::new(),
        }
    }
}

impl Event {
    /// Number of operators and operands.
    pub fn size(&self) -> usize {
        let effect = |a: &Assign| a.value.size() + a.index.as_ref().map_or(0, Expr::size);
        let assertion = self.assertion.as_ref().map_or(0, Expr::size);
        self.guard.size() + assertion + self.effects.iter().map(effect).sum::<usize>()
    }
}

impl Then {
    /// The process that goes on by itself.
    pub fn exclusive(self) -> Option<ProcessId> {
        match self {
            Then::Free => None,
            Then::Atomic(process) | Then::DStep(process) => Some(process),
        }
    }
}
