//! A case is one row of the answer: a model under one configuration, run once or searched over a parameter.

use crate::document::{Node, Read, Wrong};
use crate::expect::Expectation;
use crate::models::Model;
use crate::scope::{Scope, Settings};
use crate::search::Search;
use crate::template::words;
use std::path::Path;
use std::time::Duration;

/// Limits as they were written, and what they mean.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub time: Option<(String, Duration)>,
    pub memory: Option<(String, u64)>,
}

#[derive(Debug)]
pub struct Case {
    pub task: String,
    pub model: Model,
    /// What tells it from the other cases of the model.
    pub label: String,
    pub settings: Settings,
    pub kind: Kind,
    pub expect: Vec<Expectation>,
    /// Published values, by field.
    pub paper: Vec<(String, f64)>,
    /// Fields that its task is about, where it names them.
    pub measures: Vec<String>,
    /// It is one of all combinations: that it is refused or meets a limit is part of the answer.
    pub in_matrix: bool,
    /// Figures are shown as percentages of this.
    pub percent_of: Option<f64>,
}

#[derive(Debug)]
pub enum Kind {
    Once(Run),
    Search(Box<Search>),
}

/// One command to run.
#[derive(Debug, Clone)]
pub struct Run {
    pub key: String,
    pub task: String,
    pub model: String,
    pub settings: Settings,
    /// The words after `scrimp`.
    pub command: Vec<String>,
    pub limits: Limits,
    /// Whether its model is there.
    pub present: bool,
}

/// Makes the runs of a case.
#[derive(Debug, Clone)]
pub struct Maker {
    pub task: String,
    pub model: Model,
    pub command: String,
    pub flags: Vec<Node>,
    pub limits: Limits,
    pub scope: Scope,
    pub settings: Settings,
}

impl Maker {
    /// The run with these settings on top of the case's own.
    pub fn run(&self, more: &[(String, String)]) -> Read<Run> {
        let scope = self.scope.with(more);
        let mut flags = Vec::new();
        for node in &self.flags {
            let text = scope.needed_text(node)?;
            flags.extend(words(&text).map_err(|e| Wrong::new(&node.at, e))?);
        }
        let given = |long: &str| flags.iter().any(|f| f == long || f.starts_with(&format!("{long}=")));
        if let Some(flag) = ["--json", "--quiet", "-q"].into_iter().find(|flag| given(flag)) {
            return Err(Wrong::new(&self.flags[0].at, format!("{flag} is not for suites, which read the JSON answer")));
        }
        let (own_time, own_memory) = (given("--time") || given("-t"), given("--memory") || given("-m"));
        let path = self.model.file.as_deref().unwrap_or(Path::new(&self.model.written)).to_string_lossy();
        let mut command = vec![self.command.clone(), path.into_owned()];
        let mut identity =
            vec![self.task.clone(), self.command.clone(), self.model.written.clone(), self.model.digest.clone()];
        identity.extend(flags.iter().cloned());
        command.extend(flags);
        for (flag, own, text) in [
            ("--time", own_time, self.limits.time.as_ref().map(|(text, _)| text)),
            ("--memory", own_memory, self.limits.memory.as_ref().map(|(text, _)| text)),
        ] {
            if let Some(text) = text {
                identity.push(format!("{flag} {text}"));
                if !own {
                    command.extend([flag.to_string(), text.clone()]);
                }
            }
        }
        let settings = [self.settings.as_slice(), more].concat();
        identity.extend(settings.iter().map(|(name, value)| format!("{name}={value}")));
        Ok(Run {
            key: format!("{:016x}", digest(identity.join("\0").as_bytes())),
            task: self.task.clone(),
            model: self.model.name.clone(),
            settings,
            command,
            limits: self.limits.clone(),
            present: self.model.file.is_some(),
        })
    }
}

/// FNV-1a: the same for ever, on every machine.
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ *byte as u64).wrapping_mul(0x100_0000_01b3))
}
