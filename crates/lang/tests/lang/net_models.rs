//! The nets of `models/`: brute force must find what their headers state.

use crate::small_nets;
use scrimp_lang::read_net;
use std::path::Path;

/// Markings up to which a net is explored; those without a number of states have more.
const MOST: usize = 100_000;

/// The facts of a net, in the order in which headers state them.
fn facts(path: &Path) -> Vec<String> {
    let net = read_net(path).unwrap_or_else(|e| panic!("{e}"));
    let Some(graph) = small_nets::explore(&net, MOST) else { return vec!["states: without bound".to_string()] };
    let deadlocks = graph.stuck.iter().filter(|stuck| **stuck).count();
    let outcome = match graph.first_stuck() {
        Some(level) => format!("fails at {level}"),
        None => "holds".to_string(),
    };
    vec![
        format!("states: {}", graph.markings.len()),
        format!("transitions: {}", graph.firings),
        format!("levels: {}", graph.levels),
        format!("deadlocks: {deadlocks}"),
        format!("most tokens in a place: {}", graph.most_in_a_place()),
        format!("most tokens in all: {}", graph.most_in_all()),
        format!("property: deadlock -> {outcome}"),
    ]
}

#[test]
fn every_net_has_the_facts_of_its_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "pnml"));
    paths.sort();
    assert!(paths.len() >= 8);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut comments = text.lines().skip(1).map_while(|l| l.strip_prefix("<!-- ")?.strip_suffix(" -->"));
        assert!(comments.next().unwrap().starts_with(&format!("{name}: ")), "{name}");
        // How long a state is depends on how markings are kept, which is not known here.
        let stated: Vec<String> = comments.filter(|fact| !fact.starts_with("vector:")).map(str::to_string).collect();
        let found = facts(&path);
        assert_eq!(stated, found, "{name}");
    }
}
