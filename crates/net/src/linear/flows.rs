//! Flows: weighted sums of tokens that no transition changes, and numbers of firings that change no place.

use super::elimination::{Kernel, kernel, positive_kernel};
use super::equation::Inequality;
use super::number::{Sparse, dot};
use crate::net::{Net, PlaceId, TransitionId};

/// The weighted sum of tokens has this value in every reachable marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub weights: Vec<(PlaceId, i64)>,
    pub value: i128,
}

impl Flow {
    pub fn holds(&self, marking: &[u64]) -> bool {
        dot(&self.weights, |p| marking[p as usize].into()) == Some(self.value)
    }

    pub fn is_positive(&self) -> bool {
        self.weights.iter().all(|e| e.1 > 0)
    }

    pub fn as_inequality(&self) -> Inequality {
        Inequality { weights: self.weights.clone(), bound: self.value }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Flows {
    pub flows: Vec<Flow>,
    /// Nothing was given up for the sake of time or of large numbers.
    pub complete: bool,
}

/// How often each transition fires so that together nothing changes.
pub type Repetition = Vec<(TransitionId, i64)>;

/// A basis of all flows. Places that are reset have no weight in any. The effort counts steps.
pub fn place_flows(net: &Net, effort: usize) -> Flows {
    flows(net, effort, kernel)
}

/// The flows without negative weights none of which has the places of another, and more.
pub fn place_semiflows(net: &Net, effort: usize) -> Flows {
    flows(net, effort, positive_kernel)
}

/// A basis of the repetitions, negative numbers included, and whether it is one. Transitions that reset are left out.
pub fn transition_flows(net: &Net, effort: usize) -> (Vec<Repetition>, bool) {
    repetitions(net, effort, kernel)
}

/// The repetitions without negative numbers none of which has the transitions of another, and more.
pub fn transition_semiflows(net: &Net, effort: usize) -> (Vec<Repetition>, bool) {
    repetitions(net, effort, positive_kernel)
}

/// What each transition changes; nothing when a number is too large.
pub(super) fn effects(net: &Net) -> Option<Vec<Sparse>> {
    let small = |(p, change): (PlaceId, i128)| i64::try_from(change).ok().map(|change| (p, change));
    net.transitions.iter().map(|t| t.effect().into_iter().map(small).collect()).collect()
}

/// Whether some transition empties the place.
pub(super) fn reset_places(net: &Net) -> Vec<bool> {
    let mut reset = vec![false; net.places.len()];
    net.transitions.iter().flat_map(|t| &t.resets).for_each(|&p| reset[p as usize] = true);
    reset
}

fn flows(net: &Net, effort: usize, method: fn(&[Sparse], u32, usize) -> Kernel) -> Flows {
    let Some(effects) = effects(net) else { return Flows::default() };
    let reset = reset_places(net);
    let usable: Vec<PlaceId> = (0..net.places.len() as u32).filter(|&p| !reset[p as usize]).collect();
    let mut row_of = vec![None; net.places.len()];
    usable.iter().enumerate().for_each(|(i, &p)| row_of[p as usize] = Some(i));
    // One column for each different effect, whatever its direction.
    let mut columns: Vec<Sparse> = effects.into_iter().filter(|effect| !effect.is_empty()).collect();
    for effect in &mut columns {
        if effect[0].1 < 0 && effect.iter().all(|e| e.1 != i64::MIN) {
            effect.iter_mut().for_each(|e| e.1 = -e.1);
        }
    }
    columns.sort();
    columns.dedup();
    let mut rows: Vec<Sparse> = vec![Vec::new(); usable.len()];
    for (column, effect) in columns.iter().enumerate() {
        for &(place, change) in effect {
            if let Some(row) = row_of[place as usize] {
                rows[row].push((column as u32, change));
            }
        }
    }
    let found = method(&rows, columns.len() as u32, effort);
    let to_flow = |vector: Sparse| -> Option<Flow> {
        let weights: Sparse = vector.into_iter().map(|(i, w)| (usable[i as usize], w)).collect();
        let value = dot(&weights, |p| net.places[p as usize].initial.into())?;
        Some(Flow { weights, value })
    };
    let mut flows: Vec<Flow> = found.vectors.into_iter().filter_map(to_flow).collect();
    let all = flows.len();
    keep_true(&mut flows, &columns, net.places.len());
    Flows { complete: found.complete && flows.len() == all, flows }
}

/// Leaves out what some column changes. There should be none.
fn keep_true(flows: &mut Vec<Flow>, columns: &[Sparse], places: usize) {
    let mut weight = vec![0i64; places];
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); places];
    for (c, effect) in columns.iter().enumerate() {
        effect.iter().for_each(|e| users[e.0 as usize].push(c as u32));
    }
    let mut checked = vec![usize::MAX; columns.len()];
    let mut number = 0;
    flows.retain(|flow| {
        number += 1;
        flow.weights.iter().for_each(|e| weight[e.0 as usize] = e.1);
        let unchanged = flow.weights.iter().all(|e| {
            users[e.0 as usize].iter().all(|&c| {
                if std::mem::replace(&mut checked[c as usize], number) == number {
                    return true;
                }
                dot(&columns[c as usize], |p| weight[p as usize].into()) == Some(0)
            })
        });
        flow.weights.iter().for_each(|e| weight[e.0 as usize] = 0);
        unchanged
    });
}

fn repetitions(net: &Net, effort: usize, method: fn(&[Sparse], u32, usize) -> Kernel) -> (Vec<Repetition>, bool) {
    let Some(effects) = effects(net) else { return (Vec::new(), false) };
    let usable: Vec<u32> =
        (0..effects.len() as u32).filter(|&t| net.transitions[t as usize].resets.is_empty()).collect();
    let rows: Vec<Sparse> = usable.iter().map(|&t| effects[t as usize].clone()).collect();
    let found = method(&rows, net.places.len() as u32, effort);
    let vectors = found.vectors.into_iter();
    (vectors.map(|v| v.into_iter().map(|(i, n)| (usable[i as usize], n)).collect()).collect(), found.complete)
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets, reachable};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lock_has_its_three_flows() {
        let net = net_of(
            &[1, 0, 1, 0, 1],
            &[
                (&[(0, 1), (4, 1)], &[(1, 1)]),
                (&[(1, 1)], &[(0, 1), (4, 1)]),
                (&[(2, 1), (4, 1)], &[(3, 1)]),
                (&[(3, 1)], &[(2, 1), (4, 1)]),
            ],
        );
        let mut found: Vec<Sparse> = place_semiflows(&net, 10_000).flows.into_iter().map(|f| f.weights).collect();
        found.sort();
        assert_eq!(found, vec![vec![(0, 1), (1, 1)], vec![(1, 1), (3, 1), (4, 1)], vec![(2, 1), (3, 1)]]);
        assert_eq!(place_flows(&net, 10_000).flows.len(), 3);
        assert_eq!(transition_semiflows(&net, 10_000), (vec![vec![(0, 1), (1, 1)], vec![(2, 1), (3, 1)]], true));
    }

    /// The rank of a small matrix over the rationals, by floats that are exact enough here.
    fn rank(rows: &[Vec<f64>]) -> usize {
        let mut rows = rows.to_vec();
        let mut rank = 0;
        for c in 0..rows.first().map_or(0, Vec::len) {
            let Some(p) = (rank..rows.len()).find(|&r| rows[r][c].abs() > 1e-9) else { continue };
            rows.swap(rank, p);
            for r in rank + 1..rows.len() {
                let f = rows[r][c] / rows[rank][c];
                for k in 0..rows[r].len() {
                    rows[r][k] -= f * rows[rank][k];
                }
            }
            rank += 1;
        }
        rank
    }

    proptest! {
        #[test]
        fn flows_hold_in_every_marking(net in nets()) {
            let (markings, _) = reachable(&net, 300);
            let (all, positive) = (place_flows(&net, 100_000), place_semiflows(&net, 100_000));
            prop_assert!(all.complete && positive.complete);
            for flow in all.flows.iter().chain(&positive.flows) {
                prop_assert!(markings.iter().all(|m| flow.holds(m)));
            }
            prop_assert!(positive.flows.iter().all(Flow::is_positive));
            let reset = reset_places(&net);
            let matrix: Vec<Vec<f64>> = net.transitions.iter().map(|t| {
                let mut row = vec![0.0; net.places.len()];
                t.effect().iter().for_each(|&(p, change)| row[p as usize] = change as f64);
                (0..row.len()).filter(|&p| !reset[p]).map(|p| row[p]).collect()
            }).collect();
            let usable = reset.iter().filter(|r| !**r).count();
            prop_assert_eq!(all.flows.len(), usable - rank(&matrix));
            // Little effort gives fewer flows, none wrong.
            for flow in place_semiflows(&net, 20).flows.iter().chain(&place_flows(&net, 20).flows) {
                prop_assert!(markings.iter().all(|m| flow.holds(m)));
            }
        }

        #[test]
        fn repetitions_change_nothing(net in nets()) {
            for (list, _) in [transition_flows(&net, 100_000), transition_semiflows(&net, 100_000)] {
                for repetition in list {
                    let mut sum = vec![0i128; net.places.len()];
                    for (t, n) in repetition {
                        for (p, change) in net.transitions[t as usize].effect() {
                            sum[p as usize] += change * n as i128;
                        }
                    }
                    prop_assert!(sum.iter().all(|&s| s == 0));
                }
            }
        }
    }
}
