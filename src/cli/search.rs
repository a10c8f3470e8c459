//! `count`, and what it has in common with `check` and `plan`.

use super::args::{CountArgs, SearchArgs};
use super::curves::Curves;
use super::failure::Failure;
use super::graph::{GraphFiles, WrittenGraph};
use super::host::Screen;
use super::limits::{self, memory};
use super::output::{print, print_json, remark, style};
use super::report::ReportFile;
use super::{outputs, unused};
use scrimp::plan::FairnessChoice;
use scrimp::report::html::Kind;
use scrimp::report::{Overall, Record, Subject, json, leave_out_long_runs, text};
use scrimp::{CheckError, Count, Found, LoadError, Loaded, Mode, Open, Options, Plan, Setting};
use scrimp_search::plan::EngineChoice;
use std::io::ErrorKind;
use std::path::Path;

pub fn count(args: &CountArgs) -> Result<u8, Failure> {
    limits::about(&args.model);
    limits::begin(&args.search)?;
    args.search.refuse_mixture()?;
    outputs::admit(&outputs::of_search(&args.search), &[&args.model])?;
    let options = options(&args.search, false, args.in_degrees)?;
    Plan::admit(&options)?;
    let file = ReportFile::new(&args.search, Kind::Count, &args.model)?;
    let loaded = open(&args.model, &args.search)?;
    unused::say(&args.search, &loaded);
    let mut count = Count::new(loaded, &setting(&args.search, options, false)?).map_err(failed)?;
    if let Some(why) = count.infinite(&limits::stop()) {
        limits::done();
        return tell_infinite(&args.model, &why, file, &args.search);
    }
    let mut counted = None;
    let mut screen = Screen::new(&args.search, |found, record| {
        let Found { model, plan, report, graph, .. } = found;
        counted = Some((model.clone(), plan.clone(), report, graph, record));
    })?;
    let done = count.run(&mut screen);
    screen.finish();
    done.map_err(failed)?;
    limits::done();
    let Some((model, plan, mut report, graph, record)) = counted else { return Ok(Overall::Incomplete.exit_code()) };
    leave_out_long_runs(&mut report, memory(&args.search), args.search.json);
    let name = args.model.display().to_string();
    let record: Option<&Record> = record.as_ref();
    let subject = Subject { name: &name, model: &*model, plan: &plan, report: &report, coverage: None, record };
    let answer = json_or_text(&subject, &args.search, text::count);
    if args.search.json {
        print_json(&answer)?;
    } else if !args.search.quiet {
        print(answer.as_str().unwrap_or_default())?;
    }
    if let Some(graph) = graph {
        let made = WrittenGraph { graph, model: model.clone() };
        made.write(GraphFiles::new(&args.search)?, None, args.search.quiet)?;
    }
    if let Some(mut file) = file {
        file.add(&model, &subject);
        file.write()?;
    }
    let mut curves = Curves::default();
    curves.add(&subject, &args.search);
    curves.finish(&args.search)?;
    Ok(Overall::of(&report).exit_code())
}

/// The answer of `count` for a net with infinitely many markings.
fn tell_infinite(model: &Path, why: &str, file: Option<ReportFile>, args: &SearchArgs) -> Result<u8, Failure> {
    if args.json {
        let answer = json::without_search(Some(&model.display().to_string()), why, None);
        print_json(&answer)?;
    } else if !args.quiet {
        print(&format!("{}: incomplete\n  {why}\n", model.display()))?;
    }
    if let Some(mut file) = file {
        file.remark(why);
        file.write()?;
    }
    Ok(Overall::Incomplete.exit_code())
}

/// How a model is run and searched.
pub fn setting(args: &SearchArgs, options: Options, watch: bool) -> Result<Setting, Failure> {
    let mode = if args.interpret { Mode::Interpreted } else { Mode::Auto };
    let cluster = super::cluster::gathering(&options);
    let open = Open { threads: args.threads.is_none(), reduce: args.reduce.is_none(), engine: args.engine == "auto" };
    Ok(Setting { options, open, mode, watch, vectors: GraphFiles::new(args)?.vectors(), cluster })
}

/// Why something could not be decided. Where a limit was reached, the process ends.
pub fn failed(error: CheckError) -> Failure {
    match error {
        CheckError::Load(error) => unread(*error),
        CheckError::Search(error) if error.kind() == ErrorKind::OutOfMemory => limits::failed(&error),
        error => error.into(),
    }
}

/// The processes that runs must be fair to.
fn fairness(texts: &[String]) -> Result<FairnessChoice, Failure> {
    let mut choice = FairnessChoice::default();
    for text in texts.iter().filter(|text| FairnessChoice::is_about_processes(text)) {
        choice.add(text).map_err(|e| Failure::with("--fair", text, e))?;
    }
    Ok(choice)
}

pub fn options(args: &SearchArgs, keep_going: bool, in_degrees: bool) -> Result<Options, Failure> {
    let engine = if args.engine == "auto" { EngineChoice::Explicit } else { args.engine.parse()? };
    Ok(Options {
        order: args.order.as_deref().map(str::parse).transpose()?,
        store: args.store.as_deref().map(str::parse).transpose()?,
        layers: args.layers.parse().map_err(|e| Failure::with("--layers", &args.layers, e))?,
        backedges: args.backedges.parse()?,
        cached: args.cache,
        forget: args.forget.parse()?,
        reduce: args.reduce.as_deref().unwrap_or("none").parse()?,
        may_reduce: false,
        engine,
        variables: args.variables.parse()?,
        reorder: args.reorder == "auto",
        dont_care: args.dont_care,
        cycles: args.cycles.parse()?,
        fair: fairness(&args.fair)?,
        fair_conditions: args.fair.iter().filter(|text| !FairnessChoice::is_about_processes(text)).count(),
        chains: args.chains,
        stride: args.stride,
        reconstruct: args.reconstruct,
        progress: args.progress.clone(),
        heuristic: args.heuristic.clone(),
        seed: args.seed,
        threads: args.threads.unwrap_or(1),
        alone_until: 0,
        memory: super::cluster::memory_of_each(args.memory, engine),
        time: args.time,
        visits: args.max_visits,
        audit: args.audit,
        checkpoint: args.checkpoint.clone(),
        every: args.every,
        resume: args.resume.clone(),
        disk: args.disk.clone(),
        keep_going,
        in_degrees,
        graph: args.graph.is_some() || args.dot.is_some(),
        front: args.front.is_some(),
    })
}

/// Reads a model that may turn out to be larger than it looks.
pub fn open(path: &Path, args: &SearchArgs) -> Result<Loaded, Failure> {
    let structure = args.structure.parse().map_err(|e| Failure::with("--structure", &args.structure, e))?;
    let loaded = Loaded::open_under(path, &args.define, structure, args.resume.as_deref(), &limits::stop());
    let loaded = loaded.map_err(unread)?;
    if !args.quiet {
        loaded.system.warnings.iter().for_each(|warning| remark(warning));
    }
    Ok(loaded)
}

/// Why a model was not read. Where a limit was reached, the process ends.
pub fn unread(error: LoadError) -> Failure {
    match error {
        LoadError::Stopped(cause) => limits::end(cause),
        error => error.into(),
    }
}

/// The answer: an object, or a text as one string.
pub fn json_or_text(
    subject: &Subject,
    args: &SearchArgs,
    text: fn(&Subject, scrimp::report::Style) -> String,
) -> serde_json::Value {
    if args.json { json::report(subject) } else { text(subject, style()).into() }
}
