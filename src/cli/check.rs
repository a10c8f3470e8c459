//! `check`: everything that is asked of a model, or that it asks of itself.

use super::args::{CheckArgs, SearchArgs};
use super::curves::Curves;
use super::graph::Made;
use super::lengths;
use super::limits;
use super::report::{ReportFile, drawn};
use super::search::{Searched, open, options, runnable, search, unread, with_room};
use super::{Failure, WRONG, chart, net, outputs, print, print_json, remark, runs, style};
use scrimp::chart::Drawing;
use scrimp::properties::{self, Asked};
use scrimp::report::html::Kind;
use scrimp::report::{Overall, Subject, json, text, unreached};
use scrimp::temporal::Apart;
use scrimp::{Cause, Loaded, NativeModel, Plan, Property, System, Trace, parse_property, parse_property_file};
use scrimp_search::plan::{EngineChoice, ReduceChoice};
use scrimp_system::{Expr, Source};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub fn check(args: &CheckArgs) -> Result<u8, Failure> {
    limits::begin(&args.search)?;
    if args.search.json && args.chart.as_deref() == Some(Path::new("-")) {
        return Err(Failure::because("--json and --chart - would write to the same place"));
    }
    args.search.refuse_mixture()?;
    outputs::admit_of_check(args)?;
    let mut plan = Plan::new(&options(&args.search, args.keep_going, false)?)?;
    let mut file = ReportFile::new(&args.search, Kind::Check, &args.model)?;
    let mut loaded = open(&args.model, &args.search)?;
    if let Some(net) = loaded.net.take() {
        return net::check(args, net, plan, file);
    }
    let told = Shared::new(file.take(), args);
    if let Some(formulas) = args.formulas.first() {
        let message = "formulas of the Model Checking Contest are about Petri nets (.pnml)";
        return Err(Failure::at(formulas.display(), message));
    }
    let asks_claim = args.property.iter().any(|text| text.trim() == "claim");
    if asks_claim && !loaded.has_claim() {
        return Err(Failure::because("property `claim`: the model has no claim"));
    }
    let has_claim = loaded.has_claim();
    let claim = loaded.take_claim()?;
    let own = args.property.is_empty() && args.property_file.is_none();
    let name = args.model.display().to_string();
    let watch = args.search.json || !args.search.quiet;
    // What is asked is read against the system: a model that runs is only made where something is searched.
    let (states, runs) = how_many(args, &loaded.system)?;
    runs::admit_fair(&args.search, &loaded.system, runs > 0 || asks_claim || own && has_claim)?;
    let wants_graph = args.search.graph.is_some() || args.search.dot.is_some();
    if states == 0 && wants_graph {
        // Searches for runs go their own ways: the graph takes one that visits every state.
        let (model, searched) =
            with_room(&mut loaded, &args.search, false, |model| search(model, &[], &mut plan, &args.search))?;
        told.lock().graph = searched.graph.map(|graph| (model, graph));
    }
    if states > 0 {
        let (model, Searched { report, record, graph }) = with_room(&mut loaded, &args.search, watch, |model| {
            search(model, &asked(args, model)?.states, &mut plan, &args.search)
        })?;
        told.lock().graph = graph.map(|graph| (model, graph));
        // What a reduction leaves out may be executed all the same.
        // So may what was executed before a search was taken up.
        let whole = report.exhaustive
            && report.visits > 0
            && !plan.options.reduce.leaves_out_states()
            && args.search.resume.is_none();
        let statements = whole.then(|| statements(model)).flatten();
        told.lock().add(
            args,
            model,
            &Subject { name: &name, model, plan: &plan, report: &report, statements, record: record.as_ref() },
            || left(args, model, 0, (own || asks_claim).then_some((&mut loaded, claim.as_ref()))),
        )?;
    }
    for number in 0..runs {
        if told.lock().is_over(args) {
            break;
        }
        let (model, Searched { report, record, .. }) = with_room(&mut loaded, &args.search, false, |model| {
            runs::search(model, &asked(args, model)?.runs[number], &mut plan, &args.search)
        })?;
        told.lock().add(
            args,
            model,
            &Subject { name: &name, model, plan: &plan, report: &report, statements: None, record: record.as_ref() },
            || left(args, model, number + 1, (own || asks_claim).then_some((&mut loaded, claim.as_ref()))),
        )?;
    }
    if (own || asks_claim) && !told.lock().is_over(args) {
        claims(args, loaded, claim, &plan, &told)?;
    }
    limits::done();
    told.lock().finish(args)
}

/// What the model's claim says: a property process, which is no part of the system any more, or a `never` claim.
fn claims(
    args: &CheckArgs,
    mut loaded: Loaded,
    claim: Option<Apart>,
    plan: &Plan,
    told: &Shared,
) -> Result<(), Failure> {
    let name = args.model.display().to_string();
    let mut plan = plan.clone();
    if let Some(claim) = claim {
        let property = claim.property(&claim.name);
        let (model, Searched { report, record, .. }) = with_room(&mut loaded, &args.search, false, |model| {
            runs::search(model, &property, &mut plan, &args.search)
        })?;
        return told.lock().add(
            args,
            model,
            &Subject { name: &name, model, plan: &plan, report: &report, statements: None, record: record.as_ref() },
            || Ok(Vec::new()),
        );
    }
    // A claim restricts what it watches, so it is searched with after the model has been searched without.
    if !loaded.add_claim().map_err(unread)? {
        return Ok(());
    }
    if plan.options.reduce.leaves_out_states() && plan.options.engine == EngineChoice::Explicit {
        // The claim sees every step.
        plan.options.reduce = ReduceChoice::Nothing;
    }
    // What was saved is a search without the claim, if there was one.
    let saves = told.lock().answers.is_empty();
    if !saves {
        plan.options.checkpoint = None;
        plan.options.resume = None;
    }
    // The graph is that of the model alone.
    plan.options.graph = false;
    let without_graph = SearchArgs { graph: None, dot: None, ..args.search.clone() };
    let name = format!("{name} with its never claim");
    let (model, Searched { mut report, record, .. }) = with_room(&mut loaded, &args.search, false, |model| {
        search(model, &properties::model_assertions(model), &mut plan, &without_graph)
    })?;
    if !saves && args.search.checkpoint.is_some() {
        report.remarks.push("the search with the claim is not saved; ask for it alone with --property claim".into());
    }
    let accepts = accepts(&loaded.system);
    told.lock().add(
        args,
        model,
        &Subject { name: &name, model, plan: &plan, report: &report, statements: None, record: record.as_ref() },
        || Ok(accepts.then(|| ACCEPTANCE.to_string()).into_iter().collect()),
    )?;
    if !accepts || told.lock().is_over(args) {
        return Ok(());
    }
    loop {
        let Some(claim) = loaded.claim_apart()? else { return Ok(()) };
        let model = runnable(claim.system.clone(), args.search.interpret, false)?;
        let property = claim.property(ACCEPTANCE);
        let report = runs::search(model, &property, &mut plan, &args.search);
        if !loaded.grow(model).map_err(unread)? {
            let Searched { mut report, record, .. } = report?;
            lengths::leave_out(&mut report, &args.search);
            return told.lock().add(
                args,
                model,
                &Subject {
                    name: &name,
                    model,
                    plan: &plan,
                    report: &report,
                    statements: None,
                    record: record.as_ref(),
                },
                || Ok(Vec::new()),
            );
        }
    }
}

/// That a `never` claim accepts no run.
const ACCEPTANCE: &str = "never claim: acceptance";

/// Has the system a claim that accepts runs?
fn accepts(system: &System) -> bool {
    system.claim.iter().any(|claim| !system.processes[claim.process.index()].accepting.is_empty())
}

/// What is not searched for any more where a violation ends the work: the properties of runs from this number on, and what
/// the claim says, if that was asked.
fn left(
    args: &CheckArgs,
    model: &NativeModel,
    number: usize,
    claim: Option<(&mut Loaded, Option<&Apart>)>,
) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = asked(args, model)?.runs.into_iter().skip(number).map(|p| p.name).collect();
    let Some((loaded, claim)) = claim else { return Ok(names) };
    if let Some(claim) = claim {
        names.push(claim.name.clone());
    } else if loaded.add_claim().is_ok_and(|added| added) {
        names.extend(Property::invariants(&loaded.system).into_iter().map(|property| property.name));
        names.extend(accepts(&loaded.system).then(|| ACCEPTANCE.to_string()));
    }
    Ok(names)
}

/// What was found out so far, for who searches and for who ends that.
struct Shared(Arc<Mutex<Told>>);

impl Shared {
    fn new(file: Option<ReportFile>, args: &CheckArgs) -> Shared {
        let told = Arc::new(Mutex::new(Told::new(file)));
        let (shared, args) = (Shared(told.clone()), args.clone());
        limits::tell_by(move |cause| shared.lock().cut(cause, &args));
        Shared(told)
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was found out so far.
struct Told {
    answers: Vec<serde_json::Value>,
    overall: Overall,
    drawing: Option<Drawing>,
    file: Option<ReportFile>,
    curves: Curves,
    /// The graph, with the model that it is of, and the first run that was found.
    graph: Option<(&'static NativeModel, Made)>,
    run: Option<Trace>,
}

impl Told {
    fn new(file: Option<ReportFile>) -> Told {
        Told {
            answers: Vec::new(),
            overall: Overall::Verified,
            drawing: None,
            file,
            curves: Curves::default(),
            graph: None,
            run: None,
        }
    }

    /// Adds what a search has found; where that ends the work, what is left stays undecided.
    fn add(
        &mut self,
        args: &CheckArgs,
        model: &NativeModel,
        subject: &Subject,
        left: impl FnOnce() -> Result<Vec<String>, Failure>,
    ) -> Result<(), Failure> {
        let overall = Overall::of(subject.report);
        self.overall = if self.answers.is_empty() { overall } else { self.overall.and(overall) };
        let left = if self.is_over(args) { left()? } else { Vec::new() };
        self.answers.push(match args.search.json {
            true => json::leaving(subject, &left),
            false => text::leaving(subject, &left, style()).into(),
        });
        if args.chart.is_some() && self.drawing.is_none() {
            self.drawing = subject.report.properties.iter().find_map(|p| drawn(model, p));
        }
        if self.graph.is_some() && self.run.is_none() {
            self.run = subject.report.properties.iter().find_map(|p| p.trace.clone());
        }
        if let Some(file) = &mut self.file {
            file.add(model, subject);
            file.leave(&left);
        }
        self.curves.add(subject, &args.search);
        Ok(())
    }

    /// Has what was found ended the work?
    fn is_over(&self, args: &CheckArgs) -> bool {
        self.overall == Overall::Violated && !args.keep_going
    }

    /// Ends before all is known: says what is, and why there is no more.
    fn cut(&mut self, cause: Cause, args: &CheckArgs) -> u8 {
        if self.answers.is_empty() {
            return limits::Voice { json: args.search.json, quiet: args.search.quiet }.tell_nothing(cause);
        }
        self.overall = self.overall.and(Overall::Incomplete);
        let why = format!("Stopped: {cause}; what is left was not looked at.");
        if args.search.json {
            self.answers[0]["limits"]["reached"] = limits::word(cause).into();
        } else {
            self.answers.push(format!("{why}\n").into());
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
        let Told { answers, overall, drawing, file, curves, graph, run } = std::mem::replace(self, Told::new(None));
        if args.search.json {
            print_json(&json::together(answers, overall))?;
        } else if !args.search.quiet {
            answers.iter().try_for_each(|answer| print(answer.as_str().unwrap_or_default()))?;
        }
        if let Some(path) = &args.chart {
            match drawing {
                Some(drawing) => chart::write(drawing, path)?,
                None if args.search.quiet => {}
                None => remark(&format!("--chart {}: there is no run to draw", path.display())),
            }
        }
        if let Some((model, graph)) = graph {
            graph.write(model, run.as_ref(), args.search.quiet)?;
        }
        if let Some(file) = file {
            file.write()?;
        }
        curves.finish(&args.search)?;
        Ok(overall.exit_code())
    }
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

/// A property as it was asked for.
enum Written {
    Property(Property<Expr>),
    /// An automaton in a file.
    Automaton(PathBuf),
    /// What the model's own claim says.
    Claim,
}

/// The properties asked for, in terms of a system.
fn written(args: &CheckArgs, system: &System) -> Result<Vec<Written>, Failure> {
    let mut list = Vec::new();
    for text in &args.property {
        list.push(match (text.trim(), text.trim().strip_prefix("hoa:")) {
            ("claim", _) => Written::Claim,
            (_, Some(path)) => Written::Automaton(path.trim().into()),
            _ => Written::Property(parse_property(system, text)?),
        });
    }
    if let Some(path) = &args.property_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::at(&name, e))?;
        let found = parse_property_file(system, Source::new(name.clone(), text))?;
        if found.is_empty() {
            return Err(Failure::at(&name, "there is no property in it"));
        }
        list.extend(found.into_iter().map(Written::Property));
    }
    Ok(list)
}

/// How many of the properties are about states, and how many about runs.
fn how_many(args: &CheckArgs, system: &System) -> Result<(usize, usize), Failure> {
    let list = written(args, system)?;
    if list.is_empty() {
        return Ok((1, Property::of_runs(system).len()));
    }
    let (mut states, mut runs) = (0, 0);
    for written in list {
        match written {
            Written::Property(property) if !property.kind.is_about_runs() => states += 1,
            Written::Property(_) | Written::Automaton(_) => runs += 1,
            Written::Claim => {}
        }
    }
    Ok((states, runs))
}

/// The properties asked for, or all that the model has.
pub fn asked<'a>(args: &CheckArgs, model: &'a NativeModel) -> Result<Asked<'a>, Failure> {
    let list = written(args, model.system())?;
    if list.is_empty() {
        return Ok(Asked::by(model));
    }
    let mut asked = Asked::default();
    for written in list {
        match written {
            Written::Property(property) => asked.add(model, property),
            Written::Automaton(path) => asked.runs.push(runs::automaton(&path, model)?),
            // It is searched with by itself.
            Written::Claim => {}
        }
    }
    Ok(asked)
}
