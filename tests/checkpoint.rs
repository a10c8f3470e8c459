//! Searches that are killed, and taken up again where they were saved last.

mod common;

use common::command::{counters, file, finish, machines, model, scratch, scrimp, start};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// What must not depend on how often a search was killed.
fn figures(json: &Value) -> Vec<Value> {
    let mut names =
        vec!["verdict", "states", "transitions", "deadlocks", "faults", "levels", "level_sizes", "initial_states"];
    // Paths are saved by a loop that counts what is open a little differently.
    if json["plan"]["order"] != "dfs" {
        names.push("widest_level");
    }
    names.into_iter().map(|name| json[name].clone()).collect()
}

/// Counts with these options, killed again and again a little later than the last time; answers how often, and the end.
fn killed_and_resumed(path: &str, name: &str, options: &[&str]) -> (usize, Value) {
    let file = scratch(name);
    let _ = std::fs::remove_file(&file);
    let file = file.to_string_lossy().into_owned();
    let mut kills = 0;
    for round in 0..60 {
        let mut words = vec!["count", path, "--json", "--checkpoint", &file, "--every", "30ms"];
        words.extend(options);
        if Path::new(&file).exists() {
            words.extend(["--resume", &file]);
        }
        let mut child = start(&words);
        // On a busy machine taking a search up takes most of the time: it is given ever more.
        let until = Instant::now() + Duration::from_secs_f64(0.06 * 1.1f64.powi(round));
        while Instant::now() < until && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if child.try_wait().expect("the command can be waited for").is_none() {
            // Not to be caught, and without a word of warning.
            child.kill().expect("it can be killed");
            kills += 1;
            let _ = child.wait();
            continue;
        }
        let json = finish(child).code(0).json();
        let _ = std::fs::remove_file(&file);
        return (kills, json);
    }
    panic!("{options:?}: no progress in {kills} rounds");
}

fn check(name: &str, options: &[&str]) {
    check_model(&model("phils8.dve"), name, options);
}

fn check_model(path: &str, name: &str, options: &[&str]) {
    let expected = scrimp(&[["count", path, "--json"].as_slice(), options].concat()).code(0).json();
    let (kills, json) = killed_and_resumed(path, name, options);
    assert_eq!(figures(&json), figures(&expected), "{options:?} after {kills} kills");
    assert!(kills > 0, "{options:?} was never killed");
}

#[test]
fn a_table_is_taken_up_again() {
    check("ck-auto", &[]);
    check("ck-table", &["--store", "table"]);
    check("ck-table-2", &["--store", "table", "--threads", "2"]);
    check("ck-table-dfs", &["--store", "table", "--order", "dfs"]);
}

#[test]
fn a_tree_is_taken_up_again() {
    check("ck-tree", &["--store", "tree"]);
    check("ck-tree-2", &["--store", "tree", "--threads", "2"]);
    check("ck-tree-dfs", &["--store", "tree", "--order", "dfs"]);
}

#[test]
fn collapsed_and_replayed_states_are_taken_up_again() {
    check("ck-collapse", &["--store", "collapse"]);
    check("ck-comback", &["--store", "comback"]);
}

#[test]
fn an_automaton_is_taken_up_again() {
    check("ck-dfa", &["--store", "dfa"]);
    check("ck-dfa-collapse", &["--store", "dfa+collapse"]);
}

#[test]
fn a_net_is_taken_up_again() {
    let path = file("ck-machines.pnml", machines(10, 4));
    check_model(&path, "ck-net", &["--threads", "2"]);
}

/// With --keep-going, what was found before the kill is not forgotten.
#[test]
fn findings_are_remembered() {
    let (path, file) = (model("phils6.dve"), scratch("ck-findings"));
    let file = file.to_string_lossy().into_owned();
    let words =
        ["check", &path, "--json", "--keep-going", "--property", "deadlock", "--property", "reach: Phil_0@both"];
    let stopped = scrimp(&[&words[..], &["--checkpoint", &file, "--every", "1ms", "--time", "30ms"]].concat());
    if stopped.code == Some(3) {
        let json = scrimp(&[&words[..], &["--resume", &file]].concat()).code(1).json();
        let verdicts: Vec<_> = (0..2).map(|i| json["properties"][i]["verdict"].as_str().unwrap_or("")).collect();
        assert_eq!(verdicts, ["violated", "verified"]);
        let steps = json["properties"][0]["trace"]["steps"].as_array().map(Vec::len);
        assert_eq!(steps, Some(12), "six philosophers sit down and take their forks");
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn foreign_and_damaged_files_are_refused() {
    let (path, file) = (model("phils6.dve"), scratch("ck-refused"));
    let name = file.to_string_lossy().into_owned();
    let save = ["count", &path, "--quiet", "--checkpoint", &name, "--every", "1ms"];
    scrimp(&save).code(0);
    let resume = |words: &[&str]| scrimp(&[&["count"], words, &["--resume", &name]].concat()).refused();
    assert!(resume(&[&model("phils5.dve")]).contains("another model"));
    assert!(resume(&[&path, "--store", "tree"]).contains("other options"));
    assert!(resume(&[&path, "--order", "dfs"]).contains("other options"));
    scrimp(&["count", &path, "--resume", &name, "--quiet", "--memory", "64M", "--threads", "2"]).code(0);
    let whole = std::fs::read(&file).expect("a checkpoint");
    for at in [3, 40, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        std::fs::write(&file, damaged).expect("a file can be written");
        resume(&[&path]);
    }
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("a file can be written");
    assert!(resume(&[&path]).contains("damaged"));
    std::fs::write(&file, "").expect("a file can be written");
    assert!(resume(&[&path]).contains("no checkpoint"));
    let _ = std::fs::remove_file(&file);
    assert!(resume(&[&path]).contains("No such file"));
}

/// A directory that is taken away does not end the search: the answer is worth more.
#[test]
fn a_checkpoint_that_cannot_be_written_is_told() {
    let model = file("checkpoint-gone.dve", counters(5, 15, 0));
    let folder = scratch("checkpoint-gone");
    std::fs::create_dir_all(&folder).expect("a directory can be made");
    let saved = folder.join("saved");
    let _ = std::fs::remove_file(&saved);
    let child = start(&["count", &model, "--json", "--checkpoint", &saved.to_string_lossy(), "--every", "1ms"]);
    let begun = std::time::Instant::now();
    while !saved.exists() && begun.elapsed().as_secs() < 60 {
        std::thread::yield_now();
    }
    // The search may be about to write another file into it.
    while folder.exists() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    let json = finish(child).code(0).json();
    assert_eq!(json["states"], 1 << 20);
    let remarks = json["plan"]["decisions"].as_array().expect("decisions");
    assert!(remarks.iter().any(|remark| remark.as_str().is_some_and(|text| text.contains("could not be written"))));
}
