//! Every option value with every kind of question on a small model of each language: what is planned is what is done.
//!
//! What [`Check::new`] accepts runs without being refused; limits that were accepted hold; what is reported is what ran; a
//! refusal names only flags that were given; and where a search is exact, its verdicts are those of the plain search.

use scrimp::plan::{BackedgeChoice, CycleChoice, FairnessChoice, VariableChoice, combinations};
use scrimp::report::Overall;
use scrimp::{
    Check, CheckError, Control, Found, Host, Loaded, Mode, Open, Options, Plan, PropertyResult, Report, Request,
    Setting, Verdict,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A model, and properties of every kind that can be asked of it; an empty one asks everything that the model has.
struct Subject {
    file: &'static str,
    text: &'static str,
    questions: &'static [&'static str],
}

const SUBJECTS: [Subject; 5] = [
    // One of the project's own models.
    Subject { file: "phils3.network", text: "", questions: &["deadlock"] },
    Subject {
        file: "lock.dve",
        text: "byte turn = 0;
process P_0 { byte n = 0; state idle, try, cs; init idle;
  trans idle -> try { effect n = (n + 1) % 3; }, try -> cs { guard turn == 0; }, cs -> idle { effect turn = 1; }; }
process P_1 { byte n = 0; state idle, try, cs; init idle;
  trans idle -> try { effect n = (n + 1) % 2; }, try -> cs { guard turn == 1; }, cs -> idle { effect turn = 0; }; }
system async;",
        questions: &[
            "deadlock",
            "faults",
            "invariant: !(P_0@cs && P_1@cs)",
            "invariant: turn == 0",
            "reach: P_1@cs",
            "ltl: [] (P_0@try -> <> P_0@cs)",
            "ltl: X P_0@try",
            "ctl: AG EF P_0@cs",
        ],
    },
    Subject {
        file: "turns.pml",
        text: "byte turn; chan c = [1] of { byte };
active proctype A() { byte x; do :: turn == 0 -> accept_a: c!1; turn = 1 :: c?x -> progress_a: skip od }
active proctype B() { byte x; do :: turn == 1 -> c?x; assert(x == 1); turn = 0 od }
ltl back { [] (turn == 1 -> <> (turn == 0)) }",
        questions: &["", "assertions", "accepting", "progress", "ctl: AG EF (turn == 1)", "ltl: <> [] (turn == 0)"],
    },
    Subject {
        file: "claim.pml",
        text: "byte turn; active proctype A() { do :: turn = 1 - turn :: turn == 0 -> skip od }
never { do :: true :: turn == 1 -> break od; accept: do :: turn == 1 od }",
        questions: &["", "claim", "deadlock"],
    },
    Subject {
        file: "ring.pnml",
        text: r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>2</text></initialMarking></place><place id="b"/><place id="c"/>
<transition id="t"/><transition id="u"/><transition id="v"/>
<arc id="1" source="a" target="t"/><arc id="2" source="t" target="b"/><arc id="3" source="b" target="u"/>
<arc id="4" source="u" target="c"/><arc id="5" source="c" target="v"/><arc id="6" source="v" target="a"/>
</page></net></pnml>"#,
        questions: &[
            "deadlock",
            "bounded",
            "one-safe",
            "stable-marking",
            "quasi-live",
            "live",
            "bound: b",
            "reach: b == 2",
            "ltl: [] <> (b > 0)",
            "ctl: AG EF (b == 2)",
        ],
    },
];

/// A change of the options, with the flags that it stands for.
type Change = (&'static str, fn(&mut Options));

fn changes() -> Vec<Change> {
    vec![
        ("--order bfs", |o| o.order = "bfs".parse().ok()),
        ("--order dfs", |o| o.order = "dfs".parse().ok()),
        ("--order bbfs:2", |o| o.order = "bbfs:2".parse().ok()),
        ("--order alt:1,2", |o| o.order = "alt:1,2".parse().ok()),
        ("--order random", |o| o.order = "random".parse().ok()),
        ("--order progress --progress auto", |o| {
            (o.order, o.progress) = ("progress".parse().ok(), Some("auto".into()));
        }),
        ("--store table", |o| o.store = "table".parse().ok()),
        ("--store packed", |o| o.store = "packed".parse().ok()),
        ("--store tree", |o| o.store = "tree".parse().ok()),
        ("--store collapse", |o| o.store = "collapse".parse().ok()),
        ("--store dfa", |o| o.store = "dfa".parse().ok()),
        ("--store dfa+collapse", |o| o.store = "dfa+collapse".parse().ok()),
        ("--store comback", |o| o.store = "comback".parse().ok()),
        ("--store comback --backedges states", |o| {
            (o.store, o.backedges) = ("comback".parse().ok(), BackedgeChoice::States);
        }),
        ("--store compact:40", |o| o.store = "compact:40".parse().ok()),
        ("--store bitstate:1", |o| o.store = "bitstate:1".parse().ok()),
        ("--store disk", |o| o.store = "disk".parse().ok()),
        ("--forget pseudo-root", |o| o.forget = "pseudo-root".parse().unwrap()),
        ("--forget cache:100", |o| o.forget = "cache:100".parse().unwrap()),
        ("--forget cache:100 --reconstruct", |o| {
            (o.forget, o.reconstruct) = ("cache:100".parse().unwrap(), true);
        }),
        ("--forget cache:100 --chains", |o| (o.forget, o.chains) = ("cache:100".parse().unwrap(), true)),
        ("--forget sweep --progress auto", |o| {
            (o.forget, o.progress) = ("sweep".parse().unwrap(), Some("auto".into()));
        }),
        ("--forget sweep+cache --progress auto", |o| {
            (o.forget, o.progress) = ("sweep+cache".parse().unwrap(), Some("auto".into()));
        }),
        ("--reduce por", |o| o.reduce = "por".parse().unwrap()),
        ("--reduce por+sleep", |o| o.reduce = "por+sleep".parse().unwrap()),
        ("--reduce edge-lean", |o| o.reduce = "edge-lean".parse().unwrap()),
        ("--reduce symmetry", |o| o.reduce = "symmetry".parse().unwrap()),
        ("--reduce symmetry:orbits", |o| o.reduce = "symmetry:orbits".parse().unwrap()),
        ("--engine symbolic", |o| o.engine = "symbolic".parse().unwrap()),
        ("--engine symbolic:bfs", |o| o.engine = "symbolic:bfs".parse().unwrap()),
        ("--engine symbolic --variables given", |o| {
            (o.engine, o.variables) = ("symbolic".parse().unwrap(), VariableChoice::Given);
        }),
        ("--engine bmc:30", |o| o.engine = "bmc:30".parse().unwrap()),
        ("--threads 2", |o| o.threads = 2),
        ("--max-visits 3", |o| o.visits = Some(3)),
        ("--audit", |o| o.audit = true),
        ("--graph", |o| o.graph = true),
        ("--cycles nested", |o| o.cycles = CycleChoice::Nested),
        ("--cycles components", |o| o.cycles = CycleChoice::Components),
        ("--fair weak", |o| o.fair = FairnessChoice::weak()),
        ("--fair strong", |o| o.fair = FairnessChoice::strong()),
        ("--disk", |o| o.disk = Some(std::env::temp_dir())),
        ("--checkpoint", |o| o.checkpoint = Some(std::env::temp_dir().join("scrimp-combinations.checkpoint"))),
        ("--chains", |o| o.chains = true),
        ("--heuristic", |o| o.heuristic = Some("1".into())),
        ("--layers reversed", |o| o.layers = "reversed".parse().unwrap()),
        ("--dont-care", |o| o.dont_care = true),
    ]
}

/// Keeps what is found.
#[derive(Default)]
struct Kept(Vec<(Plan, Report)>);

impl Host for Kept {
    fn begin(&mut self, _: &Plan, time: Option<Duration>) -> Arc<Control> {
        Arc::new(Control::new(time.or(Some(Duration::from_secs(20)))))
    }

    fn found(&mut self, found: Found) {
        self.0.push((found.plan.clone(), found.report));
    }
}

/// What a run of a model with these options comes to: refused, or what its searches found.
fn run(path: &Path, question: &str, options: &Options) -> Result<Kept, CheckError> {
    let properties = if question.is_empty() { Vec::new() } else { vec![question.to_string()] };
    let request = Request { properties, ..Request::default() };
    let setting = Setting {
        options: options.clone(),
        open: Open::default(),
        mode: Mode::Interpreted,
        watch: false,
        vectors: 0,
        cluster: None,
    };
    let check = Check::new(Loaded::open(path)?, &request, &setting)?;
    let planned: Vec<Plan> = check.searches()?.into_iter().map(|(_, plan)| plan.clone()).collect();
    assert!(!planned.is_empty(), "{question}: nothing is planned");
    let mut kept = Kept::default();
    // What was planned must run.
    check.run(&mut kept).map_err(|error| CheckError::Asked(format!("planned, and then: {error}")))?;
    Ok(kept)
}

fn options() -> Options {
    Options { memory: Some(1 << 30), keep_going: true, ..Options::default() }
}

/// The verdicts by name.
fn verdicts(kept: &Kept) -> BTreeMap<String, Verdict> {
    let all = kept.0.iter().flat_map(|(_, report)| &report.properties);
    all.map(|result| (result.name.clone(), result.verdict)).collect()
}

/// Is what is reported what was asked for, and true?
fn right(kept: &Kept, plain: &BTreeMap<String, Verdict>, options: &Options) -> Result<(), String> {
    for (plan, report) in &kept.0 {
        let part = |name: &str| report.ran.iter().find(|(part, _)| *part == name).map(|(_, value)| value.as_str());
        let not_used = |flag: &str| plan.decisions().iter().any(|decision| decision.starts_with(flag));
        let same = |name: &'static str, flag: &'static str, wanted: Option<String>| match (part(name), wanted) {
            (Some(ran), Some(wanted)) if ran != wanted && !not_used(flag) => Err(format!("{flag} {wanted}: {ran} ran")),
            _ => Ok(()),
        };
        same("order", "--order", options.order.map(|order| order.to_string()))?;
        same("store", "--store", options.store.as_ref().map(|store| store.to_string()))?;
        same("forget", "--forget", Some(options.forget.to_string()))?;
        same("reduce", "--reduce", Some(options.reduce.to_string()))?;
        same("engine", "--engine", Some(options.engine.to_string()))?;
        same("threads", "--threads", Some(options.threads.to_string()))?;
        if let Some(visits) = options.visits.filter(|visits| report.visits > *visits) {
            return Err(format!("{} visits instead of at most {visits}", report.visits));
        }
        // What was found, or proven otherwise, is sure all the same.
        let sure = |result: &PropertyResult| result.state.is_some() || result.trace.is_some() || result.how.is_some();
        let proven = report.properties.iter().all(sure);
        if report.omission.is_some() && Overall::of(report) == Overall::Verified && !proven {
            return Err("a lossy search says that all is verified".into());
        }
        for result in &report.properties {
            let unsure = report.limit.is_some() || report.omission.is_some() || report.formulas.is_some();
            match (result.verdict, plain.get(&result.name)) {
                (Verdict::Undecided, _) if unsure => {}
                (verdict, Some(known)) if verdict == *known => {}
                (verdict, known) => return Err(format!("{}: {verdict:?} instead of {known:?}", result.name)),
            }
        }
    }
    Ok(())
}

/// A refusal speaks of flags that were given; what it advises may be others.
fn names_only(given: &str, error: &CheckError) -> Result<(), String> {
    let text = match error {
        CheckError::Refused(refusal) => refusal.reason.clone(),
        other => other.to_string(),
    };
    // What a flag needs is not given.
    let text = text.split(" needs ").next().unwrap_or_default().to_string();
    let flags = text.split_whitespace().filter(|word| word.starts_with("--"));
    let unknown = flags.map(|flag| flag.trim_end_matches([',', ':', ';'])).find(|flag| !given.contains(flag));
    unknown.map_or(Ok(()), |flag| Err(format!("{flag} was not given: {text}")))
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("scrimp-combinations-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for subject in SUBJECTS.iter().filter(|subject| !subject.text.is_empty()) {
        std::fs::write(folder.join(subject.file), subject.text).unwrap();
    }
    folder
}

#[test]
fn what_is_planned_is_what_is_done() {
    let (folder, changes) = (folder(), changes());
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for subject in &SUBJECTS {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let path = if subject.text.is_empty() { own } else { folder.clone() }.join(subject.file);
        for question in subject.questions {
            let plain = verdicts(&run(&path, question, &options()).expect("the plain search"));
            assert!(!plain.is_empty() && plain.values().all(|verdict| *verdict != Verdict::Undecided), "{question}");
            let mut attempt = |given: &str, changed: &Options| {
                let told = match run(&path, question, changed) {
                    Ok(kept) => {
                        accepted += 1;
                        right(&kept, &plain, changed)
                    }
                    Err(error @ CheckError::Refused(_)) => {
                        refused += 1;
                        names_only(given, &error)
                    }
                    Err(error) => Err(error.to_string()),
                };
                if let Err(why) = told {
                    wrong.push(format!("{} '{question}' {given}: {why}", subject.file));
                }
            };
            for (i, (one, change)) in changes.iter().enumerate() {
                let mut first = options();
                change(&mut first);
                attempt(one, &first);
                // Two flags together, on some of the models.
                if question.len() % 3 == 0 {
                    for (other, another) in &changes[i + 1..] {
                        let mut both = first.clone();
                        another(&mut both);
                        attempt(&format!("{one} {other}"), &both);
                    }
                }
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), accepted + refused, wrong.join("\n"));
}

#[test]
fn the_page_says_what_combines() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/combinations.md");
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(written == combinations(), "docs/combinations.md is not what `scrimp plan --combinations` prints");
}
