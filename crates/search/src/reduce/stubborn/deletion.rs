//! Sets of events by deletion: from the set of all, one event after the other goes, with all that cannot stay without it.
//!
//! An event with a successor cannot stay without its conflicts; one that is not enabled cannot stay without some guard that
//! does not hold and whose enabling events are all there. What is left when nothing more may go is a set of which no part
//! would do, as far as these rules tell. It takes time in the size of the system for every event that is tried.

use super::look::Look;
use super::places::Aim;
use scrimp_system::{Dependence, EventId, Guard};

/// Memory for one thread.
#[derive(Debug)]
pub(super) struct Deletion {
    /// For each event, the guards that it can make true.
    enables: Vec<Vec<Guard>>,
    /// For each guard, the events that have it.
    guarded: Vec<Vec<u32>>,
    /// For each event, whether it is in the set.
    there: Vec<bool>,
    /// For each event that is not enabled, how many of its guards do not hold and have all they need; for others, `ENABLED`.
    choices: Vec<u32>,
    /// For each guard, how many of its enabling events are gone.
    gone: Vec<u32>,
    /// Which guards do not hold.
    missing: Vec<bool>,
    /// Must not go.
    fixed: Vec<bool>,
    /// What was deleted, in order.
    trail: Vec<u32>,
    /// What may be deleted, in order.
    order: Vec<u32>,
}

const ENABLED: u32 = u32::MAX;

impl Deletion {
    pub fn new(dependence: &Dependence) -> Deletion {
        let (events, guards) = (dependence.events(), dependence.guard_count());
        let mut enables = vec![Vec::new(); events];
        let mut guarded = vec![Vec::new(); guards];
        for guard in 0..guards as Guard {
            let early = |event: &&u32| !dependence.system().events[**event as usize].late;
            dependence.enabling(guard).iter().filter(early).for_each(|&event| enables[event as usize].push(guard));
        }
        for event in 0..events as u32 {
            dependence.guards(EventId(event)).iter().for_each(|&guard| guarded[guard as usize].push(event));
        }
        Deletion {
            enables,
            guarded,
            there: vec![true; events],
            choices: vec![0; events],
            gone: vec![0; guards],
            missing: vec![false; guards],
            fixed: vec![false; events],
            trail: Vec::new(),
            order: Vec::new(),
        }
    }

    /// The fewest events with successors that are left of all, where all of `base` must stay; `None` where they are not
    /// fewer than `limit`.
    pub fn find(
        &mut self,
        look: &mut Look,
        state: &[u8],
        successors: &[u32],
        base: &[u32],
        aim: Aim<'_>,
        limit: usize,
    ) -> Option<usize> {
        self.begin(aim.dependence, look, state, base);
        let mut left = successors.len();
        let may_go = |left: usize| left > 0 || !aim.key;
        if let Some(forbidden) = aim.forbidden {
            for &event in successors.iter().filter(|event| forbidden[**event as usize]) {
                if self.there[event as usize] {
                    left = self.delete(aim.dependence, look, event, left)?;
                }
            }
            if !may_go(left) {
                return None;
            }
        }
        // What has most conflicts goes first: what is left has few.
        self.order.clear();
        self.order.extend_from_slice(successors);
        self.order.sort_by_key(|event| std::cmp::Reverse(aim.dependence.conflicts(EventId(*event)).len()));
        for at in 0..self.order.len() {
            let event = self.order[at];
            if !self.there[event as usize] {
                continue;
            }
            let mark = self.trail.len();
            match self.delete(aim.dependence, look, event, left) {
                Some(fewer) if may_go(fewer) => left = fewer,
                _ => self.undo(mark),
            }
        }
        (left < limit).then_some(left)
    }

    fn begin(&mut self, dependence: &Dependence, look: &mut Look, state: &[u8], base: &[u32]) {
        self.there.fill(true);
        self.gone.fill(0);
        self.fixed.fill(false);
        self.trail.clear();
        base.iter().for_each(|&event| self.fixed[event as usize] = true);
        for guard in 0..self.missing.len() {
            self.missing[guard] = !look.holds(dependence, guard as Guard, state);
        }
        for event in 0..self.choices.len() {
            let guards = dependence.guards(EventId(event as u32));
            let missing = guards.iter().filter(|guard| self.missing[**guard as usize]).count() as u32;
            self.choices[event] = if missing == 0 { ENABLED } else { missing };
        }
    }

    /// Deletes an event and all that cannot stay without it; gives how many with successors are left. `None` where
    /// something would go that must stay: what has gone so far is on the trail.
    fn delete(&mut self, dependence: &Dependence, look: &Look, event: u32, mut left: usize) -> Option<usize> {
        let mut next = self.trail.len();
        if !self.go(event) {
            return None;
        }
        let mut possible = true;
        // Even where it is known to fail, all of the trail is worked through, so that it can be undone as it was done.
        while let Some(&gone) = self.trail.get(next) {
            next += 1;
            left -= look.is_live(gone) as usize;
            for at in 0..self.enables[gone as usize].len() {
                let guard = self.enables[gone as usize][at] as usize;
                self.gone[guard] += 1;
                if self.gone[guard] != 1 || !self.missing[guard] {
                    continue;
                }
                for at in 0..self.guarded[guard].len() {
                    let event = self.guarded[guard][at];
                    self.choices[event as usize] -= 1;
                    if self.choices[event as usize] == 0 && possible {
                        possible = self.go(event);
                    }
                }
            }
            for &other in dependence.conflicts(EventId(gone)) {
                if self.choices[other as usize] == ENABLED && possible {
                    possible = self.go(other);
                }
            }
        }
        possible.then_some(left)
    }

    /// Takes an event out; `false` where it must stay.
    fn go(&mut self, event: u32) -> bool {
        if !self.there[event as usize] {
            return true;
        }
        if self.fixed[event as usize] {
            return false;
        }
        self.there[event as usize] = false;
        self.trail.push(event);
        true
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let Some(event) = self.trail.pop() else { break };
            self.there[event as usize] = true;
            for at in 0..self.enables[event as usize].len() {
                let guard = self.enables[event as usize][at] as usize;
                self.gone[guard] -= 1;
                if self.gone[guard] == 0 && self.missing[guard] {
                    for at in 0..self.guarded[guard].len() {
                        let event = self.guarded[guard][at];
                        self.choices[event as usize] += 1;
                    }
                }
            }
        }
    }

    /// Of the events with successors, those that are left.
    pub fn keep(&self, successors: &[u32], keep: &mut Vec<u32>) {
        keep.extend(successors.iter().filter(|event| self.there[**event as usize]));
    }

    pub fn bytes(&self) -> usize {
        let lists = self.enables.iter().map(Vec::capacity).sum::<usize>()
            + self.guarded.iter().map(Vec::capacity).sum::<usize>();
        4 * (lists + self.choices.capacity() + self.gone.capacity()) + 24 * self.there.capacity()
    }
}
