//! Which cell at which level: cells that an event ties together should stand close to each other.
//!
//! FORCE lets every event pull its cells to its centre, round after round. It is begun from several orders; the one that
//! ends best counts. Best is where events span few levels, and where those that span many stand low, since a saturation
//! does below a level what can be done there before it looks any higher.

use scrimp_system::Random;

/// Rounds in which the cost may fail to fall before it is over.
const PATIENCE: usize = 8;

/// Rounds at most, and at most so many visits of cells in all of them.
const MOST_ROUNDS: usize = 200;
const EFFORT: usize = 60_000_000;

/// An order of `count` things from top to bottom, for events that each touch some of them.
pub fn force(count: usize, events: &[Vec<u32>]) -> Vec<u32> {
    let mut events: Vec<Vec<u32>> = events.to_vec();
    events.iter_mut().for_each(|event| {
        event.sort_unstable();
        event.dedup();
    });
    events.retain(|event| event.len() > 1);
    events.sort_unstable();
    // Events with the same cells pull together.
    let mut weighted: Vec<(Vec<u32>, f64)> = Vec::new();
    for event in events {
        match weighted.last_mut() {
            Some((last, weight)) if *last == event => *weight += 1.0,
            _ => weighted.push((event, 1.0)),
        }
    }
    let size: usize = weighted.iter().map(|(event, _)| event.len()).sum::<usize>() + count;
    let given: Vec<u32> = (0..count as u32).collect();
    let mut starts = vec![given.clone(), by_neighbours(count, &weighted, 0)];
    let last = starts[1].last().copied().unwrap_or(0);
    starts.push(by_neighbours(count, &weighted, last));
    let mut random = Random(7);
    for _ in 0..3 {
        let mut shuffled = given.clone();
        for i in (1..count).rev() {
            shuffled.swap(i, (random.next() % (i as u64 + 1)) as usize);
        }
        starts.push(shuffled);
    }
    let rounds = (EFFORT / starts.len() / size.max(1)).clamp(4, MOST_ROUNDS);
    let mut best: Option<(f64, Vec<u32>)> = None;
    for start in starts {
        let order = settle(start, &weighted, rounds);
        let mut reversed = order.clone();
        reversed.reverse();
        for candidate in [order, reversed] {
            let cost = cost(&candidate, &weighted);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate));
            }
        }
    }
    best.map_or(given, |(_, order)| order)
}

/// Things as they are met going from one to those that share an event with it.
fn by_neighbours(count: usize, events: &[(Vec<u32>, f64)], first: u32) -> Vec<u32> {
    let mut of = vec![Vec::new(); count];
    for (number, (event, _)) in events.iter().enumerate() {
        event.iter().for_each(|thing| of[*thing as usize].push(number));
    }
    let (mut seen, mut used) = (vec![false; count], vec![false; events.len()]);
    let mut order = Vec::with_capacity(count);
    for start in std::iter::once(first).chain(0..count as u32) {
        if start as usize >= count || std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut next = order.len();
        order.push(start);
        while next < order.len() {
            for &event in &of[order[next] as usize] {
                if !std::mem::replace(&mut used[event], true) {
                    for &thing in &events[event].0 {
                        if !std::mem::replace(&mut seen[thing as usize], true) {
                            order.push(thing);
                        }
                    }
                }
            }
            next += 1;
        }
    }
    order
}

fn positions(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, thing)| position[*thing as usize] = at as u32);
    position
}

/// Rounds of FORCE; the best order met.
fn settle(start: Vec<u32>, events: &[(Vec<u32>, f64)], rounds: usize) -> Vec<u32> {
    let count = start.len();
    let mut order = start;
    let mut best = (span(&order, events), order.clone());
    let mut idle = 0;
    for _ in 0..rounds {
        let position = positions(&order);
        let (mut pull, mut weights) = (vec![0.0; count], vec![0.0; count]);
        for (event, weight) in events {
            let sum: f64 = event.iter().map(|thing| position[*thing as usize] as f64).sum();
            let centre = sum / event.len() as f64;
            for thing in event {
                pull[*thing as usize] += centre * weight;
                weights[*thing as usize] += weight;
            }
        }
        let place = |thing: u32| {
            let at = thing as usize;
            if weights[at] > 0.0 { pull[at] / weights[at] } else { position[at] as f64 }
        };
        order.sort_by(|a, b| place(*a).total_cmp(&place(*b)));
        let cost = span(&order, events);
        if cost < best.0 {
            best = (cost, order.clone());
            idle = 0;
        } else {
            idle += 1;
            if idle >= PATIENCE {
                break;
            }
        }
    }
    best.1
}

fn ends(event: &[u32], position: &[u32]) -> (u32, u32) {
    let places = event.iter().map(|thing| position[*thing as usize]);
    places.fold((u32::MAX, 0), |(low, high), place| (low.min(place), high.max(place)))
}

fn span(order: &[u32], events: &[(Vec<u32>, f64)]) -> f64 {
    let position = positions(order);
    let one = |(event, weight): &(Vec<u32>, f64)| {
        let (top, bottom) = ends(event, &position);
        weight * (bottom - top + 1) as f64
    };
    events.iter().map(one).sum()
}

/// Spans, weighted by how much lies below their tops.
fn cost(order: &[u32], events: &[(Vec<u32>, f64)]) -> f64 {
    let position = positions(order);
    let count = order.len() as f64;
    let one = |(event, weight): &(Vec<u32>, f64)| {
        let (top, bottom) = ends(event, &position);
        weight * (bottom - top + 1) as f64 * (count - top as f64) / count
    };
    events.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_laid_flat() {
        let scattered = |i: u32| (i * 7) % 20;
        let events: Vec<Vec<u32>> = (0..20).map(|i| vec![scattered(i), scattered((i + 1) % 20)]).collect();
        let order = force(20, &events);
        let weighted: Vec<(Vec<u32>, f64)> = events.into_iter().map(|event| (event, 1.0)).collect();
        assert!(span(&order, &weighted) <= 65.0, "{order:?}");
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }
}
