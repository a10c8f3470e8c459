//! CTL: decided state by state, or with sets of states.

use super::Context;
use crate::properties::predicate;
use scrimp_core::{OrbitFacts, Predicate, Report, moments_of};
use scrimp_native::NativeModel;
use scrimp_search::ctl::{self, CtlTask, FirstFault};
use scrimp_search::reduce::Orbits;
use scrimp_system::{Expr, Model};
use scrimp_temporal::Formula;
use std::io;
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
    let Context { plan, control, fair, progress, .. } = *means;
    let begun = Instant::now();
    plan.say_decisions(control);
    let numbered = Numbered::new(model, formula);
    let fault = FirstFault::default();
    let atoms = numbered.conditions(model).into_iter().map(|holds| fault.noting(holds)).collect::<Vec<_>>();
    let fairness: Vec<Predicate> = fair.iter().map(|e| fault.noting(predicate(model, e))).collect();
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
    let mut report = found.report(name, model, plan, control, (begun, fault.get()));
    report.reduced = orbits.is_some();
    report.orbits = orbits.as_ref().map(|orbits| OrbitFacts {
        symmetries: orbits.symmetry().order(),
        exact: orbits.symmetry().is_exact(),
        states: None,
    });
    Ok(report)
}
