//! What people see on a terminal: colours, lines of its width, and the line that says how far a search has come.

use crate::common;
use crate::common::command::{counters, file, model, scrimp};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Command, Stdio};

/// Runs the command on a terminal of so many columns, and answers all that it wrote there.
fn on_terminal(words: &[&str], columns: u16, colours: bool) -> String {
    let (mut master, mut slave) = (0, 0);
    let size = libc::winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let nothing = std::ptr::null_mut();
    // SAFETY: both ends are written to variables of this function, and the size is read from one.
    let opened = unsafe { libc::openpty(&raw mut master, &raw mut slave, nothing, std::ptr::null(), &raw const size) };
    assert_eq!(opened, 0, "there are terminals");
    // SAFETY: both were just opened, and nobody else has them.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) };
    let mut command = Command::new(env!("CARGO_BIN_EXE_scrimp"));
    command.args(words).stdin(Stdio::null());
    command.stdout(slave.try_clone().expect("a terminal")).stderr(slave);
    match colours {
        true => command.env_remove("NO_COLOR"),
        false => command.env("NO_COLOR", "1"),
    };
    let mut child = command.spawn().expect("the command can be run");
    // Its own ends of the terminal must be closed, or reading never ends.
    drop(command);
    let (mut written, mut block) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = master.read(&mut block) {
        written.extend(&block[..count]);
    }
    child.wait().expect("the command ends");
    String::from_utf8(written).expect("the command writes UTF-8").replace("\r\n", "\n")
}

/// Without what a terminal takes for colours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[test]
fn runs_are_coloured_and_as_wide_as_the_terminal() {
    let words = ["check", &model("needham_schroeder.pml")];
    let coloured = on_terminal(&words, 90, true);
    assert!(
        coloured.contains("\x1b[1;31mviolated") && coloured.contains("\x1b[36mproc 0 (Alice)\x1b[0m"),
        "{coloured}"
    );
    let bare = on_terminal(&words, 90, false);
    // Lines that are written over are no colours.
    let erase = "\r\x1b[2K";
    assert!(!bare.replace(erase, "").contains('\x1b'), "{bare}");
    let told = |text: &str| -> Vec<String> {
        plain(text).lines().skip_while(|line| !line.contains("violated by")).take(20).map(str::to_string).collect()
    };
    assert_eq!(told(&coloured), told(&bare));
    let run = |text: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.contains("initial state"));
        lines.take_while(|line| !line.is_empty()).map(str::to_string).collect()
    };
    assert!(run(&bare).iter().all(|line| line.chars().count() <= 90), "{bare}");
    let narrow = on_terminal(&words, 70, false);
    assert!(
        run(&narrow).iter().all(|line| line.chars().count() <= 70) && run(&narrow).len() > run(&bare).len(),
        "{narrow}"
    );
}

#[test]
fn the_line_says_how_far_a_search_has_come() {
    let path = file("terminal.dve", counters(5, 200, 0));
    let words = ["count", &path, "--time", "2s", "--memory", "400M", "--threads", "1", "--store", "table"];
    let written = on_terminal(&words, 120, true);
    let frames: Vec<&str> = written.split("\r\x1b[2K").filter(|frame| frame.starts_with("searching  ")).collect();
    assert!(!frames.is_empty(), "{written}");
    for frame in frames {
        assert!(frame.chars().count() < 120, "{frame}");
        for part in [" states  ", "/s  ", "open ", "time left unknown", " of 400.0 MiB  ", " of 2 s"] {
            assert!(frame.contains(part), "no {part} in {frame}");
        }
    }
    let narrow = on_terminal(&words, 40, true);
    let frames = narrow.split("\r\x1b[2K").filter(|frame| frame.starts_with("searching  "));
    assert!(frames.clone().count() > 0 && frames.clone().all(|frame| frame.chars().count() < 40), "{narrow}");
}

/// The range holds the number that it comes to, once the levels shrink.
#[test]
fn what_is_expected_comes() {
    let path = file("terminal-expected.dve", counters(3, 110, 0));
    let words = ["count", &path, "--show-progress=json", "--threads", "1", "--store", "table"];
    let answer = scrimp(&words).code(0);
    let objects: Vec<Value> = answer.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let all = 111u64.pow(3);
    let told: Vec<(u64, u64)> =
        objects.iter().filter_map(|o| Some((o["expected_least"].as_u64()?, o["expected_most"].as_u64()?))).collect();
    assert!(told.iter().all(|(least, most)| least <= most && *most < 3 * all && *least > all / 3), "{told:?}");
    let right = told.iter().filter(|(least, most)| (*least..=*most).contains(&all)).count();
    assert!(2 * right >= told.len(), "{told:?}");
    assert!(objects.iter().all(|o| o["phase"].is_null() || o["phase"].is_string()));
}

/// What was done before a search was saved took no time of this run.
#[test]
fn a_rate_is_that_of_this_run() {
    let (path, saved) =
        (file("terminal-resumed.dve", counters(5, 200, 0)), common::command::scratch("terminal.checkpoint"));
    let saved = saved.to_string_lossy();
    let words = ["count", &path, "--threads", "1", "--store", "table", "--memory", "500M"];
    let first = scrimp(&[&words as &[&str], &["--max-visits", "2000000", "--checkpoint", &saved]].concat()).code(3);
    assert!(first.stdout.contains("incomplete"), "{}", first.stdout);
    let second = [&words as &[&str], &["--max-visits", "2000100", "--resume", &saved, "--show-progress=json"]].concat();
    let answer = scrimp(&second).code(3);
    // A hundred states or so were visited, not two million.
    let last: Value = serde_json::from_str(answer.stderr.lines().last().expect("progress")).expect("an object");
    assert!(last["rate"].as_f64().unwrap() * last["seconds"].as_f64().unwrap() < 500_000.0, "{last}");
}
