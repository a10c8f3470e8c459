//! The explorer: what its page can ask of a model, answered.
//!
//! The model is read beside the server, so that the page is there at once. States are visited in a
//! [`Walk`](crate::walk::Walk), which all pages share and which only grows; checks are programs of their own, so that a
//! long one takes nothing from the page.
//!
//! A model in Rust is looked at with [`serve`]; it is checked by a thread.

mod check;
mod claim_pair;
mod graph;
mod net;
mod net_drawing;
mod pictures;
mod serve;
mod session;
mod source;
mod view;

pub use serve::{Page, Serve, open_browser, serve};

use crate::walk::find_trace;
use crate::{DescribedModel, Plain, Property, Trace};
use check::{Checks, Program, Thread};
use claim_pair::ClaimPair;
use scrimp_core::Condition;
use scrimp_explorer::{Explored, Refusal, Request};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is asked for on the command line.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The file of the model.
    pub model: PathBuf,
    /// Macros that are defined from outside: their names, and what they stand for.
    pub define: Vec<(String, String)>,
    /// A trace to begin with, and the name of its file.
    pub trace: Option<(String, Value)>,
    /// Properties that the page is to offer.
    pub properties: Vec<String>,
}

/// Answers the page.
pub struct Explorer {
    session: Mutex<Stage>,
    read: Condvar,
    checks: Checks,
    is_file: bool,
}

/// How far the model has come.
enum Stage {
    Reading,
    Failed(String),
    Ready(Box<ClaimPair>),
}

/// How long the page waits for the model before it is told that it is still being read.
const PATIENCE: Duration = Duration::from_millis(400);

impl Explorer {
    /// Begins to read the model.
    pub fn open(opening: Opening) -> Arc<Explorer> {
        let checks = Checks::new(Program { model: opening.model.clone(), define: opening.define.clone() });
        Explorer::begin(checks, true, move || read(&opening))
    }

    /// Begins to look at a model in Rust, at the end of a run if one is given.
    pub fn of_model(
        model: Arc<dyn DescribedModel + Send>,
        name: String,
        properties: Vec<Property<Condition<'static>>>,
        run: Option<Trace>,
    ) -> Arc<Explorer> {
        let properties: Arc<[Property<Condition<'static>>]> = properties.into();
        let checks = Checks::new(Thread { model: model.clone(), name: name.clone(), properties: properties.clone() });
        Explorer::begin(checks, false, || ClaimPair::given(Plain::new(model, name, properties), run))
    }

    fn begin(
        checks: Checks,
        is_file: bool,
        read: impl FnOnce() -> Result<ClaimPair, String> + Send + 'static,
    ) -> Arc<Explorer> {
        let explorer =
            Arc::new(Explorer { session: Mutex::new(Stage::Reading), read: Condvar::new(), checks, is_file });
        let reader = explorer.clone();
        std::thread::spawn(move || {
            let stage = match catch_unwind(AssertUnwindSafe(read)) {
                Ok(Ok(both)) => Stage::Ready(Box::new(both)),
                Ok(Err(message)) => Stage::Failed(message),
                Err(_) if is_file => Stage::Failed("the model cannot be read".into()),
                Err(panic) => Stage::Failed(check::panicked(&*panic)),
            };
            *reader.stage() = stage;
            reader.read.notify_all();
        });
        explorer
    }

    /// Why there is no model, once that is known; waits for it so long.
    pub fn failure(&self, patience: Duration) -> Option<String> {
        let reading = |stage: &mut Stage| matches!(stage, Stage::Reading);
        let waited = self.read.wait_timeout_while(self.stage(), patience, reading);
        let (stage, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            Stage::Failed(message) => Some(message.clone()),
            _ => None,
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_models<T>(&self, work: impl FnOnce(&mut ClaimPair) -> Result<T, Refusal>) -> Result<T, Refusal> {
        match &mut *self.stage() {
            Stage::Ready(both) => work(both),
            Stage::Reading => Err(Refusal::conflict("the model is still being read")),
            Stage::Failed(message) => Err(Refusal::conflict(message.clone())),
        }
    }

    fn model(&self) -> Value {
        let reading = |stage: &mut Stage| matches!(stage, Stage::Reading);
        let waited = self.read.wait_timeout_while(self.stage(), PATIENCE, reading);
        let (mut stage, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &mut *stage {
            Stage::Reading => json!({ "loading": true }),
            Stage::Failed(message) => json!({ "failed": message }),
            Stage::Ready(both) => both.model(),
        }
    }
}

impl Explored for Explorer {
    /// A model in Rust may panic, as one under development does: that is said, and the page goes on.
    fn answer(&self, request: Request) -> Result<Value, Refusal> {
        match catch_unwind(AssertUnwindSafe(|| self.answered(request))) {
            Ok(answer) => answer,
            Err(panic) if self.is_file => resume_unwind(panic),
            Err(panic) => Err(Refusal::wrong(check::panicked(&*panic))),
        }
    }
}

impl Explorer {
    fn answered(&self, request: Request) -> Result<Value, Refusal> {
        match request {
            Request::Model => Ok(self.model()),
            Request::Check { properties, options } => self.checks.begin(&properties, &options),
            Request::Checked { from } => self.checks.told(from),
            Request::StopCheck => self.checks.stop(),
            Request::LoadRun { property } => {
                let trace = self.checks.trace(property)?;
                self.with_models(|both| both.replay(&trace))
            }
            Request::Node { node, values, enabled } => {
                self.with_models(|both| both.of(node).node(node, values.as_deref(), enabled.as_deref()))
            }
            Request::Step { node, choice } => self.with_models(|both| both.of(node).step(node, choice)),
            Request::Random { node, steps, seed } => self.with_models(|both| both.of(node).random(node, steps, seed)),
            Request::Path { node, after, most } => self.with_models(|both| both.of(node).path(node, after, most)),
            Request::Trace { node, again } => self.with_models(|both| both.of(node).trace(node, again)),
            Request::Replay { trace } => {
                let trace = find_trace(&trace).ok_or_else(|| Refusal::wrong("there is no trace in this file"))?;
                self.with_models(|both| both.replay(trace))
            }
            Request::Source { file, from, count } => self.with_models(|both| match both.of(0).walk().model().file() {
                Some(model) => source::lines(model, file, from, count),
                None => Err(Refusal::unknown("this model has no text")),
            }),
            Request::Graph { node, expanded, most } => {
                self.with_models(|both| both.of(node).graph(node, &expanded, most))
            }
            Request::Go { node, vertex } => self.with_models(|both| both.of(node).go(node, vertex)),
            Request::Net { node, drawing } => self.with_models(|both| both.of(node).net(node, drawing)),
        }
    }
}

/// Reads the model, and replays the trace to begin with.
fn read(opening: &Opening) -> Result<ClaimPair, String> {
    let mut both = ClaimPair::open(opening)?;
    if let Some((name, trace)) = &opening.trace {
        let trace = find_trace(trace).ok_or_else(|| {
            format!("{name}: error: there is no trace in it\nhelp: write one with `scrimp check MODEL --json > FILE`")
        })?;
        both.begin_with(trace).map_err(|refusal| format!("{name}: error: {}", refusal.message))?;
    }
    Ok(both)
}
