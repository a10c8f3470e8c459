//! `check` for Petri nets: every question is answered on its own.

use super::args::{CheckArgs, SearchArgs};
use super::curves::Curves;
use super::lengths;
use super::limits::{self, begun};
use super::report::ReportFile;
use super::search::{rest_of_time, search_for_graph};
use super::{Failure, print, print_json, style};
use scrimp::condensed::Wanted;
use scrimp::net::{Inquiry, Made, PetriNet};
use scrimp::report::{Overall, Record, Subject, json, text};
use scrimp::{Mode, NativeModel, NetNames, Plan, Property, read_formulas};
use scrimp_core::Condition;
use scrimp_net::NamedQuestion;
use scrimp_system::Source;
use std::path::Path;
use std::time::Duration;

pub fn check(args: &CheckArgs, net: PetriNet, plan: Plan, file: Option<ReportFile>) -> Result<u8, Failure> {
    let (questions, from_files) = questions(args, &net)?;
    // What is asked of a net is answered by several searches, some of them of other nets.
    let refused = [
        (args.search.graph.is_some(), "--graph", "`scrimp count --graph` writes the graph of a net"),
        (args.search.dot.is_some(), "--dot", "`scrimp count --dot` draws the graph of a net"),
        (
            args.search.checkpoint.is_some(),
            "--checkpoint",
            "`scrimp count --checkpoint` saves a search of all markings",
        ),
        (args.search.resume.is_some(), "--resume", "`scrimp count --resume` takes up a search of all markings"),
        (!args.search.fair.is_empty(), "--fair", "a formula says which runs it is about: `ltl: []<> p -> q`"),
        (args.chart.is_some(), "--chart", "a net has no processes that could pass messages"),
    ];
    if let Some((_, flag, instead)) = refused.into_iter().find(|(given, ..)| *given) {
        return Err(Failure::because(format!("{flag} does not go with checking a net; {instead}")));
    }
    answer(args, net, plan, (questions, from_files), file)
}

/// The questions asked: from files of formulas first, and how many these are, then those written out, or else the one about
/// deadlocks.
pub fn questions(args: &CheckArgs, net: &PetriNet) -> Result<(Vec<NamedQuestion>, usize), Failure> {
    let mut questions = Vec::new();
    for path in &args.formulas {
        questions.extend(read_formulas(path, &net.net)?);
    }
    let from_files = questions.len();
    let names = NetNames::new(&net.net);
    for text in &args.property {
        questions.push(names.question(text)?);
    }
    if let Some(path) = &args.property_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::at(&name, e))?;
        questions.extend(names.questions(&Source::new(name, text))?);
    }
    if questions.is_empty() {
        if let Some(path) = args.formulas.first().or(args.property_file.as_ref()) {
            return Err(Failure::at(path.display(), "there is no property in it"));
        }
        questions.push(names.question("deadlock")?);
    }
    Ok((questions, from_files))
}

fn answer(
    args: &CheckArgs,
    net: PetriNet,
    plan: Plan,
    (questions, from_files): (Vec<NamedQuestion>, usize),
    file: Option<ReportFile>,
) -> Result<u8, Failure> {
    let mode = if args.search.interpret { Mode::Interpreted } else { Mode::Auto };
    let mut rest = plan.clone();
    rest.options.time = rest_of_time(&plan);
    // The searches of one inquiry are told as one.
    let mut record = args.search.records().then(Record::default);
    let mut search = |model: &NativeModel, properties: &[Property<Condition>], plan: &mut Plan, wanted: &Wanted| {
        // The search counts from when the program began.
        plan.options.time = plan.options.time.map(|time| time.saturating_add(begun().elapsed()));
        let before = begun().elapsed().as_secs_f64();
        let searched = search_for_graph(model, properties, plan, &args.search, Some(wanted))?;
        if let (Some(all), Some(one)) = (&mut record, searched.record) {
            all.append(one, before);
        }
        Ok::<_, Failure>(searched.report)
    };
    let mut answered = Inquiry::new(net, questions).answer(&rest, mode, &mut search, &limits::stop())?;
    limits::done();
    lengths::leave_out(&mut answered.report, &args.search);
    // TRUE and FALSE are the contest's words; a property that was written out holds or does not.
    for result in answered.report.properties.iter_mut().skip(from_files) {
        result.answer = result.answer.take().filter(|answer| answer.parse::<u64>().is_ok() || answer == "ω");
    }
    let name = args.model.display().to_string();
    let (model, report) = (&answered.model, &answered.report);
    if let Some(record) = &mut record {
        record.levels = report.facts.level_sizes.clone();
    }
    let subject = Subject { name: &name, model, plan: &plan, report, statements: None, record: record.as_ref() };
    let made = answered.searches.iter();
    let searches: Vec<Subject> = made
        .map(|Made { plan, report }| Subject { name: &name, model, plan, report, statements: None, record: None })
        .collect();
    if args.search.json {
        print_json(&json::of_net(&subject, &searches))?;
    } else if !args.search.quiet {
        print(&text::of_net(&subject, &searches, style()))?;
    }
    if let Some(mut file) = file {
        file.add(model, &subject);
        file.write()?;
    }
    let mut curves = Curves::default();
    curves.add(&subject, &args.search);
    curves.finish(&args.search)?;
    Ok(Overall::of(report).exit_code())
}

/// Why a net has infinitely many markings; `None` where that is not so, or not known.
pub fn infinite(net: &mut PetriNet, plan: &Plan, args: &SearchArgs) -> Option<String> {
    let patience = args.time.map_or(Duration::MAX, |time| time.saturating_sub(begun().elapsed()));
    let why = net.why_unbounded(patience, plan.memory)?;
    Some(format!("there are infinitely many states: {why}"))
}

/// The answer of `count` for such a net.
pub fn tell_infinite(model: &Path, why: &str, file: Option<ReportFile>, args: &SearchArgs) -> Result<u8, Failure> {
    if args.json {
        print_json(&json::without_search(Some(&model.display().to_string()), why, None))?;
    } else if !args.quiet {
        print(&format!("{}: incomplete\n  {why}\n", model.display()))?;
    }
    if let Some(mut file) = file {
        file.remark(why);
        file.write()?;
    }
    Ok(Overall::Incomplete.exit_code())
}
