//! Every store on 1, 2, 4, … threads, up to the cores of the machine: seconds, speedup, bytes a state.
//!
//!     cargo bench --bench scaling [-- NAME…] [--repeat N]
//!
//! Models are the generated ones and, where they are found (`../shared/bench`), BEEM instances; a name chooses those that contain
//! it. LTSmin (`dve2lts-mc`) runs beside, with its tree, where it is installed. All sides must find the same number of states.

#[path = "peers/models.rs"]
#[allow(dead_code)]
mod models;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const STORES: [&str; 4] = ["packed", "table", "tree", "collapse"];
const INSTANCES: [&str; 3] = ["brp.5", "anderson.6", "leader_filters.7"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let repeat = arguments.iter().position(|a| a == "--repeat").and_then(|i| arguments.get(i + 1)?.parse().ok());
    let names: Vec<&String> =
        arguments.iter().filter(|a| !a.starts_with("--") && a.parse::<usize>().is_err()).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.contains(n.as_str()));
    let folder = std::env::temp_dir().join(format!("scrimp-scaling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for (name, file) in files(&folder).into_iter().filter(|(name, _)| wanted(name)) {
        measure(&name, &file, repeat.unwrap_or(2));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// The models with their names.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for model in models::all() {
        let file = folder.join(format!("{}.dve", model.name));
        std::fs::write(&file, &model.dve).expect("a model file");
        files.push((model.name.to_string(), file));
    }
    for name in INSTANCES {
        let file = Path::new("../shared/bench/dve/beem").join(format!("{name}.dve"));
        if file.exists() {
            files.push((name.to_string(), file));
        } else {
            println!("{name}: skipped, not found");
        }
    }
    files
}

/// 1, 2, 4, … and all cores.
fn threads() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut threads: Vec<usize> = (0..).map(|i| 1 << i).take_while(|&threads| threads < cores).collect();
    threads.push(cores);
    threads
}

fn measure(name: &str, file: &Path, repeat: usize) {
    let mut states = None;
    for store in STORES {
        let mut alone = None;
        for threads in threads() {
            let runs = (0..repeat).map(|_| count(file, store, threads));
            let Some((found, seconds, bytes)) = runs.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|run| run.0 > 0) else {
                println!("{name:<17} {store:<9} {threads:>3} threads: no answer");
                continue;
            };
            let same = if *states.get_or_insert(found) == found { "" } else { "  NOT AS MANY AS BEFORE" };
            let speedup = *alone.get_or_insert(seconds) / seconds;
            println!(
                "{name:<17} {store:<9} {threads:>3} threads: {found:>11} states in {seconds:>6.2} s, {speedup:>5.2}x, {bytes:>5.1} bytes each{same}"
            );
        }
    }
    let mut alone = None;
    for threads in threads() {
        let Some(seconds) = ltsmin(file, threads) else { return };
        let speedup = *alone.get_or_insert(seconds) / seconds;
        println!("{name:<17} {:<9} {threads:>3} threads: {seconds:>6.2} s, {speedup:>5.2}x", "LTSmin");
    }
}

/// States, seconds and bytes a state.
fn count(file: &Path, store: &str, threads: usize) -> (u64, f64, f64) {
    let threads = threads.to_string();
    let arguments = ["--json", "--store", store, "--threads", &threads];
    let output = Command::new(env!("CARGO_BIN_EXE_scrimp")).arg("count").arg(file).args(arguments).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let number = |name: &str| answer[name].as_f64().unwrap_or(f64::INFINITY);
    let states = answer["states"].as_u64().filter(|_| answer["verdict"] == "verified").unwrap_or(0);
    (states, number("seconds"), number("bytes_per_state"))
}

/// Seconds of LTSmin, its own start among them.
fn ltsmin(file: &Path, threads: usize) -> Option<f64> {
    let started = Instant::now();
    let arguments = [format!("--threads={threads}"), "--strategy=bfs".into(), "--state=tree".into(), "-s28".into()];
    let output = Command::new("dve2lts-mc").args(arguments).arg(file).output().ok()?;
    output.status.success().then(|| started.elapsed().as_secs_f64())
}
