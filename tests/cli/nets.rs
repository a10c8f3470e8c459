//! Petri nets on the command line: counts, the contest's formulas, runs that can be taken again, and what is refused.

use crate::common::command::{file, machines, model, net, scrimp};
use serde_json::Value;

/// A file of formulas as the contest has them, by name.
fn formulas(name: &str, list: &[(&str, &str)]) -> String {
    let property = |(id, formula): &(&str, &str)| {
        format!("<property><id>{id}</id><description>any</description><formula>{formula}</formula></property>\n")
    };
    let all: String = list.iter().map(property).collect();
    file(name, format!("<?xml version=\"1.0\"?>\n<property-set xmlns=\"http://mcc.lip6.fr/\">\n{all}</property-set>\n"))
}

fn reachable(condition: &str) -> String {
    format!("<exists-path><finally>{condition}</finally></exists-path>")
}

fn always(condition: &str) -> String {
    format!("<all-paths><globally>{condition}</globally></all-paths>")
}

/// The place has at least so many tokens.
fn at_least(tokens: u64, place: &str) -> String {
    format!(
        "<integer-le><integer-constant>{tokens}</integer-constant>\
         <tokens-count><place>{place}</place></tokens-count></integer-le>"
    )
}

fn fireable(transition: &str) -> String {
    format!("<is-fireable><transition>{transition}</transition></is-fireable>")
}

fn bound(place: &str) -> String {
    format!("<place-bound><place>{place}</place></place-bound>")
}

/// The property of that name.
#[track_caller]
fn of<'a>(json: &'a Value, name: &str) -> &'a Value {
    let all = json["properties"].as_array().expect("properties");
    all.iter().find(|property| property["name"] == name).unwrap_or_else(|| panic!("{name} is not in {json:#}"))
}

const DEADLOCK: &str = "<deadlock/>";

/// Something about the philosophers, with one that is violated.
fn about_philosophers(name: &str) -> String {
    let all = [
        ("stuck", reachable(DEADLOCK)),
        ("two eat", reachable(&format!("<conjunction>{}{}</conjunction>", at_least(1, "eats0"), at_least(1, "eats2")))),
        (
            "neighbours eat",
            reachable(&format!("<conjunction>{}{}</conjunction>", at_least(1, "eats0"), at_least(1, "eats1"))),
        ),
        ("one token", always(&format!("<negation>{}</negation>", at_least(2, "left3")))),
        ("thinks", always(&at_least(1, "thinks0"))),
        ("most", bound("eats4")),
    ];
    formulas(name, &all.iter().map(|(id, formula)| (*id, formula.as_str())).collect::<Vec<_>>())
}

#[test]
fn a_net_is_counted() {
    let path = model("kanban.pnml");
    for structure in ["all", "none", "-groups", "bounds,groups"] {
        let json = scrimp(&["count", &path, "--json", "--structure", structure]).code(0).json();
        assert_eq!((&json["states"], &json["transitions"]), (&4600.into(), &28120.into()), "{structure}");
        assert_eq!((&json["deadlocks"], &json["verdict"]), (&0.into(), &"verified".into()), "{structure}");
    }
    let text = scrimp(&["count", &path]).code(0).stdout;
    assert!(text.contains("4,600") && text.contains("28,120"), "{text}");
    let without = scrimp(&["count", &path, "--interpret", "--json", "--threads", "2"]).code(0).json();
    assert_eq!(without["states"], 4600);
}

#[test]
fn the_most_tokens_are_told() {
    for engine in ["explicit", "symbolic"] {
        let json = scrimp(&["count", &model("packing.pnml"), "--engine", engine, "--json"]).code(0).json();
        let text = json.to_string();
        let found = ["max_token_in_place", "max_token_per_marking"].map(|name| json[name].as_u64());
        assert_eq!(found, [Some(24), Some(35)], "{text}");
    }
}

/// What is noted while markings are visited is decided by an engine that visits them: another is refused.
#[test]
fn what_all_markings_decide() {
    let path = model("kanban.pnml");
    let questions = ["quasi-live", "stable-marking", "one-safe", "bounded", "live", "bound: c1_room + c1_work"];
    let asked: Vec<&str> = questions.iter().flat_map(|question| ["-p", question]).collect();
    for structure in ["all", "none"] {
        let options = ["--structure", structure, "--keep-going", "--json"];
        let json = scrimp(&[&["check", &path], &asked[..], &options].concat()).code(1).json();
        let verdicts = questions.map(|name| of(&json, name)["verdict"].as_str().unwrap_or("none").to_string());
        let expected = ["verified", "violated", "violated", "verified", "verified", "verified"];
        assert_eq!(verdicts, expected, "structure {structure}");
        assert_eq!(of(&json, questions[5])["answer"], "2", "structure {structure}");
    }
    for flags in [["--engine", "symbolic"], ["--engine", "bmc:3"], ["--reduce", "por"]] {
        let message = scrimp(&[&["check", &path, "-p", "bound: c1_room"], &flags[..]].concat()).refused();
        assert!(message.contains(flags[1]) && message.contains("marking"), "{message}");
    }
}

#[test]
fn every_formula_is_answered() {
    let (path, questions) = (model("philosophers_units.pnml"), about_philosophers("philosophers.xml"));
    for options in [&[][..], &["--structure", "none"], &["--interpret"], &["--threads", "2"], &["--order", "dfs"]] {
        let words = [&["check", &path, "--formulas", &questions, "--json"], options].concat();
        let json = scrimp(&words).code(1).json();
        assert_eq!(json["verdict"], "violated", "{options:?}");
        let answers = ["stuck", "two eat", "neighbours eat", "one token", "thinks", "most"]
            .map(|name| of(&json, name)["answer"].as_str().unwrap_or("none").to_string());
        assert_eq!(answers, ["TRUE", "TRUE", "FALSE", "TRUE", "FALSE", "1"], "{options:?}");
        assert_eq!(of(&json, "stuck")["verdict"], "verified", "{options:?}");
        assert_eq!(of(&json, "thinks")["verdict"], "violated", "{options:?}");
        let steps = |name: &str| of(&json, name)["trace"]["steps"].as_array().map(Vec::len);
        assert!(steps("stuck") >= Some(6) && steps("thinks") >= Some(1), "{options:?}: {json:#}");
        assert_eq!(steps("neighbours eat"), None, "{options:?}");
    }
    let text = scrimp(&["check", &path, "--formulas", &questions]).code(1).stdout;
    for (name, answer) in [("stuck", "TRUE"), ("neighbours eat", "FALSE"), ("most", "1")] {
        assert!(text.lines().any(|line| line.contains(name) && line.contains(answer)), "{name} in {text}");
    }
}

/// Answers that are all as one would wish give the code for that; without formulas a deadlock is looked for.
#[test]
fn the_exit_code_says_how_it_went() {
    let path = model("philosophers_units.pnml");
    let good = formulas("good.xml", &[("safe", &always(&format!("<negation>{}</negation>", at_least(2, "left3"))))]);
    scrimp(&["check", &path, "--formulas", &good]).code(0);
    scrimp(&["check", &path, "--formulas", &good, "--formulas", &about_philosophers("both.xml")]).code(1);
    let json = scrimp(&["check", &path, "--json"]).code(1).json();
    assert_eq!(json["properties"][0]["name"], "deadlock");
    assert_eq!(json["properties"][0]["verdict"], "violated");
    scrimp(&["check", &model("kanban.pnml")]).code(0);
    // What is not decided is not passed over.
    let mixed = "<all-paths><finally><exists-path><next><finally><deadlock/></finally></next></exists-path></finally></all-paths>";
    let mixed = formulas("mixed.xml", &[("mixed", mixed)]);
    let json = scrimp(&["check", &path, "--formulas", &mixed, "--json"]).code(3).json();
    assert_eq!(json["properties"][0]["verdict"], "incomplete");
    assert!(json["properties"][0]["how"].as_str().is_some_and(|how| how.contains("neither LTL nor CTL")), "{json:#}");
}

/// Formulas about runs, from a file and written out; where a run shows the answer, it repeats itself.
#[test]
fn formulas_about_runs_are_decided() {
    let path = model("philosophers_units.pnml");
    let temporal = formulas("temporal.xml", &[("inevitable", "<all-paths><finally><deadlock/></finally></all-paths>")]);
    let words = ["check", &path, "--formulas", &temporal, "-p", "ltl: [] (eats1 -> <> eats1 == 0)", "--json"];
    let json =
        scrimp(&[&words[..], &["-p", "ctl: AG EF deadlock", "-p", "ltl: <> deadlock || [] <> !deadlock"]].concat());
    let json = json.code(1).json();
    let of = |i: usize| &json["properties"][i];
    assert_eq!(of(0)["answer"], "FALSE");
    assert!(of(0)["trace"]["loop"].is_u64() && of(0)["trace"]["steps"].is_array(), "{json:#}");
    // One may eat for ever while others take turns.
    assert_eq!(of(1)["verdict"], "violated");
    assert_eq!(of(2)["verdict"], "verified");
    assert_eq!(of(3)["verdict"], "verified");
}

#[test]
fn a_run_can_be_taken_again() {
    let (path, questions) = (model("philosophers_units.pnml"), about_philosophers("runs.xml"));
    for structure in ["all", "none"] {
        let words = ["check", &path, "--formulas", &questions, "--json", "--structure", structure];
        let trace = file(&format!("net-{structure}.json"), scrimp(&words).code(1).stdout);
        let text = scrimp(&["simulate", &path, "--trace", &trace]).code(0).stdout;
        assert!(text.contains("deadlock"), "{text}");
    }
    let deadlock = scrimp(&["check", &model("database.pnml"), "--json"]).code(1);
    let steps = deadlock.json()["properties"][0]["trace"]["steps"].as_array().map(Vec::len);
    assert_eq!(steps, Some(6));
    let trace = file("database.json", deadlock.stdout);
    scrimp(&["simulate", &model("database.pnml"), "--trace", &trace]).code(0);
}

/// Where there is no end to the markings, what can be known is, and nothing else is claimed.
#[test]
fn unbounded_nets() {
    let path = model("unbounded.pnml");
    let questions = formulas(
        "unbounded.xml",
        &[
            ("many", &reachable(&at_least(40, "orders"))),
            ("two clerks", &reachable(&at_least(2, "clerk"))),
            ("orders", &bound("orders")),
            ("busy", &bound("busy")),
            ("serve", &reachable(&fireable("serve"))),
        ],
    );
    let json = scrimp(&["check", &path, "--formulas", &questions, "--json", "--time", "60s"]).code(1).json();
    let answers = ["many", "two clerks", "orders", "busy", "serve"]
        .map(|name| of(&json, name)["answer"].as_str().unwrap_or("none").to_string());
    assert_eq!(answers, ["TRUE", "FALSE", "ω", "1", "TRUE"], "{json:#}");
    let json = scrimp(&["count", &path, "--json", "--max-visits", "5000"]).code(3).json();
    assert_eq!(json["verdict"], "incomplete", "{json:#}");
}

/// A run that no search visited shows markings as they are, however many tokens they have.
#[test]
fn runs_have_room_for_their_tokens() {
    let source = net("<place id=\"a\"><initialMarking><text>1</text></initialMarking></place><place id=\"b\"/>\
         <transition id=\"t\"/><arc id=\"x\" source=\"a\" target=\"t\"/><arc id=\"y\" source=\"t\" target=\"a\"/>\
         <arc id=\"z\" source=\"t\" target=\"b\"><inscription><text>100</text></inscription></arc>\n");
    let path = file("hundreds.pnml", source);
    let json = scrimp(&["check", &path, "-p", "bounded", "--json"]).code(1).json();
    let steps = of(&json, "bounded")["trace"]["steps"].as_array().cloned().unwrap_or_default();
    assert_eq!(steps.first().map(|step| &step["changes"]["b"]), Some(&Value::from("100")), "{json:#}");
}

/// A place that outgrows the room it had at first gets more.
#[test]
fn many_tokens_have_room() {
    let counter = net("<place id=\"a\"><initialMarking><text>1</text></initialMarking></place><place id=\"b\"/>\
         <place id=\"limit\"><initialMarking><text>300</text></initialMarking></place><transition id=\"t\"/>\
         <arc id=\"x\" source=\"a\" target=\"t\"/><arc id=\"y\" source=\"t\" target=\"a\"/>\
         <arc id=\"z\" source=\"t\" target=\"b\"/><arc id=\"l\" source=\"limit\" target=\"t\"/>\n");
    let path = file("many.pnml", counter);
    for structure in ["all", "none"] {
        let json = scrimp(&["count", &path, "--json", "--structure", structure]).code(0).json();
        assert_eq!((&json["states"], &json["transitions"]), (&301.into(), &300.into()), "{structure}");
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let path = model("philosophers_units.pnml");
    let other = formulas("other.xml", &[("x", &reachable(&at_least(1, "nowhere")))]);
    let message = scrimp(&["check", &path, "--formulas", &other]).refused();
    assert!(message.contains("nowhere") && message.contains("other.xml"), "{message}");
    let other = formulas("other_transition.xml", &[("x", &reachable(&fireable("never")))]);
    assert!(scrimp(&["check", &path, "--formulas", &other]).refused().contains("never"));
    let message = scrimp(&["check", &path, "--formulas", "/nonexistent/x.xml"]).refused();
    assert!(message.contains("/nonexistent/x.xml"), "{message}");
    let broken = file("broken.xml", "<property-set><property>");
    assert!(scrimp(&["check", &path, "--formulas", &broken]).refused().contains("broken.xml"));
    let message = scrimp(&["check", &model("phils3.dve"), "--formulas", &about_philosophers("dve.xml")]).refused();
    assert!(message.contains("Petri nets"), "{message}");
    for words in [["count", &path], ["check", &path]] {
        let message = scrimp(&[&words[..], &["--structure", "nonsense"]].concat()).refused();
        assert!(message.contains("nonsense") && message.contains("groups"), "{message}");
    }
    let dangling = file("dangling.pnml", net("<place id=\"p\"/>\n<arc id=\"a\" source=\"p\" target=\"gone\"/>\n"));
    let message = scrimp(&["count", &dangling]).refused();
    assert!(message.contains("gone") && message.contains("dangling.pnml:4"), "{message}");
    assert!(scrimp(&["count", "/nonexistent/net.pnml"]).refused().contains("/nonexistent/net.pnml"));
}

/// A search that ends at a limit says so, and answers what it met.
#[test]
fn limits_are_told() {
    let path = file("machines.pnml", machines(9, 4));
    let json = scrimp(&["count", &path, "--json", "--max-visits", "1000"]).code(3).json();
    assert_eq!(json["verdict"], "incomplete");
    let json = scrimp(&["count", &path, "--json"]).code(0).json();
    assert_eq!((&json["states"], &json["transitions"]), (&262_144.into(), &(9 * 262_144).into()));
}

/// Sites and records are interchangeable, whatever the numbers are that markings are kept as otherwise.
#[test]
fn colours_are_symmetric() {
    let database = model("database.pnml");
    let counted = scrimp(&["count", &database, "--reduce", "symmetry:orbits", "--json"]).code(0).json();
    assert_eq!((&counted["states"], &counted["states_in_orbits"]), (&48.into(), &454.into()));
    assert_eq!(counted["symmetries"], 12);
    for (text, code) in [
        ("deadlock", 1),
        ("reach: \"active(lima)\" == 0 && \"lock(q)\" == 0", 0),
        ("ctl: AG EF \"lock(r)\" == 1", 1),
        ("ltl: []<> lock == 2", 1),
    ] {
        scrimp(&["check", &database, "-p", text, "--reduce", "symmetry"]).code(code);
        scrimp(&["check", &database, "-p", text]).code(code);
    }
}
