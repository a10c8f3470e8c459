//! Which events can influence which: reads, writes, may-enable, may-disable.
//!
//! All relations are over-approximations: what is not related is certainly independent. Arrays are resolved to cells where
//! the index is a constant; an array indexed by anything else counts as a whole.

use crate::event::Event;
use crate::expr::Expr;
use crate::system::{EventId, Overflow, System, VarId};

/// A set of small numbers, as bits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Set {
    words: Vec<u64>,
}

impl Set {
    pub fn new(size: usize) -> Set {
        Set { words: vec![0; size.div_ceil(64)] }
    }

    pub fn insert(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Takes a number out; was it there?
    pub fn remove(&mut self, i: usize) -> bool {
        let there = self.contains(i);
        if there {
            self.words[i / 64] &= !(1 << (i % 64));
        }
        there
    }

    pub fn contains(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    pub fn join(&mut self, other: &Set) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub fn meets(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(at, w)| (0..64).filter(move |i| w >> i & 1 == 1).map(move |i| at * 64 + i))
    }
}

/// The cells that each event tests, reads and writes.
#[derive(Debug, Clone)]
pub struct Facts {
    cell_of: Vec<usize>,
    cells: usize,
    tests: Vec<Set>,
    reads: Vec<Set>,
    writes: Vec<Set>,
    /// Control cells an event tests and sets, with the value: what makes enabling through locations exact.
    moves: Vec<Vec<(usize, u32, u32)>>,
}

impl Facts {
    pub fn new(system: &System) -> Facts {
        let mut cell_of = Vec::with_capacity(system.variables.len());
        let mut cells = 0;
        for v in &system.variables {
            cell_of.push(cells);
            cells += v.cells();
        }
        let mut facts = Facts { cell_of, cells, tests: vec![], reads: vec![], writes: vec![], moves: vec![] };
        for event in &system.events {
            facts.add(system, event);
        }
        facts
    }

    fn add(&mut self, system: &System, event: &Event) {
        let mut tests = Set::new(self.cells);
        let mut writes = Set::new(self.cells);
        let mut moves = Vec::new();
        for m in &event.moves {
            let cell = self.cell_of[system.processes[m.process.index()].control.index()];
            tests.insert(cell);
            if m.from != m.to {
                writes.insert(cell);
            }
            moves.push((cell, m.from, m.to));
        }
        self.collect(system, &event.guard, &mut tests);
        let mut reads = Set::new(self.cells);
        if let Some(assertion) = &event.assertion {
            self.collect(
                system,
                assertion,
                if assertion.may_fault(&system.variables) { &mut tests } else { &mut reads },
            );
        }
        for a in &event.effects {
            // An effect that ends in a fault leaves the event without a successor: what it reads decides as a guard does.
            let checked = system.variables[a.target.index()].domain.overflow == Overflow::Error;
            let index_decides = a.index.as_ref().is_some_and(|i| i.as_const().is_none());
            let value_decides = a.value.may_fault(&system.variables) || checked && a.value.as_const().is_none();
            self.collect(system, &a.value, if value_decides { &mut tests } else { &mut reads });
            if let Some(index) = &a.index {
                self.collect(system, index, if index_decides { &mut tests } else { &mut reads });
            }
            self.touch(system, a.target, a.index.as_ref().and_then(Expr::as_const), &mut writes);
        }
        reads.join(&tests);
        self.tests.push(tests);
        self.reads.push(reads);
        self.writes.push(writes);
        self.moves.push(moves);
    }

    fn collect(&self, system: &System, e: &Expr, into: &mut Set) {
        e.reads(&mut |variable, index| self.touch(system, variable, index, into));
    }

    fn touch(&self, system: &System, variable: VarId, index: Option<i64>, into: &mut Set) {
        let length = system.variables[variable.index()].cells();
        let first = self.cell_of[variable.index()];
        match index {
            Some(i) if (0..length as i64).contains(&i) => into.insert(first + i as usize),
            _ => (first..first + length).for_each(|cell| into.insert(cell)),
        }
    }

    /// Cells whose values decide whether the event has a successor.
    pub fn tests(&self, event: EventId) -> &Set {
        &self.tests[event.index()]
    }

    /// Cells that guard or effects read.
    pub fn reads(&self, event: EventId) -> &Set {
        &self.reads[event.index()]
    }

    pub fn writes(&self, event: EventId) -> &Set {
        &self.writes[event.index()]
    }

    /// Cells that an expression reads, to be held against [`writes`](Facts::writes): which events a property can see.
    pub fn cells_of(&self, system: &System, e: &Expr) -> Set {
        let mut set = Set::new(self.cells);
        self.collect(system, e, &mut set);
        set
    }

    /// Could running `a` turn `b` from disabled to enabled?
    pub fn may_enable(&self, a: EventId, b: EventId) -> bool {
        self.writes(a).meets(self.tests(b)) && self.moves_agree(a, b, |(_, _, to), (_, from, _)| to == from)
    }

    /// Could running `a` turn `b` from enabled to disabled?
    pub fn may_disable(&self, a: EventId, b: EventId) -> bool {
        self.writes(a).meets(self.tests(b)) && self.may_be_coenabled(a, b)
    }

    /// Could both be enabled in one state? Not when a process would have to be at two places.
    pub fn may_be_coenabled(&self, a: EventId, b: EventId) -> bool {
        self.moves_agree(a, b, |(_, a, _), (_, b, _)| a == b)
    }

    /// Neither writes what the other reads or writes: from a state with both enabled, either order leads to the same state.
    pub fn commute(&self, a: EventId, b: EventId) -> bool {
        let apart =
            |a: EventId, b: EventId| !self.writes(a).meets(self.reads(b)) && !self.writes(a).meets(self.writes(b));
        apart(a, b) && apart(b, a)
    }

    fn moves_agree(
        &self,
        a: EventId,
        b: EventId,
        agree: impl Fn((usize, u32, u32), (usize, u32, u32)) -> bool,
    ) -> bool {
        let b_moves = &self.moves[b.index()];
        self.moves[a.index()].iter().all(|&m| b_moves.iter().all(|&n| m.0 != n.0 || agree(m, n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Assign, Moment, Move};
    use crate::system::{Domain, Process, ProcessId, Role, Variable};
    use crate::{Source, Span};

    /// Two processes of two locations each, an array of three and a scalar.
    fn system() -> System {
        let mut system = System::new(Source::new("test", ""));
        for p in 0..2 {
            system.variables.push(Variable {
                name: format!("P{p}"),
                owner: None,
                domain: Domain::range(0, 1),
                length: None,
                role: Role::Control(ProcessId(p)),
            });
            system.processes.push(Process {
                name: format!("P{p}"),
                control: VarId(p),
                locations: vec!["a".into(), "b".into()],
                accepting: vec![],
                span: Span::default(),
            });
        }
        for (name, length) in [("array", Some(3)), ("scalar", None)] {
            let (name, role) = (name.to_string(), Role::Data);
            system.variables.push(Variable { name, owner: None, domain: Domain::BYTE, length, role });
        }
        system.initial.push(vec![0; 6]);
        system
    }

    fn event(process: u32, from: u32, to: u32, guard: Expr, effects: Vec<Assign>) -> Event {
        let moves = vec![Move { process: ProcessId(process), from, to }];
        Event { moves, guard, effects, ..Event::default() }
    }

    fn set(index: Expr) -> Assign {
        Assign { target: VarId(2), index: Some(index), value: Expr::Const(1), moment: Moment::Current }
    }

    #[test]
    fn cells_of_arrays_are_told_apart() {
        let mut system = system();
        let reads = |i: i64| Expr::Element(VarId(2), Box::new(Expr::Const(i)));
        system.events = vec![
            event(0, 0, 1, Expr::TRUE, vec![set(Expr::Const(0))]),
            event(1, 0, 1, reads(0), vec![]),
            event(1, 0, 1, reads(1), vec![]),
            event(0, 0, 1, Expr::TRUE, vec![set(Expr::Var(VarId(3)))]),
        ];
        let facts = Facts::new(&system);
        let may_enable = |a, b| facts.may_enable(EventId(a), EventId(b));
        assert!(may_enable(0, 1) && !may_enable(0, 2));
        assert!(may_enable(3, 1) && may_enable(3, 2), "an unknown index may be any");
        assert!(facts.commute(EventId(0), EventId(2)) && !facts.commute(EventId(0), EventId(1)));
        assert_eq!(facts.reads(EventId(3)).iter().collect::<Vec<_>>(), [0, 5]);
        assert_eq!(facts.writes(EventId(3)).iter().collect::<Vec<_>>(), [0, 2, 3, 4]);
    }

    #[test]
    fn locations_decide_exactly() {
        let mut system = system();
        system.events = vec![
            event(0, 0, 1, Expr::TRUE, vec![]),
            event(0, 1, 0, Expr::TRUE, vec![]),
            event(1, 0, 1, Expr::TRUE, vec![]),
        ];
        let facts = Facts::new(&system);
        let (there, back, other) = (EventId(0), EventId(1), EventId(2));
        assert!(facts.may_enable(there, back) && !facts.may_enable(there, there));
        assert!(facts.may_disable(there, there) && !facts.may_disable(there, back));
        assert!(!facts.may_be_coenabled(there, back) && facts.may_be_coenabled(there, other));
        assert!(facts.commute(there, other) && !facts.may_enable(there, other));
    }
}
