//! What searches send each other when each has a share of the states.
//!
//! A state itself says whose share it is in. All work in rounds: each says what it could expand next, all agree on
//! what comes first, those that have it expand some of it and send on what is not theirs, and then each takes in what it was sent. Nothing is
//! under way between rounds, and the same number of shares makes the same search every time.
//!
//! Here shares are searched by threads; another [`Exchange`] may bring parcels from one process to another.

use crate::forget::Tie;
use crate::order::Lowest;
use crate::panics::Panics;
use crate::store::StateId;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, size, spin_loop};
use crate::words;
use scrimp_system::Batch;
use std::sync::PoisonError;

/// So many looks at whether all have come; after that one sleeps.
const LOOKS: usize = size(1 << 12, 1);

/// What a share says of itself before a round.
#[derive(Debug, Default, Clone, Copy)]
pub struct Bid {
    pub lowest: Lowest,
    /// The number of the share, or of the one that has the lowest.
    pub first: usize,
    /// It cannot go on.
    pub halted: bool,
    /// A pause is due.
    pub pauses: bool,
    pub fallen_back: bool,
    pub stored: u64,
    pub open: u64,
    pub visits: u64,
    pub transitions: u64,
    pub persistent: u64,
}

impl Bid {
    /// What all say together.
    pub fn and(self, other: Bid) -> Bid {
        let rank = |bid: &Bid| {
            (bid.lowest.ahead.is_none(), bid.lowest.ahead.or(bid.lowest.behind).map_or(u128::MAX, |band| band.0))
        };
        Bid {
            lowest: self.lowest.and(other.lowest),
            first: if rank(&other) < rank(&self) { other.first } else { self.first },
            halted: self.halted || other.halted,
            pauses: self.pauses || other.pauses,
            fallen_back: self.fallen_back || other.fallen_back,
            stored: self.stored + other.stored,
            open: self.open + other.open,
            visits: self.visits + other.visits,
            transitions: self.transitions + other.transitions,
            persistent: self.persistent + other.persistent,
        }
    }
}

/// Where a state that was sent comes from.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    pub depth: u32,
    /// The state that led to it, if that stays for its sake.
    pub tie: Option<Tie>,
    /// A reduction leaves the event out that leads to it: it is only heard of where it is stored.
    pub left_out: bool,
}

/// States from one share for another.
pub struct Parcel {
    pub states: Batch,
    pub sent: Vec<Sent>,
    /// The answer, where one is wanted: comes the turn of each of them later?
    pub later: Vec<bool>,
}

impl Parcel {
    pub fn new(state_bytes: usize) -> Parcel {
        Parcel { states: Batch::new(state_bytes), sent: Vec::new(), later: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.states.clear();
        self.sent.clear();
    }

    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.sent.capacity() * size_of::<Sent>()
    }
}

/// What lies between the shares. Whoever calls names its own share.
pub trait Exchange {
    fn shares(&self) -> usize;

    /// Whose share a state is in.
    fn owner(&self, state: &[u8]) -> usize;

    /// Says what a share has to say, and hears what all say together.
    fn agree(&self, share: usize, bid: Bid) -> Bid;

    /// A share has written its parcels; brings those that the others have written for it.
    fn deliver(&self, share: usize);

    /// A share has answered in the parcels that came to it; brings the answers to its own.
    fn answer(&self, share: usize);

    /// What lies between two shares, one of which is the caller's.
    fn parcel(&self, from: usize, to: usize) -> MutexGuard<'_, Parcel>;

    /// Sends a tie back to the share that it is of.
    fn send_back(&self, share: usize, tie: Tie);

    /// The ties of a share that have come back by now.
    fn came_back(&self, share: usize) -> Vec<Tie>;

    fn panics(&self) -> &Panics;
}

/// What all shares have in common where each has a thread.
pub struct Threads {
    shares: usize,
    bids: Vec<Mutex<Bid>>,
    /// By sender and receiver.
    parcels: Vec<Mutex<Parcel>>,
    ties: Vec<Mutex<Vec<Tie>>>,
    present: AtomicUsize,
    round: AtomicUsize,
    /// How many sleep until all have come.
    asleep: Mutex<usize>,
    all_here: Condvar,
    panics: Panics,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    pub fn new(shares: usize, state_bytes: usize) -> Threads {
        Threads {
            shares,
            bids: (0..shares).map(|_| Mutex::default()).collect(),
            parcels: (0..shares * shares).map(|_| Mutex::new(Parcel::new(state_bytes))).collect(),
            ties: (0..shares * shares).map(|_| Mutex::default()).collect(),
            present: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            asleep: Mutex::new(0),
            all_here: Condvar::new(),
            panics: Panics::default(),
        }
    }

    /// Waits until all are here.
    fn meet(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.present.fetch_add(1, Ordering::AcqRel) + 1 == self.shares {
            self.present.store(0, Ordering::Relaxed);
            let asleep = lock(&self.asleep);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            if *asleep > 0 {
                self.all_here.notify_all();
            }
            return;
        }
        let is_over = || self.round.load(Ordering::Acquire) != round;
        for _ in 0..LOOKS {
            if is_over() {
                return;
            }
            spin_loop();
        }
        let mut asleep = lock(&self.asleep);
        *asleep += 1;
        while !is_over() {
            asleep = self.all_here.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }
    /// Passes on the first panic of all threads.
    pub fn pass_on_panics(&self) {
        self.panics.pass_on();
    }
}

impl Exchange for Threads {
    fn shares(&self) -> usize {
        self.shares
    }

    /// Stores use other bits of the hash.
    fn owner(&self, state: &[u8]) -> usize {
        let mixed = words::hash(state).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((mixed * self.shares as u64) >> 32) as usize
    }

    fn agree(&self, share: usize, bid: Bid) -> Bid {
        *lock(&self.bids[share]) = bid;
        self.meet();
        self.bids.iter().map(|bid| *lock(bid)).reduce(Bid::and).unwrap_or_default()
    }

    fn deliver(&self, _: usize) {
        self.meet();
    }

    fn answer(&self, _: usize) {
        self.meet();
    }

    fn parcel(&self, from: usize, to: usize) -> MutexGuard<'_, Parcel> {
        lock(&self.parcels[from * self.shares + to])
    }

    fn send_back(&self, share: usize, tie: Tie) {
        lock(&self.ties[share * self.shares + tie.share as usize]).push(tie);
    }

    fn came_back(&self, share: usize) -> Vec<Tie> {
        (0..self.shares).flat_map(|from| std::mem::take(&mut *lock(&self.ties[from * self.shares + share]))).collect()
    }

    fn panics(&self) -> &Panics {
        &self.panics
    }
}

/// A share of the states, by its number.
#[derive(Clone, Copy)]
pub struct Share<'a> {
    pub exchange: &'a dyn Exchange,
    pub number: usize,
}

impl Share<'_> {
    /// Whose share a state is in, if it is another's.
    #[inline]
    pub fn elsewhere(&self, state: &[u8]) -> Option<usize> {
        Some(self.exchange.owner(state)).filter(|&owner| owner != self.number)
    }

    /// The other shares.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.number;
        (0..self.exchange.shares()).filter(move |&share| share != me)
    }
}

/// A successor that was sent by a source that may have to be taken up again.
pub(super) struct Asked {
    pub to: usize,
    pub place: usize,
    pub source: StateId,
}
