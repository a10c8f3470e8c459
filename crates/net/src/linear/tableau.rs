//! A sparse simplex tableau in exact integers, whose variables have bounds that can be tightened and put back.
//!
//! Each row defines a basic variable by the others: `denominator * basic = sum of entries`. The other variables always sit
//! at an integer within their bounds. A number that does not fit ends the work with [`Stop`]: there is then no conclusion.

use super::number::{Sparse, combine, common_divisor, entry};
use std::time::Instant;

/// Why there is no answer: a number too large, or no time left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop;

pub(super) const NO_LOWER: i64 = i64::MIN;
pub(super) const NO_UPPER: i64 = i64::MAX;
const NO_ROW: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub basic: u32,
    pub denominator: i64,
    pub entries: Sparse,
    /// The value of the basic variable times the denominator.
    pub numerator: i128,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tableau {
    pub rows: Vec<Row>,
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
    row_of: Vec<u32>,
    /// For each variable the rows that may have it: some too many, none missing.
    columns: Vec<Vec<u32>>,
    /// Of variables that are not basic.
    values: Vec<i64>,
}

impl Tableau {
    /// A variable that no row defines; it sits at zero, which must be within its bounds.
    pub fn add_free(&mut self, lower: i64, upper: i64) -> u32 {
        self.lower.push(lower);
        self.upper.push(upper);
        self.row_of.push(NO_ROW);
        self.columns.push(Vec::new());
        self.values.push(0);
        self.lower.len() as u32 - 1
    }

    /// A variable that is a sum of others.
    pub fn add_sum(&mut self, terms: &[(u32, i64)]) -> Result<u32, Stop> {
        let mut entries = Sparse::new();
        let mut denominator = 1i64;
        for &(variable, weight) in terms {
            // denominator * sum = entries so far; the term is weight * (its row / its denominator).
            let itself = [(variable, 1)];
            let (own, by) = match self.row(variable) {
                Some(row) => (row.entries.as_slice(), row.denominator),
                None => (itself.as_slice(), 1),
            };
            let scale = i128::from(weight) * i128::from(denominator);
            let scale = i64::try_from(scale).map_err(|_| Stop)?;
            let product = u128::from(denominator.unsigned_abs()) * u128::from(by.unsigned_abs());
            let (sum, divisor) = combine(by, &entries, scale, own, product).ok_or(Stop)?;
            denominator = i64::try_from(product / divisor).map_err(|_| Stop)?;
            entries = sum;
        }
        let basic = self.add_free(NO_LOWER, NO_UPPER);
        let at = self.rows.len() as u32;
        for &(variable, _) in &entries {
            self.columns[variable as usize].push(at);
        }
        self.row_of[basic as usize] = at;
        self.rows.push(Row { basic, denominator, entries, numerator: 0 });
        self.recompute(at as usize)?;
        Ok(basic)
    }

    pub fn row(&self, variable: u32) -> Option<&Row> {
        self.rows.get(self.row_of[variable as usize] as usize)
    }

    pub fn row_index(&self, variable: u32) -> Option<usize> {
        let at = self.row_of[variable as usize];
        (at != NO_ROW).then_some(at as usize)
    }

    /// Where a variable is now, as numerator and denominator.
    pub fn value(&self, variable: u32) -> (i128, i64) {
        self.row(variable).map_or((self.values[variable as usize].into(), 1), |row| (row.numerator, row.denominator))
    }

    fn recompute(&mut self, at: usize) -> Result<(), Stop> {
        let row = &self.rows[at];
        let mut sum = 0i128;
        for &(variable, weight) in &row.entries {
            let term = i128::from(weight) * i128::from(self.values[variable as usize]);
            sum = sum.checked_add(term).ok_or(Stop)?;
        }
        self.rows[at].numerator = sum;
        Ok(())
    }

    /// The rows that have this variable, which is not basic, and how often.
    pub fn column(&mut self, variable: u32) -> Vec<(u32, i64)> {
        let mut rows = std::mem::take(&mut self.columns[variable as usize]);
        rows.sort_unstable();
        rows.dedup();
        let with = |at: u32| (at, entry(&self.rows[at as usize].entries, variable));
        let column: Vec<_> = rows.iter().map(|&at| with(at)).filter(|e| e.1 != 0).collect();
        rows.clear();
        rows.extend(column.iter().map(|e| e.0));
        self.columns[variable as usize] = rows;
        column
    }

    /// About how many rows have the variable.
    pub fn column_length(&self, variable: u32) -> usize {
        self.columns[variable as usize].len()
    }

    /// Moves a variable that is not basic.
    pub fn move_to(&mut self, variable: u32, value: i64) -> Result<(), Stop> {
        let by = i128::from(value) - i128::from(self.values[variable as usize]);
        if by == 0 {
            return Ok(());
        }
        for (at, weight) in self.column(variable) {
            let row = &mut self.rows[at as usize];
            let change = i128::from(weight).checked_mul(by).ok_or(Stop)?;
            row.numerator = row.numerator.checked_add(change).ok_or(Stop)?;
        }
        self.values[variable as usize] = value;
        Ok(())
    }

    /// The row's basic variable leaves and sits at `value`; `entering` becomes basic.
    pub fn pivot(&mut self, at: usize, entering: u32, value: i64, deadline: Instant) -> Result<(), Stop> {
        if Instant::now() >= deadline {
            return Err(Stop);
        }
        let column = self.column(entering);
        let pivot = entry(&self.rows[at].entries, entering);
        debug_assert!(pivot != 0);
        let leaving = self.rows[at].basic;
        // pivot * entering = denominator * leaving - the rest, then with a positive factor on the left.
        let row = &mut self.rows[at];
        let sign = pivot.signum();
        let old = row.denominator;
        let mut entries: Sparse = Vec::with_capacity(row.entries.len());
        let position = row.entries.partition_point(|e| e.0 < leaving);
        for (i, &(variable, weight)) in row.entries.iter().enumerate() {
            if i == position {
                entries.push((leaving, sign * old));
            }
            if variable != entering {
                entries.push((variable, weight.checked_mul(-sign).ok_or(Stop)?));
            }
        }
        if position == row.entries.len() {
            entries.push((leaving, sign * old));
        }
        row.entries = entries;
        row.denominator = pivot.checked_abs().ok_or(Stop)?;
        row.basic = entering;
        self.row_of[entering as usize] = at as u32;
        self.row_of[leaving as usize] = NO_ROW;
        self.values[leaving as usize] = value;
        let mut users = std::mem::take(&mut self.columns[leaving as usize]);
        users.push(at as u32);
        self.columns[leaving as usize] = users;
        self.columns[entering as usize].clear();
        self.recompute(at)?;
        let own = std::mem::take(&mut self.rows[at].entries);
        let denominator = self.rows[at].denominator;
        let done = column
            .iter()
            .filter(|e| e.0 as usize != at)
            .try_for_each(|&(other, factor)| self.substitute(other as usize, entering, factor, &own, denominator));
        self.rows[at].entries = own;
        done
    }

    /// Replaces `variable`, which the row has `factor` times, by `own / denominator`.
    fn substitute(
        &mut self,
        at: usize,
        variable: u32,
        factor: i64,
        own: &[(u32, i64)],
        denominator: i64,
    ) -> Result<(), Stop> {
        let shared = common_divisor(factor.unsigned_abs().into(), denominator.unsigned_abs().into()) as i64;
        let (scale, factor) = (denominator / shared, factor / shared);
        let row = &mut self.rows[at];
        let position = row.entries.partition_point(|e| e.0 < variable);
        row.entries.remove(position);
        let product = i128::from(row.denominator) * i128::from(scale);
        let (entries, divisor) = combine(scale, &row.entries, factor, own, product.unsigned_abs()).ok_or(Stop)?;
        let before = std::mem::replace(&mut row.entries, entries);
        row.denominator = i64::try_from(product.unsigned_abs() / divisor).map_err(|_| Stop)?;
        // What the row did not have before now has it among its users.
        let mut i = 0;
        for &(variable, _) in &row.entries {
            while i < before.len() && before[i].0 < variable {
                i += 1;
            }
            if i == before.len() || before[i].0 != variable {
                self.columns[variable as usize].push(at as u32);
            }
        }
        self.recompute(at)
    }
}
