//! Stores on the command line: what each says, and with which code it ends.

use crate::common::command::{counters, file, model, scrimp};

#[test]
fn lossy_stores_say_no_error_found() {
    let peterson = model("peterson3.dve");
    for (store, field, words) in [
        ("compact:64", "omission_probability", "Probability that any state was missed"),
        ("bitstate:8", "expected_coverage", "Expected coverage"),
    ] {
        for threads in ["1", "2"] {
            let command = ["check", &peterson, "--store", store, "--threads", threads];
            let text = scrimp(&command).code(4).stdout;
            assert!(text.contains("no error found") && text.contains(words) && !text.contains("verified"), "{text}");
            let json = scrimp(&[&command[..], &["--json"]].concat()).code(4).json();
            assert_eq!(json["verdict"], "no-error-found");
            assert_eq!(json["guarantee"], "probabilistic");
            assert!(json["properties"].as_array().unwrap().iter().all(|p| p["verdict"] == "no-error-found"));
            let figure = json[field].as_f64().unwrap();
            assert!(if store.starts_with('c') { figure < 1e-6 } else { figure > 0.9999 }, "{field}: {figure}");
        }
    }
    let exact = scrimp(&["check", &peterson, "--store", "collapse", "--json"]).code(0).json();
    assert!(exact["omission_probability"].is_null() && exact["expected_coverage"].is_null());
    assert_eq!((&exact["verdict"], &exact["guarantee"]), (&"verified".into(), &"exhaustive".into()));
}

#[test]
fn lossy_counts_are_lower_bounds() {
    let counters = file("lossy_counters.dve", counters(4, 20, 0));
    let states = |store: &str| {
        let answer = scrimp(&["count", &counters, "--store", store, "--json"]).code(4);
        answer.json()["states"].as_u64().unwrap()
    };
    let all = 21u64.pow(4);
    assert_eq!((states("compact:64"), states("bitstate:64")), (all, all));
    let few = states("compact:16");
    assert!(few < all && few <= 1 << 16, "{few} states");
    let text = scrimp(&["count", &counters, "--store", "compact:16"]).code(4).stdout;
    assert!(text.contains("counted, at least") && text.contains("lower bounds") && text.contains("1.00e0"), "{text}");
    scrimp(&["count", &counters, "--store", "collapse"]).code(0);
}

#[test]
fn violations_found_with_lossy_stores_are_real() {
    let lock = model("naive_lock.dve");
    for store in ["compact:40", "bitstate:1"] {
        for order in ["bfs", "dfs"] {
            let json = scrimp(&["check", &lock, "--store", store, "--order", order, "--json"]).code(1).json();
            assert_eq!((&json["verdict"], &json["guarantee"]), (&"violated".into(), &"counterexample".into()));
            let properties = json["properties"].as_array().unwrap();
            let violated = properties.iter().find(|p| p["verdict"] == "violated").unwrap();
            assert!(!violated["trace"].is_null(), "{store}, {order}");
        }
    }
}

#[test]
fn what_a_lossy_store_does_not_reach_is_undecided() {
    let phils = model("phils3.dve");
    let reach = |property: &str, code| {
        let words = ["check", &phils, "--store", "compact:48", "-p", property, "--json"];
        scrimp(&words).code(code).json()["properties"][0]["verdict"].clone()
    };
    assert_eq!(reach("reach: fork[0] == 1", 0), "verified");
    assert_eq!(reach("reach: fork[0] == 77", 4), "no-error-found");
    let text = scrimp(&["check", &phils, "--store", "compact:48", "-p", "reach: fork[0] == 77"]).code(4).stdout;
    assert!(text.contains("undecided"), "{text}");
    assert_eq!(scrimp(&["check", &phils, "-p", "reach: fork[0] == 77"]).code, Some(1));
}

#[test]
fn limits_come_before_what_may_have_been_missed() {
    let many = file("lossy_limits.dve", counters(6, 200, 0));
    for store in ["compact", "bitstate:8"] {
        let json = scrimp(&["count", &many, "--store", store, "--time", "300ms", "--json"]).code(3).json();
        assert_eq!(json["verdict"], "incomplete");
    }
    let message = scrimp(&["count", &many, "--store", "bitstate:4096", "--memory", "64M"]).refused();
    assert!(message.contains("4096 MiB"), "{message}");
}

#[test]
fn collapsed_states_take_less_memory() {
    let padded = file("collapse_counters.dve", counters(5, 9, 12));
    let bytes = |store: &str| {
        let json = scrimp(&["count", &padded, "--store", store, "--json"]).code(0).json();
        assert_eq!(json["states"], 100_000);
        json["bytes_per_state"].as_f64().unwrap()
    };
    assert!(bytes("collapse") < 16.0 && bytes("table") > 60.0);
}

/// What is asked of branching time is decided in a graph whose states have numbers: no other store is taken in silence.
#[test]
fn stores_without_numbers_are_refused_for_ctl() {
    let path = model("peterson3.dve");
    for store in ["packed", "tree", "dfa", "compact", "bitstate"] {
        let refusal = scrimp(&["check", &path, "-p", "ctl: AG EF P_0@cs", "--store", store]).refused();
        assert!(
            refusal.contains("CTL is decided in a graph, from a store that gives states ids"),
            "{store}: {refusal}"
        );
    }
    let json = scrimp(&["check", &path, "--json", "-p", "ctl: AG EF P_0@cs", "--store", "collapse"]).code(0).json();
    assert_eq!(json["plan"]["ended_in"], "collapse");
}
