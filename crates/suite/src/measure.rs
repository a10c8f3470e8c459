//! What a task is about: fields of its results that are compared, averaged and drawn.

use crate::case::{Case, Kind};
use crate::expect::Test;
use crate::record::Outcome;
use crate::runner::Row;
use crate::summary::Rows;
use crate::table::complaints;
use scrimp_report::plot::{Axis, Unit};

pub const TIME: &str = "wall_seconds";
pub const MEMORY: &str = "peak_rss_bytes";

/// The fields that a task is about: those that it names, or else those with published values, a parameter that is searched for, and
/// what has bounds. What must be an exact value is a check and no figure.
pub fn fields(rows: &Rows) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    let mut add = |field: &str| {
        if !fields.iter().any(|known| known == field) {
            fields.push(field.to_string());
        }
    };
    for (case, _) in rows {
        if !case.measures.is_empty() {
            case.measures.iter().for_each(|field| add(field));
            continue;
        }
        case.paper.iter().for_each(|(field, _)| add(field));
        if let Kind::Search(search) = &case.kind {
            add(&search.parameter);
        }
        case.expect.iter().filter(|e| matches!(e.test, Test::Bounds { .. })).for_each(|e| add(&e.field));
    }
    if fields.is_empty() {
        fields = vec!["stored_peak".into(), "visits".into()];
    }
    fields
}

/// A run that counts: it came to its end, and nothing is wrong with it.
pub fn is_solved((case, row): &(&Case, &Row)) -> bool {
    row.record.outcome == Outcome::Done && row.found() && complaints(case, row).is_empty()
}

/// The figure of a run that counts, as a percentage where its task says so.
pub fn value(field: &str, (case, row): &(&Case, &Row)) -> Option<f64> {
    is_solved(&(case, row)).then(|| row.record.number(field)).flatten().map(|value| value * scale(field, case))
}

/// What others have published for a run, on the same scale.
pub fn published(field: &str, case: &Case) -> Option<f64> {
    case.paper.iter().find(|(name, _)| name == field).map(|(_, value)| value * scale(field, case))
}

fn scale(field: &str, case: &Case) -> f64 {
    match &case.percent_of {
        Some(whole) if unit(field) == Unit::Count => 100.0 / whole,
        _ => 1.0,
    }
}

pub fn unit(field: &str) -> Unit {
    match field {
        _ if field.ends_with("seconds") => Unit::Seconds,
        "bytes_per_state" => Unit::Count,
        _ if field.ends_with("_bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

/// A field in words.
pub fn label(field: &str) -> String {
    match field {
        TIME => "time".into(),
        MEMORY => "memory".into(),
        "stored_peak" => "states stored at most".into(),
        "bytes_per_state" => "bytes a state".into(),
        other => other.rsplit('.').next().unwrap_or(other).replace('_', " "),
    }
}

/// The axis of a field, with more about what is on it.
pub fn axis(field: &str, rows: &Rows, more: &str) -> Axis {
    let percent = unit(field) == Unit::Count && rows.iter().any(|(case, _)| case.percent_of.is_some());
    let label = label(field);
    match percent {
        true => Axis::linear(format!("{label}, percent{more}"), Unit::Count),
        false => Axis::log(format!("{label}{more}"), unit(field)),
    }
}

/// What is too little to be measured is taken for just that.
pub fn at_least(field: &str, value: f64) -> f64 {
    value.max(match unit(field) {
        Unit::Seconds => 1e-3,
        _ => f64::MIN_POSITIVE,
    })
}

/// Rows by configuration, in the order in which they come.
pub fn by_configuration<'r>(rows: &Rows<'r>) -> Vec<(String, Rows<'r>)> {
    let mut groups: Vec<(String, Rows)> = Vec::new();
    for (case, row) in rows {
        let name = if case.label.is_empty() { "all" } else { &case.label };
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, rows)) => rows.push((case, row)),
            None => groups.push((name.to_string(), vec![(case, row)])),
        }
    }
    groups
}
