//! Rules with places for what a record says: `{field}`, and `*` for what a `*` on the left stood for.
//!
//! A rule is read first and filled then: what a log says is never part of the rule's language.

use crate::fields::{find, plain};
use crate::glob::squeezed;
use crate::log::Line;
use crate::mapping::Mapping;

/// Characters that stand for the values, by their numbers: some that nobody uses.
const FIRST: u32 = 0x10_0000;
const LAST: u32 = 0x10_fffd;

/// A rule's text with marks in it. Value 0 is what `*` stood for, the others are those of the fields in their order.
pub(crate) struct Template {
    pub text: String,
    fields: Vec<String>,
}

impl Template {
    /// Where the left has a `*`, those on the right repeat what it stands for.
    pub fn new(right: &str, repeats: bool) -> Template {
        let (mut text, mut fields, mut rest) = (String::new(), Vec::new(), right);
        let plain = |part: &str| match repeats {
            true => part.replace('*', &mark(0)),
            false => part.to_string(),
        };
        while let Some((begin, behind)) = rest.split_once('{') {
            let Some((field, end)) = behind.split_once('}') else { break };
            fields.push(field.trim().to_string());
            text.push_str(&plain(begin));
            text.push_str(&mark(fields.len()));
            rest = end;
        }
        text.push_str(&plain(rest));
        Template { text, fields }
    }

    /// The values in a record; fails with the name of a field that is missing.
    pub fn values(&self, stands: &str, mapping: &Mapping, line: &Line) -> Result<Vec<String>, String> {
        let value = |field: &String| match find(&line.record, field) {
            Some(value) if !value.is_null() => Ok(mapping.word(&plain(value))),
            _ => Err(field.clone()),
        };
        [Ok(stands.to_string())].into_iter().chain(self.fields.iter().map(value)).collect()
    }
}

fn mark(number: usize) -> String {
    u32::try_from(number).ok().and_then(|number| char::from_u32(FIRST + number)).map(String::from).unwrap_or_default()
}

/// Does the character stand for a value?
pub(crate) fn is_mark(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// The text with the values.
pub(crate) fn filled(text: &str, values: &[String]) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match values.get((u32::from(c).wrapping_sub(FIRST)) as usize) {
            Some(value) if is_mark(c) => out.push_str(value),
            _ => out.push(c),
        }
    }
    out
}

/// The same, where spaces make no difference.
pub(crate) fn fill(text: &str, values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| squeezed(value)).collect();
    filled(text, &values)
}
