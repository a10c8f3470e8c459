//! A search as it is sent to other processes: what the system does, and what is looked for. Names of files and texts of models stay at
//! home, so that nothing but the program must be there.

use crate::crew::Work;
use crate::emptiness;
use crate::goal::{Goal, Sought};
use crate::locality::choose;
use crate::never::SentNever;
use crate::partition::{Division, Marks, Partition};
use crate::save::{Saved, Saving};
use crate::search::Task;
use crate::shared::Shared;
use crate::shares::{self, Manner};
use scrimp_core::Budget;
use scrimp_core::budget::resident;
use scrimp_native::{Mode, NativeModel};
use scrimp_progress::Measure;
use scrimp_search::checkpoint::Identity;
use scrimp_system::{Assertion, Claim, Event, Expr, Initial, Model, Process, Source, System, Variable};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a system does.
#[derive(Serialize, Deserialize)]
struct Behaviour {
    variables: Vec<Variable>,
    processes: Vec<Process>,
    events: Vec<Event>,
    initial: Initial,
    assertions: Vec<Assertion>,
    claim: Option<Claim>,
    valid_end: Option<Expr>,
    fault_messages: Vec<String>,
    outgrown: Option<u32>,
    packed: bool,
    guessed: bool,
}

impl Behaviour {
    fn of(system: System) -> Behaviour {
        Behaviour {
            variables: system.variables,
            processes: system.processes,
            events: system.events,
            initial: system.initial,
            assertions: system.assertions,
            claim: system.claim,
            valid_end: system.valid_end,
            fault_messages: system.fault_messages,
            outgrown: system.outgrown,
            packed: system.packed,
            guessed: system.guessed,
        }
    }

    fn system(self) -> System {
        System {
            variables: self.variables,
            processes: self.processes,
            events: self.events,
            initial: self.initial,
            assertions: self.assertions,
            claim: self.claim,
            valid_end: self.valid_end,
            fault_messages: self.fault_messages,
            outgrown: self.outgrown,
            packed: self.packed,
            guessed: self.guessed,
            ..System::new(Source::new("", ""))
        }
    }
}

/// A system as other processes get to know it: without what it is called by other names, and without a net's own measure.
fn as_sent(system: &System) -> System {
    Behaviour::of(system.clone()).system()
}

/// How a search is saved.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Keeping {
    /// The folder to save to, and the search that is taken up, with the folder it is in.
    pub to: Option<PathBuf>,
    pub from: Option<(PathBuf, Saved)>,
    /// Hashes of the model and of the options.
    pub model: u64,
    pub options: u64,
    pub making: Vec<u64>,
    pub every: Duration,
    /// The number of the first files.
    pub stamp: u64,
}

#[derive(Serialize, Deserialize)]
pub struct Job {
    behaviour: Behaviour,
    digest: u64,
    division: Division,
    aim: Aim,
}

/// What is to be found out.
#[derive(Serialize, Deserialize)]
pub enum Aim {
    /// Which states there are, and whether they meet goals.
    States { goals: Vec<Sought>, keep_going: bool, keeping: Option<Keeping> },
    /// The same, by workers that forget states in this manner.
    Shares { goals: Vec<Sought>, keep_going: bool, manner: Manner },
    /// Whether an automaton accepts a run.
    Runs(SentNever),
}

impl Aim {
    /// Who owns states: processes, whose threads share them, or each thread of theirs.
    fn owners(&self, (processes, threads): (usize, usize)) -> usize {
        match self {
            Aim::States { .. } => processes,
            Aim::Shares { .. } | Aim::Runs(_) => processes * threads,
        }
    }
}

impl Job {
    /// For so many processes, of so many threads.
    pub fn new(model: &NativeModel, aim: Aim, size: (usize, usize)) -> Job {
        let system = model.system();
        // What is tried beforehand is no part of the search, and `model` does not learn of it.
        let apart = NativeModel::new(Arc::new(as_sent(system)), Mode::Interpreted);
        let division = match apart {
            Ok(apart) => choose(&apart, aim.owners(size)),
            Err(_) => Division::evenly(Marks::all(model.state_bytes()), aim.owners(size)),
        };
        Job { digest: system.digest(), behaviour: Behaviour::of(System::clone(system)), division, aim }
    }

    /// Does it save what it has found?
    pub fn saves(&self) -> bool {
        matches!(&self.aim, Aim::States { keeping: Some(keeping), .. } if keeping.to.is_some())
    }

    /// What each of so many processes, of so many threads, has to do, within so much memory.
    pub fn task(self, memory: usize, (processes, threads): (usize, usize)) -> io::Result<Work> {
        let cannot = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        let Job { behaviour, digest, division, aim } = self;
        let system = behaviour.system();
        system.validate().map_err(|broken| cannot(broken.0))?;
        if system.digest() != digest {
            return Err(cannot("the model is not the one that was sent".to_string()));
        }
        let mode = Mode::Auto.within(&system, memory.saturating_sub(resident().unwrap_or(0)));
        let model = NativeModel::new(Arc::new(system), mode).map_err(|error| cannot(error.to_string()))?;
        if !division.suits(model.state_bytes(), aim.owners((processes, threads))) {
            return Err(cannot("its states are not divided as those of the model that was sent".to_string()));
        }
        if let Aim::Shares { manner, .. } = &aim
            && manner.forget.starts_with("pseudo-root")
        {
            // What runs the model backwards is made here, before the budget looks at what is used already.
            let suits = model.suits_predecessors();
            suits.map_err(|why| cannot(format!("--forget pseudo-root: its events cannot be run backwards: {why}")))?;
        }
        let partition = Partition::new(&division);
        // Where there is no memory for it here, the answer is that of a limit.
        let budget = Budget::begin(memory).map_err(|e| io::Error::new(io::ErrorKind::OutOfMemory, e.to_string()))?;
        let goals = |sought: &[Sought]| sought.iter().map(|sought| Goal::new(sought, &model)).collect();
        let (goals, keep_going, keeping) = match aim {
            Aim::States { goals: sought, keep_going, keeping } => (goals(&sought), keep_going, keeping),
            Aim::Shares { goals, keep_going, manner } => {
                let measure = manner.measure.as_ref().map(|(_, parts)| Measure::of(model.system(), parts));
                let model = Arc::new(model);
                let task = shares::Task { model, goals, keep_going, manner, measure, partition, memory, budget };
                return Ok(Work::Shares(Box::new(task)));
            }
            Aim::Runs(never) => {
                let sought = never.received(&model).map_err(cannot)?;
                return Ok(Work::Runs(emptiness::Task { model: Arc::new(model), sought, partition, budget }));
            }
        };
        let saving = keeping.map(|keeping| {
            let (folder, from) = keeping.from.unzip();
            Saving {
                to: keeping.to,
                from,
                folder: folder.unwrap_or_default(),
                identity: Identity { model: keeping.model, options: keeping.options },
                making: keeping.making,
                every: keeping.every,
                last: Mutex::new(Instant::now()),
                stamp: keeping.stamp,
            }
        });
        let shared = Shared::new(&model, processes, threads, &budget);
        let task = Task { model: Arc::new(model), goals, keep_going, budget, saving, partition, shared };
        Ok(Work::Levels(Box::new(task)))
    }
}
