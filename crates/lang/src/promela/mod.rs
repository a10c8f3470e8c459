//! Promela, the language of SPIN: text to [`System`](scrimp_system::System).
//!
//! The text goes through a preprocessor, inlines are expanded, and names are looked up; every body becomes a control graph
//! with the states of SPIN's. How many processes there will be is not known from the text, so a [`Promela`] model becomes a
//! system with room for some of them; where a run needs more, it says so, and [`Promela::make_room`] makes a larger one.

mod begin;
mod channels;
mod claim;
mod core;
mod d_step;
mod declare;
mod element;
mod events;
mod executable;
mod flow;
mod formula;
mod habits;
mod instances;
mod known;
mod launch;
mod link;
mod loops;
mod lower;
mod outline;
mod parser;
mod preprocess;
mod print;
mod program;
mod resolve;
mod stream;
mod syntax;
mod temporal;
mod tokens;
mod trace;
mod values;

use self::core::Program;
use crate::diagnostic::Diagnostic;
use instances::{Instance, Instances, Launch};
use lower::Lowered;
use preprocess::Input;
use scrimp_system::{Source, System, VarId};
use std::path::Path;
use std::sync::Arc;
use syntax::Specification;

/// The syntax tree of a model, and its whole text.
pub(crate) fn parse(input: Input<'_>) -> Result<(Specification, Source), Diagnostic> {
    let (pieces, source) = preprocess::preprocess(input)?;
    let parsed = tokens::tokens(pieces).and_then(parser::parse);
    match parsed {
        Ok(specification) => Ok((specification, source)),
        Err(problem) => Err(problem.locate(&source)),
    }
}

fn read(input: Input<'_>) -> Result<Program, Diagnostic> {
    let (specification, source) = parse(input)?;
    program::program(&specification, source.clone()).map_err(|problem| problem.locate(&source))
}

/// A Promela model, with room for some processes.
#[derive(Debug, Clone)]
pub struct Promela {
    program: Arc<Program>,
    instances: Instances,
    /// The instances of the last system, and its events that ask for more.
    lowered: Instances,
    wanted: Vec<events::Wanted>,
}

impl Promela {
    /// Reads a model; files that it includes are looked for in `folder`, and macros may be defined beforehand.
    pub fn new(name: &str, text: &str, folder: &Path, definitions: &[(String, String)]) -> Result<Promela, Diagnostic> {
        let input = Input { name, text, folder, definitions };
        let program = read(input).map_err(|problem| habits::advised(input, problem, &|input| read(input).map(drop)))?;
        let instances = Instances::initial(&program);
        let lowered = instances.clone();
        Ok(Promela { program: Arc::new(program), instances, lowered, wanted: Vec::new() })
    }

    /// Is there a `never` claim?
    pub fn has_claim(&self) -> bool {
        self.program.never.is_some()
    }

    /// Has the `never` claim labels of acceptance?
    pub fn claim_accepts(&self) -> bool {
        self.program.never.as_ref().is_some_and(claim::accepts)
    }

    /// The system with the room that there is, with the `never` claim if that is wanted.
    pub fn system(&mut self, with_claim: bool) -> Result<System, Diagnostic> {
        match lower::lower(&self.program, &self.instances, with_claim) {
            Ok(Lowered { mut system, wanted }) => {
                system.making = self.instances.numbers();
                self.wanted = wanted;
                self.lowered = self.instances.clone();
                Ok(system)
            }
            Err(problem) => Err(problem.locate(&self.program.source)),
        }
    }

    /// Makes the room that a system of this model had, by its [`making`](System::making). `false` where that is of no model
    /// of this text.
    pub fn restore(&mut self, making: &[u64]) -> bool {
        let Some(launches) = instances::launches(&self.program, making) else { return false };
        for launch in launches {
            self.instances.add(launch);
        }
        true
    }

    /// Is this the fault of an event of the last system that only needs more room?
    pub fn wants_room(&self, event: u32) -> bool {
        self.wanted.iter().any(|w| w.event == event)
    }

    /// Does any event need more room where it happens?
    pub fn may_want_room(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Makes room for the process that an event starts, in a state whose variables `read` gives. `false` when there is no
    /// more room to be had, or when there was room already.
    pub fn make_room(&mut self, event: u32, read: &dyn Fn(VarId) -> i64) -> bool {
        let Some(wanted) = self.wanted.iter().find(|w| w.event == event) else { return false };
        let controls = self.lowered.slots();
        // The control variables are the first of the system.
        let at = |slot: usize| read(VarId(slot as u32));
        let slot = (0..controls).find(|slot| at(*slot) == 0).unwrap_or(controls);
        if slot >= program::MAX_PROCESSES {
            return false;
        }
        let mut channels = instances::count_channels(&self.program.globals);
        for below in 0..slot {
            channels += instances::own_channels(&self.program, self.process_at(below, at(below)));
        }
        let to = Instance::new(&self.program, slot, wanted.process, channels, wanted.priority);
        self.instances.add(Launch { from: wanted.from, site: wanted.site, to })
    }

    /// The proctype of whoever is at a place of the stack, by its location there.
    fn process_at(&self, slot: usize, location: i64) -> usize {
        let mut first = 1;
        for instance in self.lowered.all.iter().filter(|i| i.slot == slot) {
            let states = self.program.processes[instance.process].flow.states.len() as i64;
            if location < first + states {
                return instance.process;
            }
            first += states;
        }
        0
    }
}
