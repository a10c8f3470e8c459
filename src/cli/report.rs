//! `--report`: what a run found out, as one file for a browser.

use super::args::SearchArgs;
use super::failure::Failure;
use scrimp::NativeModel;
use scrimp::chart::Drawing;
use scrimp::report::Subject;
use scrimp::report::html::{Document, Kind};
use scrimp_search::replace;
use scrimp_suite::template::command_line;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The report of `check` and `count`, in the making.
pub struct ReportFile {
    path: PathBuf,
    document: Document,
}

/// The report that is asked for: what is left to write where a search has to be given up before anything is known.
static ASKED_FOR: Mutex<Option<(PathBuf, Kind, String)>> = Mutex::new(None);

fn asked_for() -> MutexGuard<'static, Option<(PathBuf, Kind, String)>> {
    ASKED_FOR.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl ReportFile {
    /// The report on a model, where one is asked for.
    pub fn new(args: &SearchArgs, kind: Kind, model: &Path) -> Result<Option<ReportFile>, Failure> {
        let Some(path) = args.report.as_deref() else { return Ok(None) };
        is_a_page(path)?;
        let name = model.display().to_string();
        *asked_for() = Some((path.to_path_buf(), kind, name.clone()));
        let document = Document::new(kind, name, command()).with_panels(args.wanted_panels());
        Ok(Some(ReportFile { path: path.to_path_buf(), document }))
    }

    /// Adds a search that has ended, with a chart of each run that it found.
    pub fn add(&mut self, model: &NativeModel, subject: &Subject) {
        let charts = subject.report.properties.iter().map(|p| Some(Drawing::of(model, p)?.chart())).collect();
        self.document.add(subject, charts);
    }

    /// Adds properties that were not searched for, because a violation had ended the work.
    pub fn leave(&mut self, names: &[String], why: &str) {
        self.document.leave(names, why);
    }

    /// Says why there was no search.
    pub fn remark(&mut self, why: &str) {
        self.document.remark(why);
    }

    pub fn write(self) -> Result<(), Failure> {
        write(&self.path, &self.document.page())
    }
}

/// Writes the report of a search that was given up before anything was known.
pub fn write_nothing(why: &str) -> Result<(), Failure> {
    let Some((path, kind, name)) = asked_for().take() else { return Ok(()) };
    let mut document = Document::new(kind, name, command());
    document.remark(why);
    write(&path, &document.page())
}

/// Whether the name is one of a page, so that no model is overwritten: better known now than after a long search.
pub fn is_a_page(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    let why = match ending.as_deref().and_then(OsStr::to_str) {
        _ if path == Path::new("-") => "standard output is for the answer\nhelp: name a file that ends in .html",
        Some("html" | "htm") => return Ok(()),
        _ => "it is a page for a browser\nhelp: its name must end in .html",
    };
    Err(Failure::at(path.display(), format!("the report cannot be written: {why}")))
}

/// Replaces the file at once or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    replace(path, |out| out.write_all(text.as_bytes()))
        .map_err(|e| Failure::at(path.display(), format!("the report cannot be written: {e}")))
}

/// The command as it was given.
pub fn command() -> String {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    format!("scrimp {}", command_line(&words))
}
