//! Bounded model checking of a model file: `measure FILE [BOUND] [SECONDS] [PROPERTY]…`. Without properties, all that the
//! model can do wrong by itself.

use scrimp_bounded::{Options, run};
use scrimp_core::{Control, Property, PropertyKind};
use scrimp_lang::Opened;
use scrimp_native::{Mode, NativeModel};
use scrimp_system::Expr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let path = arguments.first().expect("a model file");
    let system = match scrimp_lang::open(Path::new(path)).unwrap_or_else(|e| panic!("{e}")) {
        Opened::System(system) => Arc::from(system),
        Opened::Promela(mut promela) => Arc::new(promela.system(false).unwrap_or_else(|e| panic!("{e}"))),
        Opened::Net(_) => panic!("nets are for the command itself"),
    };
    let model = NativeModel::new(system.clone(), Mode::Auto).unwrap_or_else(|e| panic!("{e}"));
    let parse = |text: &String| {
        let parsed = scrimp_lang::parse_property(&system, text).unwrap_or_else(|e| panic!("{e}"));
        let kind = match parsed.kind {
            PropertyKind::Deadlock => PropertyKind::Deadlock,
            PropertyKind::Faults => PropertyKind::Faults,
            PropertyKind::Assertions => PropertyKind::Assertions,
            PropertyKind::Invariant(e) => PropertyKind::Invariant(e),
            PropertyKind::Reach(e) => PropertyKind::Reach(e),
            other => panic!("{other:?} is about infinite runs"),
        };
        Property::new(text.clone(), kind)
    };
    let mut goals: Vec<Property<Expr>> = arguments.iter().skip(3).map(parse).collect();
    if goals.is_empty() {
        goals = Property::all(&system);
    }
    let bound = number(1).map(|bound| bound as u32);
    let induction = std::env::var_os("NO_INDUCTION").is_none();
    let options = Options { bound, induction, memory: 4 << 30, keep_going: true };
    let control = Control::new(number(2).map(Duration::from_secs));
    let report = run(&model, &system, model.layout(), &goals, &options, &control).unwrap_or_else(|e| panic!("{e}"));
    println!(
        "{path}: {} events, depth {:?}, limit {:?}, {} clauses, {} variables, {} conflicts, {} MiB, {:.2} s",
        system.events.len(),
        report.depth,
        report.limit,
        report.clauses,
        report.variables,
        report.conflicts,
        report.bytes >> 20,
        report.elapsed.as_secs_f64(),
    );
    report.remarks.iter().for_each(|remark| println!("  {remark}"));
    for property in &report.properties {
        let steps = property.trace.as_ref().map(|trace| trace.steps.len());
        println!("  {:?} {} {:?} {steps:?}", property.verdict, property.name, property.how.as_deref().unwrap_or("-"));
    }
}
