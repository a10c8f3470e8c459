//! What texts become, shown as SPIN shows statements; and the real models, when they are there.

use crate::promela::syntax::*;
use crate::promela::{Input, parse, print};
use std::path::{Path, PathBuf};

fn parsed(text: &str) -> Result<Specification, String> {
    let input = Input { name: "m.pml", text, folder: Path::new(""), definitions: &[] };
    parse(input).map(|(specification, _)| specification).map_err(|diagnostic| diagnostic.to_string())
}

/// All statements of a sequence, and of the sequences within.
fn show(sequence: &Sequence) -> String {
    let step = |step: &Step| {
        let labels: String = step.labels.iter().map(|label| format!("{}: ", label.name)).collect();
        let braces = |sequence: &Sequence| format!("{{{}}}", show(sequence));
        let options = |options: &Vec<Sequence>| options.iter().map(braces).collect::<String>();
        let inside = match &step.kind {
            StepKind::If(inside) | StepKind::Do(inside) => options(inside),
            StepKind::Atomic(inside) | StepKind::DStep(inside) | StepKind::Block(inside) => braces(inside),
            StepKind::Unless { main, escape } => braces(main) + &braces(escape),
            StepKind::ForRange { body, .. } | StepKind::ForIn { body, .. } => braces(body),
            _ => String::new(),
        };
        format!("{labels}{}{inside}", print::statement(&step.kind))
    };
    sequence.iter().map(step).collect::<Vec<_>>().join("; ")
}

/// The statements of the first process.
fn body(text: &str) -> Result<String, String> {
    let specification = parsed(text)?;
    let body = specification.items.iter().find_map(|item| match item {
        Item::Process(process) => Some(show(&process.body)),
        Item::Never(never) => Some(show(&never.body)),
        _ => None,
    });
    body.ok_or_else(|| "no process".into())
}

#[track_caller]
fn check(statements: &str, expected: &str) {
    let text = format!("mtype = {{ m, n }}\ntypedef T {{ byte f[2]\n byte g }}\ninit {{ {statements} }}");
    assert_eq!(body(&text).unwrap(), expected, "{statements}");
}

#[track_caller]
fn refused(text: &str, start: &str) {
    let error = parsed(text).unwrap_err();
    assert!(error.starts_with(start), "{text}: {error}");
}

#[test]
fn statements() {
    check("x = x + 1; x++; x--; a[i].f[2].g = 1", "x = (x+1); x = (x+1); x = (x-1); a[i].f[2].g = 1");
    check("c!m, x + 1; c!m(x, 2); c!!n; c[1]!-1", "c!m,(x+1); c!m,x,2; c!!n; c[1]!-(1)");
    check("c?m, x; c?m(x, _); c??x; c?<x, eval(y)>; c??<-1>", "c?m,x; c?m,x,_; c??x; c?<x,eval(y)>; c??<-1>");
    check("c?[m, x] && c??[n]; len(c) > 1; nfull(c)", "((c?[m,x]&&c??[n])); ((len(c)>1)); (nfull(c))");
    check("skip; true; 'a'; timeout; np_; run P(1, x) priority 3", "(1); (1); (97); (timeout); (np_); (run P(1,x))");
    check("assert(x == 1) ; printf(\"a\\n\", x, 2); printm(m)", "assert((x==1)); printf('a\\n',x,2); printm(m)");
    check("goto l; l: skip; k: ; break", "goto l; l: (1); k: (1); break");
    check("byte x = 1, y[3]; T t; unsigned u : 3; hidden bit b", "declares x,y; declares t; declares u; declares b");
    check("xr c, d; xs c", "xr c,d; xs c");
    check("for (i : 0 .. n - 1) { x++ }", "for (i : 0 .. (n-1)){x = (x+1)}");
    check("for (i in a)\n { x = 1; byte in }", "for (i in a){x = 1; declares in}");
    check("select(i : 0 .. 2)", "IF{i = 0}{i = 1}{i = 2}");
    check("select(i : 0..40); skip", "i = 0; DO{((i<40)); i = (i+1)}{break}; (1)");
    check("select(i : 0 .. k); set_priority(1, 2)", "select (i : 0 .. k); set_priority(1, 2)");
    check("l: { x = 1 } unless { y }", "l: sub-sequence{unless{x = 1}{(y)}}");
    check("x = 1 unless y; atomic { d_step { x } }", "unless{x = 1}{(y)}; ATOMIC{D_STEP{(x)}}");
}

#[test]
fn operators_bind_as_in_spin() {
    check("a || b && c | d ^ e & f == g", "((a||(b&&(c|(d^(e&(f==g)))))))");
    check("a < b << c + d * e - f", "((a<(b<<((c+(d*e))-f))))");
    check("!a == -b - ~c", "((!(a)==(-(b)-~(c))))");
    check("x = (a -> b : c + 1)", "x = ( (a) -> (b) : ((c+1)) )");
    check("a - b - c", "(((a-b)-c))");
}

#[test]
fn lines_and_braces_separate() {
    check("x = 1\ny = 2\n-> z\n", "x = 1; y = 2; (z)");
    check("c?x\n!b", "c?x; (!(b))");
    check("c!x\n(y)", "c!x; (y)");
    check("(x\n- y)\n- y", "((x-y)); (-(y))");
    check("if :: x -> y fi; if\n:: else z\n:: q -> fi", "IF{(x); (y)}; IF{else; (z)}{(q)}");
    check("{ x } y; do :: break od;;; z;", "sub-sequence{(x)}; (y); DO{break}; (z)");
    check("{ x }\nunless { y }\nu = 1", "unless{(x)}{(y)}; u = 1");
}

#[test]
fn inlines() {
    let text = "inline g(c, v) { c!v; if :: v > 0 -> skip :: else fi }
        inline f(a, b) {
            a = b
            g(q[b], a)
        }
        inline h(a) { return a + 1 }
        init { f(x, 1 + y); z = h(2) ; l: f(u, w) }";
    let inner = |q: &str, a: &str| format!("sub-sequence{{{q}!{a}; IF{{(({a}>0)); (1)}}{{else}}}}");
    let (first, second) = (inner("q[(1+y)]", "x"), inner("q[w]", "u"));
    let expected =
        format!("sub-sequence{{x = (1+y); {first}}}; sub-sequence{{z = (2+1)}}; l: sub-sequence{{u = w; {second}}}");
    assert_eq!(body(text).unwrap(), expected);
    refused("inline f() { f() }\ninit { f() }", "m.pml:1:14: error: the inline `f` calls itself");
    refused("inline f(a) { a }\ninit { f() }", "m.pml:2:8: error: the inline `f` has 1 parameter, not 0");
    refused("inline f() { return 1 }\ninit { f() }", "m.pml:1:14: error: expected a variable on the left of `=`");
}

#[test]
fn processes_and_claims() {
    let text = "active [3] proctype P(byte x, y; chan c) priority 2 provided (x > 0) { l: skip }
        D_proctype D() { skip };
        never n { do :: P[1]@l :: P:x > 1 && P@l od }
        notrace { c!1 }
        ltl p { [](a -> <> b) U !c || X d <-> q V r }
        ltl { always P[0]@l implies (x == 1) until eventually b }";
    let items = parsed(text).unwrap().items;
    let Item::Process(process) = &items[0] else { panic!() };
    assert_eq!(process.parameters.len(), 3);
    assert!(
        matches!(process.active, Some(Active::Times(_))) && process.priority.is_some() && process.provided.is_some()
    );
    let Item::Never(never) = &items[2] else { panic!() };
    assert_eq!(show(&never.body), "DO{(P[1]@l)}{(((P:x>1)&&P@l))}");
    let formula = |item: &Item| match item {
        Item::Ltl(ltl) => print::expression(&ltl.formula),
        _ => panic!(),
    };
    assert_eq!(formula(&items[4]), "((([] ((a -> <> (b))) U !(c))||X (d)) <-> (q V r))");
    assert_eq!(formula(&items[5]), "([] (P[0]@l) -> ((x==1) U <> (b)))");
}

#[test]
fn declarations() {
    let text = "mtype = { a, b c }; mtype:k = { d }; mtype:k v = d; mtype { e }
        byte x, y[N] = { 1, 2 }, z = 3; chan q = [2] of { mtype, byte, T }, r[2] = [0] of { mtype:k }";
    let items = parsed(&text.replace(", T }", " }")).unwrap().items;
    let shape: Vec<usize> = items
        .iter()
        .map(|item| match item {
            Item::Mtype { values, .. } => values.len(),
            Item::Variables(variables) => 10 + variables.len(),
            _ => 0,
        })
        .collect();
    assert_eq!(shape, [3, 1, 11, 1, 13, 12]);
    refused(text, "m.pml:2:72: error: expected a type, found `T`");
    refused("unsigned x;", "m.pml:1:10: error: `x` has no width");
    refused("proctype P(byte x = 1) { skip }", "m.pml:1:17: error: a parameter has no initial value");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    refused("init { x = }", "m.pml:1:12: error: expected an expression, found `}`");
    refused("init { x y }", "m.pml:1:10: error: expected `;`, found `y`");
    refused("init { }", "m.pml:1:8: error: expected a statement, found `}`");
    refused("init { l: byte x }", "m.pml:1:11: error: a label cannot stand before a declaration");
    refused("init {\n c_code { x = 1; }; }", "m.pml:2:2: error: models with embedded C code are not supported");
    refused("init { STDIN?x }", "m.pml:1:8: error: a model that reads from `STDIN`");
    refused("#define F(x) x +\ninit { y = F(1); z }", "m.pml:2:16: error: expected an expression, found `;`");
    refused("init { if :: skip }", "m.pml:1:19: error: expected `::` or `fi`, found `}`");
    refused("init { skip", "m.pml:1:12: error: expected `}`, found the end of the model");
    refused("x = 1", "m.pml:1:1: error: expected a process, a claim or a declaration, found `x`");
    for deep in ["(", "{", "if :: ", "!", "a[", "c?(", "x = f(", "len("] {
        assert!(parsed(&format!("init {{ {}", deep.repeat(100_000))).is_err());
    }
    let long = "x + ".repeat(5000);
    assert!(parsed(&format!("init {{ y = {long} x }}")).unwrap_err().contains("at most"));
}

/// The folder of models that are not a part of the project.
fn models() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/promela")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    files
}

#[test]
fn real_models() {
    let files = models();
    if files.is_empty() {
        eprintln!("skipped: there is no folder of models");
        return;
    }
    let mut read = 0;
    for path in &files {
        let Ok(text) = crate::reading::read_text(path, false) else { continue };
        let folder = path.parent().unwrap_or(Path::new(""));
        let name = path.display().to_string();
        let result = parse(Input { name: &name, text: &text, folder, definitions: &[] });
        read += result.is_ok() as usize;
    }
    // SPIN reads 435 of the 610 files; others are pieces of models, which have no process.
    assert!(read * 10 > files.len() * 8, "{read} of {}", files.len());
}

/// Every kind of statement and unit.
const MODEL: &str = "#define N 2
#define SEND(c, v) c!v
#if N > 1 && defined(SEND)
mtype = { a, b }; mtype:k = { d }
#else
#error no
#endif
typedef T { byte f[N]; chan c }
T t; chan q = [N] of { mtype, byte }; unsigned u : 3 = 1; byte g[2] = { 1, 2 };
inline add(x, y) { x = x + y; if :: x > 3 -> x-- :: else fi }
inline twice(x) { return x * 2 }
active [N] proctype P(byte i; chan c) priority 2 provided (u > 0) {
  byte j = 1; xr q;
  l: do :: q?a(j) -> SEND(q, b(j)); add(j, N) :: q??<eval(i), _> -> g[1] = twice(j)
     :: atomic { len(q) < N -> d_step { t.f[0]++; printf(\"%d\\n\", j) } } unless { timeout -> goto l }
     :: for (j : 0 .. N) { skip } ; for (j in g) { assert(j != 'x') } ; select(j : 1 .. 40) ; break od }
init { run P(1, q) priority 3; (q?[a, 1] && nfull(q) -> u : !u + ~1 << 2) }
never { do :: P[1]@l || P:j == np_ od }
notrace { q!a, 1 }
ltl p { [] (u -> <> (q?[b, 2] U P[0]@l)) <-> always X u W (t.f[1] == 1) }
";

/// Every beginning of the model, and every model with a piece missing, repeated or at another place.
#[test]
fn damaged_models_do_not_panic() {
    parsed(MODEL).unwrap();
    let mut pieces: Vec<&str> = MODEL.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for at in 0..pieces.len() {
        let _ = parsed(&pieces[..at].concat());
        let _ = parsed(&[&pieces[..at], &pieces[at + 1..]].concat().concat());
        let _ = parsed(&[&pieces[..at], &pieces[at.saturating_sub(3)..]].concat().concat());
        let other = at * 7 % pieces.len();
        pieces.swap(at, other);
        let _ = parsed(&pieces.concat());
        pieces.swap(at, other);
    }
}
