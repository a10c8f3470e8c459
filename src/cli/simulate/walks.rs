//! `simulate --walks`: many random walks that look for what is asked on the way.

use super::SimulateArgs;
use crate::cli::chart;
use crate::cli::failure::Failure;
use crate::cli::limits::{self, Voice};
use crate::cli::output::{print, print_json, remark};
use crate::cli::search::{failed, unread};
use crate::cli::trace::{self, TraceFormat};
use scrimp::chart::Drawing;
use scrimp::nets::Structure;
use scrimp::simulation::{Walks, simulate};
use scrimp::{Loaded, Mode, Request};
use std::path::Path;
use std::thread::available_parallelism;

/// Events of a walk, unless said otherwise.
const STEPS: u64 = 1000;

pub fn run(args: &SimulateArgs, count: u64) -> Result<u8, Failure> {
    if args.json && args.chart.as_deref() == Some(Path::new("-")) {
        return Err(Failure::because(
            "--json and --chart - would both write to standard output\nhelp: name a file: --chart FILE.svg",
        ));
    }
    limits::begin_within(args.memory, args.time, Voice { json: args.json, quiet: false })?;
    // States are not stored, so that it does not pay to find out how few bits they need.
    let loaded =
        Loaded::open_under(&args.model, &args.define, Structure::NONE, None, &limits::stop()).map_err(unread)?;
    loaded.system.warnings.iter().for_each(|warning| remark(warning));
    let walks = Walks {
        count,
        steps: args.steps.unwrap_or(STEPS),
        seed: args.seed,
        threads: args.threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
    };
    let request = Request { properties: args.property.clone(), ..Request::default() };
    let (model, simulation) = simulate(loaded, &request, &walks, Mode::Auto).map_err(failed)?;
    limits::done();
    let name = args.model.display().to_string();
    let format = args.trace_format.unwrap_or(TraceFormat::Text);
    let report = || simulation.text(&name, &*model, trace::style_of_report(args.trace_format, format.is_document()));
    match args.json {
        true => print_json(&simulation.json(&name, &*model))?,
        false if format.is_document() => remark(&report()),
        false => print(&report())?,
    }
    if format.is_document() {
        match simulation.properties.iter().find_map(|p| trace::written(format, &model, p, &name)) {
            Some(run) => print(&run)?,
            None => remark("--trace-format: no run was found, so there is none to write"),
        }
    }
    if let Some(path) = &args.chart {
        match simulation.properties.iter().find_map(|p| Drawing::of(&model, p)) {
            Some(drawing) => chart::write(drawing, path)?,
            None => remark(&format!("--chart {}: no run was found that could be drawn", path.display())),
        }
    }
    Ok(simulation.overall().exit_code())
}
