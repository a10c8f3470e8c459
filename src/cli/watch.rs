//! Watches a search while it runs: shows how far it has come, and records that. The search notices nothing: it leaves its
//! figures where they can be read at any time.

use super::args::{SearchArgs, ShowProgress};
use super::limits::begun;
use super::progress::{Moment, line};
use scrimp::report::plot::sparkline;
use scrimp::report::record::{FrontPoint, Record, Sample, Thinned};
use scrimp::{Control, Front, Report};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use terminal_size::terminal_size_of;

/// The first samples are so far apart: a run of a few milliseconds has some.
const SAMPLE: Duration = Duration::from_millis(5);
/// How often a line is written, for people and for programs.
const LINE: Duration = Duration::from_millis(500);
const OBJECT: Duration = Duration::from_millis(100);
/// Rates in the small curve at the end of a line, and those of which the mean is shown.
const RATES: usize = 24;
const RECENT: usize = 8;

/// Watches until it is finished or dropped.
pub struct Watch {
    control: Arc<Control>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Watcher>>,
    records: bool,
    front: RefCell<Thinned<FrontPoint>>,
}

impl Watch {
    /// Watches `control`, silently where nobody would see a line.
    pub fn new(control: &Arc<Control>, args: &SearchArgs, work: Work) -> Watch {
        static SEARCHES: AtomicU64 = AtomicU64::new(0);
        let show = match args.show_progress {
            Some(ShowProgress::Json) => Show::Objects,
            _ if args.quiet => Show::Nothing,
            _ if std::io::stderr().is_terminal() => Show::Line { verbose: args.verbose },
            Some(ShowProgress::Text) => Show::Lines,
            None => Show::Nothing,
        };
        let (over, records) = (Arc::new(AtomicBool::new(false)), args.records());
        let mut watcher = Watcher {
            control: control.clone(),
            work,
            time: args.time,
            show,
            search: SEARCHES.fetch_add(1, Ordering::Relaxed) + 1,
            samples: records.then(Thinned::default),
            shown: Sample::default(),
            rates: VecDeque::new(),
        };
        let finished = over.clone();
        let thread = (records || show != Show::Nothing).then(|| {
            std::thread::spawn(move || {
                watcher.watch(&finished);
                watcher
            })
        });
        Watch { control: control.clone(), over, thread, records, front: RefCell::default() }
    }

    /// Is it worth telling where the sweep-line stands?
    pub fn records(&self) -> bool {
        self.records
    }

    /// Notes where the sweep-line stood.
    pub fn note(&self, front: Front) {
        let Front { sweep, stored, open, persistent, visits, .. } = front;
        self.front.borrow_mut().push(FrontPoint { sweep, stored, open, persistent, visits });
    }

    /// The search was over after this time, and this is what came of it; answers how it went, if that was recorded.
    pub fn finish(mut self, report: &Report, time: Duration) -> Option<Record> {
        let watcher = self.stop()?;
        let mut samples = watcher.samples.clone().map(Thinned::finish).unwrap_or_default();
        // What is done afterwards, to tell of what was found, is no part of it.
        samples.retain(|sample| sample.seconds < time.as_secs_f64());
        let mut last = Sample { seconds: time.as_secs_f64(), ..Sample::last(self.control.figures(), report) };
        // By now all memory may have been given back.
        last.memory = samples.last().map_or(watcher.shown.memory, |sample| sample.memory).max(last.memory);
        watcher.show_last(&last);
        samples.push(last);
        self.records.then(|| Record {
            samples,
            levels: report.facts.level_sizes.clone(),
            front: self.front.take().finish(),
        })
    }

    fn stop(&mut self) -> Option<Watcher> {
        let thread = self.thread.take()?;
        self.over.store(true, Ordering::Release);
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What there is to watch.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// What is done, in a word or two.
    pub what: &'static str,
    /// Does it go level by level, so that the levels tell how far it has come?
    pub by_level: bool,
    /// The memory budget, in bytes.
    pub memory: usize,
}

/// What is written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    Nothing,
    /// One line of a terminal, again and again.
    Line {
        verbose: bool,
    },
    /// A line each time.
    Lines,
    /// An object each time.
    Objects,
}

struct Watcher {
    control: Arc<Control>,
    work: Work,
    /// The time limit of the whole run.
    time: Option<Duration>,
    show: Show,
    /// Which search of this run it is, from 1 on.
    search: u64,
    samples: Option<Thinned<Sample>>,
    /// What was shown last.
    shown: Sample,
    rates: VecDeque<f64>,
}

impl Watcher {
    fn watch(&mut self, over: &AtomicBool) {
        let every = if self.show == Show::Objects { OBJECT } else { LINE };
        let (mut next_sample, mut next_line) = (Duration::ZERO, every);
        while !over.load(Ordering::Acquire) {
            let now = self.control.elapsed();
            if now >= next_sample
                && let Some(samples) = &mut self.samples
            {
                samples.push(Sample { seconds: now.as_secs_f64(), ..Sample::of(self.control.figures()) });
                // What is not kept need not be looked at.
                next_sample = now + SAMPLE * u32::try_from(samples.stride()).unwrap_or(u32::MAX);
            }
            if now >= next_line {
                if self.show != Show::Nothing && !self.control.is_finished() {
                    self.show(&Sample { seconds: now.as_secs_f64(), ..Sample::of(self.control.figures()) });
                }
                next_line = now + every;
            }
            let due = if self.samples.is_some() { next_sample.min(next_line) } else { next_line };
            std::thread::park_timeout(due.saturating_sub(self.control.elapsed()));
        }
        if matches!(self.show, Show::Line { .. }) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }

    fn show(&mut self, sample: &Sample) {
        // What a saved search had done before says nothing of how fast this one is.
        let before = self.shown.figures.visits.max(self.control.taken_up());
        let visits = sample.figures.visits.saturating_sub(before);
        let rate = visits as f64 / (sample.seconds - self.shown.seconds).max(1e-9);
        if sample.figures.visits < self.shown.figures.visits {
            // Another search has begun.
            self.rates.clear();
        }
        self.shown = *sample;
        self.rates.push_back(rate);
        if self.rates.len() > RATES {
            self.rates.pop_front();
        }
        let text = match self.show {
            Show::Nothing => return,
            Show::Objects => self.object(sample, rate),
            Show::Line { verbose } => {
                let width = terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0));
                let line = self.line(sample, verbose, width.saturating_sub(1));
                format!("\r\x1b[2K{line}")
            }
            Show::Lines => self.line(sample, false, usize::MAX) + "\n",
        };
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    fn line(&mut self, sample: &Sample, verbose: bool, width: usize) -> String {
        let curve = verbose.then(|| sparkline(self.rates.make_contiguous(), RATES));
        let recent = self.rates.iter().rev().take(RECENT);
        let count = recent.len().max(1);
        let moment = Moment {
            sample,
            phase: self.control.phase(),
            what: self.work.what,
            rate: recent.sum::<f64>() / count as f64,
            expected: self.control.expected(sample.figures.states),
            by_level: self.work.by_level,
            memory: self.work.memory,
            // The limit counts from where the work on the model began.
            clock: self.time.map(|time| (begun().elapsed(), time)),
            curve,
        };
        line(&moment, width)
    }

    /// The last object is always written: it has the figures of the report.
    fn show_last(&self, sample: &Sample) {
        if self.show == Show::Objects {
            let _ = write!(
                std::io::stderr(),
                "{}",
                self.object(
                    sample,
                    sample.figures.visits.saturating_sub(self.control.taken_up()) as f64 / sample.seconds.max(1e-9)
                )
            );
        }
    }

    /// Seconds are those since the work on the model began, so that they never go back in a run of several searches.
    fn object(&self, sample: &Sample, rate: f64) -> String {
        let object = sample.object(self.search, begun().elapsed().as_secs_f64(), rate, &self.control);
        format!("{object}\n")
    }
}
