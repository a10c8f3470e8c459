//! The side of every other process: does what process 0 says until that is over, or somebody is gone.

use crate::cluster::beat;
use crate::control::{BEAT, ToFirst, ToOthers, Voice, hear_any, silence};
use crate::crew::Crew;
use crate::door::Door;
use crate::hosts::{Hosts, resolve};
use crate::job::Job;
use crate::meeting::{Place, Terms, join};
use crate::secret::Secret;
use crate::signals::{Kind, Signals, limit_of, number_of};
use scrimp_system::Stop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(20);
/// How long process 0 may take to say who is gone, where this process knows already that somebody is.
const WORD: Duration = Duration::from_secs(4);

/// What came of following.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// All searches came to their end.
    All,
    /// One was cut by a limit.
    Cut,
    /// Somebody is gone.
    Lost(String),
}

/// Where this process joins.
pub enum At<'a> {
    /// It was started by process 0 of this machine, which is there.
    Here { first: &'a str, processes: usize },
    /// On a host of its own.
    Hosts { hosts: &'a Hosts, command: Vec<String> },
}

/// A process that has joined a cluster.
pub struct Follower {
    place: Place,
    index: usize,
    processes: usize,
}

/// Joins a cluster as process `index`, and works for it with so much memory. Waits at most so long for the others.
pub fn follow(at: At, index: usize, secret: &Secret, memory: usize, wait: Duration) -> Result<Followed, String> {
    Follower::join(at, index, secret, wait)?.work(memory, &Stop::default())
}

impl Follower {
    /// Joins a cluster as process `index`. Waits at most so long for the others.
    pub fn join(at: At, index: usize, secret: &Secret, wait: Duration) -> Result<Follower, String> {
        let cannot = |address: &str, e: std::io::Error| format!("{address}: no port can be opened there: {e}");
        let deadline = Instant::now() + wait;
        let (processes, first, reached, command, listens) = match &at {
            At::Here { first, processes } => (*processes, first.to_string(), None, None, "127.0.0.1:0".to_string()),
            At::Hosts { hosts, command } => {
                let host = hosts.0.get(index).ok_or_else(|| {
                    format!(
                        "--index {index}: the hosts file has {} processes; expected 0 to {}",
                        hosts.0.len(),
                        hosts.0.len() - 1
                    )
                })?;
                let reached: Vec<String> = hosts.0.iter().map(|host| host.reached.clone()).collect();
                (hosts.0.len(), reached[0].clone(), Some(reached), Some(command.clone()), host.listens.clone())
            }
        };
        let door = Door::open(&resolve(&listens)?, secret).map_err(|e| cannot(&listens, e))?;
        let terms = Terms { processes, threads: 0, command };
        let place = join(&first, index, &terms, door, secret, reached, deadline)?;
        Ok(Follower { place, index, processes })
    }

    /// Works for the cluster with so much memory until all is done. Where this process is told to `stop`, so is the search of all.
    pub fn work(self, memory: usize, stop: &Stop) -> Result<Followed, String> {
        work(self.place, (self.index, self.processes), memory, stop)
    }
}

/// What is to be done next.
enum Next {
    Job(Vec<u8>),
    Done,
    Lost(String),
}

fn work(place: Place, (index, processes): (usize, usize), memory: usize, stop: &Stop) -> Result<Followed, String> {
    let Place { mut control, data, threads, .. } = place;
    let voice = Voice::new(&control).map_err(|e| e.to_string())?;
    let signals = Arc::new(Signals::default());
    let over = Arc::new(AtomicBool::new(false));
    let crew = Crew::new(data, index, threads, &signals)?;
    let (tell, next) = channel();
    let (shared, is_over) = (signals.clone(), over.clone());
    // Why a search is to stop, which may be said before it has begun here.
    let pending = Arc::new(Mutex::new(0u8));
    let to_stop = pending.clone();
    thread::spawn(move || {
        loop {
            let (message, end) = match hear_any(&mut control) {
                Ok(ToOthers::Beat) => continue,
                Ok(ToOthers::Stop(limit)) => {
                    let mut pending = to_stop.lock().unwrap_or_else(PoisonError::into_inner);
                    *pending = limit;
                    limit_of(limit).into_iter().for_each(|limit| shared.stop(limit));
                    continue;
                }
                Ok(ToOthers::Job(text)) => {
                    *to_stop.lock().unwrap_or_else(PoisonError::into_inner) = 0;
                    (Next::Job(text), false)
                }
                Ok(ToOthers::Done) => (Next::Done, true),
                Ok(ToOthers::Lost(why)) => (Next::Lost(why), true),
                Ok(_) => (Next::Lost("process 0 says what was not asked".to_string()), true),
                Err(_) if is_over.load(Ordering::Acquire) => return,
                Err(e) => (Next::Lost(format!("process 0 is gone: {}", silence(&e))), true),
            };
            if let Next::Lost(why) = &message {
                shared.lose(0, why.clone());
            }
            if let Next::Done = &message {
                shared.over.store(true, Ordering::Release);
            }
            if tell.send(message).is_err() || end {
                return;
            }
        }
    });
    let (speaks, shared, is_over) = (voice.clone(), signals.clone(), over.clone());
    thread::spawn(move || {
        while !is_over.load(Ordering::Acquire) && speaks.say(&ToFirst::Beat(beat(&shared))).is_ok() {
            thread::sleep(BEAT);
        }
    });
    let (mut cut, mut asked) = (false, false);
    let mut ask = || {
        if let (false, Some(cause)) = (asked, stop.due()) {
            asked = true;
            let _ = voice.say(&ToFirst::Stop(number_of(cause.into())));
        }
    };
    let followed = loop {
        ask();
        match next.recv_timeout(BEAT) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Next::Job(text)) => {
                signals.reset();
                let stop = *pending.lock().unwrap_or_else(PoisonError::into_inner);
                limit_of(stop).into_iter().for_each(|limit| signals.stop(limit));
                let job = bincode::deserialize::<Job>(&text).map_err(|_| "the job makes no sense".to_string());
                drop(text);
                let size = (processes, crew.threads());
                match job.and_then(|job| job.task(memory, size).map_err(|e| e.to_string())) {
                    Ok(task) => crew.begin(&Arc::new(task)),
                    Err(why) => {
                        let _ = voice.say(&ToFirst::Failed(why.clone()));
                        break Followed::Lost(why);
                    }
                }
                let mut running = crew.threads();
                while running > 0 && !signals.is_lost() {
                    ask();
                    if let Some((_, came)) = crew.outcome(GLANCE) {
                        running -= 1;
                        cut |= came.is_ok_and(|done| done.is_cut());
                    }
                }
            }
            Ok(Next::Done) => break if cut { Followed::Cut } else { Followed::All },
            Ok(Next::Lost(why)) => break Followed::Lost(why),
            Err(RecvTimeoutError::Disconnected) => break Followed::Lost("process 0 is gone".to_string()),
        }
        if let Some(loss) = signals.loss() {
            let process = loss.process.try_into().unwrap_or(u32::MAX);
            let broke = loss.kind == Kind::Broke;
            let _ = voice.say(&ToFirst::Lost { process, why: loss.why.clone(), broke });
            // Process 0 may know better who it is.
            match next.recv_timeout(WORD) {
                Ok(Next::Lost(why)) => break Followed::Lost(why),
                _ => break Followed::Lost(format!("process {} is gone: {}", loss.process, loss.why)),
            }
        }
    };
    over.store(true, Ordering::Release);
    drop(crew);
    Ok(followed)
}
