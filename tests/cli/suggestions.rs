//! What the command proposes when a name is unknown, an operator is of another language, or a file is no model: as a user
//! would meet it, from the command line.

use crate::common::command::{file, model, scratch, scrimp};

const DVE: &str = "\
byte holder;
process P {
  state idle, critical;
  init idle;
  trans
    idle -> critical { guard holdr == 0; effect holder = 1, wating = 1; },
    critical -> idel { guard holder == 1; };
}
system async;
";

const PROMELA: &str = "\
mtype = { request, grant };
chan link = [1] of { mtype };
bool held;
proctype User(byte id) {
entry:
  link!requst;
  helt = true;
  goto entri;
}
init { run Usr(1); run User(1) }
ltl live0 { [] <> held }
";

/// What is said of a wrong model, without the folder.
fn refusal(name: &str, text: &str) -> String {
    let path = file(name, text);
    scrimp(&["check", &path]).refused().replace(&path, name)
}

#[test]
fn all_unknown_names_of_a_model_are_told_with_what_was_meant() {
    assert_eq!(
        refusal("suggestions.dve", DVE),
        "\
suggestions.dve:6:30: error: unknown name `holdr`
      idle -> critical { guard holdr == 0; effect holder = 1, wating = 1; },
                               ^~~~~
help: did you mean `holder`?
suggestions.dve:6:61: error: unknown name `wating`
      idle -> critical { guard holdr == 0; effect holder = 1, wating = 1; },
                                                              ^~~~~~
suggestions.dve:7:17: error: unknown state `idel`
      critical -> idel { guard holder == 1; };
                  ^~~~
help: did you mean `idle`?
"
    );
    let told = refusal("suggestions.pml", PROMELA);
    for (place, what, meant) in [
        (":6:8:", "unknown variable `requst`", "request"),
        (":7:3:", "unknown variable `helt`", "held"),
        (":10:12:", "unknown proctype `Usr`", "User"),
    ] {
        assert!(told.contains(&format!("suggestions.pml{place} error: {what}")), "{told}");
        assert!(told.contains(&format!("did you mean `{meant}`?")), "{told}");
    }
    let label = PROMELA.replace("requst", "request").replace("helt", "held").replace("Usr", "User");
    let told = refusal("suggestions_label.pml", &label);
    assert!(told.contains(":8:8: error: unknown label `entri`") && told.contains("did you mean `entry`?"), "{told}");
}

/// Properties, word by word, and what is proposed. What is proposed works, as the test sees by asking it.
const PROPERTIES: &[(&str, &str)] = &[
    ("insid == 0", "did you mean `invariant: inside == 0` (in every reachable state), or `reach: inside == 0`"),
    ("invariant: insid == 0", "did you mean `inside`?"),
    (
        "inside <= 3",
        "did you mean `invariant: inside <= 3` (in every reachable state), or `reach: inside <= 3` (in some)?",
    ),
    ("inside = 1", "did you mean `invariant: inside == 1`"),
    ("invariant: inside = 1", "did you mean `invariant: inside == 1`?"),
    ("invariant inside < 3", "did you mean `invariant: inside < 3`?"),
    ("invariant: inside < 3 /\\ inside # 4", "did you mean `invariant: inside < 3 && inside != 4`?"),
    ("invariant: ~(inside = 2) \\/ TRUE", "did you mean `invariant: !(inside == 2) || true`?"),
    ("invariant: ~(inside == 2)", "did you mean `invariant: !(inside == 2)`?"),
    ("invariant: inside == 1 => inside < 2", "did you mean `invariant: inside == 1 imply inside < 2`?"),
    ("ltl: [](inside == 1 => <>inside == 0)", "did you mean `ltl: [](inside == 1 -> <>inside == 0)`?"),
    ("[] inside < 4", "did you mean `ltl: [] inside < 4` (on every run)?"),
    ("invariant: [] inside < 4", "did you mean `ltl: [] inside < 4` (on every run)?"),
    ("ltl: EF inside == 0", "did you mean `ctl: EF inside == 0` (in every initial state)?"),
    ("AG EF inside == 0", "did you mean `ctl: AG EF inside == 0` (in every initial state)?"),
    ("ltl p { [] inside < 4 }", "did you mean `ltl: [] inside < 4`?"),
    ("deadlok", "did you mean `deadlock`?"),
    ("invariant: P_0@idl", "did you mean `idle`?"),
    ("invariant: P_O@idle", "did you mean `P_0`?"),
];

#[test]
fn properties_are_corrected() {
    let lock = model("naive_lock.dve");
    for (written, meant) in PROPERTIES {
        let told = scrimp(&["check", &lock, "-p", written]).refused();
        assert!(told.contains(meant), "{written}: {told}");
        let proposed = meant.strip_prefix("did you mean `").and_then(|rest| rest.split('`').next());
        if let Some(proposed) = proposed.filter(|text| text.contains(": ")) {
            let answer = scrimp(&["check", &lock, "-p", proposed]);
            assert!(matches!(answer.code, Some(0 | 1)), "{proposed}: {}", answer.stderr);
        }
    }
}

#[test]
fn properties_of_the_model_are_found_by_their_name() {
    let text = "bool held; active proctype P() { do :: held = !held od }\nltl live0 { [] <> held }\n";
    let path = file("suggestions_formula.pml", text);
    for name in ["live0", "liv0", "ltl liv0", "ltl live"] {
        let told = scrimp(&["check", &path, "-p", name]).refused();
        assert!(told.contains("did you mean `ltl live0`?"), "{name}: {told}");
    }
    let told = scrimp(&["check", &path, "-p", "ltl other"]).refused();
    assert!(told.contains("the model has no formula `other`") && told.contains("the model has live0"), "{told}");
}

#[test]
fn all_wrong_lines_of_a_property_file_are_told() {
    let path = file("suggestions.props", "invariant: insid < 3\n# fine\ninvariant: inside < 3\nreach: insde == 1\n");
    let told = scrimp(&["check", &model("naive_lock.dve"), "--property-file", &path]).refused();
    assert!(told.contains(".props:1:12: error: unknown name `insid`"), "{told}");
    assert!(told.contains(".props:4:8: error: unknown name `insde`"), "{told}");
}

#[test]
fn names_of_a_net_are_corrected() {
    let net = model("packing.pnml");
    let told = scrimp(&["check", &net, "-p", "deadlok"]).refused();
    assert!(told.contains("did you mean `deadlock`?"), "{told}");
    let told = scrimp(&["check", &net, "-p", "true = true"]).refused();
    assert!(told.contains("error:"), "{told}");
}

/// Files that are no models: name, contents, what is said.
const FILES: &[(&str, &[u8], &str)] = &[
    ("lock.pml.trail", b"-4:-4:-4\n1:0:3\n2:1:4\n", "trail of SPIN"),
    ("Lock.tla", b"---- MODULE Lock ----\nVARIABLE x\nInit == x = 0\n====\n", "TLA+ specification"),
    ("lock.smv", b"MODULE main\nVAR x : boolean;\nASSIGN init(x) := FALSE;\n", "NuSMV"),
    ("die.pm", b"dtmc\nmodule die\n  s : [0..7] init 0;\nendmodule\n", "model of PRISM"),
    ("lock.bcg", b"\x00\x01\x02", "binary graph of CADP"),
    ("pan", b"\x7fELF\x02\x01\x01\x00", "this is a program"),
    ("noise.pml", b"\x00\x01\x02", "binary file"),
    ("void.pml", b"", "the file is empty"),
    ("blank.pml", b" \n\n", "nothing but blanks"),
    ("words.txt", b"neither this nor that", "models are DVE (.dve), Promela (.pml,"),
];

#[test]
fn files_that_are_no_models_are_recognised() {
    let folder = scratch("suggestions_files");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, contents, said) in FILES {
        let path = file(&format!("suggestions_files/{name}"), contents);
        let told = scrimp(&["check", &path]).refused();
        assert!(told.contains(said), "{name}: {told}");
    }
    std::fs::write(folder.join("lock.pml"), "active proctype P() { skip }").expect("a file can be written");
    let at = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let told = |name: &str| scrimp(&["check", &at(name)]).refused();
    assert!(told("lock.pml.trail").contains("help: give the model, "), "{}", told("lock.pml.trail"));
    assert!(
        told("lok.pml").contains("did you mean `") && told("lok.pml").contains("lock.pml`?"),
        "{}",
        told("lok.pml")
    );
    assert!(told("lock").contains("lock.pml`?"), "{}", told("lock"));
    assert!(told("").contains("this is a folder, not a model"), "{}", told(""));
    let traced = scrimp(&["simulate", &at("lock.pml"), "--trace", &at("lock.pml.trail")]).refused();
    assert!(traced.contains("this is a trail of SPIN, which is not read\nhelp: a trace is written by"), "{traced}");
    assert!(told("nowhere/lock.pml").contains("there is no folder"), "{}", told("nowhere/lock.pml"));
}

/// Command lines, and what is said: flags of other tools, sizes and durations without a unit, slips.
const COMMANDS: &[(&str, &str)] = &[
    ("check LOCK -a", "`-p accepting`"),
    ("check LOCK -run", "unknown option `-run`\nhelp: leave it out"),
    ("check LOCK --por", "unknown option `--por`\nhelp: `--reduce por`"),
    ("check LOCK --state=tree", "`--store tree`"),
    ("check LOCK -safety", "`-p deadlock -p faults -p assertions`"),
    ("check LOCK -bfs", "breadth-first is the default"),
    ("check LOCK --symbolic", "`--engine symbolic`"),
    ("check LOCK -workers 4", "`--threads N`"),
    ("check LOCK --propertty deadlock", "did you mean `--property`?"),
    ("check LOCK --nonsense", "`scrimp check -h` lists the options"),
    ("check LOCK --memory 64", "--memory: `64` is 64 bytes\nhelp: did you mean 64M?"),
    ("check LOCK --time 10", "--time: `10` has no unit\nhelp: did you mean 10s or 10m?"),
    ("check LOCK --time soon", "expected a duration, found `soon`"),
    ("check LOCK --memory", "--memory <SIZE> needs a value"),
    ("check LOCK inside<3", "-p 'invariant: x < 3'"),
    ("check LOCK --quiet --verbose", "cannot be combined"),
    ("check LOCK --store tabel", "unknown store `tabel`\nhelp: did you mean `table`?"),
    ("check LOCK --order dsf", "unknown order `dsf`\nhelp: did you mean `dfs`?"),
    ("check LOCK --engine symbolc", "unknown engine `symbolc`\nhelp: did you mean `symbolic`?"),
    ("check LOCK --reduce pro", "unknown reduction `pro`\nhelp: did you mean `por`?"),
    ("check", "no model is given\nhelp: `scrimp check FILE`"),
    ("LOCK", "did you mean `scrimp check LOCK`?"),
    ("chek LOCK", "did you mean `scrimp check`?"),
    ("verify LOCK", "did you mean `scrimp check`?"),
    ("simulate LOCK -p deadlock", "-p needs --walks N"),
    ("simulate LOCK --walks 0", "expected a number from 1 on"),
    ("simulate LOCK --steps x", "expected a positive integer, found `x`"),
    ("simulate -p -g -l LOCK", "leave out -p -g -l: this is always shown"),
    ("simulate LOCK -t LOCK.trail", "`scrimp check MODEL --trace run.json` writes a run"),
    ("count LOCK -p deadlock", "did you mean `scrimp check LOCK -p deadlock`?"),
    ("count LOCK --trace x", "did you mean `scrimp check LOCK --trace x`?"),
    ("check LOCK --memory 10000", "--memory: `10000` is 10,000 bytes\nhelp: did you mean 10000M?"),
    ("check LOCK --resume nothing", "error: --resume nothing: there is no such file"),
    ("check LOCK -p ltl:[]<>taken==0 --fair WF(Q)", "the model has P_0, P_1, P_2"),
    ("check LOCK -p ltl:[]<>taken==0 --fair WF(p)", "unknown process `p`\nhelp: did you mean `P`?"),
    ("test nofolder", "nofolder: error: there is no such file"),
    ("man nonsense", "unknown command `nonsense`"),
    ("man chck", "help: did you mean `scrimp man check`?"),
];

#[test]
fn command_lines_are_corrected() {
    let lock = model("naive_lock.dve");
    for (line, said) in COMMANDS {
        let line = line.replace("LOCK", &lock);
        let answer = scrimp(&line.split(' ').collect::<Vec<_>>()).code(2);
        assert!(answer.stderr.contains(&said.replace("LOCK", &lock)), "{line}: {}", answer.stderr);
        assert_eq!(answer.stderr.matches("error:").count(), 1, "{line}: {}", answer.stderr);
    }
    // Standard output is one object, whatever is wrong.
    let answer = scrimp(&["check", &lock, "--json", "--nonsense"]).code(2);
    assert_eq!(answer.json()["verdict"], "error");
}

/// The short help of every command fits on a screen, and no line is wider than 80 columns.
#[test]
fn short_help_is_a_screen() {
    let commands = [
        "",
        "check",
        "watch",
        "count",
        "cluster",
        "plan",
        "simulate",
        "explore",
        "explain",
        "automaton",
        "test",
        "conform",
        "generate",
        "lsp",
        "mcp",
        "bench",
        "compare",
        "man",
    ];
    for command in commands {
        let words: Vec<&str> = [command, "-h"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = scrimp(&words).code(0).stdout;
        let most = if matches!(command, "check" | "watch" | "count" | "plan") { 60 } else { 45 };
        assert!(help.lines().count() <= most, "{command}: {} lines\n{help}", help.lines().count());
        for line in help.lines() {
            let most = if matches!(command, "conform" | "generate" | "lsp" | "mcp") { 100 } else { 80 };
            assert!(line.chars().count() <= most, "{command}: {line}");
        }
    }
    let first = scrimp(&[]).code(2).stderr;
    assert!(first.contains("Try first:") && first.contains("scrimp check lock.pml"), "{first}");
    // Long help has what short help leaves out, in the same groups.
    let (short, long) = (scrimp(&["check", "-h"]).code(0).stdout, scrimp(&["check", "--help"]).code(0).stdout);
    for group in ["What to check:", "How to search:", "Memory and time:", "The answer:"] {
        assert!(short.contains(group) && long.contains(group), "{group}");
    }
    assert!(!short.contains("--stride") && long.contains("--stride"));
}

#[test]
fn man_pages_and_completions_come_from_the_same_flags() {
    let folder = scratch("suggestions_man");
    scrimp(&["man", "--folder", &folder.to_string_lossy()]).code(0);
    for page in ["scrimp", "scrimp-check", "scrimp-count", "scrimp-simulate", "scrimp-bench", "scrimp-man"] {
        let text = std::fs::read_to_string(folder.join(format!("{page}.1"))).expect(page);
        assert!(text.contains(".TH ") && text.contains(".SH NAME"), "{page}");
    }
    let check = scrimp(&["man", "check"]).code(0).stdout;
    assert!(check.contains("\\-\\-stride") && check.contains("WHAT TO CHECK"), "{check}");
    for shell in ["bash", "zsh", "fish"] {
        let text = scrimp(&["completions", shell]).code(0).stdout;
        assert!(text.contains("keep-going") && text.contains("simulate"), "{shell}");
    }
}
