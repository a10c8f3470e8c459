//! Checks that the page begins: each is this program once more, told to say how far it is.

use scrimp_explorer::{CheckOptions, Refusal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a check that is told to stop may take to say what it knows.
const GRACE: Duration = Duration::from_secs(8);
/// Samples that are kept of one check.
const MOST_SAMPLES: usize = 20_000;

/// One check at a time.
pub struct Checks {
    model: PathBuf,
    define: Vec<(String, String)>,
    current: Mutex<Option<Arc<Mutex<Check>>>>,
}

/// How a check stands.
struct Check {
    command: String,
    begun: Instant,
    /// How long it took, once it has ended.
    took: Option<Duration>,
    process: Option<u32>,
    stopped: Option<Instant>,
    samples: Vec<Value>,
    answer: Option<Value>,
    /// What it said beside its answer.
    remarks: String,
}

impl Checks {
    pub fn new(model: PathBuf, define: Vec<(String, String)>) -> Checks {
        Checks { model, define, current: Mutex::new(None) }
    }

    pub fn begin(&self, properties: &[String], options: &CheckOptions) -> Result<Value, Refusal> {
        let mut current = lock(&self.current);
        if current.as_ref().is_some_and(|check| lock(check).took.is_none()) {
            return Err(Refusal::conflict("a check is running"));
        }
        let words = self.words(properties, options)?;
        let program = std::env::current_exe().map_err(|e| Refusal::conflict(e.to_string()))?;
        let shown: Vec<String> =
            words.iter().filter(|word| !HIDDEN.contains(&word.as_str())).map(|word| quoted(word)).collect();
        let check = Arc::new(Mutex::new(Check {
            command: format!("scrimp {}", shown.join(" ")),
            begun: Instant::now(),
            took: None,
            process: None,
            stopped: None,
            samples: Vec::new(),
            answer: None,
            remarks: String::new(),
        }));
        *current = Some(check.clone());
        // The child lives as long as the thread that has started it.
        std::thread::spawn(move || {
            if let Err(error) = run(&program, &words, &check) {
                lock(&check).remarks.push_str(&error.to_string());
            }
            let mut check = lock(&check);
            (check.took, check.process) = (Some(check.begun.elapsed()), None);
        });
        Ok(json!({ "running": true }))
    }

    fn words(&self, properties: &[String], options: &CheckOptions) -> Result<Vec<String>, Refusal> {
        let model = self.model.display().to_string();
        let mut words: Vec<String> = ["check", "--json", "--show-progress=json"].map(String::from).into();
        words.extend(self.define.iter().map(|(name, value)| format!("--define={name}={value}")));
        for property in properties.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            if property.starts_with("hoa:") {
                return Err(Refusal::wrong("automata in files are checked on the command line"));
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

    fn current(&self) -> Result<Arc<Mutex<Check>>, Refusal> {
        lock(&self.current).clone().ok_or_else(|| Refusal::unknown("nothing was checked yet"))
    }

    /// How it stands, with the samples from this number on.
    pub fn told(&self, from: usize) -> Result<Value, Refusal> {
        let Some(current) = lock(&self.current).clone() else {
            return Ok(json!({ "running": false, "nothing": true }));
        };
        let check = lock(&current);
        let samples = check.samples.get(from.min(check.samples.len())..).unwrap_or_default();
        let mut told = json!({
            "running": check.took.is_none(),
            "seconds": check.took.unwrap_or_else(|| check.begun.elapsed()).as_secs_f64(),
            "command": check.command,
            "samples": samples,
            "next": check.samples.len(),
        });
        if check.took.is_none() {
            return Ok(told);
        }
        let remarks = check.remarks.trim();
        match &check.answer {
            None => {
                told["verdict"] = "error".into();
                told["message"] =
                    if remarks.is_empty() { "the check came to no answer".into() } else { remarks.into() };
            }
            Some(answer) => {
                for (name, value) in answer.as_object().into_iter().flatten() {
                    if !matches!(name.as_str(), "properties" | "unreached" | "level_sizes" | "seconds") {
                        told[name.as_str()] = value.clone();
                    }
                }
                let properties = answer["properties"].as_array().map_or(&[][..], Vec::as_slice);
                told["properties"] = properties.iter().enumerate().map(property).collect();
                if !remarks.is_empty() && told["message"].is_null() {
                    told["message"] = remarks.into();
                }
            }
        }
        Ok(told)
    }

    pub fn stop(&self) -> Result<Value, Refusal> {
        let current = self.current()?;
        let mut check = lock(&current);
        if let Some(process) = check.process {
            let first = check.stopped.is_none();
            check.stopped.get_or_insert_with(Instant::now);
            // Asked once, it says what it knows; asked again, it ends.
            signal(process, first);
        }
        Ok(json!({}))
    }

    /// The run that was found for a property.
    pub fn trace(&self, property: usize) -> Result<Value, Refusal> {
        let current = self.current()?;
        let check = lock(&current);
        let trace = check.answer.as_ref().map(|answer| &answer["properties"][property]["trace"]);
        match trace {
            Some(trace) if trace["steps"].is_array() => Ok(trace.clone()),
            _ => Err(Refusal::unknown("there is no run for this property")),
        }
    }
}

/// What a user need not type to get the same answer.
const HIDDEN: [&str; 3] = ["--json", "--show-progress=json", "--"];

/// A property without its run, which may be long.
fn property((number, property): (usize, &Value)) -> Value {
    let steps = property["trace"]["steps"].as_array().map(Vec::len);
    json!({
        "number": number, "name": property["name"], "verdict": property["verdict"], "answer": property["answer"],
        "how": property["how"], "vacuous": property["vacuous"], "fault": property["fault"],
        "steps": steps, "loop": property["trace"]["loop"],
    })
}

/// Runs the program to its end, and takes note of what it says meanwhile.
fn run(program: &std::path::Path, words: &[String], check: &Mutex<Check>) -> std::io::Result<()> {
    let mut child = scrimp_suite::child::spawn(program, words)?;
    lock(check).process = Some(child.id());
    let output = child.stdout.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = pipe.read_to_end(&mut text);
            text
        })
    });
    std::thread::scope(|scope| {
        scope.spawn(|| watch(check));
        if let Some(pipe) = child.stderr.take() {
            for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                note(check, &String::from_utf8_lossy(&line));
            }
        }
        // Its pipes are closed: it ends by itself. Nobody signals a number that may soon be another's.
        lock(check).process = None;
        child.wait()
    })?;
    let output = output.and_then(|thread| thread.join().ok()).unwrap_or_default();
    lock(check).answer = serde_json::from_slice(&output).ok();
    Ok(())
}

/// A sample, or else a remark.
fn note(check: &Mutex<Check>, line: &str) {
    let mut check = lock(check);
    match serde_json::from_str::<Value>(line) {
        Ok(sample) if sample.is_object() && check.samples.len() >= MOST_SAMPLES => {}
        Ok(sample) if sample.is_object() => check.samples.push(sample),
        _ if check.remarks.len() < 10_000 => {
            check.remarks.push_str(line);
            check.remarks.push('\n');
        }
        _ => {}
    }
}

/// Ends a process that was told to stop and does not.
fn watch(check: &Mutex<Check>) {
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let check = lock(check);
        match (check.process, check.stopped) {
            (None, _) => return,
            (Some(process), Some(stopped)) if stopped.elapsed() > GRACE => {
                signal(process, false);
                return;
            }
            _ => {}
        }
    }
}

/// Asks a process to end, or ends it. It is a child that nobody has waited for yet, so its number is still its own.
fn signal(process: u32, politely: bool) {
    let signal = if politely { libc::SIGINT } else { libc::SIGKILL };
    // SAFETY: a system call without memory effects.
    unsafe { libc::kill(process as libc::pid_t, signal) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
