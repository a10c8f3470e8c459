//! Nets of the Model Checking Contest, against the answers that the contest's tools agreed on.
//!
//! The nets and the answers lie in `../shared/bench`; without that folder there is nothing to do. Nets with more than
//! 300,000 states are left out; `SCRIMP_TEST_STATES=20000000` lets larger ones in.

use crate::common::bench;
use scrimp::lts::Wanted;
use scrimp::nets::{Inquiry, PetriNet, Structure};
use scrimp::{CheckError, Control, Guides, Mode, NativeModel, Opened, Options, Plan, Property, Report, Stop};
use scrimp_net::{Condition, Formula, NamedQuestion, Question};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// No net of the usual size takes so long, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(120);
const FILES: [&str; 3] = ["ReachabilityCardinality.xml", "ReachabilityFireability.xml", "UpperBounds.xml"];

/// What is known of one net, by the name of the question.
type Known = BTreeMap<String, String>;

/// The nets whose number of states is known and not too large, the smallest first.
fn nets(folder: &Path) -> Vec<(u64, String, Known)> {
    let limit = std::env::var("SCRIMP_TEST_STATES").map_or(300_000, |n| n.parse().expect("a number of states"));
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("expected.tsv can be read");
    let mut nets: BTreeMap<String, Known> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [language, file, property, value, ..] = fields[..] else { panic!("expected.tsv: {line}") };
        if language.starts_with("pnml") && file.ends_with("/model.pnml") {
            nets.entry(file.to_string()).or_default().insert(property.to_string(), value.to_string());
        }
    }
    let small = |(file, known): (String, Known)| {
        let states = known.get("states")?.parse().ok()?;
        (states <= limit && folder.join(&file).exists()).then_some((states, file, known))
    };
    let mut nets: Vec<_> = nets.into_iter().filter_map(small).collect();
    nets.sort();
    nets
}

fn petri_net(path: &Path) -> Result<PetriNet, Box<dyn Error>> {
    match scrimp::open(path)? {
        Opened::Net(net) => Ok(PetriNet::new(net, path.display().to_string(), Structure::ALL)),
        _ => Err("it is not a net".into()),
    }
}

/// The answers by name, and the last search.
fn answers(petri: PetriNet, questions: Vec<NamedQuestion>) -> Result<(Known, Report), Box<dyn Error>> {
    let options = Options { threads: 1, memory: Some(4 << 30), time: Some(LONGEST), ..Options::default() };
    let mut search =
        |model: &NativeModel, properties: &[Property<scrimp_core::Condition>], plan: &mut Plan, wanted: &Wanted| {
            let guides = Guides { graph: Some(wanted), ..Guides::default() };
            let control = Control::new(plan.options().time);
            scrimp::run_guided(model, properties, plan, &control, guides).map_err(CheckError::from)
        };
    let report = Inquiry::new(petri, questions)
        .answer(&options, Mode::Auto, &mut search, &Stop::never().within(LONGEST))?
        .report;
    let answers =
        report.properties.iter().map(|result| (result.name.clone(), result.answer.clone().unwrap_or("none".into())));
    Ok((answers.collect(), report))
}

fn global_questions() -> Vec<NamedQuestion> {
    let deadlock = Formula::Finally(Box::new(Formula::Atom(Condition::Deadlock)));
    let questions = [
        ("ReachabilityDeadlock", Question::Formula(Formula::ExistsPath(Box::new(deadlock)))),
        ("OneSafe", Question::OneSafe),
        ("StableMarking", Question::StableMarking),
        ("QuasiLiveness", Question::QuasiLiveness),
        ("Liveness", Question::Liveness),
    ];
    questions.into_iter().map(|(name, question)| NamedQuestion { name: name.into(), question }).collect()
}

/// The figures of the state space; what differs, and how many were compared.
fn compare_counts(path: &Path, known: &Known) -> Result<(Vec<String>, usize), Box<dyn Error>> {
    let question = NamedQuestion { name: "StateSpace".into(), question: Question::StateSpace };
    let (_, report) = answers(petri_net(path)?, vec![question])?;
    let tokens = report.tokens.unwrap_or_default();
    let found = [
        ("states", report.facts.states),
        ("transitions", report.facts.transitions),
        ("max_token_in_place", tokens.0),
        ("max_token_per_marking", tokens.1),
    ];
    let stated: Vec<_> = found.into_iter().filter_map(|(what, n)| Some((what, n, known.get(what)?))).collect();
    let differs = |(what, n, known): &(&str, u64, &String)| {
        (n.to_string() != **known).then(|| format!("{what} {n}, not {known}"))
    };
    Ok((stated.iter().filter_map(differs).collect(), stated.len()))
}

/// The answers to all questions of which the contest's answer is known.
fn compare_answers(path: &Path, known: &Known) -> Result<(Vec<String>, usize), Box<dyn Error>> {
    let petri = petri_net(path)?;
    let mut questions = global_questions();
    for formulas in FILES.map(|name| path.with_file_name(name)) {
        if formulas.exists() {
            questions.extend(scrimp::read_formulas(&formulas, &petri.net)?);
        }
    }
    questions.retain(|question| known.contains_key(&question.name));
    let count = questions.len();
    if count == 0 {
        return Ok((Vec::new(), 0));
    }
    let (answers, _) = answers(petri, questions)?;
    let differs = |(name, answer): (&String, &String)| {
        (known.get(name) != Some(answer)).then(|| format!("{name}: {answer}, not {}", known[name]))
    };
    Ok((answers.iter().filter_map(differs).collect(), count))
}

/// Compares all nets; answers how many things were compared.
fn all_nets(compare: impl Fn(&Path, &Known) -> Result<(Vec<String>, usize), Box<dyn Error>>) -> usize {
    let Some(folder) = bench() else { return usize::MAX };
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (_, file, known) in nets(&folder) {
        match compare(&folder.join(&file), &known) {
            Ok((differences, count)) => {
                wrong.extend(differences.into_iter().map(|difference| format!("{file}: {difference}")));
                compared += count;
            }
            Err(error) => wrong.push(format!("{file}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    compared
}

#[test]
fn same_counts() {
    let compared = all_nets(compare_counts);
    assert!(compared >= 150, "only {compared} figures");
}

#[test]
fn same_answers() {
    let compared = all_nets(compare_answers);
    assert!(compared >= 1000, "only {compared} answers");
}
