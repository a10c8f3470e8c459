//! The states of one worker where the sweep-line goes: those ahead of it by their progress, those behind it that are roots of the next
//! sweep, and those expanded where it stands, which go when it moves on.
//!
//! A state is on one list at most, so that one number beside each state is enough for all lists.

use crate::goal::Goal;
use crate::mail::Takes;
use crate::word::Finding;
use scrimp_core::Budget;
use scrimp_progress::Measure;
use scrimp_search::Column;
use scrimp_search::store::{Found, Full, Store, Table};
use scrimp_system::Batch;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// In place of a number: the list ends here.
const END: u32 = u32::MAX;
/// It lies behind the line since it was found, and stays for good.
const PERSISTENT: u8 = 1;
/// Bytes of a list, about.
const OF_LIST: usize = 64;

/// States by their progress; of each the first on a list.
#[derive(Default)]
struct Lists(BTreeMap<u128, u32>);

pub struct Line<'m> {
    store: Table,
    measure: &'m Measure,
    flags: Column<u8>,
    /// The state behind each on its list.
    behind: Column<u32>,
    ahead: Lists,
    roots: Lists,
    /// Expanded where the line stands.
    done: u32,
    /// Where the line stands.
    pub stands: u128,
    found: Vec<Found>,
    goals: &'m [Goal],
    /// For each goal the first state that decides it.
    pub findings: Vec<Option<Finding>>,
    /// States found, each time counted, and those that stay.
    pub states: u64,
    pub persistent: u64,
    pub open: u64,
    pub peak: u64,
    /// States expanded where the line stands.
    pub class: u64,
    pub full: bool,
    held: usize,
    budget: Arc<Budget>,
}

impl<'m> Line<'m> {
    pub fn new(
        state_bytes: usize,
        measure: &'m Measure,
        goals: &'m [Goal],
        budget: &Arc<Budget>,
    ) -> io::Result<Line<'m>> {
        Ok(Line {
            store: Table::new(state_bytes, budget.clone())?.removable()?,
            measure,
            flags: Column::new(budget)?,
            behind: Column::new(budget)?,
            ahead: Lists::default(),
            roots: Lists::default(),
            done: END,
            stands: 0,
            found: Vec::new(),
            findings: vec![None; goals.len()],
            goals,
            states: 0,
            persistent: 0,
            open: 0,
            peak: 0,
            class: 0,
            full: false,
            held: 0,
            budget: budget.clone(),
        })
    }

    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.flags.bytes() + self.behind.bytes() + self.held
    }

    pub fn load(&self, number: u32, state: &mut [u8]) {
        self.store.load(number, state);
    }

    /// The least progress of a state ahead, and of a root of the next sweep.
    pub fn least(&self) -> [Option<u128>; 2] {
        [&self.ahead, &self.roots].map(|lists| lists.0.keys().next().copied())
    }

    /// The states ahead with this progress: the first of their list.
    pub fn take_class(&mut self, progress: u128) -> u32 {
        self.ahead.0.remove(&progress).unwrap_or(END)
    }

    /// The first state of a list, which then begins with the next one.
    pub fn next_of(&mut self, list: &mut u32) -> Option<u32> {
        let number = (*list != END).then_some(*list)?;
        *list = self.behind[number];
        Some(number)
    }

    /// A state was expanded where the line stands.
    pub fn close(&mut self, number: u32) {
        self.open -= 1;
        self.class += 1;
        if self.flags[number] & PERSISTENT == 0 {
            self.behind[number] = self.done;
            self.done = number;
        }
    }

    /// The line moves on: what was expanded where it stood goes, unless it stays for good.
    pub fn leave(&mut self) {
        let mut list = std::mem::replace(&mut self.done, END);
        while let Some(number) = self.next_of(&mut list) {
            self.store.remove(number);
        }
        self.class = 0;
        let lists = self.ahead.0.len() + self.roots.0.len();
        self.budget.give_back(std::mem::take(&mut self.held));
        self.held = lists * OF_LIST;
        self.budget.take(self.held);
    }

    /// The next sweep begins with its roots.
    pub fn sweep_again(&mut self) {
        std::mem::swap(&mut self.ahead, &mut self.roots);
    }

    fn keep(&mut self, records: &Batch) -> Result<(), Full> {
        self.found.clear();
        if !self.budget.may_take(records.len() * OF_LIST) {
            return Err(Full);
        }
        self.store.offer(records, 0..records.len(), &mut self.found)?;
        self.flags.ensure(self.store.numbers())?;
        self.behind.ensure(self.store.numbers())?;
        for (i, found) in self.found.iter().enumerate().filter(|(_, found)| found.new) {
            let state = records.state(i);
            let progress = self.measure.value(state);
            let back = progress < self.stands;
            let lists = if back { &mut self.roots } else { &mut self.ahead };
            let before = lists.0.len();
            let first = lists.0.insert(progress, found.id).unwrap_or(END);
            if lists.0.len() > before {
                self.held += OF_LIST;
                self.budget.take(OF_LIST);
            }
            self.behind[found.id] = first;
            self.flags[found.id] = if back { PERSISTENT } else { 0 };
            self.persistent += back as u64;
            self.states += 1;
            self.open += 1;
            for (goal, finding) in self.goals.iter().zip(&mut self.findings) {
                if finding.is_none() && goal.is_met_in(state) {
                    *finding = Some(Finding { level: 0, state: state.to_vec() });
                }
            }
        }
        self.peak = self.peak.max(self.store.len() as u64);
        Ok(())
    }
}

impl Takes for Line<'_> {
    fn take(&mut self, _: usize, records: &Batch) {
        if !self.full && !records.is_empty() {
            self.full = self.keep(records).is_err();
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.held);
    }
}
