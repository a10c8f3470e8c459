//! Logs of JSON lines held against a model, in one chain of calls.
//!
//! ```no_run
//! use scrimp::Checker;
//! use scrimp::logs::{Log, Mapping, Unseen};
//!
//! let mapping = Mapping::parse("run.map", "process node\nevent kind\n")?;
//! let held = Checker::open("commit.pml")?.conform(&[Log::named("run.jsonl".as_ref())?], &mapping, Unseen::Any)?;
//! held.assert_conforms();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::checker::{Checker, CheckerError};
use super::shared::Shared;
use scrimp_checker::{CheckError, Plain};
use scrimp_conform::{Conformance, Log, Mapping, Question, Unseen, Verdict, conform};
use scrimp_core::budget::{default_memory, resident};
use scrimp_report::Style;
use scrimp_search::Options;
use scrimp_system::{Describe, Stop};
use scrimp_typed::TypedModel;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// What came of holding logs against a model.
pub struct HeldLogs {
    /// The answer in pieces.
    pub found: Conformance,
    pub(super) name: String,
    pub(super) model: Arc<dyn Describe + Send>,
}

/// The memory that all may use, and when it ends.
pub(super) fn limits(options: &Options) -> (usize, Stop) {
    let memory = options.memory.unwrap_or_else(default_memory);
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    (memory, Stop::at(deadline).with_memory(memory, resident))
}

impl<M: TypedModel> Checker<M> {
    /// Are these logs, of JSON lines, a run of the model? Its actions and values are called as the answer of a check calls them.
    pub fn conform(self, logs: &[Log], mapping: &Mapping, unseen: Unseen) -> Result<HeldLogs, CheckerError> {
        let (logs, mapping) = (logs.to_vec(), mapping.clone());
        self.alone(move |encoded, name, _, options| {
            // Events are called the same in every state.
            encoded.name_events();
            let model = Arc::new(Plain::new(Arc::new(Shared(encoded)), name.clone(), [].into()));
            let (memory, stop) = limits(options);
            let question = Question { logs: &logs, mapping: &mapping, unseen: Some(unseen), memory };
            let found = conform(&*model, &question, &stop).map_err(wrong)?;
            Ok(HeldLogs { found, name, model })
        })
    }
}

/// What is wrong with logs or a mapping.
pub(super) fn wrong(error: CheckError) -> CheckerError {
    CheckerError::File(error.to_string())
}

impl HeldLogs {
    /// Is it a run of the model?
    pub fn conforms(&self) -> bool {
        self.found.verdict == Verdict::Conforms
    }

    /// For tests: goes on where it is a run.
    ///
    /// # Panics
    /// Where it is none, or that is not known; the message says why.
    pub fn assert_conforms(&self) {
        assert!(self.conforms(), "{self}");
    }

    /// The object that `scrimp conform --json` prints.
    pub fn json(&self) -> String {
        format!("{:#}", self.found.json(&self.name, &*self.model))
    }
}

impl fmt::Display for HeldLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.found.text(&self.name, &*self.model, Style::PLAIN))
    }
}
