//! What a tool is called with, held against what it takes, and made words of a command line.

use crate::tools::Tool;
use scrimp_report::number::{bytes, parse_duration, parse_size};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What an argument is.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Text,
    /// A list of texts.
    Texts,
    /// At most so large.
    Number(u64),
    Flag,
    OneOf(&'static [&'static str]),
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    pub name: &'static str,
    kind: Kind,
    about: &'static str,
    pub needed: bool,
    /// Is it a flag of the command?
    is_flag: bool,
}

impl Argument {
    pub const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Argument {
        Argument { name, kind, about, needed: true, is_flag: false }
    }

    pub const fn flag(name: &'static str, kind: Kind, about: &'static str) -> Argument {
        Argument { name, kind, about, needed: false, is_flag: true }
    }

    pub const fn plain(name: &'static str, kind: Kind, about: &'static str) -> Argument {
        Argument { name, kind, about, needed: false, is_flag: false }
    }

    pub fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Number(u64::MAX) => json!({ "type": "integer", "minimum": 0 }),
            Kind::Number(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        };
        schema["description"] = self.about.into();
        schema
    }

    fn admits(&self, value: &Value) -> Result<(), String> {
        let (fits, expected) = match self.kind {
            Kind::Text => (value.is_string(), "a text".to_string()),
            Kind::Texts => {
                (value.as_array().is_some_and(|all| all.iter().all(Value::is_string)), "a list of texts".into())
            }
            Kind::Number(u64::MAX) => (value.as_u64().is_some(), "a number, 0 or more".into()),
            Kind::Number(most) => {
                (value.as_u64().is_some_and(|number| number <= most), format!("a number from 0 to {most}"))
            }
            Kind::Flag => (value.is_boolean(), "true or false".into()),
            Kind::OneOf(words) => {
                (value.as_str().is_some_and(|word| words.contains(&word)), format!("one of {}", words.join(", ")))
            }
        };
        match fits {
            true => Ok(()),
            false => Err(format!("expected {expected} as `{}`, found {value}", self.name)),
        }
    }
}

/// The most that a run may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub memory: usize,
    pub time: Duration,
}

/// What an agent has said, of arguments that the tool has.
#[derive(Debug)]
pub struct Said {
    tool: Tool,
    values: Map<String, Value>,
}

impl Said {
    pub fn new(tool: Tool, values: Value) -> Result<Said, String> {
        let values = match values {
            Value::Null => Map::new(),
            Value::Object(values) => values,
            other => return Err(format!("expected an object of arguments, found {other}")),
        };
        let known = tool.arguments();
        for (name, value) in &values {
            let Some(argument) = known.iter().find(|argument| argument.name == name) else {
                let far = |argument: &&Argument| strsim::damerau_levenshtein(argument.name, name);
                let near = known.iter().min_by_key(far).filter(|argument| far(argument) <= 3);
                let names: Vec<&str> = known.iter().map(|argument| argument.name).collect();
                let help = near
                    .map_or(format!("it takes {}", names.join(", ")), |near| format!("did you mean `{}`?", near.name));
                return Err(format!("{} has no argument `{name}`\nhelp: {help}", tool.name()));
            };
            argument.admits(value)?;
        }
        match known.iter().find(|argument| argument.needed && !values.contains_key(argument.name)) {
            Some(missing) => Err(format!("{} needs `{}`: {}", tool.name(), missing.name, missing.about)),
            None => Ok(Said { tool, values }),
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.as_u64()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.values.get(name).and_then(Value::as_array);
        texts.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
    }

    /// The flags of a command that was asked for, within bounds.
    pub fn words(&self, bounds: Bounds) -> Result<Vec<String>, String> {
        self.refuse()?;
        let flags = self.tool.arguments().into_iter().filter(|argument| argument.is_flag);
        let mut words = Vec::new();
        for Argument { name, kind, .. } in flags {
            match kind {
                _ if name == "memory" || name == "time" => {}
                Kind::Flag => {
                    words.extend((self.values.get(name) == Some(&Value::Bool(true))).then(|| format!("--{name}")))
                }
                Kind::Texts => words.extend(self.texts(name).iter().map(|text| format!("--{name}={text}"))),
                Kind::Number(_) => words.extend(self.number(name).map(|number| format!("--{name}={number}"))),
                Kind::Text | Kind::OneOf(_) => words.extend(self.text(name).map(|text| format!("--{name}={text}"))),
            }
        }
        let memory = self.memory(bounds)?;
        if memory > bounds.memory {
            let most = bytes(bounds.memory);
            return Err(format!("this server allows at most {most} of memory; ask whoever started it for more"));
        }
        words.push(format!("--memory={memory}B"));
        let time = self.time(bounds)?;
        if time > bounds.time {
            return Err(format!("this server allows at most {} s a run", bounds.time.as_secs()));
        }
        words.push(format!("--time={}ms", time.as_millis().max(1)));
        Ok(words)
    }

    /// The memory that was asked for, or else all that there is.
    pub fn memory(&self, bounds: Bounds) -> Result<usize, String> {
        Ok(self.text("memory").map(parse_size).transpose()?.unwrap_or(bounds.memory))
    }

    /// The time that was asked for, or else what is usual.
    pub fn time(&self, bounds: Bounds) -> Result<Duration, String> {
        Ok(self.text("time").map(parse_duration).transpose()?.unwrap_or(USUAL.min(bounds.time)))
    }

    /// The same call with one more argument, if the tool takes that.
    pub fn with(&self, name: &str, value: &str) -> Option<Said> {
        let argument = self.tool.arguments().into_iter().find(|argument| argument.name == name)?;
        let value = match argument.kind {
            Kind::Number(_) => value.parse::<u64>().ok()?.into(),
            _ => Value::from(value),
        };
        argument.admits(&value).ok()?;
        let mut values = self.values.clone();
        values.insert(name.into(), value);
        Some(Said { tool: self.tool, values })
    }

    /// What would read or write elsewhere, or take memory that is not counted here.
    fn refuse(&self) -> Result<(), String> {
        if self.texts("property").iter().any(|property| property.trim_start().starts_with("hoa:")) {
            return Err("automata in files are not read here".into());
        }
        if self.text("store").is_some_and(|store| store.trim().starts_with("disk")) {
            return Err("--store disk writes files, which this server does not do".into());
        }
        if self.text("order").is_some_and(|order| order.trim().starts_with("best")) {
            return Err(
                "order best needs a heuristic, which is not taken here\nhelp: dfs and random look for errors".into()
            );
        }
        let engine = self.text("engine").unwrap_or("").trim();
        if ["cluster", "gpu"].iter().any(|other| engine.starts_with(other)) {
            return Err(format!("--engine {engine} takes memory beyond that of this server"));
        }
        Ok(())
    }
}

/// How long a run may take where nothing is said.
const USUAL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { memory: 1 << 30, time: Duration::from_secs(600) };

    fn words(tool: Tool, values: Value) -> Result<Vec<String>, String> {
        Said::new(tool, values)?.words(BOUNDS)
    }

    #[test]
    fn arguments_become_flags() {
        let asked = json!({
            "model": "a.pml", "property": ["deadlock", "ltl: [] p"], "keep-going": true, "threads": 2, "time": "5s",
            "memory": "64M", "reduce": "por",
        });
        let flags = words(Tool::Check, asked).unwrap();
        let expected = ["--property=deadlock", "--property=ltl: [] p", "--keep-going", "--reduce=por", "--threads=2"];
        assert_eq!(flags[..5], expected);
        assert_eq!(flags[5..], ["--memory=67108864B".to_string(), "--time=5000ms".to_string()]);
        for tool in [Tool::Count, Tool::Open] {
            let usual = words(tool, json!({ "model": "a.pml" })).unwrap();
            assert_eq!(usual, [format!("--memory={}B", 1 << 30), "--time=60000ms".to_string()]);
        }
        let said = Said::new(Tool::Next, json!({ "model": "a.pml" })).unwrap();
        assert_eq!(said.with("order", "dfs").unwrap().words(BOUNDS).unwrap()[0], "--order=dfs");
        assert!(said.with("disk", "DIR").is_none() && said.with("threads", "many").is_none());
        let many = Said::new(Tool::Simulate, json!({ "model": "a.pml", "steps": 3_000_000 })).unwrap_err();
        assert!(many.contains("from 0 to"), "{many}");
    }

    #[test]
    fn what_is_not_known_or_not_allowed_is_refused() {
        for (values, said) in [
            (json!({}), "needs `model`"),
            (json!([]), "expected an object"),
            (json!({ "model": 3 }), "expected a text as `model`"),
            (json!({ "model": "a", "propertys": [] }), "did you mean `property`?"),
            (json!({ "model": "a", "property": "deadlock" }), "a list of texts"),
            (json!({ "model": "a", "threads": -1 }), "from 0 to 1024"),
            (json!({ "model": "a", "memory": "2G" }), "at most"),
            (json!({ "model": "a", "time": "2h" }), "at most 600 s"),
            (json!({ "model": "a", "time": "soon" }), "soon"),
            (json!({ "model": "a", "store": "disk:/tmp" }), "writes files"),
            (json!({ "model": "a", "engine": "cluster:4" }), "beyond"),
            (json!({ "model": "a", "order": "best" }), "heuristic"),
            (json!({ "model": "a", "property": [" hoa: /etc/passwd"] }), "not read here"),
        ] {
            let refused = words(Tool::Check, values.clone()).unwrap_err();
            assert!(refused.contains(said), "{values}: {refused}");
        }
    }
}
