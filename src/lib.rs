//! Scrimp decides properties of finite-state models inside the memory you give it.
//!
//! The `scrimp` command does that for model files. This library does it for models written in Rust: implement [`Model`]
//! for a system of your own and hand it to [`run`]. With [`Describe`], which says what its states and events are called,
//! traces can be read, and [`explore::serve`] shows it in the browser.
//!
//! ```
//! use scrimp::{Batch, Control, Model, ModelFacts, Options, Plan, Property, Verdict, run};
//!
//! /// A counter that goes round: 0, 1, …, 9, 0, …
//! struct Counter;
//!
//! impl Model for Counter {
//!     fn state_bytes(&self) -> usize {
//!         1
//!     }
//!     fn initial(&self, out: &mut Batch) {
//!         out.push(&[0], 0);
//!     }
//!     fn expand(&self, state: &[u8], out: &mut Batch) {
//!         out.push(&[(state[0] + 1) % 10], 0);
//!     }
//! }
//!
//! let properties = [Property::deadlock(), Property::invariant("below seven", |s| s[0] < 7)];
//! let options = Options { memory: Some(64 << 20), ..Default::default() };
//! let plan = Plan::new(&options, &properties, &ModelFacts::of(&Counter)).unwrap();
//! let report = run(&Counter, &properties, &plan, &Control::new(None)).unwrap();
//! assert_eq!(report.properties[1].verdict, Verdict::Violated);
//! assert_eq!(report.properties[1].trace.as_ref().unwrap().steps.len(), 7);
//! ```

#![deny(missing_docs)]

#[cfg(feature = "explorer")]
pub mod explore;
pub mod typed;

#[cfg(feature = "languages")]
pub use scrimp_checker::net as nets;
#[cfg(feature = "languages")]
pub use scrimp_checker::{
    Check, CheckError, Count, Explorable, Foresight, Found, Grows, Host, Loaded, Open, Plain, Request, Setting, chart,
    facts, fallback, generate, load, properties, run_engine, simulation, temporal, walk, with_room,
};
#[cfg(feature = "languages")]
pub use scrimp_cluster as cluster;
#[cfg(feature = "languages")]
pub use scrimp_conform as logs;
pub use scrimp_core::budget::resident;
pub use scrimp_core::{
    Budget, Condition, Control, Figures, ForgetFacts, GraphFacts, Limit, Never, Omission, Predicate, Property,
    PropertyKind, PropertyResult, Report, Step, Trace, Verdict,
};
/// Says how values of a type of your own are packed into bits: see [the trait](trait@Packed).
pub use scrimp_derive::Packed;
#[cfg(feature = "languages")]
pub use scrimp_lang::{
    Language, LoadError, NetNames, Opened, Promela, open, open_as, open_text, open_with, open_within, read_formulas,
};
pub use scrimp_lang::{parse_condition, parse_property, parse_property_file};
#[cfg(feature = "languages")]
pub use scrimp_native::{Entry, EntryKind, Mode, NativeModel};
#[cfg(feature = "languages")]
pub use scrimp_progress::{AutoOptions, Measure};
pub use scrimp_report as report;
pub use scrimp_search::{
    Feature, Front, Guides, ModelFacts, Options, Plan, Question, Refusal, ctl, lts, plan, run, run_guided,
};
pub use scrimp_system::{
    Batch, Cause, Describe, DescribedModel, EventCode, EventText, Fault, FaultRecord, Layout, Model, Passed, Stop,
    System,
};
pub use scrimp_typed::net;
pub use scrimp_typed::packed::{self, Packed};
pub use typed::{
    Answer, Checker, CheckerError, Conformance, Observation, Path, Seen, Simulated, Taken, TypedModel, Unseen, conform,
    conform_unseen,
};
#[cfg(feature = "languages")]
pub use typed::{FileAnswer, FileChecker, HeldLogs};
