//! An action as a relation, and what is still to be learnt of it.
//!
//! Factors of few combinations have their whole relation from the start. Of the others only the vectors that occur are
//! looked at: a rule is shown sets of states, takes up what is new in them, and is exact for all that it was shown.

use crate::action::{Action, Test};
use crate::diagram::{Diagrams, Halt, Relation, Set};
use crate::expand::{Expansion, Factor, Failed, factors};
use crate::space::Space;

/// Vectors that are looked at in one go.
const GO: usize = 1 << 16;

/// An action with its relation.
pub struct Rule {
    /// What is known of the relation, which is all of it unless it has something to learn.
    pub relation: Relation,
    /// The cells that it touches.
    pub cells: Vec<u32>,
    /// The part of it that is known for good.
    fixed: Relation,
    listed: Vec<Listed>,
}

/// A factor that is learnt from the vectors that occur.
struct Listed {
    factor: Factor,
    levels: Vec<usize>,
    /// The vectors that were looked at.
    seen: Set,
    relation: Relation,
}

impl Rule {
    /// The relation of an action; what is too large is left to be learnt.
    pub fn new(space: &mut Space, diagrams: &mut Diagrams, action: &Action) -> Result<Rule, Halt> {
        let mut rule =
            Rule { relation: Relation::IDENTITY, cells: Vec::new(), fixed: Relation::IDENTITY, listed: Vec::new() };
        for factor in factors(action) {
            rule.cells.extend(&factor.cells);
            match Expansion::relation(space, diagrams, &factor) {
                Ok(relation) => rule.fixed = diagrams.join(rule.fixed, relation)?,
                Err(Failed::Halt(halt)) => return Err(halt),
                Err(Failed::Large) => {
                    let mut factor = factor;
                    factor.cells.sort_by_key(|cell| space.level(*cell));
                    let levels = factor.cells.iter().map(|cell| space.level(*cell)).collect();
                    rule.listed.push(Listed { factor, levels, seen: Set::EMPTY, relation: Relation::EMPTY });
                }
            }
        }
        rule.cells.sort_unstable();
        rule.relation = if rule.listed.is_empty() { rule.fixed } else { Relation::EMPTY };
        Ok(rule)
    }

    /// Can it never happen, whatever there is to learn?
    pub fn is_impossible(&self) -> bool {
        self.fixed.is_empty()
    }

    /// Has it anything to learn?
    pub fn learns(&self) -> bool {
        !self.listed.is_empty()
    }

    /// The sets and relations that it needs.
    pub fn roots(&self, sets: &mut Vec<Set>, relations: &mut Vec<Relation>) {
        relations.extend([self.relation, self.fixed]);
        for listed in &self.listed {
            sets.push(listed.seen);
            relations.push(listed.relation);
        }
    }

    /// Takes up what is new in these states. Says whether there was anything.
    pub fn learn(&mut self, space: &mut Space, diagrams: &mut Diagrams, states: Set) -> Result<bool, Halt> {
        if self.listed.is_empty() || self.fixed.is_empty() {
            return Ok(false);
        }
        // Where another factor forbids it there is nothing to be learnt.
        let candidates = diagrams.domain(states, self.fixed)?;
        let mut learnt = false;
        for listed in &mut self.listed {
            let shown = diagrams.project(candidates, &listed.levels)?;
            let new = diagrams.minus(shown, listed.seen)?;
            if new.is_empty() {
                continue;
            }
            let mut relation = listed.relation;
            let mut vectors: Vec<Vec<u32>> = Vec::new();
            let mut left = new;
            while !left.is_empty() {
                vectors.clear();
                diagrams.vectors(left, &mut |vector| {
                    vectors.push(vector.to_vec());
                    vectors.len() < GO
                });
                let pairs = listed.factor.pairs(space, &vectors);
                let more = diagrams.relation(&listed.levels, &pairs)?;
                relation = diagrams.unite(relation, more)?;
                if vectors.len() < GO {
                    break;
                }
                let done = diagrams.of_vectors(&mut vectors)?;
                left = diagrams.minus(left, done)?;
            }
            listed.seen = diagrams.union(listed.seen, new)?;
            listed.relation = relation;
            learnt = true;
        }
        if learnt {
            let mut relation = self.fixed;
            for listed in &self.listed {
                relation = diagrams.join(relation, listed.relation)?;
            }
            self.relation = relation;
        }
        Ok(learnt)
    }
}

impl Factor {
    /// What becomes of those of these vectors that pass the tests.
    fn pairs(&self, space: &mut Space, vectors: &[Vec<u32>]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let mut pairs = Vec::new();
        let mut values = vec![0; self.cells.len()];
        let place = |cell: u32| self.cells.iter().position(|c| *c == cell);
        let targets: Vec<Option<usize>> = self.sets.iter().map(|(cell, _)| place(*cell)).collect();
        'next: for vector in vectors {
            for (at, cell) in self.cells.iter().enumerate() {
                values[at] = space.value(*cell, vector[at]);
            }
            let read = |cell: u32| place(cell).map_or(0, |at| values[at]);
            let passed = |test: &Test| match (test, test.term().eval(&read)) {
                (Test::Holds(_), Ok(value)) => value != 0,
                (Test::Fails(_), Ok(value)) => value == 0,
                (Test::Defined(_), value) => value.is_ok(),
                (Test::Faults(_), value) => value.is_err(),
                _ => false,
            };
            if !self.tests.iter().all(passed) {
                continue;
            }
            let mut after = vector.clone();
            for ((cell, term), target) in self.sets.iter().zip(&targets) {
                let (Ok(value), Some(target)) = (term.eval(&read), target) else { continue 'next };
                after[*target] = space.number(*cell, value);
            }
            pairs.push((vector.clone(), after));
        }
        pairs
    }
}
