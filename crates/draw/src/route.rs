//! From layers and positions to a drawing: how far layers are apart, where lines leave boxes, and the corners of lines.
//!
//! Within the height of a layer a line only goes straight down, at a bend or at its own box, and slants between layers: so it meets
//! no box but those at its ends.

use crate::layers::Layers;
use crate::{Drawing, Size};

/// Space between layers: at least, more where lines are flat, at most.
const NEAR: f64 = 36.0;
const FAR: f64 = 110.0;
/// The share of a box's width at which lines end, and how far apart.
const SHARE: f64 = 0.7;
const STEP: f64 = 14.0;
/// How far the first loop reaches out of its box, and all of them together.
const LOOP: f64 = 16.0;
const LOOPS: f64 = 64.0;

/// The edges of a part, and those that are no loops in the direction in which they are drawn.
pub(crate) struct Ends<'a> {
    pub all: &'a [(usize, u32, u32)],
    pub downward: &'a [(u32, u32)],
    pub loops: &'a [usize],
}

/// The room beside a box for so many loops.
pub(crate) fn loop_room(loops: usize) -> f64 {
    (loops as f64 * LOOP).min(LOOPS)
}

pub(crate) fn drawing(layers: &Layers, across: &[f64], sizes: &[Size], ends: &Ends<'_>) -> Drawing {
    // Loops are part of the sizes.
    let left = (0..sizes.len())
        .map(|v| across[v] - sizes[v].left)
        .chain(across[sizes.len()..].iter().copied())
        .fold(f64::INFINITY, f64::min);
    let right = (0..sizes.len())
        .map(|v| across[v] + sizes[v].right)
        .chain(across[sizes.len()..].iter().copied())
        .fold(f64::NEG_INFINITY, f64::max);
    let across: Vec<f64> = across.iter().map(|x| x - left).collect();
    let bands = bands(layers, &across, sizes);
    let places: Vec<(f64, f64)> = (0..sizes.len())
        .map(|v| {
            let (top, bottom) = bands[layers.rank[v] as usize];
            (across[v], (top + bottom) / 2.0)
        })
        .collect();
    let sketch = Sketch { layers, across: &across, sizes, bands: &bands, places: &places };
    let mut downward = sketch.lines(ends.downward).into_iter().zip(ends.downward);
    let mut loops = vec![0; sizes.len()];
    let lines = ends.all.iter().map(|&(_, from, to)| {
        if from == to {
            loops[from as usize] += 1;
            return sketch.looped(from as usize, loops[from as usize], ends.loops[from as usize]);
        }
        let Some((mut line, drawn)) = downward.next() else { return Vec::new() };
        if *drawn != (from, to) {
            line.reverse();
        }
        line
    });
    let lines = lines.collect();
    let height = bands.last().map_or(0.0, |band| band.1);
    Drawing { width: (right - left).max(0.0), height, places, lines }
}

/// The top and the bottom of each layer.
fn bands(layers: &Layers, across: &[f64], sizes: &[Size]) -> Vec<(f64, f64)> {
    let mut bands = Vec::with_capacity(layers.layers.len());
    let mut top = 0.0;
    for layer in &layers.layers {
        let heights = layer.iter().filter(|&&point| !layers.is_bend(point)).map(|&v| sizes[v as usize].height);
        let bottom = top + heights.fold(0.0, f64::max);
        bands.push((top, bottom));
        let flattest = layer.iter().flat_map(|&point| {
            layers.down(point).iter().map(move |&below| (across[below as usize] - across[point as usize]).abs())
        });
        top = bottom + (NEAR + flattest.fold(0.0, f64::max) / 8.0).min(FAR);
    }
    bands
}

struct Sketch<'a> {
    layers: &'a Layers,
    across: &'a [f64],
    sizes: &'a [Size],
    bands: &'a [(f64, f64)],
    places: &'a [(f64, f64)],
}

impl Sketch<'_> {
    /// Lines from the top down.
    fn lines(&self, edges: &[(u32, u32)]) -> Vec<Vec<(f64, f64)>> {
        // Where each edge leaves its upper and its lower box, from where it goes to.
        let (mut leave, mut enter) = (vec![Vec::new(); self.sizes.len()], vec![Vec::new(); self.sizes.len()]);
        for (edge, &(from, to)) in edges.iter().enumerate() {
            let bends = self.layers.bends[edge].clone().unwrap_or(0..0);
            let below = bends.clone().next().unwrap_or(to);
            let above = bends.last().unwrap_or(from);
            leave[from as usize].push((self.across[below as usize], edge));
            enter[to as usize].push((self.across[above as usize], edge));
        }
        let (starts, stops) = (self.ports(leave, edges.len()), self.ports(enter, edges.len()));
        let line = |(edge, &(from, to)): (usize, &(u32, u32))| {
            let (from, to) = (from as usize, to as usize);
            let mut line = vec![(starts[edge], self.places[from].1 + self.sizes[from].height / 2.0)];
            if let Some(bends) = self.layers.bends[edge].clone() {
                line.push((starts[edge], self.bands[self.layers.rank[from] as usize].1));
                for bend in bends {
                    let (top, bottom) = self.bands[self.layers.rank[bend as usize] as usize];
                    line.push((self.across[bend as usize], top));
                    line.push((self.across[bend as usize], bottom));
                }
                line.push((stops[edge], self.bands[self.layers.rank[to] as usize].0));
            }
            line.push((stops[edge], self.places[to].1 - self.sizes[to].height / 2.0));
            straighten(line)
        };
        edges.iter().enumerate().map(line).collect()
    }

    /// Ends of lines at one side of each box, side by side in the order of where they come from.
    fn ports(&self, ends: Vec<Vec<(f64, usize)>>, edges: usize) -> Vec<f64> {
        let mut ports = vec![0.0; edges];
        for (vertex, mut ends) in ends.into_iter().enumerate() {
            ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let size = self.sizes[vertex];
            let step = STEP.min(size.left.min(size.right) * 2.0 * SHARE / ends.len().max(1) as f64);
            let middle = (ends.len() as f64 - 1.0) / 2.0;
            for (i, (_, edge)) in ends.into_iter().enumerate() {
                ports[edge] = self.places[vertex].0 + (i as f64 - middle) * step;
            }
        }
        ports
    }

    /// A loop at the right side of its box, one of several.
    fn looped(&self, vertex: usize, number: usize, of: usize) -> Vec<(f64, f64)> {
        let (x, y) = self.places[vertex];
        let Size { right, height, .. } = self.sizes[vertex];
        let share = number as f64 / of.max(1) as f64;
        let (side, out, half) = (x + right - loop_room(of), loop_room(of) * share, height * 0.4 * share);
        vec![(side, y - half), (side + out, y - half), (side + out, y + half), (side, y + half)]
    }
}

/// Leaves out corners that are none.
fn straighten(line: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(line.len());
    for point in line {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., a, b] = kept[..] {
            let turn = (b.0 - a.0) * (point.1 - b.1) - (b.1 - a.1) * (point.0 - b.0);
            if turn.abs() < 1e-6 {
                kept.pop();
            }
        }
        kept.push(point);
    }
    kept
}
