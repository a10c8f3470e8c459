//! A check by this program once more, told to say how far it is.

use super::{Check, Checker, Running, Trial, Work, lock};
use scrimp_explorer::{CheckOptions, Refusal};
use scrimp_suite::child;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// What a check that is told to stop may take to say what it knows.
const GRACE: Duration = Duration::from_secs(8);

/// Checks a model file.
pub struct Program {
    pub model: PathBuf,
    pub define: Vec<(String, String)>,
}

impl Checker for Program {
    fn prepare(&self, properties: &[String], options: &CheckOptions, trial: Option<Trial>) -> Result<Work, Refusal> {
        let model = trial.as_ref().map_or(&self.model, |trial| &trial.model);
        let words = self.words(model, properties, options)?;
        let program = std::env::current_exe().map_err(|e| Refusal::conflict(e.to_string()))?;
        let shown: Vec<String> =
            words.iter().filter(|word| !HIDDEN.contains(&word.as_str())).map(|word| quoted(word)).collect();
        // Nobody else can check a text that is not saved.
        let command = trial.is_none().then(|| format!("scrimp {}", shown.join(" ")));
        let run = move |check: &Mutex<Check>| {
            run(&program, &words, check).map_err(|e| e.to_string())?;
            if let Some(trial) = trial {
                let mut check = lock(check);
                check.remarks = trial.renamed(&check.remarks);
            }
            Ok(())
        };
        Ok(Work { command, running: None, run: Box::new(run) })
    }
}

impl Program {
    fn words(&self, model: &Path, properties: &[String], options: &CheckOptions) -> Result<Vec<String>, Refusal> {
        let model = model.display().to_string();
        let mut words: Vec<String> = ["check", "--json", "--show-progress=json"].map(String::from).into();
        words.extend(self.define.iter().map(|(name, value)| format!("--define={name}={value}")));
        for property in properties.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            if property.starts_with("hoa:") {
                return Err(Refusal::wrong("automata in files can only be checked on the command line"));
            }
            words.push(format!("--property={property}"));
        }
        if options.store.as_ref().is_some_and(|store| store.contains(':') && store.trim().starts_with("disk")) {
            return Err(Refusal::wrong("a directory for sorted files is named on the command line"));
        }
        let CheckOptions { memory, time, threads, order, store, reduce, engine, forget, fair, keep_going } = options;
        let named = [
            ("memory", memory.clone()),
            ("time", time.clone()),
            ("threads", threads.map(|threads| threads.to_string())),
            ("order", order.clone()),
            ("store", store.clone()),
            ("reduce", reduce.clone()),
            ("engine", engine.clone()),
            ("forget", forget.clone()),
            ("fair", fair.clone()),
        ];
        for (name, value) in named {
            let value = value.map(|value| value.trim().to_string()).filter(|value| !value.is_empty());
            words.extend(value.map(|value| format!("--{name}={value}")));
        }
        words.extend(keep_going.then(|| "--keep-going".to_string()));
        // The name of a file may begin with a dash.
        words.extend(["--".to_string(), model]);
        Ok(words)
    }
}

/// What a user need not type to get the same answer.
const HIDDEN: [&str; 3] = ["--json", "--show-progress=json", "--"];

/// Runs the program to its end, and takes note of what it says meanwhile.
fn run(program: &Path, words: &[String], check: &Mutex<Check>) -> std::io::Result<()> {
    let mut process = child::spawn(program, words)?;
    lock(check).running = Some(Running::Process(process.id()));
    let output = process.stdout.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = pipe.read_to_end(&mut text);
            text
        })
    });
    std::thread::scope(|scope| {
        scope.spawn(|| watch(check));
        if let Some(pipe) = process.stderr.take() {
            for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                note(check, &String::from_utf8_lossy(&line));
            }
        }
        // Its pipes are closed: it ends by itself. Nobody signals a number that may soon be another's.
        lock(check).running = None;
        process.wait()
    })?;
    let output = output.and_then(|thread| thread.join().ok()).unwrap_or_default();
    lock(check).answer = serde_json::from_slice(&output).ok();
    Ok(())
}

/// The answer of a check of a model file, that is waited for.
pub fn answer(program: &Program, properties: &[String]) -> Result<Value, String> {
    let options = CheckOptions::default();
    let words = program.words(&program.model, properties, &options).map_err(|refusal| refusal.message)?;
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = std::process::Command::new(own).args(words).output().map_err(|e| e.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_string())
}

/// A sample, or else a remark.
fn note(check: &Mutex<Check>, line: &str) {
    match serde_json::from_str::<Value>(line) {
        Ok(sample) if sample.is_object() => lock(check).sample(sample),
        _ => lock(check).remark(line),
    }
}

/// Ends a process that was told to stop and does not.
fn watch(check: &Mutex<Check>) {
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let check = lock(check);
        match (&check.running, check.stopped) {
            (Some(Running::Process(process)), Some(stopped)) if stopped.elapsed() > GRACE => {
                child::signal(*process, false);
                return;
            }
            (None, _) => return,
            _ => {}
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
