//! Bounded model checking against breadth-first search: the same verdicts, the same lengths of shortest runs.

use crate::common;
use crate::common::{Way, files, model, replay};
use scrimp::{Control, Limit, Mode, NativeModel, Property, PropertyResult, Verdict};
use scrimp_bounded::{BoundedReport, Options};
use scrimp_core::Condition;
use scrimp_system::Expr;
use std::sync::Arc;
use std::time::Duration;

fn bounded(model: &NativeModel, goals: &[Property<Expr>], bound: u32, seconds: u64) -> BoundedReport {
    let options = Options { bound: Some(bound), induction: true, memory: 4 << 30, keep_going: true };
    let control = Control::new(Some(Duration::from_secs(seconds)));
    scrimp_bounded::run(model, model.system(), model.layout(), goals, &options, &control).expect("it can be encoded")
}

/// The property that the search knows for a goal.
fn searched<'a>(model: &'a NativeModel, goal: &Property<Expr>) -> Property<Condition<'a>> {
    scrimp::properties::evaluated(model, std::slice::from_ref(goal)).swap_remove(0)
}

/// A goal in the words of a property file.
fn goal(model: &NativeModel, text: &str) -> Property<Expr> {
    scrimp::parse_property(model.system(), text).unwrap_or_else(|e| panic!("{e}"))
}

/// Holds what was found against what the search has found.
fn compare(
    report: &BoundedReport,
    found: &PropertyResult,
    expected: &PropertyResult,
    property: &Property<Condition>,
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
        let mut goals: Vec<Property<Expr>> = file.facts.properties.iter().map(|e| goal(&model, &e.text)).collect();
        goals.extend(Property::all(&file.system));
        let properties: Vec<Property<Condition>> = goals.iter().map(|goal| searched(&model, goal)).collect();
        let expected = Way::PLAIN.run(&model, &properties, true);
        let report = bounded(&model, &goals, 12, 3);
        for (i, found) in report.properties.iter().enumerate() {
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

/// Mutual exclusion, proven for good by induction.
#[test]
fn mutual_exclusion_is_proven() {
    let cases = [
        ("dekker.dve", "invariant: !(P_0@cs && P_1@cs)"),
        ("bakery2.dve", "invariant: !(P_0@cs && P_1@cs)"),
        ("phils5.dve", "invariant: !(Phil_0@both && Phil_1@both)"),
        ("token_ring.dve", "invariant: users <= 1"),
        ("token_ring.dve", "deadlock"),
        ("hanoi.dve", "invariant: A + B + C == 255"),
    ];
    for (file, text) in cases {
        let system = Arc::new(scrimp::load(&common::manifest().join("models").join(file)).unwrap());
        let model = model(&system, Mode::Interpreted);
        let report = bounded(&model, &[goal(&model, text)], 20, 60);
        assert_eq!(report.properties[0].verdict, Verdict::Verified, "{file}: {text}");
        let how = report.properties[0].how.as_deref().unwrap_or_default();
        assert!(how.starts_with("k-induction"), "{file}: {text}: {how}");
    }
}

/// Of BEEM's models: deadlocks at the depth where breadth-first search finds them, and proofs that there are none.
#[test]
fn deadlocks_of_beem() {
    let Some(bench) = common::bench() else { return };
    let cases = [
        ("bridge.1", Verdict::Violated),
        ("adding.1", Verdict::Violated),
        ("lamport.1", Verdict::Verified),
        ("szymanski.1", Verdict::Verified),
        ("at.1", Verdict::Verified),
        ("fischer.1", Verdict::Verified),
        ("peterson.1", Verdict::Verified),
        ("anderson.1", Verdict::Verified),
    ];
    for (name, verdict) in cases {
        let system = Arc::new(scrimp::load(&bench.join(format!("dve/beem/{name}.dve"))).unwrap());
        let model = model(&system, Mode::Compiled);
        let goals = [Property::deadlock()];
        let report = bounded(&model, &goals, 20, 60);
        assert_eq!(report.properties[0].verdict, verdict, "{name}");
        if verdict == Verdict::Violated {
            let searched = Way::PLAIN.run(&model, &[Property::deadlock()], false);
            let [found, expected] = [&report.properties[0], &searched.properties[0]];
            let [found, expected] = [found, expected].map(|r| r.trace.as_ref().map(|trace| trace.steps.len()));
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// A claim moves in step with everything: that is refused, with a reason.
#[test]
fn claims_are_refused() {
    let file = files().into_iter().find(|file| file.system.claim.is_some()).expect("a model with a claim");
    let model = model(&file.system, Mode::Interpreted);
    let options = Options { bound: Some(3), induction: true, memory: 1 << 30, keep_going: false };
    let goals = Property::all(&file.system);
    let refused = scrimp_bounded::run(&model, &file.system, model.layout(), &goals, &options, &Control::new(None));
    assert!(refused.is_err_and(|e| e.to_string().contains("claim")));
}

/// With hardly any memory, the end is an orderly one; with no time, too.
#[test]
fn limits_are_kept() {
    let system = Arc::new(scrimp::load(&common::manifest().join("models/klotski.dve")).unwrap());
    let model = model(&system, Mode::Interpreted);
    let goals = [Property::deadlock()];
    let used = scrimp::resident().unwrap_or(64 << 20);
    for (memory, time, limit) in [(used + (8 << 20), 600, Limit::Memory), (4 << 30, 0, Limit::Time)] {
        let options = Options { bound: None, induction: false, memory, keep_going: false };
        let control = Control::new(Some(Duration::from_secs(time)));
        let report = scrimp_bounded::run(&model, &system, model.layout(), &goals, &options, &control).unwrap();
        assert_eq!(report.limit, Some(limit));
        assert_eq!(report.properties[0].verdict, Verdict::Undecided);
    }
}
