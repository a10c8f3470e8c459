//! What a value of a log is in the model: a number, a name that stands for one, or what a channel shows.

use crate::fields::plain;
use crate::glob::squeezed;
use crate::mapping::Mapping;
use crate::observed::Is;
use crate::place::and;
use crate::subject::{Names, Quantity, Subject, few};
use scrimp_core::nearest;
use scrimp_system::ConstantValue;
use serde_json::Value;

/// What is wrong with a value, and what helps.
type Wrong = (String, Option<String>);

/// Reads values.
pub(crate) struct Values<'a, 'm> {
    pub subject: &'a Subject<'m>,
    pub mapping: &'a Mapping,
}

impl Values<'_, '_> {
    /// What a value of the log is in the model.
    pub fn read(&self, quantity: &Quantity, value: &Value) -> Result<Is, Wrong> {
        let word = match value {
            Value::String(text) => self.mapping.word(text),
            other => plain(other),
        };
        match (quantity, value) {
            (Quantity::Channel(_), Value::Array(messages)) => {
                let field = |value: &Value| squeezed(&self.mapping.word(&plain(value)));
                let message = |value: &Value| match value {
                    Value::Array(fields) => fields.iter().map(field).collect(),
                    one => vec![field(one)],
                };
                Ok(Is::Messages(messages.iter().map(message).collect()))
            }
            (Quantity::Channel(_), _) => messages(&squeezed(&word)).map(Is::Messages).ok_or_else(|| {
                let help = "it is a list of messages, each of which is a value or a list of values";
                (format!("`{word}` is not what waits in a channel"), Some(help.to_string()))
            }),
            (_, Value::Array(_)) => Err(("a list is no value of this".into(), None)),
            (Quantity::Shown(_), _) => Ok(Is::Text(squeezed(&word))),
            (Quantity::Number { names, .. }, _) => self.number(*names, value, &word).map(Is::Number),
        }
    }

    fn number(&self, names: Names, value: &Value, word: &str) -> Result<i64, Wrong> {
        let Some(system) = self.subject.system() else { return Err(("it has no numbers".into(), None)) };
        let known: Vec<(&str, i64)> = match names {
            Names::Locations(process) => {
                let locations = system.processes[process].locations.iter();
                locations.enumerate().map(|(number, name)| (name.as_str(), number as i64)).collect()
            }
            Names::Table(table) => {
                let names = system.outline.names.get(table as usize).into_iter().flatten();
                names.map(|(number, name)| (name.as_str(), *number)).collect()
            }
            Names::Any => Vec::new(),
        };
        if let Some((_, number)) = known.iter().find(|(name, _)| *name == word) {
            return Ok(*number);
        }
        let truth = value.as_bool().or(match word {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        });
        let whole = word.parse::<i64>().ok().or_else(|| {
            let number = word.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
            Some(number as i64)
        });
        if let (Some(number), false) = (whole.or(truth.map(i64::from)), matches!(names, Names::Locations(_))) {
            return Ok(number);
        }
        let constants = system.constants.iter().filter_map(|constant| match constant.value {
            ConstantValue::Number(number) => Some((constant.name.as_str(), number)),
            ConstantValue::Array(_) => None,
        });
        let tables = system.outline.names.iter().flatten().map(|(number, name)| (name.as_str(), *number));
        let others: Vec<(&str, i64)> = if names == Names::Any { constants.chain(tables).collect() } else { Vec::new() };
        if let Some((_, number)) = others.iter().find(|(name, _)| *name == word) {
            return Ok(*number);
        }
        let all: Vec<&str> = known.iter().chain(&others).map(|(name, _)| *name).collect();
        let help = match nearest(word, all.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if known.is_empty() => None,
            None => Some(format!("values are {}", few(all.into_iter()))),
        };
        let help =
            help.map(|help| and(&help, &format!("A line `word \"{word}\" = …` of a mapping says what is meant")));
        Err((format!("`{word}` is no value of it"), help))
    }
}

/// What is in a channel, as traces show it: `[a,b][c,d]`, or `[]`.
fn messages(text: &str) -> Option<Vec<Vec<String>>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    if inner.is_empty() {
        return Some(Vec::new());
    }
    Some(inner.split("][").map(|message| message.split(',').map(str::to_string).collect()).collect())
}
