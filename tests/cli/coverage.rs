//! What of a model is never executed: after a search that has seen everything, in every language, and only then.

use crate::common::command::{file, model, scratch, scrimp};
use serde_json::Value;

/// What a check says is unreached: kind and texts.
fn unreached(json: &Value) -> Vec<(String, Vec<String>)> {
    let parts = json["coverage"]["parts"].as_array().expect("coverage");
    let text = |item: &Value| item["text"].as_str().unwrap().to_string();
    let list = |part: &Value| part["unreached"].as_array().unwrap().iter().map(text).collect();
    parts.iter().map(|part| (part["kind"].as_str().unwrap().to_string(), list(part))).collect()
}

const DVE: &str = "channel c, lonely;
process P { byte x; state a, b; init a;
  trans a -> b { sync c!; }, b -> a { guard x == 0; }, b -> b { guard x > 0; }, a -> a { guard x > 0; sync c!; }; }
process Q { state a, b; init a; trans a -> a { sync c?; }, a -> b { sync lonely?; }; }
system async;
";

#[test]
fn transitions_of_processes() {
    let path = file("coverage.dve", DVE);
    let json = scrimp(&["check", &path, "--json"]).code(0).json();
    let expected = ["b -> b", "c!: a -> a", "lonely?: a -> b"].map(str::to_string).to_vec();
    assert_eq!(unreached(&json), [("transition".to_string(), expected)]);
    assert_eq!((&json["coverage"]["scope"], &json["coverage"]["parts"][0]["total"]), (&"all-states".into(), &6.into()));
    assert_eq!(json["coverage"]["parts"][0]["unreached"][2]["process"], "Q");
    assert!(json["unreached"].is_null(), "there are no statements");
    let text = scrimp(&["check", &path]).code(0).stdout;
    let expected = format!(
        "transitions never executed: 3 of 6 transitions\n\t{path}:3, P: b -> b\n\t{path}:3, P: c!: a -> a\n\
         \t{path}:4, Q: lonely?: a -> b\n"
    );
    assert!(text.contains(&expected), "{text}");
    let page = scratch("coverage.html");
    scrimp(&["check", &path, "--report", &page.to_string_lossy()]).code(0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("Transitions never executed") && page.contains("lonely?: a -&gt; b"), "no list");
    // Whoever searches, as long as every state is visited.
    for more in
        [&["--threads", "2"][..], &["--order", "dfs", "--store", "tree"], &["--forget", "cache:1000"], &["--interpret"]]
    {
        let json = scrimp(&[&["check", &path, "--json"], more].concat()).code(0).json();
        assert_eq!(unreached(&json)[0].1.len(), 3, "{more:?}");
    }
}

/// What was not looked at may be executed all the same.
#[test]
fn only_a_search_of_all_states_says_never() {
    let path = file("coverage_partly.dve", DVE);
    for (more, code) in [
        (&["--reduce", "por"][..], 0),
        (&["--store", "bitstate:8"], 4),
        (&["--store", "compact:64"], 4),
        (&["--max-visits", "1"], 3),
        (&["--engine", "symbolic"], 0),
        (&["--engine", "bmc:3"], 3),
        (&["-p", "invariant: !P@b"], 1),
        (&["-p", "ltl: [] true"], 0),
    ] {
        let json = scrimp(&[&["check", &path, "--json"], more].concat());
        let object = json.json();
        assert!(object["coverage"].is_null(), "{more:?}: {}", object["coverage"]);
        assert!(json.code == Some(code) || more.contains(&"bmc:3"), "{more:?}: {:?}", json.code);
        let text = scrimp(&[&["check", &path], more].concat()).stdout;
        assert!(!text.contains("never executed"), "{more:?}:\n{text}");
    }
}

#[test]
fn nothing_is_said_where_all_is_reached() {
    for name in ["peterson3.dve", "kanban.pnml", "alternating_bit.network"] {
        let text = scrimp(&["check", &model(name)]).stdout;
        assert!(!text.contains(" never "), "{name}:\n{text}");
    }
    let text = scrimp(&["check", &model("peterson3.dve"), "--quiet"]).code(0).stdout;
    assert_eq!(text, "");
}

#[test]
fn transitions_and_places_of_nets() {
    let place = |id: &str, tokens: u32| {
        format!(
            "<place id=\"{id}\"><name><text>{id}</text></name><initialMarking><text>{tokens}</text></initialMarking></place>\n"
        )
    };
    let arc = |from: &str, to: &str| format!("<arc id=\"{from}-{to}\" source=\"{from}\" target=\"{to}\"/>\n");
    let transition = |id: &str| format!("<transition id=\"{id}\"><name><text>{id}</text></name></transition>\n");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\">\n{}</page></net></pnml>\n",
        [
            place("here", 1),
            place("there", 0),
            place("both", 0),
            transition("go"),
            transition("back"),
            transition("together"),
            arc("here", "go"),
            arc("go", "there"),
            arc("there", "back"),
            arc("back", "here"),
            arc("here", "together"),
            arc("there", "together"),
            arc("together", "both"),
        ]
        .concat()
    );
    let path = file("coverage.pnml", text);
    let expected =
        [("transition".to_string(), vec!["together".to_string()]), ("place".to_string(), vec!["both".to_string()])];
    let deadlock = scrimp(&["check", &path, "--json", "--structure", "none"]).code(0).json();
    assert_eq!(unreached(&deadlock), expected);
    let quasi_live = scrimp(&["check", &path, "--json", "-p", "quasi-live"]).code(1).json();
    assert!(quasi_live["coverage"].is_null() || unreached(&quasi_live) == expected, "{}", quasi_live["coverage"]);
    let text = scrimp(&["check", &path, "--structure", "none"]).code(0).stdout;
    assert!(
        text.contains("transitions never fired: 1 of 3 transitions\n")
            && text.contains("places never marked: 1 of 3 places\n"),
        "{text}"
    );
    // A reduction leaves markings out.
    let reduced = scrimp(&["check", &path, "--json", "--structure", "none", "--reduce", "por"]).code(0).json();
    assert!(reduced["coverage"].is_null(), "{}", reduced["coverage"]);
    let walks = scrimp(&["simulate", &path, "--json", "--walks", "10"]).code(4).json();
    assert_eq!(unreached(&walks), expected);
}

#[test]
fn labels_of_networks() {
    file("coverage_a.aut", "des (0, 3, 3)\n(0, go, 1)\n(1, back, 0)\n(2, lost, 0)\n");
    let path = file("coverage.network", "component A = \"coverage_a.aut\"\nalone go\nalone back\nalone lost\n");
    let json = scrimp(&["check", &path, "--json"]).code(0).json();
    assert_eq!(unreached(&json), [("label".to_string(), vec!["lost".to_string()])]);
    let text = scrimp(&["check", &path]).code(0).stdout;
    assert!(text.contains("labels never executed: 1 of 3 labels\n") && text.contains("lost\n"), "{text}");
    let walks = scrimp(&["simulate", &path, "--json", "--walks", "10"]).code(4).json();
    assert_eq!(unreached(&walks), [("label".to_string(), vec!["lost".to_string()])]);
}

/// A statement that ends in a run-time error was come to.
#[test]
fn statements_that_fail_are_executed() {
    let text =
        "byte x;\nactive proctype A() { atomic { x = 1; if :: x == 1 -> x = x / (x - 1) :: x == 2 -> x = 3 fi } }\n";
    let json = scrimp(&["check", &file("coverage_fault.pml", text), "--json", "--keep-going"]).code(1).json();
    let found = unreached(&json).swap_remove(0).1;
    assert!(found.contains(&"x = 3".to_string()) && !found.iter().any(|s| s.contains('/')), "{found:?}");
}

#[test]
fn statements_of_promela_are_told_twice() {
    let path = file("coverage.pml", "byte x;\nactive proctype A() { do :: x == 0 :: x > 3 -> x = 4 od }\n");
    let json = scrimp(&["check", &path, "--json"]).code(0).json();
    let found = unreached(&json);
    assert_eq!(found[0].0, "statement");
    let old: Vec<&str> =
        json["unreached"].as_array().unwrap().iter().map(|s| s["statement"].as_str().unwrap()).collect();
    assert_eq!(found[0].1, old);
    assert!(old.contains(&"x = 4"), "{old:?}");
}
