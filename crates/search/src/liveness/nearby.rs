//! The part of a product near its initial states, written out: which of its states are on cycles that accept, nearest first.
//!
//! A depth-first search finds a cycle early and far away. People want a short run, and most often there is one close by.

use super::acceptance::Acceptance;
use super::lasso::{Run, Steps};
use super::parts::{Edges, NONE, accepting_parts};
use super::product::{INSIDE, Mover, STUTTER, WEAK};
use super::walk::Halt;
use scrimp_core::Limit;
use scrimp_system::{Batch, EventCode, Model};
use scrimp_temporal::Marks;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Instant;

/// Marks up to which all ways of meeting them are tried.
const FEW: u32 = 3;

/// What a search near the initial states may take, and where it may go.
pub(super) struct Scope<'e> {
    pub room: usize,
    /// When no more states are looked at, and when the whole must have ended.
    pub deadline: Instant,
    pub end: Instant,
    /// How far away states may be.
    pub depth: usize,
    /// The events that may be taken; all, without any.
    pub events: Option<&'e HashSet<EventCode>>,
}

/// An edge that can be on a cycle: where it leads, its marks, its event.
type Arc = (u32, Marks, EventCode);

/// States found breadth-first.
pub(super) struct Nearby {
    states: Vec<Vec<u8>>,
    /// Where each was found from, and by which event.
    parents: Vec<(u32, EventCode)>,
    edges: Vec<Vec<Arc>>,
    acceptance: Acceptance,
    /// For each state, the part that accepts which it is in.
    part: Vec<u32>,
    /// The marks that a cycle in each part must meet.
    wanted: Vec<Marks>,
}

impl Edges for Nearby {
    fn len(&self) -> usize {
        self.states.len()
    }

    fn edge(&self, state: u32, place: usize) -> Option<(u32, Marks)> {
        let all = self.acceptance.all;
        let full = |marks: Marks| if marks & WEAK != 0 { marks | all } else { marks };
        self.edges[state as usize].get(place).map(|&(to, marks, _)| (to, full(marks)))
    }
}

impl Nearby {
    pub fn new(mover: &mut Mover, scope: &Scope) -> Nearby {
        let mut all = Nearby {
            states: Vec::new(),
            parents: Vec::new(),
            edges: Vec::new(),
            acceptance: mover.product.acceptance(),
            part: Vec::new(),
            wanted: Vec::new(),
        };
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let bytes = mover.product.state_bytes();
        let (mut found, mut marks) = (Batch::new(bytes), Vec::new());
        mover.product.initial(&mut found);
        for i in 0..found.len() {
            all.number(&mut numbers, found.state(i), (NONE, 0));
        }
        let may = |event: EventCode| event == STUTTER || scope.events.is_none_or(|events| events.contains(&event));
        // How far away the next source is, and the first one that is further.
        let (mut depth, mut further) = (0, all.states.len());
        while all.edges.len() < all.states.len() && all.states.len() < scope.room {
            let source = all.edges.len();
            if source == further {
                (depth, further) = (depth + 1, all.states.len());
            }
            if depth >= scope.depth {
                break;
            }
            if source.is_multiple_of(256) && Instant::now() > scope.deadline {
                break;
            }
            found.clear();
            marks.clear();
            if mover.expand(&all.states[source], true, &mut found, &mut marks).is_err() {
                break;
            }
            let mut edges = Vec::new();
            for (i, &given) in marks.iter().enumerate().filter(|(i, _)| may(found.event(*i))) {
                let to = all.number(&mut numbers, found.state(i), (source as u32, found.event(i)));
                if given & INSIDE != 0 {
                    edges.push((to, given, found.event(i)));
                }
            }
            all.edges.push(edges);
        }
        all.edges.resize(all.states.len(), Vec::new());
        all.find_parts(scope.end);
        all
    }

    fn number(&mut self, numbers: &mut HashMap<Vec<u8>, u32>, state: &[u8], parent: (u32, EventCode)) -> u32 {
        if let Some(&number) = numbers.get(state) {
            return number;
        }
        let number = self.states.len() as u32;
        numbers.insert(state.to_vec(), number);
        self.states.push(state.to_vec());
        self.parents.push(parent);
        number
    }

    /// Those that are found in time.
    fn find_parts(&mut self, end: Instant) {
        let (mut part, mut wanted) = (vec![NONE; self.states.len()], Vec::new());
        let mut in_time = || if Instant::now() < end { Ok(()) } else { Err(Halt::Limit(Limit::Time)) };
        let _ = accepting_parts(self, &self.acceptance, &mut in_time, &mut |members, marks| {
            members.iter().for_each(|&state| part[state as usize] = wanted.len() as u32);
            wanted.push(self.acceptance.wanted(marks));
            true
        });
        (self.part, self.wanted) = (part, wanted);
    }

    /// The shortest run that goes round through one of the states nearest to the initial ones; `most` of them are tried.
    pub fn shortest_run(&self, most: usize, deadline: Instant) -> Option<Run> {
        let mut best: Option<(usize, u32, Vec<Arc>)> = None;
        let entries = (0..self.states.len() as u32).filter(|&state| self.part[state as usize] != NONE);
        for entry in entries.take(most) {
            if best.is_some() && Instant::now() > deadline {
                break;
            }
            let Some(cycle) = self.loop_at(entry) else { continue };
            let length = self.depth(entry) + cycle.len();
            if best.as_ref().is_none_or(|(shortest, ..)| length < *shortest) {
                best = Some((length, entry, cycle));
            }
        }
        let (_, entry, cycle) = best?;
        let (first, stem) = self.way_to(entry);
        let step = |(to, _, event): Arc| (event, self.states[to as usize].clone());
        Some(Run { first, stem, cycle: cycle.into_iter().map(step).collect() })
    }

    /// A cycle through a state that meets what is wanted: the shortest one, where that is little; otherwise from each mark to the
    /// nearest one that is missing, and back.
    fn loop_at(&self, entry: u32) -> Option<Vec<Arc>> {
        let mut missing = self.wanted[self.part[entry as usize] as usize];
        if missing.count_ones() <= FEW {
            return self.shortest((entry, missing), &|to, missing| to == entry && missing == 0);
        }
        let (mut cycle, mut at) = (Vec::new(), entry);
        loop {
            let way = match missing {
                0 => self.shortest((at, 0), &|to, _| to == entry)?,
                _ => self.shortest((at, missing), &|_, left| left != missing)?,
            };
            way.iter().for_each(|&(_, marks, _)| missing &= !self.met(marks));
            at = way.last()?.0;
            cycle.extend(way);
            if missing == 0 && at == entry {
                return Some(cycle);
            }
        }
    }

    fn met(&self, marks: Marks) -> Marks {
        if marks & WEAK != 0 { marks | self.acceptance.all } else { marks }
    }

    /// The shortest way within a part, of one edge at least, to a state and the marks that are then still missing.
    fn shortest(&self, from: (u32, Marks), goal: &dyn Fn(u32, Marks) -> bool) -> Option<Vec<Arc>> {
        let part = self.part[from.0 as usize];
        let mut parents: HashMap<(u32, Marks), ((u32, Marks), Arc)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(source) = queue.pop_front() {
            let inside = self.edges[source.0 as usize].iter().filter(|(to, ..)| self.part[*to as usize] == part);
            for &arc in inside {
                let to = (arc.0, source.1 & !self.met(arc.1));
                if goal(to.0, to.1) {
                    let (mut way, mut at) = (vec![arc], source);
                    while at != from {
                        let (parent, arc) = parents[&at];
                        way.push(arc);
                        at = parent;
                    }
                    way.reverse();
                    return Some(way);
                }
                if to != from && !parents.contains_key(&to) {
                    parents.insert(to, (source, arc));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    fn depth(&self, mut state: u32) -> usize {
        let mut depth = 0;
        while self.parents[state as usize].0 != NONE {
            state = self.parents[state as usize].0;
            depth += 1;
        }
        depth
    }

    fn way_to(&self, state: u32) -> (Vec<u8>, Steps) {
        let (mut state, mut steps) = (state as usize, Vec::new());
        while self.parents[state].0 != NONE {
            let (parent, event) = self.parents[state];
            steps.push((event, self.states[state].clone()));
            state = parent as usize;
        }
        steps.reverse();
        (self.states[state].clone(), steps)
    }
}
