//! The search for a run that looks like the logs: places are states of the model together with how far each log was followed.
//!
//! An atomic sequence is one step, and what is logged of it may be any of its single steps, several of them too. What two
//! processes do together may be logged by one of them, or by both.

use crate::glob::squeezed;
use crate::graph::{Edge, Graph, Single};
use crate::observed::{Expected, Is, Observed, Observer};
use crate::sequences::{Sequences, Unread};
use crate::spec::Writers;
use crate::subject::Quantity;
use scrimp_checker::CheckError;
use scrimp_core::Limit;
use scrimp_core::follow::{Ground, Place, Way};
use scrimp_system::{EventCode, Rounds};
use std::collections::{HashMap, HashSet};
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
    /// Where the atomic sequence begins that it belongs to, and where it ends.
    pub start: &'s [u8],
    pub end: &'s [u8],
}

/// Records that were taken for the single steps of a step up to some place.
#[derive(Clone)]
struct Taken {
    far: Vec<u64>,
    /// Who may have written those that are about the last single step.
    together: Vec<Writers>,
    /// The last of them: its number in a list, in which each names the one before it; 0 for none.
    last: u32,
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
            if self.sequences.is_next(number, *at, far) {
                heads.extend(self.sequences.get(number, *at, &mut self.observer)?.map(|record| (number, record)));
            }
        }
        self.last_heads = (far.to_vec(), heads.into());
        Ok(self.last_heads.1.clone())
    }

    /// Who may have written a record about a step; nobody, where it is not about that one.
    fn writers(&mut self, record: &Observed, step: Step) -> Writers {
        let fit = self.observer.fit(record.kind, step.code);
        let mut writers = fit.writers.clone();
        if fit.message && !writers.whole {
            let passed = self.observer.passes(record.kind, step.code, step.before);
            writers.lanes.extend(passed.lanes.into_iter().filter(|lane| !fit.writers.lanes.contains(lane)));
        }
        match writers.is_nobody() || record.values.iter().all(|expected| self.holds(expected, step)) {
            true => writers,
            false => Writers::default(),
        }
    }

    /// Is a value what it is said to be? Before a step also where its atomic sequence begins, and after it where that ends:
    /// nobody sees what lies between.
    pub fn holds(&self, expected: &Expected, step: Step) -> bool {
        let (near, far) = match expected.before {
            true => (step.before, step.start),
            false => (step.after, step.end),
        };
        self.is(expected, near) || (near != far && self.is(expected, far))
    }

    fn is(&self, expected: &Expected, state: &[u8]) -> bool {
        let subject = self.observer.subject;
        match (&expected.quantity, &expected.is) {
            (Quantity::Number { value, .. }, Is::Number(number)) => {
                subject.file.is_some_and(|file| file.layout().eval(value, state) == Ok(*number))
            }
            (Quantity::Channel(entry), Is::Messages(said)) => {
                let same = |said: &Vec<String>, there: &Vec<String>| {
                    said.len() == there.len()
                        && said.iter().zip(there).all(|(said, there)| subject.same(said, &squeezed(there)))
                };
                subject.model.messages(state, *entry).is_some_and(|there| {
                    said.len() == there.len() && said.iter().zip(&there).all(|(said, there)| same(said, there))
                })
            }
            (Quantity::Shown(entry), Is::Text(text)) => {
                let values = subject.model.shown_values(state);
                values.get(*entry).is_some_and(|value| squeezed(value) == *text)
            }
            _ => false,
        }
    }

    /// Where a step leads, as one that was logged.
    fn seen(&mut self, edge: &Edge, choice: u32, before: &[u8], far: &[u64], out: &mut Vec<Way>) -> Result<(), Ended> {
        let end = self.graph.state(edge.to).clone();
        let whole = [Step { code: edge.code, before, after: &end, start: before, end: &end }];
        let apart = edge.singles.iter().map(|Single { code, before: near, after }| Step {
            code: *code,
            before: near,
            after,
            start: before,
            end: &end,
        });
        let apart: Vec<Step> = apart.collect();
        let steps = if apart.is_empty() { &whole[..] } else { &apart[..] };
        for (far, how) in self.go_along(steps, far)? {
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
            true => !self.observer.fit(record.kind, edge.code).is_no(),
            false => edge.singles.iter().any(|single| !self.observer.fit(record.kind, single.code).is_no()),
        })
    }

    /// All that may have been logged of these single steps: of each nothing, a record, or one each of several processes
    /// that take part. How far the sequences are followed then is answered once each, but for where they were before.
    fn go_along(&mut self, steps: &[Step], far: &[u64]) -> Result<Vec<(Vec<u64>, How)>, Ended> {
        let mut list: Vec<((u32, u32), u32)> = vec![((0, 0), 0)];
        let mut all = vec![Taken { far: far.to_vec(), together: Vec::new(), last: 0 }];
        for (at, step) in steps.iter().enumerate() {
            let mut known: HashSet<(Vec<u64>, Vec<Writers>)> = HashSet::new();
            let mut next = 0;
            while let Some(Taken { far, together, last }) = all.get(next).cloned() {
                self.rounds.next().map_err(Unread::Stopped)?;
                next += 1;
                for (number, record) in self.heads(&far)?.iter() {
                    let writers = self.writers(record, *step);
                    let nobody = writers.is_nobody();
                    let mut together = [&together[..], &[writers]].concat();
                    if nobody || !Writers::are_apart(&together) {
                        continue;
                    }
                    together.sort_unstable();
                    let mut far = far.clone();
                    far[*number] += 1;
                    if known.insert((far.clone(), together.clone())) {
                        list.push(((at as u32, *number as u32), last));
                        all.push(Taken { far, together, last: list.len() as u32 - 1 });
                    }
                }
            }
            let mut known: HashSet<Vec<u64>> = HashSet::new();
            all.retain_mut(|taken| {
                taken.together.clear();
                known.insert(taken.far.clone())
            });
        }
        let how = |mut last: u32| {
            let mut how = How::new();
            while last != 0 {
                let (one, before) = list[last as usize];
                how.push(one);
                last = before;
            }
            how.reverse();
            how
        };
        Ok(all.into_iter().filter(|taken| taken.last != 0).map(|taken| (taken.far, how(taken.last))).collect())
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
