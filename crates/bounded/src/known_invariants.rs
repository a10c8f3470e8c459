//! What is known of all reachable states without any search, as conditions on words: it makes proofs by induction possible
//! that would fail in states which cannot be reached.

use crate::arithmetic::{add, multiply};
use crate::circuit::Bit;
use crate::encoding::Encoding;
use crate::formula::Formula;
use crate::word::Word;
use scrimp_system::bounds::Cells;
use scrimp_system::invariants::Invariants;
use scrimp_system::projection::Projection;
use scrimp_system::values::Values;
use scrimp_system::{AtMost, Known, Literal, System, Weight};

/// Tuples of cells that a condition on a state may list.
const LISTED: usize = 256;

/// Variables that a condition may sum.
const SUMMED: usize = 200;

/// Pairs of conditions that exclude each other.
const APART: usize = 20_000;

/// Conditions that hold in all reachable states.
#[derive(Default)]
pub struct KnownInvariants {
    /// For each word its values.
    values: Vec<Values>,
    windows: Vec<Projection>,
    sums: Vec<(Vec<(usize, Weight)>, i64)>,
    /// Two intervals, each of a word, that these are not in at the same time.
    apart: Vec<[(usize, i64, i64); 2]>,
}

impl KnownInvariants {
    /// What each cell can hold, and who can be alone.
    pub fn of_bounds(encoding: &Encoding) -> KnownInvariants {
        let mut values = encoding.bounds.clone();
        if !encoding.holders.is_empty() {
            values.push(Values::between(0, encoding.holders.len() as i64));
        }
        KnownInvariants { values, ..KnownInvariants::default() }
    }

    /// All that can be found out about a system in a second or so.
    pub fn of_system(system: &System) -> KnownInvariants {
        let Invariants { cells, base, windows } = Invariants::at_a_glance(system);
        let all = |window: &Projection| {
            window.cells.iter().fold(1u64, |all, cell| all.saturating_mul(base[*cell as usize].count()))
        };
        let useful = |window: &Projection| window.tuples.len() <= LISTED && (window.tuples.len() as u64) < all(window);
        let windows = windows.into_iter().filter(useful).collect();
        let mut invariants = KnownInvariants { windows, ..KnownInvariants::default() };
        invariants.take(&cells, system.known.of(system));
        invariants.values = base;
        invariants
    }

    fn take(&mut self, cells: &Cells, Known { sums, literals, apart }: Known) {
        for AtMost { terms, most } in sums.into_iter().filter(|sum| sum.terms.len() <= SUMMED) {
            let terms = terms.into_iter().map(|(variable, weight)| (cells.first(variable) as usize, weight));
            self.sums.push((terms.collect(), most));
        }
        let part = |literal: &Literal| (cells.first(literal.variable) as usize, literal.low, literal.high);
        for (first, others) in literals.iter().zip(&apart) {
            for other in others.iter().filter_map(|other| literals.get(*other as usize)) {
                if self.apart.len() < APART && part(first) < part(other) {
                    self.apart.push([part(first), part(other)]);
                }
            }
        }
    }

    /// Asserts it of a state of these words.
    pub fn assert(&self, formula: &mut Formula, words: &[Word]) {
        for (word, values) in words.iter().zip(&self.values) {
            let (low, high) = values.hull();
            let inside = word.is_within(&mut formula.circuit, low, high);
            formula.assert_any(&[inside]);
            let Values::List(list) = values else { continue };
            if (list.len() as i128) <= high as i128 - low as i128 {
                let these: Vec<Bit> =
                    list.iter().map(|v| Word::equal(&mut formula.circuit, word, &Word::constant(*v))).collect();
                formula.assert_any(&these);
            }
        }
        for window in &self.windows {
            assert_window(formula, words, window);
        }
        for (terms, most) in &self.sums {
            let mut sum = Word::constant(0);
            for (word, weight) in terms {
                let weighed = match weight {
                    Weight::Times(weight) => multiply(&mut formula.circuit, &words[*word], &Word::constant(*weight)),
                    Weight::Of(table) => weigh(formula, &words[*word], table),
                };
                sum = add(&mut formula.circuit, &sum, &weighed);
            }
            let above = Word::less(&mut formula.circuit, &Word::constant(*most), &sum);
            formula.assert_any(&[!above]);
        }
        for parts in &self.apart {
            let parts = parts.map(|(word, low, high)| !words[word].is_within(&mut formula.circuit, low, high));
            formula.assert_any(&parts);
        }
    }
}

/// What a table says of a value; 0 where it says nothing.
fn weigh(formula: &mut Formula, word: &Word, table: &[i64]) -> Word {
    let last = table.len() as i64 - 1;
    if last < 0 {
        return Word::constant(0);
    }
    let known = word.is_within(&mut formula.circuit, 0, last);
    let weighed =
        Word::select(&mut formula.circuit, word, table.iter().map(|weight| Word::constant(*weight)).collect());
    Word::choose(&mut formula.circuit, known, &weighed, &Word::constant(0))
}

fn assert_window(formula: &mut Formula, words: &[Word], window: &Projection) {
    let mut tuples: Vec<&Box<[i64]>> = window.tuples.iter().collect();
    tuples.sort_unstable();
    let mut these = Vec::with_capacity(tuples.len());
    for tuple in tuples {
        let cells = window.cells.iter().zip(tuple.iter());
        let parts: Vec<Bit> = cells
            .map(|(cell, value)| Word::equal(&mut formula.circuit, &words[*cell as usize], &Word::constant(*value)))
            .collect();
        these.push(formula.circuit.all(parts));
    }
    formula.assert_any(&these);
}
