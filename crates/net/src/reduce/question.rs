//! Questions about a net as questions about the reduced one.

use super::Reduced;
use crate::{Arc, Condition, Net, PlaceId, Sum};

impl Condition {
    /// The places that decide the condition, sorted; deadlocks are left aside.
    pub fn places(&self, net: &Net) -> Vec<PlaceId> {
        fn collect(condition: &Condition, net: &Net, places: &mut Vec<PlaceId>) {
            match condition {
                Condition::True | Condition::False | Condition::Deadlock => {}
                Condition::Not(inner) => collect(inner, net, places),
                Condition::All(parts) | Condition::Any(parts) => {
                    parts.iter().for_each(|part| collect(part, net, places));
                }
                Condition::AtMostZero(sum) => places.extend(sum.terms.iter().map(|term| term.0)),
                Condition::Fireable(transitions) => {
                    for t in transitions.iter().map(|&t| &net.transitions[t as usize]) {
                        places.extend(t.inputs.iter().chain(&t.inhibitors).map(|arc| arc.place));
                    }
                }
            }
        }
        let mut places = Vec::new();
        collect(self, net, &mut places);
        places.sort_unstable();
        places.dedup();
        places
    }

    /// It asks whether any transition is enabled.
    pub fn asks_for_deadlock(&self) -> bool {
        match self {
            Condition::Deadlock => true,
            Condition::Not(inner) => inner.asks_for_deadlock(),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(Condition::asks_for_deadlock),
            _ => false,
        }
    }
}

impl Reduced {
    /// The condition over the places that are left; `None` when it is about others, which were not observed then.
    pub fn question(&self, original: &Net, condition: &Condition) -> Option<Condition> {
        let parts =
            |parts: &[Condition]| parts.iter().map(|part| self.question(original, part)).collect::<Option<Vec<_>>>();
        Some(match condition {
            Condition::True | Condition::False | Condition::Deadlock => condition.clone(),
            Condition::Not(inner) => Condition::Not(Box::new(self.question(original, inner)?)),
            Condition::All(all) => Condition::All(parts(all)?),
            Condition::Any(any) => Condition::Any(parts(any)?),
            Condition::AtMostZero(sum) => Condition::AtMostZero(self.sum(sum)?),
            Condition::Fireable(transitions) => {
                let fireable = |&t: &u32| {
                    let t = &original.transitions[t as usize];
                    let enough = t.inputs.iter().map(|arc| Some(Condition::Not(Box::new(self.fewer(arc)?))));
                    let few = t.inhibitors.iter().map(|arc| self.fewer(arc));
                    Some(Condition::All(enough.chain(few).collect::<Option<_>>()?))
                };
                Condition::Any(transitions.iter().map(fireable).collect::<Option<_>>()?)
            }
        })
    }

    /// The place has fewer tokens than the weight.
    fn fewer(&self, arc: &Arc) -> Option<Condition> {
        let constant = 1i64.checked_sub(i64::try_from(arc.weight).ok()?)?;
        Some(Condition::AtMostZero(self.sum(&Sum { terms: vec![(arc.place, 1)], constant })?))
    }

    /// A sum over the places that are left.
    pub fn sum(&self, sum: &Sum) -> Option<Sum> {
        let term = |&(place, weight): &(PlaceId, i64)| Some((self.place(place)?, weight));
        Some(Sum { terms: sum.terms.iter().map(term).collect::<Option<_>>()?, constant: sum.constant })
    }

    /// The number of a place of the original net in this one.
    pub fn place(&self, original: PlaceId) -> Option<PlaceId> {
        self.places.binary_search(&original).ok().map(|at| at as PlaceId)
    }
}
