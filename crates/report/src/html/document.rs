//! The report of `check` and `count`: searches of one model, added one after the other as they end.

use super::{Page, Pictures, Tone, branching, caption, escape, page, pill, searched, table, trace, words};
use crate::chart::{self, Chart};
use crate::number::{count_of, grouped};
use crate::record::Panel;
use crate::trace::Run;
use crate::{Overall, Subject};
use scrimp_core::{PropertyResult, Verdict};
use std::fmt::Write;

/// The command that searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Check,
    Count,
}

/// Rows of a chart that are drawn; of a longer one, the last.
const ROWS: usize = 400;

/// What all steps of the runs that one search found may take of a report, in bytes.
const ROOM: usize = 8 << 20;

/// A report in the making.
#[derive(Debug)]
pub struct Document {
    kind: Kind,
    name: String,
    command: String,
    overall: Option<Overall>,
    /// The rows of the table of properties.
    properties: Vec<Vec<String>>,
    violated: usize,
    undecided: usize,
    /// What decides properties, and how it was searched, as markup.
    evidence: String,
    searches: Vec<(String, String)>,
    caveats: String,
    /// What the verdict rests on, and how much was visited.
    sentences: Vec<(Overall, String)>,
    /// The plan of the first search, as markup.
    plan: Option<String>,
    pictures: Pictures,
    /// The plots that are drawn of each search.
    panels: Vec<Panel>,
}

impl Document {
    /// A report on the model of that name, made by this command line.
    pub fn new(kind: Kind, name: impl Into<String>, command: impl Into<String>) -> Document {
        Document {
            kind,
            name: name.into(),
            command: command.into(),
            overall: None,
            properties: Vec::new(),
            violated: 0,
            undecided: 0,
            evidence: String::new(),
            searches: Vec::new(),
            caveats: String::new(),
            sentences: Vec::new(),
            plan: None,
            pictures: Pictures::default(),
            panels: Panel::ALL.to_vec(),
        }
    }

    /// The same with these plots only.
    pub fn with_panels(self, panels: &[Panel]) -> Document {
        Document { panels: panels.to_vec(), ..self }
    }

    /// Adds a search that has ended; `charts` has one for each property whose run can be drawn.
    pub fn add(&mut self, subject: &Subject, charts: Vec<Option<Chart>>) {
        let overall = Overall::of(subject.report);
        self.overall = Some(self.overall.map_or(overall, |before| before.and(overall)));
        let results = &subject.report.properties;
        let runs = results.iter().filter(|p| p.trace.is_some()).count();
        let mut charts = charts.into_iter();
        for p in results {
            let number = self.properties.len() + 1;
            let chart = charts.next().flatten();
            let told = self.told(subject, p, chart, ROOM / runs.max(1));
            let (tone, word) = words::verdict(p);
            self.violated += (p.verdict == Verdict::Violated) as usize;
            self.undecided += (p.verdict == Verdict::Undecided) as usize;
            let name = format!("<code>{}</code>", escape(&p.name));
            let linked =
                if told.is_empty() { name.clone() } else { format!("<a href=\"#property{number}\">{name}</a>") };
            self.properties.push(vec![pill(tone, word), linked, escape(&words::meaning(subject, p))]);
            if !told.is_empty() {
                let _ = writeln!(
                    self.evidence,
                    "<section class=\"evidence\" id=\"property{number}\">\n<h2>{} {name}</h2>\n{told}</section>",
                    pill(tone, word)
                );
            }
        }
        let sentence = format!("{}. {}", capital(&words::size(subject)), words::guarantee(subject));
        self.sentences.push((overall, sentence));
        self.caveats.push_str(&searched::caveats(subject));
        let title = match results.as_slice() {
            [] => subject.name.to_string(),
            some => some.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", "),
        };
        let searched = self.searched(subject);
        self.searches.push((title, searched));
    }

    /// Adds properties that were not searched for, for this reason.
    pub fn leave(&mut self, names: &[String], why: &str) {
        let (tone, word) = words::UNDECIDED;
        for name in names {
            self.properties.push(vec![pill(tone, word), format!("<code>{}</code>", escape(name)), escape(why)]);
            self.undecided += 1;
        }
    }

    /// Says why there was no search.
    pub fn remark(&mut self, why: &str) {
        let sentence = format!("{}.", capital(why).trim_end_matches('.'));
        self.sentences.push((Overall::Incomplete, sentence));
    }

    /// What shows a property: a run, a tree of runs, a state, or nothing.
    fn told(&mut self, subject: &Subject, p: &PropertyResult, chart: Option<Chart>, room: usize) -> String {
        let model = subject.model;
        let mut out = String::new();
        if let Some(evidence) = &p.evidence {
            out.push_str(&branching::tree(model, evidence));
            return out + &self.drawn(chart);
        }
        let Some(run) = &p.trace else {
            if let Some(state) = &p.state {
                let by = words::by(p);
                let _ = writeln!(
                    out,
                    "<p>{by} this state; there was not enough memory or time to find a run to it.</p>\n{}",
                    trace::state(model, "the state", state, true)
                );
            }
            return out;
        };
        let steps = run.single_steps(model, p.fault_record());
        let again = p.loop_among(&steps);
        let _ = writeln!(
            out,
            "<p>{}</p>",
            escape(&words::shown(p, &Run { model, initial: &run.initial, steps: &steps, again }))
        );
        // A chart that fits on a screen says more than the steps.
        let drawn = self.drawn(chart);
        out.push_str(&drawn);
        out.push_str("<h3>Step by step</h3>\n");
        out.push_str(&trace::state(model, "0 · the initial state", &run.initial, true));
        out.push_str(&trace::steps(model, &run.initial, (&steps, again), room));
        if let Some(record) = p.fault_record() {
            out.push_str(&trace::fault(model, record.event, &model.fault(record)));
        }
        if let Some(fault) = p.condition_fault {
            let _ = writeln!(
                out,
                "<p>Evaluating the property ended in a run-time error there: {}.</p>",
                escape(&fault.to_string())
            );
        }
        let last = steps.last().map_or(&run.initial, |step| &step.state);
        if !steps.is_empty() {
            out.push_str(&trace::state(model, "the last state", last, false));
        }
        out.push_str(&trace::standing(model, last));
        out
    }

    /// The message sequence chart of a run; a tall one is folded, and a very tall one shown by its end.
    fn drawn(&mut self, chart: Option<Chart>) -> String {
        let Some(chart) = chart.filter(|chart| !chart.rows.is_empty() && !chart.lanes.is_empty()) else {
            return String::new();
        };
        let rows = chart.rows.len();
        let chart = chart.last(ROWS);
        let picture = self.pictures.add(&chart::svg(&chart));
        let mut words = "Time runs downwards; a line is a process, an arrow a message.".to_string();
        if rows > ROWS {
            let all = grouped(rows as u64);
            words = format!("{words} These are the last {ROWS} of {all} rows; --chart draws them all.");
        }
        let open = if rows <= 60 { " open=\"\"" } else { "" };
        let figure = caption(&picture, &words);
        format!("<details class=\"chart\"{open}><summary>Message sequence chart</summary>\n{figure}</details>\n")
    }

    /// How a search went.
    fn searched(&mut self, subject: &Subject) -> String {
        let mut out = searched::measured(subject, self.kind);
        let plots = subject.record.map(|record| record.panels(&self.panels)).unwrap_or_default();
        if !plots.is_empty() {
            out.push_str("<h3>How it went</h3>\n");
            out.push_str(&self.pictures.plots(&plots));
        }
        out.push_str("<h3>The plan, and why</h3>\n");
        let plan = searched::plan(subject);
        match &self.plan {
            Some(first) if *first == plan => out.push_str("<p>The same as that of the first search.</p>\n"),
            _ => out.push_str(&plan),
        }
        self.plan.get_or_insert(plan);
        out.push_str(&searched::remarks(subject));
        if let Some(coverage) = &subject.coverage {
            out.push_str(&searched::unreached(coverage));
        }
        out
    }

    /// The text of the file.
    pub fn page(&self) -> String {
        let (tone, verdict) = self.verdict();
        let mut body = self.caveats.clone();
        if !self.properties.is_empty() {
            let mut rows = vec![["verdict", "property", "in words"].map(str::to_string).to_vec()];
            rows.extend(self.properties.iter().cloned());
            let list = table(&[false, false, false], &rows);
            let _ = writeln!(body, "<section>\n<h2>Properties</h2>\n{list}</section>");
        }
        body.push_str(&self.evidence);
        let many = self.searches.len() > 1;
        for (number, (title, searched)) in self.searches.iter().enumerate() {
            let _ = match many {
                true => writeln!(
                    body,
                    "<section>\n<h2>Search {} of {}</h2>\n<p><code>{}</code></p>\n{searched}</section>",
                    number + 1,
                    self.searches.len(),
                    escape(title)
                ),
                false => writeln!(body, "<section>\n<h2>The search</h2>\n{searched}</section>"),
            };
        }
        page(&Page {
            kind: match self.kind {
                Kind::Check => "scrimp check".into(),
                Kind::Count => "scrimp count".into(),
            },
            title: self.name.clone(),
            tone,
            verdict: verdict.into(),
            summary: self.summary(),
            command: self.command.clone(),
            body,
        })
    }

    fn verdict(&self) -> (Tone, &'static str) {
        let Some(overall) = self.overall else { return (Tone::Warn, "incomplete") };
        match (self.kind, overall) {
            (Kind::Count, Overall::Verified) => (Tone::Good, "counted"),
            (Kind::Count, Overall::NoErrorFound) => (Tone::Warn, "counted, at least"),
            _ => words::overall(overall),
        }
    }

    fn summary(&self) -> String {
        let all = self.properties.len();
        let properties = match (self.kind, self.violated, self.undecided) {
            (Kind::Count, ..) => String::new(),
            (_, 0, 0) if all == 1 => "The property is verified. ".into(),
            (_, 0, 0) => {
                format!("All {} verified. ", count_of(all as u64, "property").replace("propertys", "properties"))
            }
            (_, 0, undecided) => format!("{undecided} of {all} undecided. "),
            (_, violated, 0) => format!("{violated} of {all} violated. "),
            (_, violated, undecided) => format!("{violated} of {all} violated, {undecided} undecided. "),
        };
        // The search that decided it has the word; of several, it is said which.
        let decisive = self.sentences.iter().position(|(overall, _)| self.overall == Some(*overall)).unwrap_or(0);
        let sentence = self.sentences.get(decisive).map_or("", |(_, sentence)| sentence);
        match self.searches.len() {
            0 | 1 => format!("{properties}{sentence}"),
            many => format!("{properties}Search {} of {many}: {sentence}", decisive + 1),
        }
    }
}

/// The beginning of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}
