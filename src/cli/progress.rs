//! The progress line on standard error, and Ctrl-C.

use scrimp::Control;
use scrimp::report::number::{bytes, grouped, rate};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shows how far a run has come until dropped.
pub struct Progress {
    watcher: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Progress {
    /// Watches `control`, silently where nobody would see the line.
    pub fn watch(control: &Arc<Control>, quiet: bool, asked_for: bool) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        if quiet || !(terminal || asked_for) {
            return Progress { watcher: None };
        }
        let done = Arc::new(AtomicBool::new(false));
        let (control, finished) = (control.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            let mut last = 0;
            while !finished.load(Ordering::Acquire) {
                std::thread::park_timeout(Duration::from_millis(500));
                if !finished.load(Ordering::Acquire) && !control.is_finished() {
                    last = show(&control, last, terminal);
                }
            }
            if terminal {
                let _ = write!(std::io::stderr(), "\r\x1b[2K");
            }
        });
        Progress { watcher: Some((done, thread)) }
    }
}

/// Prints the line; answers the number of states, for the rate of the next half second.
fn show(control: &Control, last: u64, terminal: bool) -> u64 {
    let states = control.states.load(Ordering::Relaxed);
    let line = format!(
        "{} states  {}  open {}  depth {}  {}  {:.0} s",
        grouped(states),
        rate(states.saturating_sub(last), Duration::from_millis(500)),
        grouped(control.open.load(Ordering::Relaxed)),
        grouped(control.depth.load(Ordering::Relaxed)),
        bytes(scrimp::resident().unwrap_or(0)),
        control.elapsed().as_secs_f64(),
    );
    let mut stderr = std::io::stderr().lock();
    let _ = if terminal { write!(stderr, "\r\x1b[2K{line}") } else { writeln!(stderr, "{line}") };
    let _ = stderr.flush();
    states
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.watcher.take() {
            done.store(true, Ordering::Release);
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Ends the process when a limit is long over and no state was visited yet: what is done before a search, or between the
/// steps of an engine that knows no states, does not look at the clock. Nothing is known then that would be lost.
pub struct Patience {
    done: Arc<AtomicBool>,
}

impl Patience {
    /// What an engine may take to answer when it is told to stop.
    const GRACE: Duration = Duration::from_secs(4);

    /// Waits for `control` to be answered; `end` is when the user's time is over, and `tell` prints what there is to say.
    pub fn with(control: &Arc<Control>, end: Option<Instant>, tell: impl Fn(&str) + Send + 'static) -> Patience {
        let done = Arc::new(AtomicBool::new(false));
        let (control, finished) = (control.clone(), done.clone());
        std::thread::spawn(move || {
            while !finished.load(Ordering::Acquire) && control.states.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(200));
                let over = end.is_some_and(|end| end.elapsed() > Patience::GRACE);
                let unheard = FIRST.get().is_some_and(|first| first.elapsed() > Patience::GRACE);
                if (over || unheard) && !finished.load(Ordering::Acquire) && !control.is_finished() {
                    tell(if over { "time" } else { "interrupt" });
                    std::process::exit(3);
                }
            }
        });
        Patience { done }
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
    }
}

/// Makes Ctrl-C (and a polite kill) end the run with what was learnt so far; a second one ends the process at once.
pub fn stop_on_interrupt(control: &Arc<Control>) {
    // A search that begins again has a control of its own, but there is only one handler.
    static CURRENT: Mutex<Option<Arc<Control>>> = Mutex::new(None);
    let current = || CURRENT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    *current() = Some(control.clone());
    if interrupted() {
        control.interrupt();
    }
    // Without a handler Ctrl-C just kills the process, as usual.
    let _ = ctrlc::set_handler(move || {
        // A shell may send the same signal twice, to the process and to its group: that is one wish.
        if FIRST.get_or_init(Instant::now).elapsed() > Duration::from_millis(500) {
            std::process::exit(3);
        }
        if let Some(control) = &*current() {
            control.interrupt();
        }
    });
}

/// When the user asked to stop.
static FIRST: OnceLock<Instant> = OnceLock::new();

/// Has the user asked to stop?
pub fn interrupted() -> bool {
    FIRST.get().is_some()
}
