//! The general state exploring algorithm: choose an open state, run its events, open what is new, close it.
//!
//! One loop serves every order and every forgetter. An order that bounds its levels gets one event at a time: a source that
//! must wait keeps its place, and the successors of the sources begun last are kept with it; those of sources further back
//! are generated again on return. Other orders get whole batches of sources, so that the store can overlap its cache
//! misses. Where the store may not grow, states are offered one at a time, and one goes for each that comes.
//!
//! A reduction may leave events out on condition that one of the others leads to a state whose own turn comes later: one
//! that was not begun. Where none does, the source is taken up again for the rest of its events before it is closed.
//!
//! Several threads may each search a share of the states (`share.rs`), every one with its own parts.

mod exchange;
mod expand;
mod follow;
mod position;
mod room;
mod share;

pub use crate::panics::Panics;
pub use exchange::{Bid, Exchange, Parcel, Sent, Share, Threads};
pub use position::{Saved, restore, save};

use crate::check::Check;
use crate::column::Column;
use crate::forget::{Forget, Tie};
use crate::lts::Observer;
use crate::order::{Next, Order};
use crate::outcome::{Ended, Outcome, batch_size};
use crate::reduce::{Reduce, Round, Sleeping};
use crate::store::{Found, Origin, StateId, Store};
use scrimp_core::{Budget, Control, ForgetFacts, GraphFacts, Limit};
use scrimp_system::{Batch, EventCode, Model};
use share::Mail;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of successor states kept before those of the sources further back are dropped.
const KEPT: usize = 1 << 20;
/// This part of the memory is kept for what waits, where an order lets sources wait in the middle of their events and stored states
/// can go instead.
const FOR_WAITING: usize = 8;
const DROPPED: u32 = u32::MAX;
const NO_EVENT: EventCode = EventCode::MAX;
/// A source that is no longer stored.
const GONE: StateId = StateId::MAX;

/// Where a state stands by a measure or a heuristic, from its bytes and its depth: lowest first.
pub type Rank<'a> = dyn Fn(&[u8], u32) -> u128 + 'a;

/// The parts of a search.
pub struct Parts<'a> {
    pub model: &'a dyn Model,
    pub store: &'a mut dyn Store,
    pub order: &'a mut dyn Order,
    pub forget: &'a mut dyn Forget,
    pub reduce: &'a mut dyn Reduce,
    /// The events that sleep at each state, if any may.
    pub sleeping: Option<&'a mut Sleeping>,
    pub check: &'a dyn Check,
    pub control: &'a Control,
    pub budget: &'a Arc<Budget>,
    /// Where a state stands, for orders that ask: by its bytes and its depth.
    pub rank: Option<&'a Rank<'a>>,
    /// The most states to expand.
    pub most_visits: u64,
    /// Is told whenever the sweep-line has moved.
    pub front: Option<&'a dyn Fn(Front)>,
    /// Is told of everything found, where the order expands states in one go.
    pub observer: Option<&'a dyn Observer>,
    /// The order goes level by level: where no state is found twice, those of each level are counted.
    pub by_level: bool,
    /// The share of the states that is searched, where others search the rest. The order must stand at a line.
    pub share: Option<Share<'a>>,
}

/// The sweep-line where it stood, and what was stored just before it moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Front {
    pub sweep: u64,
    pub progress: u128,
    pub stored: u64,
    pub open: u64,
    pub persistent: u64,
    pub visits: u64,
}

/// A source that was begun.
#[derive(Debug, Clone, Copy)]
struct Frame {
    id: StateId,
    /// Where its successors start among those kept, or [`DROPPED`].
    first: u32,
    /// How many of them are done.
    done: u32,
    count: u32,
}

/// What led to a state.
#[derive(Debug, Clone, Copy)]
enum Parent {
    /// Nothing: it is initial.
    Initial,
    /// A state, which may be [`GONE`].
    Here(StateId),
    /// A state of another share, which stays for its sake where that is needed.
    Elsewhere(Option<Tie>),
}

/// Which of its events a source is begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All that are to be explored.
    Whole,
    /// Those that were chosen, on a condition that is not met yet.
    Proviso,
    /// Those that were chosen, on a condition that has been met.
    Met,
    /// Those that were left out at first.
    Rest,
}

/// A source that was done with what was chosen of its events, on a condition that is not met.
#[derive(Debug, Clone, Copy)]
struct Unmet {
    id: StateId,
    round: Round,
    depth: u32,
}

/// Where a search stands beside its parts, so that it can pause and go on.
#[derive(Default)]
pub struct Standing {
    begun: bool,
    frames: Vec<Frame>,
    marks: Vec<(Part, Round)>,
    unmet: Vec<Unmet>,
    via: Option<Column<u32>>,
    progress: Option<Column<u8>>,
    facts: GraphFacts,
    visits: u64,
    stored_peak: u64,
    sweep: u64,
    line: Option<(u128, u128)>,
}

impl Standing {
    /// States expanded so far.
    pub fn visits(&self) -> u64 {
        self.visits
    }
}

/// How far a state has come, where a reduction needs to know.
const WAITING: u8 = 0;
const BEGUN: u8 = 1;

struct Search<'a> {
    parts: Parts<'a>,
    wants_states: bool,
    frames: Vec<Frame>,
    /// What each of them was begun with, where a reduction needs to know.
    marks: Vec<(Part, Round)>,
    kept: Batch,
    /// Where each of those comes from, if the store wants to know.
    origins: Option<Vec<Origin>>,
    /// A state, and its successors, only to be looked at.
    state: Batch,
    scratch: Batch,
    found: Vec<Found>,
    /// The event that led to each state, where the reduction asks for it.
    via: Option<Column<u32>>,
    /// How far each state has come, where the reduction may ask for that.
    progress: Option<Column<u8>>,
    keep: Vec<bool>,
    /// Sources of a group that are done with what was chosen and must be taken up again for the rest.
    unmet: Vec<Unmet>,
    /// The first frame of the sources whose events are run, and the depths of those begun last.
    group: usize,
    depths: Vec<u32>,
    /// What goes to other shares of the states.
    mail: Option<Mail>,
    facts: GraphFacts,
    visits: u64,
    stored_peak: u64,
    /// How often the sweep-line has gone through.
    sweep: u64,
    /// Where the line of all shares stands: the lowest rank and the highest.
    line: Option<(u128, u128)>,
    begun: bool,
    /// Bytes of the order that the budget knows of.
    order_bytes: usize,
    /// Bytes for the order and for sources that wait, so that stored states do not take them all.
    for_waiting: usize,
    /// Memory for several states at once was refused: they come one at a time.
    pressed: bool,
    /// The most states to store, since memory for one more was refused. It is not asked for again: that takes long.
    most: usize,
}

/// Why a search ends early.
enum Stop {
    Decided,
    Limit(Limit),
    Paused,
    Unsuited(String),
}

type Step<T = ()> = Result<T, Stop>;

/// Searches with the given parts, from where the search stands, until everything is visited, the check is content, a limit is
/// reached, or a pause is due.
pub fn search(parts: Parts, standing: &mut Standing) -> io::Result<Outcome> {
    let mut search = Search::new(parts, standing)?;
    search.hold_back();
    let ran = match search.parts.share {
        Some(share) => search.run_share(share),
        None => search.run(),
    };
    let ended = match ran {
        Ok(()) => Ended::Complete,
        Err(Stop::Decided) => Ended::Decided,
        Err(Stop::Limit(limit)) => Ended::Limit(limit),
        Err(Stop::Paused) => Ended::Paused,
        Err(Stop::Unsuited(reason)) => Ended::Unsuited(reason),
    };
    search.parts.budget.hold(0);
    if search.parts.share.is_none() {
        search.publish();
    }
    search.parts.budget.give_back(search.order_bytes);
    // Where a limit was met in the midst of several sources, some of them are done.
    let begun = search.frames.iter().filter(|frame| frame.done < frame.count).count();
    let open = (search.parts.order.len() + begun) as u64;
    let parts = search.rest(standing);
    let mut facts = GraphFacts { open, ..standing.facts.clone() };
    if facts.level_sizes.iter().sum::<u64>() != facts.states || !parts.forget.once() {
        // States were given up and found again, on another level perhaps, or there are too many levels.
        facts.level_sizes.clear();
    }
    Ok(Outcome {
        ended,
        facts,
        levels: Vec::new(),
        visits: standing.visits,
        once: parts.forget.once(),
        by_level: false,
        forget: ForgetFacts {
            stored_peak: standing.stored_peak,
            replays: parts.store.replays(),
            ..parts.forget.facts()
        },
        beside_bytes: parts.forget.bytes() + parts.order.bytes(),
        expected: None,
        omission: None,
    })
}

impl<'a> Search<'a> {
    /// The search with these parts that stands there.
    fn new(parts: Parts<'a>, standing: &mut Standing) -> io::Result<Search<'a>> {
        let now = std::mem::take(standing);
        let (mut via, mut progress) = (now.via, now.progress);
        if via.is_none() && parts.reduce.wants_events() {
            via = Some(Column::new(parts.budget)?);
        }
        if progress.is_none() && (parts.reduce.wants_history() || parts.sleeping.is_some()) {
            progress = Some(Column::new(parts.budget)?);
        }
        let bytes = parts.model.state_bytes();
        Ok(Search {
            wants_states: parts.check.wants_states(),
            frames: now.frames,
            marks: now.marks,
            kept: Batch::new(bytes),
            origins: parts.store.wants_origins().then(Vec::new),
            state: Batch::new(bytes),
            scratch: Batch::new(bytes),
            found: Vec::new(),
            via,
            progress,
            keep: Vec::new(),
            unmet: now.unmet,
            depths: Vec::new(),
            group: 0,
            mail: parts.share.map(|share| Mail::new(share, bytes)),
            facts: now.facts,
            visits: now.visits,
            stored_peak: now.stored_peak,
            sweep: now.sweep.max(1),
            line: now.line,
            begun: now.begun,
            order_bytes: 0,
            for_waiting: match parts.order.lets_wait() && parts.forget.reclaims() {
                true => parts.budget.memory() / FOR_WAITING,
                false => 0,
            },
            pressed: false,
            most: usize::MAX,
            parts,
        })
    }

    /// Remembers where the search stands.
    fn rest(mut self, standing: &mut Standing) -> Parts<'a> {
        self.frames.iter_mut().for_each(|frame| frame.first = DROPPED);
        *standing = Standing {
            begun: self.begun,
            frames: self.frames,
            marks: self.marks,
            unmet: self.unmet,
            via: self.via,
            progress: self.progress,
            facts: self.facts,
            visits: self.visits,
            stored_peak: self.stored_peak,
            sweep: self.sweep,
            line: self.line,
        };
        self.parts
    }
}

impl Search<'_> {
    fn run(&mut self) -> Step {
        self.begin()?;
        let mut ids = Vec::new();
        let most = self.parts.store.sources_at_once().unwrap_or(batch_size(self.parts.model.state_bytes()));
        for tick in 0u64.. {
            if tick % 1024 == 0 {
                self.account();
            }
            if tick % 16 == 0 {
                self.publish();
                if let Some(limit) = self.parts.control.stopped(0) {
                    return Err(Stop::Limit(limit));
                }
                if self.parts.control.pause_due(0) {
                    return Err(Stop::Paused);
                }
            }
            if self.visits >= self.parts.most_visits && !(self.parts.order.is_empty() && self.frames.is_empty()) {
                return Err(Stop::Limit(Limit::Visits));
            }
            ids.clear();
            let left = (self.parts.most_visits - self.visits).min(most as u64) as usize;
            let batch = self.parts.forget.at_once(self.parts.store.len()).min(left);
            match self.parts.order.next(batch, &mut ids) {
                Next::Done => {
                    self.show_front();
                    return Ok(());
                }
                Next::Advance { again } => self.advance(again),
                Next::Resume => self.resume_last()?,
                Next::Expand => {
                    let first = self.frames.len();
                    self.expand(&ids)?;
                    self.run_events(first)?;
                }
            }
        }
        Ok(())
    }

    /// Goes on with the source that was left unfinished last.
    fn resume_last(&mut self) -> Step {
        self.depths.clear();
        if self.frames.last().is_some_and(|f| f.first == DROPPED) {
            self.expand_again();
        }
        self.run_events(self.frames.len() - 1)
    }

    /// Tells the budget what the order holds by now. It grows without asking, but little by little; what others have taken
    /// and not used yet must not hide it.
    fn account(&mut self) {
        let Parts { order, budget, .. } = &self.parts;
        let bytes = order.bytes() + self.mail.as_ref().map_or(0, Mail::bytes);
        budget.give_back(std::mem::replace(&mut self.order_bytes, bytes));
        budget.take(bytes);
        self.hold_back();
    }

    /// Keeps memory back for what waits, less what that has taken.
    fn hold_back(&self) {
        let taken = self.order_bytes + self.frames.capacity() * size_of::<Frame>();
        self.parts.budget.hold(self.for_waiting.saturating_sub(taken));
    }

    fn publish(&self) {
        let Parts { control, store, order, .. } = &self.parts;
        control.states.store(store.stored() as u64, Ordering::Relaxed);
        control.transitions.store(self.facts.transitions, Ordering::Relaxed);
        control.visits.store(self.visits, Ordering::Relaxed);
        control.open.store((order.len() + self.frames.len()) as u64, Ordering::Relaxed);
        control.depth.store(self.facts.depth as u64, Ordering::Relaxed);
    }

    /// Opens the initial states, or takes up what was saved.
    fn begin(&mut self) -> Step {
        if std::mem::replace(&mut self.begun, true) {
            return self.take_up();
        }
        let mut initial = Batch::new(self.parts.model.state_bytes());
        self.parts.model.initial(&mut initial);
        std::mem::swap(&mut self.kept, &mut initial);
        for at in 0..self.kept.len() {
            if self.parts.share.is_some_and(|share| share.elsewhere(self.kept.state(at)).is_some()) {
                continue;
            }
            self.offer(at..at + 1)?;
            if self.found[0].new {
                self.open(at, self.found[0].id, Parent::Initial, 0)?;
            }
        }
        self.facts.initial_states = self.parts.store.len() as u64;
        self.kept.clear();
        Ok(())
    }

    /// Takes up what several shares had left of sources that were begun, where one thread goes on alone.
    fn take_up(&mut self) -> Step {
        if self.unmet.is_empty() || self.parts.share.is_some() {
            return Ok(());
        }
        let group = self.frames.len();
        self.depths.clear();
        self.take_up_rest();
        self.run_events(group)
    }

    fn advance(&mut self, again: bool) {
        self.show_front();
        self.sweep += again as u64;
        self.parts.forget.advanced(self.parts.store, again);
    }

    fn show_front(&self) {
        let Parts { store, forget, order, front, .. } = &self.parts;
        if let (Some(front), Some(progress)) = (front, order.line()) {
            let (stored, open) = (store.stored() as u64, order.len() as u64);
            let persistent = forget.facts().persistent;
            let sweep = self.sweep;
            front(Front { sweep, progress, stored, open, persistent, visits: self.visits });
        }
    }
}
