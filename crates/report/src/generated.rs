//! Runs that were generated to cover a model, for people and for programs that drive an implementation with them.

use crate::coverage::{Item, list};
use crate::json::limit_word;
use crate::number::{count_of, grouped};
use crate::trace::{self, Run, itf};
use crate::{Style, schema};
use scrimp_core::{Limit, PropertyResult};
use scrimp_system::Describe;
use serde_json::{Value, json};
use std::fmt::Write;
use std::str::FromStr;
use std::time::Duration;

/// A list of runs for people ends after so many.
const MOST_RUNS: usize = 20;

/// What is covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cover {
    /// Transitions of processes or of a net, labels of a network.
    #[default]
    Transitions,
    /// Statements of Promela.
    Statements,
    /// Two of these, one executed by a step and the other by the next.
    Pairs,
    /// Conditions on states.
    Goals,
}

impl FromStr for Cover {
    type Err = String;

    fn from_str(word: &str) -> Result<Cover, String> {
        let all = [Cover::Transitions, Cover::Statements, Cover::Pairs, Cover::Goals];
        let found = all.into_iter().find(|cover| cover.word() == word);
        found.ok_or_else(|| "unknown value\nhelp: choose from: transitions, statements, pairs, goals".to_string())
    }
}

impl Cover {
    /// As it is asked for.
    pub fn word(self) -> &'static str {
        match self {
            Cover::Transitions => "transitions",
            Cover::Statements => "statements",
            Cover::Pairs => "pairs",
            Cover::Goals => "goals",
        }
    }
}

/// How a run is written for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// As `--trace` writes it.
    #[default]
    Json,
    /// The Informal Trace Format.
    Itf,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(word: &str) -> Result<Form, String> {
        match word {
            "json" => Ok(Form::Json),
            "itf" => Ok(Form::Itf),
            _ => Err("unknown value\nhelp: choose from: json, itf".to_string()),
        }
    }
}

/// What came of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Covered,
    /// No run executes it: all states were visited.
    Unreachable,
    /// It is executed, and no step comes before it or after it that would make a pair.
    Alone,
    /// It was not met within the limits, or only in steps that end in a run-time error: nothing is proven of it.
    NotReached,
}

/// An item, and the runs that cover it, counted from 1.
#[derive(Debug, Clone)]
pub struct Covered {
    pub item: Item,
    pub status: Status,
    pub runs: Vec<usize>,
}

/// Two items, by their numbers from 0 on, of which one follows the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub first: usize,
    pub second: usize,
    pub runs: Vec<usize>,
}

/// Runs that cover a model.
#[derive(Debug, Clone)]
pub struct Suite {
    pub cover: Cover,
    /// What one item is called.
    pub kind: &'static str,
    pub items: Vec<Covered>,
    /// The pairs that were met, all of which are covered, where these are what is covered.
    pub pairs: Vec<Pair>,
    /// Each with its run.
    pub runs: Vec<PropertyResult>,
    /// It is proven that no fewer runs cover the same.
    pub fewest: bool,
    pub states: u64,
    pub transitions: u64,
    /// The limit that ended the search for states.
    pub limit: Option<Limit>,
    pub elapsed: Duration,
}

impl Suite {
    /// Is everything covered that can be, and proven that nothing else can?
    pub fn is_complete(&self) -> bool {
        self.limit.is_none() && self.with(Status::NotReached).next().is_none()
    }

    fn with(&self, status: Status) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |covered| covered.status == status).map(|covered| &covered.item)
    }

    /// The pairs of items that were met, and never follow each other as far as is known.
    fn apart(&self) -> usize {
        let met = self.items.len() - self.with(Status::Unreachable).count() - self.with(Status::NotReached).count();
        met * met - self.pairs.len()
    }

    /// What is covered, of what, in words.
    fn summary(&self) -> String {
        let all = count_of(self.items.len() as u64, self.kind);
        match self.cover {
            Cover::Pairs => {
                let pairs = count_of(self.pairs.len() as u64, "pair");
                format!(
                    "{pairs} of {}s, all that {}",
                    self.kind,
                    if self.limit.is_some() { "were met" } else { "there are" }
                )
            }
            _ => format!("{} of {all}", self.with(Status::Covered).count()),
        }
    }

    /// The answer for people.
    pub fn text(&self, name: &str, style: Style) -> String {
        let steps = |run: &PropertyResult| run.trace.as_ref().map_or(0, |trace| trace.steps.len()) as u64;
        let fewest = match (self.runs.len(), self.fewest) {
            (0 | 1, _) => "",
            (_, true) => "; no fewer runs can",
            (_, false) => "; the fewest found",
        };
        let covered = match self.is_complete() {
            true => style.good("covered"),
            false => style.warn("covered so far"),
        };
        let all = count_of(self.runs.iter().map(steps).sum(), "step");
        let runs = count_of(self.runs.len() as u64, "run");
        let mut out = format!("{name}: {covered}: {}, by {runs} of {all}{fewest}\n", self.summary());
        for (number, run) in self.runs.iter().enumerate().take(MOST_RUNS) {
            let has = match self.cover {
                Cover::Pairs => {
                    let pairs = self.pairs.iter().filter(|pair| pair.runs.contains(&(number + 1))).count();
                    count_of(pairs as u64, "pair")
                }
                _ => {
                    let items = self.items.iter().filter(|item| item.runs.contains(&(number + 1))).count();
                    count_of(items as u64, self.kind)
                }
            };
            let _ = writeln!(out, "  {}: {}, {has}", run.name, count_of(steps(run), "step"));
        }
        if let Some(more @ 1..) = self.runs.len().checked_sub(MOST_RUNS) {
            let _ = writeln!(out, "  … and {more} more");
        }
        for (status, what) in [
            (Status::Unreachable, "unreachable: no run of the model has them"),
            (Status::Alone, "in no pair: nothing comes before or after them"),
            (Status::NotReached, "not reached, and not proven unreachable"),
        ] {
            let many = self.with(status).count();
            if many > 0 {
                let _ = writeln!(out, "{}s {what}: {many} of {}", self.kind, grouped(self.items.len() as u64));
                list(self.with(status), &mut out);
            }
        }
        if self.cover == Cover::Pairs {
            let never = if self.limit.is_some() { "not met so far" } else { "never follow each other" };
            let _ = writeln!(out, "other pairs of these {}s {never}: {}", self.kind, grouped(self.apart() as u64));
        }
        let _ = writeln!(
            out,
            "\n{}, {} in {:.2} s",
            count_of(self.states, "state"),
            count_of(self.transitions, "transition"),
            self.elapsed.as_secs_f64()
        );
        if let Some(limit) = self.limit {
            let why = match limit {
                Limit::Time => "the time limit is over",
                Limit::Interrupt => "it was interrupted",
                Limit::Tokens => "a place has more tokens than can be counted",
                _ => "the memory budget is used up",
            };
            let _ = writeln!(out, "{} {why}: states that were not visited may have more.", style.warn("Stopped:"));
        }
        out
    }

    /// All of it as one object, with the runs in this form.
    pub fn json(&self, name: &str, model: &dyn Describe, form: Form) -> Value {
        let item = |covered: &Covered| {
            let mut told = covered.item.json();
            told["status"] = match covered.status {
                Status::Covered => "covered",
                Status::Unreachable => "unreachable",
                Status::Alone => "alone",
                Status::NotReached => "not-reached",
            }
            .into();
            told["runs"] = covered.runs.clone().into();
            told
        };
        let pair = |pair: &Pair| json!({ "first": pair.first, "second": pair.second, "runs": pair.runs });
        let run = |run: &PropertyResult| {
            let key = if form == Form::Itf { "itf" } else { "trace" };
            let mut told = json!({ "name": run.name });
            told[key] = self.run(run, name, model, form);
            told
        };
        json!({
            "schema": schema::RUNS,
            "model": name,
            "cover": self.cover.word(),
            "complete": self.is_complete(),
            "fewest": self.fewest,
            "limit": self.limit.map(limit_word),
            "items": self.items.iter().map(item).collect::<Vec<_>>(),
            "pairs": (self.cover == Cover::Pairs).then(|| self.pairs.iter().map(pair).collect::<Vec<_>>()),
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "states": self.states,
            "transitions": self.transitions,
            "seconds": self.elapsed.as_secs_f64(),
        })
    }

    /// Each run as a document of its own, in this form, which other tools read.
    pub fn documents(&self, name: &str, model: &dyn Describe, form: Form) -> Vec<Value> {
        let one = |run: &PropertyResult| match form {
            Form::Json => trace::document(model, run, name, None).unwrap_or_default(),
            Form::Itf => self.run(run, name, model, form),
        };
        self.runs.iter().map(one).collect()
    }

    fn run(&self, run: &PropertyResult, name: &str, model: &dyn Describe, form: Form) -> Value {
        let told = match (form, &run.trace, run.single_steps(model)) {
            (Form::Itf, Some(trace), Some(steps)) => {
                let about = format!("{} of {}, to cover {}", run.name, self.runs.len(), self.cover.word());
                Some(itf(&Run { model, initial: &trace.initial, steps: &steps, again: None }, name, &about))
            }
            _ => trace::json(model, run),
        };
        told.unwrap_or_default()
    }
}
