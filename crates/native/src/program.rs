//! A system made ready to run: its layout, and its events sorted by where control must be for them to happen.
//!
//! A [`Rules`] is one table of events. The system's own events are one, the moves of its claim another: both are
//! guarded steps between locations, so interpreter and compiler treat them alike. The order in which events are tried
//! is fixed here once: process by process, within a location by number, then the events that no location guards.

use crate::BuildError;
use crate::fuse::fuse;
use crate::pair::Pair;
use scrimp_system::{Domain, Event, EventCode, Expr, Layout, Move, ProcessId, System, Then};
use std::sync::Arc;

pub struct Program {
    pub system: Arc<System>,
    pub layout: Layout,
    /// The events that are tried in every state.
    pub rules: Rules,
    /// The events that are tried where those have come to nothing.
    pub late: Option<Rules>,
    /// The events of processes that go on by themselves, from where they may do so.
    pub held: Option<Rules>,
    /// The claim's moves, each as an event without effects.
    pub claim: Option<Rules>,
    /// Who may move after each event.
    thens: Vec<Then>,
    /// What follows each event as a matter of course, and is run with it.
    followers: Vec<Vec<u32>>,
    /// Events that end in a fault leave no record behind.
    pub silent: bool,
}

pub struct Rules {
    /// Events that are not the system's own.
    made: Option<Arc<[Event]>>,
    /// `by_location[process][location]`: the events whose first move leaves it.
    pub by_location: Vec<Vec<Vec<u32>>>,
    /// The events without moves.
    pub always: Vec<u32>,
    /// No state has more successors and faults, counted together.
    pub bound: usize,
    /// The same for the events of one process.
    pub bounds: Vec<usize>,
}

impl Program {
    pub fn new(system: Arc<System>) -> Result<Program, BuildError> {
        check(&system)?;
        let layout = Layout::new(&system);
        if layout.bytes() >= 1 << 30 {
            return Err(BuildError(format!("a state of {} bytes is too long", layout.bytes())));
        }
        let fused = fuse(&system);
        let events = || fused.as_ref().map(|fused| fused.events.clone());
        let run = events();
        let run = run.as_deref().unwrap_or(&system.events);
        let rules = Rules::new(&system, events(), |event| !event.late);
        let late = run.iter().any(|event| event.late).then(|| Rules::new(&system, events(), |event| event.late));
        let held = run.iter().any(|event| event.then.exclusive().is_some()).then(|| Rules::held(&system, events()));
        let claim = system.claim.as_ref().map(|claim| {
            let event = |m: &scrimp_system::ClaimMove| Event {
                moves: vec![Move { process: claim.process, from: m.from, to: m.to }],
                guard: m.guard.clone(),
                span: m.span,
                ..Event::default()
            };
            Rules::new(&system, Some(claim.moves.iter().map(event).collect()), |_| true)
        });
        let thens = run.iter().map(|event| event.then).collect();
        let followers = fused.map(|fused| fused.followers).unwrap_or_default();
        Ok(Program { system, layout, rules, late, held, claim, thens, followers, silent: false })
    }

    /// Do events lead to successors just as a search wants them, whatever the state?
    pub fn is_plain(&self) -> bool {
        self.late.is_none() && self.held.is_none() && self.claim.is_none() && self.system.valid_end.is_none()
    }

    /// How many codes there are for single steps; a code beyond them names a step that others follow, and which of its
    /// outcomes is meant.
    pub fn codes(&self) -> u32 {
        let events = self.system.events.len() as u32;
        self.system.claim.as_ref().map_or(events, |claim| (events + 1) * (claim.moves.len() as u32 + 1)).max(1)
    }

    /// The system's event and the claim's move that a code stands for; with several steps, those of the first.
    pub fn parts(&self, code: EventCode) -> (Option<u32>, Option<u32>) {
        let code = code % self.codes();
        match &self.system.claim {
            None => (Some(code), None),
            Some(_) => {
                let pair = Pair::of(code, self.system.events.len());
                (pair.system, pair.claim)
            }
        }
    }

    /// Who may move after the step with this code.
    pub fn then(&self, code: EventCode) -> Then {
        // An event's own number is a code, and the most frequent one.
        let then = self.thens.get(code as usize).or_else(|| self.thens.get(self.parts(code).0? as usize));
        then.copied().unwrap_or_default()
    }

    /// The events that are run with this one, after it.
    pub fn followers(&self, event: u32) -> &[u32] {
        self.followers.get(event as usize).map_or(&[], |followers| followers)
    }

    /// A program that runs `system` on the states of this one, which has the same variables, and does not care why an
    /// event has no successor.
    pub fn sibling(&self, system: Arc<System>) -> Result<Program, BuildError> {
        Ok(Program { layout: self.layout.clone(), silent: true, ..Program::new(system)? })
    }
}

impl Rules {
    /// A table of the system's events that `keep` wants, or of others.
    fn new(system: &System, made: Option<Arc<[Event]>>, keep: impl Fn(&Event) -> bool) -> Rules {
        let mut by_location: Vec<Vec<Vec<u32>>> =
            system.processes.iter().map(|p| vec![vec![]; p.locations.len()]).collect();
        let mut always = Vec::new();
        let events = made.as_deref().unwrap_or(&system.events);
        for (number, event) in events.iter().enumerate().filter(|(_, event)| keep(event)) {
            match event.moves.first() {
                Some(m) => by_location[m.process.index()][m.from as usize].push(number as u32),
                None => always.push(number as u32),
            }
        }
        // An event that violates its assertion leaves a fault and a successor.
        let results = |number: u32| 1 + events[number as usize].assertion.is_some() as usize;
        let rules = Rules::made_of(by_location, always, results);
        Rules { made, ..rules }
    }

    /// The table of what processes can do by themselves.
    fn held(system: &System, made: Option<Arc<[Event]>>) -> Rules {
        let mut places: Vec<Vec<bool>> = system.processes.iter().map(|p| vec![false; p.locations.len()]).collect();
        for event in made.as_deref().unwrap_or(&system.events) {
            let Some(holder) = event.then.exclusive() else { continue };
            let places = &mut places[holder.index()];
            let control = system.processes[holder.index()].control;
            let last = event.moves.iter().rfind(|m| m.process == holder);
            match last {
                Some(m) if event.effects.iter().all(|a| a.target != control) => places[m.to as usize] = true,
                _ => places.fill(true),
            }
        }
        let held = |m: &Move| places[m.process.index()][m.from as usize];
        Rules::new(system, made, |event| !event.late && event.moves.first().is_some_and(held))
    }

    /// A table from its entries, by number, and what each event may leave behind at most.
    pub(crate) fn made_of(by_location: Vec<Vec<Vec<u32>>>, always: Vec<u32>, results: impl Fn(u32) -> usize) -> Rules {
        let sum = |events: &Vec<u32>| events.iter().map(|&number| results(number)).sum::<usize>();
        let most = |locations: &Vec<Vec<u32>>| locations.iter().map(sum).max().unwrap_or(0);
        let bounds: Vec<usize> = by_location.iter().map(most).collect();
        let bound = sum(&always) + bounds.iter().sum::<usize>();
        Rules { made: None, by_location, always, bound, bounds }
    }

    /// How many successors and faults there can be, of one process or of all.
    pub fn bound_of(&self, only: Option<ProcessId>) -> usize {
        only.map_or(self.bound, |process| self.bounds[process.index()])
    }

    pub fn events<'a>(&'a self, system: &'a System) -> &'a [Event] {
        self.made.as_deref().unwrap_or(&system.events)
    }
}

/// What the machine code relies on beyond [`System::validate`], most of all that locations are small numbers which their
/// control variable can hold.
fn check(system: &System) -> Result<(), BuildError> {
    system.validate().map_err(|invalid| BuildError(invalid.0))?;
    let fail = |what: String| Err(BuildError(what));
    for p in &system.processes {
        let control = &system.variables[p.control.index()];
        if control.length.is_some() || control.domain.low < 0 || control.domain.high > u32::MAX as i64 {
            return fail(format!("the control variable of process {} cannot hold a location", p.name));
        }
    }
    let holds = |domain: Domain, m: Move| domain.contains(m.from as i64) && domain.contains(m.to as i64);
    for e in &system.events {
        for m in &e.moves {
            if !holds(system.variables[system.processes[m.process.index()].control.index()].domain, *m) {
                return fail(format!("event {} moves a process where its control variable cannot", e.label));
            }
        }
    }
    if let Some(claim) = &system.claim {
        let Some(process) = system.processes.get(claim.process.index()) else {
            return fail("the claim has no process".into());
        };
        let domain = system.variables[process.control.index()].domain;
        for m in &claim.moves {
            let m = Move { process: claim.process, from: m.from, to: m.to };
            if !holds(domain, m) || m.from.max(m.to) as usize >= process.locations.len() {
                return fail("the claim moves to an unknown location".into());
            }
        }
    }
    let codes = (system.events.len() as u64 + 1) * (system.claim.as_ref().map_or(0, |c| c.moves.len()) as u64 + 1);
    if codes > u32::MAX as u64 {
        return fail("there are more events than numbers for them".into());
    }
    Ok(())
}

/// Does an expression only read variables that exist, as scalars or arrays as they are declared?
pub fn fits(system: &System, e: &Expr) -> bool {
    let array = |v: &scrimp_system::VarId| system.variables.get(v.index()).map(|v| v.length.is_some());
    match e {
        Expr::Const(_) => true,
        Expr::Var(v) => array(v) == Some(false),
        Expr::Element(v, index) => array(v) == Some(true) && fits(system, index),
        Expr::Table(_, a) | Expr::Unary(_, a) => fits(system, a),
        Expr::Binary(_, a, b) => fits(system, a) && fits(system, b),
        Expr::If(a, b, c) => fits(system, a) && fits(system, b) && fits(system, c),
    }
}
