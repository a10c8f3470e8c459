//! Simulation that finds things: many random walks on several threads, which look for all that is asked on the way.
//!
//! The answer is that of the walks in their order, whichever thread was first: the first walk that violates something ends the
//! work, and of those after it nothing is told. So it depends on the seed alone. Walks show what is there; that something is not
//! there they cannot show.

mod shorten;
mod simulator;
mod sought;
mod walker;

use crate::asked::Request;
use crate::error::CheckError;
use crate::grow::with_room;
use crate::load::Loaded;
use crate::properties::{Asked, evaluated};
use scrimp_core::{Limit, Property, PropertyResult};
use scrimp_native::{Mode, NativeModel};
use scrimp_report::simulation::Simulation;
use simulator::Simulator;
use std::sync::Arc;
use std::time::Instant;

/// The walks to make.
#[derive(Debug, Clone, Copy)]
pub struct Walks {
    pub count: u64,
    /// Events of a walk, at most.
    pub steps: u64,
    /// The seed of the first one; each of the others has the next number.
    pub seed: u64,
    pub threads: usize,
}

impl Walks {
    /// The seed of a walk, counted from one.
    fn seed_of(&self, walk: u64) -> u64 {
        self.seed.wrapping_add(walk - 1)
    }
}

/// Makes walks through a model until something that is asked is violated. The claim of a model is no part of it. Answers the
/// model that has room for what was met, too.
pub fn simulate(
    mut loaded: Loaded,
    request: &Request,
    walks: &Walks,
    mode: Mode,
) -> Result<(Arc<NativeModel>, Simulation), CheckError> {
    let begun = Instant::now();
    let stop = loaded.stop().clone();
    request.admit(&loaded)?;
    let claim = loaded.take_claim()?;
    let mut left_out: Vec<String> = asked(request, &loaded)?.runs.into_iter().map(|property| property.name).collect();
    if request.is_own() && loaded.net.is_none() {
        left_out.extend(claim.map(|claim| claim.name));
        left_out.extend(loaded.has_never_claim().then(|| "never claim".to_string()));
    }
    let net = loaded.net.as_ref().map(|net| net.net.clone());
    let make = |system| NativeModel::new(system, mode);
    let (model, mut simulation) = with_room(&mut loaded, None, &make, &mut |_| {}, |loaded, model| {
        let properties = evaluated(model, &asked(request, loaded)?.states);
        Ok::<_, CheckError>(Simulator::new(model, net.as_deref(), &properties, *walks, &stop).run())
    })?;
    // Where there was no more room to be had, what was visited is not what there is.
    if model.outgrown().is_some() {
        simulation.limit = Some(Limit::Tokens);
        simulation.properties.iter_mut().for_each(|result| *result = PropertyResult::undecided(&result.name));
        simulation.found = None;
    }
    (simulation.left_out, simulation.elapsed) = (left_out, begun.elapsed());
    Ok((model, simulation))
}

/// What is asked. Of a net, nothing but deadlocks unless said otherwise; of runs, nothing that was asked for by name.
fn asked(request: &Request, loaded: &Loaded) -> Result<Asked, CheckError> {
    if request.is_own() && loaded.net.is_some() {
        return Ok(Asked { states: vec![Property::deadlock()], runs: Vec::new() });
    }
    let asked = request.asked(&loaded.system)?;
    if request.is_own() {
        return Ok(asked);
    }
    let about_runs = asked.runs.first().map(|property| property.name.as_str());
    match about_runs.or(request.asks_claim().then_some("claim")) {
        Some(name) => Err(CheckError::Asked(format!(
            "property `{name}`: random walks are finite and cannot decide properties of infinite runs\nhelp: use `scrimp check`"
        ))),
        None => Ok(asked),
    }
}
