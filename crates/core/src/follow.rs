//! Which runs look like what was observed? All places are followed in which a run may be, observation after observation.
//!
//! Steps that nobody saw are gone between two observations, as many as are allowed. How a place was reached is kept as a tree
//! of steps that point back. A branch that comes to nothing is taken away at once, so that hardly more than one run is kept.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Where a run may be. What the number means is the ground's own business.
pub type Place = u64;

/// A step from a place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Where it leads.
    pub to: Place,
    /// How many observations it accounts for; none, where nobody saw it.
    pub seen: u32,
    /// Which step of its place it is.
    pub choice: u32,
    /// How it was seen: the ground's own number.
    pub how: u32,
}

/// What runs go over.
pub trait Ground {
    /// Why it cannot be gone on.
    type Error;

    /// Appends the steps from a place, where so many observations are accounted for.
    fn ways(&mut self, place: Place, matched: u64, out: &mut Vec<Way>) -> Result<(), Self::Error>;
}

/// What became of the next observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Some step accounts for it.
    Matched,
    /// No step does.
    Stuck,
    /// There are too many places to follow.
    TooMany,
}

/// A run to a place: which of the starts it begins at, and each step by its choice and how it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The number of the start.
    pub start: u32,
    /// The steps, the first one first.
    pub steps: Vec<(u32, u32)>,
}

/// Follows all places.
pub struct Follower {
    /// So many steps may be gone between two observations that nobody saw; any number, without this.
    between: Option<u32>,
    /// So many places are followed at once.
    most: usize,
    /// The places by how many observations more than now are accounted for there.
    layers: VecDeque<Layer>,
    tree: Tree,
    matched: u64,
    peak: usize,
    ways: Vec<Way>,
}

#[derive(Default)]
struct Layer {
    known: HashSet<Place, BuildHasherDefault<PlaceHasher>>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    place: Place,
    node: u32,
    /// Steps since the last observation.
    depth: u32,
}

impl Follower {
    /// Begins at some places.
    pub fn new(starts: impl IntoIterator<Item = Place>, between: Option<u32>, most: usize) -> Follower {
        let (mut first, mut tree) = (Layer::default(), Tree::default());
        for (number, place) in starts.into_iter().enumerate() {
            if first.known.insert(place) {
                let node = tree.add(NOWHERE, number as u32, 0);
                first.entries.push(Entry { place, node, depth: 0 });
            }
        }
        let peak = first.entries.len();
        Follower { between, most, layers: VecDeque::from([first]), tree, matched: 0, peak, ways: Vec::new() }
    }

    /// How many observations are accounted for.
    pub fn matched(&self) -> u64 {
        self.matched
    }

    /// The most places that were followed at once.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// The places where runs may be, each with how many steps nobody saw on the way there since the last observation. Once
    /// the follower is stuck, those are among them that were reached unseen.
    pub fn places(&self) -> impl Iterator<Item = (Place, u32)> + '_ {
        self.layers.front().into_iter().flat_map(|layer| layer.entries.iter().map(|entry| (entry.place, entry.depth)))
    }

    /// The run to the place with this number among them.
    pub fn run(&self, number: usize) -> Option<Followed> {
        let entry = self.layers.front()?.entries.get(number)?;
        Some(self.tree.run(entry.node))
    }

    /// All places that matter, also those where more observations are accounted for.
    pub fn all(&self) -> Vec<Place> {
        self.layers.iter().flat_map(|layer| layer.entries.iter().map(|entry| entry.place)).collect()
    }

    /// Calls all of them by other numbers. Not once it is stuck.
    pub fn rename(&mut self, mut name: impl FnMut(Place) -> Place) {
        for layer in &mut self.layers {
            layer.known.clear();
            for entry in &mut layer.entries {
                entry.place = name(entry.place);
                layer.known.insert(entry.place);
            }
        }
    }

    /// Looks for steps that account for what was observed next.
    pub fn follow<G: Ground>(&mut self, ground: &mut G) -> Result<Next, G::Error> {
        let mut ways = std::mem::take(&mut self.ways);
        let spread = self.spread(ground, &mut ways);
        ways.clear();
        self.ways = ways;
        if !spread? {
            return Ok(Next::TooMany);
        }
        let Some(on) = (1..self.layers.len()).find(|&ahead| !self.layers[ahead].entries.is_empty()) else {
            return Ok(Next::Stuck);
        };
        for layer in self.layers.drain(..on) {
            layer.entries.iter().for_each(|entry| self.tree.release(entry.node));
        }
        self.matched += on as u64;
        Ok(Next::Matched)
    }

    /// Goes from every place, and on from where nobody saw it come; `false` where there are too many.
    fn spread<G: Ground>(&mut self, ground: &mut G, ways: &mut Vec<Way>) -> Result<bool, G::Error> {
        let mut next = 0;
        while let Some(Entry { place, node, depth }) = self.layers[0].entries.get(next).copied() {
            next += 1;
            ways.clear();
            ground.ways(place, self.matched, ways)?;
            for way in ways.iter() {
                let depth = if way.seen == 0 { depth + 1 } else { 0 };
                if depth > 0 && self.between.is_some_and(|between| depth > between) {
                    continue;
                }
                while self.layers.len() <= way.seen as usize {
                    self.layers.push_back(Layer::default());
                }
                let layer = &mut self.layers[way.seen as usize];
                if layer.known.insert(way.to) {
                    let node = self.tree.add(node, way.choice, way.how);
                    layer.entries.push(Entry { place: way.to, node, depth });
                }
            }
            let held = self.layers.iter().map(|layer| layer.entries.len()).sum();
            self.peak = self.peak.max(held);
            if held > self.most || self.tree.is_full() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

const NOWHERE: u32 = u32::MAX;

/// The steps that led to the places that matter.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The first of the nodes that nobody needs, each of which names the next as its parent.
    free: Option<u32>,
}

struct Node {
    parent: u32,
    choice: u32,
    how: u32,
    /// Who needs it: places and later steps.
    needed: u32,
}

impl Tree {
    /// Another step, which one place needs.
    fn add(&mut self, parent: u32, choice: u32, how: u32) -> u32 {
        if parent != NOWHERE {
            self.nodes[parent as usize].needed += 1;
        }
        let node = Node { parent, choice, how, needed: 1 };
        match self.free {
            Some(number) => {
                let next = std::mem::replace(&mut self.nodes[number as usize], node).parent;
                self.free = (next != NOWHERE).then_some(next);
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// A place does not matter any more, and perhaps what led there.
    fn release(&mut self, mut number: u32) {
        while number != NOWHERE {
            let node = &mut self.nodes[number as usize];
            node.needed -= 1;
            if node.needed > 0 {
                return;
            }
            let parent = std::mem::replace(&mut node.parent, self.free.unwrap_or(NOWHERE));
            self.free = Some(number);
            number = parent;
        }
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

    fn is_full(&self) -> bool {
        self.nodes.len() >= (u32::MAX - 1) as usize && self.free.is_none()
    }
}

/// Mixes the one number that a place is.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that goes up by one or by two; what is observed is where it is.
    struct Counter {
        observed: Vec<u64>,
    }

    impl Ground for Counter {
        type Error = ();

        fn ways(&mut self, place: Place, matched: u64, out: &mut Vec<Way>) -> Result<(), ()> {
            for step in 1..=2 {
                let to = place + step;
                let way = Way { to, seen: 0, choice: step as u32, how: 0 };
                if self.observed.get(matched as usize) == Some(&to) {
                    out.push(Way { seen: 1, how: 1, ..way });
                }
                out.push(way);
            }
            Ok(())
        }
    }

    fn follow(observed: &[u64], between: Option<u32>) -> (Next, Follower) {
        let mut ground = Counter { observed: observed.to_vec() };
        let mut follower = Follower::new([0], between, 1000);
        let mut next = Next::Matched;
        while next == Next::Matched && follower.matched() < observed.len() as u64 {
            next = follower.follow(&mut ground).unwrap();
        }
        (next, follower)
    }

    #[test]
    fn every_step_is_observed() {
        let (next, follower) = follow(&[1, 3, 4], Some(0));
        assert_eq!((next, follower.run(0).unwrap().steps), (Next::Matched, vec![(1, 1), (2, 1), (1, 1)]));
        let (next, follower) = follow(&[1, 3, 6], Some(0));
        assert_eq!((next, follower.matched()), (Next::Stuck, 2));
    }

    #[test]
    fn steps_between_are_as_few_as_they_may() {
        assert_eq!(follow(&[5, 10], Some(2)).0, Next::Matched);
        assert_eq!(follow(&[5, 10], Some(1)).0, Next::Stuck);
        assert_eq!(follow(&[4, 7], Some(1)).0, Next::Matched);
        let (_, follower) = follow(&[4, 7], Some(1));
        assert_eq!(follower.run(0).unwrap().steps.iter().filter(|(_, how)| *how == 0).count(), 2);
        assert_eq!(follow(&[100_000], None).0, Next::TooMany);
    }

    #[test]
    fn what_comes_to_nothing_is_forgotten() {
        let observed: Vec<u64> = (1..=10_000).map(|i| 2 * i).collect();
        let (next, follower) = follow(&observed, Some(1));
        assert_eq!((next, follower.matched()), (Next::Matched, 10_000));
        assert!(follower.tree.nodes.len() < 30_000, "{}", follower.tree.nodes.len());
        assert_eq!(follower.run(0).unwrap().steps.iter().map(|(by, _)| u64::from(*by)).sum::<u64>(), 20_000);
    }
}
