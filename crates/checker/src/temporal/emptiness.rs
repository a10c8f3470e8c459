//! Is there a bad run? Searched for by a cluster, whose run the model here must confirm.

use super::Context;
use crate::engines::brought_together;
use crate::properties::predicate;
use scrimp_cluster::{CyclesReport, run_cycles};
use scrimp_core::{Budget, Never, Predicate, Report};
use scrimp_native::NativeModel;
use scrimp_search::liveness::{Answer, Product};
use scrimp_system::{Expr, Model};
use std::io;
use std::time::Instant;

/// Looks for a bad run.
pub fn decide(model: &NativeModel, name: &str, never: &Never<Expr>, means: &Context) -> io::Result<Report> {
    let Context { plan, control, .. } = *means;
    let begun = Instant::now();
    plan.say_decisions(control);
    let cluster = brought_together(plan, means.cluster)?;
    let found = run_cycles(model, never, plan.memory(), control, cluster)?;
    let CyclesReport { accepted, run, fault, limit, facts, visits, kept_bytes, traffic, mut remarks } = found;
    let atoms: Vec<Predicate> = never.atoms.iter().map(|e| predicate(model, e)).collect();
    let product = Product::new(model, &never.automaton, &atoms, None, true).ending(!never.repeats);
    let mut answer = Answer {
        accepted,
        lasso: None,
        fault,
        limit,
        facts,
        state_bytes: product.state_bytes(),
        store_bytes: kept_bytes as usize,
        store: None,
        reduced: false,
        orbits: None,
    };
    if accepted == Some(true) {
        // The run is what shows it.
        answer.accepted = None;
        match run {
            Some(run) if run.is_accepted(&product) => {
                answer.accepted = Some(true);
                let budget = Budget::new(plan.memory());
                answer.lasso = run.finish(&product, &budget, control.stop());
                if answer.lasso.is_none() {
                    remarks.push(format!("{name}: no time or memory to show the run"));
                }
            }
            Some(_) => {
                remarks.push(format!("{name}: internal error: the model does not agree with what was found"));
            }
            None => {}
        }
    }
    control.finish();
    let mut report = answer.report(name, model, plan, control, begun);
    report.detailed = false;
    report.visits = visits;
    report.cluster = Some(traffic);
    report.remarks.splice(0..0, remarks);
    Ok(report)
}
