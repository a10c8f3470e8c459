//! What a run may say, held against what the same run says undisturbed.

use crate::program::Ended;
use serde_json::Value;

/// The answer of an undisturbed run.
#[derive(Debug, Clone)]
pub struct Expected {
    pub code: i32,
    json: Value,
}

/// How a disturbed run ended, where nothing is wrong with that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With the answer.
    Same,
    /// It says that it did not come to its end.
    Incomplete,
    /// It says why there is no answer.
    Failed,
}

impl Expected {
    pub fn of(ended: &Ended) -> Result<Expected, String> {
        match ended.code {
            Some(code @ (0 | 1 | 4)) => Ok(Expected { code, json: json(ended)? }),
            _ => Err(format!("undisturbed, the command ends with {:?}: {}{}", ended.code, ended.stdout, ended.stderr)),
        }
    }

    /// Judges a run; what is wrong with it is an error.
    pub fn judge(&self, ended: &Ended) -> Result<Outcome, String> {
        if let Some(signal) = ended.signal {
            return Err(format!("it dies of signal {signal}: {}", ended.stderr));
        }
        if ended.stderr.contains("panicked") {
            return Err(format!("it panics: {}", ended.stderr));
        }
        match ended.code {
            Some(2) if ended.stderr.trim().is_empty() => Err("it ends with 2 and says nothing".into()),
            Some(2) => Ok(Outcome::Failed),
            Some(3) => self.incomplete(&json(ended)?).map(|()| Outcome::Incomplete),
            Some(code) if code == self.code => self.same(&json(ended)?).map(|()| Outcome::Same),
            code => Err(format!("it ends with {code:?}, not {}: {}", self.code, ended.stderr)),
        }
    }

    fn same(&self, json: &Value) -> Result<(), String> {
        let names = ["verdict", "guarantee", "states", "transitions", "deadlocks", "faults", "levels", "level_sizes"];
        // A search that ends where it finds something may have come a little farther.
        let names = if self.code == 1 && json["guarantee"] != "exhaustive" { &names[..1] } else { &names[..] };
        for name in names {
            if json[name] != self.json[name] {
                return Err(format!("{name} is {}, not {}", json[name], self.json[name]));
            }
        }
        match verdicts(json) == verdicts(&self.json) {
            true => Ok(()),
            false => Err(format!("verdicts are {:?}, not {:?}", verdicts(json), verdicts(&self.json))),
        }
    }

    /// What is said before the end is true as far as it goes.
    fn incomplete(&self, json: &Value) -> Result<(), String> {
        if json["verdict"] == "verified" || json["limits"]["reached"].is_null() {
            return Err(format!("it ends with 3, and says {}", json["verdict"]));
        }
        for (name, verdict) in verdicts(json) {
            let expected =
                verdicts(&self.json).into_iter().find(|(known, _)| *known == name).map(|(_, verdict)| verdict);
            if verdict != "undecided" && verdict != "incomplete" && expected.as_ref().is_some_and(|e| *e != verdict) {
                return Err(format!("before its end it says {verdict} of {name}, which is {expected:?}"));
            }
        }
        match (json["states"].as_u64(), self.json["states"].as_u64()) {
            (Some(found), Some(all)) if found > all && self.code != 1 => {
                Err(format!("it has found {found} states, and there are {all}"))
            }
            _ => Ok(()),
        }
    }
}

/// Standard output as what it is to be.
pub fn json(ended: &Ended) -> Result<Value, String> {
    serde_json::from_str(&ended.stdout)
        .map_err(|e| format!("this is no JSON: {e} in {}\n{}", ended.stdout, ended.stderr))
}

fn verdicts(json: &Value) -> Vec<(String, String)> {
    let all = json["properties"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    all.iter().map(|p| (text(&p["name"]), text(&p["verdict"]))).collect()
}
