//! A tool that is being used: it can be ended, and the command that answers it runs in a process of its own.

use crate::window::{Shown, Window};
use scrimp_suite::child::{signal, spawn};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// What a process that is told to stop may take to say what it knows.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of an object that are read: the run that it has is kept in a file, as it is.
const MOST_READ: u64 = 64 << 20;
/// Bytes of remarks that are kept.
const MOST_REMARKS: usize = 64 << 10;

/// A call, as the one who may end it sees it.
#[derive(Debug, Default)]
pub struct Call {
    ended: AtomicBool,
    process: Mutex<Option<u32>>,
}

/// What is read of the output.
#[derive(Debug, Clone, Copy)]
pub enum Take {
    Whole,
    Part(Window),
}

/// What a command has said.
#[derive(Debug, Default)]
pub struct Said {
    pub code: Option<i32>,
    /// All of it, or the part that was wanted.
    pub output: Shown,
    /// There was more than is read.
    pub too_long: bool,
    /// Remarks and errors.
    pub remarks: String,
}

/// Who hears how far a command is.
pub trait Listener: Sync {
    /// A sample of a search.
    fn sample(&self, sample: &Value);
    /// The command still works.
    fn sign_of_life(&self);
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

    /// Runs the command to its end, at most so long, and tells how far it is.
    pub fn run(
        &self,
        program: &Path,
        words: &[String],
        most: Duration,
        take: Take,
        listener: &dyn Listener,
    ) -> io::Result<Said> {
        let mut child = spawn(program, words)?;
        *self.process() = Some(child.id());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut said = Said::default();
        let read = std::thread::scope(|scope| {
            // Where there are no threads, there is no answer.
            let started = Builder::new()
                .spawn_scoped(scope, || read(stdout, take))
                .and_then(|output| Builder::new().spawn_scoped(scope, || self.watch(most, listener)).map(|_| output));
            let output = started.inspect_err(|_| signal(child.id(), false));
            for line in stderr.into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n').map_while(Result::ok)) {
                match serde_json::from_slice::<Value>(&line) {
                    Ok(sample) if sample.is_object() => listener.sample(&sample),
                    _ if said.remarks.len() > MOST_REMARKS => {}
                    _ => {
                        said.remarks.push_str(&String::from_utf8_lossy(&line));
                        said.remarks.push('\n');
                    }
                }
            }
            let read = output.and_then(|output| output.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
            // Nobody signals a number that may soon be another's.
            *self.process() = None;
            read
        });
        let status = child.wait()?;
        (said.output, said.too_long) = read?;
        said.code = status.code();
        Ok(said)
    }

    /// Ends a process that is told to stop and does not, or that does not keep its time.
    fn watch(&self, most: Duration, listener: &dyn Listener) {
        let begun = Instant::now();
        let mut told: Option<Instant> = None;
        loop {
            std::thread::sleep(Duration::from_millis(20));
            listener.sign_of_life();
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

/// Reads what a command prints, to its end: one that nobody listens to would not end by itself.
fn read(output: Option<ChildStdout>, take: Take) -> io::Result<(Shown, bool)> {
    let Some(mut output) = output else { return Ok(Default::default()) };
    match take {
        Take::Part(window) => Ok((window.read(output)?, false)),
        Take::Whole => {
            let mut shown = Shown::default();
            output.by_ref().take(MOST_READ).read_to_end(&mut shown.text)?;
            let more = io::copy(&mut output, &mut io::sink())?;
            Ok((shown, more > 0))
        }
    }
}
