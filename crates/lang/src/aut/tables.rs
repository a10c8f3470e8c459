//! A large labelled transition system as two tables instead of an event for each edge.
//!
//! A column is a label and a rank: where several edges with the same label leave a state, the ranks tell them apart. The
//! edges of a state are a row with few entries in many columns. Rows are laid over each other in one long table so that
//! no entry falls on another; each entry says whose it is. So the table is about as long as there are edges, and whether
//! a state has an edge in a column is one look.

use super::lts::Lts;
use scrimp_system::{BinaryOp, Expr, VarId};
use std::sync::Arc;

/// Places that are tried for a row before it goes to the end.
const PATIENCE: usize = 200;
/// How far the search for room moves on when a row found none.
const STRIDE: usize = 64;
const FREE: i64 = -1;

#[derive(Debug)]
pub(super) struct Tables {
    /// For each state, where its row begins.
    rows: Arc<[i64]>,
    /// The source of an edge in the upper half, its target in the lower half.
    cells: Arc<[i64]>,
    /// For each label, its first column.
    columns: Vec<u64>,
}

impl Tables {
    pub fn new(lts: &Lts, ranks: &[u64]) -> Tables {
        let mut columns = Vec::with_capacity(ranks.len());
        let mut width = 0;
        for rank in ranks {
            columns.push(width);
            width += rank;
        }
        let mut layout = Layout { rows: vec![0; lts.states as usize], cells: Vec::new(), from: 0 };
        layout.cells.reserve(lts.edges.len());
        let (mut row, mut entries): (u32, Vec<(usize, u32)>) = (0, Vec::new());
        lts.ranked(|edge, rank| {
            if edge.from != row {
                layout.place(row, &entries);
                entries.clear();
                row = edge.from;
            }
            entries.push(((columns[edge.label as usize] + rank) as usize, edge.to));
        });
        layout.place(row, &entries);
        // No column of any row may be beyond the end.
        let last = layout.rows.iter().copied().max().unwrap_or(0) as usize;
        layout.cells.resize(layout.cells.len().max(last + width as usize), FREE);
        Tables { rows: layout.rows.into(), cells: layout.cells.into(), columns }
    }

    /// "There is such an edge", and where it leads, for the state in `control`.
    pub fn edge(&self, control: VarId, label: u32, rank: u64) -> (Expr, Expr) {
        let column = self.columns[label as usize] + rank;
        let row = Expr::Table(self.rows.clone(), Box::new(Expr::Var(control)));
        let place = Expr::binary(BinaryOp::Add, row, Expr::Const(column as i64));
        let cell = Expr::Table(self.cells.clone(), Box::new(place));
        let source = Expr::binary(BinaryOp::ShiftRight, cell.clone(), Expr::Const(32));
        let target = Expr::binary(BinaryOp::BitAnd, cell, Expr::Const(u32::MAX as i64));
        (Expr::binary(BinaryOp::Equal, source, Expr::Var(control)), target)
    }
}

struct Layout {
    rows: Vec<i64>,
    cells: Vec<i64>,
    /// Below this, room is no longer looked for.
    from: usize,
}

impl Layout {
    /// Finds room for a row; its entries are in the order of the columns.
    fn place(&mut self, row: u32, entries: &[(usize, u32)]) {
        let Some((first, _)) = entries.first() else { return };
        while self.cells.get(self.from).is_some_and(|cell| *cell != FREE) {
            self.from += 1;
        }
        let start = self.from.saturating_sub(*first);
        let free =
            |base: &usize| entries.iter().all(|(column, _)| self.cells.get(base + column).is_none_or(|c| *c == FREE));
        let base = match (start..start + PATIENCE).find(free) {
            Some(base) => base,
            None => {
                self.from += STRIDE;
                self.cells.len().saturating_sub(*first)
            }
        };
        for (column, to) in entries {
            let at = base + column;
            if self.cells.len() <= at {
                self.cells.resize(at + 1, FREE);
            }
            self.cells[at] = (row as i64) << 32 | *to as i64;
        }
        self.rows[row as usize] = base as i64;
    }
}
