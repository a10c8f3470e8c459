//! Formulas about our own models, by every way of searching for runs.

use crate::common;
use crate::common::command::{model, scrimp};

const VERIFIED: i32 = 0;
const VIOLATED: i32 = 1;
const USAGE: i32 = 2;

/// The model, the property, and the exit code.
const LINEAR: [(&str, &str, i32); 9] = [
    ("peterson3.dve", "ltl: [] (P_0@enter -> <> P_0@cs)", VIOLATED),
    ("peterson3.dve", "ltl: []<> P_0@cs", VIOLATED),
    ("peterson3.dve", "ltl: [] !(P_0@cs && P_1@cs)", VERIFIED),
    ("peterson3.dve", "ltl: !P_0@cs U (P_0@enter || [] !P_0@enter)", VERIFIED),
    ("dekker.dve", "ltl: ([]<> P_0@contend) -> ([]<> P_0@cs)", VERIFIED),
    ("naive_lock.dve", "ltl: [] (P_0@cs -> X (P_0@cs U P_0@idle))", VIOLATED),
    ("elevator.pml", "ltl: [] (floor.called[2] -> <> floor.door[2] == open)", VIOLATED),
    ("leader.pml", "ltl: <> [] (leaders == 1)", VERIFIED),
    ("alternating_bit.dve", "ltl: <> Receiver@deliver", VIOLATED),
];

const WAYS: [&[&str]; 9] = [
    &[],
    &["--cycles", "nested"],
    &["--store", "tree"],
    &["--store", "collapse"],
    &["--store", "comback"],
    &["--threads", "2"],
    &["--reduce", "por"],
    &["--forget", "sweep", "--progress", "auto"],
    &["--engine", "symbolic"],
];

#[test]
fn linear_time() {
    for (name, property, code) in LINEAR {
        for way in WAYS {
            let file = model(name);
            let words = [&["check", &file, "--property", property][..], way].concat();
            scrimp(&words).code(code);
        }
    }
}

/// A run that is found is one of the model, and goes round.
#[test]
fn runs_are_replayed() {
    for (name, property, _) in LINEAR.into_iter().filter(|(.., code)| *code == VIOLATED) {
        let file = model(name);
        let answer = scrimp(&["check", &file, "--property", property, "--json"]).code(VIOLATED);
        let path = common::command::file(&format!("{name}.lasso.json"), &answer.stdout);
        let replayed = scrimp(&["simulate", &file, "--trace", &path]).code(0);
        let back = replayed.stdout.contains("and so on for ever, from step")
            || replayed.stdout.contains("nothing more can happen");
        assert!(back, "{name}, {property}:\n{}", replayed.stdout);
    }
}

#[test]
fn fairness() {
    let file = model("peterson3.dve");
    for way in [&[][..], &["--cycles", "nested"], &["--store", "tree"]] {
        for property in ["ltl: [] (P_0@enter -> <> P_0@cs)", "ltl: []<> P_1@cs"] {
            let words = [&["check", &file, "--property", property, "--fair", "weak"][..], way].concat();
            scrimp(&words).code(VERIFIED);
        }
    }
    // Whoever asks for more than weak fairness loses no run that is left.
    for fair in ["strong", "SF(P)", "SF(P_0), WF(P)"] {
        scrimp(&["check", &file, "--property", "ltl: [] (P_0@enter -> <> P_0@cs)", "--fair", fair]).code(VERIFIED);
    }
    // Where process 0 enters again and again, the other two may still wait for ever.
    let often = ["check", &file, "--fair", "P_0@cs", "--property"];
    scrimp(&[&often[..], &["ltl: []<> P_0@cs"]].concat()).code(VERIFIED);
    scrimp(&[&often[..], &["ltl: []<> P_1@cs"]].concat()).code(VIOLATED);
}

/// A semaphore is free again and again, and others may take it each time: that is what strong fairness is for.
#[test]
fn strong_fairness() {
    let process = |name: &str| {
        format!(
            "process {name} {{ state idle, waits, cs; init idle; trans idle -> waits {{}}, \
             waits -> cs {{ guard free == 1; effect free = 0; }}, cs -> idle {{ effect free = 1; }}; }}\n"
        )
    };
    let text = format!("byte free = 1;\n{}{}system async;\n", process("P_0"), process("P_1"));
    let file = std::env::temp_dir().join(format!("scrimp-semaphore-{}.dve", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let name = file.to_str().unwrap();
    let asked = ["check", name, "--property", "ltl: [] (P_0@waits -> <> P_0@cs)"];
    let cases = [
        (&[][..], VIOLATED),
        (&["--fair", "weak"], VIOLATED),
        (&["--fair", "strong"], VERIFIED),
        (&["--fair", "strong", "--store", "collapse"], VERIFIED),
        (&["--fair", "SF(P_0)"], VERIFIED),
        (&["--fair", "SF(P_1)", "--fair", "WF(P_0)"], VIOLATED),
        (&["--fair", "SF(P)"], VERIFIED),
        (&["--fair", "strong", "--cycles", "nested"], USAGE),
        (&["--fair", "strong", "--store", "tree"], USAGE),
        (&["--fair", "strong", "-j", "2"], USAGE),
        (&["--fair", "strong", "--reduce", "por"], USAGE),
        (&["--fair", "strong", "--engine", "symbolic"], USAGE),
        (&["--fair", "SF(nobody)"], USAGE),
        (&["--fair", "SF(P_0) WF(P_1)"], USAGE),
    ];
    for (way, code) in cases {
        scrimp(&[&asked[..], way].concat()).code(code);
    }
    let _ = std::fs::remove_file(&file);
}

/// A rendezvous is enabled for its sender, and both have moved: as SPIN has it (`pan -a -f`, without reduction).
#[test]
fn fairness_of_a_rendezvous() {
    const RECEIVES: &str = "active proctype R() { byte v; do :: c?v :: got = 1 od }";
    let cases = [
        // Receiving, the other moves: it need not do anything else.
        (format!("active proctype S() {{ do :: c!1 od }} {RECEIVES}"), VIOLATED),
        // Neither where the message is sent in the midst of a sequence that is run as one.
        (format!("active proctype S() {{ do :: atomic {{ x = 1 - x; c!1; x = 0 }} od }} {RECEIVES}"), VIOLATED),
        (
            format!("active proctype S() {{ do :: atomic {{ x = 1 - x; if :: c!1 :: x = 0 fi }} od }} {RECEIVES}"),
            VIOLATED,
        ),
        // Who takes part in nothing and could always act does so some time.
        (format!("active proctype S() {{ do :: atomic {{ x = 1 - x; x = 0 }} od }} {RECEIVES}"), VERIFIED),
        // A receiver waits as long as nobody sends.
        ("active proctype S() { do :: c!1 :: x = 1 - x od } active proctype R() { c?got }".into(), VIOLATED),
    ];
    for (number, (processes, code)) in cases.iter().enumerate() {
        let text = format!("chan c = [0] of {{ byte }}; byte got, x; {processes} ltl p {{ <> (got == 1) }}");
        let file = common::command::file(&format!("rendezvous{number}.pml"), &text);
        for fair in ["weak", "strong"] {
            scrimp(&["check", &file, "--property", "ltl p", "--fair", fair]).code(*code);
        }
    }
    let file = common::command::file(
        "rendezvous.pml",
        "chan c = [0] of { byte }; active proctype S() { do :: c!1 od } active proctype R() { byte v; do :: c?v od } ltl p { <> false }",
    );
    let refused = scrimp(&["check", &file, "--property", "ltl p", "--fair", "SF(R)"]).code(USAGE);
    assert!(refused.stderr.contains("process `R` has no event of its own to be fair to"), "{}", refused.stderr);
}

#[test]
fn branching_time() {
    let cases = [
        ("naive_lock.dve", "ctl: AG EF P_0@idle", VERIFIED),
        ("peterson3.dve", "ctl: AG (P_0@enter -> AF P_0@cs)", VIOLATED),
        ("peterson3.dve", "ctl: AG (P_0@enter -> EF P_0@cs)", VERIFIED),
        ("leader.pml", "ctl: AF (leaders == 1)", VERIFIED),
        ("packing.pnml", "ctl: AG EF deadlock", VERIFIED),
    ];
    for (name, property, code) in cases {
        for way in [&[][..], &["--engine", "symbolic"]] {
            let file = model(name);
            scrimp(&[&["check", &file, "--property", property][..], way].concat()).code(code);
        }
    }
}

#[test]
fn what_never_matters_is_said() {
    let file = model("peterson3.dve");
    let answer = scrimp(&["check", &file, "--property", "ltl: [] (level[0] == 7 -> <> P_0@cs)"]).code(VERIFIED);
    assert!(answer.stdout.contains("vacuously"), "{}", answer.stdout);
    let answer = scrimp(&["check", &file, "--property", "ctl: AG (P_0@enter -> EF P_0@cs)"]).code(VERIFIED);
    assert!(!answer.stdout.contains("vacuously"), "{}", answer.stdout);
}

/// An automaton that is written can be read, and says the same.
#[test]
fn automata_as_text() {
    let file = model("peterson3.dve");
    let written = scrimp(&["automaton", &file, "--property", "ltl: [] (P_0@enter -> <> P_0@cs)"]).code(0);
    let path = common::command::file("response.hoa", &written.stdout);
    scrimp(&["check", &file, "--property", &format!("hoa: {path}")]).code(VIOLATED);
    let broken = common::command::file("broken.hoa", "HOA: v1\nAcceptance: 1 Fin(0)\n--BODY--\n--END--\n");
    scrimp(&["check", &file, "--property", &format!("hoa: {broken}")]).refused();
}
