//! The most tokens that each place can have, from the cheapest source that tells.

use super::equation::{Equation, Inequality};
use super::siphons::never_marked;
use crate::net::{Net, PlaceId};
use std::time::Instant;

/// What is known about the tokens of each place, with the inequalities that prove most of it.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    pub places: Vec<Option<u64>>,
    /// Weights are not negative here.
    pub proofs: Vec<Inequality>,
}

/// A bound for each place that has one, as far as the time goes.
pub fn place_bounds(net: &Net, deadline: Instant) -> Vec<Option<u64>> {
    bounds(net, &[], deadline).places
}

/// The same, with inequalities that are known already, such as those of semiflows, and with proofs.
pub fn bounds(net: &Net, known: &[Inequality], deadline: Instant) -> Bounds {
    let mut bounds = Bounds { places: cheap(net), proofs: Vec::new() };
    for inequality in known {
        bounds.use_proof(inequality.clone());
    }
    if Instant::now() >= deadline {
        return bounds;
    }
    let Some(mut equation) = Equation::new(net) else { return bounds };
    for place in 0..net.places.len() as PlaceId {
        // One token less than one is rare and mostly found already.
        if bounds.places[place as usize].is_some_and(|most| most <= 1) {
            continue;
        }
        let variable = equation.place(place);
        if Instant::now() >= deadline {
            break;
        }
        match equation.largest(variable, deadline) {
            Err(_) => break,
            Ok(None) => {}
            Ok(Some(more)) => {
                let most = more + i128::from(equation.initial[place as usize]);
                bounds.lower(place, most);
                if let Some(proof) = equation.proof_of_largest(variable) {
                    bounds.use_proof(proof);
                }
            }
        }
    }
    bounds
}

impl Bounds {
    fn lower(&mut self, place: PlaceId, most: i128) {
        let Ok(most) = u64::try_from(most) else { return };
        let bound = &mut self.places[place as usize];
        *bound = Some(bound.map_or(most, |old| old.min(most)));
    }

    /// Takes what an inequality without negative weights says about each of its places.
    fn use_proof(&mut self, proof: Inequality) {
        if proof.weights.iter().any(|&(_, weight)| weight < 0) {
            return;
        }
        for &(place, weight) in &proof.weights {
            self.lower(place, proof.bound / i128::from(weight));
        }
        self.proofs.push(proof);
    }
}

/// Places that are never marked, and places that nothing gives to.
fn cheap(net: &Net) -> Vec<Option<u64>> {
    let never = never_marked(net);
    let mut grows = vec![false; net.places.len()];
    for transition in &net.transitions {
        if transition.inputs.iter().any(|arc| never[arc.place as usize]) {
            continue;
        }
        for (place, change) in transition.effect() {
            grows[place as usize] |= change > 0;
        }
    }
    (0..net.places.len())
        .map(|p| if never[p] { Some(0) } else { (!grows[p]).then_some(net.places[p].initial) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::brute::{nets, reachable};
    use super::super::upper_bound;
    use super::*;
    use crate::question::Sum;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #[test]
        fn bounds_hold_in_every_marking(net in nets(), weights in proptest::collection::vec(-2i64..3, 8)) {
            let deadline = Instant::now() + Duration::from_secs(10);
            let found = bounds(&net, &[], deadline);
            let terms: Vec<(u32, i64)> =
                (0..net.places.len() as u32).map(|p| (p, weights[p as usize])).filter(|e| e.1 != 0).collect();
            let sum = Sum { terms, constant: 3 };
            let most = upper_bound(&net, &sum, deadline);
            for m in reachable(&net, 500).0 {
                for (place, bound) in found.places.iter().enumerate() {
                    prop_assert!(bound.is_none_or(|most| m[place] <= most));
                }
                prop_assert!(found.proofs.iter().all(|proof| proof.holds(&m)));
                prop_assert!(most.is_none_or(|most| sum.value(&m) <= most));
            }
        }
    }

    #[test]
    fn a_ring_with_weights_is_bounded() {
        let net = super::super::brute::net_of(&[4, 0], &[(&[(0, 2)], &[(1, 1)]), (&[(1, 1)], &[(0, 2)])]);
        let deadline = Instant::now() + Duration::from_secs(10);
        assert_eq!(place_bounds(&net, deadline), vec![Some(4), Some(2)]);
    }
}
