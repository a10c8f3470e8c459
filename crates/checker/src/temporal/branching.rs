//! CTL: decided state by state, or with sets of states.

use super::Context;
use crate::properties::predicate;
use scrimp_core::{Evidence, OrbitFacts, Predicate, PropertyResult, Report, Verdict, moments_of};
use scrimp_native::NativeModel;
use scrimp_search::ctl::{self, CtlOutcome, CtlTask};
use scrimp_search::reduce::Orbits;
use scrimp_system::{Expr, Fault, Model};
use scrimp_temporal::Formula;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A formula in terms of numbered atoms, with what these are and how they are written.
pub struct Numbered {
    pub formula: Formula<u32>,
    pub atoms: Vec<Expr>,
    pub names: Vec<String>,
}

impl Numbered {
    pub fn new(model: &NativeModel, formula: &Formula<Expr>) -> Numbered {
        let mut atoms: Vec<Expr> = Vec::new();
        let formula = formula.map(&mut |e: &Expr| match atoms.iter().position(|known| known == e) {
            Some(number) => number as u32,
            None => {
                atoms.push(e.clone());
                atoms.len() as u32 - 1
            }
        });
        let names = atoms.iter().map(|e| model.system().spell(e)).collect();
        Numbered { formula, atoms, names }
    }

    /// Whether each atom holds, as searches want to know it.
    pub fn conditions<'m>(&self, model: &'m NativeModel) -> Vec<Predicate<'m>> {
        self.atoms.iter().map(|e| predicate(model, e)).collect()
    }
}

pub fn decide(model: &NativeModel, name: &str, formula: &Formula<Expr>, means: &Context) -> io::Result<Report> {
    let Context { plan, control, fair, progress } = *means;
    let begun = Instant::now();
    plan.say_decisions(control);
    let numbered = Numbered::new(model, formula);
    let fault = Mutex::new(None);
    let atoms = numbered.conditions(model).into_iter().map(|holds| watched(holds, &fault)).collect::<Vec<_>>();
    let fairness: Vec<Predicate> = fair.iter().map(|e| watched(predicate(model, e), &fault)).collect();
    let orbits = Orbits::of_runs(model, &moments_of(formula), plan)?;
    if let Some(orbits) = &orbits {
        control.say(orbits.symmetry().describe());
    }
    let task = CtlTask {
        model: orbits.as_ref().map_or(model as &dyn Model, |orbits| orbits),
        formula: &numbered.formula,
        names: &numbered.names,
        atoms: &atoms,
        fairness: &fairness,
        plan,
        control,
        progress,
    };
    let mut found = ctl::check(&task)?;
    if let Some(orbits) = &orbits {
        found.evidence = found.evidence.and_then(|evidence| orbits.unfold_evidence(&evidence));
    }
    control.finish();
    let mut report = searched(model, &found, begun);
    report.reduced = orbits.is_some();
    report.orbits = orbits.as_ref().map(|orbits| OrbitFacts {
        symmetries: orbits.symmetry().order(),
        exact: orbits.symmetry().is_exact(),
        states: None,
    });
    let mut result = PropertyResult::undecided(name);
    let fault = *fault.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(fault) = fault {
        control.say(format!("{name}: evaluating its conditions ended in a fault: {fault}"));
    }
    result.verdict = match found.verdict.filter(|_| fault.is_none()) {
        Some(true) => Verdict::Verified,
        Some(false) => Verdict::Violated,
        None => Verdict::Undecided,
    };
    if let Some((trace, cycle)) = found.evidence.as_ref().and_then(Evidence::run) {
        result.state = Some(trace.last().to_vec());
        (result.trace, result.cycle) = (Some(trace), cycle);
    }
    result.evidence = found.evidence.filter(|_| fault.is_none());
    report.ran = plan.parts();
    report.properties = vec![result];
    report.remarks = control.remarks();
    Ok(report)
}

/// What a search that began then has counted.
pub fn searched(model: &NativeModel, found: &CtlOutcome, begun: Instant) -> Report {
    let mut report = Report::of_nothing(model, begun.elapsed());
    report.limit = found.limit;
    report.exhaustive = found.exhaustive;
    report.facts.states = found.facts.states;
    report.facts.transitions = found.facts.transitions;
    report.facts.initial_states = found.facts.initial_states;
    report.visits = found.facts.expanded;
    report.forget.stored_peak = found.facts.states;
    report.store_bytes = found.facts.bytes;
    report.store = found.facts.store.clone();
    report
}

/// The same condition, which notes the first fault that evaluating it ends in.
fn watched<'a>(holds: Predicate<'a>, fault: &'a Mutex<Option<Fault>>) -> Predicate<'a> {
    Box::new(move |state| {
        let value = holds(state);
        if let Err(found) = &value {
            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(*found);
        }
        value
    })
}
