//! Linear time by sets: is there a run that an automaton accepts?
//!
//! The automaton is not made part of the diagrams: for each of its states there is a set of states of the system. A move of
//! the automaton is a step from one of these sets, where its guard holds, to another. Where the automaton stays, what is
//! reached is worked out by saturation within its guard. A state of the system without successors stays as it is for ever,
//! and the automaton goes on.

mod hull;
mod lasso;

use crate::action::Sought;
use crate::diagram::{Halt, Set};
use crate::engine::Engine;
use crate::steps::Steps;
use scrimp_system::Expr;
use scrimp_temporal::{Automaton, Guard, Marks};

/// A set of states for each state of the automaton.
pub type Pairs = Vec<Set>;

/// A move of the automaton, with the states that it reads.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    pub from: usize,
    pub to: usize,
    pub guard: Set,
    pub marks: Marks,
}

/// The runs of a system together with those of an automaton.
pub struct Linear<'s> {
    pub steps: &'s Steps,
    pub moves: Vec<Move>,
    pub initial: usize,
    pub states: usize,
    /// All marks that a run must meet again and again.
    pub all_marks: Marks,
}

impl<'s> Linear<'s> {
    /// An automaton whose atoms are these conditions; one that is a fault does not hold. The guards are held from then on.
    pub fn new(
        engine: &mut Engine,
        steps: &'s Steps,
        automaton: &Automaton,
        atoms: &[Expr],
    ) -> Result<Linear<'s>, Halt> {
        let mut holding = Vec::with_capacity(atoms.len());
        for atom in atoms {
            let set = engine.where_condition(steps.states, atom, Sought::Holds)?;
            engine.held.push(set);
            holding.push(set);
        }
        let mut moves = Vec::new();
        let mut known: Vec<(Guard, Set)> = Vec::new();
        for (from, edges) in automaton.states.iter().enumerate() {
            for edge in edges {
                let same = known.iter().find(|(guard, _)| *guard == edge.guard).map(|(_, set)| *set);
                let guard = match same {
                    Some(set) => set,
                    None => {
                        let set = guarded(engine, steps.states, &edge.guard, &holding)?;
                        engine.held.push(set);
                        known.push((edge.guard.clone(), set));
                        set
                    }
                };
                if !guard.is_empty() {
                    moves.push(Move { from, to: edge.to as usize, guard, marks: edge.marks });
                }
            }
        }
        let (initial, states) = (automaton.initial as usize, automaton.states.len());
        Ok(Linear { steps, moves, initial, states, all_marks: automaton.all_marks() })
    }

    /// An automaton of one state that stays in it while the system is in these states, and accepts where the system is again
    /// and again in each of the others, which are parts of these. All are held.
    pub fn staying(steps: &'s Steps, guard: Set, again: &[Set]) -> Linear<'s> {
        let mut moves = vec![Move { from: 0, to: 0, guard, marks: 0 }];
        let marked = again.iter().enumerate().map(|(bit, &guard)| Move { from: 0, to: 0, guard, marks: 1 << bit });
        moves.extend(marked);
        let all_marks = again.iter().enumerate().fold(0, |all, (bit, _)| all | 1 << bit);
        Linear { steps, moves, initial: 0, states: 1, all_marks }
    }

    /// Nothing for any state of the automaton.
    pub fn nothing(&self) -> Pairs {
        vec![Set::EMPTY; self.states]
    }

    /// The states where the automaton can stay where it is.
    pub fn stays(&self, engine: &mut Engine, at: usize) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let mut all = Set::EMPTY;
            for own in self.moves.iter().filter(|own| own.from == at && own.to == at) {
                all = engine.union(all, own.guard)?;
                engine.held.push(all);
            }
            Ok(all)
        })
    }

    /// Is every run from here accepted, whatever the system does?
    fn accepts_all(&self, at: usize) -> bool {
        let all = self.steps.states;
        let own = |own: &Move| own.from == at && own.to == at && own.guard == all && own.marks == self.all_marks;
        self.moves.iter().any(own)
    }

    /// What can be reached from these states of the system, and whether a run is certainly accepted: then it is not all.
    fn reach(&self, engine: &mut Engine, from: Set) -> Result<(Pairs, bool), Halt> {
        engine.scope(|engine| {
            let (mut reached, mut open) = (self.nothing(), self.nothing());
            open[self.initial] = from;
            let mark = engine.held.len();
            while let Some(at) = (0..self.states).rev().find(|at| !open[*at].is_empty()) {
                engine.held.truncate(mark);
                engine.held.extend(reached.iter().chain(&open));
                if self.accepts_all(at) {
                    reached[at] = engine.union(reached[at], open[at])?;
                    return Ok((reached, true));
                }
                let new = self.closed(engine, at, open[at])?;
                open[at] = Set::EMPTY;
                engine.held.push(new);
                let new = engine.minus(new, reached[at])?;
                engine.held.push(new);
                reached[at] = engine.union(reached[at], new)?;
                engine.held.push(reached[at]);
                for other in self.moves.iter().filter(|other| other.from == at && other.to != at) {
                    let source = engine.intersect(new, other.guard)?;
                    engine.held.push(source);
                    let after = self.after(engine, source)?;
                    engine.held.push(after);
                    let more = engine.minus(after, reached[other.to])?;
                    engine.held.push(more);
                    open[other.to] = engine.union(open[other.to], more)?;
                    engine.held.push(open[other.to]);
                }
            }
            Ok((reached, false))
        })
    }

    /// What can be reached from these states of the system, and pairs among it from which accepted runs start; none if there
    /// is no such run. What it gives is held from then on.
    pub fn accepting(&self, engine: &mut Engine, from: Set) -> Result<Option<(Pairs, Pairs)>, Halt> {
        let (reached, certain) = self.reach(engine, from)?;
        engine.held.extend(&reached);
        let hull = match certain {
            true => {
                let all = self.steps.states;
                let here = |(at, set): (usize, &Set)| match self.accepts_all(at) && !set.is_empty() {
                    true => all,
                    false => Set::EMPTY,
                };
                Some(reached.iter().enumerate().map(here).collect())
            }
            false => self.accepted(engine, &reached)?,
        };
        engine.held.extend(hull.iter().flatten());
        Ok(hull.map(|hull| (reached, hull)))
    }

    /// What the system comes to while the automaton stays where it is.
    fn closed(&self, engine: &mut Engine, at: usize, states: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let stays = self.stays(engine, at)?;
            engine.held.push(stays);
            if stays.is_empty() {
                return Ok(states);
            }
            let inside = self.steps.onwards(engine, states, stays)?;
            engine.held.push(inside);
            let after = self.steps.after(engine, inside)?;
            engine.held.push(after);
            let all = engine.union(inside, after)?;
            engine.union(all, states)
        })
    }

    /// The states that come next; those without a successor stay.
    fn after(&self, engine: &mut Engine, states: Set) -> Result<Set, Halt> {
        engine.scope(|engine| {
            let after = self.steps.after(engine, states)?;
            engine.held.push(after);
            let ends = engine.intersect(states, self.steps.dead)?;
            engine.union(after, ends)
        })
    }

    /// Those of `within` from which a move leads into `target`.
    pub fn before(&self, engine: &mut Engine, this: &Move, target: &Pairs, within: &Pairs) -> Result<Set, Halt> {
        if target[this.to].is_empty() || within[this.from].is_empty() {
            return Ok(Set::EMPTY);
        }
        engine.scope(|engine| {
            let from = engine.intersect(within[this.from], this.guard)?;
            self.steps.lasting(engine, target[this.to], from)
        })
    }
}

/// Where a guard holds, given where its atoms do.
fn guarded(engine: &mut Engine, states: Set, guard: &Guard, atoms: &[Set]) -> Result<Set, Halt> {
    engine.scope(|engine| {
        let mut all = Set::EMPTY;
        for cube in &guard.cubes {
            let mut part = states;
            for (number, &atom) in atoms.iter().enumerate() {
                if cube.positive >> number & 1 == 1 {
                    part = engine.intersect(part, atom)?;
                }
                if cube.negative >> number & 1 == 1 {
                    part = engine.minus(part, atom)?;
                }
                engine.held.push(part);
            }
            all = engine.union(all, part)?;
            engine.held.push(all);
        }
        Ok(all)
    })
}
