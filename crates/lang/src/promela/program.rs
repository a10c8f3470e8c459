//! From the syntax tree to a [`Program`]: declarations first, then every body as a control graph.

use super::core::{EventTrace, Flow, Formula, LeafInitial, Proctype, Program, Scalar, Statement, Value};
use super::declare::{Declared, Kind, Names};
use super::element::{Body, Builder, Kinds};
use super::flow::flow;
use super::formula;
use super::habits;
use super::link::Linked;
use super::print;
use super::resolve::Scope;
use super::syntax::{Active, Item, Process, Sequence, Specification, StepKind};
use crate::diagnostic::{Place, Problem};
use scrimp_system::Source;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Processes that can exist at the same time, as in SPIN.
pub(crate) const MAX_PROCESSES: usize = 255;

pub(crate) fn program(specification: &Specification, source: Source) -> Result<Program, Problem> {
    let mut names = Names::default();
    let program = program_of(specification, source, &mut names);
    let failed = program.as_ref().err().cloned();
    Problem::all(names.problems.into_iter().chain(failed))?;
    program
}

fn program_of(specification: &Specification, source: Source, names: &mut Names) -> Result<Program, Problem> {
    for item in &specification.items {
        if let Item::Mtype { kind, values } = item {
            names.mtype(kind, values)?;
        }
    }
    for item in &specification.items {
        if let Item::Typedef(definition) = item {
            names.record(definition)?;
        }
    }
    globals(names, specification)?;
    let bodies: Vec<&Process> = specification
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Process(process) => Some(process),
            _ => None,
        })
        .collect();
    for (number, process) in bodies.iter().enumerate() {
        if names.processes.insert(process.name.name.clone(), number).is_some() {
            let message = format!("the proctype `{}` is declared twice", process.name.name);
            return Err(Problem::new(process.name.place, message));
        }
        names.parameters.push(process.parameters.len());
    }
    for process in &bodies {
        let mut locals = Vec::new();
        for parameter in &process.parameters {
            locals.push(names.declared(parameter)?);
        }
        collect_locals(names, &process.body, &mut locals)?;
        names.locals.push(locals);
    }
    let mut parts = Vec::new();
    let mut active = Vec::new();
    for (number, process) in bodies.iter().enumerate() {
        let count = match &process.active {
            None => 0,
            Some(Active::Once) => 1,
            Some(Active::Times(times)) => Scope::constant(names, times)?.max(0) as usize,
        };
        if active.len() + count > MAX_PROCESSES {
            let message = format!("there are more than {MAX_PROCESSES} processes");
            return Err(Problem::new(process.name.place, message));
        }
        active.extend(std::iter::repeat_n(number, count));
        parts.push(proctype(names, process)?);
    }
    if active.is_empty() {
        let place = bodies.first().map_or(Place::default(), |p| p.name.place);
        return Err(Problem::new(place, "the model starts no process")
            .help("add `init { ... }`, or write `active` before a `proctype`"));
    }
    let mut never = None;
    let mut trace = None;
    let mut formulas = Vec::new();
    let mut referred = Referred::new();
    for item in &specification.items {
        match item {
            Item::Never(claim) => {
                if never.is_some() {
                    return Err(Problem::new(claim.place, "there is already a `never` claim"));
                }
                never = Some(body(names, &claim.body, claim.end)?);
            }
            Item::Trace(t) => {
                if trace.is_some() {
                    return Err(Problem::new(t.place, "there is already an event trace"));
                }
                trace = Some((t, body(names, &t.body, t.end)?));
            }
            Item::Ltl(ltl) => {
                let name = ltl.name.as_ref().map_or(format!("ltl_{}", formulas.len()), |n| n.name.to_string());
                habits::complements(&ltl.formula, &mut names.warnings);
                let (text, place) = (print::expression(&ltl.formula), ltl.formula.place);
                let formula = match formula::formula(names, &ltl.formula) {
                    Ok(formula) => formula,
                    Err(problem) => {
                        names.problems.push(problem);
                        continue;
                    }
                };
                formula.atoms(&mut |atom| atom.visit(&mut |value| refer(value, &mut referred)));
                formulas.push(Formula { name, text, formula, place });
            }
            _ => {}
        }
    }
    for body in parts.iter().map(|(_, body)| body).chain(&never) {
        refer_in_body(body, &mut referred);
    }
    let none = HashSet::new();
    let mut processes = Vec::new();
    for (number, (mut process, body)) in parts.into_iter().enumerate() {
        process.flow = flow(Linked::new(body, referred.get(&number).unwrap_or(&none))?)?;
        processes.push(process);
    }
    let never = never.map(|body| flow(Linked::new(body, &none)?)).transpose()?;
    let trace = match trace {
        Some((t, body)) => Some(EventTrace { not: t.not, flow: flow(Linked::new(body, &none)?)?, place: t.place }),
        None => None,
    };
    let uses = |wanted: fn(&Value) -> bool| {
        let flows = processes.iter().map(|p| &p.flow).chain(&never);
        flows
            .flat_map(|flow| &flow.states)
            .flat_map(|s| &s.transitions)
            .flat_map(|t| &t.alternatives)
            .any(|a| a.action.statement.any(wanted))
            || processes.iter().any(|p| p.provided.as_ref().is_some_and(|value| value.any(wanted)))
            || formulas.iter().any(|f| f.any(wanted))
    };
    let uses_last = uses(|value| matches!(value, Value::Last));
    let given =
        |value: &Value| matches!(value, Value::Priority | Value::GetPriority(_) | Value::Run { priority: Some(_), .. });
    let uses_priority = uses(given) || bodies.iter().any(|p| p.priority.is_some());
    let statements =
        processes.iter().flat_map(|p| &p.flow.states).flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives);
    let sets_priority = statements.into_iter().any(|a| matches!(a.action.statement, Statement::SetPriority(..)));
    let warnings = names.warnings.drain(..).map(|w| w.locate(&source).into_warning()).collect();
    Ok(Program {
        source,
        globals: std::mem::take(&mut names.global_variables),
        channels: std::mem::take(&mut names.channels),
        mtypes: std::mem::take(&mut names.mtypes),
        processes,
        active,
        never,
        trace,
        formulas,
        uses_last,
        uses_priority: uses_priority || sets_priority,
        sets_priority,
        warnings,
    })
}

fn globals(names: &mut Names, specification: &Specification) -> Result<(), Problem> {
    for item in &specification.items {
        let Item::Variables(declarations) = item else { continue };
        for declaration in declarations {
            let declared = names.declared(declaration)?;
            if let Some(earlier) = names.global_names.get(&declared.name).map(|number| &names.globals[*number]) {
                let message = format!("the variable `{}` is already declared", declared.name);
                return Err(Problem::new(declared.place, message).on_line_of(earlier.place));
            }
            if declaration.hidden {
                let message = "`hidden` has no effect: the variable is part of every state";
                names.warnings.push(Problem::new(declared.place, message));
            }
            let initial = names.initial(&declared, declaration.initial.as_ref(), Some(&Scope::new()))?;
            let variable = names.variable(&declared, &initial, false)?;
            names.global_names.insert(declared.name.clone(), names.globals.len());
            names.globals.push(declared);
            names.global_variables.push(variable);
        }
    }
    Ok(())
}

/// The names of the variables that a body declares, in order.
fn collect_locals(names: &Names, steps: &Sequence, into: &mut Vec<Declared>) -> Result<(), Problem> {
    for step in steps {
        match &step.kind {
            StepKind::Declaration(declarations) => {
                for declaration in declarations {
                    into.push(names.declared(declaration)?);
                }
            }
            StepKind::If(options) | StepKind::Do(options) => {
                options.iter().try_for_each(|option| collect_locals(names, option, into))?;
            }
            StepKind::Atomic(steps) | StepKind::DStep(steps) | StepKind::Block(steps) => {
                collect_locals(names, steps, into)?;
            }
            StepKind::Unless { main, escape } => {
                collect_locals(names, main, into)?;
                collect_locals(names, escape, into)?;
            }
            StepKind::ForRange { body, .. } => collect_locals(names, body, into)?,
            StepKind::ForIn { body, .. } => {
                // The counter that such a loop declares by itself.
                let kind = Kind::Scalar(Scalar::Byte);
                into.push(Declared { name: "".into(), kind, length: None, place: step.place });
                collect_locals(names, body, into)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The labels of each proctype that something else asks about.
type Referred = HashMap<usize, HashSet<Arc<str>>>;

fn refer_in_body(body: &Body, referred: &mut Referred) {
    for element in &body.elements {
        if let Kinds::Action(action) = &element.kind {
            action.statement.visit(&mut |value| refer(value, referred));
        }
    }
}

fn refer(value: &Value, referred: &mut Referred) {
    if let Value::At { process, label, .. } = value {
        referred.entry(*process).or_default().insert(label.clone());
    }
}

/// A proctype that has no control graph yet, and the elements to make one of.
fn proctype(names: &mut Names, process: &Process) -> Result<(Proctype, Body), Problem> {
    let mut scope = Scope::new();
    let mut locals = Vec::new();
    for parameter in &process.parameters {
        let declared = names.declared(parameter)?;
        if declared.length.is_some() {
            return Err(Problem::new(declared.place, "an array cannot be a parameter"));
        }
        let mut variable = names.variable(&declared, &LeafInitial::Zero, true)?;
        if variable.leaves.len() != 1 || !variable.leaves[0].suffix.is_empty() {
            return Err(Problem::new(declared.place, "a record cannot be a parameter"));
        }
        variable.parameter = true;
        scope.declare(declared)?;
        locals.push(variable);
    }
    if process.deterministic {
        let message = "`D_proctype` is read as `proctype`: that it is deterministic is not checked";
        names.warnings.push(Problem::new(process.name.place, message));
    }
    let provided = process.provided.as_ref().map(|e| scope.value(names, e)).transpose()?;
    let priority = match &process.priority {
        Some(e) => Scope::constant(names, e)?,
        None => 1,
    };
    let builder = Builder::new(names, scope, locals, false);
    let (body, locals) = builder.whole(&process.body, process.end)?;
    let proctype = Proctype {
        name: process.name.name.clone(),
        is_init: process.is_init,
        parameters: process.parameters.len(),
        locals,
        priority,
        provided,
        flow: Flow::default(),
        place: process.name.place,
    };
    Ok((proctype, body))
}

/// The body of a claim or a trace.
fn body(names: &mut Names, steps: &Sequence, end: Place) -> Result<Body, Problem> {
    let builder = Builder::new(names, Scope::new(), Vec::new(), true);
    let (body, locals) = builder.whole(steps, end)?;
    if let Some(local) = locals.first() {
        return Err(Problem::new(local.place, "a claim cannot have variables of its own"));
    }
    Ok(body)
}
