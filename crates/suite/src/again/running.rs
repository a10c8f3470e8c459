//! A check as a process of its own, while it runs: how far it is, what it says, what came of it.

use super::Answer;
use crate::child::{collect, signal, spawn_telling};
use crate::opened::told;
use serde_json::Value as Json;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a check that is told to end may take to do so.
const GRACE: Duration = Duration::from_secs(2);
/// How often a process that is to end is looked at.
const GLANCE: Duration = Duration::from_millis(5);

pub struct Running {
    child: Child,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<()>,
    said: Arc<Mutex<Said>>,
}

/// What was said beside the answer.
#[derive(Default)]
struct Said {
    progress: Option<Json>,
    /// Files that it has opened.
    opened: Vec<PathBuf>,
    remarks: Vec<String>,
}

impl Running {
    pub fn begin(program: &Path, words: &[OsString]) -> io::Result<Running> {
        let mut child = spawn_telling(program, words)?;
        let said = Arc::new(Mutex::new(Said::default()));
        let stdout = collect(child.stdout.take());
        let (pipe, listener) = (child.stderr.take(), said.clone());
        let stderr = std::thread::spawn(move || listen(pipe, &listener));
        Ok(Running { child, stdout, stderr, said })
    }

    /// How far it is, where it has said so since this was last asked.
    pub fn progress(&self) -> Option<Json> {
        lock(&self.said).progress.take()
    }

    /// The files that it has opened since this was last asked.
    pub fn opened(&self) -> Vec<PathBuf> {
        std::mem::take(&mut lock(&self.said).opened)
    }

    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// What came of a check that has ended so, or without an answer, why; and the files that it has opened since this was last
    /// asked.
    pub fn answer(self, status: ExitStatus) -> (Result<Answer, String>, Vec<PathBuf>) {
        let output = self.stdout.join().unwrap_or_default();
        let _ = self.stderr.join();
        let Said { remarks, opened, .. } = std::mem::take(&mut *lock(&self.said));
        (answer(&output, remarks, status), opened)
    }

    /// Ends it: politely first.
    pub fn end(mut self) {
        let asked = Instant::now();
        signal(self.child.id(), true);
        while asked.elapsed() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(GLANCE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a check that has said this.
fn answer(output: &[u8], remarks: Vec<String>, status: ExitStatus) -> Result<Answer, String> {
    let told = serde_json::from_slice::<Json>(output).ok();
    match (status.code(), told) {
        (Some(0 | 1 | 3 | 4), Some(told)) => Ok(Answer::of(&told, remarks)),
        (Some(2), Some(told)) if told["message"].is_string() => {
            Err(told["message"].as_str().unwrap_or_default().to_string())
        }
        (Some(2), _) if !remarks.is_empty() => Err(remarks.join("\n")),
        _ => Err([vec![format!("error: the check ended without an answer ({status})")], remarks].concat().join("\n")),
    }
}

/// Takes note of what a process says: objects tell how far it is or which files it opens, everything else is a remark.
fn listen(pipe: Option<ChildStderr>, said: &Mutex<Said>) {
    let Some(pipe) = pipe else { return };
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if let Some(opened) = told(&line) {
            lock(said).opened.push(opened.path);
            continue;
        }
        match serde_json::from_str::<Json>(&line) {
            Ok(progress) if progress.is_object() => lock(said).progress = Some(progress),
            _ => lock(said).remarks.push(line.into_owned()),
        }
    }
}

fn lock(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}
