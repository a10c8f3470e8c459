//! The limits of a run: memory, time, and the user's patience.
//!
//! Memory means the resident memory of the whole process. A structure asks before it grows and is told whether that stays
//! within the budget; nothing is allocated first and regretted later.

use scrimp_system::{Cause, Spend, Stop};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a run ended before its work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Memory,
    Time,
    Interrupt,
    /// The states that must stay are as many as may be stored.
    Cache,
    /// As many states were expanded as were allowed.
    Visits,
    /// A file cannot be written or read: the disk is full, say.
    Disk,
    /// A place of a net has more tokens than can be counted.
    Tokens,
    /// A process of a cluster is gone, or a host.
    Gone,
}

impl From<Cause> for Limit {
    fn from(cause: Cause) -> Limit {
        match cause {
            Cause::Time => Limit::Time,
            Cause::Interrupt => Limit::Interrupt,
            Cause::Memory => Limit::Memory,
        }
    }
}

#[derive(Debug)]
pub struct Budget {
    memory: usize,
    /// Resident memory when the budget was made: code, model, everything that is not asked for here. None where only what is
    /// asked for counts.
    base: Option<usize>,
    taken: AtomicUsize,
    /// Bytes kept back for later.
    held: AtomicUsize,
}

impl Budget {
    /// A budget of `memory` bytes for the process, what it uses already included.
    pub fn new(memory: usize) -> Budget {
        Budget { base: Some(resident().unwrap_or(0)), ..Budget::apart(memory) }
    }

    /// A budget of `memory` bytes for those who ask here, whatever else the process holds: for work beside other work.
    pub fn apart(memory: usize) -> Budget {
        Budget { memory, base: None, taken: AtomicUsize::new(0), held: AtomicUsize::new(0) }
    }

    /// The same, for a search that is about to begin. Fails where nothing is left for it.
    pub fn begin(memory: usize) -> io::Result<Arc<Budget>> {
        let budget = Arc::new(Budget::new(memory));
        if budget.left() > 0 {
            return Ok(budget);
        }
        let used = resident().unwrap_or(0).div_ceil(1 << 20);
        let message = format!(
            "the program and the model use {used} MiB of memory already\nhelp: allow more than that with --memory"
        );
        Err(io::Error::new(io::ErrorKind::OutOfMemory, message))
    }

    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes that may still be taken.
    pub fn left(&self) -> usize {
        self.left_beside(0)
    }

    /// Bytes that may still be taken when `idle` of those taken are not in use yet. A little is kept back for what is too
    /// small to be asked for.
    pub fn left_beside(&self, idle: usize) -> usize {
        let taken = self.taken.load(Ordering::Relaxed);
        let used = self.base.map_or(taken, |base| (base + taken).max(resident().unwrap_or(0) + idle));
        let reserve = (self.memory / 100).min(16 << 20) + self.held.load(Ordering::Relaxed);
        self.memory.saturating_sub(used + reserve)
    }

    /// Keeps so many bytes back from now on, in place of those kept back before.
    pub fn hold(&self, bytes: usize) {
        self.held.store(bytes, Ordering::Relaxed);
    }

    #[inline]
    pub fn may_take(&self, bytes: usize) -> bool {
        bytes <= self.left()
    }

    #[inline]
    pub fn take(&self, bytes: usize) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Spend for Budget {
    fn spend(&self, bytes: usize) {
        self.take(bytes);
    }
}

/// Resident memory of this process in bytes.
pub fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size())
}

#[cfg(unix)]
fn page_size() -> usize {
    // SAFETY: a query without side effects.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

#[cfg(not(unix))]
fn page_size() -> usize {
    4096
}

/// The most resident memory this process ever had, in bytes.
pub fn peak_resident() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
        Some(line.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    // SAFETY: getrusage fills the structure it is given.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        // In bytes on macOS, in kilobytes elsewhere.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        (libc::getrusage(libc::RUSAGE_SELF, &mut usage) == 0).then_some(usage.ru_maxrss as usize * unit)
    }
    #[cfg(not(unix))]
    None
}

/// The budget when the user names none: nine tenths of the memory that is free now, so that a run ends by itself and not
/// by the system's hand.
pub fn default_memory() -> usize {
    let free = free_memory().unwrap_or(4 << 30);
    free / 10 * 9
}

#[cfg(target_os = "linux")]
fn free_memory() -> Option<usize> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let available = line.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()? * 1024;
    // A container may allow less than the machine has.
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|s| s.trim().parse().ok());
    Some(available.min(group.unwrap_or(usize::MAX)))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn free_memory() -> Option<usize> {
    // SAFETY: queries without side effects.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    (pages > 0).then(|| pages as usize * size as usize / 2)
}

#[cfg(not(unix))]
fn free_memory() -> Option<usize> {
    None
}

/// What a run and those who watch it share: the wish to stop, and how far it has come.
#[derive(Debug)]
pub struct Control {
    started: Instant,
    stop: Stop,
    finished: AtomicBool,
    saving: AtomicBool,
    /// Milliseconds between pauses, and when the next one is due; 0 for none.
    pause_every: AtomicU64,
    pause_at: AtomicU64,
    /// A pause is due when there are so many states.
    pause_at_states: AtomicU64,
    /// What the user should know of how the run went.
    remarks: Mutex<Vec<String>>,
    /// States stored, and states expanded.
    pub states: AtomicU64,
    pub visits: AtomicU64,
    pub transitions: AtomicU64,
    pub open: AtomicU64,
    pub depth: AtomicU64,
    /// Nodes of the decision diagrams of an engine that has some, and clauses of the formulas of one that has those.
    pub nodes: AtomicU64,
    pub clauses: AtomicU64,
    /// Between which numbers of states there may be in all, at a guess; 0 where nothing can be said.
    expected: [AtomicU64; 2],
    /// So many states are needed for the next guess, or so many milliseconds.
    foresight_at: AtomicU64,
    foresight_due: AtomicU64,
    /// States that had been expanded when a saved search was taken up.
    taken_up: AtomicU64,
    /// What is being done, where that is not the search that was begun.
    phase: Mutex<Option<String>>,
    /// The figures when the search was over.
    kept: Mutex<Option<Figures>>,
}

/// How far a search has come. What an engine does not count is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// States stored, and states expanded, each time counted.
    pub states: u64,
    pub visits: u64,
    pub transitions: u64,
    pub open: u64,
    pub depth: u64,
    /// Nodes of decision diagrams, and clauses of formulas.
    pub nodes: u64,
    pub clauses: u64,
}

impl Control {
    pub fn new(time: Option<Duration>) -> Control {
        Control::under(Stop::at(time.and_then(|time| Instant::now().checked_add(time))))
    }

    /// For a run that ends when this says so.
    pub fn under(stop: Stop) -> Control {
        Control {
            started: Instant::now(),
            stop,
            finished: AtomicBool::new(false),
            saving: AtomicBool::new(false),
            pause_every: AtomicU64::new(0),
            pause_at: AtomicU64::new(u64::MAX),
            pause_at_states: AtomicU64::new(u64::MAX),
            remarks: Mutex::default(),
            states: AtomicU64::new(0),
            visits: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            open: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            nodes: AtomicU64::new(0),
            clauses: AtomicU64::new(0),
            expected: [AtomicU64::new(0), AtomicU64::new(0)],
            foresight_at: AtomicU64::new(1 << 12),
            foresight_due: AtomicU64::new(0),
            taken_up: AtomicU64::new(0),
            phase: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// How far the search has come, or how far it came.
    pub fn figures(&self) -> Figures {
        let kept = *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.unwrap_or_else(|| Figures {
            states: self.states.load(Ordering::Relaxed),
            visits: self.visits.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            open: self.open.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            nodes: self.nodes.load(Ordering::Relaxed),
            clauses: self.clauses.load(Ordering::Relaxed),
        })
    }

    /// A search is over: what is done afterwards to tell of what it found does not change its figures.
    pub fn keep_figures(&self) {
        let figures = self.figures();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(figures);
    }

    /// Another search begins.
    pub fn show_figures(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Is it time to say again how many states are to be expected, now that there are so many?
    pub fn wants_foresight(&self, states: u64) -> bool {
        const EVERY: u64 = 250;
        let now = self.elapsed().as_millis() as u64;
        let due =
            states >= self.foresight_at.load(Ordering::Relaxed) || now >= self.foresight_due.load(Ordering::Relaxed);
        if due {
            self.foresight_at.store(states.saturating_add(states / 4), Ordering::Relaxed);
            self.foresight_due.store(now + EVERY, Ordering::Relaxed);
        }
        due
    }

    /// Says between which numbers of states there may be in all; nothing while that cannot be told.
    pub fn foresee(&self, range: Option<(u64, u64)>) {
        let (least, most) = range.unwrap_or((0, 0));
        self.expected[0].store(least, Ordering::Relaxed);
        self.expected[1].store(most, Ordering::Relaxed);
    }

    /// Between which numbers of states there may be in all, now that there are so many; nothing, where that cannot be told.
    pub fn expected(&self, states: u64) -> Option<(u64, u64)> {
        let [least, most] = [0, 1].map(|i| self.expected[i].load(Ordering::Relaxed));
        (most >= states.max(1)).then_some((least.max(states), most))
    }

    /// A saved search was taken up, which had expanded so many states.
    pub fn take_up(&self, visits: u64) {
        self.taken_up.store(visits, Ordering::Relaxed);
    }

    /// States that had been expanded before this run.
    pub fn taken_up(&self) -> u64 {
        self.taken_up.load(Ordering::Relaxed)
    }

    /// Tells those who watch what is being done now: the search that was begun where nothing is said.
    pub fn enter(&self, phase: Option<&str>) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase.map(str::to_string);
    }

    pub fn phase(&self) -> Option<String> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the run to end soon, as the user does with Ctrl-C.
    pub fn interrupt(&self) {
        self.stop.ask();
    }

    /// When the run is to end, for work that is done on the way.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Has a limit been reached? `tick` counts the caller's rounds; the clock is read only now and then.
    #[inline]
    pub fn stopped(&self, tick: u64) -> Option<Limit> {
        let due = if tick.is_multiple_of(8) { self.stop.due() } else { self.stop.asked() };
        due.map(Limit::from)
    }

    /// From now on the search is to pause every so often, so that it can be saved.
    pub fn pause_every(&self, time: Duration) {
        let every = (time.as_millis() as u64).max(1);
        self.pause_every.store(every, Ordering::Relaxed);
        self.pause_at.store(self.elapsed().as_millis() as u64 + every, Ordering::Relaxed);
    }

    /// The search is to pause once it has so many states.
    pub fn pause_at_states(&self, states: u64) {
        self.pause_at_states.store(states, Ordering::Relaxed);
    }

    /// The same, unless it is to pause earlier.
    pub fn pause_by_states(&self, states: u64) {
        self.pause_at_states.fetch_min(states, Ordering::Relaxed);
    }

    /// Notes a decision that was taken on the way, or what went wrong without ending the run.
    /// The same is noted once.
    pub fn say(&self, remark: impl Into<String>) {
        let (remark, mut remarks) = (remark.into(), self.remarks.lock().unwrap_or_else(PoisonError::into_inner));
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }

    /// All that was noted so far.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Is a pause due? As for [`stopped`](Control::stopped), the clock is read only now and then.
    #[inline]
    pub fn pause_due(&self, tick: u64) -> bool {
        let at = self.pause_at.load(Ordering::Relaxed);
        (at != u64::MAX && tick.is_multiple_of(8) && self.elapsed().as_millis() as u64 >= at)
            || self.states.load(Ordering::Relaxed) >= self.pause_at_states.load(Ordering::Relaxed)
    }

    /// The search has paused; the next pause is due after the time agreed.
    pub fn paused(&self) {
        self.pause_at_states(u64::MAX);
        let every = self.pause_every.load(Ordering::Relaxed);
        if every > 0 {
            self.pause_at.store(self.elapsed().as_millis() as u64 + every, Ordering::Relaxed);
        }
    }

    /// Shows those who watch how far a depth-first search has come: its states, each expanded once, and its path.
    pub fn show_path(&self, states: u64, transitions: u64, path: u64) {
        self.states.store(states, Ordering::Relaxed);
        self.visits.store(states, Ordering::Relaxed);
        self.transitions.store(transitions, Ordering::Relaxed);
        self.open.store(path, Ordering::Relaxed);
        self.depth.store(path, Ordering::Relaxed);
    }

    /// The search is being saved, or that is over.
    pub fn save(&self, begins: bool) {
        self.saving.store(begins, Ordering::Release);
    }

    /// Is the search being saved? Whoever ends it waits for that.
    pub fn is_saving(&self) -> bool {
        self.saving.load(Ordering::Acquire)
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Tells those who watch that there is nothing more to see.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }

    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }
}
