//! One model through the `scrimp` command, as a user would.

use crate::configuration::Configuration;
use crate::language::Expected;
use crate::matrix::Tally;
use scrimp_system::Random;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The command that was built beside this program.
pub fn find() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    here.ancestors().skip(1).take(2).map(|folder| folder.join("scrimp")).find(|path| path.is_file())
}

/// Asks the command everything, by a configuration that it accepts, and says what is wrong with its answer.
pub fn check(
    command: &Path,
    model: &Path,
    expected: &Expected,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    // A claim has names of its own for what it is asked.
    let answers = expected.answers.iter().filter(|answer| !answer.fair && answer.property != "claim");
    let asked: Vec<(String, &crate::language::Answer)> =
        answers.enumerate().map(|(number, answer)| (format!("q{number}"), answer)).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let mut said = None;
    for _ in 0..20 {
        let way = Configuration::draw(random, &[]);
        let mut words = vec!["check".to_string(), model.display().to_string()];
        words.extend(["--json", "--keep-going", "--memory=1G", "--time=20s"].map(String::from));
        // Assertions are as many properties as the model has, and called by their own names.
        let named = |(name, answer): &(String, &crate::language::Answer)| match answer.property.as_str() {
            "assertions" => "--property=assertions".to_string(),
            property => format!("--property={name} = {property}"),
        };
        words.extend(asked.iter().map(named));
        words.extend(way.arguments());
        let mut command = Command::new(command);
        command.args(&words).stdin(Stdio::null()).current_dir(model.parent().unwrap_or(Path::new(".")));
        let output = command.output().map_err(|e| e.to_string())?;
        let (code, text) = (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if errors.contains("panicked") || code.is_none() {
            return Err(format!("the command breaks: {errors} ({way})"));
        }
        if code != Some(2) {
            said = Some((way, code, text));
            break;
        }
    }
    let Some((way, code, text)) = said else { return Ok(()) };
    let answer: Value = serde_json::from_str(&text).map_err(|e| format!("the command writes no JSON: {e} ({way})"))?;
    tally.configurations += 1;
    let properties = answer["properties"].as_array().cloned().unwrap_or_default();
    let verdicts = |name: &str, property: &str| -> Vec<String> {
        let fits = |p: &&Value| match (p["name"].as_str(), property) {
            (Some(known), "assertions") => known.starts_with("assertion"),
            (known, _) => known == Some(name),
        };
        properties.iter().filter(fits).filter_map(|p| p["verdict"].as_str().map(String::from)).collect()
    };
    let mut violated = false;
    for (name, answer) in &asked {
        let found = verdicts(name, &answer.property);
        let says = |word: &str| found.iter().any(|verdict| verdict == word);
        violated |= says("violated");
        let wrong = match answer.holds {
            true => says("violated"),
            false => !found.is_empty() && found.iter().all(|verdict| verdict == "verified"),
        };
        if wrong {
            return Err(format!("{}: the command says {} ({way})", answer.property, found.join(", ")));
        }
        tally.comparisons += 1;
    }
    // 0 is for what is verified to the end.
    match code {
        Some(0) if asked.iter().any(|(_, answer)| !answer.holds) => {
            Err(format!("the command ends with 0 although something is violated ({way})"))
        }
        Some(1) if !violated => Err(format!("the command ends with 1 although nothing is violated ({way})")),
        Some(0 | 1 | 3 | 4) => Ok(()),
        other => Err(format!("the command ends with {other:?} ({way})")),
    }
}
