//! The property language: what it accepts, what it means, and how it refuses.

use scrimp_core::{Property, PropertyKind};
use scrimp_lang::{parse_dve, parse_property, parse_property_file};
use scrimp_system::{Expr, Layout, Source, System};

fn system() -> System {
    let text =
        "const int N = 7, t[3] = {4, 5, -6}; input int M = N + 1; byte x = 3, a[2] = {5, 6}; channel {byte} c[2];
        process P { const byte K = 9, k[1] = {2}; byte v = 1, list[2] = {8, 9}, s; state idle, critical, s; init idle; }
        process node(key i) { byte v = i; state w; init w; } process node(1); process node(-2);
        system async;";
    parse_dve(Source::new("model.dve", text)).unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str) -> Property<Expr> {
    parse_property(&system(), text).unwrap_or_else(|e| panic!("{e}"))
}

fn refuse(text: &str) -> String {
    parse_property(&system(), text).unwrap_err().to_string()
}

/// The value of an expression in the initial state.
fn value(expression: &str) -> i64 {
    let system = system();
    let layout = Layout::new(&system);
    let mut state = vec![0; layout.bytes()];
    layout.encode(&system.initial[0], &mut state);
    match parse(&format!("reach: {expression}")).kind {
        PropertyKind::Reach(e) => layout.eval(&e, &state).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn kinds_and_names() {
    assert_eq!(parse(" deadlock ").kind, PropertyKind::Deadlock);
    assert_eq!(parse(" deadlock ").name, "deadlock");
    assert_eq!(parse("invariant: x < 4").name, "invariant: x < 4");
    assert_eq!(parse("mutex = invariant: x < 4").name, "mutex");
    assert_eq!(parse("d = deadlock").name, "d");
}

#[test]
fn names_of_the_model() {
    assert_eq!(value("x"), 3);
    assert_eq!(value("a[1] * 10 + a[x - 3]"), 65);
    assert_eq!(value("P@idle and P.idle and not P.critical"), 1);
    assert_eq!(value("P.v + P->v + P.list[1] + P->list[0]"), 19);
    assert_eq!(value("P@s + P->s"), 0);
    assert_eq!(value("node(1)@w && node(-2).w && node(1).v == 1"), 1);
    assert_eq!(value("c.len + c.0[1]"), 0);
}

#[test]
fn constants_of_the_model() {
    assert_eq!(value("x < N && M == N + 1"), 1);
    assert_eq!(value("t[2] + t[x - 2]"), -1);
    assert_eq!(value("P.K + P->K + P.k[0]"), 20);
    assert_eq!(value("node(1).i + node(-2)->i"), -1);
}

#[test]
fn operators() {
    assert_eq!(value("1 + 2 * 3 - 4 / 2 % 3"), 5);
    assert_eq!(value("1 << 2 >> 1 | 8 ^ 3 & 1"), 11);
    assert_eq!(value("not 0 == 1"), 1);
    assert_eq!(value("!x || ~0 < 0 && x >= 3"), 1);
    assert_eq!(value("true imply false or 1 != 1"), 0);
    assert_eq!(value("-x <= 3 imply x > 2"), 1);
}

#[test]
fn files_have_one_property_per_line() {
    let text = "# comment\n\ninvariant: x < 4 // why\r\nn = reach: P@critical # because\n  deadlock\n";
    let properties = parse_property_file(&system(), Source::new("p.txt", text)).unwrap();
    let names: Vec<&str> = properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["invariant: x < 4", "n", "deadlock"]);
    let error = parse_property_file(&system(), Source::new("p.txt", "deadlock\n\n  reach: X")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "p.txt:3:10: error: unknown name `X`\n    reach: X\n           ^\nhelp: did you mean `x`?"
    );
}

#[test]
fn refusals_say_what_to_do() {
    assert_eq!(
        refuse("invariant: P@critcal"),
        "property:1:14: error: process `P` has no location `critcal`\n  invariant: P@critcal\n               ^~~~~~~\n\
         help: did you mean `critical`?"
    );
    let cases = [
        ("ltl: E F x", "did you mean `ctl: E F x`"),
        ("ltl: G", "the end"),
        ("invarant: x", "did you mean `invariant`?"),
        ("", "properties are `deadlock`, `faults`, `assertions`, `invariant: EXPR`"),
        ("reach x", "expected `:` and a condition, found `x`"),
        ("reach: x = 3", "did you mean `reach: x == 3`?"),
        ("reach: x 3", "expected an operator or the end of the property, found `3`"),
        ("deadlock x", "expected the end of the property, found `x`"),
        ("reach: P", "ask where it is: `P@idle`"),
        ("reach: Q@idle", "unknown process `Q`"),
        ("reach: v", "a variable of a process is written `P.v`"),
        ("reach: P.s", "write `P@s` or `P->s`"),
        ("reach: P.vv", "did you mean `v`?"),
        ("reach: P->idle", "process `P` has no variable `idle`"),
        ("reach: a == 1", "array `a` is used without an index"),
        ("reach: t", "array `t` is used without an index"),
        ("reach: P.k", "choose an element: `P.k[0]`"),
        ("reach: N[1]", "`N` is not an array"),
        ("reach: K", "a variable of a process is written `P.K`"),
        ("reach: Nn", "did you mean `N`?"),
        ("reach: P.KK", "did you mean `K`?"),
        ("reach: x[0]", "`x` is not an array"),
        ("reach: P@idle[0]", "is a location and has no index"),
        ("reach: node(3)@w", "unknown process `node(3)`"),
        ("reach: node(x)@w", "the number of an instance must be constant"),
        ("reach: node(1)", "expected `.` or `->`"),
        ("reach: (x", "expected `)`, found the end of the text"),
        ("reach: x $ 1", "unexpected character `$`"),
        ("reach: 99999999999", "this number is too large"),
        ("reach: and", "found `and`"),
    ];
    for (text, message) in cases {
        let found = refuse(text);
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn depth_is_bounded() {
    for text in ["(".repeat(100_000), "-".repeat(100_000), "a[".repeat(100_000), "not ".repeat(100_000)] {
        assert!(refuse(&format!("reach: {text}")).contains("nested too deeply"));
    }
    assert!(refuse(&format!("reach: x{}", " - x".repeat(100_000))).contains("deep"));
    parse(&format!("reach: x{}", " || x".repeat(100_000)));
    parse(&format!("reach: {}x{}", "(".repeat(300), ")".repeat(300)));
}
