//! What is not connected is laid out by itself and put side by side, row by row.

use super::Drawing;

/// A connected part of a graph.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Its vertices by their numbers in the graph, those that come first first.
    pub vertices: Vec<usize>,
    /// Its edges: the number in the graph, and the ends by their places in `vertices`.
    pub edges: Vec<(usize, u32, u32)>,
    /// Vertices that come first, by their places in `vertices`.
    pub first: Vec<u32>,
}

/// Space between parts.
const APART: f64 = 40.0;

/// The connected parts; those with vertices that come first, then the large ones.
pub(crate) fn parts(vertices: usize, edges: &[(usize, usize)], first: &[usize]) -> Vec<Part> {
    let exists = |&&(from, to): &&(usize, usize)| from < vertices && to < vertices;
    let mut leader: Vec<usize> = (0..vertices).collect();
    for &(from, to) in edges.iter().filter(exists) {
        let (a, b) = (find(&mut leader, from), find(&mut leader, to));
        leader[a.max(b)] = a.min(b);
    }
    let mut number = vec![usize::MAX; vertices];
    let mut local = vec![u32::MAX; vertices];
    let mut parts: Vec<Part> = Vec::new();
    for (place, vertex) in first.iter().copied().filter(|&v| v < vertices).chain(0..vertices).enumerate() {
        if local[vertex] != u32::MAX {
            continue;
        }
        let of = &mut number[find(&mut leader, vertex)];
        if *of == usize::MAX {
            *of = parts.len();
            parts.push(Part::default());
        }
        let part = &mut parts[*of];
        local[vertex] = part.vertices.len() as u32;
        part.vertices.push(vertex);
        if place < first.len() {
            part.first.push(local[vertex]);
        }
    }
    for (edge, &(from, to)) in edges.iter().enumerate().filter(|(_, edge)| exists(edge)) {
        parts[number[find(&mut leader, from)]].edges.push((edge, local[from], local[to]));
    }
    parts.sort_by_key(|part| (part.first.is_empty(), std::cmp::Reverse(part.vertices.len())));
    parts
}

fn find(leader: &mut [usize], mut vertex: usize) -> usize {
    while leader[vertex] != vertex {
        leader[vertex] = leader[leader[vertex]];
        vertex = leader[vertex];
    }
    vertex
}

/// One drawing of all parts.
pub(crate) fn together(parts: &[Part], drawings: Vec<Drawing>, vertices: usize, edges: usize) -> Drawing {
    let area: f64 = drawings.iter().map(|d| (d.width + APART) * (d.height + APART)).sum();
    let widest = drawings.iter().map(|d| d.width).fold(0.0, f64::max);
    // A little wider than high, as windows are.
    let most = widest.max((area * 1.5).sqrt());
    let mut whole =
        Drawing { places: vec![(0.0, 0.0); vertices], lines: vec![Vec::new(); edges], ..Drawing::default() };
    let (mut left, mut top, mut bottom) = (0.0, 0.0, 0.0f64);
    for (part, drawing) in parts.iter().zip(drawings) {
        if left > 0.0 && left + drawing.width > most {
            (left, top) = (0.0, bottom + APART);
        }
        let shift = |(x, y): (f64, f64)| (x + left, y + top);
        for (&vertex, place) in part.vertices.iter().zip(drawing.places) {
            whole.places[vertex] = shift(place);
        }
        for (&(edge, ..), line) in part.edges.iter().zip(drawing.lines) {
            whole.lines[edge] = line.into_iter().map(shift).collect();
        }
        bottom = bottom.max(top + drawing.height);
        whole.width = whole.width.max(left + drawing.width);
        left += drawing.width + APART;
    }
    whole.height = bottom;
    whole
}
