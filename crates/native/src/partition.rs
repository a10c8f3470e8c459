//! Which events share a function of machine code.
//!
//! A small program is one function: nothing is faster. A large one is cut up, because the compiler's time grows faster
//! than its input and because a state needs only the code of the locations it is at. Whole processes share a function
//! while they are small; a large process has functions for groups of its locations, and a table that leads to them.
//! The order of the steps, and of the events within a step, is the order of the program's rules.

use crate::program::Rules;
use scrimp_system::ProcessId;
use std::ops::Range;

/// How many events one function may have, and how many steps a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Up to this many, the whole program is one function.
    pub whole: usize,
    /// In a larger program, the size at which a function is full.
    pub part: usize,
    /// As many steps do processes make by themselves from one state before those passed through are remembered.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { whole: 400, part: 100, steps: 100_000 }
    }
}

/// What one function does, segment after segment.
pub type Unit = Vec<Segment>;

#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// The events of the location where the process is, if it is among these; locations without events are left out.
    At { process: ProcessId, locations: Vec<(u32, Vec<u32>)> },
    /// Events to try in every state.
    Always(Vec<u32>),
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Call the function of this unit.
    Run(usize),
    /// Call the functions of the units that stand for the process's location.
    Select { process: ProcessId, units: Vec<Range<usize>> },
}

#[derive(Debug, Default)]
pub struct Partition {
    pub units: Vec<Unit>,
    pub steps: Vec<Step>,
}

impl Partition {
    pub fn new(rules: &Rules, limits: Limits) -> Partition {
        let count = |locations: &Vec<Vec<u32>>| locations.iter().map(Vec::len).sum::<usize>();
        let total = rules.always.len() + rules.by_location.iter().map(count).sum::<usize>();
        let part = if total <= limits.whole { usize::MAX } else { limits.part.max(1) };
        let mut partition = Partition::default();
        let mut open = Open::default();
        for (process, locations) in rules.by_location.iter().enumerate() {
            let process = ProcessId(process as u32);
            let size = count(locations);
            if size == 0 {
                continue;
            }
            if size > part {
                open.close(&mut partition);
                partition.cut(process, locations, part);
                continue;
            }
            if open.size.saturating_add(size) > part {
                open.close(&mut partition);
            }
            let kept = locations.iter().enumerate().filter(|(_, events)| !events.is_empty());
            let locations = kept.map(|(location, events)| (location as u32, events.clone())).collect();
            open.size += size;
            open.unit.push(Segment::At { process, locations });
        }
        for events in rules.always.chunks(part) {
            if open.size.saturating_add(events.len()) > part {
                open.close(&mut partition);
            }
            open.size += events.len();
            open.unit.push(Segment::Always(events.to_vec()));
        }
        open.close(&mut partition);
        partition
    }

    /// Units of one process each, and for each process one step: for tables of which only one process is run.
    pub fn by_process(rules: &Rules, limits: Limits) -> Partition {
        let mut partition = Partition::default();
        for (process, locations) in rules.by_location.iter().enumerate() {
            partition.cut(ProcessId(process as u32), locations, limits.part.max(1));
        }
        partition
    }

    /// Units for groups of locations of one process; a location too large for one unit has several.
    fn cut(&mut self, process: ProcessId, locations: &[Vec<u32>], part: usize) {
        let mut units = vec![0..0; locations.len()];
        let mut group: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut size = 0;
        let mut close = |group: &mut Vec<(u32, Vec<u32>)>, units: &mut Vec<Range<usize>>| {
            if !group.is_empty() {
                for (location, _) in group.iter() {
                    let range = &mut units[*location as usize];
                    let start = if range.start == range.end { self.units.len() } else { range.start };
                    *range = start..self.units.len() + 1;
                }
                self.units.push(vec![Segment::At { process, locations: std::mem::take(group) }]);
            }
        };
        for (location, events) in locations.iter().enumerate() {
            if size + events.len() > part {
                close(&mut group, &mut units);
                size = 0;
            }
            for events in events.chunks(part) {
                if size + events.len() > part {
                    close(&mut group, &mut units);
                    size = 0;
                }
                size += events.len();
                group.push((location as u32, events.to_vec()));
            }
        }
        close(&mut group, &mut units);
        self.steps.push(Step::Select { process, units });
    }
}

/// The unit being filled.
#[derive(Default)]
struct Open {
    unit: Unit,
    size: usize,
}

impl Open {
    fn close(&mut self, partition: &mut Partition) {
        if !self.unit.is_empty() {
            partition.steps.push(Step::Run(partition.units.len()));
            partition.units.push(std::mem::take(&mut self.unit));
        }
        self.size = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three processes, the second too large for any part, and events without moves.
    fn rules() -> Rules {
        let mut next = 0;
        let mut events = |count: u32| -> Vec<u32> {
            next += count;
            (next - count..next).collect()
        };
        let by_location = vec![
            vec![events(2), events(0), events(1)],
            vec![events(3), events(0), events(9), events(1), events(2)],
            vec![events(4)],
        ];
        let always = events(7);
        Rules::made_of(by_location, always, |_| 1)
    }

    /// What a state with these locations would have tried, in order.
    fn tried(partition: &Partition, locations: [u32; 3]) -> Vec<u32> {
        let mut order = Vec::new();
        let mut run = |unit: usize| {
            for segment in &partition.units[unit] {
                match segment {
                    Segment::Always(events) => order.extend(events),
                    Segment::At { process, locations: listed } => {
                        let here = listed.iter().filter(|(l, _)| *l == locations[process.index()]);
                        here.for_each(|(_, events)| order.extend(events));
                    }
                }
            }
        };
        for step in &partition.steps {
            match step {
                Step::Run(unit) => run(*unit),
                Step::Select { process, units } => {
                    units[locations[process.index()] as usize].clone().for_each(&mut run)
                }
            }
        }
        order
    }

    #[test]
    fn order_does_not_depend_on_the_limits() {
        let rules = rules();
        let whole = Partition::new(&rules, Limits { whole: 1000, part: 1, ..Limits::default() });
        assert_eq!(whole.units.len(), 1);
        for part in 1..12 {
            let cut = Partition::new(&rules, Limits { whole: 0, part, ..Limits::default() });
            for a in 0..3 {
                for b in 0..5 {
                    assert_eq!(tried(&cut, [a, b, 0]), tried(&whole, [a, b, 0]), "part {part}");
                }
            }
            let size = |segment: &Segment| match segment {
                Segment::Always(events) => events.len(),
                Segment::At { locations, .. } => locations.iter().map(|(_, events)| events.len()).sum(),
            };
            assert!(cut.units.iter().all(|unit| unit.iter().map(size).sum::<usize>() <= part));
        }
    }
}
