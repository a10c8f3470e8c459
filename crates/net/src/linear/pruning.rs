//! Inequalities that every reachable marking satisfies, to tell markings that are certainly not reachable.

use super::bounds::Bounds;
use super::equation::Inequality;
use super::flows::Flow;
use std::collections::HashSet;

/// Bounds of places, proofs of bounds, and flows in both directions: the shortest first, each of them once.
pub fn pruning(bounds: &Bounds, flows: &[Flow]) -> Vec<Inequality> {
    let single = bounds.places.iter().enumerate().filter_map(|(place, bound)| {
        let most = (*bound)?;
        Some(Inequality { weights: vec![(place as u32, 1)], bound: most.into() })
    });
    let mut all: Vec<Inequality> = single.chain(bounds.proofs.iter().cloned()).collect();
    for flow in flows {
        all.push(flow.as_inequality());
        let negated = flow.weights.iter().map(|&(p, w)| Some((p, w.checked_neg()?))).collect::<Option<Vec<_>>>();
        if let (Some(weights), Some(bound)) = (negated, flow.value.checked_neg()) {
            all.push(Inequality { weights, bound });
        }
    }
    all.sort_by_key(|inequality| inequality.weights.len());
    let mut seen = HashSet::new();
    all.retain(|inequality| seen.insert((inequality.weights.clone(), inequality.bound)));
    all
}

#[cfg(test)]
mod tests {
    use super::super::brute::{nets, reachable};
    use super::super::{bounds, place_flows};
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    proptest! {
        #[test]
        fn no_reachable_marking_is_pruned(net in nets()) {
            let found = bounds(&net, &[], Instant::now() + Duration::from_secs(10));
            let list = pruning(&found, &place_flows(&net, 100_000).flows);
            for m in reachable(&net, 300).0 {
                prop_assert!(list.iter().all(|inequality| inequality.holds(&m)));
            }
        }
    }
}
