//! Answers and files that cannot be written: never silently short, and what was there before is not lost for nothing.

use super::{BROKEN, Ground};
use crate::answer::{Expected, Outcome};
use crate::shim::Fault;
use std::path::Path;

/// A file that a command writes: the flag, its name, and what a whole one ends with.
const FILES: [(&str, &str, &str); 8] = [
    ("--graph", "out.aut", "\n"),
    ("--graph", "out.dot", "}\n"),
    ("--graph", "out.scg", ""),
    ("--dot", "out.dot", "}\n"),
    ("--report", "out.html", "</html>\n"),
    ("--plot", "out.svg", "</svg>\n"),
    ("--plot", "out.txt", "\n"),
    ("--front", "out.log", "\n"),
];
const OLD: &str = "what was there before";

pub fn attempt(ground: &mut Ground) -> Result<(), String> {
    let model = ground.folder.join("small.dve");
    std::fs::write(&model, crate::models::counters(3, 9)).map_err(|e| e.to_string())?;
    let words = ["count", &model.display().to_string(), "--json"].map(String::from).to_vec();
    let (flag, name, end) = ground.pick(&FILES);
    let to_stdout = ground.random.below(5) == 0;
    let (path, words) = match to_stdout {
        true => ("1".to_string(), words),
        false => (name.to_string(), [words, vec![flag.into(), name.into()]].concat()),
    };
    let words = if flag == "--front" { [words, sweep()].concat() } else { words };
    let file = ground.folder.join(name);
    let whole = ground.run(&words, None)?;
    let expected = Expected::of(&whole)?;
    let content = std::fs::read(&file).unwrap_or_default();
    let how = ground.pick(&BROKEN);
    let calls = ground.pick(&["open", "write", "sync", "rename", "open,write,sync,rename"]);
    // Renaming is not interrupted, and what is interrupted for ever is tried for ever.
    let calls = if how.is_harmless() { "open,write,sync" } else { calls };
    let on = if how.is_harmless() { 3 } else { ground.pick(&[0, 1]) };
    let fault = Fault { calls, path, at: ground.early(12), on, how };
    if ground.random.below(2) == 0 {
        std::fs::write(&file, OLD).map_err(|e| e.to_string())?;
    } else {
        let _ = std::fs::remove_file(&file);
    }
    let ended = ground.run(&words, Some(fault))?;
    ground.tidy()?;
    if !ended.struck || how.is_harmless() {
        return match expected.judge(&ended)? {
            Outcome::Same if to_stdout => Ok(()),
            Outcome::Same => complete(&file, &content, end, flag),
            outcome => Err(format!("undisturbed, it is {outcome:?}: {}", ended.stderr)),
        };
    }
    if ended.code != Some(2) || ended.stderr.trim().is_empty() {
        return Err(format!(
            "what was asked for could not be written, and it ends with {:?}: {}",
            ended.code, ended.stderr
        ));
    }
    match std::fs::read(&file) {
        Ok(found) if !to_stdout && found != OLD.as_bytes() => {
            complete(&file, &content, end, flag).map_err(|what| format!("after a failure {what}"))
        }
        _ => Ok(()),
    }
}

fn sweep() -> Vec<String> {
    ["--forget", "sweep", "--progress", "P_0->x"].map(String::from).to_vec()
}

/// Is a file whole? Some tell how long something took, and are different every time.
fn complete(file: &Path, content: &[u8], end: &str, flag: &str) -> Result<(), String> {
    let found = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let changes = matches!(flag, "--report" | "--plot");
    match found.ends_with(end.as_bytes()) && !found.is_empty() && (changes || found == content) {
        true => Ok(()),
        false => Err(format!("{} is not whole: {} bytes of {}", file.display(), found.len(), content.len())),
    }
}
