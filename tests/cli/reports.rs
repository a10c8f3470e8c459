//! Reports for a browser: complete, well-formed, with nothing from elsewhere, whatever a model calls its parts.

use crate::common;
use crate::common::command::{Answer, file, model, scratch, scrimp};
use crate::common::page::{Page, read};

/// Runs a command with `--report`, and reads what it wrote.
#[track_caller]
fn report(name: &str, code: i32, words: &[&str]) -> (Answer, Page) {
    let path = scratch(&format!("report-{name}.html"));
    let _ = std::fs::remove_file(&path);
    let shown = path.to_string_lossy().into_owned();
    let answer = scrimp(&[words, &["--report", &shown]].concat()).code(code);
    let text = std::fs::read_to_string(&path).expect("the report is there");
    (answer, read(&text))
}

#[test]
fn a_violation_is_shown_with_its_run() {
    let (answer, page) = report("phils", 1, &["check", &model("phils5.dve"), "--json"]);
    let length = answer.json()["properties"][0]["trace"]["length"].as_u64().expect("a run");
    assert_eq!(page.count("li", "") as u64, length, "one item for each step");
    page.has(&[
        "phils5.dve",
        "violated",
        "deadlock",
        "a reachable state has no successor",
        "A run that decides it was found",
    ]);
    page.has(&["Violated by a shortest run of", "Message sequence chart", "0 · the initial state", "the last state"]);
    page.has(&["level by level, so that traces are shortest", "scrimp check", "--json --report"]);
    assert!(page.count("svg", "") == 1 && page.count("svg", "plot") >= 1, "a chart and plots");
}

/// What a violation leaves unsearched is still part of what was asked: in the text, for scripts and in the report.
#[test]
fn properties_that_were_not_searched_are_undecided() {
    let lock = model("naive_lock.dve");
    let asked = ["invariant: !(P_0@cs && P_1@cs)", "ltl: [] <> P_0@cs", "ltl: [] <> P_1@cs", "ctl: EF P_0@cs"];
    let mut words = vec!["check", lock.as_str()];
    asked.iter().for_each(|text| words.extend(["-p", *text]));
    let (answer, page) = report("left", 1, &[&words[..], &["--json"]].concat());
    let properties = answer.json()["properties"].clone();
    let told = |field: &str| -> Vec<String> {
        let list = properties.as_array().expect("a list");
        list.iter().map(|p| p[field].as_str().expect("a text").to_string()).collect()
    };
    assert_eq!(told("name"), asked);
    assert_eq!(told("verdict"), ["violated", "incomplete", "incomplete", "incomplete"]);
    page.has(&["1 of 4 violated, 3 undecided", "another property was violated first", "ctl: EF P_0@cs"]);
    let text = scrimp(&words).code(1).stdout;
    asked[1..].iter().for_each(|name| assert!(text.contains(&format!("undecided  {name}\n")), "{text}"));
    // The violation may also be one of a later search.
    let text = scrimp(&["check", &lock, "-p", asked[1], "-p", asked[2]]).code(1).stdout;
    assert!(text.contains(&format!("violated   {}", asked[1])), "{text}");
    assert!(text.contains(&format!("undecided  {}", asked[2])), "{text}");
}

/// The claim of a model too.
#[test]
fn a_claim_that_was_not_searched_is_undecided() {
    let dve = "process P { state a, b; init a; trans a -> b {}; }\n\
               process LTL { state q; accept q; init q; trans q -> q {}; }\nsystem async property LTL;\n";
    let text = scrimp(&["check", &file("report-claim.dve", dve)]).code(1).stdout;
    assert!(text.contains("violated   deadlock") && text.contains("undecided  LTL"), "{text}");
    let promela = "init { assert(false) }\nnever { accept: do :: true od }\n";
    let text = scrimp(&["check", &file("report-claim.pml", promela)]).code(1).stdout;
    assert!(text.contains("violated   assertions") && text.contains("undecided  never claim"), "{text}");
}

#[test]
fn a_count_has_figures_and_reasons() {
    let (answer, page) = report("count", 0, &["count", &model("peterson3.dve")]);
    assert!(answer.stdout.contains("1,570"));
    page.has(&[
        "counted",
        "1,570 states",
        "Every reachable state was visited",
        "transitions",
        "4,061",
        "largest in-degree",
    ]);
    page.has(&["bytes a stored state", "memory at most", "every state in full: exact"]);
}

#[test]
fn processes_statements_and_faults() {
    let (_, page) = report("promela", 1, &["check", &model("two_phase_commit.pml")]);
    page.has(&["Where the processes stand then", "can do next", "two_phase_commit.pml:"]);
    let (_, page) = report("unreached", 0, &["check", &model("peterson.pml")]);
    page.has(&["Statements never executed", "verified"]);
    let (_, page) = report("faults", 1, &["check", &model("runtime_faults.dve"), "-k"]);
    page.has(&["division by zero"]);
    assert!(page.count("li", "fault") >= 1);
}

#[test]
fn a_run_for_ever_has_stem_and_loop() {
    let text = "process P { byte x; state a, b, c; init a; trans a -> b {}, b -> c {}, c -> b {}; }\nsystem async;\n";
    let round = file("report-round.dve", text);
    let (_, page) = report("lasso", 1, &["check", &round, "-p", "ltl: <> P.x == 1"]);
    page.has(&[
        "an infinite run: 1 step, then a cycle of",
        "the loop begins here",
        "and so on for ever, from step 2 again",
    ]);
    page.has(&["then, again and again"]);
    let (_, page) = report("claim", 1, &["check", &model("starvation.dve")]);
    page.has(&["the loop begins here", "violated. Search 2 of 2: 12 states. A run that decides it was found"]);
}

#[test]
fn branching_time_is_a_tree() {
    let text = "process P { state a, b, c; init a; trans a -> b {}, b -> a {}, a -> c {}; }\nsystem async;\n";
    let model = file("report-tree.dve", text);
    let properties = ["-k", "-p", "ctl: AG EF P@a", "-p", "ctl: EF EG P@c", "-p", "deadlock"];
    let (_, page) = report("ctl", 1, &[&["check", &model], &properties[..]].concat());
    assert!(page.count("div", "because") >= 3);
    page.has(&["does not hold", "holds", "nothing more can happen", "Search 1 of 3", "Search 3 of 3"]);
    page.has(&["true in every initial state", "false in an initial state"]);
}

#[test]
fn nets_too() {
    let (_, page) = report("net", 0, &["check", &model("printer.pnml"), "-p", "bounded", "-p", "deadlock", "-k"]);
    page.has(&["printer.pnml", "bounded"]);
    let (_, page) = report("net-run", 0, &["check", &model("philosophers_ring.pnml"), "-p", "quasi-live"]);
    page.has(&["verified", "quasi-live"]);
    let (_, page) = report("net-count", 0, &["count", &model("philosophers_ring.pnml")]);
    page.has(&["most tokens in a place"]);
    let (_, page) = report("net-endless", 3, &["count", &model("unbounded.pnml")]);
    page.has(&["incomplete", "infinitely many states"]);
}

/// Everything that a model or a user says is text, and stays text.
#[test]
fn names_are_never_markup() {
    let hostile = "<script>alert(1)</script><img src=x onerror=alert(2)> \\\" ' & url(#a) id=&quot;";
    let text = format!("des (0, 2, 3)\n(0, \"{hostile}\", 1)\n(1, \"</li></ol>]]>\u{7}\u{202e}\", 2)\n");
    let (_, page) = report("hostile", 1, &["check", &file("report-<i>&amp;.aut", text)]);
    page.has(&["<script>alert(1)</script>", "</li></ol>", "report-<i>&amp;.aut"]);
    let places = "<place id=\"p\"><name><text>&lt;script&gt;alert(3)&lt;/script&gt;</text></name>\
                  <initialMarking><text>1</text></initialMarking></place><transition id=\"&lt;b&gt;t&amp;amp;\"/>\
                  <arc id=\"a\" source=\"p\" target=\"&lt;b&gt;t&amp;amp;\"/>";
    let net = file("report-hostile.pnml", common::command::net(places));
    let (_, page) = report("hostile-net", 1, &["check", &net, "-p", "deadlock"]);
    page.has(&["<b>t&amp;"]);
    let promela =
        file("report-hostile.pml", "init { printf(\"<script>%d</script>\\n\", 1 < 2); assert(1 > 2 && 3 < 4) }\n");
    let (_, page) = report("hostile-promela", 1, &["check", &promela]);
    page.has(&["<script>1</script>"]);
}

/// Ten thousand steps are still a file that opens; more are shown by their beginning and their end.
#[test]
fn long_runs_stay_small() {
    // One counter after the other, since the language's integers have 16 bits.
    let long = |most: u32| {
        let text = format!(
            "process P {{ int x, y; state s; init s; trans s -> s {{ guard x < {most}; effect x = x + 1; }},\n\
             s -> s {{ guard x == {most} and y < {most}; effect y = y + 1; }}; }}\nsystem async;\n"
        );
        file(&format!("report-long-{most}.dve"), text)
    };
    let (_, page) = report("long", 1, &["check", &long(5_000), "-p", "invariant: P.y < 5000"]);
    assert!(page.text.len() < 10_000_000, "{} bytes", page.text.len());
    assert_eq!(page.count("li", ""), 10_000);
    assert!(page.count("details", "fold") >= 10);
    page.has(&["a shortest run of 10,000 steps", "These are the last 400 of 10,000 rows"]);
    let (_, page) = report("longer", 1, &["check", &long(30_000), "-p", "invariant: P.y < 30000"]);
    assert!(page.text.len() < 12_000_000, "{} bytes", page.text.len());
    page.has(&["are left out here", "60,000"]);
    // Outside of what is folded.
    let mut parts = page.text.split("<details class=\"fold\">");
    let mut open = parts.next().unwrap_or_default().matches("<li>").count();
    open +=
        parts.map(|part| part.split_once("</details>").expect("a fold ends").1.matches("<li>").count()).sum::<usize>();
    assert_eq!(open, 20, "the first five steps and the last fifteen");
}

/// Text, report and chart count the same steps: what is atomic is one.
#[test]
fn a_run_has_one_length() {
    let (answer, page) = report("atomic", 1, &["check", &model("needham_schroeder.pml")]);
    assert!(answer.stdout.contains("of 12 steps:"), "{}", answer.stdout);
    page.has(&["run of 12 steps (31 statements)", "steps 4 to 7"]);
    let chart = scrimp(&["check", &model("needham_schroeder.pml"), "-q", "--chart", "-"]).code(1).stdout;
    let numbers: Vec<&str> = chart.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers[1..], ["3", "5", "7", "9", "11", "13"], "{chart}");
}

#[test]
fn a_limit_is_told() {
    let (_, page) = report("limit", 3, &["count", &model("peterson4.dve"), "--order", "dfs", "--max-visits", "100"]);
    page.has(&[
        "incomplete",
        "Stopped: the limit on visits (--max-visits) is reached",
        "What would help: a larger --max-visits",
    ]);
    let (_, page) = report("lossy", 4, &["check", &model("peterson3.dve"), "--store", "bitstate:1"]);
    page.has(&["no error found", "Expected coverage", "states may have been missed"]);
    let (_, page) = report("sets", 0, &["count", &model("peterson3.dve"), "--engine", "symbolic"]);
    page.has(&["nodes at most", "1,570"]);
    let (_, page) = report("formulas", 0, &["check", &model("peterson3.dve"), "--engine", "bmc:3"]);
    page.has(&["clauses", "lengths of runs looked at", "k-induction"]);
    page.has(&["All of it was proven without visiting states"]);
}

#[test]
fn what_cannot_be_written_is_refused_first() {
    let big = model("peterson4.dve");
    let missing = scratch("no-such-directory").join("a.html");
    for command in ["check", "count"] {
        let said = scrimp(&[command, &big, "--report", &missing.to_string_lossy()]).refused();
        assert!(said.contains("the report cannot be written: there is no such folder"), "{said}");
    }
    for name in ["report.dve", "report"] {
        let said = scrimp(&["count", &big, "--report", name]).refused();
        assert!(said.contains("its name must end in .html"), "{said}");
    }
    // What was there stays when a model is wrong.
    let old = file("report-old.html", "old");
    scrimp(&["check", &file("report-wrong.dve", "process"), "--report", &old]).refused();
    assert_eq!(std::fs::read_to_string(old).unwrap(), "old");
}

const SUITE: &str = r#"
title = "Orders & <stores>"
about = "Two orders."
[[task]]
name = "orders"
about = "Which is <faster>?"
models = ["MODELS/peterson3.dve", "MODELS/phils3.dve", "MODELS/bakery2.dve"]
flags = ["--order ${order}"]
sweep = { order = ["bfs", "dfs"] }
paper = { stored_peak = 1000 }
[[task]]
name = "wrong"
models = ["MODELS/peterson3.dve"]
expect = { states = 7 }
"#;

#[test]
fn suites_and_their_comparison() {
    let folder = common::manifest().join("models");
    let suite = file("report-suite.toml", SUITE.replace("MODELS", &folder.to_string_lossy()));
    let results = ["one", "two"].map(|name| scratch(&format!("report-{name}.jsonl")).to_string_lossy().into_owned());
    let run = |number: usize| {
        report(&format!("bench{number}"), 1, &["bench", &suite, "--out", &results[number], "--fresh", "-q"])
    };
    let (_, page) = run(0);
    page.has(&["Orders & <stores>", "Two orders.", "Which is <faster>?", "7 cases", "1 wrong"]);
    page.has(&["What is wrong", "states is 1570, not 7", "stored_peak, paper", "Solved within a time"]);
    page.has(&["Solved within so much memory", "bfs against dfs", "The commands"]);
    assert!(page.count("tr", "bad") == 1 && page.count("svg", "plot") >= 5);
    run(1);
    let (_, page) = report("compare", 0, &["compare", &results[0], &results[1]]);
    page.has(&["7 cases in both", "Side by side", "before against after", "Solved within a time", "What changed"]);
    // Two of how much was solved, and one for each cost that differs.
    assert!((3..=4).contains(&page.count("svg", "plot")));
    // Times of no length that could be told have no ratio; memory and stored states have.
    let short = |name: &str| {
        let text = std::fs::read_to_string(name).unwrap();
        let line = |line: &str| {
            let mut record: serde_json::Value = serde_json::from_str(line).expect("a record");
            record["wall_seconds"] = 0.0123.into();
            format!("{record}\n")
        };
        file("report-short.jsonl", text.lines().map(line).collect::<String>())
    };
    let same = short(&results[0]);
    let (_, page) = report("compare-short", 0, &["compare", &same, &same]);
    assert!(
        page.text
            .contains("<td class=\"number\">0.01 s</td><td class=\"number\">0.01 s</td><td class=\"number\"></td>")
    );
    // A result that a right tool cannot change.
    let text = std::fs::read_to_string(&results[1]).unwrap().replacen("\"states\":1570", "\"states\":1571", 1);
    let (_, page) = report("compare-wrong", 1, &["compare", &results[0], &file("report-three.jsonl", text)]);
    page.has(&["wrong", "1,570", "1,571"]);
    assert_eq!(page.count("tr", "bad"), 1);
    // Results that are not there any more.
    let (_, page) = report("compare-gone", 1, &["compare", &results[0], &file("report-none.jsonl", "")]);
    page.has(&["7 cases gone", "0 cases in both", "Only before", "Nothing that matters of what both have"]);
    assert!(!page.text.contains("nothing worse"));
}
