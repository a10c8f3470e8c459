//! A progress measure for the sweep-line: weights of places such that most transitions let the weighted sum grow.
//!
//! Transitions whose effects are linearly independent can be given any change of the measure, and get one up; what the
//! others change then follows. Which ones are independent depends on the order in which they are looked at, so that a few
//! orders are tried and the one is taken where fewest transitions go down.

use super::flows::{effects, reset_places};
use super::number::{Sparse, combine, common_divisor, dot, entry};
use crate::net::{Net, PlaceId};
use std::collections::VecDeque;

/// Entries of vectors that are looked at in all.
const WORK: usize = 50_000_000;

/// Weights of a progress measure; empty when there is none of use. Places that are reset have none.
pub fn progress_measure(net: &Net) -> Vec<(PlaceId, i64)> {
    let Some(effects) = effects(net) else { return Vec::new() };
    let reset = reset_places(net);
    let effects: Vec<Sparse> =
        effects.into_iter().map(|e| e.into_iter().filter(|e| !reset[e.0 as usize]).collect()).collect();
    let natural: Vec<u32> = (0..effects.len() as u32).collect();
    let mut orders = vec![forward(net)];
    orders.push(natural.iter().rev().copied().collect());
    orders.push(natural);
    let mut best: Option<((usize, u128, u128), Sparse)> = None;
    let mut tries = 0;
    let mut work = WORK;
    while let Some(order) = orders.get(tries) {
        tries += 1;
        let Some(weights) = measure(&effects, order, &mut work) else { continue };
        let Some(cost) = regress(&effects, &weights) else { continue };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            // What went down comes first next time: it may be others then, and fewer.
            if tries <= 6 {
                let down = |t: &u32| dot(&effects[*t as usize], |p| entry(&weights, p).into()).is_some_and(|c| c < 0);
                let (mut next, rest): (Vec<u32>, Vec<u32>) = order.iter().copied().partition(down);
                next.extend(rest);
                orders.push(next);
            }
            best = Some((cost, weights));
        }
    }
    best.map(|(_, weights)| weights).unwrap_or_default()
}

/// How much a transition changes a measure.
pub fn progress_of(net: &Net, measure: &[(PlaceId, i64)], transition: u32) -> i128 {
    let effect = net.transitions[transition as usize].effect();
    effect
        .iter()
        .fold(0, |sum, &(p, change)| i128::saturating_add(sum, change.saturating_mul(entry(measure, p).into())))
}

/// Transitions in the order in which a breadth-first walk over the net's arcs meets them.
fn forward(net: &Net) -> Vec<u32> {
    let mut takers: Vec<Vec<u32>> = vec![Vec::new(); net.places.len()];
    let mut missing: Vec<usize> = net.transitions.iter().map(|t| t.inputs.len()).collect();
    for (t, transition) in net.transitions.iter().enumerate() {
        transition.inputs.iter().for_each(|arc| takers[arc.place as usize].push(t as u32));
    }
    let mut reached = vec![false; net.places.len()];
    let mut places: VecDeque<u32> =
        (0..net.places.len() as u32).filter(|&p| net.places[p as usize].initial > 0).collect();
    places.iter().for_each(|&p| reached[p as usize] = true);
    let mut order: Vec<u32> = (0..missing.len() as u32).filter(|&t| missing[t as usize] == 0).collect();
    let mut next = 0;
    loop {
        while let Some(&t) = order.get(next) {
            next += 1;
            for arc in &net.transitions[t as usize].outputs {
                if !std::mem::replace(&mut reached[arc.place as usize], true) {
                    places.push_back(arc.place);
                }
            }
        }
        let Some(place) = places.pop_front() else { break };
        for &t in &takers[place as usize] {
            missing[t as usize] -= 1;
            if missing[t as usize] == 0 {
                order.push(t);
            }
        }
    }
    order.extend((0..missing.len() as u32).filter(|&t| missing[t as usize] > 0));
    order
}

/// The weights that let each transition that is independent of those before it go one up.
fn measure(effects: &[Sparse], order: &[u32], work: &mut usize) -> Option<Sparse> {
    let places = effects.iter().flatten().map(|e| e.0 + 1).max()?;
    // Rows say: weights times entries is the last entry, which stands beyond the places.
    let mut rows: Vec<(u32, Sparse)> = Vec::new();
    let mut row_of: Vec<Option<usize>> = vec![None; places as usize];
    for &t in order {
        let mut row = effects[t as usize].clone();
        if row.is_empty() {
            continue;
        }
        row.push((places, 1));
        while let Some((pivot, at)) = row.iter().find_map(|e| Some((e.0, (*row_of.get(e.0 as usize)?)?))) {
            *work = work.checked_sub(row.len() + rows[at].1.len())?;
            row = eliminate(&row, &rows[at].1, pivot)?;
        }
        // Small pivots keep numbers small.
        let Some(pivot) = row.iter().filter(|e| e.0 < places).min_by_key(|e| e.1.unsigned_abs()).map(|e| e.0) else {
            continue;
        };
        *work = work.checked_sub(rows.len() / 8)?;
        for (_, other) in &mut rows {
            if entry(other, pivot) != 0 {
                *work = work.checked_sub(row.len() + other.len())?;
                *other = eliminate(other, &row, pivot)?;
            }
        }
        row_of[pivot as usize] = Some(rows.len());
        rows.push((pivot, row));
    }
    // Places without a row of their own weigh nothing; the others are quotients.
    let quotients: Vec<(u32, i64, i64)> =
        rows.iter().map(|(pivot, row)| (*pivot, entry(row, places), entry(row, *pivot))).collect();
    let mut scale = 1i128;
    for &(_, above, below) in &quotients {
        let shared = common_divisor(above.unsigned_abs().into(), below.unsigned_abs().into()) as i128;
        let below = i128::from(below).abs() / shared.max(1);
        scale = scale.checked_mul(below / common_divisor(scale.unsigned_abs(), below.unsigned_abs()) as i128)?;
    }
    let mut weights = Sparse::new();
    for &(pivot, above, below) in &quotients {
        let weight = i64::try_from(i128::from(above).checked_mul(scale)? / i128::from(below)).ok()?;
        if weight != 0 {
            weights.push((pivot, weight));
        }
    }
    weights.sort_unstable();
    let divisor = weights.iter().fold(0, |d, e| common_divisor(d, e.1.unsigned_abs().into()));
    let divisor = i64::try_from(divisor).ok()?.max(1);
    Some(weights.into_iter().map(|(p, w)| (p, w / divisor)).collect())
}

fn eliminate(row: &Sparse, by: &Sparse, pivot: u32) -> Option<Sparse> {
    let (own, factor) = (entry(row, pivot), entry(by, pivot));
    let shared = common_divisor(own.unsigned_abs().into(), factor.unsigned_abs().into()) as i64;
    Some(combine(factor / shared, row, (own / shared).checked_neg()?, by, 0)?.0)
}

/// How many transitions go down, how many stay, and how far they go down in all.
fn regress(effects: &[Sparse], weights: &Sparse) -> Option<(usize, u128, u128)> {
    let (mut down, mut far, mut flat) = (0usize, 0u128, 0u128);
    for effect in effects {
        let change = dot(effect, |p| entry(weights, p).into())?;
        if change < 0 {
            down += 1;
            far = far.checked_add(change.unsigned_abs())?;
        } else if change == 0 {
            flat += 1;
        }
    }
    Some((down, flat, far))
}

#[cfg(test)]
mod tests {
    use super::super::brute::{net_of, nets};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ring_goes_back_once() {
        let net = net_of(&[1, 0, 0], &[(&[(0, 1)], &[(1, 1)]), (&[(1, 1)], &[(2, 1)]), (&[(2, 1)], &[(0, 1)])]);
        let weights = progress_measure(&net);
        let changes: Vec<i128> = (0..3).map(|t| progress_of(&net, &weights, t)).collect();
        assert_eq!(changes.iter().filter(|&&c| c < 0).count(), 1);
        assert_eq!(changes.iter().sum::<i128>(), 0);
    }

    #[test]
    fn a_line_never_goes_back() {
        let net = net_of(&[3, 0, 0], &[(&[(0, 1)], &[(1, 2)]), (&[(1, 1)], &[(2, 1)])]);
        let weights = progress_measure(&net);
        assert!((0..2).all(|t| progress_of(&net, &weights, t) > 0));
    }

    proptest! {
        /// Where all effects are independent, every one of them goes up.
        #[test]
        fn independent_transitions_go_up(net in nets()) {
            let weights = progress_measure(&net);
            let mut net = net;
            net.transitions.iter_mut().for_each(|t| t.resets.clear());
            let (dependent, complete) = super::super::transition_flows(&net, 100_000);
            prop_assert!(complete);
            let again = progress_measure(&net);
            if dependent.is_empty() {
                prop_assert!((0..net.transitions.len() as u32).all(|t| progress_of(&net, &again, t) > 0));
            }
            prop_assert!(weights.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }
}
