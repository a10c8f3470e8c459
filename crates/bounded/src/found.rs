//! What is looked for: a bit for each property that says that a state decides it.

use crate::circuit::{Bit, Circuit};
use crate::encoding::Encoding;
use crate::evaluate::evaluate;
use crate::frame::Frame;
use scrimp_core::{Property, PropertyKind};
use scrimp_system::Expr;

/// The state of this frame decides the property; or shows that the system is too small for its model.
pub fn found(property: &Property<Expr>, circuit: &mut Circuit, encoding: &Encoding, frame: &Frame) -> Bit {
    let found = match &property.kind {
        PropertyKind::Deadlock => deadlock(circuit, encoding, frame),
        PropertyKind::Faults => {
            let faults = circuit.any(frame.happenings.iter().map(|happening| happening.fault));
            circuit.or(faults, frame.stuck)
        }
        PropertyKind::Assertions => circuit.any(frame.happenings.iter().map(|happening| happening.violated)),
        PropertyKind::Invariant(condition) => {
            let holds = evaluate(circuit, condition, &frame.state).holds(circuit);
            circuit.and(frame.free, !holds)
        }
        PropertyKind::Reach(condition) => {
            let holds = evaluate(circuit, condition, &frame.state).holds(circuit);
            circuit.and(frame.free, holds)
        }
        // What is about runs is refused before.
        _ => Bit::FALSE,
    };
    let outgrown = outgrown(circuit, encoding, frame);
    circuit.or(found, outgrown)
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
