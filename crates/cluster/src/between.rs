//! What lies between the shares of the states where each worker of all processes searches one: the engine's parcels, and the ties of its
//! forgetters, on their way as records of the [`Mail`].
//!
//! A state that goes to its owner carries a number of the state that led to it, which stays for its sake; where the owner does not
//! need it, or no longer, the number goes back. That is the distributed termination-detection tree of Evangelista and Kristensen, *Search-order
//! independent state caching* (2010, section 4.2), each worker with a part of it. What goes back travels with the states of the
//! next round.

use crate::mail::{Mail, Takes};
use crate::partition::Partition;
use crate::signals::Gone;
use scrimp_core::{Budget, Limit};
use scrimp_native::NativeModel;
use scrimp_search::engine::{Bid, Exchange, Panics, Parcel, Sent};
use scrimp_search::forget::Tie;
use scrimp_search::order::Lowest;
use scrimp_system::{Batch, Model};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Behind a state: what it is, the event that led to it, its depth, and the tie.
const BESIDE: usize = 17;
/// What a record is.
const PLAIN: u8 = 0;
const TIED: u8 = 1;
const LEFT_OUT: u8 = 2;
const SENT_BACK: u8 = 3;

type Band = Option<(u128, u128)>;
/// A bid as it is said.
type Said = (Band, Band, u32, bool, bool, [u64; 5]);

pub struct Between<'s, 'w, 't> {
    mail: RefCell<Mail<'s, 'w>>,
    me: usize,
    state_bytes: usize,
    partition: &'t Partition,
    model: &'t NativeModel,
    /// What this share has written for each other one, and what came from each.
    written: Vec<Mutex<Parcel>>,
    come: Vec<Mutex<Parcel>>,
    /// Ties to go back, and those that have come back.
    back: RefCell<Vec<Tie>>,
    came_back: RefCell<Vec<Tie>>,
    panics: Panics,
    /// Somebody is gone, or said what makes no sense.
    gone: Cell<bool>,
    /// Why this share ended the search.
    pub stopped: Cell<Option<Limit>>,
    told: Cell<[u64; 3]>,
    /// Bytes of the parcels that the budget knows of.
    budget: &'t Budget,
    held: Cell<usize>,
}

fn lock(parcel: &Mutex<Parcel>) -> MutexGuard<'_, Parcel> {
    parcel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What comes is put down by its sender.
struct Tray<'b> {
    state_bytes: usize,
    me: usize,
    come: &'b [Mutex<Parcel>],
    came_back: &'b RefCell<Vec<Tie>>,
}

impl Takes for Tray<'_> {
    fn take(&mut self, from: usize, records: &Batch) {
        let mut parcel = lock(&self.come[from]);
        for i in 0..records.len() {
            let (state, beside) = records.state(i).split_at(self.state_bytes);
            let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| beside[at + i]));
            let (kind, event, depth, id, epoch) = (beside[0], number(1), number(5), number(9), number(13));
            if kind == SENT_BACK {
                self.came_back.borrow_mut().push(Tie { share: self.me as u8, id, epoch });
                continue;
            }
            let tie = (kind == TIED).then_some(Tie { share: from as u8, id, epoch });
            parcel.states.push(state, event);
            parcel.sent.push(Sent { depth, tie, left_out: kind == LEFT_OUT });
        }
    }
}

/// Answers are one byte each, in the order of what was asked.
struct Answers<'b>(&'b [Mutex<Parcel>]);

impl Takes for Answers<'_> {
    fn take(&mut self, from: usize, records: &Batch) {
        let mut parcel = lock(&self.0[from]);
        parcel.later.extend((0..records.len()).map(|i| records.state(i) != [0]));
    }
}

impl<'s, 'w, 't> Between<'s, 'w, 't> {
    pub fn new(
        mail: Mail<'s, 'w>,
        partition: &'t Partition,
        model: &'t NativeModel,
        budget: &'t Budget,
    ) -> Between<'s, 'w, 't> {
        let (me, peers, state_bytes) = (mail.exchange.me(), mail.exchange.peers(), model.state_bytes());
        let parcels = || (0..peers).map(|_| Mutex::new(Parcel::new(state_bytes))).collect();
        Between {
            mail: RefCell::new(mail),
            me,
            state_bytes,
            partition,
            model,
            written: parcels(),
            come: parcels(),
            back: RefCell::default(),
            came_back: RefCell::default(),
            panics: Panics::default(),
            gone: Cell::new(false),
            stopped: Cell::new(None),
            told: Cell::default(),
            budget,
            held: Cell::new(0),
        }
    }

    /// Tells the budget what the parcels take by now.
    fn account(&self) {
        let parcels = self.written.iter().chain(&self.come).map(|parcel| lock(parcel).bytes()).sum::<usize>();
        let ties = self.back.borrow().capacity() + self.came_back.borrow().capacity();
        let bytes = parcels + ties * size_of::<Tie>();
        self.budget.give_back(self.held.replace(bytes));
        self.budget.take(bytes);
    }

    /// The mail, for what is said when the search is over.
    pub fn into_mail(self) -> Result<Mail<'s, 'w>, Gone> {
        if self.panics.any() {
            self.mail.borrow().exchange.signals().lose(usize::MAX, "a thread of it panicked");
            return Err(Gone);
        }
        if self.gone.get() { Err(Gone) } else { Ok(self.mail.into_inner()) }
    }

    /// A search that cannot begin here does not begin anywhere.
    pub fn refuse(&self) {
        self.agree(self.me, Bid { halted: true, ..Bid::default() });
    }

    /// Does something with the mail, unless somebody is gone.
    fn attempt<T>(&self, work: impl FnOnce(&mut Mail<'s, 'w>) -> Result<T, Gone>) -> Option<T> {
        if self.gone.get() {
            return None;
        }
        let done = work(&mut self.mail.borrow_mut()).ok();
        self.gone.set(done.is_none());
        done
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.written.len()).filter(move |share| *share != me)
    }

    fn send(&self, mail: &mut Mail) -> Result<(), Gone> {
        let Between { state_bytes, me, come, came_back, .. } = self;
        let mut tray = Tray { state_bytes: *state_bytes, me: *me, come, came_back };
        let beside = |kind: u8, event: u32, depth: u32, tie: Option<Tie>| {
            let mut beside = [kind; BESIDE];
            let (id, epoch) = tie.map_or((0, 0), |tie| (tie.id, tie.epoch));
            for (to, number) in beside[1..].chunks_exact_mut(4).zip([event, depth, id, epoch]) {
                to.copy_from_slice(&number.to_le_bytes());
            }
            beside
        };
        mail.carry(state_bytes + BESIDE);
        for to in self.others() {
            let mut parcel = lock(&self.written[to]);
            for (i, &Sent { depth, tie, left_out }) in parcel.sent.iter().enumerate() {
                let kind = if left_out { LEFT_OUT } else { tie.map_or(PLAIN, |_| TIED) };
                let beside = beside(kind, parcel.states.event(i), depth, tie);
                mail.post(to, parcel.states.state(i), &beside, &mut tray)?;
            }
            parcel.clear();
        }
        let none = vec![0; *state_bytes];
        for tie in self.back.borrow_mut().drain(..) {
            mail.post(tie.share as usize, &none, &beside(SENT_BACK, 0, 0, Some(tie)), &mut tray)?;
        }
        mail.finish(&mut tray)
    }

    fn send_answers(&self, mail: &mut Mail) -> Result<(), Gone> {
        let mut answers = Answers(&self.written);
        // Nobody answers before all have what they were sent: records are of another length from here on.
        mail.exchange.meet(Vec::new())?;
        mail.carry(1);
        for to in self.others() {
            lock(&self.written[to]).later.clear();
        }
        for from in self.others() {
            let later = std::mem::take(&mut lock(&self.come[from]).later);
            for later in later {
                mail.post(from, &[later as u8], &[], &mut answers)?;
            }
        }
        mail.finish(&mut answers)
    }

    /// Says how this share stands, and hears how all do.
    fn say(&self, mail: &mut Mail, bid: Bid) -> Result<Bid, Gone> {
        let signals = mail.exchange.signals();
        let (now, told) = ([bid.stored, bid.visits, bid.transitions], self.told.get());
        for (i, figure) in [&signals.states, &signals.visits, &signals.transitions].into_iter().enumerate() {
            figure.fetch_add(now[i].wrapping_sub(told[i]), Ordering::Relaxed);
        }
        self.told.set(now);
        if let Some(limit) = signals.stopped() {
            self.stopped.set(Some(limit));
        }
        let halted = bid.halted || self.stopped.get().is_some() || self.model.is_outgrown();
        let Bid { lowest: Lowest { ahead, behind }, first, fallen_back, .. } = bid;
        let figures = [bid.stored, bid.open, bid.visits, bid.transitions, bid.persistent];
        let said: Said = (ahead, behind, first as u32, halted, fallen_back, figures);
        let heard = mail.exchange.meet(bincode::serialize(&said).unwrap_or_default())?;
        let understood = |said: &Vec<u8>| {
            let (ahead, behind, first, halted, fallen_back, figures): Said = bincode::deserialize(said).ok()?;
            let [stored, open, visits, transitions, persistent] = figures;
            let (first, lowest) = (first as usize, Lowest { ahead, behind });
            Some(Bid {
                lowest,
                first,
                halted,
                pauses: false,
                fallen_back,
                stored,
                open,
                visits,
                transitions,
                persistent,
            })
        };
        let all: Option<Vec<Bid>> = heard.iter().map(understood).collect();
        all.and_then(|all| all.into_iter().reduce(Bid::and)).ok_or_else(|| {
            mail.exchange.signals().lose(usize::MAX, "a worker said what is no word");
            Gone
        })
    }
}

impl Exchange for Between<'_, '_, '_> {
    fn shares(&self) -> usize {
        self.written.len()
    }

    fn owner(&self, state: &[u8]) -> usize {
        self.partition.owner(state)
    }

    fn agree(&self, _: usize, bid: Bid) -> Bid {
        self.attempt(|mail| self.say(mail, bid)).unwrap_or(Bid { halted: true, ..bid })
    }

    fn deliver(&self, _: usize) {
        self.attempt(|mail| self.send(mail));
        self.account();
    }

    fn answer(&self, _: usize) {
        self.attempt(|mail| self.send_answers(mail));
    }

    fn parcel(&self, from: usize, to: usize) -> MutexGuard<'_, Parcel> {
        lock(if from == self.me { &self.written[to] } else { &self.come[from] })
    }

    fn send_back(&self, _: usize, tie: Tie) {
        self.back.borrow_mut().push(tie);
    }

    fn came_back(&self, _: usize) -> Vec<Tie> {
        self.came_back.take()
    }

    fn panics(&self) -> &Panics {
        &self.panics
    }
}
