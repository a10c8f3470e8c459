//! What random walks have found, for people and for scripts.

use crate::coverage::{Coverage, Scope};
use crate::number::{count_of, grouped, rate};
use crate::text::{evidence, verdict_word};
use crate::{Overall, Style, json, schema};
use scrimp_core::{Limit, PropertyResult, Verdict};
use scrimp_system::Describe;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// What came of walks.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The walks asked for, the most events of each, and the seed of the first.
    pub walks: u64,
    pub steps: u64,
    pub seed: u64,
    /// Walks that were made, up to the one that ended the work, and the events of all; not told where one ended the work.
    pub made: u64,
    pub events: Option<u64>,
    /// The walk that violated something, or else that showed something.
    pub found: Option<FoundBy>,
    pub properties: Vec<PropertyResult>,
    /// What the model asks of its runs, which walks cannot decide.
    pub left_out: Vec<String>,
    /// The limit that ended the walks.
    pub limit: Option<Limit>,
    pub coverage: Coverage,
    pub elapsed: Duration,
}

/// A walk that decided a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBy {
    /// Counted from one.
    pub walk: u64,
    pub seed: u64,
    /// Events that it had made by then.
    pub steps: u64,
    pub violates: bool,
}

impl Simulation {
    /// Walks verify only what a run can show.
    pub fn overall(&self) -> Overall {
        let every = |verdict: Verdict| self.properties.iter().all(|p| p.verdict == verdict);
        match self.properties.iter().any(|p| p.verdict == Verdict::Violated) {
            true => Overall::Violated,
            false if !self.properties.is_empty() && every(Verdict::Verified) => Overall::Verified,
            false if self.limit.is_some() => Overall::Incomplete,
            false => Overall::NoErrorFound,
        }
    }

    /// The answer for people.
    pub fn text(&self, name: &str, model: &dyn Describe, style: Style) -> String {
        let overall = self.overall();
        let word = match overall {
            Overall::Verified => style.good(overall.word()),
            Overall::Violated => style.bad(overall.word()),
            Overall::Incomplete => style.warn(overall.word()),
            Overall::NoErrorFound => style.warn(&format!("no error found in {}", count_of(self.made, "walk"))),
        };
        let mut out = format!("{name}: {word}\n");
        for p in &self.properties {
            let _ = writeln!(out, "  {}  {}", verdict_word(p.verdict, style), p.name);
        }
        for name in &self.left_out {
            let _ = writeln!(
                out,
                "  {}  {name}  (walks decide nothing about infinite runs)",
                verdict_word(Verdict::Undecided, style)
            );
        }
        for p in &self.properties {
            out.push_str(&evidence(model, p, style));
        }
        // Where a violation ended the work, most was not tried.
        let unreached = self.coverage.text(Scope::Walks);
        if !unreached.is_empty() && overall != Overall::Violated {
            let _ = write!(out, "\n{unreached}");
        }
        out.push('\n');
        if let Some(found) = &self.found {
            let _ = writeln!(
                out,
                "found by walk {} of {} after {}; once more: --walks 1 --steps {} --seed {}",
                grouped(found.walk),
                grouped(self.walks),
                count_of(found.steps, "event"),
                self.steps,
                found.seed,
            );
        }
        let _ = write!(out, "{}", count_of(self.made, "walk"));
        if let Some(events) = self.events {
            let rate = rate(events, self.elapsed);
            let _ = write!(out, ", {} ({rate})", count_of(events, "event"));
        }
        let _ = write!(out, " in {:.2} s", self.elapsed.as_secs_f64());
        let covered = self.coverage.summary();
        let _ = writeln!(out, "{}", if covered.is_empty() { covered } else { format!("; reached: {covered}") });
        match overall {
            Overall::NoErrorFound => out.push_str("Walks see some of the states: this verifies nothing.\n"),
            Overall::Incomplete => {
                let why = match self.limit {
                    Some(Limit::Time) => "the time limit is over",
                    Some(Limit::Interrupt) => "it was interrupted",
                    Some(Limit::Tokens) => "a place has more tokens than can be counted",
                    _ => "the memory budget is used up",
                };
                let _ = writeln!(
                    out,
                    "{} {why}: no error found in {}, of {} asked for.",
                    style.warn("Stopped:"),
                    count_of(self.made, "walk"),
                    grouped(self.walks)
                );
            }
            _ => {}
        }
        out
    }

    /// The answer for scripts.
    pub fn json(&self, name: &str, model: &dyn Describe) -> Value {
        let overall = self.overall();
        let guarantee = match overall {
            Overall::Violated => "counterexample",
            Overall::Verified => "witness",
            _ => "none",
        };
        let found = self.found.as_ref().map(|f| json!({ "walk": f.walk, "seed": f.seed, "steps": f.steps }));
        let left = self
            .left_out
            .iter()
            .map(|name| json::property(model, &PropertyResult::undecided(name), Overall::Incomplete));
        let properties: Vec<Value> =
            self.properties.iter().map(|p| json::property(model, p, overall)).chain(left).collect();
        json!({
            "schema": schema::SIMULATION,
            "model": name,
            "verdict": overall.word(),
            "guarantee": guarantee,
            "walks": self.made,
            "walks_asked_for": self.walks,
            "steps": self.steps,
            "seed": self.seed,
            "events_run": self.events,
            "found": found,
            "properties": properties,
            "coverage": self.coverage.json(Scope::Walks),
            "seconds": self.elapsed.as_secs_f64(),
            "limits": { "reached": self.limit.map(json::limit_word) },
        })
    }
}
