//! What came of the tests, for programs: JUnit's XML, which pipelines show, and SARIF 2.1.0, which code reviews show at the lines
//! of the source.

use super::runner::{Outcome, Tested};
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
            result
                .run
                .iter()
                .for_each(|(line, label)| said += &format!("  {}:{line}: {label}\n", tested.file.display()));
            said += &result.command;
            // Lines are kept: what is escaped has none of its own.
            let said: Vec<String> = said.lines().map(escape).collect();
            let _ = writeln!(out, "><failure message=\"{}\">{}</failure></testcase>", escape(differs), said.join("\n"));
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

/// A result for each claim that differs, with the lines of the run that shows it.
pub fn sarif(all: &[Tested]) -> Json {
    let place = |file: &Path, line: usize| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line.max(1) },
        } })
    };
    let result = |tested: &Tested, result: &Outcome| {
        let differs = result.differs.as_ref()?;
        let mut one = json!({
            "ruleId": "as-declared",
            "level": "error",
            "message": { "text": format!("{}: {differs}", result.claim.text) },
            "locations": [place(&tested.file, result.claim.line)],
        });
        if !result.run.is_empty() {
            let step = |(line, label): &(usize, String)| {
                let mut location = place(&tested.file, *line);
                location["message"] = json!({ "text": label });
                json!({ "location": location })
            };
            let steps: Vec<Json> = result.run.iter().map(step).collect();
            one["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
        Some(one)
    };
    let of = |tested: &Tested| tested.results.iter().filter_map(|r| result(tested, r)).collect::<Vec<_>>();
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
                }],
            } },
            "results": all.iter().flat_map(of).collect::<Vec<Json>>(),
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
