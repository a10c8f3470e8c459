//! What a plan must know of a model file.

use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_search::liveness::MOST_MARKS;
use scrimp_search::{Feature, ModelFacts, Options};
use scrimp_system::{Event, System};
use scrimp_temporal::Marks;
use std::sync::Arc;

/// The model that facts are found out with, where these options need one: making it takes time.
pub fn examined(system: &Arc<System>, options: &Options) -> Result<Option<NativeModel>, BuildError> {
    let asked = options.features();
    let wants = [Feature::PseudoRoot, Feature::EdgeLean, Feature::Por, Feature::PorSleep];
    let wanted = wants.into_iter().any(|feature| asked.has(feature));
    wanted.then(|| NativeModel::new(system.clone(), Mode::Interpreted)).transpose()
}

/// The facts that matter to these options, of a model.
pub fn facts<'m>(model: &'m NativeModel, options: &Options) -> ModelFacts<'m> {
    facts_of(model.system(), Some(model), options)
}

/// The same of a system, with its model if [there is one](examined).
pub fn facts_of<'m>(system: &'m System, model: Option<&'m NativeModel>, options: &Options) -> ModelFacts<'m> {
    let mut facts = model.map_or_else(ModelFacts::default, |model| ModelFacts::of(model)).over(&system.variables);
    let asked = options.features();
    for symbolic in [Feature::Symbolic, Feature::SymbolicBfs] {
        if asked.has(symbolic)
            && options.reduce.leaves_out_states()
            && let Some(reason) = scrimp_symbolic::irreducible(system)
        {
            facts = facts.except(&[symbolic, Feature::Por], reason);
        }
    }
    if options.fair
        && let Err(reason) = FairProcesses::new(system)
    {
        facts = facts.except(&[Feature::WeakFairness], reason);
    }
    facts
}

/// The processes that weak fairness is about, and the one that each event is a move of.
pub struct FairProcesses {
    pub count: usize,
    /// For each event, the bit of its process.
    pub actors: Vec<Marks>,
}

impl FairProcesses {
    /// Fails where there are none, or too many.
    pub fn new(system: &System) -> Result<FairProcesses, String> {
        let mut number: Vec<Option<u32>> = vec![None; system.processes.len()];
        let mut count = 0;
        // What several do together is the move of the one who begins it: of a message, its sender.
        let first = |event: &Event| event.moves.first().map(|m| m.process.index());
        for process in system.events.iter().filter_map(first) {
            if number[process].is_none() {
                number[process] = Some(count);
                count += 1;
            }
        }
        let most = MOST_MARKS - 2;
        match count as usize {
            0 => Err("there are no processes that fairness could be about".into()),
            many if many > most => Err(format!("fairness of {many} processes is not supported, only of {most}")),
            count => {
                let bit = |event: &Event| first(event).and_then(|process| number[process]).map_or(0, |bit| 1 << bit);
                Ok(FairProcesses { count, actors: system.events.iter().map(bit).collect() })
            }
        }
    }
}
