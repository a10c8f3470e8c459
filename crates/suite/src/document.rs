//! A suite file as a tree that remembers places, so that whatever is wrong with it can be shown where it stands.

use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with its place in the text.
#[derive(Debug, Clone)]
pub struct Node {
    pub at: Range<usize>,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
    /// A date; suites have no use for them.
    Other(&'static str),
}

#[derive(Debug, Clone)]
pub struct Key {
    pub at: Range<usize>,
    pub name: String,
}

/// What is wrong with a suite, as bytes of its text; [`Wrong::show`] finds line and column.
#[derive(Debug, Clone)]
pub struct Wrong {
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

pub type Read<T> = Result<T, Wrong>;

impl Wrong {
    pub fn new(at: &Range<usize>, message: impl Into<String>) -> Wrong {
        Wrong { at: at.clone(), message: message.into(), help: None }
    }

    /// The same, where help stands behind the message.
    pub fn said(at: &Range<usize>, message: &str) -> Wrong {
        match message.split_once("\nhelp: ") {
            Some((message, help)) => Wrong::new(at, message).help(help),
            None => Wrong::new(at, message),
        }
    }

    /// Wrong as a whole, in no place of its own.
    pub fn whole(message: impl Into<String>) -> Wrong {
        Wrong::new(&(usize::MAX..usize::MAX), message)
    }

    pub fn help(self, help: impl Into<String>) -> Wrong {
        Wrong { help: Some(help.into()), ..self }
    }

    /// `file:line:column: error: …`, the line, a caret, and help.
    pub fn show(&self, file: &str, text: &str) -> String {
        let help = self.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
        if self.at.start == usize::MAX {
            return format!("{file}: error: {}{help}", self.message);
        }
        let start = (0..=self.at.start.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let (line, column) = (text[..start].matches('\n').count() + 1, text[line_start..start].chars().count() + 1);
        let mut out = format!("{file}:{line}:{column}: error: {}", self.message);
        let shown = text[line_start..].lines().next().unwrap_or("").trim_end();
        if !shown.trim().is_empty() {
            let indent: String = text[line_start..start].chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
            let length = text.get(start..self.at.end).unwrap_or("").lines().next().unwrap_or("").chars().count();
            out.push_str(&format!("\n  {shown}\n  {indent}^{}", "~".repeat(length.saturating_sub(1))));
        }
        out + &help
    }
}

/// Reads the text of a suite.
pub fn parse(text: &str) -> Read<Node> {
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().unwrap_or(0..0);
        Wrong::new(&at, e.message().trim().replace('\n', "; "))
    })?;
    Ok(Node { at: 0..0, value: table_of(table.get_ref()) })
}

fn table_of(table: &DeTable) -> Value {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
        let key: &Spanned<std::borrow::Cow<str>> = key;
        (Key { at: key.span(), name: key.get_ref().to_string() }, node_of(value))
    };
    Value::Table(table.iter().map(entry).collect())
}

fn node_of(value: &Spanned<DeValue>) -> Node {
    let number = |text: &str, radix| match radix {
        10 => text.replace('_', "").parse().unwrap_or(f64::NAN),
        _ => i64::from_str_radix(&text.replace('_', ""), radix).map_or(f64::NAN, |n| n as f64),
    };
    let plain = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => Value::Number(number(n.as_str(), n.radix())),
        DeValue::Float(n) => Value::Number(number(n.as_str(), 10)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Array(list) => Value::List(list.iter().map(node_of).collect()),
        DeValue::Table(table) => table_of(table),
        other => Value::Other(other.type_str()),
    };
    Node { at: value.span(), value: plain }
}

/// A number as a suite would write it.
pub fn plain(n: f64) -> String {
    if n.fract() == 0.0 && n.abs() < 1e15 { format!("{}", n as i64) } else { format!("{n}") }
}

/// What is known where a name is not: the one that was meant, if there is one, and all others.
pub fn known(name: &str, names: &[&str]) -> String {
    let far = |known: &&&str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let near = names.iter().min_by_key(far).filter(|known| far(known) <= (name.chars().count() / 3).clamp(1, 3));
    let meant = near.map_or(String::new(), |known| format!("did you mean `{known}`? "));
    format!("{meant}known here: {}", names.join(", "))
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Value::Text(_) => "a text",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        })
    }
}

impl Node {
    fn expected<T>(&self, what: &str) -> Read<T> {
        Err(Wrong::new(&self.at, format!("expected {what}, found {}", self.value)))
    }

    pub fn text(&self) -> Read<&str> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => self.expected("a text"),
        }
    }

    /// A text, a number or a flag, as the text it stands for in flags and paths.
    pub fn scalar(&self) -> Read<String> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            Value::Number(n) if n.is_finite() => Ok(plain(*n)),
            Value::Number(_) => Err(Wrong::new(&self.at, "this number is out of range")),
            Value::Flag(flag) => Ok(flag.to_string()),
            _ => self.expected("a text or a number"),
        }
    }

    pub fn list(&self) -> Read<&[Node]> {
        match &self.value {
            Value::List(list) => Ok(list),
            _ => self.expected("a list"),
        }
    }

    /// A list, or one value that stands for a list of one.
    pub fn one_or_more(&self) -> Read<&[Node]> {
        match &self.value {
            Value::List(list) if list.is_empty() => Err(Wrong::new(&self.at, "this list is empty")),
            Value::List(list) => Ok(list),
            Value::Table(_) => self.expected("a value or a list of values"),
            _ => Ok(std::slice::from_ref(self)),
        }
    }

    pub fn entries(&self) -> Read<&[(Key, Node)]> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => self.expected("a table"),
        }
    }

    /// A table of which only these keys are known.
    pub fn table(&self, known: &[&str]) -> Read<Table<'_>> {
        let entries = self.entries()?;
        if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            let wrong = Wrong::new(&key.at, format!("unknown key `{}`", key.name));
            return Err(wrong.help(self::known(&key.name, known)));
        }
        Ok(Table { node: self, entries })
    }

    /// Fills up with the entries of another table; tables that both have are filled up key by key.
    pub fn fill_up(&mut self, defaults: &Node) {
        let (Value::Table(ours), Value::Table(theirs)) = (&mut self.value, &defaults.value) else { return };
        for (key, node) in theirs {
            match ours.iter_mut().find(|(k, _)| k.name == key.name) {
                Some((_, ours)) => ours.fill_up(node),
                None => ours.push((key.clone(), node.clone())),
            }
        }
    }
}

/// A table whose keys have been looked through.
#[derive(Debug, Clone, Copy)]
pub struct Table<'n> {
    pub node: &'n Node,
    entries: &'n [(Key, Node)],
}

impl<'n> Table<'n> {
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(k, _)| k.name == key).map(|(_, node)| node)
    }

    pub fn need(&self, key: &str) -> Read<&'n Node> {
        self.get(key).ok_or_else(|| Wrong::new(&self.node.at, format!("`{key}` is missing here")))
    }

    pub fn text(&self, key: &str) -> Read<Option<&'n str>> {
        self.get(key).map(Node::text).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept() {
        let text = "title = \"x\"\n[[task]]\nname = 1\nfoo = [1, 0x1f, 2_000]\n";
        let node = parse(text).unwrap();
        let tasks = node.table(&["title", "task"]).unwrap().get("task").unwrap().list().unwrap();
        let wrong = tasks[0].table(&["name"]).unwrap_err();
        assert_eq!(
            wrong.show("s.toml", text),
            "s.toml:4:1: error: unknown key `foo`\n  foo = [1, 0x1f, 2_000]\n  ^~~\nhelp: known here: name"
        );
        let task = tasks[0].table(&["name", "foo"]).unwrap();
        assert!(
            task.text("name").unwrap_err().show("s", text).starts_with("s:3:8: error: expected a text, found a num")
        );
        let numbers: Vec<String> =
            task.get("foo").unwrap().list().unwrap().iter().map(|n| n.scalar().unwrap()).collect();
        assert_eq!(numbers, ["1", "31", "2000"]);
    }

    #[test]
    fn broken_text_has_a_place() {
        let text = "a = 1\nb = = 2\n";
        assert!(parse(text).unwrap_err().show("s", text).starts_with("s:2:5: error: "));
    }
}
