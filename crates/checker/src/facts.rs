//! What a plan must know of a model file.

use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_search::liveness::MOST_MARKS;
use scrimp_search::{FairnessChoice, FairnessKind, Feature, ModelFacts, Options};
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
    if !options.fair.is_empty()
        && let Err(reason) = FairProcesses::new(system, &options.fair)
    {
        for kind in [Feature::WeakFairness, Feature::StrongFairness] {
            facts = facts.except(&[kind], reason.clone());
        }
    }
    facts
}

/// The processes that fairness is about, and the one that each event is a move of.
pub struct FairProcesses {
    /// How many runs must be weakly fair to, and strongly.
    pub weak: usize,
    pub strong: usize,
    /// For each event, the bit of its process: those of weak fairness come first.
    pub actors: Vec<Marks>,
}

impl FairProcesses {
    /// Fails where there are none, or too many, or where there is no process of a name.
    pub fn new(system: &System, choice: &FairnessChoice) -> Result<FairProcesses, String> {
        // What several do together is the move of the one who begins it: of a message, its sender.
        let first = |event: &Event| event.moves.first().map(|m| m.process.index());
        let mut kinds: Vec<Option<FairnessKind>> = vec![choice.everyone; system.processes.len()];
        for (kind, name) in &choice.chosen {
            let named = named(system, name)?;
            named.into_iter().for_each(|process| kinds[process] = kinds[process].max(Some(*kind)));
        }
        let mut moves = vec![false; system.processes.len()];
        system.events.iter().filter_map(first).for_each(|process| moves[process] = true);
        for (_, name) in &choice.chosen {
            if !named(system, name)?.into_iter().any(|process| moves[process]) {
                let why = "what several do together is the move of the one who begins it";
                return Err(format!("process `{name}` begins nothing that fairness could be about: {why}"));
            }
        }
        let mut bits: Vec<Marks> = vec![0; system.processes.len()];
        let (mut counts, mut next) = ([0; 2], 0);
        for (count, kind) in counts.iter_mut().zip([FairnessKind::Weak, FairnessKind::Strong]) {
            for process in (0..bits.len()).filter(|&process| moves[process] && kinds[process] == Some(kind)) {
                bits[process] = 1u64.checked_shl(next).unwrap_or(0);
                next += 1;
                *count += 1;
            }
        }
        let [weak, strong] = counts;
        // Two marks are for the formula.
        let most = MOST_MARKS - 2;
        match weak + 2 * strong {
            0 if choice.chosen.is_empty() => Err("there are no processes that fairness could be about".into()),
            marks if marks > most && strong > 0 => {
                Err(format!("strong fairness of {strong} processes is not supported, only of {}", most / 2))
            }
            marks if marks > most => Err(format!("fairness of {weak} processes is not supported, only of {most}")),
            _ => {
                let bit = |event: &Event| first(event).map_or(0, |process| bits[process]);
                Ok(FairProcesses { weak, strong, actors: system.events.iter().map(bit).collect() })
            }
        }
    }
}

/// The process of this name, or all those that have it before an underscore and a number, as `P_0` and `P_1` have `P`.
fn named(system: &System, name: &str) -> Result<Vec<usize>, String> {
    let numbered = |own: &str| {
        let number = own.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let which = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..system.processes.len()).filter(|&process| fits(&system.processes[process].name)).collect()
    };
    let exact = which(&|own| own == name);
    let found = if exact.is_empty() { which(&numbered) } else { exact };
    if found.is_empty() {
        let names: Vec<&str> = system.processes.iter().map(|process| process.name.as_str()).take(12).collect();
        return Err(format!("there is no process `{name}`; there are {}", names.join(", ")));
    }
    Ok(found)
}
