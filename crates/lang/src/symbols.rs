//! Names as small numbers, and the nearest name to a misspelt one.
//!
//! Every spelling has exactly one [`Symbol`], so the passes compare and look up numbers, never strings.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub u32);

/// A map for keys that come from one model: quick, and without protection against chosen keys.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

#[derive(Debug, Default)]
pub(crate) struct Symbols<'t> {
    names: Vec<&'t str>,
    numbers: Map<&'t str, Symbol>,
}

impl<'t> Symbols<'t> {
    pub fn intern(&mut self, name: &'t str) -> Symbol {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            Symbol(self.names.len() as u32 - 1)
        })
    }

    pub fn name(&self, symbol: Symbol) -> &'t str {
        self.names[symbol.0 as usize]
    }
}

/// Multiplies and rotates word by word.
#[derive(Default)]
pub(crate) struct QuickHasher(u64);

impl QuickHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(value as u64);
    }

    fn write_u32(&mut self, value: u32) {
        self.add(value as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// Longer names are never suggested: the comparison is quadratic in their length.
const LONGEST: usize = 64;

/// "did you mean ...", when a candidate is close enough to `name` to be what was meant.
pub(crate) fn suggestion<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name || name.len() > LONGEST || candidate.len() > LONGEST {
            continue;
        }
        if name.len().abs_diff(candidate.len()) > 4 * limit {
            continue;
        }
        let distance = edit_distance(name, candidate);
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| format!("did you mean `{name}`?"))
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`; a change of case costs one.
fn edit_distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + (a[i - 1] != b[j - 1]) as usize;
            let mut cost = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_is_one_symbol() {
        let mut symbols = Symbols::default();
        let x = symbols.intern("x");
        assert_eq!(symbols.intern("x"), x);
        assert_ne!(symbols.intern("y"), x);
        assert_eq!(symbols.name(x), "x");
    }

    #[test]
    fn distances() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("NCS", "ncs"), 1);
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(suggestion("turm", ["turn", "want"]).as_deref(), Some("did you mean `turn`?"));
        assert_eq!(suggestion("zebra", ["turn", "want"]), None);
    }
}
