//! Branching time: every engine, store and forgetter says the same of random systems, what is said to show it can be run, and
//! the game about a formula is won by who is right.

use crate::common;
use crate::common::command::{model as path, scrimp, scrimp_reading};
use crate::common::random::{Shape, text};
use crate::common::{model, successors};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scrimp::plan::{EngineChoice, ForgetChoice, StoreChoice, StrategyChoice};
use scrimp::temporal::{Context, Formula, decide};
use scrimp::{Control, Mode, NativeModel, Options, Plan, Verdict};
use scrimp_core::{Evidence, Property, PropertyKind};
use scrimp_system::{Expr, ProcessId, Random, System, VarId};
use std::cell::Cell;
use std::sync::Arc;

/// A formula of CTL about where processes are and what variables hold.
fn formula(system: &System, depth: usize, random: &mut Random) -> Formula<Expr> {
    let inner = |random: &mut Random| Box::new(formula(system, depth - 1, random));
    if depth == 0 {
        let variable = random.below(system.variables.len());
        let process = random.below(system.processes.len());
        return Formula::Atom(match system.variables[variable].length {
            None if random.below(2) == 0 => Expr::equals(VarId(variable as u32), random.below(3) as i64),
            _ => {
                let places = system.processes[process].locations.len();
                system.at(ProcessId(process as u32), random.below(places) as u32)
            }
        });
    }
    let path = match random.below(11) {
        0 => return Formula::Not(inner(random)),
        1 => return Formula::And(vec![*inner(random), *inner(random)]),
        2 => return Formula::Implies(inner(random), inner(random)),
        3 => Formula::Next(inner(random)),
        4 => Formula::Finally(inner(random)),
        5 | 6 => Formula::Globally(inner(random)),
        7 => Formula::WeakUntil(inner(random), inner(random)),
        8 => Formula::Release(inner(random), inner(random)),
        _ => Formula::Until(inner(random), inner(random)),
    };
    if random.below(2) == 0 { Formula::AllPaths(path.into()) } else { Formula::ExistsPath(path.into()) }
}

/// Everything that can decide a formula: options, and whether fairness that every run has is asked for.
fn ways() -> Vec<(Options, bool)> {
    let plain = || Options { memory: Some(8 << 30), ..Options::default() };
    let mut ways = vec![(plain(), false), (plain(), true)];
    for store in [StoreChoice::Table, StoreChoice::Collapse, StoreChoice::ComBack] {
        ways.push((Options { store: Some(store), ..plain() }, false));
    }
    let swept = Options { forget: ForgetChoice::Sweep(None), progress: Some("of the test".into()), ..plain() };
    ways.push((swept.clone(), false));
    ways.push((swept, true));
    ways.push((Options { engine: EngineChoice::Symbolic(StrategyChoice::Automatic), ..plain() }, false));
    ways
}

/// What a way says, and why.
fn ask(model: &NativeModel, formula: &Formula<Expr>, (options, fair): &(Options, bool)) -> (Verdict, Option<Evidence>) {
    let property = Property::new("asked", PropertyKind::Ctl(formula.clone()));
    let progress = |state: &[u8]| state.iter().fold(0u128, |sum, &byte| (sum * 3 + byte as u128) % 5);
    let every_run = [Expr::TRUE];
    let options = Options { fair_conditions: *fair as usize, ..options.clone() };
    let means = Context {
        plan: &Plan::new(&options, std::slice::from_ref(&property), &scrimp::facts(model, &options)).unwrap(),
        control: &Control::new(None),
        fair: if *fair { &every_run } else { &[] },
        progress: Some(&progress),
        cluster: None,
    };
    let mut report = decide(model, &property, &means).unwrap();
    let result = report.properties.remove(0);
    (result.verdict, result.evidence)
}

/// Every step that is shown can be made, from where the state before it was.
fn runs(model: &NativeModel, told: &Evidence) -> Result<(), String> {
    let mut states = vec![told.initial.clone()];
    for (event, after) in &told.steps {
        let next = successors(model, &states[states.len() - 1]);
        if !(0..next.len()).any(|i| next.event(i) == *event && next.state(i) == after) {
            return Err(format!("{}: there is no such step", told.formula));
        }
        states.push(after.clone());
    }
    let last = &states[states.len() - 1];
    if told.ends && !successors(model, last).is_empty() || told.cycle.is_some_and(|at| states[at] != *last) {
        return Err(format!("{}: the run does not go on as it says", told.formula));
    }
    for (at, part) in &told.parts {
        if part.initial != states[*at] {
            return Err(format!("{}: not in this state", part.formula));
        }
        runs(model, part)?;
    }
    Ok(())
}

#[test]
fn all_ways_agree() {
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    let verdicts = Cell::new([0, 0]);
    let shape = Shape { processes: (1, 3), independent: 3 };
    let agree = |text: common::random::Text| {
        let system = Arc::new(text.system().map_err(|e| TestCaseError::fail(e.to_string()))?);
        let model = model(&system, Mode::Interpreted);
        let mut random = Random(text.0.bytes().map(u64::from).sum());
        for _ in 0..4 {
            let formula = formula(&system, 1 + random.below(3), &mut random);
            let mut expected = None;
            for way in ways() {
                let (verdict, told) = ask(&model, &formula, &way);
                // Where something does not come to an end, who looks at everything does not know.
                if verdict == Verdict::Undecided {
                    continue;
                }
                let first = *expected.get_or_insert(verdict);
                if verdict != first {
                    return Err(TestCaseError::fail(format!("{first:?}, but {verdict:?} by {way:?}: {formula:?}")));
                }
                if let Some(told) = told {
                    runs(&model, &told).map_err(TestCaseError::fail)?;
                }
            }
            let [holds, fails] = verdicts.get();
            let holds_now = (expected == Some(Verdict::Verified)) as usize;
            let fails_now = (expected == Some(Verdict::Violated)) as usize;
            verdicts.set([holds + holds_now, fails + fails_now]);
        }
        Ok(())
    };
    TestRunner::new(config).run(&text(shape), agree).unwrap();
    let [holds, fails] = verdicts.get();
    assert!(holds > 30 && fails > 30, "{holds} hold, {fails} do not");
}

const LOCK: &str = "ctl: AG (P_0@seen_free -> AX !P_1@cs)";

#[test]
fn a_check_shows_why() {
    let answer = scrimp(&["check", &path("naive_lock.dve"), "-p", "ctl: AG EF (inside == 0)"]).code(0).stdout;
    assert!(answer.contains("every run does it"), "{answer}");
    let answer = scrimp(&["check", &path("naive_lock.dve"), "-p", LOCK]).code(1).stdout;
    for words in ["does not hold", "as a run of 2 steps shows", "after step 2", "!P_1@cs does not hold"] {
        assert!(answer.contains(words), "no '{words}' in:\n{answer}");
    }
    let json = scrimp(&["check", &path("naive_lock.dve"), "-p", LOCK, "--json"]).code(1).json();
    let told = &json["properties"][0]["evidence"];
    assert_eq!((told["holds"].as_bool(), told["trace"]["length"].as_u64()), (Some(false), Some(2)));
    assert_eq!(told["parts"][0]["at"], 2);
    // The run as far as it does not branch can be replayed.
    assert_eq!(json["properties"][0]["trace"]["length"], 3);
}

#[test]
fn the_checker_wins_where_it_is_right() {
    // The formula does not hold, so the user tries to prove it; all that is left to him is to see why not.
    let game = scrimp_reading(&["explain", &path("naive_lock.dve"), "-p", LOCK], "why\n1\n0\n").code(0).stdout;
    for words in
        ["This does not hold. You try to prove it", "The checker wins", "No other choice of yours would have won"]
    {
        assert!(game.contains(words), "no '{words}' in:\n{game}");
    }
}

#[test]
fn a_mistake_is_told() {
    let words = ["explain", &path("naive_lock.dve"), "-p", "ctl: EF P_0@cs", "--side", "prove"];
    // Nobody is in the critical section yet.
    let game = scrimp_reading(&words, "0\n").code(0).stdout;
    assert!(game.contains("The checker wins: P_0@cs does not hold here"), "{game}");
    assert!(game.contains("was a mistake: \"go on\" would have won"), "{game}");
    // The advice wins; taking back is no loss.
    let game = scrimp_reading(&words, "hint\n1\n2\nundo\n0\n1\n0\n0\n").code(0).stdout;
    assert!(game.contains("1 wins") && game.contains("Your last choice is taken back"), "{game}");
    assert!(game.contains("You win: P_0@cs holds here"), "{game}");
    // A game can be left at any time, and a pipe can end.
    for input in ["quit\n", "", "nonsense\nhelp\nstate\n"] {
        scrimp_reading(&words, input).code(0);
    }
}

#[test]
fn only_branching_time_is_explained() {
    let refused = scrimp(&["explain", &path("naive_lock.dve"), "-p", "ltl: [] true"]).refused();
    assert!(refused.contains("a CTL formula"), "{refused}");
    assert!(!scrimp(&["explain", &path("naive_lock.dve"), "-p", "ctl: G true"]).refused().is_empty());
}
