//! What a search found, as verdicts with traces.

use crate::breadth_first::{self, Worker};
use crate::check::{Check, Finding, Safety, Target};
use crate::engine::{self, Parts, Standing};
use crate::forget::{Cache, Strategy, Tree};
use crate::graph::InDegrees;
use crate::held::Held;
use crate::order::{Levels, Width};
use crate::outcome::{Ended, Outcome, Position};
use crate::parallel;
use crate::plan::Plan;
use crate::reduce::{AllEvents, Expansion, Grounded, Reduce, ReductionFactory};
use crate::store::Table;
use crate::trace::backwards;
use scrimp_core::{Budget, Condition, Control, Limit, Property, PropertyResult, Trace, Verdict};
use scrimp_system::Model;
use std::sync::Arc;

/// What it takes to search again for what was found.
pub(crate) struct TraceSearch<'a> {
    pub plan: &'a Plan,
    pub control: &'a Control,
    pub reduce: &'a ReductionFactory,
}

/// States that are visited to find a shortest run in place of one that a reduced search has found.
const FOR_SHORTEST: u64 = 1 << 19;
/// Ways to search again: breadth-first, for a short run; depth-first where that takes too much.
const WIDTHS: [Width; 3] = [Width::BREADTH_FIRST, Width::Bounded(256), Width::DEPTH_FIRST];

/// The verdict on each property, with its trace where one state decided it.
pub(crate) fn settle(
    model: &dyn Model,
    held: Held,
    properties: &[Property<Condition>],
    mut findings: Vec<Finding>,
    outcome: &Outcome,
    task: &TraceSearch,
) -> Vec<PropertyResult> {
    let TraceSearch { plan, control, reduce } = *task;
    let missing: Vec<&Finding> = findings.iter().filter(|f| f.path.is_none()).collect();
    let mut found = held.traces(model, outcome, &missing).into_iter();
    let at_hand = |f: &Finding| match &f.path {
        Some(path) => Trace::through(model, path),
        None => found.next().flatten(),
    };
    let mut traces: Vec<Option<Trace>> = findings.iter().map(at_hand).collect();
    // What the first search held makes room for the second.
    drop(held);
    let reduced = plan.options().reduce.leaves_out_events();
    let mut shortest = vec![plan.is_by_level() && outcome.by_level && !reduced; findings.len()];
    if reduced && plan.is_by_level() {
        let most_visits = FOR_SHORTEST / findings.len().max(1) as u64;
        for (i, finding) in findings.iter_mut().enumerate() {
            let safety = Safety::new(std::slice::from_ref(&properties[finding.property]), false);
            let limits = Limits { plan, control, most_visits };
            search_again(model, &safety, &limits, &WIDTHS[..1], &mut AllEvents);
            if let Some(found) = safety.into_findings().pop()
                && let Some(trace) = found.path.as_ref().and_then(|path| Trace::through(model, path))
            {
                *finding = Finding { property: finding.property, ..found };
                (traces[i], shortest[i]) = (Some(trace), true);
            }
        }
    }
    if plan.is_by_level() && outcome.by_level && !reduced {
        let missing: Vec<usize> = (0..findings.len()).filter(|&i| traces[i].is_none()).collect();
        let sought: Vec<&Finding> = missing.iter().map(|&i| &findings[i]).collect();
        let found = level_by_level(model, &sought, plan, control);
        missing.into_iter().zip(found).for_each(|(i, trace)| traces[i] = trace);
    }
    let limits = Limits { plan, control, most_visits: u64::MAX };
    for (finding, trace) in findings.iter_mut().zip(&mut traces).filter(|(_, trace)| trace.is_none()) {
        if !reduced {
            let target = Target::new(&finding.state);
            search_again(model, &target, &limits, &WIDTHS, &mut AllEvents);
            *trace = target.into_path().and_then(|path| Trace::through(model, &path));
        } else if let Some(mut reduce) = reduce(Expansion::Stateless) {
            // Which of the states that decide the property is found depends on the order.
            let safety = Safety::new(std::slice::from_ref(&properties[finding.property]), false);
            search_again(model, &safety, &limits, &WIDTHS, &mut *reduce);
            if let Some(found) = safety.into_findings().pop() {
                *trace = found.path.as_ref().and_then(|path| Trace::through(model, path));
                *finding = Finding { property: finding.property, ..found };
            }
        }
    }
    let result = |(i, property): (usize, &Property<Condition>)| {
        let found = findings.iter().position(|f| f.property == i);
        let finding = found.map(|at| &findings[at]);
        let violates = property.finding_violates();
        let all_visited = outcome.ended == Ended::Complete && outcome.omission.is_none();
        let verdict = match (finding.is_some(), all_visited) {
            (true, _) if violates => Verdict::Violated,
            (true, _) => Verdict::Verified,
            (false, true) if violates => Verdict::Verified,
            (false, true) => Verdict::Violated,
            (false, _) => Verdict::Undecided,
        };
        PropertyResult {
            name: property.name.clone(),
            verdict,
            state: finding.map(|f| f.state.clone()),
            // Level by level, the depth at which a state is found is its distance.
            shortest: outcome.omission.is_none()
                && found.is_some_and(|at| {
                    shortest[at]
                        && traces[at].as_ref().is_some_and(|trace| trace.steps.len() == findings[at].depth as usize)
                }),
            trace: found.and_then(|at| traces[at].clone()),
            cycle: None,
            evidence: None,
            fault: finding.and_then(|f| f.fault),
            condition_fault: finding.and_then(|f| f.condition_fault),
            vacuous: Vec::new(),
            answer: None,
            how: None,
        }
    };
    properties.iter().enumerate().map(result).collect()
}

/// Searches once more, in a table whose levels are known, as far as what was found: shortest runs to it, where there is memory for
/// that.
fn level_by_level(model: &dyn Model, sought: &[&Finding], plan: &Plan, control: &Control) -> Vec<Option<Trace>> {
    let none = vec![None; sought.len()];
    let Some(farthest) = sought.iter().max_by_key(|finding| finding.depth) else { return none };
    let budget = Arc::new(Budget::new(plan.memory()));
    let Ok(mut table) = Table::new(model.state_bytes(), budget.clone()) else { return none };
    let (target, mut position) = (Target::new(&farthest.state), Position::default());
    let (threads, all_events, grounded) = (plan.options().threads, |_| None, Grounded::new(budget.clone()));
    loop {
        let ended = if threads == 1 {
            let (worker, mut in_degrees) = (Worker::new(model, &target), InDegrees::new(false, budget.clone()));
            breadth_first::search(worker, &mut table, control, &mut in_degrees, &mut position, None)
        } else {
            let with = (&all_events as &ReductionFactory, &grounded);
            match parallel::search(model, table, &target, control, threads, &mut position, with) {
                Ok((searched, ended)) => {
                    table = searched;
                    ended
                }
                Err(_) => return none,
            }
        };
        // What only looks for a run is not saved.
        control.paused();
        match ended {
            Ended::Paused => {}
            Ended::Decided => break,
            _ => return none,
        }
    }
    let targets: Vec<_> = sought.iter().map(|finding| (&finding.state[..], finding.depth)).collect();
    backwards(model, &table, &position.levels, &targets)
}

/// What bounds a search for a run.
struct Limits<'a> {
    plan: &'a Plan,
    control: &'a Control,
    most_visits: u64,
}

/// Searches for what was found once more, within the same memory, with a cache that keeps the ancestors of what is open: the
/// first search forgot how it got there.
fn search_again(model: &dyn Model, check: &dyn Check, limits: &Limits, widths: &[Width], reduce: &mut dyn Reduce) {
    let Limits { plan, control, most_visits } = *limits;
    for &width in widths {
        let budget = Arc::new(Budget::new(plan.memory()));
        let store = Table::new(model.state_bytes(), budget.clone()).and_then(Table::removable);
        let tree = Tree { chains: false, stride: 1 };
        let cache = Cache::new(usize::MAX, Strategy::default(), tree, plan.options().seed, &budget);
        let (Ok(mut store), Ok(mut cache)) = (store, cache) else {
            return;
        };
        let (mut order, mut standing) = (Levels::new(width), Standing::default());
        let outcome = loop {
            let parts = Parts {
                model,
                store: &mut store,
                order: &mut order,
                forget: &mut cache,
                reduce,
                sleeping: None,
                check,
                control,
                budget: &budget,
                rank: None,
                most_visits,
                front: None,
                observer: None,
                by_level: false,
                share: None,
            };
            let outcome = engine::search(parts, &mut standing);
            if !outcome.as_ref().is_ok_and(|outcome| outcome.ended == Ended::Paused) {
                break outcome;
            }
            // What only looks for a run is not saved.
            control.paused();
        };
        if !outcome.is_ok_and(|outcome| matches!(outcome.ended, Ended::Limit(Limit::Memory | Limit::Cache))) {
            return;
        }
    }
}
