//! What a run should say: values of fields, exact or within bounds, and values that others have published.

use crate::document::{Key, Node, Read, Value, Wrong, plain};
use crate::record::Record;
use crate::scope::Scope;
use serde_json::Value as Json;

/// One field of a result and what it should be.
#[derive(Debug, Clone)]
pub struct Expectation {
    pub field: String,
    pub test: Test,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Number(f64),
    Text(String),
    Bounds { at_least: Option<f64>, at_most: Option<f64> },
}

/// Whole numbers below this one are exact as floating-point numbers.
pub const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

const BOUNDS: [&str; 4] = ["at-least", "at-most", "about", "within"];

impl Expectation {
    /// `None` when the record agrees, and otherwise what is wrong.
    pub fn complaint(&self, record: &Record) -> Option<String> {
        let found = record.field(&self.field);
        let shown = match &found {
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "null".to_string(),
        };
        let number = found.as_ref().and_then(Json::as_f64);
        let holds = match &self.test {
            Test::Number(n) => number == Some(*n),
            Test::Text(text) => *text == shown,
            Test::Bounds { at_least, at_most } => {
                number.is_some_and(|n| at_least.is_none_or(|least| n >= least) && at_most.is_none_or(|most| n <= most))
            }
        };
        (!holds).then(|| format!("{} is {shown}, not {}", self.field, self.test))
    }
}

impl std::fmt::Display for Test {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Test::Number(n) => f.write_str(&plain(*n)),
            Test::Text(text) => f.write_str(text),
            Test::Bounds { at_least: Some(least), at_most: Some(most) } => {
                write!(f, "{} to {}", plain(*least), plain(*most))
            }
            Test::Bounds { at_least, at_most } => {
                at_least.iter().try_for_each(|n| write!(f, "at least {}", plain(*n)))?;
                at_most.iter().try_for_each(|n| write!(f, "at most {}", plain(*n)))
            }
        }
    }
}

/// Reads a table of expectations. Those that use an open cell are left out.
pub fn expectations(node: Option<&Node>, scope: &Scope) -> Read<Vec<Expectation>> {
    let mut out = Vec::new();
    for (field, node) in fields(node)? {
        let test = match &node.value {
            Value::Table(_) => bounds(node, scope)?,
            Value::Number(n) => Some(Test::Number(*n)),
            _ => scope.text(node)?.map(|text| match text.parse::<f64>() {
                // A longer number would be rounded: it must agree digit by digit.
                Ok(n) if n.abs() < EXACT => Test::Number(n),
                _ => Test::Text(text),
            }),
        };
        out.extend(test.map(|test| Expectation { field, test }));
    }
    Ok(out)
}

/// Reads a table of published values. Those that use an open cell are left out.
pub fn published(node: Option<&Node>, scope: &Scope) -> Read<Vec<(String, f64)>> {
    let mut out = Vec::new();
    for (field, node) in fields(node)? {
        if let Value::Table(_) = &node.value {
            return Err(Wrong::new(&node.at, "a published value is a number")
                .help("bounds go under `expect`, which may use the same expressions"));
        }
        out.extend(scope.number(node)?.map(|value| (field, value)));
    }
    Ok(out)
}

fn bounds(node: &Node, scope: &Scope) -> Read<Option<Test>> {
    let table = node.table(&BOUNDS)?;
    let number = |key: &str| table.get(key).map(|node| scope.number(node)).transpose();
    let (about, within) = (table.get("about"), table.get("within"));
    if about.is_some() != within.is_some() {
        return Err(
            Wrong::new(&node.at, "`about` and `within` go together").help("write { about = 1000, within = \"1 %\" }")
        );
    }
    if about.is_some() {
        let (Some(Some(value)), Some(Some(part))) = (number("about")?, number("within")?) else { return Ok(None) };
        let slack = value.abs() * part;
        return Ok(Some(Test::Bounds { at_least: Some(value - slack), at_most: Some(value + slack) }));
    }
    let (at_least, at_most) = (number("at-least")?, number("at-most")?);
    if at_least == Some(None) || at_most == Some(None) {
        return Ok(None);
    }
    Ok(Some(Test::Bounds { at_least: at_least.flatten(), at_most: at_most.flatten() }))
}

/// The entries with the dotted names of their fields: `forget.evictions = 3` is one field.
fn fields(node: Option<&Node>) -> Read<Vec<(String, &Node)>> {
    fn collect<'n>(prefix: &str, entries: &'n [(Key, Node)], out: &mut Vec<(String, &'n Node)>) {
        for (key, node) in entries {
            let name = format!("{prefix}{}", key.name);
            match &node.value {
                Value::Table(inner) if inner.iter().all(|(key, _)| !BOUNDS.contains(&key.name.as_str())) => {
                    collect(&format!("{name}."), inner, out);
                }
                _ => out.push((name, node)),
            }
        }
    }
    let mut out = Vec::new();
    if let Some(node) = node {
        collect("", node.entries()?, &mut out);
    }
    Ok(out)
}
