//! From an event to actions: what it tests and what each cell becomes, all in terms of the state that is left.
//!
//! Assignments that run one after the other become assignments at once. An index that the state decides would tie all
//! cells of its array together; so an event is taken apart by the values of the cells that its indices are made of, and
//! each part, an action, knows them.

use crate::space::{Space, holder_value};
use crate::term::{Store, Term};
use scrimp_system::{BinaryOp, Event, Expr, Fault, Moment, Then, VarId};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Actions that one event may become.
const MOST_ACTIONS: usize = 4096;

/// Actions that one index may make of one.
const MOST_VALUES: usize = 300;

/// A condition for an action to happen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Test {
    /// It is not zero, and no fault.
    Holds(Term),
    /// It is zero, and no fault.
    Fails(Term),
    /// It is no fault.
    Defined(Term),
    /// It is a fault.
    Faults(Term),
}

/// What a test says by itself.
pub enum Decided {
    Passed,
    Failed,
    Open,
}

impl Test {
    /// What is tested.
    pub fn term(&self) -> &Term {
        match self {
            Test::Holds(term) | Test::Fails(term) | Test::Defined(term) | Test::Faults(term) => term,
        }
    }

    /// The same of another term.
    pub fn of(&self, term: Term) -> Test {
        match self {
            Test::Holds(_) => Test::Holds(term),
            Test::Fails(_) => Test::Fails(term),
            Test::Defined(_) => Test::Defined(term),
            Test::Faults(_) => Test::Faults(term),
        }
    }

    /// Has it been decided?
    pub fn decided(&self) -> Decided {
        let known = match (self, self.term()) {
            (Test::Holds(_), Term::Const(k)) => Some(*k != 0),
            (Test::Fails(_), Term::Const(k)) => Some(*k == 0),
            (Test::Holds(_) | Test::Fails(_) | Test::Defined(_), Term::Fault(_)) => Some(false),
            (Test::Defined(_), Term::Const(_)) | (Test::Faults(_), Term::Fault(_)) => Some(true),
            (Test::Faults(_), Term::Const(_)) => Some(false),
            (Test::Defined(_), term) if !term.may_fault() => Some(true),
            (Test::Faults(_), term) if !term.may_fault() => Some(false),
            _ => None,
        };
        match known {
            Some(true) => Decided::Passed,
            Some(false) => Decided::Failed,
            None => Decided::Open,
        }
    }
}

/// What happens where some tests are passed.
#[derive(Debug, Clone, Default)]
pub struct Action {
    pub tests: Vec<Test>,
    /// What each cell becomes; the others stay as they are.
    pub sets: Vec<(u32, Term)>,
}

/// All that an event can do.
#[derive(Debug, Clone, Default)]
pub struct Actions {
    /// Where the event has a successor.
    pub happens: Vec<Action>,
    /// Where it ends in a fault, or may: no cell changes.
    pub faults: Vec<Action>,
    /// Where its assertion is violated.
    pub violates: Vec<Action>,
    /// The cells whose known values decided how the event was taken apart.
    pub split_by: Vec<u32>,
}

/// An index depends on these cells of the state that is left.
struct Split(Vec<u32>);

/// The values of some cells.
type Pins = BTreeMap<u32, i64>;

/// What an event does where some cells have known values.
struct Run<'s, 'a> {
    space: &'s Space<'a>,
    pins: &'s Pins,
    /// How many actions there are for each value that is known more.
    splits: bool,
    current: HashMap<u32, Term>,
    /// The order in which cells were written.
    written: Vec<u32>,
}

impl Run<'_, '_> {
    fn source(&self, cell: u32) -> Term {
        let known = self.space.constant(cell).or_else(|| self.pins.get(&cell).copied());
        known.map_or(Term::Cell(cell), Term::Const)
    }

    fn read(&self, cell: u32, moment: Moment) -> Term {
        match (moment, self.current.get(&cell)) {
            (Moment::Current, Some(term)) => term.clone(),
            _ => self.source(cell),
        }
    }

    /// An index as a term: a constant, unless there would be too many cases.
    fn index(&self, index: Term) -> Result<Term, Split> {
        let cells = index.support();
        let cases = cells.iter().fold(1usize, |n, cell| n.saturating_mul(self.space.known(*cell).len()));
        match self.splits && !cells.is_empty() && cases <= MOST_VALUES {
            true => Err(Split(cells)),
            false => Ok(index),
        }
    }

    fn term(&self, e: &Expr, moment: Moment) -> Result<Term, Split> {
        Ok(match e {
            Expr::Const(value) => Term::Const(*value),
            Expr::Var(v) => self.read(self.space.cells.first(*v), moment),
            Expr::Element(v, index) => {
                let index = self.term(index, moment)?;
                self.element(*v, self.index(index)?, moment)
            }
            Expr::Table(values, index) => Term::table(values, self.term(index, moment)?),
            Expr::Unary(op, a) => Term::unary(*op, self.term(a, moment)?),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.term(a, moment)?;
                match (op, &a) {
                    // What is not read need not be taken apart.
                    (BinaryOp::And, Term::Const(0)) => Term::Const(0),
                    (BinaryOp::Or, Term::Const(k)) if *k != 0 => Term::Const(1),
                    _ => Term::binary(*op, a, self.term(b, moment)?),
                }
            }
            Expr::Binary(op, a, b) => Term::binary(*op, self.term(a, moment)?, self.term(b, moment)?),
            Expr::If(c, a, b) => match self.term(c, moment)? {
                Term::Const(0) => self.term(b, moment)?,
                Term::Const(_) => self.term(a, moment)?,
                c => Term::choice(c, self.term(a, moment)?, self.term(b, moment)?),
            },
        })
    }

    fn element(&self, v: VarId, index: Term, moment: Moment) -> Term {
        let (first, length) = (self.space.cells.first(v), self.space.system.variables[v.index()].cells() as u32);
        match index {
            Term::Const(i) if (0..length as i64).contains(&i) => self.read(first + i as u32, moment),
            Term::Const(_) => Term::Fault(Fault::Index),
            index => {
                let elements: Rc<[Term]> = (first..first + length).map(|cell| self.read(cell, moment)).collect();
                Term::select(&elements, index)
            }
        }
    }

    fn write(&mut self, cell: u32, term: Term, overwritten: &mut Vec<Term>) {
        match self.current.insert(cell, term) {
            None => self.written.push(cell),
            // What was there is never seen, but its fault is.
            Some(old) if old.may_fault() => overwritten.push(old),
            Some(_) => {}
        }
    }

    /// What a variable keeps of a term.
    fn stored(&self, v: VarId, value: Term) -> Term {
        let domain = self.space.system.variables[v.index()].domain;
        if let Term::Cell(cell) = value {
            let (low, high) = self.space.hull(cell);
            if domain.contains(low) && domain.contains(high) {
                return value;
            }
        }
        Term::stored(Store::new(domain), value)
    }

    fn effects(&mut self, event: &Event, undefined: &mut Vec<Term>) -> Result<(), Split> {
        for m in &event.moves {
            self.write(self.space.control(m.process), Term::Const(m.to as i64), undefined);
        }
        for a in &event.effects {
            let variable = &self.space.system.variables[a.target.index()];
            let (first, length) = (self.space.cells.first(a.target), variable.cells() as u32);
            let index = match &a.index {
                Some(index) => {
                    let index = self.term(index, Moment::Current)?;
                    self.index(index)?
                }
                None => Term::Const(0),
            };
            let value = self.term(&a.value, a.moment)?;
            let value = self.stored(a.target, value);
            match index {
                Term::Const(i) if (0..length as i64).contains(&i) => self.write(first + i as u32, value, undefined),
                Term::Const(_) => undefined.push(Term::Fault(Fault::Index)),
                Term::Fault(_) => undefined.push(index),
                index => {
                    let zeros: Rc<[Term]> = vec![Term::Const(0); length as usize].into();
                    undefined.push(Term::select(&zeros, index.clone()));
                    if value.may_fault() {
                        undefined.push(value.clone());
                    }
                    for i in 0..length {
                        let here = Term::binary(BinaryOp::Equal, index.clone(), Term::Const(i as i64));
                        let old = self.read(first + i, Moment::Current);
                        self.write(first + i, Term::choice(here, value.clone(), old), undefined);
                    }
                }
            }
        }
        Ok(())
    }

    /// The conjuncts of a guard, in the order in which they are read.
    fn conjuncts(&self, guard: &Expr, into: &mut Vec<Term>) -> Result<(), Split> {
        let mut left = vec![guard];
        while let Some(part) = left.pop() {
            match part {
                Expr::Binary(BinaryOp::And, a, b) => left.extend([&**b, &**a]),
                part => {
                    let term = self.term(part, Moment::Source)?;
                    let over = matches!(term, Term::Const(0) | Term::Fault(_));
                    into.push(term);
                    // What follows is not read.
                    if over {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What is looked for of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// It holds.
    Holds,
    /// It does not hold, and is no fault.
    Fails,
    /// It does not hold, or is a fault.
    FailsOrFaults,
}

/// Takes a condition apart: each part has the values of some cells and what is left of it.
pub fn condition(space: &Space, condition: &Expr, sought: Sought) -> Vec<Action> {
    let mut list = Vec::new();
    let work = |run: &mut Run| -> Result<(), Split> {
        let mut add = |tests: Vec<Test>| {
            let tests = pinned(run.pins).into_iter().chain(tests).collect();
            list.push(Action { tests, sets: Vec::new() });
        };
        if sought == Sought::Holds {
            let mut conjuncts = Vec::new();
            run.conjuncts(condition, &mut conjuncts)?;
            add(conjuncts.into_iter().map(Test::Holds).collect());
            return Ok(());
        }
        // A condition that does not hold is one of which some part does not: it stays whole.
        let term = run.term(condition, Moment::Source)?;
        if sought == Sought::FailsOrFaults && term.may_fault() {
            add(vec![Test::Faults(term.clone())]);
        }
        add(vec![Test::Fails(term)]);
        Ok(())
    };
    cases(space, Vec::new(), work);
    list.retain(possible);
    list
}

fn pinned(pins: &Pins) -> Vec<Test> {
    let equal = |(cell, value): (&u32, &i64)| Term::binary(BinaryOp::Equal, Term::Cell(*cell), Term::Const(*value));
    pins.iter().map(equal).map(Test::Holds).collect()
}

fn possible(action: &Action) -> bool {
    !action.tests.iter().any(|test| matches!(test.decided(), Decided::Failed))
}

/// Works with all cells that matter for indices known, one case after the other; returns those cells.
fn cases(space: &Space, at: Vec<(u32, i64)>, mut work: impl FnMut(&mut Run) -> Result<(), Split>) -> Vec<u32> {
    let mut open = vec![Pins::from_iter(at)];
    let mut split_by = Vec::new();
    let mut made = 0usize;
    while let Some(pins) = open.pop() {
        let splits = made + open.len() < MOST_ACTIONS;
        made += 1;
        let mut run = Run { space, pins: &pins, splits, current: HashMap::new(), written: Vec::new() };
        let Err(Split(cells)) = work(&mut run) else { continue };
        made -= 1;
        // One cell after the other: what the first says may make the others superfluous.
        let Some(&cell) = cells.first() else { continue };
        split_by.push(cell);
        for &value in space.known(cell).iter().rev() {
            let mut more = pins.clone();
            more.insert(cell, value);
            open.push(more);
        }
    }
    split_by.sort_unstable();
    split_by.dedup();
    split_by
}

/// All that an event can do.
pub fn actions(space: &Space, event: &Event) -> Actions {
    let mut found = Actions::default();
    // Where the processes are is known, unless an event asks for one at two places.
    let mut at: Vec<(u32, i64)> = event.moves.iter().map(|m| (space.control(m.process), m.from as i64)).collect();
    at.sort_unstable();
    at.dedup();
    let twice = at.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let elsewhere = at.iter().any(|(cell, from)| space.constant(*cell).is_some_and(|only| only != *from));
    if twice || elsewhere {
        return found;
    }
    at.retain(|(cell, _)| space.constant(*cell).is_none());
    let holder = space.holder.filter(|holder| space.constant(*holder).is_none());
    let work = |run: &mut Run| -> Result<(), Split> {
        let mut guards = Vec::new();
        run.conjuncts(&event.guard, &mut guards)?;
        let mut before = pinned(run.pins);
        before.extend(holder.map(|holder| may_go_on(event, holder)));
        let mut faults = Vec::new();
        let add = |tests: &[Test], test: Option<Test>, list: &mut Vec<Action>| {
            let action = Action { tests: tests.iter().cloned().chain(test).collect(), sets: Vec::new() };
            if possible(&action) {
                list.push(action);
            }
        };
        for guard in guards {
            if guard.may_fault() {
                add(&before, Some(Test::Faults(guard.clone())), &mut faults);
            }
            before.push(Test::Holds(guard));
        }
        if before.iter().any(|test| matches!(test.decided(), Decided::Failed)) {
            found.faults.extend(faults);
            return Ok(());
        }
        if event.fault.is_some() {
            add(&before, None, &mut faults);
            found.faults.extend(faults);
            return Ok(());
        }
        let (mut violates, mut undefined) = (Vec::new(), Vec::new());
        if let Some(assertion) = &event.assertion {
            let term = run.term(assertion, Moment::Source)?;
            if term.may_fault() {
                undefined.push(term.clone());
            }
            add(&before, Some(Test::Fails(term)), &mut violates);
        }
        run.effects(event, &mut undefined)?;
        let sets: Vec<(u32, Term)> = run.written.iter().map(|cell| (*cell, run.current[cell].clone())).collect();
        for term in undefined.iter().chain(sets.iter().map(|(_, term)| term)).filter(|term| term.may_fault()) {
            add(&before, Some(Test::Faults(term.clone())), &mut faults);
        }
        let tests = before.into_iter().chain(undefined.into_iter().map(Test::Defined)).collect();
        let mut action = Action { tests, sets };
        // A cell that keeps its value is not touched, and one that has only one has no level.
        action.sets.retain(|(cell, term)| *term != Term::Cell(*cell));
        let gone = action.sets.extract_if(.., |(cell, _)| space.constant(*cell).is_some());
        let gone: Vec<Test> = gone.filter(|(_, term)| term.may_fault()).map(|(_, term)| Test::Defined(term)).collect();
        action.tests.extend(gone);
        if let Some(holder) = holder {
            action.sets.push((holder, Term::Const(holder_value(event.then))));
        }
        if possible(&action) && !action.sets.iter().any(|(_, term)| matches!(term, Term::Fault(_))) {
            found.happens.push(action);
        }
        found.faults.extend(faults);
        found.violates.extend(violates);
        Ok(())
    };
    found.split_by = cases(space, at, work);
    let moved: Vec<u32> = event.moves.iter().map(|m| space.control(m.process)).collect();
    found.split_by.retain(|cell| !moved.contains(cell));
    found
}

/// The event may happen where nobody goes on alone, or the process of its first move does.
fn may_go_on(event: &Event, holder: u32) -> Test {
    let free = Term::binary(BinaryOp::Equal, Term::Cell(holder), Term::Const(0));
    let Some(first) = event.moves.first().filter(|_| !event.late) else { return Test::Holds(free) };
    let is = |then| Term::binary(BinaryOp::Equal, Term::Cell(holder), Term::Const(holder_value(then)));
    let own = Term::binary(BinaryOp::Or, is(Then::Atomic(first.process)), is(Then::DStep(first.process)));
    Test::Holds(Term::binary(BinaryOp::Or, free, own))
}
