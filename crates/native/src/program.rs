//! A system made ready to run: its layout, and its events sorted by where control must be for them to happen.
//!
//! A [`Rules`] is one table of events. The system's own events are one, the moves of its claim another: both are
//! guarded steps between locations, so interpreter and compiler treat them alike. The order in which events are tried
//! is fixed here once: process by process, within a location by number, then the events that no location guards.

use crate::BuildError;
use scrimp_system::{Domain, Event, Expr, Layout, Move, System};
use std::sync::Arc;

pub struct Program {
    pub system: Arc<System>,
    pub layout: Layout,
    pub rules: Rules,
    /// The claim's moves, each as an event without effects.
    pub claim: Option<Rules>,
    /// Events that end in a fault leave no record behind.
    pub silent: bool,
}

pub struct Rules {
    /// Events that are not the system's own.
    made: Option<Vec<Event>>,
    /// `by_location[process][location]`: the events whose first move leaves it.
    pub by_location: Vec<Vec<Vec<u32>>>,
    /// The events without moves.
    pub always: Vec<u32>,
    /// No state has more events enabled or at fault, counted together.
    pub bound: usize,
}

impl Program {
    pub fn new(system: Arc<System>) -> Result<Program, BuildError> {
        check(&system)?;
        let layout = Layout::new(&system);
        if layout.bytes() >= 1 << 30 {
            return Err(BuildError(format!("a state of {} bytes is too long", layout.bytes())));
        }
        let rules = Rules::new(&system, None);
        let claim = system.claim.as_ref().map(|claim| {
            let event = |m: &scrimp_system::ClaimMove| Event {
                moves: vec![Move { process: claim.process, from: m.from, to: m.to }],
                guard: m.guard.clone(),
                span: m.span,
                ..Event::default()
            };
            Rules::new(&system, Some(claim.moves.iter().map(event).collect()))
        });
        Ok(Program { system, layout, rules, claim, silent: false })
    }

    /// A program that runs `system` on the states of this one, which has the same variables, and does not care why an
    /// event has no successor.
    pub fn sibling(&self, system: Arc<System>) -> Result<Program, BuildError> {
        Ok(Program { layout: self.layout.clone(), silent: true, ..Program::new(system)? })
    }
}

impl Rules {
    fn new(system: &System, made: Option<Vec<Event>>) -> Rules {
        let mut by_location: Vec<Vec<Vec<u32>>> =
            system.processes.iter().map(|p| vec![vec![]; p.locations.len()]).collect();
        let mut always = Vec::new();
        for (number, event) in made.as_ref().unwrap_or(&system.events).iter().enumerate() {
            match event.moves.first() {
                Some(m) => by_location[m.process.index()][m.from as usize].push(number as u32),
                None => always.push(number as u32),
            }
        }
        Rules { made, ..Rules::made_of(by_location, always) }
    }

    /// A table from its entries, by number.
    pub(crate) fn made_of(by_location: Vec<Vec<Vec<u32>>>, always: Vec<u32>) -> Rules {
        let most = |locations: &Vec<Vec<u32>>| locations.iter().map(Vec::len).max().unwrap_or(0);
        let bound = always.len() + by_location.iter().map(most).sum::<usize>();
        Rules { made: None, by_location, always, bound }
    }

    pub fn events<'a>(&'a self, system: &'a System) -> &'a [Event] {
        self.made.as_ref().unwrap_or(&system.events)
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
