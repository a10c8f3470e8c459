//! What one event reads and writes, and how: the ways of writing that commute are told apart from others.

use crate::bounds::Knowledge;
use crate::dependence::ends::{End, ends};
use crate::dependence::faults::{cells_read, faults};
use crate::event::{Assign, Event, Moment};
use crate::expr::{BinaryOp, Expr};
use crate::system::Overflow;
use crate::values::Values;

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// A number is added; the cell is not read otherwise.
    Add(i64),
    /// It always gets this value.
    Set(i64),
    Any,
}

#[derive(Debug, Clone)]
pub(super) struct Write {
    pub cell: u32,
    pub change: Change,
    /// Only as a message comes or goes at the end of a channel.
    pub end: bool,
    /// What it can have afterwards.
    pub after: Values,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Read {
    pub cell: u32,
    /// Only as a message comes or goes at the end of a channel.
    pub end: bool,
}

/// What an event, or an edge that is called by it, does to the cells.
#[derive(Debug, Clone, Default)]
pub(super) struct Access {
    /// Could it be enabled at all?
    pub possible: bool,
    /// What is known of cells where it is enabled, by cell.
    pub source: Vec<(u32, Values)>,
    /// Read by assertion and effects, and by all of what follows; by cell, guards of the event itself left out.
    pub reads: Vec<Read>,
    /// By cell.
    pub writes: Vec<Write>,
    pub ends: Vec<End>,
    /// The events that can follow as part of the same edge.
    pub steps: Vec<u32>,
    pub may_fault: bool,
}

impl Access {
    /// What a cell can hold where the event is enabled.
    pub fn source<'a>(&'a self, base: &'a [Values], cell: u32) -> &'a Values {
        match self.source.binary_search_by_key(&cell, |(c, _)| *c) {
            Ok(at) => &self.source[at].1,
            Err(_) => &base[cell as usize],
        }
    }

    pub fn read(&self, cell: u32) -> Option<Read> {
        self.reads.binary_search_by_key(&cell, |read| read.cell).ok().map(|at| self.reads[at])
    }

    pub fn write(&self, cell: u32) -> Option<&Write> {
        self.writes.binary_search_by_key(&cell, |write| write.cell).ok().map(|at| &self.writes[at])
    }

    /// What a cell can hold afterwards, if it could hold `before`.
    pub fn after(&self, cell: u32, before: Values) -> Values {
        match self.write(cell) {
            None => before,
            // Not every way through an edge of several steps writes all that some of them do.
            Some(write) if !self.steps.is_empty() => write.after.join(&before),
            Some(write) => write.after.clone(),
        }
    }

    pub fn bytes(&self) -> usize {
        self.source.capacity() * 64
            + self.reads.capacity() * size_of::<Read>()
            + self.writes.capacity() * (size_of::<Write>() + 32)
            + self.steps.capacity() * 4
    }
}

/// `cell + k` or `cell - k`, if the value of an assignment to this very cell is that.
fn added(a: &Assign) -> Option<i64> {
    let itself = |e: &Expr| match (e, &a.index) {
        (Expr::Var(v), None) => *v == a.target,
        (Expr::Element(v, i), Some(j)) => *v == a.target && **i == *j && j.as_const().is_some(),
        _ => false,
    };
    match &a.value {
        Expr::Binary(BinaryOp::Add, x, y) if itself(x) => y.as_const(),
        Expr::Binary(BinaryOp::Add, x, y) if itself(y) => x.as_const(),
        Expr::Binary(BinaryOp::Subtract, x, y) if itself(x) => y.as_const()?.checked_neg(),
        _ => None,
    }
}

/// What an event by itself does, `source` being what is known where it is enabled. `counted` are faults of the range.
pub(super) fn access(event: &Event, source: &Knowledge<'_>, possible: bool, ranges_fault: bool) -> Access {
    let mut known: Vec<(u32, Values)> = source.changed().map(|(cell, values)| (cell, values.clone())).collect();
    known.sort_unstable_by_key(|(cell, _)| *cell);
    let mut result = Access { possible, source: known, ..Access::default() };
    if !possible {
        return result;
    }
    let system = source.system;
    if event.fault.is_some() {
        // An event that is a fault changes nothing.
        result.may_fault = event.fault != system.outgrown;
        return result;
    }
    let mut reads: Vec<Read> = Vec::new();
    let mut read = |e: &Expr, known: &Knowledge<'_>, end: &dyn Fn(u32) -> bool| {
        cells_read(e, known, &mut |cell| reads.push(Read { cell, end: end(cell) }));
    };
    let never = |_: u32| false;
    if let Some(assertion) = &event.assertion {
        read(assertion, source, &never);
        let sure = !source.eval(assertion).contains(0) && !faults(assertion, source);
        result.may_fault |= !sure;
    }
    result.ends = ends(event, source);
    let mut current = source.clone();
    let mut writes: Vec<Write> = Vec::new();
    let mut write =
        |cell: u32, change: Change, end: bool| writes.push(Write { cell, change, end, after: Values::NONE });
    for m in &event.moves {
        let control = current.cells.control(system, m.process);
        current.set(control, Values::one(m.to as i64));
        if m.from != m.to || event.moves.iter().filter(|n| n.process == m.process).count() > 1 {
            write(control, Change::Set(m.to as i64), false);
        }
    }
    let mut ends_well = true;
    let mut added_to = Vec::new();
    for a in &event.effects {
        let variable = &system.variables[a.target.index()];
        let moment = if a.moment == Moment::Source { source } else { &current };
        let first = current.cells.first(a.target);
        let end = result.ends.iter().find(|end| end.owns(first));
        let index = a.index.as_ref().map_or(Values::one(0), |index| current.eval(index));
        if let Some(index) = &a.index {
            read(index, &current, &|cell| end.is_some_and(|end| end.fill == cell));
            let (low, high) = known_hull(index, &current);
            result.may_fault |= faults(index, &current) || low < 0 || high >= variable.cells() as i64;
        }
        let index = index.meet(&Values::between(0, variable.cells() as i64 - 1));
        let value = moment.eval(&a.value);
        let checked = ranges_fault && variable.domain.overflow == Overflow::Error;
        result.may_fault |= faults(&a.value, moment) || checked && !value.within(variable.domain);
        let stored = value.stored(variable.domain);
        let change = match (index.only(), added(a), stored.only()) {
            (Some(index), Some(k), _) => {
                added_to.push(first + index as u32);
                Change::Add(k)
            }
            (Some(_), None, Some(value)) => Change::Set(value),
            _ => Change::Any,
        };
        if !matches!(change, Change::Add(_)) {
            let front = |cell: u32| {
                let passes = |end: &End| match (end.receives, end.owns(first)) {
                    (true, true) => end.owns(cell),
                    (true, false) => a.moment == Moment::Source && end.is_front(cell),
                    _ => false,
                };
                result.ends.iter().any(passes)
            };
            read(&a.value, moment, &front);
        }
        for i in index.iter() {
            write(first + i as u32, change, end.is_some());
        }
        if !current.store(source, a) {
            ends_well = false;
            break;
        }
    }
    if !ends_well {
        // It never has a successor.
        writes.clear();
    }
    result.writes = merged(writes, &added_to, &mut reads, &current);
    sort_reads(&mut reads);
    result.reads = reads;
    result
}

fn known_hull(e: &Expr, known: &Knowledge<'_>) -> (i64, i64) {
    let values = known.eval(e);
    if values.is_empty() { (0, 0) } else { values.hull() }
}

/// One write for each cell; adding more than once, or together with something else, is no adding, and reads the cell.
fn merged(mut writes: Vec<Write>, added_to: &[u32], reads: &mut Vec<Read>, after: &Knowledge<'_>) -> Vec<Write> {
    writes.sort_by_key(|write| write.cell);
    let mut result: Vec<Write> = Vec::new();
    for write in writes {
        match result.last_mut() {
            Some(last) if last.cell == write.cell => {
                last.change = Change::Any;
                last.end &= write.end;
                if added_to.contains(&write.cell) {
                    reads.push(Read { cell: write.cell, end: false });
                }
            }
            _ => result.push(Write { after: after.get(write.cell).clone(), ..write }),
        }
    }
    result
}

/// By cell, each once; a cell that is read in two ways is read in the one that says less.
pub(super) fn sort_reads(reads: &mut Vec<Read>) {
    reads.sort_unstable();
    reads.dedup_by_key(|read| read.cell);
}
