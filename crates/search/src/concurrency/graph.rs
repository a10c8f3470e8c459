//! A small graph as a model, and what is true of it.

use scrimp_system::{Batch, EventCode, Model, Random};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// This state is all zeros where it has two bytes, as is memory in which no state was written yet.
const ZERO: u8 = 21;

/// State 0 is the initial one. A state is its number, part of it in the first byte and the rest in the last, so that states
/// have halves in common.
pub struct Graph {
    pub lists: Vec<Vec<u8>>,
    bytes: usize,
    /// How often each state was expanded.
    expanded: Vec<AtomicUsize>,
    /// What happens besides when a state is expanded.
    hook: Box<dyn Fn(u8) + Send + Sync>,
}

impl Graph {
    pub fn new(lists: Vec<Vec<u8>>, bytes: usize) -> Graph {
        let expanded = lists.iter().map(|_| AtomicUsize::new(0)).collect();
        Graph { lists, bytes, expanded, hook: Box::new(|_| ()) }
    }

    /// Up to three edges from each of so many states.
    pub fn random(states: usize, bytes: usize, seed: u64) -> Graph {
        let mut random = Random(seed);
        let mut list = |_| (0..random.below(3) + 1).map(|_| random.below(states) as u8).collect();
        Graph::new((0..states).map(&mut list).collect(), bytes)
    }

    /// The same, doing this besides when a state is expanded.
    pub fn with(self, hook: impl Fn(u8) + Send + Sync + 'static) -> Graph {
        Graph { hook: Box::new(hook), ..self }
    }

    pub fn state(&self, number: u8) -> Vec<u8> {
        let mut state = vec![1; self.bytes];
        (state[0], state[self.bytes - 1]) = ((number ^ ZERO) & 3, (number ^ ZERO) >> 2);
        state
    }

    pub fn number(&self, state: &[u8]) -> u8 {
        (state[0] | state[self.bytes - 1] << 2) ^ ZERO
    }

    /// The reachable states with their distances.
    pub fn reachable(&self) -> BTreeMap<u8, u32> {
        let (mut found, mut at) = (vec![0], 0);
        let mut distances = BTreeMap::from([(0, 0)]);
        while at < found.len() {
            let further = distances[&found[at]] + 1;
            for &next in &self.lists[found[at] as usize] {
                distances.entry(next).or_insert_with(|| {
                    found.push(next);
                    further
                });
            }
            at += 1;
        }
        distances
    }

    /// Was nothing expanded that is further away than this state?
    pub fn assert_none_beyond(&self, state: u8) {
        let distances = self.reachable();
        assert!(self.expansions().into_iter().all(|other| distances[&other] <= distances[&state]));
    }

    /// The states that were expanded, each as often as it was, in ascending order.
    pub fn expansions(&self) -> Vec<u8> {
        let often = |(state, times): (usize, &AtomicUsize)| vec![state as u8; times.load(Ordering::Relaxed)];
        self.expanded.iter().enumerate().flat_map(often).collect()
    }
}

impl Model for Graph {
    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&self.state(0), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let number = self.number(state);
        self.expanded[number as usize].fetch_add(1, Ordering::Relaxed);
        (self.hook)(number);
        for (event, &next) in self.lists[number as usize].iter().enumerate() {
            out.push(&self.state(next), event as EventCode);
        }
    }
}
