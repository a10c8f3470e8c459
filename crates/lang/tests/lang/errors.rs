//! How wrong models are refused: each with its place and a message that says what is wrong.

use scrimp_lang::{LoadError, load, parse_dve};
use scrimp_system::Source;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

fn refuse(text: &str) -> String {
    match parse_dve(Source::new("m.dve", text)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => e.to_string(),
    }
}

/// Refuses a process with these contents, after declarations `before`.
fn refuse_process(before: &str, inside: &str) -> String {
    refuse(&format!("{before}\nprocess P {{ {inside} }}\nsystem async;"))
}

/// A diagnostic in full.
#[test]
fn a_diagnostic_shows_the_place() {
    assert_eq!(
        refuse("byte turn;\nprocess P {\n\tstate s; init s;\n\ttrans s -> s { guard turm == 1; };\n}\nsystem async;"),
        "m.dve:4:23: error: unknown name `turm`\n  \ttrans s -> s { guard turm == 1; };\n  \t                     ^~~~\n\
         help: did you mean `turn`?"
    );
    assert_eq!(
        refuse("byte x;\n\nint y, x;\nprocess P { state s; init s; } system async;"),
        "m.dve:3:8: error: a variable `x` is already declared on line 1\n  int y, x;\n         ^"
    );
}

#[test]
fn declarations() {
    let process = "process P { state s; init s; } system async;";
    let cases = [
        ("", "the model is empty"),
        ("// nothing", "the model is empty"),
        ("byte x;", "the model has no `system` line"),
        ("byte x", "expected `,` or `;`, found the end of the text"),
        ("system async;", "the model has no process"),
        ("byet x;", "did you mean `byte`?"),
        ("channel c; byte c;", "a channel `c` is already declared on line 1"),
        ("byte c; channel c;", "a variable `c` is already declared on line 1"),
        ("channel c, c;", "a channel `c` is already declared on line 1"),
        ("process P { state s; init s; }", "a process `P` is already declared on line 1"),
        ("const byte k;", "constant `k` has no value"),
        ("byte x; byte y = x;", "an initial value must be constant"),
        ("byte x = 1 / 0;", "division by zero"),
        ("byte x = 2 + 1 % 0;", "an initial value cannot be computed: division by zero"),
        ("const int T[2] = {1, 2}; byte x = T[2];", "an initial value cannot be computed: array index out of range"),
        ("byte a[0];", "array `a` has size 0"),
        ("byte a[1 - 3];", "array `a` has size -2"),
        ("byte a[2000000];", "a state has 2000000 bytes; at most 1048576 are supported"),
        ("int a[2147483647];", "a state has 4294967294 bytes"),
        ("byte a[600000], b[600000];", "a state has 1200000 bytes"),
        ("byte x = 2147483648;", "this number is too large; the largest is 2147483647"),
        ("byte x = 99999999999999999999999;", "this number is too large"),
        ("byte a[2] = 3;", "array `a` needs a list of values"),
        ("byte x = {3};", "`x` is not an array but has a list of values"),
        ("byte x = y;", "unknown name `y`"),
        ("byte 2x;", "expected a name or a decimal number"),
        ("byte and;", "`and` is an operator or value, not a name"),
        ("channel c[3];", "buffered channel `c` has no type"),
        ("channel {byte} c[-1];", "channel `c` has capacity -1"),
        ("channel {byte} c[9999999];", "a state has"),
        ("channel {bool} c;", "expected a type, `byte` or `int`, found `bool`"),
        ("input int n;", "constant `n` has no value"),
        ("expression e() { x }", "unknown name `x`"),
        ("expression e() { 1 } expression e() { 2 }", "an expression `e` is already declared on line 1"),
        ("property ltl f;", "expected a formula in double quotes"),
        ("/* no end", "this comment is not closed"),
        ("property ltl f \"no end", "this text is not closed"),
        ("€", "unexpected character `€`"),
        ("process Q(1);", "unknown process `Q`"),
        ("process Q { state s; init s; } process Q(1);", "process `Q` has no parameters"),
        ("process t(key i) { state s; init s; } process t(1, 2);", "`t` has 1 parameters but 2 values"),
        (
            "process t(key i) { state s; init s; } process t(1); process t(1);",
            "an instance `t(1)` already exists on line 1",
        ),
        ("process t(key i) { byte i; state s; init s; } process t(1);", "a variable `i` is already declared on line 1"),
        ("process t(i) { state s; init s; } for (x : 1 .. 99999999) { process t(x); }", "more than 20000 instances"),
        ("for (x : 1 .. 99999999) { for (y : 1 .. 99999999) { } }", "more than 20000 instances"),
    ];
    for (text, message) in cases {
        // Texts that are meant to end early must not be completed.
        let whole = if text.contains("system") || !text.ends_with(['}', ';']) || message.contains("`system` line") {
            text.to_string()
        } else {
            format!("{text}\n{process}")
        };
        let found = refuse(&whole);
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn the_system_line() {
    let process = "process P { state s; init s; }";
    for (line, message) in [
        ("system sync;", "synchronous systems are not supported"),
        ("system;", "expected `async`"),
        ("system async", "expected `;`, found the end of the text"),
        ("system async property Q;", "unknown process `Q`"),
        ("system async; byte x;", "nothing may follow the `system` line"),
        (
            "property process N { state s; init s; } system async property P;",
            "already a property process, `P`, on line 1",
        ),
    ] {
        let found = refuse(&format!("{process} {line}"));
        assert!(found.contains(message), "{line}: {found}");
    }
}

#[test]
fn processes() {
    let cases = [
        ("", "process `P` has no states"),
        ("state s;", "process `P` has no initial state"),
        ("state s, s; init s;", "a state `s` is already declared on line 2"),
        ("state s; init t;", "unknown state `t`"),
        ("state s; init s; init s;", "the initial state is already given on line 2"),
        ("state s; init s; commit t;", "unknown state `t`"),
        ("state start; init strat;", "did you mean `start`?"),
        ("state s; init s; accept t;", "unknown state `t`"),
        ("state s; init s; assert t: 1;", "unknown state `t`"),
        ("byte x; byte x; state s; init s;", "a variable `x` is already declared on line 2"),
        ("sate s; init s;", "did you mean `state`?"),
        ("state s; init s; trans -> s {};", "the first transition must say where it starts"),
        ("state s; init s; trans s -> s", "expected `{`, found `}`"),
        ("state s; init s; trans s s {};", "expected `->`, found `s`"),
    ];
    for (inside, message) in cases {
        let found = refuse_process("", inside);
        assert!(found.contains(message), "{inside}: {found}");
    }
    assert!(refuse("process P { state s;").contains("found the end of the text"));
}

#[test]
fn transitions() {
    let before = "byte x, a[2]; const byte K = 1; const byte T[1] = {1}; channel c; channel {byte} d; channel {byte, int} e[2];\
                  process Q { byte v; state u; init u; }";
    let cases = [
        ("guard x", "expected `;`, found `}`"),
        ("gard x;", "did you mean `guard`?"),
        ("guard x = 1;", "`==` compares, `=` assigns"),
        ("guard x[0];", "`x` is not an array"),
        ("guard K[0];", "`K` is not an array"),
        ("guard c;", "`c` is a channel, not a variable"),
        ("guard Q;", "`Q` is a process, not a variable"),
        ("guard Q.v;", "its variable is `Q->v`"),
        ("guard Q->u;", "its state is `Q.u`"),
        ("guard Q@u;", "write `Q.u`"),
        ("guard R.u;", "unknown process `R`"),
        ("guard Q(1).u;", "process `Q` has no instances"),
        ("effect K = 1;", "`K` is a constant and cannot be assigned"),
        ("effect T[0] = 1;", "`T` is a constant and cannot be assigned"),
        ("effect x[0] = 1;", "`x` is not an array"),
        ("effect Q.u = 1;", "`Q.u` is a location and cannot be assigned"),
        ("effect 1 = 1;", "expected a variable to store into"),
        ("effect x == 1;", "expected `=`, found `==`"),
        ("sync x!;", "`x` is a variable, not a channel"),
        ("sync f!;", "unknown channel `f`"),
        ("sync c;", "expected `!` to send or `?` to receive"),
        ("sync c?1;", "expected a variable to store into"),
        ("sync c?K;", "`K` is a constant"),
        ("sync c!; sync c!;", "this transition already synchronises on line 2"),
        ("sync d!{1, 2};", "channel `d` passes 2 values here but 1 value on line 1"),
        ("sync e!1;", "channel `e` passes 1 value here but 2 values on line 1"),
    ];
    for (inside, message) in cases {
        let found = refuse_process(before, &format!("state s; init s; trans s -> s {{ {inside} }};"));
        assert!(found.contains(message), "{inside}: {found}");
    }
    let found = refuse_process(before, "state s; init s; trans\n s -> s { sync c!{1, 2}; },\n s -> s { sync c!1; };");
    assert!(found.contains("m.dve:4:16: error: channel `c` passes 1 value here but 2 values on line 3"), "{found}");
    let found = refuse_process("", "state s; init s; trans s -> t {};");
    assert!(found.contains("unknown state `t`"));
}

#[test]
fn a_property_process_only_watches() {
    let text = |body: &str| {
        format!(
            "byte x; channel c; process N {{ state s; init s; trans s -> s {{ {body} }}; }} system async property N;"
        )
    };
    assert!(refuse(&text("effect x = 1;")).contains("it cannot have effects"));
    assert!(refuse(&text("sync c!;")).contains("it cannot synchronise"));
}

#[test]
fn small_texts_cannot_ask_for_much() {
    let pairs = |n: usize| {
        let half = |sign: &str| format!("state s; init s; trans {};", format!("s->s{{sync c{sign};}},").repeat(n));
        format!("channel c; process P {{ {} }} process Q {{ {} }} system async;", half("!"), half("?"))
    };
    assert!(parse_dve(Source::new("m.dve", pairs(100))).is_ok());
    assert!(refuse(&pairs(1100)).contains("the model has more than 1000000 events"));
    let body = "trans ".to_string()
        + &"s -> s { guard i + i + i + i + i + i + i + i + i + i + i + i + i + i + i; },".repeat(1000)
        + ";";
    let template =
        format!("process t(i) {{ state s; init s; {body} }} for (x : 1 .. 10000) {{ process t(x); }} system async;");
    assert!(refuse(&template).contains("the model expands to more than"));
}

#[test]
fn depth_is_bounded() {
    let guard =
        |e: String| refuse_process("byte x, a[2];", &format!("state s; init s; trans s -> s {{ guard {e}; }};"));
    for open in ["(", "-", "!", "not ", "~", "a[", "x + (", "x imply x or x and x | x ^ x & x == x < x << x + x * ("] {
        assert!(guard(open.repeat(100_000)).contains("nested too deeply"), "{open}");
    }
    for operator in ["-", "*", "/", "imply", "<", "|"] {
        assert!(guard(format!("x {operator} ").repeat(50_000) + "x").contains("operators deep"), "{operator}");
    }
    assert!(refuse(&"for (x : 1 .. 1) { ".repeat(100_000)).contains("nested too deeply"));
}

/// Mistakes that people make, with what they are told.
#[test]
fn mistakes_are_explained() {
    let process =
        |inside: &str| format!("byte x;\nprocess P {{ state s; init s; trans s -> s {{ {inside} }}; }}\nsystem async;");
    let cases = [
        ("byte x\nbyte y;".to_string(), "m.dve:1:7: error: expected `,` or `;`, found `byte`\n  byte x\n        ^"),
        ("byte x".into(), "m.dve:1:7: error: expected `,` or `;`, found the end of the text\n  byte x\n        ^"),
        ("byte x;\n\n".into(), "m.dve:1:8: error: the model has no `system` line\n  byte x;\n         ^"),
        ("system async;\n".into(), "m.dve:1:14: error: the model has no process\n  system async;\n               ^"),
        ("const int a = b;\nconst int b = a;".into(), "`b` is declared only later, on line 2"),
        ("byte a[N]; const int N = 1;".into(), "`N` is declared only later, on line 1"),
        ("const int a = a;".into(), "`a` cannot be used in its own declaration"),
        ("process P { byte v = w, w; state s; init s; }".into(), "`w` is declared only later, on line 1"),
        ("bool x;".into(), "the types are `byte` and `int`"),
        ("define(N, 3)".into(), "m4"),
        ("#define N 3".into(), "`const int N = 2;`"),
        ("byte a[2][2];".into(), "arrays have one dimension"),
        ("process P { state s; init s; };".into(), "processes are not followed by `;`"),
        (
            "process P { state s; init s;\nprocess Q {}".into(),
            "m.dve:2:1: error: process `P` is not closed by `}`; it begins on line 1",
        ),
        ("process P { state s; init s; trans s -> s {}; s -> s {}; }".into(), "transitions are separated by `,`"),
        (process("effect x = 1; x = 2;"), "effects are separated by `,`"),
        (process("effect x++;"), "write `x = x + 1`"),
        (process("effect x == 1;"), "`=` assigns, `==` compares"),
        (process("guard x == 1, x == 2;"), "join conditions with `and`"),
        (process("guard x ? 1 : 2;"), "there is no conditional operator"),
        (process("guard x == 1\n effect x = 2;"), "m.dve:2:57: error: expected `;`, found `effect`"),
        (process("guard 0 && y;"), "unknown name `y`"),
        (process("guard 1 || x[0];"), "`x` is not an array"),
    ];
    for (text, message) in cases {
        let found = refuse(&format!(
            "{text}{}",
            if message.contains("\n") || text.contains("system") { "" } else { "\nsystem async;" }
        ));
        assert!(found.contains(message), "{text}: {found}");
    }
}

/// A file in a folder of its own, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("scrimp-lang-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files() {
    let folder = Folder::new("files");
    let model = b"process P { state s; init s; } // \xe9\nsystem async;\n";
    assert_eq!(load(&folder.file("a.dve", model)).unwrap().processes.len(), 1);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(model).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(load(&folder.file("b.dve.gz", &packed)).unwrap().processes.len(), 1);

    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&vec![b' '; (64 << 20) + 1]).unwrap();
    let bomb = encoder.finish().unwrap();
    let cases = [
        (folder.file("c.dve", b""), "the file is empty"),
        (folder.file("d.dve", b"byte\0x"), "binary file"),
        (folder.file("e.dve", &packed), "ends in .gz"),
        (folder.file("f.dve.gz", model), "cannot be decompressed"),
        (folder.file("g.dve.gz", &packed[..packed.len() / 2]), "cannot be decompressed"),
        (folder.file("h.dve.gz", &bomb), "the text has more than the 67108864 bytes"),
        (folder.file("i.mdve", model), "m4 template"),
        (folder.file("j.txt", b"neither this nor that"), "models are DVE (.dve), Promela (.pml,"),
        (folder.0.join("none.dve"), "there is no such file"),
    ];
    for (path, message) in cases {
        let error = load(&path).unwrap_err();
        assert!(matches!(error, LoadError::File { .. }));
        assert!(error.to_string().contains(message), "{error}");
    }
    let large = folder.0.join("large.dve");
    fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(load(&large).unwrap_err().to_string().contains("the file has 67108865 bytes"));
    fs::create_dir(folder.0.join("dir.dve")).unwrap();
    assert!(load(&folder.0.join("dir.dve")).unwrap_err().to_string().contains("a folder"));
    let wrong = folder.file("wrong.dve", b"byte");
    assert!(matches!(load(&wrong).unwrap_err(), LoadError::Model(_)));
}
