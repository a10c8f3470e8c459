//! Searches for cycles in a checkpoint: every state with what is known of it, in no matter which store, and the path.
//!
//! A search is saved only between two edges. The edges of the states on its path are found again when it goes on, in the same
//! order, so that it is enough to know how many of each are done. What the file says is checked as it is put in place.

use super::components::{Components, Root};
use super::nested::Nested;
use super::product::Product;
use super::states::{FULL, Key, Known, RED, VISITED};
use super::walk::{Halt, Walk};
use crate::checkpoint::{get, get_facts, impossible, put, put_facts};
use crate::saver::Saver;
use scrimp_core::{Control, GraphFacts};
use scrimp_system::{Batch, Model};
use std::io::{self, Read, Write};

/// One state at a time, on its way to a file or back.
struct Courier {
    one: Batch,
    key: Vec<Key>,
}

impl Courier {
    fn new(state_bytes: usize) -> Courier {
        Courier { one: Batch::new(state_bytes), key: Vec::new() }
    }

    /// Writes a state by its key, and a number.
    fn put(&mut self, key: Key, number: u32, states: &mut dyn Known, to: &mut dyn Write) -> io::Result<()> {
        self.one.clear();
        states.load(key, &mut self.one);
        put_record(number, self.one.state(0), to)
    }

    /// Reads a number, and a state into the store.
    fn get(&mut self, states: &mut dyn Known, from: &mut dyn Read) -> io::Result<(Key, u32)> {
        let mut number = [0; 4];
        from.read_exact(&mut number)?;
        self.one.clear();
        from.read_exact(self.one.push_with(0))?;
        self.key.clear();
        states.keys(&self.one, None, &mut self.key).map_err(|_| no_room())?;
        Ok((self.key[0], u32::from_le_bytes(number)))
    }
}

fn put_record(number: u32, state: &[u8], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&number.to_le_bytes())?;
    to.write_all(state)
}

fn no_room() -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, "there is not enough memory for the states of the checkpoint")
}

/// Writes what was counted and met, all states with their flags, and one without flags behind them.
fn put_states(facts: &GraphFacts, product: &Product, states: &mut dyn Known, to: &mut dyn Write) -> io::Result<()> {
    put_facts(to, facts)?;
    put(to, product.is_endless() as u64)?;
    states.each(&mut |state, flags| put_record(flags as u32, state, to))?;
    put_record(0, &vec![0; product.state_bytes()], to)
}

/// Reads what was put.
fn get_states(
    product: &Product,
    courier: &mut Courier,
    states: &mut dyn Known,
    from: &mut dyn Read,
) -> io::Result<GraphFacts> {
    let facts = get_facts(from)?;
    if get(from)? != 0 {
        product.meet_endless();
    }
    loop {
        let (key, flags) = courier.get(states, from)?;
        let has = |flag: u8| flags & flag as u32 != 0;
        if flags == 0 {
            return Ok(facts);
        }
        if has(VISITED) && !states.visit(key).map_err(|_| no_room())? {
            return Err(impossible("a state twice"));
        }
        if has(RED) {
            states.redden(key).map_err(|_| no_room())?;
        }
        if has(FULL) {
            states.make_full(key).map_err(|_| no_room())?;
        }
    }
}

fn put_path(path: &Walk, states: &mut dyn Known, courier: &mut Courier, to: &mut dyn Write) -> io::Result<()> {
    put(to, path.len() as u64)?;
    put(to, path.deepest as u64)?;
    (0..path.len()).try_for_each(|place| courier.put(path.key(place), path.done(place), states, to))
}

/// Reads a path of states that were visited; `entered` is told of each.
fn get_path(
    path: &mut Walk,
    states: &mut dyn Known,
    courier: &mut Courier,
    from: &mut dyn Read,
    entered: &mut dyn FnMut(&mut dyn Known, Key) -> io::Result<()>,
) -> io::Result<()> {
    let (length, deepest) = (get(from)?, get(from)?);
    path.deepest =
        deepest.try_into().ok().filter(|&deepest: &u32| deepest < u32::MAX / 2).ok_or_else(|| impossible("a depth"))?;
    for _ in 0..length {
        let (key, done) = courier.get(states, from)?;
        if !states.is_visited(key) {
            return Err(impossible("a path through states that were not visited"));
        }
        entered(states, key)?;
        path.put_back(key, done).map_err(|_| no_room())?;
    }
    Ok(())
}

fn enter(states: &mut dyn Known, key: Key) -> io::Result<()> {
    if states.is_on_path(key) {
        return Err(impossible("a state that is twice on a path"));
    }
    states.enter_path(key).map_err(|_| no_room())
}

/// A search that can be saved.
pub(super) trait Resumable {
    /// What a checkpoint calls it.
    const STAGE: &'static str;

    /// Searches, or goes on, until everything is visited, a cycle is found or a pause is due.
    fn search(&mut self) -> Result<(), Halt>;

    fn save(&mut self, to: &mut dyn Write) -> io::Result<()>;

    /// Becomes what was saved; it must be new.
    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()>;
}

/// Searches to the end, from where it was saved if it was, saving it where that is wanted: when it pauses, and when a limit is met.
/// One without memory for the next state does not stand between two edges: its last checkpoint stays.
pub(super) fn carry_out<S: Resumable>(
    search: &mut S,
    saved: Option<Box<dyn Read>>,
    saver: Option<&Saver>,
    control: &Control,
) -> io::Result<Result<(), Halt>> {
    saved.map_or(Ok(()), |mut from| search.restore(&mut *from))?;
    loop {
        let halt = search.search();
        if let (Some(saver), Err(Halt::Paused | Halt::Limit(_))) = (saver, &halt) {
            saver.save(S::STAGE, &mut |to| search.save(to));
        }
        match halt {
            Err(Halt::Paused) => control.paused(),
            ended => return Ok(ended),
        }
    }
}

impl Resumable for Nested<'_, '_, '_> {
    const STAGE: &'static str = "nested";

    fn search(&mut self) -> Result<(), Halt> {
        Nested::search(self)
    }

    fn save(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let mut courier = Courier::new(self.mover.product.state_bytes());
        put_states(&self.facts, self.mover.product, self.states, to)?;
        put_path(&self.outer, self.states, &mut courier, to)?;
        put_path(&self.inner, self.states, &mut courier, to)
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut courier = Courier::new(self.mover.product.state_bytes());
        self.facts = get_states(self.mover.product, &mut courier, self.states, from)?;
        get_path(&mut self.outer, self.states, &mut courier, from, &mut enter)?;
        get_path(&mut self.inner, self.states, &mut courier, from, &mut |_, _| Ok(()))?;
        if self.outer.is_empty() && !self.inner.is_empty() {
            return Err(impossible("an inner path without an outer one"));
        }
        Ok(())
    }
}

impl Resumable for Components<'_, '_, '_> {
    const STAGE: &'static str = "components";

    fn search(&mut self) -> Result<(), Halt> {
        Components::search(self)
    }

    fn save(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let mut courier = Courier::new(self.mover.product.state_bytes());
        put_states(&self.facts, self.mover.product, self.states, to)?;
        put_path(&self.path, self.states, &mut courier, to)?;
        put(to, self.live.len() as u64)?;
        for at in 0..self.live.len() {
            courier.put(self.live.get(at) as Key, 0, self.states, to)?;
        }
        put(to, self.roots.len() as u64)?;
        for root in &self.roots {
            for number in [root.rank as u64, root.place as u64, root.marks, root.entry] {
                put(to, number)?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut courier = Courier::new(self.mover.product.state_bytes());
        self.facts = get_states(self.mover.product, &mut courier, self.states, from)?;
        get_path(&mut self.path, self.states, &mut courier, from, &mut enter)?;
        self.give_all_up().map_err(|_| no_room())?;
        for _ in 0..get(from)? {
            let (key, _) = courier.get(self.states, from)?;
            if !self.states.is_visited(key) || !self.keep_alive(key).map_err(|_| no_room())? {
                return Err(impossible("a component of other states than those visited"));
            }
        }
        for _ in 0..get(from)? {
            let number = |from: &mut dyn Read| get(from).map(|number| number.min(u32::MAX as u64) as u32);
            let root = Root { rank: number(from)?, place: number(from)?, marks: get(from)?, entry: get(from)? };
            let after = self.roots.last().is_none_or(|last| last.rank < root.rank && last.place < root.place);
            if !after || root.place >= self.path.len() || self.rank_of(self.path.key(root.place)) != root.rank {
                return Err(impossible("a component that does not begin on the path"));
            }
            self.roots.push(root);
        }
        // Everything on the path is alive and in a component: the first one begins with it.
        let alive = (0..self.path.len()).all(|place| self.is_alive(self.path.key(place)));
        if !alive || self.roots.first().map(|root| root.place) != (!self.path.is_empty()).then_some(0) {
            return Err(impossible("a path without its components"));
        }
        Ok(())
    }
}
