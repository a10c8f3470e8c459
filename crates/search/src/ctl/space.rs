//! The states that were met so far, and the successors of those that were expanded: each is expanded once, and only when
//! somebody asks.

use crate::lts::{Cursor, Lts, Number};
use crate::plan::{Plan, StoreChoice};
use crate::store::{Collapse, ComBack, Found, Full, Origin, Store, Table};
use crate::task::invalid;
use scrimp_core::{Budget, Control, Limit};
use scrimp_system::{Batch, Fault, Model};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why nothing more can be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Limit(Limit),
    /// Something that goes on by itself does not come to an end: not all successors of a state are known.
    Endless,
}

impl From<Full> for Stop {
    fn from(_: Full) -> Stop {
        Stop::Limit(Limit::Memory)
    }
}

/// Says for a state which labels hold, one after the other.
pub(crate) type Labels<'a> = dyn Fn(usize, &[u8]) -> bool + 'a;

pub(crate) struct Space<'a> {
    model: &'a dyn Model,
    store: Box<dyn Store + 'a>,
    /// States have the numbers that the store gave them.
    graph: Lts,
    labels: (usize, &'a Labels<'a>),
    control: &'a Control,
    state: Batch,
    successors: Batch,
    origins: Option<Vec<Origin>>,
    found: Vec<Found>,
    list: Vec<(Number, u32)>,
    expanded: u64,
    ticks: u64,
}

impl<'a> Space<'a> {
    /// Nothing yet; every state will have so many labels.
    pub fn new(
        model: &'a dyn Model,
        labels: (usize, &'a Labels<'a>),
        plan: &Plan,
        control: &'a Control,
        budget: &Arc<Budget>,
    ) -> io::Result<Space<'a>> {
        let store: Box<dyn Store + 'a> = match plan.store() {
            StoreChoice::Table => Box::new(Table::new(model.state_bytes(), budget.clone())?),
            StoreChoice::ComBack => {
                Box::new(ComBack::new(model, plan.options().backedges, plan.options().cached, budget)?)
            }
            StoreChoice::Collapse => Box::new(Collapse::new(model, budget)?),
            other => return Err(invalid(format!("store {other} gives no state ids"))),
        };
        let bytes = model.state_bytes();
        Ok(Space {
            model,
            origins: store.wants_origins().then(Vec::new),
            store,
            graph: Lts::new((0..labels.0).map(|_| String::new()), budget)?,
            labels,
            control,
            state: Batch::new(bytes),
            successors: Batch::new(bytes),
            found: Vec::new(),
            list: Vec::new(),
            expanded: 0,
            ticks: 0,
        })
    }

    /// The initial states, in the order of the model.
    pub fn initial(&mut self) -> Result<Vec<Number>, Stop> {
        self.successors.clear();
        self.model.initial(&mut self.successors);
        self.origins.iter_mut().for_each(Vec::clear);
        let mut all = Vec::new();
        for i in 0..self.successors.len() {
            self.found.clear();
            self.store.offer(&self.successors, i..i + 1, &mut self.found)?;
            self.enter(i)?;
            all.push(self.found[0].id);
        }
        Ok(all)
    }

    /// Enters those of the states just found that are new; the first of them is this one of the batch.
    fn enter(&mut self, first: usize) -> Result<(), Stop> {
        for (i, found) in self.found.iter().enumerate().filter(|(_, found)| found.new) {
            let (count, holds) = self.labels;
            let state = self.successors.state(first + i);
            let number = self.graph.add((0..count).map(|label| holds(label, state)))?;
            debug_assert_eq!(number, found.id);
        }
        Ok(())
    }

    /// The successors of a state, in the order of the model.
    #[inline]
    pub fn successors(&mut self, state: Number) -> Result<Cursor, Stop> {
        if !self.graph.is_expanded(state) {
            self.expand(state)?;
        }
        Ok(self.graph.cursor(state))
    }

    /// The next of these successors.
    #[inline]
    pub fn next(&self, cursor: &mut Cursor) -> Option<Number> {
        self.graph.advance(cursor)
    }

    #[cold]
    fn expand(&mut self, state: Number) -> Result<(), Stop> {
        self.state.clear();
        self.store.load(state, self.state.push_with(0));
        self.successors.clear();
        self.model.expand(self.state.state(0), &mut self.successors);
        let count = self.successors.len();
        self.successors.take_deadlock(count);
        let endless = self.successors.faults().iter().any(|record| record.fault == Fault::Endless);
        self.successors.clear_faults();
        if endless {
            return Err(Stop::Endless);
        }
        self.found.clear();
        match &mut self.origins {
            Some(origins) => {
                origins.clear();
                origins.extend((0..count as u32).map(|place| Origin { source: state, place }));
                self.store.offer_from(&self.successors, 0..count, origins, &mut self.found)?;
            }
            None => self.store.offer(&self.successors, 0..count, &mut self.found)?,
        }
        self.enter(0)?;
        self.list.clear();
        self.list.extend(self.found.iter().map(|found| (found.id, 0)));
        self.graph.list(state, &self.list)?;
        self.expanded += 1;
        Ok(())
    }

    /// Has a limit been reached? To be asked at every step.
    #[inline]
    pub fn step(&mut self) -> Result<(), Stop> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(256) { self.look_up() } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self) -> Result<(), Stop> {
        let Space { control, .. } = self;
        control.states.store(self.store.len() as u64, Ordering::Relaxed);
        control.visits.store(self.expanded, Ordering::Relaxed);
        control.transitions.store(self.graph.transitions(), Ordering::Relaxed);
        control.open.store(self.store.len() as u64 - self.expanded, Ordering::Relaxed);
        match control.stopped(0) {
            Some(limit) => Err(Stop::Limit(limit)),
            None => Ok(()),
        }
    }

    /// Does a label hold in a state?
    #[inline]
    pub fn holds(&self, label: usize, state: Number) -> bool {
        self.graph.holds(label, state)
    }

    pub fn states(&self) -> u64 {
        self.store.len() as u64
    }

    /// How many states were expanded.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    pub fn transitions(&self) -> u64 {
        self.graph.transitions()
    }

    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.graph.bytes()
    }
}
