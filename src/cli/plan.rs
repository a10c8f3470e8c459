//! `plan`: what `check` with the same arguments would do, and why, without doing it.

use super::args::{NO_MODEL, PlanArgs};
use super::check::planned;
use super::search::failed;
use super::{Failure, limits, print, print_json};
use scrimp::plan::{EngineChoice, ReduceChoice, StrategyChoice, Way, combinations};
use scrimp::report::number::{bytes, grouped};
use scrimp::report::schema;
use scrimp::{Mode, Model, ModelFacts, NativeModel, Options, Plan, facts};
use scrimp_search::estimate::Estimate;
use serde_json::{Map, Value, json};

/// The most states of a sample, and what part of the memory they may take.
const SAMPLE: u64 = 1 << 18;
const SHARE: usize = 8;
/// States that are looked at for what a reduction would leave out.
const LOOK: u64 = 5_000;

pub fn run(args: &PlanArgs) -> Result<u8, Failure> {
    if args.combinations {
        return print(&combinations()).map(|()| 0);
    }
    let args = &args.check;
    if args.model.as_os_str() == NO_MODEL {
        return Err(Failure::because("name a model to plan for; `scrimp plan --combinations` needs none"));
    }
    limits::begin(&args.search)?;
    let mut check = planned(args)?;
    let searches: Vec<(Vec<String>, Plan)> =
        check.searches().map_err(failed)?.into_iter().map(|(names, plan)| (names, plan.clone())).collect();
    let Some((_, first)) = searches.first() else { return Err(Failure::because("there is nothing to search for")) };
    let seen = check.with_model(Mode::Auto, |model| Seen::new(model, first)).map_err(failed)?;
    let seen = seen.map_err(Failure::because)?;
    limits::done();
    if args.search.json {
        return print_json(&object(&searches, &seen)).map(|()| 0);
    }
    let system = check.system().map_err(failed)?;
    let mut out = format!(
        "{}: {} processes, {} variables, {} events, {} bytes a state\n",
        args.model.display(),
        system.processes.len(),
        system.variables.len(),
        system.events.len(),
        seen.state_bytes,
    );
    for (names, plan) in &searches {
        out.push_str(&described(names, plan));
    }
    out.push_str(&seen.told(first));
    print(&out).map(|()| 0)
}

/// One search: what it decides, its parts with the reasons, and what it does when memory is used up.
fn described(names: &[String], plan: &Plan) -> String {
    let mut out = format!("search for {}\n", names.join(", "));
    for (part, value) in plan.parts() {
        if part == "search" {
            out.push_str(&format!("  {value}\n"));
            continue;
        }
        let value = if part == "memory" { bytes(plan.memory()) } else { value };
        out.push_str(&format!("  {part:<8} {value:<10} {}\n", plan.reason(part)));
    }
    plan.decisions().iter().for_each(|decision| out.push_str(&format!("  {decision}\n")));
    if let Some(fallback) = fallback(plan) {
        out.push_str(&format!("  when memory is used up: {fallback}\n"));
    }
    out
}

/// What a search does when memory is used up, where it does anything.
fn fallback(plan: &Plan) -> Option<String> {
    let left_to_us = plan.options().store.is_none();
    match plan.way() {
        Way::Staged => Some(match &plan.options().disk {
            Some(dir) => format!("a tree, then files in {}", dir.display()),
            None => "a tree, then, starting over, an automaton, then forgetting what can be found again".into(),
        }),
        Way::Cycles if left_to_us => Some("starting over in a tree".into()),
        Way::Local if left_to_us => Some("starting over in store collapse, then in store comback".into()),
        _ => None,
    }
}

/// What a short look at the model shows.
struct Seen {
    state_bytes: usize,
    estimate: Estimate,
    advice: Vec<String>,
}

impl Seen {
    fn new(model: &NativeModel, plan: &Plan) -> std::io::Result<Seen> {
        let state_bytes = model.state_bytes();
        let most = (plan.memory() / SHARE / (state_bytes + 16)) as u64;
        let estimate = Estimate::sample(model, SAMPLE.min(most).max(1))?;
        let advice = if estimate.complete { Vec::new() } else { advice(model, plan, &estimate) };
        Ok(Seen { state_bytes, estimate, advice })
    }

    fn told(&self, plan: &Plan) -> String {
        let Estimate { seen, complete, expected, in_table, in_tree } = self.estimate;
        let free = plan.memory().saturating_sub(scrimp::resident().unwrap_or(0) + plan.memory() / 100);
        let room = |each: f64| grouped((free as f64 / each) as u64);
        let mut out = match (complete, expected) {
            (true, _) => format!("the model has {} states\n", grouped(seen)),
            (false, None) => {
                format!("at least {0} states (a sample of {0}); growth does not slow yet\n", grouped(seen))
            }
            (false, Some(_)) => format!("at least {0} states (a sample of {0}); growth slows\n", grouped(seen)),
        };
        if !complete && matches!(plan.options().engine, EngineChoice::Explicit) {
            out.push_str(&format!("room for {} states in a table, at {in_table:.0} bytes each\n", room(in_table)));
            out.push_str(&format!("room for {} states in a tree, at {in_tree:.1} bytes each\n", room(in_tree)));
        }
        self.advice.iter().for_each(|advice| out.push_str(&format!("try {advice}\n")));
        out
    }
}

/// What would help a model that a sample does not exhaust: only what would be accepted, and, of a reduction, what is seen to
/// leave events out.
fn advice(model: &NativeModel, plan: &Plan, estimate: &Estimate) -> Vec<String> {
    let mut advice = Vec::new();
    let options = plan.options();
    let facts = |change: &dyn Fn(&mut Options)| {
        let mut changed = options.clone();
        change(&mut changed);
        plan.instead("", &facts(model, &changed), |options| *options = changed.clone()).is_ok()
    };
    let por = |options: &mut Options| options.reduce = ReduceChoice::Persistent(None);
    if facts(&por)
        && let Some(left) = left_by_reduction(model)
        && left < 70
    {
        advice.push(format!("--reduce por: of the first {} states it explores {left} % of the events", grouped(LOOK)));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores > 1 && options.threads == 1 && facts(&|options| options.threads = cores) {
        advice.push(format!("--threads {cores}: as many as this machine has"));
    }
    let room = plan.memory() as f64 / estimate.in_tree.max(1.0);
    if (estimate.seen as f64) > room / 4.0 && facts(&|options| options.disk = Some(".".into())) {
        advice.push("--disk DIR: sorted files take over when memory is used up".into());
    }
    if estimate.expected.is_none() && facts(&|o| o.engine = EngineChoice::Symbolic(StrategyChoice::Automatic)) {
        advice.push("--engine symbolic: sets of states at once, where there are far too many to visit".into());
    }
    advice
}

/// How many of a hundred events a reduction explores in the first states.
fn left_by_reduction(model: &NativeModel) -> Option<u64> {
    let look = |reduce: ReduceChoice| {
        let options = Options { reduce, visits: Some(LOOK), ..Options::default() };
        let properties = scrimp::properties::all(model);
        let plan = Plan::new(&options, &properties, &ModelFacts::of(model)).ok()?;
        let report = scrimp::run(model, &properties, &plan, &scrimp::Control::new(None)).ok()?;
        Some(report.facts.transitions as f64 / report.visits.max(1) as f64)
    };
    let (all, some) = (look(ReduceChoice::Nothing)?, look(ReduceChoice::Persistent(None))?);
    Some((100.0 * some / all.max(0.01)).round() as u64)
}

fn object(searches: &[(Vec<String>, Plan)], seen: &Seen) -> Value {
    let parts = |plan: &Plan| -> Map<String, Value> {
        let mut parts: Map<String, Value> = plan.parts().into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
        parts.insert("decisions".into(), plan.decisions().to_vec().into());
        parts
    };
    let names: Vec<&String> = searches.iter().flat_map(|(names, _)| names).collect();
    let all: Vec<Value> =
        searches.iter().map(|(names, plan)| json!({ "properties": names, "plan": parts(plan) })).collect();
    let Estimate { seen: sampled, complete, in_table, in_tree, .. } = seen.estimate;
    json!({
        "schema": schema::PLAN,
        "plan": parts(&searches[0].1),
        "searches": all,
        "state_bytes": seen.state_bytes,
        "properties": names,
        "sampled_states": sampled,
        "states_at_least": sampled,
        "complete": complete,
        "growth_slows": seen.estimate.expected.is_some(),
        "bytes_in_table": in_table,
        "bytes_in_tree": in_tree,
        "advice": seen.advice,
    })
}
