//! Edges that are more than one step: a first event, and all that the process it leaves in charge can do by itself.
//!
//! Such an edge reads and writes whatever one of its steps does, and the guards of later steps are among what it reads,
//! for they decide where it leads. Only its first step can be looked at more closely, and only in cells that no later one
//! touches.

use crate::dependence::access::{Access, Change, Read, Write, sort_reads};
use crate::event::{Event, Then};
use crate::system::{ProcessId, System};
use crate::values::Values;
use std::collections::{HashMap, HashSet};

/// What is needed to follow a process that goes on by itself.
pub(super) struct Follow<'a> {
    pub system: &'a System,
    pub base: &'a [Values],
    /// What each event by itself does.
    pub single: &'a [Access],
    /// The cell of each process's location.
    pub controls: &'a [u32],
    /// The cells that guards of each event read, locations left out.
    pub guarded: &'a [Vec<u32>],
    by_location: HashMap<(u32, i64), Vec<u32>>,
}

impl<'a> Follow<'a> {
    pub fn new(
        system: &'a System,
        base: &'a [Values],
        single: &'a [Access],
        controls: &'a [u32],
        guarded: &'a [Vec<u32>],
    ) -> Follow<'a> {
        let mut by_location: HashMap<(u32, i64), Vec<u32>> = HashMap::new();
        for (number, event) in system.events.iter().enumerate() {
            if let Some(m) = event.moves.first().filter(|_| !event.late && single[number].possible) {
                by_location.entry((m.process.0, m.from as i64)).or_default().push(number as u32);
            }
        }
        Follow { system, base, single, controls, guarded, by_location }
    }

    /// Where `process` can be after an event.
    fn places(&self, event: usize, process: ProcessId) -> Vec<i64> {
        let control = self.controls[process.index()];
        let access = &self.single[event];
        let values = access.write(control).map_or_else(|| access.source(self.base, control), |write| &write.after);
        values.iter().collect()
    }

    fn steps_at(&self, process: ProcessId, place: i64) -> &[u32] {
        self.by_location.get(&(process.0, place)).map_or(&[], |steps| steps)
    }

    /// Can the process certainly go on from there?
    fn is_certain(&self, process: ProcessId, place: i64) -> bool {
        let certain = |event: &Event| event.moves.len() == 1 && event.guard.as_const().is_some_and(|guard| guard != 0);
        self.steps_at(process, place).iter().any(|&step| certain(&self.system.events[step as usize]))
    }

    /// The whole edge that begins with an event.
    pub fn edge(&self, first: usize) -> Access {
        let mut whole = self.single[first].clone();
        if !whole.possible || self.system.events[first].then == Then::Free {
            return whole;
        }
        let mut seen: HashSet<(u32, i64)> = HashSet::new();
        let mut members: HashSet<u32> = HashSet::new();
        let mut open = vec![first];
        while let Some(event) = open.pop() {
            let then = self.system.events[event].then;
            let Some(holder) = then.exclusive() else { continue };
            for place in self.places(event, holder) {
                whole.may_fault |= matches!(then, Then::DStep(_)) && !self.is_certain(holder, place);
                if !seen.insert((holder.0, place)) {
                    // Perhaps it comes back to where it was, and goes round for ever.
                    whole.may_fault = true;
                    continue;
                }
                for &step in self.steps_at(holder, place) {
                    if members.insert(step) {
                        open.push(step as usize);
                    }
                }
            }
        }
        whole.steps = members.into_iter().collect();
        whole.steps.sort_unstable();
        self.join(first, &mut whole);
        whole
    }

    /// What a cell can hold where an edge ends with this event: a process that must go on is not there for long.
    fn last(&self, event: usize, write: &Write) -> Values {
        let then = self.system.events[event].then;
        match then.exclusive() {
            Some(holder) if self.controls[holder.index()] == write.cell => {
                let stays = |place: &i64| matches!(then, Then::Atomic(_)) && !self.is_certain(holder, *place);
                Values::collect(write.after.iter().filter(stays))
            }
            _ => write.after.clone(),
        }
    }

    fn join(&self, first: usize, whole: &mut Access) {
        for write in &mut whole.writes {
            write.after = self.last(first, write);
        }
        let mut touched: HashSet<u32> = HashSet::new();
        let mut writes: HashMap<u32, Values> = HashMap::new();
        for &step in &whole.steps {
            let (access, event) = (&self.single[step as usize], &self.system.events[step as usize]);
            whole.may_fault |= access.may_fault;
            touched.extend(access.reads.iter().map(|read| read.cell));
            touched.extend(self.guarded[step as usize].iter());
            touched.extend(event.moves.iter().map(|m| self.controls[m.process.index()]));
            touched.extend(access.writes.iter().filter(|w| matches!(w.change, Change::Add(_))).map(|w| w.cell));
            // A process that stays where it is ends there too, though it writes nothing.
            let stays = event.moves.iter().filter(|m| m.from == m.to).map(|m| Write {
                cell: self.controls[m.process.index()],
                change: Change::Any,
                end: false,
                after: Values::one(m.to as i64),
            });
            for write in access.writes.iter().cloned().chain(stays) {
                let after = self.last(step as usize, &write);
                let joined = writes.get(&write.cell).map_or_else(|| after.clone(), |before| before.join(&after));
                writes.insert(write.cell, joined);
            }
        }
        let is_touched = |cell: &u32| touched.contains(cell) || writes.contains_key(cell);
        let disturbed = |first: u32, length: u32| (first..first + length).any(|cell| is_touched(&cell));
        let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut whole.ends).into_iter().partition(|end| {
            !disturbed(end.fill, 1) && !end.arrays.iter().any(|(first, length)| disturbed(*first, *length))
        });
        let loses = |cell: u32| lost.iter().any(|end| end.fill == cell || end.owns(cell));
        whole.ends = kept;
        for read in &mut whole.reads {
            read.end &= !loses(read.cell);
        }
        for write in &mut whole.writes {
            write.end &= !loses(write.cell);
            if is_touched(&write.cell) {
                if matches!(write.change, Change::Add(_)) {
                    whole.reads.push(Read { cell: write.cell, end: false });
                }
                write.change = Change::Any;
            }
            if let Some(later) = writes.get(&write.cell) {
                write.after = write.after.join(later);
            }
        }
        for write in &whole.writes {
            writes.remove(&write.cell);
        }
        let later = |(cell, after): (u32, Values)| Write { cell, change: Change::Any, end: false, after };
        whole.writes.extend(writes.into_iter().map(later));
        whole.writes.sort_unstable_by_key(|write| write.cell);
        whole.reads.extend(touched.into_iter().map(|cell| Read { cell, end: false }));
        sort_reads(&mut whole.reads);
    }
}
