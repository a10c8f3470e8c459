//! Which processes and channels there can be: the instances that a system has room for.
//!
//! A process's number is its place in a stack: `run` puts a new one on top, and only the topmost can end. So a place can be
//! taken by processes of several types, at different times; an instance is a type at a place. Channels that a process
//! declares are numbered after all others that exist when it starts, so two instances can also differ in that.

use super::core::{LeafInitial, Program, Value, Variable};
use super::program::MAX_PROCESSES;
use std::collections::BTreeSet;

/// A proctype at a place of the stack of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Instance {
    pub slot: usize,
    pub process: usize,
    /// How many channels exist before its own; 0 for a process without channels of its own.
    pub channels: u32,
    /// The priority that it keeps; 0 where the program sets priorities, which are then variables.
    pub priority: i64,
}

/// A statement of a proctype, by state, transition and alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Site {
    pub state: usize,
    pub transition: usize,
    pub alternative: usize,
}

/// A `run` that an instance can execute, and the instance that it then starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Launch {
    pub from: Instance,
    pub site: Site,
    pub to: Instance,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instances {
    pub all: Vec<Instance>,
    pub launches: BTreeSet<Launch>,
}

impl Launch {
    /// The proctype that the `run` starts, the arguments and the priority.
    fn started<'p>(&self, program: &'p Program) -> Option<(usize, &'p [Value], Option<i64>)> {
        let state = program.processes.get(self.from.process)?.flow.states.get(self.site.state)?;
        let alternative = state.transitions.get(self.site.transition)?.alternatives.get(self.site.alternative)?;
        alternative.action.statement.run()
    }

    /// The arguments of the `run`.
    pub fn run<'p>(&self, program: &'p Program) -> Option<&'p [Value]> {
        self.started(program).map(|(_, arguments, _)| arguments)
    }

    /// Can this `run` start this instance, for all that the program's text says?
    fn is_possible(&self, program: &Program) -> bool {
        let Some((process, _, priority)) = self.started(program) else { return false };
        let own = (0..program.processes.len()).map(|process| u64::from(own_channels(program, process))).max();
        let channels = u64::from(count_channels(&program.globals)) + MAX_PROCESSES as u64 * own.unwrap_or(0);
        let Instance { slot, channels: before, .. } = self.to;
        self.to == Instance::new(program, slot, process, before, priority.unwrap_or(1)) && u64::from(before) <= channels
    }
}

impl Instances {
    /// Those that exist at first.
    pub fn initial(program: &Program) -> Instances {
        let mut channels = count_channels(&program.globals);
        let mut all = Vec::new();
        for (slot, &process) in program.active.iter().enumerate() {
            let own = own_channels(program, process);
            all.push(Instance::new(program, slot, process, channels, program.processes[process].priority));
            channels += own;
        }
        Instances { all, launches: BTreeSet::new() }
    }

    pub fn slots(&self) -> usize {
        self.all.iter().map(|i| i.slot + 1).max().unwrap_or(0)
    }

    /// All channels, those of instances that are never there together among them.
    pub fn channels(&self, program: &Program) -> Vec<Initialised> {
        let mut all = Vec::new();
        let mut add = |instance: Option<usize>, variables: &[Variable], mut id: u32| {
            for (variable, leaf) in variables.iter().flat_map(|v| v.leaves.iter().map(move |leaf| (v, leaf))) {
                let LeafInitial::Channel(kind) = leaf.initial else { continue };
                for cell in 0..leaf.cells() {
                    id += 1;
                    let element = if leaf.dimensions.is_empty() { String::new() } else { format!("[{cell}]") };
                    let name = format!("{}{}{element}", variable.name, leaf.suffix);
                    all.push(Initialised { instance, id, kind, name });
                }
            }
        };
        add(None, &program.globals, 0);
        for (number, instance) in self.all.iter().enumerate() {
            add(Some(number), &program.processes[instance.process].locals, instance.channels);
        }
        all
    }

    /// Makes room for what a `run` starts; `false` if there was room.
    pub fn add(&mut self, launch: Launch) -> bool {
        if !self.all.contains(&launch.to) {
            self.all.push(launch.to);
            self.all.sort_unstable();
        }
        self.launches.insert(launch)
    }
}

impl Instance {
    /// A proctype at a place, where so many channels exist already, started with a priority.
    pub fn new(program: &Program, slot: usize, process: usize, channels: u32, priority: i64) -> Instance {
        let channels = if own_channels(program, process) > 0 { channels } else { 0 };
        Instance { slot, process, channels, priority: if program.sets_priority { 0 } else { priority } }
    }

    fn numbers(&self) -> [u64; 4] {
        [self.slot as u64, self.process as u64, u64::from(self.channels), self.priority as u64]
    }

    fn of(numbers: &[u64]) -> Option<Instance> {
        let &[slot, process, channels, priority] = numbers else { return None };
        let slot = usize::try_from(slot).ok().filter(|slot| *slot < MAX_PROCESSES)?;
        let (process, channels) = (usize::try_from(process).ok()?, u32::try_from(channels).ok()?);
        Some(Instance { slot, process, channels, priority: priority as i64 })
    }
}

impl Instances {
    /// The room that was made, as numbers: one that says that they are these, and eleven for each launch.
    pub fn numbers(&self) -> Vec<u64> {
        let mut numbers = vec![MARK];
        for Launch { from, site, to } in &self.launches {
            numbers.extend(from.numbers());
            numbers.extend([site.state, site.transition, site.alternative].map(|n| n as u64));
            numbers.extend(to.numbers());
        }
        numbers
    }
}

/// The launches of a program that are given as [numbers](Instances::numbers); `None` where they are none of it.
pub(crate) fn launches(program: &Program, numbers: &[u64]) -> Option<Vec<Launch>> {
    let (&MARK, rest) = numbers.split_first()? else { return None };
    let (chunks, more) = rest.as_chunks::<11>();
    let launch = |numbers: &[u64; 11]| {
        let place = |at: usize| usize::try_from(numbers[at]).ok();
        let site = Site { state: place(4)?, transition: place(5)?, alternative: place(6)? };
        let launch = Launch { from: Instance::of(&numbers[..4])?, site, to: Instance::of(&numbers[7..])? };
        launch.is_possible(program).then_some(launch)
    };
    let all = chunks.iter().map(launch).collect::<Option<Vec<Launch>>>()?;
    // Whoever starts another was started, or was there from the beginning.
    let started: BTreeSet<Instance> =
        Instances::initial(program).all.into_iter().chain(all.iter().map(|launch| launch.to)).collect();
    (more.is_empty() && all.iter().all(|launch| started.contains(&launch.from))).then_some(all)
}

/// What the numbers of a program's room begin with.
const MARK: u64 = 1;

/// A channel that a variable is initialised with.
#[derive(Debug)]
pub(crate) struct Initialised {
    /// Whose it is; `None` for a global one.
    pub instance: Option<usize>,
    pub id: u32,
    pub kind: usize,
    /// The variable, with the element of an array.
    pub name: String,
}

/// How many channels the variables begin with.
pub(crate) fn count_channels(variables: &[Variable]) -> u32 {
    let leaves = variables.iter().flat_map(|v| &v.leaves);
    let channels = leaves.filter(|leaf| matches!(leaf.initial, LeafInitial::Channel(_)));
    channels.map(|leaf| leaf.cells() as u32).sum()
}

/// How many channels a process of this type brings with it.
pub(crate) fn own_channels(program: &Program, process: usize) -> u32 {
    count_channels(&program.processes[process].locals)
}
