//! The edges of a product for searches outside of this crate: each as what it means for a cycle. And the confirmation of what they found.
//!
//! The product is one that counts rounds where an automaton has several sets, so that an edge accepts or does not.

use super::lasso::{Lasso, Rough};
use super::product::{INSIDE, Mover, Product, WEAK};
use scrimp_core::Budget;
use scrimp_system::{Batch, Fault, Model, Stop};
use scrimp_temporal::Marks;

/// What an edge means for a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// It leads out of a component of the automaton: it is on no cycle that accepts.
    Leaves,
    Stays,
    /// A cycle with this edge accepts.
    Accepts,
}

/// What expanding a state was like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expanded {
    pub deadlock: bool,
    pub faults: u64,
}

/// Expands states of a product that was made for one set.
pub struct Edges<'p, 'a> {
    mover: Mover<'p, 'a>,
    marks: Vec<Marks>,
    all: Marks,
}

impl<'p, 'a> Edges<'p, 'a> {
    pub fn new(product: &'p Product<'a>) -> Edges<'p, 'a> {
        Edges { mover: Mover::new(product, None), marks: Vec::new(), all: product.all_marks() }
    }

    /// The successors of a state, and what the edges to them mean. Fails where an atom cannot be evaluated.
    pub fn of(&mut self, state: &[u8], out: &mut Batch, kinds: &mut Vec<EdgeKind>) -> Result<Expanded, Fault> {
        out.clear();
        self.marks.clear();
        kinds.clear();
        let expansion = self.mover.expand(state, true, out, &mut self.marks)?;
        kinds.extend(self.marks.iter().map(|&marks| match marks {
            marks if marks & WEAK != 0 || marks & INSIDE != 0 && marks & self.all == self.all => EdgeKind::Accepts,
            marks if marks & INSIDE != 0 => EdgeKind::Stays,
            _ => EdgeKind::Leaves,
        }));
        Ok(Expanded { deadlock: expansion.deadlock, faults: expansion.faults })
    }
}

/// A run that was found elsewhere: from an initial state to a loop, and once round it, which ends where it begins.
#[derive(Debug, Clone, Default)]
pub struct FoundRun {
    pub stem: Vec<Vec<u8>>,
    pub cycle: Vec<Vec<u8>>,
}

impl FoundRun {
    /// Is it a run of the product that accepts?
    pub fn is_accepted(&self, product: &Product) -> bool {
        let (mut edges, mut out, mut kinds) = (Edges::new(product), Batch::new(product.state_bytes()), Vec::new());
        let mut initial = Batch::new(product.state_bytes());
        product.initial(&mut initial);
        let Some((first, begin)) = self.stem.first().zip(self.stem.last()) else { return false };
        let mut leads = |from: &[u8], to: &[u8], least: &[EdgeKind]| -> Option<EdgeKind> {
            edges.of(from, &mut out, &mut kinds).ok()?;
            let fits = |i: &usize| out.state(*i) == to && least.contains(&kinds[*i]);
            let found: Vec<EdgeKind> = (0..out.len()).filter(fits).map(|i| kinds[i]).collect();
            found.iter().copied().find(|kind| *kind == EdgeKind::Accepts).or(found.first().copied())
        };
        let any = [EdgeKind::Leaves, EdgeKind::Stays, EdgeKind::Accepts];
        let begins = (0..initial.len()).any(|i| initial.state(i) == &first[..]);
        if !begins || !self.stem.windows(2).all(|ends| leads(&ends[0], &ends[1], &any).is_some()) {
            return false;
        }
        let (mut at, mut accepts) = (begin, false);
        for next in &self.cycle {
            match leads(at, next, &any[1..]) {
                Some(kind) => accepts |= kind == EdgeKind::Accepts,
                None => return false,
            }
            at = next;
        }
        accepts && at == begin
    }

    /// The run as one of the model, shortened if that is quickly done, within what is left of memory and time.
    pub fn finish(self, product: &Product, budget: &Budget, stop: &Stop) -> Option<Lasso> {
        Rough { stem: self.stem, cycle: self.cycle, marks: Vec::new() }.finish(product, budget, stop)
    }
}
