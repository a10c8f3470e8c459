//! Which events depend on which: what the partial-order reductions stand on.
//!
//! Two events *accord* if, in every reachable state where both are enabled, neither disables the other or changes what it
//! leads to, and either order leads to the same states. A guard that does not hold needs one of its *enabling* events
//! before it can. All is said of edges, which are called by their first event: where a process goes on by itself, an edge
//! is more than one step. An event whose guards hold but that ends in a fault counts as enabled; whether it does is part
//! of what it leads to. What is said here may err only on the safe side, and relies on [`bounds`](crate::bounds), so it
//! holds for states that can be reached.

mod access;
mod condition;
mod edges;
mod enabling;
mod ends;
mod faults;
mod guards;
mod independence;
mod rows;

pub use condition::Condition;
pub use guards::Guard;

use crate::bounds::{Cells, Knowledge, bounds};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::layout::Layout;
use crate::system::{Domain, EventId, Overflow, System};
use crate::values::Values;
use access::Access;
use edges::Follow;
use guards::{Guards, conjuncts};
use independence::Pairs;
use rows::Rows;
use std::sync::Arc;

/// More pairs of events with a cell in common are not looked at.
const MOST_PAIRS: u64 = 100_000_000;

/// Tokens that a place can have where its bound is only a guess.
const UNBOUNDED: i64 = 1 << 42;

/// What is known of how events of a system depend on each other.
#[derive(Debug, Clone)]
pub struct Dependence {
    /// The system, with room for any number where bounds are guesses.
    system: Arc<System>,
    layout: Layout,
    cells: Cells,
    base: Vec<Values>,
    edges: Vec<Access>,
    guards: Guards,
    of_event: Rows,
    /// For each event, the guard that says that the process of its first move is where it must be.
    places: Vec<Option<Guard>>,
    conflicts: Rows,
    enabling: Rows,
    ranges_fault: bool,
}

impl Dependence {
    /// Why nothing can be said of a system, if so.
    pub fn refused(system: &System) -> Option<String> {
        if system.claim.is_some() {
            return Some("a claim moves in step with every event, so that no two events can be swapped".into());
        }
        let cells = Cells::new(system);
        let mut readers = vec![0u64; cells.count()];
        let mut writers = vec![0u64; cells.count()];
        let range = |variable: crate::VarId, index: Option<i64>| match index {
            Some(index) => {
                let first = cells.first(variable);
                let cell = cells.at(system, variable, index).unwrap_or(first) as usize;
                cell..cell + 1
            }
            None => {
                let first = cells.first(variable) as usize;
                first..first + system.variables[variable.index()].cells()
            }
        };
        for event in &system.events {
            let mut read = |variable, index| range(variable, index).for_each(|cell| readers[cell] += 1);
            event.guard.reads(&mut read);
            event.effects.iter().for_each(|a| a.value.reads(&mut read));
            for a in &event.effects {
                let index = a.index.as_ref().map_or(Some(0), Expr::as_const);
                range(a.target, index).for_each(|cell| writers[cell] += 1);
            }
        }
        let pairs: u64 =
            readers.iter().zip(&writers).map(|(r, w)| w.saturating_mul(r + w)).fold(0, u64::saturating_add);
        (pairs > MOST_PAIRS).then(|| format!("{pairs} pairs of its events touch the same variables"))
    }

    /// Works out all dependencies of a system that is not [refused](Dependence::refused).
    pub fn new(system: &Arc<System>) -> Dependence {
        let layout = Layout::new(system);
        let system = if system.guessed { Arc::new(widened(system)) } else { system.clone() };
        // In a net a value outside its domain cannot be, or is none in a larger system.
        let ranges_fault = !system.packed;
        let cells = Cells::new(&system);
        let base = bounds(&system, &cells);
        let mut guards = Guards::default();
        let (mut of_event, mut single, mut guarded, mut places) = (Rows::new(), Vec::new(), Vec::new(), Vec::new());
        let nothing = Knowledge::new(&system, &cells, &base);
        for event in &system.events {
            let mut source = nothing.clone();
            let split = conjuncts(event, &mut source);
            let mut list: Vec<Guard> = Vec::new();
            for m in &event.moves {
                let control = cells.control(&system, m.process);
                list.push(guards.cell(&nothing, &layout, control, BinaryOp::Equal, m.from as i64));
            }
            places.push(list.first().copied());
            let located = list.len();
            for (at, part) in split.parts.iter().enumerate() {
                let faulty = split.faulty && at + 1 == split.parts.len();
                let faulty = faulty || faults::faults(part, &nothing);
                list.push(guards.intern(&nothing, &layout, part, faulty, true));
            }
            let tested = list[located..].iter().flat_map(|guard| guards.cells_of(*guard).iter().copied());
            guarded.push(tested.collect::<Vec<u32>>());
            if event.late {
                list.push(guards.late());
            }
            list.sort_unstable();
            list.dedup();
            of_event.push(list);
            let mut access = access::access(event, &source, split.possible, ranges_fault);
            access.may_fault |= split.faulty;
            single.push(access);
        }
        let controls: Vec<u32> = system.processes.iter().map(|p| cells.first(p.control)).collect();
        let edges: Vec<Access> = {
            let follow = Follow::new(&system, &base, &single, &controls, &guarded);
            (0..system.events.len()).map(|first| follow.edge(first)).collect()
        };
        let (conflicts, enabling) = (Rows::new(), Rows::new());
        let mut made = Dependence {
            system,
            layout,
            cells,
            base,
            edges,
            guards,
            of_event,
            places,
            conflicts,
            enabling,
            ranges_fault,
        };
        made.conflicts = made.find_conflicts();
        made.enable(true);
        made
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs {
            system: &self.system,
            cells: &self.cells,
            base: &self.base,
            edges: &self.edges,
            guards: &self.guards,
            of_event: &self.of_event,
            ranges_fault: self.ranges_fault,
        }
    }

    /// For each cell, the events that write it.
    fn writers(&self) -> Vec<Vec<u32>> {
        let mut writers = vec![Vec::new(); self.cells.count()];
        for (number, edge) in self.edges.iter().enumerate() {
            edge.writes.iter().for_each(|write| writers[write.cell as usize].push(number as u32));
        }
        writers
    }

    fn find_conflicts(&self) -> Rows {
        let pairs = self.pairs();
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.cells.count()];
        for (number, edge) in self.edges.iter().enumerate() {
            let guarded = self.of_event.get(number).iter().flat_map(|guard| self.guards.cells_of(*guard));
            let read = edge.reads.iter().map(|read| &read.cell);
            let written = edge.writes.iter().map(|write| &write.cell);
            for &cell in guarded.chain(read).chain(written) {
                let users = &mut users[cell as usize];
                if users.last() != Some(&(number as u32)) {
                    users.push(number as u32);
                }
            }
        }
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); self.edges.len()];
        let mut seen = vec![u32::MAX; self.edges.len()];
        for (a, edge) in self.edges.iter().enumerate() {
            if self.system.events[a].late {
                continue;
            }
            seen[a] = a as u32;
            for write in &edge.writes {
                for &b in &users[write.cell as usize] {
                    if std::mem::replace(&mut seen[b as usize], a as u32) == a as u32 {
                        continue;
                    }
                    // Where both write what the other uses, one look at the pair is enough.
                    let other = b as usize;
                    let known = other < a && lists[a].binary_search(&b).is_ok();
                    if !known && !self.system.events[other].late && pairs.conflict(a, other) {
                        insert(&mut lists[a], b);
                        insert(&mut lists[other], a as u32);
                    }
                }
            }
        }
        let mut rows = Rows::new();
        lists.into_iter().for_each(|list| rows.push(list));
        rows
    }

    /// Finds the enabling events of guards that do not have any yet.
    fn enable(&mut self, fault: bool) {
        let writers = self.writers();
        let mut enabling = std::mem::replace(&mut self.enabling, Rows::new());
        for guard in enabling.len() as Guard..self.guards.len() as Guard {
            let pairs = self.pairs();
            let mut list: Vec<u32> = match self.guards.shape(guard) {
                guards::Shape::Late => (0..self.edges.len() as u32).collect(),
                _ => self.guards.cells_of(guard).iter().flat_map(|cell| &writers[*cell as usize]).copied().collect(),
            };
            list.sort_unstable();
            list.dedup();
            list.retain(|&event| pairs.may_enable(event as usize, guard, !fault));
            enabling.push(list);
        }
        self.enabling = enabling;
    }

    /// The number of events.
    pub fn events(&self) -> usize {
        self.edges.len()
    }

    /// The number of guards.
    pub fn guard_count(&self) -> usize {
        self.guards.len()
    }

    /// The system that this is about.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// The events that do not accord with an event, in ascending order and without itself. Symmetric.
    pub fn conflicts(&self, event: EventId) -> &[u32] {
        self.conflicts.get(event.index())
    }

    /// The guard that says that the process of the event's first move is where the event begins; `None` without moves.
    pub fn place(&self, event: EventId) -> Option<Guard> {
        self.places[event.index()]
    }

    /// Where the variables of the system are in a state.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The event is enabled, with successors or a fault, where all of these hold.
    pub fn guards(&self, event: EventId) -> &[Guard] {
        self.of_event.get(event.index())
    }

    /// Does a guard hold? One that ends in a fault counts as if it did, and one that demands that no other event is enabled
    /// never does.
    #[inline]
    pub fn holds(&self, guard: Guard, state: &[u8]) -> bool {
        self.guards.holds(guard, &self.layout, state)
    }

    /// A guard as an expression, of which a fault counts as holding; `None` for the one that demands that no other event is
    /// enabled.
    pub fn expression(&self, guard: Guard) -> Option<Expr> {
        match self.guards.shape(guard) {
            guards::Shape::Cell { cell, op, constant } => {
                let read = self.cells.read(&self.system, *cell);
                Some(Expr::Binary(*op, Box::new(read), Box::new(Expr::Const(*constant))))
            }
            guards::Shape::Whole { condition, .. } => Some(condition.clone()),
            guards::Shape::Late => None,
        }
    }

    /// Where the guard does not hold, one of these events must happen before it does. In ascending order.
    pub fn enabling(&self, guard: Guard) -> &[u32] {
        self.enabling.get(guard as usize)
    }

    /// A condition as guards, with numbers behind those of events. `fault` is what evaluating it to a fault counts as:
    /// `true` for what must not be, `false` for what is looked for.
    pub fn condition(&mut self, e: &Expr, fault: bool) -> Condition {
        let nothing = Knowledge::new(&self.system, &self.cells, &self.base);
        let faulty = faults::faults(e, &nothing);
        let condition = if faulty {
            Condition::Holds(self.guards.intern(&nothing, &self.layout, e, true, fault))
        } else {
            tree(&mut self.guards, &nothing, &self.layout, e, true)
        };
        self.enable(fault);
        condition
    }

    /// For each event, whether it may change the value of an expression.
    pub fn visible(&self, e: &Expr) -> Vec<bool> {
        let pairs = self.pairs();
        (0..self.edges.len()).map(|event| pairs.may_change(event, e)).collect()
    }

    /// For each event, whether it may lead from where a condition holds to where it does not.
    pub fn falsifying(&self, condition: &Condition) -> Vec<bool> {
        let pairs = self.pairs();
        let mut result = vec![false; self.edges.len()];
        condition.guards(&mut |guard| {
            for (event, found) in result.iter_mut().enumerate() {
                *found = *found || pairs.may_falsify(event, guard);
            }
        });
        result
    }

    /// May the event, or a step of the edge that begins with it, end in a fault or violate an assertion?
    pub fn may_fault(&self, event: EventId) -> bool {
        self.edges[event.index()].may_fault
    }

    /// Events that say that the system was made too small. Whatever is looked for, a reduced search must not miss a state
    /// where one of them is enabled.
    pub fn outgrown(&self) -> impl Iterator<Item = EventId> + '_ {
        let wanted = |e: &usize| {
            let fault = self.system.events[*e].fault;
            fault.is_some() && fault == self.system.outgrown && self.edges[*e].possible
        };
        (0..self.edges.len()).filter(wanted).map(|e| EventId(e as u32))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let rows = self.of_event.bytes() + self.conflicts.bytes() + self.enabling.bytes();
        rows + self.guards.bytes() + self.edges.iter().map(Access::bytes).sum::<usize>() + 48 * self.base.capacity()
    }
}

fn insert(list: &mut Vec<u32>, number: u32) {
    if let Err(at) = list.binary_search(&number) {
        list.insert(at, number);
    }
}

/// The same system with room for any number of tokens: what depends on what must hold of it however large it is made.
fn widened(system: &System) -> System {
    let mut wide = system.clone();
    for variable in &mut wide.variables {
        let Domain { low, high, overflow } = variable.domain;
        if overflow == Overflow::Error && low >= 0 {
            variable.domain = Domain { low, high: high.max(UNBOUNDED), overflow };
        }
    }
    wide
}

/// The condition, or its negation, as a tree over guards; nothing in it can be a fault.
fn tree(guards: &mut Guards, nothing: &Knowledge<'_>, layout: &Layout, e: &Expr, truth: bool) -> Condition {
    match e {
        Expr::Const(value) if (*value != 0) == truth => Condition::All(Vec::new()),
        Expr::Const(_) => Condition::Any(Vec::new()),
        Expr::Unary(UnaryOp::Not, a) => tree(guards, nothing, layout, a, !truth),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            let parts = vec![tree(guards, nothing, layout, a, truth), tree(guards, nothing, layout, b, truth)];
            if (*op == BinaryOp::And) == truth { Condition::All(parts) } else { Condition::Any(parts) }
        }
        e => {
            let e = if truth { e.clone() } else { Expr::not(e.clone()) };
            Condition::Holds(guards.intern(nothing, layout, &e, false, true))
        }
    }
}
