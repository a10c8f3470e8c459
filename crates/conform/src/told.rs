//! The answer for people, and for scripts.

use crate::answer::{Conformance, Recorded, Verdict};
use crate::mapping::Unseen;
use crate::sequences::Source;
use crate::why::{Parting, Reason};
use scrimp_core::{Limit, PropertyResult, Step};
use scrimp_report::number::{count_of, grouped};
use scrimp_report::trace::{self, Columns, Row, beginning, rows, state_json, state_lines};
use scrimp_report::{Style, json, schema};
use scrimp_system::Describe;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Steps of a run that are shown in any case; of longer ones the first and the last.
const SHORT: usize = 40;
const FIRST: usize = 8;
const LAST: usize = 24;
/// Events that could happen that are shown, and characters of a record.
const COULD: usize = 12;
const RECORD: usize = 300;

impl Conformance {
    /// The exit code of the command: 0 for a run, 1 for none, 3 where that is not known.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Conforms => 0,
            Verdict::Differs => 1,
            Verdict::Incomplete(_) => 3,
        }
    }

    /// The run as a result that can be drawn and written.
    pub fn result(&self) -> PropertyResult {
        let mut result = PropertyResult::undecided("the log");
        result.trace = self.run.as_ref().map(|run| run.trace.clone());
        result
    }

    /// The answer for people.
    pub fn text(&self, name: &str, model: &dyn Describe, style: Style) -> String {
        let logs = self.logs.join(", ");
        let matched = count_of(self.matched, "record");
        let mut out = match self.verdict {
            Verdict::Conforms => format!("{logs}: {} of {name}\n", style.good("a run")),
            Verdict::Differs => format!("{logs}: {} of {name}\n", style.bad("no run")),
            Verdict::Incomplete(_) => format!("{logs}: {}\n", style.warn("incomplete")),
        };
        match (&self.verdict, &self.parting) {
            (Verdict::Incomplete(limit), _) => {
                let fit = if self.matched == 1 { "fits" } else { "fit" };
                let _ = writeln!(out, "  {matched} {fit} so far; {}", why(*limit));
            }
            (_, Some(parting)) => self.tell_parting(parting, model, style, &mut out),
            _ => {
                let _ = writeln!(out, "  {matched}{}{}", self.steps(), self.left_out());
            }
        }
        if let Some(run) = &self.run {
            let title = if self.parting.is_some() { "the run up to there" } else { "the run" };
            let _ = writeln!(out, "\n{title}:");
            self.tell_run(run, model, style, &mut out);
        }
        if !self.unknown.is_empty() {
            let field = |(field, near): &(String, Option<String>)| match near {
                Some(near) => format!("{field} (did you mean `{near}`?)"),
                None => field.clone(),
            };
            let fields: Vec<String> = self.unknown.iter().map(field).collect();
            let _ = writeln!(out, "\nfields that say nothing of the model: {}", fields.join(", "));
        }
        let _ = writeln!(
            out,
            "\n{} in {:.2} s; at most {} at once",
            count_of(self.matched, "record"),
            self.elapsed.as_secs_f64(),
            count_of(self.peak as u64, "possible state"),
        );
        out
    }

    fn steps(&self) -> String {
        let Some(run) = &self.run else { return String::new() };
        let steps = count_of(run.trace.steps.len() as u64, "step");
        match run.unseen() {
            0 => format!(", {steps}"),
            unseen => format!(", {steps}, {} of them not logged", grouped(unseen as u64)),
        }
    }

    fn left_out(&self) -> String {
        match self.skipped {
            0 => String::new(),
            skipped => format!("; {} skipped", count_of(skipped, "record")),
        }
    }

    fn tell_parting(&self, parting: &Parting, model: &dyn Describe, style: Style, out: &mut String) {
        let Parting { records, states, possible, reasons, could } = parting;
        let matched = count_of(self.matched, "record");
        let fit = if self.matched == 1 { "fits" } else { "fit" };
        let next = if records.len() == 1 { "the next one does not" } else { "none of the next ones does" };
        let _ = writeln!(out, "  {matched} {fit}{}{}; {next}:", self.steps(), self.left_out());
        for (log, line, text) in records {
            let text = match text.char_indices().nth(RECORD) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.clone(),
            };
            let _ = writeln!(out, "  {}  {text}", style.bold(&format!("{}:{line}", self.logs[*log])));
        }
        if !reasons.is_empty() {
            let _ = writeln!(out, "\nwhat it may mean, and why that does not happen:");
        }
        let mut before = None;
        for Reason { event, file, line, why } in reasons {
            if before != Some((event, line)) {
                let _ = writeln!(out, "  {}", style.bold(event));
            }
            let place = if *line > 0 { format!("{file}:{line}: ") } else { String::new() };
            let _ = writeln!(out, "    {}{why}", style.faint(&place));
            before = Some((event, line));
        }
        let in_all = count_of(*possible as u64, "state");
        let these = if states.len() < *possible { format!(", such as these {}", states.len()) } else { String::new() };
        let _ = writeln!(out, "\nthe model may be in {in_all} by then{these}:");
        for (i, state) in states.iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            out.push_str(&state_lines(model, state, style));
        }
        match could.len() {
            0 => out.push_str("nothing can happen there\n"),
            all => {
                let _ = writeln!(out, "what can happen there:");
                for label in could.iter().take(COULD) {
                    let _ = writeln!(out, "  {label}");
                }
                if all > COULD {
                    let _ = writeln!(out, "  and {} others", all - COULD);
                }
            }
        }
        if self.unseen == Unseen::Most(0) {
            out.push_str("where not every step is logged, --unseen N allows N steps between two records, or any\n");
        }
    }

    fn tell_run(&self, run: &Recorded, model: &dyn Describe, style: Style, out: &mut String) {
        let Recorded { trace, records } = run;
        let all = trace.steps.len();
        let hidden = if all > SHORT { FIRST..all - LAST } else { all..all };
        let shown = (0..all).filter(|step| !hidden.contains(step));
        let mut parts: Vec<(usize, Vec<Row>)> = Vec::new();
        for step in shown {
            let before = if step == 0 { &trace.initial } else { &trace.steps[step - 1].1 };
            let (code, after) = &trace.steps[step];
            let single = |(event, state)| Step { event, state, edge: None };
            let singles: Vec<Step> = model.steps(before, *code, after).into_iter().map(single).collect();
            let mut told = rows(model, step + 1, before, &singles);
            for (number, row) in told.iter_mut().enumerate() {
                let here = records[step].iter().filter(|(single, _)| *single == number);
                row.details.splice(0..0, here.map(|(_, source)| self.place(*source)));
            }
            if let (true, Some(first)) = (records[step].is_empty(), told.first_mut()) {
                first.details.insert(0, "(not logged)".into());
            }
            parts.push((step, told));
        }
        let mut columns = Columns::new(style);
        parts.iter().for_each(|(_, part)| columns.expect(part));
        out.push_str(&beginning(model, &trace.initial, &columns));
        for (step, part) in &parts {
            if *step == hidden.end && !hidden.is_empty() {
                let between = count_of(hidden.len() as u64, "step");
                out.push_str(&columns.remark(&format!("… {between}; --trace FILE writes all of them …")));
            }
            out.push_str(&columns.lines(part));
        }
    }

    /// Where a record stands.
    fn place(&self, (log, line): Source) -> String {
        match self.logs.len() {
            1 => format!("(line {line})"),
            _ => format!("({}:{line})", self.logs[log]),
        }
    }

    /// The answer for scripts.
    pub fn json(&self, name: &str, model: &dyn Describe) -> Value {
        let verdict = match self.verdict {
            Verdict::Conforms => "conforms",
            Verdict::Differs => "differs",
            Verdict::Incomplete(_) => "incomplete",
        };
        let limit = match self.verdict {
            Verdict::Incomplete(limit) => Some(json::limit_word(limit)),
            _ => None,
        };
        let unknown: Map<String, Value> =
            self.unknown.iter().map(|(field, near)| (field.clone(), near.clone().into())).collect();
        let cut: Vec<Value> = self.cut.iter().map(|(log, line)| json!({ "log": log, "line": line })).collect();
        json!({
            "schema": schema::CONFORMANCE,
            "model": name,
            "logs": self.logs,
            "verdict": verdict,
            "matched": self.matched,
            "skipped": self.skipped,
            "unseen": self.unseen.bound(),
            "unlogged": self.run.as_ref().map(Recorded::unseen),
            "parting": self.parting.as_ref().map(|parting| self.parting_json(parting, model)),
            "trace": trace::json(model, &self.result()),
            "records": self.run.as_ref().map(|run| self.records_json(run)),
            "unknown_fields": unknown,
            "cut": cut,
            "peak": self.peak,
            "seconds": self.elapsed.as_secs_f64(),
            "limits": { "reached": limit },
        })
    }

    fn parting_json(&self, parting: &Parting, model: &dyn Describe) -> Value {
        let Parting { records, states, possible, reasons, could } = parting;
        let record =
            |(log, line, text): &(usize, u64, String)| json!({ "log": self.logs[*log], "line": line, "text": text });
        let reason = |reason: &Reason| {
            let Reason { event, file, line, why } = reason;
            json!({ "event": event, "file": file, "line": line, "why": why })
        };
        json!({
            "records": records.iter().map(record).collect::<Vec<_>>(),
            "possible": possible,
            "states": states.iter().map(|state| state_json(model, state)).collect::<Vec<_>>(),
            "reasons": reasons.iter().map(reason).collect::<Vec<_>>(),
            "could": could,
        })
    }

    /// For each step of the run, its records.
    fn records_json(&self, run: &Recorded) -> Value {
        let one =
            |(single, (log, line)): &(usize, Source)| json!({ "log": self.logs[*log], "line": line, "single": single });
        run.records.iter().map(|records| records.iter().map(one).collect::<Value>()).collect()
    }
}

fn why(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "the time limit is over",
        Limit::Interrupt => "it was interrupted",
        Limit::Tokens => "a place has more tokens than can be counted",
        _ => "the memory budget is used up",
    }
}
