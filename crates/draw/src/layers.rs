//! Layers of points: vertices, and for each edge a bend in every layer that it passes through.

use std::ops::Range;

/// Bends that a drawing may have. The longest edges of one with more are drawn straight.
const MOST_BENDS: usize = 60_000;

#[derive(Debug)]
pub(crate) struct Layers {
    /// Points from the left to the right, layer by layer. Vertices have the first numbers.
    pub layers: Vec<Vec<u32>>,
    /// Where each point is in its layer.
    pub place: Vec<u32>,
    /// The layer of each point.
    pub rank: Vec<u32>,
    pub vertices: usize,
    /// The bends of each edge, from the top down; `None` where it is drawn straight and has none.
    pub bends: Vec<Option<Range<u32>>>,
    up: Neighbours,
    down: Neighbours,
}

/// The neighbours of each point, one list after the other.
#[derive(Debug)]
struct Neighbours {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    fn new(points: usize, links: &[(u32, u32)]) -> Neighbours {
        let mut starts = vec![0u32; points + 1];
        links.iter().for_each(|&(of, _)| starts[of as usize + 1] += 1);
        for i in 0..points {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; links.len()]);
        for &(of, neighbour) in links {
            all[next[of as usize] as usize] = neighbour;
            next[of as usize] += 1;
        }
        Neighbours { starts, all }
    }

    fn of(&self, point: u32) -> &[u32] {
        &self.all[self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize]
    }
}

impl Layers {
    /// Edges lead down by these ranks.
    pub fn new(ranks: &[u32], edges: &[(u32, u32)]) -> Layers {
        let length = |&(from, to): &(u32, u32)| (ranks[to as usize] - ranks[from as usize]) as usize - 1;
        let mut by_length: Vec<u32> = (0..edges.len() as u32).collect();
        by_length.sort_by_key(|&edge| length(&edges[edge as usize]));
        let mut bends = vec![None; edges.len()];
        let mut left = MOST_BENDS;
        for edge in by_length {
            let length = length(&edges[edge as usize]);
            if length > left {
                break;
            }
            left -= length;
            bends[edge as usize] = Some(0..0);
        }
        let mut rank = ranks.to_vec();
        let mut links = Vec::new();
        for (&(from, to), bends) in edges.iter().zip(&mut bends) {
            let Some(bends) = bends else { continue };
            let start = rank.len() as u32;
            rank.extend(ranks[from as usize] + 1..ranks[to as usize]);
            *bends = start..rank.len() as u32;
            let mut above = from;
            for point in bends.clone().chain([to]) {
                links.push((above, point));
                above = point;
            }
        }
        let down = Neighbours::new(rank.len(), &links);
        links.iter_mut().for_each(|link| *link = (link.1, link.0));
        let up = Neighbours::new(rank.len(), &links);
        let depth = rank.iter().max().map_or(0, |&deepest| deepest as usize + 1);
        let layers = vec![Vec::new(); depth];
        let mut layers = Layers { layers, place: vec![0; rank.len()], rank, vertices: ranks.len(), bends, up, down };
        layers.begin();
        layers
    }

    pub fn is_bend(&self, point: u32) -> bool {
        point as usize >= self.vertices
    }

    pub fn up(&self, point: u32) -> &[u32] {
        self.up.of(point)
    }

    pub fn down(&self, point: u32) -> &[u32] {
        self.down.of(point)
    }

    /// Links between layers.
    pub fn links(&self) -> usize {
        self.down.all.len()
    }

    /// Puts each layer into an order, and notes where each point is.
    pub fn arrange(&mut self, layers: Vec<Vec<u32>>) {
        self.layers = layers;
        for layer in &self.layers {
            for (place, &point) in layer.iter().enumerate() {
                self.place[point as usize] = place as u32;
            }
        }
    }

    /// A first order: depth first from the top, so that what hangs together stands together.
    fn begin(&mut self) {
        let mut layers = vec![Vec::new(); self.layers.len()];
        let mut seen = vec![false; self.rank.len()];
        let mut roots: Vec<u32> = (0..self.rank.len() as u32).collect();
        roots.sort_by_key(|&point| self.rank[point as usize]);
        let mut open = Vec::new();
        for root in roots {
            open.push(root);
            while let Some(point) = open.pop() {
                if !std::mem::replace(&mut seen[point as usize], true) {
                    layers[self.rank[point as usize] as usize].push(point);
                    open.extend(self.down(point).iter().rev());
                }
            }
        }
        self.arrange(layers);
    }
}
