//! What stays of a search that loses something: a process, its time, its memory, or a disk to save to.

use super::one_host::{at_work, children_of, counters, ends_within, folder, hosts, json, model, scrimp, signal, text};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs until a search is saved and cut by its time: how long that takes depends on the machine.
fn cut(mut run: impl FnMut(&str) -> Output, saved: &Path) {
    for millis in [250, 500, 1000, 2000, 4000] {
        let output = run(&format!("{millis}ms"));
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        if saved.join("search").exists() {
            return;
        }
    }
    panic!("nothing was saved in time");
}

/// Where there is no room for the files of a search, that is told, and those from before stay.
#[test]
fn what_cannot_be_saved_leaves_what_was() {
    let folder = folder("full-disk");
    let (model, states) = counters(&folder, 6, 11);
    let saved = folder.join("saved");
    // The limit is that of a process, for each file that it writes.
    let run = |limit: &str, more: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\""), "sh"]);
        command.arg(env!("CARGO_BIN_EXE_scrimp")).args(["cluster", "-n", "2", "count"]).arg(&model);
        command.args(["--json", "-q", "--checkpoint"]).arg(&saved).args(more);
        if saved.join("search").exists() {
            command.arg("--resume").arg(&saved);
        }
        command.output().expect("it runs")
    };
    cut(|time| run("unlimited", &["--time", time]), &saved);
    let files = || {
        let names = std::fs::read_dir(&saved).expect("a folder").flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("part-")).collect();
        names.sort();
        names
    };
    let before = files();
    let output = run("8", &["--every", "1ms"]);
    assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &states.into()), "{}", text(&output));
    assert!(text(&output).contains("the search could not be saved"), "{}", text(&output));
    assert!(files().iter().filter(|name| before.contains(name)).count() == before.len(), "{before:?} {:?}", files());
    let output = run("unlimited", &[]);
    assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &states.into()), "{}", text(&output));
    let _ = std::fs::remove_dir_all(folder);
}

/// Who takes a search up looks for the run in levels that were visited before.
#[test]
fn a_search_that_is_taken_up_shows_its_run() {
    let folder = folder("taken-up");
    let (model, _) = counters(&folder, 6, 11);
    let (saved, all) =
        (folder.join("saved"), (0..6).map(|p| format!("P_{p}.x == 11")).collect::<Vec<_>>().join(" && "));
    let run = |processes: &str, time: &str| {
        let mut command = scrimp();
        command.args(["cluster", "-n", processes, "check"]).arg(&model).args(["-p", &format!("reach: {all}")]);
        command.args(["--json", "-q", "--time", time, "--checkpoint"]).arg(&saved);
        if saved.join("search").exists() {
            command.arg("--resume").arg(&saved);
        }
        command.output().expect("it runs")
    };
    cut(|time| run("2", time), &saved);
    let output = run("3", "10m");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let answer = json(&output);
    let found = &answer["properties"][0];
    assert_eq!(found["verdict"], "verified", "{answer}");
    assert_eq!(found["trace"]["steps"].as_array().map(Vec::len), Some(66), "{answer}");
    let _ = std::fs::remove_dir_all(folder);
}

/// States that become too different for a table move to a tree, however many levels are kept for a run.
#[test]
fn states_outgrow_the_table_deep_in_a_search() {
    let folder = folder("outgrown");
    let path = folder.join("deep.dve");
    let text_of_model = "int a[60];\n\
        process P { int i; state s; init s; trans s -> s { guard i < 100; effect i = i + 1; }, \
        s -> s { guard i >= 100 && i < 200; effect a[i % 60] = i * 977 + 3, i = i + 1; }; }\n\
        process Q { byte q; state s; init s; trans s -> s { effect q = (q + 1) % 4; }; }\n\
        system async;\n";
    std::fs::write(&path, text_of_model).expect("a model");
    for processes in ["1", "2", "3"] {
        let mut command = scrimp();
        command.args(["cluster", "-n", processes, "check"]).arg(&path).args(["-p", "invariant: P.i < 300"]);
        let output = command.args(["--json", "-q"]).output().expect("it runs");
        assert_eq!((output.status.code(), &json(&output)["states"]), (Some(0), &804.into()), "{}", text(&output));
        let mut command = scrimp();
        command.args(["cluster", "-n", processes, "check"]).arg(&path).args(["-p", "invariant: P.i < 190"]);
        let output = command.args(["--json", "-q"]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let answer = json(&output);
        let steps = answer["properties"][0]["trace"]["steps"].as_array();
        assert_eq!(steps.map(Vec::len), Some(190), "{answer}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// What all knew when one of them died is still true.
#[test]
fn a_violation_stays_where_a_process_dies() {
    let folder = folder("known");
    let (model, _) = counters(&folder, 7, 15);
    let mut command = scrimp();
    command.args(["cluster", "-n", "2", "check"]).arg(&model).args([
        "-k",
        "-p",
        "invariant: P_0.x < 3",
        "-p",
        "deadlock",
    ]);
    command.args(["--json", "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let leader = command.spawn().expect("it runs");
    let child = children_of(&leader, 1)[0];
    at_work(child);
    signal("-9", &child.to_string());
    let output = leader.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let answer = json(&output);
    assert_eq!(answer["limits"]["reached"], "gone", "{answer}");
    let verdicts: Vec<_> = (0..2).map(|i| answer["properties"][i]["verdict"].clone()).collect();
    assert_eq!(verdicts, ["violated", "incomplete"], "{answer}");
    let _ = std::fs::remove_dir_all(folder);
}

/// A process that does nothing at the end keeps the others neither from ending nor from telling what they know.
#[test]
fn a_silent_process_is_named_when_time_is_over() {
    let mut command = scrimp();
    command.args(["cluster", "-n", "3", "count", &model("large/counters20.dve"), "--time", "5s", "--json", "-q"]);
    let mut leader = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let child = children_of(&leader, 2)[1];
    at_work(child);
    std::thread::sleep(Duration::from_millis(600));
    signal("-STOP", &child.to_string());
    let code = ends_within(&mut leader, Duration::from_secs(20));
    let output = leader.wait_with_output().expect("it ended");
    assert_eq!(code, Some(3), "{}", text(&output));
    let answer = json(&output);
    assert_eq!(answer["limits"]["reached"], "time", "{}", text(&output));
    assert!(answer["states"].as_u64() > Some(0), "{}", text(&output));
    assert!(text(&output).contains("nothing was heard of process 2"), "{}", text(&output));
    assert!(!Path::new(&format!("/proc/{child}")).exists());
}

/// A host may be started again while others are still missing.
#[test]
fn a_host_that_was_ended_comes_again() {
    let folder = folder("again");
    let (file, _) = hosts(&folder, 3);
    let host = |index: &str| {
        let mut command = scrimp();
        command.env("SCRIMP_SECRET", "the secret of this test").args(["cluster", "--wait", "60s", "--hosts"]);
        command.arg(&file).args(["--index", index, "count", &model("peterson3.dve"), "--json", "-q"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let (leader, mut first) = (host("0"), host("1"));
    std::thread::sleep(Duration::from_millis(700));
    first.kill().and_then(|()| first.wait()).expect("it runs");
    let others = [host("1"), host("2")];
    let output = leader.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    others.into_iter().for_each(|other| drop(other.wait_with_output()));
    let _ = std::fs::remove_dir_all(folder);
}
