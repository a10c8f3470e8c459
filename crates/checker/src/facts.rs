//! What a plan must know of a model file.

use crate::fairness::FairProcesses;
use scrimp_native::{BuildError, Mode, NativeModel};
use scrimp_search::{Feature, ModelFacts, Options};
use scrimp_system::System;
use std::sync::Arc;

/// The model that facts are found out with, where these options need one: making it takes time.
pub fn examined(system: &Arc<System>, options: &Options) -> Result<Option<NativeModel>, BuildError> {
    let asked = options.features();
    let wants = [
        Feature::PseudoRoot,
        Feature::EdgeLean,
        Feature::Por,
        Feature::PorSleep,
        Feature::Symmetry,
        Feature::OrbitSizes,
    ];
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
