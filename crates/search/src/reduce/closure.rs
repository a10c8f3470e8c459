//! Strong stubborn sets by closure.

use scrimp_system::EventId;
use scrimp_system::dependence::Dependence;
use std::sync::Arc;

/// Scratch memory of one thread.
pub struct Closure {
    dependence: Arc<Dependence>,
    visible: Arc<[bool]>,
    is_enabled: Vec<bool>,
    inside: Vec<u32>,
    stamp: u32,
    best: u32,
    work: Vec<u32>,
}

impl Closure {
    pub fn new(dependence: Arc<Dependence>, visible: Arc<[bool]>) -> Closure {
        let events = dependence.events();
        Closure {
            dependence,
            visible,
            is_enabled: vec![false; events],
            inside: vec![0; events],
            stamp: 0,
            best: 0,
            work: Vec::new(),
        }
    }

    pub fn contains(&self, event: u32) -> bool {
        self.inside[event as usize] == self.best
    }

    pub fn is_enabled(&self, event: u32, state: &[u8]) -> bool {
        self.dependence.guards(EventId(event)).iter().all(|&guard| self.dependence.holds(guard, state))
    }

    pub fn choose(&mut self, state: &[u8], enabled: &[u32], leads: &[u32]) -> bool {
        enabled.iter().for_each(|&e| self.is_enabled[e as usize] = true);
        let mut fewest = enabled.len();
        let mut seed_of_best = None;
        for &seed in leads {
            if let Some(count) = self.close(state, seed, fewest) {
                fewest = count;
                seed_of_best = Some(seed);
                if count == 1 {
                    break;
                }
            }
        }
        let found = seed_of_best.is_some_and(|seed| self.close(state, seed, usize::MAX).is_some());
        self.best = self.stamp;
        enabled.iter().for_each(|&e| self.is_enabled[e as usize] = false);
        found
    }

    fn close(&mut self, state: &[u8], seed: u32, limit: usize) -> Option<usize> {
        let Closure { dependence, visible, is_enabled, inside, stamp, work, .. } = self;
        *stamp += 1;
        work.clear();
        let mut count = 0;
        let mut add = |event: u32, work: &mut Vec<u32>, inside: &mut Vec<u32>| {
            if inside[event as usize] == *stamp {
                return true;
            }
            inside[event as usize] = *stamp;
            work.push(event);
            if is_enabled[event as usize] {
                count += 1;
                return !visible[event as usize] && count < limit;
            }
            true
        };
        if !add(seed, work, inside) {
            return None;
        }
        while let Some(event) = work.pop() {
            if is_enabled[event as usize] {
                for &other in dependence.conflicts(EventId(event)) {
                    if !add(other, work, inside) {
                        return None;
                    }
                }
                continue;
            }
            let missing = dependence.guards(EventId(event)).iter().filter(|guard| !dependence.holds(**guard, state));
            let cost =
                |guard: u32| dependence.enabling(guard).iter().filter(|e| inside[**e as usize] != *stamp).count();
            let cheapest = missing.min_by_key(|guard| cost(**guard))?;
            for &other in dependence.enabling(*cheapest) {
                if !add(other, work, inside) {
                    return None;
                }
            }
        }
        Some(count)
    }
}
