//! Bounded model checking against breadth-first search: the same verdicts, the same lengths of shortest runs.

mod common;

use common::{Way, files, model, property, replay};
use scrimp::{Control, Mode, NativeModel, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_bounded::{BoundedReport, Goal, GoalKind, Options};
use scrimp_system::Expr;
use std::sync::Arc;
use std::time::Duration;

fn bounded(model: &NativeModel, goals: &[Goal], bound: u32, seconds: u64) -> BoundedReport {
    let options = Options { bound: Some(bound), induction: true, memory: 4 << 30, keep_going: true };
    let control = Control::new(Some(Duration::from_secs(seconds)));
    scrimp_bounded::run(model, model.system(), model.layout(), goals, &options, &control).expect("it can be encoded")
}

/// The property that the search knows for a goal.
fn searched<'a>(model: &'a NativeModel, goal: &Goal) -> Property<'a> {
    let condition = |e: &Expr| {
        let predicate = model.predicate(e);
        Box::new(move |state: &[u8]| predicate.holds(state))
    };
    let kind = match &goal.kind {
        GoalKind::Deadlock => PropertyKind::Deadlock,
        GoalKind::Faults => PropertyKind::Faults,
        GoalKind::Assertions => PropertyKind::Assertions,
        GoalKind::Invariant(e) => PropertyKind::Invariant(condition(e)),
        GoalKind::Reach(e) => PropertyKind::Reach(condition(e)),
    };
    Property { name: goal.name.clone(), kind }
}

/// A goal in the words of a property file.
fn goal(model: &NativeModel, text: &str) -> Goal {
    let parsed = scrimp::parse_property(model.system(), text).unwrap_or_else(|e| panic!("{e}"));
    let kind = match parsed.kind {
        scrimp_lang::PropertyKind::Deadlock => GoalKind::Deadlock,
        scrimp_lang::PropertyKind::Faults => GoalKind::Faults,
        scrimp_lang::PropertyKind::Assertions => GoalKind::Assertions,
        scrimp_lang::PropertyKind::Invariant(e) => GoalKind::Invariant(e),
        scrimp_lang::PropertyKind::Reach(e) => GoalKind::Reach(e),
    };
    Goal { name: text.into(), kind }
}

/// Holds what was found against what the search has found.
fn compare(
    report: &BoundedReport,
    found: &PropertyResult,
    expected: &PropertyResult,
    property: &Property,
    interpreter: &NativeModel,
) -> Result<(), String> {
    let context = format!("{}: {:?} {:?}, searched {:?}", found.name, found.verdict, found.how, expected.verdict);
    if !report.remarks.is_empty() {
        return Err(format!("{context}: {:?}", report.remarks));
    }
    let length = expected.trace.as_ref().map(|trace| trace.steps.len());
    if found.verdict == Verdict::Undecided {
        // What the search has found in few steps should have been found.
        let missed = length.zip(report.depth).is_some_and(|(length, depth)| length <= depth as usize);
        return if missed && !report.single_steps { Err(format!("{context} after {length:?} steps")) } else { Ok(()) };
    }
    if found.verdict != expected.verdict {
        return Err(context);
    }
    let Some(trace) = &found.trace else { return Ok(()) };
    replay(interpreter, trace, property).map_err(|e| format!("{context}: {e}"))?;
    match length {
        Some(length) if length == trace.steps.len() => Ok(()),
        Some(length) if report.single_steps && length < trace.steps.len() => Ok(()),
        _ => Err(format!("{context}: {} steps instead of {length:?}", trace.steps.len())),
    }
}

#[test]
fn models_are_decided_as_by_search() {
    let (mut decided, mut proven) = (0, 0);
    for file in files().into_iter().filter(|file| file.system.claim.is_none() && file.has_at_most(300_000)) {
        let model = model(&file.system, file.mode());
        let interpreter = common::model(&file.system, Mode::Interpreted);
        let mut goals: Vec<Goal> = file.facts.properties.iter().map(|e| goal(&model, &e.text)).collect();
        goals.extend(Goal::all(&file.system));
        let properties: Vec<Property> = goals.iter().map(|goal| searched(&model, goal)).collect();
        let expected = Way::PLAIN.run(&model, &properties, true);
        let begun = std::time::Instant::now();
        let report = bounded(&model, &goals, 12, 3);
        println!(
            "{}: depth {:?}, {} clauses, {} variables, {} conflicts, {:?}",
            file.name,
            report.depth,
            report.clauses,
            report.variables,
            report.conflicts,
            begun.elapsed()
        );
        for (i, found) in report.properties.iter().enumerate() {
            println!(
                "    {:?} {:?} {} (searched {:?} {:?})",
                found.verdict,
                found.how,
                found.name,
                expected.properties[i].verdict,
                expected.properties[i].trace.as_ref().map(|t| t.steps.len())
            );
            let property = searched(&interpreter, &goals[i]);
            compare(&report, found, &expected.properties[i], &property, &interpreter)
                .unwrap_or_else(|e| panic!("{}: {e}", file.name));
            decided += found.trace.is_some() as usize;
            proven += (found.verdict != Verdict::Undecided && found.trace.is_none()) as usize;
        }
    }
    println!("{decided} by a run, {proven} by proof");
    assert!(decided > 60, "only {decided}");
    assert!(proven > 100, "only {proven}");
}

/// Mutual exclusion, proven for good.
#[test]
fn mutual_exclusion_is_proven() {
    for (file, text) in [("models/dekker.dve", "invariant: !(P_0@cs && P_1@cs)")] {
        let system = Arc::new(scrimp::load(&common::manifest().join(file)).unwrap());
        let model = model(&system, Mode::Interpreted);
        let _ = property(&model, text);
        let report = bounded(&model, &[goal(&model, text)], 60, 60);
        println!("{file}: {:?}", report.properties[0].how);
        assert_eq!(report.properties[0].verdict, Verdict::Verified);
    }
}
