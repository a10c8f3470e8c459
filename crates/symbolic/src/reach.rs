//! Everything that can be reached: breadth-first with a ring for each distance, by chaining, or by saturation.
//!
//! Three things make a step more than an image. What an event shows for the first time has to be learnt, until nothing
//! new is shown. An event that is late happens only where no other does. And a process that goes on alone is followed
//! through vectors that are no states, to where it lets the others move or cannot go on.

use crate::diagram::{Halt, Set};
use crate::engine::Engine;

/// How everything is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// All events at once, ring after ring: distances are known.
    BreadthFirst,
    /// One event after the other, each from all that was reached so far.
    Chaining,
    /// From the lowest levels up, each node until nothing is added.
    #[default]
    Saturation,
}

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        match text {
            "bfs" | "breadth-first" => Ok(Strategy::BreadthFirst),
            "chaining" => Ok(Strategy::Chaining),
            "saturation" => Ok(Strategy::Saturation),
            _ => Err("expected breadth-first, chaining or saturation".into()),
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Strategy::BreadthFirst => "breadth-first",
            Strategy::Chaining => "chaining",
            Strategy::Saturation => "saturation",
        })
    }
}

/// What was reached.
#[derive(Debug, Clone, Default)]
pub struct Reached {
    pub states: Option<Set>,
    /// Vectors that processes that go on alone pass through.
    pub between: Option<Set>,
    /// The states by their distance, where that is known.
    pub rings: Vec<Set>,
    /// Why it is not everything.
    pub halt: Option<Halt>,
    /// Somebody who watches had seen enough.
    pub stopped: bool,
}

impl Reached {
    /// The states reached.
    pub fn states(&self) -> Set {
        self.states.unwrap_or(Set::EMPTY)
    }

    /// What lies between states.
    pub fn between(&self) -> Set {
        self.between.unwrap_or(Set::EMPTY)
    }

    /// All of it.
    pub fn sets(&self) -> Vec<Set> {
        let mut sets = self.rings.clone();
        sets.extend(self.states.into_iter().chain(self.between));
        sets
    }

    /// Is it everything that can be reached?
    pub fn is_complete(&self) -> bool {
        self.halt.is_none() && !self.stopped
    }
}

/// Is shown every ring, and says whether to go on.
pub type Watch<'w, 'a> = dyn FnMut(&mut Engine<'a>, Set) -> Result<bool, Halt> + 'w;

/// Reaches what there is to reach. What it gives is not held.
pub fn reach<'a>(engine: &mut Engine<'a>, strategy: Strategy, watch: &mut Watch<'_, 'a>) -> Reached {
    let mut reached = Reached::default();
    let mark = engine.held.len();
    let end = match strategy {
        Strategy::BreadthFirst => breadth_first(engine, &mut reached, watch),
        Strategy::Chaining | Strategy::Saturation => closure(engine, &mut reached, strategy),
    };
    engine.held.truncate(mark);
    reached.halt = end.err();
    reached
}

fn breadth_first<'a>(engine: &mut Engine<'a>, reached: &mut Reached, watch: &mut Watch<'_, 'a>) -> Result<(), Halt> {
    let mark = engine.held.len();
    let mut frontier = engine.initial()?;
    reached.states = Some(frontier);
    reached.between = Some(Set::EMPTY);
    while !frontier.is_empty() {
        reached.rings.push(frontier);
        engine.held.truncate(mark);
        engine.held.extend(reached.sets());
        if mark == 0 {
            frontier = reordered(engine, reached)?;
        }
        // What is asked of these states is answered from what is known of their values.
        engine.learn(frontier)?;
        if !watch(engine, frontier)? {
            reached.stopped = true;
            return Ok(());
        }
        let next = step(engine, frontier, &mut reached.between)?;
        engine.held.extend([next, reached.between()]);
        frontier = engine.minus(next, reached.states())?;
        engine.held.push(frontier);
        reached.states = Some(engine.union(reached.states(), frontier)?);
    }
    Ok(())
}

/// Lets the levels be put into a better order. Gives the last ring.
pub fn reordered(engine: &mut Engine, reached: &mut Reached) -> Result<Set, Halt> {
    let mut sets = reached.sets();
    let before = sets.clone();
    let done = engine.reorder(&mut sets);
    if sets != before {
        let rings = reached.rings.len();
        reached.rings.copy_from_slice(&sets[..rings]);
        let mut rest = sets[rings..].iter().copied();
        reached.states = reached.states.and_then(|_| rest.next());
        reached.between = reached.between.and_then(|_| rest.next());
    }
    done?;
    Ok(reached.rings.last().copied().unwrap_or(Set::EMPTY))
}

/// The states that one step leads to. `between` are vectors that were passed through before, and gets those that are now.
pub fn step(engine: &mut Engine, frontier: Set, between: &mut Option<Set>) -> Result<Set, Halt> {
    let mut passed = between.unwrap_or(Set::EMPTY);
    let next = engine.scope(|engine| {
        engine.held.extend([frontier, passed]);
        engine.learn(frontier)?;
        let system = engine.system;
        let relations = engine.relations(|event| !system.events[event].late);
        let mut next = engine.images(frontier, &relations)?;
        engine.held.push(next);
        next = with_late(engine, frontier, next)?;
        if engine.has_holders() {
            next = followed(engine, next, &mut passed)?;
        }
        Ok(next)
    })?;
    *between = Some(passed);
    Ok(next)
}

/// What late events add to `next`, from those of these states where no other event is enabled.
pub fn with_late(engine: &mut Engine, states: Set, next: Set) -> Result<Set, Halt> {
    let system = engine.system;
    if !system.events.iter().any(|event| event.late) {
        return Ok(next);
    }
    engine.scope(|engine| {
        engine.held.extend([states, next]);
        let idle = engine.idle(states, true, |event| !system.events[event].late)?;
        let relations = engine.relations(|event| system.events[event].late);
        let late = engine.images(idle, &relations)?;
        engine.union(next, late)
    })
}

/// The states that those who go on alone come to, with those where nobody does.
pub fn followed(engine: &mut Engine, vectors: Set, passed: &mut Set) -> Result<Set, Halt> {
    let system = engine.system;
    let mut states = engine.free(vectors)?;
    engine.held.push(states);
    let mut pending = engine.minus(vectors, states)?;
    pending = engine.minus(pending, *passed)?;
    while !pending.is_empty() {
        let mark = engine.held.len();
        engine.held.extend([states, pending]);
        *passed = engine.union(*passed, pending)?;
        engine.held.push(*passed);
        engine.learn(pending)?;
        let (freed, _) = engine.released(pending)?;
        states = engine.union(states, freed)?;
        engine.held.push(states);
        let relations = engine.relations(|event| !system.events[event].late);
        let next = engine.images(pending, &relations)?;
        engine.held.push(next);
        let free = engine.free(next)?;
        engine.held.push(free);
        states = engine.union(states, free)?;
        engine.held.push(states);
        pending = engine.minus(next, free)?;
        pending = engine.minus(pending, *passed)?;
        let kept = [states, *passed];
        engine.held.truncate(mark);
        engine.held.extend(kept);
    }
    Ok(states)
}

fn closure(engine: &mut Engine, reached: &mut Reached, strategy: Strategy) -> Result<(), Halt> {
    let system = engine.system;
    let mark = engine.held.len();
    let mut all = engine.initial()?;
    let result = loop {
        engine.held.truncate(mark);
        engine.held.push(all);
        if mark == 0 {
            let mut sets = [all];
            let done = engine.reorder(&mut sets);
            [all] = sets;
            if let Err(halt) = done {
                break Err(halt);
            }
        }
        if let Err(halt) = engine.learn(all) {
            break Err(halt);
        }
        let relations = engine.relations(|event| !system.events[event].late);
        let before = all;
        let closed = match strategy {
            Strategy::Saturation => engine.saturate(all, &relations),
            _ => chained(engine, &mut all, &relations),
        };
        match closed {
            Ok(closed) => all = closed,
            Err(halt) => break Err(halt),
        }
        engine.held.push(all);
        match special(engine, all) {
            Ok(more) => all = more,
            Err(halt) => break Err(halt),
        }
        if all == before {
            // Nothing that is new can have been shown either, unless this was the first look at it.
            engine.held.push(all);
            match engine.learn(all) {
                Ok(false) => break Ok(()),
                Ok(true) => {}
                Err(halt) => break Err(halt),
            }
        }
    };
    engine.held.truncate(mark);
    engine.held.push(all);
    // What was reached is a lower bound even where it is not everything.
    if engine.has_holders() {
        let free = engine.free(all).unwrap_or(Set::EMPTY);
        engine.held.push(free);
        reached.between = Some(engine.minus(all, free).unwrap_or(Set::EMPTY));
        reached.states = Some(free);
    } else {
        reached.states = Some(all);
    }
    result
}

/// What events that are late, and processes that cannot go on alone, add to these vectors.
fn special(engine: &mut Engine, all: Set) -> Result<Set, Halt> {
    engine.scope(|engine| {
        let free = engine.free(all)?;
        engine.held.push(free);
        let mut more = all;
        if engine.has_holders() {
            let between = engine.minus(all, free)?;
            let (freed, _) = engine.released(between)?;
            more = engine.union(all, freed)?;
        }
        with_late(engine, free, more)
    })
}

fn chained(engine: &mut Engine, all: &mut Set, relations: &[crate::diagram::Relation]) -> Result<Set, Halt> {
    loop {
        let before = *all;
        for &relation in relations {
            let from = *all;
            *all = engine.attempt(&[from, before], |_, d| {
                let next = d.image(from, relation)?;
                d.union(from, next)
            })?;
        }
        if *all == before {
            return Ok(before);
        }
        // More may have been shown: it is learnt before the next round.
        let mark = engine.held.len();
        engine.held.push(*all);
        let learnt = engine.learn(*all)?;
        engine.held.truncate(mark);
        if learnt {
            return Ok(*all);
        }
    }
}
