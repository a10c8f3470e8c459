//! From a system to a runnable model: machine code, and the interpreter that is its oracle.
//!
//! [`NativeModel`] is the way in. It runs a [`System`] by machine code made with Cranelift, or by interpretation: while
//! the code of a large model is still being made, or where there can be none. Both give the same successors with the same
//! events and faults in the same order, so a search may switch from one to the other at any state.

mod atomic;
mod code;
mod compile;
mod condition;
mod counters;
mod emit;
mod engine;
mod entries;
mod fuse;
mod interpret;
mod pair;
mod partition;
mod predecessors;
mod product;
mod program;
mod pruning;
mod relations;
mod retrace;
mod run;
mod successors;
mod told;
mod watch;

pub use condition::{Conditions, Predicate, Quantity};
pub use entries::{Entry, EntryKind};
#[doc(hidden)]
pub use partition::Limits;

use counters::Tally;
use engine::Engine;
use predecessors::Backwards;
use program::Program;
use scrimp_system::dependence::Dependence;
use scrimp_system::{
    Batch, Change, Describe, Event, EventCode, EventText, Expr, Fault, FaultRecord, Model, Passed, Set, Standing,
    Symmetry, System, Unsuited, independence,
};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use watch::Watch;

/// How a model is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By machine code, made at once for a small model and in the background for a large one.
    #[default]
    Auto,
    /// The same, but made at once for a large model, too.
    AtOnce,
    Interpreted,
    /// By machine code from the first state on; where there can be none, that is an error.
    Compiled,
}

/// Bytes that the code generator takes for an operator or operand, about.
const WORK: usize = 1 << 10;

impl Mode {
    /// How to run a system with so much memory left. What makes code in the background takes memory that a search may have counted
    /// on: where that is not little beside all of it, code is made before the search begins, or not at all.
    pub fn within(self, system: &System, memory: usize) -> Mode {
        let work = WORK * system.events.iter().map(Event::size).sum::<usize>();
        match self {
            Mode::Auto if work > memory / 2 => Mode::Interpreted,
            Mode::Auto if work > memory / 32 => Mode::AtOnce,
            mode => mode,
        }
    }
}

/// Why there is no model: the system breaks a rule, or there is no machine code where it was demanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError(pub String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

/// A system that the search can run; with its claim, if it has one.
pub struct NativeModel {
    engine: Engine,
    program: Arc<Program>,
    mode: Mode,
    limits: Limits,
    /// Successors are what events lead to, nothing else: asked for each state, and therefore once for all.
    plain: bool,
    valid_end: Option<Predicate>,
    watch: Option<Watch>,
    tally: Option<Tally>,
    /// The first state for which the system was too small, and the event that had no room.
    outgrown: OnceLock<(Vec<u8>, FaultRecord)>,
    /// Made when it is first asked for.
    backwards: OnceLock<Result<Backwards, Unsuited>>,
}

impl NativeModel {
    pub fn new(system: Arc<System>, mode: Mode) -> Result<NativeModel, BuildError> {
        NativeModel::with_limits(system, mode, Limits::default())
    }

    /// With other sizes of functions than the usual ones; results do not depend on them.
    #[doc(hidden)]
    pub fn with_limits(system: Arc<System>, mode: Mode, limits: Limits) -> Result<NativeModel, BuildError> {
        let program = Arc::new(Program::new(system)?);
        let engine = Engine::new(program.clone(), mode, limits)?;
        let plain = program.is_plain() && program.system.outgrown.is_none() && !program.system.guessed;
        let compiled = mode != Mode::Interpreted;
        let valid_end = program.system.valid_end.as_ref().map(|end| Predicate::new(program.clone(), end, compiled));
        Ok(NativeModel {
            engine,
            program,
            mode,
            limits,
            plain,
            valid_end,
            watch: None,
            tally: None,
            outgrown: OnceLock::new(),
            backwards: OnceLock::new(),
        })
    }

    /// From now on remembers which events happen.
    pub fn watch_events(&mut self) {
        self.watch = Some(Watch::new(self.program.system.events.len()));
    }

    /// From now on counts the tokens of every state that is expanded; `false` where there are none to count.
    pub fn watch_tokens(&mut self) -> bool {
        self.tally = Tally::of(&self.program);
        self.tally.is_some()
    }

    /// The most tokens in one place, and in all places, of any state expanded since tokens are
    /// [watched](NativeModel::watch_tokens).
    pub fn most_tokens(&self) -> Option<(u64, u64)> {
        self.tally.as_ref().map(Tally::most)
    }

    /// For each event of the system, whether it has happened in any state expanded since events are
    /// [watched](NativeModel::watch_events); empty if they are not.
    pub fn happened(&self) -> Vec<bool> {
        self.watch.as_ref().map(Watch::marks).unwrap_or_default()
    }

    /// A state for which the system was made too small, and the event that had no room there, if one was met.
    pub fn outgrown(&self) -> Option<(&[u8], FaultRecord)> {
        self.outgrown.get().map(|(state, record)| (&state[..], *record))
    }

    pub fn system(&self) -> &Arc<System> {
        &self.program.system
    }

    pub fn layout(&self) -> &scrimp_system::Layout {
        &self.program.layout
    }

    /// Is machine code in use by now?
    pub fn is_compiled(&self) -> bool {
        self.engine.is_compiled()
    }

    /// Bytes of machine code in use.
    pub fn code_bytes(&self) -> usize {
        self.engine.code_bytes()
    }

    fn backwards(&self) -> Result<&Backwards, &Unsuited> {
        let made = self.backwards.get_or_init(|| Backwards::new(&self.program, self.mode, self.limits));
        made.as_ref()
    }

    /// A condition made ready to be evaluated on many states.
    pub fn predicate(&self, condition: &Expr) -> Predicate {
        Predicate::new(self.program.clone(), condition, self.mode != Mode::Interpreted)
    }

    /// An expression made ready to be evaluated on many states.
    pub fn value(&self, value: &Expr) -> Quantity {
        Quantity::new(self.program.clone(), value, self.mode != Mode::Interpreted)
    }

    /// Several conditions made ready to be evaluated together.
    pub fn conditions(&self, conditions: &[Expr]) -> Conditions {
        Conditions::new(self.program.clone(), conditions, self.mode != Mode::Interpreted)
    }

    /// The system's event and the claim's move that a code stands for, by their numbers; where several steps lead to one
    /// successor, those of the first.
    pub fn parts(&self, code: EventCode) -> (Option<u32>, Option<u32>) {
        self.program.parts(code)
    }
}

impl Model for NativeModel {
    fn state_bytes(&self) -> usize {
        self.program.layout.bytes()
    }

    fn initial(&self, out: &mut Batch) {
        for values in &self.program.system.initial {
            let state = out.push_with(0);
            state.fill(0);
            self.program.layout.encode(values, state);
        }
    }

    /// Not for products with a claim, which moves with every event, and not for so many events that the relation would be
    /// large.
    fn independence(&self) -> Option<Vec<Set>> {
        const MOST_EVENTS: usize = 20_000;
        let system = &self.program.system;
        (system.claim.is_none() && system.events.len() <= MOST_EVENTS).then(|| independence(system))
    }

    fn dependence(&self) -> Result<Arc<Dependence>, String> {
        relations::dependence(&self.program.system)
    }

    fn symmetry(&self, kept: &[&Expr], others: &[&Expr]) -> Result<Symmetry, String> {
        Symmetry::of(&self.program.system, &self.program.layout, kept, others)
    }

    fn first_event(&self, code: EventCode) -> u32 {
        self.program.parts(code).0.unwrap_or(code)
    }

    fn digest(&self) -> Option<u64> {
        Some(self.program.system.digest())
    }

    fn making(&self) -> &[u64] {
        &self.program.system.making
    }

    fn components(&self) -> Vec<Vec<Range<usize>>> {
        scrimp_system::components(&self.program.system, &self.program.layout)
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        if let Some(tally) = &self.tally {
            tally.count(state);
        }
        if self.plain {
            let (first, faults) = (out.len(), out.faults().len());
            self.engine.expand(state, out);
            if let Some(watch) = &self.watch {
                watch.happened_plainly(&self.program, out, first);
                out.faults()[faults..].iter().for_each(|record| watch.happened(&self.program, record.event));
            }
        } else {
            self.expand_specially(state, out);
        }
    }

    fn is_outgrown(&self) -> bool {
        self.outgrown.get().is_some()
    }

    fn predecessors(&self, state: &[u8], out: &mut Batch) -> Result<(), Unsuited> {
        self.backwards().map_err(Unsuited::clone)?.predecessors(&self.engine, state, out)
    }

    fn suits_predecessors(&self) -> Result<(), Unsuited> {
        self.backwards().map(|_| ()).map_err(Unsuited::clone)
    }
}

impl Describe for NativeModel {
    fn steps(&self, state: &[u8], code: EventCode, successor: &[u8]) -> Vec<(EventCode, Vec<u8>)> {
        self.steps_of(state, code, successor)
    }

    fn steps_to_fault(&self, state: &[u8], record: FaultRecord) -> Vec<(EventCode, Vec<u8>)> {
        self.steps_to(state, record)
    }

    fn fault(&self, record: FaultRecord) -> String {
        let system = &self.program.system;
        let event = self.event_of(record.event);
        let message = event.and_then(|event| system.fault_messages.get(event.fault? as usize));
        let asserted = event.and_then(|event| event.label.strip_prefix("assert(")?.strip_suffix(')'));
        match (record.fault, message) {
            (Fault::Model, Some(message)) => message.clone(),
            (Fault::Assertion, _) if asserted.is_some() => {
                format!("assertion violated {}", asserted.unwrap_or_default())
            }
            (fault, _) => fault.to_string(),
        }
    }

    fn event(&self, code: EventCode) -> EventText {
        self.text_of(code)
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.values_in(state)
    }

    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        self.changes_between(before, after)
    }

    fn standing(&self, state: &[u8]) -> Vec<Standing> {
        self.standing_in(state)
    }

    fn is_place(&self, entry: usize) -> bool {
        // The control variables come first.
        entry < self.program.system.outline.places.len()
    }

    fn messages(&self, state: &[u8], entry: usize) -> Option<Vec<Vec<String>>> {
        self.messages_of(state, entry)
    }

    fn leaves_out_zeros(&self) -> bool {
        !self.program.system.views.is_empty()
    }

    fn printed(&self, state: &[u8], code: EventCode) -> Option<(u32, String)> {
        self.text_printed(state, code)
    }

    fn processes(&self) -> Vec<String> {
        self.program.system.processes.iter().map(|process| process.name.clone()).collect()
    }

    fn passed(&self, state: &[u8], code: EventCode) -> Option<Passed> {
        self.message_passed(state, code)
    }
}
