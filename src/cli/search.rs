//! `check`, `count` and `plan`.

use super::args::{CheckArgs, CountArgs, SearchArgs};
use super::check::asked;
use super::curves::Curves;
use super::graph::{GraphFiles, Made};
use super::guides::{self, Guide};
use super::lengths;
use super::limits::{self, begun};
use super::net;
use super::outputs;
use super::report::ReportFile;
use super::watch::Watch;
use super::{Failure, print, print_json, remark, style};
use scrimp::condensed::Wanted;
use scrimp::net::PetriNet;
use scrimp::report::html::Kind;
use scrimp::report::{Overall, Record, Subject, json, number, schema, text};
use scrimp::{Guides, LoadError, Loaded, Mode, NativeModel, Opened, Options, Plan, Property, Report, System};
use scrimp_core::Condition;
use scrimp_search::checkpoint;
use scrimp_search::estimate::Estimate;
use scrimp_search::plan::EngineChoice;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub fn count(args: &CountArgs) -> Result<u8, Failure> {
    limits::begin(&args.search)?;
    args.search.refuse_mixture()?;
    if !args.search.fair.is_empty() {
        return Err(Failure::because("--fair says which runs a property is about; `count` asks nothing of runs"));
    }
    outputs::admit(&outputs::of_search(&args.search), &[&args.model])?;
    let mut plan = Plan::new(&options(&args.search, false, args.in_degrees)?)?;
    let mut file = ReportFile::new(&args.search, Kind::Count, &args.model)?;
    let mut loaded = open(&args.model, &args.search)?;
    if let Some(net) = &mut loaded.net
        && let Some(why) = net::infinite(net, &plan, &args.search)
    {
        limits::done();
        return net::tell_infinite(&args.model, &why, file, &args.search);
    }
    let (model, Searched { mut report, record, graph }) =
        with_room(&mut loaded, &args.search, false, |model| search(model, &[], &mut plan, &args.search))?;
    limits::done();
    // Sets of states tell it by themselves; what was visited before a search was taken up was not counted.
    if report.sets.is_none() {
        report.tokens = model.most_tokens().filter(|_| args.search.resume.is_none());
    }
    report.remarks.extend(loaded.net.as_ref().map(PetriNet::told));
    let name = args.model.display().to_string();
    let subject =
        Subject { name: &name, model, plan: &plan, report: &report, statements: None, record: record.as_ref() };
    let answer = json_or_text(&subject, &args.search, text::count);
    if args.search.json {
        print_json(&answer)?;
    } else if !args.search.quiet {
        print(answer.as_str().unwrap_or_default())?;
    }
    if let Some(graph) = graph {
        graph.write(model, None, args.search.quiet)?;
    }
    if let Some(mut file) = file.take() {
        file.add(model, &subject);
        file.write()?;
    }
    let mut curves = Curves::default();
    curves.add(&subject, &args.search);
    curves.finish(&args.search)?;
    Ok(Overall::of(&report).exit_code())
}

pub fn plan(args: &CheckArgs) -> Result<u8, Failure> {
    limits::begin(&args.search)?;
    let plan = Plan::new(&options(&args.search, args.keep_going, false)?)?;
    let mut loaded = open(&args.model, &args.search)?;
    // A short look shows whether there is room enough.
    let model = loop {
        let model = runnable(loaded.system.clone(), args.search.interpret, false)?;
        Estimate::sample(model).map_err(Failure::because)?;
        if !loaded.grow(model)? {
            break model;
        }
    };
    let system = model.system();
    let names: Vec<String> = match &loaded.net {
        Some(net) => net::questions(args, net)?.0.into_iter().map(|q| q.name).collect(),
        None => {
            let asked = asked(args, model)?;
            asked.states.into_iter().map(|p| p.name).chain(asked.runs.into_iter().map(|p| p.name)).collect()
        }
    };
    if args.search.json {
        let parts: serde_json::Map<_, _> =
            plan.parts().into_iter().map(|(k, v)| (k.to_string(), serde_json::Value::from(v))).collect();
        let state_bytes = scrimp::Model::state_bytes(model);
        let estimate = Estimate::sample(model).map_err(Failure::because)?;
        let object = serde_json::json!({
            "schema": schema::PLAN,
            "plan": parts,
            "state_bytes": state_bytes,
            "properties": names,
            "sampled_states": estimate.seen,
            "complete": estimate.complete,
            "expected_states": estimate.expected,
            "bytes_in_table": estimate.in_table,
            "bytes_in_tree": estimate.in_tree,
        });
        return print_json(&object).map(|()| 0);
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
    let estimate = Estimate::sample(model).map_err(Failure::because)?;
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

pub fn options(args: &SearchArgs, keep_going: bool, in_degrees: bool) -> Result<Options, Failure> {
    Ok(Options {
        order: args.order.as_deref().map(str::parse).transpose()?,
        store: args.store.as_deref().map(str::parse).transpose()?,
        layers: args.layers.parse().map_err(|e| Failure::with("--layers", &args.layers, e))?,
        backedges: args.backedges.parse()?,
        cached: args.cache,
        forget: args.forget.parse()?,
        reduce: args.reduce.parse()?,
        engine: args.engine.parse()?,
        variables: args.variables.parse()?,
        reorder: args.reorder == "auto",
        dont_care: args.dont_care,
        cycles: args.cycles.parse()?,
        fair: args.fair.iter().any(|fair| fair == "weak"),
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
        graph: args.graph.is_some() || args.dot.is_some(),
    })
}

/// What is left of the time of a plan, which counts from when the work began.
pub fn rest_of_time(plan: &Plan) -> Option<Duration> {
    plan.options.time.map(|time| time.saturating_sub(begun().elapsed()))
}

/// Reads a model that may turn out to be larger than it looks.
pub fn open(path: &Path, args: &SearchArgs) -> Result<Loaded, Failure> {
    let structure = args.structure.parse().map_err(|e| Failure::with("--structure", &args.structure, e))?;
    let mut opened = scrimp::open_within(path, &args.define, &limits::stop()).map_err(unread)?;
    if let Opened::Net(net) = &mut opened {
        // What goes wrong with it is told with the name that the user gave.
        net.name = path.display().to_string();
    }
    // What is wrong with a checkpoint is told when the search is to be taken up.
    let making = args.resume.as_ref().and_then(|path| checkpoint::making(path).ok()).unwrap_or_default();
    let loaded = Loaded::within_limits(opened, structure, &limits::stop(), &making).map_err(unread)?;
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

/// What came of a search, how it went, if that was recorded, and the graph, if one was to be made.
pub struct Searched {
    pub report: Report,
    pub record: Option<Record>,
    pub graph: Option<Made>,
}

/// Searches a model; begins again with a larger one where it turns out to be too small. With `watch`, the model remembers
/// which statements are executed.
pub fn with_room(
    loaded: &mut Loaded,
    args: &SearchArgs,
    watch: bool,
    mut work: impl FnMut(&'static NativeModel) -> Result<Searched, Failure>,
) -> Result<(&'static NativeModel, Searched), Failure> {
    let mut told = args.quiet;
    loop {
        let model = runnable(loaded.system.clone(), args.interpret, watch)?;
        let result = work(model);
        if !loaded.grow(model).map_err(unread)? {
            let mut searched = result?;
            lengths::leave_out(&mut searched.report, args);
            return Ok((model, searched));
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

pub fn search(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &mut Plan,
    args: &SearchArgs,
) -> Result<Searched, Failure> {
    search_for_graph(model, properties, plan, args, None)
}

/// Searches, and makes a graph for the caller if that wants one.
pub fn search_for_graph(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &mut Plan,
    args: &SearchArgs,
    wanted: Option<&Wanted>,
) -> Result<Searched, Failure> {
    let graph = match wanted {
        None => GraphFiles::new(args.graph.as_deref(), args.dot.as_deref(), properties)?,
        Some(_) => None,
    };
    // Better now than when memory is used up.
    if let Some(dir) = plan.options.disk.as_deref().filter(|dir| !dir.is_dir()) {
        return Err(Failure::because(format!("--disk {}: there is no such directory", dir.display())));
    }
    // A search that begins again has what is left of the time.
    let control = limits::control(rest_of_time(plan));
    let watch = Watch::new(&control, args);
    let guide = Guide::new(args, model, plan)?;
    let progress = guide.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let heuristic = guide.heuristic.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let front = |front| {
        guide.log(front);
        watch.note(front);
    };
    let find_measure = || guides::measure(model, plan);
    let guides = Guides {
        progress: progress.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128),
        heuristic: heuristic.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128),
        front: (guide.logs() || watch.records()).then_some(&front),
        find_measure: Some(&find_measure),
        graph: wanted.or(graph.as_ref().map(|graph| &graph.wanted)),
    };
    let report = scrimp::run_engine(model, properties, plan, &control, guides);
    // It was taken up: a search that begins again, because the model is larger than it looked, is another one.
    plan.options.resume = None;
    let report = report.map_err(|e| limits::failed(&e))?;
    let explicit = plan.options.engine == EngineChoice::Explicit;
    let record = watch.finish(&report, if explicit { report.elapsed } else { control.elapsed() });
    guide.finish();
    Ok(Searched { report, record, graph: graph.and_then(GraphFiles::made) })
}

/// The answer: an object, or a text as one string.
pub fn json_or_text(
    subject: &Subject,
    args: &SearchArgs,
    text: fn(&Subject, scrimp::report::Style) -> String,
) -> serde_json::Value {
    if args.json { json::report(subject) } else { text(subject, style()).into() }
}
