//! What names stand for: the suite's variables, then the cells of the model's row, then the values of the sweep; what
//! comes later hides what came before.

use crate::document::{Node, Read, Wrong};
use crate::expression::{NoValue, evaluate};
use crate::template::fill;

/// A value for each name of a sweep.
pub type Settings = Vec<(String, String)>;

#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// `None` is a cell that its table leaves open.
    values: Vec<(String, Option<String>)>,
}

impl Scope {
    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.values.push((name.to_string(), value));
    }

    pub fn with(&self, settings: &[(String, String)]) -> Scope {
        let mut scope = self.clone();
        settings.iter().for_each(|(name, value)| scope.set(name, Some(value.clone())));
        scope
    }

    pub fn get(&self, name: &str) -> Result<String, NoValue> {
        match self.values.iter().rev().find(|(n, _)| n == name) {
            Some((_, Some(value))) => Ok(value.clone()),
            Some((_, None)) => Err(NoValue::Open),
            None => {
                let mut known: Vec<&str> = self.values.iter().map(|(n, _)| n.as_str()).collect();
                known.dedup();
                Err(NoValue::Because(match scrimp_core::nearest(name, known.iter().copied()) {
                    Some(near) => format!("unknown name `{name}`\nhelp: did you mean `{near}`?"),
                    None => format!("unknown name `{name}`\nhelp: known names are {}", known.join(", ")),
                }))
            }
        }
    }

    /// A text with `${…}` filled in; `None` where it uses an open cell.
    pub fn text(&self, node: &Node) -> Read<Option<String>> {
        optional(node, fill(&node.scalar()?, &|name| self.get(name)))
    }

    /// The same where an open cell makes no sense.
    pub fn needed_text(&self, node: &Node) -> Read<String> {
        self.text(node)?
            .ok_or_else(|| Wrong::new(&node.at, "this uses a cell that is empty (`-`) in the table of models"))
    }

    /// A number or an expression; `None` where it uses an open cell.
    pub fn number(&self, node: &Node) -> Read<Option<f64>> {
        let Some(text) = self.text(node)? else { return Ok(None) };
        optional(node, evaluate(&text, &|name| self.get(name)))
    }
}

fn optional<T>(node: &Node, result: Result<T, NoValue>) -> Read<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(NoValue::Open) => Ok(None),
        Err(NoValue::Because(message)) => Err(Wrong::said(&node.at, &message)),
    }
}

/// Every combination of `{ name = [values] }`, the first name changing slowest; a list of such tables is all of each.
pub fn combinations(node: Option<&Node>) -> Read<Vec<Settings>> {
    let Some(node) = node else { return Ok(vec![Vec::new()]) };
    if let Ok(tables) = node.list() {
        let each = tables.iter().map(|table| combinations(Some(table))).collect::<Read<Vec<_>>>()?;
        return Ok(each.concat());
    }
    let mut all: Vec<Settings> = vec![Vec::new()];
    for (key, values) in node.entries()? {
        if !crate::expression::is_name(&key.name) {
            return Err(Wrong::new(
                &key.at,
                "a name is letters, digits, dots and underscores, and begins with a letter",
            ));
        }
        let values = values.one_or_more()?.iter().map(Node::scalar).collect::<Read<Vec<_>>>()?;
        let longer = |start: Settings| {
            let name = &key.name;
            values.iter().map(move |value| [start.clone(), vec![(name.clone(), value.clone())]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    Ok(all)
}
