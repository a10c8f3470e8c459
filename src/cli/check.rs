//! `check`: everything that is asked of a model, or that it asks of itself.

use super::args::CheckArgs;
use super::curves::Curves;
use super::failure::Failure;
use super::graph::{GraphFiles, WrittenGraph};
use super::host::Screen;
use super::limits::{self, memory};
use super::output::{WRONG, print, print_json, remark};
use super::report::ReportFile;
use super::search::{failed, open, options, setting};
use super::trace::{self, TraceFormat, Wanted};
use super::{chart, outputs, unused};
use scrimp::chart::Drawing;
use scrimp::plan::FairnessChoice;
use scrimp::report::html::Kind;
use scrimp::report::text::Told;
use scrimp::report::{Overall, Record, Style, Subject, json, leave_out_long_runs, text};
use scrimp::{Cause, Check, Found, NativeModel, Plan, Request, Trace};
use scrimp_core::PropertyResult;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub fn check(args: &CheckArgs) -> Result<u8, Failure> {
    limits::about(&args.model);
    limits::begin(&args.search)?;
    admit(args)?;
    // A limit may be over before the model is read: then that is what the report says.
    let file = ReportFile::new(&args.search, Kind::Check, &args.model)?;
    let check = planned(args)?;
    let told = Shared::new(file, args);
    let mut screen = Screen::new(&args.search, |found, record| told.lock().add(args, found, record))?;
    let done = check.run(&mut screen);
    screen.finish();
    let left = done.map_err(failed)?;
    limits::done();
    let mut told = told.lock();
    told.leave(left);
    told.finish(args)
}

/// Refuses what cannot be written, or not to the same place.
pub fn admit(args: &CheckArgs) -> Result<(), Failure> {
    if args.search.json && args.chart.as_deref() == Some(Path::new("-")) {
        return Err(Failure::because(
            "--json and --chart - would both write to standard output\nhelp: name a file: --chart FILE.svg",
        ));
    }
    args.search.refuse_mixture()?;
    trace::admit(args)?;
    outputs::admit_of_check(args)
}

/// Opens the model and plans all searches: what `check` begins with, and all that `plan` does.
pub fn planned(args: &CheckArgs) -> Result<Check, Failure> {
    let options = options(&args.search, args.keep_going, false)?;
    Plan::admit(&options)?;
    let loaded = open(&args.model, &args.search)?;
    if loaded.net.is_some() && args.chart.is_some() {
        let why = "a net has no processes that pass messages";
        return Err(Failure::because(format!(
            "--chart is not supported for Petri nets: {why}\nhelp: leave out --chart"
        )));
    }
    if loaded.net.is_some() && Wanted::of(args).is_some_and(|wanted| wanted.format == TraceFormat::Mermaid) {
        let why = "a net has no processes that pass messages";
        return Err(Failure::because(format!("--trace-format mermaid does not go with checking a net; {why}")));
    }
    unused::say(&args.search, &loaded);
    let watch = args.search.json || !args.search.quiet;
    Check::new(loaded, &request(args), &setting(&args.search, options, watch)?).map_err(failed)
}

/// What is asked.
fn request(args: &CheckArgs) -> Request {
    Request {
        properties: args.property.clone(),
        property_file: args.property_file.clone(),
        formulas: args.formulas.clone(),
        fair: args.search.fair.iter().filter(|text| !FairnessChoice::is_about_processes(text)).cloned().collect(),
    }
}

/// What was found out so far, for who searches and for who ends that.
struct Shared(Arc<Mutex<Collector>>);

impl Shared {
    fn new(file: Option<ReportFile>, args: &CheckArgs) -> Shared {
        let told = Arc::new(Mutex::new(Collector::new(file)));
        let (shared, args) = (Shared(told.clone()), args.clone());
        limits::tell_by(move |cause| shared.lock().cut(cause, &args));
        Shared(told)
    }

    fn lock(&self) -> MutexGuard<'_, Collector> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer of a search, for programs or for people.
enum Answer {
    Json(serde_json::Value),
    Text(Told),
}

/// What was found out so far.
struct Collector {
    answers: Vec<Answer>,
    overall: Overall,
    /// What there was no time to look at.
    left: Vec<String>,
    model: Option<Arc<NativeModel>>,
    drawing: Option<Drawing>,
    /// The first run, in the form that was asked for.
    written: Option<String>,
    file: Option<ReportFile>,
    curves: Curves,
    /// Why there is no more.
    why: Option<String>,
    /// The graph, and the first run that was found.
    graph: Option<WrittenGraph>,
    run: Option<Trace>,
}

impl Collector {
    fn new(file: Option<ReportFile>) -> Collector {
        Collector {
            answers: Vec::new(),
            overall: Overall::Verified,
            left: Vec::new(),
            model: None,
            drawing: None,
            written: None,
            file,
            curves: Curves::default(),
            why: None,
            graph: None,
            run: None,
        }
    }

    /// Adds what there was no time to look at.
    fn leave(&mut self, left: Vec<String>) {
        if let (Some(model), false) = (&self.model, left.is_empty()) {
            self.overall = self.overall.and(Overall::Incomplete);
            if let Some(Answer::Json(first)) = self.answers.first_mut() {
                json::leave(first, &**model, &left, Overall::Incomplete);
            }
            if let Some(file) = &mut self.file {
                file.leave(&left, "there was no time left to check it");
            }
            self.left = left;
        }
    }

    /// Adds what a search has found.
    fn add(&mut self, args: &CheckArgs, found: Found, record: Option<Record>) {
        let Found { model, plan, mut report, with_claim, coverage, graph, searches, for_graph, left, .. } = found;
        leave_out_long_runs(&mut report, memory(&args.search), args.search.json || Wanted::of(args).is_some());
        if let Some(graph) = graph {
            self.graph = Some(WrittenGraph { graph, model: model.clone() });
        }
        if for_graph {
            return;
        }
        let name = args.model.display().to_string();
        let name = if with_claim { format!("{name} with its never claim") } else { name };
        let subject =
            Subject { name: &name, model: &**model, plan, report: &report, coverage, record: record.as_ref() };
        let overall = Overall::of(&report);
        self.overall = if self.answers.is_empty() { overall } else { self.overall.and(overall) };
        let made: Option<Vec<Subject>> = searches.as_ref().map(|searches| {
            let all = searches.iter().map(|made| (&made.plan, &made.report));
            let of =
                |(plan, report)| Subject { name: &name, model: &**model, plan, report, coverage: None, record: None };
            all.map(of).collect()
        });
        self.answers.push(match (args.search.json, made) {
            (true, None) => Answer::Json(json::leaving(&subject, &left)),
            (true, Some(made)) => Answer::Json(json::of_net(&subject, &made)),
            (false, None) => Answer::Text(text::leaving(&subject, &left, report_style(args))),
            (false, Some(made)) => Answer::Text(text::of_net(&subject, &made, report_style(args))),
        });
        self.model = Some(model.clone());
        if args.chart.is_some() && self.drawing.is_none() {
            self.drawing = report.properties.iter().find_map(|p| Drawing::of(model, p));
        }
        if let (Some(wanted), None) = (Wanted::of(args), &self.written) {
            let of = |p: &PropertyResult| trace::written(wanted.format, model, p, &name);
            self.written = report.properties.iter().find_map(of);
        }
        if self.graph.is_some() && self.run.is_none() {
            self.run = report.properties.iter().find_map(|p| p.trace.clone());
        }
        if let Some(file) = &mut self.file {
            file.add(model, &subject);
            file.leave(&left, "not checked: another property was violated first; --keep-going goes on");
        }
        self.curves.add(&subject, &args.search);
    }

    /// Ends before all is known: says what is, and why there is no more.
    fn cut(&mut self, cause: Cause, args: &CheckArgs) -> u8 {
        if self.answers.is_empty() {
            return limits::Voice { json: args.search.json, quiet: args.search.quiet }.tell_nothing(cause);
        }
        self.overall = self.overall.and(Overall::Incomplete);
        let why = format!("Stopped: {cause}; what is left was not checked.");
        if let Some(Answer::Json(first)) = self.answers.first_mut() {
            first["limits"]["reached"] = json::limit_word(cause.into()).into();
        } else {
            self.why = Some(why.clone());
        }
        if let Some(file) = &mut self.file {
            file.remark(&why);
        }
        self.finish(args).unwrap_or_else(|failure| {
            remark(failure.message());
            WRONG
        })
    }

    /// Writes all that was found out.
    fn finish(&mut self, args: &CheckArgs) -> Result<u8, Failure> {
        let Collector { answers, overall, left, drawing, written, file, curves, why, graph, run, .. } =
            std::mem::replace(self, Collector::new(None));
        let (mut objects, mut told) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Answer::Json(object) => objects.push(object),
                Answer::Text(text) => told.push(text),
            }
        }
        if args.search.json {
            print_json(&json::together(objects, overall))?;
        } else if !args.search.quiet {
            let name = args.model.display().to_string();
            let mut report = text::together(&name, &told, &left, overall, report_style(args));
            report.extend(why.iter().map(|why| format!("{why}\n")));
            if stands_aside(args) { remark(&report) } else { print(&report)? }
        }
        if let Some(wanted) = Wanted::of(args) {
            wanted.write(written.as_deref())?;
        }
        if let Some(path) = &args.chart {
            match drawing {
                Some(drawing) => chart::write(drawing, path)?,
                None if args.search.quiet => {}
                None => remark(&format!("--chart {}: no run was found that could be drawn", path.display())),
            }
        }
        if let Some(graph) = graph {
            graph.write(GraphFiles::new(&args.search)?, run.as_ref(), args.search.quiet)?;
        }
        if let Some(file) = file {
            file.write()?;
        }
        curves.finish(&args.search)?;
        Ok(overall.exit_code())
    }
}

/// Is standard output for the run alone?
fn stands_aside(args: &CheckArgs) -> bool {
    Wanted::of(args).is_some_and(|wanted| wanted.file.is_none())
}

fn report_style(args: &CheckArgs) -> Style {
    let format = args.trace_format.filter(|_| args.trace.is_none());
    trace::style_of_report(format, stands_aside(args))
}
