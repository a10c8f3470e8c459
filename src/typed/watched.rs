//! Limits hold while the model's own code runs, too.
//!
//! Where time or memory is limited, the search has a thread of its own, and the caller's looks at it now and then. A function
//! of the model cannot be stopped from outside. So what does not come back in time is left behind, and the answer says what is
//! known without it. What takes more and more memory cannot be left behind: there the process ends, with all that is known on
//! its standard error.

use super::checker::CheckerError;
use super::learnt::Learnt;
use scrimp_core::Limit;
use scrimp_core::budget::resident;
use scrimp_typed::{Call, TypedModel};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fmt, io, process, thread};

/// The time between two looks, at most and at least.
const SELDOM: Duration = Duration::from_millis(20);
const OFTEN: Duration = Duration::from_millis(1);

/// Bytes that a program may write in a second: how often to look depends on it.
const FASTEST: usize = 4 << 30;

/// What a search has after its end is due, at least, to end by itself.
const GRACE: Duration = Duration::from_millis(250);

/// A call that takes as long does not look as if it came back.
const LONG: Duration = Duration::from_millis(100);

/// The stack of the search, which is that of a main thread.
const STACK: usize = 8 << 20;

/// The exit code where the model's own code takes more and more memory: that of `scrimp check` at a limit.
const FULL: i32 = 3;

/// Limits of time and memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub time: Option<Duration>,
    pub memory: Option<usize>,
}

/// A search that was left behind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    pub limit: Limit,
    /// The function of the model that has not come back, and how long it has been running as far as was seen.
    call: Option<(Call, Duration)>,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = if self.limit == Limit::Time { "time" } else { "memory" };
        match self.call {
            Some((call, time)) => write!(
                f,
                "the model's own code has not come back when the {limit} was used up: {} has been running for {:.1} s; \
                 its thread is left behind",
                call.name(),
                time.as_secs_f64()
            ),
            None => write!(f, "the search has not ended though the {limit} was used up; its thread is left behind"),
        }
    }
}

/// Does the work, and watches over it where there are limits. Where it has to be left behind, `without` says what is the answer.
pub(super) fn watched<M: TypedModel, T: Send + 'static>(
    limits: Limits,
    learnt: Arc<Learnt<M>>,
    work: impl FnOnce(&Learnt<M>) -> Result<T, CheckerError> + Send + 'static,
    without: impl FnOnce(&Learnt<M>, &Left) -> Result<T, CheckerError>,
) -> Result<T, CheckerError> {
    if limits.time.is_none() && limits.memory.is_none() {
        return work(&learnt);
    }
    let (done, end): (_, mpsc::Receiver<thread::Result<_>>) = channel();
    let shared = learnt.clone();
    let working = move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&shared)));
        // Nobody waits for what was left behind.
        let _ = done.send(result);
    };
    let mut look = Look::new(limits, &learnt);
    let thread = thread::Builder::new().name("search".into()).stack_size(STACK).spawn(working);
    let thread = thread.map_err(CheckerError::Search)?;
    loop {
        match end.recv_timeout(look.pause()) {
            Ok(result) => {
                let _ = thread.join();
                return result.unwrap_or_else(|panic| resume_unwind(panic));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(left) = look.look() {
                    return without(&learnt, &left);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(CheckerError::Search(io::Error::other("the thread of the search is gone")));
            }
        }
    }
}

/// Who looks.
struct Look<'l, M: TypedModel> {
    learnt: &'l Learnt<M>,
    memory: Option<usize>,
    deadline: Option<Instant>,
    grace: Duration,
    /// What each thread did when it was looked at last, and since when.
    seen: Vec<(u64, Instant)>,
    /// Resident memory at the last look.
    used: usize,
    full_since: Option<Instant>,
}

impl<'l, M: TypedModel> Look<'l, M> {
    fn new(Limits { time, memory }: Limits, learnt: &'l Learnt<M>) -> Look<'l, M> {
        let now = Instant::now();
        Look {
            learnt,
            memory,
            deadline: time.and_then(|time| now.checked_add(time)),
            grace: time.map_or(GRACE, |time| GRACE.max(time / 20)),
            seen: Vec::new(),
            used: resident().unwrap_or(0),
            full_since: None,
        }
    }

    /// How long nothing can go wrong.
    fn pause(&self) -> Duration {
        let left = self.memory.map_or(usize::MAX, |memory| most(memory).saturating_sub(self.used));
        let safe = Duration::from_secs_f64(left as f64 / FASTEST as f64).clamp(OFTEN, SELDOM);
        let due = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        due.filter(|due| !due.is_zero()).map_or(safe, |due| safe.min(due))
    }

    /// The search, if it has to be left behind. Does not come back where it cannot be.
    fn look(&mut self) -> Option<Left> {
        let now = Instant::now();
        let call = self.running(now);
        let long = call.is_some_and(|(_, time)| time >= LONG);
        if let Some(memory) = self.memory {
            let before = std::mem::replace(&mut self.used, resident().unwrap_or(0));
            if self.used > memory + memory / 50 {
                self.learnt.watch.end(Limit::Memory);
                self.full_since.get_or_insert(now);
            }
            if self.used > most(memory) && self.used > before && call.is_some() {
                self.exit(memory, call);
            }
            if long && self.full_since.is_some_and(|since| now - since >= GRACE) {
                return Some(Left { limit: Limit::Memory, call });
            }
        }
        let late = now.checked_duration_since(self.deadline?)?;
        self.learnt.watch.end(Limit::Time);
        let saving = self.learnt.watch.control().is_some_and(|control| control.is_saving());
        let given_up = late >= self.grace && long || late >= 4 * self.grace && !saving;
        given_up.then_some(Left { limit: self.learnt.watch.ended().unwrap_or(Limit::Time), call })
    }

    /// The call that has been running longest of those that were running at the last look.
    fn running(&mut self, now: Instant) -> Option<(Call, Duration)> {
        let mut longest: Option<(Call, Duration)> = None;
        for (thread, (slot, call)) in self.learnt.watch.calls().enumerate() {
            match self.seen.get_mut(thread) {
                None => self.seen.push((slot, now)),
                Some(seen) if seen.0 != slot => *seen = (slot, now),
                Some((_, since)) => {
                    let time = now - *since;
                    if let Some(call) = call.filter(|_| longest.is_none_or(|(_, other)| other < time)) {
                        longest = Some((call, time));
                    }
                }
            }
        }
        longest
    }

    /// Ends the process, having said what is known.
    fn exit(&self, memory: usize, call: Option<(Call, Duration)>) -> ! {
        let known = match self.learnt.leave(&Left { limit: Limit::Memory, call }) {
            Ok(answer) => answer.to_string(),
            Err(error) => error.to_string(),
        };
        let name = call.map_or("it", |(call, _)| call.name());
        let (used, memory) = (self.used >> 20, memory >> 20);
        // What tests capture would be lost with the process.
        let _ = writeln!(
            io::stderr(),
            "{}\nscrimp: the process ends here: {name} takes more and more memory, {used} MiB of {memory} MiB by now, \
             and cannot be stopped",
            known.trim_end()
        );
        process::exit(FULL)
    }
}

/// The most memory that a process may use whose budget is this: with a look's delay it stays within five per cent.
fn most(memory: usize) -> usize {
    memory + memory / 33
}
