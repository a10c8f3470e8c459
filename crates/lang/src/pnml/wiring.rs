//! From the arcs of one transition, in any order and number, to what it takes, gives, tests and empties.

use super::counted::At;
use super::draft::ArcKind;
use super::wrong::Wrong;
use scrimp_net::{Arc, PlaceId, Transition};

/// One arc of a transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    pub place: PlaceId,
    pub kind: ArcKind,
    /// From the place to the transition.
    pub into: bool,
    pub weight: u64,
    pub at: At,
}

/// Fills in a transition's arcs. Weights of arcs between the same two nodes add; of several tests the hardest counts.
pub(super) fn wire(transition: &mut Transition, wires: &mut [Wire]) -> Result<(), Wrong> {
    wires.sort_by_key(|wire| wire.place);
    let places = || wires.chunk_by(|a, b| a.place == b.place);
    let (mut inputs, mut outputs) = (Vec::with_capacity(wires.len()), Vec::with_capacity(wires.len()));
    for wires in places() {
        let place = wires[0].place;
        let (mut taken, mut given, mut tested, mut below, mut reset) = (0, 0, 0, u64::MAX, false);
        for wire in wires {
            let sum = match (wire.kind, wire.into) {
                (ArcKind::Normal, true) => &mut taken,
                (ArcKind::Normal, false) => &mut given,
                (ArcKind::Test, _) => {
                    tested = wire.weight.max(tested);
                    continue;
                }
                (ArcKind::Inhibitor, _) => {
                    below = wire.weight.min(below);
                    continue;
                }
                (ArcKind::Reset, _) => {
                    reset = true;
                    continue;
                }
            };
            *sum = add(*sum, wire.weight, wire.at)?;
        }
        if tested > taken {
            // What is only tested is given back; where the place is emptied, nothing is.
            if !reset {
                given = add(given, tested - taken, wires[0].at)?;
            }
            taken = tested;
        }
        if taken > 0 {
            inputs.push(Arc { place, weight: taken });
        }
        if given > 0 {
            outputs.push(Arc { place, weight: given });
        }
        if below != u64::MAX {
            transition.inhibitors.push(Arc { place, weight: below });
        }
        if reset {
            transition.resets.push(place);
        }
    }
    // Exactly as long as needed: large nets consist of these.
    (transition.inputs, transition.outputs) = (inputs.as_slice().to_vec(), outputs.as_slice().to_vec());
    Ok(())
}

fn add(a: u64, b: u64, at: At) -> Result<u64, Wrong> {
    let sum = a.checked_add(b).filter(|sum| *sum <= i64::MAX as u64);
    sum.ok_or_else(|| Wrong::new(at, "the weights of arcs between the same nodes are above 2^63 - 1 together"))
}
