//! Where accepted runs are: the pairs from which all marks can be met again and again.
//!
//! A run stays in one strongly connected component of the automaton in the end, so each is looked at by itself. What cannot
//! reach a marked move within the component is taken away, mark by mark, until nothing changes (Emerson and Lei). Where
//! every move of the component has all marks, it is enough to take away what cannot go on.

use super::{Linear, Move, Pairs};
use crate::diagram::{Halt, Set};
use crate::engine::Engine;

impl Linear<'_> {
    /// Pairs among those reached from each of which an accepted run starts, and on whose way no other pair is met; none if
    /// there is no such run. The reached pairs are held.
    pub(super) fn accepted(&self, engine: &mut Engine, reached: &Pairs) -> Result<Option<Pairs>, Halt> {
        let component = self.components();
        for number in 0..self.states {
            let inside: Vec<Move> = self
                .moves
                .iter()
                .filter(|this| component[this.from] == number && component[this.to] == number)
                .copied()
                .collect();
            let marks = inside.iter().fold(0, |all, this| all | this.marks);
            if inside.is_empty() || marks != self.all_marks {
                continue;
            }
            let mut here = reached.clone();
            here.iter_mut().zip(&component).filter(|(_, of)| **of != number).for_each(|(set, _)| *set = Set::EMPTY);
            let hull = self.hull(engine, &inside, here, None)?;
            if hull.iter().any(|set| !set.is_empty()) {
                return Ok(Some(hull));
            }
        }
        Ok(None)
    }

    /// What is left of these pairs when all is taken away from which no run of these moves meets all marks for ever; nothing
    /// as soon as none of those is left that are wanted.
    pub fn hull(
        &self,
        engine: &mut Engine,
        moves: &[Move],
        pairs: Pairs,
        wanted: Option<&Pairs>,
    ) -> Result<Pairs, Halt> {
        engine.scope(|engine| {
            engine.held.extend(pairs.iter().chain(wanted.into_iter().flatten()));
            let mark = engine.held.len();
            let mut left = pairs;
            loop {
                let before = left.clone();
                engine.held.truncate(mark);
                engine.held.extend(&before);
                if moves.iter().all(|this| this.marks == self.all_marks) {
                    return self.lasting(engine, moves, left, wanted);
                }
                for bit in (0..64).filter(|bit| self.all_marks >> bit & 1 == 1) {
                    let marked: Vec<Move> = moves.iter().filter(|this| this.marks >> bit & 1 == 1).copied().collect();
                    let goal = self.leading(engine, &marked, &left, &left)?;
                    engine.held.extend(&goal);
                    left = self.reaching(engine, moves, goal, &left)?;
                    engine.held.extend(&left);
                }
                if !self.meet(engine, &left, wanted)? {
                    return Ok(self.nothing());
                }
                if left == before {
                    return Ok(left);
                }
            }
        })
    }

    /// The same where every move has all marks: what cannot go on is taken away, then what could go on only there.
    fn lasting(
        &self,
        engine: &mut Engine,
        moves: &[Move],
        pairs: Pairs,
        wanted: Option<&Pairs>,
    ) -> Result<Pairs, Halt> {
        let mark = engine.held.len();
        // Those of which it is not known whether they can go on.
        let (mut left, mut doubtful) = (pairs.clone(), pairs);
        loop {
            engine.held.truncate(mark);
            engine.held.extend(left.iter().chain(&doubtful));
            let lasting = self.leading(engine, moves, &left, &doubtful)?;
            engine.held.extend(&lasting);
            let removed = self.without(engine, &doubtful, &lasting)?;
            engine.held.extend(&removed);
            if removed.iter().all(|set| set.is_empty()) {
                return Ok(left);
            }
            left = self.without(engine, &left, &removed)?;
            engine.held.extend(&left);
            if !self.meet(engine, &left, wanted)? {
                return Ok(self.nothing());
            }
            doubtful = self.leading(engine, moves, &removed, &left)?;
        }
    }

    /// Are there any of those wanted among these? If nobody says what is wanted, are there any at all?
    fn meet(&self, engine: &mut Engine, pairs: &Pairs, wanted: Option<&Pairs>) -> Result<bool, Halt> {
        for (at, &set) in pairs.iter().enumerate() {
            let met = match wanted {
                Some(wanted) => engine.intersect(set, wanted[at])?,
                None => set,
            };
            if !met.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The pairs of the first that are not in the second. Both are held.
    fn without(&self, engine: &mut Engine, a: &Pairs, b: &Pairs) -> Result<Pairs, Halt> {
        engine.scope(|engine| {
            let mut left = self.nothing();
            for (at, set) in left.iter_mut().enumerate() {
                *set = engine.minus(a[at], b[at])?;
                engine.held.push(*set);
            }
            Ok(left)
        })
    }

    /// Those of `within` from which one of these moves leads into `target`. Both are held.
    pub fn leading(&self, engine: &mut Engine, moves: &[Move], target: &Pairs, within: &Pairs) -> Result<Pairs, Halt> {
        engine.scope(|engine| {
            let mut all = self.nothing();
            for this in moves {
                let more = self.before(engine, this, target, within)?;
                all[this.from] = engine.union(all[this.from], more)?;
                engine.held.push(all[this.from]);
            }
            Ok(all)
        })
    }

    /// Those of `within` from which these moves lead into `goal`, with that itself. Both are held.
    fn reaching(&self, engine: &mut Engine, moves: &[Move], goal: Pairs, within: &Pairs) -> Result<Pairs, Halt> {
        engine.scope(|engine| {
            let mut all = goal;
            let mut open: Vec<bool> = all.iter().map(|set| !set.is_empty()).collect();
            let mark = engine.held.len();
            while let Some(at) = open.iter().position(|open| *open) {
                open[at] = false;
                engine.held.truncate(mark);
                engine.held.extend(&all);
                let stays = self.stays(engine, at)?;
                engine.held.push(stays);
                let stays = engine.intersect(stays, within[at])?;
                engine.held.push(stays);
                all[at] = self.steps.until(engine, stays, all[at])?;
                engine.held.push(all[at]);
                for this in moves.iter().filter(|this| this.to == at && this.from != at) {
                    let more = self.before(engine, this, &all, within)?;
                    let both = engine.union(all[this.from], more)?;
                    engine.held.push(both);
                    if both != all[this.from] {
                        all[this.from] = both;
                        open[this.from] = true;
                    }
                }
            }
            Ok(all)
        })
    }

    /// The strongly connected component of each state of the automaton, as a number below that of all states.
    fn components(&self) -> Vec<usize> {
        let mut after = vec![Vec::new(); self.states];
        let mut before = vec![Vec::new(); self.states];
        for this in &self.moves {
            after[this.from].push(this.to);
            before[this.to].push(this.from);
        }
        // In the order in which a search is done with them; then backwards, from the last on.
        let mut order = Vec::with_capacity(self.states);
        let mut seen = vec![false; self.states];
        for start in 0..self.states {
            let mut path = match std::mem::replace(&mut seen[start], true) {
                true => Vec::new(),
                false => vec![(start, 0)],
            };
            while let Some((state, at)) = path.last_mut() {
                let next = after[*state].get(*at).copied();
                *at += 1;
                match next {
                    Some(next) if !std::mem::replace(&mut seen[next], true) => path.push((next, 0)),
                    Some(_) => {}
                    None => order.extend(path.pop().map(|(state, _)| state)),
                }
            }
        }
        let mut component = vec![usize::MAX; self.states];
        for (number, &start) in order.iter().rev().enumerate() {
            let mut open = match component[start] {
                usize::MAX => vec![start],
                _ => Vec::new(),
            };
            while let Some(state) = open.pop() {
                if component[state] == usize::MAX {
                    component[state] = number;
                    open.extend(before[state].iter().filter(|other| component[**other] == usize::MAX));
                }
            }
        }
        component
    }
}
