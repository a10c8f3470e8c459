//! Names as small numbers, and the nearest name to a misspelt one.
//!
//! Every spelling has exactly one [`Symbol`], so the passes compare and look up numbers, never strings.

pub(crate) use scrimp_core::nearest;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub u32);

/// A map for keys that come from one model: quick, and without protection against chosen keys.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// All spellings, each with its number.
#[derive(Debug, Default)]
pub(crate) struct Symbols<'t> {
    names: Vec<&'t str>,
    /// An open table, a power of two in size and at most half full: hashes, and numbers plus one, 0 for an empty slot.
    slots: Vec<(u32, u32)>,
}

impl<'t> Symbols<'t> {
    pub fn intern(&mut self, name: &'t str) -> Symbol {
        if self.names.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(name.as_bytes());
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                (_, 0) => break,
                (other, number) if other == hash && self.names[number as usize - 1] == name => {
                    return Symbol(number - 1);
                }
                _ => at = (at + 1) & mask,
            }
        }
        self.names.push(name);
        self.slots[at] = (hash, self.names.len() as u32);
        Symbol(self.names.len() as u32 - 1)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
        for (hash, number) in old.into_iter().filter(|slot| slot.1 != 0) {
            let mut at = hash as usize & (size - 1);
            while self.slots[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = (hash, number);
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn name(&self, symbol: Symbol) -> &'t str {
        self.names[symbol.0 as usize]
    }
}

/// The hash of a spelling. Names are short: the ends are read as whole words, which may overlap.
fn hash(bytes: &[u8]) -> u32 {
    let mut hasher = QuickHasher(bytes.len() as u64);
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        hasher.add(u64::from_le_bytes(*first));
        for chunk in bytes[8..].chunks_exact(8) {
            hasher.add(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        hasher.add(u64::from_le_bytes(*last));
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        hasher.add((u32::from_le_bytes(*first) as u64) << 32 | u32::from_le_bytes(*last) as u64);
    } else if let [first, .., last] = bytes {
        hasher.add((*first as u64) << 16 | (bytes[1] as u64) << 8 | *last as u64);
    } else if let [only] = bytes {
        hasher.add(*only as u64);
    }
    (hasher.0 >> 32) as u32
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

/// "did you mean ...", when a candidate is close enough to `name` to be what was meant.
pub(crate) fn suggestion<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(name, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// The same for candidates from a map: these have no order, but a message must not depend on that.
pub(crate) fn sorted_suggestion<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<String> {
    let mut candidates: Vec<&str> = candidates.collect();
    candidates.sort_unstable();
    suggestion(name, candidates)
}

/// The same, and where no candidate is close enough, all there are, if these are few; `what` is what they are called.
pub(crate) fn suggestion_or_all<'c>(
    what: &str,
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    suggestion(name, candidates.iter().copied()).or_else(|| some_names(what, candidates.into_iter()))
}

/// The names there are, where these are few.
pub(crate) fn some_names<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    const FEW: usize = 8;
    let known: Vec<&str> = names.take(FEW + 1).collect();
    (1..=FEW).contains(&known.len()).then(|| format!("{what}: {}", known.join(", ")))
}

/// What an instance of a template is called: `template(1,2)`.
pub(crate) fn instance_name(template: &str, key: &[i64]) -> String {
    let key: Vec<String> = key.iter().map(i64::to_string).collect();
    format!("{template}({})", key.join(","))
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
    fn only_near_names_are_suggested() {
        assert_eq!(suggestion("turm", ["turn", "want"]).as_deref(), Some("did you mean `turn`?"));
        assert_eq!(suggestion("zebra", ["turn", "want"]), None);
        assert_eq!(suggestion("CRITICAL", ["critical"]).as_deref(), Some("did you mean `critical`?"));
        assert_eq!(suggestion("s", ["t", "S"]).as_deref(), Some("did you mean `S`?"));
        assert_eq!(suggestion("s", ["t", "ss"]), None);
        assert_eq!(suggestion("hold", ["x", "holder"]).as_deref(), Some("did you mean `holder`?"));
        assert_eq!(suggestion("crit", ["in_crit"]).as_deref(), Some("did you mean `in_crit`?"));
        assert_eq!(suggestion("in", ["inside"]), None);
    }
}
