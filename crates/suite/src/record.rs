//! What one run left behind: a line of the results file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::fmt;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With an answer.
    Done,
    TimedOut,
    OutOfMemory,
    /// Incomplete for another reason, which is in `limits.reached`.
    Limit,
    /// The flags or the model were not accepted.
    Refused,
    /// By a signal, a panic, or without an answer.
    Crashed,
    /// The model is not there.
    Skipped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Done => "done",
            Outcome::TimedOut => "timed-out",
            Outcome::OutOfMemory => "out-of-memory",
            Outcome::Limit => "limit",
            Outcome::Refused => "refused",
            Outcome::Crashed => "crashed",
            Outcome::Skipped => "skipped",
        })
    }
}

/// The place of a run in a search over a parameter.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    pub parameter: String,
    pub value: u64,
    /// The settings that are tried at each value.
    pub variant: Map<String, Json>,
    pub accepted: bool,
    /// The field that decides among accepted runs of one value.
    pub best: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// What must be the same for a run not to be repeated.
    pub key: String,
    pub task: String,
    pub model: String,
    /// The values of the sweep, of the parameter searched over included.
    pub settings: Map<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Tried>,
    /// Which repetition, from 1.
    pub round: usize,
    /// The words after `scrimp`.
    pub command: Vec<String>,
    pub outcome: Outcome,
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub wall_seconds: f64,
    pub peak_rss_bytes: Option<u64>,
    /// A digest of the program that ran.
    pub build: String,
    /// What it said when it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The object that `--json` printed, or null.
    pub result: Json,
}

impl Record {
    /// A field by its name: a setting, something about the run itself, or a dotted path into the result.
    pub fn field(&self, name: &str) -> Option<Json> {
        if let Some(setting) = self.settings.get(name) {
            let number = setting.as_str().and_then(|text| text.parse::<f64>().ok());
            return Some(number.map_or_else(|| setting.clone(), Json::from));
        }
        match name {
            "outcome" => return Some(self.outcome.to_string().into()),
            "exit" => return self.exit.map(Json::from),
            "wall_seconds" => return Some(self.wall_seconds.into()),
            "peak_rss_bytes" => return self.peak_rss_bytes.map(Json::from),
            _ => {}
        }
        let mut value = &self.result;
        for part in name.split('.') {
            value = value.get(part)?;
        }
        (!value.is_null()).then(|| value.clone())
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.field(name)?.as_f64()
    }
}
