//! `watch` as a user meets it: a model is edited, and what is otherwise is shown.

use crate::common::command::{counters, model, scratch, scrimp, start};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a loaded machine may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A `scrimp watch` that runs, and what it has said.
struct Watched {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Watched {
    fn begin(model: &Path, flags: &[&str]) -> Watched {
        let model = model.to_string_lossy();
        let mut child = start(&[&["watch", &model], flags].concat());
        let (tell, lines) = channel();
        let pipe = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|l| tell.send(l)));
        // From this line on, every change is seen.
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let watches = errors.by_ref().map_while(Result::ok).any(|line| line.starts_with("watching "));
        assert!(watches, "it has ended");
        std::thread::spawn(move || errors.map_while(Result::ok).for_each(drop));
        Watched { child, lines, said: Vec::new() }
    }

    /// Waits for a line with this in it, and answers what was said until then.
    #[track_caller]
    fn until(&mut self, wanted: &str) -> String {
        let (begun, first) = (Instant::now(), self.said.len());
        loop {
            match self.lines.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
                Ok(line) => self.said.push(line),
                Err(why) => {
                    let _ = self.child.kill();
                    panic!("no `{wanted}` ({why}) in:\n{}", self.said.join("\n"));
                }
            }
            if self.said[self.said.len() - 1].contains(wanted) {
                return self.said[first..].join("\n");
            }
        }
    }

    /// Presses Ctrl-C; answers the exit code.
    fn interrupt(mut self) -> Option<i32> {
        // SAFETY: a system call without memory effects, on a child that nobody has waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGINT) };
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("a child") {
                assert_ne!(self.lines.recv_timeout(PATIENCE), Err(RecvTimeoutError::Timeout));
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        panic!("it does not end");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = scratch(&format!("watching-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(name: &str) -> String {
    std::fs::read_to_string(model(name)).unwrap()
}

#[test]
fn what_is_otherwise_is_shown() {
    let path = folder("otherwise").join("phils3.dve");
    std::fs::write(&path, text("phils3.dve")).unwrap();
    let mut watched = Watched::begin(&path, &["-k"]);
    let first = watched.until(" levels; ");
    assert!(
        first.contains("phils3.dve: violated\n  violated   deadlock  at 6 steps\n  verified   faults\n"),
        "{first}"
    );
    assert!(first.contains("  154 states, 411 transitions, 1 deadlock, 16 levels; "), "{first}");
    // A comment changes nothing.
    std::fs::write(&path, text("phils3.dve") + "// more\n").unwrap();
    let same = watched.until("unchanged");
    assert!(same.contains("phils3.dve changed\n") && same.contains("unchanged: violated, 154 states"), "{same}");
    // One of them takes the other fork first: nobody starves.
    let all = text("phils3.dve");
    let (others, last) = all.split_once("process Phil_2").expect("a third one");
    let swapped = last.replace("fork[2]", "fork[x]").replace("fork[0]", "fork[2]").replace("fork[x]", "fork[0]");
    std::fs::write(&path, format!("{others}process Phil_2{swapped}")).unwrap();
    let other = watched.until(" levels");
    assert!(other.contains("  verified   deadlock  (was violated at 6 steps)\n"), "{other}");
    assert!(other.contains("states (was 154), "), "{other}");
    assert_eq!(watched.interrupt(), Some(0));
}

#[test]
fn errors_come_and_go_and_so_does_the_file() {
    let path = folder("errors").join("p.pml");
    let good = text("peterson.pml");
    std::fs::write(&path, &good).unwrap();
    let mut watched = Watched::begin(&path, &[]);
    watched.until("states");
    // Half of it is written, and then the rest.
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let wrong = watched.until(": error: ");
    assert!(wrong.contains("p.pml changed"), "{wrong}");
    std::fs::write(&path, format!("{}\n", &good[..good.len() / 2])).unwrap();
    watched.until("p.pml changed");
    watched.until("p.pml");
    std::fs::write(&path, &good).unwrap();
    let mended = watched.until("unchanged: verified");
    assert!(!mended.contains("was"), "held against the last answer: {mended}");
    std::fs::remove_file(&path).unwrap();
    watched.until("there is no such file now; waiting for it");
    std::fs::write(&path, good.replace("last = _pid", "last = 1 - _pid")).unwrap();
    watched.until("p.pml:");
    // Many editors write another file and give it this name.
    let beside = path.with_extension("new");
    std::fs::write(&beside, format!("{good}\n/* saved */\n")).unwrap();
    std::fs::rename(beside, &path).unwrap();
    watched.until("p.pml changed");
    watched.until("p.pml:");
    assert_eq!(watched.interrupt(), Some(0));
}

#[test]
fn what_a_model_includes_is_watched_too() {
    let place = folder("included");
    let path = place.join("barrier.pml");
    std::fs::write(&path, text("barrier.pml")).unwrap();
    let mut watched = Watched::begin(&path, &[]);
    // The file is not there yet.
    watched.until("error");
    std::fs::write(place.join("barrier.h"), text("barrier.h")).unwrap();
    let found = watched.until("states");
    assert!(found.contains("barrier.h changed") && found.contains("  31,096 states"), "{found}");
    std::fs::write(place.join("barrier.h"), text("barrier.h") + "\n/* more */\n").unwrap();
    watched.until("unchanged: verified, 31,096 states");
    assert_eq!(watched.interrupt(), Some(0));
    // So are the properties.
    let (path, asked) = (place.join("phils3.dve"), place.join("asked.txt"));
    std::fs::write(&path, text("phils3.dve")).unwrap();
    std::fs::write(&asked, "deadlock\n").unwrap();
    let mut watched = Watched::begin(&path, &["--property-file", &asked.to_string_lossy()]);
    watched.until("deadlock");
    std::fs::write(&asked, "faults\n").unwrap();
    let told = watched.until("gone");
    assert!(told.contains("asked.txt changed\n") && told.contains("verified   faults  (new)\n"), "{told}");
    assert_eq!(watched.interrupt(), Some(0));
}

#[test]
fn what_only_a_check_can_know_to_be_included_is_watched_too() {
    let place = folder("hidden");
    let path = place.join("m.pml");
    let text = "// a 5\" disk\n#include \"a.h\"\n#define F <b.h>\n#include F\nactive proctype P() { assert(N == M) }\n";
    std::fs::write(&path, text).unwrap();
    std::fs::write(place.join("a.h"), "#define N 1\n").unwrap();
    std::fs::write(place.join("b.h"), "#define M 1\n").unwrap();
    // What was written just before a check may have been read before that, and is checked once more.
    std::thread::sleep(Duration::from_millis(200));
    let mut watched = Watched::begin(&path, &[]);
    watched.until("m.pml: verified");
    std::fs::write(place.join("a.h"), "#define N 2\n").unwrap();
    let told = watched.until("m.pml: violated");
    assert!(told.contains("a.h changed"), "{told}");
    std::fs::write(place.join("b.h"), "#define M 2\n").unwrap();
    let told = watched.until("m.pml: verified");
    assert!(told.contains("b.h changed"), "{told}");
    // One that is gone is waited for.
    std::fs::remove_file(place.join("b.h")).unwrap();
    watched.until("error");
    std::fs::write(place.join("b.h"), "#define M 3\n").unwrap();
    watched.until("m.pml: violated");
    assert_eq!(watched.interrupt(), Some(0));
}

#[test]
fn a_check_that_runs_is_begun_anew() {
    let path = folder("anew").join("large.dve");
    // More states than anybody waits for.
    std::fs::write(&path, counters(8, 250, 0)).unwrap();
    let mut watched = Watched::begin(&path, &["-k", "--memory", "2G", "--engine", "explicit"]);
    // It runs when the file changes: nothing has been said, and it goes on for long.
    std::thread::sleep(Duration::from_millis(300));
    std::fs::write(&path, counters(2, 9, 0)).unwrap();
    let told = watched.until("states");
    assert!(told.contains("large.dve changed") && told.contains("  100 states"), "{told}");
    // Ctrl-C ends one that runs.
    std::fs::write(&path, counters(8, 250, 1)).unwrap();
    watched.until("large.dve changed");
    assert_eq!(watched.interrupt(), Some(0));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let model = model("phils3.dve");
    for flags in [
        &["--json"][..],
        &["--quiet"],
        &["-v"],
        &["--report", "x.html"],
        &["--trace", "x.json"],
        &["--trace-format", "json"],
        &["--chart", "-"],
        &["--graph", "x.aut"],
        &["--checkpoint", "x"],
        &["--resume", "x"],
        &["--show-progress=json"],
    ] {
        let message = scrimp(&[&["watch", &model], flags].concat()).refused();
        assert!(message.contains("does not go with `scrimp watch`") || flags == ["--json"], "{flags:?}: {message}");
    }
    assert!(scrimp(&["watch", "no/such.pml"]).refused().contains("no/such.pml: error: "));
    assert!(scrimp(&["watch", &model, "--store", "nothing"]).refused().contains("nothing"));
    assert!(scrimp(&["watch", &model, "--no-such"]).refused().contains("unknown option"));
    scrimp(&["watch"]).refused();
}
