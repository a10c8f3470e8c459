//! Where a search stands, in a file: every stored state with what is known of it, the open ones in their order.
//!
//! Nothing there depends on the store or on the number of threads. On reading, each state is found once more, by the calls by
//! which a search finds it: states that are done with are closed at once, so that a cache may let them go; those that wait are
//! opened, and none is known to have led to another. So a search goes on in another store, in more shares or fewer, and in less
//! memory where states may go. What the file says is checked as it is put in place.
//!
//! A search is saved between two sources only: one that has run out of memory is in their midst, and its last checkpoint stands.

use super::{BEGUN, DROPPED, Frame, NO_EVENT, Part, Parts, Search, Standing, Step, Stop, Unmet, WAITING};
use crate::checkpoint::{get, get_facts, get_forgotten, impossible, put, put_facts, put_forgotten};
use crate::forget::{Forget, Link};
use crate::open::codec;
use crate::order::{Opening, Order};
use crate::reduce::Round;
use crate::store::{Shelf, StateId, Store};
use scrimp_core::{ForgetFacts, GraphFacts, Limit};
use scrimp_system::{EventCode, Set};
use std::io::{self, Read, Write};

/// A search, or one share of it, as it is saved.
pub struct Saved<'a> {
    pub store: &'a dyn Store,
    pub order: &'a dyn Order,
    pub forget: &'a dyn Forget,
    pub standing: &'a Standing,
}

/// What is known of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    End,
    Closed,
    Waiting,
    /// Some of its events have been run, and its order knows of it.
    Begun,
    /// What was chosen of its events has been run, and the rest is wanted too.
    Unmet,
}

const KINDS: [Kind; 5] = [Kind::End, Kind::Closed, Kind::Waiting, Kind::Begun, Kind::Unmet];
const PARTS: [Part; 4] = [Part::Whole, Part::Proviso, Part::Met, Part::Rest];
/// No depth is larger, so that counting can go on.
const DEEPEST: u32 = u32::MAX / 2;

/// A state's record, but for the state.
#[derive(Debug, Clone, Copy)]
struct Record {
    kind: Kind,
    /// Events that were run, and which of them were chosen.
    done: u32,
    part: Part,
    depth: u32,
    /// The event that led to it.
    event: EventCode,
    /// What the forgetter knows of it.
    note: u32,
}

impl Record {
    fn of(kind: Kind, depth: u32) -> Record {
        Record { kind, done: 0, part: Part::Whole, depth, event: NO_EVENT, note: 0 }
    }
}

/// Writes records or reads them, each state as what differs from the one before it.
struct Pen {
    last: Vec<u8>,
    packed: Vec<u8>,
}

impl Pen {
    fn new(state_bytes: usize) -> Pen {
        Pen { last: vec![0; state_bytes], packed: Vec::new() }
    }

    fn put(&mut self, record: Record, state: &[u8], to: &mut dyn Write) -> io::Result<()> {
        let Record { kind, done, part, depth, event, note } = record;
        let part = PARTS.iter().position(|other| *other == part).unwrap_or(0) as u8;
        self.packed.clear();
        self.packed.push(kind as u8 | part << 4);
        for number in [done, depth, event].into_iter().filter(|_| kind != Kind::Closed).chain([note]) {
            self.packed.extend_from_slice(&number.to_le_bytes());
        }
        let head = self.packed.len();
        codec::pack(state, &self.last, &mut self.packed);
        self.last.copy_from_slice(state);
        to.write_all(&((self.packed.len() - head) as u32).to_le_bytes())?;
        to.write_all(&self.packed)
    }

    /// The next record; its state is then the last one.
    fn get(&mut self, from: &mut dyn Read) -> io::Result<Record> {
        let mut bytes = [0; 5];
        from.read_exact(&mut bytes)?;
        let [l, e, n, g, head] = bytes;
        let length = u32::from_le_bytes([l, e, n, g]) as usize;
        let kind = *KINDS.get(head as usize & 15).ok_or_else(|| impossible("an unknown kind of state"))?;
        let part = *PARTS.get(head as usize >> 4).ok_or_else(|| impossible("an unknown choice of events"))?;
        let number = |from: &mut dyn Read| {
            let mut number = [0; 4];
            from.read_exact(&mut number).map(|()| u32::from_le_bytes(number))
        };
        let mut record = Record { part, ..Record::of(kind, 0) };
        if kind != Kind::Closed {
            (record.done, record.depth, record.event) = (number(from)?, number(from)?, number(from)?);
        }
        record.note = number(from)?;
        if record.depth > DEEPEST || length > codec::longest(self.last.len()) {
            return Err(impossible("so deep or long a state"));
        }
        self.packed.resize(length, 0);
        from.read_exact(&mut self.packed)?;
        let mut rest = &self.packed[..];
        let whole = codec::unpack(&mut rest, &mut self.last).filter(|()| rest.is_empty());
        whole.ok_or_else(|| impossible("a state that cannot be unpacked"))?;
        Ok(record)
    }
}

/// Writes where a search stands, all its shares together.
pub fn save(shares: &[Saved], state_bytes: usize, to: &mut dyn Write) -> io::Result<()> {
    let (mut facts, mut forgotten) = (GraphFacts::default(), ForgetFacts::default());
    for share in shares {
        facts.add(&share.standing.facts);
        forgotten.add(&share.forget.facts());
    }
    put_facts(to, &facts)?;
    put(to, facts.level_sizes.len() as u64)?;
    facts.level_sizes.iter().try_for_each(|&size| put(to, size))?;
    put_forgotten(to, &forgotten)?;
    put(to, shares.iter().map(|share| share.standing.visits).sum())?;
    put(to, shares.iter().map(|share| share.standing.stored_peak).sum())?;
    put(to, shares.iter().map(|share| share.standing.sweep).max().unwrap_or(1))?;
    put(to, shares.iter().any(|share| share.forget.has_fallen_back()) as u64)?;
    // Where one thread has gone on from a band, its line has left that behind.
    let band = shares.iter().find_map(|share| {
        let line = share.order.line()?;
        Some(share.standing.line.filter(|band| band.0 == line).unwrap_or((line, line)))
    });
    put(to, band.is_some() as u64)?;
    let (first, last) = band.unwrap_or_default();
    to.write_all(&[first.to_le_bytes(), last.to_le_bytes()].concat())?;
    let mut pen = Pen::new(state_bytes);
    shares.iter().try_for_each(|share| share.put(&mut pen, to))?;
    pen.put(Record::of(Kind::End, 0), &vec![0; state_bytes], to)
}

impl Saved<'_> {
    fn put(&self, pen: &mut Pen, to: &mut dyn Write) -> io::Result<()> {
        let Saved { store, order, forget, standing } = *self;
        let Standing { frames, marks, unmet, via, .. } = standing;
        debug_assert_eq!(
            frames.len(),
            order.unfinished(),
            "a search is saved only where its order knows all it has begun"
        );
        let mut state = vec![0; pen.last.len()];
        let mut open = Set::new(store.numbers());
        let mut result = Ok(());
        let mut put = |id: StateId, record: Record| {
            if result.is_ok() {
                store.load(id, &mut state);
                let event = via.as_ref().map_or(NO_EVENT, |via| via[id]);
                result = pen.put(Record { event, note: forget.note(id), ..record }, &state, to);
            }
        };
        let mut unfinished = 0;
        order.each(&mut |id, depth| {
            let (id, record) = match id {
                Some(id) => (id, Record::of(Kind::Waiting, depth)),
                None => {
                    let part = marks.get(unfinished).map_or(Part::Whole, |mark| mark.0);
                    let Frame { id, done, .. } = frames[unfinished];
                    unfinished += 1;
                    (id, Record { done, part, ..Record::of(Kind::Begun, depth) })
                }
            };
            open.insert(id as usize);
            put(id, record);
        });
        for unmet in unmet {
            open.insert(unmet.id as usize);
            put(unmet.id, Record::of(Kind::Unmet, unmet.depth));
        }
        store.each_number(&mut |id| {
            if !open.contains(id as usize) {
                put(id, Record::of(Kind::Closed, 0));
            }
        });
        result?;
        let mut result = Ok(());
        store.each_archived(&mut |state, shelf| {
            if result.is_ok() {
                let note = (shelf == Shelf::Kept) as u32;
                result = pen.put(Record { note, ..Record::of(Kind::Closed, 0) }, state, to);
            }
        });
        result
    }
}

/// Puts a search, or one share of it, where a saved one stood. Its parts must be new.
pub fn restore(parts: Parts, standing: &mut Standing, from: &mut dyn Read) -> io::Result<()> {
    let mut search = Search::new(parts, standing)?;
    search.read(from)?;
    search.rest(standing);
    Ok(())
}

impl Search<'_> {
    fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut facts = get_facts(from)?;
        facts.level_sizes = (0..get(from)?).map(|_| get(from)).collect::<io::Result<Vec<u64>>>()?;
        if facts.level_sizes.iter().try_fold(0u64, |sum, &size| sum.checked_add(size)).is_none() {
            return Err(impossible("levels so wide"));
        }
        let forgotten = get_forgotten(from)?;
        let (visits, stored_peak, sweep) = (get(from)?, get(from)?, get(from)?);
        if [visits, stored_peak, sweep].iter().any(|&number| number > u64::MAX / 2) {
            return Err(impossible("a number that nobody counts up to"));
        }
        if get(from)? != 0 {
            self.parts.forget.fall_back();
        }
        let (has_line, mut band) = (get(from)? != 0, [[0; 16]; 2]);
        band.iter_mut().try_for_each(|end| from.read_exact(end))?;
        if has_line {
            let [first, last] = band.map(u128::from_le_bytes);
            self.parts.order.stand_at(first, false);
            self.line = Some((first, last));
        }
        // What was counted is told by the first of several shares.
        if self.parts.share.is_none_or(|share| share.number == 0) {
            (self.facts, self.visits, self.stored_peak) = (facts, visits, stored_peak);
            self.parts.forget.remember(&forgotten);
        }
        (self.sweep, self.begun) = (sweep, true);
        let bytes = self.parts.model.state_bytes();
        let (mut pen, mut waiting) = (Pen::new(bytes), Vec::new());
        loop {
            let record = pen.get(from)?;
            let state = &pen.last;
            if record.kind == Kind::End {
                break;
            }
            if self.parts.share.is_some_and(|share| share.elsewhere(state).is_some()) {
                continue;
            }
            self.kept.clear();
            self.kept.push(state, record.event);
            self.put_in_place(record, &mut waiting).map_err(|stop| match stop {
                Stop::Unsuited(reason) => impossible(&reason),
                Stop::Limit(Limit::Cache) => {
                    no_room("the cache is too small for the states of the checkpoint that must stay")
                }
                _ => no_room("there is not enough memory for the states of the checkpoint that must stay"),
            })?;
        }
        self.kept.clear();
        // Several shares come one after the other, each from its first level on.
        if !waiting.is_sorted_by_key(|&(depth, _)| depth) {
            waiting.sort_by_key(|&(depth, _)| depth);
        }
        for (depth, id) in waiting {
            let opening = id.map(|id| {
                self.load(id);
                Opening { id, depth, rank: self.parts.rank.map_or(0, |rank| rank(self.state.state(0), depth)) }
            });
            if !self.parts.order.reopen(opening, depth) {
                return Err(impossible("an unfinished state where its order has none"));
            }
        }
        Ok(())
    }

    /// Stores the one state that is kept, and tells all parts what is known of it; the order is told later what is `waiting`.
    fn put_in_place(&mut self, record: Record, waiting: &mut Vec<(u32, Option<StateId>)>) -> Step {
        let wrong = |what: &str| Stop::Unsuited(what.into());
        self.offer(0..1)?;
        let id = self.found[0].id;
        if !self.found[0].new {
            return Err(wrong("a state twice"));
        }
        let Record { kind, done, part, depth, event, mut note } = record;
        if let (Kind::Closed, Some((first, last)), None) = (kind, self.line, self.parts.share)
            && first < last
            && self.parts.order.line().is_some()
            && self.parts.rank.is_some_and(|rank| rank(self.kept.state(0), depth) > first)
        {
            // The line of several shares stood at a band. One thread moves on within it, and may not delete what is ahead.
            note = 1;
        }
        if let Some(via) = &mut self.via {
            via[id] = event;
        }
        if let Some(progress) = &mut self.progress {
            progress[id] = if kind == Kind::Waiting { WAITING } else { BEGUN };
        }
        let Parts { store, forget, .. } = &mut self.parts;
        let state = self.kept.state(0);
        let link = Link { id, state, initial: false, from: None, depth, behind: false, single: false, tie: None };
        forget.adopt(link, note, *store).map_err(|unsuited| wrong(&unsuited.to_string()))?;
        if kind != Kind::Waiting {
            forget.expanding(id, done as usize, false, *store);
        }
        match kind {
            Kind::Waiting => waiting.push((depth, Some(id))),
            Kind::Begun => waiting.push((depth, None)),
            Kind::Unmet => self.unmet.push(Unmet { id, round: Round::First(0), depth }),
            _ => forget.closed(id, *store),
        }
        if kind == Kind::Begun {
            self.frames.push(Frame { id, first: DROPPED, done, count: done });
            self.mark(part, Round::First(0));
        }
        Ok(())
    }
}

fn no_room(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, what)
}
