//! The fields of a record, by name or by path.

use serde_json::{Map, Value};

/// A value of a log as a text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The field with this name, or at the end of a path such as `body.kind`.
pub(crate) fn find<'v>(record: &'v Map<String, Value>, field: &str) -> Option<&'v Value> {
    record.get(field).or_else(|| {
        let (first, rest) = field.split_once('.')?;
        find(record.get(first)?.as_object()?, rest)
    })
}

/// All fields by their paths, but for one that is looked at elsewhere.
pub(crate) fn flatten<'v>(
    path: &str,
    record: &'v Map<String, Value>,
    but: Option<&str>,
    out: &mut Vec<(String, &'v Value)>,
) {
    for (name, value) in record {
        let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            _ if but == Some(full.as_str()) => {}
            Value::Object(inner) => flatten(&full, inner, but, out),
            value => out.push((full, value)),
        }
    }
}

/// Where in a line the value of a field stands, or the field; the beginning of the line, where that is not found.
pub(crate) fn place_of(line: &str, field: &str, text: &str) -> std::ops::Range<usize> {
    let from = line.find(&format!("\"{field}\"")).unwrap_or(0);
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let behind = (from + field.len() + 2).min(line.len());
    let find = |wanted: &str| line.get(behind..).and_then(|rest| rest.find(wanted)).filter(|_| !wanted.is_empty());
    match find(&quoted).map(|at| (at, quoted.len())).or_else(|| find(text).map(|at| (at, text.len()))) {
        Some((at, length)) => behind + at..behind + at + length,
        None => from..from + 1,
    }
}
