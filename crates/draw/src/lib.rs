//! Graphs laid out for the eye.
//!
//! [`layered`] puts the vertices of a graph into layers so that edges lead downwards where they can, with few crossings, boxes that
//! never touch and lines that go round boxes. The same graph always gives the same drawing.

mod acyclic;
mod align;
mod layers;
mod order;
mod pack;
mod rank;
mod route;

/// How far a vertex reaches from its middle, where lines come from and go to. What it has beside it, such as a name, may be on one
/// side only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub left: f64,
    pub right: f64,
    pub height: f64,
}

impl Size {
    /// As far to the left as to the right.
    pub fn new(width: f64, height: f64) -> Size {
        Size { left: width / 2.0, right: width / 2.0, height }
    }
}

/// Where everything is. Coordinates begin at 0 in the upper left corner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawing {
    pub width: f64,
    pub height: f64,
    /// The middle of each vertex.
    pub places: Vec<(f64, f64)>,
    /// For each edge the corners of a line from the border of its source to the border of its target.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// The largest extent of a vertex, so that no sum of them is infinite.
const LARGEST: f64 = 1e6;

/// Lays a graph out in layers. Vertices in `first` come first: from the top down and, within a layer, from the left. An edge
/// between vertices that do not exist gets an empty line.
pub fn layered(sizes: &[Size], edges: &[(usize, usize)], first: &[usize]) -> Drawing {
    let extent = |extent: f64| if extent.is_finite() { extent.clamp(0.0, LARGEST) } else { 0.0 };
    let limited =
        |size: &Size| Size { left: extent(size.left), right: extent(size.right), height: extent(size.height) };
    let sizes: Vec<Size> = sizes.iter().map(limited).collect();
    let parts = pack::parts(sizes.len(), edges, first);
    let drawings: Vec<Drawing> = parts.iter().map(|part| connected(&sizes, part)).collect();
    pack::together(&parts, drawings, sizes.len(), edges.len())
}

/// A connected graph, with numbers of its own.
fn connected(all: &[Size], part: &pack::Part) -> Drawing {
    let mut sizes: Vec<Size> = part.vertices.iter().map(|&vertex| all[vertex]).collect();
    let mut loops = vec![0; sizes.len()];
    part.edges.iter().filter(|(_, from, to)| from == to).for_each(|&(_, from, _)| loops[from as usize] += 1);
    let ends: Vec<(u32, u32)> =
        part.edges.iter().map(|&(_, from, to)| (from, to)).filter(|(from, to)| from != to).collect();
    let downward = acyclic::downward(sizes.len(), &ends, &part.first);
    let ranks = rank::ranks(sizes.len(), &downward);
    let mut layers = layers::Layers::new(&ranks, &downward);
    order::uncross(&mut layers);
    for (size, &loops) in sizes.iter_mut().zip(&loops) {
        size.right += route::loop_room(loops);
    }
    let across = align::across(&layers, &sizes);
    route::drawing(&layers, &across, &sizes, &route::Ends { all: &part.edges, downward: &downward, loops: &loops })
}

#[cfg(test)]
mod tests;
