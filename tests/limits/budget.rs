//! One budget: a search that is told nothing but how much memory there is ends with the right counts inside it.

use crate::common::command::{counters, file, model, scratch, scrimp};
use scrimp_system::Random;
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Counts a model; answers the report, having seen that the memory was kept.
fn within(path: &str, mebibytes: u64, options: &[&str]) -> Value {
    let memory = format!("{mebibytes}M");
    let json = scrimp(&[["count", path, "--json", "--memory", &memory].as_slice(), options].concat()).code(0).json();
    let peak = json["memory_peak_bytes"].as_u64().expect("a peak");
    assert!(peak as f64 <= 1.05 * (mebibytes * MIB) as f64, "{peak} bytes of {mebibytes} MiB, {options:?}");
    json
}

fn decisions(json: &Value) -> String {
    let list = json["plan"]["decisions"].as_array().expect("decisions");
    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// A million states of 126 bytes: three times the budget in a table, a fraction of it in a tree.
#[test]
fn a_full_table_goes_on_as_a_tree() {
    let path = file("budget-long.dve", counters(6, 9, 20));
    for options in [&["--threads", "1"], &["--threads", "2"]] {
        let json = within(&path, 64, options);
        assert_eq!((&json["states"], &json["transitions"]), (&1_000_000.into(), &5_400_000.into()), "{options:?}");
        assert_eq!((&json["levels"], &json["deadlocks"]), (&55.into(), &1.into()), "{options:?}");
        assert_eq!(json["plan"]["ended_in"], "tree");
        assert!(decisions(&json).contains("tree"), "{}", decisions(&json));
    }
}

/// Short states without a pattern in few bytes: the tree is full, too.
#[test]
fn a_full_tree_goes_on_on_disk_or_as_an_automaton() {
    let path = file("budget-short.dve", counters(8, 5, 0));
    let directory = scratch("budget-disk");
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let name = directory.to_string_lossy().into_owned();
    let json = within(&path, 20, &["--disk", &name]);
    assert_eq!((&json["states"], &json["transitions"]), (&1_679_616.into(), &11_197_440.into()));
    assert_eq!((&json["levels"], &json["deadlocks"]), (&41.into(), &1.into()));
    assert!(json["plan"]["ended_in"].as_str().is_some_and(|store| store.starts_with("disk")), "{}", decisions(&json));
    assert_eq!(std::fs::read_dir(&directory).expect("the directory is there").count(), 0, "files are removed");
    for threads in ["1", "2"] {
        let json = within(&path, 20, &["--threads", threads]);
        assert_eq!((&json["states"], &json["transitions"]), (&1_679_616.into(), &11_197_440.into()));
        assert_eq!((&json["levels"], &json["deadlocks"]), (&41.into(), &1.into()));
        let told = decisions(&json);
        assert_eq!(json["plan"]["ended_in"], "dfa", "{told}");
        assert!(told.contains("to a minimized automaton in"), "{told}");
        assert!(!told.contains("starts over"), "{told}");
    }
}

/// Where the first states show how many there will be, no time is lost with a table.
#[test]
fn what_will_not_fit_is_foreseen() {
    let path = file("budget-foreseen.dve", counters(6, 9, 20));
    let json = scrimp(&["plan", &path, "--json", "--memory", "64M"]).code(0).json();
    assert_eq!((&json["state_bytes"], &json["complete"]), (&126.into(), &false.into()));
    assert!(json["bytes_in_tree"].as_f64() < json["bytes_in_table"].as_f64());
    let text = scrimp(&["plan", &path, "--memory", "64M"]).code(0).stdout;
    assert!(text.contains("room for ") && text.contains("at least ") && text.contains("tree"), "{text}");
}

/// States without any pattern: a search that starts over and comes less far than the one before does not hide how far that
/// one came, and levels that double without an end promise no number.
#[test]
fn starting_over_loses_no_ground() {
    let text = "int a = 1, b = 2, c = 3, d = 4;
        process P { state s; init s; trans
            s -> s { effect a = (a * 25173 + 13849) % 32768, b = b ^ a, c = (c + b) % 32768; },
            s -> s { effect d = (d * 8121 + 28411) % 32768, c = c ^ d, b = (b + c) % 32768; }; }
        system async;\n";
    let path = file("budget-random.dve", text);
    let run = scrimp(&["count", &path, "--json", "--memory", "24M", "--time", "60s"]).code(3);
    let (json, told) = (run.json(), decisions(&run.json()));
    let filled = told.lines().find_map(|line| line.strip_suffix(" states filled the packed table")).expect(&told);
    assert_eq!(json["states"].as_u64(), filled.replace(',', "").parse().ok(), "{told}");
    assert_eq!(json["plan"]["ended_in"], "packed");
    assert!(told.contains("figures are those of the packed table"), "{told}");
    assert_eq!(json["limits"]["reached"], "memory");
    assert!(json["limits"]["memory_needed_bytes"].as_u64() > Some(15 * MIB), "{}", json["limits"]);
    assert!(json["limits"]["expected_states"].is_null() && json["limits"]["memory_expected_bytes"].is_null());
    // One process: nothing is independent. What was tried by itself is no advice.
    let advice = json["limits"]["advice"].to_string();
    assert!(advice.contains("--disk DIR") && advice.contains("bitstate") && advice.contains("missed"), "{advice}");
    assert!(!advice.contains("--reduce") && !advice.contains("--forget"), "{advice}");
}

/// Several threads look for a fair cycle in a table; where that is full, one goes on in a tree, as it would have without the others.
#[test]
fn several_threads_fall_back_as_one_does() {
    let formula = "ltl: [] (fork[0] <= 1)";
    let words = ["check", &model("phils8.dve"), "--fair", "weak", "-p", formula, "--json"];
    for (threads, memory) in [("1", "39M"), ("2", "44M")] {
        let json = scrimp(&[&words[..], &["--threads", threads, "--memory", memory]].concat()).code(0).json();
        assert_eq!((&json["states"], &json["initial_states"]), (&693_856.into(), &1.into()), "{threads}");
        assert!(json["levels"].as_u64() > Some(1));
        assert!(decisions(&json).contains("begins again in a tree"), "{threads}: {}", decisions(&json));
    }
}

/// Long guards over many variables, in sets of states: what is left of a guard for every value of a variable takes memory, too.
#[test]
fn long_guards_keep_within_the_budget_of_sets() {
    let mut random = Random(3);
    let variables: Vec<String> = (0..10).map(|i| format!("x{i}")).collect();
    let moves = variables.iter().map(|x| format!("s -> s {{ guard {x} < 3; effect {x} = {x} + 1; }}"));
    let mut equal = || format!("{} == {}", variables[random.below(10)], random.below(4));
    let long: Vec<String> = (0..250).map(|_| format!("({} && {} && {})", equal(), equal(), equal())).collect();
    let stop = format!("s -> t {{ guard not({}); }}", long.join(" || "));
    let moves: Vec<String> = moves.chain([stop]).collect();
    let text = format!(
        "byte {} = 0;\nprocess P {{ state s, t; init s; trans\n{}; }}\nsystem async;\n",
        variables.join(" = 0, "),
        moves.join(",\n")
    );
    let path = file("budget-guards.dve", text);
    within(&path, 40, &["--engine", "symbolic"]);
}

/// Independent counters in a table that was asked for: what would be refused beside it is no advice.
#[test]
fn advice_is_what_would_help_here() {
    let path = file("budget-advice.dve", counters(6, 9, 20));
    let text = scrimp(&["count", &path, "--store", "table", "--memory", "24M"]).code(3).stdout;
    let help = text.lines().find(|line| line.starts_with("What would help")).expect(&text);
    assert!(help.contains("--memory") && help.contains("--reduce por: of the first "), "{help}");
    assert!(help.contains("--store bitstate:18") && !help.contains("--disk"), "{help}");
    assert!(text.contains("how much cannot be predicted while the levels grow"), "{text}");
}
