//! Integer vectors that a matrix sends to zero: all of them by a basis, or those without negative entries by their supports.
//!
//! Each row of the matrix carries along how it was combined from the first rows: entries beyond the columns count these.

use super::number::{Sparse, combine, common_divisor, entry};
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
    let mut queue: BinaryHeap<(std::cmp::Reverse<usize>, u32)> =
        users.iter().enumerate().map(|(c, list)| (std::cmp::Reverse(list.len()), c as u32)).collect();
    let mut complete = true;
    let mut work = 0usize;
    while let Some((expected, column)) = queue.pop() {
        let list = &mut users[column as usize];
        list.sort_unstable();
        list.dedup();
        list.retain(|&r| entry(&rows[r as usize], column) != 0);
        if list.len() > expected.0 {
            queue.push((std::cmp::Reverse(list.len()), column));
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

/// The combinations with positive factors that are zero and whose support has no smaller one in it. When they become too
/// many, only some, none of them wrong.
pub(super) fn positive_kernel(rows: &[Sparse], columns: u32, effort: usize) -> Kernel {
    let mut rows: Vec<Positive> =
        with_origin(rows, columns).into_iter().map(|row| Positive::new(row, columns)).collect();
    // How many rows are above and below zero in each column.
    let mut signs = vec![[0usize; 2]; columns as usize];
    let count = |signs: &mut Vec<[usize; 2]>, row: &Sparse, more: bool| {
        for e in row.iter().filter(|e| e.0 < columns) {
            let n = &mut signs[e.0 as usize][usize::from(e.1 > 0)];
            *n = if more { *n + 1 } else { *n - 1 };
        }
    };
    rows.iter().for_each(|positive| count(&mut signs, &positive.row, true));
    let mut left: Vec<u32> = (0..columns).collect();
    let (mut complete, mut work) = (true, 0usize);
    loop {
        left.retain(|&c| signs[c as usize] != [0, 0]);
        let growth = |c: &u32| {
            let [below, above] = signs[*c as usize];
            (below as i128 * above as i128) - below as i128 - above as i128
        };
        let Some(column) = left.iter().copied().min_by_key(growth) else { break };
        work += left.len() + rows.len();
        let (touched, mut kept): (Vec<Positive>, Vec<Positive>) =
            rows.into_iter().partition(|positive| entry(&positive.row, column) != 0);
        touched.iter().for_each(|positive| count(&mut signs, &positive.row, false));
        let (above, below): (Vec<Positive>, Vec<Positive>) =
            touched.into_iter().partition(|positive| entry(&positive.row, column) > 0);
        'pairs: for up in &above {
            for down in &below {
                if work > effort {
                    complete = false;
                    break 'pairs;
                }
                work += up.row.len() + down.row.len();
                let (a, b) = (entry(&up.row, column), entry(&down.row, column));
                let Some(b) = b.checked_neg() else {
                    complete = false;
                    continue;
                };
                let shared = common_divisor(a.unsigned_abs().into(), b.unsigned_abs().into()) as i64;
                let Some((row, _)) = combine(b / shared, &up.row, a / shared, &down.row, 0) else {
                    complete = false;
                    continue;
                };
                let new = Positive::new(row, columns);
                work += kept.len() / 8;
                if kept.iter().any(|old| old.within(&new, columns)) {
                    continue;
                }
                kept.retain(|old| {
                    let stays = !new.within(old, columns);
                    if !stays {
                        count(&mut signs, &old.row, false);
                    }
                    stays
                });
                count(&mut signs, &new.row, true);
                kept.push(new);
            }
        }
        rows = kept;
    }
    let vectors = rows.iter().filter_map(|positive| origin_of(&positive.row, columns)).collect();
    Kernel { vectors, complete }
}
