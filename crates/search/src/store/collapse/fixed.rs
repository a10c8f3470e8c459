//! Tuples of one length from the first state on, three bytes a component, for stores that take byte strings apart by
//! themselves: the automaton.

use super::changes::changes;
use super::component::Component;
use crate::store::Full;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a number; the highest one comes first, since it changes least.
const FIELD: usize = 3;

/// From states to tuples and back.
pub struct Folder {
    components: Vec<Component>,
    one: Batch,
    changed: Vec<u64>,
    numbers: Vec<u32>,
}

impl Folder {
    pub fn new(model: &dyn Model, budget: &Arc<Budget>) -> io::Result<Folder> {
        let state_bytes = model.state_bytes();
        let component = |ranges: &Vec<Range<usize>>| Component::new(ranges, state_bytes, budget);
        let components = model.components().iter().map(component).collect::<io::Result<_>>()?;
        Ok(Folder { components, one: Batch::new(state_bytes), changed: Vec::new(), numbers: Vec::new() })
    }

    /// Length of a tuple.
    pub fn tuple_bytes(&self) -> usize {
        self.components.len() * FIELD
    }

    /// Writes the tuple of a state. Fails when there is no room for a component's new value.
    pub fn fold(&mut self, state: &[u8], tuple: &mut [u8]) -> Result<(), Full> {
        self.one.clear();
        self.one.push(state, 0);
        let mut number = [0];
        for (component, field) in self.components.iter_mut().zip(tuple.chunks_exact_mut(FIELD)) {
            component.number_all(&self.one, 0, &[!0], &mut number).map_err(|_| Full)?;
            write(number[0], field)?;
        }
        Ok(())
    }

    /// Appends the tuples of all states of a batch, with their events. When it fails, none is appended.
    pub fn fold_all(&mut self, states: &Batch, tuples: &mut Batch) -> Result<(), Full> {
        let (first, count) = (tuples.len(), states.len());
        for i in 0..count {
            tuples.push_with(states.event(i));
        }
        changes(states, 0..count, &mut self.changed);
        self.numbers.resize(count, 0);
        for (c, component) in self.components.iter_mut().enumerate() {
            let numbered = component.number_all(states, 0, &self.changed, &mut self.numbers).map_err(|_| Full);
            let mut write = |(i, &number): (usize, &u32)| write(number, &mut tuples.state_mut(first + i)[c * FIELD..]);
            if numbered.and_then(|_| self.numbers.iter().enumerate().try_for_each(&mut write)).is_err() {
                tuples.truncate(first);
                return Err(Full);
            }
        }
        Ok(())
    }

    /// Writes the state that a tuple stands for.
    pub fn unfold(&self, tuple: &[u8], state: &mut [u8]) {
        for (component, field) in self.components.iter().zip(tuple.chunks_exact(FIELD)) {
            component.put(read(field), state);
        }
    }

    /// Does a tuple, of the right length, stand for a state?
    pub fn knows(&self, tuple: &[u8]) -> bool {
        let mut fields = self.components.iter().zip(tuple.chunks_exact(FIELD));
        tuple.len() == self.tuple_bytes() && fields.all(|(component, field)| (read(field) as usize) < component.len())
    }

    /// Writes the tuple of a state, if all its components are known; otherwise `false`.
    pub fn find(&self, state: &[u8], tuple: &mut [u8]) -> bool {
        let mut fields = self.components.iter().zip(tuple.chunks_exact_mut(FIELD));
        fields.all(|(component, field)| component.find(state).is_some_and(|number| write(number, field).is_ok()))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.components.iter().map(Component::bytes).sum()
    }

    /// Writes all that is needed for the same tuples to stand for the same states.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.components.iter().try_for_each(|component| component.values().save_to(to))
    }

    /// Takes back what was saved.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.components.iter_mut().try_for_each(|component| component.values_mut().restore_from(from))
    }
}

fn read(field: &[u8]) -> u32 {
    field.iter().fold(0, |number, &byte| number << 8 | byte as u32)
}

fn write(number: u32, field: &mut [u8]) -> Result<(), Full> {
    if number >> (8 * FIELD) != 0 {
        return Err(Full);
    }
    field[..FIELD].copy_from_slice(&number.to_be_bytes()[4 - FIELD..]);
    Ok(())
}
