//! Two results files held against each other: what is wrong, what got worse, what got better.
//!
//! A case is known by its task, its model and its settings. Values that a correct tool cannot change (the number of
//! states, the verdict) must be equal wherever both runs came to their end. What a run costs may change; a change
//! beyond the threshold is reported. A search over a parameter is one case, judged by the smallest accepted value.

use crate::record::{Outcome, Record};
use scrimp_report::number::{bytes, grouped};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Values that must not change.
const EQUAL: [&str; 4] = ["verdict", "states", "transitions", "deadlocks"];

/// Seconds below which times differ by chance.
pub(crate) const INSTANT: f64 = 0.05;

/// What a run costs: the field, and a difference below which it is noise.
const COSTS: [(&str, f64); 4] =
    [("wall_seconds", INSTANT), ("stored_peak", 0.0), ("visits", 0.0), ("peak_rss_bytes", (2 << 20) as f64)];

#[derive(Debug)]
pub struct Change {
    pub name: String,
    pub field: String,
    pub before: Json,
    pub after: Json,
}

#[derive(Debug, Default)]
pub struct Comparison {
    pub wrong: Vec<Change>,
    pub worse: Vec<Change>,
    pub better: Vec<Change>,
    pub new: Vec<String>,
    pub gone: Vec<String>,
    /// Cases that both have.
    pub common: usize,
}

/// A case with its fastest run; for a search, with its best.
type Cases<'a> = BTreeMap<String, &'a Record>;

/// Compares; `threshold` is the relative change that matters, such as 0.1.
pub fn compare(before: &[Record], after: &[Record], threshold: f64) -> Comparison {
    let mut out = Comparison::default();
    let (old, new) = (runs(before), runs(after));
    for (name, b) in &new {
        match old.get(name) {
            Some(a) => {
                out.common += b.tried.is_none() as usize;
                pair(&mut out, name, a, b, threshold);
            }
            None if b.tried.is_none() => out.new.push(name.clone()),
            None => {}
        }
    }
    out.gone =
        old.iter().filter(|(name, a)| a.tried.is_none() && !new.contains_key(*name)).map(|(n, _)| n.clone()).collect();
    let (old, new) = (searches(before), searches(after));
    for (name, best) in &new {
        match old.get(name) {
            Some(earlier) => {
                out.common += 1;
                searched(&mut out, name, *earlier, *best, threshold);
            }
            None => out.new.push(name.clone()),
        }
    }
    out.gone.extend(old.keys().filter(|name| !new.contains_key(*name)).cloned());
    out
}

/// A case of two results files, with the run of each that counts.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    pub name: String,
    pub before: Option<&'a Record>,
    pub after: Option<&'a Record>,
}

/// All cases that one of two results files has.
pub fn pairs<'a>(before: &'a [Record], after: &'a [Record]) -> Vec<Pair<'a>> {
    let cases = |records: &'a [Record]| {
        let single =
            runs(records).into_iter().filter(|(_, run)| run.tried.is_none()).map(|(name, run)| (name, Some(run)));
        single.chain(searches(records)).collect::<BTreeMap<_, _>>()
    };
    let (old, new) = (cases(before), cases(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of = |cases: &BTreeMap<String, Option<&'a Record>>, name: &String| cases.get(name).copied().flatten();
    names.into_iter().map(|name| Pair { name: name.clone(), before: of(&old, name), after: of(&new, name) }).collect()
}

fn pair(out: &mut Comparison, name: &str, a: &Record, b: &Record, threshold: f64) {
    let change = |field: &str, before: Json, after: Json| Change {
        name: name.to_string(),
        field: field.to_string(),
        before,
        after,
    };
    if a.outcome != b.outcome {
        let change = change("outcome", a.outcome.to_string().into(), b.outcome.to_string().into());
        match (a.outcome, b.outcome) {
            (Outcome::Done, _) => out.worse.push(change),
            (_, Outcome::Done) => out.better.push(change),
            (_, Outcome::Crashed) => out.worse.push(change),
            _ => {}
        }
        return;
    }
    if a.outcome != Outcome::Done {
        return;
    }
    for field in EQUAL {
        if let (Some(before), Some(after)) = (a.field(field), b.field(field))
            && before != after
        {
            out.wrong.push(change(field, before, after));
        }
    }
    // What is tried in a search is judged as a whole.
    if a.tried.is_some() && b.tried.is_some() {
        return;
    }
    for (field, noise) in COSTS {
        if let (Some(before), Some(after)) = (a.number(field), b.number(field))
            && (after - before).abs() > noise
        {
            let change = || change(field, a.field(field).unwrap_or_default(), b.field(field).unwrap_or_default());
            if after > before * (1.0 + threshold) {
                out.worse.push(change());
            } else if after < before * (1.0 - threshold) {
                out.better.push(change());
            }
        }
    }
}

/// The best runs of a search, before and after; `None` where nothing was accepted.
fn searched(out: &mut Comparison, name: &str, a: Option<&Record>, b: Option<&Record>, threshold: f64) {
    let value = |r: Option<&Record>| r.and_then(|r| r.tried.as_ref()).map_or(u64::MAX, |t| t.value);
    let shown = |r: Option<&Record>| if r.is_some() { value(r).into() } else { Json::from("none") };
    let field = a.or(b).and_then(|r| r.tried.as_ref()).map_or(String::new(), |t| t.parameter.clone());
    let change = Change { name: name.to_string(), field, before: shown(a), after: shown(b) };
    match value(a).cmp(&value(b)) {
        std::cmp::Ordering::Less => out.worse.push(change),
        std::cmp::Ordering::Greater => out.better.push(change),
        std::cmp::Ordering::Equal => {
            let measure = |r: Option<&Record>| r.and_then(|r| r.number(&r.tried.as_ref()?.best));
            if let (Some(before), Some(after)) = (measure(a), measure(b)) {
                let best = a.and_then(|r| r.tried.as_ref()).map_or(String::new(), |t| t.best.clone());
                let change = Change { field: best, before: before.into(), after: after.into(), ..change };
                if after > before * (1.0 + threshold) {
                    out.worse.push(change);
                } else if after < before * (1.0 - threshold) {
                    out.better.push(change);
                }
            }
        }
    }
}

/// Every run by its name. What was recorded last counts (a model or its limits may have changed since); of its
/// repetitions, the fastest.
fn runs(records: &[Record]) -> Cases<'_> {
    let mut cases: Cases = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome != Outcome::Skipped) {
        let entry = cases.entry(name(record, &record.settings)).or_insert(record);
        let order = |r: &Record| (r.outcome != Outcome::Done, r.wall_seconds);
        if record.key != entry.key || order(record) < order(entry) {
            *entry = record;
        }
    }
    cases
}

/// Every search by its name, with its best run.
fn searches(records: &[Record]) -> BTreeMap<String, Option<&Record>> {
    let mut cases: BTreeMap<String, Option<&Record>> = BTreeMap::new();
    for record in runs(records).into_values() {
        let Some(tried) = &record.tried else { continue };
        let outer =
            record.settings.iter().filter(|(name, _)| **name != tried.parameter && !tried.variant.contains_key(*name));
        let outer: Map<String, Json> = outer.map(|(name, value)| (name.clone(), value.clone())).collect();
        let entry = cases.entry(name(record, &outer)).or_default();
        let order = |r: &Record| {
            let tried = r.tried.as_ref().expect("only tried records come here");
            (tried.value, r.number(&tried.best).unwrap_or(f64::INFINITY))
        };
        if tried.accepted && entry.is_none_or(|best| order(record) < order(best)) {
            *entry = Some(record);
        }
    }
    cases
}

fn name(record: &Record, settings: &Map<String, Json>) -> String {
    let mut words = vec![format!("{}: {}", record.task, record.model)];
    words.extend(settings.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("?"))));
    words.join(" ")
}

impl Comparison {
    /// For people: what is wrong first.
    pub fn text(&self, threshold: f64) -> String {
        let mut out = String::new();
        for (word, changes) in [("wrong", &self.wrong), ("worse", &self.worse), ("better", &self.better)] {
            for c in changes {
                let (before, after) = (figure(&c.field, &c.before), figure(&c.field, &c.after));
                let _ = write!(out, "{word:<6} {}: {} {before} -> {after}", c.name, c.field);
                match (c.before.as_f64(), c.after.as_f64()) {
                    (Some(a), Some(b)) if word != "wrong" && a > 0.0 => {
                        let _ = writeln!(out, " ({:+.0} %)", (b / a - 1.0) * 100.0);
                    }
                    _ => out.push('\n'),
                }
            }
        }
        for (word, names) in [("new", &self.new), ("gone", &self.gone)] {
            for name in names {
                let _ = writeln!(out, "{word:<6} {name}");
            }
        }
        let (wrong, worse, better) = (self.wrong.len(), self.worse.len(), self.better.len());
        let _ = writeln!(
            out,
            "{} in both: {wrong} wrong, {worse} worse, {better} better (by more than {} %); {} new, {} gone",
            scrimp_report::number::count_of(self.common as u64, "case"),
            crate::document::plain(threshold * 100.0),
            self.new.len(),
            self.gone.len(),
        );
        out
    }

    pub fn json(&self, threshold: f64) -> Json {
        let list = |changes: &[Change]| -> Vec<Json> {
            let object = |c: &Change| json!({ "case": c.name, "field": c.field, "before": c.before, "after": c.after });
            changes.iter().map(object).collect()
        };
        json!({
            "schema": scrimp_report::schema::COMPARISON,
            "wrong": list(&self.wrong),
            "worse": list(&self.worse),
            "better": list(&self.better),
            "new": self.new,
            "gone": self.gone,
            "common": self.common,
            "threshold": threshold,
        })
    }
}

pub(crate) fn figure(field: &str, value: &Json) -> String {
    match (field, value.as_u64(), value.as_f64(), value.as_str()) {
        ("peak_rss_bytes", Some(n), _, _) => bytes(n as usize),
        ("wall_seconds", _, Some(n), _) => format!("{n:.2} s"),
        (_, Some(n), _, _) => grouped(n),
        (_, _, Some(n), _) => crate::document::plain(n),
        (_, _, _, Some(text)) => text.to_string(),
        _ => value.to_string(),
    }
}
