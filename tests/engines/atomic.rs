//! Atomic sequences, d_steps and timeouts, where it must be known what an edge consists of: predecessors are those that
//! lead to a state, and pseudo-root states and edge-lean search visit exactly the states of the plain search.

use crate::common;
use crate::common::backwards::{check, states};
use scrimp::plan::{ForgetChoice, OrderChoice, ReduceChoice};
use scrimp::{Control, Loaded, Mode, Model, ModelFacts, NativeModel, Options, Plan, Question, System};
use scrimp_soak::coverage::Written;
use scrimp_soak::language::Language;
use scrimp_soak::promela::Promela;
use scrimp_system::Random;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Searches with more states are left to longer tests.
const MOST_STATES: u64 = 3_000;

/// Small programs, each with something that an edge can meet on its way.
const CORNERS: [(&str, &str); 16] = [
    (
        "an atomic sequence that blocks in its middle, and is let in again",
        "byte x; active [2] proctype P() { byte i; do :: i < 2 -> atomic { x++; x < 2; i++; x-- } :: else -> break od }
         active proctype Q() { do :: x > 2 -> x = 0 :: x == 1 -> x = 3 :: x == 0 -> break od }",
    ),
    (
        "one that another process lets go on, twice",
        "bool a, b; active proctype P() { atomic { a = true; b; a = false; !b; a = true } }
         active proctype Q() { a; b = true; !a; b = false }",
    ),
    (
        "control handed over by a rendezvous, into an atomic sequence and out of one",
        "chan c = [0] of { byte }; byte got;
         active proctype S() { byte k; do :: k < 3 -> atomic { k++; c!k; got++ } :: else -> break od }
         active [2] proctype R() { byte m; do :: atomic { c?m; got = got + m; m = 0 } :: got > 5 -> break od }",
    ),
    (
        "a rendezvous that lets its receiver go on alone, which sends on",
        "chan c = [0] of { bit }; chan d = [0] of { bit }; byte n;
         active proctype A() { do :: atomic { c!1; n = (n + 1) % 3 } od }
         active proctype B() { bit m; do :: atomic { c?m; d!m; m = 0 } od }
         active proctype C() { bit m; do :: atomic { d?m; n = (n + 1) % 3; m = 0 } od }",
    ),
    (
        "d_steps inside each other and inside atomic sequences, with branches and a loop",
        "byte x, y; active [2] proctype P() { byte i;
         do :: atomic { x < 3 -> d_step { i = 0; do :: i < 2 -> i++; x++ :: else -> break od; i = 0; d_step { y = x; x = 0 } };
            if :: y > 1 -> y = 0 :: y = 2 :: else -> skip fi } :: y == 2 -> break od }",
    ),
    (
        "choice within an atomic sequence, of which some ways block",
        "byte x; active [2] proctype P() { do :: atomic { if :: x++ :: x = 0 :: x == 2 fi; if :: x == 1 :: x > 1 -> x = 2 :: x == 0 fi } od }",
    ),
    (
        "goto into an atomic sequence and out of it",
        "byte x; active [2] proctype P() { if :: goto in :: skip fi; again: atomic { x = (x + 1) % 3; in: if :: x == 0 -> goto out :: x == 1 -> x = 2 :: else -> skip fi;
         x = (x + 1) % 3 }; goto again; out: x == 2; goto again }",
    ),
    (
        "timeouts, within an atomic sequence too, and beside what waits",
        "byte x; active proctype P() { do :: x < 2 -> x++ :: timeout -> atomic { x = 0; timeout; x = 1 } od }
         active proctype Q() { do :: atomic { x == 2 -> skip; x == 0; x = 3 } :: timeout -> x = 0 od }",
    ),
    (
        "timeouts of several processes at once",
        "bit a, b; active [2] proctype P() { do :: atomic { timeout -> a = 1 - a; b = 0 } :: a -> b = 1; b == 0 :: timeout && b -> b = 0 od }",
    ),
    (
        "else beside a rendezvous and a channel, within an atomic sequence",
        "chan c = [0] of { bit }; chan q = [1] of { bit }; byte n;
         active proctype A() { do :: atomic { n = (n + 1) % 4; if :: c!1 :: q!0 :: else -> skip fi } od }
         active proctype B() { bit m; do :: atomic { c?m -> if :: q?m :: else fi; m = 0 } :: n == 3 -> break od }",
    ),
    (
        "processes run within an atomic sequence, that end",
        "byte n; proctype W(byte k) { atomic { n = n + k; n > 1; n = n - k } }
         init { atomic { run W(1); run W(2); n++ }; _nr_pr == 1; atomic { run W(1); n = 0 } }",
    ),
    (
        "an escape within an atomic sequence, and from one",
        "byte x; active proctype P() { { do :: atomic { x < 3 -> x++; x == 1 -> x = 2 } :: atomic { x = 0; x == 3 } od } unless { x == 2 -> x = 0 } }
         active proctype Q() { do :: x = 3 :: x == 0 -> { atomic { x = 1; x == 0 } } unless { atomic { x > 1; x-- } } od }",
    ),
    (
        "an assertion within, and one whose evaluation is a fault",
        "byte x, a[2]; active proctype P() { do :: atomic { x = (x + 1) % 4; assert(a[x] == 0); a[0] = x / 2 } od }
         active proctype Q() { do :: d_step { x > 0 -> a[1] = 4 / x; x-- } od }",
    ),
    (
        "a d_step that gets stuck on some ways",
        "byte x; active [2] proctype P() { do :: d_step { x = (x + 1) % 3; x != 2; x++ } :: x == 1 -> x = 0 od }",
    ),
    (
        "an atomic sequence that goes round",
        "byte x; active [2] proctype P() { do :: atomic { do :: x < 4 -> x++ :: x > 0 -> x-- :: break od; x = x / 2 } od }",
    ),
    (
        "what is overwritten on the way, and what must have been there",
        "byte x, y, z; active proctype P() { do :: atomic { z = x; x = y; y = z; z = 0 } :: atomic { x < 2 -> x++ ; y = x } od }
         active proctype Q() { do :: d_step { y > 0 -> y = 0; x = 1 - x % 2 } od }",
    ),
];

/// What searches have shown, to be sure that they had something to show.
#[derive(Debug, Default)]
struct Met {
    backwards: usize,
    released: usize,
    fewer: usize,
}

fn options(order: &str, forget: &str, reduce: &str, threads: usize) -> Options {
    Options {
        order: Some(order.parse::<OrderChoice>().unwrap()),
        forget: forget.parse::<ForgetChoice>().unwrap(),
        reduce: reduce.parse::<ReduceChoice>().unwrap(),
        threads,
        audit: true,
        keep_going: true,
        memory: Some(1 << 30),
        visits: Some(MOST_STATES + 1),
        ..Options::default()
    }
}

/// Holds every search against the plain one; nothing is said of a model that is too small, too large, or never comes to an end.
fn agree(model: &NativeModel, met: &mut Met) -> Result<(), String> {
    let search = |options: &Options| {
        let plan =
            Plan::of(options, Question::count(), &ModelFacts::of(model)).map_err(|refusal| refusal.to_string())?;
        scrimp::run(model, &[], &plan, &Control::new(None)).map_err(|error| error.to_string())
    };
    if model.system().claim.is_some() || states(model, MOST_STATES as usize).is_none() || model.is_outgrown() {
        return Ok(());
    }
    let plain = search(&options("bfs", "none", "none", 1))?.facts;
    let suited = model.suits_predecessors().is_ok();
    for order in ["bfs", "dfs", "bbfs:2", "random", "release"] {
        for forget in ["none", "pseudo-root"] {
            for (reduce, threads) in [("none", 1), ("none", 2), ("edge-lean", 1), ("edge-lean", 2)] {
                let options = options(order, forget, reduce, threads);
                if (forget != "none" && !suited) || Plan::admit(&options).is_err() {
                    continue;
                }
                let way = format!("--order {order} --forget {forget} --reduce {reduce} --threads {threads}");
                let report = search(&options).map_err(|error| format!("{way}: {error}"))?;
                let facts = &report.facts;
                let found = (report.audited, facts.states, report.visits, facts.deadlocks, facts.faults);
                let wanted = (Some(plain.states), plain.states, plain.states, plain.deadlocks, plain.faults);
                if found != wanted {
                    return Err(format!("{way}: {found:?} instead of {wanted:?}"));
                }
                let transitions = facts.transitions;
                if transitions > plain.transitions || reduce == "none" && transitions < plain.transitions {
                    return Err(format!("{way}: {transitions} transitions instead of {}", plain.transitions));
                }
                met.released += (report.forget.released > 0) as usize;
                met.fewer += (transitions < plain.transitions) as usize;
            }
        }
    }
    if suited {
        let all = states(model, MOST_STATES as usize).ok_or("its states cannot be had twice")?;
        // What comes before and cannot be reached may have no room.
        let whole = System { outgrown: None, ..System::clone(model.system()) };
        check(model, &common::model(&Arc::new(whole), Mode::Interpreted), &all)?;
        met.backwards += 1;
    }
    Ok(())
}

fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("atomic");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.pml"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn corners() {
    let mut met = Met::default();
    for (number, (name, text)) in CORNERS.iter().enumerate() {
        let mut loaded =
            Loaded::open(&file(&format!("corner{number}"), text)).unwrap_or_else(|e| panic!("{name}: {e}"));
        for mode in [Mode::Interpreted, Mode::Compiled] {
            let before = met.backwards;
            let agreed = loaded.with_model(mode, |model| agree(model, &mut met)).unwrap();
            agreed.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(met.backwards > before, "{name}: nothing was run backwards");
        }
    }
    assert!(met.released > 100 && met.fewer > 20, "{met:?}");
}

/// Random programs, as many as `SCRIMP_TEST_CASES` says, from the seed in `SCRIMP_TEST_SEED` on.
#[test]
fn random_programs() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let first = number("SCRIMP_TEST_SEED", 0);
    let mut met = Met::default();
    for seed in first..first + number("SCRIMP_TEST_CASES", 120) {
        let program = Promela::generate(&mut Random(seed), &mut Written::new(Promela::GRAMMAR));
        let Some((_, text)) = Promela::files(&program, "random").into_iter().next() else { continue };
        let Ok(mut loaded) = Loaded::open(&file(&format!("random{seed}"), &text)) else { continue };
        let Ok(agreed) = loaded.with_model(Mode::Interpreted, |model| agree(model, &mut met)) else { continue };
        agreed.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    }
    println!("{met:?}");
    assert!(met.backwards > 20 && met.released > 100 && met.fewer > 100, "{met:?}");
}
