//! Carries a plan out and says what came of it.

use crate::check::{self, Audit, Check, OrbitSizes, Safety};
use crate::lts::{Observer, Recorder};
use crate::outcome::Ended;
use crate::plan::{ForgetChoice, Plan, ReduceChoice, Way};
use crate::reduce::{Orbits, PorConfig};
use crate::saver::Saver;
use crate::task::{Done, Guides, Task, about_runs, invalid};
use crate::verdicts::{TraceSearch, settle};
use crate::{fallbacks, general, on_disk, set_bfs, table_bfs};
use scrimp_core::{Budget, Condition, Control, OrbitFacts, Property, Report, budget::peak_resident};
use scrimp_system::{Model, Symmetry};
use std::io;
use std::sync::{Arc, OnceLock};

/// Searches `model` by `plan` for what decides `properties`; with none, visits all states. Fails when the search cannot
/// begin: no memory for it, no threads, a model that does not suit the plan.
pub fn run(
    model: &dyn Model,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
) -> io::Result<Report> {
    run_guided(model, properties, plan, control, Guides::default())
}

/// [`run`], for plans that follow a progress measure or a heuristic that the model does not know itself.
pub fn run_guided(
    model: &dyn Model,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    guides: Guides,
) -> io::Result<Report> {
    if model.state_bytes() == 0 {
        return Err(invalid("a model's states must have at least one byte"));
    }
    if let Some(property) = properties.iter().find(|property| property.kind.is_about_runs()) {
        return Err(about_runs(&property.name));
    }
    let (progress, heuristic) = own_guides(model);
    let guides = Guides {
        progress: guides.progress.or(plan.options().progress.is_some().then_some(&progress)),
        heuristic: guides.heuristic.or(plan.options().heuristic.is_some().then_some(&heuristic)),
        ..guides
    };
    if let ForgetChoice::PseudoRoot(_) = plan.options().forget {
        // What runs the model backwards is made here, before the budget looks at what is used already.
        model.suits_predecessors().map_err(|e| invalid(format!("--forget pseudo-root needs predecessors, but {e}")))?;
    }
    plan.say_decisions(control);
    match Orbits::of_states(model, properties, plan)? {
        None => search(model, properties, plan, control, guides, None),
        Some(orbits) => {
            control.say(orbits.symmetry().describe());
            let closed = orbits.closed(properties);
            let mut report = search(&orbits, &closed, plan, control, guides, Some(orbits.symmetry()))?;
            orbits.unfold_results(properties, &mut report.properties);
            Ok(report)
        }
    }
}

/// The progress measure and the heuristic that a model has itself.
fn own_guides<'a>(model: &'a dyn Model) -> (impl Fn(&[u8]) -> u128 + Sync + 'a, impl Fn(&[u8]) -> u128 + Sync + 'a) {
    (|state: &[u8]| model.progress(state).unwrap_or(0), |state: &[u8]| model.heuristic(state).unwrap_or(0))
}

/// The search of a model, or of its orbits.
fn search(
    model: &dyn Model,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    guides: Guides,
    symmetry: Option<&Symmetry>,
) -> io::Result<Report> {
    let budget = Budget::begin(plan.memory())?;
    model.spend_from(budget.clone());
    control.show_figures();
    control.enter(None);
    let safety = Safety::new(properties, plan.options().keep_going);
    let check: &dyn Check = if properties.is_empty() { &check::Nothing } else { &safety };
    let audit = plan.options().audit.then(|| Audit::new(check));
    let check = audit.as_ref().map_or(check, |audit| audit);
    let sizes = symmetry.filter(|_| plan.options().reduce == ReduceChoice::Symmetry { sizes: true });
    let sizes = sizes.map(|symmetry| OrbitSizes::new(check, symmetry));
    let check = sizes.as_ref().map_or(check, |sizes| sizes);
    let with_traces = !properties.is_empty();
    let asked: Vec<String> =
        properties.iter().map(|property| format!("{} {}", property.kind.name(), property.name)).collect();
    let saver = Saver::new(model, &asked.join("\n"), plan, Some(&safety), control);
    let wanted = guides.graph.filter(|_| plan.options().graph);
    let recorder = wanted.map(|wanted| Recorder::new(&wanted.labels, wanted.vectors, &budget)).transpose()?;
    let observer = recorder.as_ref().map(|recorder| recorder as &dyn Observer);
    let reduction = PorConfig::of_plan(model, properties, plan)?.map_or_else(OnceLock::new, OnceLock::from);
    let reduction = Arc::new(reduction);
    let found = reduction.clone();
    let reduce = move |manner| found.get().map(|reduction: &PorConfig| reduction.make(manner));
    let offer = || {
        let offered = plan.options().may_reduce.then(|| PorConfig::offered(model, properties)).flatten();
        offered.is_some_and(|offered| reduction.set(offered).is_ok())
    };
    let task = Task {
        model,
        check,
        plan,
        control,
        budget: &budget,
        saver: saver.as_ref(),
        observer,
        with_traces,
        reduce: &reduce,
        offer: &offer,
    };
    let Done { outcome, held, stage, instead } = match plan.way() {
        Way::General => general::search(&task, guides)?,
        Way::Indexed => table_bfs::search(&task)?,
        Way::Staged => fallbacks::search(&task, guides)?,
        Way::Set => set_bfs::search(&task)?,
        Way::Disk => on_disk::search(&task)?,
        other => {
            return Err(invalid(format!("internal error: the plan is for another kind of question ({other:?})")));
        }
    };
    if model.is_outgrown() {
        return Err(invalid("the model has grown beyond the system that was made for it"));
    }
    if let Ended::Unsuited(reason) = &outcome.ended {
        return Err(invalid(reason));
    }
    if let (Some(wanted), Some(recorder)) = (wanted, recorder) {
        wanted.graph.replace(Some(recorder.finish()));
    }
    let elapsed = control.elapsed();
    control.keep_figures();
    let orbits = symmetry.map(|symmetry| OrbitFacts {
        symmetries: symmetry.order(),
        exact: symmetry.is_exact(),
        states: sizes.as_ref().filter(|_| outcome.once).and_then(|sizes| sizes.states(outcome.facts.states)),
    });
    let audited = audit.as_ref().map(Audit::distinct);
    drop(audit);
    let store_bytes = held.bytes() + outcome.beside_bytes;
    let disk = held.disk();
    let ran = instead.as_ref().unwrap_or(plan);
    model.searched();
    let findings = safety.into_findings();
    if !findings.is_empty() {
        control.enter(Some("finding the run again"));
    }
    let properties =
        settle(model, held, properties, findings, &outcome, &TraceSearch { plan: ran, control, reduce: &reduce });
    control.finish();
    let limit = match outcome.ended {
        Ended::Limit(limit) => Some(limit),
        _ => None,
    };
    Ok(Report {
        limit,
        exhaustive: outcome.ended == Ended::Complete && outcome.omission.is_none(),
        omission: outcome.omission,
        once: outcome.once,
        facts: outcome.facts,
        detailed: true,
        visits: outcome.visits,
        forget: outcome.forget,
        audited,
        properties,
        state_bytes: model.state_bytes(),
        store_bytes,
        expected: outcome.expected,
        visits_before: control.taken_up(),
        disk,
        reduced: ran.options().reduce.leaves_out_states(),
        orbits,
        ran: ran.parts(),
        store: Some(stage.to_string()),
        remarks: control.remarks(),
        advice: Vec::new(),
        tokens: None,
        sets: None,
        formulas: None,
        card: None,
        cluster: None,
        peak_resident: peak_resident(),
        elapsed,
    })
}
