//! Models that were once judged wrongly, a file each in `tests/findings/`, with what is right.
//!
//! The first comment of a file says in its first line what the model showed, and then, a fact a line, what must come out:
//!
//! - `expect: verified`, `expect: violated PROPERTY` (as `check` names it), `expect: refused`, `expect: incomplete` or
//!   `expect: no error found`: how `scrimp check` ends;
//! - `flags: --reduce por`: what the `expect`s, `says` and counts below it are asked with; nothing until then;
//! - `says: TEXT`: the last `check` prints this, to standard output or error;
//! - `states: N`, `transitions: N`, `deadlocks: N`, `faults: N`: what `scrimp count` counts;
//! - `spin: REASON`: why SPIN judges otherwise.
//!
//! Comments are `// FACT` or `/* FACT */`, one a line; in XML `<!-- FACT -->`, below the line `<?xml …`. A file that can have no
//! comment has a neighbour with `.expect` behind its name. A file of a name that begins with `_` belongs to others.
//!
//! Where SPIN is there, it is asked about every Promela model too: it must agree with the verdict and the counts.

use crate::common;
use crate::common::command::scrimp;
use scrimp_soak::promela::spin::{Search, Spin};
use std::path::{Path, PathBuf};

/// What must come of one question.
#[derive(Debug)]
enum Expected {
    Check { outcome: String, says: Vec<String> },
    Count { figure: String, number: u64 },
}

#[derive(Debug)]
struct Question {
    flags: Vec<String>,
    expected: Expected,
}

#[derive(Debug, Default)]
struct Finding {
    questions: Vec<Question>,
    /// Why SPIN judges otherwise.
    unlike_spin: Option<String>,
}

/// A line that means nothing is an error: a misspelt fact must not pass for a checked one.
fn parse(text: &str) -> Result<Finding, String> {
    let lines: Vec<&str> = text.lines().skip_while(|line| line.starts_with("<?xml")).map_while(comment).collect();
    let mut finding = Finding::default();
    let mut flags = Vec::new();
    for line in lines.iter().skip(1) {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("no fact: {line}"))?;
        let expected = match key {
            "expect" => Expected::Check { outcome: value.to_string(), says: vec![] },
            "states" | "transitions" | "deadlocks" | "faults" => {
                let number = value.parse().map_err(|_| format!("no number: {line}"))?;
                Expected::Count { figure: key.to_string(), number }
            }
            "flags" => {
                flags = words(value);
                continue;
            }
            "says" => {
                let Some(Question { expected: Expected::Check { says, .. }, .. }) = finding.questions.last_mut() else {
                    return Err(format!("nothing is asked before: {line}"));
                };
                says.push(value.to_string());
                continue;
            }
            "spin" => {
                finding.unlike_spin = Some(value.to_string());
                continue;
            }
            _ => return Err(format!("unknown fact: {line}")),
        };
        finding.questions.push(Question { flags: flags.clone(), expected });
    }
    match finding.questions.is_empty() {
        true => Err("nothing is expected".into()),
        false => Ok(finding),
    }
}

/// What a line says that is nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    let between = |open: &str, close: &str| line.strip_prefix(open)?.strip_suffix(close);
    line.strip_prefix("// ").or_else(|| between("/* ", " */")).or_else(|| between("<!-- ", " -->"))
}

/// Separated by blanks; a word with blanks stands between single quotes, as for a shell.
fn words(text: &str) -> Vec<String> {
    let outside = |part: &str| part.split_whitespace().map(String::from).collect::<Vec<_>>();
    let parts = text.split('\'').enumerate();
    parts.flat_map(|(i, part)| if i % 2 == 0 { outside(part) } else { vec![part.to_string()] }).collect()
}

impl Question {
    fn ask(&self, path: &Path) -> Result<(), String> {
        let command = match &self.expected {
            Expected::Check { .. } => "check",
            Expected::Count { .. } => "count",
        };
        let model = path.to_string_lossy();
        let mut line: Vec<&str> = vec![command, &model];
        line.extend(self.flags.iter().map(String::as_str));
        if command == "count" {
            line.push("--json");
        }
        let answer = scrimp(&line);
        let said = match command {
            "count" => answer.stderr.clone(),
            _ => format!("{}{}", answer.stdout, answer.stderr),
        };
        let wrong = |what: String| Err(format!("{}: {what}\n{said}", line.join(" ")));
        match &self.expected {
            Expected::Count { figure, number } => match (answer.code, &answer.json()[figure]) {
                (Some(0), found) if found == number => Ok(()),
                (code, found) => wrong(format!("exit code {code:?}, {found} {figure}, not {number}")),
            },
            Expected::Check { outcome, says } => {
                let (word, property) = outcome.split_once(' ').unwrap_or((outcome, ""));
                let code = match (word, property) {
                    ("verified", "") => 0,
                    ("violated", _) => 1,
                    ("refused", "") => 2,
                    ("incomplete", "") => 3,
                    ("no", "error found") => 4,
                    _ => return Err(format!("there is no such outcome: {outcome}")),
                };
                if answer.code != Some(code) {
                    return wrong(format!("exit code {:?}, not {code}", answer.code));
                }
                let violated =
                    |line: &str| line.trim_start().strip_prefix("violated").is_some_and(|p| p.trim() == property);
                if word == "violated" && !said.lines().any(violated) {
                    return wrong(format!("`{property}` is not violated"));
                }
                match says.iter().find(|text| !said.contains(text.as_str())) {
                    Some(text) => wrong(format!("it does not say `{text}`")),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Finding {
    /// What SPIN says must be what is expected when nothing special is asked for.
    fn agrees(&self, spin: &Search) -> Result<(), String> {
        for question in self.questions.iter().filter(|question| question.flags.is_empty()) {
            let agrees = match (&question.expected, spin) {
                (Expected::Check { outcome, .. }, Search::Refused(_)) => outcome == "refused",
                (Expected::Check { outcome, .. }, Search::Fault(_)) => outcome == "violated faults",
                (Expected::Check { outcome, .. }, Search::Found(found)) => match outcome.as_str() {
                    "verified" => !found.invalid_end_state && !found.assertion_violated,
                    "violated deadlock" => found.invalid_end_state,
                    "violated assertions" => found.assertion_violated,
                    // SPIN was asked about nothing else.
                    outcome => outcome.starts_with("violated ltl") || outcome == "violated accepting",
                },
                (Expected::Count { figure, number }, Search::Found(found)) => match figure.as_str() {
                    "states" => found.states == *number,
                    "transitions" => found.transitions == *number,
                    _ => true,
                },
                (_, Search::Incomparable(_)) | (Expected::Count { .. }, _) => false,
            };
            if !agrees {
                return Err(format!("SPIN does not agree with {:?}: {spin:?}", question.expected));
            }
        }
        Ok(())
    }
}

/// The models, with the files in which their facts are.
fn files() -> Vec<(PathBuf, PathBuf)> {
    let folder = std::fs::read_dir(common::manifest().join("tests/findings")).expect("there are findings");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("it can be read").path()).collect();
    let own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !name.starts_with('_') && !name.ends_with(".expect")
    };
    paths.retain(own);
    paths.sort();
    let facts = |path: &PathBuf| {
        let beside = PathBuf::from(format!("{}.expect", path.display()));
        if beside.exists() { beside } else { path.clone() }
    };
    paths.into_iter().map(|path| (path.clone(), facts(&path))).collect()
}

#[test]
fn what_was_found_is_mended() {
    let spin = Spin::find().map_err(|problem| eprintln!("not compared with SPIN: {problem}")).ok();
    let mut wrong = Vec::new();
    for (path, facts) in files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&facts).unwrap_or_else(|error| panic!("{name}: {error}"));
        let finding = parse(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let mut note = |outcome: Result<(), String>| wrong.extend(outcome.err().map(|e| format!("{name}: {e}")));
        finding.questions.iter().for_each(|question| note(question.ask(&path)));
        if let (Some(spin), "pml", None) =
            (&spin, path.extension().unwrap_or_default().to_string_lossy().as_ref(), &finding.unlike_spin)
        {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings").join(&name);
            note(finding.agrees(&spin.file(&path, &folder)));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn misspelt_facts_are_errors() {
    for text in ["// it", "// it\n// expects: verified", "// it\n// says: x", "// it\n// states: many", "int x;"] {
        assert!(parse(text).is_err(), "{text}");
    }
    let finding = parse("<?xml?>\n<!-- it -->\n<!-- flags: -p 'reach: a b' -k -->\n<!-- expect: refused -->").unwrap();
    assert_eq!(finding.questions[0].flags, ["-p", "reach: a b", "-k"]);
}
