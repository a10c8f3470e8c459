//! A model written in Rust: threads that share a bounded buffer, and a bug that tests rarely meet.
//!
//! Producers put items into a buffer, consumers take them out. Who finds it full or empty waits; who has changed it wakes
//! one of those who wait, whichever the scheduler likes. That is `wait` and `notify` on one condition variable, as one
//! finds it in many a program. It looks right, and with few threads it is. But a producer may wake another producer,
//! which finds the buffer full and waits again, and the consumer that should have been woken never is: in the end everybody
//! waits. Waking all who wait repairs it.
//!
//! ```text
//! cargo run --release --example rust_model
//! cargo run --release --example rust_model -- explore
//! ```
//!
//! The second opens the faulty buffer in the browser, where one can take its steps by hand, or check it and look at the run
//! that ends in the deadlock.
//!
//! A [`Model`] says three things: where to start ([`initial`](Model::initial)), what can happen next
//! ([`expand`](Model::expand)), and how to tell it to people ([`event`](Model::event), [`values`](Model::values)). A state is
//! a short string of bytes, and the less there is in it, the fewer states there are: here, how many items are in the buffer
//! and who waits.

use scrimp::explore::{Serve, serve};
use scrimp::report::{Style, Subject, text};
use scrimp::{Batch, Control, Describe, EventCode, EventText, Model, ModelFacts, Options, Plan, Property, Report, run};
use scrimp_core::Condition;

/// Whom a thread wakes when it has changed the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    One,
    All,
}

/// Threads 0 to `producers - 1` produce, those behind them consume.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    pub producers: u8,
    pub consumers: u8,
    pub capacity: u8,
    pub wake: Wake,
}

/// The state: items in the buffer, and the set of waiting threads, one bit for each.
const ITEMS: usize = 0;
const WAITING: usize = 1;

/// An event is a thread and whom it wakes, or one of these.
const NOBODY: u32 = 100;
const EVERYBODY: u32 = 101;
const WAITS: u32 = 102;

impl Buffer {
    fn threads(&self) -> u8 {
        self.producers + self.consumers
    }

    fn name(&self, thread: u8) -> String {
        match thread.checked_sub(self.producers) {
            None => format!("producer {thread}"),
            Some(number) => format!("consumer {number}"),
        }
    }
}

impl Model for Buffer {
    fn state_bytes(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[0, 0], 0);
    }

    /// Every thread that does not wait may run: it does its work, or begins to wait.
    fn expand(&self, state: &[u8], out: &mut Batch) {
        let (items, waiting) = (state[ITEMS], state[WAITING]);
        for thread in (0..self.threads()).filter(|thread| waiting & 1 << thread == 0) {
            let code = |woken: u32| thread as EventCode * 256 + woken;
            let after = if thread < self.producers { items + 1 } else { items.wrapping_sub(1) };
            if after > self.capacity {
                out.push(&[items, waiting | 1 << thread], code(WAITS));
            } else if waiting == 0 {
                out.push(&[after, 0], code(NOBODY));
            } else if self.wake == Wake::All {
                out.push(&[after, 0], code(EVERYBODY));
            } else {
                // The scheduler's choice is a choice of the model: one event for each of those who may be woken.
                for woken in (0..self.threads()).filter(|woken| waiting & 1 << woken != 0) {
                    out.push(&[after, waiting & !(1 << woken)], code(woken as u32));
                }
            }
        }
    }
}

impl Describe for Buffer {
    fn event(&self, code: EventCode) -> EventText {
        let (number, what) = ((code / 256) as u8, code % 256);
        let thread = self.name(number);
        let does = if number < self.producers { "puts" } else { "takes" };
        let label = match what {
            WAITS => format!("{thread} begins to wait"),
            NOBODY => format!("{thread} {does}"),
            EVERYBODY => format!("{thread} {does} and wakes everybody"),
            woken => format!("{thread} {does} and wakes {}", self.name(woken as u8)),
        };
        EventText { label, processes: vec![thread], ..EventText::default() }
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        let waits = |thread: u8| if state[WAITING] & 1 << thread == 0 { "runs" } else { "waits" };
        let threads = (0..self.threads()).map(|thread| (self.name(thread), waits(thread).to_string()));
        [("items".to_string(), state[ITEMS].to_string())].into_iter().chain(threads).collect()
    }
}

/// Can the buffer overflow, or everybody wait for ever?
pub fn properties(buffer: &Buffer) -> [Property<Condition<'static>>; 2] {
    let capacity = buffer.capacity;
    [
        Property::invariant("never more items than there is room for", move |state| state[ITEMS] <= capacity),
        Property::deadlock(),
    ]
}

pub fn check(buffer: &Buffer) -> (Plan, Report) {
    let properties = properties(buffer);
    let plan = Plan::new(&Options::default(), &properties, &ModelFacts::of(buffer)).expect("the usual options combine");
    let report = run(buffer, &properties, &plan, &Control::new(None)).expect("there is memory to begin with");
    (plan, report)
}

fn main() -> std::io::Result<()> {
    let faulty = Buffer { producers: 2, consumers: 1, capacity: 1, wake: Wake::One };
    if std::env::args().nth(1).as_deref() == Some("explore") {
        return serve(faulty, properties(&faulty), &Serve::default());
    }
    let repaired = Buffer { wake: Wake::All, ..faulty };
    for (name, buffer) in [("wake one", faulty), ("wake all", repaired)] {
        let (plan, report) = check(&buffer);
        let subject = Subject { name, model: &buffer, plan: &plan, report: &report, coverage: None, record: None };
        println!("{}", text::check(&subject, Style::PLAIN));
    }
    Ok(())
}
