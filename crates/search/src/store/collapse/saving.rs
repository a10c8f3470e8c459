//! Collapsed states in a file: the form of the tuples, the values of the components, the tuples.

use super::Collapse;
use super::tuple::Form;
use crate::checkpoint::impossible;
use crate::store::Store;
use std::io::{self, Read, Write};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

impl Collapse {
    /// Writes all that is needed to have the same states with the same numbers again.
    pub fn save_to(&self, to: &mut dyn Write) -> io::Result<()> {
        // The form that all tuples have now, whatever this thread knew.
        let form = self.common.form.lock().unwrap_or_else(PoisonError::into_inner);
        let bits: Vec<u8> = form.bits().map(|bits| bits as u8).collect();
        to.write_all(&bits)?;
        self.components.iter().try_for_each(|component| component.values().save_to(to))?;
        self.table.save_to(to)
    }

    /// Fills an empty store with what was saved.
    pub fn restore_from(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut bits = vec![0; self.components.len()];
        from.read_exact(&mut bits)?;
        if bits.iter().any(|&bits| bits > 31) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a field of more than 31 bits"));
        }
        let form = Form::with_bits(bits.into_iter().map(u32::from));
        self.components.iter_mut().try_for_each(|component| component.values_mut().restore_from(from))?;
        let full = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        self.table.restride(form.bytes(), &mut |_, _| {}).map_err(full)?;
        *self.common.form.lock().unwrap_or_else(PoisonError::into_inner) = form.clone();
        let version = self.common.version.fetch_add(1, Ordering::AcqRel) + 1;
        self.take_form(form, version);
        self.table.restore_from(from)?;
        // Every number in a tuple must be that of a value.
        let counts: Vec<usize> = self.components.iter().map(|component| component.len()).collect();
        let known =
            |tuple: &[u8]| self.form.unpack(tuple).zip(&counts).all(|(number, &count)| (number as usize) < count);
        if (0..self.table.numbers() as u32).all(|id| known(self.table.shared().state(id))) {
            Ok(())
        } else {
            Err(impossible("a state with a component that there is not"))
        }
    }
}
