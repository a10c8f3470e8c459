//! Formulas that a finite run breaks, on a graphics card or by a cluster.
//!
//! Where the automaton of what must not be accepts whatever comes once it is in one of its last states, a bad run is one that gets
//! there: a question about states. The automaton moves along with the system, as a claim does, and those states are looked for.

use super::Context;
use crate::engines::{Together, on_card, on_cluster};
use scrimp_core::{Never, Property, PropertyKind, PropertyResult, Report, Trace, Verdict};
use scrimp_native::{Mode, NativeModel};
use scrimp_search::plan::Way;
use scrimp_system::{
    Batch, BinaryOp, Claim, ClaimMove, Domain, Expr, Model, Process, ProcessId, Role, Span, System, Then, VarId,
    Variable,
};
use scrimp_temporal::{Guard, Kind, Strength};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Steps that a bad run is followed for until it repeats itself.
const FURTHEST: usize = 100_000;

/// Does a claim move as the automaton of a formula does? Where steps that run as one come to nothing, the automaton moves alone, and a
/// claim does not.
pub fn follows_formulas(system: &System) -> bool {
    system.events.iter().all(|event| event.then == Then::Free)
}

/// Is it a question about states?
pub fn decides(system: &System, never: &Never<Expr>) -> bool {
    system.claim.is_none() && never.repeats && never.automaton.strength() == Strength::Terminal
}

/// Looks for a bad run.
pub fn decide(model: &NativeModel, name: &str, never: &Never<Expr>, means: &Context) -> io::Result<Report> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let Some((system, bad)) = watched(model.system(), never) else {
        return Err(invalid(format!("{name}: this engine decides only formulas that a finite run violates")));
    };
    let watched = NativeModel::new(Arc::new(system), Mode::Interpreted).map_err(|error| invalid(error.to_string()))?;
    let Context { plan, control, .. } = *means;
    plan.say_decisions(control);
    let goal = Property::new(name, PropertyKind::Reach(bad));
    let mut report = match plan.way() {
        Way::Cluster => {
            let together = means.cluster.map(|gathering| Together { gathering, measure: None });
            on_cluster(&watched, &[goal], plan, control, together)?
        }
        _ => on_card(&watched, &[goal], plan, control)?,
    };
    if let Some((state, _)) = watched.outgrown() {
        // It is the model itself that has to grow.
        model.expand(&alone(model, &watched, state), &mut Batch::new(model.state_bytes()));
    }
    report.state_bytes = model.state_bytes();
    let unsure = !follows_formulas(model.system());
    // A bad run is found where the state is reached.
    for result in &mut report.properties {
        result.verdict = match result.verdict {
            Verdict::Verified => Verdict::Violated,
            Verdict::Violated if unsure => {
                let why = "the model has steps that run as one (atomic, d_step); where these come to nothing, this engine does not \
                           follow the formula";
                report.remarks.push(format!("{name}: no violation was found, but {why}; use --engine explicit"));
                Verdict::Undecided
            }
            Verdict::Violated => Verdict::Verified,
            Verdict::Undecided => Verdict::Undecided,
        };
        // What was found is a state with the automaton.
        (result.shortest, result.state) = (false, None);
        let path = result.trace.take().map(|trace| path_of(model, &watched, &trace));
        show(model, path.unwrap_or_default(), result);
    }
    Ok(report)
}

/// The system with an automaton that moves along, and that this is in a state from which it accepts everything; nothing where such a
/// state does not decide all.
fn watched(system: &System, never: &Never<Expr>) -> Option<(System, Expr)> {
    if !decides(system, never) {
        return None;
    }
    let Never { automaton, atoms, .. } = never;
    let mut system = system.clone();
    let (process, control) = (ProcessId(system.processes.len() as u32), VarId(system.variables.len() as u32));
    let states = automaton.states.len();
    system.variables.push(Variable {
        name: "state".to_string(),
        owner: Some(process),
        domain: Domain::range(0, states as i64 - 1),
        length: None,
        role: Role::Control(process),
    });
    system.processes.push(Process {
        name: "formula".to_string(),
        control,
        locations: (0..states).map(|state| state.to_string()).collect(),
        accepting: Vec::new(),
        span: Span::default(),
    });
    system.initial.iter_mut().for_each(|values| values.push(automaton.initial as i64));
    let edges = automaton.states.iter().zip(0..).flat_map(|(edges, from)| edges.iter().map(move |edge| (from, edge)));
    let moves = edges.map(|(from, edge)| {
        let guard = condition(&edge.guard, atoms);
        ClaimMove { from, to: edge.to, guard, span: Span::default() }
    });
    system.claim = Some(Claim { process, moves: moves.collect() });
    let last = automaton.kinds().into_iter().zip(0..).filter(|(kind, _)| *kind == Kind::Terminal);
    let is = |state: i64| Expr::binary(BinaryOp::Equal, Expr::Var(control), Expr::Const(state));
    let bad = last.map(|(_, state)| is(state)).reduce(|a, b| Expr::binary(BinaryOp::Or, a, b));
    Some((system, bad.unwrap_or(Expr::FALSE)))
}

/// One of the cubes holds.
fn condition(guard: &Guard, atoms: &[Expr]) -> Expr {
    let cube = |(positive, negative): (u64, u64)| {
        let literal = |(number, atom): (usize, &Expr)| match (positive >> number & 1, negative >> number & 1) {
            (1, _) => Some(Expr::binary(BinaryOp::NotEqual, atom.clone(), Expr::Const(0))),
            (_, 1) => Some(Expr::not(atom.clone())),
            _ => None,
        };
        atoms.iter().enumerate().filter_map(literal).reduce(Expr::and).unwrap_or(Expr::TRUE)
    };
    let cubes = guard.cubes.iter().map(|each| cube((each.positive, each.negative)));
    cubes.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b)).unwrap_or(Expr::FALSE)
}

/// A state without that of the automaton.
fn alone(model: &NativeModel, watched: &NativeModel, state: &[u8]) -> Vec<u8> {
    let mut alone = vec![0; model.state_bytes()];
    for (number, variable) in model.system().variables.iter().enumerate() {
        let v = VarId(number as u32);
        for i in 0..variable.cells() {
            let value = watched.layout().read(state, v, i as i64).unwrap_or(variable.domain.low);
            model.layout().write(&mut alone, v, i, value);
        }
    }
    alone
}

/// The states of the model on a run with the automaton, which goes on by itself where the model cannot.
fn path_of(model: &NativeModel, watched: &NativeModel, trace: &Trace) -> Vec<Vec<u8>> {
    let states = std::iter::once(&trace.initial).chain(trace.steps.iter().map(|(_, state)| state));
    let mut path: Vec<Vec<u8>> = states.map(|state| alone(model, watched, state)).collect();
    let mut batch = Batch::new(model.state_bytes());
    while let [.., before, last] = &path[..]
        && before == last
    {
        batch.clear();
        model.expand(before, &mut batch);
        if !batch.is_empty() {
            break;
        }
        path.pop();
    }
    path
}

/// Follows a run that is bad whatever comes until it repeats itself, or ends, and shows it so.
fn show(model: &NativeModel, mut path: Vec<Vec<u8>>, result: &mut PropertyResult) {
    let Some(mut last) = path.last().cloned() else { return };
    let mut places: HashMap<Vec<u8>, usize> = path.iter().cloned().zip(0..).collect();
    let mut batch = Batch::new(model.state_bytes());
    let mut cycle = None;
    for _ in 0..FURTHEST {
        batch.clear();
        model.expand(&last, &mut batch);
        if batch.is_empty() {
            // It stays there for ever.
            cycle = Some(path.len() - 1);
            break;
        }
        last = batch.state(0).to_vec();
        path.push(last.clone());
        if let Some(place) = places.insert(last.clone(), path.len() - 1) {
            cycle = Some(place);
            break;
        }
    }
    result.trace = Trace::through(model, &path);
    // An edge may be several steps of the path.
    let whole = result.trace.as_ref().is_some_and(|trace| trace.steps.len() + 1 == path.len());
    result.cycle = cycle.filter(|_| whole);
    result.state = result.trace.as_ref().map(|trace| trace.last().to_vec());
}
