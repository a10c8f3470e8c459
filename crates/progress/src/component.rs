//! One component of a measure: a weighted sum of cells, each as it is or through a ranking of its values.
//!
//! All that is found automatically and nearly all that people write has this form, which is read by plain loads. Any other
//! expression is evaluated as the tree that it is.

use scrimp_system::{Domain, Expr, Field, Layout, Role, System, VarId};
use std::sync::Arc;

/// One variable, or one element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    pub variable: VarId,
    pub index: u32,
}

/// `weight` times a cell's value, or times the rank of that value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub cell: Cell,
    pub weight: i64,
    pub ranks: Option<Ranks>,
    pub(crate) in_array: bool,
    pub(crate) place: Place,
}

/// The rank of each value from `low` on; values outside have rank 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    pub low: i64,
    pub table: Arc<[u32]>,
}

/// Where a cell is in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub offset: usize,
    pub width: usize,
    pub field: Option<Field>,
    pub domain: Domain,
}

#[derive(Debug, Clone)]
pub struct Component {
    pub form: Form,
    /// No value is outside these.
    pub low: i64,
    pub high: i64,
    /// What it is called, if it is too long to be written out.
    pub name: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub enum Form {
    Sum(Vec<Term>, i64),
    Tree { tree: Expr, layout: Arc<Layout>, text: String },
}

impl Ranks {
    pub fn of(&self, value: i64) -> i64 {
        let at = value.wrapping_sub(self.low);
        usize::try_from(at).ok().and_then(|at| self.table.get(at)).map_or(0, |&rank| rank as i64)
    }

    pub fn highest(&self) -> i64 {
        self.table.iter().copied().max().unwrap_or(0) as i64
    }
}

impl Place {
    #[inline]
    pub fn read(self, state: &[u8]) -> i64 {
        let at = self.offset;
        let signed = self.domain.low < 0;
        if let Some(Field { shift, mask }) = self.field {
            let mut bytes = [0; 8];
            bytes[..self.width].copy_from_slice(&state[at..at + self.width]);
            return (u64::from_le_bytes(bytes) >> shift & mask) as i64;
        }
        match (self.width, signed) {
            (0, _) => self.domain.low,
            (1, false) => state[at] as i64,
            (1, true) => state[at] as i8 as i64,
            (2, false) => u16::from_le_bytes([state[at], state[at + 1]]) as i64,
            (2, true) => i16::from_le_bytes([state[at], state[at + 1]]) as i64,
            (width, signed) => {
                let mut bytes = [0; 8];
                bytes[..width].copy_from_slice(&state[at..at + width]);
                let value = i64::from_le_bytes(bytes);
                let unused = 64 - 8 * width as u32;
                if signed { value << unused >> unused } else { value }
            }
        }
    }
}

impl Cell {
    /// The name that is read back as this cell.
    pub fn name(self, system: &System) -> String {
        let variable = &system.variables[self.variable.index()];
        let mut name = system.full_name(self.variable);
        if let (Some(owner), false) = (variable.owner, matches!(variable.role, Role::Control(_))) {
            let process = &system.processes[owner.index()];
            // A location of the same name would be meant with a dot.
            if process.locations.contains(&variable.name) {
                name = format!("{}->{}", process.name, variable.name);
            }
        }
        match variable.length {
            Some(_) => format!("{name}[{}]", self.index),
            None => name,
        }
    }
}

impl Term {
    pub fn new(system: &System, layout: &Layout, cell: Cell, weight: i64, ranks: Option<Ranks>) -> Term {
        let slot = layout.slot(cell.variable);
        let domain = system.variables[cell.variable.index()].domain;
        let place = Place {
            offset: slot.offset + slot.width * cell.index as usize,
            width: slot.width,
            field: slot.field,
            domain,
        };
        let in_array = system.variables[cell.variable.index()].length.is_some();
        Term { cell, weight, ranks, in_array, place }
    }

    #[inline]
    pub fn value(&self, state: &[u8]) -> i64 {
        let value = self.place.read(state);
        match &self.ranks {
            Some(ranks) => ranks.of(value).wrapping_mul(self.weight),
            None => value.wrapping_mul(self.weight),
        }
    }

    /// The cell's own value.
    #[inline]
    pub fn raw(&self, state: &[u8]) -> i64 {
        self.place.read(state)
    }

    fn range(&self) -> (i128, i128) {
        let (low, high) = match &self.ranks {
            Some(ranks) => (0, ranks.highest()),
            None => (self.place.domain.low, self.place.domain.high),
        };
        let (a, b) = (low as i128 * self.weight as i128, high as i128 * self.weight as i128);
        (a.min(b), a.max(b))
    }
}

impl Component {
    /// `None` if the sum could leave the range of 64 bits.
    pub fn sum(terms: Vec<Term>, constant: i64) -> Option<Component> {
        let (mut low, mut high) = (constant as i128, constant as i128);
        for term in &terms {
            let range = term.range();
            (low, high) = (low + range.0, high + range.1);
        }
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        Some(Component { form: Form::Sum(terms, constant), low, high, name: None })
    }

    #[inline]
    pub fn value(&self, state: &[u8]) -> i64 {
        match &self.form {
            Form::Sum(terms, constant) => terms.iter().fold(*constant, |sum, term| sum.wrapping_add(term.value(state))),
            Form::Tree { tree, layout, .. } => match layout.eval(tree, state) {
                Ok(value) => value.clamp(self.low, self.high),
                Err(_) => self.low,
            },
        }
    }

    /// Number of different values that there can be.
    pub fn width(&self) -> u128 {
        (self.high as i128 - self.low as i128) as u128 + 1
    }
}
