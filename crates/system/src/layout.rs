//! Where each variable lives in the byte string that is a state.
//!
//! Every variable has its natural width, little-endian, without gaps. Variables that few events write come first: stores
//! that share prefixes (the automaton, the tree) gain from it, the table does not care. The scalars of a packed system take
//! as many bits as they need instead, none of them across the border of a word of 64.

use crate::expr::{Expr, Fault};
use crate::system::{Overflow, System, VarId, Variable};

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
    /// Which bits of these bytes are the variable's; `None` when all are.
    pub field: Option<Field>,
    low: i64,
}

/// Some bits of a few bytes that are read as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub shift: u32,
    /// As many ones as there are bits.
    pub mask: u64,
}

impl Slot {
    /// The bytes of the first cell, as they are.
    fn bits(&self, state: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..self.width].copy_from_slice(&state[self.offset..self.offset + self.width]);
        u64::from_le_bytes(bytes)
    }
}

/// Gives each of these variables some bits, the widest first so that what is left of a word can be filled; returns the
/// bytes that all take.
fn pack(system: &System, mut variables: Vec<usize>, slots: &mut [Slot]) -> usize {
    let bits_of = |v: usize| {
        let domain = system.variables[v].domain;
        if domain.low == domain.high { 0 } else { 64 - (domain.high as u64).leading_zeros() as usize }
    };
    variables.sort_by_key(|&v| std::cmp::Reverse(bits_of(v)));
    // Bits taken of each word. Words before `open` are full for all that is still to come, or nearly so.
    let mut words: Vec<usize> = Vec::new();
    let (mut open, mut places) = (0, Vec::new());
    for v in variables {
        let bits = bits_of(v);
        slots[v] =
            Slot { offset: 0, width: 0, signed: false, length: 1, field: None, low: system.variables[v].domain.low };
        if bits == 0 {
            continue;
        }
        while open < words.len() && (words[open] == 64 || words.len() - open > 16) {
            open += 1;
        }
        let word = (open..words.len()).find(|&w| words[w] + bits <= 64).unwrap_or_else(|| {
            words.push(0);
            words.len() - 1
        });
        places.push((v, word, words[word], bits));
        words[word] += bits;
    }
    // Bytes are counted to the end of what is used; the last word should be the emptiest.
    let total = words.len();
    let emptiest = (0..total).min_by_key(|&w| words[w]).unwrap_or(0);
    let moved = |word: usize| match total {
        0 => 0,
        _ if word == emptiest => total - 1,
        _ if word == total - 1 => emptiest,
        _ => word,
    };
    let mut bytes = if total == 0 { 0 } else { 8 * (total - 1) + words[emptiest].div_ceil(8) };
    // Read by one load of 1, 2, 4 or 8 bytes, which must not go beyond the state.
    let load = |start: usize, bits: usize| (start % 8 + bits).div_ceil(8).next_power_of_two();
    for &(_, _, start, bits) in &places {
        bytes = bytes.max(load(start, bits));
    }
    for (v, word, start, bits) in places {
        let first = 8 * moved(word) + start / 8;
        let width = load(start, bits);
        let offset = first.min(bytes - width);
        let shift = (start % 8 + 8 * (first - offset)) as u32;
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        slots[v] = Slot { offset, width, field: Some(Field { shift, mask }), ..slots[v] };
    }
    bytes
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
        let nowhere = Slot { offset: 0, width: 0, signed: false, length: 0, field: None, low: 0 };
        let mut slots = vec![nowhere; order.len()];
        let mut bytes = 0;
        if system.packed {
            let packed = |v: &usize| {
                let Variable { domain, length, .. } = &system.variables[*v];
                length.is_none() && !domain.is_signed() && domain.overflow == Overflow::Error
            };
            let (fields, others) = order.into_iter().partition(packed);
            bytes = pack(system, fields, &mut slots);
            order = others;
        }
        for v in order {
            let variable = &system.variables[v];
            let width = variable.domain.width();
            slots[v] = Slot {
                offset: bytes,
                width,
                signed: variable.domain.is_signed(),
                length: variable.cells(),
                field: None,
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
        if let Some(field) = slot.field {
            return Ok((slot.bits(state) >> field.shift & field.mask) as i64);
        }
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
        if let Some(Field { shift, mask }) = slot.field {
            let bits = slot.bits(state) & !(mask << shift) | (value as u64 & mask) << shift;
            state[slot.offset..slot.offset + slot.width].copy_from_slice(&bits.to_le_bytes()[..slot.width]);
            return;
        }
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
