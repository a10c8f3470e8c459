//! Models from files, in all languages.

use crate::aut;
use crate::diagnostic::Diagnostic;
use crate::dve::parse_dve;
use crate::foreign;
use crate::pnml::{read_net_text, read_net_within};
use crate::promela::Promela;
use crate::reading::{self, Language};
use scrimp_net::Net;
use scrimp_system::{Cause, Source, Stop, System};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no system: the file cannot be used, or what it says is wrong.
#[derive(Debug, Clone)]
pub enum LoadError {
    File {
        path: PathBuf,
        problem: String,
    },
    Model(Box<Diagnostic>),
    /// There was no time or no memory to go on.
    Stopped(Cause),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::File { path, problem } => write!(f, "{}: error: {problem}", path.display()),
            LoadError::Model(diagnostic) => diagnostic.fmt(f),
            LoadError::Stopped(cause) => write!(f, "error: the model was not read to its end: {cause}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<Diagnostic> for LoadError {
    fn from(diagnostic: Diagnostic) -> LoadError {
        LoadError::Model(Box::new(diagnostic))
    }
}

/// A model as its text describes it.
#[derive(Debug)]
pub enum Opened {
    System(Box<System>),
    /// A model whose processes are only known when it runs.
    Promela(Promela),
    /// A Petri net, coloured ones unfolded.
    Net(Net),
}

/// Reads a model from a file; the language is known by the file's extension, or else by its text.
pub fn open(path: &Path) -> Result<Opened, LoadError> {
    open_with(path, &[])
}

/// Reads a model from a file, with macros that are defined from outside: their names and what they stand for.
pub fn open_with(path: &Path, definitions: &[(String, String)]) -> Result<Opened, LoadError> {
    open_within(path, definitions, &Stop::never())
}

/// The same, as long as there is time and memory.
pub fn open_within(path: &Path, definitions: &[(String, String)], stop: &Stop) -> Result<Opened, LoadError> {
    let format = reading::format_of(path)?;
    if format.language == Some(Language::Aut) {
        // It can be larger than any text that a person writes, and is read piece by piece.
        return read(path, "", Language::Aut, definitions, stop);
    }
    if format.language == Some(Language::Pnml) {
        return open_net(path, definitions, stop);
    }
    let text = reading::read_text(path, format.compressed)?;
    // `.pm` is also what models of PRISM are called.
    if format.language == Some(Language::Promela)
        && let Some(other) = foreign::by_text(path, &text).filter(|_| !text.contains("proctype"))
    {
        return Err(reading::refuse(path, other));
    }
    let language = match format.language {
        Some(language) => language,
        None => reading::guess(path, &text)?,
    };
    read(path, &text, language, definitions, stop)
}

/// Reads a model from a text that stands for what is in a file: the file's name tells the language, and files that the text
/// includes are looked for beside it. This is how a text is read that somebody is writing.
pub fn open_text(path: &Path, text: &str, definitions: &[(String, String)], stop: &Stop) -> Result<Opened, LoadError> {
    if text.is_empty() {
        return Err(reading::refuse(path, "the file is empty"));
    }
    let language = match reading::format_of(path)?.language {
        Some(language) => language,
        None => reading::guess(path, text)?,
    };
    match language {
        Language::Aut | Language::Pnml if !definitions.is_empty() => read(path, text, language, definitions, stop),
        Language::Aut => Ok(Opened::System(Box::new(aut::read_aut(path, text)?))),
        Language::Pnml => Ok(Opened::Net(read_net_text(&path.display().to_string(), text, stop)?)),
        _ => read(path, text, language, definitions, stop),
    }
}

/// Reads a model from a file, in a language that its name need not tell.
pub fn open_as(path: &Path, language: Language) -> Result<Opened, LoadError> {
    if language == Language::Aut {
        return read(path, "", language, &[], &Stop::never());
    }
    if language == Language::Pnml {
        return open_net(path, &[], &Stop::never());
    }
    let compressed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    read(path, &reading::read_text(path, compressed)?, language, &[], &Stop::never())
}

/// Nets are read as a stream and can be of any size.
fn open_net(path: &Path, definitions: &[(String, String)], stop: &Stop) -> Result<Opened, LoadError> {
    match definitions.is_empty() {
        true => Ok(Opened::Net(read_net_within(path, stop)?)),
        false => Err(reading::refuse(
            path,
            "--define sets macros of Promela models, and this is a Petri net\nhelp: leave out --define",
        )),
    }
}

fn read(
    path: &Path,
    text: &str,
    language: Language,
    definitions: &[(String, String)],
    stop: &Stop,
) -> Result<Opened, LoadError> {
    let name = path.display().to_string();
    match language {
        Language::Dve | Language::Aut | Language::Network if !definitions.is_empty() => Err(reading::refuse(
            path,
            "--define sets macros of Promela models, and this model is in another language\nhelp: leave out --define",
        )),
        Language::Aut => Ok(Opened::System(Box::new(aut::open_aut(path)?))),
        Language::Network => Ok(Opened::System(Box::new(aut::open_network(path, text)?))),
        Language::Pnml => open_net(path, definitions, stop),
        Language::Dve => Ok(Opened::System(Box::new(parse_dve(Source::new(name, text))?))),
        Language::Promela => {
            let folder = path.parent().unwrap_or(Path::new("."));
            Ok(Opened::Promela(Promela::new(&name, text, folder, definitions)?))
        }
    }
}

/// Reads a model from a file. Of a model whose processes are only known when it runs, this is the system with room for
/// those that exist at first.
pub fn load(path: &Path) -> Result<System, LoadError> {
    match open(path)? {
        Opened::System(system) => Ok(*system),
        Opened::Promela(mut promela) => Ok(promela.system(false)?),
        Opened::Net(_) => Err(reading::refuse(path, "a Petri net cannot be opened as a system here")),
    }
}
