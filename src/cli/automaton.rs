//! `automaton`: the runs that break a property, as an automaton in the Hanoi format.

use super::args::definition;
use super::failure::Failure;
use super::output::print;
use clap::{Args, ValueHint};
use scrimp::properties::Asked;
use scrimp::temporal::never;
use scrimp::{Loaded, parse_property};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct AutomatonArgs {
    /// The model whose names the formulas use
    #[arg(value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// A property, such as 'ltl: [] <> P@cs'; repeatable
    ///
    /// Without one, all properties of infinite runs that the model has.
    #[arg(short, long, value_name = "TEXT")]
    property: Vec<String>,

    /// Define a macro of a Promela model; repeatable
    ///
    /// Before the model is read, as `spin -DN=3` does. Without a value it is 1.
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,
}

/// Prints an automaton for each property.
pub fn print_automata(args: &AutomatonArgs) -> Result<u8, Failure> {
    let loaded = Loaded::open_with(&args.model, &args.define)?;
    let claim = loaded.extracted_claim()?;
    let system = &claim.as_ref().map_or(&loaded.system, |claim| &claim.system).clone();
    let mut asked = Asked::default();
    for text in &args.property {
        asked.add(system, parse_property(system, text)?);
    }
    if args.property.is_empty() {
        asked.runs = Asked::by(system).runs;
        asked.runs.extend(claim.map(|claim| claim.property(&claim.name)));
    }
    if asked.runs.is_empty() {
        return Err(Failure::because(
            "the model has no property of infinite runs\nhelp: name one: --property 'ltl: [] (x == 1 -> <> y == 1)'",
        ));
    }
    for property in asked.runs {
        let automaton = never::broken_by(&property, &[], Duration::MAX).map_err(Failure::because)?;
        print(&never::write(&property.name, &automaton, system))?;
    }
    Ok(0)
}
