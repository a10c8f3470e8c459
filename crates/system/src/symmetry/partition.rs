//! Ordered partitions of a graph's vertices, refined until vertices of a cell have the same edges to every other cell.
//!
//! The cells are ranges of one list, split in an order that depends on the graph alone and not on how its vertices are
//! numbered: two partitions that a symmetry turns into each other have cells of the same sizes in the same places. After
//! McKay, "Practical graph isomorphism", 1981.

use std::collections::VecDeque;

/// A graph whose edges have labels, seen from both ends.
#[derive(Debug, Default)]
pub(super) struct Graph {
    start: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// From edges with labels; the label from the other end is made different.
    pub fn new(vertices: usize, edges: &[(u32, u32, u32)]) -> Graph {
        let mut start = vec![0u32; vertices + 1];
        for &(a, b, _) in edges {
            start[a as usize + 1] += 1;
            start[b as usize + 1] += 1;
        }
        for i in 0..vertices {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut both = vec![(0, 0); 2 * edges.len()];
        for &(a, b, label) in edges {
            for (from, to, label) in [(a, b, 2 * label), (b, a, 2 * label + 1)] {
                both[next[from as usize] as usize] = (to, label);
                next[from as usize] += 1;
            }
        }
        Graph { start, edges: both }
    }

    fn of(&self, vertex: u32) -> &[(u32, u32)] {
        &self.edges[self.start[vertex as usize] as usize..self.start[vertex as usize + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.start.len() - 1
    }
}

#[derive(Debug, Clone)]
pub(super) struct Partition {
    /// The vertices, cell by cell, and where each of them stands.
    order: Vec<u32>,
    place: Vec<u32>,
    /// For each vertex where its cell begins, and for each beginning the size; 0 elsewhere.
    cell: Vec<u32>,
    size: Vec<u32>,
}

/// Scrambles a label, so that sums tell sets of them apart.
fn scrambled(label: u32) -> u64 {
    let mut x = (label as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

impl Partition {
    /// Vertices of one colour together; then refined.
    pub fn by_colours(graph: &Graph, colours: &[u32], work: &mut u64) -> Partition {
        let count = graph.len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|&v| colours[v as usize]);
        let mut all = Partition { place: vec![0; count], cell: vec![0; count], size: vec![0; count], order };
        let mut begin = 0;
        let mut queue = VecDeque::new();
        for i in 0..count {
            let v = all.order[i] as usize;
            all.place[v] = i as u32;
            if i > 0 && colours[all.order[i - 1] as usize] != colours[v] {
                begin = i;
            }
            if begin == i {
                queue.push_back(i as u32);
            }
            all.cell[v] = begin as u32;
            all.size[begin] += 1;
        }
        all.refine(graph, queue, work);
        all
    }

    /// The vertices of the cell that a vertex is in.
    pub fn cell_of(&self, vertex: u32) -> &[u32] {
        let begin = self.cell[vertex as usize] as usize;
        &self.order[begin..begin + self.size[begin] as usize]
    }

    pub fn is_single(&self, vertex: u32) -> bool {
        self.size[self.cell[vertex as usize] as usize] == 1
    }

    /// The vertices of the cell that begins where that of `vertex` begins in another partition.
    pub fn cell_like(&self, other: &Partition, vertex: u32) -> &[u32] {
        let begin = other.cell[vertex as usize] as usize;
        &self.order[begin..begin + self.size[begin] as usize]
    }

    pub fn has_shape_of(&self, other: &Partition) -> bool {
        self.size == other.size
    }

    /// The vertex that stands where `vertex` stands in another partition; or, where these are cells of several, itself if
    /// it is among them.
    pub fn image(&self, other: &Partition, vertex: u32) -> Option<u32> {
        match other.is_single(vertex) {
            true => Some(self.order[other.place[vertex as usize] as usize]),
            false => (self.cell[vertex as usize] == other.cell[vertex as usize]).then_some(vertex),
        }
    }

    /// Gives a vertex a cell of its own, and refines.
    pub fn single_out(&mut self, graph: &Graph, vertex: u32, work: &mut u64) {
        let begin = self.cell[vertex as usize] as usize;
        let size = self.size[begin];
        if size == 1 {
            return;
        }
        self.swap(vertex, begin);
        self.size[begin] = 1;
        self.size[begin + 1] = size - 1;
        for i in begin + 1..begin + size as usize {
            self.cell[self.order[i] as usize] = begin as u32 + 1;
        }
        self.refine(graph, VecDeque::from([begin as u32]), work);
    }

    /// Puts a vertex at a place, and the one there at its own.
    fn swap(&mut self, vertex: u32, to: usize) {
        let (from, other) = (self.place[vertex as usize] as usize, self.order[to]);
        self.order.swap(from, to);
        self.place[vertex as usize] = to as u32;
        self.place[other as usize] = from as u32;
    }

    fn refine(&mut self, graph: &Graph, mut queue: VecDeque<u32>, work: &mut u64) {
        let mut waits = vec![false; self.order.len()];
        queue.iter().for_each(|&begin| waits[begin as usize] = true);
        let mut sums = vec![0u64; self.order.len()];
        let mut marked = vec![false; self.order.len()];
        *work += self.order.len() as u64 / 16;
        while let Some(begin) = queue.pop_front() {
            waits[begin as usize] = false;
            let mut touched = Vec::new();
            for i in begin..begin + self.size[begin as usize] {
                let edges = graph.of(self.order[i as usize]);
                *work += edges.len() as u64;
                for &(to, label) in edges {
                    if !self.is_single(to) {
                        if !std::mem::replace(&mut marked[to as usize], true) {
                            touched.push(to);
                        }
                        sums[to as usize] = sums[to as usize].wrapping_add(scrambled(label));
                    }
                }
            }
            touched.sort_unstable_by_key(|&v| (self.cell[v as usize], sums[v as usize]));
            let mut rest = &touched[..];
            while let Some(&first) = rest.first() {
                let cell = self.cell[first as usize];
                let (these, others) = rest.split_at(rest.partition_point(|&v| self.cell[v as usize] <= cell));
                rest = others;
                self.split(cell, these, &sums, &mut queue, &mut waits);
            }
            for v in touched {
                (sums[v as usize], marked[v as usize]) = (0, false);
            }
        }
    }

    /// Splits a cell by the sums of some of its vertices, which are sorted by them; the others have none.
    fn split(&mut self, cell: u32, touched: &[u32], sums: &[u64], queue: &mut VecDeque<u32>, waits: &mut [bool]) {
        let size = self.size[cell as usize];
        let sum = |v: u32| sums[v as usize];
        if touched.len() as u32 == size && sum(touched[0]) == sum(touched[touched.len() - 1]) {
            return;
        }
        let mut begin = cell + size - touched.len() as u32;
        for (i, &v) in touched.iter().enumerate().rev() {
            self.swap(v, begin as usize + i);
        }
        let mut pieces = Vec::new();
        if begin > cell {
            pieces.push((cell, begin - cell));
        }
        for group in touched.chunk_by(|&a, &b| sum(a) == sum(b)) {
            pieces.push((begin, group.len() as u32));
            group.iter().for_each(|&v| self.cell[v as usize] = begin);
            begin += group.len() as u32;
        }
        pieces.iter().for_each(|&(begin, size)| self.size[begin as usize] = size);
        // What a cell shows, its pieces show but for one; the largest takes longest.
        let spared = if waits[cell as usize] {
            None
        } else {
            let largest = pieces.iter().map(|piece| piece.1).max();
            pieces.iter().find(|piece| Some(piece.1) == largest).map(|piece| piece.0)
        };
        for (begin, _) in pieces {
            if Some(begin) != spared && !std::mem::replace(&mut waits[begin as usize], true) {
                queue.push_back(begin);
            }
        }
    }
}
