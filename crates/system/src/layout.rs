//! Where each variable lives in the byte string that is a state.
//!
//! Every variable has its natural width, little-endian, without gaps. Variables that few events write come first: stores
//! that share prefixes (the automaton, the tree) gain from it, the table does not care.

use crate::expr::{Expr, Fault};
use crate::system::{System, VarId};

#[derive(Debug, Clone)]
pub struct Layout {
    slots: Vec<Slot>,
    bytes: usize,
}

/// The place of one variable: `length` cells of `width` bytes from `offset`. Width 0 means that the value is always `low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub offset: usize,
    pub width: usize,
    pub signed: bool,
    pub length: usize,
    low: i64,
}

impl Layout {
    pub fn new(system: &System) -> Layout {
        let mut writers = vec![0usize; system.variables.len()];
        for event in &system.events {
            for m in &event.moves {
                writers[system.processes[m.process.index()].control.index()] += 1;
            }
            for a in &event.effects {
                writers[a.target.index()] += 1;
            }
        }
        let mut order: Vec<usize> = (0..system.variables.len()).collect();
        order.sort_by_key(|&v| writers[v]);
        let mut slots = vec![Slot { offset: 0, width: 0, signed: false, length: 0, low: 0 }; order.len()];
        let mut bytes = 0;
        for v in order {
            let variable = &system.variables[v];
            let width = variable.domain.width();
            slots[v] = Slot {
                offset: bytes,
                width,
                signed: variable.domain.is_signed(),
                length: variable.cells(),
                low: variable.domain.low,
            };
            bytes += width * variable.cells();
        }
        // A system without any varying variable still has a state to store.
        Layout { slots, bytes: bytes.max(1) }
    }

    /// Length of a state.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn slot(&self, variable: VarId) -> Slot {
        self.slots[variable.index()]
    }

    /// Reads cell `index` of a variable; `Fault::Index` when there is no such cell.
    pub fn read(&self, state: &[u8], variable: VarId, index: i64) -> Result<i64, Fault> {
        let slot = self.slots[variable.index()];
        if index < 0 || index >= slot.length as i64 {
            return Err(Fault::Index);
        }
        let at = slot.offset + slot.width * index as usize;
        let cell = |n: usize| &state[at..at + n];
        Ok(match (slot.width, slot.signed) {
            (0, _) => slot.low,
            (1, false) => state[at] as i64,
            (1, true) => state[at] as i8 as i64,
            (2, false) => u16::from_le_bytes(cell(2).try_into().unwrap()) as i64,
            (2, true) => i16::from_le_bytes(cell(2).try_into().unwrap()) as i64,
            (4, false) => u32::from_le_bytes(cell(4).try_into().unwrap()) as i64,
            (4, true) => i32::from_le_bytes(cell(4).try_into().unwrap()) as i64,
            _ => i64::from_le_bytes(cell(8).try_into().unwrap()),
        })
    }

    /// Stores the low bytes of `value` into cell `index`, which must exist.
    pub fn write(&self, state: &mut [u8], variable: VarId, index: usize, value: i64) {
        let slot = self.slots[variable.index()];
        debug_assert!(index < slot.length);
        let at = slot.offset + slot.width * index;
        state[at..at + slot.width].copy_from_slice(&value.to_le_bytes()[..slot.width]);
    }

    /// The bytes of a valuation.
    pub fn encode(&self, values: &[i64], state: &mut [u8]) {
        let mut cell = 0;
        for (v, slot) in self.slots.iter().enumerate() {
            for index in 0..slot.length {
                self.write(state, VarId(v as u32), index, values[cell]);
                cell += 1;
            }
        }
    }

    /// Evaluates an expression in a state.
    pub fn eval(&self, e: &Expr, state: &[u8]) -> Result<i64, Fault> {
        e.eval(&|variable, index| self.read(state, variable, index))
    }

    /// Evaluates a condition in a state.
    pub fn holds(&self, e: &Expr, state: &[u8]) -> Result<bool, Fault> {
        Ok(self.eval(e, state)? != 0)
    }
}
