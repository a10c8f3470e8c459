//! What a few cells can hold together: reachable states as seen through a window.

use crate::bounds::Knowledge;
use crate::expr::{BinaryOp, Expr};
use crate::values::Values;
use std::collections::HashSet;

/// Bits in the table by which code asks for membership.
const TABLE: u64 = 1 << 17;

#[derive(Debug, Clone)]
pub struct Projection {
    pub cells: Vec<u32>,
    pub tuples: HashSet<Box<[i64]>>,
}

impl Projection {
    /// Could a state have these values, as far as this window shows them? One value alone is left to the bounds.
    pub fn allows(&self, known: &dyn Fn(u32) -> Option<i64>) -> bool {
        // Short windows are the rule, and this is asked often.
        let mut short = [None; 8];
        let mut long = Vec::new();
        let tuple = match short.get_mut(..self.cells.len()) {
            Some(tuple) => tuple,
            None => {
                long.resize(self.cells.len(), None);
                &mut long[..]
            }
        };
        tuple.iter_mut().zip(&self.cells).for_each(|(value, cell)| *value = known(*cell));
        if tuple.iter().flatten().count() < 2 {
            return true;
        }
        let agrees = |t: &[i64]| t.iter().zip(&*tuple).all(|(value, known)| known.is_none_or(|k| k == *value));
        match &*tuple {
            [Some(a), Some(b)] => self.tuples.contains(&[*a, *b][..]),
            [Some(a), Some(b), Some(c)] => self.tuples.contains(&[*a, *b, *c][..]),
            _ => self.tuples.iter().any(|t| agrees(t)),
        }
    }

    /// Sharpens what is known by what this window shows of it. `false` if it shows nothing of the kind.
    pub fn narrow(&self, known: &mut Knowledge) -> bool {
        let sets: Vec<Values> = self.cells.iter().map(|cell| known.get(*cell).clone()).collect();
        let agrees = |t: &&[i64]| t.iter().zip(&sets).all(|(value, set)| set.contains(*value));
        let shown: Vec<&[i64]> = self.tuples.iter().map(|t| &t[..]).filter(agrees).collect();
        for (at, (cell, set)) in self.cells.iter().zip(&sets).enumerate() {
            let values = Values::collect(shown.iter().map(|tuple| tuple[at]));
            if values.count() < set.count() {
                known.set(*cell, values);
            }
        }
        !shown.is_empty()
    }

    /// "The values of these expressions, one for each cell, are a tuple of this window", unless the table for it would
    /// be too large. Values outside the bounds of their cells may get either answer.
    pub fn condition(&self, base: &[Values], cell: &dyn Fn(u32) -> Expr) -> Option<Expr> {
        let mut size = 1u64;
        let mut place = Expr::Const(0);
        let mut strides = Vec::new();
        for c in &self.cells {
            let (low, high) = base[*c as usize].hull();
            let value = Expr::binary(BinaryOp::Subtract, cell(*c), Expr::Const(low));
            let scaled = Expr::binary(BinaryOp::Multiply, value, Expr::Const(size as i64));
            place = match place {
                Expr::Const(0) => scaled,
                place => Expr::binary(BinaryOp::Add, place, scaled),
            };
            strides.push((low, size));
            let values = (high.wrapping_sub(low) as u64).checked_add(1)?;
            size = size.checked_mul(values).filter(|size| *size <= TABLE)?;
        }
        let mut words = vec![0u64; size.div_ceil(64) as usize];
        for tuple in &self.tuples {
            let at: u64 = tuple.iter().zip(&strides).map(|(v, (low, stride))| (v - low) as u64 * stride).sum();
            words[at as usize / 64] |= 1 << (at % 64);
        }
        let words: Vec<i64> = words.into_iter().map(|word| word as i64).collect();
        let binary = |op, a, b| Expr::binary(op, a, Expr::Const(b));
        let word = match &words[..] {
            [word] => Expr::Const(*word),
            _ => Expr::Table(words.into(), Box::new(binary(BinaryOp::ShiftRight, place.clone(), 6))),
        };
        let bit = Expr::binary(BinaryOp::ShiftRight, word, binary(BinaryOp::BitAnd, place, 63));
        Some(binary(BinaryOp::BitAnd, bit, 1))
    }
}
