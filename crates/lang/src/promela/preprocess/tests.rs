//! What a C preprocessor would print, compared word by word; `|` before a word that is the first on its line.

use super::*;

fn run(text: &str) -> Result<String, String> {
    run_in(text, Path::new(""))
}

fn run_in(text: &str, folder: &Path) -> Result<String, String> {
    let definitions = [("OUTSIDE".to_string(), "42".to_string()), ("TWICE(x)".to_string(), "x x".to_string())];
    let input = Input { name: "m.pml", text, folder, definitions: &definitions };
    let (pieces, _) = preprocess(input).map_err(|diagnostic| diagnostic.to_string())?;
    let word = |piece: &Piece| format!("{}{}", if piece.breaks { "|" } else { "" }, piece.text);
    Ok(pieces.iter().take(pieces.len() - 1).map(word).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(run(text).unwrap(), expected, "{text}");
}

#[test]
fn macros() {
    check("#define N 3\nN x N", "|3 x 3");
    check("#define F(a, b) a + b\nF(1, (2, 3)) F", "|1 + ( 2 , 3 ) F");
    check("#define F(a) a\n#define G F\nG(1) F(F(F(2)))", "|1 2");
    check("#define F (a)\nF(1)", "|( a ) ( 1 )");
    check("#define x x + y\n#define y x\nx", "|x + x");
    check("#define S(a) #a\nS( a  \"b\\n\" )", "|\"a \\\"b\\\\n\\\"\"");
    check("#define P(a, b) x = a##b\nP(1, 2) P(, q) P(q,)", "|x = 12 x = q x = q");
    check("#define P(n) q_##n!n\n#define N 1\nP(N)", "|q_N ! 1");
    check("#define N 1\n#undef N\nN", "|N");
    check("#define LONG a \\\n  b\r\nLONG c", "|a b c");
    check("#define E(f, ...) f(__VA_ARGS__)\nE(g, 1, 2) E(g)", "|g ( 1 , 2 ) g ( )");
    check("OUTSIDE TWICE(a)", "42 a a");
    check("#define N 3\n\"N\" 'N' 0..N /* N */ // N", "|\"N\" 'N' 0..N");
}

#[test]
fn lines_are_those_of_the_calls() {
    check("#define F(a, b) a b\nF(x\n, y) z\nw", "|x y |z |w");
    check("a /*\n*/ b \\\n c", "a |b |c");
    check("#define E\nE a\nE\nb", "|a |b");
    check("#define F(x) x\nF\n(a) F\nb", "|a |F |b");
}

#[test]
fn conditions() {
    check("#if 0\n it's \"wrong\n#else\na\n#endif", "|a");
    check("#define A\n#if defined(A) && !defined B && 1 + 2 * 3 == 7\nx\n#elif 1\ny\n#endif", "|x");
    check("#ifdef A\na\n#else\n#ifndef B\nb\n#endif\n#endif c", "|b");
    check("#define A 2\n#if A > 2\na\n#elif A << 1 == 4 ? 1 : 1 / 0\nb\n#else\nc\n#endif", "|b");
    check("#if 0 && 1 / 0 || (0x10 == 16 && '\\n' == 10 && -1 < 0 && UNKNOWN == 0)\nx\n#endif", "|x");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#error no\n#unknown\n#endif\nc", "|c");
    check("# 12 \"file\"\n#line 3\n#pragma once\n#\nx", "|x");
}

#[test]
fn included_files() {
    let folder = std::env::temp_dir().join(format!("scrimp-include-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    std::fs::write(folder.join("a.h"), "#ifndef A\n#define A 1\n#include \"deep/b.h\"\n#endif").unwrap();
    std::fs::write(folder.join("deep/b.h"), "b #include\n#include <../a.h>\n#include \"empty.h\"\n").unwrap();
    std::fs::write(folder.join("deep/empty.h"), "").unwrap();
    std::fs::write(folder.join("loop.h"), "\n#include \"loop.h\"").unwrap();
    std::fs::write(folder.join("wrong.h"), "\n #error no").unwrap();
    let result = run_in("x\n#include \"a.h\"\n#include \"a.h\"\nA", &folder);
    let looping = run_in("#include \"loop.h\"", &folder);
    let wrong = run_in("x\n#include \"wrong.h\"", &folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(result.unwrap(), "x |b # include |1");
    let (looping, wrong) = (looping.unwrap_err(), wrong.unwrap_err());
    assert!(looping.contains("loop.h:2:1: error: files are included more than"), "{looping}");
    assert!(wrong.contains("wrong.h:2:2: error: #error: no\n   #error no\n   ^"), "{wrong}");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let wrong = |text: &str, message: &str| {
        let error = run(text).unwrap_err();
        assert!(error.starts_with(message), "{text}: {error}");
    };
    wrong("x\n#include \"no.h\"", "m.pml:2:10: error: cannot include `no.h`: there is no such file");
    wrong("a\n  #if 1", "m.pml:2:3: error: this condition has no `#endif`");
    wrong("#endif", "m.pml:1:1: error: `#endif` without");
    wrong("#if 1\n#else\n#else\n#endif", "m.pml:3:1: error: `#else` after `#else` on line 1");
    wrong("#define F(a) a\n F(1, 2)", "m.pml:2:2: error: the macro `F` has 1 parameter, not 2");
    wrong("#define F(a) a\n F(1", "m.pml:2:2: error: the call of the macro `F` has no `)`");
    wrong("#if 1 +\n#endif", "m.pml:1:1: error: the condition is not complete");
    wrong("#frob", "m.pml:1:1: error: `#frob` is not a directive");
    wrong("c_decl {\n#include <stdio.h>\n}", "m.pml:1:1: error: models with embedded C code");
    let doubling: String = (0..40).map(|n| format!("#define A{n} A{0} A{0}\n", n + 1)).collect();
    assert!(run(&(doubling + "A0")).unwrap_err().contains("expand to more than"));
    let deep = "(".repeat(100_000);
    assert!(run(&format!("#if {deep}\n#endif")).is_err());
    assert!(run(&format!("#define F(a) a\n{}", "F(".repeat(100_000))).is_err());
    assert!(run(&format!("#define F(a) a\n{}{}", "F(".repeat(1000), ")".repeat(1000))).unwrap_err().contains("deep"));
}
