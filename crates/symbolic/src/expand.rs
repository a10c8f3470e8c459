//! From an action to its relation, cell by cell from the top: each value of a cell leaves less of the tests and of what is
//! assigned, and what is left is what the node below depends on.
//!
//! So cells that have nothing to do with each other cost nothing together, a receive that shifts a channel costs as many
//! nodes as a message has values, and a sum as many as it can come to. What would take too long all the same is left to
//! be learnt from the vectors that occur.

use crate::action::{Action, Decided, Test};
use crate::diagram::{Diagrams, Halt, Relation};
use crate::space::Space;
use crate::term::Term;
use scrimp_system::BinaryOp;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Edges that a factor's relation may have to be worth it.
const MOST_EDGES: usize = 100_000;

/// The part of the memory that making one may take, and after how many edges that is looked at: what is left of an action may be long.
const MOST_MEMORY: usize = 16;
const LOOK: usize = 16;
/// With less memory it may take what it takes: what is learnt instead would take more.
const SMALL: usize = 32 << 20;

/// Combinations of values that are tried to find what a term can be.
const MOST_TRIED: usize = 4096;

/// Cells that an action ties together, with all that it says of them.
#[derive(Debug, Clone, Default)]
pub struct Factor {
    pub cells: Vec<u32>,
    pub tests: Vec<Test>,
    pub sets: Vec<(u32, Term)>,
}

/// Why there is no relation.
pub enum Failed {
    Halt(Halt),
    /// There are too many combinations of values.
    Large,
}

impl From<Halt> for Failed {
    fn from(halt: Halt) -> Failed {
        Failed::Halt(halt)
    }
}

/// Takes an action apart into factors that share no cell.
pub fn factors(action: &Action) -> Vec<Factor> {
    let mut parent: HashMap<u32, u32> = HashMap::new();
    fn root(parent: &mut HashMap<u32, u32>, cell: u32) -> u32 {
        let mut at = cell;
        while let Some(&up) = parent.get(&at).filter(|up| **up != at) {
            at = up;
        }
        parent.insert(cell, at);
        at
    }
    let groups = action.tests.iter().map(|test| test.term().support());
    let sets = action.sets.iter().map(|(cell, term)| {
        let mut cells = term.support();
        cells.push(*cell);
        cells
    });
    for group in groups.chain(sets) {
        for &cell in &group {
            let (a, b) = (root(&mut parent, group[0]), root(&mut parent, cell));
            parent.insert(b, a);
        }
    }
    let mut numbers: HashMap<u32, usize> = HashMap::new();
    let mut list: Vec<Factor> = Vec::new();
    let mut factor = |parent: &mut HashMap<u32, u32>, list: &mut Vec<Factor>, cell: u32| {
        let root = root(parent, cell);
        *numbers.entry(root).or_insert_with(|| {
            list.push(Factor::default());
            list.len() - 1
        })
    };
    let mut cells: Vec<u32> = parent.keys().copied().collect();
    cells.sort_unstable();
    for cell in cells {
        let at = factor(&mut parent, &mut list, cell);
        list[at].cells.push(cell);
    }
    for test in &action.tests {
        if let Some(&cell) = test.term().support().first() {
            let at = factor(&mut parent, &mut list, cell);
            list[at].tests.push(test.clone());
        }
    }
    for (cell, term) in &action.sets {
        let at = factor(&mut parent, &mut list, *cell);
        list[at].sets.push((*cell, term.clone()));
    }
    list
}

/// Hashes what is left of an action: many small words, by nobody who means harm.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

type Rest = (usize, Vec<Test>, Vec<(u32, Term)>);

/// Makes one relation.
pub struct Expansion<'e, 'a> {
    pub space: &'e mut Space<'a>,
    pub diagrams: &'e mut Diagrams,
    cells: Vec<u32>,
    memo: HashMap<Rest, Relation, BuildHasherDefault<Quick>>,
    edges: usize,
    /// So much memory must be left.
    least: usize,
}

impl<'e, 'a> Expansion<'e, 'a> {
    /// The relation of a factor, for all values that are known of its cells.
    pub fn relation(space: &'e mut Space<'a>, diagrams: &'e mut Diagrams, factor: &Factor) -> Result<Relation, Failed> {
        let mut cells = factor.cells.clone();
        cells.sort_by_key(|cell| space.level(*cell));
        let budget = diagrams.budget();
        let least = match budget.memory() {
            ..SMALL => 0,
            memory => budget.left().saturating_sub(memory / MOST_MEMORY).max(1),
        };
        let mut expansion = Expansion { space, diagrams, cells, memo: HashMap::default(), edges: 0, least };
        let Some(tests) = settle(factor.tests.clone()) else { return Ok(Relation::EMPTY) };
        expansion.rest((0, tests, factor.sets.clone()))
    }

    fn rest(&mut self, rest: Rest) -> Result<Relation, Failed> {
        let Some(&cell) = self.cells.get(rest.0) else { return Ok(Relation::IDENTITY) };
        if let Some(known) = self.memo.get(&rest) {
            return Ok(*known);
        }
        let (at, tests, sets) = &rest;
        let mut edges: Vec<(u32, u32, Relation)> = Vec::new();
        for value in self.space.known(cell).to_vec() {
            let from = self.space.number(cell, value);
            let Some(tests) = put_tests(tests, cell, value) else { continue };
            let Some((mut sets, target)) = put_sets(sets, cell, value) else { continue };
            let target = target.unwrap_or(Term::Const(value));
            if let Term::Const(to) = target {
                let below = self.rest((at + 1, tests, std::mem::take(&mut sets)))?;
                self.edge(&mut edges, from, cell, to, below)?;
                continue;
            }
            for to in self.possible(&target)? {
                let equal = Term::binary(BinaryOp::Equal, target.clone(), Term::Const(to));
                let mut tests = tests.clone();
                tests.push(Test::Holds(equal));
                if let Some(tests) = settle(tests) {
                    let below = self.rest((at + 1, tests, sets.clone()))?;
                    self.edge(&mut edges, from, cell, to, below)?;
                }
            }
        }
        edges.sort_unstable();
        let made = self.diagrams.relation_node(self.space.level(cell), &edges)?;
        self.memo.insert(rest, made);
        Ok(made)
    }

    fn edge(
        &mut self,
        edges: &mut Vec<(u32, u32, Relation)>,
        from: u32,
        cell: u32,
        to: i64,
        below: Relation,
    ) -> Result<(), Failed> {
        self.edges += 1;
        let looks = self.edges.is_multiple_of(LOOK);
        if self.edges > MOST_EDGES || looks && self.diagrams.budget().left() < self.least {
            return Err(Failed::Large);
        }
        if !below.is_empty() {
            edges.push((from, self.space.number(cell, to), below));
        }
        Ok(())
    }

    /// The values that a term can have.
    fn possible(&self, term: &Term) -> Result<Vec<i64>, Failed> {
        let cells = term.support();
        let tried = cells.iter().fold(1usize, |n, cell| n.saturating_mul(self.space.known(*cell).len()));
        if tried > MOST_TRIED {
            return Err(Failed::Large);
        }
        let mut values = Vec::new();
        let mut at = vec![0usize; cells.len()];
        if tried == 0 {
            return Ok(values);
        }
        loop {
            let read = |cell: u32| match cells.binary_search(&cell) {
                Ok(place) => self.space.known(cell)[at[place]],
                Err(_) => 0,
            };
            values.extend(term.eval(&read));
            let more = (0..cells.len()).find(|&place| {
                at[place] += 1;
                let wraps = at[place] == self.space.known(cells[place]).len();
                if wraps {
                    at[place] = 0;
                }
                !wraps
            });
            if more.is_none() {
                break;
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }
}

/// The tests that are still open; `None` where one has failed.
fn settle(tests: Vec<Test>) -> Option<Vec<Test>> {
    let mut open = Vec::with_capacity(tests.len());
    for test in tests {
        match test.decided() {
            Decided::Failed => return None,
            Decided::Passed => {}
            Decided::Open => open.push(test),
        }
    }
    Some(open)
}

fn put_tests(tests: &[Test], cell: u32, value: i64) -> Option<Vec<Test>> {
    let mut open = Vec::with_capacity(tests.len());
    for test in tests {
        let Some(term) = test.term().with(cell, value) else {
            open.push(test.clone());
            continue;
        };
        let test = test.of(term);
        match test.decided() {
            Decided::Failed => return None,
            Decided::Passed => {}
            Decided::Open => open.push(test),
        }
    }
    Some(open)
}

/// What is assigned to the other cells, and to this one if anything is; `None` where one is a fault.
#[allow(clippy::type_complexity)]
fn put_sets(sets: &[(u32, Term)], cell: u32, value: i64) -> Option<(Vec<(u32, Term)>, Option<Term>)> {
    let (mut rest, mut own) = (Vec::with_capacity(sets.len()), None);
    for (target, term) in sets {
        let term = term.with(cell, value).unwrap_or_else(|| term.clone());
        if let Term::Fault(_) = term {
            return None;
        }
        match *target == cell {
            true => own = Some(term),
            false => rest.push((*target, term)),
        }
    }
    Some((rest, own))
}
