//! Symmetry must not change a verdict, and must count orbits: random families of processes, with and without a flaw in their
//! symmetry, and every file of `models/`, against the whole graph.
//!
//! The oracle knows nothing of how symmetries are found or representatives chosen: it walks the whole graph, looks whether what
//! is called a symmetry maps it to itself, and counts the classes of states that these maps connect.

use crate::common::{files, model, property, replay, successors};
use scrimp::plan::{OrderChoice, ReduceChoice, StoreChoice};
use scrimp::temporal::{Context, decide};
use scrimp::{Batch, Control, Mode, Model, ModelFacts, NativeModel, Options, Plan, Property, Report, Verdict};
use scrimp_core::{Condition, PropertyKind};
use scrimp_soak::replay::replay_run;
use scrimp_system::{Expr, Random, Source, Symmetry};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How many random families, unless `SCRIMP_TEST_CASES` says so.
fn cases(usual: u64) -> u64 {
    std::env::var("SCRIMP_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn dve(text: &str) -> NativeModel {
    let system = scrimp_lang::parse_dve(Source::new("family.dve", text)).unwrap_or_else(|e| panic!("{e}\n{text}"));
    model(&Arc::new(system), Mode::Interpreted)
}

fn symmetric(order: &str, store: &str, threads: usize) -> Options {
    Options {
        order: Some(order.parse::<OrderChoice>().unwrap()),
        store: Some(store.parse::<StoreChoice>().unwrap()),
        reduce: ReduceChoice::Symmetry { sizes: true },
        threads,
        memory: Some(1 << 30),
        keep_going: true,
        ..Options::default()
    }
}

fn search(model: &NativeModel, properties: &[Property<Condition>], options: &Options) -> Report {
    let plan = Plan::new(options, properties, &ModelFacts::of(model)).unwrap_or_else(|e| panic!("{e}"));
    scrimp::run(model, properties, &plan, &Control::new(None)).unwrap_or_else(|e| panic!("{e}"))
}

fn plain() -> Options {
    Options { memory: Some(1 << 30), keep_going: true, ..Options::default() }
}

/// All states, each with its number.
fn reachable(model: &NativeModel) -> (Vec<Vec<u8>>, HashMap<Vec<u8>, usize>) {
    let mut initial = Batch::new(model.state_bytes());
    model.initial(&mut initial);
    let (mut list, mut numbers) = (Vec::new(), HashMap::new());
    let mut add = |state: &[u8], list: &mut Vec<Vec<u8>>| {
        let next = list.len();
        if *numbers.entry(state.to_vec()).or_insert(next) == next {
            list.push(state.to_vec());
        }
    };
    (0..initial.len()).for_each(|i| add(initial.state(i), &mut list));
    let mut next = 0;
    while next < list.len() {
        let found = successors(model, &list[next].clone());
        (0..found.len()).for_each(|i| add(found.state(i), &mut list));
        next += 1;
    }
    (list, numbers)
}

/// What a state leads to, and its run-time errors.
fn around(model: &NativeModel, state: &[u8], map: impl Fn(&[u8]) -> Vec<u8>) -> (BTreeSet<Vec<u8>>, bool) {
    let found = successors(model, state);
    ((0..found.len()).map(|i| map(found.state(i))).collect(), found.faults().is_empty())
}

/// Holds every symmetry against the whole graph, and counts orbits.
fn orbits(model: &NativeModel, symmetry: &Symmetry, context: &str) -> (u64, u64) {
    let (states, numbers) = reachable(model);
    let mut class: Vec<usize> = (0..states.len()).collect();
    fn root(class: &mut [usize], mut at: usize) -> usize {
        while class[at] != at {
            class[at] = class[class[at]];
            at = class[at];
        }
        at
    }
    for (number, state) in states.iter().enumerate() {
        for generator in 0..symmetry.generators() {
            let image = symmetry.exchanged(generator, state);
            let Some(&other) = numbers.get(&image) else {
                panic!("{context}: a state becomes one that is not reachable")
            };
            let expected = around(model, state, |next| symmetry.exchanged(generator, next));
            assert_eq!(around(model, &image, <[u8]>::to_vec), expected, "{context}: successors of state {number}");
            let (a, b) = (root(&mut class, number), root(&mut class, other));
            class[a.max(b)] = a.min(b);
        }
        let mut representative = state.clone();
        symmetry.represent(&mut representative);
        assert!(numbers.contains_key(&representative), "{context}: a representative is not reachable");
    }
    let roots = (0..class.len()).filter(|&at| class[at] == at).count();
    // A representative is one of its orbit, and, where that is promised, the only one.
    for state in &states {
        let mut representative = state.clone();
        symmetry.represent(&mut representative);
        assert_eq!(root(&mut class, numbers[&representative]), root(&mut class, numbers[state]), "{context}");
    }
    (states.len() as u64, roots as u64)
}

/// Compares searches by symmetry with one that visits every state.
fn agree(model: &NativeModel, texts: &[&str], symmetry: &Symmetry, context: &str, met: &mut [usize; 2]) {
    orbits(model, symmetry, context);
    // Without properties, there may be more symmetries.
    let bare = model.symmetry(&[], &[]).unwrap();
    let (states, orbits) = orbits(model, &bare, context);
    let mut properties = vec![Property::deadlock(), Property::faults()];
    properties.extend(texts.iter().map(|text| property(model, text)));
    let whole = search(model, &properties, &plain());
    for (order, store, threads) in [
        ("bfs", "table", 1),
        ("dfs", "table", 1),
        ("bfs", "packed", 2),
        ("bfs", "tree", 2),
        ("bfs", "collapse", 1),
        ("bfs", "comback", 1),
    ] {
        let context = format!("{context}, {order} {store} {threads}");
        let counted = search(model, &[], &symmetric(order, store, threads));
        let facts = counted.orbits.as_ref().unwrap();
        if facts.exact {
            assert_eq!(counted.facts.states, orbits, "{context}: orbits");
            assert_eq!(facts.states, Some(states as u128), "{context}: states in orbits");
        } else {
            assert!((orbits..=states).contains(&counted.facts.states), "{context}");
        }
        let reduced = search(model, &properties, &symmetric(order, store, threads));
        for ((expected, found), property) in whole.properties.iter().zip(&reduced.properties).zip(&properties) {
            let context = format!("{context}, {}", property.name);
            assert_eq!(found.verdict, expected.verdict, "{context}");
            met[(found.verdict == Verdict::Violated) as usize] += 1;
            assert_eq!(found.trace.is_some(), expected.trace.is_some(), "{context}: a run");
            if let Some(trace) = &found.trace {
                replay(model, trace, property).unwrap_or_else(|e| panic!("{context}: {e}"));
                let shortest = expected.trace.as_ref().map(|trace| trace.steps.len());
                assert!(order == "dfs" || Some(trace.steps.len()) == shortest, "{context}: not a shortest run");
            }
        }
    }
}

/// Compares what is said of runs; answers how many properties could be decided by symmetry, and how many are violated.
fn agree_on_runs(model: &NativeModel, texts: &[&str], context: &str) -> [usize; 2] {
    let mut met = [0; 2];
    for text in texts {
        let property: Property<Expr> = scrimp::parse_property(model.system(), text).unwrap_or_else(|e| panic!("{e}"));
        let verdict = |options: &Options| {
            let plan = Plan::new(options, std::slice::from_ref(&property), &ModelFacts::of(model)).ok()?;
            let control = Control::new(None);
            let means = Context { plan: &plan, control: &control, fair: &[], progress: None, cluster: None };
            let report = decide(model, &property, &means).unwrap_or_else(|e| panic!("{context}, {text}: {e}"));
            Some(report.properties.into_iter().next().unwrap())
        };
        let options = Options { reduce: ReduceChoice::Symmetry { sizes: false }, ..plain() };
        let Some(found) = verdict(&options) else { continue };
        let expected = verdict(&plain()).unwrap();
        assert_eq!(found.verdict, expected.verdict, "{context}, {text}");
        assert_eq!(found.trace.is_some(), expected.trace.is_some(), "{context}, {text}: a run");
        met[0] += 1;
        if found.verdict == Verdict::Violated && found.trace.is_some() {
            met[1] += 1;
            replay_run(model, &found, &property.kind, false).unwrap_or_else(|e| panic!("{context}, {text}: {e}"));
        }
    }
    met
}

/// A family of processes as a text: each is the same but for its number.
struct Family {
    count: usize,
    /// A ring: processes look at their neighbours.
    ring: bool,
    /// One of them differs from the others in this way.
    flaw: Option<usize>,
    template: Vec<(usize, usize, Vec<usize>, Vec<usize>)>,
}

const PLACES: [&str; 3] = ["a", "b", "c"];

impl Family {
    fn random(random: &mut Random) -> Family {
        let count = 2 + random.below(3);
        let ring = random.below(4) == 0;
        let flaw = (random.below(4) == 0).then(|| random.below(4));
        let transitions = 3 + random.below(3);
        let template = (0..transitions)
            .map(|i| {
                let from = if i < 3 { i } else { random.below(3) };
                let mut some = |most: usize, of: usize| (0..random.below(most + 1)).map(|_| random.below(of)).collect();
                let (guards, effects) = (some(2, 9), some(2, 9));
                (from, random.below(3), guards, effects)
            })
            .collect();
        Family { count, ring, flaw, template }
    }

    fn guard(&self, kind: usize, i: usize) -> String {
        let (n, next) = (self.count, (i + 1) % self.count);
        let others = || (0..n).filter(move |j| *j != i);
        match kind {
            0 => "x == 0".into(),
            1 => "x != 1".into(),
            2 => format!("flag[{i}] == 0"),
            3 => format!("turn == {i}"),
            4 => format!("turn != {i}"),
            5 if self.ring => format!("flag[{next}] == 0"),
            5 => others().map(|j| format!("flag[{j}] != 1")).collect::<Vec<_>>().join(" and "),
            6 => "sum < 2".into(),
            7 if self.ring => format!("P_{next}.a"),
            7 => "friend != turn".into(),
            _ => format!("turn == {n}"),
        }
    }

    fn effect(&self, kind: usize, i: usize) -> String {
        let n = self.count;
        match kind {
            0 => "x = 1 - x".into(),
            1 => format!("flag[{i}] = 1"),
            2 => format!("flag[{i}] = 0"),
            3 => format!("turn = {i}"),
            4 => format!("turn = {n}"),
            5 => "sum = (sum + 1) % 3".into(),
            6 => "friend = turn".into(),
            // Where nobody has the turn, that is out of range.
            7 => "flag[turn] = 1".into(),
            _ if self.ring => format!("flag[{}] = 0", (i + 1) % n),
            _ => format!("turn = friend, friend = {i}"),
        }
    }

    fn text(&self) -> String {
        let n = self.count;
        let first = if self.flaw == Some(0) { 0 } else { n };
        let mut out = format!("byte turn = {first};\nbyte sum;\nbyte flag[{n}];\n");
        for i in 0..n {
            out += &format!("process P_{i} {{\n byte x;\n byte friend = {n};\n state a, b, c;\n init a;\n trans\n");
            let mut lines = Vec::new();
            for (number, (from, to, guards, effects)) in self.template.iter().enumerate() {
                let odd = i == 0 && number == 0;
                let mut guards: Vec<String> = guards.iter().map(|&kind| self.guard(kind, i)).collect();
                let mut effects: Vec<String> = effects.iter().map(|&kind| self.effect(kind, i)).collect();
                match self.flaw {
                    Some(1) if odd => guards.push("turn < 1".into()),
                    Some(2) if odd => effects.push("sum = 0".into()),
                    Some(3) if odd => effects.push(format!("turn = {}", n - 1)),
                    _ => {}
                }
                let guard = if guards.is_empty() { String::new() } else { format!("guard {};", guards.join(" and ")) };
                let effect = if effects.is_empty() { String::new() } else { format!("effect {};", effects.join(", ")) };
                lines.push(format!("  {} -> {} {{ {guard} {effect} }}", PLACES[*from], PLACES[*to]));
            }
            out += &format!("{};\n}}\n", lines.join(",\n"));
        }
        out + "system async;\n"
    }
}

const ASKED: [&str; 6] = [
    "invariant: !(P_0@b && P_1@b)",
    "invariant: P_1.x == 0 || flag[1] == 0",
    "reach: P_0@c && P_1@a",
    "reach: turn == 1",
    "invariant: P_0.friend != 1",
    "reach: sum == 2 && P_1@b && P_0@b",
];

const ASKED_OF_RUNS: [&str; 6] = [
    "ltl: []<> sum == 0",
    "ltl: [] (sum == 1 -> <> sum == 2)",
    "ctl: AG EF sum == 0",
    "ctl: EG sum == 0",
    "ltl: []<> P_0@a",
    "ltl: <> [] (P_0@a && P_1@a)",
];

#[test]
fn random_families() {
    let (mut found, mut flawed, mut refused, mut met, mut runs) = (0, 0, 0, [0; 2], [0; 2]);
    for seed in 0..cases(150) {
        let family = Family::random(&mut Random(seed * 77 + 5));
        let text = family.text();
        let model = dve(&text);
        if search(&model, &[], &Options { visits: Some(3000), ..plain() }).limit.is_some() {
            continue;
        }
        let context = format!("family {seed}\n{text}");
        let conditions: Vec<Property<Expr>> =
            ASKED.iter().map(|text| scrimp::parse_property(model.system(), text).unwrap()).collect();
        let conditions: Vec<&Expr> = conditions.iter().filter_map(Property::condition).collect();
        match model.symmetry(&[], &conditions) {
            Ok(symmetry) => {
                agree(&model, &ASKED, &symmetry, &context, &mut met);
                let said = agree_on_runs(&model, &ASKED_OF_RUNS, &context);
                runs = [runs[0] + said[0], runs[1] + said[1]];
                found += 1;
                flawed += family.flaw.is_some() as usize;
                if family.flaw.is_none() {
                    let order = symmetry.order().unwrap();
                    let least = if family.ring { family.count } else { (1..=family.count).product() };
                    assert!(order >= least as u128, "{context}: only {order}");
                }
            }
            Err(why) => {
                assert!(family.flaw.is_some(), "{context}: {why}");
                refused += 1;
            }
        }
    }
    println!("{found} symmetric ({flawed} with a flaw), {refused} refused, verdicts {met:?}, of runs {runs:?}");
    assert!(found > 50 && refused > 5 && met[0] > 500 && met[1] > 500 && runs[0] > 50 && runs[1] > 20);
}

/// Every symmetry that is found in a file maps its graph to itself, and what its header says holds by symmetry too.
#[test]
fn models() {
    let mut found = BTreeSet::new();
    for file in files() {
        if !file.has_at_most(40_000) || file.system.claim.is_some() {
            continue;
        }
        let model = model(&file.system, file.mode());
        let Ok(symmetry) = model.symmetry(&[], &[]) else { continue };
        found.insert(file.name.clone());
        let texts: Vec<&str> = match file.is_net() {
            true => Vec::new(),
            false => file.facts.properties.iter().map(|property| property.text.as_str()).collect(),
        };
        let texts: Vec<&str> = texts.into_iter().filter(|text| text.contains(':')).collect();
        let states: Vec<&str> =
            texts.iter().copied().filter(|t| t.starts_with("invariant:") || t.starts_with("reach:")).collect();
        agree(&model, &states, &symmetry, &file.name, &mut [0; 2]);
        let runs: Vec<&str> =
            texts.iter().copied().filter(|t| t.starts_with("ltl:") || t.starts_with("ctl:")).collect();
        agree_on_runs(&model, &runs, &file.name);
    }
    for name in ["naive_lock.dve", "clh4.dve", "phils5.dve", "philosophers.pml", "readers_writers.dve", "mcs3.dve"] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
}

/// A lock that knows its owner: a process takes it, works in so many steps, and gives it back.
fn owned(processes: usize) -> String {
    let mut out = format!("byte owner = {processes};\nbyte waiting[{processes}];\n");
    for i in 0..processes {
        out += &format!(
            "process P_{i} {{ state idle, wants, cs; init idle; trans
               idle -> wants {{ effect waiting[{i}] = 1; }},
               wants -> cs {{ guard owner == {processes}; effect owner = {i}, waiting[{i}] = 0; }},
               cs -> idle {{ guard owner == {i}; effect owner = {processes}; }}; }}\n"
        );
    }
    out + "system async;\n"
}

/// More processes than permutations can be listed for: a state may have several representatives, and verdicts stay.
#[test]
fn many_processes_with_identities() {
    let model = dve(&owned(9));
    let symmetry = model.symmetry(&[], &[]).unwrap();
    assert_eq!(symmetry.order(), Some(362_880));
    let mut met = [0; 2];
    agree(&model, &["invariant: !(P_0@cs && P_8@cs)", "reach: P_3@cs && P_4@wants"], &symmetry, "nine", &mut met);
    let counted = search(&model, &[], &symmetric("bfs", "table", 1));
    assert!(counted.facts.states < 100, "{}", counted.facts.states);
}

/// What a property tells apart is not exchanged; one that tells everything apart is refused.
#[test]
fn properties_of_runs() {
    let model = dve(&owned(3));
    let options = Options { reduce: ReduceChoice::Symmetry { sizes: false }, ..plain() };
    let plan = |text: &str| {
        let property: Property<Expr> = scrimp::parse_property(model.system(), text).unwrap();
        Plan::new(&options, &[property], &ModelFacts::of(&model))
    };
    assert!(plan("ltl: []<> owner == 3").is_ok());
    assert!(plan("ltl: []<> P_0@idle").is_ok(), "the other two are interchangeable");
    let refusal = plan("ltl: []<> P_0@idle && []<> P_1@idle").unwrap_err().to_string();
    assert!(refusal.contains("tell apart"), "{refusal}");
    // Runs through orbits without a single representative could not be followed.
    let many = dve(&owned(9));
    let property: Property<Expr> = scrimp::parse_property(many.system(), "ltl: []<> owner == 9").unwrap();
    assert!(Plan::new(&options, &[property], &ModelFacts::of(&many)).is_err());
    let kinds = [PropertyKind::Deadlock, PropertyKind::Faults];
    assert!(
        kinds
            .into_iter()
            .all(|kind| Plan::new(&options, &[Property::<Expr>::new("", kind)], &ModelFacts::of(&model)).is_ok())
    );
}
