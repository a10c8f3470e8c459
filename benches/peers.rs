//! Speed and memory beside other checkers, as ratios, all sides in the same run:
//!
//!     cargo bench --bench peers [-- NAME…] [--repeat N]
//!
//! Compares with SPIN on models that exist in both languages (needs `spin` and `gcc`), with a DVE-to-C translator where one is
//! found (`SCRIMP_DVE2C`, or `../shared/tools/dve2c.py`) on BEEM instances (`../shared/bench`), two threads with one, and
//! measures the table's bytes and the time to the first state. What is missing on the machine is skipped, saying so.

#[path = "peers/models.rs"]
mod models;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a search is watched. One that is cut off is judged by its transitions: depth-first search finds most of its
/// states early and then meets them again, so states per second mean nothing before the end.
const WATCHED: Duration = Duration::from_secs(100);

struct Bench {
    folder: PathBuf,
    repeat: usize,
    names: Vec<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let repeat = arguments.iter().position(|a| a == "--repeat").and_then(|i| arguments.get(i + 1)?.parse().ok());
    let names = arguments.iter().filter(|a| !a.starts_with("--") && a.parse::<usize>().is_err()).cloned().collect();
    let folder = std::env::temp_dir().join(format!("scrimp-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let bench = Bench { folder, repeat: repeat.unwrap_or(3), names };
    bench.spin();
    bench.translated();
    bench.threads();
    bench.start();
    let _ = std::fs::remove_dir_all(&bench.folder);
}

impl Bench {
    fn wanted(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| name.contains(n.as_str()))
    }

    /// One thread beside SPIN without its reductions, the time of its compiler not counted.
    fn spin(&self) {
        println!("one thread beside SPIN (-DSAFETY -DNOREDUCE, gcc -O3); target 4x");
        for model in models::all().into_iter().filter(|m| self.wanted(m.name)) {
            let file = self.folder.join(format!("{}.dve", model.name));
            std::fs::write(&file, &model.dve).expect("a model file");
            let Some(pan) = self.build_pan(&model) else {
                println!("  {:<16} skipped: no spin or no gcc", model.name);
                continue;
            };
            let theirs = run_pan(&pan);
            let time = format!("{}s", WATCHED.as_secs() / 4);
            let ours = (0..self.repeat).map(|_| Figures::of(&scrimp(&file, &["--time", &time])));
            let ours = ours.max_by(|a, b| a.transitions_per_second().total_cmp(&b.transitions_per_second()));
            let ours = ours.expect("at least one run");
            if ours.complete && theirs.complete {
                let remark = format!("states/s, {} states in both", ours.states);
                assert_eq!(ours.states, theirs.states, "{}: the two models differ", model.name);
                ratio(model.name, ours.states as f64 / ours.seconds, theirs.states as f64 / theirs.seconds, &remark);
            } else {
                let remark = format!("transitions/s, cut off at {} and {} states", ours.states, theirs.states);
                ratio(model.name, ours.transitions_per_second(), theirs.transitions_per_second(), &remark);
            }
        }
    }

    fn build_pan(&self, model: &models::Model) -> Option<PathBuf> {
        let folder = self.folder.join(model.name);
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(folder.join("model.pml"), &model.promela).ok()?;
        run(Command::new("spin").args(["-a", "model.pml"]).current_dir(&folder))?;
        let flags = ["-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=16000", "-o", "pan", "pan.c"];
        run(Command::new("gcc").args(flags).current_dir(&folder))?;
        Some(folder.join("pan"))
    }

    /// One thread beside the C that a translator makes of the same DVE file.
    fn translated(&self) {
        println!("\nstates per second, one thread, beside translated C (gcc -O2); target 2x");
        for name in ["anderson.6", "brp.5", "leader_filters.7"].into_iter().filter(|n| self.wanted(n)) {
            let Some((file, program)) = self.build_translated(name) else {
                println!("  {name:<16} skipped: no translator, no gcc or no BEEM folder");
                continue;
            };
            let (mut ours, mut theirs, mut bytes) = (0.0f64, 0.0f64, 0.0f64);
            let mut vector = 0;
            for _ in 0..self.repeat {
                let started = Instant::now();
                let text = run(&mut Command::new(&program)).unwrap_or_default();
                let seconds = started.elapsed().as_secs_f64();
                let states = text.split_ascii_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
                theirs = theirs.max(states / seconds);
                let answer = scrimp(&file, &[]);
                ours = ours.max(rate_of(&answer));
                bytes = answer["bytes_per_state"].as_f64().unwrap_or(0.0);
                vector = answer["state_bytes"].as_u64().unwrap_or(0);
            }
            ratio(name, ours, theirs, &format!("{bytes:.1} bytes a state of {vector}"));
        }
    }

    fn build_translated(&self, name: &str) -> Option<(PathBuf, PathBuf)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
        let translator = std::env::var_os("SCRIMP_DVE2C").map_or(root.join("tools/dve2c.py"), PathBuf::from);
        let file = root.join(format!("bench/dve/beem/{name}.dve"));
        let source = run(Command::new("python3").arg(translator).arg(&file))?;
        let (text, program) = (self.folder.join(format!("{name}.c")), self.folder.join(name));
        std::fs::write(&text, source).ok()?;
        run(Command::new("gcc").args(["-O2", "-w", "-o"]).arg(&program).arg(&text))?;
        Some((file, program))
    }

    fn threads(&self) {
        println!("\ntwo threads beside one; target 1.7x");
        for model in models::all().into_iter().filter(|m| self.wanted(m.name) && m.large) {
            let file = self.folder.join(format!("{}.dve", model.name));
            std::fs::write(&file, &model.dve).expect("a model file");
            let time = format!("{}s", WATCHED.as_secs() / 4);
            let (mut one, mut two) = (0.0f64, 0.0f64);
            for _ in 0..self.repeat {
                one = one.max(rate_of(&scrimp(&file, &["--time", &time])));
                two = two.max(rate_of(&scrimp(&file, &["--time", &time, "--threads", "2"])));
            }
            ratio(model.name, two, one, "");
        }
    }

    /// From the command to the end of a search that stops at once.
    fn start(&self) {
        println!("\nfrom command to first state, best of five; target 50 ms");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bench/dve/beem");
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let mut slowest = Vec::new();
        for folder in [folder, own] {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                println!("  skipped: no {}", folder.display());
                continue;
            };
            for file in entries.flatten().map(|e| e.path()).filter(|f| f.to_string_lossy().contains(".dve")) {
                let once = |_| {
                    let started = Instant::now();
                    scrimp(&file, &["--time", "1ms"]);
                    started.elapsed()
                };
                let best = (0..5).map(once).min().unwrap_or_default();
                slowest.push((best, file.file_name().unwrap_or_default().to_string_lossy().into_owned()));
            }
        }
        slowest.sort();
        for (time, name) in slowest.iter().rev().take(5) {
            println!("  {name:<24} {:>8.1} ms", time.as_secs_f64() * 1e3);
        }
    }
}

fn ratio(name: &str, ours: f64, theirs: f64, remark: &str) {
    let (m, n) = (ours / 1e6, theirs / 1e6);
    println!("  {name:<16} {m:>7.2} M/s against {n:>6.2} M/s: {:>5.2}x  {remark}", ours / theirs);
}

fn rate_of(answer: &Value) -> f64 {
    answer["states"].as_f64().unwrap_or(0.0) / answer["seconds"].as_f64().unwrap_or(f64::INFINITY)
}

fn scrimp(file: &Path, flags: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_scrimp")).arg("count").arg(file).arg("--json").args(flags).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// Standard output of a command that succeeds.
fn run(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a run did in how much time.
struct Figures {
    states: u64,
    transitions: f64,
    seconds: f64,
    complete: bool,
}

impl Figures {
    fn of(answer: &Value) -> Figures {
        Figures {
            states: answer["states"].as_u64().unwrap_or(0),
            transitions: answer["transitions"].as_f64().unwrap_or(0.0),
            seconds: answer["seconds"].as_f64().unwrap_or(f64::INFINITY),
            complete: answer["verdict"] == "verified",
        }
    }

    fn transitions_per_second(&self) -> f64 {
        self.transitions / self.seconds
    }
}

/// Runs a SPIN verifier; when it is cut off, its last progress line says how far it came.
fn run_pan(pan: &Path) -> Figures {
    let folder = pan.parent().unwrap_or(Path::new("."));
    let flags = [&WATCHED.as_secs().to_string(), "./pan", "-m20000000", "-w26", "-c0", "-n"].map(String::from);
    let output = Command::new("timeout").args(flags).current_dir(folder).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let first = |line: &str| line.split_ascii_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    let with = |mark: &str| text.lines().find(|l| l.contains(mark));
    let after = |line: &str, mark: &str| first(&line[line.find(mark)? + mark.len()..]);
    if let (Some(stored), Some(transitions)) = (with("states, stored"), with("transitions (=")) {
        return Figures {
            states: first(stored).unwrap_or(0.0) as u64,
            transitions: first(transitions).unwrap_or(0.0),
            seconds: with("elapsed time").and_then(|l| after(l, "elapsed time")).unwrap_or(f64::INFINITY),
            complete: true,
        };
    }
    // Depth= 10 States= 1e+06 Transitions= 2e+06 Memory= 1.5 t= 0.8 R= 1e+06
    let last = text.lines().rfind(|l| l.contains("States=")).unwrap_or("");
    Figures {
        states: after(last, "States=").unwrap_or(0.0) as u64,
        transitions: after(last, "Transitions=").unwrap_or(0.0),
        seconds: after(last, "t=").unwrap_or(f64::INFINITY),
        complete: false,
    }
}
