//! What runs a program at the moment: the interpreter, or machine code once there is some.
//!
//! The code is published through a `OnceLock` that the model and the compiling thread share. Whoever lets go of it last
//! frees the code; a thread that runs code holds the model, so code is never freed under it. Dropping the engine tells
//! the compiling thread to stop; nobody waits for it, and it owns all that it touches.

use crate::compile::{Compiled, Output, compile};
use crate::counters::Counters;
use crate::interpret::Interpreter;
use crate::partition::{Limits, Partition};
use crate::program::{Program, Rules};
use crate::{BuildError, Mode};
use scrimp_system::{Batch, Event, Fault, ProcessId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Operators and operands that are compiled before the first state, in about ten milliseconds.
const LIGHT: usize = 5_000;

pub struct Engine {
    program: Arc<Program>,
    /// What runs the system instead, if it is one of counters.
    counters: Option<Counters>,
    shared: Arc<Shared>,
}

struct Shared {
    stop: AtomicBool,
    code: OnceLock<All>,
}

/// The code of all tables. It points into expressions of the program, so it holds on to it.
struct All {
    system: Compiled,
    late: Option<Compiled>,
    held: Option<Compiled>,
    claim: Option<Compiled>,
    _program: Arc<Program>,
}

impl Engine {
    pub fn new(program: Arc<Program>, mode: Mode, limits: Limits) -> Result<Engine, BuildError> {
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), code: OnceLock::new() });
        let automatic = matches!(mode, Mode::Auto | Mode::AtOnce);
        let counters = if automatic { Counters::new(&program) } else { None };
        let complete = counters.is_some();
        let engine = Engine { program: program.clone(), counters, shared: shared.clone() };
        let events = &program.system.events;
        let at_once = events.len() <= limits.whole && events.iter().map(Event::size).sum::<usize>() <= LIGHT;
        match mode {
            Mode::Interpreted => {}
            Mode::Auto | Mode::AtOnce if complete => {}
            Mode::Compiled => shared.publish(&program, limits)?,
            // Without machine code a model is slower, not wrong: that it failed is no error here.
            Mode::Auto | Mode::AtOnce if at_once => drop(shared.publish(&program, limits).ok()),
            Mode::Auto | Mode::AtOnce => {
                let thread = std::thread::Builder::new().name("scrimp-compile".into()).stack_size(64 << 20);
                let made = thread.spawn(move || shared.publish(&program, limits));
                // What a thread has used comes back when it ends.
                if let (Mode::AtOnce, Ok(made)) = (mode, made) {
                    drop(made.join());
                }
            }
        }
        Ok(engine)
    }

    /// Is the system run by something better than the interpreter?
    pub fn is_compiled(&self) -> bool {
        self.counters.is_some() || self.shared.code.get().is_some()
    }

    /// Size of the machine code, 0 when there is none.
    pub fn code_bytes(&self) -> usize {
        let Some(All { system, late, held, claim, .. }) = self.shared.code.get() else { return 0 };
        let tables = [Some(system), late.as_ref(), held.as_ref(), claim.as_ref()];
        tables.into_iter().flatten().map(|table| table.code.bytes()).sum()
    }

    /// Appends the successors of `state` by the system's own events, late ones excepted.
    #[inline]
    pub fn expand(&self, state: &[u8], out: &mut Batch) {
        if let Some(counters) = &self.counters {
            return counters.expand(state, out);
        }
        match self.shared.code.get() {
            Some(code) => code.system.expand(&self.program, &self.program.rules, None, state, out),
            None => Interpreter::new(&self.program).expand(&self.program.rules, None, state, out),
        }
    }

    /// Appends the successors by late events.
    pub fn expand_late(&self, state: &[u8], out: &mut Batch) {
        let Some(rules) = &self.program.late else { return };
        self.expand_table(self.shared.code.get().and_then(|code| code.late.as_ref()), rules, None, state, out);
    }

    /// Appends the successors by what a process can do by itself.
    pub fn expand_held(&self, process: ProcessId, state: &[u8], out: &mut Batch) {
        let Some(rules) = &self.program.held else { return };
        self.expand_table(self.shared.code.get().and_then(|code| code.held.as_ref()), rules, Some(process), state, out);
    }

    fn expand_table(
        &self,
        code: Option<&Compiled>,
        rules: &Rules,
        only: Option<ProcessId>,
        state: &[u8],
        out: &mut Batch,
    ) {
        match code {
            Some(code) => code.expand(&self.program, rules, only, state, out),
            None => Interpreter::new(&self.program).expand(rules, only, state, out),
        }
    }

    /// The claim's moves that are enabled in `state`.
    pub fn claim_moves(&self, state: &[u8], enabled: &mut Vec<u32>, faults: &mut Vec<(u32, Fault)>) {
        let Some(rules) = &self.program.claim else { return };
        match self.shared.code.get().and_then(|code| code.claim.as_ref()) {
            Some(code) => code.select(&self.program, rules, state, enabled, faults),
            None => Interpreter::new(&self.program).select(rules, state, enabled, faults),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn publish(&self, program: &Arc<Program>, limits: Limits) -> Result<(), BuildError> {
        // The code generator panics on what it was not made for; that must not end a run that can go on without it.
        let built = catch_unwind(AssertUnwindSafe(|| -> Result<All, BuildError> {
            let table =
                |rules: &Rules, output| compile(program, rules, output, Partition::new(rules, limits), &self.stop);
            let by_process = |rules: &Rules| {
                compile(program, rules, Output::States, Partition::by_process(rules, limits), &self.stop)
            };
            let system = table(&program.rules, Output::States)?;
            let late = program.late.as_ref().map(|rules| table(rules, Output::States)).transpose()?;
            let held = program.held.as_ref().map(by_process).transpose()?;
            let claim = program.claim.as_ref().map(|rules| table(rules, Output::Numbers)).transpose()?;
            Ok(All { system, late, held, claim, _program: program.clone() })
        }));
        let all = built.unwrap_or_else(|_| Err(BuildError("the code generator failed".into())))?;
        // Only one thread ever publishes.
        let _ = self.code.set(all);
        Ok(())
    }
}
