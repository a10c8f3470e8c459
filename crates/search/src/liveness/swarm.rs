//! Several threads look for a cycle together, each with nested searches of its own.
//!
//! All of them begin at the initial states and turn their edges in different ways, so that they soon part. What one is done
//! with is blue, what its inner searches have seen is red, and no other goes there again. An inner search begins when its
//! state is done, and what it has seen becomes red only when all accepting states among it are: another thread may still
//! be at work on one, and its verdict counts. A state may be blue while what it leads to is still on another thread's path:
//! so everything is known only when all threads are through. After Evangelista, Laarman,
//! Petrucci and van de Pol, "Improved multi-core nested depth-first search" (2012).

use super::crew::{Crew, Ended, Gone, Mate};
use super::lasso::Rough;
use super::path_set::PathSet;
use super::product::{INSIDE, Mover, Product, WEAK};
use super::states::{Access, Key, States};
use super::walk::{Halt, Walk};
use crate::store::table::Concurrent;
use crate::store::{Full, StateId, Store, Table};
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::thread;
use scrimp_core::{Budget, Control, GraphFacts};
use scrimp_system::{Batch, Model};
use scrimp_temporal::Marks;
use std::collections::HashSet;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;

const BLUE: u8 = 1;
const RED: u8 = 2;

/// Colours by number.
type Colours<'c> = Crew<'c, u8, Option<Rough>>;

fn colour<'k>(crew: &'k Colours, key: Key) -> &'k AtomicU8 {
    debug_assert!((key as usize) < crew.beside().len());
    // SAFETY: every number that was given out is within the column.
    unsafe { &*(crew.beside().address(key as StateId) as *const AtomicU8) }
}

/// One thread's way to the states.
struct Member<'c> {
    mate: Mate<'c, u8, Option<Rough>>,
    path: PathSet,
}

impl Member<'_> {
    fn colour(&self, key: Key) -> &AtomicU8 {
        colour(self.mate.crew, key)
    }
}

impl Access for Member<'_> {
    fn keys(&mut self, batch: &Batch, _: Option<Key>, keys: &mut Vec<Key>) -> Result<(), Full> {
        keys.extend(self.mate.offer(batch)?.iter().map(|found| found.id as Key));
        Ok(())
    }

    fn load(&mut self, key: Key, out: &mut Batch) {
        self.mate.load(key as StateId, out);
    }

    fn is_full(&self, _: Key) -> bool {
        true
    }

    fn make_full(&mut self, _: Key) -> Result<(), Full> {
        Ok(())
    }
}

impl States for Member<'_> {
    fn visit(&mut self, key: Key) -> Result<bool, Full> {
        Ok(self.colour(key).load(Ordering::Acquire) & BLUE == 0 && !self.is_on_path(key))
    }

    fn is_on_path(&self, key: Key) -> bool {
        self.path.contains(key)
    }

    fn enter_path(&mut self, key: Key) -> Result<(), Full> {
        self.path.insert(key)
    }

    fn leave_path(&mut self, key: Key) {
        self.path.remove(key);
    }

    fn redden(&mut self, key: Key) -> Result<bool, Full> {
        Ok(self.colour(key).fetch_or(RED, Ordering::AcqRel) & RED == 0)
    }

    fn len(&self) -> u64 {
        self.mate.crew.states.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.path.bytes()
    }
}

/// One thread's search.
struct Searcher<'c, 'p, 'a> {
    mover: Mover<'p, 'a>,
    member: Member<'c>,
    outer: Walk,
    inner: Walk,
    /// What the inner search has seen, and those of it that accept.
    pink: HashSet<Key>,
    accepting: Vec<Key>,
    all: Marks,
}

impl Searcher<'_, '_, '_> {
    /// Searches, and says whether everything was followed.
    fn search(&mut self) -> bool {
        self.member.mate.go_in();
        let crew = self.member.mate.crew;
        let followed = crew.panics.catch(|| self.follow_all());
        self.member.mate.finish(followed)
    }

    fn follow_all(&mut self) -> Result<(), Halt> {
        let mut initial = Batch::new(self.mover.product.state_bytes());
        self.mover.product.initial(&mut initial);
        let mut roots = Vec::new();
        self.member.keys(&initial, None, &mut roots)?;
        for root in roots {
            if self.member.visit(root)? {
                self.open(root)?;
                self.follow()?;
            }
        }
        Ok(())
    }

    fn open(&mut self, key: Key) -> Result<(), Halt> {
        self.member.enter_path(key)?;
        self.outer.push(key, &mut self.member, &mut self.mover)?;
        Ok(())
    }

    fn follow(&mut self) -> Result<(), Halt> {
        let all = self.all;
        while !self.outer.is_empty() {
            self.member.mate.tick(self.outer.len())?;
            let Some((to, marks)) = self.outer.next(&mut self.member, &mut self.mover)? else {
                self.close()?;
                continue;
            };
            if self.member.is_on_path(to) {
                if marks & WEAK != 0 || marks & INSIDE != 0 && marks & all == all {
                    return self.found(to, &[]);
                }
            } else if self.member.visit(to)? {
                self.open(to)?;
            }
        }
        Ok(())
    }

    /// All edges of the state at the end of the outer path are done.
    fn close(&mut self) -> Result<(), Halt> {
        let (edges, accepts) = self.outer.summary(self.all, &mut self.member, &mut self.mover)?;
        let expansion = self.outer.expansion();
        let key = self.outer.key(self.outer.len() - 1);
        if accepts {
            self.look_inside(key)?;
        }
        if self.member.colour(key).fetch_or(BLUE, Ordering::AcqRel) & BLUE == 0 {
            self.member.mate.count(edges, expansion);
        }
        self.outer.pop();
        self.member.leave_path(key);
        Ok(())
    }

    /// Looks for a cycle through the accepting state at the end of the outer path.
    fn look_inside(&mut self, seed: Key) -> Result<(), Halt> {
        let crew = self.member.mate.crew;
        self.pink.clear();
        self.accepting.clear();
        self.pink.insert(seed);
        self.inner.push(seed, &mut self.member, &mut self.mover)?;
        while !self.inner.is_empty() {
            self.member.mate.tick(self.outer.len())?;
            let Some((next, marks)) = self.inner.next(&mut self.member, &mut self.mover)? else {
                self.inner.pop();
                continue;
            };
            if marks & INSIDE == 0 {
                continue;
            }
            if self.member.is_on_path(next) {
                // The first one is the end of the outer path itself.
                let further: Vec<Key> = self.inner.keys().skip(1).collect();
                return self.found(next, &further);
            }
            if colour(crew, next).load(Ordering::Acquire) & RED == 0 && self.pink.insert(next) {
                self.inner.push(next, &mut self.member, &mut self.mover)?;
                if self.inner.summary(self.all, &mut self.member, &mut self.mover)?.1 {
                    self.accepting.push(next);
                }
            }
        }
        // Accepting states are the business of whoever has them on its path.
        for at in 0..self.accepting.len() {
            while colour(crew, self.accepting[at]).load(Ordering::Acquire) & RED == 0 {
                self.member.mate.go_out();
                thread::yield_now();
                self.member.mate.go_in();
                crew.check_end()?;
            }
        }
        for &key in &self.pink {
            colour(crew, key).fetch_or(RED, Ordering::AcqRel);
        }
        Ok(())
    }

    /// A cycle: from where this state is on the outer path to its end, and on through further states.
    fn found(&mut self, begin: Key, further: &[Key]) -> Result<(), Halt> {
        let path: Vec<Key> = self.outer.keys().collect();
        let place = path.iter().rposition(|key| *key == begin).unwrap_or(0);
        let mut one = Batch::new(self.mover.product.state_bytes());
        let member = &mut self.member;
        let mut load = |key: &Key| {
            one.clear();
            member.load(*key, &mut one);
            one.state(0).to_vec()
        };
        let stem = path[..=place].iter().map(&mut load).collect();
        let cycle = path[place + 1..].iter().chain(further).chain([&begin]).map(&mut load).collect();
        self.member.mate.crew.end(Ended::Found(Some(Rough { stem, cycle, marks: Vec::new() })));
        Err(Halt::Found)
    }
}

/// Searches with so many threads. The automaton's marks must be those of its states: all edges of a state have the mark, or
/// none has.
pub(super) fn search(
    product: &Product,
    threads: usize,
    control: &Control,
    budget: &Arc<Budget>,
) -> io::Result<(Ended<Option<Rough>>, GraphFacts, usize)> {
    let table = Table::new(product.state_bytes(), budget.clone())?;
    // One more, for what is to be said in the end.
    let crew = &Crew::new(&table, threads + 1, control, budget)?;
    let bytes = product.state_bytes();
    let mut tables = table.share(threads + 1);
    let own = tables.pop();
    let mut equipment = Vec::new();
    for (number, table) in tables.into_iter().enumerate() {
        let walk = || Ok::<Walk, io::Error>(Walk::new(bytes, budget)?.turned(number as u64));
        equipment.push((number, table, PathSet::new(budget)?, walk()?, walk()?));
    }
    let gone: Vec<Gone> = thread::scope(|scope| {
        let begin = |(number, table, path, outer, inner)| {
            scope.spawn(move || {
                let member = Member { mate: Mate::new(crew, number, threads + 1, table), path };
                let mover = Mover::new(product, None);
                let (pink, accepting, all) = (HashSet::new(), Vec::new(), product.all_marks());
                let mut searcher = Searcher { mover, member, outer, inner, pink, accepting, all };
                let through = searcher.search();
                let Searcher { member, outer, inner, .. } = searcher;
                Gone { through, deepest: outer.deepest, bytes: member.bytes() + outer.bytes() + inner.bytes() }
            })
        };
        let handles: Vec<_> = equipment.into_iter().map(begin).collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let (ended, facts, bytes) = crew.outcome(product, &gone);
    Ok((ended, facts, bytes + own.as_ref().map_or(0, Table::bytes)))
}
