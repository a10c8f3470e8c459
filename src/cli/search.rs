//! `check`, `count` and `plan`.

use super::args::{CheckArgs, CountArgs, SearchArgs};
use super::chart::Drawing;
use super::graph::GraphFile;
use super::guides::{self, Guide};
use super::net;
use super::progress::{Patience, Progress, stop_on_interrupt};
use super::{Failure, print, remark, style};
use scrimp::condensed::Wanted;
use scrimp::net::PetriNet;
use scrimp::report::{Overall, Subject, json, number, text, unreached};
use scrimp::{
    Control, Guides, Loaded, Mode, NativeModel, Opened, Options, Plan, Property, PropertyResult, Report, System,
    parse_property, parse_property_file, properties,
};
use scrimp_search::estimate::Estimate;
use scrimp_search::plan::{EngineChoice, ReduceChoice};
use scrimp_system::Source;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

pub fn check(args: &CheckArgs) -> Result<u8, Failure> {
    begun();
    if args.search.json && args.chart.as_deref() == Some(Path::new("-")) {
        return Err(Failure("error: --json and --chart - would write to the same place".into()));
    }
    let mut plan = Plan::new(&options(&args.search, args.keep_going, false)?)?;
    let mut loaded = open(&args.model, &args.search)?;
    if let Some(net) = loaded.net.take() {
        return net::check(args, net, plan);
    }
    if let Some(formulas) = args.formulas.first() {
        let message = "error: formulas of the Model Checking Contest are about Petri nets (.pnml)";
        return Err(Failure(format!("{}: {message}", formulas.display())));
    }
    let temporal = loaded.temporal();
    let own = args.property.is_empty() && args.property_file.is_none();
    let name = args.model.display().to_string();
    let watch = args.search.json || !args.search.quiet;
    let (model, mut report) = with_room(&mut loaded, &args.search, watch, |model| {
        search(model, &wanted(args, model)?, &mut plan, &args.search)
    })?;
    if own {
        report.properties.extend(temporal.iter().map(PropertyResult::undecided));
    }
    // What a reduction leaves out may be executed all the same.
    let whole = report.exhaustive && report.visits > 0 && !plan.options.reduce.leaves_out_states();
    let statements = whole.then(|| statements(model)).flatten();
    let subject = Subject { name: &name, model, plan: &plan, report: &report, statements };
    let wanted_run = |model, report: &Report| args.chart.as_ref().and_then(|_| first_run(model, report));
    let mut drawing = wanted_run(model, &report);
    let mut overall = Overall::of(&report);
    let mut answers = vec![json_or_text(&subject, &args.search, text::check)];
    // A claim restricts what it watches, so it is searched with after the model has been searched without.
    if own && (overall != Overall::Violated || args.keep_going) && loaded.add_claim()? {
        let mut plan = plan.clone();
        if plan.options.reduce.leaves_out_states() && plan.options.engine == EngineChoice::Explicit {
            // The claim sees every step.
            plan.options.reduce = ReduceChoice::Nothing;
        }
        let (model, report) = with_room(&mut loaded, &args.search, false, |model| {
            search(model, &properties::model_assertions(model), &mut plan, &args.search)
        })?;
        let name = format!("{name} with its never claim");
        let subject = Subject { name: &name, model, plan: &plan, report: &report, statements: None };
        drawing = drawing.or_else(|| wanted_run(model, &report));
        overall = overall.and(Overall::of(&report));
        answers.push(json_or_text(&subject, &args.search, text::check));
    }
    if args.search.json {
        print(&format!("{:#}\n", json::together(answers, overall)))?;
    } else if !args.search.quiet {
        answers.iter().try_for_each(|answer| print(answer.as_str().unwrap_or_default()))?;
        if own && !temporal.is_empty() {
            print("  properties of infinite runs (ltl, acceptance cycles) cannot be decided yet\n")?;
        }
    }
    if let Some(path) = &args.chart {
        match drawing {
            Some(drawing) => drawing.write(path)?,
            None if args.search.quiet => {}
            None => remark(&format!("--chart {}: there is no run to draw", path.display())),
        }
    }
    Ok(overall.exit_code())
}

pub fn count(args: &CountArgs) -> Result<u8, Failure> {
    let mut plan = Plan::new(&options(&args.search, false, args.in_degrees)?)?;
    let mut loaded = open(&args.model, &args.search)?;
    if let Some(net) = &mut loaded.net
        && let Some(code) = net::infinite(&args.model, net, &plan, &args.search)?
    {
        return Ok(code);
    }
    let (model, mut report) =
        with_room(&mut loaded, &args.search, false, |model| search(model, &[], &mut plan, &args.search))?;
    // Sets of states tell it by themselves; what was visited before a search was taken up was not counted.
    if report.sets.is_none() {
        report.tokens = model.most_tokens().filter(|_| args.search.resume.is_none());
    }
    report.remarks.extend(loaded.net.as_ref().map(PetriNet::told));
    let name = args.model.display().to_string();
    let subject = Subject { name: &name, model, plan: &plan, report: &report, statements: None };
    let answer = json_or_text(&subject, &args.search, text::count);
    if args.search.json {
        print(&format!("{answer:#}\n"))?;
    } else if !args.search.quiet {
        print(answer.as_str().unwrap_or_default())?;
    }
    Ok(Overall::of(&report).exit_code())
}

pub fn plan(args: &CheckArgs) -> Result<u8, Failure> {
    let plan = Plan::new(&options(&args.search, args.keep_going, false)?)?;
    let mut loaded = open(&args.model, &args.search)?;
    // A short look shows whether there is room enough.
    let model = loop {
        let model = runnable(loaded.system.clone(), args.search.interpret, false)?;
        Estimate::sample(model).map_err(|e| Failure(format!("error: {e}")))?;
        if !loaded.grow(model)? {
            break model;
        }
    };
    let system = model.system();
    let names: Vec<String> = match &loaded.net {
        Some(net) => net::questions(args, net)?.0.into_iter().map(|q| q.name).collect(),
        None => wanted(args, model)?.into_iter().map(|p| p.name).collect(),
    };
    if args.search.json {
        let parts: serde_json::Map<_, _> =
            plan.parts().into_iter().map(|(k, v)| (k.to_string(), serde_json::Value::from(v))).collect();
        let state_bytes = scrimp::Model::state_bytes(model);
        let estimate = Estimate::sample(model).map_err(|e| Failure(format!("error: {e}")))?;
        let object = serde_json::json!({
            "plan": parts,
            "state_bytes": state_bytes,
            "properties": names,
            "sampled_states": estimate.seen,
            "complete": estimate.complete,
            "expected_states": estimate.expected,
            "bytes_in_table": estimate.in_table,
            "bytes_in_tree": estimate.in_tree,
        });
        return print(&format!("{object:#}\n")).map(|()| 0);
    }
    let mut out = format!(
        "{}: {} processes, {} variables, {} events, {} bytes a state\n",
        args.model.display(),
        system.processes.len(),
        system.variables.len(),
        system.events.len(),
        scrimp::Model::state_bytes(model),
    );
    for (part, value) in plan.parts() {
        let value = if part == "memory" { number::bytes(plan.memory) } else { value };
        out.push_str(&format!("  {part:<8} {value:<10} {}\n", plan.reason(part)));
    }
    out.push_str(&foresight(model, &plan)?);
    for name in names {
        out.push_str(&format!("  property {name}\n"));
    }
    print(&out).map(|()| 0)
}

/// What a short look at the model says about each store.
fn foresight(model: &NativeModel, plan: &Plan) -> Result<String, Failure> {
    let estimate = Estimate::sample(model).map_err(|e| Failure(format!("error: {e}")))?;
    let free = plan.memory.saturating_sub(scrimp::resident().unwrap_or(0) + plan.memory / 100);
    let room = |each: f64| number::grouped((free as f64 / each) as u64);
    let mut out = match (estimate.complete, estimate.expected) {
        (true, _) => format!("  the model has {} states\n", number::grouped(estimate.seen)),
        (false, Some(expected)) => format!(
            "  from the first {}, about {} states are to be expected\n",
            number::grouped(estimate.seen),
            number::grouped(expected as u64),
        ),
        (false, None) => format!(
            "  the first {} states do not say how many there are: each level is wider than the last\n",
            number::grouped(estimate.seen),
        ),
    };
    let Estimate { in_table, in_tree, .. } = estimate;
    out.push_str(&format!("  room for about {} states in a table, at {in_table:.0} bytes each\n", room(in_table)));
    out.push_str(&format!("  room for about {} states in a tree, at {in_tree:.1} bytes each\n", room(in_tree)));
    if plan.is_automatic() {
        let first = if estimate.wants_tree(free) { "a tree" } else { "a table" };
        let last = match &plan.options.disk {
            Some(dir) => format!("then files in {}", dir.display()),
            None => "then, starting over, an automaton, then forgetting what can be found again".to_string(),
        };
        out.push_str(&format!("  the search begins in {first}; when memory is used up: a tree, {last}\n"));
    }
    Ok(out)
}

fn options(args: &SearchArgs, keep_going: bool, in_degrees: bool) -> Result<Options, Failure> {
    Ok(Options {
        order: args.order.as_deref().map(str::parse).transpose()?,
        store: args.store.as_deref().map(str::parse).transpose()?,
        layers: args.layers.parse().map_err(|e| Failure(format!("error: --layers {}: {e}", args.layers)))?,
        backedges: args.backedges.parse()?,
        cached: args.cache,
        forget: args.forget.parse()?,
        reduce: args.reduce.parse()?,
        engine: args.engine.parse()?,
        variables: args.variables.parse()?,
        reorder: args.reorder == "auto",
        dont_care: args.dont_care,
        chains: args.chains,
        stride: args.stride,
        reconstruct: args.reconstruct,
        progress: args.progress.clone(),
        heuristic: args.heuristic.clone(),
        seed: args.seed,
        threads: args.threads,
        memory: args.memory,
        time: args.time,
        visits: args.max_visits,
        audit: args.audit,
        checkpoint: args.checkpoint.clone(),
        every: args.every,
        resume: args.resume.clone(),
        disk: args.disk.clone(),
        keep_going,
        in_degrees,
        graph: args.graph.is_some(),
    })
}

/// When the work on the model began: what a limit of time counts from.
pub fn begun() -> Instant {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    *BEGUN.get_or_init(Instant::now)
}

/// Reads a model that may turn out to be larger than it looks.
fn open(path: &Path, args: &SearchArgs) -> Result<Loaded, Failure> {
    begun();
    let structure =
        args.structure.parse().map_err(|e| Failure(format!("error: --structure {}: {e}", args.structure)))?;
    let mut opened = scrimp::open_with(path, &args.define)?;
    if let Opened::Net(net) = &mut opened {
        // What goes wrong with it is told with the name that the user gave.
        net.name = path.display().to_string();
    }
    let loaded = Loaded::with_structure(opened, structure)?;
    if !args.quiet {
        loaded.system.warnings.iter().for_each(|warning| remark(warning));
    }
    Ok(loaded)
}

/// Searches a model; begins again with a larger one where it turns out to be too small. With `watch`, the model remembers
/// which statements are executed.
fn with_room(
    loaded: &mut Loaded,
    args: &SearchArgs,
    watch: bool,
    mut work: impl FnMut(&'static NativeModel) -> Result<Report, Failure>,
) -> Result<(&'static NativeModel, Report), Failure> {
    let mut told = args.quiet;
    loop {
        let model = runnable(loaded.system.clone(), args.interpret, watch)?;
        let result = work(model);
        if !loaded.grow(model)? {
            return Ok((model, result?));
        }
        if !std::mem::replace(&mut told, true) {
            let what = if loaded.net.is_some() { "a place gets more tokens" } else { "more processes are started" };
            remark(&format!("{what} than a first look at the model has shown: the search begins again"));
        }
    }
}

/// Makes a model runnable. It lives as long as the process: taking a large one apart again would only keep the user waiting.
pub fn runnable(system: Arc<System>, interpret: bool, watch: bool) -> Result<&'static NativeModel, Failure> {
    let mode = if interpret { Mode::Interpreted } else { Mode::Auto };
    let watch = watch && !system.outline.statements.is_empty();
    let mut model = NativeModel::new(system, mode)?;
    if watch {
        model.watch_events();
    }
    model.watch_tokens();
    Ok(Box::leak(Box::new(model)))
}

/// The statements of a model whose events were watched, each with whether it was executed.
fn statements(model: &NativeModel) -> Option<Vec<unreached::Statement>> {
    let (system, happened) = (model.system(), model.happened());
    if happened.is_empty() {
        return None;
    }
    let outline = &system.outline.statements;
    let mut reached = vec![false; outline.len()];
    for (event, _) in system.events.iter().zip(happened).filter(|(_, happened)| *happened) {
        event.statements.iter().for_each(|statement| reached[*statement as usize] = true);
    }
    let listed = outline.iter().zip(reached).filter(|(statement, _)| !statement.passes);
    let one = |(statement, reached): (&scrimp_system::outline::Statement, bool)| unreached::Statement {
        process: statement.process.clone(),
        file: system.source.file_name(statement.span.part).to_string(),
        line: statement.span.line,
        number: statement.number,
        text: statement.text.clone(),
        reached,
    };
    Some(listed.map(one).collect())
}

/// A drawing of the first run in a report.
fn first_run(model: &NativeModel, report: &Report) -> Option<Drawing> {
    let (property, trace) = report.properties.iter().find_map(|p| Some((p, p.trace.as_ref()?)))?;
    let mut drawing = Drawing::default();
    let fault = property.fault_record();
    let mut before = &trace.initial;
    let steps = trace.single_steps(model, fault);
    let again = property.loop_among(&steps);
    for (i, step) in steps.iter().enumerate() {
        if again == Some(i) {
            drawing.begin_loop();
        }
        drawing.step(model, before, step.event);
        before = &step.state;
    }
    if again == Some(steps.len()) {
        drawing.begin_loop();
    }
    if let Some(record) = fault {
        drawing.fault(model, record);
    }
    Some(drawing)
}

fn search(model: &NativeModel, properties: &[Property], plan: &mut Plan, args: &SearchArgs) -> Result<Report, Failure> {
    search_for_graph(model, properties, plan, args, None)
}

/// Searches, and makes a graph for the caller if that wants one.
pub fn search_for_graph(
    model: &NativeModel,
    properties: &[Property],
    plan: &mut Plan,
    args: &SearchArgs,
    wanted: Option<&Wanted>,
) -> Result<Report, Failure> {
    let graph = args.graph.as_deref().filter(|_| wanted.is_none());
    let graph = graph.map(|path| GraphFile::new(path, properties)).transpose()?;
    // Better now than when memory is used up.
    if let Some(dir) = plan.options.disk.as_deref().filter(|dir| !dir.is_dir()) {
        return Err(Failure(format!("error: --disk {}: there is no such directory", dir.display())));
    }
    // A search that begins again has what is left of the time.
    let control = Arc::new(Control::new(plan.options.time.map(|time| time.saturating_sub(begun().elapsed()))));
    stop_on_interrupt(&control);
    let guide = Guide::new(args, model, plan)?;
    let end = args.time.and_then(|time| begun().checked_add(time));
    let (json, quiet) = (args.json, args.quiet);
    let _patience = Patience::with(&control, end, move |limit| tell_nothing(limit, json, quiet));
    let _progress = Progress::watch(&control, args.quiet, args.show_progress);
    let progress = guide.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let heuristic = guide.heuristic.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let front = |front| guide.log(front);
    let find_measure = || guides::measure(model, plan);
    let guides = Guides {
        progress: progress.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128),
        heuristic: heuristic.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128),
        front: guide.logs().then_some(&front),
        find_measure: Some(&find_measure),
        graph: wanted.or(graph.as_ref().map(|graph| &graph.wanted)),
    };
    let report =
        scrimp::run_engine(model, properties, plan, &control, guides).map_err(|e| Failure(format!("error: {e}")))?;
    if let Some(graph) = graph {
        graph.write(model, args.quiet)?;
    }
    // The answer is worth more than the log.
    if let Err(Failure(message)) = guide.finish() {
        remark(&message);
    }
    Ok(report)
}

/// The answer where a limit was over before anything was known.
fn tell_nothing(limit: &str, as_json: bool, quiet: bool) {
    let why = if limit == "time" { "the time limit is over" } else { "it was interrupted" };
    // There is nobody left to tell of a failure to print.
    let _ = if as_json {
        let answer = serde_json::json!({
            "verdict": Overall::Incomplete.word(),
            "guarantee": "none",
            "states": null,
            "transitions": null,
            "properties": [],
            "limits": { "reached": limit },
        });
        print(&format!("{answer:#}\n"))
    } else if quiet {
        Ok(())
    } else {
        print(&format!("incomplete\nStopped: {why}, and nothing is known yet.\n"))
    };
}

/// The answer: an object, or a text as one string.
pub fn json_or_text(
    subject: &Subject,
    args: &SearchArgs,
    text: fn(&Subject, scrimp::report::Style) -> String,
) -> serde_json::Value {
    if args.json { json::report(subject) } else { text(subject, style()).into() }
}

/// The properties asked for, or all that the model has.
fn wanted<'a>(args: &CheckArgs, model: &'a NativeModel) -> Result<Vec<Property<'a>>, Failure> {
    let system = model.system();
    let mut list = Vec::new();
    if args.property.is_empty() && args.property_file.is_none() {
        if let Some(claim) = &system.claim {
            let name = &system.processes[claim.process.index()].name;
            return Err(Failure(format!(
                "{}: error: the model's property is the Büchi automaton {name}, and acceptance cycles cannot be checked yet\n\
                 help: `scrimp count` visits the product; `--property deadlock` and other safety properties can be checked",
                args.model.display(),
            )));
        }
        list = properties::all(model);
    }
    for text in &args.property {
        list.extend(properties::of(model, parse_property(system, text)?));
    }
    if let Some(path) = &args.property_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        let found = parse_property_file(system, Source::new(name.clone(), text))?;
        if found.is_empty() {
            return Err(Failure(format!("{name}: error: there is no property in it")));
        }
        list.extend(found.into_iter().flat_map(|property| properties::of(model, property)));
    }
    Ok(list)
}
