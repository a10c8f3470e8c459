//! What of a model's text was executed, and what was not: statements, transitions, places, labels.
//!
//! Only a search that has seen every state can say "never"; walks say "not in these walks".

use crate::number::count_of;
use serde_json::{Value, json};
use std::fmt::Write;

/// A list in a report for people ends after so many lines, with how many more there are.
const MOST_LINES: usize = 30;

/// What can be executed, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    pub parts: Vec<Part>,
}

/// All parts of a model's text that are of one kind, those of one owner one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub kind: Kind,
    pub items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Statements of Promela.
    Statement,
    /// Transitions of DVE processes.
    Transition,
    /// Transitions of a Petri net, and its places.
    NetTransition,
    Place,
    /// Labels of a network of labelled transition systems.
    Label,
    /// Actions of a model written in Rust.
    Action,
}

/// A part of the text, and whether it was ever executed, or marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// The process, or process type, that it belongs to; empty where there is none.
    pub owner: String,
    pub file: String,
    /// 0 where there is none.
    pub line: u32,
    /// The number that the language's own tool has for it.
    pub number: Option<u32>,
    pub text: String,
    pub reached: bool,
    /// How often, where that was counted.
    pub times: Option<u64>,
}

/// Who looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A search that has visited every state: what it has not seen does not happen.
    AllStates,
    /// Some runs of many.
    Walks,
}

impl Kind {
    /// One of them.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Statement => "statement",
            Kind::Transition | Kind::NetTransition => "transition",
            Kind::Place => "place",
            Kind::Label => "label",
            Kind::Action => "action",
        }
    }

    /// What was not done to those that are listed.
    fn not_done(self, scope: Scope) -> &'static str {
        match (self, scope) {
            (Kind::Place, Scope::AllStates) => "never marked",
            (Kind::Place, Scope::Walks) => "not marked in these walks",
            (Kind::NetTransition, Scope::AllStates) => "never fired",
            (Kind::NetTransition, Scope::Walks) => "not fired in these walks",
            (Kind::Action, Scope::AllStates) => "never taken",
            (Kind::Action, Scope::Walks) => "not taken in these walks",
            (_, Scope::AllStates) => "never executed",
            (_, Scope::Walks) => "not executed in these walks",
        }
    }
}

impl Item {
    /// What it is and where it stands, for scripts.
    pub(crate) fn json(&self) -> Value {
        json!({
            "process": Some(&self.owner).filter(|owner| !owner.is_empty()),
            "file": self.file,
            "line": self.line,
            "text": self.text,
        })
    }

    /// How often an action was taken, in words.
    pub fn taken(&self) -> String {
        self.times.filter(|times| *times > 0).map_or("never".into(), |times| count_of(times, "time"))
    }
}

impl Part {
    pub fn reached(&self) -> usize {
        self.items.iter().filter(|item| item.reached).count()
    }

    fn unreached(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.reached)
    }

    /// The title of its list of what was not reached.
    pub fn title(&self, scope: Scope) -> String {
        format!("{}s {}", self.kind.word(), self.kind.not_done(scope))
    }

    /// The items of one owner after the other.
    pub fn by_owner(&self) -> impl Iterator<Item = &[Item]> {
        self.items.chunk_by(|a, b| a.owner == b.owner)
    }
}

impl Coverage {
    /// How much of each kind was reached, in a few words; empty where there is nothing to reach.
    pub fn summary(&self) -> String {
        let part =
            |part: &Part| format!("{} of {}", part.reached(), count_of(part.items.len() as u64, part.kind.word()));
        self.parts.iter().filter(|part| !part.items.is_empty()).map(part).collect::<Vec<_>>().join(", ")
    }

    /// What was not reached, for people.
    pub fn text(&self, scope: Scope) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part.kind {
                Kind::Statement => statements(part, scope, &mut out),
                Kind::Action => actions(part, &mut out),
                _ => others(part, scope, &mut out),
            }
        }
        out
    }

    /// Counts by kind, with all that was not reached, for scripts.
    pub fn json(&self, scope: Scope) -> Value {
        let part = |part: &Part| {
            json!({
                "kind": part.kind.word(),
                "total": part.items.len(),
                "reached": part.reached(),
                "unreached": part.unreached().map(Item::json).collect::<Vec<_>>(),
            })
        };
        let scope = match scope {
            Scope::AllStates => "all-states",
            Scope::Walks => "walks",
        };
        json!({ "scope": scope, "parts": self.parts.iter().map(part).collect::<Vec<_>>() })
    }

    /// The statements that were never executed, where the model has statements.
    pub fn statements_json(&self) -> Option<Value> {
        let part = self.parts.iter().find(|part| part.kind == Kind::Statement)?;
        let one = |s: &Item| json!({ "process": s.owner, "file": s.file, "line": s.line, "state": s.number.unwrap_or(0), "statement": s.text });
        Some(part.unreached().map(one).collect())
    }
}

/// Statements by process type, as SPIN lists them.
fn statements(part: &Part, scope: Scope, out: &mut String) {
    let verb = match scope {
        Scope::AllStates => "unreached",
        Scope::Walks => "not executed in these walks,",
    };
    for of_one in part.by_owner() {
        let unreached = of_one.iter().filter(|item| !item.reached);
        if unreached.clone().count() == 0 {
            continue;
        }
        let _ = match of_one[0].owner.as_str() {
            ":init:" => writeln!(out, "{verb} in init"),
            process => writeln!(out, "{verb} in proctype {process}"),
        };
        lines(unreached.clone(), out, |item, out| {
            let _ = match item.number {
                Some(number) => writeln!(out, "\t{}:{}, state {number}, \"{}\"", item.file, item.line, item.text),
                None => writeln!(out, "\t{}:{}, \"{}\"", item.file, item.line, item.text),
            };
        });
        let _ = writeln!(out, "\t({} of {} statements)", unreached.count(), of_one.len());
    }
}

/// Actions, each with how often it was taken.
fn actions(part: &Part, out: &mut String) {
    let _ = writeln!(out, "actions taken: {} of {}", part.reached(), part.items.len());
    lines(part.items.iter(), out, |item, out| {
        let _ = writeln!(out, "\t{}: {}", item.text, item.taken());
    });
}

/// Everything else in one list, nothing where all was reached.
fn others(part: &Part, scope: Scope, out: &mut String) {
    let unreached = part.unreached().count();
    if unreached == 0 {
        return;
    }
    let all = count_of(part.items.len() as u64, part.kind.word());
    let _ = writeln!(out, "{}: {unreached} of {all}", part.title(scope));
    list(part.unreached(), out);
}

/// Items with their places, a line each.
pub(crate) fn list<'i>(items: impl Iterator<Item = &'i Item>, out: &mut String) {
    lines(items, out, |item, out| {
        let owner = if item.owner.is_empty() { String::new() } else { format!("{}: ", item.owner) };
        let _ = match item.line {
            0 => writeln!(out, "\t{owner}{}", item.text),
            line => writeln!(out, "\t{}:{line}, {owner}{}", item.file, item.text),
        };
    });
}

/// The first lines of a list, and how many more there are.
fn lines<'i>(items: impl Iterator<Item = &'i Item>, out: &mut String, line: impl Fn(&Item, &mut String)) {
    let mut more = 0;
    for (number, item) in items.enumerate() {
        if number < MOST_LINES {
            line(item, out);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        let _ = writeln!(out, "\t… and {more} more (--json has all)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(owner: &str, number: u32, reached: bool) -> Item {
        let (file, text) = ("a.pml".into(), format!("x = {number}"));
        Item { owner: owner.into(), file, line: number + 1, number: Some(number), text, reached, times: None }
    }

    #[test]
    fn each_process_type_has_its_list() {
        let items = vec![item("P", 1, true), item("P", 2, false), item(":init:", 1, true)];
        let coverage = Coverage { parts: vec![Part { kind: Kind::Statement, items }] };
        let expected = "unreached in proctype P\n\ta.pml:3, state 2, \"x = 2\"\n\t(1 of 2 statements)\n";
        assert_eq!(coverage.text(Scope::AllStates), expected);
        let walks = coverage.text(Scope::Walks);
        assert!(
            walks.starts_with("not executed in these walks, in proctype P\n") && !walks.contains("init"),
            "{walks}"
        );
        assert_eq!(coverage.summary(), "2 of 3 statements");
        let json = coverage.statements_json().unwrap();
        assert_eq!(json[0]["statement"], "x = 2");
        assert_eq!(json.as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn actions_are_counted() {
        let taken =
            |text: &str, times| Item { text: text.into(), reached: times > 0, times: Some(times), ..Item::default() };
        let items = vec![taken("Lose", 0), taken("Send", 1), taken("Serve", 1234)];
        let coverage = Coverage { parts: vec![Part { kind: Kind::Action, items }] };
        let text = coverage.text(Scope::AllStates);
        assert_eq!(text, "actions taken: 2 of 3\n\tLose: never\n\tSend: 1 time\n\tServe: 1,234 times\n");
        assert_eq!(coverage.json(Scope::AllStates)["parts"][0]["unreached"][0]["text"], "Lose");
    }

    #[test]
    fn a_long_list_is_cut_and_an_empty_one_is_not_there() {
        let items = (0..MOST_LINES as u32 + 7).map(|number| item("", number, false)).collect();
        let long = Coverage { parts: vec![Part { kind: Kind::NetTransition, items }] };
        let text = long.text(Scope::AllStates);
        assert!(text.starts_with("transitions never fired: 37 of 37 transitions\n"), "{text}");
        assert!(text.ends_with("\t… and 7 more (--json has all)\n"), "{text}");
        assert_eq!(long.json(Scope::Walks)["parts"][0]["unreached"].as_array().map(Vec::len), Some(37));
        let full = Coverage { parts: vec![Part { kind: Kind::Place, items: vec![item("", 1, true)] }] };
        assert_eq!(full.text(Scope::AllStates), "");
    }
}
