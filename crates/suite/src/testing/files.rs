//! What came of the tests, for programs: JUnit's XML, which pipelines show, and SARIF 2.1.0, which code reviews show at the lines
//! of the source.

use super::judge::Step;
use super::runner::{Outcome, Tested, Unread};
use scrimp_report::markup::escape;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::Path;

/// A test suite for each model, a test case for each of its claims.
pub fn junit(all: &[Tested]) -> String {
    let results = || all.iter().flat_map(|tested| &tested.results);
    let failed = |results: &[Outcome]| results.iter().filter(|result| result.differs.is_some()).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"scrimp test\" tests=\"{}\" failures=\"{}\" time=\"{:.3}\">\n",
        results().count(),
        results().filter(|result| result.differs.is_some()).count(),
        all.iter().map(|tested| tested.seconds).sum::<f64>()
    );
    for tested in all {
        let name = escape(&tested.file.display().to_string());
        let (count, failures) = (tested.results.len(), failed(&tested.results));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\" time=\"{:.3}\">",
            tested.seconds
        );
        for result in &tested.results {
            let claim = escape(&result.claim.text);
            let _ = write!(
                out,
                "    <testcase classname=\"{name}\" name=\"{claim}\" file=\"{name}\" line=\"{}\" time=\"{:.3}\"",
                result.claim.line, result.seconds
            );
            let Some(differs) = &result.differs else {
                out.push_str("/>\n");
                continue;
            };
            let mut said = format!("{}:{}: {differs}\n", tested.file.display(), result.claim.line);
            for step in &result.run {
                said += &format!("  {}:{}: {}\n", tested.file_of(step), step.line, step.label);
            }
            said += &result.command;
            // Lines are kept: what is escaped has none of its own.
            let said: Vec<String> = said.lines().map(escape).collect();
            let _ = writeln!(out, "><failure message=\"{}\">{}</failure></testcase>", escape(differs), said.join("\n"));
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

/// The same where declarations cannot be read, so that nothing was tested: an error for each of these models.
pub fn junit_of_unread(all: &[Unread]) -> String {
    let count = all.len();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"scrimp test\" tests=\"{count}\" errors=\"{count}\">\n"
    );
    for Unread { file, line, message } in all {
        let name = escape(&file.display().to_string());
        let first = escape(message.lines().next().unwrap_or_default());
        let said: Vec<String> = message.lines().map(escape).collect();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"1\" errors=\"1\">\n    <testcase classname=\"{name}\" name=\"declarations\" \
             file=\"{name}\" line=\"{line}\"><error message=\"{first}\">{}</error></testcase>\n  </testsuite>",
            said.join("\n")
        );
    }
    out + "</testsuites>\n"
}

/// A result for each claim that differs, with the lines of the run that shows it.
pub fn sarif(all: &[Tested]) -> Json {
    let result = |tested: &Tested, result: &Outcome| {
        let differs = result.differs.as_ref()?;
        let mut one = json!({
            "ruleId": "as-declared",
            "level": "error",
            "message": { "text": format!("{}: {differs}", result.claim.text) },
            "locations": [place(&tested.file, result.claim.line)],
        });
        if !result.run.is_empty() {
            let step = |step: &Step| {
                let mut location = place(tested.file_of(step).as_ref(), step.line);
                location["message"] = json!({ "text": step.label });
                json!({ "location": location })
            };
            let steps: Vec<Json> = result.run.iter().map(step).collect();
            one["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
        Some(one)
    };
    let of = |tested: &Tested| tested.results.iter().filter_map(|r| result(tested, r)).collect::<Vec<_>>();
    log(all.iter().flat_map(of).collect())
}

/// A result for each model whose declarations cannot be read.
pub fn sarif_of_unread(all: &[Unread]) -> Json {
    let one = |unread: &Unread| {
        json!({
            "ruleId": "declarations",
            "level": "error",
            "message": { "text": unread.message },
            "locations": [place(&unread.file, unread.line)],
        })
    };
    log(all.iter().map(one).collect())
}

fn place(file: &Path, line: usize) -> Json {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line.max(1) },
    } })
}

fn log(results: Vec<Json>) -> Json {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "scrimp",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [{
                    "id": "as-declared",
                    "shortDescription": { "text": "What the comments of a model declare is so" },
                }, {
                    "id": "declarations",
                    "shortDescription": { "text": "What the comments of a model declare can be read" },
                }],
            } },
            "results": results,
        }],
    })
}

/// A path as SARIF wants it: slashes, and signs that are not plain in hexadecimal.
fn uri(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    if out.starts_with('/') { format!("file://{out}") } else { out }
}
