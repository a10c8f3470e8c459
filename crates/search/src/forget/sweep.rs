//! The sweep-line: what lies behind it is deleted, but for the destinations of regress edges.
//!
//! States are explored in the order of a progress measure. Once nothing open has the value at which the line stands, the
//! states expanded there are deleted. An edge that leads behind the line marks its destination persistent: it stays for
//! good and is a root of the next sweep. A measure without such edges needs one sweep and visits every state once.
//!
//! With a cache, states of the value at which the line stands may also make room before it moves on.

use super::{Cache, Forget, Link, Ties};
use crate::column::{Column, Stack};
use crate::store::{Dropped, Full, Shelf, StateId, Store};
use scrimp_core::{Budget, ForgetFacts};
use scrimp_system::{EventCode, Unsuited};
use std::io;
use std::sync::Arc;

const CLOSED: u8 = 1;
const PERSISTENT: u8 = 2;

pub struct Sweep {
    /// Without a cache: closed and persistent.
    flags: Column<u8>,
    /// States closed where the line stands.
    class: Stack,
    class_size: u64,
    cache: Option<Cache>,
    facts: ForgetFacts,
}

impl Sweep {
    pub fn new(cache: Option<Cache>, budget: &Arc<Budget>) -> io::Result<Sweep> {
        let cache = cache.map(|cache| cache.swept(budget)).transpose()?;
        Ok(Sweep {
            flags: Column::new(budget)?,
            class: Stack::new(budget)?,
            class_size: 0,
            cache,
            facts: ForgetFacts { sweeps: 1, ..ForgetFacts::default() },
        })
    }
}

impl Forget for Sweep {
    fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        self.flags.ensure(numbers)?;
        self.class.ensure(2 * numbers + 128)?;
        self.cache.as_mut().map_or(Ok(()), |cache| cache.prepare(numbers))
    }

    fn most(&self) -> usize {
        self.cache.as_ref().map_or(usize::MAX, Cache::most)
    }

    fn opened(&mut self, link: Link, store: &dyn Store) -> Result<(), Unsuited> {
        self.flags[link.id] = if link.behind { PERSISTENT } else { 0 };
        self.facts.persistent += link.behind as u64;
        match &mut self.cache {
            Some(cache) => cache.opened(link, store),
            None => Ok(()),
        }
    }

    fn note(&self, id: StateId) -> u32 {
        (self.flags[id] & PERSISTENT != 0) as u32
    }

    fn adopt(&mut self, link: Link, note: u32, store: &dyn Store) -> Result<(), Unsuited> {
        self.opened(Link { behind: note != 0, ..link }, store)
    }

    /// Persistent states are counted as they come back.
    fn remember(&mut self, facts: &ForgetFacts) {
        self.facts = ForgetFacts { persistent: self.facts.persistent, ..facts.clone() };
        self.cache.iter_mut().for_each(|cache| cache.remember(facts));
    }

    fn heeds_reached(&self) -> bool {
        self.cache.as_ref().is_some_and(Cache::heeds_reached)
    }

    fn reached(&mut self, id: StateId, from: Option<StateId>, event: EventCode, store: &mut dyn Store) {
        if let Some(cache) = &mut self.cache {
            cache.reached(id, from, event, store);
        }
    }

    fn expanding(&mut self, id: StateId, successors: usize, in_one_go: bool, store: &mut dyn Store) -> bool {
        self.cache.as_mut().is_some_and(|cache| cache.expanding(id, successors, in_one_go, store))
    }

    fn closed(&mut self, id: StateId, store: &mut dyn Store) {
        self.flags[id] |= CLOSED;
        self.class_size += 1;
        self.facts.largest_class = self.facts.largest_class.max(self.class_size);
        let shelf = if self.flags[id] & PERSISTENT == 0 { Shelf::Passing } else { Shelf::Kept };
        if self.cache.is_none() && store.archive(id, shelf) {
            self.flags[id] = 0;
            return;
        }
        if self.flags[id] & PERSISTENT == 0 {
            if self.class.len() > 2 * store.len() + 64 {
                self.forget_evicted();
            }
            self.class.push(id);
        }
        if let Some(cache) = &mut self.cache {
            cache.closed(id, store);
        }
    }

    fn advanced(&mut self, store: &mut dyn Store, again: bool) {
        self.facts.sweeps += again as u64;
        self.class_size = 0;
        store.drop_passing(Dropped::All);
        while let Some(id) = self.class.pop() {
            // A number may stand here twice, or belong to an open state by now, when the cache let the first one go.
            if self.flags[id] != CLOSED {
                continue;
            }
            self.flags[id] = 0;
            if let Some(cache) = &mut self.cache {
                cache.deleted(id);
            }
            store.remove(id);
        }
        if let Some(cache) = &mut self.cache {
            cache.new_epoch();
        }
    }

    fn reclaim(&mut self, store: &mut dyn Store) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let Some(id) = cache.evict(store) else {
            return false;
        };
        self.flags[id] = 0;
        true
    }

    fn ties(&mut self) -> Option<&mut dyn Ties> {
        self.cache.as_mut()?.ties()
    }

    fn wants_chains(&self) -> bool {
        self.cache.as_ref().is_some_and(Cache::wants_chains)
    }

    fn once(&self) -> bool {
        self.facts.persistent == 0 && self.cache.as_ref().is_none_or(Cache::once)
    }

    fn facts(&self) -> ForgetFacts {
        let cached = self.cache.as_ref().map(Cache::facts).unwrap_or_default();
        let ForgetFacts { sweeps, persistent, largest_class, .. } = self.facts;
        ForgetFacts { sweeps, persistent, largest_class, ..cached }
    }

    fn bytes(&self) -> usize {
        self.flags.bytes() + self.class.bytes() + self.cache.as_ref().map_or(0, Cache::bytes)
    }
}

impl Sweep {
    /// Drops the entries of states that the cache let go.
    fn forget_evicted(&mut self) {
        const LISTED: u8 = 4;
        let mut at = 0;
        while at < self.class.len() {
            let id = self.class.get(at);
            if self.flags[id] == CLOSED {
                self.flags[id] |= LISTED;
                at += 1;
            } else {
                self.class.swap_remove(at);
            }
        }
        for at in 0..self.class.len() {
            self.flags[self.class.get(at)] &= !LISTED;
        }
    }
}
