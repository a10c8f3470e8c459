//! Integer vectors that a matrix sends to zero: all of them by a basis, or those without negative entries by their supports.
//!
//! Each row of the matrix carries along how it was combined from the first rows: entries beyond the columns count these.

use super::number::{Sparse, combine, common_divisor, entry};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Combinations of rows that are zero, and whether every other one is a combination of these.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernel {
    pub vectors: Vec<Sparse>,
    pub complete: bool,
}

/// The rows with their own number added beyond the columns.
fn with_origin(rows: &[Sparse], columns: u32) -> Vec<Sparse> {
    let origin = |(i, row): (usize, &Sparse)| {
        let mut row = row.clone();
        row.push((columns + i as u32, 1));
        row
    };
    rows.iter().enumerate().map(origin).collect()
}

/// What the row is combined from, once it is zero in all columns.
fn origin_of(row: &Sparse, columns: u32) -> Option<Sparse> {
    let first = row.first()?;
    (first.0 >= columns).then(|| row.iter().map(|&(i, w)| (i - columns, w)).collect())
}

/// A basis of the combinations of rows that are zero. The effort counts entries that are looked at.
pub(super) fn kernel(rows: &[Sparse], columns: u32, effort: usize) -> Kernel {
    let mut rows: Vec<Sparse> = with_origin(rows, columns);
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); columns as usize];
    for (i, row) in rows.iter().enumerate() {
        row.iter().filter(|e| e.0 < columns).for_each(|e| users[e.0 as usize].push(i as u32));
    }
    // Columns with few rows first: they fill the others least.
    let mut queue: BinaryHeap<(Reverse<usize>, u32)> =
        users.iter().enumerate().map(|(c, list)| (Reverse(list.len()), c as u32)).collect();
    let mut complete = true;
    let mut work = 0usize;
    while let Some((expected, column)) = queue.pop() {
        let list = &mut users[column as usize];
        list.sort_unstable();
        list.dedup();
        list.retain(|&r| entry(&rows[r as usize], column) != 0);
        if list.len() > expected.0 {
            queue.push((Reverse(list.len()), column));
            continue;
        }
        let list = std::mem::take(list);
        let cost = |r: &u32| (entry(&rows[*r as usize], column).unsigned_abs(), rows[*r as usize].len());
        let Some(chosen) = list.iter().copied().min_by_key(cost) else { continue };
        let pivot = std::mem::take(&mut rows[chosen as usize]);
        let by = entry(&pivot, column);
        for &other in list.iter().filter(|&&r| r != chosen) {
            let row = std::mem::take(&mut rows[other as usize]);
            work += row.len() + pivot.len();
            let own = entry(&row, column);
            let shared = common_divisor(own.unsigned_abs().into(), by.unsigned_abs().into()) as i64;
            let next = (own / shared).checked_neg().and_then(|own| combine(by / shared, &row, own, &pivot, 0));
            match next {
                Some((next, _)) if work <= effort => {
                    next.iter().filter(|e| e.0 < columns).for_each(|e| users[e.0 as usize].push(other));
                    rows[other as usize] = next;
                }
                _ => complete = false,
            }
        }
    }
    let vectors = rows.iter().filter_map(|row| origin_of(row, columns)).map(positive_first).collect();
    Kernel { vectors, complete }
}

fn positive_first(vector: Sparse) -> Sparse {
    let negative = vector.iter().filter(|e| e.1 < 0).count();
    if negative * 2 > vector.len() && vector.iter().all(|e| e.1 != i64::MIN) {
        return vector.into_iter().map(|(i, w)| (i, -w)).collect();
    }
    vector
}

/// The combinations with positive factors that are zero and whose support has no smaller one in it. When they become too
/// many, only some, none of them wrong.
pub(super) fn positive_kernel(rows: &[Sparse], columns: u32, effort: usize) -> Kernel {
    let mut table = Positives::new(columns, rows.len());
    with_origin(rows, columns).into_iter().for_each(|row| table.insert(row));
    let mut complete = true;
    while let Some(column) = table.next_column() {
        let touched = table.take_column(column);
        let (above, below): (Vec<Positive>, Vec<Positive>) =
            touched.into_iter().partition(|positive| entry(&positive.row, column) > 0);
        'pairs: for up in &above {
            for down in &below {
                if table.work > effort {
                    complete = false;
                    break 'pairs;
                }
                table.work += up.row.len() + down.row.len();
                let a = entry(&up.row, column);
                let combined = entry(&down.row, column).checked_neg().and_then(|b| {
                    let shared = common_divisor(a.unsigned_abs().into(), b.unsigned_abs().into()) as i64;
                    combine(b / shared, &up.row, a / shared, &down.row, 0)
                });
                match combined {
                    Some((row, _)) => table.insert_if_minimal(row),
                    None => complete = false,
                }
            }
        }
    }
    let zero = table.rows.iter().flatten().filter_map(|positive| origin_of(&positive.row, columns));
    let mut vectors: Vec<Sparse> = zero.collect();
    vectors.sort_unstable();
    Kernel { vectors, complete }
}

/// A row without negative entries beyond the columns, and a mark for its support: what lacks a bit lacks the places.
struct Positive {
    row: Sparse,
    mark: u128,
}

impl Positive {
    fn new(row: Sparse, columns: u32) -> Positive {
        let mark = row.iter().filter(|e| e.0 >= columns).fold(0, |mark, e| mark | 1 << ((e.0 - columns) % 128));
        Positive { row, mark }
    }

    fn support(&self, columns: u32) -> &[(u32, i64)] {
        &self.row[self.row.partition_point(|e| e.0 < columns)..]
    }

    /// Whether all that this one is made of is in the other one too.
    fn within(&self, other: &Positive, columns: u32) -> bool {
        if self.mark & !other.mark != 0 {
            return false;
        }
        let (own, theirs) = (self.support(columns), other.support(columns));
        let mut j = 0;
        own.len() <= theirs.len()
            && own.iter().all(|e| {
                while j < theirs.len() && theirs[j].0 < e.0 {
                    j += 1;
                }
                j < theirs.len() && theirs[j].0 == e.0
            })
    }
}

/// Rows that are found by their columns and by what they are made of, so that a step costs what it touches.
struct Positives {
    columns: u32,
    rows: Vec<Option<Positive>>,
    /// For each column and then each origin the rows that have it, and some that are gone.
    users: Vec<Vec<u32>>,
    /// The same, but only for the first origin of a row.
    first: Vec<Vec<u32>>,
    /// How many rows are below and above zero in each column.
    signs: Vec<[usize; 2]>,
    /// Columns by how many rows more there would be without them; entries that are not true any more have a newer one.
    queue: BinaryHeap<(Reverse<i128>, u32)>,
    work: usize,
}

impl Positives {
    fn new(columns: u32, origins: usize) -> Positives {
        Positives {
            columns,
            rows: Vec::new(),
            users: vec![Vec::new(); columns as usize + origins],
            first: vec![Vec::new(); origins],
            signs: vec![[0; 2]; columns as usize],
            queue: BinaryHeap::new(),
            work: 0,
        }
    }

    fn growth(&self, column: u32) -> i128 {
        let [below, above] = self.signs[column as usize].map(|n| n as i128);
        below * above - below - above
    }

    fn next_column(&mut self) -> Option<u32> {
        while let Some((Reverse(growth), column)) = self.queue.pop() {
            if self.signs[column as usize] != [0, 0] && growth == self.growth(column) {
                return Some(column);
            }
        }
        None
    }

    fn count(&mut self, row: &Sparse, more: bool) {
        for &(column, value) in row.iter().take_while(|e| e.0 < self.columns) {
            let n = &mut self.signs[column as usize][usize::from(value > 0)];
            *n = if more { *n + 1 } else { *n - 1 };
            self.queue.push((Reverse(self.growth(column)), column));
        }
    }

    fn insert(&mut self, row: Sparse) {
        self.count(&row, true);
        let at = self.rows.len() as u32;
        row.iter().for_each(|e| self.users[e.0 as usize].push(at));
        let positive = Positive::new(row, self.columns);
        if let Some(e) = positive.support(self.columns).first() {
            self.first[(e.0 - self.columns) as usize].push(at);
        }
        self.rows.push(Some(positive));
    }

    fn remove(&mut self, at: u32) -> Option<Positive> {
        let positive = self.rows[at as usize].take()?;
        self.count(&positive.row, false);
        Some(positive)
    }

    fn take_column(&mut self, column: u32) -> Vec<Positive> {
        let list = std::mem::take(&mut self.users[column as usize]);
        self.work += list.len();
        list.into_iter().filter_map(|at| self.remove(at)).collect()
    }

    /// Adds the row unless one that is there is made of part of it, and drops those that are made of more.
    fn insert_if_minimal(&mut self, row: Sparse) {
        let columns = self.columns;
        let new = Positive::new(row, columns);
        let support = new.support(columns);
        let Some(start) = support.first() else { return };
        for e in support {
            let list = &mut self.first[(e.0 - columns) as usize];
            list.retain(|&at| self.rows[at as usize].is_some());
            self.work += list.len();
            let smaller = |&at: &u32| self.rows[at as usize].as_ref().is_some_and(|old| old.within(&new, columns));
            if list.iter().any(smaller) {
                return;
            }
        }
        let list = &mut self.users[start.0 as usize];
        list.retain(|&at| self.rows[at as usize].is_some());
        self.work += list.len();
        let larger = |&at: &u32| self.rows[at as usize].as_ref().is_some_and(|old| new.within(old, columns));
        let gone: Vec<u32> = list.iter().copied().filter(larger).collect();
        gone.into_iter().for_each(|at| drop(self.remove(at)));
        self.insert(new.row);
    }
}
