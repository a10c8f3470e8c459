//! The order within layers: sweeps down and up sort each layer by the middles of its neighbours, and neighbours change places where
//! that helps. The order with the fewest crossings wins.

use crate::layers::Layers;

/// Effort in links looked at, sweeps at most, and how many in a row may be in vain.
const EFFORT: usize = 250_000;
const SWEEPS: usize = 24;
const PATIENCE: usize = 5;

pub(crate) fn uncross(layers: &mut Layers) {
    let sweeps = (EFFORT / (layers.links() + layers.rank.len() + 1)).clamp(2, SWEEPS);
    let mut best = layers.layers.clone();
    let mut fewest = crossings(layers);
    let mut vain = 0;
    for sweep in 0..sweeps {
        if fewest == 0 || vain == PATIENCE {
            break;
        }
        sort(layers, sweep % 2 == 0, sweep % 4 >= 2);
        swap(layers);
        let now = crossings(layers);
        vain += 1;
        if now < fewest {
            (fewest, best, vain) = (now, layers.layers.clone(), 0);
        }
    }
    layers.arrange(best);
}

/// Sorts layer by layer, downwards by the neighbours above or upwards by those below. Points without any stay where they are.
fn sort(layers: &mut Layers, downwards: bool, equals_turn: bool) {
    let depth = layers.layers.len();
    let mut middles: Vec<(f64, u32)> = Vec::new();
    let mut places: Vec<u32> = Vec::new();
    for i in 1..depth {
        let number = if downwards { i } else { depth - 1 - i };
        let mut layer = std::mem::take(&mut layers.layers[number]);
        middles.clear();
        for &point in &layer {
            let neighbours = if downwards { layers.up(point) } else { layers.down(point) };
            places.clear();
            places.extend(neighbours.iter().map(|&n| layers.place[n as usize]));
            places.sort_unstable();
            if let Some(middle) = middle(&places) {
                middles.push((middle, point));
            }
        }
        if equals_turn {
            middles.reverse();
        }
        middles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sorted = middles.iter();
        for point in &mut layer {
            let neighbours = if downwards { layers.up(*point) } else { layers.down(*point) };
            if let (false, Some(&(_, next))) = (neighbours.is_empty(), sorted.clone().next()) {
                sorted.next();
                *point = next;
            }
        }
        for (place, &point) in layer.iter().enumerate() {
            layers.place[point as usize] = place as u32;
        }
        layers.layers[number] = layer;
    }
}

/// The middle of sorted numbers; of an even number of them nearer to the side where they are closer together.
fn middle(places: &[u32]) -> Option<f64> {
    let at = |i: usize| places[i] as f64;
    let half = places.len() / 2;
    Some(match places.len() {
        0 => return None,
        odd if odd % 2 == 1 => at(half),
        2 => (at(0) + at(1)) / 2.0,
        even => {
            let (left, right) = (at(half - 1) - at(0), at(even - 1) - at(half));
            match left + right == 0.0 {
                true => (at(half - 1) + at(half)) / 2.0,
                false => (at(half - 1) * right + at(half) * left) / (left + right),
            }
        }
    })
}

/// Neighbours within a layer change places where that saves crossings.
fn swap(layers: &mut Layers) {
    for number in 0..layers.layers.len() {
        let mut layer = std::mem::take(&mut layers.layers[number]);
        for i in 1..layer.len() {
            let (left, right) = (layer[i - 1], layer[i]);
            let count = |a: u32, b: u32| {
                between(layers.up(a), layers.up(b), &layers.place)
                    + between(layers.down(a), layers.down(b), &layers.place)
            };
            if count(right, left) < count(left, right) {
                layer.swap(i - 1, i);
                layers.place.swap(left as usize, right as usize);
            }
        }
        layers.layers[number] = layer;
    }
}

/// Crossings of the links of a point with those of one that stands to its right.
fn between(left: &[u32], right: &[u32], place: &[u32]) -> usize {
    let crossed = |l: &u32| right.iter().filter(|&&r| place[r as usize] < place[*l as usize]).count();
    left.iter().map(crossed).sum()
}

/// All crossings of links, counted with sums over a tree of places.
pub(crate) fn crossings(layers: &Layers) -> usize {
    let mut total = 0;
    let mut tree: Vec<usize> = Vec::new();
    let mut places: Vec<u32> = Vec::new();
    for pair in layers.layers.windows(2) {
        tree.clear();
        tree.resize(pair[1].len() + 1, 0);
        let mut before = 0;
        for &point in &pair[0] {
            places.clear();
            places.extend(layers.down(point).iter().map(|&n| layers.place[n as usize]));
            // Links of one point do not cross each other: all are looked at before any is put in.
            for &place in &places {
                let (mut at, mut not_right) = (place as usize + 1, 0);
                while at > 0 {
                    not_right += tree[at];
                    at &= at - 1;
                }
                total += before - not_right;
            }
            for &place in &places {
                let mut at = place as usize + 1;
                while at < tree.len() {
                    tree[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
            before += places.len();
        }
    }
    total
}
