//! From guards and effects to masks: recognising that a system only compares with constants and adds constants.

use super::{Add, Clear, Equal, Range, is_all_fields, place};
use crate::program::Program;
use scrimp_system::{Assign, BinaryOp, Event, Expr, Intervals, Moment, Then, VarId, intervals};
use std::collections::{BTreeMap, BTreeSet};
use std::ops;

/// An event: its first condition, and where in the shared lists the others and its effects are. It fills a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Rule {
    pub first: Equal,
    /// Begin of its conditions, end of those by which it is enabled, and end of those that must hold for there to be room,
    /// of which it is a fault if they do not.
    equals: [u32; 3],
    ranges: [u32; 3],
    clears: u32,
    adds: (u32, u32),
    clears_end: u32,
    /// Where its conditions hold, that is a fault.
    pub fault: bool,
}

/// A condition by which an event can be found: a variable is not zero, or has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchable {
    pub word: u32,
    pub shift: u32,
    pub mask: u64,
    /// `None`: any value but zero.
    pub value: Option<u64>,
}

#[derive(Default)]
pub struct Reading {
    pub rules: Vec<Rule>,
    pub equals: Vec<Equal>,
    pub ranges: Vec<Range>,
    pub clears: Vec<Clear>,
    pub adds: Vec<Add>,
    /// For each event, the conditions by which it can be found.
    pub watchable: Vec<Vec<Watchable>>,
    /// For each event, whether its conditions contradict each other.
    pub never: Vec<bool>,
}

pub fn read(program: &Program) -> Option<Reading> {
    let system = &program.system;
    let whole = system.packed && program.is_plain() && system.processes.is_empty();
    // Only what is in the packed part can be read as words.
    if !whole || !is_all_fields(program) || program.layout.bytes() == 0 {
        return None;
    }
    let mut reading = Reading::default();
    for event in &system.events {
        reading.event(program, event)?;
    }
    Some(reading)
}

impl Reading {
    fn event(&mut self, program: &Program, event: &Event) -> Option<()> {
        let plain = event.moves.is_empty() && event.assertion.is_none() && event.then == Then::Free && !event.late;
        let intervals = intervals(&program.system, &event.guard).filter(|_| plain)?;
        let mut watchable = Vec::new();
        let (mut equals, mut ranges) = (BTreeMap::new(), Vec::new());
        let mut never = false;
        for (&variable, &(low, high)) in &intervals {
            let domain = program.system.variables[variable.index()].domain;
            let (low, high) = (low.max(domain.low), high.min(domain.high));
            if low > high {
                never = true;
            }
            let Some((word, shift, mask)) = place(&program.layout, variable) else { continue };
            if low == high {
                require(&mut equals, word, mask << shift, (low as u64) << shift);
                let value = if mask == 1 && low == 1 { None } else { Some(low as u64) };
                watchable.push(Watchable { word, shift, mask, value });
            } else if low > domain.low || high < domain.high {
                ranges.push(Range::new((word, shift, mask), low.max(0), high.max(0)));
                if low > 0 {
                    watchable.push(Watchable { word, shift, mask, value: None });
                }
            }
        }
        if never {
            // No value is both: the bits of a word cannot be what they are not.
            equals.insert(0, (0, 1));
        }
        let effects = Effects::of(program, &event.effects, &intervals)?;
        let mut equals = equals.into_iter().map(Equal::of);
        let first = equals.next().unwrap_or(Equal { word: 0, mask: 0, value: 0 });
        let equals = append(&mut self.equals, equals);
        let ranges = append(&mut self.ranges, ranges.into_iter());
        let room = append(&mut self.equals, effects.room.into_iter().map(Equal::of));
        let wide_room = append(&mut self.ranges, effects.wide_room.into_iter());
        let clears = append(&mut self.clears, effects.clears.into_iter().map(|(word, mask)| Clear { word, mask }));
        let adds = append(&mut self.adds, effects.adds.into_iter().map(|(word, amount)| Add { word, amount }));
        self.rules.push(Rule {
            first,
            equals: [equals.0, equals.1, room.1],
            ranges: [ranges.0, ranges.1, wide_room.1],
            clears: clears.0,
            clears_end: clears.1,
            adds,
            fault: event.fault.is_some(),
        });
        self.never.push(never);
        self.watchable.push(watchable);
        Some(())
    }
}

/// What an event does to the words.
#[derive(Default)]
struct Effects {
    room: BTreeMap<u32, (u64, u64)>,
    wide_room: Vec<Range>,
    clears: BTreeMap<u32, u64>,
    adds: BTreeMap<u32, u64>,
}

impl Effects {
    fn of(program: &Program, assigns: &[Assign], intervals: &Intervals) -> Option<Effects> {
        let mut effects = Effects::default();
        let mut written: BTreeSet<VarId> = BTreeSet::new();
        for assign in assigns {
            if assign.index.is_some() || written.contains(&assign.target) {
                return None;
            }
            effects.assign(program, assign, intervals, &written)?;
            written.insert(assign.target);
        }
        // Words that stay as they are need not be touched.
        effects.adds.retain(|_, amount| *amount != 0);
        Some(effects)
    }

    /// The event always ends in a fault: a word is never what it cannot be.
    fn no_room(&mut self, word: u32) {
        self.room.insert(word, (0, 1));
    }

    fn assign(
        &mut self,
        program: &Program,
        assign: &Assign,
        intervals: &Intervals,
        written: &BTreeSet<VarId>,
    ) -> Option<()> {
        let variable = assign.target;
        let domain = program.system.variables[variable.index()].domain;
        let (low, high) = intervals.get(&variable).copied().unwrap_or((domain.low, domain.high));
        let (low, high) = (low.max(domain.low), high.min(domain.high));
        let amount = match &assign.value {
            Expr::Const(value) if !domain.contains(*value) => {
                self.no_room(0);
                return Some(());
            }
            Expr::Const(value) => {
                let Some((word, shift, mask)) = place(&program.layout, variable) else { return Some(()) };
                let add = if low == high {
                    value.wrapping_sub(low) as u64
                } else {
                    *self.clears.entry(word).or_default() |= mask << shift;
                    *value as u64
                };
                let sum = self.adds.entry(word).or_default();
                *sum = sum.wrapping_add(add << shift);
                return Some(());
            }
            Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
                (Expr::Var(v), Expr::Const(amount)) if *v == variable => *amount,
                _ => return None,
            },
            _ => return None,
        };
        if assign.moment == Moment::Current && written.contains(&variable) {
            return None;
        }
        let (least, most) = (domain.low.checked_sub(amount)?.max(domain.low), domain.high.checked_sub(amount)?);
        let most = most.min(domain.high);
        let Some((word, shift, mask)) = place(&program.layout, variable) else {
            // Always the same value: there is no room for any other.
            if amount != 0 {
                self.no_room(0);
            }
            return Some(());
        };
        if low < least || high > most {
            if least > most {
                self.no_room(word);
            } else if least == most {
                require(&mut self.room, word, mask << shift, (least as u64) << shift);
            } else {
                self.wide_room.push(Range::new((word, shift, mask), least, most));
            }
        }
        let sum = self.adds.entry(word).or_default();
        *sum = sum.wrapping_add((amount as u64) << shift);
        Some(())
    }
}

fn require(equals: &mut BTreeMap<u32, (u64, u64)>, word: u32, mask: u64, value: u64) {
    let entry = equals.entry(word).or_default();
    // What can never hold stays so.
    if entry.0 != 0 || entry.1 == 0 {
        *entry = (entry.0 | mask, entry.1 | value);
    }
}

fn append<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) -> (u32, u32) {
    let start = list.len() as u32;
    list.extend(items);
    (start, list.len() as u32)
}

impl Equal {
    fn of((word, (mask, value)): (u32, (u64, u64))) -> Equal {
        Equal { word, mask, value }
    }
}

impl Range {
    /// From 0 or more to no less.
    fn new((word, shift, mask): (u32, u32, u64), low: i64, high: i64) -> Range {
        Range { word, shift, mask, low: low as u64, more: high.wrapping_sub(low) as u64 }
    }
}

impl Rule {
    /// The conditions after the first by which it is enabled.
    #[inline]
    pub fn equals(&self) -> ops::Range<usize> {
        span(self.equals[0], self.equals[1])
    }

    #[inline]
    pub fn ranges(&self) -> ops::Range<usize> {
        span(self.ranges[0], self.ranges[1])
    }

    #[inline]
    pub fn room(&self) -> ops::Range<usize> {
        span(self.equals[1], self.equals[2])
    }

    #[inline]
    pub fn wide_room(&self) -> ops::Range<usize> {
        span(self.ranges[1], self.ranges[2])
    }

    #[inline]
    pub fn clears(&self) -> ops::Range<usize> {
        span(self.clears, self.clears_end)
    }

    #[inline]
    pub fn adds(&self) -> ops::Range<usize> {
        span(self.adds.0, self.adds.1)
    }
}

#[inline]
fn span(start: u32, end: u32) -> ops::Range<usize> {
    start as usize..end as usize
}
