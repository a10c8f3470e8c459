//! The value of a measure, computed all at once.
//!
//! Packing is linear: a component's bits are its value, less its least value, shifted to their place. So each cell
//! contributes its own summand to the packed number, whichever components it is in, and a cell of one byte contributes what
//! a table says. All arithmetic wraps; the sum is exact because the result fits.

use crate::component::{Component, Form, Place, Ranks, Term};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct Packed {
    base: u128,
    bytes: Vec<(usize, Arc<[u128]>)>,
    /// Cells of two bytes as they are: where, whether signed, and the factor.
    pairs: Vec<(usize, bool, u128)>,
    cells: Vec<(Place, Option<Ranks>, u128)>,
    trees: Vec<(Component, u32)>,
}

impl Packed {
    /// Adds a component whose bits begin at `shift`.
    pub fn add(&mut self, component: &Component, shift: u32) {
        self.base = self.base.wrapping_sub(wide(component.low) << shift);
        match &component.form {
            Form::Tree { .. } => self.trees.push((component.clone(), shift)),
            Form::Sum(terms, constant) => {
                self.base = self.base.wrapping_add(wide(*constant) << shift);
                terms.iter().for_each(|term| self.add_term(term, shift));
            }
        }
    }

    fn add_term(&mut self, term: &Term, shift: u32) {
        let factor = wide(term.weight) << shift;
        if term.place.width == 2 && term.ranks.is_none() && term.place.field.is_none() {
            self.pairs.push((term.place.offset, term.place.domain.low < 0, factor));
            return;
        }
        if term.place.width != 1 {
            self.cells.push((term.place, term.ranks.clone(), factor));
            return;
        }
        let summand = |byte: u8| {
            let value = match term.place.field {
                Some(field) => (u64::from(byte) >> field.shift & field.mask) as i64,
                None if term.place.domain.low < 0 => byte as i8 as i64,
                None => byte as i64,
            };
            wide(term.ranks.as_ref().map_or(value, |ranks| ranks.of(value))).wrapping_mul(factor)
        };
        let own = (0..=u8::MAX).map(summand);
        match self.bytes.iter_mut().find(|(offset, _)| *offset == term.place.offset) {
            Some((_, table)) => *table = table.iter().zip(own).map(|(a, b)| a.wrapping_add(b)).collect(),
            None => self.bytes.push((term.place.offset, own.collect())),
        }
    }

    #[inline]
    pub fn value(&self, state: &[u8]) -> u128 {
        let mut sum = self.base;
        for (offset, table) in &self.bytes {
            sum = sum.wrapping_add(table[state[*offset] as usize]);
        }
        for &(offset, signed, factor) in &self.pairs {
            let value = u16::from_le_bytes([state[offset], state[offset + 1]]);
            let value = if signed { value as i16 as i64 } else { value as i64 };
            sum = sum.wrapping_add(wide(value).wrapping_mul(factor));
        }
        for (place, ranks, factor) in &self.cells {
            let value = place.read(state);
            let value = ranks.as_ref().map_or(value, |ranks| ranks.of(value));
            sum = sum.wrapping_add(wide(value).wrapping_mul(*factor));
        }
        for (component, shift) in &self.trees {
            sum = sum.wrapping_add(wide(component.value(state)) << shift);
        }
        sum
    }
}

/// The same number modulo 2 to the 128.
fn wide(value: i64) -> u128 {
    value as i128 as u128
}
