//! Compositions held against their definition, and texts that are wrong.

use super::lower::Limits;
use super::lts::{Lts, gate, is_invisible};
use super::parser::parse;
use super::syntax::{Change, LabelSet, Program, Rule, Tree, Word};
use super::{network, read};
use scrimp_system::{Moment, Random, System};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own for a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("scrimp-aut-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// What is wrong with a file.
    fn refuses(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.write(name, text);
        crate::open(&path).expect_err("this must be refused").to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type State = Vec<u32>;
/// How often each label leads to each state: edges that are there twice count twice.
type Steps = BTreeMap<(String, State), u64>;

/// The steps of a behaviour by the definition: whoever moves is noted beside what is seen.
fn steps(files: &[Lts], tree: &Tree, state: &State) -> Vec<(String, Vec<(usize, u32)>)> {
    match tree {
        Tree::Component(number) => {
            let edges = files[*number].edges.iter().filter(|edge| edge.from == state[*number]);
            let label = |label: u32| match &files[*number].labels[label as usize] {
                text if is_invisible(text) => "i".to_string(),
                text => text.clone(),
            };
            edges.map(|edge| (label(edge.label), vec![(*number, edge.to)])).collect()
        }
        Tree::Changed { change, inner } => {
            let inner = steps(files, inner, state);
            inner.into_iter().filter_map(|(label, who)| Some((changed(change, label)?, who))).collect()
        }
        Tree::Parallel { rule, operands, .. } => {
            let all: Vec<_> = operands.iter().map(|operand| steps(files, operand, state)).collect();
            let mut found = Vec::new();
            match rule {
                Rule::On(set) => {
                    let single = |label: &str| label == "i" || !set.contains(label);
                    found.extend(all.iter().flatten().filter(|(label, _)| single(label)).cloned());
                    let labels: HashSet<String> = all[0].iter().map(|(label, _)| label.clone()).collect();
                    for label in labels.into_iter().filter(|label| !single(label)) {
                        let fits = |_: usize, other: &str| other == label;
                        for who in together(&all, &vec![true; all.len()], fits) {
                            found.push((label.clone(), who));
                        }
                    }
                }
                Rule::Using(vectors, alone) => {
                    for (number, step) in all.iter().enumerate().flat_map(|(n, list)| list.iter().map(move |s| (n, s)))
                    {
                        let named = vectors.iter().any(|vector| match &vector.parts[number] {
                            Some(Word::Label(text)) => *text == step.0,
                            Some(Word::Gate(text)) => text == gate(&step.0),
                            None => false,
                        });
                        if step.0 == "i" || !named && alone.contains(&step.0) {
                            found.push(step.clone());
                        }
                    }
                    for vector in vectors {
                        let takes_part: Vec<bool> = vector.parts.iter().map(Option::is_some).collect();
                        let all_offers: HashSet<String> = all
                            .iter()
                            .flatten()
                            .map(|(label, _)| label[gate(label).len()..].to_string())
                            .chain([String::new()])
                            .collect();
                        let gates = vector.parts.iter().flatten().any(|part| matches!(part, Word::Gate(_)));
                        for offers in all_offers.into_iter().filter(|offers| gates || offers.is_empty()) {
                            let text = |word: &Word| match word {
                                Word::Label(text) => text.clone(),
                                Word::Gate(gate) => format!("{gate}{offers}"),
                            };
                            let fits =
                                |n: usize, other: &str| vector.parts[n].as_ref().map(text).as_deref() == Some(other);
                            let seen = if hides(&vector.result) { "i".to_string() } else { text(&vector.result) };
                            found.extend(together(&all, &takes_part, fits).into_iter().map(|who| (seen.clone(), who)));
                        }
                    }
                }
            }
            found
        }
    }
}

type Moves = Vec<(usize, u32)>;

/// All ways in which those that take part each make a step that fits.
fn together(all: &[Vec<(String, Moves)>], takes_part: &[bool], fits: impl Fn(usize, &str) -> bool) -> Vec<Moves> {
    let mut ways = vec![Vec::new()];
    for number in (0..all.len()).filter(|number| takes_part[*number]) {
        let fitting: Vec<&Moves> =
            all[number].iter().filter(|step| fits(number, &step.0)).map(|step| &step.1).collect();
        ways = ways.iter().flat_map(|way| fitting.iter().map(move |more| [way, more.as_slice()].concat())).collect();
    }
    ways
}

fn changed(change: &Change, label: String) -> Option<String> {
    if label == "i" {
        return Some(label);
    }
    match change {
        Change::Hide(set) => Some(if set.contains(&label) { "i".into() } else { label }),
        Change::Cut(set) => (!set.contains(&label)).then_some(label),
        Change::Rename(pairs) => {
            let exact = pairs.iter().find(|(from, _)| *from == Word::Label(label.clone()));
            let by_gate = || pairs.iter().find(|(from, _)| *from == Word::Gate(gate(&label).to_string()));
            Some(match exact.or_else(by_gate) {
                None => label,
                Some((_, to)) if hides(to) => "i".to_string(),
                Some((Word::Gate(from), Word::Gate(to))) => format!("{to}{}", &label[from.len()..]),
                Some((_, Word::Label(to) | Word::Gate(to))) => to.clone(),
            })
        }
    }
}

/// Does what becomes this disappear, with its offers?
fn hides(to: &Word) -> bool {
    let (Word::Label(text) | Word::Gate(text)) = to;
    text == "i" || text == "tau"
}

fn expected(program: &Program, files: &[Lts], state: &State) -> Steps {
    let mut all = Steps::new();
    for (label, who) in steps(files, program.behaviour.as_ref().unwrap(), state) {
        let mut next = state.clone();
        who.iter().for_each(|(component, to)| next[*component] = *to);
        *all.entry((label, next)).or_default() += 1;
    }
    all
}

/// The steps of the system; components are numbered as they first stand in the behaviour.
fn found(system: &System, state: &State) -> Steps {
    let mut all = Steps::new();
    for event in &system.events {
        let value = |variable: scrimp_system::VarId, _: i64| Ok(state[variable.index()] as i64);
        if !event.moves.iter().all(|m| state[m.process.index()] == m.from) || event.guard.eval(&value) == Ok(0) {
            continue;
        }
        let mut next = state.clone();
        event.moves.iter().for_each(|m| next[m.process.index()] = m.to);
        for effect in &event.effects {
            assert_eq!(effect.moment, Moment::Source);
            next[effect.target.index()] = effect.value.eval(&value).unwrap() as u32;
        }
        *all.entry((event.label.clone(), next)).or_default() += 1;
    }
    all
}

fn random_lts(random: &mut Random) -> String {
    let labels = ["a", "b", "\"c !1\"", "\"c !2\"", "c", "i", "d", "\"d !1\""];
    let states = 1 + random.below(4);
    let edges: Vec<String> = (0..random.below(9))
        .map(|_| {
            format!("({}, {}, {})\n", random.below(states), labels[random.below(labels.len())], random.below(states))
        })
        .collect();
    format!("des ({}, {}, {states})\n{}", random.below(states), edges.len(), edges.concat())
}

fn random_labels(random: &mut Random) -> String {
    let words = ["a", "\"a\"", "b", "c", "\"c !1\"", "d", "e"];
    let some: Vec<&str> = (0..1 + random.below(3)).map(|_| words[random.below(words.len())]).collect();
    let all = ["", "", "all but "][random.below(3)];
    format!("{all}{}", some.join(", "))
}

fn random_tree(random: &mut Random, components: &[String], depth: usize) -> String {
    let word = |random: &mut Random| ["a", "\"b\"", "c", "\"c !1\"", "d", "e"][random.below(6)];
    let result = |random: &mut Random| match random.below(4) {
        0 => ["i", "tau", "\"i\"", "\"i !1\""][random.below(4)],
        _ => word(random),
    };
    if depth > 0 && random.below(3) == 0 {
        let inner = random_tree(random, components, depth - 1);
        return match random.below(3) {
            0 => format!("hide {} in {inner} end hide", random_labels(random)),
            1 => format!("cut {} in {inner} end cut", random_labels(random)),
            _ => format!("rename {} -> {} in {inner} end rename", word(random), result(random)),
        };
    }
    if components.len() == 1 {
        return components[0].clone();
    }
    let cut = 1 + random.below(components.len() - 1);
    let (left, right) = components.split_at(cut);
    let mut parts = vec![random_tree(random, left, 2), random_tree(random, right, 2)];
    match random.below(6) {
        0 => format!("({})", parts.join(" ||| ")),
        1 => format!("({})", parts.join(" || ")),
        2 => format!("({} |[{}]| {})", parts[0], random_labels(random), parts[1]),
        3 => format!("par {} in {} end par", random_labels(random), parts.join(" || ")),
        _ => {
            if right.len() > 1 {
                let cut = 1 + random.below(right.len() - 1);
                parts = vec![
                    parts[0].clone(),
                    random_tree(random, &right[..cut], 1),
                    random_tree(random, &right[cut..], 1),
                ];
            }
            let vectors: Vec<String> = (0..1 + random.below(4))
                .map(|_| {
                    let mut words: Vec<&str> =
                        parts.iter().map(|_| if random.below(3) == 0 { "_" } else { word(random) }).collect();
                    if words.iter().all(|w| *w == "_") {
                        words[0] = "c";
                    }
                    format!("{} -> {}", words.join(" * "), result(random))
                })
                .collect();
            let alone = if random.below(2) == 0 { format!(" alone {}", random_labels(random)) } else { String::new() };
            format!("par using {}{alone} in {} end par", vectors.join(", "), parts.join(" || "))
        }
    }
}

#[test]
fn compositions_are_what_they_say() {
    let plain = Limits::default();
    let tables = Limits { plain: 0, tried: u128::MAX, most: u128::MAX };
    let mut steps_seen = 0;
    for seed in 0..1500 {
        let mut random = Random(seed);
        let folder = Folder::new();
        let count = 1 + random.below(4);
        let names: Vec<String> = (0..count).map(|n| format!("P{n}")).collect();
        let mut text = String::new();
        let mut files = Vec::new();
        for name in &names {
            let lts = random_lts(&mut random);
            folder.write(&format!("{name}.aut"), &lts);
            files.push(read::read(lts.as_bytes(), false).unwrap());
            text.push_str(&format!("component {name} = \"{name}.aut\"\n"));
        }
        text.push_str(&format!("behaviour {}\n", random_tree(&mut random, &names, 2)));
        let path = folder.write("random.network", &text);
        let program = parse(&text).unwrap_or_else(|p| panic!("{text}\n{p:?}"));
        for limits in [plain, tables] {
            let system = network::open_within(&path, &text, limits).unwrap_or_else(|e| panic!("{text}\n{e}"));
            system.validate().unwrap();
            let mut known: HashSet<State> = HashSet::new();
            let mut open: Vec<State> = vec![system.initial[0].iter().map(|value| *value as u32).collect()];
            while let Some(state) = open.pop() {
                if !known.insert(state.clone()) {
                    continue;
                }
                let found = found(&system, &state);
                assert_eq!(found, expected(&program, &files, &state), "seed {seed}, in {state:?} of\n{text}");
                steps_seen += found.len();
                open.extend(found.into_keys().map(|(_, next)| next));
            }
        }
    }
    assert!(steps_seen > 10_000, "{steps_seen}");
}

#[test]
fn sets_of_labels() {
    let set = LabelSet { labels: ["a !1".to_string()].into(), gates: ["b".to_string()].into(), all_but: false };
    assert_eq!(["a", "a !1", "b", "b !2", "bb"].map(|label| set.contains(label)), [false, true, true, true, false]);
    let others = LabelSet { all_but: true, ..set };
    assert_eq!(["a", "a !1", "b"].map(|label| others.contains(label)), [true, false, false]);
}

#[test]
fn files_of_other_tools_are_read() {
    let text = "des(1,6,3)\r\n\r\n(0,a,1)\n(0,send(1,2),2)\n ( 1 , \"G !\\\"x\\\" ?y\" , 0 )\n(2,\"a\",2)\n(2, tau, 1)\n(2,\"b, c\",1)";
    let lts = read::read(text.as_bytes(), true).unwrap();
    assert_eq!(lts.labels, ["a", "send(1,2)", "G !\"x\" ?y", "tau", "b, c"]);
    assert_eq!((lts.initial, lts.states, lts.lines), (1, 3, vec![3, 4, 5, 6, 7, 8]));
    let edges: Vec<_> = lts.edges.iter().map(|edge| (edge.from, edge.label, edge.to)).collect();
    assert_eq!(edges, [(0, 0, 1), (0, 1, 2), (1, 2, 0), (2, 0, 2), (2, 3, 1), (2, 4, 1)]);
}

#[test]
fn wrong_files_are_refused_with_the_place() {
    let folder = Folder::new();
    for (text, place, why) in [
        ("dse (0, 1, 2)\n", ":1:1:", "expected `des (`"),
        ("des (0, 1)\n", ":1:6:", "three numbers"),
        ("des 0, 1, 2\n", ":1:4:", "parentheses"),
        ("des (0, 2, 2)\n(0, a, 1)\n", ":2:1:", "ends after 1 edges, but the first line announces 2"),
        ("des (0, 1, 2)\n(0, a, 1)\n(1, a, 0)\n", ":3:1:", "more edges than the 1"),
        ("des (2, 1, 2)\n(0, a, 1)\n", ":1:6:", "only 2 states"),
        ("des (0, 0, 0)\n", ":1:6:", "only 0 states"),
        ("des (0, 1, 2)\n(0, a, 2)\n", ":2:8:", "unknown state 2"),
        ("des (0, 1, 2)\n(0, a, 9223372036854775808)\n", ":2:8:", "too large"),
        ("des (0, 1, 99999999999999999999)\n(0, a, 1)\n", ":1:12:", "too large"),
        ("des (0, 1, 4000000000)\n(0, a, 1)\n", ":1:12:", "at most"),
        ("des (0, 1, 2000000000)\n(0, a, 1999999999)\n", ":2:1:", "far more than 1 edges"),
        ("des (0, 9000000000000000000, 2)\n(0, a, 1)\n", ":2:1:", "cut off"),
        ("des (0, 1, 2)\n(0, a, -1)\n", ":2:8:", "expected a number"),
        ("des (0, 1, 2)\n(0, a 1)\n", ":2:1:", "expected an edge"),
        ("des (0, 1, 2)\n(0, , 1)\n", ":2:5:", "expected a label"),
        ("des (0, 1, 2)\n(0, \"a, 1)\n", ":2:5:", "closing quotation mark"),
        ("des (0, 1, 2)\n(0, \"a\", 1\n", ":2:1:", "expected an edge"),
        ("\n\n", "", "nothing but blanks"),
    ] {
        let message = folder.refuses("wrong.aut", text);
        assert!(message.contains(&format!("wrong.aut{place}")) && message.contains(why), "{text}\n{message}");
    }
    assert!(folder.refuses("wrong.aut", "").contains("empty"));
    let long = folder.refuses("long.aut", format!("des (0, 1, 2)\n(0, \"{}\", 1)\n", "x".repeat(2 << 20)));
    assert!(long.contains("long.aut:2:1:") && long.contains("bytes"), "{long}");
}

#[test]
fn wrong_networks_are_refused_with_the_place() {
    let folder = Folder::new();
    folder.write("a.aut", "des (0, 1, 2)\n(0, a, 1)\n");
    folder.write("bad.aut", "des (0, 1, 2)\n(0, a, 7)\n");
    folder.write("self.network", "component A = \"self.network\" behaviour A");
    folder.write("one.network", "component A = \"two.network\" behaviour A");
    folder.write("two.network", "component A = \"one.network\" behaviour A");
    let two = "component A, B = \"a.aut\"\n";
    for (text, place, why) in [
        ("".to_string() + "// nothing\n", ":2:1:", "no component"),
        (two.into(), ":2:1:", "does not say how its 2 components"),
        ("component A = \"none.aut\"\n".into(), ":1:15:", "there is no file"),
        ("component A = \"bad.aut\"\n".into(), "bad.aut:2:8:", "unknown state 7"),
        ("component A = \"self.network\"\n".into(), "self.network:1:15:", "contains itself"),
        ("component A = \"one.network\"\n".into(), "two.network:1:15:", "contains itself"),
        ("component A = \"x.dve\"\n".into(), ":1:15:", "there is no file"),
        ("component A, A = \"a.aut\"\n".into(), ":1:14:", "already a component `A`"),
        ("component par = \"a.aut\"\n".into(), ":1:11:", "cannot name a component"),
        (format!("{two}behaviour A ||| A"), ":1:18:", "twice"),
        (format!("{two}behaviour A ||| D"), ":2:17:", "unknown component `D`"),
        (format!("{two}behaviour A ||| B |[a]| A"), ":2:19:", "parentheses"),
        (format!("{two}behaviour A |[a| B"), ":2:16:", "unexpected character"),
        (format!("{two}behaviour (A ||| B"), ":2:19:", "`)`, found the end"),
        (format!("{two}behaviour A\nbehaviour B"), ":3:1:", "one `behaviour`"),
        (format!("{two}behaviour A ||| B\nhide a"), ":3:1:", "a `behaviour` already"),
        (format!("{two}sync a * b * c -> d"), ":2:6:", "3 parts for 2 operands"),
        (format!("{two}sync _ * _ -> d"), ":2:6:", "no component takes part"),
        (format!("{two}sync a * i -> d"), ":2:6:", "invisible"),
        (format!("{two}sync a * \"tau\" -> d"), ":2:6:", "invisible"),
        (format!("{two}alone all cut i"), ":2:15:", "invisible"),
        (format!("{two}alone \"i\""), ":2:7:", "invisible"),
        (format!("{two}alone all hide a, tau"), ":2:19:", "invisible"),
        (format!("{two}alone all rename i -> d"), ":2:18:", "invisible"),
        (format!("{two}alone all forbid i"), ":2:18:", "invisible"),
        (format!("{two}behaviour A |[i]| B"), ":2:15:", "invisible"),
        (format!("{two}set s = {{ a, i }}"), ":2:14:", "invisible"),
        (format!("{two}sync a * \"b -> d"), ":2:10:", "no closing"),
        (format!("{two}snyc a * b -> d"), ":2:1:", "did you mean `sync`"),
        (format!("{two}behaviour {}A{}", "(".repeat(5000), ")".repeat(5000)), ":2:", "within each other"),
        (format!("{two}behaviour rename a -> b, a -> c in A end rename"), ":2:26:", "renamed already"),
        (format!("{two}(* open"), ":2:1:", "comment is not closed"),
        (format!("{two}set s = {{ a }} set s = {{ b }}"), ":2:19:", "already a set"),
        (format!("{two}sync ; a"), ":2:6:", "unexpected character `;`"),
    ] {
        let message = folder.refuses("wrong.network", &text);
        assert!(message.contains(place) && message.contains(why), "{text}\n{message}");
    }
}

#[test]
fn networks_within_networks() {
    let folder = Folder::new();
    folder.write("cell.aut", "des (0, 2, 2)\n(0, put, 1)\n(1, get, 0)\n");
    let inner = "component A, B = \"cell.aut\"\nbehaviour rename get -> m in A end rename |[m]| rename put -> m in B end rename";
    folder.write("pair.network", inner);
    let outer = "component P, Q = \"pair.network\"\nbehaviour P ||| Q";
    let path = folder.write("outer.network", outer);
    let system = network::open(&path, outer).unwrap();
    let names: Vec<&str> = system.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["P_A", "P_B", "Q_A", "Q_B"]);
    assert_eq!(system.events.iter().filter(|event| event.label == "m" && event.moves.len() == 2).count(), 2);
    assert_eq!(
        system.source.file_name(system.events[0].span.part),
        folder.0.join("pair.network").display().to_string()
    );
}

#[test]
fn what_is_left_out_is_said() {
    let folder = Folder::new();
    folder.write("a.aut", "des (0, 2, 2)\n(0, a, 1)\n(1, b, 0)\n");
    let text = "component A, B, C = \"a.aut\"\nbehaviour par using a * a -> a in A || B end par\nforbid a";
    let system = network::open(&folder.write("left.network", text), text).unwrap();
    assert!(
        system.warnings.iter().any(|w| w.contains("label \"b\" of operand 1 is in no vector")),
        "{:?}",
        system.warnings
    );
    assert!(system.warnings.iter().any(|w| w.contains("component `C` is not part")), "{:?}", system.warnings);
    assert_eq!(system.processes.len(), 2);
    assert!(system.events.iter().all(|event| event.assertion.is_some()));
}

#[test]
fn what_would_explode_is_refused_or_becomes_a_table() {
    let folder = Folder::new();
    // From each state three edges with the same label: as pairs of edges, far too many events.
    let edges: String = (0..6000).map(|n| format!("({}, a, {})\n", n / 3, (n * 7 + 1) % 2000)).collect();
    folder.write("wide.aut", format!("des (0, 6000, 2000)\n{edges}"));
    let text = "component A, B = \"wide.aut\"\nbehaviour A |[a]| B";
    let system = network::open(&folder.write("wide.network", text), text).unwrap();
    assert_eq!(system.events.len(), 9);
    let many: String = (0..4000).map(|n| format!("(0, a, {n})\n")).collect();
    folder.write("many.aut", format!("des (0, 4000, 4000)\n{many}"));
    let text = "component A, B = \"many.aut\"\nbehaviour A |[a]| B";
    let message = folder.refuses("many.network", text);
    assert!(
        message.contains(":2:11:") && message.contains("16000000 events") && message.contains("4000 of A"),
        "{message}"
    );
}

/// Whatever makes a label with offers invisible, nothing of it is seen, and what is done to all that is seen leaves it alone.
#[test]
fn what_is_hidden_is_hidden_with_its_offers() {
    let folder = Folder::new();
    folder.write("d.aut", "des (0, 3, 4)\n(0, \"d !1\", 1)\n(1, \"d(2)\", 2)\n(2, d, 3)\n");
    for hidden in [
        "component A = \"d.aut\" sync d -> i",
        "component A = \"d.aut\" sync d -> tau",
        "component A = \"d.aut\" sync d -> \"i\"",
        "component A = \"d.aut\" alone all rename d -> i",
        "component A = \"d.aut\" alone all rename \"d !1\" -> i, d -> tau",
        "component A = \"d.aut\" alone all hide d",
        "component A = \"d.aut\" alone all hide all",
        "component A = \"d.aut\" alone all hide all but i",
        "component A, B = \"d.aut\" sync d * d -> i",
    ] {
        for then in ["", "cut all", "cut all but i", "rename e -> d", "hide all", "cut d", "forbid all"] {
            let text = format!("{hidden} {then}");
            let path = folder.write("hidden.network", &text);
            for limits in [Limits::default(), Limits { plain: 0, tried: u128::MAX, most: u128::MAX }] {
                let system = network::open_within(&path, &text, limits).unwrap_or_else(|e| panic!("{text}\n{e}"));
                let mut state: State = system.initial[0].iter().map(|value| *value as u32).collect();
                for _ in 0..3 {
                    let steps = found(&system, &state);
                    let (label, next) = steps.keys().next().unwrap_or_else(|| panic!("{text}: stuck in {state:?}"));
                    assert!(steps.len() == 1 && label == "i", "{text}: {steps:?}");
                    state = next.clone();
                }
                assert!(system.events.iter().all(|event| event.assertion.is_none()), "{text}");
            }
        }
    }
}
