//! Every file of `models/`, searched in every way that the tool has, must give the facts that its header states.

use crate::common;
use crate::common::header;
use crate::common::{File, Way, files, model, property, replay, ways};
use scrimp::{Mode, NativeModel, Property, PropertyKind, PropertyResult, Report, Verdict};
use scrimp_core::Condition;
use std::sync::atomic::{AtomicU64, Ordering};

/// Up to this many states each property is also checked alone, so that the search ends early.
const SMALL: u64 = 50_000;

/// Looks at every model in `way`.
fn all_models(way: Way) {
    for file in files() {
        let context = format!("{}, {way:?}", file.name);
        let model = model(&file.system, way.mode);
        check_counts(&file, &way.run(&model, &[], false), way, &context);
        check_properties(&file, &model, way, &context);
        assert!(
            scrimp::Model::state_bytes(&model) as u64 <= file.facts.vector,
            "{context}: a state is longer than stated"
        );
    }
}

fn check_counts(file: &File, report: &Report, way: Way, context: &str) {
    let (facts, found) = (&file.facts, &report.facts);
    assert!(report.exhaustive, "{context}");
    assert_eq!(found.states, facts.states, "{context}: states");
    assert_eq!(found.transitions, facts.transitions, "{context}: transitions");
    if file.system.claim.is_none() {
        assert_eq!(found.deadlocks, facts.deadlocks, "{context}: deadlocks");
    }
    assert_eq!(found.faults, facts.faults, "{context}: faults");
    assert_eq!(found.open, 0, "{context}: open states");
    if way.breadth_first() {
        assert_eq!(found.depth as u64, facts.levels, "{context}: levels");
        assert_eq!(found.level_sizes.len() as u64, facts.levels, "{context}: sizes of levels");
        assert_eq!(found.level_sizes.iter().sum::<u64>(), facts.states, "{context}: states on levels");
        assert_eq!(found.level_sizes.iter().max(), Some(&found.widest), "{context}: widest level");
    } else {
        assert!(found.level_sizes.is_empty(), "{context}: levels of a path");
    }
}

fn check_properties(file: &File, model: &NativeModel, way: Way, context: &str) {
    let interpreter = common::model(&file.system, Mode::Interpreted);
    let violations = AtomicU64::new(0);
    let mut properties: Vec<Property<Condition>> =
        file.facts.properties.iter().map(|e| property(model, &e.text)).collect();
    properties.extend([Property::faults(), Property::assertions()]);
    properties.push(count_violations(model, &violations));
    let report = way.run(model, &properties, true);
    // The last property is never decided before the end, so that this search too must see everything.
    check_counts(file, &report, way, context);
    let (told, rest) = report.properties.split_at(file.facts.properties.len());
    for (i, (expected, result)) in file.facts.properties.iter().zip(told).enumerate() {
        let context = format!("{context}, {}", expected.text);
        check_property(expected, result, &properties[i], &interpreter, way, &context);
        if file.facts.states <= SMALL {
            let alone = way.run(model, &properties[i..=i], false);
            check_property(
                expected,
                &alone.properties[0],
                &properties[i],
                &interpreter,
                way,
                &format!("{context}, alone"),
            );
        }
    }
    // Promela's assertions are counted with the faults.
    let verified = rest[..2].iter().all(|result| result.verdict == Verdict::Verified);
    assert_eq!(verified, file.facts.faults == 0, "{context}: faults");
    for (result, property) in rest.iter().zip([Property::faults(), Property::assertions()]) {
        if let Some(trace) = &result.trace {
            replay(&interpreter, trace, &property).unwrap_or_else(|e| panic!("{context}, {}: {e}", property.name));
        }
    }
    if let Some(expected) = file.facts.violations {
        assert_eq!(violations.load(Ordering::Relaxed), expected, "{context}: assertion violations");
    }
}

fn check_property(
    expected: &header::Expected,
    result: &PropertyResult,
    property: &Property<Condition>,
    interpreter: &NativeModel,
    way: Way,
    context: &str,
) {
    let verdict = if expected.holds { Verdict::Verified } else { Verdict::Violated };
    assert_eq!(result.verdict, verdict, "{context}");
    assert_eq!(result.trace.is_some(), expected.at.is_some(), "{context}: a trace where one state decides");
    let Some(trace) = &result.trace else { return };
    if way.breadth_first() {
        assert_eq!(Some(trace.steps.len()), expected.at, "{context}: length of the trace");
    } else {
        assert!(Some(trace.steps.len()) >= expected.at, "{context}: a trace shorter than the shortest");
    }
    let property = Property::new("", interpreted(&expected.text, property, interpreter));
    replay(interpreter, trace, &property).unwrap_or_else(|e| panic!("{context}: {e}"));
}

/// The property again, evaluated by the interpreter whatever the search used.
fn interpreted<'a>(
    text: &str,
    property: &Property<Condition>,
    interpreter: &'a NativeModel,
) -> PropertyKind<Condition<'a>> {
    let kind = common::property(interpreter, text).kind;
    assert_eq!(std::mem::discriminant(&kind), std::mem::discriminant(&property.kind));
    kind
}

/// An invariant that always holds and counts the states in which an assertion of the model does not.
fn count_violations<'a>(model: &'a NativeModel, violations: &'a AtomicU64) -> Property<Condition<'a>> {
    let assertions: Vec<_> = model.system().assertions.iter().map(|a| model.predicate(&a.condition)).collect();
    Property::invariant("count violations", move |state| {
        if assertions.iter().any(|a| a.holds(state) != Ok(true)) {
            violations.fetch_add(1, Ordering::Relaxed);
        }
        true
    })
}

/// One test for each way, so that they run side by side and a failure names its way.
macro_rules! tests {
    ($($name:ident: $number:literal),+) => {
        $(#[test]
        fn $name() {
            all_models(ways()[$number]);
        })+
    };
}

tests!(
    bfs_compiled: 0, bfs_compiled_2_threads: 1, bfs_compiled_4_threads: 2, dfs_compiled: 3,
    bfs_interpreted: 4, bfs_interpreted_2_threads: 5, bfs_interpreted_4_threads: 6, dfs_interpreted: 7
);

/// Nets have a way of their own to be run.
#[test]
fn nets() {
    let mut ways = ways();
    ways.retain(|way| way.mode == Mode::Compiled);
    for file in files().iter().filter(|file| file.is_net()) {
        for way in &ways {
            let way = Way { mode: Mode::Auto, ..*way };
            let context = format!("{}, {way:?}", file.name);
            let mut model = model(&file.system, way.mode);
            check_properties(file, &model, way, &context);
            assert!(model.watch_tokens(), "{context}");
            check_counts(file, &way.run(&model, &[], false), way, &context);
            assert_eq!(model.most_tokens(), file.facts.tokens, "{context}: most tokens");
        }
    }
}

/// However much of a net's structure is used, it has as many states.
#[test]
fn nets_without_some_of_their_structure() {
    let without = ["none", "-bounds", "-groups", "-implied", "-equation", "-reduction", "-walks", "bounds", "implied"];
    for file in files().iter().filter(|file| file.is_net()) {
        for structure in without {
            let opened = scrimp::open(&common::manifest().join("models").join(&file.name)).expect("it can be read");
            let structure = structure.parse().expect("parts of a net's structure");
            let mut loaded = scrimp::Loaded::with_structure(opened, structure).expect("it can be searched");
            let way = Way { mode: Mode::Auto, ..Way::PLAIN };
            let searched = loaded.with_model(way.mode, |model| way.run(model, &[], false)).expect("it can be run");
            check_counts(file, &searched, way, &format!("{}, {structure}", file.name));
        }
    }
}

/// Where the property process has no move and the system has one, a run of the product ends, but nothing is stuck.
#[test]
fn dead_ends_of_a_product_are_not_deadlocks() {
    for file in files().iter().filter(|file| file.system.claim.is_some()) {
        for way in ways() {
            let report = way.run(&model(&file.system, way.mode), &[Property::deadlock()], true);
            assert_eq!(report.facts.deadlocks, file.facts.deadlocks, "{}, {way:?}", file.name);
            let free = report.properties[0].verdict == Verdict::Verified;
            assert_eq!(free, file.facts.deadlocks == 0, "{}, {way:?}", file.name);
        }
    }
}

#[test]
fn there_is_a_test_for_every_way() {
    assert_eq!(ways().len(), 8);
}

#[test]
fn headers_are_read_strictly() {
    let head = "// name: prose\n// states: 1\n// transitions: 2\n// levels: 3\n// deadlocks: 4\n// vector: 5\n";
    let facts = header::parse(&format!("{head}// property: reach: x -> 1 -> fails at 7\n\n// prose: 9")).unwrap();
    assert_eq!((facts.states, facts.vector, facts.faults), (1, 5, 0));
    assert_eq!(facts.properties, [header::Expected { text: "reach: x -> 1".into(), holds: false, at: Some(7) }]);
    for wrong in ["// stats: 4", "// faults: many", "// property: deadlock -> perhaps", "// property: deadlock"] {
        assert!(header::parse(&format!("{head}{wrong}\n")).is_err(), "{wrong}");
    }
    assert!(header::parse("// name: prose\n// states: 1\n").is_err());
}
