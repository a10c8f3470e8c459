//! The search for one run, where the order of records leaves many: what accounts for most of them is gone on from first.
//!
//! Every place is gone on from once, or again where it is reached with fewer steps behind the last record that nobody
//! logged. So a search that comes to its end has looked at all places, and there is no run.

use crate::search::{Ended, Search};
use scrimp_core::follow::{Followed, Follower, Ground, Place};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// How far logs were followed.
pub(crate) struct Reached {
    /// How many records are accounted for.
    pub matched: u64,
    /// The places where that is so, each with how many steps nobody logged since the last record.
    pub places: Vec<(Place, u32)>,
    /// The run to the first of them.
    pub run: Option<Followed>,
}

impl Reached {
    pub fn of(follower: &Follower) -> Reached {
        Reached { matched: follower.matched(), places: follower.places().collect(), run: follower.run(0) }
    }
}

/// What came of it.
pub(crate) enum Outcome {
    Run(Reached),
    None(Reached),
    /// It takes too much memory.
    TooMany,
}

pub(crate) struct Ahead {
    nodes: Vec<Node>,
    /// The fewest steps that nobody logged, by place.
    known: HashMap<Place, u32>,
    /// What is to be gone on from: most records first, then fewest steps behind the last one, then what was found last.
    open: BinaryHeap<(u64, Reverse<u32>, u32)>,
    between: Option<u32>,
    matched: u64,
}

#[derive(Clone, Copy)]
struct Node {
    place: Place,
    matched: u64,
    parent: u32,
    depth: u32,
    choice: u32,
    how: u32,
}

const NOWHERE: u32 = u32::MAX;

impl Ahead {
    pub fn new(starts: Vec<Place>, between: Option<u32>) -> Ahead {
        let (nodes, known, open) = (Vec::new(), HashMap::new(), BinaryHeap::new());
        let mut ahead = Ahead { nodes, known, open, between, matched: 0 };
        for (number, place) in starts.into_iter().enumerate() {
            ahead.add(Node { place, matched: 0, parent: NOWHERE, depth: 0, choice: number as u32, how: 0 });
        }
        ahead
    }

    /// How many records some run accounts for.
    pub fn matched(&self) -> u64 {
        self.matched
    }

    /// How many places were met.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    fn add(&mut self, node: Node) {
        let fewer = |known: u32| node.depth < known && self.between.is_some();
        if self.known.get(&node.place).is_some_and(|known| !fewer(*known)) {
            return;
        }
        self.known.insert(node.place, node.depth);
        self.matched = self.matched.max(node.matched);
        self.open.push((node.matched, Reverse(node.depth), self.nodes.len() as u32));
        self.nodes.push(node);
    }

    fn bytes(&self) -> usize {
        self.nodes.capacity() * (size_of::<Node>() + 16) + self.known.capacity() * 24
    }

    /// Searches until there is a run, or no place is left.
    pub fn search(&mut self, search: &mut Search, most: usize) -> Result<Outcome, Ended> {
        let mut ways = Vec::new();
        while let Some((matched, Reverse(depth), number)) = self.open.pop() {
            let place = self.nodes[number as usize].place;
            if self.known[&place] < depth && self.between.is_some() {
                continue;
            }
            if !search.goes_on(place, matched)? {
                let run = Some(self.run(number));
                return Ok(Outcome::Run(Reached { matched, places: vec![(place, depth)], run }));
            }
            ways.clear();
            search.ways(place, matched, &mut ways)?;
            for way in &ways {
                let depth = if way.seen == 0 { depth + 1 } else { 0 };
                if depth > 0 && self.between.is_some_and(|between| depth > between) {
                    continue;
                }
                let matched = matched + u64::from(way.seen);
                self.add(Node { place: way.to, matched, parent: number, depth, choice: way.choice, how: way.how });
            }
            if self.bytes() + search.bytes() > most || self.nodes.len() > NOWHERE as usize / 2 {
                return Ok(Outcome::TooMany);
            }
        }
        Ok(Outcome::None(self.furthest()))
    }

    fn furthest(&self) -> Reached {
        let is_best = |node: &Node| node.matched == self.matched && self.known[&node.place] == node.depth;
        let mut best: Vec<usize> = (0..self.nodes.len()).filter(|number| is_best(&self.nodes[*number])).collect();
        best.sort_by_key(|number| self.nodes[*number].depth);
        let place = |number: &usize| (self.nodes[*number].place, self.nodes[*number].depth);
        let run = best.first().map(|number| self.run(*number as u32));
        Reached { matched: self.matched, places: best.iter().map(place).collect(), run }
    }

    fn run(&self, mut number: u32) -> Followed {
        let mut steps = Vec::new();
        loop {
            let Node { parent, choice, how, .. } = self.nodes[number as usize];
            if parent == NOWHERE {
                steps.reverse();
                return Followed { start: choice, steps };
            }
            steps.push((choice, how));
            number = parent;
        }
    }
}
