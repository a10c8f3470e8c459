//! The least state of an orbit, under renamings that are about the same cells.
//!
//! Where whole processes are interchangeable and nothing refers to them, sorting them is all there is to do. A group that is
//! not too large is searched: all its elements stand in a tree, by what they fill the first cell with, then the second; only
//! branches are followed that make the cell as small as possible. For larger groups a few elements are tried again and again as
//! long as the state becomes smaller: that finds a state of the orbit, if not always the same one.

use super::moves::{Cells, From, Place, Table, Tables};
use std::collections::{HashMap, HashSet};

/// The largest group whose elements are listed.
const LISTED: usize = 5040;
/// Numbers that may be kept of them.
const ROOM: usize = 1 << 22;
/// How many elements of a larger one are tried.
const TRIED: usize = 256;

pub(super) struct Factor {
    places: Vec<Place>,
    tables: Vec<Table>,
    means: Means,
}

enum Means {
    /// So many blocks of cells, each of this size, one after the other.
    Blocks {
        cells: Vec<u32>,
        size: usize,
    },
    Tree(Tree),
    Descent(Vec<Vec<From>>),
}

struct Tree {
    elements: Vec<Vec<From>>,
    /// The first is the root.
    nodes: Vec<Vec<(From, Branch)>>,
}

#[derive(Clone, Copy)]
enum Branch {
    Node(u32),
    Element(u32),
}

/// Memory that is used again.
#[derive(Default)]
pub(super) struct Scratch {
    before: Vec<i64>,
    after: Vec<i64>,
    order: Vec<u32>,
    open: Vec<Branch>,
    next: Vec<Branch>,
}

impl Factor {
    pub fn new(cells: &Cells, renamings: &[&Vec<u32>]) -> Factor {
        let (mut tables, mut places) = (Tables::default(), cells.places.clone());
        let means = match blocks(cells, renamings, &mut tables) {
            Some(means) => means,
            None => {
                let most = LISTED.min(ROOM / cells.leaves.len().max(1));
                let (mut elements, all) = elements(renamings, most, |element| cells.moves(element, &mut tables));
                if all {
                    let order = quickest(&elements);
                    places = order.iter().map(|&cell| places[cell]).collect();
                    elements = elements.iter().map(|moves| rearranged(moves, &order)).collect();
                }
                // What acts alike on states is one.
                elements.sort_unstable();
                elements.dedup();
                if all { Means::Tree(Tree::new(elements)) } else { Means::Descent(elements) }
            }
        };
        Factor { places, tables: tables.list, means }
    }

    /// Does every state of an orbit lead to the same one?
    pub fn is_exact(&self) -> bool {
        !matches!(self.means, Means::Descent(_))
    }

    /// How many elements there are, where that is known.
    pub fn order(&self) -> Option<u128> {
        match &self.means {
            Means::Blocks { cells, size } => factorial(cells.len() / size),
            Means::Tree(tree) => Some(tree.elements.len() as u128),
            Means::Descent(_) => None,
        }
    }

    /// Puts the representative in place of a state. Answers how many elements lead to it, where that is known.
    pub fn represent(&self, state: &mut [u8], scratch: &mut Scratch) -> Option<u128> {
        scratch.before.clear();
        scratch.before.extend(self.places.iter().map(|place| place.read(state)));
        let same = match &self.means {
            Means::Blocks { cells, size } => sort_blocks(cells, *size, scratch),
            Means::Tree(tree) => Some(tree.least(&self.tables, scratch)),
            Means::Descent(tried) => {
                self.descend(tried, scratch);
                None
            }
        };
        for ((place, before), after) in self.places.iter().zip(&scratch.before).zip(&scratch.after) {
            if before != after {
                place.write(state, *after);
            }
        }
        same
    }

    fn descend(&self, tried: &[Vec<From>], scratch: &mut Scratch) {
        let Scratch { before, after, .. } = scratch;
        let mut now = before.clone();
        'again: loop {
            for moves in tried {
                let values = || moves.iter().map(|from| self.tables[from.table as usize].of(now[from.cell as usize]));
                if values().lt(now.iter().copied()) {
                    now = values().collect();
                    continue 'again;
                }
            }
            break;
        }
        after.clear();
        after.extend(now);
    }
}

/// Nothing where there is no such number.
fn factorial(n: usize) -> Option<u128> {
    (1..=n as u128).try_fold(1, u128::checked_mul)
}

fn sort_blocks(cells: &[u32], size: usize, scratch: &mut Scratch) -> Option<u128> {
    let Scratch { before, after, order, .. } = scratch;
    let count = cells.len() / size;
    let block = |number: u32| &cells[number as usize * size..(number as usize + 1) * size];
    let contents = |number: u32| block(number).iter().map(|&cell| before[cell as usize]);
    order.clear();
    order.extend(0..count as u32);
    order.sort_by(|&a, &b| contents(a).cmp(contents(b)));
    after.clear();
    after.extend_from_slice(before);
    for (to, &from) in order.iter().enumerate() {
        for (to, from) in block(to as u32).iter().zip(block(from)) {
            after[*to as usize] = before[*from as usize];
        }
    }
    let mut alike = order.chunk_by(|&a, &b| contents(a).eq(contents(b)));
    alike.try_fold(1u128, |same, group| same.checked_mul(factorial(group.len())?))
}

/// The cells block by block, where the renamings are all permutations of blocks that leave values as they are.
fn blocks(cells: &Cells, renamings: &[&Vec<u32>], tables: &mut Tables) -> Option<Means> {
    let moves: Vec<Vec<From>> = renamings.iter().map(|renaming| cells.moves(renaming, tables)).collect();
    if moves.iter().flatten().any(|from| from.table != 0) {
        return None;
    }
    let image = |number: usize, cell: u32| cells.number(renamings[number][cells.leaves[cell as usize] as usize]);
    // The first orbit's cells are the points; the other orbits follow them.
    let mut points = vec![0u32];
    let mut next = 0;
    while next < points.len() {
        for number in 0..renamings.len() {
            let reached = image(number, points[next])?;
            if !points.contains(&reached) {
                points.push(reached);
            }
        }
        next += 1;
    }
    let mut columns = vec![points.clone()];
    let mut placed: HashSet<u32> = points.iter().copied().collect();
    for cell in 0..cells.leaves.len() as u32 {
        if placed.contains(&cell) {
            continue;
        }
        let column = points.iter().find_map(|&point| follow(&points, point, cell, renamings.len(), &image))?;
        placed.extend(column.iter().copied());
        columns.push(column);
    }
    let swapped = |number: usize| {
        let moved: Vec<u32> = points.iter().copied().filter(|&point| image(number, point) != Some(point)).collect();
        if let [a, b] = moved[..] { Some((a, b)) } else { None }
    };
    if !connected(&points, &(0..renamings.len()).filter_map(swapped).collect::<Vec<_>>()) {
        return None;
    }
    let size = columns.len();
    let cells = (0..points.len()).flat_map(|block| columns.iter().map(move |column| column[block])).collect();
    Some(Means::Blocks { cells, size })
}

/// For each point its cell, where `cell` is that of `start`, and renamings move a point's cell as they move the point.
fn follow(
    points: &[u32],
    start: u32,
    cell: u32,
    renamings: usize,
    image: &dyn Fn(usize, u32) -> Option<u32>,
) -> Option<Vec<u32>> {
    let at = |point: u32| points.iter().position(|&p| p == point);
    let mut column = vec![None; points.len()];
    column[at(start)?] = Some(cell);
    let mut open = vec![start];
    while let Some(point) = open.pop() {
        let own = column[at(point)?]?;
        for number in 0..renamings {
            let (to, cell) = (image(number, point)?, image(number, own)?);
            match &mut column[at(to)?] {
                Some(known) if *known == cell => {}
                Some(_) => return None,
                free => {
                    *free = Some(cell);
                    open.push(to);
                }
            }
        }
    }
    let column: Vec<u32> = column.into_iter().collect::<Option<_>>()?;
    let distinct: HashSet<u32> = column.iter().copied().collect();
    (distinct.len() == column.len()).then_some(column)
}

/// Do these pairs connect all points? Then swapping them leads to every permutation.
fn connected(points: &[u32], pairs: &[(u32, u32)]) -> bool {
    let (mut reached, mut open) = (HashSet::from([points[0]]), vec![points[0]]);
    while let Some(point) = open.pop() {
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                if from == point && reached.insert(to) {
                    open.push(to);
                }
            }
        }
    }
    reached.len() == points.len()
}

/// An order of cells in which few elements are left after few cells: as long as there are any, cells come next whose value is
/// settled by what the cells before were filled with, such as the other variables of a process.
fn quickest(elements: &[Vec<From>]) -> Vec<usize> {
    /// What may go into it.
    const EFFORT: usize = 1 << 25;
    let count = elements.first().map_or(0, Vec::len);
    let mut left: Vec<usize> = (0..count).collect();
    if count * count * elements.len() > EFFORT {
        return left;
    }
    let (mut order, mut classes, mut number) = (Vec::with_capacity(count), vec![0u32; elements.len()], 1);
    while !left.is_empty() {
        let split = |cell: usize| {
            let mut numbers: HashMap<(u32, From), u32> = HashMap::new();
            let finer = elements.iter().zip(&classes).map(|(moves, class)| {
                let next = numbers.len() as u32;
                *numbers.entry((*class, moves[cell])).or_insert(next)
            });
            let finer: Vec<u32> = finer.collect();
            (numbers.len(), finer)
        };
        let mut best: Option<(usize, usize, Vec<u32>)> = None;
        for (at, &cell) in left.iter().enumerate() {
            let (parts, finer) = split(cell);
            if best.as_ref().is_none_or(|(fewest, ..)| parts < *fewest) {
                best = Some((parts, at, finer));
            }
            if parts == number {
                break;
            }
        }
        let Some((parts, at, finer)) = best else { break };
        (number, classes) = (parts, finer);
        order.push(left.remove(at));
    }
    order
}

/// The same for cells in another order.
fn rearranged(moves: &[From], order: &[usize]) -> Vec<From> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&cell, place)| places[cell] = place);
    order.iter().map(|&cell| From { cell: places[moves[cell].cell as usize], ..moves[cell] }).collect()
}

/// What the elements are that renamings generate, and whether these are all: of a large group only some.
fn elements<T>(renamings: &[&Vec<u32>], most: usize, mut what: impl FnMut(&[u32]) -> T) -> (Vec<T>, bool) {
    let count = renamings.first().map_or(0, |renaming| renaming.len() as u32);
    // An element is told by what becomes of the leaves that any of them moves.
    let moved: Vec<u32> =
        (0..count).filter(|&leaf| renamings.iter().any(|renaming| renaming[leaf as usize] != leaf)).collect();
    let (mut known, mut list) = (HashSet::from([moved.clone()]), vec![moved.clone()]);
    let (mut next, mut all) = (0, true);
    while next < list.len() && all {
        for renaming in renamings {
            let element: Vec<u32> = list[next].iter().map(|&leaf| renaming[leaf as usize]).collect();
            if !known.contains(&element) {
                all = list.len() < most;
                if !all {
                    list.truncate(TRIED);
                    break;
                }
                known.insert(element.clone());
                list.push(element);
            }
        }
        next += 1;
    }
    let mut whole: Vec<u32> = (0..count).collect();
    let told = list.iter().map(|element| {
        moved.iter().zip(element).for_each(|(&leaf, &to)| whole[leaf as usize] = to);
        what(&whole)
    });
    (told.collect(), all)
}

impl Tree {
    fn new(elements: Vec<Vec<From>>) -> Tree {
        let mut tree = Tree { elements, nodes: Vec::new() };
        let all: Vec<u32> = (0..tree.elements.len() as u32).collect();
        tree.grow(&all, 0);
        tree
    }

    /// The branch of these elements, which are sorted and agree before this cell.
    fn grow(&mut self, elements: &[u32], cell: usize) -> Branch {
        if let [only] = elements {
            return Branch::Element(*only);
        }
        let node = self.nodes.len();
        self.nodes.push(Vec::new());
        let mut rest = elements;
        while let Some(&first) = rest.first() {
            let from = self.elements[first as usize][cell];
            let same = rest.partition_point(|&e| self.elements[e as usize][cell] <= from);
            let branch = self.grow(&rest[..same], cell + 1);
            self.nodes[node].push((from, branch));
            rest = &rest[same..];
        }
        Branch::Node(node as u32)
    }

    /// The least that an element makes of the values; answers how many elements make that.
    fn least(&self, tables: &[Table], scratch: &mut Scratch) -> u128 {
        let Scratch { before, after, open, next, .. } = scratch;
        let value = |from: From| tables[from.table as usize].of(before[from.cell as usize]);
        open.clear();
        open.push(if self.nodes.is_empty() { Branch::Element(0) } else { Branch::Node(0) });
        after.clear();
        for cell in 0..before.len() {
            let mut least = i64::MAX;
            next.clear();
            let mut offer = |from: From, branch: Branch| {
                let value = value(from);
                if value < least {
                    least = value;
                    next.clear();
                }
                if value == least {
                    next.push(branch);
                }
            };
            for &branch in open.iter() {
                match branch {
                    Branch::Node(node) => self.nodes[node as usize].iter().for_each(|&(from, to)| offer(from, to)),
                    Branch::Element(element) => offer(self.elements[element as usize][cell], branch),
                }
            }
            after.push(least);
            std::mem::swap(open, next);
        }
        open.len() as u128
    }
}
