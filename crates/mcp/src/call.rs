//! A tool that is being used: it can be ended, and the command that answers it runs in a process of its own.

use scrimp_suite::child::{signal, spawn};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a process that is told to stop may take to say what it knows.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read.
const MOST_READ: u64 = 64 << 20;

/// A call, as the one who may end it sees it.
#[derive(Debug, Default)]
pub struct Call {
    ended: AtomicBool,
    process: Mutex<Option<u32>>,
}

/// What a command has said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub output: Vec<u8>,
    /// Remarks and errors.
    pub remarks: String,
}

impl Call {
    /// Nobody waits for the answer any more.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(process) = *self.process() {
            signal(process, true);
        }
    }

    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn process(&self) -> MutexGuard<'_, Option<u32>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the command to its end, at most so long, and tells how far it is where it says so.
    pub fn run(
        &self,
        program: &Path,
        words: &[String],
        most: Duration,
        mut progress: impl FnMut(&Value),
    ) -> std::io::Result<Said> {
        let mut child = spawn(program, words)?;
        *self.process() = Some(child.id());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut said = Said { code: None, output: Vec::new(), remarks: String::new() };
        std::thread::scope(|scope| {
            let output = scope.spawn(|| {
                let mut output = Vec::new();
                stdout.map(|pipe| pipe.take(MOST_READ).read_to_end(&mut output));
                output
            });
            scope.spawn(|| self.watch(most));
            for line in stderr.into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n').map_while(Result::ok)) {
                match serde_json::from_slice::<Value>(&line) {
                    Ok(sample) if sample.is_object() => progress(&sample),
                    _ => {
                        said.remarks.push_str(&String::from_utf8_lossy(&line));
                        said.remarks.push('\n');
                    }
                }
            }
            said.output = output.join().unwrap_or_default();
            // Nobody signals a number that may soon be another's.
            *self.process() = None;
        });
        said.code = child.wait()?.code();
        Ok(said)
    }

    /// Ends a process that is told to stop and does not, or that does not keep its time.
    fn watch(&self, most: Duration) {
        let begun = Instant::now();
        let mut told: Option<Instant> = None;
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let process = self.process();
            let Some(number) = *process else { return };
            match told {
                None if self.is_ended() || begun.elapsed() > most + GRACE => {
                    signal(number, true);
                    told = Some(Instant::now());
                }
                Some(since) if since.elapsed() > GRACE => {
                    signal(number, false);
                    return;
                }
                _ => {}
            }
        }
    }
}
