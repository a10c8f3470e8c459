//! The BEEM models, against counts that were not made by this tool.
//!
//! The models and the counts lie in `../shared/bench`; without that folder there is nothing to do. Instances with more than
//! 300,000 states are left out; `SCRIMP_TEST_STATES=30000000` lets larger ones in.

use crate::common::{Way, manifest, model};
use scrimp::Mode;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What is known of one instance: the expected value of each property.
type Known = BTreeMap<String, u64>;

/// The instances of `expected.tsv` that are DVE, by file.
fn instances(folder: &Path) -> BTreeMap<String, Known> {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("expected.tsv can be read");
    let mut instances: BTreeMap<String, Known> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [language, file, property, value, ..] = fields[..] else { panic!("expected.tsv: {line}") };
        if !matches!(language, "dve" | "dve-ltl") {
            continue;
        }
        let known = instances.entry(file.to_string()).or_default();
        match property {
            // Needs the search for accepting cycles.
            "accepting-cycle-verdict" => {}
            "states+transitions" => {
                let (states, transitions) = value.split_once('/').expect("states/transitions");
                known.insert("states".into(), states.parse().unwrap());
                known.insert("transitions".into(), transitions.parse().unwrap());
            }
            _ => drop(known.insert(property.to_string(), value.parse().unwrap_or_else(|_| panic!("{line}")))),
        }
    }
    instances
}

/// The shapes of `graph-reports.tsv`, by model: column names with their values.
fn shapes(folder: &Path) -> BTreeMap<String, Known> {
    let table = std::fs::read_to_string(folder.join("dve/graph-reports.tsv")).expect("graph-reports.tsv can be read");
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().expect("a line of names").split('\t').collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let values =
            names.iter().zip(&fields).filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?)));
        (fields[1] == "dve").then(|| (fields[0].to_string(), values.collect()))
    };
    lines.filter_map(row).collect()
}

/// Compares one instance; answers what differs.
fn compare(folder: &Path, file: &str, known: &Known, shape: Option<&Known>, way: Way) -> Vec<String> {
    let system = match scrimp::load(&folder.join(file)) {
        Ok(system) => Arc::new(system),
        Err(error) => return vec![format!("{file}: {error}")],
    };
    let report = way.run(&model(&system, way.mode), &[], false);
    let facts = &report.facts;
    let mut wrong = Vec::new();
    let mut check = |name: &str, expected: Option<&u64>, found: Option<u64>| {
        if let (Some(&expected), Some(found)) = (expected, found)
            && expected != found
        {
            wrong.push(format!("{file}, {way:?}: {name} {found}, not {expected}"));
        }
    };
    let levels = Some(facts.depth as u64);
    for name in ["states", "product_states"] {
        check(name, known.get(name), Some(facts.states));
    }
    for name in ["transitions", "product_transitions"] {
        check(name, known.get(name), Some(facts.transitions));
    }
    check("bfs_levels", known.get("bfs_levels"), levels);
    check("deadlock_states", known.get("deadlock_states"), Some(facts.deadlocks));
    // The report of a graph with another number of states is about another version of the model.
    if let Some(shape) = shape.filter(|shape| shape.get("states") == Some(&facts.states)) {
        check("edges", shape.get("edges"), Some(facts.transitions));
        check("bfs_levels of the report", shape.get("bfs_levels"), levels);
        check("max_level", shape.get("max_level"), Some(facts.widest));
        check("back_level_edges", shape.get("back_level_edges"), facts.back_level_edges);
        check("max_back_level_edge", shape.get("max_back_level_edge"), facts.longest_back_level_edge);
        check("max_in", shape.get("max_in"), facts.max_in_degree);
        check("max_out", shape.get("max_out"), Some(facts.max_out_degree));
    }
    wrong
}

/// All instances up to the limit, those that `which` takes, in its way.
fn all_instances(which: impl Fn(u64) -> Option<Way>) -> (usize, usize) {
    let folder = manifest().join("../shared/bench");
    if !folder.join("expected.tsv").exists() {
        eprintln!("skipped: {} is not there", folder.display());
        return (usize::MAX, usize::MAX);
    }
    let limit = std::env::var("SCRIMP_TEST_STATES").map_or(300_000, |n| n.parse().expect("a number of states"));
    let shapes = shapes(&folder);
    let (mut wrong, mut seen, mut with_shape) = (Vec::new(), 0, 0);
    for (file, known) in instances(&folder) {
        let states = known.get("states").or(known.get("product_states"));
        let Some(way) = states.filter(|&&states| states <= limit).and_then(|&states| which(states)) else { continue };
        let name = Path::new(&file).file_name().unwrap().to_string_lossy().into_owned();
        let shape = if file.contains("beem-ltl") { None } else { shapes.get(name.split(".dve").next().unwrap()) };
        seen += 1;
        with_shape += shape.is_some() as usize;
        wrong.extend(compare(&folder, &file, &known, shape, way));
    }
    assert!(wrong.is_empty(), "{} of {seen} instances differ:\n{}", wrong.len(), wrong.join("\n"));
    (seen, with_shape)
}

/// Everything that is known, the in-degrees included, which one thread counts.
#[test]
fn one_thread() {
    let (seen, with_shape) = all_instances(|_| Some(Way { mode: Mode::Auto, ..Way::PLAIN }));
    assert!(seen >= 200 && with_shape >= 50, "{seen} instances, {with_shape} with a shape");
}

/// Where there is work for two threads.
#[test]
fn two_threads() {
    let (seen, _) = all_instances(|states| (states > 20_000).then_some(Way { threads: 2, ..Way::PLAIN }));
    assert!(seen >= 50, "{seen} instances");
}
