//! Steps of a process that goes on by itself, followed to the states where everybody may move again.
//!
//! What such a process passes through are no states of the model. A [`Walk`] visits them depth first and tells what it
//! meets: outcomes, each a successor of the state where it began, and faults. Every way is an outcome of its own, even if
//! two lead to the same state. Where a way comes back to where it was, or there are very many of them, states that were
//! passed through already are not passed through again: then every outcome is still met, but not on every way. A process
//! that passes through millions, as one that counts for ever would, is given up with a fault.

use crate::NativeModel;
use crate::program::Program;
use scrimp_system::{Batch, EventCode, Fault, FaultRecord, Then};
use std::cell::RefCell;
use std::collections::HashSet;

/// Once so many times as many are remembered, it is taken for certain that there is no end to it.
const PATIENCE: usize = 10;

/// From this length on, a way is watched for coming back to where it was.
const LONG: usize = 64;

/// Alternatives at one point of the way: the places of a [`Walk`]'s stack from `next` to `end` are still to be tried, and
/// the one before `next` is where the way goes on at the moment.
struct Fork {
    start: usize,
    next: usize,
    end: usize,
}

/// What a walk meets.
pub enum Met<'w> {
    /// The way ends in a state where everybody may move.
    Outcome(&'w [u8]),
    /// The way ends, or goes on after a violated assertion.
    Fault(FaultRecord),
}

/// Memory of a walk, reused for the next.
pub struct Walk {
    /// Lent to who sets out on walks.
    firsts: Option<Batch>,
    stack: Batch,
    forks: Vec<Fork>,
    current: Vec<u8>,
    steps: usize,
    /// A point of the way at this depth, to be recognised; 0 when there is none.
    landmark_depth: usize,
    landmark: Vec<u8>,
    /// What was passed through since that is remembered, with who goes on.
    visited: Option<HashSet<Vec<u8>>>,
}

thread_local! {
    static WALK: RefCell<Option<Walk>> = const { RefCell::new(None) };
}

/// Lends the thread's walk.
pub fn with_walk<T>(state_bytes: usize, run: impl FnOnce(&mut Walk) -> T) -> T {
    WALK.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|walk| walk.stack.state_bytes() != state_bytes) {
            *kept = Some(Walk::new(state_bytes));
        }
        run(kept.as_mut().expect("just made"))
    })
}

impl Walk {
    fn new(state_bytes: usize) -> Walk {
        Walk {
            firsts: None,
            stack: Batch::new(state_bytes),
            forks: Vec::new(),
            current: Vec::new(),
            steps: 0,
            landmark_depth: 0,
            landmark: Vec::new(),
            visited: None,
        }
    }

    /// An empty batch for the steps that walks set out with.
    pub fn take_firsts(&mut self) -> Batch {
        self.firsts.take().unwrap_or_else(|| Batch::new(self.stack.state_bytes()))
    }

    pub fn give_firsts(&mut self, mut firsts: Batch) {
        firsts.clear();
        self.firsts = Some(firsts);
    }

    /// Sets out anew, with nothing remembered.
    pub fn begin(&mut self) {
        self.steps = 0;
        self.visited = None;
    }

    /// Follows what comes after the step `code`, which has led to `state`, until `meet` has met enough.
    pub fn run(
        &mut self,
        model: &NativeModel,
        code: EventCode,
        state: &[u8],
        mut meet: impl FnMut(&Walk, Met) -> bool,
    ) -> bool {
        let (engine, program) = (&model.engine, &*model.program);
        self.stack.clear();
        self.forks.clear();
        self.landmark_depth = 0;
        self.stack.push(state, code);
        self.forks.push(Fork { start: 0, next: 0, end: 1 });
        while let Some(fork) = self.forks.last_mut() {
            if fork.next == fork.end {
                self.stack.truncate(fork.start);
                self.forks.pop();
                continue;
            }
            let at = fork.next;
            fork.next += 1;
            let code = self.stack.event(at);
            let then = program.then(code);
            let (Then::Atomic(process) | Then::DStep(process)) = then else {
                if !meet(self, Met::Outcome(self.stack.state(at))) {
                    return false;
                }
                continue;
            };
            if !self.pass(at, then, model.limits.steps) {
                continue;
            }
            if self.visited.as_ref().is_some_and(|visited| visited.len() > PATIENCE * model.limits.steps) {
                return self.end_in(program, code, Fault::Endless, &mut meet);
            }
            let bound = matches!(then, Then::DStep(_));
            let start = self.stack.len();
            engine.expand_held(process, &self.current, &mut self.stack);
            let moved = self.stack.len() > start || !self.stack.faults().is_empty();
            if let Some(watch) = &model.watch {
                (start..self.stack.len()).for_each(|i| watch.happened(program, self.stack.event(i)));
                self.stack.faults().iter().for_each(|record| watch.happened(program, record.event));
            }
            if !self.tell_faults(&mut meet) {
                return false;
            }
            if !moved {
                let go_on = if bound {
                    self.end_in(program, code, Fault::Stuck, &mut meet)
                } else {
                    meet(self, Met::Outcome(&self.current))
                };
                if !go_on {
                    return false;
                }
                continue;
            }
            self.forks.push(Fork { start, next: start, end: self.stack.len() });
        }
        true
    }

    /// Tells that the step made last was one too many.
    fn end_in(
        &mut self,
        program: &Program,
        code: EventCode,
        fault: Fault,
        meet: &mut impl FnMut(&Walk, Met) -> bool,
    ) -> bool {
        let event = program.parts(code).0.unwrap_or(code);
        let event = program.followers(event).last().copied().unwrap_or(event);
        meet(self, Met::Fault(FaultRecord { event, fault }))
    }

    /// Tells of the faults of the steps tried last.
    fn tell_faults(&mut self, meet: &mut impl FnMut(&Walk, Met) -> bool) -> bool {
        let go_on = (0..self.stack.faults().len()).all(|i| meet(self, Met::Fault(self.stack.faults()[i])));
        self.stack.clear_faults();
        go_on
    }

    /// The way from where the walk set out, the first step included.
    pub fn way(&self) -> Vec<(EventCode, Vec<u8>)> {
        let here = |fork: &Fork| (self.stack.event(fork.next - 1), self.stack.state(fork.next - 1).to_vec());
        self.forks.iter().map(here).collect()
    }

    /// Makes the state at this place the current one, unless it is known that nothing new comes of it.
    fn pass(&mut self, at: usize, then: Then, many: usize) -> bool {
        let Walk { stack, forks, current, steps, landmark_depth, landmark, visited, .. } = self;
        let state = stack.state(at);
        current.clear();
        current.extend_from_slice(state);
        *steps += 1;
        let depth = forks.len();
        if depth <= *landmark_depth {
            *landmark_depth = 0;
        }
        if visited.is_none() {
            let returned = *landmark_depth > 0 && is_key(landmark, state, then);
            if *steps > many || returned {
                *visited = Some(HashSet::new());
            } else if depth >= LONG && depth.is_power_of_two() {
                *landmark_depth = depth;
                *landmark = key(state, then);
            }
        }
        visited.as_mut().is_none_or(|visited| visited.insert(key(state, then)))
    }
}

/// Who goes on after it, as bytes.
fn mark(then: Then) -> [u8; 5] {
    let (kind, process) = match then {
        Then::Free => (0, 0),
        Then::Atomic(process) => (1, process.0),
        Then::DStep(process) => (2, process.0),
    };
    let [a, b, c, d] = process.to_le_bytes();
    [kind, a, b, c, d]
}

fn key(state: &[u8], then: Then) -> Vec<u8> {
    [state, &mark(then)].concat()
}

fn is_key(key: &[u8], state: &[u8], then: Then) -> bool {
    key.strip_prefix(state).is_some_and(|rest| rest == mark(then))
}
