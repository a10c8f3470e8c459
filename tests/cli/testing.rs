//! `test` as a user meets it: folders whose models say what they should be.

use crate::common::command::{model, scratch, scrimp};
use crate::common::manifest;
use std::path::{Path, PathBuf};

/// A folder of its own with these files.
fn folder(name: &str, files: &[(&str, String)]) -> PathBuf {
    let folder = scratch(&format!("testing-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    folder
}

fn text(name: &str) -> String {
    std::fs::read_to_string(model(name)).unwrap()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn what_is_declared_is_held_against_what_is_so() {
    let wrong = text("phils3.dve").replace("deadlock -> fails at 6", "deadlock -> holds").replace("154", "155");
    let place =
        folder("claims", &[("good.dve", text("hyman.dve")), ("wrong.dve", wrong), ("fork.aut", text("fork.aut"))]);
    let (junit, sarif) = (shown(&place.join("t.xml")), shown(&place.join("t.sarif")));
    let answer = scrimp(&["test", &shown(&place), "--junit", &junit, "--sarif", &sarif]).code(1);
    for word in [
        "good.dve: 8 claims",
        "wrong.dve:2: states: 155\n         it is 154",
        "wrong.dve:7: property: deadlock -> holds\n         deadlock is violated at 6 events",
        "fork.aut: nothing is declared",
        "3 models: 1 passed, 1 not as declared, 1 without expectations",
    ] {
        assert!(answer.stdout.contains(word), "no {word} in:\n{}", answer.stdout);
    }
    let written = std::fs::read_to_string(junit).unwrap();
    assert!(written.contains("tests=\"17\" failures=\"2\"") && written.contains("deadlock is violated"), "{written}");
    let mut reader = quick_xml::Reader::from_str(&written);
    while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
    let sarif: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(sarif).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let steps = results[1]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps.len(), 6);
    let line = steps[0]["location"]["physicalLocation"]["region"]["startLine"].as_u64().unwrap() as usize;
    assert!(text("phils3.dve").lines().nth(line - 1).unwrap().contains("->"), "line {line} is a transition");
}

#[test]
fn what_has_passed_is_not_run_again() {
    let barrier = text("barrier.pml");
    let place =
        folder("cache", &[("barrier.pml", barrier), ("barrier.h", text("barrier.h")), ("h.dve", text("hyman.dve"))]);
    let test = |flags: &[&str]| scrimp(&[&["test", &shown(&place)], flags].concat());
    let first = test(&[]).code(0).stdout;
    assert!(first.contains("2 models: 2 passed\n"), "{first}");
    let second = test(&[]).code(0).stdout;
    assert!(second.contains("barrier.pml") && second.contains("2 passed (2 unchanged)"), "{second}");
    assert!(test(&["--all"]).code(0).stdout.contains("2 models: 2 passed\n"));
    // A file that is included counts as the model's own.
    std::fs::write(place.join("barrier.h"), text("barrier.h") + "\n/* more */\n").unwrap();
    let third = test(&[]).code(0).stdout;
    assert!(third.contains("2 passed (1 unchanged)"), "{third}");
    // Other memory, other tests.
    assert!(test(&["--memory", "1G"]).code(0).stdout.contains("2 models: 2 passed\n"));
    // What does not pass is run each time.
    std::fs::write(place.join("h.dve"), text("hyman.dve").replace("states: 30", "states: 31")).unwrap();
    for _ in 0..2 {
        assert!(test(&["-q", "--memory", "1G"]).code(1).stdout.contains("it is 30"));
    }
}

#[test]
fn the_whole_check_limits_and_flags() {
    let head = |declared: &str, name: &str| format!("{declared}{}", text(name).split_once("\n\n").unwrap().1);
    let cases = [
        ("violated.pml", head("// expect: violated assertion at 12 events\n", "needham_schroeder.pml"), None),
        (
            "other.pml",
            head("// expect: violated deadlock\n", "needham_schroeder.pml"),
            Some("is violated at 12 events"),
        ),
        ("verified.dve", head("// expect: verified\n", "peterson3.dve"), None),
        ("not.dve", head("// expect: verified\n", "phils3.dve"), Some("deadlock is violated at 6 events")),
        ("length.dve", head("// expect: violated at 7 events\n", "phils3.dve"), Some("the run has 6 events")),
        ("reduced.dve", head("// flags: --reduce por\n// states: 154\n", "phils3.dve"), Some("it is ")),
        ("flag.dve", head("// flags: --order backwards\n// states: 154\n", "phils3.dve"), Some("refused: error:")),
        ("memory.dve", head("// memory: 8M\n// states: 4657093\n", "large/election6.dve"), Some("memory")),
        ("time.dve", head("// time: 50ms\n// states: 4657093\n", "large/election6.dve"), Some("time")),
    ];
    for (name, text, differs) in cases {
        let place = folder("whole", &[(name, text)]);
        let answer = scrimp(&["test", &shown(&place.join(name)), "-j", "1"]).code(differs.is_some() as i32);
        assert!(answer.stdout.contains(differs.unwrap_or("1 passed")), "{name}: {}", answer.stdout);
    }
}

#[test]
fn what_cannot_be_read_is_shown() {
    let place = folder("wrong", &[("a.dve", "// a\n// stats: 4\n".into()), ("b.pml", "// expect: perhaps\n".into())]);
    let message = scrimp(&["test", &shown(&place)]).refused();
    let (a, b) = (place.join("a.dve"), place.join("b.pml"));
    assert!(
        message.contains(&format!("{}:2:4: error: nothing is declared by `stats`\n  // stats: 4\n     ^", a.display())),
        "{message}"
    );
    assert!(message.contains("did you mean `states`?"), "{message}");
    assert!(message.contains(&format!("{}:1:12: error: no verdict in `perhaps`", b.display())), "{message}");
    assert!(scrimp(&["test", "no/such"]).refused().contains("no/such: error:"));
    assert!(scrimp(&["test", &shown(&folder("empty", &[]))]).refused().contains("there is no model"));
    assert!(scrimp(&["test", &shown(&a), "--junit", &shown(&a)]).refused().contains("overwrite"));
    scrimp(&["test"]).refused();
    // A model that is none, and one that crashes the reader, differ; the others are tested.
    let place = folder("broken", &[("a.dve", "// states: 4\nprocess\n".into()), ("h.dve", text("hyman.dve"))]);
    let answer = scrimp(&["test", &shown(&place)]).code(1);
    assert!(
        answer.stdout.contains("refused: ") && answer.stdout.contains("1 passed, 1 not as declared"),
        "{}",
        answer.stdout
    );
}

/// What is asked in a cache whether it still stands: each of these files is changed so that the claim fails.
#[test]
fn what_a_test_has_read_is_known() {
    let include = |line: &str| format!("// expect: verified\n{line}\nactive proctype P() {{ assert(N == 1) }}\n");
    let place = folder("read", &[]);
    let beside = |name: &str| shown(&place.join(name));
    let counter = "byte x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 3; }; } system async;\n";
    let automaton = |most: u8| {
        let head = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"x < ";
        format!("{head}{most}\"\nacc-name: all\nAcceptance: 0 t\n--BODY--\nState: 0\n[0] 0\n--END--\n")
    };
    let flagged =
        |flag: &str, name: &str| format!("// flags: {flag}{}\"\n// expect: verified\n{counter}", beside(name));
    let (one, two) = ("#define N 1\n".to_string(), "#define N 2\n".to_string());
    let cases = [
        ("quote.pml", include("// a 3.5\" disk\n#include \"s.h\""), "s.h", one.clone(), two.clone()),
        ("angles.pml", include("#include<s.h>"), "s.h", one.clone(), two.clone()),
        ("tab.pml", include("# include\t <s.h>"), "s.h", one.clone(), two.clone()),
        ("macro.pml", include("#define F <s.h>\n#include F"), "s.h", one, two),
        (
            "file.dve",
            flagged("\"--property-file=", "p.txt"),
            "p.txt",
            "invariant: x < 9\n".into(),
            "invariant: x < 1\n".into(),
        ),
        ("hoa.dve", flagged("-p \"hoa: ", "a.hoa"), "a.hoa", automaton(0), automaton(9)),
    ];
    for (name, model, read, good, bad) in cases {
        let model_path = place.join(name);
        std::fs::write(&model_path, model).unwrap();
        std::fs::write(place.join(read), good).unwrap();
        let test = || scrimp(&["test", &shown(&model_path)]);
        assert!(test().code(0).stdout.contains("1 passed\n"), "{name}");
        assert!(test().code(0).stdout.contains("1 unchanged"), "{name}");
        std::fs::write(place.join(read), bad).unwrap();
        assert!(test().code(1).stdout.contains("violated"), "{name}");
    }
}

#[test]
fn counts_need_all_states() {
    let ring = "byte x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 100; }; } system async;\n";
    for (flags, passes) in [("--store bitstate", false), ("--store compact:16", false), ("--store tree", true)] {
        let text = format!("// states: 100\n// deadlocks: 0\n// flags: {flags}\n{ring}");
        let place = folder("counts", &[("ring.dve", text)]);
        let told = scrimp(&["test", &shown(&place)]).code(!passes as i32).stdout;
        assert!(passes || told.contains("not confirmed: 100 were found, and states may have been left out"), "{told}");
    }
    // What goes with one thread, and limits by short flags.
    for (claim, flags) in [
        ("property: invariant: x < 3 -> fails at 3", "--engine bmc:5"),
        ("states: 100", "-m 64M"),
        ("states: 100", "-j2"),
    ] {
        let place = folder("counts", &[("ring.dve", format!("// {claim}\n// flags: {flags}\n{ring}"))]);
        for jobs in ["1", "2"] {
            let told = scrimp(&["test", &shown(&place), "--all", "--jobs", jobs]);
            assert!(told.stdout.contains("1 passed"), "{flags}, {jobs} jobs: {}", told.stdout);
        }
    }
}

#[test]
fn steps_of_included_files_and_models_that_are_none() {
    let place = folder(
        "files",
        &[
            ("m.pml", "// expect: verified\n#include \"sub.h\"\n".into()),
            ("sub.h", "\n\nactive proctype P() { byte x;\n x = 1;\n assert(x == 3) }\n".into()),
            ("none.pml", "\nsyntax error here\n".into()),
            ("fork.aut", text("fork.aut")),
        ],
    );
    let (junit, sarif) = (place.join("t.xml"), place.join("t.sarif"));
    let answer = scrimp(&["test", &shown(&place), "--junit", &shown(&junit), "--sarif", &shown(&sarif)]).code(1);
    let step = format!("{}:4: ", place.join("sub.h").display());
    let told = std::fs::read_to_string(&junit).unwrap() + &answer.stdout;
    assert_eq!(told.matches(&step).count(), 2, "{told}");
    let log: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |place: &serde_json::Value| {
        let place = &place["physicalLocation"];
        (place["artifactLocation"]["uri"].as_str().unwrap().to_string(), place["region"]["startLine"].as_u64().unwrap())
    };
    let (file, line) = of(&results[0]["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]);
    assert!(file.ends_with("/sub.h") && line == 4, "{file}:{line}");
    // Without a claim, a model must be one.
    let wrong = format!("differs  {}:2: it is a model\n         refused: ", place.join("none.pml").display());
    assert!(answer.stdout.contains(&wrong) && answer.stdout.contains("1 without expectations"), "{}", answer.stdout);
    // Declarations that cannot be read are in the files too.
    std::fs::write(place.join("late.pml"), "#define N 1\n// states: 99\nactive proctype P() { skip }\n").unwrap();
    std::fs::write(place.join("bom.pml"), "\u{feff}// states: many\nactive proctype P() { skip }\n").unwrap();
    let told = scrimp(&["test", &shown(&place), "--junit", &shown(&junit), "--sarif", &shown(&sarif)]).refused();
    assert!(told.contains("late.pml:2:4: error: this stands behind the first comments"), "{told}");
    assert!(told.contains("bom.pml:1:12: error: expected a number"), "{told}");
    let written = std::fs::read_to_string(&junit).unwrap();
    assert!(written.contains("errors=\"2\"") && written.contains("late.pml:2:4: error"), "{written}");
    let mut reader = quick_xml::Reader::from_str(&written);
    while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
    let log: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() == 2 && of(&results[1]["locations"][0]).1 == 2, "{log}");
}

/// The models of the project are as they say.
#[test]
fn our_own_models() {
    let place = folder("ours", &[]);
    for entry in std::fs::read_dir(manifest().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, place.join(path.file_name().unwrap())).unwrap();
        }
    }
    let answer = scrimp(&["test", &shown(&place), "-q", "--jobs", "2"]).code(0);
    let last = answer.stdout.lines().last().unwrap();
    assert!(last.contains("passed") && !last.contains("not as declared"), "{}", answer.stdout);
}
