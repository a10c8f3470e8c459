//! One way in for every engine: searches state by state, with sets of states, with formulas, on a graphics card, or by a cluster.

use crate::error::CheckError;
use crate::properties::doubt;
use scrimp_cluster::{Cluster, Forgot, Gathering, Manner};
use scrimp_core::budget::resident;
use scrimp_core::{
    CardFacts, Condition, Control, ForgetFacts, FormulaFacts, Property, PropertyResult, Report, SetFacts, cores,
};
use scrimp_gpu::{Card, Device, Host as Processor};
use scrimp_native::NativeModel;
use scrimp_progress::Measure;
use scrimp_search::checkpoint::{Identity, model_digest};
use scrimp_search::plan::Way;
use scrimp_search::plan::{BoundChoice, CardChoice, EngineChoice, StrategyChoice, VariableChoice};
use scrimp_search::{Guides, Options, Plan, run_guided};
use scrimp_symbolic::{Order, Strategy};
use scrimp_system::Expr;
use std::io;
use std::time::Instant;

/// Decides `properties` of a model file by the engine of a plan; without properties, counts.
pub fn run_engine(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    guides: Guides,
) -> io::Result<Report> {
    run_engine_of(model, properties, plan, control, guides, None)
}

/// The cluster that a plan may be for, and the measure of progress as it is sent there.
#[derive(Clone, Copy)]
pub(crate) struct Together<'a> {
    pub gathering: &'a Gathering,
    pub measure: Option<&'a Measure>,
}

/// The same, with the cluster that a plan may be for.
pub(crate) fn run_engine_of(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    guides: Guides,
    cluster: Option<Together>,
) -> io::Result<Report> {
    let mut report = match plan.options().engine {
        EngineChoice::Explicit => run_guided(model, properties, plan, control, guides)?,
        EngineChoice::Symbolic(strategy) => with_sets(model, properties, plan, control, strategy)?,
        EngineChoice::Bounded(BoundChoice(bound)) => with_formulas(model, properties, plan, control, bound)?,
        EngineChoice::Gpu(_) => on_card(model, &over_expressions(properties, "a kernel")?, plan, control)?,
        EngineChoice::Cluster(_) => {
            on_cluster(model, &over_expressions(properties, "what is sent")?, plan, control, cluster)?
        }
    };
    doubt(properties, &mut report.properties);
    Ok(report)
}

/// Refuses an engine that this machine does not have.
pub(crate) fn admit(options: &Options) -> Result<(), CheckError> {
    let missing = match options.engine {
        EngineChoice::Gpu(CardChoice::Number(number)) => Card::find(number).err(),
        EngineChoice::Gpu(CardChoice::Processor) => Processor::find().err(),
        _ => None,
    };
    missing.map_or(Ok(()), |why| Err(CheckError::Asked(format!("--engine {}: {why}", options.engine))))
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}

/// Sets of states, as decision diagrams.
fn with_sets(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    _: StrategyChoice,
) -> io::Result<Report> {
    let questions: Vec<Property<Expr>> = properties.iter().filter_map(Property::over_expressions).collect();
    let (mut report, results) = sets(model, &questions, &[], plan, control, true)?;
    let mut results = results.into_iter();
    report.properties = properties
        .iter()
        .map(|property| match property.over_expressions() {
            Some(_) => results.next().unwrap_or_else(|| PropertyResult::undecided(&property.name)),
            None => PropertyResult::undecided(&property.name),
        })
        .collect();
    Ok(report)
}

/// Answers questions with sets of states, as a plan for that engine says; without questions, counts. With `evidence`, runs
/// that show the answers.
pub(crate) fn sets(
    model: &NativeModel,
    questions: &[Property<Expr>],
    fair: &[Expr],
    plan: &Plan,
    control: &Control,
    evidence: bool,
) -> io::Result<(Report, Vec<PropertyResult>)> {
    let begun = Instant::now();
    let strategy = match plan.options().engine {
        EngineChoice::Symbolic(strategy) => strategy,
        _ => StrategyChoice::Automatic,
    };
    let options = scrimp_symbolic::Options {
        strategy: match strategy {
            StrategyChoice::Automatic | StrategyChoice::Saturation => Strategy::Saturation,
            StrategyChoice::BreadthFirst => Strategy::BreadthFirst,
            StrategyChoice::Chaining => Strategy::Chaining,
        },
        order: match plan.options().variables {
            VariableChoice::Force => Order::Force,
            VariableChoice::Given => Order::Given,
        },
        reorder: plan.options().reorder,
        memory: Some(plan.memory()),
        reduce: plan.options().reduce.leaves_out_states(),
        dont_care: plan.options().dont_care,
        keep_going: plan.options().keep_going,
        count_all: questions.is_empty(),
        fairness: fair.to_vec(),
        evidence,
    };
    let found = scrimp_symbolic::run(model, model.system(), model.layout(), questions, &options, control)?;
    control.finish();
    let mut report = Report::of_nothing(model, begun.elapsed());
    report.limit = found.limit;
    report.ran = plan.parts();
    report.reduced = options.reduce;
    report.exhaustive = found.exhaustive;
    report.remarks = found.remarks;
    report.store_bytes = found.bytes;
    report.tokens = found.tokens;
    report.sets = Some(SetFacts {
        states: found.states.to_string(),
        transitions: found.transitions.map(|number| number.to_string()),
        deadlocks: found.deadlocks.map(|number| number.to_string()),
        levels: found.depth.and_then(|depth| u32::try_from(depth).ok()),
        variables: found.levels,
        peak_nodes: found.peak_nodes as u64,
        final_nodes: found.nodes as u64,
        reorderings: found.reorderings as u32,
    });
    Ok((report, found.properties))
}

/// Runs of growing length, as formulas.
fn with_formulas(
    model: &NativeModel,
    properties: &[Property<Condition>],
    plan: &Plan,
    control: &Control,
    bound: Option<u32>,
) -> io::Result<Report> {
    let begun = Instant::now();
    if properties.is_empty() {
        return Err(invalid("--engine bmc cannot count states\nhelp: leave out --engine, or use `scrimp check`"));
    }
    let goals = over_expressions(properties, "a formula")?;
    let options = scrimp_bounded::Options {
        bound,
        induction: true,
        memory: plan.memory(),
        keep_going: plan.options().keep_going,
    };
    let found = scrimp_bounded::run(model, model.system(), model.layout(), &goals, &options, control)?;
    control.finish();
    let mut report = Report::of_nothing(model, begun.elapsed());
    report.ran = plan.parts();
    report.properties = found.properties;
    report.limit = found.limit;
    report.remarks = found.remarks;
    report.store_bytes = found.bytes;
    report.formulas = Some(FormulaFacts {
        steps: found.depth,
        clauses: found.clauses,
        variables: found.variables,
        conflicts: found.conflicts,
    });
    Ok(report)
}

/// Level by level on the graphics card that a plan names.
pub(crate) fn on_card(
    model: &NativeModel,
    goals: &[Property<Expr>],
    plan: &Plan,
    control: &Control,
) -> io::Result<Report> {
    let begun = Instant::now();
    let EngineChoice::Gpu(card) = plan.options().engine else {
        return Err(invalid("internal error: the plan is for another engine"));
    };
    // What a card has is beside what the program may use; what its threads have instead of one is not.
    let beside = plan.memory().saturating_sub(resident().unwrap_or(0));
    let (mut device, memory): (Box<dyn Device>, usize) = match card {
        CardChoice::Number(number) => {
            (Box::new(Card::new(number).map_err(invalid)?), plan.options().memory.unwrap_or(usize::MAX))
        }
        CardChoice::Processor => (Box::new(Processor::new(cores()).map_err(invalid)?), beside),
    };
    let options = scrimp_gpu::Options { memory, beside, keep_going: plan.options().keep_going };
    let found = scrimp_gpu::run(model, model.system(), model.layout(), goals, &options, control, &mut *device)?;
    control.finish();
    let mut report = Report::of_nothing(model, begun.elapsed());
    report.ran = plan.parts();
    report.limit = found.limit;
    report.exhaustive = found.exhaustive;
    report.detailed = true;
    report.visits = found.facts.states - found.facts.open;
    report.forget.stored_peak = found.facts.states;
    report.store_bytes = found.table_bytes;
    report.facts = found.facts;
    report.properties = found.properties;
    report.remarks = found.remarks;
    report.card = Some(CardFacts {
        name: device.name(),
        state_bits: found.state_bits,
        peak_bytes: found.peak_bytes,
        searched: found.searched,
        made: found.made,
    });
    Ok(report)
}

/// The cluster that a plan is for.
pub(crate) fn brought_together<'c>(plan: &Plan, cluster: Option<&'c Gathering>) -> io::Result<&'c Cluster> {
    let options = plan.options();
    let cluster = cluster.ok_or_else(|| invalid("no processes were brought together for --engine cluster"))?;
    let cluster = cluster.cluster().map_err(io::Error::other)?;
    if (EngineChoice::Cluster(cluster.processes() as u32), cluster.threads()) != (options.engine, options.threads) {
        return Err(invalid("the plan is for another cluster"));
    }
    Ok(cluster)
}

/// Level by level, by the processes of a cluster.
pub(crate) fn on_cluster(
    model: &NativeModel,
    goals: &[Property<Expr>],
    plan: &Plan,
    control: &Control,
    together: Option<Together>,
) -> io::Result<Report> {
    let options = plan.options();
    let measure = together.and_then(|together| together.measure);
    let cluster = brought_together(plan, together.map(|together| together.gathering))?;
    let begun = Instant::now();
    let asked: Vec<String> = goals.iter().map(|goal| format!("{} {:?}", goal.name, goal.kind)).collect();
    let essence = format!("cluster {} {}", options.keep_going, asked.join("\n"));
    let told = scrimp_cluster::Options {
        memory: plan.memory(),
        keep_going: options.keep_going,
        checkpoint: options.checkpoint.clone(),
        every: plan.every(),
        resume: options.resume.clone(),
        identity: Identity { model: model_digest(model), options: scrimp_search::hash(essence.as_bytes()) },
    };
    let (found, forgot) = match plan.way() {
        Way::ClusterShares => {
            let manner = Manner {
                forget: options.forget.to_string(),
                reduce: options.reduce.to_string(),
                measure: options.progress.clone().zip(measure.map(Measure::expressions)),
                stride: options.stride,
                seed: options.seed,
            };
            scrimp_cluster::run_shares(model, goals, manner, &told, control, cluster)?
        }
        _ => {
            let found = scrimp_cluster::run(model, goals, &told, control, cluster)?;
            let facts = ForgetFacts { stored_peak: found.facts.states, ..ForgetFacts::default() };
            (found, Forgot { facts, once: true })
        }
    };
    control.finish();
    let mut report = Report::of_nothing(model, begun.elapsed());
    report.ran = plan.parts();
    report.reduced = options.reduce.leaves_out_states();
    report.limit = found.limit;
    report.exhaustive = found.exhaustive;
    report.detailed = true;
    report.visits = found.visits;
    report.once = forgot.once;
    report.forget = forgot.facts;
    report.store_bytes = found.kept_bytes as usize;
    report.facts = found.facts;
    report.properties = found.properties;
    report.remarks = found.remarks;
    report.cluster = Some(found.traffic);
    Ok(report)
}

/// The same properties about expressions; fails where a condition is none that could become what is needed.
fn over_expressions(properties: &[Property<Condition>], what: &str) -> io::Result<Vec<Property<Expr>>> {
    let goal = |property: &Property<Condition>| {
        property.over_expressions().ok_or_else(|| {
            let name = &property.name;
            invalid(format!("property {name}: its condition is no expression that could become {what}"))
        })
    };
    properties.iter().map(goal).collect()
}
