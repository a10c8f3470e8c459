//! Why something cannot be decided, or not even begun.

use scrimp_lang::{Diagnostic, LoadError};
use scrimp_native::BuildError;
use scrimp_search::Refusal;
use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub enum CheckError {
    /// The model, or something else that has to be read.
    Load(Box<LoadError>),
    /// The model cannot be run.
    Build(BuildError),
    /// The options do not go together, with what is asked, or with the model.
    Refused(Refusal),
    /// A search could not begin or go on.
    Search(io::Error),
    /// What is asked cannot be: why.
    Asked(String),
}

impl CheckError {
    /// What is wrong with a file.
    pub fn file(path: &Path, problem: impl fmt::Display) -> CheckError {
        LoadError::File { path: path.into(), problem: problem.to_string() }.into()
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Load(error) => error.fmt(f),
            CheckError::Build(error) => error.fmt(f),
            CheckError::Refused(refusal) => refusal.fmt(f),
            CheckError::Search(error) => error.fmt(f),
            CheckError::Asked(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<LoadError> for CheckError {
    fn from(error: LoadError) -> CheckError {
        CheckError::Load(Box::new(error))
    }
}

impl From<Diagnostic> for CheckError {
    fn from(diagnostic: Diagnostic) -> CheckError {
        LoadError::from(diagnostic).into()
    }
}

impl From<BuildError> for CheckError {
    fn from(error: BuildError) -> CheckError {
        CheckError::Build(error)
    }
}

impl From<Refusal> for CheckError {
    fn from(refusal: Refusal) -> CheckError {
        CheckError::Refused(refusal)
    }
}

impl From<io::Error> for CheckError {
    fn from(error: io::Error) -> CheckError {
        CheckError::Search(error)
    }
}
