//! What a renaming does to states: each cell gets the value of another, and values that are identities are renamed too.

use super::translate::{Leaf, Translation};
use crate::layout::Layout;
use crate::system::{System, VarId};
use std::collections::HashMap;

/// Where a cell lies in a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    offset: u32,
    width: u8,
    signed: bool,
    shift: u8,
    mask: u64,
}

impl Place {
    fn new(layout: &Layout, variable: VarId, index: usize) -> Place {
        let slot = layout.slot(variable);
        let whole = if slot.width == 8 { u64::MAX } else { (1 << (8 * slot.width)) - 1 };
        Place {
            offset: (slot.offset + slot.width * index) as u32,
            width: slot.width as u8,
            signed: slot.signed,
            shift: slot.field.map_or(0, |field| field.shift as u8),
            mask: slot.field.map_or(whole, |field| field.mask),
        }
    }

    #[inline]
    pub fn read(&self, state: &[u8]) -> i64 {
        let (at, width) = (self.offset as usize, self.width as usize);
        if width == 1 {
            let byte = state[at];
            return if self.signed { byte as i8 as i64 } else { (byte as u64 >> self.shift & self.mask) as i64 };
        }
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&state[at..at + width]);
        let bits = u64::from_le_bytes(bytes) >> self.shift & self.mask;
        match self.signed && width > 0 && width < 8 {
            true => (bits << (64 - 8 * width)) as i64 >> (64 - 8 * width),
            false => bits as i64,
        }
    }

    #[inline]
    pub fn write(&self, state: &mut [u8], value: i64) {
        let (at, width) = (self.offset as usize, self.width as usize);
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&state[at..at + width]);
        let bits = u64::from_le_bytes(bytes) & !(self.mask << self.shift) | (value as u64 & self.mask) << self.shift;
        state[at..at + width].copy_from_slice(&bits.to_le_bytes()[..width]);
    }
}

/// What values become, from the lowest on; others stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Table {
    low: i64,
    values: Vec<i64>,
}

impl Table {
    #[inline]
    pub fn of(&self, value: i64) -> i64 {
        let at = value.wrapping_sub(self.low) as usize;
        self.values.get(at).copied().unwrap_or(value)
    }
}

/// The tables in use. Number 0 leaves every value as it is.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub list: Vec<Table>,
    numbers: HashMap<Table, u32>,
}

impl Default for Tables {
    fn default() -> Tables {
        let none = Table { low: 0, values: Vec::new() };
        Tables { numbers: HashMap::from([(none.clone(), 0)]), list: vec![none] }
    }
}

impl Tables {
    fn number(&mut self, mut pairs: Vec<(i64, i64)>) -> u32 {
        pairs.retain(|(from, to)| from != to);
        let (Some(low), Some(high)) = (pairs.iter().map(|p| p.0).min(), pairs.iter().map(|p| p.0).max()) else {
            return 0;
        };
        let mut values: Vec<i64> = (low..=high).collect();
        pairs.iter().for_each(|(from, to)| values[(from - low) as usize] = *to);
        let next = self.list.len() as u32;
        let table = Table { low, values };
        let number = *self.numbers.entry(table.clone()).or_insert(next);
        if number == next {
            self.list.push(table);
        }
        number
    }
}

/// The value of a cell after a renaming: that of another cell, renamed by a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct From {
    pub cell: u32,
    pub table: u32,
}

/// The cells of a system as far as renamings can change them.
pub(super) struct Cells<'t> {
    translation: &'t Translation<'t>,
    /// For each, its leaf.
    pub leaves: Vec<u32>,
    pub places: Vec<Place>,
    /// For each, the type of identities that it holds.
    types: Vec<Option<u32>>,
    /// The number here of each leaf that is a cell.
    numbers: HashMap<u32, u32>,
    /// The values of each type, with their leaves.
    values: HashMap<u32, Vec<(i64, u32)>>,
}

impl<'t> Cells<'t> {
    /// Those that some of these renamings move, or whose values they rename. Plain ones come first.
    pub fn new(system: &System, layout: &Layout, translation: &'t Translation, renamings: &[&Vec<u32>]) -> Cells<'t> {
        let moved = |leaf: u32| renamings.iter().any(|renaming| renaming[leaf as usize] != leaf);
        let mut values: HashMap<u32, Vec<(i64, u32)>> = HashMap::new();
        let mut renamed = Vec::new();
        for leaf in 0..translation.leaves_of_set as u32 {
            if let Leaf::Value(of, value) = translation.leaves[leaf as usize] {
                values.entry(of).or_default().push((value, leaf));
                if moved(leaf) {
                    renamed.push(of);
                }
            }
        }
        let mut cells = Vec::new();
        for leaf in 0..translation.leaves_of_set as u32 {
            if let Leaf::Cell(cell) = translation.leaves[leaf as usize] {
                let v = translation.variable(cell);
                let of = translation.identity_of(v).filter(|of| renamed.contains(of));
                let place = Place::new(layout, VarId(v as u32), (cell - translation.first_cell(v)) as usize);
                if (moved(leaf) || of.is_some()) && system.variables[v].domain.width() > 0 {
                    cells.push((of, leaf, place));
                }
            }
        }
        cells.sort_by_key(|(of, leaf, _)| (of.is_some(), *leaf));
        let numbers = cells.iter().zip(0..).map(|((_, leaf, _), number)| (*leaf, number)).collect();
        Cells {
            translation,
            leaves: cells.iter().map(|(_, leaf, _)| *leaf).collect(),
            places: cells.iter().map(|(.., place)| *place).collect(),
            types: cells.iter().map(|(of, ..)| *of).collect(),
            numbers,
            values,
        }
    }

    pub fn number(&self, leaf: u32) -> Option<u32> {
        self.numbers.get(&leaf).copied()
    }

    /// For each cell, what a renaming fills it with.
    pub fn moves(&self, renaming: &[u32], tables: &mut Tables) -> Vec<From> {
        let mut by_type: HashMap<u32, u32> = HashMap::new();
        let mut moves: Vec<From> = (0..self.leaves.len() as u32).map(|cell| From { cell, table: 0 }).collect();
        for (number, leaf) in self.leaves.iter().enumerate() {
            let Some(to) = self.number(renaming[*leaf as usize]) else { continue };
            let table = self.types[number].map_or(0, |of| {
                *by_type.entry(of).or_insert_with(|| {
                    let values = self.values.get(&of).map_or(&[][..], |values| values);
                    let renamed = |leaf: u32| match self.translation.leaves[renaming[leaf as usize] as usize] {
                        Leaf::Value(_, value) => Some(value),
                        _ => None,
                    };
                    tables.number(values.iter().filter_map(|&(value, leaf)| Some((value, renamed(leaf)?))).collect())
                })
            });
            moves[to as usize] = From { cell: number as u32, table };
        }
        moves
    }
}
