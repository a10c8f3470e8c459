//! Looks for what decides each property in runs of 0, 1, 2, … steps, and tries to prove after each that there is nothing.

use crate::encoding::Encoding;
use crate::formula::Answer;
use crate::found::found;
use crate::induction::Induction;
use crate::known_invariants::KnownInvariants;
use crate::limits::Limits;
use crate::replay::{Replay, replay};
use crate::unrolling::Unrolling;
use scrimp_core::{Budget, Control, Limit, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_system::{Expr, Layout, Model, System};
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A proof may always take so long before the search goes on, and otherwise as long as the search.
const PATIENCE: Duration = Duration::from_secs(1);

/// How to go about it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most steps to look at; none for as many as it takes.
    pub bound: Option<u32>,
    /// Try to prove properties by induction.
    pub induction: bool,
    /// The memory of the whole process, in bytes.
    pub memory: usize,
    /// Go on after the first violation, until every property is decided.
    pub keep_going: bool,
}

/// Everything that came of it.
#[derive(Debug, Clone)]
pub struct BoundedReport {
    /// The verdict on each property; `how` says what is known where it is undecided.
    pub properties: Vec<PropertyResult>,
    /// The limit that ended it before its work was done.
    pub limit: Option<Limit>,
    /// All runs of so many steps were looked at for every property that was not decided before; none if not even those
    /// without any step.
    pub depth: Option<u32>,
    /// The model has grown beyond the system that was made for it: a larger one is needed, and this one decides nothing.
    pub outgrown: bool,
    /// Steps of processes that go on by themselves count one by one.
    pub single_steps: bool,
    /// Clauses given to the solver.
    pub clauses: u64,
    /// Variables of the solver.
    pub variables: u64,
    /// Conflicts that it met.
    pub conflicts: u64,
    /// Bytes of circuits and clauses, about.
    pub bytes: usize,
    /// What else the user should know.
    pub remarks: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Decides `goals` of `system`, of which `model` is the runnable form with states of this layout. Fails where the system
/// cannot be written as a formula.
pub fn run(
    model: &dyn Model,
    system: &System,
    layout: &Layout,
    goals: &[Property<Expr>],
    options: &Options,
    control: &Control,
) -> io::Result<BoundedReport> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    if let Some(goal) = goals.iter().find(|goal| goal.kind.is_about_runs()) {
        return Err(invalid(format!(
            "--engine bmc does not support property {}, which is about infinite runs",
            goal.name
        )));
    }
    system.validate().map_err(|invalid| io::Error::new(io::ErrorKind::InvalidInput, invalid.0))?;
    let encoding = Encoding::new(system, model).map_err(invalid)?;
    let budget = Budget::new(options.memory);
    let limits = Rc::new(Limits::new(control, &budget));
    let mut engine = Engine {
        model,
        layout,
        goals,
        options,
        limits: limits.clone(),
        encoding: &encoding,
        results: goals.iter().map(|goal| PropertyResult::undecided(&goal.name)).collect(),
        open: (0..goals.len()).collect(),
        remarks: Vec::new(),
        outgrown: model.is_outgrown(),
        over: false,
        searched: Duration::ZERO,
        proving: Duration::ZERO,
    };
    let mut base = Unrolling::from_initial(&encoding, limits.clone());
    let mut step = options.induction.then(|| Induction::new(&encoding, limits.clone(), goals));
    let depth = if engine.outgrown { None } else { engine.deepen(&mut base, &mut step, control) };
    engine.tell_open(depth);
    control.finish();
    let counts = step.as_ref().map_or([0; 3], Induction::counts);
    Ok(BoundedReport {
        properties: engine.results,
        limit: limits.reached(),
        depth,
        outgrown: engine.outgrown,
        single_steps: !encoding.holders.is_empty(),
        clauses: base.formula.clauses() + counts[0],
        variables: base.formula.variables() + counts[1],
        conflicts: base.formula.conflicts() + counts[2],
        bytes: base.formula.bytes() + step.as_ref().map_or(0, Induction::bytes),
        remarks: engine.remarks,
        elapsed: control.elapsed(),
    })
}

struct Engine<'a, 's, 'o> {
    model: &'o dyn Model,
    layout: &'o Layout,
    goals: &'o [Property<Expr>],
    options: &'o Options,
    limits: Rc<Limits<'a>>,
    encoding: &'s Encoding<'s>,
    results: Vec<PropertyResult>,
    /// Properties that are not decided yet, by number.
    open: Vec<usize>,
    remarks: Vec<String>,
    outgrown: bool,
    /// No run is longer.
    over: bool,
    /// Time spent looking for runs, and for proofs.
    searched: Duration,
    proving: Duration,
}

impl<'a, 's> Engine<'a, 's, '_> {
    /// Longer and longer runs, until all is decided or a limit is reached. Says how long the runs were that were looked at
    /// for all properties.
    fn deepen(
        &mut self,
        base: &mut Unrolling<'a, 's>,
        step: &mut Option<Induction<'a, 's>>,
        control: &Control,
    ) -> Option<u32> {
        let mut done = None;
        for depth in 0u32.. {
            if self.limits.look_closely(true).is_some() || !self.search(base, depth) {
                break;
            }
            done = Some(depth);
            if self.over {
                break;
            }
            control.depth.store(depth as u64, Ordering::Relaxed);
            let clauses = base.formula.clauses() + step.as_ref().map_or(0, |step| step.counts()[0]);
            control.clauses.store(clauses, Ordering::Relaxed);
            if let Some(step) = step
                && !self.prove(step, depth)
            {
                break;
            }
            if let Some(step) = step
                && depth == 0
                && !self.open.is_empty()
            {
                // What is left is worth more effort.
                step.learn(KnownInvariants::of_system(self.encoding.system));
                if !self.prove(step, depth) {
                    break;
                }
            }
            let last = self.options.bound.is_some_and(|bound| depth >= bound);
            if self.open.is_empty() || last || !base.extend() {
                break;
            }
            if step.as_mut().is_some_and(|step| !step.extend(self.goals)) {
                break;
            }
        }
        done
    }

    /// Looks at the runs of so many steps; `false` when that is the end of it.
    fn search(&mut self, base: &mut Unrolling<'a, 's>, depth: u32) -> bool {
        let begun = Instant::now();
        let mut all_clear = true;
        for goal in self.open.clone() {
            let frame = &base.frames[depth as usize];
            let found = found(&self.goals[goal], &mut base.formula.circuit, self.encoding, frame);
            self.limits.begin(None);
            match base.formula.solve(&[found]) {
                Answer::Possible => {
                    all_clear = false;
                    if !self.take(base, goal, depth) {
                        return false;
                    }
                }
                Answer::Impossible => base.formula.assert_any(&[!found]),
                Answer::Never => {
                    self.ended(depth);
                    return true;
                }
                Answer::Unknown => return false,
            }
        }
        // Where no run is as long as this, everything was seen.
        if all_clear && self.options.induction && !self.open.is_empty() {
            self.limits.begin(Some(PATIENCE));
            if matches!(base.formula.solve(&[]), Answer::Never | Answer::Impossible) {
                self.ended(depth);
            }
        }
        self.searched += begun.elapsed();
        self.limits.reached().is_none()
    }

    /// Runs the model along what the solver found; `false` when that is the end of it.
    fn take(&mut self, base: &Unrolling<'a, 's>, number: usize, depth: u32) -> bool {
        let goal = &self.goals[number];
        let cells = self.encoding.cells.count();
        let frames = (0..=depth as usize).filter(|frame| base.is_free(*frame));
        let states: Vec<Vec<i64>> = frames
            .map(|frame| {
                let mut values = base.values(frame);
                values.truncate(cells);
                values
            })
            .collect();
        self.open.retain(|open| *open != number);
        let result = &mut self.results[number];
        match replay(self.model, self.layout, &states, goal) {
            Replay::Agrees(replayed) => {
                let replayed = *replayed;
                let single = self.encoding.holders.is_empty();
                result.verdict = if goal.finding_violates() { Verdict::Violated } else { Verdict::Verified };
                result.state = Some(replayed.trace.last().to_vec());
                result.shortest = single;
                result.fault = replayed.fault;
                result.condition_fault = replayed.condition_fault;
                result.how = Some(format!("found at depth {depth}"));
                result.trace = Some(replayed.trace);
                self.options.keep_going || !goal.finding_violates()
            }
            Replay::Outgrown => {
                self.outgrown = true;
                false
            }
            Replay::Differs(why) => {
                let remark =
                    format!("{}: internal error: a run was found that the model does not make: {why}", goal.name);
                self.remarks.push(remark);
                true
            }
        }
    }

    /// Tries to prove what is open; `false` when a limit is reached.
    fn prove(&mut self, step: &mut Induction<'a, 's>, depth: u32) -> bool {
        for goal in self.open.clone() {
            if !self.provable(goal) {
                continue;
            }
            let begun = Instant::now();
            let patience = PATIENCE.max(self.searched.saturating_sub(self.proving));
            self.limits.begin(Some(patience));
            if step.prove(goal) == Answer::Impossible {
                step.rely_on(goal);
                self.settle(goal, format!("k-induction, k = {depth}"));
            }
            self.proving += begun.elapsed();
            if self.limits.reached().is_some() {
                return false;
            }
        }
        true
    }

    /// That a process goes on by itself for ever is a fault too, but no run of some length shows it.
    fn provable(&self, goal: usize) -> bool {
        self.goals[goal].kind != PropertyKind::Faults || !self.encoding.may_go_on_for_ever()
    }

    /// No run has as many steps as this.
    fn ended(&mut self, depth: u32) {
        self.over = true;
        for goal in self.open.clone() {
            if self.provable(goal) {
                self.settle(goal, format!("no run has {depth} steps"));
            }
        }
    }

    /// No state decides this property.
    fn settle(&mut self, goal: usize, how: String) {
        let violates = self.goals[goal].finding_violates();
        let result = &mut self.results[goal];
        result.verdict = if violates { Verdict::Verified } else { Verdict::Violated };
        result.how = Some(how);
        self.open.retain(|open| *open != goal);
    }

    /// Says what is known of properties that are not decided.
    fn tell_open(&mut self, depth: Option<u32>) {
        for goal in &self.open {
            let what = if self.goals[*goal].finding_violates() { "violation" } else { "such state" };
            self.results[*goal].how = depth.map(|depth| format!("no {what} within {depth} steps"));
        }
    }
}
