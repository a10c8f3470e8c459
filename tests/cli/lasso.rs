//! Runs that go on for ever, as they are told: text, JSON, charts, and replays that follow the loop.

use crate::common;
use crate::common::command::{file, scratch, scrimp};
use scrimp::report::{Style, lasso, trace};
use scrimp::{Mode, Model, NativeModel, PropertyResult, Trace};
use serde_json::Value;
use std::path::Path;

/// A client that asks for ever, after it has begun, and a server that is slow once; and where the server breaks, the end.
const ASKS: &str = "
byte asked;
channel ask;
process Client { state off, on; init off; trans off -> on { effect asked = 1; }, on -> on { sync ask!; }; }
process Server {
  state idle, busy, broken; init idle;
  trans idle -> busy { sync ask?; effect asked = 2; }, busy -> idle { effect asked = 1; }, busy -> broken {};
}
system async;
";

/// The run that takes these choices, one after the other, from the first initial state.
fn run(model: &NativeModel, choices: &[usize]) -> Trace {
    let mut batch = scrimp::Batch::new(model.state_bytes());
    model.initial(&mut batch);
    let mut trace = Trace { initial: batch.state(0).to_vec(), steps: Vec::new() };
    for &choice in choices {
        let enabled = common::successors(model, trace.last());
        trace.steps.push((enabled.event(choice), enabled.state(choice).to_vec()));
    }
    trace
}

const CYCLE: &str = "---- the cycle begins";

/// The result that this run goes round from a step on, as a script sees it, and as a text.
fn told(path: &str, choices: &[usize], cycle: usize) -> (Value, String) {
    let loaded = scrimp::Loaded::open(Path::new(path)).unwrap_or_else(|error| panic!("{error}"));
    let model = NativeModel::new(loaded.system.clone(), Mode::Interpreted).expect("the system can be run");
    let result = PropertyResult {
        trace: Some(run(&model, choices)),
        cycle: Some(cycle),
        ..PropertyResult::undecided("for ever")
    };
    let steps = result.single_steps(&model).expect("there is a run");
    let again = result.loop_among(&steps);
    let initial = &result.trace.as_ref().expect("there is a run").initial;
    let run = trace::Run { model: &model, initial, steps: &steps, again };
    let text = trace::run(&run, None, Style::PLAIN);
    let head = lasso::length(run.edges().len(), run.cycle(), "step");
    (trace::json(&model, &result).expect("there is a run"), format!("{head}\n{text}"))
}

#[test]
fn stem_and_loop_are_told_apart() {
    let path = file("asks.dve", ASKS);
    let (json, text) = told(&path, &[0, 0, 0], 1);
    assert_eq!((json["length"].as_u64(), json["loop"].as_u64()), (Some(3), Some(1)));
    assert!(text.starts_with("1 step, then a cycle of 2 steps\n"), "{text}");
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in\n{text}"));
    assert!(at("\n  1  ") < at(CYCLE) && at(CYCLE) < at("\n  2  "), "{text}");
    assert!(at("\n  3  ") < at("and so on for ever, from step 2 again"), "{text}");
    at("processes that move in the cycle: Client, Server\n");
    at("values that change in the cycle: Server, asked\n");
    let trace = file("asks.json", json.to_string());
    let replay = scrimp(&["simulate", &path, "--trace", &trace]).code(0).stdout;
    assert!(replay.contains(CYCLE) && replay.contains("and so on for ever, from step 2 again"), "{replay}");
}

#[test]
fn a_run_may_end_for_ever() {
    let path = file("breaks.dve", ASKS);
    let (json, text) = told(&path, &[0, 0, 1], 3);
    assert_eq!(json["loop"].as_u64(), Some(3));
    assert!(text.ends_with("nothing more can happen, for ever\n") && !text.contains(CYCLE), "{text}");
    let trace = file("breaks.json", json.to_string());
    let replay = scrimp(&["simulate", &path, "--trace", &trace]).code(0).stdout;
    assert!(replay.contains("nothing more can happen\n"), "{replay}");
}

/// What a replay finds wrong with a loop.
#[test]
fn a_wrong_loop_is_refused() {
    let path = file("wrong.dve", ASKS);
    for (choices, cycle, words) in [
        (&[0, 0, 0][..], 0, "not back where its loop began: Client was off and is on, asked was 0 and is 1"),
        (&[0, 0, 0], 2, "not back where its loop began"),
        (&[0, 0], 2, "nothing more can happen, but something can"),
    ] {
        let (json, _) = told(&path, choices, cycle);
        let trace = file("wrong.json", json.to_string());
        let message = scrimp(&["simulate", &path, "--trace", &trace]).code(2).stderr;
        assert!(message.contains(words), "{message}");
    }
    let (mut json, _) = told(&path, &[0, 0, 0], 1);
    for wrong in [Value::from(4), Value::from(-1), Value::from("x"), Value::from(u64::MAX)] {
        json["loop"] = wrong;
        let trace = file("no-step.json", json.to_string());
        let message = scrimp(&["simulate", &path, "--trace", &trace]).code(2).stderr;
        assert!(message.contains("at which a loop could begin"), "{message}");
    }
}

/// An edge of the graph is several steps here: the loop begins between edges, and is counted in steps.
#[test]
fn loops_are_counted_in_single_steps() {
    let program = "byte x;\nchan c = [1] of { byte };\n\
        active proctype P() { x = 7; do :: atomic { c!1; x = 1; x = 2 } od }\n\
        active proctype Q() { byte y; do :: c?y -> x = 3 od }\n";
    let path = file("edges.pml", program);
    let (json, text) = told(&path, &[0, 0, 0, 0, 0, 0, 0], 4);
    let steps = json["steps"].as_array().expect("steps");
    let edges = |steps: &[Value]| steps.iter().filter(|step| !step["event"].is_null()).count();
    let again = json["loop"].as_u64().expect("a loop") as usize;
    assert!(again > 4 && edges(&steps[..again]) == 4 && edges(&steps[again..]) == 3, "{json:#}");
    assert!(text.contains("<<<<<START OF CYCLE>>>>>"), "{text}");
    let trace = file("edges.json", json.to_string());
    let (lines, picture) = (scratch("edges.txt"), scratch("edges.svg"));
    for chart in [&lines, &picture] {
        let words = ["simulate", &path, "--trace", &trace, "--chart", &chart.to_string_lossy()];
        let replay = scrimp(&words).code(0).stdout;
        assert!(replay.contains("and so on for ever, from step 5 again"), "{replay}");
    }
    let lines = std::fs::read_to_string(lines).expect("a chart");
    assert!(lines.starts_with("first\n") && lines.contains("\nthen, again and again\n"), "{lines}");
    let picture = std::fs::read_to_string(picture).expect("a chart");
    assert!(picture.contains(">then, again and again<"), "{picture}");
    let passed = steps.iter().position(|step| step["event"].is_null()).expect("a step within an edge");
    let mut within = json.clone();
    within["loop"] = (passed + 1).into();
    let trace = file("within.json", within.to_string());
    assert!(scrimp(&["simulate", &path, "--trace", &trace]).code(2).stderr.contains("leads to no state"));
}
