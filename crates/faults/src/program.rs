//! Running the command, with a limit on how long it may take.

use crate::shim::{Fault, counted};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No run takes as long as this by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// The command under trial, and the library that lets its calls fail.
#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    pub shim: Option<PathBuf>,
}

/// A run that goes on.
pub struct Running {
    child: Child,
    folder: PathBuf,
    fault: Option<Fault>,
    begun: Instant,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Did the fault happen?
    pub struck: bool,
    pub time: Duration,
}

impl Program {
    /// Starts a run, with a call that is to fail if there is one; what it says goes to files in `folder`.
    pub fn start(&self, words: &[String], fault: Option<Fault>, folder: &Path) -> Result<Running, String> {
        let told = |e: std::io::Error| format!("the command cannot be run: {e}");
        let mut command = Command::new(&self.path);
        command.args(words).stdin(Stdio::null()).current_dir(folder);
        command.stdout(File::create(folder.join("stdout")).map_err(told)?);
        command.stderr(File::create(folder.join("stderr")).map_err(told)?);
        if let (Some(fault), Some(shim)) = (&fault, &self.shim) {
            fault.burden(&mut command, shim, &folder.join("count")).map_err(told)?;
        }
        let child = command.spawn().map_err(told)?;
        Ok(Running { child, folder: folder.to_path_buf(), fault, begun: Instant::now() })
    }

    /// Runs to the end.
    pub fn run(&self, words: &[String], fault: Option<Fault>, folder: &Path) -> Result<Ended, String> {
        self.start(words, fault, folder)?.end()
    }
}

impl Running {
    /// Sends a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is our child and was not waited for, so its number is its own.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Waits so long; says whether it goes on.
    pub fn goes_on(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                ended => return matches!(ended, Ok(None)),
            }
        }
    }

    /// Waits for the end.
    pub fn end(mut self) -> Result<Ended, String> {
        if self.goes_on(PATIENCE) {
            let _ = self.child.kill();
            let _ = self.child.wait();
            return Err("the command does not end".into());
        }
        let status: ExitStatus = self.child.wait().map_err(|e| e.to_string())?;
        let text = |name: &str| {
            let bytes = std::fs::read(self.folder.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let struck = self.fault.as_ref().is_some_and(|f| f.at > 0 && counted(&self.folder.join("count")) >= f.at);
        Ok(Ended {
            code: status.code(),
            signal: status.signal(),
            stdout: text("stdout"),
            stderr: text("stderr"),
            struck,
            time: self.begun.elapsed(),
        })
    }
}
