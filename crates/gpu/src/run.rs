//! Decides properties on a device: makes the text, runs it, begins again with more room where that turns out to be needed, and
//! lets the model itself confirm what was found.

use crate::device::Device;
use crate::events::Numbering;
use crate::key::Key;
use crate::learn::Ranges;
use crate::levels::{Counts, Halt, Levels, Shape};
use crate::packing::Packing;
use crate::source::{self, FIRST_CONDITION, Source, Target, found_words};
use crate::way::Way;
use scrimp_core::{Control, GraphFacts, Limit, Property, PropertyKind, PropertyResult, Trace, Verdict};
use scrimp_system::{Batch, Expr, Fault, FaultRecord, Layout, Model, System};
use std::io;
use std::time::{Duration, Instant};

/// Conditions that are looked for at once, at most.
const MOST_CONDITIONS: usize = 60;
/// The table of parts: buckets, as a power of two, at first and at most.
const FEWEST_NODES: u32 = 12;
const MANY_NODES: u32 = 22;
const MOST_NODES: u32 = 26;

/// How to go about it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The bytes of the device that may be taken, and those beside it: for levels in which a run is found again.
    pub memory: usize,
    pub beside: usize,
    /// Go on after the first violation, until every property is decided.
    pub keep_going: bool,
}

/// Everything that came of it.
#[derive(Debug, Clone)]
pub struct GpuReport {
    pub properties: Vec<PropertyResult>,
    /// The limit that ended it before its work was done.
    pub limit: Option<Limit>,
    /// True when every reachable state was visited.
    pub exhaustive: bool,
    pub facts: GraphFacts,
    /// The model has grown beyond the system that was made for it: a larger one is needed, and this one decides nothing.
    pub outgrown: bool,
    /// Bits of a state.
    pub state_bits: u32,
    /// Bytes of the tables when it ended, and the most bytes of the device that were taken.
    pub table_bytes: usize,
    pub peak_bytes: usize,
    pub remarks: Vec<String>,
    /// How long the search took that came to an end, and how long it took to compile kernels before.
    pub searched: Duration,
    pub made: Duration,
    pub elapsed: Duration,
}

/// How a model lies on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Bits of a state.
    pub state_bits: u32,
    /// Is it too wide for one slot of the table, so that its parts have numbers?
    pub parts: bool,
    /// Threads that try the events of one state.
    pub groups: usize,
}

/// Looks at how a model would lie in so much memory of a device; says why, where it does not suit one.
pub fn fit(model: &dyn Model, system: &System, layout: &Layout, memory: usize) -> Result<Fit, String> {
    system.validate().map_err(|broken| broken.0)?;
    let packing = Packing::new(system, Ranges::learn(model, system, layout).all())?;
    let key = Key::new(packing.bits(), most_log(memory), node_log(memory));
    Ok(Fit { state_bits: packing.bits(), parts: key.parts, groups: Numbering::new(system).groups.len() })
}

/// The table of parts at first, by the memory: a larger one later is another text, and a search that begins again.
fn node_log(memory: usize) -> u32 {
    (memory / 64 / 128).max(1).ilog2().clamp(FEWEST_NODES, MANY_NODES)
}

/// A table of an eighth of the memory may be the smallest: its buckets, as a power of two.
fn most_log(memory: usize) -> u32 {
    (memory / 8 / 128).max(2).ilog2()
}

/// The text that is compiled for a model in so much memory, with what the conditions of goals need.
pub fn text(
    model: &dyn Model,
    system: &System,
    layout: &Layout,
    goals: &[Property<Expr>],
    memory: usize,
    target: Target,
) -> io::Result<String> {
    let packing = Packing::new(system, Ranges::learn(model, system, layout).all()).map_err(invalid)?;
    let (numbering, node_log) = (Numbering::new(system), node_log(memory));
    let key = Key::new(packing.bits(), most_log(memory), node_log);
    let wanted = &wanted(goals);
    Ok(Source { system, packing: &packing, numbering: &numbering, key, node_log, wanted }.text(target))
}

/// The conditions that are looked for, each with the value that it has where it is found.
fn wanted(goals: &[Property<Expr>]) -> Vec<(Expr, bool)> {
    let of = |goal: &Property<Expr>| Some((goal.condition()?.clone(), matches!(goal.kind, PropertyKind::Reach(_))));
    goals.iter().filter_map(of).collect()
}

/// Decides `goals` of `system`, of which `model` is the runnable form with states of this layout; without goals, counts. Fails
/// where the system cannot be run on the device.
pub fn run(
    model: &dyn Model,
    system: &System,
    layout: &Layout,
    goals: &[Property<Expr>],
    options: &Options,
    control: &Control,
    device: &mut dyn Device,
) -> io::Result<GpuReport> {
    if let Some(goal) = goals.iter().find(|goal| goal.kind.is_about_runs()) {
        return Err(invalid(format!(
            "--engine gpu does not support property {}, which is about infinite runs",
            goal.name
        )));
    }
    system.validate().map_err(|broken| invalid(broken.0))?;
    let wanted = wanted(goals);
    if wanted.len() > MOST_CONDITIONS {
        return Err(invalid(format!("more than {MOST_CONDITIONS} conditions at once are not supported")));
    }
    let memory = options.memory.min(device.free_bytes());
    let options = &Options { memory, ..options.clone() };
    let numbering = Numbering::new(system);
    let mut ranges = Ranges::learn(model, system, layout);
    let (mut node_log, mut remarks, mut made) = (node_log(memory), Vec::new(), Duration::ZERO);
    loop {
        let packing = Packing::new(system, ranges.all()).map_err(invalid)?;
        let key = Key::new(packing.bits(), most_log(memory), node_log);
        let text = Source { system, packing: &packing, numbering: &numbering, key, node_log, wanted: &wanted };
        let begun = Instant::now();
        let stop = || control.stopped(0).is_some();
        if let Err(error) = device.load(&text.text(device.target()), &stop) {
            return match (error.kind(), control.stopped(0)) {
                (io::ErrorKind::Interrupted, Some(limit)) => Ok(nothing(goals, limit, remarks, control)),
                _ => Err(error),
            };
        }
        made += begun.elapsed();
        let shape = Shape {
            words: packing.words(),
            key,
            node_log,
            groups: numbering.groups.len() as u32,
            findings: FIRST_CONDITION + wanted.len(),
            found_words: found_words(&packing),
        };
        let run = Run { model, layout, goals, options, control, device, packing: &packing, ranges: &ranges, shape };
        match run.attempt() {
            Ok(report) => {
                remarks.extend(report.remarks);
                return Ok(GpuReport { remarks, made, ..report });
            }
            Err(Halt::Widen(variables)) => {
                let names: Vec<String> = variables.iter().map(|variable| system.full_name(*variable)).collect();
                let names = names.join(", ");
                if variables.iter().filter(|variable| ranges.widen(system, **variable)).count() == 0 {
                    return Err(io::Error::other(format!("internal error: {names} has all the room there is")));
                }
                remarks.push(format!("values of {names} went beyond those seen at first: the search started again"));
            }
            Err(Halt::Parts) if node_log < MOST_NODES => node_log += 2,
            Err(Halt::Parts) => return Ok(nothing(goals, Limit::Memory, remarks, control)),
            Err(Halt::TooLong) => {
                let why = "an atomic sequence has more steps, or more branches, than --engine gpu follows";
                return Err(invalid(why.to_string()));
            }
            Err(Halt::Failed(error)) => return Err(error),
            Err(stop) => return Err(io::Error::other(format!("internal error: {stop:?}"))),
        }
        if let Some(limit) = control.stopped(0) {
            return Ok(nothing(goals, limit, remarks, control));
        }
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// The report of a search that was stopped before it began.
fn nothing(goals: &[Property<Expr>], limit: Limit, remarks: Vec<String>, control: &Control) -> GpuReport {
    GpuReport {
        properties: goals.iter().map(|goal| PropertyResult::undecided(&goal.name)).collect(),
        limit: Some(limit),
        exhaustive: false,
        facts: GraphFacts::default(),
        outgrown: false,
        state_bits: 0,
        table_bytes: 0,
        peak_bytes: 0,
        remarks,
        searched: Duration::ZERO,
        made: Duration::ZERO,
        elapsed: control.elapsed(),
    }
}

/// One search with one text.
struct Run<'a> {
    model: &'a dyn Model,
    layout: &'a Layout,
    goals: &'a [Property<Expr>],
    options: &'a Options,
    control: &'a Control,
    device: &'a dyn Device,
    packing: &'a Packing,
    ranges: &'a Ranges,
    shape: Shape,
}

/// A state that decides a property, and its level.
struct Finding {
    goal: usize,
    words: Vec<u32>,
    level: usize,
}

impl Run<'_> {
    fn attempt(&self) -> Result<GpuReport, Halt> {
        let (initial, begun) = (self.initial()?, Instant::now());
        let memory = self.options.memory;
        let mut findings: Vec<Finding> = Vec::new();
        let mut levels = match Levels::new(self.device, self.shape, memory) {
            Err(Halt::Limit(limit)) => return Ok(nothing(self.goals, limit, Vec::new(), self.control)),
            levels => levels?,
        };
        let (mut limit, mut outgrown, mut open) = (None, false, 0);
        match levels.begin(&initial) {
            Ok(()) => {}
            Err(Halt::Limit(reached)) => limit = Some(reached),
            Err(other) => return Err(other),
        }
        self.collect(&levels, levels.widths.len().saturating_sub(1), &mut findings)?;
        let initial_states = levels.width;
        while limit.is_none() && levels.width > 0 && !self.is_over(&findings) {
            match levels.expand(self.control) {
                Ok(()) => {
                    // What is new is the last level, or would be.
                    let fresh = levels.widths.len() - (levels.width > 0) as usize;
                    self.collect(&levels, fresh, &mut findings)?;
                }
                Err(Halt::Limit(reached)) => {
                    limit = Some(reached);
                    self.collect(&levels, levels.widths.len(), &mut findings)?;
                    open = levels.width - levels.expanded;
                }
                Err(Halt::Outgrown) => {
                    // The model learns from the state that it is too small.
                    let state = self.packing.unpack(self.layout, &levels.finding(source::TOO_SMALL)?);
                    self.model.expand(&state, &mut Batch::new(state.len()));
                    outgrown = true;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        let searched = begun.elapsed();
        let exhaustive = limit.is_none() && !outgrown && levels.width == 0;
        if !self.ranges.agree(&levels.widths, exhaustive) {
            let why = format!("internal error: {} finds other states than the model", self.device.name());
            return Err(Halt::Failed(io::Error::other(why)));
        }
        let Counts { next, transitions, faults, deadlocks, degree, .. } = levels.counts;
        let mut facts = GraphFacts {
            states: levels.states() + next,
            transitions,
            deadlocks,
            faults,
            initial_states,
            depth: levels.widths.len() as u32,
            widest: levels.widths.iter().copied().max().unwrap_or(0),
            max_out_degree: degree,
            open: open + next,
            ..GraphFacts::default()
        };
        if limit.is_none() && !exhaustive {
            facts.open = levels.width;
        }
        facts.set_level_sizes(levels.widths.iter().copied());
        let (table_bytes, widths) = (levels.table_bytes(), levels.widths.clone());
        let peak_bytes = levels.peak;
        drop(levels);
        let mut remarks = Vec::new();
        let mut properties: Vec<PropertyResult> = Vec::new();
        for (goal, property) in self.goals.iter().enumerate() {
            let finding = findings.iter().find(|finding| finding.goal == goal && !outgrown);
            properties.push(match finding {
                Some(finding) => self.shown(property, finding, &widths, &initial, &mut remarks)?,
                None => {
                    let verdict = match (exhaustive, property.finding_violates()) {
                        (false, _) => Verdict::Undecided,
                        (true, true) => Verdict::Verified,
                        (true, false) => Verdict::Violated,
                    };
                    PropertyResult { verdict, ..PropertyResult::undecided(&property.name) }
                }
            });
        }
        Ok(GpuReport {
            properties,
            limit,
            exhaustive,
            facts,
            outgrown,
            state_bits: self.packing.bits(),
            table_bytes,
            peak_bytes,
            remarks,
            searched,
            made: Duration::ZERO,
            elapsed: self.control.elapsed(),
        })
    }

    fn initial(&self) -> Result<Vec<u32>, Halt> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.initial(&mut batch);
        let mut words = Vec::new();
        for i in 0..batch.len() {
            let packed = self.packing.pack(self.layout, batch.state(i), &mut words);
            packed.map_err(|(variable, _)| Halt::Widen(vec![variable]))?;
        }
        Ok(words)
    }

    /// Takes note of what was found: in new states, which are on the level `fresh`, and where those before them were expanded.
    fn collect(&self, levels: &Levels, fresh: usize, findings: &mut Vec<Finding>) -> Result<(), Halt> {
        let mut conditions = FIRST_CONDITION..;
        for (goal, property) in self.goals.iter().enumerate() {
            let (what, level) = match &property.kind {
                PropertyKind::Deadlock => (source::DEADLOCK, fresh.saturating_sub(1)),
                PropertyKind::Faults => (source::FAULT, fresh.saturating_sub(1)),
                PropertyKind::Assertions => (source::VIOLATION, fresh.saturating_sub(1)),
                _ => (conditions.next().unwrap_or(FIRST_CONDITION), fresh),
            };
            if levels.counts.found >> what & 1 == 1 && findings.iter().all(|finding| finding.goal != goal) {
                findings.push(Finding { goal, words: levels.finding(what)?, level });
            }
        }
        Ok(())
    }

    /// Is all decided, or enough?
    fn is_over(&self, findings: &[Finding]) -> bool {
        let violated = findings.iter().any(|finding| self.goals[finding.goal].finding_violates());
        let all = !self.goals.is_empty() && findings.len() == self.goals.len();
        all || violated && !self.options.keep_going
    }

    /// The verdict that a state shows, with a shortest run to it; only if the model agrees.
    fn shown(
        &self,
        property: &Property<Expr>,
        finding: &Finding,
        widths: &[u64],
        initial: &[u32],
        remarks: &mut Vec<String>,
    ) -> Result<PropertyResult, Halt> {
        let mut result = PropertyResult::undecided(&property.name);
        let state = self.packing.unpack(self.layout, &finding.words);
        let Some((fault, condition_fault)) = self.confirmed(property, &state) else {
            remarks.push(format!("{}: internal error: the model does not agree with what was found", property.name));
            return Ok(result);
        };
        result.verdict = if property.finding_violates() { Verdict::Violated } else { Verdict::Verified };
        let way = Way {
            device: self.device,
            shape: self.shape,
            memory: self.options.memory,
            beside: self.options.beside,
            widths,
            initial,
        };
        match way.to(finding.level, &finding.words, self.control) {
            Ok(path) => {
                let path: Vec<Vec<u8>> = path.iter().map(|words| self.packing.unpack(self.layout, words)).collect();
                result.trace = Trace::through(self.model, &path);
            }
            // What was found stands.
            Err(Halt::Limit(_)) => remarks.push(format!("{}: no time or memory to find the run again", property.name)),
            Err(other) => return Err(other),
        }
        result.shortest = result.trace.as_ref().is_some_and(|trace| trace.steps.len() == finding.level);
        (result.fault, result.condition_fault) = (fault.map(|record| (record.event, record.fault)), condition_fault);
        result.state = Some(state);
        Ok(result)
    }

    /// Does the model say that this state decides the property? With the event at fault, and the fault of the condition.
    fn confirmed(&self, property: &Property<Expr>, state: &[u8]) -> Option<(Option<FaultRecord>, Option<Fault>)> {
        let mut batch = Batch::new(state.len());
        self.model.expand(state, &mut batch);
        let at_fault = |asserted: bool| {
            batch.faults().iter().copied().find(|record| (record.fault == Fault::Assertion) == asserted)
        };
        match &property.kind {
            PropertyKind::Faults => at_fault(false).map(|record| (Some(record), None)),
            PropertyKind::Assertions => at_fault(true).map(|record| (Some(record), None)),
            PropertyKind::Deadlock => {
                let successors = batch.len();
                batch.take_deadlock(successors).then_some((None, None))
            }
            PropertyKind::Invariant(condition) => match self.layout.holds(condition, state) {
                Ok(true) => None,
                Ok(false) => Some((None, None)),
                Err(fault) => Some((None, Some(fault))),
            },
            PropertyKind::Reach(condition) => (self.layout.holds(condition, state) == Ok(true)).then_some((None, None)),
            _ => None,
        }
    }
}
