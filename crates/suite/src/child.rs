//! One run as a process of its own, watched from outside: its time, its memory, how it ended and what it said.

use crate::case::Limits;
use crate::opened::{ASKED, Opened, told};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// Why it was killed from here.
    pub killed: Option<Killed>,
    pub wall: Duration,
    /// The largest resident size that the system has seen.
    pub peak: Option<u64>,
    pub stdout: Vec<u8>,
    /// What it said, without which files it has opened.
    pub stderr: Vec<u8>,
    pub opened: Vec<Opened>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    Time,
    Memory,
}

/// Starts the program, its output being read from here. It ends with the thread that has started it.
pub fn spawn(program: &Path, words: &[impl AsRef<OsStr>]) -> std::io::Result<Child> {
    started(Command::new(program), words)
}

/// The same, of one that says which files it opens.
pub fn spawn_telling(program: &Path, words: &[impl AsRef<OsStr>]) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.env(ASKED, "1");
    started(command, words)
}

fn started(mut command: Command, words: &[impl AsRef<OsStr>]) -> std::io::Result<Child> {
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C reaches this program, which then ends its children; one that is killed takes them along.
    command.process_group(0);
    #[cfg(target_os = "linux")]
    // SAFETY: prctl is a system call without memory effects, allowed between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    command.spawn()
}

/// Asks a process to end, or ends it. It is a child that nobody has waited for yet, so its number is still its own.
pub fn signal(process: u32, politely: bool) {
    let signal = if politely { libc::SIGINT } else { libc::SIGKILL };
    // SAFETY: a system call without memory effects.
    unsafe { libc::kill(process as libc::pid_t, signal) };
}

/// Runs the program. It keeps its own limits; where it does not, it is killed somewhat above them. `Ok(None)` when `stop`
/// ended it.
pub fn run(
    program: &Path,
    words: &[String],
    limits: &Limits,
    tells: bool,
    stop: &AtomicBool,
) -> std::io::Result<Option<Ended>> {
    let start = Instant::now();
    let mut child = if tells { spawn_telling(program, words) } else { spawn(program, words) }?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let time_at_most = limits.time.as_ref().map(|(_, time)| *time + *time / 10 + Duration::from_secs(2));
    let memory_at_most = limits.memory.as_ref().map(|(_, bytes)| bytes + bytes / 10);
    let (mut killed, mut stopped) = (None, false);
    let (status, peak) = loop {
        if let Some(ended) = ended(&child)? {
            break ended;
        }
        let elapsed = start.elapsed();
        if stop.load(Ordering::Relaxed) {
            stopped = true;
        } else if time_at_most.is_some_and(|most| elapsed > most) {
            killed = killed.or(Some(Killed::Time));
        } else if memory_at_most.is_some_and(|most| resident(child.id()).is_some_and(|now| now > most)) {
            killed = killed.or(Some(Killed::Memory));
        }
        if stopped || killed.is_some() {
            let _ = child.kill();
        }
        // Short runs are looked at often, so that their time is right to a few percent.
        std::thread::sleep((elapsed / 50).clamp(Duration::from_millis(1), Duration::from_millis(20)));
    };
    let wall = start.elapsed();
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    let (mut said, mut opened) = (Vec::new(), Vec::new());
    for line in stderr.split_inclusive(|byte| *byte == b'\n') {
        match std::str::from_utf8(line).ok().filter(|_| tells).and_then(told) {
            Some(one) => opened.push(one),
            None => said.extend_from_slice(line),
        }
    }
    Ok((!stopped).then_some(Ended { status, killed, wall, peak, stdout, stderr: said, opened }))
}

/// Reads a pipe to its end beside the run, so that the run never waits for a reader.
pub(crate) fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut text);
        }
        text
    })
}

/// The status of a process that has ended, with the peak of its resident size; it is gone then.
fn ended(child: &Child) -> std::io::Result<Option<(ExitStatus, Option<u64>)>> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid value of that plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the right types; the process is a child that nobody else waits for.
    let answer = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, libc::WNOHANG, &mut usage) };
    match answer {
        0 => Ok(None),
        -1 => match std::io::Error::last_os_error() {
            e if e.kind() == std::io::ErrorKind::Interrupted => Ok(None),
            e => Err(e),
        },
        _ => {
            // Linux counts in KiB, and carries over what this process had when it forked; below that it says nothing.
            let peak = usage.ru_maxrss as u64 * if cfg!(target_os = "macos") { 1 } else { 1024 };
            let carried = resident(std::process::id()).unwrap_or(0);
            Ok(Some((ExitStatus::from_raw(status), (peak > carried + carried / 4).then_some(peak))))
        }
    }
}

/// The resident size of a process, where the system tells.
fn resident(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: sysconf has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * page as u64)
}
