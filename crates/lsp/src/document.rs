//! A text that is open, and what is known of it.

use crate::names::{Language, Names};
use crate::reader::{Job, Known};
use crate::text::Text;
use scrimp_system::Stop;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Model(Language),
    /// Part of a model: it need not be one by itself.
    Included,
    Properties,
}

impl Form {
    pub fn of(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pml" | "prom" | "promela" | "pm" => Some(Form::Model(Language::Promela)),
            "h" | "inc" => Some(Form::Included),
            "dve" => Some(Form::Model(Language::Dve)),
            "properties" | "props" | "prop" => Some(Form::Properties),
            _ => None,
        }
    }

    pub fn language(self) -> Option<Language> {
        match self {
            Form::Model(language) => Some(language),
            Form::Included => Some(Language::Promela),
            Form::Properties => None,
        }
    }
}

#[derive(Debug)]
pub struct Document {
    pub path: PathBuf,
    pub form: Form,
    pub text: Arc<Text>,
    /// Texts are counted, so that it is known of which something is said.
    pub version: u64,
    /// What is wrong with it.
    pub problems: Vec<Value>,
    pub values: Known,
    names: OnceLock<Arc<Names>>,
    /// Whoever reads it ends when it has changed.
    stop: Stop,
}

impl Document {
    pub fn new(path: PathBuf, form: Form, text: Text, version: u64) -> Document {
        let (text, names) = (Arc::new(text), OnceLock::new());
        let (values, stop) = (Known::default(), Stop::never());
        Document { path, form, text, version, problems: Vec::new(), values, names, stop }
    }

    /// Its names, which are found when somebody asks.
    pub fn names(&self) -> Arc<Names> {
        let found = || self.form.language().map(|language| Names::of(&self.text.text, language)).unwrap_or_default();
        self.names.get_or_init(|| Arc::new(found())).clone()
    }

    pub fn job(&self, uri: &str) -> Job {
        Job {
            uri: uri.to_string(),
            version: self.version,
            path: self.path.clone(),
            is_model: self.form != Form::Properties,
            text: self.text.clone(),
            values: self.values.clone(),
            stop: self.stop.clone(),
        }
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        self.stop.ask();
    }
}
