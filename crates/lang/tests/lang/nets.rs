//! Nets and formulas of the contest: all of them must be read, and small ones must have the published answers.

use crate::small_nets;
use scrimp_lang::{read_formulas, read_net};
use scrimp_net::{Formula, Net, Question};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Markings up to which a net is explored here.
const SMALL: usize = 50_000;

/// The folder of the contest's nets, if it is there; says so if it is not.
fn bench() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    if folder.join("pnml/models").is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no {}", folder.display());
    None
}

/// The folders of the models, sorted.
fn models(bench: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.join("pnml/models")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn formula_files(model: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(model).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "xml")).collect();
    files.retain(|path| !path.ends_with("GenericPropertiesVerdict.xml"));
    files.sort();
    files
}

/// Published answers: by model and property.
fn expected(bench: &Path) -> HashMap<(String, String), String> {
    let text = fs::read_to_string(bench.join("expected.tsv")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("pnml"));
    let row = |line: &str| {
        let mut cells = line.split('\t').skip(1);
        let model = cells.next()?.strip_prefix("pnml/models/")?.strip_suffix("/model.pnml")?.to_string();
        Some(((model, cells.next()?.to_string()), cells.next()?.to_string()))
    };
    rows.filter_map(row).collect()
}

fn check_net(net: &Net, model: &str) {
    for transition in &net.transitions {
        for arcs in [&transition.inputs, &transition.outputs, &transition.inhibitors] {
            assert!(arcs.is_sorted_by(|a, b| a.place < b.place), "{model}");
            assert!(arcs.iter().all(|arc| arc.weight > 0 && (arc.place as usize) < net.places.len()), "{model}");
        }
    }
    let distinct = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    };
    assert!(distinct(net.places.iter().map(|place| &*place.name).collect()), "{model}");
    assert!(distinct(net.transitions.iter().map(|transition| &*transition.name).collect()), "{model}");
    let members = |groups: &[scrimp_net::Group]| groups.iter().map(|group| group.members.len()).sum::<usize>();
    assert_eq!(members(&net.place_groups), net.places.len(), "{model}");
    assert_eq!(members(&net.transition_groups), net.transitions.len(), "{model}");
}

#[test]
fn every_net_and_formula_is_read() {
    let Some(bench) = bench() else { return };
    let (mut read, mut questions, mut units) = (0, 0, 0);
    for folder in models(&bench) {
        let model = folder.file_name().unwrap().to_string_lossy();
        let net = read_net(&folder.join("model.pnml")).unwrap_or_else(|e| panic!("{e}"));
        check_net(&net, &model);
        let text = fs::read_to_string(folder.join("model.pnml")).unwrap();
        assert_eq!(net.units.is_some(), text.contains("tool=\"nupn\""), "{model}");
        units += net.units.is_some() as usize;
        for file in formula_files(&folder) {
            let formulas = read_formulas(&file, &net).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(formulas.len(), 16, "{}", file.display());
            let is_bound = |q: &Question| matches!(q, Question::Bound(_));
            assert_eq!(formulas.iter().all(|q| is_bound(&q.question)), file.ends_with("UpperBounds.xml"));
            questions += formulas.len();
        }
        read += 1;
    }
    eprintln!("{read} nets, {units} with units, {questions} questions");
    assert!(read > 100 && questions > 3000 && units > 50);
}

#[test]
fn small_nets_have_the_published_answers() {
    let Some(bench) = bench() else { return };
    let expected = expected(&bench);
    let (mut explored, mut answered, mut wrong) = (0, 0, Vec::new());
    for folder in models(&bench) {
        let model = folder.file_name().unwrap().to_string_lossy().into_owned();
        let published = |property: &str| expected.get(&(model.clone(), property.to_string())).cloned();
        let Some(states) = published("states").and_then(|text| text.parse::<usize>().ok()) else { continue };
        if states > SMALL {
            continue;
        }
        let net = read_net(&folder.join("model.pnml")).unwrap();
        let graph = small_nets::explore(&net, states).unwrap_or_else(|| panic!("{model}: more states than {states}"));
        assert_eq!(graph.markings.len(), states, "{model}");
        let numbers = [
            ("transitions", graph.firings),
            ("max_token_in_place", graph.most_in_a_place()),
            ("max_token_per_marking", graph.most_in_all()),
        ];
        let deadlock = Question::Formula(Formula::ExistsPath(Box::new(Formula::Finally(Box::new(Formula::Atom(
            scrimp_net::Condition::Deadlock,
        ))))));
        let globals = [
            ("ReachabilityDeadlock", deadlock),
            ("OneSafe", Question::OneSafe),
            ("QuasiLiveness", Question::QuasiLiveness),
            ("StableMarking", Question::StableMarking),
        ];
        let mut answers: Vec<(String, String)> =
            numbers.iter().map(|(name, number)| (name.to_string(), number.to_string())).collect();
        for (name, question) in &globals {
            answers.push((name.to_string(), graph.answer(&net, question).unwrap()));
        }
        for file in formula_files(&folder) {
            for named in read_formulas(&file, &net).unwrap() {
                let answer = graph.answer(&net, &named.question);
                let reachability = named.name.contains("Reachability") || named.name.contains("UpperBounds");
                assert!(answer.is_some() || !reachability, "{}", named.name);
                answers.extend(answer.filter(|_| reachability).map(|answer| (named.name, answer)));
            }
        }
        for (name, answer) in answers {
            let Some(wanted) = published(&name).filter(|wanted| !matches!(&**wanted, "?" | "")) else { continue };
            if answer != wanted {
                wrong.push(format!("{model}: {name} is {answer} instead of {wanted}"));
            }
            answered += 1;
        }
        explored += 1;
    }
    eprintln!("{explored} nets explored, {answered} answers compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(explored > 40 && answered > 1000);
}
