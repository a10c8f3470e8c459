//! The generalised sweep-line, run on a graph that is already there: what a measure would cost.
//!
//! Open states are expanded lowest class first, in the order in which they were opened within a class. When a class is
//! done its states are forgotten, except the persistent ones. The target of an edge to a lower class, if it is not stored,
//! becomes persistent and a root of the next sweep.

use crate::measure::Measure;
use crate::order::Ranker;
use crate::sample::Sample;

/// What a sweep-line search of a graph comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sweep {
    /// Most states stored at once: open, closed and persistent.
    pub peak: usize,
    /// Most states stored at once without the closed ones of the current class: what forgetting within a class
    /// (a cache) cannot save.
    pub floor: usize,
    /// States expanded, each as often as it was.
    pub visits: usize,
    /// Persistent states in the end.
    pub persistent: usize,
    /// Most states of one class in memory at once.
    pub largest_class: usize,
    pub sweeps: usize,
    /// Regress edges of the graph.
    pub regress: usize,
    /// Given up: more visits, stored states or regress edges than were allowed.
    pub aborted: bool,
}

/// Beyond these a sweep is of no interest.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub visits: usize,
    pub peak: usize,
    pub regress: usize,
}

impl Patience {
    pub const ENDLESS: Patience = Patience { visits: usize::MAX, peak: usize::MAX, regress: usize::MAX };
}

/// The number of edges that lead to a lower class.
pub fn regress(graph: &Sample, class: &[u32]) -> usize {
    let back = |from: usize| graph.successors(from).iter().filter(move |&&to| class[to as usize] < class[from]).count();
    (0..graph.len()).map(back).sum()
}

const STORED: u8 = 1;
const PERSISTENT: u8 = 2;
const NONE: u32 = u32::MAX;

/// Memory for sweeps over one graph, used again from one to the next.
#[derive(Debug, Default)]
pub struct Sweeper {
    flags: Vec<u8>,
    /// The next state of the same class that is open.
    next: Vec<u32>,
    /// First and last open state of each class.
    queues: Vec<(u32, u32)>,
    /// Classes with open states, as bits.
    busy: Vec<u64>,
    done: Vec<u32>,
}

impl Sweeper {
    /// Sweeps over `graph`; `class` has the rank of each state's progress value, from 0 to `classes - 1`.
    pub fn run(&mut self, graph: &Sample, class: &[u32], classes: usize, patience: Patience) -> Sweep {
        self.flags.clear();
        self.flags.resize(graph.len(), 0);
        self.next.resize(graph.len(), NONE);
        self.queues.clear();
        self.queues.resize(classes, (NONE, NONE));
        self.busy.clear();
        self.busy.resize(classes.div_ceil(64), 0);
        let mut result = Sweep { regress: regress(graph, class), ..Sweep::default() };
        if result.regress > patience.regress {
            return Sweep { aborted: true, ..result };
        }
        let (mut stored, mut persistent) = (0usize, 0usize);
        let mut roots: Vec<u32> = (0..graph.initial() as u32).collect();
        for &root in &roots {
            self.flags[root as usize] = STORED;
            stored += 1;
        }
        while !roots.is_empty() {
            result.sweeps += 1;
            for root in roots.drain(..) {
                self.open(root, class[root as usize]);
            }
            let mut at = 0;
            while let Some(current) = self.lowest(at) {
                at = current;
                self.done.clear();
                let mut closed = 0;
                while let Some(state) = self.pop(current as u32) {
                    self.done.push(state);
                    result.visits += 1;
                    for &target in graph.successors(state as usize) {
                        let (t, its) = (target as usize, class[target as usize]);
                        let back = its < current as u32;
                        if self.flags[t] & STORED != 0 {
                            continue;
                        }
                        stored += 1;
                        if back {
                            self.flags[t] = STORED | PERSISTENT;
                            persistent += 1;
                            roots.push(target);
                        } else {
                            self.flags[t] = STORED;
                            self.open(target, its);
                        }
                    }
                    result.peak = result.peak.max(stored);
                    if result.peak > patience.peak {
                        break;
                    }
                    closed += (self.flags[state as usize] & PERSISTENT == 0) as usize;
                    result.floor = result.floor.max(stored - closed);
                }
                result.largest_class = result.largest_class.max(self.done.len());
                for &state in &self.done {
                    if self.flags[state as usize] & PERSISTENT == 0 {
                        self.flags[state as usize] = 0;
                        stored -= 1;
                    }
                }
                if result.visits > patience.visits || result.peak > patience.peak {
                    result.aborted = true;
                    roots.clear();
                    break;
                }
            }
        }
        result.persistent = persistent;
        result
    }

    fn open(&mut self, state: u32, class: u32) {
        let queue = &mut self.queues[class as usize];
        self.next[state as usize] = NONE;
        if queue.1 == NONE {
            *queue = (state, state);
            self.busy[class as usize / 64] |= 1 << (class % 64);
        } else {
            self.next[queue.1 as usize] = state;
            queue.1 = state;
        }
    }

    fn pop(&mut self, class: u32) -> Option<u32> {
        let queue = &mut self.queues[class as usize];
        let first = queue.0;
        if first == NONE {
            return None;
        }
        queue.0 = self.next[first as usize];
        if queue.0 == NONE {
            queue.1 = NONE;
            self.busy[class as usize / 64] &= !(1 << (class % 64));
        }
        Some(first)
    }

    /// The lowest class with open states, none being below `from`.
    fn lowest(&self, from: usize) -> Option<usize> {
        let words = self.busy.get(from / 64..)?;
        let at = words.iter().position(|&word| word != 0)?;
        Some((from / 64 + at) * 64 + words[at].trailing_zeros() as usize)
    }
}

/// The rank of each state's progress among all that occur in the graph, and how many there are.
pub fn classes(graph: &Sample, measure: &Measure) -> (Vec<u32>, usize) {
    let keys: Vec<u128> = (0..graph.len()).map(|state| measure.value(graph.state(state))).collect();
    let mut ranks = Vec::new();
    let count = Ranker::default().rank(&keys, &mut ranks);
    (ranks, count)
}
