//! Stubborn sets: events that suffice in a state, whatever the search does with them.
//!
//! A set T of events is stubborn in a state if every enabled event in it has all its conflicts in T, and every other one has
//! a guard that does not hold and all of whose enabling events are in T. Then on any path from the state, the first event
//! of T, if there is one, is enabled already and can be moved to the front. What T must have besides depends on what is
//! looked for:
//!
//! - *deadlocks*: an event with a successor. Without an event of T on the path it would still have one at the end, which
//!   would be no deadlock.
//! - *targets, by attraction*: events of which one must happen before the target holds. Then a path to the target has an
//!   event of T, and with that moved to the front, the rest is shorter. There need not be any event with a successor.
//! - *targets, by invisibility*: an event with a successor, and none of those with successors can make a target false. A
//!   path without an event of T leads to the target from the successor too, and is no shorter: therefore one successor at
//!   least must be a state that was not expanded before.
//!
//! Late events play no part in it: with an event of T that has a successor, no late event happens before one of T.
//! Therefore T must have such an event wherever there are late events.
//!
//! The last two may be mixed from state to state. A fault is a target too: by attraction, every event that may end in one is
//! in T. By invisibility it does not matter which of them are in T: one that ends in a fault at the end of a path, and is
//! the first of T on it, ends in the same fault here, where it is seen.

mod closure;
mod deletion;
mod governor;
mod look;
mod memory;
mod places;

pub use governor::Governor;

use super::Method;
use closure::Closure;
use deletion::Deletion;
use look::Look;
use memory::Memory;
use places::{Aim, Places, Tables};
use scrimp_system::{Condition, Dependence, EventId, Guard, Role};
use std::sync::Arc;

/// What a search looks for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// States without successors.
    pub deadlocks: bool,
    /// States where one of these holds: negations of invariants, and goals.
    pub targets: Vec<Condition>,
    /// Events that end in a fault or violate an assertion.
    pub faults: bool,
}

/// What suffices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// Everything must be explored.
    All,
    /// Those kept suffice.
    Some,
    /// Those kept suffice if one of them leads to a state that was not expanded before; otherwise everything must be explored.
    Proviso,
}

/// What all threads share.
#[derive(Debug)]
struct Shared {
    dependence: Arc<Dependence>,
    wanted: Wanted,
    /// Events that must be in the set, by attraction, because they may be faults.
    sought: Vec<u32>,
    /// Events that may make a target false.
    visible: Vec<bool>,
    late: bool,
    method: Method,
    tables: Option<Arc<Tables>>,
    placed: Arc<[bool]>,
}

/// Chooses events, with memory for one thread.
#[derive(Debug)]
pub struct Stubborn {
    shared: Arc<Shared>,
    look: Look,
    places: Option<Places>,
    closure: Closure,
    deletion: Option<Deletion>,
    missing: Vec<Guard>,
    base: Vec<u32>,
    memory: Memory,
    /// Guards on where processes are: these are known from there.
    placed: Arc<[bool]>,
    looked: Vec<(Guard, bool)>,
}

/// For each guard, whether it is only about where processes are.
fn placed(dependence: &Dependence) -> Arc<[bool]> {
    let system = dependence.system();
    let of_places = |guard: Guard| {
        let mut all = true;
        let expression = dependence.expression(guard);
        if let Some(expression) = &expression {
            expression.reads(&mut |variable, _| {
                all &= matches!(system.variables[variable.index()].role, Role::Control(_));
            });
        }
        all && expression.is_some()
    };
    (0..dependence.guard_count() as Guard).map(of_places).collect()
}

/// Who has found the best set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Nobody,
    Places,
    Closure,
    Deletion,
}

impl Stubborn {
    /// The targets' guards are numbers of this dependence, which must know them.
    pub fn new(dependence: Arc<Dependence>, wanted: Wanted, method: Method) -> Stubborn {
        let events = dependence.events() as u32;
        let mut sought: Vec<u32> = dependence.outgrown().map(|event| event.0).collect();
        if wanted.faults {
            sought.extend((0..events).filter(|e| dependence.may_fault(EventId(*e))));
            sought.sort_unstable();
            sought.dedup();
        }
        sought.retain(|event| !dependence.system().events[*event as usize].late);
        let mut visible = vec![false; events as usize];
        for target in &wanted.targets {
            visible.iter_mut().zip(dependence.falsifying(target)).for_each(|(all, one)| *all |= one);
        }
        let late = dependence.system().events.iter().any(|event| event.late);
        let tables = Tables::new(&dependence).map(Arc::new);
        let placed = placed(&dependence);
        let shared = Shared { dependence, wanted, sought, visible, late, method, tables, placed };
        Stubborn::of(Arc::new(shared))
    }

    fn of(shared: Arc<Shared>) -> Stubborn {
        let dependence = &shared.dependence;
        Stubborn {
            look: Look::new(dependence),
            places: shared.tables.clone().map(Places::new),
            closure: Closure::new(dependence),
            deletion: (shared.method == Method::Deletion).then(|| Deletion::new(dependence)),
            missing: Vec::new(),
            base: Vec::new(),
            memory: Memory::new(dependence),
            placed: shared.placed.clone(),
            looked: Vec::new(),
            shared,
        }
    }

    /// May it choose [`Proviso`](Chosen::Proviso)?
    pub fn may_depend_on_history(&self) -> bool {
        !self.shared.wanted.targets.is_empty() || !self.shared.sought.is_empty()
    }

    /// Another one for another thread.
    pub fn another(&self) -> Stubborn {
        Stubborn::of(self.shared.clone())
    }

    /// Chooses among the events with successors in a state, which are given in ascending order and each once. Those to be
    /// explored are put into `keep`; if that is all of them, it is left empty.
    pub fn choose(&mut self, state: &[u8], successors: &[u32], keep: &mut Vec<u32>) -> Chosen {
        if let Some(chosen) = self.memory.recall(&self.shared.dependence, state, successors, keep) {
            return chosen;
        }
        let chosen = self.think(state, successors, keep);
        let (placed, looked) = (&self.placed, &mut self.looked);
        looked.clear();
        looked.extend(self.look.looked().iter().filter(|(guard, _)| !placed[*guard as usize]));
        self.memory.learn(&self.looked, chosen, keep);
        chosen
    }

    fn think(&mut self, state: &[u8], successors: &[u32], keep: &mut Vec<u32>) -> Chosen {
        keep.clear();
        let shared = self.shared.clone();
        self.look.begin(successors);
        let dependence = &*shared.dependence;
        let all = successors.len();
        if all == 0 || shared.late && successors.iter().any(|e| shared.dependence.system().events[*e as usize].late) {
            return Chosen::All;
        }
        let attracted = !shared.wanted.targets.is_empty() || !shared.sought.is_empty();
        let deadlocks = shared.wanted.deadlocks || !attracted;
        if all == 1 && (deadlocks || shared.late) {
            return Chosen::All;
        }
        if let Some(places) = &mut self.places {
            places.begin(shared.dependence.layout(), state);
        }
        self.base.clear();
        if attracted {
            self.attract(&shared, state);
        }
        let aim = Aim { dependence, key: deadlocks || shared.late, forbidden: None };
        let (count, by) = self.find(state, successors, aim, all);
        if by != By::Nobody {
            self.keep(by, successors, keep);
        }
        if !attracted || count <= 1 {
            return if by == By::Nobody { Chosen::All } else { Chosen::Some };
        }
        // By invisibility, if that is better.
        self.base.clear();
        if let Some(places) = &mut self.places {
            places.begin(shared.dependence.layout(), state);
        }
        let aim = Aim { dependence, key: true, forbidden: Some(&shared.visible) };
        let (_, unseen) = self.find(state, successors, aim, count);
        if unseen != By::Nobody {
            keep.clear();
            self.keep(unseen, successors, keep);
            return Chosen::Proviso;
        }
        if by == By::Nobody { Chosen::All } else { Chosen::Some }
    }

    /// Demands what must happen before anything that is looked for does.
    fn attract(&mut self, shared: &Shared, state: &[u8]) {
        let Stubborn { look, places, missing, base, .. } = self;
        let dependence = &shared.dependence;
        for target in &shared.wanted.targets {
            missing.clear();
            target.missing(
                &mut |guard| look.holds(dependence, guard, state),
                &mut |guard| match &places {
                    Some(places) => places.cost(guard),
                    None => dependence.enabling(guard).len(),
                },
                missing,
            );
            for &guard in missing.iter() {
                base.extend_from_slice(dependence.enabling(guard));
                if let Some(places) = places {
                    places.demand_guard(guard);
                }
            }
        }
        base.extend_from_slice(&shared.sought);
        if let Some(places) = places {
            shared.sought.iter().for_each(|&event| places.demand_event(event));
        }
    }

    /// The fewest events with successors that suffice, and who knows which; `limit` and nobody if they are not fewer.
    fn find(&mut self, state: &[u8], successors: &[u32], aim: Aim<'_>, limit: usize) -> (usize, By) {
        let mut best = (limit, By::Nobody);
        if let Some(places) = &mut self.places
            && let Some(count) = places.find(&mut self.look, state, aim, limit)
        {
            best = (count, By::Places);
        }
        // Events that belong to no process are all that closure is left with.
        if best.0 <= 1 || self.shared.method == Method::Process && self.places.is_some() {
            return best;
        }
        if let Some(count) = self.closure.find(&mut self.look, state, successors, &self.base, aim, best.0) {
            best = (count, By::Closure);
        }
        if best.0 > 1
            && let Some(deletion) = &mut self.deletion
            && let Some(count) = deletion.find(&mut self.look, state, successors, &self.base, aim, best.0)
        {
            best = (count, By::Deletion);
        }
        best
    }

    fn keep(&self, by: By, successors: &[u32], keep: &mut Vec<u32>) {
        match by {
            By::Nobody => {}
            By::Places => self.places.iter().for_each(|places| places.keep(successors, keep)),
            By::Closure => self.closure.keep(&self.look, keep),
            By::Deletion => self.deletion.iter().for_each(|deletion| deletion.keep(successors, keep)),
        }
    }

    /// Bytes held, what threads share included.
    pub fn bytes(&self) -> usize {
        let deletion = self.deletion.as_ref().map_or(0, Deletion::bytes);
        let places = self.places.as_ref().map_or(0, Places::bytes);
        self.shared.dependence.bytes()
            + self.look.bytes()
            + self.memory.bytes()
            + places
            + self.closure.bytes()
            + deletion
    }
}
