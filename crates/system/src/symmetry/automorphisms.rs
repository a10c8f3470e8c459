//! Finds renamings of leaves that leave a set of terms as it is.
//!
//! The terms are a graph with coloured vertices. Singling out one leaf after the other leads to a partition in which every leaf
//! stands alone; for each leaf on this way, from the last to the first, a renaming is looked for that leaves those before it
//! in place and puts another one in its stead. These renamings generate the group (a strong generating set, as in McKay's
//! nauty). The graph only proposes: what is found counts once the renamed set of terms has been seen to be the same set.

use super::partition::{Graph, Partition};
use super::term::{Op, Term, TermId};
use super::translate::{Leaf, Translation};
use std::collections::{BTreeMap, HashMap, HashSet};

/// How much may be done before what was found has to do: about as many edges are looked at.
const PATIENCE: u64 = 60_000_000;

/// Vertices of all partitions that may be kept.
const ROOM: usize = 1 << 25;

/// Renamings of leaves, each as a list of what leaves become.
pub(super) struct Generators {
    pub renamings: Vec<Vec<u32>>,
    /// How many renamings they generate; `None` where the search was cut short.
    pub order: Option<u128>,
}

struct Finder<'t> {
    translation: &'t Translation<'t>,
    graph: Graph,
    /// The vertex of each leaf.
    vertices: Vec<u32>,
    roots: HashSet<TermId>,
    work: u64,
}

pub(super) fn generators(translation: &Translation) -> Generators {
    let mut finder = Finder::new(translation);
    let colours = colours(translation);
    let mut path = vec![Partition::by_colours(&finder.graph, &colours, &mut finder.work)];
    let (mut base, mut complete) = (Vec::new(), true);
    while let Some(next) = finder.next_leaf(&path[path.len() - 1]) {
        if finder.is_tired() || path.len() * finder.graph.len() > ROOM {
            complete = false;
            break;
        }
        let mut finer = path[path.len() - 1].clone();
        finer.single_out(&finder.graph, next, &mut finder.work);
        base.push(next);
        path.push(finer);
    }
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut order = Some(1u128);
    for level in (0..base.len()).rev() {
        let mut tried: HashSet<u32> = HashSet::new();
        for &other in path[level].cell_of(base[level]) {
            let reached = finder.orbit(&found, base[level]);
            if reached.contains(&other) || tried.contains(&other) {
                continue;
            }
            if finder.is_tired() {
                complete = false;
                break;
            }
            let mut right = path[level].clone();
            right.single_out(&finder.graph, other, &mut finder.work);
            match finder.complete(&path, &base, level + 1, right) {
                Some(renaming) => found.push(renaming),
                None => tried.extend(finder.orbit(&found, other)),
            }
        }
        order = order.and_then(|order| order.checked_mul(finder.orbit(&found, base[level]).len() as u128));
    }
    Generators { renamings: found, order: order.filter(|_| complete) }
}

/// A number for each kind of vertex.
fn colours(translation: &Translation) -> Vec<u32> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Kind {
        Leaf((u8, i64, i64, bool)),
        Const(i64),
        Ordered(Op, usize),
        Unordered(Op, usize),
    }
    let roots: HashSet<TermId> = translation.roots.iter().copied().collect();
    let kind = |id: TermId| {
        let kind = match translation.terms.get(id) {
            Term::Leaf(leaf) => Kind::Leaf(translation.colour(translation.leaves[*leaf as usize])),
            Term::Const(value) => Kind::Const(*value),
            Term::Ordered(op, operands) => Kind::Ordered(*op, operands.len()),
            Term::Unordered(op, operands) => Kind::Unordered(*op, operands.len()),
        };
        (kind, roots.contains(&id))
    };
    let mut numbers: BTreeMap<_, u32> = (0..translation.terms_of_set as TermId).map(|id| (kind(id), 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    (0..translation.terms_of_set as TermId).map(|id| numbers[&kind(id)]).collect()
}

impl<'t> Finder<'t> {
    fn new(translation: &'t Translation) -> Finder<'t> {
        let mut edges = Vec::new();
        let mut vertices = vec![0; translation.leaves_of_set];
        for id in 0..translation.terms_of_set as TermId {
            match translation.terms.get(id) {
                Term::Leaf(leaf) => vertices[*leaf as usize] = id,
                Term::Const(_) => {}
                Term::Ordered(_, operands) => edges.extend(operands.iter().zip(1..).map(|(&o, label)| (id, o, label))),
                Term::Unordered(_, operands) => edges.extend(operands.iter().map(|&o| (id, o, 0))),
            }
        }
        let graph = Graph::new(translation.terms_of_set, &edges);
        let roots = translation.roots.iter().copied().collect();
        Finder { translation, graph, vertices, roots, work: 0 }
    }

    fn is_tired(&self) -> bool {
        self.work > PATIENCE
    }

    /// The next leaf to single out: of a state, not of a type, as far as there are any.
    fn next_leaf(&self, partition: &Partition) -> Option<u32> {
        let several = |leaf: &&u32| !partition.is_single(self.vertices[**leaf as usize]);
        let numbers: Vec<u32> = (0..self.vertices.len() as u32).collect();
        let is_cell = |leaf: &&u32| matches!(self.translation.leaves[**leaf as usize], Leaf::Cell(_));
        let found = numbers.iter().filter(is_cell).find(several).or_else(|| numbers.iter().find(several));
        found.map(|&leaf| self.vertices[leaf as usize])
    }

    /// The vertices that some renamings lead to from one.
    fn orbit(&self, renamings: &[Vec<u32>], vertex: u32) -> HashSet<u32> {
        let Term::Leaf(first) = *self.translation.terms.get(vertex) else { return HashSet::from([vertex]) };
        let (mut reached, mut open) = (HashSet::from([first]), vec![first]);
        while let Some(leaf) = open.pop() {
            for renaming in renamings {
                let next = renaming[leaf as usize];
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached.into_iter().map(|leaf| self.vertices[leaf as usize]).collect()
    }

    /// A renaming that turns the partitions of the path, from this level on, into refinements of the one on the right.
    fn complete(&mut self, path: &[Partition], base: &[u32], level: usize, right: Partition) -> Option<Vec<u32>> {
        let left = &path[level];
        if !right.has_shape_of(left) || self.is_tired() {
            return None;
        }
        if let Some(renaming) = self.read_off(left, &right) {
            return Some(renaming);
        }
        let next = *base.get(level)?;
        let mut candidates = right.cell_like(left, next).to_vec();
        // The nearest renaming is the one that leaves most in place.
        if let Some(own) = candidates.iter().position(|&v| v == next) {
            candidates.swap(0, own);
        }
        for candidate in candidates {
            let mut finer = right.clone();
            finer.single_out(&self.graph, candidate, &mut self.work);
            if let Some(renaming) = self.complete(path, base, level + 1, finer) {
                return Some(renaming);
            }
            if self.is_tired() {
                return None;
            }
        }
        None
    }

    /// The renaming that two partitions show, where it is one that leaves the terms as they are.
    fn read_off(&mut self, left: &Partition, right: &Partition) -> Option<Vec<u32>> {
        let image = |&vertex: &u32| match *self.translation.terms.get(right.image(left, vertex)?) {
            Term::Leaf(leaf) => Some(leaf),
            _ => None,
        };
        let renaming: Vec<u32> = self.vertices.iter().map(image).collect::<Option<_>>()?;
        self.work += self.graph.len() as u64;
        self.is_symmetry(&renaming).then_some(renaming)
    }

    /// Is it a renaming after which the set of terms is the same?
    fn is_symmetry(&self, renaming: &[u32]) -> bool {
        let mut reached = vec![false; renaming.len()];
        renaming.iter().for_each(|&leaf| reached[leaf as usize] = true);
        let alike = |(from, to): (usize, &u32)| {
            let colour = |leaf: usize| self.translation.colour(self.translation.leaves[leaf]);
            colour(from) == colour(*to as usize)
        };
        if !reached.iter().all(|reached| *reached) || !renaming.iter().enumerate().all(alike) {
            return false;
        }
        let images = self.translation.terms.renamed(self.translation.terms_of_set, renaming);
        self.translation
            .roots
            .iter()
            .all(|&root| images[root as usize].is_some_and(|image| self.roots.contains(&image)))
    }
}

/// A condition and what it can become by renamings: for each different one, a renaming that leads to it.
pub(super) fn images(
    translation: &mut Translation,
    renamings: &[Vec<u32>],
    condition: TermId,
    most: usize,
) -> Option<Vec<Vec<u32>>> {
    let identity: Vec<u32> = (0..translation.leaves_of_set as u32).collect();
    // What only conditions speak of keeps its name.
    let whole = |renaming: &Vec<u32>| -> Vec<u32> {
        let others = renaming.len() as u32..translation.leaves.len() as u32;
        renaming.iter().copied().chain(others).collect()
    };
    let renamings: Vec<Vec<u32>> = renamings.iter().map(whole).collect();
    let mut known: Vec<HashMap<TermId, TermId>> = vec![HashMap::new(); renamings.len()];
    let (mut found, mut numbers) = (vec![(condition, identity)], HashSet::from([condition]));
    let mut next = 0;
    while next < found.len() {
        let (term, way) = found[next].clone();
        for (number, renaming) in renamings.iter().enumerate() {
            let image = translation.terms.rename(term, renaming, &mut known[number]);
            if numbers.insert(image) {
                if found.len() == most {
                    return None;
                }
                found.push((image, way.iter().map(|&leaf| renaming[leaf as usize]).collect()));
            }
        }
        next += 1;
    }
    Some(found.into_iter().map(|(_, renaming)| renaming).collect())
}
