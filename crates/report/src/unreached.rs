//! Statements that no run executes, by process type.

use serde_json::{Value, json};
use std::fmt::Write;

/// A statement of a process type, and whether it was ever executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub process: String,
    pub file: String,
    pub line: u32,
    /// The number that the language's own tool has for it.
    pub number: u32,
    pub text: String,
    pub reached: bool,
}

/// What was never executed, one process type after the other.
pub fn text(statements: &[Statement]) -> String {
    let mut out = String::new();
    for of_one in statements.chunk_by(|a, b| a.process == b.process) {
        let process = &of_one[0].process;
        let _ = match process.as_str() {
            ":init:" => writeln!(out, "unreached in init"),
            process => writeln!(out, "unreached in proctype {process}"),
        };
        let unreached = of_one.iter().filter(|s| !s.reached);
        for Statement { file, line, number, text, .. } in unreached.clone() {
            let _ = writeln!(out, "\t{file}:{line}, state {number}, \"{text}\"");
        }
        let _ = writeln!(out, "\t({} of {} statements)", unreached.count(), of_one.len());
    }
    out
}

/// The same for scripts, without what was executed.
pub fn json(statements: &[Statement]) -> Value {
    let unreached = statements.iter().filter(|s| !s.reached).map(
        |s| json!({ "process": s.process, "file": s.file, "line": s.line, "state": s.number, "statement": s.text }),
    );
    unreached.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(process: &str, number: u32, reached: bool) -> Statement {
        let (file, text) = ("a.pml".into(), format!("x = {number}"));
        Statement { process: process.into(), file, line: number + 1, number, text, reached }
    }

    #[test]
    fn each_type_has_its_list() {
        let list = [statement("P", 1, true), statement("P", 2, false), statement(":init:", 1, true)];
        let expected = "unreached in proctype P\n\ta.pml:3, state 2, \"x = 2\"\n\t(1 of 2 statements)\n\
                        unreached in init\n\t(0 of 1 statements)\n";
        assert_eq!(text(&list), expected);
        assert_eq!(json(&list)[0]["statement"], "x = 2");
        assert_eq!(json(&list).as_array().map(Vec::len), Some(1));
    }
}
