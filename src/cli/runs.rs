//! Properties of runs: one search for each.

use super::args::{SearchArgs, definition};
use super::guides::Guide;
use super::limits;
use super::search::{Searched, rest_of_time, runnable};
use super::watch::Watch;
use super::{Failure, print};
use clap::{Args, ValueHint};
use scrimp::properties::Asked;
use scrimp::temporal::{Means, decide, never};
use scrimp::{Loaded, NativeModel, Plan, Property};
use scrimp::{parse_condition, parse_property};
use scrimp_system::{Expr, System};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Decides a property of runs.
pub fn search(
    model: &NativeModel,
    property: &Property<Expr>,
    plan: &mut Plan,
    args: &SearchArgs,
) -> Result<Searched, Failure> {
    let control = limits::control(rest_of_time(plan));
    let watch = Watch::new(&control, args);
    let fair = fair(args, model.system())?;
    let guide = Guide::new(args, model, plan)?;
    let progress = guide.progress.as_ref().map(|measure| |state: &[u8]| measure.value(state));
    let progress = progress.as_ref().map(|f| f as &dyn Fn(&[u8]) -> u128);
    let means = Means { plan, control: &control, fair: &fair, progress };
    let report = decide(model, property, &means).map_err(|e| limits::failed(&e))?;
    let record = watch.finish(&report, control.elapsed());
    Ok(Searched { report, record, graph: None })
}

/// The conditions that hold again and again on the runs that count.
pub fn fair(args: &SearchArgs, system: &System) -> Result<Vec<Expr>, Failure> {
    args.fair.iter().filter(|text| *text != "weak").map(|text| Ok(parse_condition(system, "fair", text)?)).collect()
}

/// What `--fair` says must mean something, and must be said of runs: nothing else is fair or not.
pub fn admit_fair(args: &SearchArgs, system: &System, about_runs: bool) -> Result<(), Failure> {
    fair(args, system)?;
    match args.fair.first().filter(|_| !about_runs) {
        Some(text) => {
            Err(Failure::because(format!("--fair {text}: nothing that is asked is about runs that go on for ever")))
        }
        None => Ok(()),
    }
}

/// An automaton from a file, as what no run may be like.
pub fn automaton(path: &Path, model: &NativeModel) -> Result<Property<Expr>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| Failure::at(&name, e))?;
    let atom =
        |text: &str| parse_condition(model.system(), "atom", text).map_err(|problem| format!("{name}: {problem}"));
    never::read(&name, &text, &atom).map_err(Failure::because)
}

#[derive(Debug, Args)]
pub struct AutomatonArgs {
    /// The model whose names the formulas use
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// A formula such as 'ltl: [] (P@try -> <> P@cs)'; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    property: Vec<String>,

    /// Define a macro of a Promela model before it is read, as `spin -DN=3` does; may be given several times
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,
}

/// `automaton`: the runs that break a property, as an automaton in the Hanoi format.
pub fn print_automata(args: &AutomatonArgs) -> Result<u8, Failure> {
    let loaded = Loaded::open_with(&args.model, &args.define)?;
    let claim = loaded.claim_apart()?;
    let system = &claim.as_ref().map_or(&loaded.system, |claim| &claim.system).clone();
    let model = runnable(system.clone(), true, false)?;
    let mut asked = Asked::default();
    for text in &args.property {
        asked.add(model, parse_property(system, text)?);
    }
    if args.property.is_empty() {
        asked.runs = Asked::by(model).runs;
        asked.runs.extend(claim.map(|claim| claim.property(&claim.name)));
    }
    if asked.runs.is_empty() {
        return Err(Failure::because("there is no property of runs; name one with --property 'ltl: …'"));
    }
    for property in asked.runs {
        let automaton = never::broken_by(&property, &[], Duration::MAX).map_err(Failure::because)?;
        print(&never::write(&property.name, &automaton, system))?;
    }
    Ok(0)
}
