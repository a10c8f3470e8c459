//! The limits of the whole run: its time, its memory until a search counts that, and Ctrl-C.
//!
//! Whatever may take long looks at [`stop`], and ends with what it has. Where something does not look, a guard ends the process
//! a moment later, with all that was found out until then; and where telling that takes long too, a moment after that, without
//! files that are not written yet. It waits only for a checkpoint.

use super::args::SearchArgs;
use super::failure::Failure;
use super::output::{print, print_last, remark};
use super::report;
use scrimp::report::number::count_of;
use scrimp::report::{Overall, json};
use scrimp::{Cause, Control, Stop};
use scrimp_core::budget::{default_memory, resident};
use scrimp_search::discard_parts;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What may go by until who is told to stop does so, and then until all is told; and which parts more of a long time.
const GRACE: Duration = Duration::from_millis(500);
const GRACE_SHARE: u32 = 30;
const TELLING: Duration = Duration::from_millis(250);
const TELLING_SHARE: u32 = 100;
/// How often the guard looks.
const GLANCE: Duration = Duration::from_millis(10);
/// Signals that come together are one wish: a shell may send one to the process and to its group.
pub const TOGETHER: Duration = Duration::from_millis(500);

/// Says all that is known, with why there is no more, and answers the exit code.
type Teller = Box<dyn FnOnce(Cause) -> u8 + Send>;

static BEGUN: OnceLock<Instant> = OnceLock::new();
static STOP: OnceLock<Stop> = OnceLock::new();
/// When the user asked to stop.
static ASKED: OnceLock<Instant> = OnceLock::new();
static TELLER: Mutex<Option<Teller>> = Mutex::new(None);
/// What the search at hand shows.
static SEARCH: Mutex<Option<Arc<Control>>> = Mutex::new(None);
/// Does a search count the memory?
static COUNTED: AtomicBool = AtomicBool::new(false);
/// Was the whole answer given?
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// When the work on the model began: what a limit of time counts from.
pub fn begun() -> Instant {
    *BEGUN.get_or_init(Instant::now)
}

/// The memory that the whole process may use.
pub fn memory(args: &SearchArgs) -> usize {
    args.memory.unwrap_or_else(default_memory)
}

/// Begins the work on a model, under the limits that were given. Fails where the program itself is beyond them.
pub fn begin(args: &SearchArgs) -> Result<(), Failure> {
    begin_within(args.memory, args.time, Voice { json: args.json, quiet: args.quiet })
}

/// The same for a command that is no search.
pub fn begin_within(memory: Option<usize>, time: Option<Duration>, voice: Voice) -> Result<(), Failure> {
    let memory = memory.unwrap_or_else(default_memory);
    if let Some(used) = resident().filter(|used| *used > memory) {
        let used = used.div_ceil(1 << 20);
        return Err(Failure::because(format!(
            "the program itself uses {used} MiB of memory\nhelp: allow more than that, such as --memory 64M"
        )));
    }
    let deadline = time.and_then(|time| begun().checked_add(time));
    if STOP.set(Stop::at(deadline).with_memory(memory, resident)).is_err() {
        return Ok(());
    }
    tell_by(move |cause| voice.tell_nothing(cause));
    // Without a handler Ctrl-C just kills the process, as usual.
    let _ = ctrlc::set_handler(|| {
        if ASKED.get_or_init(Instant::now).elapsed() > TOGETHER {
            std::process::exit(Overall::Incomplete.exit_code().into());
        }
        stop().ask();
    });
    std::thread::spawn(move || guard(deadline, voice));
    Ok(())
}

/// When everything has to end.
pub fn stop() -> Stop {
    STOP.get().cloned().unwrap_or_default()
}

/// What a search and those who watch it share: it may take so much of the time from now on.
pub fn control(time: Option<Duration>) -> Arc<Control> {
    let stop = time.map_or_else(stop, |time| stop().within(time)).beneath();
    let control = Arc::new(Control::under(stop));
    *lock(&SEARCH) = Some(control.clone());
    COUNTED.store(true, Ordering::Release);
    control
}

/// From now on this tells what is known.
pub fn tell_by(teller: impl FnOnce(Cause) -> u8 + Send + 'static) {
    *lock(&TELLER) = Some(Box::new(teller));
}

/// The work is done, and what there is to say is said by the caller's name this. The guard only sees to it that this has an end.
pub fn done() {
    // Where the guard was faster, it ends the process.
    while lock(&TELLER).take().is_none() && STOP.get().is_some() {
        std::thread::park();
    }
}

/// The whole answer was given: no limit ends the process any more, which has little left to do.
pub fn answered() {
    ANSWERED.store(true, Ordering::Release);
}

/// Ends the process with all that is known.
pub fn end(cause: Cause) -> ! {
    let teller = lock(&TELLER).take();
    if let Some(tell) = teller {
        std::process::exit(tell(cause).into());
    }
    // The guard is at it.
    loop {
        std::thread::park();
    }
}

/// Why a search could not begin or go on. Where that was for want of memory, the process ends with all that is known.
pub fn failed(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::OutOfMemory {
        remark(&format!("the search was stopped: {error}"));
        end(Cause::Memory);
    }
    Failure::because(error)
}

fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process where a limit is over and nobody has looked.
fn guard(deadline: Option<Instant>, voice: Voice) {
    let part = |since: Instant, share: u32| since.saturating_duration_since(begun()) / share;
    let mut full = None;
    loop {
        std::thread::sleep(GLANCE);
        if ANSWERED.load(Ordering::Acquire) {
            return;
        }
        if full.is_none() && !COUNTED.load(Ordering::Acquire) && stop().due_or_full() == Some(Cause::Memory) {
            full = Some(Instant::now());
        }
        let late = |since: Option<Instant>| {
            let since = since?;
            let late = since.elapsed().checked_sub(GRACE + part(since, GRACE_SHARE))?;
            Some((late, TELLING + part(since, TELLING_SHARE)))
        };
        let (cause, (late, telling)) = match (late(ASKED.get().copied()), late(deadline), full) {
            (Some(late), _, _) => (Cause::Interrupt, late),
            (_, Some(late), _) => (Cause::Time, late),
            (_, _, Some(since)) => (Cause::Memory, (since.elapsed(), TELLING)),
            _ => continue,
        };
        if lock(&SEARCH).as_ref().is_some_and(|control| control.is_saving()) {
            continue;
        }
        let teller = lock(&TELLER).take();
        if let Some(tell) = teller {
            std::thread::spawn(move || std::process::exit(tell(cause).into()));
        } else if late > telling {
            voice.give_up(cause);
        }
    }
}

/// The model that is worked on, for an answer that says hardly more.
static SUBJECT: OnceLock<String> = OnceLock::new();

/// Says which model is worked on.
pub fn about(model: &Path) {
    let _ = SUBJECT.set(model.display().to_string());
}

/// How an answer is given where hardly anything is known.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    pub json: bool,
    pub quiet: bool,
}

impl Voice {
    /// The answer where a limit was over before anything was known.
    pub fn tell_nothing(self, cause: Cause) -> u8 {
        // There is nobody left to tell of a failure to write.
        let _ = report::write_nothing(&why_nothing(cause));
        let _: Result<(), Failure> = print(&self.nothing(cause));
        Overall::Incomplete.exit_code()
    }

    fn nothing(self, cause: Cause) -> String {
        match (self.json, self.quiet) {
            (true, _) => {
                format!("{:#}\n", json::without_search(None, &why_nothing(cause), Some(json::limit_word(cause.into()))))
            }
            (false, true) => String::new(),
            (false, false) => {
                let subject = SUBJECT.get().map(|model| format!("{model}: ")).unwrap_or_default();
                format!("{subject}incomplete\n{}\n", why_nothing(cause))
            }
        }
    }

    /// Ends the process while others tell what is known, and take too long.
    fn give_up(self, cause: Cause) -> ! {
        discard_parts();
        match print_last(&self.nothing(cause)) {
            true => remark(&format!("Stopped: {cause}, before all of the answer was written.")),
            false => drop(report::write_nothing(&why_nothing(cause))),
        }
        std::process::exit(Overall::Incomplete.exit_code().into());
    }
}

fn why_nothing(cause: Cause) -> String {
    let states = lock(&SEARCH).as_ref().map_or(0, |control| control.states.load(Ordering::Relaxed));
    match states {
        0 => format!("Stopped: {cause}; nothing is known yet."),
        some => format!("Stopped: {cause}; nothing is decided yet, {} had been found.", count_of(some, "state")),
    }
}
