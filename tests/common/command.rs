//! The `scrimp` command as a user runs it, and models for it to run on.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What came of a command.
pub struct Answer {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub time: Duration,
}

impl Answer {
    fn of(output: Output, time: Duration) -> Answer {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
        let answer =
            Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr), time };
        assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
        answer
    }

    /// Fails unless the command ended with this code; shows what it said.
    #[track_caller]
    pub fn code(self, code: i32) -> Answer {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless the command refused: nothing but a message.
    #[track_caller]
    pub fn refused(self) -> String {
        let answer = self.code(2);
        assert_eq!(answer.stdout, "");
        assert_ne!(answer.stderr, "");
        answer.stderr
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in:\n{}{}", self.stdout, self.stderr))
    }
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scrimp"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn scrimp(words: &[&str]) -> Answer {
    let start = Instant::now();
    Answer::of(command(words).output().expect("the command can be run"), start.elapsed())
}

/// With something on its standard input.
pub fn scrimp_reading(words: &[&str], input: &str) -> Answer {
    let start = Instant::now();
    let mut child = command(words).stdin(Stdio::piped()).spawn().expect("the command can be run");
    // A command that ends without reading everything is not the writer's failure.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    Answer::of(child.wait_with_output().expect("the command ends"), start.elapsed())
}

/// Runs on while the test goes on; [`finish`] waits for it.
pub fn start(words: &[&str]) -> Child {
    command(words).spawn().expect("the command can be run")
}

pub fn finish(child: Child) -> Answer {
    let start = Instant::now();
    Answer::of(child.wait_with_output().expect("the command ends"), start.elapsed())
}

/// The file of that name in `models/`.
pub fn model(name: &str) -> String {
    let path = super::manifest().join("models").join(name);
    assert!(path.exists(), "{}", path.display());
    path.to_string_lossy().into_owned()
}

/// A file of the test's own.
pub fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = scratch(name);
    std::fs::write(&path, contents).expect("a file can be written");
    path.to_string_lossy().into_owned()
}

pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Counters that know nothing of each other: (most + 1) to the power of `counters` states of `1 + padding` bytes for each
/// counter. The padding says nothing new, so it changes the size of a state and not their number.
pub fn counters(counters: usize, most: usize, padding: usize) -> String {
    let mut text = String::new();
    for i in 0..counters {
        let (declare, pad) = match padding {
            0 => (String::new(), String::new()),
            _ => (format!(", p[{padding}]"), format!(", p[x % {padding}] = x")),
        };
        text.push_str(&format!(
            "process P_{i} {{ byte x{declare}; state s; init s; trans s -> s {{ guard x < {most}; effect x = x + 1{pad}; }}; }}\n"
        ));
    }
    text + "system async;\n"
}

/// A net of machines that know nothing of each other: each goes round its `places` with one token, so that there are
/// `places` to the power of `machines` markings.
pub fn machines(machines: usize, places: usize) -> String {
    let (mut nodes, mut arcs) = (String::new(), String::new());
    for m in 0..machines {
        for p in 0..places {
            let marking = if p == 0 { "<initialMarking><text>1</text></initialMarking>" } else { "" };
            nodes.push_str(&format!("<place id=\"p{m}_{p}\">{marking}</place><transition id=\"t{m}_{p}\"/>\n"));
            let next = (p + 1) % places;
            arcs.push_str(&format!(
                "<arc id=\"i{m}_{p}\" source=\"p{m}_{p}\" target=\"t{m}_{p}\"/>\
                 <arc id=\"o{m}_{p}\" source=\"t{m}_{p}\" target=\"p{m}_{next}\"/>\n"
            ));
        }
    }
    net(&format!("{nodes}{arcs}"))
}

/// A net with these places, transitions and arcs.
pub fn net(contents: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"page\">\n{contents}</page></net></pnml>\n"
    )
}
