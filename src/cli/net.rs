//! `check` for Petri nets: every question is answered on its own.

use super::args::{CheckArgs, SearchArgs};
use super::progress::interrupted;
use super::search::{begun, json_or_text, search_for_graph};
use super::{Failure, print};
use scrimp::condensed::Wanted;
use scrimp::net::{Inquiry, PetriNet};
use scrimp::report::{Overall, Subject, text};
use scrimp::{Mode, NativeModel, NetNames, Plan, Property, read_formulas};
use scrimp_system::Source;
use std::path::Path;

pub fn check(args: &CheckArgs, net: PetriNet, plan: Plan) -> Result<u8, Failure> {
    let mut questions = Vec::new();
    for path in &args.formulas {
        questions.extend(read_formulas(path, &net.net)?);
    }
    let names = NetNames::new(&net.net);
    for text in &args.property {
        questions.push(names.question(text)?);
    }
    if let Some(path) = &args.property_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure(format!("{name}: error: {e}")))?;
        questions.extend(names.questions(&Source::new(name, text))?);
    }
    if questions.is_empty() {
        if let Some(path) = args.formulas.first().or(args.property_file.as_ref()) {
            return Err(Failure(format!("{}: error: there is no property in it", path.display())));
        }
        questions.push(names.question("deadlock")?);
    }
    let mode = if args.search.interpret { Mode::Interpreted } else { Mode::Auto };
    let mut rest = plan.clone();
    rest.options.time = rest.options.time.map(|time| time.saturating_sub(begun().elapsed()));
    let mut search = |model: &NativeModel, properties: &[Property], plan: &mut Plan, wanted: &Wanted| {
        // The search counts from when the program began.
        plan.options.time = plan.options.time.map(|time| time + begun().elapsed());
        search_for_graph(model, properties, plan, &args.search, Some(wanted))
    };
    let answered = Inquiry::new(net, questions).answer(&rest, mode, &mut search, interrupted)?;
    let name = args.model.display().to_string();
    let (model, report) = (&answered.model, &answered.report);
    let subject = Subject { name: &name, model, plan: &plan, report, statements: None };
    let answer = json_or_text(&subject, &args.search, text::check);
    if args.search.json {
        print(&format!("{answer:#}\n"))?;
    } else if !args.search.quiet {
        print(answer.as_str().unwrap_or_default())?;
    }
    Ok(Overall::of(report).exit_code())
}

/// The answer of `count` for a net that has infinitely many markings; `None` for others.
pub fn infinite(model: &Path, net: &mut PetriNet, args: &SearchArgs) -> Result<Option<u8>, Failure> {
    let Some(why) = net.why_unbounded() else { return Ok(None) };
    let why = format!("there are infinitely many states: {why}");
    if args.json {
        let answer = serde_json::json!({
            "model": model.display().to_string(),
            "verdict": Overall::Incomplete.word(),
            "guarantee": "none",
            "states": null,
            "transitions": null,
            "reason": why,
        });
        print(&format!("{answer:#}\n"))?;
    } else if !args.quiet {
        print(&format!("{}: incomplete\n  {why}\n", model.display()))?;
    }
    Ok(Some(Overall::Incomplete.exit_code()))
}
