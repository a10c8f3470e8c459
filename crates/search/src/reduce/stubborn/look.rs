//! One state as the choice of events sees it: which events have successors, and which guards hold, found out when asked.

use scrimp_system::{Dependence, EventId, Guard};

/// A state, and what was found out about it so far.
#[derive(Debug)]
pub(super) struct Look {
    stamp: u32,
    guards: Vec<(u32, bool)>,
    live: Vec<u32>,
    /// The guards that were asked for, with the answers.
    looked: Vec<(Guard, bool)>,
}

impl Look {
    pub fn new(dependence: &Dependence) -> Look {
        let (guards, events) = (dependence.guard_count(), dependence.events());
        Look { stamp: 0, guards: vec![(0, false); guards], live: vec![0; events], looked: Vec::new() }
    }

    /// Turns to a state with successors by these events.
    pub fn begin(&mut self, successors: &[u32]) {
        self.looked.clear();
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.guards.fill((0, false));
            self.live.fill(0);
            self.stamp = 1;
        }
        for &event in successors {
            self.live[event as usize] = self.stamp;
        }
    }

    /// Does the event have a successor?
    #[inline]
    pub fn is_live(&self, event: u32) -> bool {
        self.live[event as usize] == self.stamp
    }

    #[inline]
    pub fn holds(&mut self, dependence: &Dependence, guard: Guard, state: &[u8]) -> bool {
        let (stamp, known) = self.guards[guard as usize];
        if stamp == self.stamp {
            return known;
        }
        let holds = dependence.holds(guard, state);
        self.guards[guard as usize] = (self.stamp, holds);
        self.looked.push((guard, holds));
        holds
    }

    /// The guards that were looked at so far, and whether they hold.
    pub fn looked(&self) -> &[(Guard, bool)] {
        &self.looked
    }

    /// Of the guards of an event that do not hold, the cheapest; `None` where all hold.
    #[inline]
    pub fn cheapest(
        &mut self,
        dependence: &Dependence,
        event: u32,
        state: &[u8],
        mut cost: impl FnMut(Guard) -> usize,
    ) -> Option<Guard> {
        let mut best: Option<(usize, Guard)> = None;
        for &guard in dependence.guards(EventId(event)) {
            if self.holds(dependence, guard, state) {
                continue;
            }
            let price = cost(guard);
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, guard));
            }
            if price == 0 {
                break;
            }
        }
        best.map(|(_, guard)| guard)
    }

    pub fn bytes(&self) -> usize {
        (self.guards.capacity() + self.looked.capacity()) * 8 + self.live.capacity() * 4
    }
}
