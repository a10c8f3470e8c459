//! What is linked into the program may be given to anybody: every dependency has a licence that asks for no more than a notice.

use std::process::Command;

/// Licences that only ask to be named.
const PERMISSIVE: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "Unlicense",
    "Zlib",
    "Unicode-3.0",
];

/// Is there a choice among the alternatives of this expression that is permissive? `/` is an old way to write OR, and brackets only
/// stand around alternatives.
fn is_permissive(expression: &str) -> bool {
    let (outer, inner) = if expression.contains('(') { (" AND ", " OR ") } else { (" OR ", " AND ") };
    let expression = expression.replace(" / ", " OR ").replace('/', " OR ").replace(['(', ')'], "");
    let known = |licence: &str| PERMISSIVE.contains(&licence.trim());
    match outer {
        " AND " => expression.split(outer).all(|part| part.split(inner).any(known)),
        _ => expression.split(outer).any(|part| part.split(inner).all(known)),
    }
}

fn output(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn dependencies_are_permissive() {
    let rustc = output("rustc", &["-vV"]);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let words = ["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host];
    let metadata: serde_json::Value = serde_json::from_str(&output(cargo, &words)).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "all dependencies are looked at");
    let others: Vec<String> = packages
        .iter()
        .filter(|package| !is_permissive(package["license"].as_str().unwrap_or("none")))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(others.is_empty(), "not known to be permissive: {others:#?}");
}

#[test]
fn expressions_are_understood() {
    for yes in
        ["MIT", "MIT OR GPL-3.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "MIT AND BSD-3-Clause"]
    {
        assert!(is_permissive(yes), "{yes}");
    }
    for no in ["GPL-3.0", "MPL-2.0", "MIT AND GPL-3.0", "none", "(MIT OR Apache-2.0) AND GPL-2.0"] {
        assert!(!is_permissive(no), "{no}");
    }
}
