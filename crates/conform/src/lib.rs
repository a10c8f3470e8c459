//! Recorded logs held against a model: is a log a run, and if not, where and why?
//!
//! A [`Log`] is JSON lines; a [`Mapping`] says what its fields mean. Not every step need be in it, and several logs may be
//! merged, in whatever order vector clocks or the order of each process allow. [`conform`] follows all states in which the
//! model may be, record after record, and answers a run that looks so, or the longest beginning that does, with what keeps
//! the model from going on as the log does ([`Parting`]).

mod ahead;
mod answer;
mod clock;
mod fields;
mod glob;
mod graph;
mod log;
mod mapping;
mod observed;
mod place;
mod search;
mod sequences;
mod spec;
mod subject;
mod template;
mod told;
mod value;
mod why;

pub use answer::{Conformance, Question, Recorded, Verdict, conform, conform_file};
pub use log::Log;
pub use mapping::{Mapping, Unseen};
pub use sequences::Source;
pub use why::{Parting, Reason};
