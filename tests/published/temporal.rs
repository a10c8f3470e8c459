//! Verdicts on infinite runs of the models in `../shared/bench`, against those of other tools: the property processes of BEEM,
//! formulas about BEEM models, and formulas, claims and labels of Promela models.
//!
//! Without that folder there is nothing to do. Larger models are left out; `SCRIMP_TEST_STATES=3000000` lets them in.

use crate::common::bench;
use crate::common::command::scrimp;
use scrimp::temporal::{Context, decide};
use scrimp::{Control, Loaded, Mode, ModelFacts, NativeModel, Options, Plan, Verdict};
use scrimp_core::{Property, PropertyKind};
use scrimp_system::Expr;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A line of `expected.tsv`.
struct Row {
    file: String,
    property: String,
    expected: String,
    source: String,
}

/// The lines of that language.
fn rows(folder: &Path, language: &str) -> Vec<Row> {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("expected.tsv can be read");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [of, file, property, expected, source, ..] = fields[..] else { panic!("expected.tsv: {line}") };
        (of == language).then(|| Row {
            file: file.into(),
            property: property.into(),
            expected: expected.into(),
            source: source.into(),
        })
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// The numbers that are known of each file by that name.
fn known(rows: &[Row], property: &str) -> BTreeMap<String, u64> {
    let number = |row: &Row| Some((row.file.clone(), row.expected.parse().ok()?));
    rows.iter().filter(|row| row.property == property).filter_map(number).collect()
}

fn largest(usual: u64) -> u64 {
    std::env::var("SCRIMP_TEST_STATES").map_or(usual, |n| n.parse().expect("a number of states"))
}

/// Is there a bad run? `None` where the search does not come to an end in so many seconds.
fn search(model: &NativeModel, kind: PropertyKind<Expr>, seconds: u64) -> Result<Option<bool>, String> {
    let options = Options { memory: Some(2 << 30), ..Options::default() };
    let property = Property::new("asked", kind);
    let plan = Plan::new(&options, std::slice::from_ref(&property), &ModelFacts::default()).expect("a plan");
    let control = Control::new(Some(Duration::from_secs(seconds)));
    let means = Context { plan: &plan, control: &control, fair: &[], progress: None, cluster: None };
    let report = decide(model, &property, &means).map_err(|error| error.to_string())?;
    Ok(match report.properties[0].verdict {
        Verdict::Violated => Some(true),
        Verdict::Verified => Some(false),
        Verdict::Undecided => None,
    })
}

/// Works off a list on two threads, and collects what is said.
fn each<T: Sync>(list: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || {
        while let Some(item) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(message) = work(item) {
                wrong.lock().expect("no thread fails").push(message);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        scope.spawn(run);
    });
    wrong.into_inner().expect("no thread fails")
}

#[test]
fn property_processes() {
    let Some(folder) = bench() else { return };
    let rows = rows(&folder, "dve-ltl");
    let (sizes, most) = (known(&rows, "product_states"), largest(60_000));
    let small = |row: &&Row| sizes.get(&row.file).is_some_and(|size| *size <= most);
    let rows: Vec<&Row> = rows.iter().filter(|row| row.property == "accepting-cycle-verdict").filter(small).collect();
    let wrong = each(&rows, |row| {
        let say = |found: String| format!("{}: {found}, not {} ({})", row.file, row.expected, row.source);
        let mut loaded = Loaded::open(&folder.join(&row.file)).map_err(|error| say(error.to_string()))?;
        let claim =
            loaded.take_claim().map_err(|error| say(error.to_string()))?.ok_or_else(|| say("no claim".into()))?;
        let found = loaded
            .with_model(Mode::Auto, |model| search(model, claim.property("asked").kind, 60))
            .map_err(|error| say(error.to_string()))?;
        match found.map_err(say)? {
            Some(violated) if violated == (row.expected == "violated") => Ok(()),
            found => Err(say(format!("violated: {found:?}"))),
        }
    });
    println!("{} models", rows.len());
    let (doubtful, wrong): (Vec<String>, Vec<String>) =
        wrong.into_iter().partition(|line| line.contains("not recomputed"));
    doubtful.iter().for_each(|line| println!("perhaps not: {line}"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 100, "only {} models", rows.len());
}

/// The formula of a line in the words of the property language: there `"P_0=CS"` is a place of a process or a value.
fn in_our_words(formula: &str, model: &NativeModel) -> String {
    let mut out = String::new();
    for (i, part) in formula.split('"').enumerate() {
        if i % 2 == 1 {
            let (name, value) = part.split_once('=').unwrap_or((part, "1"));
            let process = model.system().processes.iter().any(|process| process.name == name);
            out.push_str(&if process { format!("{name}@{value}") } else { format!("({name} == {value})") });
            continue;
        }
        let part = part.replace("&&", "&").replace("||", "|").replace('&', " && ").replace('|', " || ");
        for c in part.chars() {
            out.push_str(&if c.is_ascii_uppercase() { format!(" {c} ") } else { c.to_string() });
        }
    }
    out
}

/// These are about runs that are infinite by themselves: where the model has deadlocks, only what exists is comparable.
#[test]
fn formulas_about_beem() {
    let Some(folder) = bench() else { return };
    let facts = rows(&folder, "dve");
    let (sizes, deadlocks, most) = (known(&facts, "states"), known(&facts, "deadlock_states"), largest(20_000));
    let rows: Vec<Row> = rows(&folder, "dve-ltl-its");
    let small = |row: &&Row| sizes.get(&row.file).is_some_and(|size| *size <= most);
    let rows: Vec<&Row> = rows.iter().filter(small).collect();
    let compared = AtomicUsize::new(0);
    let wrong = each(&rows, |row| {
        let say = |found: String| format!("{}, {}: {found}, not {}", row.file, row.property, row.expected);
        let mut loaded = Loaded::open(&folder.join(&row.file)).map_err(|error| say(error.to_string()))?;
        let answer = |model: &NativeModel| {
            let text = format!("ltl: !({})", in_our_words(&row.property, model));
            let parsed = scrimp::parse_property(model.system(), &text).map_err(|error| error.to_string())?;
            let scrimp_core::PropertyKind::Ltl(formula) = parsed.kind else { return Err("not a formula".to_string()) };
            search(model, PropertyKind::Ltl(formula), 60)
        };
        let found = loaded.with_model(Mode::Auto, answer).map_err(|error| say(error.to_string()))?;
        let exists = row.expected == "exists-satisfying-run";
        match found.map_err(say)? {
            Some(found) if found == exists => drop(compared.fetch_add(1, Ordering::Relaxed)),
            // By a run that comes to an end.
            Some(true) if deadlocks.get(&row.file) != Some(&0) => {}
            found => return Err(say(format!("exists: {found:?}"))),
        }
        Ok(())
    });
    println!("{} of {} formulas agree", compared.into_inner(), rows.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 100, "only {} formulas", rows.len());
}

/// Formulas that Promela models have themselves. Those that take longer are left out.
#[test]
fn formulas_of_promela() {
    let Some(folder) = bench() else { return };
    let rows = rows(&folder, "promela-ltl");
    let open = Mutex::new(0);
    let wrong = each(&rows, |row| {
        let say = |found: String| format!("{}, {}: {found}, not {}", row.file, row.property, row.expected);
        let mut loaded = Loaded::open(&folder.join(&row.file)).map_err(|error| say(error.to_string()))?;
        let answer = |model: &NativeModel| {
            let formula = model.system().formulas.iter().find(|formula| formula.name == row.property);
            search(model, PropertyKind::Ltl(formula.ok_or("there is no such formula")?.formula.clone()), 5)
        };
        let found = loaded.with_model(Mode::Auto, answer).map_err(|error| say(error.to_string()))?;
        match found.map_err(say)? {
            Some(violated) if violated == (row.expected == "violated") => {}
            None => *open.lock().expect("no thread fails") += 1,
            found => return Err(say(format!("violated: {found:?}"))),
        }
        Ok(())
    });
    let open = open.into_inner().expect("no thread fails");
    println!("{} formulas, {open} of them open", rows.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= open + 10, "{} formulas, {open} open", rows.len());
}

/// What SPIN 6.5.2 says of claims and labels: whether there is an error (`pan -a`, `pan -l`, without reduction).
const CLAIMS_AND_LABELS: [(&str, &str, bool); 14] = [
    ("peterson3.pml", "never", false),
    ("spin-Examples/Book_1991/p123.pml", "never", true),
    ("spin-Examples/werkplaats.pml", "never", false),
    ("spins-tests/case_studies/Tests/never.pml", "never", false),
    ("spins-tests/case_studies/garp/garp-b/garp_nl", "never", true),
    ("spins-tests/regression/20110302_undetected_end.prom", "never", true),
    ("spin-Examples/loops.pml", "accepting", true),
    ("spin-Examples/loops.pml", "progress", false),
    ("spin-Examples/Exercises/ex_5.pml", "progress", true),
    ("spin-Examples/LTL/diskhead.pml", "progress", false),
    ("spin-Examples/LTL/mobile1.pml", "progress", true),
    ("spin-Examples/LTL/mobile2.pml", "progress", true),
    ("spin-Examples/cambridge.pml", "progress", true),
    ("spin-Examples/hajek.pml", "progress", true),
];

#[test]
fn claims_and_labels_of_promela() {
    let Some(folder) = bench() else { return };
    let wrong = each(&CLAIMS_AND_LABELS, |(file, what, expected)| {
        let path = folder.join("promela").join(file).to_string_lossy().into_owned();
        let mut words = vec!["check", &path, "--json", "--keep-going", "--memory", "2G", "--time", "60s"];
        words.extend((*what != "never").then_some(["--property", what]).into_iter().flatten());
        let answer = scrimp(&words);
        let json = answer.json();
        let about = |p: &&serde_json::Value| p["name"].as_str().is_some_and(|name| name.starts_with(what));
        let all = json["properties"].as_array().map_or(&[][..], Vec::as_slice);
        let verdicts: Vec<&str> = all.iter().filter(about).filter_map(|p| p["verdict"].as_str()).collect();
        let decided =
            !verdicts.is_empty() && verdicts.iter().all(|verdict| matches!(*verdict, "verified" | "violated"));
        match decided && verdicts.contains(&"violated") == *expected {
            true => Ok(()),
            false => Err(format!("{file}, {what}: {verdicts:?}, not violated = {expected}")),
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
