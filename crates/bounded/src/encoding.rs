//! What is known of a system before any formula is made: its cells and what they can hold, who may go on alone, which
//! events can be swapped.

use scrimp_system::bounds::{Cells, bounds};
use scrimp_system::values::Values;
use scrimp_system::{Batch, Event, Model, Set, System, Then, VarId};

/// With more events than this, which of them can be swapped is not asked: every step would have to look at all pairs.
const ORDERED: usize = 2_000;

/// A system made ready to be written as formulas.
pub struct Encoding<'s> {
    /// The system itself.
    pub system: &'s System,
    /// Its cells.
    pub cells: Cells,
    /// What each of them can hold.
    pub bounds: Vec<Values>,
    /// Who may be alone, and how; a state says by a number who is: 0 for nobody, then these.
    pub holders: Vec<Then>,
    /// Where an event ends in a fault, a state is no deadlock.
    pub faults_move: bool,
    /// The system may have been made too small: faults that say so are looked for with everything.
    pub may_be_outgrown: bool,
    /// For each event those that it can be swapped with.
    independent: Option<Vec<Set>>,
}

impl<'s> Encoding<'s> {
    /// Fails, with a reason, for what cannot be written as a formula.
    pub fn new(system: &'s System, model: &dyn Model) -> Result<Encoding<'s>, String> {
        if system.claim.is_some() {
            return Err("--engine bmc does not support never claims".into());
        }
        let mut holders: Vec<Then> = Vec::new();
        for event in &system.events {
            if event.then.exclusive().is_some() && !holders.contains(&event.then) {
                holders.push(event.then);
            }
        }
        let cells = Cells::new(system);
        let bounds = bounds(system, &cells);
        let few = system.events.len() <= ORDERED;
        let independent = if holders.is_empty() && few { model.independence() } else { None };
        Ok(Encoding {
            system,
            cells,
            bounds,
            holders,
            faults_move: faults_move(model),
            may_be_outgrown: system.outgrown.is_some() || system.guessed,
            independent: independent.filter(|rows| rows.len() == system.events.len()),
        })
    }

    /// The cells of a variable by number.
    pub fn cells_of(&self, variable: VarId) -> std::ops::Range<usize> {
        let first = self.cells.first(variable) as usize;
        first..first + self.system.variables[variable.index()].cells()
    }

    /// How many words a state has: its cells, and who is alone if somebody can be.
    pub fn words(&self) -> usize {
        self.cells.count() + !self.holders.is_empty() as usize
    }

    /// The number that says who may move after an event.
    pub fn holder_after(&self, event: &Event) -> i64 {
        self.holders.iter().position(|then| *then == event.then).map_or(0, |at| at as i64 + 1)
    }

    /// The values that a word of a state is between.
    pub fn hull(&self, word: usize) -> (i64, i64) {
        self.bounds.get(word).map_or((0, self.holders.len() as i64), |values| values.hull())
    }

    /// Whenever `second` happens right after `first`, could they as well happen the other way round?
    pub fn may_swap(&self, first: u32, second: u32) -> bool {
        self.independent.as_ref().is_some_and(|rows| rows[first as usize].contains(second as usize))
    }

    /// Could a process go on by itself for ever? That is a fault which no run of some length shows.
    pub fn may_go_on_for_ever(&self) -> bool {
        let system = self.system;
        // Places where a process can be alone, and which of them lead to which.
        let place = |event: &Event| {
            let process = event.then.exclusive()?;
            let control = system.processes[process.index()].control;
            let touched = event.effects.iter().any(|a| a.target == control);
            let last = event.moves.iter().rfind(|m| m.process == process).filter(|_| !touched);
            Some((process, last.map(|m| m.to)))
        };
        let mut edges: Vec<((u32, u32), (u32, u32))> = Vec::new();
        for event in system.events.iter().filter(|event| !event.late) {
            let (Some(first), Some((process, to))) = (event.moves.first(), place(event)) else { continue };
            // Where it goes on is not known: that may be anywhere.
            let Some(to) = to else { return true };
            edges.push(((first.process.0, first.from), (process.0, to)));
        }
        // Edges that lead to where no other begins are taken away until there are none, or only rings are left.
        loop {
            let before = edges.len();
            let begun: std::collections::HashSet<(u32, u32)> = edges.iter().map(|(from, _)| *from).collect();
            edges.retain(|(_, to)| begun.contains(to));
            if edges.is_empty() || edges.len() == before {
                return !edges.is_empty();
            }
        }
    }
}

/// Whether this model says by itself what a deadlock is, and then where an event ends in a fault, something could move.
fn faults_move(model: &dyn Model) -> bool {
    let mut initial = Batch::new(model.state_bytes());
    let mut out = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    for i in 0..initial.len() {
        out.clear();
        model.expand(initial.state(i), &mut out);
        if !out.is_empty() || !out.faults().is_empty() {
            return !out.take_deadlock(0);
        }
    }
    false
}
