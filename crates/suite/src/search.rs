//! The smallest value of a parameter with which a run is accepted, such as the smallest cache that suffices.
//!
//! Values go from `from` to `to` in steps, in percent of a base or absolute. At each value all variants of the inner
//! sweep are tried; among those accepted the one with the least of `best` (visits) counts. The search goes up from
//! `from` and ends at the first value that is accepted, which is the smallest whatever acceptance looks like above it.
//! With a hint where to `start` it goes down from there while runs are accepted, and up otherwise; that finds the same
//! value only if every value above an accepted one would be accepted too.

use crate::case::{Maker, Run};
use crate::document::{Node, Read, Wrong};
use crate::expect::{Expectation, Test, expectations};
use crate::expression::is_name;
use crate::record::{Outcome, Record, Tried};
use crate::scope::{Scope, Settings, combinations};
use crate::suite::of_base;
use serde_json::{Map, Value as Json};

#[derive(Debug)]
pub struct Search {
    pub parameter: String,
    /// Ascending.
    values: Vec<u64>,
    /// Which of the values to begin with.
    start: Option<usize>,
    accept: Vec<Expectation>,
    best: String,
    /// Whether the first accepted variant of a value ends that value.
    first: bool,
    variants: Vec<Settings>,
    maker: Maker,
}

/// What runs a command, once or not at all: `None` when the user has asked to stop.
pub type Perform<'a> = &'a dyn Fn(&Run, Option<&dyn Fn(&Record) -> Tried>) -> Option<Record>;

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The best run.
    pub record: Option<Record>,
    /// A run that was not accepted, to show why where none was.
    pub failed: Option<Record>,
    pub runs: usize,
    pub crashed: usize,
}

const STEPS_AT_MOST: usize = 100_000;

impl Search {
    /// `None` where the base is an open cell.
    pub fn read(node: &Node, variants: Option<&Node>, maker: Maker) -> Read<Option<Search>> {
        let table = node.table(&["parameter", "base", "from", "step", "to", "start", "accept", "best", "settle"])?;
        let scope = &maker.scope;
        let parameter = table.need("parameter")?;
        if !is_name(parameter.text()?) {
            return Err(Wrong::new(&parameter.at, "a parameter's name is letters, digits, dots and underscores"));
        }
        let base = match table.get("base") {
            None => 1.0,
            Some(node) => match scope.number(node)? {
                Some(base) => base,
                None => return Ok(None),
            },
        };
        let Some(from) = of_base(table.need("from")?, scope, base)? else { return Ok(None) };
        let step_node = table.need("step")?;
        let (Some(step), Some(to)) = (of_base(step_node, scope, base)?, of_base(table.need("to")?, scope, base)?)
        else {
            return Ok(None);
        };
        if !(step > 0.0 && from >= 0.0 && to >= from) || (to - from) / step > STEPS_AT_MOST as f64 {
            return Err(Wrong::new(
                &step_node.at,
                format!("expected from <= to and a positive step, found from {from} to {to} in steps of {step}"),
            ));
        }
        let values = grid(from, step, to);
        let hint = table.get("start").map(|node| of_base(node, scope, base)).transpose()?.flatten();
        let start = hint.map(|hint| values.iter().position(|v| *v as f64 >= hint - 1e-6).unwrap_or(values.len() - 1));
        let first = match table.text("settle")? {
            None | Some("best") => false,
            Some("first") => true,
            Some(other) => {
                let message = format!("expected best or first, found {other}");
                return Err(Wrong::new(&table.need("settle")?.at, message));
            }
        };
        let search = Search {
            parameter: parameter.text()?.to_string(),
            values,
            start,
            accept: accepted(table.get("accept"), scope)?,
            best: table.text("best")?.unwrap_or("visits").to_string(),
            first,
            variants: combinations(variants)?,
            maker,
        };
        // All commands are alike: if the first can be made, the others can.
        for variant in &search.variants {
            search.run(search.values[0], variant)?;
        }
        Ok(Some(search))
    }

    fn run(&self, value: u64, variant: &Settings) -> Read<Run> {
        let mut more = vec![(self.parameter.clone(), value.to_string())];
        more.extend(variant.iter().cloned());
        self.maker.run(&more)
    }

    /// A command as an example.
    pub fn first_run(&self) -> Option<Run> {
        self.run(self.values[0], &self.variants[0]).ok()
    }

    /// How it would be told in a list.
    pub fn describe(&self) -> String {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let variants =
            if self.variants.len() > 1 { format!(", {} variants each", self.variants.len()) } else { String::new() };
        format!("{} from {first} to {last}, {} values{variants}", self.parameter, self.values.len())
    }

    pub fn go(&self, perform: Perform) -> Option<Found> {
        let mut found = Found { record: None, failed: None, runs: 0, crashed: 0 };
        let start = self.start.unwrap_or(0);
        found.record = self.try_value(start, perform, &mut found)?;
        if found.record.is_some() {
            for i in (0..start).rev() {
                let Some(smaller) = self.try_value(i, perform, &mut found)? else { break };
                found.record = Some(smaller);
            }
        } else {
            for i in start + 1..self.values.len() {
                if found.record.is_some() || found.hopeless() {
                    break;
                }
                found.record = self.try_value(i, perform, &mut found)?;
            }
        }
        Some(found)
    }

    /// All variants at one value: the best of those accepted. The outer `None` says that the user asked to stop.
    fn try_value(&self, i: usize, perform: Perform, found: &mut Found) -> Option<Option<Record>> {
        let mut best: Option<Record> = None;
        for variant in &self.variants {
            let Ok(run) = self.run(self.values[i], variant) else { continue };
            let record = perform(&run, Some(&|record| self.tried(self.values[i], variant, record)))?;
            found.runs += 1;
            found.crashed += (record.outcome == Outcome::Crashed) as usize;
            if !self.accepts(&record) {
                found.fail(record);
                continue;
            }
            let measure = |r: &Record| r.number(&self.best).unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|b| measure(&record) < measure(b)) {
                best = Some(record);
            }
            if self.first {
                break;
            }
        }
        Some(best)
    }

    fn accepts(&self, record: &Record) -> bool {
        self.accept.iter().all(|e| e.complaint(record).is_none())
    }

    fn tried(&self, value: u64, variant: &Settings, record: &Record) -> Tried {
        let variant: Map<String, Json> = variant.iter().map(|(n, v)| (n.clone(), v.clone().into())).collect();
        let (parameter, best) = (self.parameter.clone(), self.best.clone());
        Tried { parameter, value, variant, accepted: self.accepts(record), best }
    }
}

impl Found {
    /// Keeps the latest run that was not accepted; one that was refused only while there is no other.
    fn fail(&mut self, record: Record) {
        if self.hopeless() || !refused(&record) {
            self.failed = Some(record);
        }
    }

    /// Whether every run so far was refused, or its model is not there: another value will not help.
    fn hopeless(&self) -> bool {
        self.failed.as_ref().is_none_or(refused)
    }
}

fn refused(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Refused | Outcome::Skipped)
}

/// What makes a run acceptable; a run that did not come to its end never is, unless the suite speaks of outcomes.
fn accepted(node: Option<&Node>, scope: &Scope) -> Read<Vec<Expectation>> {
    let mut accept = expectations(node, scope)?;
    if accept.iter().all(|e| e.field != "outcome") {
        accept.push(Expectation { field: "outcome".into(), test: Test::Text(Outcome::Done.to_string()) });
    }
    Ok(accept)
}

/// The values from `from` to `to`, rounded up to whole numbers, each once. Rounding errors do not add up.
fn grid(from: f64, step: f64, to: f64) -> Vec<u64> {
    let up = |value: f64| (value - 1e-6).ceil().max(0.0) as u64;
    let mut values: Vec<u64> =
        (0..).map(|i| from + i as f64 * step).take_while(|value| *value <= to + 1e-6).map(up).collect();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::grid;

    #[test]
    fn grids() {
        assert_eq!(grid(0.05 * 33.0, 0.05 * 33.0, 0.2 * 33.0), [2, 4, 5, 7]);
        assert_eq!(grid(1.0, 0.25, 2.0), [1, 2]);
        assert_eq!(grid(50.0, 50.0, 1000.0).len(), 20);
    }
}
