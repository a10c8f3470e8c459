//! What a run records: levels, curves, and progress for programs.

use crate::common::command::{counters, file, model, scratch, scrimp};
use serde_json::Value;

/// Counts, and answers the report.
fn count(path: &str, options: &[&str]) -> Value {
    scrimp(&[["count", path, "--json"].as_slice(), options].concat()).code(0).json()
}

fn sizes(report: &Value) -> Vec<u64> {
    let list = report["level_sizes"].as_array().unwrap_or_else(|| panic!("no levels in {report}"));
    list.iter().map(|size| size.as_u64().expect("a number")).collect()
}

/// The lines of JSON on standard error.
fn objects(stderr: &str) -> Vec<Value> {
    stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"))).collect()
}

#[test]
fn levels_are_the_same_in_every_store() {
    let path = model("phils6.dve");
    let plain = count(&path, &["--store", "table"]);
    let expected = sizes(&plain);
    assert_eq!(expected.len() as u64, plain["levels"].as_u64().unwrap());
    assert_eq!(expected.iter().sum::<u64>(), plain["states"].as_u64().unwrap());
    assert_eq!(expected.iter().max().copied(), plain["widest_level"].as_u64());
    let directory = std::env::temp_dir().to_string_lossy().into_owned();
    for options in [
        &["--store", "table", "--threads", "3"] as &[&str],
        &["--threads", "2"],
        &["--store", "tree"],
        &["--store", "packed", "--threads", "3"],
        &["--store", "tree", "--threads", "3"],
        &["--store", "collapse", "--threads", "2"],
        &["--store", "comback"],
        &["--store", "dfa"],
        &["--store", "dfa+collapse", "--threads", "2"],
        &["--store", "compact:60"],
        &["--store", &format!("disk:{directory}")],
        &["--reduce", "edge-lean"],
        &["--forget", "pseudo-root", "--order", "bfs"],
    ] {
        let report = scrimp(&[["count", &path, "--json"].as_slice(), options].concat()).json();
        assert_eq!(sizes(&report), expected, "{options:?}");
    }
}

#[test]
fn where_there_are_no_levels_none_are_told() {
    let path = model("phils4.dve");
    for options in [
        &["--order", "dfs"] as &[&str],
        &["--order", "dfs", "--store", "tree"],
        &["--order", "random"],
        &["--forget", "cache:300"],
        &["--engine", "symbolic"],
    ] {
        let report = scrimp(&[["count", &path, "--json"].as_slice(), options].concat()).json();
        assert_eq!(report["level_sizes"], Value::Null, "{options:?}");
        assert_eq!(report["widest_level"], Value::Null, "{options:?}");
    }
    let report = count(&path, &["--forget", "sweep", "--progress", "auto"]);
    assert_eq!(report["widest_level"], Value::Null);
    assert!(report["most_open_states"].as_u64().is_some_and(|open| open > 0));
}

/// What a search that begins level by level and ends behind a sweep-line has open is no level.
#[test]
fn levels_are_not_told_of_a_search_that_forgets_by_itself() {
    let words = ["count", &model("large/election6.dve"), "--memory", "36M"];
    let report = scrimp(&[words.as_slice(), &["--json"]].concat()).code(0).json();
    assert!(report["plan"]["decisions"].to_string().contains("starts over with --forget sweep"), "{report}");
    assert_eq!((&report["states"], &report["widest_level"]), (&4_657_093.into(), &Value::Null));
    let text = scrimp(&words).code(0).stdout;
    assert!(text.contains("most open states") && !text.contains("widest level"), "{text}");
}

/// A search that ends early has the states of the level it was finding too.
#[test]
fn levels_of_a_search_that_ended_early() {
    let path = file("record-early.dve", counters(4, 20, 0));
    let property = "invariant: P_0.x + P_1.x + P_2.x < 24";
    for options in [&["--store", "table"] as &[&str], &["--threads", "3"], &["--store", "tree"], &["--store", "disk"]] {
        let words = [["check", &path, "--json", "--property", property].as_slice(), options].concat();
        let report = scrimp(&words).code(1).json();
        assert_eq!(sizes(&report).iter().sum::<u64>(), report["states"].as_u64().unwrap(), "{options:?}");
        assert!(sizes(&report).len() >= 25, "{options:?}");
    }
}

/// A table that is too small becomes a tree, and files after that.
#[test]
fn levels_of_a_search_that_moved() {
    let path = file("record-moved.dve", counters(4, 24, 20));
    let expected = sizes(&count(&path, &["--store", "tree"]));
    let directory = std::env::temp_dir().to_string_lossy().into_owned();
    let report = count(&path, &["--memory", "34M", "--disk", &directory]);
    assert_eq!(sizes(&report), expected);
    assert_ne!(report["plan"]["ended_in"], "table", "it did not move");
}

#[test]
fn progress_for_programs() {
    let path = file("record-progress.dve", counters(5, 200, 0));
    for form in [&["--show-progress", "json"] as &[&str], &["--show-progress=json"]] {
        let words = [["count", &path, "--time", "1500ms", "--memory", "400M", "--json"].as_slice(), form].concat();
        let answer = scrimp(&words).code(3);
        let report = answer.json();
        let lines = objects(&answer.stderr);
        assert!(lines.len() >= 4, "{}", answer.stderr);
        for name in ["states", "visits", "transitions", "seconds"] {
            let values: Vec<f64> = lines.iter().map(|line| line[name].as_f64().expect(name)).collect();
            assert!(values.is_sorted(), "{name} goes back: {values:?}");
        }
        for name in ["open", "depth", "memory", "rate", "search"] {
            assert!(lines.iter().all(|line| line[name].is_number()), "{name}");
        }
        let last = lines.last().unwrap();
        assert_eq!((&last["states"], &last["visits"]), (&report["states"], &report["visits"]));
        assert_eq!((&last["transitions"], &last["open"]), (&report["events_run"], &report["open"]));
        assert!(last["memory"].as_u64().unwrap() > 1 << 20);
    }
}

/// Every engine shows figures that fit together.
#[test]
fn every_search_has_a_last_word() {
    let path = model("phils5.dve");
    for options in [
        &[] as &[&str],
        &["--threads", "2"],
        &["--store", "tree"],
        &["--store", "tree", "--order", "dfs"],
        &["--order", "dfs"],
        &["--store", "disk"],
        &["--forget", "pseudo-root"],
        &["--forget", "cache:2000"],
        &["--forget", "sweep", "--progress", "auto"],
    ] {
        let answer = scrimp(&[["count", &path, "--json", "--show-progress", "json"].as_slice(), options].concat());
        let (report, lines) = (answer.json(), objects(&answer.stderr));
        let last = lines.last().unwrap_or_else(|| panic!("{options:?}: no progress"));
        assert_eq!(last["visits"], report["visits"], "{options:?}");
        assert_eq!(last["open"], report["open"], "{options:?}");
        let (stored, peak) = (last["states"].as_u64().unwrap(), report["stored_peak"].as_u64().unwrap());
        assert!(stored <= peak, "{options:?}: {stored} of {peak}");
        assert_eq!(lines.iter().filter(|line| line["search"] == 1).count(), lines.len(), "{options:?}");
    }
    let symbolic = scrimp(&["count", &path, "--json", "--show-progress", "json", "--engine", "symbolic"]).code(0);
    let last = objects(&symbolic.stderr).pop().unwrap();
    assert!(last["memory"].as_u64() > Some(0) && last["nodes"].as_u64() > Some(0), "{last}");
    let bounded = ["check", &path, "--json", "--show-progress", "json", "--engine", "bmc:5"];
    let last = objects(&scrimp(&bounded).stderr).pop().unwrap();
    assert!(last["clauses"].as_u64() > Some(0) && last["depth"].as_u64() > Some(0), "{last}");
}

#[test]
fn several_searches_are_numbered() {
    let words = ["check", &model("starvation.dve"), "-k", "--json", "--show-progress", "json"];
    let properties = ["-p", "deadlock", "-p", "ltl: [] <> (true)", "-p", "ctl: AG true"];
    let answer = scrimp(&[words.as_slice(), &properties].concat());
    let lines = objects(&answer.stderr);
    let mut searches: Vec<u64> = lines.iter().map(|line| line["search"].as_u64().unwrap()).collect();
    searches.dedup();
    assert_eq!(searches, [1, 2, 3]);
}

/// The flag is one that may stand before the model.
#[test]
fn progress_as_text() {
    let path = model("phils3.dve");
    assert_eq!(scrimp(&["count", "--show-progress", &path]).code(0).stderr, "");
    scrimp(&["count", "--show-progress", "text", &path]).code(0);
    assert!(scrimp(&["count", &path, "--show-progress=loud"]).refused().contains("json"));
}

#[test]
fn plots_are_drawn() {
    let path = file("record-plot.dve", counters(4, 30, 0));
    let picture = scratch("record-plot.svg");
    let name = picture.to_string_lossy().into_owned();
    scrimp(&["count", &path, "--plot", &name]).code(0);
    let all = std::fs::read_to_string(&picture).unwrap();
    for title in ["States per level", "States over time", "Memory over time", "Rate over time"] {
        assert!(all.contains(&format!(">{title}</text>")), "no {title}");
    }
    assert!(!all.contains("front"));
    scrimp(&["count", &path, "--plot", &name, "--panels", "memory,levels"]).code(0);
    let some = std::fs::read_to_string(&picture).unwrap();
    assert_eq!(some.matches("class=\"panel\"").count(), 2);
    let measure = "P_0.x + P_1.x + P_2.x + P_3.x";
    let sweep = ["count", &path, "--forget", "sweep", "--progress", measure, "--plot", &name];
    scrimp(&sweep).code(0);
    let swept = std::fs::read_to_string(&picture).unwrap();
    assert!(swept.contains("sweep-line&") || swept.contains("The sweep-line's front"), "{swept}");
    assert!(swept.contains(">stored<") && swept.contains(">expanded<"));
}

#[test]
fn a_plot_of_several_searches_says_which() {
    let picture = scratch("record-several.svg");
    let name = picture.to_string_lossy().into_owned();
    let formula = "ltl: [] !(P_0@cs && P_1@cs)";
    scrimp(&["check", &model("peterson4.dve"), "--plot", &name, "-p", "deadlock", "-p", formula]).code(0);
    let both = std::fs::read_to_string(&picture).unwrap();
    assert!(both.contains(">Memory over time: deadlock<") && both.contains(": ltl: [] !(P_0"), "{both}");
}

#[test]
fn a_net_is_plotted_too() {
    let picture = scratch("record-net.svg");
    let name = picture.to_string_lossy().into_owned();
    scrimp(&["check", &model("kanban.pnml"), "--structure", "none", "--plot", &name]);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("States per level"));
}

#[test]
fn curves_are_printed() {
    let path = model("phils6.dve");
    let shown = scrimp(&["count", &path, "-v"]).code(0).stdout;
    for line in ["States per level (states)", "States over time (states)", "Memory over time (resident memory)"] {
        assert!(shown.lines().any(|shown| shown == line), "no {line} in:\n{shown}");
    }
    assert!(shown.contains('█') && shown.contains('┬'));
    let one = scrimp(&["count", &path, "-v", "--panels", "levels"]).code(0).stdout;
    assert!(one.contains("States per level") && !one.contains("Memory over time"));
    // Standard output stays one object.
    let json = scrimp(&["count", &path, "-v", "--json"]).code(0);
    assert!(json.json()["states"].is_number() && json.stderr.contains("States per level"));
    assert!(scrimp(&["count", &path, "-v", "-q"]).refused().contains("--quiet"));
}

#[test]
fn what_cannot_be_plotted_is_refused() {
    let path = model("phils3.dve");
    let message = scrimp(&["count", &path, "--plot", "x.svg", "--panels", "levels,speed"]).refused();
    let panels = "levels, stored, nodes, clauses, memory, rate, front";
    assert!(message.contains("speed") && message.contains(panels), "{message}");
    assert!(scrimp(&["count", &path, "--plot", "-", "--json"]).code(2).stderr.contains("--plot -"));
    let message = scrimp(&["count", &path, "--plot", "no/such/place.svg"]).refused();
    assert!(message.contains("no/such/place.svg: error: the plot cannot be written"), "{message}");
    // Nobody takes what an earlier run has left for the picture of this one.
    let (picture, older) = (scratch("record-nothing.svg"), "of an earlier run");
    std::fs::write(&picture, older).unwrap();
    let name = picture.to_str().unwrap();
    let nothing = scrimp(&["count", &path, "--plot", name, "--panels", "front"]).code(0);
    assert!(nothing.stderr.contains("nothing to plot"), "{}", nothing.stderr);
    assert!(!std::fs::read_to_string(&picture).unwrap().contains(older));
    let text = scrimp(&["count", &path, "--plot", "-", "--panels", "levels"]).code(0);
    assert!(text.stdout.contains("States per level"));
}

/// Plots are chosen for pictures, curves and reports; without any of them nobody would see the choice.
#[test]
fn panels_need_something_to_be_in() {
    let path = model("phils3.dve");
    for command in ["check", "count"] {
        let said = scrimp(&[command, &path, "--panels", "levels"]).refused();
        assert!(said.contains("--panels chooses plots, and none is drawn"), "{said}");
    }
    let report = scratch("record-panels.html");
    scrimp(&["count", &path, "--panels", "levels", "--report", &report.to_string_lossy()]).code(0);
    let page = std::fs::read_to_string(report).unwrap();
    assert_eq!(page.matches("<svg").count(), 1);
    assert!(page.contains("States per level"));
}
