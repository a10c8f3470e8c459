//! The search for a run that looks like the logs: places are states of the model together with how far each log was followed.
//!
//! An atomic sequence is one step, and what is logged of it may be any of its single steps, several of them too. What two
//! processes do together may be logged by one of them, or by both.

use crate::glob::squeezed;
use crate::graph::{Edge, Graph, Single};
use crate::observed::{Expected, Is, Observed, Observer};
use crate::sequences::{Sequences, Unread};
use crate::spec::Fit;
use crate::subject::Quantity;
use scrimp_checker::CheckError;
use scrimp_core::Limit;
use scrimp_core::follow::{Ground, Place, Way};
use scrimp_system::{EventCode, Rounds};
use std::collections::HashMap;
use std::rc::Rc;

/// Why a search ends before it has an answer.
pub(crate) enum Ended {
    Wrong(CheckError),
    Limit(Limit),
    /// The model is too small for what was met.
    Outgrown,
}

impl From<CheckError> for Ended {
    fn from(error: CheckError) -> Ended {
        Ended::Wrong(error)
    }
}

impl From<Unread> for Ended {
    fn from(unread: Unread) -> Ended {
        match unread {
            Unread::Wrong(error) => Ended::Wrong(error),
            Unread::Stopped(cause) => Ended::Limit(cause.into()),
        }
    }
}

/// Which single steps of a step were logged: each with the number of its sequence.
pub(crate) type How = Vec<(u32, u32)>;

pub(crate) struct Search<'a, 'm> {
    pub observer: Observer<'a, 'm>,
    pub graph: Graph<'m>,
    pub sequences: Sequences,
    rounds: Rounds<'a>,
    /// How far each sequence was followed: lists by their numbers. With one sequence there are none.
    far: Vec<Rc<[u64]>>,
    far_numbers: HashMap<Rc<[u64]>, u32>,
    hows: Vec<How>,
    how_numbers: HashMap<How, u32>,
    /// The heads that were asked for last, with how far the sequences had been followed.
    last_heads: (Vec<u64>, Rc<[Head]>),
}

/// A record that may come next, and its sequence.
type Head = (usize, Rc<Observed>);

/// A step of the model with what a record is held against.
#[derive(Clone, Copy)]
pub(crate) struct Step<'s> {
    pub code: EventCode,
    pub before: &'s [u8],
    pub after: &'s [u8],
    /// Where the atomic sequence ends that it belongs to.
    pub end: &'s [u8],
}

/// The choice of places where a search goes on from an atomic sequence.
struct Along<'e> {
    steps: &'e [Step<'e>],
    far: Vec<u64>,
    how: How,
    /// The processes whose records were taken for the same single step.
    together: Vec<usize>,
    found: Vec<(Vec<u64>, How)>,
}

impl<'a, 'm> Search<'a, 'm> {
    pub fn new(
        observer: Observer<'a, 'm>,
        graph: Graph<'m>,
        sequences: Sequences,
        rounds: Rounds<'a>,
    ) -> Search<'a, 'm> {
        let mut search = Search {
            observer,
            graph,
            sequences,
            rounds,
            far: Vec::new(),
            far_numbers: HashMap::new(),
            hows: vec![How::new()],
            how_numbers: HashMap::new(),
            last_heads: (vec![u64::MAX], Rc::new([])),
        };
        search.far_number(vec![0; search.sequences.len()]);
        search
    }

    /// The places where runs begin.
    pub fn starts(&mut self) -> Vec<Place> {
        self.graph.initial().into_iter().map(Place::from).collect()
    }

    fn is_single(&self) -> bool {
        self.sequences.len() == 1
    }

    fn far_number(&mut self, far: Vec<u64>) -> u32 {
        if self.is_single() {
            return 0;
        }
        let far: Rc<[u64]> = far.into();
        let next = self.far.len() as u32;
        let number = *self.far_numbers.entry(far.clone()).or_insert(next);
        if number == next {
            self.far.push(far);
        }
        number
    }

    fn how_number(&mut self, how: How) -> u32 {
        let next = self.hows.len() as u32;
        let number = *self.how_numbers.entry(how.clone()).or_insert(next);
        if number == next {
            self.hows.push(how);
        }
        number
    }

    /// What a number says of how a step was logged.
    pub fn how(&self, number: u32) -> &How {
        &self.hows[number as usize]
    }

    /// How far each sequence was followed at a place.
    pub fn far(&self, place: Place, matched: u64) -> Vec<u64> {
        match self.is_single() {
            true => vec![matched],
            false => self.far[(place >> 32) as usize].to_vec(),
        }
    }

    pub fn state(&self, place: Place) -> &Rc<[u8]> {
        self.graph.state(place as u32)
    }

    /// Are there records behind a place?
    pub fn goes_on(&mut self, place: Place, matched: u64) -> Result<bool, CheckError> {
        let far = self.far(place, matched);
        for (number, at) in far.into_iter().enumerate() {
            if self.sequences.get(number, at, &mut self.observer)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The records that may come next, each with its sequence: first of theirs, and none that did not know of another.
    pub fn heads(&mut self, far: &[u64]) -> Result<Rc<[Head]>, CheckError> {
        if self.last_heads.0 == far {
            return Ok(self.last_heads.1.clone());
        }
        let mut heads: Vec<Head> = Vec::new();
        for (number, at) in far.iter().enumerate() {
            heads.extend(self.sequences.get(number, *at, &mut self.observer)?.map(|record| (number, record)));
        }
        let clock = |head: &Head| head.1.clock.clone();
        let clocks: Vec<_> = heads.iter().filter_map(clock).collect();
        heads.retain(|(_, record)| {
            record.clock.as_ref().is_none_or(|this| !clocks.iter().any(|other| other.is_before(this)))
        });
        self.last_heads = (far.to_vec(), heads.into());
        Ok(self.last_heads.1.clone())
    }

    /// May a record be about a step?
    pub fn fits(&mut self, record: &Observed, step: Step) -> bool {
        let is_meant = match self.observer.fit(record.kind, step.code) {
            Fit::No => false,
            Fit::Yes => true,
            Fit::Message => self.observer.passes(record.kind, step.code, step.before),
        };
        is_meant && record.values.iter().all(|expected| self.holds(expected, step))
    }

    /// Is a value what it is said to be? After a step also where its atomic sequence ends: nobody sees what lies between.
    pub fn holds(&self, expected: &Expected, step: Step) -> bool {
        match expected.before {
            true => self.is(expected, step.before),
            false => self.is(expected, step.after) || (step.after != step.end && self.is(expected, step.end)),
        }
    }

    fn is(&self, expected: &Expected, state: &[u8]) -> bool {
        let subject = self.observer.subject;
        match (&expected.quantity, &expected.is) {
            (Quantity::Number { value, .. }, Is::Number(number)) => {
                subject.file.is_some_and(|file| file.layout().eval(value, state) == Ok(*number))
            }
            (Quantity::Channel(entry) | Quantity::Shown(entry), Is::Text(text)) => {
                let values = subject.model.shown_values(state);
                values.get(*entry).is_some_and(|value| squeezed(value) == *text)
            }
            _ => false,
        }
    }

    /// Where a step leads, as one that was logged.
    fn seen(
        &mut self,
        edge: &Edge,
        choice: u32,
        before: &[u8],
        far: &[u64],
        out: &mut Vec<Way>,
    ) -> Result<(), CheckError> {
        let end = self.graph.state(edge.to).clone();
        let whole = [Step { code: edge.code, before, after: &end, end: &end }];
        let apart =
            edge.singles.iter().map(|Single { code, before, after }| Step { code: *code, before, after, end: &end });
        let apart: Vec<Step> = apart.collect();
        let steps = if apart.is_empty() { &whole[..] } else { &apart[..] };
        let mut along = Along { steps, far: far.to_vec(), how: How::new(), together: Vec::new(), found: Vec::new() };
        self.go_along(&mut along, 0)?;
        for (far, how) in along.found {
            let seen = how.len() as u32;
            let to = Place::from(edge.to) | Place::from(self.far_number(far)) << 32;
            let how = self.how_number(how);
            out.push(Way { to, seen, choice, how });
        }
        Ok(())
    }

    /// May one of these records be about a step, apart from values?
    fn may_be_seen(&mut self, edge: &Edge, heads: &[Head]) -> bool {
        heads.iter().any(|(_, record)| match edge.singles.is_empty() {
            true => self.observer.fit(record.kind, edge.code) != Fit::No,
            false => edge.singles.iter().any(|single| self.observer.fit(record.kind, single.code) != Fit::No),
        })
    }

    /// Goes on at a single step: without a record for it, or with one.
    fn go_along(&mut self, along: &mut Along, at: usize) -> Result<(), CheckError> {
        let Some(step) = along.steps.get(at).copied() else {
            if !along.how.is_empty() {
                along.found.push((along.far.clone(), along.how.clone()));
            }
            return Ok(());
        };
        let together = std::mem::take(&mut along.together);
        self.go_along(along, at + 1)?;
        along.together = together;
        for (number, record) in self.heads(&along.far)?.iter() {
            let lanes = &self.observer.kinds[record.kind as usize].lanes;
            let who = match lanes[..] {
                [lane] => Some(lane),
                _ => None,
            };
            // A second record of the same single step is that of another process that takes part.
            let second = !along.together.is_empty();
            if second && who.is_none_or(|who| along.together.contains(&who)) || !self.fits(record, step) {
                continue;
            }
            along.far[*number] += 1;
            along.how.push((at as u32, *number as u32));
            match who {
                Some(who) if self.observer.subject.event(step.code).lanes.len() > 1 => {
                    along.together.push(who);
                    self.go_along(along, at)?;
                    along.together.pop();
                }
                _ => {
                    let together = std::mem::take(&mut along.together);
                    self.go_along(along, at + 1)?;
                    along.together = together;
                }
            }
            along.how.pop();
            along.far[*number] -= 1;
        }
        Ok(())
    }

    /// Of one log, records behind which all runs are are not needed any more.
    pub fn forget_records(&mut self, matched: u64) {
        if self.is_single() {
            self.sequences.drop_before(0, matched);
        }
    }

    /// Forgets states that no run is in at the moment; answers how places are called from now on.
    pub fn forget(&mut self, places: &[Place], matched: u64) -> HashMap<Place, Place> {
        let states = self.graph.keep(places.iter().map(|place| *place as u32));
        let far: Vec<Vec<u64>> = places.iter().map(|place| self.far(*place, matched)).collect();
        self.far.clear();
        self.far_numbers.clear();
        let named = places.iter().zip(far).map(|(place, far)| {
            let far = self.far_number(far);
            (*place, Place::from(states[&(*place as u32)]) | Place::from(far) << 32)
        });
        named.collect()
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        let far = self.far.len() * (self.sequences.len() * 8 + 64);
        self.graph.bytes() + self.sequences.bytes() + far
    }
}

impl Ground for Search<'_, '_> {
    type Error = Ended;

    fn ways(&mut self, place: Place, matched: u64, out: &mut Vec<Way>) -> Result<(), Ended> {
        self.rounds.next().map_err(|cause| Ended::Limit(cause.into()))?;
        let state = self.state(place).clone();
        let edges = self.graph.edges(place as u32);
        let model = self.observer.subject.model;
        if model.file().is_some_and(|file| file.outgrown().is_some()) {
            return Err(Ended::Outgrown);
        }
        let far = self.far(place, matched);
        let heads = self.heads(&far)?;
        for (choice, edge) in edges.iter().enumerate() {
            let choice = choice as u32;
            if self.may_be_seen(edge, &heads) {
                self.seen(edge, choice, &state, &far, out)?;
            }
            out.push(Way { to: Place::from(edge.to) | place >> 32 << 32, seen: 0, choice, how: 0 });
        }
        Ok(())
    }
}
