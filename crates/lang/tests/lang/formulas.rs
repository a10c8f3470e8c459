//! Temporal formulas as text: how operators bind, when a word is one, and how wrong formulas are refused.

use scrimp_core::PropertyKind;
use scrimp_lang::{Promela, parse_dve, parse_property};
use scrimp_system::{Expr, Source, System};
use scrimp_temporal::Formula;
use std::path::Path;

fn system() -> System {
    let text = "byte p, q, r, s, X, U, A[3], i; process P { byte x; state idle, busy; init idle; } system async;";
    parse_dve(Source::new("model.dve", text)).unwrap_or_else(|e| panic!("{e}"))
}

/// A formula with its atoms as a user would write them, as far as they are names compared with numbers.
fn shown(system: &System, formula: &Formula<Expr>) -> String {
    formula.map(&mut |atom| show(system, atom)).to_string()
}

fn show(system: &System, e: &Expr) -> String {
    match e {
        Expr::Const(value) => value.to_string(),
        Expr::Var(v) => system.full_name(*v),
        Expr::Element(v, index) => format!("{}[{}]", system.full_name(*v), show(system, index)),
        Expr::Binary(op, a, b) => format!("<{} {op:?} {}>", show(system, a), show(system, b)),
        other => format!("{other:?}"),
    }
}

fn ltl(text: &str) -> String {
    let system = system();
    match parse_property(&system, &format!("ltl: {text}")).unwrap_or_else(|e| panic!("{e}")).kind {
        PropertyKind::Ltl(formula) => shown(&system, &formula),
        other => panic!("{other:?}"),
    }
}

fn ctl(text: &str) -> String {
    let system = system();
    match parse_property(&system, &format!("ctl: {text}")).unwrap_or_else(|e| panic!("{e}")).kind {
        PropertyKind::Ctl(formula) => {
            assert!(formula.is_ctl());
            shown(&system, &formula)
        }
        other => panic!("{other:?}"),
    }
}

fn refused(text: &str) -> String {
    parse_property(&system(), text).unwrap_err().to_string()
}

#[test]
fn operators_bind_as_usual() {
    for (text, meant) in [
        ("[] (p -> <> q)", "G (p -> F q)"),
        ("[] p U q", "(G p) U q"),
        ("p U q U r", "p U (q U r)"),
        ("p W q R r", "p W (q R r)"),
        ("p V q M r", "p R (q M r)"),
        ("p -> q -> r", "p -> (q -> r)"),
        ("p <-> q -> r", "p <-> (q -> r)"),
        ("p && q U r || s", "(p && (q U r)) || s"),
        ("! p U q", "!p U q"),
        ("! (p U q)", "!(p U q)"),
        ("p and q and r or not s", "(p && q && r) || !s"),
        ("always p implies q until r", "G p -> (q U r)"),
        ("eventually next p weakuntil q equivalent r release s", "(F X p W q) <-> (r R s)"),
        ("G F p imply G F q", "G F p -> G F q"),
        ("F p == 1", "F <p Equal 1>"),
        ("[] p + 1 < q U r", "G <<p Add 1> Less q> U r"),
        ("(p + 1) * 2 == q", "<<<p Add 1> Multiply 2> Equal q>"),
        ("<>[](p)", "F G p"),
        ("true U false", "true U false"),
        ("1 < 2 U 2 < 1", "true U false"),
        ("P@idle -> P->x == 1", "<P Equal 0> -> <P.x Equal 1>"),
        ("A [] p", "G p"),
    ] {
        // The library's way to show formulas has fewer parentheses than this table.
        let plain = |text: &str| text.replace(['(', ')'], "");
        assert_eq!(plain(&ltl(text)), plain(meant), "{text}");
    }
    assert_eq!(ltl("p U q U r"), "p U (q U r)");
    assert_eq!(ltl("p && q U r || s"), "(p && (q U r)) || s");
    assert_eq!(ltl("[] p U q"), "G p U q");
    assert_eq!(ltl("[] (p U q)"), "G (p U q)");
}

#[test]
fn words_are_operators_or_names() {
    for (text, meant) in [
        ("X p", "X p"),
        ("X X", "X X"),
        ("X U q", "X U q"),
        ("X == 1 U q", "<X Equal 1> U q"),
        ("p U X", "p U X"),
        ("X (p)", "X p"),
        ("X -> q", "X -> q"),
        ("X - 1 > 0", "<<X Subtract 1> Greater 0>"),
        ("\"X\" U U", "X U U"),
        ("X U", "X U"),
        ("F (U U U)", "F (U U U)"),
        ("A[1] U p", "A[1] U p"),
    ] {
        assert_eq!(ltl(text), meant, "{text}");
    }
    // What kind of operator it is, the text alone does not tell.
    let system = system();
    let kind = |text: &str| parse_property(&system, text).unwrap_or_else(|e| panic!("{e}")).kind;
    assert!(matches!(kind("ltl: X U q"), PropertyKind::Ltl(Formula::Until(..))));
    assert!(matches!(kind("ltl: X U"), PropertyKind::Ltl(Formula::Next(_))));
    assert!(matches!(kind("ltl: X"), PropertyKind::Ltl(Formula::Atom(_))));
    for text in ["accepting", "here = progress"] {
        let refused = parse_property(&system, text).expect_err("a model without labels");
        assert!(refused.to_string().contains("the model has no"), "{refused}");
    }
}

#[test]
fn branching_time() {
    for (text, meant) in [
        ("AG EF p", "A G E F p"),
        ("A G (p -> A F q)", "A G (p -> A F q)"),
        ("E[p U q]", "E (p U q)"),
        ("A(p U q) && E[] p", "A (p U q) && E G p"),
        ("E [p W AX q]", "E (p W A X q)"),
        ("! EF (p == 1 && q)", "!E F (<p Equal 1> && q)"),
        ("EX p <-> AX q", "E X p <-> A X q"),
        ("E always p", "E G p"),
    ] {
        assert_eq!(ctl(text), meant, "{text}");
    }
}

#[test]
fn wrong_formulas_are_refused() {
    assert_eq!(
        refused("ltl: p && EF q"),
        "property:1:11: error: an LTL formula has no path quantifiers inside\n\
         \x20 ltl: p && EF q\n\
         \x20           ^~\n\
         help: did you mean `ctl: p && EF q` (in every initial state)?"
    );
    assert_eq!(
        refused("ctl: AG (p -> <> q)"),
        "property:1:15: error: a temporal operator of CTL needs a path quantifier\n\
         \x20 ctl: AG (p -> <> q)\n\
         \x20               ^~\n\
         help: did you mean `ltl: AG (p -> <> q)` (on every run)?"
    );
    for (text, part) in [
        ("ctl: A p", "needs a temporal operator"),
        ("ctl: A E F p", "needs a temporal operator right behind it"),
        ("ctl: p U q", "needs a path quantifier"),
        ("ctl: AG p U q", "needs a path quantifier"),
        ("ltl: p U", "expected an expression"),
        ("ltl: p q", "an operator or the end"),
        ("ltl: (F p) + 1 == 2", "within a comparison or a calculation"),
        ("ltl: F nothing", "unknown name `nothing`"),
        ("ltl p", "did you mean `ltl: p`"),
        ("ctl: A[p U q", "expected `]`"),
        ("invariant: F p", "operator or the end"),
        ("lt: p", "unknown property `lt`"),
    ] {
        assert!(refused(text).contains(part), "{text}: {}", refused(text));
    }
}

#[test]
fn depth_has_a_limit_and_length_has_none() {
    let long = format!("ltl: {}p", "p && ".repeat(50_000));
    assert!(parse_property(&system(), &long).is_ok());
    let deep = |n: usize| format!("ltl: {}p", "X ".repeat(n));
    assert!(parse_property(&system(), &deep(900)).is_ok());
    assert!(refused(&deep(1100)).contains("nested too deeply"));
    // Few levels of the text, and several times as many of the formula.
    let steep = format!("ltl: {}p{}", "(".repeat(400), " U q && r || s)".repeat(400));
    assert!(refused(&steep).contains("nested more than 1000 deep"));
}

#[test]
fn what_keeps_a_fault_away_stays_with_it() {
    assert_eq!(ltl("[] (i < 3 && A[i] == 1)"), "G <<i Less 3> And <A[i] Equal 1>>");
    assert_eq!(ltl("[] (i < 3 && A[2] == 1)"), "G (<i Less 3> && <A[2] Equal 1>)");
}

fn promela(text: &str) -> System {
    let model = Promela::new("model.pml", text, Path::new("."), &[]);
    model.and_then(|mut model| model.system(false)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn formulas_of_promela_bind_as_in_spin() {
    // As printed by SPIN 6.5.2, which has no other way to group without parentheses than to the left.
    for (text, meant) in [
        ("[] p U q", "G p U q"),
        ("p U q U r", "(p U q) U r"),
        ("p -> q -> r", "(p -> q) -> r"),
        ("[] p && q", "G p && q"),
        ("! p U q", "!p U q"),
        ("<> [] p -> q", "F G p -> q"),
        ("p && q U r", "p && (q U r)"),
        ("p || q -> r <-> s", "((p || q) -> r) <-> s"),
        ("p <-> q -> r", "(p <-> q) -> r"),
        ("p U q V r", "(p U q) R r"),
        ("always p implies q until r", "G p -> (q U r)"),
        ("[] (x < 2 && a[x] == 1)", "G <<x Less 2> And <a[x] Equal 1>>"),
        ("[] (1 -> x == 1)", "G (true -> <x Equal 1>)"),
    ] {
        let system = promela(&format!(
            "bool p, q, r, s; byte x, a[2]; active proctype P() {{ do :: p = !p; q = 1; r = 1; s = 1; x++; a[1] = 1 od }} \
             ltl f {{ {text} }}"
        ));
        assert_eq!(system.formulas.len(), 1);
        assert_eq!(system.formulas[0].name, "f");
        assert_eq!(shown(&system, &system.formulas[0].formula), meant, "{text}");
    }
}

#[test]
fn acceptance_and_progress_of_promela() {
    let plain = promela("byte x; active proctype P() { do :: x++ od }");
    assert!(plain.accepting.is_none() && plain.formulas.is_empty());
    assert_eq!(plain.no_progress, Some(Expr::TRUE));
    let labels = "byte x; active [2] proctype P() { do :: accept_here: x++ :: progress: x-- od }
                  ltl { [] (P[1]@progress -> <> (P[0]:_pid == 0)) }";
    let model = Promela::new("model.pml", labels, Path::new("."), &[]).and_then(|mut model| model.system(false));
    assert!(model.is_err(), "a predefined variable of another process has no name");
    let labels = labels.replace("P[0]:_pid == 0", "len(c) == 1").replace("byte x;", "byte x; chan c = [1] of { bit };");
    let system = promela(&labels);
    assert!(system.accepting.is_some());
    assert!(system.no_progress.as_ref().is_some_and(|e| e.as_const().is_none()));
    assert_eq!(system.formulas[0].name, "ltl_0");
    assert!(matches!(&system.formulas[0].formula, Formula::Globally(_)));
    let run = "proctype Q() { skip } active proctype P() { skip } ltl { <> (run Q() == 1) }";
    let model = Promela::new("model.pml", run, Path::new("."), &[]);
    assert!(model.unwrap_err().to_string().contains("not allowed in a formula"));
}
