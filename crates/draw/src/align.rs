//! Where points stand within their layers: long edges straight, vertices in the middle of their neighbours, as narrow as that allows.
//!
//! After Brandes and Köpf: points are aligned with the middles of their neighbours, from the top and from the bottom, giving way to the
//! left and to the right. Each of the four gives columns of aligned points, which are pushed together. The mean of the two middle ones
//! of the four positions keeps all distances, because each of the four does.

use crate::Size;
use crate::layers::Layers;

/// Space between vertices of a layer, and beside a bend.
const BETWEEN: f64 = 28.0;
const BESIDE: f64 = 12.0;

/// The horizontal position of every point.
pub(crate) fn across(layers: &Layers, sizes: &[Size]) -> Vec<f64> {
    let crossed = crossed(layers);
    let mut four: Vec<Vec<f64>> = Vec::with_capacity(4);
    for (from_below, from_right) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut order = layers.layers.clone();
        let mut place = layers.place.clone();
        if from_right {
            order.iter_mut().for_each(|layer| layer.reverse());
            for layer in &order {
                layer.iter().enumerate().for_each(|(i, &point)| place[point as usize] = i as u32);
            }
        }
        if from_below {
            order.reverse();
        }
        let next = |point: u32| if from_below { layers.down(point) } else { layers.up(point) };
        let gives_way = |point: u32, neighbour: u32| {
            let link = if from_below { (point, neighbour) } else { (neighbour, point) };
            !(layers.is_bend(point) && layers.is_bend(neighbour)) && crossed.binary_search(&link).is_ok()
        };
        let roots = columns(&order, &place, next, gives_way);
        let apart = |a, b| match from_right {
            true => distance(layers, sizes, b, a),
            false => distance(layers, sizes, a, b),
        };
        let mut x = compact(&order, &roots, apart);
        if from_right {
            x.iter_mut().for_each(|x| *x = -*x);
        }
        four.push(x);
    }
    settle(layers, sizes, &mut four);
    let mean = |point: usize| {
        let mut values: Vec<f64> = four.iter().map(|x| x[point]).collect();
        values.sort_by(f64::total_cmp);
        (values[1] + values[2]) / 2.0
    };
    (0..layers.rank.len()).map(mean).collect()
}

/// How far a point reaches to the left and to the right.
fn reach(layers: &Layers, sizes: &[Size], point: u32) -> (f64, f64) {
    if layers.is_bend(point) { (0.0, 0.0) } else { (sizes[point as usize].left, sizes[point as usize].right) }
}

/// How far apart two neighbours must be.
fn distance(layers: &Layers, sizes: &[Size], a: u32, b: u32) -> f64 {
    let space = if layers.is_bend(a) || layers.is_bend(b) { BESIDE } else { BETWEEN };
    reach(layers, sizes, a).1 + reach(layers, sizes, b).0 + space
}

/// Links that cross one between two bends, sorted: they give way.
fn crossed(layers: &Layers) -> Vec<(u32, u32)> {
    let mut crossed = Vec::new();
    let inner = |point: u32| {
        let above = layers.up(point).first().copied();
        above.filter(|&above| layers.is_bend(point) && layers.is_bend(above))
    };
    for pair in layers.layers.windows(2) {
        let (mut from, mut left) = (0, 0);
        for (i, &point) in pair[1].iter().enumerate() {
            let last = i + 1 == pair[1].len();
            if inner(point).is_none() && !last {
                continue;
            }
            let right = inner(point).map_or(pair[0].len() as u32, |above| layers.place[above as usize]);
            for &below in &pair[1][from..=i] {
                for &above in layers.up(below) {
                    let place = layers.place[above as usize];
                    if (place < left || place > right) && inner(below).is_none() {
                        crossed.push((above, below));
                    }
                }
            }
            (from, left) = (i + 1, right);
        }
    }
    crossed.sort_unstable();
    crossed
}

/// For each point the one that stands for its column.
fn columns<'a>(
    order: &[Vec<u32>],
    place: &[u32],
    next: impl Fn(u32) -> &'a [u32],
    gives_way: impl Fn(u32, u32) -> bool,
) -> Vec<u32> {
    let mut root: Vec<u32> = (0..place.len() as u32).collect();
    let mut continued = vec![false; place.len()];
    let mut neighbours: Vec<u32> = Vec::new();
    for layer in order {
        // One column never crosses another.
        let mut free = 0;
        for &point in layer {
            neighbours.clear();
            neighbours.extend(next(point));
            neighbours.sort_unstable_by_key(|&n| place[n as usize]);
            let Some(last) = neighbours.len().checked_sub(1) else { continue };
            for &neighbour in &neighbours[last / 2..=last.div_ceil(2)] {
                let open = place[neighbour as usize] >= free && !continued[neighbour as usize];
                if open && !gives_way(point, neighbour) {
                    continued[neighbour as usize] = true;
                    root[point as usize] = root[neighbour as usize];
                    free = place[neighbour as usize] + 1;
                    break;
                }
            }
        }
    }
    root
}

/// Pushes columns together: first all as far to the left as they go, then to the right as far as those beside them allow.
fn compact(order: &[Vec<u32>], root: &[u32], distance: impl Fn(u32, u32) -> f64) -> Vec<f64> {
    let mut right: Vec<Vec<(u32, f64)>> = vec![Vec::new(); root.len()];
    let mut waits = vec![0usize; root.len()];
    for layer in order {
        for pair in layer.windows(2) {
            let (a, b) = (root[pair[0] as usize], root[pair[1] as usize]);
            right[a as usize].push((b, distance(pair[0], pair[1])));
            waits[b as usize] += 1;
        }
    }
    let mut sorted: Vec<u32> =
        (0..root.len() as u32).filter(|&p| root[p as usize] == p && waits[p as usize] == 0).collect();
    let mut x = vec![0.0f64; root.len()];
    let mut at = 0;
    while at < sorted.len() {
        let column = sorted[at] as usize;
        at += 1;
        for &(other, distance) in &right[column] {
            let other = other as usize;
            x[other] = x[other].max(x[column] + distance);
            waits[other] -= 1;
            if waits[other] == 0 {
                sorted.push(other as u32);
            }
        }
    }
    for &column in sorted.iter().rev() {
        let column = column as usize;
        let limit = right[column].iter().map(|&(other, distance)| x[other as usize] - distance).reduce(f64::min);
        x[column] = limit.map_or(x[column], |limit| limit.max(x[column]));
    }
    root.iter().map(|&root| x[root as usize]).collect()
}

/// Shifts the four so that they agree with the narrowest: those from the left at its left side, the others at its right.
fn settle(layers: &Layers, sizes: &[Size], four: &mut [Vec<f64>]) {
    let extent = |x: &[f64]| {
        x.iter().enumerate().fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), (point, &x)| {
            let (before, after) = reach(layers, sizes, point as u32);
            (left.min(x - before), right.max(x + after))
        })
    };
    let extents: Vec<(f64, f64)> = four.iter().map(|x| extent(x)).collect();
    let narrowest = extents.iter().copied().min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    let Some((left, right)) = narrowest else { return };
    for (i, x) in four.iter_mut().enumerate() {
        let shift = if i % 2 == 0 { left - extents[i].0 } else { right - extents[i].1 };
        x.iter_mut().for_each(|x| *x += shift);
    }
}
