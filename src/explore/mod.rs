//! The explorer: what its page can ask of a model, answered.
//!
//! The model is read beside the server, so that the page is there at once. States are visited in a
//! [`Walk`](crate::walk::Walk), which all pages share and which only grows; checks are programs of their own, so that a
//! long one takes nothing from the page.
//!
//! A model in Rust is looked at with [`serve`]; it is checked by a thread.

mod carry;
mod check;
mod claim_pair;
mod editing;
mod export;
mod graph;
mod live;
mod net;
mod net_drawing;
mod pictures;
mod serve;
mod session;
mod source;
mod text;
mod trial;
mod view;

pub use export::{Exported, export};
pub use serve::{Page, Serve, open_browser, serve};

use crate::walk::find_trace;
use crate::{DescribedModel, Plain, Property, Trace};
use check::{Checks, Program, Thread};
use claim_pair::{ClaimPair, Made, Origin};
use live::{FileState, Live};
use scrimp_core::Condition;
use scrimp_explorer::{Explored, Refusal, Request};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use text::OnDisk;

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
    /// One model is read after the other.
    reading: Mutex<()>,
    checks: Checks,
    is_file: bool,
}

/// How far the model has come.
enum Stage {
    Reading,
    Failed(String),
    Ready(Box<Live>),
}

/// How long the page waits for the model before it is told that it is still being read.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the files of the model are looked at.
const EVERY: Duration = Duration::from_millis(250);

impl Explorer {
    /// Begins to read the model.
    pub fn open(opening: Opening) -> Arc<Explorer> {
        let checks = Checks::new(Program { model: opening.model.clone(), define: opening.define.clone() });
        let explorer = Explorer::begin(checks, true, move || read(&opening));
        let watched = Arc::downgrade(&explorer);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(EVERY);
                let Some(explorer) = watched.upgrade() else { return };
                explorer.look(false);
            }
        });
        explorer
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
        let given = || ClaimPair::given(Plain::new(model, name, properties), run).map(|pair| Live::new(pair, None));
        Explorer::begin(checks, false, given)
    }

    fn begin(
        checks: Checks,
        is_file: bool,
        read: impl FnOnce() -> Result<Live, String> + Send + 'static,
    ) -> Arc<Explorer> {
        let explorer = Arc::new(Explorer {
            session: Mutex::new(Stage::Reading),
            read: Condvar::new(),
            reading: Mutex::new(()),
            checks,
            is_file,
        });
        let reader = explorer.clone();
        std::thread::spawn(move || {
            let stage = match catch_unwind(AssertUnwindSafe(read)) {
                Ok(Ok(live)) => Stage::Ready(Box::new(live)),
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
        self.with_live(|live| work(&mut live.now))
    }

    fn with_live<T>(&self, work: impl FnOnce(&mut Live) -> Result<T, Refusal>) -> Result<T, Refusal> {
        match &mut *self.stage() {
            Stage::Ready(live) => work(live),
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
            Stage::Ready(live) => live.model(),
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
            Request::Check { properties, options } => self.check(&properties, &options),
            Request::Checked { from } => self.checks.told(from),
            Request::StopCheck => self.checks.stop(),
            Request::LoadRun { property } => {
                let (trace, about, version) = self.checks.trace(property)?;
                self.with_live(|live| {
                    let mut loaded = live.now.replay(&trace)?;
                    // Of another model the run says nothing, even where it can be gone there.
                    loaded["property"] = if live.version == version { about } else { Value::Null };
                    Ok(loaded)
                })
            }
            Request::Node { node, values, enabled } => {
                self.with_models(|both| both.of(node).node(node, values.as_deref(), enabled.as_deref()))
            }
            Request::Step { node, choice } => self.with_models(|both| both.of(node).step(node, choice)),
            Request::Random { node, steps, seed } => self.with_models(|both| both.of(node).random(node, steps, seed)),
            Request::Path { node, after, most } => self.with_models(|both| both.of(node).path(node, after, most)),
            Request::Trace { node, again } => self.with_models(|both| both.of(node).trace(node, again)),
            Request::Replay { trace } => {
                let found = find_trace(&trace).ok_or_else(|| Refusal::wrong("there is no trace in this file"))?;
                self.with_models(|both| {
                    let mut loaded = both.replay(found)?;
                    loaded["property"] = check::about(&trace);
                    Ok(loaded)
                })
            }
            Request::Source { file, from, count } => {
                self.with_models(|both| Ok(source::lines(both.text(file)?, file, from, count)))
            }
            Request::Graph { node, expanded, most } => {
                self.with_models(|both| both.of(node).graph(node, &expanded, most))
            }
            Request::Go { node, vertex } => self.with_models(|both| both.of(node).go(node, vertex)),
            Request::Net { node, drawing } => self.with_models(|both| both.of(node).net(node, drawing)),
            Request::Vertex { node, vertex } => self.with_models(|both| both.of(node).vertex(node, vertex)),
            Request::Export { node, again, property } => {
                self.with_models(|both| both.export(node, again, property.as_ref()))
            }
            Request::Watch => self.with_live(|live| Ok(live.told())),
            Request::Text => self.with_live(|live| live.text()),
            Request::Diagnose { text } => self.diagnose(text.into()),
            Request::Try { text } => self.try_text(text.into()),
            Request::Save { text, stamp } => self.save(&text, stamp.as_deref()),
            Request::Reload => self.reload(),
            Request::Carry { node, at, again } => self.with_live(|live| live.carry(node, at, again)),
        }
    }
}

/// Reads the model, and replays the trace to begin with.
fn read(opening: &Opening) -> Result<Live, String> {
    let (both, file) = open(opening)?;
    Ok(Live::new(both, Some(file)))
}

/// The model of a file, and how the file was when it was read.
fn open(opening: &Opening) -> Result<(ClaimPair, FileState), String> {
    let begun = SystemTime::now();
    // What cannot be edited is read by the language itself, which says better why it cannot.
    let disk = OnDisk::read(&opening.model).ok();
    // The trace is long, and no longer needed when it was gone.
    let (model, define, properties) = (opening.model.clone(), opening.define.clone(), opening.properties.clone());
    let plain = Opening { model, define, properties, trace: None };
    let text = disk.as_ref().and_then(|disk| disk.text.clone().ok()).filter(|text| !text.is_empty());
    let made = Made::of(Origin { opening: plain.clone(), text }).map_err(|problem| problem.shown)?;
    let disk = disk.ok_or_else(|| format!("{}: error: the file cannot be read", opening.model.display()))?;
    let file = FileState::new(plain, disk, &made.files, begun);
    let mut both = made.behind(None).map_err(|problem| problem.shown)?;
    if let Some((name, trace)) = &opening.trace {
        let whole = trace;
        let trace = find_trace(trace).ok_or_else(|| {
            format!("{name}: error: there is no trace in it\nhelp: write one with `scrimp check MODEL --json > FILE`")
        })?;
        both.begin_with(trace, check::about(whole)).map_err(|refusal| format!("{name}: error: {}", refusal.message))?;
    }
    Ok((both, file))
}
