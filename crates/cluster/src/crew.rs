//! The workers of one process: threads of timely that do one task after the other.

use crate::emptiness::{self, Emptiness};
use crate::exchange::Exchange;
use crate::link::Link;
use crate::search::{Outcome, Search, Task};
use crate::shares::{self, Shared};
use crate::signals::{Gone, Signals};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Allocator, Hooks, WorkerGuards, initialize_from};
use timely::worker::Worker;

/// How long the last words may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// What is to be done, by all workers of a process.
pub enum Work {
    /// Visit all states, level by level.
    Levels(Box<Task>),
    /// Look for a run that an automaton accepts.
    Runs(emptiness::Task),
    /// Visit all states, each worker its share, and forget some.
    Shares(Box<shares::Task>),
}

/// What came of it.
pub enum Done {
    Levels(Outcome),
    Runs(Emptiness),
    Shared(Shared),
}

impl Work {
    fn carry_out(&self, exchange: &mut Exchange) -> Result<Done, Gone> {
        match self {
            Work::Levels(task) => Search::new(exchange, task).run().map(Done::Levels),
            Work::Runs(task) => emptiness::search(exchange, task).map(Done::Runs),
            Work::Shares(task) => shares::search(exchange, task).map(Done::Shared),
        }
    }
}

impl Done {
    pub fn is_cut(&self) -> bool {
        match self {
            Done::Levels(outcome) => outcome.sum.limit.is_some(),
            Done::Runs(found) => found.sum.limit.is_some(),
            Done::Shared(shared) => shared.sum.limit.is_some(),
        }
    }
}

pub struct Crew {
    tasks: Vec<Sender<Arc<Work>>>,
    outcomes: Receiver<(usize, Result<Done, Gone>)>,
    guards: Option<WorkerGuards<()>>,
    comms: Option<CommsGuard>,
    signals: Arc<Signals>,
}

impl Crew {
    /// With so many threads; `sockets` has a connection to each other process, and none in the place of this one.
    pub fn new(
        sockets: Vec<Option<TcpStream>>,
        me: usize,
        threads: usize,
        signals: &Arc<Signals>,
    ) -> Result<Crew, String> {
        let hooks = Hooks::default();
        let here = ProcessBuilder::new_typed_vector(threads, hooks.refill.clone(), None);
        let (builders, comms) = if sockets.len() == 1 {
            (here.into_iter().map(AllocatorBuilder::Process).collect(), None)
        } else {
            let links = sockets.into_iter().enumerate();
            let links =
                links.map(|(process, stream)| Some(Link::new(stream?, me, process, threads, signals))).collect();
            let (builders, comms) = initialize_networking_from_sockets(here, links, me, threads, hooks)
                .map_err(|e| format!("the connections cannot be used: {e}"))?;
            (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Some(comms))
        };
        let (mut tasks, mut waiting) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (task, wait) = channel();
            tasks.push(task);
            waiting.push(Some(wait));
        }
        let (tell, outcomes) = channel();
        let (waiting, tell, shared) = (Mutex::new(waiting), Mutex::new(tell), signals.clone());
        let guards = initialize_from(builders, Box::new(()), move |allocator| {
            let number = allocator.index() % threads;
            let wait = waiting.lock().unwrap_or_else(PoisonError::into_inner)[number].take();
            let tell = tell.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(wait) = wait {
                work(allocator, threads, &wait, &tell, &shared);
            }
        })?;
        Ok(Crew { tasks, outcomes, guards: Some(guards), comms, signals: signals.clone() })
    }

    /// Gives all workers the same task.
    pub fn begin(&self, task: &Arc<Work>) {
        for worker in &self.tasks {
            let _ = worker.send(task.clone());
        }
    }

    /// What a worker has come to, with his number in this process, if one has within this time.
    pub fn outcome(&self, wait: Duration) -> Option<(usize, Result<Done, Gone>)> {
        match self.outcomes.recv_timeout(wait) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.signals.lose(usize::MAX, "its threads ended");
                Some((0, Err(Gone)))
            }
        }
    }

    pub fn threads(&self) -> usize {
        self.tasks.len()
    }
}

fn work(
    allocator: Allocator,
    threads: usize,
    tasks: &Receiver<Arc<Work>>,
    tell: &Sender<(usize, Result<Done, Gone>)>,
    signals: &Arc<Signals>,
) {
    let mut worker = Worker::new(WorkerConfig::default(), allocator, Some(Instant::now()));
    let number = worker.index() % threads;
    while let Ok(task) = tasks.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut exchange = Exchange::new(&mut worker, threads, signals.clone());
            let outcome = task.carry_out(&mut exchange);
            drop(task);
            exchange.end();
            outcome
        }));
        let outcome = done.unwrap_or_else(|_| {
            signals.lose(usize::MAX, "a thread of it panicked");
            Err(Gone)
        });
        let gone = outcome.is_err();
        if tell.send((number, outcome)).is_err() || gone {
            return;
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.signals.over.store(true, Ordering::Release);
        self.tasks.clear();
        let (guards, comms) = (self.guards.take(), self.comms.take());
        if self.signals.is_lost() {
            // Threads that are at work or wait for who is gone stay until the program ends.
            within(FAREWELL, move || drop(guards));
            std::mem::forget(comms);
            return;
        }
        drop(guards);
        let Some(comms) = comms else { return };
        // A connection that broke at the last moment makes timely panic, and nobody needs it any more.
        within(FAREWELL, move || drop(comms));
    }
}

/// Does something that may take long or panic, and waits for it at most so long.
fn within(time: Duration, what: impl FnOnce() + Send + 'static) {
    let (tell, told) = channel();
    let last = thread::spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(what));
        let _ = tell.send(());
    });
    if told.recv_timeout(time).is_ok() {
        let _ = last.join();
    }
}
