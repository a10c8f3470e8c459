//! Logs of random runs conform, whatever of them is left out; and what becomes of logs with mistakes is what a search written
//! apart says.

use scrimp_checker::Loaded;
use scrimp_conform::{Conformance, Log, Mapping, Question, Unseen, Verdict, conform_file};
use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Batch, Describe, EventCode, Model, Random, Stop};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn model_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)
}

/// Models with rendezvous, channels, atomic sequences, nets and networks.
const MODELS: [&str; 9] = [
    "two_phase_commit.dve",
    "two_phase_commit.pml",
    "peterson3.dve",
    "alternating_bit.pml",
    "sliding_window.pml",
    "handover.pml",
    "kanban.pnml",
    "phils3.network",
    "token_ring.dve",
];

struct Subject {
    file: PathBuf,
    model: NativeModel,
    /// The type of each process, where it has one.
    types: BTreeMap<usize, String>,
}

/// Who may have written a record: one of these processes, or somebody who saw all of a step.
#[derive(Clone, Default)]
struct Writers {
    lanes: BTreeSet<usize>,
    whole: bool,
}

/// A single step, and where the edge ends that it belongs to.
struct Single {
    code: EventCode,
    before: Vec<u8>,
    after: Vec<u8>,
    end: Vec<u8>,
}

impl Subject {
    fn new(name: &str) -> Subject {
        let file = model_file(name);
        let mut loaded = Loaded::open(&file).unwrap();
        loaded.take_claim().unwrap();
        let model = NativeModel::new(loaded.system.clone(), Mode::Interpreted).unwrap();
        let mut types = BTreeMap::new();
        for code in 0..loaded.system.events.len() as EventCode {
            types.extend(model.event(code).steps.into_iter().map(|step| (step.process as usize, step.name)));
        }
        Subject { file, model, types }
    }

    fn edges(&self, state: &[u8]) -> Vec<Vec<Single>> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.expand(state, &mut batch);
        let edge = |i: usize| {
            let end = batch.state(i).to_vec();
            let mut before = state.to_vec();
            let single = |(code, after): (EventCode, Vec<u8>)| {
                let before = std::mem::replace(&mut before, after.clone());
                Single { code, before, after, end: end.clone() }
            };
            self.model.steps(state, batch.event(i), &end).into_iter().map(single).collect()
        };
        (0..batch.len()).map(edge).collect()
    }

    fn initial(&self) -> Vec<Vec<u8>> {
        let mut batch = Batch::new(self.model.state_bytes());
        self.model.initial(&mut batch);
        (0..batch.len()).map(|i| batch.state(i).to_vec()).collect()
    }

    /// What the system logs of a step: what happened, sometimes who did, and some values.
    fn record(&self, single: &Single, random: &mut Random) -> Value {
        let text = self.model.event(single.code);
        let movers = self.model.movers(single.code);
        let mut writer = (!movers.is_empty()).then(|| movers[random.below(movers.len().max(1))]);
        let mut event = text.label.clone();
        if let (Some(passed), 0) = (self.model.passed(&single.before, single.code), random.below(3)) {
            let sends = passed.to.is_none() || passed.from.is_some() && random.below(2) == 0;
            writer = if sends { passed.from } else { passed.to };
            let values = if random.below(3) == 0 { String::new() } else { passed.values.join(",") };
            event = format!("{}{}{values}", passed.channel, if sends { '!' } else { '?' });
        } else if let (Some(step), 0) =
            (text.steps.iter().find(|step| Some(step.process as usize) == writer), random.below(2))
        {
            event = step.statement.clone();
        }
        let mut record = json!({ "event": event, "time": random.below(1000) });
        if let (Some(writer), 0) = (writer, random.below(2)) {
            let name = &self.model.processes()[writer];
            record["process"] = match (self.types.get(&writer), random.below(3)) {
                (Some(kind), 0) => kind.trim_matches(':').into(),
                (_, 1) => writer.to_string().into(),
                _ => name.clone().into(),
            };
        }
        let values = self.model.values(&single.after);
        for _ in 0..random.below(3) {
            let (name, value) = &values[random.below(values.len())];
            record[name.as_str()] = value.clone().into();
        }
        record
    }

    /// What another process logs of the same step, now and then.
    fn other_end(&self, single: &Single, one: &Value, random: &mut Random) -> Option<Value> {
        if random.below(2) == 0 {
            return None;
        }
        let other = self.record(single, random);
        let (one, other_writers) = (self.writers(one, single), self.writers(&other, single));
        let apart = one.lanes.iter().any(|lane| other_writers.lanes.iter().any(|other| other != lane));
        apart.then_some(other)
    }

    /// The processes that a record may be of; nothing, where it names none.
    fn who(&self, record: &Value) -> Option<BTreeSet<usize>> {
        let who = record["process"].as_str()?;
        let names = self.model.processes();
        if let Some(lane) = names.iter().position(|name| name == who) {
            return Some([lane].into());
        }
        match who.parse::<usize>() {
            Ok(number) => Some([number].into()),
            Err(_) => Some(
                self.types.iter().filter(|(_, kind)| kind.trim_matches(':') == who).map(|(lane, _)| *lane).collect(),
            ),
        }
    }

    /// A random run of so many steps at most: its records, some of which are left out, and how many steps are missing
    /// between two at most.
    fn log(&self, steps: usize, left_out: usize, random: &mut Random) -> (Vec<Value>, u32) {
        let initial = self.initial();
        let mut state = initial[random.below(initial.len())].clone();
        let (mut log, mut gap, mut most) = (Vec::new(), 0, 0);
        for _ in 0..steps {
            let mut edges = self.edges(&state);
            if edges.is_empty() {
                break;
            }
            let edge = edges.swap_remove(random.below(edges.len()));
            state = edge[0].end.clone();
            let mut seen = false;
            for single in &edge {
                if left_out == 0 && !seen || random.below(left_out + 1) == 0 {
                    log.push(self.record(single, random));
                    seen = true;
                    log.extend(self.other_end(single, &log[log.len() - 1], random));
                }
            }
            gap = if seen { 0 } else { gap + 1 };
            // What is missing behind the last record is no matter.
            most = most.max(if seen { 0 } else { gap });
        }
        (log, most)
    }

    /// Nothing, where a process takes no part in an event that is said to be its own.
    fn ask(&self, log: &[Value], unseen: Unseen) -> Option<Conformance> {
        self.ask_all(&[log.to_vec()], "", unseen)
    }

    fn ask_all(&self, logs: &[Vec<Value>], mapping: &str, unseen: Unseen) -> Option<Conformance> {
        match self.hold(logs, mapping, unseen) {
            Ok(found) => Some(found),
            Err(error) => {
                assert!(error.contains("takes no part in an event"), "{error}");
                None
            }
        }
    }

    fn hold(&self, logs: &[Vec<Value>], mapping: &str, unseen: Unseen) -> Result<Conformance, String> {
        let text = |log: &Vec<Value>| log.iter().map(|record| format!("{record}\n")).collect::<String>();
        let logs: Vec<Log> = logs.iter().map(|log| Log::Text("log".into(), text(log).into_bytes().into())).collect();
        let mapping = Mapping::parse("mapping", mapping).unwrap();
        let question = Question { logs: &logs, mapping: &mapping, unseen: Some(unseen), memory: 1 << 30 };
        let held = conform_file(Loaded::open(&self.file).unwrap(), &question, &Stop::never());
        held.map(|(_, found)| found).map_err(|error| error.to_string())
    }

    /// May a record be about a single step, and who wrote it then? By texts alone.
    fn writers(&self, record: &Value, single: &Single) -> Writers {
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let unwrapped = |text: &str| {
            let mut text = bare(text);
            while text.starts_with('(') && text.ends_with(')') && closes_at_end(&text) {
                text = text[1..text.len() - 1].to_string();
            }
            text
        };
        let (text, event) = (self.model.event(single.code), unwrapped(record["event"].as_str().unwrap()));
        let movers: BTreeSet<usize> = self.model.movers(single.code).into_iter().collect();
        let who = self.who(record);
        let passed = self.model.passed(&single.before, single.code);
        // Each name with who calls it so; nobody in particular, where it is that of all of it.
        let mut names = vec![(text.label.clone(), None)];
        if let Some((head, tail)) = text.label.split_once(": ") {
            if !text.processes.contains(&head.to_string()) {
                names.push((head.into(), passed.as_ref().and_then(|passed| passed.from)));
            }
            names.push((tail.into(), None));
        }
        names.extend(text.steps.iter().map(|step| (step.statement.clone(), Some(step.process as usize))));
        if let Some(passed) = passed {
            for (end, sign) in [(passed.from, '!'), (passed.to, '?')].into_iter().filter(|(end, _)| end.is_some()) {
                names.push((format!("{}{sign}", passed.channel), end));
                names.push((format!("{}{sign}{}", passed.channel, passed.values.join(",")), end));
            }
        }
        let mut writers = Writers::default();
        for (_, lane) in names.into_iter().filter(|(name, _)| unwrapped(name) == event) {
            match (lane, &who) {
                (Some(lane), _) => {
                    writers.lanes.extend(who.as_ref().is_none_or(|who| who.contains(&lane)).then_some(lane))
                }
                (None, Some(who)) => writers.lanes.extend(who.intersection(&movers)),
                (None, None) => writers.whole = true,
            }
        }
        let holds = |state: &[u8], name: &str, value: &Value| {
            self.model
                .values(state)
                .iter()
                .any(|(other, shown)| other == name && bare(shown) == bare(value.as_str().unwrap()))
        };
        let values = record.as_object().unwrap().iter();
        let mut values = values.filter(|(name, _)| !matches!(name.as_str(), "event" | "process" | "time" | "vc"));
        match values.all(|(name, value)| holds(&single.after, name, value) || holds(&single.end, name, value)) {
            true => writers,
            false => Writers::default(),
        }
    }

    fn fits(&self, record: &Value, single: &Single) -> bool {
        let writers = self.writers(record, single);
        writers.whole || !writers.lanes.is_empty()
    }

    /// How many records are accounted for by going along these single steps, from a record on: all that is possible.
    fn along(&self, edge: &[Single], log: &[Value], at: usize, out: &mut BTreeSet<usize>) {
        let Some((first, rest)) = edge.split_first() else {
            out.insert(at);
            return;
        };
        self.along(rest, log, at, out);
        let Some(record) = log.get(at) else { return };
        if self.writers(record, first).whole {
            self.along(rest, log, at + 1, out);
        }
        self.together(first, rest, log, at, &BTreeSet::new(), out);
    }

    /// What several do together may be logged by each of them.
    fn together(
        &self,
        first: &Single,
        rest: &[Single],
        log: &[Value],
        at: usize,
        wrote: &BTreeSet<usize>,
        out: &mut BTreeSet<usize>,
    ) {
        let Some(record) = log.get(at) else { return };
        for lane in self.writers(record, first).lanes.difference(wrote) {
            self.along(rest, log, at + 1, out);
            let wrote = wrote.iter().copied().chain([*lane]).collect();
            self.together(first, rest, log, at + 1, &wrote, out);
        }
    }

    /// How many records some run looks like, by following sets of states.
    fn oracle(&self, log: &[Value], unseen: Unseen) -> usize {
        let bound = match unseen {
            Unseen::Most(most) => most as usize,
            Unseen::Any => usize::MAX,
        };
        let mut layers: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); log.len() + 1];
        layers[0] = self.initial().into_iter().collect();
        for at in 0..log.len() {
            let mut known = layers[at].clone();
            let mut open: Vec<Vec<u8>> = known.iter().cloned().collect();
            for depth in 0.. {
                let mut further = Vec::new();
                for state in open {
                    for edge in self.edges(&state) {
                        let mut ends = BTreeSet::new();
                        self.along(&edge, log, at, &mut ends);
                        for end in ends.into_iter().filter(|end| *end > at) {
                            layers[end].insert(edge[0].end.clone());
                        }
                        if depth < bound && known.insert(edge[0].end.clone()) {
                            further.push(edge[0].end.clone());
                        }
                    }
                }
                if further.is_empty() {
                    break;
                }
                open = further;
            }
        }
        layers.iter().rposition(|layer| !layer.is_empty()).unwrap()
    }
}

fn closes_at_end(text: &str) -> bool {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        open += i32::from(c == '(') - i32::from(c == ')');
        if open == 0 && at + 1 < text.len() {
            return false;
        }
    }
    true
}

/// A mistake: two records are swapped, one is gone, or doubled, or a value or an event is that of another.
fn mutate(log: &mut Vec<Value>, random: &mut Random) {
    let (a, b) = (random.below(log.len()), random.below(log.len()));
    match random.below(5) {
        0 => log.swap(a, b),
        1 => drop(log.remove(a)),
        2 => log.insert(b, log[a].clone()),
        3 => log[a]["event"] = log[b]["event"].clone(),
        _ => {
            let other = log[b].clone();
            for (name, value) in other.as_object().unwrap() {
                log[a][name.as_str()] = value.clone();
            }
        }
    }
}

/// The run that is answered is one of the model, and looks like the log.
fn check_run(subject: &Subject, log: &[Value], found: &Conformance) {
    let run = found.run.as_ref().unwrap();
    let mut state = run.trace.initial.clone();
    let mut at = 0;
    for ((code, after), records) in run.trace.steps.iter().zip(&run.records) {
        let mut batch = Batch::new(state.len());
        subject.model.expand(&state, &mut batch);
        assert!((0..batch.len()).any(|i| batch.event(i) == *code && batch.state(i) == after), "no step of the model");
        let steps = subject.model.steps(&state, *code, after);
        for (single, (_, line)) in records {
            assert_eq!(*line as usize, at + 1);
            let before = if *single == 0 { state.clone() } else { steps[single - 1].1.clone() };
            let (code, after_single) = steps[*single].clone();
            let single = Single { code, before, after: after_single, end: after.clone() };
            assert!(subject.fits(&log[at], &single), "line {line}");
            at += 1;
        }
        state.clone_from(after);
    }
    assert_eq!(at as u64, found.matched);
}

#[test]
fn logs_of_runs_conform() {
    for name in MODELS {
        let subject = Subject::new(name);
        for seed in 1..=12 {
            let mut random = Random(seed);
            let left_out = random.below(4);
            let (log, gap) = subject.log(40, left_out, &mut random);
            if log.is_empty() {
                continue;
            }
            for unseen in [Unseen::Most(gap), Unseen::Any] {
                let found = subject.ask(&log, unseen).unwrap();
                assert_eq!(found.verdict, Verdict::Conforms, "{name} {seed} {unseen:?}");
                check_run(&subject, &log, &found);
            }
        }
    }
}

#[test]
fn mistakes_are_found_where_a_search_apart_finds_them() {
    let (mut same, mut differ) = (0, 0);
    for name in MODELS {
        let subject = Subject::new(name);
        // Of models that are large, without bounds everything can be reached.
        let small = name.ends_with(".dve") || name.ends_with(".network");
        for seed in 1..=16 {
            let mut random = Random(1000 + seed);
            let left_out = random.below(3);
            let (mut log, gap) = subject.log(12, left_out, &mut random);
            if log.len() < 2 {
                continue;
            }
            for _ in 0..=random.below(2) {
                mutate(&mut log, &mut random);
            }
            let unseen = if small && random.below(3) == 0 { Unseen::Any } else { Unseen::Most(gap.min(2)) };
            let Some(found) = subject.ask(&log, unseen) else { continue };
            let expected = subject.oracle(&log, unseen);
            assert_eq!(found.matched, expected as u64, "{name} {seed} {unseen:?}\n{log:#?}");
            assert_eq!(found.verdict == Verdict::Conforms, expected == log.len(), "{name} {seed}");
            check_run(&subject, &log, &found);
            if expected == log.len() {
                same += 1;
            } else {
                differ += 1;
            }
        }
    }
    assert!(same > 10 && differ > 30, "{same} {differ}");
}

/// All ways to merge two logs, each with which of them every record is from.
fn merged(one: &[Value], other: &[Value]) -> Vec<Vec<Value>> {
    let (Some((first, rest)), Some((second, others))) = (one.split_first(), other.split_first()) else {
        return vec![[one, other].concat()];
    };
    let behind = |record: &Value, all: Vec<Vec<Value>>| -> Vec<Vec<Value>> {
        all.into_iter().map(|tail| [vec![record.clone()], tail].concat()).collect()
    };
    [behind(first, merged(rest, other)), behind(second, merged(one, others))].concat()
}

/// Does the clock of one record say that it came before another?
fn is_before(one: &Value, other: &Value) -> bool {
    let time = |record: &Value, of: usize| record["vc"][of].as_u64().unwrap();
    one["vc"] != other["vc"] && (0..2).all(|of| time(one, of) <= time(other, of))
}

#[test]
fn several_logs_are_merged_in_all_orders_that_clocks_allow() {
    let (mut same, mut differ) = (0, 0);
    for name in MODELS {
        let subject = Subject::new(name);
        for seed in 1..=12 {
            let mut random = Random(5000 + seed);
            let left_out = random.below(2);
            let (mut log, gap) = subject.log(8, left_out, &mut random);
            log.truncate(7);
            if log.len() < 3 {
                continue;
            }
            if random.below(3) > 0 {
                mutate(&mut log, &mut random);
            }
            // Who writes a record knows what it has heard of the other, now and then.
            let (mut logs, mut known) = ([Vec::new(), Vec::new()], [[0u64; 2]; 2]);
            for mut record in log {
                let writer = random.below(2);
                if random.below(2) == 0 {
                    let other = known[1 - writer];
                    (0..2).for_each(|of| known[writer][of] = known[writer][of].max(other[of]));
                }
                known[writer][writer] += 1;
                record["vc"] = json!(known[writer]);
                record.as_object_mut().unwrap().remove("process");
                logs[writer].push(record);
            }
            let unseen = Unseen::Most(gap.min(1));
            let all = merged(&logs[0], &logs[1]);
            for clocks in [false, true] {
                let allowed = |log: &&Vec<Value>| {
                    !clocks || (0..log.len()).all(|at| log[at..].iter().all(|later| !is_before(later, &log[at])))
                };
                let expected = all.iter().filter(allowed).map(|log| subject.oracle(log, unseen)).max().unwrap();
                let mapping = if clocks { "order clock vc\n" } else { "" };
                let found = subject.ask_all(&logs, mapping, unseen).unwrap();
                assert_eq!(found.matched, expected as u64, "{name} {seed} {clocks} {unseen:?}\n{logs:#?}");
                let whole = logs[0].len() + logs[1].len();
                assert_eq!(found.verdict == Verdict::Conforms, expected == whole, "{name} {seed}");
                if expected == whole {
                    same += 1;
                } else {
                    differ += 1;
                }
            }
        }
    }
    assert!(same > 40 && differ > 40, "{same} {differ}");
}

/// All ways to merge logs.
fn merged_all(logs: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let Some((first, rest)) = logs.split_first() else { return vec![Vec::new()] };
    merged_all(rest).iter().flat_map(|others| merged(first, others)).collect()
}

/// Processes write logs of their own, with clocks, in which there are mistakes too: then they are refused, where a clock
/// contradicts another, and nothing else is.
#[test]
fn clocks_order_what_processes_write() {
    let (mut same, mut differ, mut refused) = (0, 0, 0);
    for name in ["two_phase_commit.dve", "peterson3.dve", "token_ring.dve", "two_phase_commit.pml"] {
        let subject = Subject::new(name);
        let names = subject.model.processes();
        for seed in 1..=24 {
            let mut random = Random(9000 + seed);
            let (mut log, gap) = subject.log(7, random.below(2), &mut random);
            log.truncate(6);
            if log.len() < 3 {
                continue;
            }
            if random.below(2) > 0 {
                mutate(&mut log, &mut random);
            }
            let mut logs: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
            let mut known = vec![vec![0u64; names.len() + 1]; names.len()];
            for mut record in log {
                let writer = match subject.who(&record) {
                    Some(who) => *who.first().unwrap(),
                    None => random.below(names.len()),
                };
                record["process"] = names[writer].clone().into();
                // What was heard of others, and what happened without a record; the last is one who writes none.
                for _ in 0..random.below(2) {
                    let other = known[random.below(names.len())].clone();
                    known[writer].iter_mut().zip(other).for_each(|(time, other)| *time = (*time).max(other));
                }
                let last = names.len();
                known[writer][last] += u64::from(random.below(4) == 0);
                known[writer][writer] += 1 + random.below(2) as u64;
                record["vc"] = names.iter().cloned().chain(["Z".to_string()]).zip(known[writer].clone()).collect();
                logs.entry(writer).or_default().push(record);
            }
            let mut logs: Vec<Vec<Value>> = logs.into_values().collect();
            if random.below(2) == 0 {
                let (log, entry) = (random.below(logs.len()), random.below(names.len()));
                let record = random.below(logs[log].len());
                let time = &mut logs[log][record]["vc"][names[entry].as_str()];
                *time = (time.as_u64().unwrap() + 2).saturating_sub(random.below(5) as u64).into();
            }
            let time = |record: &Value, of: &str| record["vc"][of].as_u64().unwrap();
            // By who wrote the record alone, and whether that can be.
            let own = |record: &Value| record["process"].as_str().unwrap().to_string();
            let knows = |later: &Value, record: &Value| time(later, &own(record)) >= time(record, &own(record));
            let all: Vec<&Value> = logs.iter().flatten().collect();
            let less = |one: &Value, other: &Value| {
                one["vc"] != other["vc"]
                    && one["vc"].as_object().unwrap().keys().all(|of| time(one, of) <= time(other, of))
            };
            let can_be =
                logs.iter().all(|log| log.windows(2).all(|two| less(&two[0], &two[1]) && !knows(&two[0], &two[1])))
                    && all.iter().all(|record| time(record, &own(record)) > 0)
                    && all.iter().all(|one| {
                        all.iter().all(|other| own(one) == own(other) || !knows(one, other) || less(other, one))
                    });
            let unseen = Unseen::Most(gap.min(1));
            if !can_be {
                let error = subject.hold(&logs, "order clock vc\n", unseen).unwrap_err();
                assert!(error.contains("vector clock") || error.contains("takes no part"), "{name} {seed}: {error}");
                refused += 1;
                continue;
            }
            let allowed = |log: &&Vec<Value>| {
                (0..log.len())
                    .all(|at| log[at + 1..].iter().all(|later| own(later) == own(&log[at]) || !knows(&log[at], later)))
            };
            let expected = |all: &[Vec<Value>]| all.iter().filter(allowed).map(|log| subject.oracle(log, unseen)).max();
            let Some(found) = subject.ask_all(&logs, "order clock vc\n", unseen) else { continue };
            let whole = all.len();
            let expected = expected(&merged_all(&logs)).unwrap();
            assert_eq!(found.matched, expected as u64, "{name} {seed} {unseen:?}\n{logs:#?}");
            assert_eq!(found.verdict == Verdict::Conforms, expected == whole, "{name} {seed}");
            if expected == whole {
                same += 1;
            } else {
                differ += 1;
            }
        }
    }
    assert!(same > 3 && differ > 3 && refused > 3, "{same} {differ} {refused}");
}
