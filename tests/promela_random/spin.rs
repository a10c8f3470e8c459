//! What SPIN says of a program: its states, its transitions and its errors.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The numbers of a whole search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    /// As SPIN counts them: the initial state is one too.
    pub transitions: u64,
    pub atomic_steps: u64,
    pub errors: u64,
    pub invalid_end_state: bool,
    pub assertion_violated: bool,
    /// What the verifier said of errors, a line for each.
    pub messages: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Found(Found),
    /// SPIN takes the program, but the search did not go through: too deep, too long, or a run-time error.
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
    /// `tcc` compiles twenty times as fast as `gcc`, which for small programs is nearly all of the time. SPIN itself
    /// calls `gcc` as its preprocessor. Where `SCRIMP_TEST_GCC` is set, `gcc` compiles, to see that it makes no difference.
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

    /// Searches a program in a folder of its own, which is made and removed.
    pub fn text(&self, text: &str, folder: &Path) -> Answer {
        let answer = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(folder.join("model.pml"), text))
            .map_or_else(|error| Answer::Refused(error.to_string()), |()| self.search(folder, "model.pml"));
        let _ = std::fs::remove_dir_all(folder);
        answer
    }

    /// Searches a model of a file, whose neighbours it may include.
    pub fn file(&self, model: &Path, folder: &Path) -> Answer {
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
            Err(error) => Answer::Refused(error.to_string()),
        };
        let _ = std::fs::remove_dir_all(folder);
        answer
    }

    fn search(&self, folder: &Path, name: &str) -> Answer {
        if let Err(problem) = self.make(folder, name, &["-DSAFETY", "-DNOCLAIM", "-DMEMLIM=12"]) {
            return Answer::Refused(problem);
        }
        match run(Command::new("./pan").args(["-c0", "-n", "-m50000", "-w16"]).current_dir(folder), 60) {
            Ok(said) => read(&said.text),
            Err(problem) => Answer::Incomparable(format!("pan: {problem}")),
        }
    }

    /// Makes a verifier, `pan`, of a program in a folder; or says what SPIN or the compiler has against it.
    fn make(&self, folder: &Path, name: &str, options: &[&str]) -> Result<(), String> {
        // Without what SPIN does to make the search smaller: dead variables, data flow, merged statements.
        let spin = run(Command::new("spin").args(["-o1", "-o2", "-o3", "-a", name]).current_dir(folder), 20);
        match spin {
            Err(problem) => return Err(format!("spin: {problem}")),
            Ok(said) if !said.success || said.text.contains("Error") || !folder.join("pan.c").exists() => {
                return Err(said.text);
            }
            Ok(_) => {}
        }
        let mut compile = Command::new(self.compiler);
        compile.args(["-w", "-DNOREDUCE", "-DVECTORSZ=8192"]).args(options);
        compile.args(["-o", "pan", "pan.c"]).current_dir(folder);
        match run(&mut compile, 100) {
            Ok(said) if said.success => Ok(()),
            Ok(said) => Err(said.text),
            Err(problem) => Err(format!("{}: {problem}", self.compiler)),
        }
    }

    /// Makes a verifier of a program for its infinite runs, with what else the compiler is told.
    pub fn verifier(&self, text: &str, folder: PathBuf, options: &[&str]) -> Result<Verifier, String> {
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("model.pml"), text))
            .map_err(|error| error.to_string())?;
        let verifier = Verifier { folder };
        // Room for weak fairness among many processes.
        let options: Vec<&str> = ["-DNFAIR=4", "-DMEMLIM=256"].iter().chain(options).copied().collect();
        self.make(&verifier.folder, "model.pml", &options).map(|()| verifier)
    }
}

/// A verifier of infinite runs, in a folder of its own that goes with it.
pub struct Verifier {
    folder: PathBuf,
}

impl Drop for Verifier {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Verifier {
    /// Does it find a run that should not be? Invalid end states are another question; SPIN takes formulas such as `[] p` for
    /// assertions, so that the program must not have any.
    pub fn violated(&self, arguments: &[&str]) -> Result<bool, String> {
        let mut pan = Command::new("./pan");
        pan.args(["-E", "-n", "-m200000", "-w18"]).args(arguments).current_dir(&self.folder);
        let said = run(&mut pan, 30)?;
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
            (Some(line), Some(1..)) if found.iter().any(|words| line.contains(words)) => Ok(true),
            (None, Some(0)) if !said.text.contains("max search depth too small") => Ok(false),
            _ => Err(said.text.lines().take(8).collect::<Vec<_>>().join("\n")),
        }
    }
}

/// What a verifier printed.
fn read(text: &str) -> Answer {
    let number = |before: &str| {
        let line = text.lines().find(|line| line.contains(before))?;
        let words = line[..line.find(before)?].split_whitespace();
        words.last()?.parse::<f64>().ok().map(|number| number as u64)
    };
    let errors = text.lines().find_map(|line| line.split_once("errors: ")?.1.trim().parse().ok());
    let messages: Vec<String> = text.lines().filter(|line| line.starts_with("pan:")).map(String::from).collect();
    let messages: Vec<String> = messages.into_iter().filter(|line| !line.starts_with("pan: ")).collect();
    let unusual = |line: &&String| !line.contains("invalid end state") && !line.contains("assertion violated");
    if text.contains("max search depth too small") || text.contains("Search not completed") {
        return Answer::Incomparable(text.lines().take(6).collect::<Vec<_>>().join("\n"));
    }
    if let Some(line) = messages.iter().find(unusual) {
        return Answer::Incomparable(line.clone());
    }
    let (Some(states), Some(transitions), Some(errors)) =
        (number(" states, stored"), number(" transitions (="), errors)
    else {
        return Answer::Incomparable(text.to_string());
    };
    Answer::Found(Found {
        states,
        transitions,
        atomic_steps: number(" atomic steps").unwrap_or(0),
        errors,
        invalid_end_state: messages.iter().any(|line| line.contains("invalid end state")),
        assertion_violated: messages.iter().any(|line| line.contains("assertion violated")),
        messages,
    })
}

struct Said {
    success: bool,
    text: String,
}

/// Runs a command with nothing to read; ends it after some seconds.
fn run(command: &mut Command, seconds: u64) -> Result<Said, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let end = Instant::now() + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        // Read on while it runs, or a full pipe would stop it.
        let out = scope.spawn(|| everything(out));
        let err = scope.spawn(|| everything(err));
        let success = finish(&mut child, end)?;
        let text = |reader: std::thread::ScopedJoinHandle<String>| reader.join().map_err(|_| "unreadable".to_string());
        Ok(Said { success, text: text(out)? + &text(err)? })
    })
}

fn everything(stream: Option<impl std::io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn finish(child: &mut Child, end: Instant) -> Result<bool, String> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.success());
        }
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it took too long".into());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
