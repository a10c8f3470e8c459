//! Watches a search and writes down its graph.
//!
//! The search names states by where they are stored, and such names are given anew when states are removed; here each
//! state that is found gets a number of its own.

use super::{Lts, Number};
use crate::column::Column;
use crate::store::{Full, StateId};
use scrimp_core::{Budget, Predicate};
use scrimp_system::EventCode;
use std::cell::RefCell;
use std::io;
use std::sync::Arc;

/// What a reachability graph is to have, and the graph when the search is over.
#[derive(Default)]
pub struct Wanted<'a> {
    /// Conditions to be evaluated in each state, with their names. Where that is a fault, the condition does not hold.
    pub labels: Vec<(String, Predicate<'a>)>,
    /// Keep the vectors of so many states, the first ones, to show them.
    pub vectors: usize,
    pub graph: RefCell<Option<Lts>>,
}

/// Is told of everything that a search finds, in order: all events of a state before those of the next.
pub trait Observer {
    /// A state was found and stored.
    fn found(&self, id: StateId, state: &[u8], initial: bool) -> Result<(), Full>;

    /// An event leads from the state that is being expanded to a stored one.
    fn leads_to(&self, id: StateId, event: EventCode);

    /// All successors of a state were named.
    fn expanded(&self, id: StateId) -> Result<(), Full>;
}

pub struct Recorder<'a> {
    conditions: &'a [(String, Predicate<'a>)],
    vectors: usize,
    written: RefCell<Written>,
}

/// What is written down so far.
struct Written {
    graph: Lts,
    /// The number of each stored state.
    numbers: Column<u32>,
    /// Successors of the state that is being expanded.
    list: Vec<(Number, EventCode)>,
}

impl<'a> Recorder<'a> {
    pub fn new(conditions: &'a [(String, Predicate<'a>)], vectors: usize, budget: &Arc<Budget>) -> io::Result<Self> {
        let names = conditions.iter().map(|(name, _)| name.clone());
        let (graph, numbers) = (Lts::new(names, budget)?, Column::new(budget)?);
        Ok(Recorder { conditions, vectors, written: RefCell::new(Written { graph, numbers, list: Vec::new() }) })
    }

    pub fn finish(self) -> Lts {
        self.written.into_inner().graph
    }
}

impl Observer for Recorder<'_> {
    fn found(&self, id: StateId, state: &[u8], initial: bool) -> Result<(), Full> {
        let Written { graph, numbers, .. } = &mut *self.written.borrow_mut();
        numbers.ensure(id as usize + 1)?;
        let number = graph.add(self.conditions.iter().map(|(_, condition)| condition(state) == Ok(true)))?;
        numbers[id] = number;
        if graph.vectors.len() < self.vectors {
            graph.vectors.push(state.to_vec());
        }
        if initial {
            graph.initial.push(number);
        }
        Ok(())
    }

    #[inline]
    fn leads_to(&self, id: StateId, event: EventCode) {
        let Written { list, numbers, .. } = &mut *self.written.borrow_mut();
        list.push((numbers[id], event));
    }

    fn expanded(&self, id: StateId) -> Result<(), Full> {
        let Written { graph, list, numbers } = &mut *self.written.borrow_mut();
        graph.list(numbers[id], list)?;
        list.clear();
        Ok(())
    }
}
