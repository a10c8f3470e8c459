//! `plan`: what `check` with the same arguments would do, and why, without doing it.

use super::args::{NO_MODEL, PlanArgs};
use super::check::{admit, planned};
use super::failure::Failure;
use super::limits;
use super::output::{print, print_json};
use super::search::failed;
use scrimp::plan::{EngineChoice, combinations};
use scrimp::report::number::{bytes, count_of, grouped};
use scrimp::report::schema;
use scrimp::{Foresight, Mode, Plan, fallback};
use scrimp_search::estimate::Estimate;
use serde_json::{Map, Value, json};

pub fn run(args: &PlanArgs) -> Result<u8, Failure> {
    if args.combinations {
        return print(&combinations()).map(|()| 0);
    }
    let (only_admit, args) = (args.admit, &args.check);
    if args.model.as_os_str() == NO_MODEL {
        return Err(Failure::because(
            "no model is given\nhelp: `scrimp plan MODEL [OPTIONS]`; `scrimp plan --combinations` needs no model",
        ));
    }
    limits::begin(&args.search)?;
    admit(args)?;
    let mut check = planned(args)?;
    let searches: Vec<(Vec<String>, Plan)> =
        check.searches().map_err(failed)?.into_iter().map(|(names, plan)| (names, plan.clone())).collect();
    let Some((_, first)) = searches.first() else { return Err(Failure::because("there is nothing to search for")) };
    if only_admit {
        limits::done();
        return print_json(&json!({ "admitted": true })).map(|()| 0);
    }
    let seen = check.with_model(Mode::Auto, |model| Foresight::new(model, first)).map_err(failed)?;
    let seen = seen.map_err(Failure::because)?;
    limits::done();
    if args.search.json {
        return print_json(&object(&searches, &seen)).map(|()| 0);
    }
    let system = check.system().map_err(failed)?;
    let mut out = format!(
        "{}: {}, {}, {}, {} a state\n",
        args.model.display(),
        processes(system.processes.len()),
        count_of(system.variables.len() as u64, "variable"),
        count_of(system.events.len() as u64, "event"),
        count_of(seen.state_bytes as u64, "byte"),
    );
    for (names, plan) in &searches {
        out.push_str(&described(names, plan));
    }
    out.push_str(&told(&seen, first));
    print(&out).map(|()| 0)
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_string() } else { format!("{count} processes") }
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
        let line = format!("  {part:<8} {value:<10} {}", plan.reason(part));
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    plan.decisions().iter().for_each(|decision| out.push_str(&format!("  {decision}\n")));
    if let Some(fallback) = fallback(plan) {
        out.push_str(&format!("  when memory is used up: {fallback}\n"));
    }
    out
}

/// What the short look shows, in words.
fn told(look: &Foresight, plan: &Plan) -> String {
    let Estimate { seen, complete, expected, in_table, in_tree } = look.estimate;
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
    if let Some(fit) = look.card {
        let slots = if fit.parts { "kept as the numbers of their parts" } else { "8 bytes each in a full table" };
        let groups = count_of(fit.groups as u64, "thread");
        out.push_str(&format!("on the card: {} bits a state, {slots}; {groups} for each state\n", fit.state_bits));
    }
    look.advice.iter().for_each(|advice| out.push_str(&format!("try {advice}\n")));
    out
}

fn object(searches: &[(Vec<String>, Plan)], seen: &Foresight) -> Value {
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
        "state_bits_on_card": seen.card.map(|fit| fit.state_bits),
        "advice": seen.advice,
    })
}
