//! Places whose tokens follow from those of other places by an equation, so that they need not be stored.

use super::flows::Flow;
use super::number::{Sparse, combine, entry};
use super::refuter::Refuter;
use crate::net::{Net, PlaceId};
use crate::question::{Condition, Sum};
use std::time::Instant;

/// In every reachable marking the place has `constant` tokens plus the terms'. None of the terms is such a place itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affine {
    pub place: PlaceId,
    pub terms: Vec<(PlaceId, i64)>,
    pub constant: i64,
    /// Whatever transition takes from the place finds enough where it finds enough in the places that remain; and no
    /// transition is inhibited by it.
    pub never_restricts: bool,
}

impl Affine {
    pub fn value(&self, marking: &[u64]) -> i128 {
        Sum { terms: self.terms.clone(), constant: self.constant }.value(marking)
    }
}

/// Chooses places to go, those first whose equations are shortest, then those that would take most bits. No equation has
/// more terms than `most_terms`. The deadline is for finding out what never restricts.
pub fn affine_places(
    net: &Net,
    flows: &[Flow],
    bounds: &[Option<u64>],
    most_terms: usize,
    deadline: Instant,
) -> Vec<Affine> {
    let mut choice = Choice { chosen: Vec::new(), at: vec![None; net.places.len()], most_terms, bounds };
    let mut order: Vec<&Flow> = flows.iter().collect();
    order.sort_by_key(|flow| flow.weights.len());
    // A flow may become short enough once others have been used.
    for _ in 0..3 {
        let before = choice.chosen.len();
        order.iter().for_each(|flow| choice.consider(flow));
        if choice.chosen.len() == before {
            break;
        }
    }
    let mut chosen = choice.chosen;
    find_unrestricting(net, &mut chosen, bounds, deadline);
    chosen
}

struct Choice<'a> {
    chosen: Vec<Affine>,
    /// Where in `chosen` a place is.
    at: Vec<Option<usize>>,
    most_terms: usize,
    bounds: &'a [Option<u64>],
}

impl Choice<'_> {
    fn bits(&self, place: PlaceId) -> u32 {
        self.bounds.get(place as usize).copied().flatten().map_or(64, |most| u64::BITS - most.leading_zeros())
    }

    /// Uses the flow for one place more, if it can.
    fn consider(&mut self, flow: &Flow) {
        let Some((weights, value)) = self.over_remaining(flow) else { return };
        if weights.len() > self.most_terms + 1 {
            return;
        }
        let mut candidates: Vec<PlaceId> = weights.iter().filter(|e| e.1.abs() == 1).map(|e| e.0).collect();
        candidates.sort_by_key(|&p| std::cmp::Reverse(self.bits(p)));
        for place in candidates {
            if self.bits(place) > 0 && self.choose(place, &weights, value).is_some() {
                return;
            }
        }
    }

    /// The flow with all chosen places replaced by their equations.
    fn over_remaining(&self, flow: &Flow) -> Option<(Sparse, i128)> {
        let mut weights = flow.weights.clone();
        let mut value = flow.value;
        for &(place, weight) in &flow.weights {
            let Some(affine) = self.at[place as usize].map(|at| &self.chosen[at]) else { continue };
            weights = combine(1, &weights, weight, &affine.terms, 1)?.0;
            weights.retain(|e| e.0 != place);
            value = value.checked_sub(i128::from(weight) * i128::from(affine.constant))?;
            if weights.len() > self.most_terms + flow.weights.len() {
                return None;
            }
        }
        Some((weights, value))
    }

    /// Makes the place go, unless an equation that has it would become too long.
    fn choose(&mut self, place: PlaceId, weights: &Sparse, value: i128) -> Option<()> {
        // sign * place + rest = value, so place = sign * value - sign * rest.
        let sign = entry(weights, place);
        let mut terms = Sparse::new();
        for &(other, weight) in weights.iter().filter(|e| e.0 != place) {
            terms.push((other, weight.checked_mul(-sign)?));
        }
        let constant = i64::try_from(value * i128::from(sign)).ok()?;
        let mut changed = Vec::new();
        for (at, affine) in self.chosen.iter().enumerate() {
            let own = entry(&affine.terms, place);
            if own != 0 {
                let without: Sparse = affine.terms.iter().copied().filter(|e| e.0 != place).collect();
                let next = combine(1, &without, own, &terms, 1)?.0;
                if next.len() > self.most_terms {
                    return None;
                }
                changed.push((at, next, affine.constant.checked_add(own.checked_mul(constant)?)?));
            }
        }
        for (at, terms, constant) in changed {
            self.chosen[at].terms = terms;
            self.chosen[at].constant = constant;
        }
        self.at[place as usize] = Some(self.chosen.len());
        self.chosen.push(Affine { place, terms, constant, never_restricts: false });
        Some(())
    }
}

fn find_unrestricting(net: &Net, chosen: &mut [Affine], bounds: &[Option<u64>], deadline: Instant) {
    let mut at = vec![None; net.places.len()];
    for (i, affine) in chosen.iter_mut().enumerate() {
        at[affine.place as usize] = Some(i);
        affine.never_restricts = true;
    }
    let mut refuter: Option<Refuter> = None;
    for transition in &net.transitions {
        for arc in &transition.inhibitors {
            at[arc.place as usize].into_iter().for_each(|i| chosen[i].never_restricts = false);
        }
        for arc in &transition.inputs {
            let Some(i) = at[arc.place as usize].filter(|&i| chosen[i].never_restricts) else { continue };
            // Only what is asked of places that remain may be relied on: chosen ones must not vouch for each other.
            let remaining: Vec<_> = transition.inputs.iter().filter(|a| at[a.place as usize].is_none()).collect();
            let taken = |place| remaining.iter().find(|a| a.place == place).map_or(0, |a| a.weight);
            if least(&chosen[i], taken, bounds).is_some_and(|least| least >= arc.weight.into()) {
                continue;
            }
            if refuter.is_none() && Instant::now() < deadline {
                refuter = Refuter::new(net, bounds);
            }
            let too_few = |place, weight: u64, enough: bool| {
                let constant = i64::try_from(weight).ok()?;
                let sum = if enough {
                    Sum { terms: vec![(place, -1)], constant }
                } else {
                    Sum { terms: vec![(place, 1)], constant: 1 - constant }
                };
                Some(Condition::AtMostZero(sum))
            };
            let parts = remaining.iter().map(|a| too_few(a.place, a.weight, true));
            let parts = parts.chain([too_few(arc.place, arc.weight, false)]).collect::<Option<Vec<_>>>();
            let proven = match (&mut refuter, parts) {
                (Some(refuter), Some(parts)) => refuter.never_holds(&Condition::All(parts), 10, deadline),
                _ => false,
            };
            chosen[i].never_restricts = proven;
        }
    }
}

/// The fewest tokens that the equation gives when places have at least what is taken from them.
fn least(affine: &Affine, taken: impl Fn(PlaceId) -> u64, bounds: &[Option<u64>]) -> Option<i128> {
    affine.terms.iter().try_fold(i128::from(affine.constant), |sum, &(place, weight)| {
        let tokens = if weight > 0 { taken(place) } else { bounds.get(place as usize).copied().flatten()? };
        sum.checked_add(i128::from(weight).checked_mul(tokens.into())?)
    })
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets, reachable};
    use super::super::{place_bounds, place_flows, place_semiflows};
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn a_ring_needs_one_place_less() {
        let net = net_of(&[1, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(0, 1)])]);
        let deadline = Instant::now() + Duration::from_secs(10);
        let flows = place_flows(&net, 1000).flows;
        let found = affine_places(&net, &flows, &[Some(1), Some(1)], 2, deadline);
        assert_eq!(found, vec![Affine { place: 0, terms: vec![(1, -1)], constant: 1, never_restricts: false }]);
    }

    /// The second place is a copy of the first.
    #[test]
    fn a_copy_never_restricts() {
        let net = net_of(&[1, 1, 0], &[(&[(0, 1), (1, 1)], &[(2, 1)]), (&[(2, 1)], &[(0, 1), (1, 1)])]);
        let deadline = Instant::now() + Duration::from_secs(10);
        let flows = vec![Flow { weights: vec![(0, 1), (1, -1)], value: 0 }];
        let found = affine_places(&net, &flows, &[Some(1); 3], 2, deadline);
        assert_eq!(found, vec![Affine { place: 0, terms: vec![(1, 1)], constant: 0, never_restricts: true }]);
    }

    proptest! {
        #[test]
        fn equations_hold_and_do_not_use_each_other(net in nets(), most_terms in 1usize..5) {
            let deadline = Instant::now() + Duration::from_secs(10);
            let mut flows = place_semiflows(&net, 100_000).flows;
            flows.extend(place_flows(&net, 100_000).flows);
            let bounds = place_bounds(&net, deadline);
            let found = affine_places(&net, &flows, &bounds, most_terms, deadline);
            let gone = |p| found.iter().any(|affine| affine.place == p);
            for affine in &found {
                prop_assert!(affine.terms.len() <= most_terms && affine.terms.iter().all(|e| !gone(e.0)));
            }
            for m in reachable(&net, 300).0 {
                for affine in &found {
                    prop_assert_eq!(affine.value(&m), i128::from(m[affine.place as usize]));
                }
                for t in 0..net.transitions.len() as u32 {
                    let mut without = net.clone();
                    let unrestricting = |p| found.iter().any(|a| a.place == p && a.never_restricts);
                    without.transitions[t as usize].inputs.retain(|a| !unrestricting(a.place));
                    prop_assert_eq!(net.is_enabled(&m, t), without.is_enabled(&m, t));
                }
            }
        }
    }
}
