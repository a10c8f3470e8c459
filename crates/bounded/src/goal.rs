//! What is looked for: a bit for each property that says that a state decides it.

use crate::circuit::{Bit, Circuit};
use crate::encoding::Encoding;
use crate::evaluate::evaluate;
use crate::frame::Frame;
use scrimp_system::{Expr, System};

/// What a property is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalKind {
    /// Every state has a successor.
    Deadlock,
    /// No event ends in a fault. Assertions that events make are no matter of this.
    Faults,
    /// No event violates the assertion that it makes.
    Assertions,
    /// The condition holds in every state. Where evaluating it is a fault, it does not hold.
    Invariant(Expr),
    /// The condition holds in some state.
    Reach(Expr),
}

/// A property with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The name that it is reported by.
    pub name: String,
    /// What it is about.
    pub kind: GoalKind,
}

impl Goal {
    /// Everything a model can do wrong by itself: deadlocks, faults, violated assertions.
    pub fn all(system: &System) -> Vec<Goal> {
        let goal = |name: &str, kind| Goal { name: name.into(), kind };
        let mut goals = vec![goal("deadlock", GoalKind::Deadlock), goal("faults", GoalKind::Faults)];
        goals.extend(Goal::assertions(system));
        goals
    }

    /// The assertions in a model: those on states each by itself, those that events make as one.
    pub fn assertions(system: &System) -> Vec<Goal> {
        let mut goals: Vec<Goal> = system
            .assertions
            .iter()
            .map(|a| Goal { name: format!("assertion: {}", a.name), kind: GoalKind::Invariant(a.condition.clone()) })
            .collect();
        if system.events.iter().any(|event| event.assertion.is_some()) {
            goals.push(Goal { name: "assertions".into(), kind: GoalKind::Assertions });
        }
        goals
    }

    /// Does a state that decides it violate it?
    pub fn finding_violates(&self) -> bool {
        !matches!(self.kind, GoalKind::Reach(_))
    }

    /// The state of this frame decides the property; or shows that the system is too small for its model.
    pub fn found(&self, circuit: &mut Circuit, encoding: &Encoding, frame: &Frame) -> Bit {
        let found = match &self.kind {
            GoalKind::Deadlock => deadlock(circuit, encoding, frame),
            GoalKind::Faults => {
                let faults = circuit.any(frame.happenings.iter().map(|happening| happening.fault));
                circuit.or(faults, frame.stuck)
            }
            GoalKind::Assertions => circuit.any(frame.happenings.iter().map(|happening| happening.violated)),
            GoalKind::Invariant(condition) => {
                let holds = evaluate(circuit, condition, &frame.state).holds(circuit);
                circuit.and(frame.free, !holds)
            }
            GoalKind::Reach(condition) => {
                let holds = evaluate(circuit, condition, &frame.state).holds(circuit);
                circuit.and(frame.free, holds)
            }
        };
        let outgrown = outgrown(circuit, encoding, frame);
        circuit.or(found, outgrown)
    }
}

fn deadlock(circuit: &mut Circuit, encoding: &Encoding, frame: &Frame) -> Bit {
    let stands = match encoding.faults_move {
        true => !frame.tried,
        false => !circuit.any(frame.happenings.iter().map(|happening| happening.fires)),
    };
    let end = match &encoding.system.valid_end {
        Some(end) => evaluate(circuit, end, &frame.state).holds(circuit),
        None => Bit::FALSE,
    };
    let stands = circuit.and(stands, !end);
    circuit.and(stands, frame.free)
}

/// Something happens for which the system has no room.
fn outgrown(circuit: &mut Circuit, encoding: &Encoding, frame: &Frame) -> Bit {
    let system = encoding.system;
    if !encoding.may_be_outgrown {
        return Bit::FALSE;
    }
    let missing = frame.happenings.iter().filter(|happening| {
        let declared = system.events[happening.event as usize].fault;
        system.guessed || declared.is_some() && declared == system.outgrown
    });
    circuit.any(missing.map(|happening| happening.fault))
}
