//! Formulas asked of smaller nets: each formula decides what may go.

use super::{Decider, Runs};
use crate::net::PetriNet;
use scrimp_native::Mode;
use scrimp_net::reduce::{Time, reduce_for};
use scrimp_system::Stop;
use std::time::{Duration, Instant};

/// A net that is smaller by less than this part of it is not worth a search of its own.
const LEAST_GAIN: usize = 5;

/// What is asked of a smaller net, and who decides it.
pub struct Smaller {
    pub net: PetriNet,
    pub runs: Runs,
    pub decider: Decider,
    pub how: String,
}

/// The smaller nets that were made, by the question that they were made for; none where too little could go.
#[derive(Default)]
pub struct SmallerNets(Vec<(Runs, Option<Smaller>)>);

impl SmallerNets {
    /// The net for a question, made within so much time where there is none yet.
    pub fn of(
        &mut self,
        whole: &PetriNet,
        runs: &Runs,
        mode: Mode,
        stop: &Stop,
        time: Duration,
    ) -> Option<&mut Smaller> {
        let at = self.0.iter().position(|(made_for, _)| made_for == runs).unwrap_or_else(|| {
            self.0.push((runs.clone(), smaller(whole, runs, mode, stop, time)));
            self.0.len() - 1
        });
        self.0[at].1.as_mut()
    }
}

fn smaller(whole: &PetriNet, runs: &Runs, mode: Mode, stop: &Stop, time: Duration) -> Option<Smaller> {
    let (formula, kind) = match runs {
        Runs::Linear(formula) => (formula, Time::Linear),
        Runs::Branching(formula) => (formula, Time::Branching),
    };
    let end = |time: Duration| stop.within(time).deadline().unwrap_or_else(Instant::now);
    let (reduced, formula) = reduce_for(&whole.net, formula, kind, end(time))?;
    let before = (whole.net.places.len(), whole.net.transitions.len());
    let left = (reduced.net.places.len(), reduced.net.transitions.len());
    if (left.0 + left.1).saturating_mul(LEAST_GAIN) > (before.0 + before.1).saturating_mul(LEAST_GAIN - 1) {
        return None;
    }
    let how =
        format!("after reduction from {} places and {} transitions to {} and {}", before.0, before.1, left.0, left.1);
    let net = PetriNet::within(reduced.net, String::new(), whole.structure, end(time));
    let runs = match kind {
        Time::Linear => Runs::Linear(formula),
        Time::Branching => Runs::Branching(formula),
    };
    Some(Smaller { net, runs, decider: Decider::new(mode, stop.clone()), how })
}
