//! When a run takes too long: limits that nobody looks at, and Ctrl-C.

use scrimp::Control;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

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
