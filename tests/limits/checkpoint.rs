//! Searches that are killed, and taken up again where they were saved last.

use crate::common::command::{counters, file, finish, machines, model, scratch, scrimp, start};
use scrimp_search::checkpoint::{self, Identity};
use scrimp_system::Random;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// What must not depend on how often a search was killed.
fn figures(json: &Value) -> Vec<Value> {
    let mut names = vec!["verdict", "states", "deadlocks", "faults", "initial_states"];
    // Where states wait in another order than level by level, a search that is taken up may choose another one next.
    if json["plan"]["search"].as_str().is_some_and(|search| search.starts_with("the general search")) {
        return names.into_iter().map(|name| json[name].clone()).collect();
    }
    names.extend(["transitions", "levels", "level_sizes"]);
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
            // Not to be caught, and without an answer of warning.
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

/// Whenever time is over, also while states move from the table to a smaller store.
#[test]
fn a_search_cut_short_is_saved() {
    let (path, saved) = (file("ck_moving.dve", counters(5, 200, 0)), scratch("ck-moving"));
    for round in 0..16 {
        let _ = std::fs::remove_file(&saved);
        let time = format!("{}ms", (60.0 * 1.15f64.powi(round)) as u64);
        scrimp(&["count", &path, "--checkpoint", &saved.to_string_lossy(), "--time", &time]).code(3);
        assert!(saved.exists(), "nothing was saved after {time}");
    }
}

#[test]
fn a_tree_is_taken_up_again() {
    check("ck-packed", &["--store", "packed"]);
    check("ck-packed-2", &["--store", "packed", "--threads", "2"]);
    check("ck-packed-dfs", &["--store", "packed", "--order", "dfs"]);
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
fn a_search_on_disk_is_taken_up_again() {
    check("ck-disk", &["--store", "disk"]);
    check("ck-disk-3", &["--store", "disk", "--threads", "3"]);
    let folder = std::env::temp_dir().to_string_lossy().into_owned();
    check("ck-to-disk", &["--disk", &folder, "--memory", "20M"]);
}

#[test]
fn a_net_is_taken_up_again() {
    let path = file("ck-machines.pnml", machines(10, 4));
    check_model(&path, "ck-net", &["--threads", "2"]);
}

#[test]
fn a_search_that_forgets_is_taken_up_again() {
    check("ck-edge-lean", &["--reduce", "edge-lean", "--threads", "2"]);
    check("ck-pseudo-root", &["--forget", "pseudo-root", "--store", "tree"]);
    check("ck-sweep", &["--forget", "sweep", "--progress", "auto"]);
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
    assert!(resume(&[&path]).contains("not a checkpoint"));
    let _ = std::fs::remove_file(&file);
    assert!(resume(&[&path]).contains("there is no such file"));
}

/// A checkpoint that this command writes, at the latest after this time.
fn saved(name: &str, words: &[&str], time: &str) -> Vec<u8> {
    let file = scratch(name);
    let _ = std::fs::remove_file(&file);
    let path = file.to_string_lossy().into_owned();
    scrimp(&[words, &["--quiet", "--checkpoint", &path, "--every", "1ms", "--time", time]].concat());
    let whole = std::fs::read(&file).expect("a checkpoint");
    let _ = std::fs::remove_file(&file);
    whole
}

/// Takes a checkpoint up that has a right checksum, whatever else it says: the command must come to an answer or refuse.
fn take_up(name: &str, words: &[&str], heading: &[u8], making: &[u64], content: &[u8]) -> Option<i32> {
    let file = scratch(name);
    let number = |at: usize| u64::from_le_bytes(heading[at..at + 8].try_into().expect("eight bytes"));
    let identity = Identity { model: number(24), options: number(32) };
    checkpoint::write(&file, identity, making, &mut |to| to.write_all(content)).expect("a file can be written");
    let path = file.to_string_lossy().into_owned();
    let answer = scrimp(&[words, &["--quiet", "--resume", &path, "--memory", "256M", "--time", "500ms"]].concat());
    let _ = std::fs::remove_file(&file);
    // A panic has been seen to by now.
    assert!(answer.code.is_some_and(|code| code < 4), "{:?}: {}", answer.code, answer.stderr);
    answer.code
}

#[test]
fn forged_files_are_refused_or_taken_up() {
    let path = model("phils6.dve");
    let mut random = Random(20);
    for options in [
        "table",
        "packed",
        "tree",
        "collapse",
        "comback",
        "dfa",
        "dfa+collapse",
        "table dfs",
        "tree dfs",
        "table random",
        "disk",
    ] {
        let (store, order) = options.split_once(' ').unwrap_or((options, "bfs"));
        let words = ["count", &path, "--store", store, "--order", order];
        let whole = saved("ck-forged", &words, "20ms");
        let content = &whole[48..whole.len() - 8];
        assert_ne!(take_up("ck-forged", &words, &whole, &[], content), Some(2), "{options}");
        // Behind the store's name, the findings and the facts: how deep the search is, or how many levels or roots there are.
        let mut deeper = content.to_vec();
        let at = 8 + store.len() + 8 + 8 + 13 * 8;
        deeper[at..at + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
        assert_eq!(take_up("ck-forged", &words, &whole, &[], &deeper), Some(2), "{options}");
        let mut refused = 0;
        for round in 0..12 {
            let mut forged = content.to_vec();
            // The beginning says how long everything is.
            let at = if round % 2 == 0 { random.below(forged.len().min(300)) } else { random.below(forged.len()) };
            let value = [0, 1, 0x7f, 0xff][random.below(4)];
            let end = forged.len().min(at + 1 + random.below(4));
            forged[at..end].fill(value);
            refused += (take_up("ck-forged", &words, &whole, &[], &forged) == Some(2)) as usize;
        }
        // Of states one by one, most that is written over them may be others.
        assert!(refused > 0 || order != "bfs", "{options}: nothing was refused");
    }
}

/// What goes on by itself without an end was met before the search was saved: nothing is verified after it either.
#[test]
fn what_has_no_end_is_remembered() {
    let counter =
        |name| format!("active proctype {name}() {{ byte i; off; do :: i < 30 -> i++ :: else -> break od }}\n");
    // The way to it is left before the counters begin.
    let endless = "int x; bool on, off;\nactive proctype P() { atomic { on -> do :: x++ od } }\n";
    let either = "active proctype Q() { if :: on = true :: off = true fi }\n";
    let path = file("ck-endless.pml", format!("{endless}{either}{}{}{}", counter("A"), counter("B"), counter("C")));
    let saved = scratch("ck-endless").to_string_lossy().into_owned();
    for cycles in ["nested", "components"] {
        let words = ["check", &path, "-p", "ltl: [] <> (on || off)", "--cycles", cycles];
        let ends = |more: &[&str]| {
            let answer = scrimp(&[&words[..], more].concat()).code(3);
            assert!(answer.stdout.contains("does not end"), "{cycles}: {}", answer.stdout);
        };
        let _ = std::fs::remove_file(&saved);
        ends(&["--checkpoint", &saved, "--every", "5ms"]);
        ends(&["--resume", &saved]);
        let _ = std::fs::remove_file(&saved);
    }
}

/// Searches for cycles have a path, or two, and components.
#[test]
fn forged_paths_are_refused_or_taken_up() {
    let path = model("phils6.dve");
    let mut random = Random(22);
    let formula = "ltl: ([]<> Phil_0@both && []<> Phil_3@both) -> []<> !Phil_2@both";
    for options in [["--cycles", "components"], ["--cycles", "nested"], ["--store", "tree"]] {
        let words = [&["check", &path, "-p", formula][..], &options].concat();
        let whole = saved("ck-forged-path", &words, "20ms");
        let content = &whole[48..whole.len() - 8];
        assert_ne!(take_up("ck-forged-path", &words, &whole, &[], content), Some(2), "{options:?}");
        let mut refused = 0;
        for round in 0..16 {
            let mut forged = content.to_vec();
            // Paths and components come last.
            let near = forged.len().min(4000);
            let at = if round % 4 == 0 { random.below(forged.len()) } else { forged.len() - 1 - random.below(near) };
            let end = forged.len().min(at + 1 + random.below(8));
            forged[at..end].fill([0, 1, 0x7f, 0xff][random.below(4)]);
            refused += (take_up("ck-forged-path", &words, &whole, &[], &forged) == Some(2)) as usize;
        }
        assert!(refused > 0, "{options:?}: nothing was refused");
    }
}

/// How the model was made is in the file too.
#[test]
fn forged_rooms_make_no_other_model() {
    let mut random = Random(21);
    let started = "chan c = [2] of { byte };
        proctype P(byte id) { byte x; do :: x < 150 -> x++ :: c!id :: c?eval(id) od }
        init { run P(1); run P(2); run P(3) }";
    for path in [file("ck-room.pnml", machines(10, 4)), file("ck-room.pml", started)] {
        let words = ["count", &path];
        let whole = saved("ck-room", &words, "300ms");
        let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().expect("eight bytes"));
        let making: Vec<u64> = (0..number(40) as usize).map(|i| number(48 + 8 * i)).collect();
        let content = &whole[48 + 8 * making.len()..whole.len() - 8];
        assert_ne!(take_up("ck-room", &words, &whole, &making, content), Some(2), "{path}");
        for _ in 0..16 {
            let mut forged = making.clone();
            let at = random.below(forged.len());
            forged[at] = [0, 1, 2, 1 << 40, u64::MAX][random.below(5)];
            take_up("ck-room", &words, &whole, &forged, content);
        }
    }
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
