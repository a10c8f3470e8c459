//! COLLAPSE (Holzmann, "State Compression in SPIN", 1997): what a process can look like is kept once, with a number; a
//! state is the tuple of its components' numbers.
//!
//! The tuples stand in a [`Table`], so a state has a number here too, and the breadth-first queue is a range. A number in a
//! tuple has as many bits as its component needs by now. When one needs more, all tuples are rewritten in place, from the
//! last to the first. Values of components are never removed: they are few, and other states may have them.
//!
//! Several threads share the values and the tuples, and fill both at once; memory is added and tuples are rewritten only
//! while all others wait.

mod changes;
mod component;
mod fixed;
mod saving;
#[cfg(test)]
mod tests;
mod tuple;

pub use fixed::Folder;

use super::table::Concurrent;
use super::{Found, Full, StateId, Store, Table};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use component::Component;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use tuple::{Form, wider};

/// Values that a component gets room for beyond those that threads asked for.
const AHEAD: usize = 1024;

/// What several threads agree on beside the tables.
struct Common {
    /// The form of all tuples, and how often it has changed.
    form: Mutex<Form>,
    version: AtomicU32,
    /// For each component, the values for which a thread found no room.
    wanted: Vec<AtomicUsize>,
}

/// One thread's way into the collapsed states.
pub struct Collapse {
    common: Arc<Common>,
    components: Vec<Component>,
    table: Table,
    /// The form of tuples as this thread knows it, and what it needs to fold states.
    version: u32,
    form: Form,
    words: Vec<u64>,
    tuples: Batch,
    /// Where each state of a batch differs from the one before, and the components' numbers, component by component.
    changed: Vec<u64>,
    numbers: Vec<u32>,
    last: RefCell<Last>,
}

/// The state loaded last: most of the next one is the same.
struct Last {
    numbers: Vec<u32>,
    state: Vec<u8>,
}

impl Collapse {
    pub fn new(model: &dyn Model, budget: &Arc<Budget>) -> io::Result<Collapse> {
        let state_bytes = model.state_bytes();
        let component = |ranges: &Vec<Range<usize>>| Component::new(ranges, state_bytes, budget);
        let components = model.components().iter().map(component).collect::<io::Result<Vec<_>>>()?;
        let form = Form::with_bits(components.iter().map(|_| 0));
        let table = Table::new(form.bytes(), budget.clone())?;
        let wanted = components.iter().map(|_| AtomicUsize::new(0)).collect();
        let common = Common { form: Mutex::new(form.clone()), version: AtomicU32::new(0), wanted };
        Ok(Collapse::with(Arc::new(common), components, table, form, state_bytes))
    }

    fn with(common: Arc<Common>, components: Vec<Component>, table: Table, form: Form, state_bytes: usize) -> Collapse {
        Collapse {
            version: common.version.load(Ordering::Acquire),
            common,
            // No number is this one: the first state is put together whole.
            last: RefCell::new(Last { numbers: vec![u32::MAX; components.len()], state: vec![0; state_bytes] }),
            components,
            table,
            words: vec![0; form.words()],
            tuples: Batch::new(form.bytes()),
            form,
            changed: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Lets states be removed. The store must be empty.
    pub fn removable(mut self) -> io::Result<Collapse> {
        self.table = self.table.removable()?;
        Ok(self)
    }

    fn state_bytes(&self) -> usize {
        self.last.borrow().state.len()
    }

    /// Takes over the form of tuples as it is now.
    #[inline(always)]
    fn refresh(&mut self) {
        let version = self.common.version.load(Ordering::Acquire);
        if version != self.version {
            let form = self.common.form.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.take_form(form, version);
        }
    }

    fn take_form(&mut self, form: Form, version: u32) {
        self.version = version;
        self.words = vec![0; form.words()];
        self.tuples = Batch::new(form.bytes());
        self.form = form;
    }

    /// Makes `tuples` those of these states. Fails when there is no room for a component's values; answers whether all
    /// numbers have room in their fields.
    fn fold(&mut self, batch: &Batch, which: Range<usize>) -> Result<bool, Full> {
        let count = which.len();
        changes::changes(batch, which.clone(), &mut self.changed);
        self.numbers.resize(count * self.components.len(), 0);
        let mut fit = true;
        for (c, component) in self.components.iter_mut().enumerate() {
            let numbers = &mut self.numbers[c * count..][..count];
            match component.number_all(batch, which.start, &self.changed, numbers) {
                Ok(seen) => fit &= self.form.fits(c, seen),
                Err(more) => {
                    self.common.wanted[c].fetch_add(more, Ordering::Relaxed);
                    return Err(Full);
                }
            }
        }
        self.tuples.clear();
        for i in 0..if fit { count } else { 0 } {
            let numbers = self.numbers[i..].iter().step_by(count).copied();
            self.form.pack(numbers, &mut self.words, self.tuples.push_with(0));
        }
        Ok(fit)
    }

    /// Rewrites all tuples so that every number has room.
    ///
    /// # Safety
    /// No other thread may be using the store. The table's index must then be filled again.
    unsafe fn widen(&self) -> Result<(), Full> {
        let mut form = self.common.form.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, before) = (wider(&self.components, &form), &*form);
        let mut words = vec![0; next.words()];
        let mut change = |old: &[u8], new: &mut [u8]| next.pack(before.unpack(old), &mut words, new);
        // SAFETY: as the caller promises.
        unsafe { self.table.shared().restride(next.bytes(), &mut change)? };
        *form = next;
        self.common.version.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// [`widen`](Collapse::widen), for a single owner.
    fn widen_alone(&mut self) -> Result<(), Full> {
        let (next, before) = (wider(&self.components, &self.form), &self.form);
        let mut words = vec![0; next.words()];
        self.table.restride(next.bytes(), &mut |old, new| next.pack(before.unpack(old), &mut words, new))?;
        *self.common.form.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        let version = self.common.version.fetch_add(1, Ordering::AcqRel) + 1;
        self.take_form(next, version);
        Ok(())
    }
}

impl Store for Collapse {
    fn offer(&mut self, batch: &Batch, which: Range<usize>, found: &mut Vec<Found>) -> Result<(), Full> {
        assert!(which.end <= batch.len());
        self.refresh();
        while !self.fold(batch, which.clone())? {
            if !self.table.is_alone() {
                return Err(Full);
            }
            self.widen_alone()?;
        }
        self.table.offer(&self.tuples, 0..self.tuples.len(), found)
    }

    fn find(&self, batch: &Batch, which: usize) -> Option<StateId> {
        let state = batch.state(which);
        let mut numbers = Vec::with_capacity(self.components.len());
        for (c, component) in self.components.iter().enumerate() {
            numbers.push(component.find(state).filter(|&number| self.form.fits(c, number))?);
        }
        let mut tuple = Batch::new(self.form.bytes());
        self.form.pack(numbers.into_iter(), &mut vec![0; self.form.words()], tuple.push_with(0));
        self.table.find(&tuple, 0)
    }

    /// Where tuples begin to be looked for is known only once they are folded; then it is time for more than that.
    fn prefetch(&self, _: &Batch, _: Range<usize>) {}

    fn remove(&mut self, id: StateId) {
        self.table.remove(id);
    }

    fn load(&self, id: StateId, out: &mut [u8]) {
        let mut last = self.last.borrow_mut();
        let Last { numbers, state } = &mut *last;
        let mut put = |form: &Form| {
            let tuple = form.unpack(self.table.shared().state(id));
            for ((component, number), before) in self.components.iter().zip(tuple).zip(numbers.iter_mut()) {
                if *before != number {
                    component.put(number, state);
                    *before = number;
                }
            }
        };
        if self.version == self.common.version.load(Ordering::Acquire) {
            put(&self.form);
        } else {
            put(&self.common.form.lock().unwrap_or_else(PoisonError::into_inner));
        }
        out.copy_from_slice(state);
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn room(&self) -> usize {
        self.table.room()
    }

    fn numbers(&self) -> usize {
        self.table.numbers()
    }

    fn each_number(&self, show: &mut dyn FnMut(StateId)) {
        self.table.each_number(show);
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.components.iter().map(Component::bytes).sum::<usize>()
    }

    fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.save_to(to)
    }

    fn refill(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.restore_from(from)
    }
}

impl Concurrent for Collapse {
    fn share(self, threads: usize) -> Vec<Collapse> {
        let state_bytes = self.state_bytes();
        let Collapse { common, components, table, .. } = self;
        // The form that all tuples have now, whatever this thread knew.
        let form = common.form.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut shares: Vec<Vec<Component>> = (0..threads).map(|_| Vec::new()).collect();
        for component in components {
            component.share(threads).into_iter().zip(&mut shares).for_each(|(component, share)| share.push(component));
        }
        let with = |(table, share)| Collapse::with(common.clone(), share, table, form.clone(), state_bytes);
        table.share(threads).into_iter().zip(shares).map(with).collect()
    }

    fn own(&mut self) {
        self.refresh();
        self.table.own();
        self.components.iter_mut().for_each(|component| component.values_mut().own());
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    unsafe fn prepare_room(&self, more: usize) -> Result<bool, Full> {
        let mut fit = true;
        let form = self.common.form.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (c, (component, wanted)) in self.components.iter().zip(&self.common.wanted).enumerate() {
            let wanted = wanted.swap(0, Ordering::Relaxed);
            if wanted > 0 {
                let more = wanted + AHEAD + component.len() / 4;
                // SAFETY: as the caller promises; here the index is filled at once.
                unsafe { component.values().shared().make_room(more, None)? };
            }
            fit &= form.fits(c, component.len().saturating_sub(1) as u32);
        }
        // SAFETY: as the caller promises.
        unsafe {
            if !fit {
                self.widen()?;
            }
            Ok(self.table.shared().prepare_room(more, 0)? | !fit)
        }
    }
}
