//! Every JSON object that the command prints is as `docs/schema` says.

use crate::common::command::{Answer, counters, file, model, scratch, scrimp};
use crate::common::schema::{Checked, Schema};
use serde_json::Value;
use std::collections::BTreeSet;

fn schema() -> Schema {
    Schema::new(include_str!("../../docs/schema/scrimp.schema.json"))
}

/// Fails unless the object is as the schema says, and begins with its name; answers the fields that it has.
#[track_caller]
fn assert_fits(object: &Value, what: &str) -> BTreeSet<String> {
    let Checked { errors, met } = schema().check(object);
    assert!(errors.is_empty(), "{what}:\n{}", errors.join("\n"));
    assert_eq!(
        object.as_object().and_then(|object| object.keys().next()).map(String::as_str),
        Some("schema"),
        "{what}"
    );
    met
}

/// Runs `COMMAND MODEL FLAGS --json`, where the model is one of `models/`, and every flag of `more` is taken as it is.
#[track_caller]
fn told(line: &str, more: &[&str]) -> Answer {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let name = model(words[1]);
    words[1] = &name;
    scrimp(&[&words[..], more, &["--json"]].concat())
}

/// Commands, with what follows a flag that has spaces in it, and their exit codes.
const RUNS: &[(&str, &[&str], i32)] = &[
    // Every language, verified and violated.
    ("check peterson3.dve", &[], 0),
    ("check naive_lock.dve", &[], 1),
    ("check naive_lock.dve --keep-going", &[], 1),
    ("check runtime_faults.dve --keep-going", &[], 1),
    ("check phils3.network", &[], 1),
    ("check alternating_bit.network --keep-going", &[], 0),
    ("check needham_schroeder.pml", &[], 1),
    ("check needham_schroeder.pml --keep-going", &[], 1),
    ("check scheduler.pml", &[], 0),
    ("check kanban.pnml", &[], 0),
    ("check philosophers_ring.pnml", &[], 0),
    // Properties of states and of runs, claims.
    ("check peterson3.dve", &["-p", "invariant: !(P_0@cs && P_1@cs)", "-p", "reach: P_0@cs"], 0),
    ("check peterson3.dve", &["-p", "invariant: 1 / level[0] > 0"], 1),
    ("check peterson3.dve", &["-p", "ctl: AG EF P_0@cs"], 0),
    ("check peterson3.dve", &["-p", "ctl: AG (P_0@enter -> AF P_0@cs)"], 1),
    ("check peterson3.dve", &["-p", "ctl: EF AG P_0@cs", "-p", "deadlock"], 1),
    ("check peterson3.dve --fair weak", &["-p", "ltl: [] (level[0] == 7 -> <> P_0@cs)"], 0),
    ("check peterson3.dve -k", &["-p", "ltl: [] <> P_0@cs", "-p", "ltl: <> P_1@cs", "-p", "deadlock"], 1),
    ("check peterson.pml", &[], 0),
    ("check two_phase_commit.pml -k", &[], 1),
    ("check elevator.pml", &[], 1),
    ("check milner3_starter.dve -k", &[], 0),
    ("check kanban.pnml -p live -p bounded -p one-safe", &["-p", "bound: c1_work", "-p", "reach: c1_work > 1"], 1),
    ("check kanban.pnml", &["-p", "ltl: [] <> c1_work > 0", "-p", "ctl: AG EF c1_work > 0"], 1),
    ("check unbounded.pnml -p bounded", &["-p", "bound: orders"], 1),
    // Stores, orders, threads, reductions, forgetting.
    ("check peterson3.dve --store compact:64", &[], 4),
    ("check peterson3.dve --store bitstate:8", &[], 4),
    ("check peterson3.dve --store dfa", &[], 0),
    ("check peterson3.dve --store comback --threads 1", &[], 0),
    ("check peterson3.dve --order dfs --store tree", &[], 0),
    ("check peterson3.dve --order best --heuristic level[0]", &[], 0),
    ("check peterson3.dve --reduce por --threads 2", &[], 0),
    ("check peterson3.dve --forget cache:1000 --reduce edge-lean --audit", &[], 0),
    ("check phils4.dve --forget pseudo-root -k", &[], 1),
    ("check naive_lock.dve --reduce symmetry -k", &["-p", "reach: P_2@cs", "-p", "ltl: []<> inside == 0"], 1),
    ("count phils4.dve --reduce symmetry:orbits", &[], 0),
    ("check leader_ring.dve --forget sweep --progress auto", &[], 1),
    // Other engines.
    ("check peterson3.dve --engine symbolic", &[], 0),
    ("check naive_lock.dve --engine symbolic -k", &[], 1),
    ("check peterson3.dve --engine symbolic", &["-p", "ctl: AG EF P_0@cs"], 0),
    ("check naive_lock.dve --engine bmc", &[], 1),
    ("check naive_lock.dve --engine bmc:2", &[], 3),
    ("count kanban.pnml --engine symbolic", &[], 0),
    // Limits.
    ("check peterson3.dve --max-visits 10", &[], 3),
    ("check peterson3.dve --forget cache:20", &[], 3),
    ("count large/counters20.dve --memory 24M --store table", &[], 3),
    ("count large/counters20.dve --time 100ms", &[], 3),
    ("check large/counters20.dve --time 1ms", &[], 3),
    // Counting and planning.
    ("count phils4.dve --in-degrees", &[], 0),
    ("count kanban.pnml", &[], 0),
    ("count peterson3.dve --store compact:64", &[], 4),
    ("count unbounded.pnml", &[], 3),
    ("count phils4.dve --engine cluster:2", &[], 0),
    ("plan phils4.dve --engine cluster:2", &[], 0),
    ("plan peterson3.dve", &["-p", "ltl: [] <> P_0@cs"], 0),
    ("plan kanban.pnml --engine symbolic", &[], 0),
    ("plan peterson.pml --forget cache:1000", &[], 0),
    // Walks.
    ("simulate peterson3.dve --walks 20", &["-p", "reach: P_0@cs"], 0),
    ("simulate naive_lock.dve --walks 20", &[], 1),
    ("simulate needham_schroeder.pml --walks 20 --steps 50", &[], 4),
    ("simulate kanban.pnml --walks 20", &[], 4),
    ("simulate phils3.network --walks 20", &[], 1),
    ("simulate starvation.dve --walks 20", &[], 4),
    ("simulate peterson3.dve --walks 9000000000 --time 100ms", &[], 3),
    // Runs that cover a model.
    ("generate phils3.dve --cover transitions", &[], 0),
    ("generate peterson.pml --cover pairs --format itf", &[], 0),
    ("generate peterson3.dve --cover goals", &["--goal", "P_0@cs && P_1@cs", "--goal", "P_0@cs"], 0),
    ("generate large/counters20.dve --cover transitions --time 300ms", &[], 3),
    // What cannot begin.
    ("simulate peterson3.dve --walks 20 -p live", &[], 2),
    ("check peterson3.dve --store nothing", &[], 2),
    ("count peterson3.dve --fair weak", &[], 2),
    ("plan peterson3.dve", &["-p", "invariant: nobody@home"], 2),
];

#[test]
fn every_object_fits() {
    let mut met = BTreeSet::new();
    for (line, more, code) in RUNS {
        let what = format!("{line} {}", more.join(" "));
        let answer = told(line, more);
        assert_eq!(answer.code, Some(*code), "{what}:\n{}{}", answer.stdout, answer.stderr);
        met.extend(assert_fits(&answer.json(), &what));
    }
    for (object, what) in [saved_and_resumed(), on_disk(), contest_formulas(), on_a_card(), logs()]
        .into_iter()
        .flatten()
        .chain(compared())
    {
        met.extend(assert_fits(&object, &what));
    }
    let run = scrimp(&["check", &model("naive_lock.dve"), "--trace-format", "json"]).code(1);
    met.extend(assert_fits(&run.json(), "a run"));
    for line in told("check peterson.pml --show-progress=json", &[]).code(0).stderr.lines() {
        met.extend(assert_fits(&serde_json::from_str(line).expect("an object a line"), "progress"));
    }
    // What no command shows is described for nothing.
    let schema = schema();
    let fields = schema.definitions().iter().flat_map(|(name, definition)| {
        let fields = definition["properties"].as_object().into_iter().flat_map(|fields| fields.keys());
        fields.map(move |field| format!("{name}.{field}"))
    });
    let skipped = |field: &String| scrimp_gpu::Host::find().is_err() && field.contains("card");
    let never: Vec<String> = fields.filter(|field| !met.contains(field) && !skipped(field)).collect();
    assert!(never.is_empty(), "{never:?}");
}

type Told = (Value, String);

/// A run, a log that is none and has a cut last line, and one that cannot be followed in time.
fn logs() -> Vec<Told> {
    let good = "{\"event\": \"ask_0!\", \"at\": 3}\n";
    let commit = model("two_phase_commit.dve");
    let large = file("schema_large.dve", counters(8, 200, 0));
    let asked = [
        (&commit, good.to_string(), 0),
        (&commit, format!("{good}{{\"event\": \"commit_0!\"}}\n{{\"ev"), 1),
        (&large, "{\"P_7.x\": 150}\n".to_string(), 3),
    ];
    let told = |(number, (model, text, code)): (usize, (&String, String, i32))| {
        let log = file(&format!("schema_{number}.jsonl"), text);
        let words = ["conform", model, &log, "--json", "--unseen", if code == 3 { "any" } else { "0" }, "--time", "2s"];
        (scrimp(&words).code(code).json(), format!("log {number}"))
    };
    asked.into_iter().enumerate().map(told).collect()
}

fn saved_and_resumed() -> Vec<Told> {
    let (large, saved) = (file("schema_counters.dve", counters(5, 200, 0)), scratch("schema.checkpoint"));
    let saved = saved.to_string_lossy();
    let stopped = |flag: &str| scrimp(&["count", &large, flag, &saved, "--time", "100ms", "--json"]).code(3).json();
    ["--checkpoint", "--resume"].map(|flag| (stopped(flag), flag.to_string())).to_vec()
}

fn on_disk() -> Vec<Told> {
    let folder = scratch("schema-disk");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let store = format!("disk:{}", folder.display());
    let kept = told("check peterson3.dve --store", &[&store]).code(0).json();
    let full = told("check peterson3.dve --store disk:/dev/null", &[]).json();
    vec![(kept, store), (full, "no folder".to_string())]
}

/// The kernels for a graphics card, where there is a compiler that makes the processor run them.
fn on_a_card() -> Vec<Told> {
    if let Err(why) = scrimp_gpu::Host::find() {
        eprintln!("skipped: {why}");
        return Vec::new();
    }
    let lines = [("count phils4.dve --engine gpu:cpu", 0), ("check naive_lock.dve --engine gpu:cpu", 1)];
    let lines = lines.into_iter().chain([("plan phils4.dve --engine gpu:cpu", 0)]);
    lines.map(|(line, code)| (told(line, &[]).code(code).json(), line.to_string())).collect()
}

fn contest_formulas() -> Vec<Told> {
    let enabled = |id: &str| format!("<is-fireable><transition>{id}</transition></is-fireable>");
    let property = |id: &str, formula: &str| {
        format!("<property><id>{id}</id><description>d</description><formula>{formula}</formula></property>")
    };
    let text = format!(
        "<?xml version=\"1.0\"?>\n<property-set xmlns=\"http://mcc.lip6.fr/\">{}{}</property-set>\n",
        property("reach", &format!("<exists-path><finally>{}</finally></exists-path>", enabled("c1_finish"))),
        property("bound", "<place-bound><place>c1_work</place></place-bound>"),
    );
    let formulas = file("schema_formulas.xml", text);
    vec![(told("check kanban.pnml --formulas", &[&formulas]).code(0).json(), "formulas".to_string())]
}

/// Two results files: a case in both that costs more, one that is wrong, one that is new and one that is gone.
fn compared() -> Vec<Told> {
    let suite = format!("[[task]]\nname = \"t\"\nmodels = [{:?}, {:?}]\n", model("phils3.dve"), model("phils4.dve"));
    let (suite, before) = (file("schema_suite.toml", suite), scratch("schema_before.jsonl"));
    let _ = std::fs::remove_file(&before);
    let before = before.to_string_lossy();
    scrimp(&["bench", &suite, "--out", &before]).code(0);
    let results = std::fs::read_to_string(&*before).expect("results");
    let mut records: Vec<Value> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records[0]["result"]["states"] = 7.into();
    records[0]["result"]["visits"] = 100_000.into();
    records[1]["model"] = "another".into();
    let after = file("schema_after.jsonl", records.iter().map(|record| format!("{record}\n")).collect::<String>());
    let compare = |before: &str, after: &str| scrimp(&["compare", before, after, "--json"]).code(1).json();
    let objects = vec![compare(&before, &after), compare(&after, &before)];
    for name in ["wrong", "worse", "new", "gone"] {
        assert!(!objects[0][name].as_array().unwrap().is_empty(), "{name}: {}", objects[0]);
    }
    objects.into_iter().map(|object| (object, "compare".to_string())).collect()
}

/// The schema says what every field means, and leaves no object open.
#[test]
fn the_schema_is_complete() {
    fn complete(schema: &Value, at: &str) {
        let is_object = schema["type"] == "object";
        assert!(!is_object || schema.get("additionalProperties").is_some(), "{at} may have any field");
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            assert!(field["description"].is_string() || field["$ref"].is_string(), "{at} is not described");
            complete(field, &at);
        }
    }
    for (name, definition) in schema().definitions() {
        assert!(definition["description"].is_string(), "{name} is not described");
        complete(definition, name);
    }
}

/// A validator that lets everything pass would show nothing.
#[test]
fn broken_objects_do_not_fit() {
    let good = told("check needham_schroeder.pml -k", &[]).code(1).json();
    assert_fits(&good, "as it was");
    let broken = |what: &str, change: &dyn Fn(&mut Value)| {
        let mut object = good.clone();
        change(&mut object);
        assert_ne!(object, good, "{what} changes nothing");
        assert!(!schema().check(&object).errors.is_empty(), "{what} fits");
    };
    for field in ["schema", "states", "properties", "limits", "searches"] {
        broken(&format!("no {field}"), &|object| drop(object.as_object_mut().unwrap().remove(field)));
    }
    let steps = "/properties/2/trace/steps/0";
    for place in ["", "/forget", "/limits", "/properties/0", "/searches/0", "/unreached/0", steps] {
        broken(&format!("a new field in {place}"), &|object| {
            object.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}"))["fresh"] = 1.into();
        });
    }
    for (place, value) in [
        ("/schema", Value::from("scrimp/report/0")),
        ("/verdict", "holds".into()),
        ("/guarantee", Value::Null),
        ("/states", "many".into()),
        ("/states", (-1).into()),
        ("/states", 1.5.into()),
        ("/level_sizes", Value::from(vec!["1"])),
        ("/omission_probability", 1.5.into()),
        ("/seconds", Value::Null),
        ("/plan/store", 1.into()),
        ("/plan/decisions", "none".into()),
        ("/limits/reached", "patience".into()),
        ("/properties/0/vacuous", Value::Null),
        ("/properties/2/trace/steps/0/changes", Value::from(vec![1])),
        ("/searches/0/properties/0", Value::Null),
        ("/searches", Value::from(vec![1])),
    ] {
        broken(&format!("{value} at {place}"), &|object| {
            *object.pointer_mut(place).unwrap_or_else(|| panic!("there is no {place}")) = value.clone();
        });
    }
    assert!(!schema().check(&Value::from(vec![good.clone()])).errors.is_empty());
}

/// Names of what each search of a run was to decide, with the states it found.
fn searches<'a>(json: &'a Value) -> Vec<(Vec<&'a str>, Option<u64>)> {
    let list = json["searches"].as_array().expect("a list of searches").iter();
    let names = |search: &'a Value| search["properties"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    list.map(|search| (names(search).collect(), search["states"].as_u64())).collect()
}

/// No search of a run is left out.
#[test]
fn every_search_has_its_figures() {
    let json = told("check two_phase_commit.pml -k", &[]).code(1).json();
    let [(states, Some(26_150)), (claim, Some(with_claim))] = &searches(&json)[..] else {
        panic!("{}", json["searches"]);
    };
    assert!(states.contains(&"deadlock") && claim.iter().all(|name| name.contains("never claim")), "{claim:?}");
    assert!(*with_claim > 100 && json["searches"][1]["model"].as_str().unwrap().ends_with("with its never claim"));
    for name in ["states", "transitions", "visits", "seconds", "memory_peak_bytes", "plan"] {
        assert_eq!(json[name], json["searches"][0][name], "{name} is that of the first search");
    }
    let formulas = ["-p", "deadlock", "-p", "ltl: [] <> P_0@cs", "-p", "ctl: AG EF P_0@cs"];
    let json = told("check peterson3.dve -k", &formulas).code(1).json();
    let names: Vec<_> = searches(&json).into_iter().map(|(names, _)| names.join("")).collect();
    assert_eq!(names, ["deadlock", "ltl: [] <> P_0@cs", "ctl: AG EF P_0@cs"]);
    // Questions about a net share a search where they can.
    let formulas = ["-p", "ltl: [] <> c1_work > 0", "-p", "deadlock", "-p", "ctl: AG EF c1_work > 0", "-p", "live"];
    let json = told("check kanban.pnml", &formulas).code(1).json();
    let found = searches(&json);
    assert_eq!(found[0], (vec!["deadlock", "live"], Some(4600)));
    assert_eq!(found[1].0, ["ltl: [] <> c1_work > 0"]);
    assert_eq!(found[2], (vec!["ctl: AG EF c1_work > 0"], Some(4600)));
    let json = told("check kanban.pnml", &formulas[..2]).code(1).json();
    assert_eq!(json["states"], json["searches"][0]["states"]);
    assert!(json["states"].as_u64() > Some(1), "{}", json["states"]);
    let text = scrimp(&[&["check", &model("kanban.pnml")], &formulas[..]].concat()).code(1).stdout;
    assert!(text.contains("\n3 searches, ") && text.contains("\n3. ctl: AG EF c1_work > 0: 4,600 states, "), "{text}");
}

/// What a search does not count is not zero.
#[test]
fn what_was_not_counted_is_null() {
    // The only state has no successor.
    let model = file("schema_dead_end.dve", "process P { state a; init a; }\nsystem async;\n");
    let asked = |property: &str| scrimp(&["check", &model, "-p", property, "--json"]).json();
    let [states, ltl, ctl] = ["invariant: true", "ltl: <> P@a", "ctl: AG P@a"].map(asked);
    for name in ["deadlocks", "faults", "open", "max_out_degree"] {
        assert!(states[name].is_u64(), "{name}: {}", states[name]);
        assert!(ltl[name].is_null() && ctl[name].is_null(), "{name}: {} and {}", ltl[name], ctl[name]);
    }
    assert_eq!((&states["deadlocks"], &states["levels"], &ctl["levels"]), (&1.into(), &1.into(), &Value::Null));
}

/// Reports for people call a verdict as those for scripts do.
#[test]
fn a_verdict_has_one_word() {
    let json = told("check needham_schroeder.pml -k", &[]).code(1).json();
    let text = scrimp(&["check", &model("needham_schroeder.pml"), "-k"]).code(1).stdout;
    for property in json["properties"].as_array().unwrap() {
        let (verdict, name) = (property["verdict"].as_str().unwrap(), property["name"].as_str().unwrap());
        assert!(text.contains(&format!("  {verdict:<9}  {name}\n")), "{verdict} {name} in:\n{text}");
    }
}
