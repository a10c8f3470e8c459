//! Automata are no larger than the never claims that SPIN makes of the same formulas.
//!
//! The formulas are the shapes of those in the Promela examples, and those of the DVE models in `../shared/bench`. Without
//! that folder only the first are compared, and without SPIN nothing is. SPIN is not asked about formulas with X.

use crate::common;
use scrimp_temporal::{Formula, Limits, translate};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the formulas of the Promela examples look like.
const SHAPES: [&str; 17] = [
    "G p",
    "G (p -> q)",
    "G (p || q)",
    "F p",
    "F G p",
    "G F p",
    "! G p",
    "p -> F q",
    "p U q",
    "(p -> q) U r",
    "(!p) U q",
    "G (p U q)",
    "G (p -> F !p)",
    "G (p -> F q)",
    "(G p) -> F q",
    "(F p) -> F q",
    "(!G F (p || q)) -> G ((F r) -> F s)",
];

/// The formula in SPIN's signs; nothing when it has X.
fn in_signs(formula: &Formula<u32>) -> Option<String> {
    let two =
        |a: &Formula<u32>, sign: &str, b: &Formula<u32>| Some(format!("({} {sign} {})", in_signs(a)?, in_signs(b)?));
    let many = |all: &[Formula<u32>], sign: &str| {
        let all = all.iter().map(in_signs).collect::<Option<Vec<_>>>()?;
        Some(format!("({})", all.join(sign)))
    };
    match formula {
        Formula::True => Some("true".to_string()),
        Formula::False => Some("false".to_string()),
        Formula::Atom(atom) => Some(format!("p{atom}")),
        Formula::Not(a) => Some(format!("!{}", in_signs(a)?)),
        Formula::Finally(a) => Some(format!("(<> {})", in_signs(a)?)),
        Formula::Globally(a) => Some(format!("([] {})", in_signs(a)?)),
        Formula::And(all) => many(all, " && "),
        Formula::Or(all) => many(all, " || "),
        Formula::Implies(a, b) => two(a, "->", b),
        Formula::Equivalent(a, b) => two(a, "<->", b),
        Formula::Until(a, b) => two(a, "U", b),
        Formula::Release(a, b) => two(a, "V", b),
        Formula::WeakUntil(a, b) => Some(format!("({1} V ({0} || {1}))", in_signs(a)?, in_signs(b)?)),
        Formula::StrongRelease(a, b) => Some(format!("({1} U ({0} && {1}))", in_signs(a)?, in_signs(b)?)),
        Formula::Next(_) | Formula::AllPaths(_) | Formula::ExistsPath(_) => None,
    }
}

/// How many states SPIN's claim has; nothing when it takes long.
fn spin_states(formula: &str) -> Option<usize> {
    let mut spin =
        Command::new("spin").args(["-f", formula]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let begin = Instant::now();
    while spin.try_wait().ok()?.is_none() {
        if begin.elapsed() > Duration::from_secs(3) {
            let _ = spin.kill();
            let _ = spin.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = String::from_utf8(spin.wait_with_output().ok()?.stdout).ok()?;
    // A state may have two labels, one right after the other.
    let labels: Vec<bool> = text.lines().map(|line| line.ends_with(':')).collect();
    let states = (0..labels.len()).filter(|&line| labels[line] && (line == 0 || !labels[line - 1])).count();
    (states > 0).then_some(states)
}

#[test]
fn automata_are_no_larger_than_those_of_spin() {
    if Command::new("spin").arg("-V").output().is_err() {
        println!("SPIN is not installed: nothing is compared");
        return;
    }
    let mut texts: BTreeSet<String> = SHAPES.iter().map(|text| text.to_string()).collect();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/expected.tsv");
    match std::fs::read_to_string(&table) {
        Ok(table) => {
            let rows = table.lines().map(|row| row.split('\t').collect::<Vec<_>>());
            texts.extend(rows.filter(|row| row[0] == "dve-ltl-its").map(|row| row[2].to_string()));
        }
        Err(_) => println!("without ../shared/bench only {} formulas are compared", texts.len()),
    }
    let formulas: BTreeSet<String> = texts.iter().filter_map(|text| in_signs(&common::read(text).0)).collect();
    let (mut compared, mut ours, mut theirs) = (0, 0, 0);
    for signs in formulas.iter().flat_map(|signs| [signs.clone(), format!("!{signs}")]) {
        let Some(states) = spin_states(&signs) else { continue };
        let (formula, _) = common::read(&signs);
        let automaton = translate(&formula, &Limits::default()).expect("small enough").state_based();
        let own = automaton.states.len();
        assert!(own <= states, "{own} states, and SPIN has {states}, for {signs}");
        compared += 1;
        ours += own;
        theirs += states;
    }
    println!("{compared} formulas: {ours} states, and SPIN has {theirs}");
    assert!(compared >= 2 * SHAPES.len());
}
