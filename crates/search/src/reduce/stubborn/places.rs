//! Sets of events process by process: all that some processes could do where they are.
//!
//! A set of processes is closed if it has every process that is needed by what its members could do where they are. An
//! event that is enabled needs its conflicts, one that is not needs what can make one of its guards true. An event that is
//! needed and whose own process is elsewhere is not enabled for that reason, and needs what leads its process there, and
//! so on backwards: the process where that comes to a place where somebody is now is the one that is needed. All this is
//! worked out before the search, as bits for places, so that a state costs little more than looking where processes are.

use super::look::Look;
use scrimp_system::{Dependence, EventId, Guard, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// More places are too many for tables.
const MOST_PLACES: usize = 4096;

/// More words are too large a table.
const MOST_WORDS: usize = 1 << 24;

/// The tables, for all threads.
#[derive(Debug)]
pub(super) struct Tables {
    words: usize,
    controls: Vec<VarId>,
    /// For each process and location its bit.
    bits: Vec<Vec<u32>>,
    /// For each bit the events whose first move leaves that place.
    events: Vec<Vec<u32>>,
    /// For each event, the places from which its conflicts are reached.
    conflicts: Vec<u64>,
    /// For each guard, the places from which it can become true.
    guards: Vec<u64>,
    /// For each event, the places from which it is reached.
    event_back: Vec<u32>,
    back: Vec<u64>,
}

const NOWHERE: u32 = u32::MAX;

impl Tables {
    /// `None` where there are events that belong to no process, or too many places.
    pub fn new(dependence: &Dependence) -> Option<Tables> {
        let system = dependence.system().clone();
        let mut bits: Vec<Vec<u32>> = system.processes.iter().map(|p| vec![NOWHERE; p.locations.len()]).collect();
        let mut events: Vec<Vec<u32>> = Vec::new();
        let mut place_of = Vec::with_capacity(system.events.len());
        for (number, event) in system.events.iter().enumerate() {
            let m = event.moves.first()?;
            let bit = &mut bits[m.process.index()][m.from as usize];
            if *bit == NOWHERE {
                *bit = events.len() as u32;
                events.push(Vec::new());
            }
            if !event.late {
                events[*bit as usize].push(number as u32);
            }
            place_of.push(*bit);
        }
        let words = events.len().div_ceil(64);
        let rows = events.len() + dependence.events() + dependence.guard_count();
        if events.len() > MOST_PLACES || rows.saturating_mul(words) > MOST_WORDS {
            return None;
        }
        let back = backwards(dependence, &place_of, events.len(), words)?;
        let join = |events: &[u32]| {
            let mut row = vec![0; words];
            for &event in events.iter().filter(|event| !is_late(dependence, **event)) {
                let from = place_of[event as usize] as usize * words;
                row.iter_mut().zip(&back[from..from + words]).for_each(|(a, b)| *a |= b);
            }
            row
        };
        let conflicts = (0..dependence.events() as u32).flat_map(|e| join(dependence.conflicts(EventId(e)))).collect();
        let guards = (0..dependence.guard_count() as Guard).flat_map(|g| join(dependence.enabling(g))).collect();
        let controls = system.processes.iter().map(|p| p.control).collect();
        Some(Tables { words, controls, bits, events, conflicts, guards, event_back: place_of, back })
    }

    pub fn bytes(&self) -> usize {
        8 * (self.conflicts.capacity() + self.guards.capacity() + self.back.capacity()) + 4 * self.event_back.capacity()
    }
}

fn is_late(dependence: &Dependence, event: u32) -> bool {
    dependence.system().events[event as usize].late
}

/// For each place, the places from which a process can come there.
fn backwards(dependence: &Dependence, place_of: &[u32], places: usize, words: usize) -> Option<Vec<u64>> {
    let mut guard_of: HashMap<u32, Guard> = HashMap::new();
    for (event, &place) in place_of.iter().enumerate() {
        guard_of.entry(place).or_insert(dependence.place(EventId(event as u32))?);
    }
    let before: Vec<Vec<u32>> = (0..places as u32)
        .map(|place| {
            let enabling = dependence.enabling(guard_of[&place]);
            let early = enabling.iter().filter(|event| !is_late(dependence, **event));
            let mut list: Vec<u32> = early.map(|event| place_of[*event as usize]).collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let mut back = vec![0u64; places * words];
    for place in 0..places {
        let row = &mut back[place * words..(place + 1) * words];
        let mut open = vec![place as u32];
        row[place / 64] |= 1 << (place % 64);
        while let Some(next) = open.pop() {
            for &earlier in &before[next as usize] {
                let (word, bit) = (earlier as usize / 64, 1 << (earlier % 64));
                if row[word] & bit == 0 {
                    row[word] |= bit;
                    open.push(earlier);
                }
            }
        }
    }
    Some(back)
}

/// Memory for one thread.
#[derive(Debug)]
pub(super) struct Places {
    tables: Arc<Tables>,
    /// Where processes are.
    here: Vec<u64>,
    /// What must be in the set in any case.
    base: Vec<u64>,
    /// A set in the making, and of it what has been looked at.
    set: Vec<u64>,
    done: Vec<u64>,
    /// The best set so far.
    best: Vec<u64>,
}

/// Which sets are allowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim<'a> {
    pub dependence: &'a Dependence,
    /// One event at least must have a successor.
    pub key: bool,
    /// Events that must not be in the set if they have a successor.
    pub forbidden: Option<&'a [bool]>,
}

impl Places {
    pub fn new(tables: Arc<Tables>) -> Places {
        let words = tables.words;
        let row = || vec![0; words];
        Places { tables, here: row(), base: row(), set: row(), done: row(), best: row() }
    }

    /// Turns to a state.
    pub fn begin(&mut self, layout: &scrimp_system::Layout, state: &[u8]) {
        self.here.fill(0);
        for (control, bits) in self.tables.controls.iter().zip(&self.tables.bits) {
            let location = layout.read(state, *control, 0).unwrap_or(-1);
            if let Some(&bit) = usize::try_from(location).ok().and_then(|l| bits.get(l))
                && bit != NOWHERE
            {
                self.here[bit as usize / 64] |= 1 << (bit % 64);
            }
        }
        self.base.fill(0);
    }

    /// From now on the set must have what can make a guard true.
    pub fn demand_guard(&mut self, guard: Guard) {
        add(&mut self.base, &self.tables.guards, guard as usize, &self.here);
    }

    /// From now on the set must have an event.
    pub fn demand_event(&mut self, event: u32) {
        add(&mut self.base, &self.tables.back, self.tables.event_back[event as usize] as usize, &self.here);
    }

    /// How many processes what can make a guard true has.
    pub fn cost(&self, guard: Guard) -> usize {
        let from = guard as usize * self.tables.words;
        let row = &self.tables.guards[from..from + self.tables.words];
        row.iter().zip(&self.here).map(|(row, here)| (row & here).count_ones() as usize).sum()
    }

    /// The fewest events with successors that a set can have; `None` where it would not be fewer than `limit`. What they
    /// are, `keep` says.
    pub fn find(&mut self, look: &mut Look, state: &[u8], aim: Aim<'_>, limit: usize) -> Option<usize> {
        let tables = self.tables.clone();
        self.set.copy_from_slice(&self.base);
        self.done.fill(0);
        let based = self.close(&tables, look, state, aim, 0, limit)?;
        if based > 0 || !aim.key {
            self.best.copy_from_slice(&self.set);
            return Some(based);
        }
        self.base.copy_from_slice(&self.set);
        let mut least: Option<usize> = None;
        for word in 0..tables.words {
            let mut open = self.here[word] & !self.base[word];
            while open != 0 {
                let bit = open.trailing_zeros() as usize;
                open &= open - 1;
                if !tables.events[64 * word + bit].iter().any(|event| look.is_live(*event)) {
                    continue;
                }
                self.set.copy_from_slice(&self.base);
                self.done.copy_from_slice(&self.base);
                self.set[word] |= 1 << bit;
                let limit = least.unwrap_or(limit);
                if let Some(count) = self.close(&tables, look, state, aim, 0, limit) {
                    least = Some(count);
                    self.best.copy_from_slice(&self.set);
                    if count == 1 {
                        return least;
                    }
                }
            }
        }
        least
    }

    /// Closes the set; counts the events with successors in what is new.
    fn close(
        &mut self,
        tables: &Tables,
        look: &mut Look,
        state: &[u8],
        aim: Aim<'_>,
        mut count: usize,
        limit: usize,
    ) -> Option<usize> {
        let words = tables.words;
        let mut word = 0;
        while word < words {
            let fresh = self.set[word] & !self.done[word];
            if fresh == 0 {
                word += 1;
                continue;
            }
            let bit = fresh.trailing_zeros() as usize;
            self.done[word] |= 1 << bit;
            let mut earlier = false;
            for &event in &tables.events[64 * word + bit] {
                let live = look.is_live(event);
                if live {
                    count += 1;
                    if count >= limit || aim.forbidden.is_some_and(|forbidden| forbidden[event as usize]) {
                        return None;
                    }
                }
                let guard = if live {
                    None
                } else {
                    let (here, set) = (&self.here, &self.set);
                    look.cheapest(aim.dependence, event, state, |guard| {
                        let row = &tables.guards[guard as usize * words..][..words];
                        (0..words).map(|w| (row[w] & here[w] & !set[w]).count_ones() as usize).sum()
                    })
                };
                let row = match guard {
                    Some(guard) => &tables.guards[guard as usize * words..][..words],
                    None => &tables.conflicts[event as usize * words..][..words],
                };
                for (w, bits) in row.iter().enumerate() {
                    let new = bits & self.here[w] & !self.set[w];
                    self.set[w] |= new;
                    earlier |= new != 0 && w < word;
                }
            }
            if earlier {
                word = 0;
            }
        }
        Some(count)
    }

    /// Of the events with successors, those in the set found last.
    pub fn keep(&self, successors: &[u32], keep: &mut Vec<u32>) {
        let within = |event: &&u32| {
            let place = self.tables.event_back[**event as usize] as usize;
            self.best[place / 64] >> (place % 64) & 1 == 1
        };
        keep.extend(successors.iter().filter(within));
    }

    pub fn bytes(&self) -> usize {
        self.tables.bytes() + 40 * self.tables.words
    }
}

fn add(into: &mut [u64], rows: &[u64], row: usize, here: &[u64]) {
    let words = into.len();
    for (w, bits) in rows[row * words..(row + 1) * words].iter().enumerate() {
        into[w] |= bits & here[w];
    }
}
