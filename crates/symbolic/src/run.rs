//! From a system to answers about its states, by sets.

use crate::answers;
use crate::diagram::{Halt, STACK_PER_LEVEL, Set};
use crate::engine::{Engine, REORDER_FROM, arranged};
use crate::options::{Options, Order};
use crate::reach::{Reached, Strategy, reach};
use crate::reduce::{Reduction, reach_reduced};
use crate::tokens::most_tokens;
use crate::trace::{Lost, trace};
use num_bigint::BigUint;
use scrimp_core::{
    Budget, Control, Limit, Property, PropertyKind, PropertyResult, Verdict,
    budget::{default_memory, peak_resident},
};
use scrimp_system::{Batch, Expr, Fault, Layout, Model, System};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Bytes kept back for the program's own code, of which a part is only loaded when it runs.
const UNSEEN: usize = 1 << 20;

/// What came of it.
#[derive(Debug, Clone)]
pub struct SymbolicReport {
    /// The limit that ended it before its work was done.
    pub limit: Option<Limit>,
    /// Every reachable state is in the set or, where events were left out, every one that matters for the questions.
    pub exhaustive: bool,
    /// Events were left out: the set need not hold all states.
    pub reduced: bool,
    /// States in the set; all that there are if it is exhaustive.
    pub states: BigUint,
    pub initial_states: BigUint,
    /// States with the events that happen there; unknown where one step is several events.
    pub transitions: Option<BigUint>,
    pub deadlocks: Option<BigUint>,
    /// Rings of a breadth-first search, and the states of the largest.
    pub depth: Option<u64>,
    pub widest: Option<BigUint>,
    pub properties: Vec<PropertyResult>,
    pub strategy: Strategy,
    /// Levels of a diagram, nodes of the set of all states, the most nodes at a time, and bytes.
    pub levels: usize,
    pub nodes: usize,
    pub peak_nodes: usize,
    pub bytes: usize,
    pub collections: u64,
    /// How often the levels were put into a better order.
    pub reorderings: u64,
    /// The most tokens in one place and in all places of a marking, for nets.
    pub tokens: Option<(u64, u64)>,
    /// The system was made too small for its model: nothing of this counts.
    pub outgrown: bool,
    pub remarks: Vec<String>,
    pub peak_resident: Option<usize>,
    pub elapsed: Duration,
}

/// Why a system cannot be looked at by sets.
pub fn refused(system: &System) -> Option<String> {
    system.claim.as_ref().map(|_| "never claims need --engine explicit".to_string())
}

/// Why no event of a system can be left out.
pub fn irreducible(system: &System) -> Option<String> {
    Reduction::refused(system)
}

/// Works out the reachable states of a system and what they say of these questions. `model` is the same system, to run
/// what is reported. Fails where it cannot begin: the system is refused, or there is no memory or no thread.
pub fn run(
    model: &dyn Model,
    system: &System,
    layout: &Layout,
    questions: &[Property<Expr>],
    options: &Options,
    control: &Control,
) -> io::Result<SymbolicReport> {
    let reason = refused(system)
        .or_else(|| options.reduce.then(|| Reduction::refused(system)).flatten())
        .or_else(|| questions.iter().find_map(|question| crate::temporal::refused(question, options)));
    if let Some(reason) = reason {
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    let budget = Arc::new(Budget::new(options.memory.unwrap_or_else(default_memory)));
    budget.hold(UNSEEN);
    let cells: usize = system.variables.iter().map(|variable| variable.cells()).sum();
    // Only what is used of it counts.
    let stack = (256 << 20) + 4 * STACK_PER_LEVEL * (cells + 1);
    std::thread::scope(|scope| {
        let work = || Work::new(model, system, layout, questions, options, control, &budget)?.answer();
        let thread = std::thread::Builder::new().name("diagrams".into()).stack_size(stack).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Where the first state stands that decides a question.
struct Finding {
    question: usize,
    ring: Option<usize>,
    state: Vec<u8>,
}

pub(crate) struct Work<'a> {
    pub model: &'a dyn Model,
    pub questions: &'a [Property<Expr>],
    pub options: &'a Options,
    pub control: &'a Control,
    pub engine: Engine<'a>,
    findings: Vec<Finding>,
    /// The verdicts on questions about runs, by number.
    pub decided: Vec<(usize, PropertyResult)>,
    reduction: Option<Reduction>,
    limit: Option<Limit>,
    /// Not every state was asked whether a process goes round for ever there.
    unsure: bool,
}

impl<'a> Work<'a> {
    fn new(
        model: &'a dyn Model,
        system: &'a System,
        layout: &'a Layout,
        questions: &'a [Property<Expr>],
        options: &'a Options,
        control: &'a Control,
        budget: &Arc<Budget>,
    ) -> io::Result<Work<'a>> {
        let space = arranged(system, layout, options.order == Order::Given);
        let mut engine = Engine::new(space, budget, control)?;
        engine.reorder_at = options.reorder.then_some(2 * REORDER_FROM);
        let reduction = options.reduce.then(|| Reduction::new(&Arc::new(system.clone()), questions));
        Ok(Work {
            model,
            questions,
            options,
            control,
            engine,
            findings: Vec::new(),
            decided: Vec::new(),
            reduction,
            limit: None,
            unsure: false,
        })
    }

    pub fn note(&mut self, halt: Halt) {
        self.limit.get_or_insert(match halt {
            Halt::Full => Limit::Memory,
            Halt::Limit(limit) => limit,
        });
    }

    fn answer(mut self) -> io::Result<SymbolicReport> {
        if let Err(halt) = self.engine.prepare() {
            self.note(halt);
            let nothing = Reached { halt: Some(halt), ..Reached::default() };
            return Ok(self.report(&nothing, false));
        }
        let strategy = self.options.strategy;
        let mut reached = self.reach(strategy);
        self.engine.held = reached.sets();
        if let Some(halt) = reached.halt {
            self.note(halt);
        }
        // A system that is too small is of no use.
        match answers::outgrown(&mut self.engine, &reached) {
            Ok(states) => {
                if let Some(vector) = self.engine.diagrams.first(states) {
                    let mut successors = Batch::new(self.model.state_bytes());
                    self.model.expand(&self.engine.space.state(&vector), &mut successors);
                    return Ok(self.report(&reached, true));
                }
            }
            Err(halt) => self.note(halt),
        }
        if let Err(halt) = self.look(&reached) {
            self.note(halt);
        }
        // The distances are wanted for those only that were found.
        if self.findings.iter().any(|finding| finding.ring.is_none())
            && reached.rings.is_empty()
            && reached.halt.is_none()
        {
            let states = reached.states;
            let between = reached.between;
            let rings = self.reach(Strategy::BreadthFirst);
            reached.rings = rings.rings;
            reached.states = states;
            reached.between = between;
            self.engine.held = reached.sets();
            if let Some(halt) = rings.halt {
                self.note(halt);
                self.control.say("there was no time or memory to compute the distance of the states that were found");
            }
            if let Err(halt) = self.locate(&reached) {
                self.note(halt);
            }
        }
        if reached.is_complete() {
            self.decide_runs(&reached);
        }
        Ok(self.report(&reached, false))
    }

    /// Reaches what there is; a breadth-first search ends where the questions that can be decided on the way are.
    fn reach(&mut self, strategy: Strategy) -> Reached {
        let (questions, keep_going) = (self.questions, self.options.keep_going);
        let found_before: Vec<usize> = self.findings.iter().map(|finding| finding.question).collect();
        let mut ring = 0;
        let mut found: Vec<Finding> = Vec::new();
        let holders = self.engine.has_holders();
        let mut watch = |engine: &mut Engine<'a>, frontier: Set| -> Result<bool, Halt> {
            for (number, question) in questions.iter().enumerate() {
                let between = matches!(question.kind, PropertyKind::Faults | PropertyKind::Assertions);
                let known = found.iter().any(|finding| finding.question == number);
                // What happens between states is looked at when all is known.
                if known
                    || question.kind.is_about_runs()
                    || between && holders
                    || !found_before.is_empty() && !found_before.contains(&number)
                {
                    continue;
                }
                let deciding = answers::deciding(engine, &question.kind, frontier, Set::EMPTY)?;
                if let Some(vector) = engine.diagrams.first(deciding) {
                    found.push(Finding { question: number, ring: Some(ring), state: engine.space.state(&vector) });
                    if question.finding_violates() && !keep_going && found_before.is_empty() {
                        return Ok(false);
                    }
                }
            }
            ring += 1;
            let wanted = if found_before.is_empty() { questions.len() } else { found_before.len() };
            Ok(wanted == 0 || found.len() < wanted)
        };
        let reached = match &self.reduction {
            Some(reduction) => reach_reduced(&mut self.engine, reduction, self.options.dont_care, &mut watch),
            None => reach(&mut self.engine, strategy, &mut watch),
        };
        for finding in found {
            self.findings.retain(|other| other.question != finding.question);
            self.findings.push(finding);
        }
        reached
    }

    /// Looks for states that decide questions among all that were reached.
    fn look(&mut self, reached: &Reached) -> Result<(), Halt> {
        let breadth_first = !reached.rings.is_empty();
        for (number, question) in self.questions.iter().enumerate() {
            let between = matches!(question.kind, PropertyKind::Faults | PropertyKind::Assertions);
            let known = self.findings.iter().any(|finding| finding.question == number);
            let looked_at = breadth_first && !(between && self.engine.has_holders());
            if known || looked_at {
                continue;
            }
            let kind = &question.kind;
            let mut deciding = answers::deciding(&mut self.engine, kind, reached.states(), reached.between())?;
            if deciding.is_empty() && matches!(kind, PropertyKind::Faults) {
                deciding = self.endless(reached)?;
            }
            if let Some(finding) = self.first(number, deciding, reached)? {
                self.findings.push(finding);
            }
        }
        Ok(())
    }

    /// A state from which a process goes round for ever, and the model says so.
    pub fn endless(&mut self, reached: &Reached) -> Result<Set, Halt> {
        const TRIED: usize = 1000;
        let candidates = answers::endless(&mut self.engine, reached)?;
        let mut vectors = Vec::new();
        self.engine.diagrams.vectors(candidates, &mut |vector| {
            vectors.push(vector.to_vec());
            vectors.len() < TRIED
        });
        let mut successors = Batch::new(self.model.state_bytes());
        for vector in &vectors {
            successors.clear();
            self.model.expand(&self.engine.space.state(vector), &mut successors);
            if successors.faults().iter().any(|record| record.fault == Fault::Endless) {
                return self.engine.single(vector);
            }
        }
        if vectors.len() == TRIED {
            self.unsure = true;
            self.control.say("whether an atomic sequence ends was checked for some states only");
        }
        Ok(Set::EMPTY)
    }

    /// The first of these states, nearest first where distances are known.
    fn first(&mut self, question: usize, states: Set, reached: &Reached) -> Result<Option<Finding>, Halt> {
        if states.is_empty() {
            return Ok(None);
        }
        self.engine.held.push(states);
        let mut found = None;
        for (number, ring) in reached.rings.iter().enumerate() {
            let here = self.engine.intersect(states, *ring)?;
            if let Some(vector) = self.engine.diagrams.first(here) {
                let state = self.engine.space.state(&vector);
                found = Some(Finding { question, ring: Some(number), state });
                break;
            }
        }
        self.engine.held.pop();
        let any = self.engine.diagrams.first(states).map(|vector| self.engine.space.state(&vector));
        Ok(found.or_else(|| any.map(|state| Finding { question, ring: None, state })))
    }

    /// Finds where on the rings the questions are decided that are decided between states.
    fn locate(&mut self, reached: &Reached) -> Result<(), Halt> {
        let missing: Vec<usize> = self.findings.iter().filter(|f| f.ring.is_none()).map(|f| f.question).collect();
        for number in missing {
            let kind = &self.questions[number].kind;
            let mut deciding = answers::deciding(&mut self.engine, kind, reached.states(), reached.between())?;
            if deciding.is_empty() {
                deciding = self.endless(reached)?;
            }
            if let Some(finding) = self.first(number, deciding, reached)? {
                self.findings.retain(|other| other.question != number);
                self.findings.push(finding);
            }
        }
        Ok(())
    }

    fn report(mut self, reached: &Reached, outgrown: bool) -> SymbolicReport {
        let complete = reached.is_complete();
        let mut properties = Vec::new();
        if !outgrown {
            for number in 0..self.questions.len() {
                properties.push(self.property(number, reached));
            }
        }
        let states = reached.states();
        let (mut transitions, mut deadlocks) = (None, None);
        if self.options.count_all && complete && !outgrown && self.reduction.is_none() {
            self.engine.held = reached.sets();
            match answers::transitions(&mut self.engine, states) {
                Ok(count) => transitions = count,
                Err(halt) => self.note(halt),
            }
            match answers::deadlocks(&mut self.engine, states) {
                Ok(set) => deadlocks = Some(self.engine.diagrams.count(set)),
                Err(halt) => self.note(halt),
            }
        }
        let diagrams = &self.engine.diagrams;
        let reduced = self.reduction.is_some();
        let by_level = self.options.strategy == Strategy::BreadthFirst && !reduced;
        let widest = reached.rings.iter().map(|ring| diagrams.count(*ring)).max();
        let initial = self.engine.system.initial.clone();
        let mut distinct = initial;
        distinct.sort_unstable();
        distinct.dedup();
        SymbolicReport {
            limit: self.limit,
            exhaustive: complete && !outgrown,
            reduced,
            states: diagrams.count(states),
            initial_states: BigUint::from(distinct.len()),
            transitions,
            deadlocks,
            depth: by_level.then_some(reached.rings.len() as u64),
            widest: widest.filter(|_| by_level),
            properties,
            strategy: self.options.strategy,
            levels: self.engine.space.levels(),
            nodes: diagrams.nodes(&[states]),
            peak_nodes: diagrams.peak_nodes(),
            bytes: diagrams.bytes() + self.engine.space.bytes(),
            collections: diagrams.collections(),
            reorderings: self.engine.reorderings,
            tokens: if complete && !outgrown && !reduced { most_tokens(&self.engine, states) } else { None },
            outgrown,
            remarks: self.control.remarks(),
            peak_resident: peak_resident(),
            elapsed: self.control.elapsed(),
        }
    }

    /// The verdict on a question.
    fn property(&mut self, number: usize, reached: &Reached) -> PropertyResult {
        let question = &self.questions[number];
        let mut result = PropertyResult::undecided(&question.name);
        if question.kind.is_about_runs() {
            return self.decided.iter().find(|(other, _)| *other == number).map_or(result, |(_, found)| found.clone());
        }
        let violates = question.finding_violates();
        let Some(at) = self.findings.iter().position(|finding| finding.question == number) else {
            let unsure = self.unsure && matches!(question.kind, PropertyKind::Faults);
            if reached.is_complete() && self.limit.is_none() && !unsure {
                result.verdict = if violates { Verdict::Verified } else { Verdict::Violated };
            }
            return result;
        };
        let (ring, state) = (self.findings[at].ring, self.findings[at].state.clone());
        if let Err(wrong) = self.confirm(number, &state, &mut result) {
            self.control.say(wrong);
            return result;
        }
        result.verdict = if violates { Verdict::Violated } else { Verdict::Verified };
        result.state = Some(state.clone());
        if let Some(ring) = ring {
            match trace(&mut self.engine, self.model, reached, ring, &state) {
                Ok(trace) => {
                    result.trace = Some(trace);
                    result.shortest = self.reduction.is_none();
                }
                Err(Lost::Halt(halt)) => self.note(halt),
                Err(Lost::Mismatch) => {
                    self.control.say(format!(
                        "internal error: a run to the state that decides {} is not one of the model",
                        question.name
                    ));
                    return PropertyResult::undecided(&question.name);
                }
            }
        }
        result
    }

    /// Does the model itself say that this state decides the question?
    fn confirm(&self, number: usize, state: &[u8], result: &mut PropertyResult) -> Result<(), String> {
        let question = &self.questions[number];
        let layout = self.engine.space.layout;
        let mut successors = Batch::new(self.model.state_bytes());
        self.model.expand(state, &mut successors);
        let fault = |asserted: bool| {
            let record = successors.faults().iter().find(|record| (record.fault == Fault::Assertion) == asserted);
            record.map(|record| (record.event, record.fault))
        };
        let decided = match &question.kind {
            PropertyKind::Faults => {
                result.fault = fault(false);
                result.fault.is_some()
            }
            PropertyKind::Assertions => {
                result.fault = fault(true);
                result.fault.is_some()
            }
            PropertyKind::Invariant(condition) => {
                let value = layout.holds(condition, state);
                result.condition_fault = value.err();
                value != Ok(true)
            }
            PropertyKind::Reach(condition) => layout.holds(condition, state) == Ok(true),
            PropertyKind::Deadlock => {
                let count = successors.len();
                successors.take_deadlock(count)
            }
            _ => false,
        };
        match decided {
            true => Ok(()),
            false => {
                Err(format!("internal error: the model does not agree on the state that decides {}", question.name))
            }
        }
    }
}
