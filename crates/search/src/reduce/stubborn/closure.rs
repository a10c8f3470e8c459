//! Sets of events, event by event: from a seed, whatever it needs, with a good choice of which guard to look at.

use super::look::Look;
use super::places::Aim;
use scrimp_system::{Dependence, EventId, Guard};

/// What an event with a successor costs, as against one that is not enabled.
const LIVE: usize = 1000;

/// The number of no set.
const NEVER: u32 = u32::MAX;

/// Seeds that are tried in one state.
const SEEDS: usize = 12;

/// Memory for one thread.
#[derive(Debug)]
pub(super) struct Closure {
    stamp: u32,
    /// The number of the set that an event was put into last; for late events, which are in none, more than any.
    member: Vec<u32>,
    list: Vec<u32>,
    best: Vec<u32>,
    seeds: Vec<u32>,
}

impl Closure {
    pub fn new(dependence: &Dependence) -> Closure {
        let late = dependence.system().events.iter().map(|event| if event.late { NEVER } else { 0 });
        Closure { stamp: 0, member: late.collect(), list: Vec::new(), best: Vec::new(), seeds: Vec::new() }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.stamp += 1;
        if self.stamp == NEVER {
            self.member.iter_mut().filter(|member| **member != NEVER).for_each(|member| *member = 0);
            self.stamp = 1;
        }
    }

    fn insert(&mut self, event: u32) {
        let member = &mut self.member[event as usize];
        if *member < self.stamp {
            *member = self.stamp;
            self.list.push(event);
        }
    }

    /// The fewest events with successors that a set with all of `base` can have; `None` where it would not be fewer than
    /// `limit`.
    pub fn find(
        &mut self,
        look: &mut Look,
        state: &[u8],
        successors: &[u32],
        base: &[u32],
        aim: Aim<'_>,
        limit: usize,
    ) -> Option<usize> {
        self.clear();
        base.iter().for_each(|&event| self.insert(event));
        let based = self.close(look, state, aim, limit)?;
        if based > 0 || !aim.key {
            std::mem::swap(&mut self.best, &mut self.list);
            return Some(based);
        }
        let allowed = |event: &u32| aim.forbidden.is_none_or(|forbidden| !forbidden[*event as usize]);
        self.seeds.clear();
        self.seeds.extend(successors.iter().copied().filter(allowed));
        self.seeds.sort_by_key(|seed| aim.dependence.conflicts(EventId(*seed)).len());
        let mut least: Option<usize> = None;
        for at in 0..self.seeds.len().min(SEEDS) {
            self.clear();
            base.iter().for_each(|&event| self.insert(event));
            self.insert(self.seeds[at]);
            if let Some(count) = self.close(look, state, aim, least.unwrap_or(limit)) {
                least = Some(count);
                std::mem::swap(&mut self.best, &mut self.list);
                if count == 1 {
                    break;
                }
            }
        }
        least
    }

    /// Closes the set and counts its events with successors.
    fn close(&mut self, look: &mut Look, state: &[u8], aim: Aim<'_>, limit: usize) -> Option<usize> {
        let dependence = aim.dependence;
        let (mut next, mut count) = (0, 0);
        while let Some(&event) = self.list.get(next) {
            next += 1;
            let live = look.is_live(event);
            if live {
                count += 1;
                if count >= limit || aim.forbidden.is_some_and(|forbidden| forbidden[event as usize]) {
                    return None;
                }
            }
            let guard = if live { None } else { self.choose(dependence, look, state, event) };
            let needed = match guard {
                Some(guard) => dependence.enabling(guard),
                None => dependence.conflicts(EventId(event)),
            };
            needed.iter().for_each(|&event| self.insert(event));
        }
        Some(count)
    }

    /// The guard of an event that does not hold and needs least; `None` where all hold.
    fn choose(&self, dependence: &Dependence, look: &mut Look, state: &[u8], event: u32) -> Option<Guard> {
        let mut best: Option<(usize, Guard)> = None;
        for &guard in dependence.guards(EventId(event)) {
            if look.holds(dependence, guard, state) {
                continue;
            }
            let most = best.map_or(usize::MAX, |(price, _)| price);
            let mut price = 0;
            for &needed in dependence.enabling(guard) {
                if self.member[needed as usize] < self.stamp {
                    price += if look.is_live(needed) { LIVE } else { 1 };
                    if price >= most {
                        break;
                    }
                }
            }
            if price < most {
                best = Some((price, guard));
            }
            if price == 0 {
                break;
            }
        }
        best.map(|(_, guard)| guard)
    }

    /// Of the set found last, the events with successors.
    pub fn keep(&self, look: &Look, keep: &mut Vec<u32>) {
        keep.extend(self.best.iter().copied().filter(|event| look.is_live(*event)));
        keep.sort_unstable();
    }

    pub fn bytes(&self) -> usize {
        4 * (self.member.capacity() + self.list.capacity() + self.best.capacity() + self.seeds.capacity())
    }
}
