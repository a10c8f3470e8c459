//! Room in the store: where it may not grow, one state goes for each that comes.

use super::{Parts, Search, Step, Stop};
use crate::order::Opening;
use crate::store::Found;
use scrimp_core::Limit;
use std::ops::Range;

impl Search<'_> {
    /// Offers states to the store: all of `which`, or the first one where the store cannot just grow. Answers how many.
    pub(super) fn offer(&mut self, which: Range<usize>) -> Step<usize> {
        self.found.clear();
        let (stored, whole) = (self.parts.store.len() + which.len(), self.parts.store.whole() + which.len());
        let one_by_one = self.pressed && self.parts.store.numbers() < self.most && which.len() > 1;
        let allowed = whole <= self.parts.forget.most() && stored <= self.most;
        if allowed && !one_by_one && self.take(which.clone()) {
            return Ok(which.len());
        }
        if let Some(id) = self.parts.store.find(&self.kept, which.start) {
            self.found.push(Found { id, new: false });
            return Ok(1);
        }
        let one = which.start..which.start + 1;
        let mut tried = false;
        loop {
            let allowed = self.parts.store.whole() < self.parts.forget.most();
            if allowed && self.parts.store.len() < self.most && self.take(one.clone()) {
                return Ok(1);
            }
            let limit = if allowed { Limit::Memory } else { Limit::Cache };
            if !(self.retract(&mut tried) || self.parts.forget.reclaim(self.parts.store)) {
                return Err(Stop::Limit(limit));
            }
        }
    }

    /// Stores states, with memory for all that is kept beside them.
    fn take(&mut self, which: Range<usize>) -> bool {
        let Parts { store, forget, sleeping, .. } = &mut self.parts;
        let numbers = store.numbers().max(store.len() + which.len());
        let taken = forget.prepare(numbers).is_ok()
            && self.via.as_mut().is_none_or(|via| via.ensure(numbers).is_ok())
            && self.progress.as_mut().is_none_or(|progress| progress.ensure(numbers).is_ok())
            && sleeping.as_mut().is_none_or(|sleeping| sleeping.prepare(numbers).is_ok())
            && match &self.origins {
                Some(origins) if !origins.is_empty() => {
                    store.offer_from(&self.kept, which.clone(), origins, &mut self.found).is_ok()
                }
                _ => store.offer(&self.kept, which.clone(), &mut self.found).is_ok(),
            };
        self.pressed |= !taken;
        if !taken && which.len() == 1 && !store.regains() {
            self.most = self.most.min(store.numbers());
        }
        self.stored_peak = self.stored_peak.max(store.stored() as u64);
        taken
    }

    /// Gives up a waiting state that is certain to be found again.
    fn retract(&mut self, tried: &mut bool) -> bool {
        let Parts { store, forget, order, rank, .. } = &mut self.parts;
        if std::mem::replace(tried, true) || !forget.retracts() {
            return false;
        }
        let Some(id) = order.retract() else {
            return false;
        };
        if forget.retract(id, *store) {
            self.facts.states -= 1;
            return true;
        }
        self.state.clear();
        store.load(id, self.state.push_with(0));
        let depth = order.depth(0) + 1;
        let rank = rank.map_or(0, |rank| rank(self.state.state(0), depth));
        order.push(Opening { id, depth, rank });
        false
    }
}
