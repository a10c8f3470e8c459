//! What SPIN says of a program: its states, its transitions, its errors, and whether its infinite runs are as they should be.

use super::Model;
use super::ask::{FORMULAS, Question};
use crate::language::{Answer, Expected, Oracle};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The numbers of a whole search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    /// Without the one into the initial state, which SPIN counts.
    pub transitions: u64,
    pub invalid_end_state: bool,
    pub assertion_violated: bool,
}

/// What a verifier says of the states of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    Found(Found),
    /// An error at run time, in the verifier's words: what is counted is not the state space then.
    Fault(String),
    /// The search did not go through: too deep, or too long.
    Incomparable(String),
    /// SPIN or the compiler does not take the program.
    Refused(String),
}

/// The tools, as far as they are there.
#[derive(Debug, Clone)]
pub struct Spin {
    compiler: &'static str,
}

impl Spin {
    /// `tcc` compiles twenty times as fast as `gcc`, which for small programs is nearly all of the time. It gets some nested
    /// conditions wrong, so that `gcc` is asked in doubt; and always where `SCRIMP_TEST_GCC` is set.
    pub fn find() -> Result<Spin, String> {
        let there = |name: &str, argument: &str| {
            let mut command = Command::new(name);
            command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let fast = there("tcc", "-v") && std::env::var_os("SCRIMP_TEST_GCC").is_none();
        match (there("spin", "-V"), there("gcc", "--version"), fast) {
            (true, true, true) => Ok(Spin { compiler: "tcc" }),
            (true, true, false) => Ok(Spin { compiler: "gcc" }),
            (false, ..) => Err("spin is not there".into()),
            (_, false, _) => Err("gcc is not there".into()),
        }
    }

    /// The same with the compiler that takes its time.
    pub(super) fn careful(&self) -> Spin {
        Spin { compiler: "gcc" }
    }

    /// Judges a model in a folder of its own.
    pub(super) fn judge(&self, model: &Model, folder: &Path) -> Oracle {
        let text = model.text();
        if let Err(error) = std::fs::write(folder.join("model.pml"), &text) {
            return Oracle::Incomparable(error.to_string());
        }
        let mut answers = match model.question {
            Question::States => return states(self.search(folder, "model.pml"), model.counts),
            _ => Vec::new(),
        };
        let progress = model.question.is_about_progress();
        // Room for weak fairness among many processes.
        let options: &[&str] =
            if progress { &["-DNFAIR=4", "-DMEMLIM=256", "-DNP"] } else { &["-DNFAIR=4", "-DMEMLIM=256"] };
        if let Err(problem) = self.make(folder, "model.pml", options) {
            return Oracle::Refused(short(&problem));
        }
        let mut unknown = String::new();
        let mut ask = |property: &str, arguments: &[&str], fair: bool| {
            let fairly: Vec<&str> = arguments.iter().copied().chain(fair.then_some("-f")).collect();
            match violated(folder, &fairly, fair) {
                // Under fairness SPIN does not see all runs that come to an end, and sees some that are none: what it says is
                // only sure where it says the same of all runs.
                Ok(said) if fair && violated(folder, arguments, false) != Ok(said) => {
                    unknown = "fair runs that come to an end".into();
                }
                Ok(violated) => answers.push(Answer { fair, ..Answer::new(property, !violated) }),
                Err(problem) => unknown = short(&problem),
            }
        };
        match model.question {
            Question::States => {}
            Question::Formulas { fair } => {
                for name in (0..FORMULAS).map(|number| format!("f{number}")) {
                    // A smaller program need not have all of them.
                    if text.contains(&format!("ltl {name} ")) {
                        ask(&format!("ltl {name}"), &["-a", "-N", &name], fair);
                    }
                }
            }
            Question::Claim => ask("claim", &["-a"], false),
            Question::Acceptance { fair } => {
                if text.contains("accept") {
                    ask("accepting", &["-a"], fair);
                }
            }
            Question::Progress { fair } => {
                if text.contains("progress") {
                    ask("progress", &["-l"], fair);
                }
            }
        }
        match answers.is_empty() {
            true => Oracle::Incomparable(unknown),
            false => Oracle::Known(Expected { answers, ..Expected::default() }),
        }
    }

    /// Searches a model of a file, whose neighbours it may include, in a folder that is made and removed.
    pub fn file(&self, model: &Path, folder: &Path) -> Search {
        let prepare = || -> std::io::Result<String> {
            std::fs::create_dir_all(folder)?;
            let model = model.canonicalize()?;
            let here = model.parent().map(PathBuf::from).unwrap_or_default();
            for entry in std::fs::read_dir(here)? {
                let path = entry?.path();
                if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                    std::os::unix::fs::symlink(&path, folder.join(name))?;
                }
            }
            Ok(model.file_name().unwrap_or_default().to_string_lossy().into_owned())
        };
        let answer = match prepare() {
            Ok(name) => self.search(folder, &name),
            Err(error) => Search::Refused(error.to_string()),
        };
        let _ = std::fs::remove_dir_all(folder);
        answer
    }

    fn search(&self, folder: &Path, name: &str) -> Search {
        if let Err(problem) = self.make(folder, name, &["-DSAFETY", "-DNOCLAIM", "-DMEMLIM=12"]) {
            return Search::Refused(short(&problem));
        }
        let mut pan = Command::new("./pan");
        match run(pan.args(["-c0", "-n", "-m50000", "-w14"]).current_dir(folder), Duration::from_secs(3)) {
            Ok(said) => read(&said),
            Err(problem) => Search::Incomparable(format!("pan: {problem}")),
        }
    }

    /// Makes a verifier, `pan`, of a program in a folder; or says what SPIN or the compiler has against it.
    fn make(&self, folder: &Path, name: &str, options: &[&str]) -> Result<(), String> {
        // SPIN would call `gcc` to preprocess, which takes longer than everything else.
        let preprocess = if self.compiler == "tcc" { "-Ptcc -E -xc" } else { "-Pgcc -E -x c" };
        // Without what SPIN does to make the search smaller: dead variables, data flow, merged statements.
        let mut spin = Command::new("spin");
        spin.args([preprocess, "-o1", "-o2", "-o3", "-a", name]).current_dir(folder);
        let said = run(&mut spin, Duration::from_secs(3)).map_err(|problem| format!("spin: {problem}"))?;
        if !said.success || said.text.contains("rror") || !folder.join("pan.c").exists() {
            return Err(said.text);
        }
        super::mended::mend(folder).map_err(|error| error.to_string())?;
        let mut compile = Command::new(self.compiler);
        compile.args(["-w", "-DNOREDUCE", "-DVECTORSZ=8192"]).args(options);
        compile.args(["-o", "pan", "pan.c"]).current_dir(folder);
        match run(&mut compile, Duration::from_secs(100)) {
            Ok(said) if said.success => Ok(()),
            Ok(said) => Err(said.text),
            Err(problem) => Err(format!("{}: {problem}", self.compiler)),
        }
    }
}

/// What a search of the states comes to.
fn states(search: Search, counts: bool) -> Oracle {
    let found = match search {
        Search::Found(found) => found,
        Search::Incomparable(why) => return Oracle::Incomparable(why),
        Search::Refused(why) => return Oracle::Refused(why),
        // After an error at run time SPIN goes its own way: what else there is cannot be compared.
        Search::Fault(_) => {
            return Oracle::Known(Expected { answers: vec![Answer::new("faults", false)], ..Expected::default() });
        }
    };
    let answers = vec![
        Answer::new("deadlock", !found.invalid_end_state),
        Answer::new("assertions", !found.assertion_violated),
        Answer::new("faults", true),
    ];
    Oracle::Known(Expected {
        states: counts.then_some(found.states),
        transitions: counts.then_some(found.transitions),
        answers,
        ..Expected::default()
    })
}

/// Does a verifier find a run that should not be? Invalid end states are another question.
fn violated(folder: &Path, arguments: &[&str], fair: bool) -> Result<bool, String> {
    let mut pan = Command::new("./pan");
    pan.args(["-E", "-n", "-m200000", "-w16"]).args(arguments).current_dir(folder);
    let said = run(&mut pan, Duration::from_secs(3))?;
    let first = said.text.lines().find(|line| line.starts_with("pan:") && !line.starts_with("pan: "));
    let errors = said.text.lines().find_map(|line| line.split_once("errors: ")?.1.trim().parse::<u64>().ok());
    let found = [
        "acceptance cycle",
        "accept stutter",
        "non-progress cycle",
        "end state in claim reached",
        "assertion violated",
    ];
    match (first, errors) {
        // Under fairness it takes a process that has to move for one that waits for ever.
        (Some(line), _) if fair && line.contains("accept stutter") => Err("accept stutter under fairness".into()),
        (Some(line), Some(1..)) if found.iter().any(|words| line.contains(words)) => Ok(true),
        (None, Some(0)) if !said.text.contains("max search depth too small") => Ok(false),
        _ => Err(said.text.lines().take(3).collect::<Vec<_>>().join(" ")),
    }
}

/// Errors that the verifier finds in a statement, and that are ours too.
const FAULTS: &[&str] = &[
    "invalid array index",
    "ref to uninitialized chan",
    "block in d_step seq",
    "rv-attempt in d_step",
    "error to poll rendezvous channel",
    "too many processes",
];

/// What a verifier printed.
fn read(said: &Said) -> Search {
    let text = &said.text;
    let number = |before: &str| {
        let line = text.lines().find(|line| line.contains(before))?;
        let words = line[..line.find(before)?].split_whitespace();
        words.last()?.parse::<f64>().ok().map(|number| number as u64)
    };
    let messages: Vec<&str> =
        text.lines().filter(|line| line.starts_with("pan:") && !line.starts_with("pan: ")).collect();
    if let Some(fault) = messages.iter().find(|line| FAULTS.iter().any(|words| line.contains(words))) {
        return Search::Fault(fault.to_string());
    }
    let usual = ["invalid end state", "assertion violated", "event_trace error"];
    if text.contains("max search depth too small") || text.contains("Search not completed") {
        return Search::Incomparable("the search is too large".into());
    }
    if let Some(line) = messages.iter().find(|line| !usual.iter().any(|words| line.contains(words))) {
        return Search::Incomparable(short(line));
    }
    let (Some(states), Some(transitions)) = (number(" states, stored"), number(" transitions (=")) else {
        // It breaks down at a division by zero.
        return match said.signal {
            Some(8) => Search::Fault("division by zero".into()),
            _ => Search::Incomparable(short(text)),
        };
    };
    Search::Found(Found {
        states,
        transitions: transitions.saturating_sub(1),
        invalid_end_state: messages.iter().any(|line| line.contains("invalid end state")),
        assertion_violated: messages.iter().any(|line| !line.contains("invalid end state")),
    })
}

/// The first line that says something, without what differs from program to program.
fn short(text: &str) -> String {
    let words = ["rror", "refused", "illegal", "dubious"];
    let line = text.lines().find(|line| words.iter().any(|word| line.contains(word))).or(text.lines().next());
    let line = line.unwrap_or_default();
    let line = line.split_once("rror: ").map_or(line, |(_, rest)| rest);
    line.chars().filter(|c| !c.is_ascii_digit()).take(90).collect()
}

struct Said {
    success: bool,
    signal: Option<i32>,
    text: String,
}

/// Runs a command with nothing to read; the system ends it after so much time of its own.
fn run(command: &mut Command, time: Duration) -> Result<Said, String> {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let seconds = time.as_secs();
    command.stdin(Stdio::null());
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
        // SAFETY: a call into the system with a structure of its own, as one may make between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: what runs in the child allocates nothing and takes no lock.
    unsafe { command.pre_exec(limit) };
    let output = command.output().map_err(|error| error.to_string())?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let signal = output.status.signal();
    match signal {
        Some(libc::SIGXCPU | libc::SIGKILL) => Err("it took too long".into()),
        _ => Ok(Said { success: output.status.success(), signal, text }),
    }
}
