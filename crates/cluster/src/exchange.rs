//! The way between workers: a dataflow of timely that brings every parcel to the worker it is addressed to, and knows when all
//! that was sent by a certain time has arrived.
//!
//! Time is counted in epochs. In an even one states are sent, in the odd one behind it every worker has one word for all others. An
//! epoch is over when nobody will send anything more in it and everything sent was received; that is timely's progress tracking. Timely takes
//! whatever it is given: what is under way is bounded here. A worker has only so many parcels of states on their way to another one, and is
//! told by parcels of no states how many were taken in; while it waits it takes in what comes to it, so that nobody waits for ever.

use crate::parcel::{ByAddress, Kind, Parcel};
use crate::signals::{Gone, Signals};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use timely::container::NoopBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

/// Parcels of states that may be on their way from one worker to another.
pub const WINDOW: u32 = 8;
/// So many that were taken in are told at once.
const TOLD: u32 = 3;
/// Bytes of the states of a full parcel, and those of all that one worker may have on their way.
const FULL: usize = 1 << 16;
const LEAST: usize = 1 << 10;
const UNDER_WAY: usize = 16 << 20;
/// Bytes of the buffers that timely fills one after the other for a connection, in one direction: one is filled while the last one is used.
const BUFFERS: usize = 2 << 20;
/// A worker that waits looks at least so often whether somebody is gone.
const PATIENCE: Duration = Duration::from_millis(20);

type Inbox = Rc<RefCell<VecDeque<(u64, Parcel)>>>;

pub struct Exchange<'w> {
    worker: &'w mut Worker,
    input: InputHandle<u64, NoopBuilder<Parcel>>,
    probe: ProbeHandle<u64>,
    /// What came, with its epoch; and what came of an epoch that has not begun here.
    inbox: Inbox,
    later: VecDeque<(u64, Parcel)>,
    words: Vec<(u64, usize, Vec<u8>)>,
    epoch: u64,
    /// Parcels of states sent to each worker that it has not said to have taken in, and those taken in that it was not told of.
    under_way: Vec<u32>,
    owed: Vec<u32>,
    signals: Arc<Signals>,
    /// Workers of a process.
    threads: usize,
    /// How long this worker waited for others.
    pub waited: Duration,
}

impl<'w> Exchange<'w> {
    /// All workers make theirs in the same order.
    pub fn new(worker: &'w mut Worker, threads: usize, signals: Arc<Signals>) -> Exchange<'w> {
        let inbox = Inbox::default();
        let (mut input, probe) = (InputHandle::new_with_builder(), ProbeHandle::new());
        let taken = inbox.clone();
        worker.dataflow::<u64, _, _>(|scope| {
            scope
                .input_from(&mut input)
                .unary::<NoopBuilder<Parcel>, _, _, _>(DistributorPact(|_| ByAddress), "receive", |_, _| {
                    move |input, _| {
                        input.for_each(|time, parcel: &mut Parcel| {
                            taken.borrow_mut().push_back((*time.time(), std::mem::take(parcel)));
                        });
                    }
                })
                .probe_with(&probe);
        });
        let peers = worker.peers();
        Exchange {
            worker,
            input,
            probe,
            inbox,
            later: VecDeque::new(),
            words: Vec::new(),
            epoch: 0,
            under_way: vec![0; peers],
            owed: vec![0; peers],
            signals,
            threads,
            waited: Duration::ZERO,
        }
    }

    pub fn me(&self) -> usize {
        self.worker.index()
    }

    pub fn peers(&self) -> usize {
        self.under_way.len()
    }

    /// Workers of a process.
    pub fn threads(&self) -> usize {
        self.threads
    }

    pub fn processes(&self) -> usize {
        self.peers() / self.threads
    }

    /// The process that this worker is in, and its number there.
    pub fn process(&self) -> usize {
        self.me() / self.threads
    }

    pub fn thread(&self) -> usize {
        self.me() % self.threads
    }

    /// The worker of another process that takes in what this one sends there.
    pub fn partner(&self, process: usize) -> usize {
        process * self.threads + self.thread()
    }

    /// Is this the first worker of its process?
    pub fn is_first(&self) -> bool {
        self.thread() == 0
    }

    /// The process of a worker.
    pub fn process_of(&self, worker: usize) -> usize {
        worker / self.threads
    }

    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Bytes of a full parcel, where a worker sends to so many.
    pub fn full(others: usize) -> usize {
        (UNDER_WAY / others.max(1) / WINDOW as usize).clamp(LEAST, FULL)
    }

    /// Bytes that may lie here: parcels begun, on their way out, and come in.
    pub fn bytes(others: usize) -> usize {
        others * Exchange::full(others) * (2 * WINDOW as usize + 1)
    }

    /// Bytes that the buffers of connections may take by and by, those that this worker writes to and, for the first one, those that the
    /// process reads from.
    pub fn buffer_bytes(&self) -> usize {
        BUFFERS * (self.processes() - 1) * (1 + self.is_first() as usize)
    }

    pub fn may_send(&self, to: usize) -> bool {
        self.under_way[to] < WINDOW
    }

    fn post(&mut self, to: usize, kind: Kind, count: u32, bytes: Vec<u8>) {
        let mut parcel = Parcel { to: to as u32, from: self.me() as u32, kind: kind as u32, count, bytes };
        self.input.send_batch(&mut parcel);
    }

    /// Sends states to their owner, who must have [room](Exchange::may_send) for them.
    pub fn send(&mut self, to: usize, count: u32, bytes: Vec<u8>) {
        if to / self.threads != self.me() / self.threads {
            self.signals.sent_states.fetch_add(count as u64, Ordering::Relaxed);
            self.signals.sent_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        self.under_way[to] += 1;
        self.post(to, Kind::States, count, bytes);
    }

    /// Tells everybody that this level need not be finished.
    pub fn tell_enough(&mut self) {
        for to in (0..self.peers()).filter(|to| *to != self.me()).collect::<Vec<_>>() {
            self.post(to, Kind::Enough, 0, Vec::new());
        }
    }

    /// Brings parcels on their way, without waiting.
    pub fn work(&mut self) -> Result<(), Gone> {
        self.worker.step();
        if self.signals.is_lost() { Err(Gone) } else { Ok(()) }
    }

    /// The same, and waits a little where nothing has come.
    pub fn wait(&mut self) -> Result<(), Gone> {
        self.work()?;
        if self.inbox.borrow().is_empty() {
            let begun = Instant::now();
            self.worker.step_or_park(Some(PATIENCE));
            // Where it took longer, this process did not get to run: nobody else is to blame for that.
            let waited = begun.elapsed().min(PATIENCE);
            self.signals.waited_us.fetch_add(waited.as_micros() as u64, Ordering::Relaxed);
            self.waited += waited;
        }
        Ok(())
    }

    /// The next parcel that concerns this epoch: states, or that there is enough.
    pub fn next(&mut self) -> Option<Parcel> {
        loop {
            let (epoch, parcel) = self.inbox.borrow_mut().pop_front()?;
            let from = parcel.from as usize;
            if from >= self.peers() {
                continue;
            }
            if parcel.is(Kind::Taken) {
                self.under_way[from] = self.under_way[from].saturating_sub(parcel.count);
            } else if parcel.is(Kind::Word) {
                self.words.push((epoch, from, parcel.bytes));
            } else if epoch > self.epoch {
                self.later.push_back((epoch, parcel));
            } else {
                return Some(parcel);
            }
        }
    }

    /// A parcel of states was taken in.
    pub fn took(&mut self, from: u32) {
        let from = from as usize;
        self.owed[from] += 1;
        if self.owed[from] >= TOLD {
            let owed = std::mem::take(&mut self.owed[from]);
            self.post(from, Kind::Taken, owed, Vec::new());
        }
    }

    /// Sends nothing more in this epoch.
    pub fn advance(&mut self) {
        self.epoch += 1;
        self.input.advance_to(self.epoch);
        let mut inbox = self.inbox.borrow_mut();
        while let Some(parcel) = self.later.pop_back() {
            inbox.push_front(parcel);
        }
    }

    /// Is the epoch before the present one over, and all that came in it looked at?
    pub fn is_over(&self) -> bool {
        !self.probe.less_than(&self.epoch) && self.inbox.borrow().is_empty()
    }

    /// Where all wait for each other: says a word to everybody, and hears what each of them, in the order of workers, says.
    pub fn meet(&mut self, word: Vec<u8>) -> Result<Vec<Vec<u8>>, Gone> {
        if self.epoch.is_multiple_of(2) {
            self.advance();
        }
        let epoch = self.epoch;
        let (me, peers) = (self.me(), self.peers());
        for to in (0..peers).filter(|to| *to != me) {
            self.post(to, Kind::Word, 0, word.clone());
        }
        self.advance();
        loop {
            // States may come from those who know that all have met.
            let mut early = VecDeque::new();
            while let Some(parcel) = self.next() {
                early.push_back((self.epoch, parcel));
            }
            self.later.append(&mut early);
            if !self.probe.less_than(&self.epoch) {
                break;
            }
            self.wait()?;
        }
        let mut all: Vec<Vec<u8>> = vec![Vec::new(); peers];
        all[me] = word;
        for (_, from, bytes) in self.words.extract_if(.., |(of, ..)| *of == epoch) {
            all[from] = bytes;
        }
        let mut inbox = self.inbox.borrow_mut();
        while let Some(parcel) = self.later.pop_back() {
            inbox.push_front(parcel);
        }
        // Everything was taken in.
        self.under_way.fill(0);
        self.owed.fill(0);
        Ok(all)
    }

    /// Ends the dataflow: nobody sends anything more.
    pub fn end(self) {
        let Exchange { worker, input, signals, .. } = self;
        drop(input);
        while worker.has_dataflows() && !signals.is_lost() {
            worker.step_or_park(Some(PATIENCE));
        }
    }
}
