//! From a file to a system that has room for all processes that it starts and all tokens that it makes.
//!
//! How many processes a Promela model has is only known when it runs. So it is run for a while; where it starts one for
//! which there is no room, a larger system is made. A search that still finds one says so, and is begun again.

use crate::error::CheckError;
use crate::grow::{Grows, with_room};
use crate::net::{Making, PetriNet, Structure};
use crate::temporal::{ExtractedClaim, extract_claim};
use scrimp_lang::{LoadError, Opened, Promela};
use scrimp_native::{Mode, NativeModel};
use scrimp_search::checkpoint;
use scrimp_system::{Batch, Describe, Fault, Model, Stop, System, VarId};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// States that are visited before a system is taken to have room for everything.
const SAMPLE: usize = 20_000;
/// States that are still visited when something was missing, so that more of it may be found at once.
const AFTERWARDS: usize = 200;
/// Time after which a search is begun with what room there is.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same for who visits a few states: what is missing then is soon made.
const HASTE: Duration = Duration::from_millis(40);

/// Reads a model from a file; the language is known by the file's extension, or else by its text.
pub fn load(path: &Path) -> Result<System, LoadError> {
    let Loaded { system, net, .. } = Loaded::open(path)?;
    // Whoever else holds the system lets go of it first, so that it need not be copied.
    drop(net);
    Ok(Arc::unwrap_or_clone(system))
}

/// A model file, as a system that can be made larger.
#[derive(Debug)]
pub struct Loaded {
    pub system: Arc<System>,
    promela: Option<Promela>,
    with_claim: bool,
    pub net: Option<PetriNet>,
    /// How long a first look at a Promela model may take.
    patience: Duration,
    stop: Stop,
}

impl Loaded {
    pub fn open(path: &Path) -> Result<Loaded, LoadError> {
        Loaded::open_with(path, &[])
    }

    /// With macros that are defined from outside.
    pub fn open_with(path: &Path, definitions: &[(String, String)]) -> Result<Loaded, LoadError> {
        Loaded::of(scrimp_lang::open_with(path, definitions)?)
    }

    /// Within limits of time and memory; as it was in a search that is taken up again, if one is.
    pub fn open_under(
        path: &Path,
        definitions: &[(String, String)],
        structure: Structure,
        resume: Option<&Path>,
        stop: &Stop,
    ) -> Result<Loaded, LoadError> {
        let mut opened = scrimp_lang::open_within(path, definitions, stop)?;
        if let Opened::Net(net) = &mut opened {
            // What goes wrong with it is told with the name that the user gave.
            net.name = path.display().to_string();
        }
        // What is wrong with a checkpoint is told when the search is planned. That of a cluster is a folder.
        let file = resume.map(|path| if path.is_dir() { path.join(scrimp_cluster::SEARCH) } else { path.into() });
        let making = file.and_then(|path| checkpoint::making(&path).ok()).unwrap_or_default();
        Loaded::within_limits(opened, structure, stop, &making)
    }

    pub fn of(opened: Opened) -> Result<Loaded, LoadError> {
        Loaded::with_structure(opened, Structure::ALL)
    }

    /// Using only some of a net's structure.
    pub fn with_structure(opened: Opened, structure: Structure) -> Result<Loaded, LoadError> {
        Loaded::within_limits(opened, structure, &Stop::never(), &[])
    }

    /// The same, as long as there is time and memory; with the [`making`](System::making) of an earlier one, the same system once
    /// more, as far as the model is the same.
    pub fn within_limits(
        opened: Opened,
        structure: Structure,
        stop: &Stop,
        making: &[u64],
    ) -> Result<Loaded, LoadError> {
        Loaded::within(opened, structure, PATIENCE, stop, making)
    }

    /// For who visits a few states, and wants to begin at once: it does not pay to find out how few bits the markings of a net
    /// need, or how many processes a Promela model may ever start.
    pub fn at_once(opened: Opened) -> Result<Loaded, LoadError> {
        Loaded::within(opened, Structure::NONE, HASTE, &Stop::never(), &[])
    }

    fn within(
        opened: Opened,
        structure: Structure,
        patience: Duration,
        stop: &Stop,
        making: &[u64],
    ) -> Result<Loaded, LoadError> {
        let stop = stop.clone();
        match opened {
            Opened::System(system) => {
                Ok(Loaded { system: Arc::from(system), promela: None, with_claim: false, net: None, patience, stop })
            }
            Opened::Promela(mut promela) => {
                // What was found out once is not looked for.
                let patience = if promela.restore(making) { Duration::ZERO } else { patience };
                let system = Arc::new(prepare(&mut promela, false, patience, &stop)?);
                Ok(Loaded { system, promela: Some(promela), with_claim: false, net: None, patience, stop })
            }
            Opened::Net(net) => {
                let name = net.name.clone();
                let net = match Making::read(&net, making) {
                    Some(making) => PetriNet::of(net, name, structure, making),
                    None => PetriNet::under(net, name, structure, &stop),
                };
                if let Some(cause) = stop.due_or_full() {
                    return Err(LoadError::Stopped(cause));
                }
                let system = net.lowered()?.system.clone();
                Ok(Loaded { system, promela: None, with_claim: false, net: Some(net), patience, stop })
            }
        }
    }

    /// Makes ready for a search by symmetry: what is alike in a net is kept alike in its states.
    pub(crate) fn keep_alike(&mut self) -> Result<(), LoadError> {
        if let Some(net) = &mut self.net {
            net.keep_alike();
            self.system = net.lowered()?.system.clone();
        }
        Ok(())
    }

    /// The same without a look at what else may be missing, for who visits a few states.
    pub fn grow_just_enough(&mut self, model: &NativeModel) -> Result<bool, LoadError> {
        self.grown(model, |promela, with_claim| Ok(promela.system(with_claim)?))
    }

    fn grown(
        &mut self,
        model: &NativeModel,
        larger: impl Fn(&mut Promela, bool) -> Result<System, LoadError>,
    ) -> Result<bool, LoadError> {
        if let Some(net) = &mut self.net {
            let widened = net.widen(model);
            if widened {
                self.system = net.lowered()?.system.clone();
            }
            return Ok(widened);
        }
        let (Some(promela), Some((state, record))) = (&mut self.promela, model.outgrown()) else { return Ok(false) };
        if !make_room(promela, model, state, record) {
            return Ok(false);
        }
        self.system = Arc::new(larger(promela, self.with_claim)?);
        Ok(true)
    }

    /// Works with a runnable model, and once more with a larger one as long as it turns out to be too small.
    pub fn with_model<T>(&mut self, mode: Mode, mut work: impl FnMut(&NativeModel) -> T) -> Result<T, CheckError> {
        let make = |system| NativeModel::new(system, mode);
        let (_, result) = with_room(self, None, &make, &mut |_| {}, |_, model| Ok::<T, CheckError>(work(model)))?;
        Ok(result)
    }

    pub fn is_promela(&self) -> bool {
        self.promela.is_some()
    }

    /// The same model once more, to be made larger by itself. Not for nets.
    pub(crate) fn another(&self) -> Loaded {
        let Loaded { system, promela, with_claim, patience, stop, .. } = self;
        let (system, promela, stop) = (system.clone(), promela.clone(), stop.clone());
        Loaded { system, promela, with_claim: *with_claim, net: None, patience: *patience, stop }
    }

    /// When all work on the model has to end.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Has the model a claim, in the system or beside it?
    pub fn has_claim(&self) -> bool {
        self.system.claim.is_some() || self.promela.as_ref().is_some_and(|promela| promela.has_claim())
    }

    /// Has the model a `never` claim beside the system?
    pub fn has_never_claim(&self) -> bool {
        self.promela.as_ref().is_some_and(|promela| promela.has_claim())
    }

    /// Has it labels of acceptance?
    pub fn never_claim_accepts(&self) -> bool {
        self.promela.as_ref().is_some_and(|promela| promela.claim_accepts())
    }

    /// Takes the model's `never` claim into the system; `false` when there is none that is not in it already.
    pub fn add_claim(&mut self) -> Result<bool, LoadError> {
        let Some(promela) = self.promela.as_mut().filter(|p| p.has_claim() && !self.with_claim) else {
            return Ok(false);
        };
        self.system = Arc::new(prepare(promela, true, self.patience, &self.stop)?);
        self.with_claim = true;
        Ok(true)
    }

    /// Takes the claim out of a system that has one, such as the property process of a DVE model.
    pub fn take_claim(&mut self) -> Result<Option<ExtractedClaim>, LoadError> {
        let claim = self.extracted_claim()?;
        if let Some(claim) = &claim {
            self.system = claim.system.clone();
            self.with_claim = false;
        }
        Ok(claim)
    }

    /// The claim taken out of the system, which keeps it.
    pub fn extracted_claim(&self) -> Result<Option<ExtractedClaim>, LoadError> {
        let refused = |problem| LoadError::File { path: self.system.source.name.clone().into(), problem };
        extract_claim(&self.system).transpose().map_err(refused)
    }
}

impl Grows for Loaded {
    fn system(&self) -> Result<Arc<System>, LoadError> {
        Ok(self.system.clone())
    }

    fn grow(&mut self, model: &NativeModel) -> Result<bool, LoadError> {
        let stop = self.stop.clone();
        self.grown(model, |promela, with_claim| prepare(promela, with_claim, PATIENCE, &stop))
    }

    fn missing(&self) -> &'static str {
        if self.net.is_some() { "a place gets more tokens" } else { "more processes are started" }
    }
}

/// The system of a Promela model, with room for all processes that a first look at its states finds.
fn prepare(promela: &mut Promela, with_claim: bool, patience: Duration, stop: &Stop) -> Result<System, LoadError> {
    let until = Instant::now() + patience;
    loop {
        if let Some(cause) = stop.due_or_full() {
            return Err(LoadError::Stopped(cause));
        }
        let system = Arc::new(promela.system(with_claim)?);
        // Going deep finds soonest what processes that start each other need; what is left is found by going wide.
        let grown = promela.may_want_room()
            && Instant::now() < until
            && (explore(promela, &system, true, until) || explore(promela, &system, false, until));
        if !grown {
            return Ok(Arc::unwrap_or_clone(system));
        }
    }
}

/// Runs the system for a while; says whether more room was made.
fn explore(promela: &mut Promela, system: &Arc<System>, deep: bool, until: Instant) -> bool {
    let Ok(model) = NativeModel::new(system.clone(), Mode::Interpreted) else { return false };
    let mut batch = Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut states: Vec<Vec<u8>> = Vec::new();
    let mut keep = |batch: &Batch, states: &mut Vec<Vec<u8>>| {
        for i in 0..batch.len() {
            if seen.insert(batch.state(i).to_vec()) {
                states.push(batch.state(i).to_vec());
            }
        }
    };
    keep(&batch, &mut states);
    let (mut visited, mut next, mut grown) = (0, 0, false);
    let mut end = if deep { SAMPLE / 10 } else { SAMPLE };
    while visited < end && (visited % 64 != 0 || Instant::now() < until) {
        let state = match deep {
            true => states.pop(),
            false => states.get(next).cloned(),
        };
        let Some(state) = state else { break };
        next += 1;
        visited += 1;
        batch.clear();
        model.expand(&state, &mut batch);
        for record in batch.faults().to_vec() {
            if record.fault == Fault::Model && make_room(promela, &model, &state, record) && !grown {
                grown = true;
                end = end.min(visited + AFTERWARDS);
            }
        }
        keep(&batch, &mut states);
    }
    grown
}

/// Makes room for the process that a fault in this state asks for.
fn make_room(promela: &mut Promela, model: &NativeModel, state: &[u8], record: scrimp_system::FaultRecord) -> bool {
    let (Some(event), _) = model.parts(record.event) else { return false };
    let steps = model.steps_to_fault(state, record);
    let state = steps.last().map_or(state, |(_, state)| state);
    promela.make_room(event, &|variable: VarId| model.layout().read(state, variable, 0).unwrap_or(0))
}
