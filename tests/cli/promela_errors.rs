//! Wrong Promela models: those that are refused, each with its place and what is wrong, and those that go wrong when they
//! run, each with a trace. Whatever the input is, there is a message and no panic.

use crate::common;
use crate::common::command::{file, scrimp};

/// What the tool says to a model that it must refuse, without the folder of the file.
fn refusal(name: &str, text: &str) -> String {
    let path = file(&format!("promela_errors_{name}.pml"), text);
    let message = scrimp(&["check", &path]).refused();
    message.strip_prefix(&path).unwrap_or_else(|| panic!("{text}: {message}")).to_string()
}

/// Models with line and column of what is wrong, and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("/* nothing */", "1:1", "the model starts no process"),
    ("proctype P() { skip }", "1:10", "write `active` before a `proctype`"),
    // what Scrimp does not have
    ("active proctype P() { byte x; c_code { PP->x++; } }", "1:31", "embedded C code"),
    ("active proctype P() { byte x; STDIN?x }", "1:31", "reads from `STDIN` cannot be checked"),
    ("active proctype P() { pc_value(0) }", "1:23", "`pc_value` is not supported"),
    // names
    ("byte x;\nactive proctype P() {\n    y = 1\n}", "3:5", "unknown variable `y`"),
    ("active proctype P() { for (i : 1 .. 3) { skip } }", "1:28", "unknown variable `i`"),
    ("init { run Nobody() }", "1:12", "unknown proctype `Nobody`"),
    ("active proctype P() { P[0]@away }", "1:28", "`P` has no label `away`"),
    ("typedef T { byte a };\nT t;\nactive proctype P() { t.b = 1 }", "3:25", "`t` has no field `b`"),
    ("chan c = [1] of { byte };\nactive proctype P() { int x; x = c.first }", "2:36", "`c` is not a record"),
    // said twice
    ("active proctype P() { byte x; byte x; skip }", "1:36", "`x` is already declared on line 1"),
    ("typedef T { byte a; byte a };\nactive proctype P() { skip }", "1:26", "the field `a` is declared twice"),
    ("mtype = { a, a };\nactive proctype P() { skip }", "1:", "the mtype name `a` is declared twice"),
    ("proctype P() { skip }\nproctype P() { skip }\ninit { run P() }", "2:10", "the proctype `P` is declared twice"),
    ("never { skip }\nnever { skip }\nactive proctype P() { skip }", "2:1", "there is already a `never` claim"),
    // the preprocessor
    ("active proctype P() { int x; x = TWICE(3) }", "1:39", "expected `;`, found `(`"),
    ("byte x;\n#include \"nowhere.h\"\nactive proctype P() { skip }", "2:10", "nowhere.h"),
    ("#if 1\nactive proctype P() { skip }", "1:1", "this condition has no `#endif`"),
    ("#endif\nactive proctype P() { skip }", "1:1", "`#endif` without `#if`"),
    ("#define ONE(a) a\nactive proctype P() { int x; x = ONE(1 }", "2:34", "the macro `ONE` has no `)`"),
    ("#error the wrong file\nactive proctype P() { skip }", "1:1", "#error: the wrong file"),
    ("active proctype P() { /* no end\nskip }", "1:23", "this comment is not closed"),
    ("active proctype P() { printf(\"no end) }", "1:30", "this string does not end on its line"),
    // statements
    ("proctype Q(byte a) { skip }\ninit { run Q() }", "2:12", "`Q` has 1 parameters, not 0"),
    ("proctype Q(byte a) { skip }\ninit { run Q(1, 2) }", "2:12", "`Q` has 1 parameters, not 2"),
    ("active proctype P() {\nhere: skip;\nhere: skip\n}", "3:1", "the label `here` is already there on line 2"),
    ("active proctype P() { goto nowhere }", "1:28", "unknown label `nowhere`"),
    ("active proctype P() { break }", "1:23", "`break` is not in a loop"),
    ("active proctype P() { if fi }", "1:23", "this `if` has no options"),
    ("active proctype P() {\n    if\n    :: true -> skip\n}", "4:1", "expected `::` or `fi`, found `}`"),
    ("active proctype P() { if :: else :: else fi }", "1:23", "there are two `else` here"),
    ("inline again() { again() }\nactive proctype P() { again() }", "1:18", "the inline `again` calls itself"),
    ("active proctype P() { int x = 1 +; }", "1:36", "expected an expression, found `}`"),
    ("active proctype P() { atomic { skip }", "1:38", "expected `}`, found the end of the model"),
    ("ltl p { [] (x == 1 }\nbyte x; active proctype P() { skip }", "1:20", "expected `)`, found `}`"),
    // sizes
    ("byte a[0];\nactive proctype P() { skip }", "1:8", "an array cannot have 0 elements"),
    ("byte a[1000000000];\nactive proctype P() { skip }", "1:8", "an array cannot have 1000000000 elements"),
    ("unsigned x : 40;\nactive proctype P() { skip }", "1:14", "a width is between 1 and"),
    ("chan c = [300] of { byte };\nactive proctype P() { c!1 }", "1:11", "a channel holds at most 255"),
    ("active [300] proctype P() { skip }", "1:23", "there are more than 255 processes"),
    ("byte x = 1 / 0;\nactive proctype P() { skip }", "1:6", "division by zero"),
];

#[test]
fn wrong_models_are_refused_with_their_place() {
    for (number, (text, place, part)) in REFUSED.iter().enumerate() {
        let message = refusal(&format!("refused_{number}"), text);
        assert!(message.starts_with(&format!(":{place}")), "{text}\n{place}: {message}");
        assert!(message.contains(part), "{text}\n{part}: {message}");
    }
}

#[test]
fn absurd_texts_are_refused() {
    let deep = |open: &str, inside: &str, close: &str| {
        format!("active proctype P() {{ {}{inside}{} }}", open.repeat(10_000), close.repeat(10_000))
    };
    let doubling: String = (0..40).map(|i| format!("#define M{i} M{} M{}\n", i + 1, i + 1)).collect();
    let texts = [
        (String::new(), "the file is empty"),
        (deep("(", "1", ")"), "nested more than 200 deep"),
        (deep("{ ", "skip", " }"), "nested more than 200 deep"),
        (deep("if :: ", "skip", " fi"), "nested more than 200 deep"),
        (format!("{doubling}#define M40 skip;\nactive proctype P() {{ M0 }}"), "the macros of the model expand to"),
    ];
    for (number, (text, part)) in texts.iter().enumerate() {
        let message = refusal(&format!("absurd_{number}"), text);
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn rubbish_is_refused() {
    let path = file("promela_errors_rubbish.pml", "");
    let bytes: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    std::fs::write(&path, bytes).expect("a file can be written");
    assert!(scrimp(&["check", &path]).refused().contains("this is a binary file"));
}

/// Any text that a model is cut to is a model or is refused.
#[test]
fn a_model_that_is_cut_short_is_no_panic() {
    let text = std::fs::read_to_string(common::manifest().join("models/mailbox.pml")).expect("a model");
    let path = file("promela_errors_cut.pml", "");
    for end in (1..text.len()).step_by(60) {
        std::fs::write(&path, &text[..end]).expect("a file can be written");
        let answer = scrimp(&["check", "--quiet", &path]);
        assert!(matches!(answer.code, Some(0..=2)), "{end}: {}", answer.stderr);
    }
}

/// Models that do what they must not, with what the trace says at its end.
const FAULTY: &[(&str, &str)] = &[
    ("chan c;\nactive proctype P() { c!1 }", "a process sends to a channel that is not initialised"),
    ("chan c;\nactive proctype P() { byte x; c?x }", "a process receives from a channel that is not initialised"),
    (
        "proctype Q(chan c) { c!1,2 }\ninit { chan c = [1] of { byte }; run Q(c) }",
        "a message of 2 fields is sent to channel c, which has 1",
    ),
    ("active proctype P() { byte x; d_step { skip; x == 1; x = 2 } }", "a d_step is blocked"),
    ("byte a[3], i = 3;\nactive proctype P() { a[i] = 1 }", "array index out of range"),
    ("byte x;\nactive proctype P() { byte y; y = 5 / x }", "division by zero"),
    ("byte x;\nactive proctype P() { byte y; y = 5 % x }", "division by zero"),
    ("active proctype P() { assert(1 == 2) }", "assertion violated"),
    ("proctype Q() { do :: skip od }\ninit { do :: run Q() od }", "there are more than 255 processes"),
];

#[test]
fn faults_are_reported_with_a_trace() {
    for (number, (text, part)) in FAULTY.iter().enumerate() {
        let path = file(&format!("promela_errors_faulty_{number}.pml"), text);
        let answer = scrimp(&["check", &path]).code(1);
        assert!(answer.stdout.contains("violated by a shortest run of"), "{text}\n{}", answer.stdout);
        assert!(answer.stdout.contains(part), "{text}\n{}", answer.stdout);
    }
}
