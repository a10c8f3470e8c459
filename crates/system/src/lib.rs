//! What a model is, whatever language it was written in.
//!
//! All front ends produce a [`System`]: bounded integer variables, processes with a control location, deterministic
//! guarded events, initial states. Everything behind it (native code, the interpreter, dependency analysis, the search)
//! knows only this. [`Model`] is the narrower view the search has: states are byte strings, and a state has successors.

pub mod bounds;
mod components;
pub mod dependence;
pub mod describe;
mod event;
pub mod expr;
pub mod facts;
#[cfg(feature = "analyses")]
mod independence;
#[cfg(feature = "analyses")]
mod intervals;
#[cfg(feature = "analyses")]
pub mod invariants;
#[cfg(feature = "analyses")]
pub mod inverse;
pub mod known;
pub mod layout;
pub mod model;
pub mod outline;
#[cfg(feature = "analyses")]
pub mod projection;
mod random;
pub mod source;
mod spell;
pub mod stop;
pub mod symmetry;
mod system;
mod validate;
pub mod values;
#[cfg(feature = "analyses")]
mod windows;

pub use components::components;
pub use dependence::{Condition, Dependence, Guard};
pub use describe::{Change, Describe, DescribedModel, EventText, Passed, Standing, StepText};
pub use event::{Assign, Event, Message, Moment, Move, Print, Then};
pub use expr::{BinaryOp, Expr, Fault, UnaryOp};
pub use facts::{Facts, Set};
#[cfg(feature = "analyses")]
pub use independence::independence;
#[cfg(feature = "analyses")]
pub use intervals::{Intervals, intervals};
#[cfg(feature = "analyses")]
pub use inverse::{Inverse, inverse};
pub use known::{AtMost, Known, Later, Literal, Terms, Weight};
pub use layout::{Field, Layout, Slot};
pub use model::{Batch, EventCode, FaultRecord, Model, Spend, Unsuited};
pub use outline::Outline;
pub use random::Random;
pub use source::{Included, Source, Span};
pub use stop::{Cause, Rounds, Stop};
pub use symmetry::Symmetry;
pub use system::{
    Assertion, Claim, ClaimMove, Constant, ConstantValue, Domain, EventId, Initial, Invalid, NamedFormula, Overflow,
    Process, ProcessId, Role, System, Valuation, VarId, Variable, ViewOf,
};
