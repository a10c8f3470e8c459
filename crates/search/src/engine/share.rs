//! The search of one share of the states, in rounds with the others ([`exchange`](super::exchange)).

use super::exchange::{Asked, Bid, Parcel, Sent, Share};
use super::{GONE, Parent, Part, Search, Step, Stop};
use crate::order::Lowest;
use crate::outcome::batch_size;
use crate::store::ARCHIVED;
use scrimp_core::Limit;
use std::sync::atomic::Ordering;

/// Batches of sources expanded in a round.
const BATCHES: usize = 8;
/// The fewest sources for which a round is worth its while.
const FEWEST: usize = 128;

/// What a search of one share has beside the rest.
pub(super) struct Mail {
    /// What is to be sent to each share.
    out: Vec<Parcel>,
    /// What was sent on condition.
    asked: Vec<Asked>,
}

impl Mail {
    pub fn new(share: Share, state_bytes: usize) -> Mail {
        let out = (0..share.exchange.shares()).map(|_| Parcel::new(state_bytes)).collect();
        Mail { out, asked: Vec::new() }
    }

    pub fn bytes(&self) -> usize {
        self.out.iter().map(Parcel::bytes).sum()
    }

    pub fn send_left_out(&mut self, to: usize, state: &[u8]) {
        self.out[to].states.push(state, 0);
        self.out[to].sent.push(Sent { depth: 0, tie: None, left_out: true });
    }
}

impl<'a> Search<'a> {
    /// Takes part in rounds until all agree that there is nothing left to do, or one of them must end.
    pub(super) fn run_share(&mut self, share: Share<'a>) -> Step {
        let asks = self.progress.is_some();
        let mut halted = self.attempt(share, Search::begin);
        for round in 0u64.. {
            if round % 64 == 0 {
                self.account();
            }
            if halted.is_none() {
                halted = self.parts.control.stopped(0).map(Stop::Limit);
            }
            let pauses = share.number == 0 && self.parts.control.pause_due(0);
            let bid = Bid { first: share.number, pauses, ..self.bid(halted.is_some()) };
            let all = share.exchange.agree(share.number, bid);
            if share.number == 0 {
                self.publish_all(all);
            }
            if all.halted {
                break;
            }
            let (band, again) = match all.lowest {
                Lowest { ahead: Some(band), .. } => (band, false),
                Lowest { behind: Some(band), .. } => (band, true),
                _ => {
                    self.show_line(all);
                    break;
                }
            };
            if all.visits >= self.parts.most_visits {
                return Err(Stop::Limit(Limit::Visits));
            }
            if all.pauses {
                return Err(Stop::Paused);
            }
            halted = self.attempt(share, |search| search.send_round(share, all, band, again));
            share.exchange.deliver(share.number);
            halted = halted.or_else(|| self.attempt(share, |search| search.receive(share)));
            if asks {
                share.exchange.answer(share.number);
                halted = halted.or_else(|| self.attempt(share, |search| search.hear_answers(share)));
            }
        }
        halted.map_or(Ok(()), Err)
    }

    /// Does a part of a round. Whatever happens there, the others do not wait in vain.
    fn attempt(&mut self, share: Share, work: impl FnOnce(&mut Self) -> Step) -> Option<Stop> {
        share.exchange.panics().catch(|| work(self)).unwrap_or(Err(Stop::Decided)).err()
    }

    fn bid(&self, halted: bool) -> Bid {
        let lowest = self.parts.order.lowest();
        // What is left of sources that were begun belongs to where the line stands.
        let ahead = if self.unmet.is_empty() { lowest.ahead } else { self.line.or(lowest.ahead).or(Some((0, 0))) };
        Bid {
            lowest: Lowest { ahead, ..lowest },
            first: 0,
            halted,
            pauses: false,
            fallen_back: self.parts.forget.has_fallen_back(),
            stored: self.parts.store.stored() as u64,
            open: (self.parts.order.len() + self.unmet.len()) as u64,
            visits: self.visits,
            transitions: self.facts.transitions,
            persistent: self.parts.forget.facts().persistent,
        }
    }

    fn publish_all(&mut self, all: Bid) {
        self.facts.widest = self.facts.widest.max(all.open);
        let control = self.parts.control;
        control.states.store(all.stored, Ordering::Relaxed);
        control.transitions.store(all.transitions, Ordering::Relaxed);
        control.visits.store(all.visits, Ordering::Relaxed);
        control.open.store(all.open, Ordering::Relaxed);
        control.depth.store(self.facts.depth as u64, Ordering::Relaxed);
    }

    /// Moves the line where all want it, expands what stands there, and sends on what is not of this share.
    fn send_round(&mut self, share: Share, all: Bid, band: (u128, u128), again: bool) -> Step {
        let came_back = share.exchange.came_back(share.number);
        if let Some(ties) = self.parts.forget.ties() {
            came_back.into_iter().for_each(|tie| ties.untie(tie, self.parts.store));
        }
        if all.fallen_back {
            self.parts.forget.fall_back();
        }
        let end = self.move_line(all, band, again);
        let most = BATCHES * batch_size(self.parts.model.state_bytes());
        // The last visits are those of the share that is first.
        let visits = self.parts.most_visits - all.visits;
        let left = match visits / share.exchange.shares() as u64 {
            0 if share.number == all.first => visits,
            each => each,
        };
        let batch = self.parts.forget.at_once(self.parts.store.len()).max(FEWEST).min(most).min(left as usize);
        self.depths.clear();
        let mut ids = Vec::with_capacity(batch);
        self.parts.order.next_within(end, batch, &mut ids);
        self.expand(&ids)?;
        self.take_up_rest();
        self.divide(share);
        let mail = self.mail.as_mut().expect("a share has mail");
        for to in share.others() {
            std::mem::swap(&mut mail.out[to], &mut share.exchange.parcel(share.number, to));
        }
        if self.frames.is_empty() { Ok(()) } else { self.run_events(0) }
    }

    /// The line stays as long as anything waits there; then it moves. Answers where it ends.
    fn move_line(&mut self, all: Bid, band: (u128, u128), again: bool) -> u128 {
        let stands = self.line;
        if let Some((_, end)) = stands.filter(|&(_, end)| band.0 <= end && !again) {
            return end;
        }
        if stands.is_some() {
            self.show_line(all);
            self.parts.forget.advanced(self.parts.store, again);
        }
        self.sweep += again as u64;
        self.line = Some(band);
        self.parts.order.stand_at(band.0, again);
        band.1
    }

    /// Shows where the line stood, and what all shares had stored then.
    fn show_line(&self, all: Bid) {
        let (Some(front), Some(progress)) = (self.parts.front, self.parts.order.line()) else {
            return;
        };
        let Bid { stored, open, persistent, visits, .. } = all;
        front(super::Front { sweep: self.sweep, progress, stored, open, persistent, visits });
    }

    /// Takes the successors that belong to others out of those that are kept, and into the mail.
    fn divide(&mut self, share: Share) {
        let Some(mut mail) = self.mail.take() else { return };
        mail.asked.clear();
        self.keep.clear();
        for frame in 0..self.frames.len() {
            let super::Frame { id, first, count, .. } = self.frames[frame];
            let conditional = self.marked(frame).0 == Part::Proviso;
            let depth = self.depth_of(frame) + 1;
            for i in first as usize..(first + count) as usize {
                let owner = share.elsewhere(self.kept.state(i));
                self.keep.push(owner.is_none());
                let Some(to) = owner else { continue };
                let ties = if id == GONE { None } else { self.parts.forget.ties() };
                let tie = ties.map(|ties| ties.tie(id));
                let parcel = &mut mail.out[to];
                if conditional {
                    mail.asked.push(Asked { to, place: parcel.sent.len(), source: id });
                }
                parcel.states.push(self.kept.state(i), self.kept.event(i));
                parcel.sent.push(Sent { depth, tie, left_out: false });
                self.facts.transitions += 1;
            }
        }
        let mut first = 0;
        let mut keep = self.keep.iter();
        for frame in &mut self.frames {
            let count = keep.by_ref().take(frame.count as usize).filter(|keep| **keep).count() as u32;
            (frame.first, frame.count) = (first, count);
            first += count;
        }
        let mut keep = self.keep.iter();
        self.kept.retain_from(0, |_| keep.next().copied().unwrap_or(true));
        self.mail = Some(mail);
    }

    /// Takes in what the others have sent.
    fn receive(&mut self, share: Share) -> Step {
        for from in share.others() {
            let mut parcel = share.exchange.parcel(from, share.number);
            parcel.later.clear();
            std::mem::swap(&mut self.kept, &mut parcel.states);
            let mut at = 0;
            while at < self.kept.len() {
                if parcel.sent[at].left_out {
                    self.hear_of(at);
                    parcel.later.push(false);
                    at += 1;
                    continue;
                }
                let run = parcel.sent[at..].iter().take_while(|sent| !sent.left_out).count();
                let singly = self.parts.forget.at_once(self.parts.store.len()) == 1;
                let answered = self.offer(at..at + if singly { 1 } else { run })?;
                for i in 0..answered {
                    let (found, Sent { depth, tie, .. }) = (self.found[i], parcel.sent[at + i]);
                    parcel.later.push(self.is_later(found));
                    let kept = tie.filter(|_| found.new && self.parts.forget.ties().is_some());
                    if let (Some(tie), None, Some(ties)) = (tie, kept, self.parts.forget.ties()) {
                        ties.send_back(tie);
                    }
                    if found.new {
                        self.open(at + i, found.id, Parent::Elsewhere(kept), depth)?;
                    } else if self.parts.forget.heeds_reached() && found.id != ARCHIVED {
                        self.parts.forget.reached(found.id, None, self.kept.event(at + i), self.parts.store);
                    }
                }
                at += answered;
            }
            std::mem::swap(&mut self.kept, &mut parcel.states);
            parcel.clear();
        }
        if let Some(ties) = self.parts.forget.ties() {
            ties.sent_back().into_iter().for_each(|tie| share.exchange.send_back(share.number, tie));
        }
        Ok(())
    }

    /// A predecessor of a state, number `at` of those kept, is done without the event that leads to it.
    fn hear_of(&mut self, at: usize) {
        if let Some(id) = self.parts.store.find(&self.kept, at)
            && self.parts.forget.heeds_left_out()
        {
            self.parts.forget.reached(id, None, self.kept.event(at), self.parts.store);
        }
    }

    /// Closes sources whose condition is met by a state that was sent.
    fn hear_answers(&mut self, share: Share) -> Step {
        let Some(mail) = &mut self.mail else { return Ok(()) };
        let later = |asked: &Asked| share.exchange.parcel(share.number, asked.to).later.get(asked.place) == Some(&true);
        let mut met: Vec<_> = mail.asked.iter().filter(|asked| later(asked)).map(|asked| asked.source).collect();
        met.sort_unstable();
        let (done, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unmet).into_iter().partition(|unmet| met.binary_search(&unmet.id).is_ok());
        self.unmet = rest;
        done.into_iter().try_for_each(|unmet| self.close_source(unmet.id, Part::Met))
    }
}
