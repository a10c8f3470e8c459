//! A run that an automaton accepts, as a stem and a loop. Every step is made by the model itself.
//!
//! Distances are worked out backwards from where the run is to come to, and the model goes down from ring to ring. From where
//! accepted runs are, it goes to a move with each mark in turn and then looks for a way back; where there is none, what it
//! went through becomes part of the stem, since there is no way back to it from anywhere further on.

use super::{Linear, Pairs};
use crate::diagram::Set;
use crate::engine::Engine;
use crate::trace::Lost;
use scrimp_core::Trace;
use scrimp_system::{Batch, EventCode, Model};

/// A run that goes on for ever.
pub struct Lasso {
    pub trace: Trace,
    /// After the last step it is where it was after so many. Where that are all, it stays in its last state.
    pub cycle: usize,
}

/// Where the system and the automaton are.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    automaton: usize,
    vector: Vec<u32>,
}

/// A run in the making.
struct Walk<'w> {
    model: &'w dyn Model,
    at: Place,
    steps: Vec<(EventCode, Vec<u8>)>,
    /// The system has come to a state without successors.
    ended: bool,
}

impl Linear<'_> {
    /// A run from one of the initial states into `hull`, and then in it for ever. Both, and what was reached, are held.
    pub fn lasso(
        &self,
        engine: &mut Engine,
        model: &dyn Model,
        (initial, reached, hull): (Set, &Pairs, &Pairs),
    ) -> Result<Lasso, Lost> {
        let mark = engine.held.len();
        let found = self.find(engine, model, (initial, reached, hull));
        engine.held.truncate(mark);
        found
    }

    /// A shortest run of moves from one of the initial states through `within` into `target`. All are held.
    pub fn path(
        &self,
        engine: &mut Engine,
        model: &dyn Model,
        (initial, within, target): (Set, &Pairs, &Pairs),
    ) -> Result<Trace, Lost> {
        let mark = engine.held.len();
        let found = self.walk(engine, model, (initial, within, target));
        engine.held.truncate(mark);
        found.map(|(initial, walk)| Trace { initial, steps: walk.steps })
    }

    /// Goes from one of the initial states through `within` into `target`, by as few moves as possible.
    fn walk<'w>(
        &self,
        engine: &mut Engine,
        model: &'w dyn Model,
        (initial, within, target): (Set, &Pairs, &Pairs),
    ) -> Result<(Vec<u8>, Walk<'w>), Lost> {
        let mut start = None;
        let rings = self.rings(engine, target, within, &mut |engine, ring: &Pairs| {
            let here = engine.intersect(ring[self.initial], initial)?;
            start = engine.diagrams.first(here);
            Ok(start.is_some())
        })?;
        let vector = start.ok_or(Lost::Mismatch)?;
        let first = engine.space.state(&vector);
        let mut walk = Walk { model, at: Place { automaton: self.initial, vector }, steps: Vec::new(), ended: false };
        self.descend(engine, &mut walk, &rings)?;
        Ok((first, walk))
    }

    fn find(
        &self,
        engine: &mut Engine,
        model: &dyn Model,
        (initial, reached, hull): (Set, &Pairs, &Pairs),
    ) -> Result<Lasso, Lost> {
        let (first, mut walk) = self.walk(engine, model, (initial, reached, hull))?;
        let mark = engine.held.len();
        let cycle = loop {
            engine.held.truncate(mark);
            let (home, begun) = (walk.at.clone(), walk.steps.len());
            self.round(engine, &mut walk, hull)?;
            if walk.ended {
                break walk.steps.len();
            }
            // The way back, if there is one.
            let mut target = self.nothing();
            target[home.automaton] = engine.single(&home.vector)?;
            engine.held.push(target[home.automaton]);
            let mut back = false;
            let rings = self.rings(engine, &target, hull, &mut |engine, ring: &Pairs| {
                back = engine.diagrams.contains(ring[walk.at.automaton], &walk.at.vector);
                Ok(back)
            })?;
            if back {
                self.descend(engine, &mut walk, &rings)?;
                break begun;
            }
        };
        let trace = Trace { initial: first, steps: walk.steps };
        Ok(Lasso { trace, cycle })
    }

    /// Goes to a move with each of the marks and makes it.
    fn round(&self, engine: &mut Engine, walk: &mut Walk, hull: &Pairs) -> Result<(), Lost> {
        let bits: Vec<u32> = (0..64).filter(|bit| self.all_marks >> bit & 1 == 1).collect();
        let wanted: Vec<u64> = if bits.is_empty() { vec![0] } else { bits.iter().map(|bit| 1 << bit).collect() };
        for wanted in wanted {
            if walk.ended {
                return Ok(());
            }
            let mark = engine.held.len();
            let moves: Vec<_> = self.moves.iter().filter(|this| this.marks & wanted == wanted).copied().collect();
            let goal = self.leading(engine, &moves, hull, hull)?;
            engine.held.extend(&goal);
            let mut near = false;
            let rings = self.rings(engine, &goal, hull, &mut |engine, ring: &Pairs| {
                near = engine.diagrams.contains(ring[walk.at.automaton], &walk.at.vector);
                Ok(near)
            })?;
            if !near {
                return Err(Lost::Mismatch);
            }
            self.descend(engine, walk, &rings)?;
            self.step(engine, walk, hull, wanted)?;
            engine.held.truncate(mark);
        }
        Ok(())
    }

    /// The pairs of `within` by their distance from `target`, as far as `enough` says; held from then on.
    fn rings(
        &self,
        engine: &mut Engine,
        target: &Pairs,
        within: &Pairs,
        enough: &mut dyn FnMut(&mut Engine, &Pairs) -> Result<bool, crate::diagram::Halt>,
    ) -> Result<Vec<Pairs>, Lost> {
        let mut rings = vec![target.clone()];
        let mut seen = target.clone();
        engine.held.extend(target);
        while let Some(last) = rings.last() {
            if last.iter().all(|set| set.is_empty()) || enough(engine, last)? {
                break;
            }
            let mut next = self.leading(engine, &self.moves, last, within)?;
            engine.held.extend(&next);
            for (ring, seen) in next.iter_mut().zip(&mut seen) {
                *ring = engine.minus(*ring, *seen)?;
                engine.held.push(*ring);
                *seen = engine.union(*seen, *ring)?;
                engine.held.push(*seen);
            }
            rings.push(next);
        }
        Ok(rings)
    }

    /// Goes from the last ring to the first.
    fn descend(&self, engine: &mut Engine, walk: &mut Walk, rings: &[Pairs]) -> Result<(), Lost> {
        for ring in rings.iter().rev().skip(1) {
            self.step(engine, walk, ring, 0)?;
        }
        Ok(())
    }

    /// Makes a step into `target`, by a move with these marks.
    fn step(&self, engine: &Engine, walk: &mut Walk, target: &Pairs, marks: u64) -> Result<(), Lost> {
        let mut successors = Batch::new(walk.model.state_bytes());
        let state = engine.space.state(&walk.at.vector);
        walk.model.expand(&state, &mut successors);
        let possible: Vec<_> = self
            .moves
            .iter()
            .filter(|this| this.from == walk.at.automaton && this.marks & marks == marks)
            .filter(|this| engine.diagrams.contains(this.guard, &walk.at.vector))
            .collect();
        if successors.is_empty() {
            // The automaton alone goes on.
            let to = possible.iter().find(|this| engine.diagrams.contains(target[this.to], &walk.at.vector));
            walk.at.automaton = to.ok_or(Lost::Mismatch)?.to;
            walk.ended = true;
            return Ok(());
        }
        for number in 0..successors.len() {
            let state = successors.state(number);
            let vector = engine.space.vector_of(state).ok_or(Lost::Mismatch)?;
            let to = possible.iter().find(|this| engine.diagrams.contains(target[this.to], &vector));
            if let Some(this) = to {
                walk.steps.push((successors.event(number), state.to_vec()));
                walk.at = Place { automaton: this.to, vector };
                return Ok(());
            }
        }
        Err(Lost::Mismatch)
    }
}
