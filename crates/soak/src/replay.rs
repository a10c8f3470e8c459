//! Runs that a search has found, followed again by a model that did not find them.

use crate::ltl::{Fair, holds_on_word};
use scrimp::temporal::Formula;
use scrimp::{Batch, Describe, Fault, Model, NativeModel, Property, PropertyKind, PropertyResult, Trace};
use scrimp_core::Condition;
use scrimp_system::Expr;

/// The enabled events of a state with their successors.
pub fn successors(model: &dyn Model, state: &[u8]) -> Batch {
    let mut source = Batch::new(model.state_bytes());
    source.push(state, 0);
    let mut out = Batch::new(model.state_bytes());
    model.expand(source.state(0), &mut out);
    out
}

/// Follows a trace from an initial state on, and gives its states; or says where it is none.
pub fn follow<'t>(model: &dyn Model, trace: &'t Trace) -> Result<Vec<&'t [u8]>, String> {
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    if (0..initial.len()).all(|i| initial.state(i) != trace.initial) {
        return Err("it does not start in an initial state".into());
    }
    let mut states: Vec<&[u8]> = vec![&trace.initial];
    for (number, (event, next)) in trace.steps.iter().enumerate() {
        let enabled = successors(model, states[number]);
        if (0..enabled.len()).all(|i| enabled.event(i) != *event || enabled.state(i) != next) {
            return Err(format!("step {}: event {event} does not lead there", number + 1));
        }
        states.push(next);
    }
    Ok(states)
}

/// Runs a trace again, and looks whether its last state decides the property. Says what is wrong.
pub fn replay(model: &dyn Model, trace: &Trace, property: &Property<Condition>) -> Result<(), String> {
    let states = follow(model, trace)?;
    let state = states[states.len() - 1];
    let decided = match &property.kind {
        PropertyKind::Deadlock => successors(model, state).is_empty(),
        PropertyKind::Faults => successors(model, state).faults().iter().any(|f| f.fault != Fault::Assertion),
        PropertyKind::Assertions => successors(model, state).faults().iter().any(|f| f.fault == Fault::Assertion),
        PropertyKind::Invariant(condition) => (condition.holds)(state) != Ok(true),
        PropertyKind::Reach(condition) => (condition.holds)(state) == Ok(true),
        _ => false,
    };
    if decided { Ok(()) } else { Err("its last state does not decide the property".into()) }
}

/// Which of the atoms hold in a state.
pub fn label(model: &NativeModel, atoms: &[Expr], state: &[u8]) -> u64 {
    let holds = |(i, atom): (usize, &Expr)| (model.predicate(atom).holds(state) == Ok(true)) as u64 * (1 << i);
    atoms.iter().enumerate().map(holds).sum()
}

/// The processes that take part in an edge, first the one that begins. With an edge of several steps, in all of them.
pub fn movers(model: &NativeModel, state: &[u8], code: u32, next: &[u8]) -> Vec<usize> {
    let mut movers: Vec<usize> = Vec::new();
    for mover in model.steps(state, code, next).iter().flat_map(|(code, _)| model.movers(*code)) {
        if !movers.contains(&mover) {
            movers.push(mover);
        }
    }
    movers
}

/// Follows a run that goes on for ever, and looks whether it breaks the property and is fair. Says what is wrong.
pub fn replay_run(
    model: &NativeModel,
    result: &PropertyResult,
    kind: &PropertyKind<Expr>,
    fair: bool,
) -> Result<(), String> {
    let everyone = (0..model.system().processes.len()).filter(|_| fair).collect();
    replay_fair_run(model, result, kind, &Fair { weak: everyone, strong: Vec::new() })
}

/// The same for what is asked of single processes.
pub fn replay_fair_run(
    model: &NativeModel,
    result: &PropertyResult,
    kind: &PropertyKind<Expr>,
    fair: &Fair,
) -> Result<(), String> {
    let trace = result.trace.as_ref().ok_or("there is no run")?;
    if let PropertyKind::Ctl(_) = kind {
        return follow(model, trace).map(drop);
    }
    let cycle = result.cycle.ok_or("the run does not go on for ever")?;
    let mut states = follow(model, trace)?;
    let last = states[trace.steps.len()];
    if cycle >= trace.steps.len() {
        if cycle > trace.steps.len() || !successors(model, last).is_empty() {
            return Err("something more can happen".into());
        }
    } else {
        if states[cycle] != last {
            return Err("it is not back where its loop began".into());
        }
        states.pop();
    }
    if cycle < trace.steps.len() {
        let around = states[cycle..].iter().zip(&trace.steps[cycle..]);
        let moved: Vec<usize> = around.flat_map(|(state, (code, next))| movers(model, state, *code, next)).collect();
        let could = |process: usize, state: &[u8]| {
            let enabled = successors(model, state);
            let begins = |i: usize| model.movers(enabled.event(i)).first() == Some(&process);
            (0..enabled.len()).any(begins)
        };
        let waits = |process: usize| !moved.contains(&process) && states[cycle..].iter().all(|s| could(process, s));
        if let Some(process) = fair.weak.iter().find(|process| waits(**process)) {
            return Err(format!("process {process} waits for ever"));
        }
        let passed_over =
            |process: usize| !moved.contains(&process) && states[cycle..].iter().any(|s| could(process, s));
        if let Some(process) = fair.strong.iter().find(|process| passed_over(**process)) {
            return Err(format!("process {process} is passed over for ever"));
        }
    }
    let Some((formula, atoms)) = demanded(kind) else { return Ok(()) };
    let word: Vec<u64> = states.iter().map(|state| label(model, &atoms, state)).collect();
    match holds_on_word(&formula, &word, cycle)[0] {
        true => Err("the property holds on it".into()),
        false => Ok(()),
    }
}

/// What a property demands of a run as a formula over numbered atoms; `None` for automata.
fn demanded(kind: &PropertyKind<Expr>) -> Option<(Formula<usize>, Vec<Expr>)> {
    let not = |f| Formula::Not(Box::new(f));
    let formula = match kind {
        PropertyKind::Ltl(formula) => formula.clone(),
        PropertyKind::Accepting(e) => {
            let often = Formula::Finally(Box::new(Formula::Atom(e.clone())));
            not(Formula::Globally(Box::new(often)))
        }
        PropertyKind::Progress(e) => {
            let ever = Formula::Globally(Box::new(Formula::Atom(e.clone())));
            not(Formula::Finally(Box::new(ever)))
        }
        _ => return None,
    };
    let mut atoms: Vec<Expr> = Vec::new();
    let formula = formula.map(&mut |atom: &Expr| {
        atoms.iter().position(|known| known == atom).unwrap_or_else(|| {
            atoms.push(atom.clone());
            atoms.len() - 1
        })
    });
    // More letters than a word has bits: it was followed, and that must do.
    (atoms.len() <= 64).then_some((formula, atoms))
}
