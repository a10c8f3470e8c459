//! Files that are no models, or models of other tools: what they are and what to do, told by the name and the first bytes.

use crate::reading::{format_of, is_model_name};
use crate::symbols::nearest;
use std::io;
use std::path::{Path, PathBuf};

/// What a file is that is no model, by the end of its name, and what to do instead.
const BY_NAME: [(&str, &str, &str); 24] = [
    (".trail", "a trail of SPIN, not a model", "give the Promela model; scrimp finds the run again"),
    (".tla", "a TLA+ specification", "TLA+ is not supported; write the model in Promela, DVE or Rust (docs/rust.md)"),
    (".cfg", "a configuration (of TLC, perhaps), not a model", "give the model itself"),
    (".smv", "a model of NuSMV", SUPPORTED),
    (".prism", "a model of PRISM", PROBABILITIES),
    (".nm", "a model of PRISM", PROBABILITIES),
    (".jani", "a model in JANI", SUPPORTED),
    (".xta", "a model of UPPAAL", TIMED),
    (".xtr", "a trace of UPPAAL", TIMED),
    (".tapn", "a timed net of TAPAAL", "export it as PNML, without time"),
    (".cpn", "a net of CPN Tools", "export it as PNML"),
    (".net", "a net of TINA", "convert it to PNML: ndrio FILE.net FILE.pnml"),
    (".ndr", "a net of TINA", "convert it to PNML: ndrio FILE.ndr FILE.pnml"),
    (".bcg", "a binary graph of CADP", "convert it to Aldebaran's format: bcg_io FILE.bcg FILE.aut"),
    (".lotos", "a LOTOS specification", TO_AUT),
    (".lnt", "a LNT specification", TO_AUT),
    (".exp", "a composition of CADP", "write it as a .network file (docs/networks.md)"),
    (".mcrl2", "a mCRL2 specification", MCRL2),
    (".lps", "a linear process of mCRL2", MCRL2),
    (".lts", "a binary graph of mCRL2", "convert it: ltsconvert FILE.lts FILE.aut"),
    (".fsp", "a graph of mCRL2", "convert it: ltsconvert FILE.fsp FILE.aut"),
    (".m", "a model of Murphi, perhaps", SUPPORTED),
    (".btor2", "a hardware model", SUPPORTED),
    (".aag", "a hardware model", SUPPORTED),
];

const SUPPORTED: &str = "supported are DVE (.dve), Promela (.pml), PNML (.pnml), .aut and .network files";
const PROBABILITIES: &str = "probabilities are not supported; supported are .dve, .pml, .pnml, .aut and .network files";
const TIMED: &str = "clocks are not supported; supported are .dve, .pml, .pnml, .aut and .network files";
const TO_AUT: &str = "generate its graph and convert it: bcg_io FILE.bcg FILE.aut";
const MCRL2: &str = "generate its graph: mcrl22lps FILE.mcrl2 | lps2lts - FILE.aut";

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// What the name of a file says of it, where that is no model of ours.
pub(crate) fn by_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let model = path.with_extension("");
    if name.ends_with(".trail") && model.is_file() {
        return Some(format!("this is a trail of SPIN, not a model\nhelp: give the model, {}", model.display()));
    }
    let (_, what, advice) = BY_NAME.iter().find(|(end, ..)| name.ends_with(end))?;
    Some(format!("this is {what}\nhelp: {advice}"))
}

/// What the text of a file says of it, where that is no model of ours.
pub(crate) fn by_text(path: &Path, text: &str) -> Option<String> {
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let has = |wanted: &str| words().any(|word| word == wanted);
    let first = words().find(|word| !word.is_empty()).unwrap_or_default();
    if has("endmodule") && (has("dtmc") || has("mdp") || has("ctmc") || has("module")) {
        return Some(format!("this is a model of PRISM\nhelp: {PROBABILITIES}"));
    }
    if text.contains("---- MODULE ") {
        return by_name(Path::new("x.tla"));
    }
    if (first == "MODULE" || text.contains("\nMODULE main")) && has("main") {
        return by_name(Path::new("x.smv"));
    }
    if text.contains("<nta>") {
        return Some(format!("this is a model of UPPAAL\nhelp: {TIMED}"));
    }
    let is_trail = |line: &str| line.split(':').all(|part| part.trim().parse::<i64>().is_ok());
    if text.lines().take(3).filter(|line| !line.trim().is_empty()).all(is_trail) && text.contains(':') {
        let is_called_so = path.extension().is_some_and(|ending| ending == "trail");
        return by_name(if is_called_so { path } else { Path::new("x.trail") });
    }
    if text.trim_start().starts_with("{") && text.contains("\"schema\"") {
        let replay = format!("`scrimp simulate MODEL --trace {}` replays its run", path.display());
        return Some(format!("this is an answer of scrimp, not a model\nhelp: {replay}"));
    }
    None
}

/// What bytes that are no text are.
pub(crate) fn by_bytes(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x7f, b'E', b'L', b'F', ..] | [0xcf, 0xfa, 0xed, 0xfe, ..] | [b'M', b'Z', ..] => {
            "this is a program, not a model\nhelp: give the model itself; of SPIN's `pan`, that is the .pml file"
        }
        [b'P', b'K', 3, 4, ..] => "this is a zip archive\nhelp: unpack it, and give the model",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "this is an xz archive\nhelp: unpack it: unxz FILE",
        [b'B', b'Z', b'h', ..] => "this is a bzip2 archive\nhelp: unpack it: bunzip2 FILE",
        _ => "this is a binary file, not a text\nhelp: models are text files; compressed ones end in .gz",
    }
}

/// Why a file cannot be read; where it does not exist, with one of a similar name.
pub fn why_unreadable(path: &Path, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        return format!("cannot read the file: {error}");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("there is no folder {}", folder.display());
    }
    match near(path) {
        Some(near) => format!("there is no such file\nhelp: {near}"),
        None => "there is no such file".into(),
    }
}

/// Help for a file that there is not: one of a similar name.
pub(crate) fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    similar(path, folder).map(|near| format!("did you mean `{}`?", near.display()))
}

/// What a folder is that was given as a model, with one of the models in it.
pub(crate) fn folder(path: &Path) -> String {
    let entries = std::fs::read_dir(path).into_iter().flatten().take(MOST_ENTRIES).filter_map(Result::ok);
    let first = entries.map(|entry| entry.path()).filter(|path| is_model_name(path) && path.is_file()).min();
    match first {
        Some(model) => format!("this is a folder, not a model\nhelp: give a model in it, such as {}", model.display()),
        None => "this is a folder, not a model".into(),
    }
}

/// A model of that folder, or a file of the same kind, whose name is nearest.
fn similar(path: &Path, folder: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_string_lossy().into_owned();
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_ENTRIES).filter_map(Result::ok);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let ending = path.extension();
    let is_alike = |name: &Path| is_model_name(name) || ending.is_some() && name.extension() == ending;
    names.retain(|name| is_alike(Path::new(name)));
    names.sort_unstable();
    // The same name with another ending, or none, comes first.
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let language = |name: &str| format_of(Path::new(name)).ok().and_then(|format| format.language);
    let same = names.iter().find(|name| stem(name) == stem(&wanted) && language(name) != language(&wanted));
    let near = same.map(String::as_str).or_else(|| nearest(&wanted, names.iter().map(String::as_str)))?;
    Some(path.with_file_name(near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_told_by_their_text() {
        let told = |text: &str| by_text(Path::new("x"), text).unwrap_or_default();
        assert!(told("dtmc\nmodule die\nendmodule").contains("PRISM"));
        assert!(told("---- MODULE Lock ----\n====").contains("TLA+"));
        assert!(told("-- a comment\nMODULE main\nVAR x : boolean;").contains("NuSMV"));
        assert!(told("-4:-4:-4\n1:0:3\n2:1:4\n").contains("trail of SPIN"));
        assert_eq!(told("active proctype P() { skip }"), "");
        assert_eq!(told("process P { state s; init s; } system async;"), "");
        assert_eq!(told(""), "");
    }
}
