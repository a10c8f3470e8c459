//! The port of a process: whoever knows the secret comes in, everybody else is turned away.
//!
//! Each caller has a thread of its own for the few seconds that a handshake may take, so that one who says nothing keeps nobody waiting. There
//! are only so many at a time: of more, the one that has waited longest is turned away. The door is closed once all are here.

use crate::handshake::{Caller, answer};
use crate::secret::Secret;
use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Callers of whom it is not known yet who they are, at most.
const MOST_CALLERS: usize = 256;
const GLANCE: Duration = Duration::from_millis(5);

/// Who was turned away, and why the first was.
#[derive(Debug, Default)]
pub struct TurnedAway {
    pub count: AtomicUsize,
    pub first: Mutex<Option<String>>,
}

impl TurnedAway {
    pub fn told(&self) -> Option<String> {
        let count = self.count.load(Ordering::Relaxed);
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plural = if count == 1 { "connection was" } else { "connections were" };
        first.map(|first| format!("{count} {plural} turned away; the first: {first}"))
    }
}

pub struct Door {
    pub address: SocketAddr,
    callers: Receiver<(Caller, TcpStream)>,
    closed: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
    pub turned_away: Arc<TurnedAway>,
}

impl Door {
    pub fn open(addresses: &[SocketAddr], secret: &Secret) -> io::Result<Door> {
        let listener = TcpListener::bind(addresses)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (tell, callers) = channel();
        let (closed, turned_away) = (Arc::new(AtomicBool::new(false)), Arc::new(TurnedAway::default()));
        let (is_closed, away, secret) = (closed.clone(), turned_away.clone(), secret.clone());
        let mut at_the_door: VecDeque<Weak<TcpStream>> = VecDeque::new();
        let keeper = thread::Builder::new().name("door".into()).spawn(move || {
            while !is_closed.load(Ordering::Acquire) {
                let Ok((stream, from)) = listener.accept() else {
                    thread::sleep(GLANCE);
                    continue;
                };
                if at_the_door.len() >= MOST_CALLERS {
                    at_the_door.retain(|caller| caller.strong_count() > 0);
                }
                if at_the_door.len() >= MOST_CALLERS
                    && let Some(longest) = at_the_door.pop_front().and_then(|longest| longest.upgrade())
                {
                    let _ = longest.shutdown(Shutdown::Both);
                }
                let stream = Arc::new(stream);
                at_the_door.push_back(Arc::downgrade(&stream));
                let (tell, secret, away) = (tell.clone(), secret.clone(), away.clone());
                // Where there can be no more threads, the connection is closed.
                let _ = thread::Builder::new().spawn(move || match answer(&stream, &secret) {
                    Ok(caller) => {
                        // Where nobody waits for him any more, or he was turned away by now, he finds the connection closed.
                        let _ = Arc::into_inner(stream).map(|stream| tell.send((caller, stream)));
                    }
                    Err(e) => {
                        away.count.fetch_add(1, Ordering::Relaxed);
                        let mut first = away.first.lock().unwrap_or_else(PoisonError::into_inner);
                        first.get_or_insert_with(|| format!("{from}: {e}"));
                    }
                });
            }
        })?;
        Ok(Door { address, callers, closed, keeper: Some(keeper), turned_away })
    }

    /// The next who may come in, if one comes before this point in time.
    pub fn next(&self, deadline: Instant) -> Option<(Caller, TcpStream)> {
        self.callers.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}
