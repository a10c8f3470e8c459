//! A state on the card: words of 32 bits, in which each variable has as many bits as the values that occur need.
//!
//! What occurs is learnt from a sample, so a value may turn up that does not fit: generated code then says so, and the
//! search begins again with more room for that variable. No element lies across the border of a word. The bits in use
//! follow each other densely in the key by which a state is looked up.

use scrimp_system::{Layout, System, VarId};

const WORD: u32 = 32;

/// The place of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// What zero stands for, and the greatest value that there is room for.
    pub low: i64,
    pub high: i64,
    /// Bits of an element; 0 where it is always `low`.
    pub bits: u32,
    /// Where the first element is.
    pub word: u32,
    pub shift: u32,
    pub length: u32,
}

impl Field {
    pub fn mask(&self) -> u32 {
        if self.bits == WORD { u32::MAX } else { (1 << self.bits) - 1 }
    }

    /// Elements in one word.
    pub fn per_word(&self) -> u32 {
        if self.bits * self.length <= WORD { self.length } else { WORD / self.bits }
    }

    pub fn words(&self) -> u32 {
        self.length.div_ceil(self.per_word().max(1))
    }

    /// The word of an element, and where it begins there.
    pub fn place(&self, index: u32) -> (u32, u32) {
        let per_word = self.per_word().max(1);
        (self.word + index / per_word, self.shift + index % per_word * self.bits)
    }
}

/// Where all variables are.
#[derive(Debug, Clone)]
pub struct Packing {
    fields: Vec<Field>,
    /// The bits in use of each word, from the lowest one on.
    used: Vec<u32>,
}

impl Packing {
    /// A place for variables with these least and greatest values. Fails for one whose values need more than a word.
    pub fn new(system: &System, ranges: &[(i64, i64)]) -> Result<Packing, String> {
        let mut fields = Vec::with_capacity(ranges.len());
        for (v, (variable, &(low, high))) in system.variables.iter().zip(ranges).enumerate() {
            let bits = bits_for(low, high);
            if bits > WORD {
                let name = system.full_name(VarId(v as u32));
                return Err(format!("the values of {name} need more than {WORD} bits"));
            }
            let most = if bits == 0 { low } else { low.saturating_add((1i64 << bits) - 1).min(variable.domain.high) };
            fields.push(Field { low, high: most, bits, word: 0, shift: 0, length: variable.cells() as u32 });
        }
        let mut used: Vec<u32> = Vec::new();
        // The largest first: what they leave of a word the small ones fill.
        let mut order: Vec<usize> = (0..fields.len()).filter(|&v| fields[v].bits > 0).collect();
        order.sort_by_key(|&v| std::cmp::Reverse(fields[v].bits * fields[v].length));
        for v in order {
            let field = &mut fields[v];
            if field.words() > 1 {
                field.word = used.len() as u32;
                let (per_word, words) = (field.per_word(), field.words());
                used.extend((0..words).map(|w| per_word.min(field.length - w * per_word) * field.bits));
                continue;
            }
            let bits = field.bits * field.length;
            let word = used.iter().position(|used| used + bits <= WORD).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            (field.word, field.shift) = (word as u32, used[word]);
            used[word] += bits;
        }
        if used.is_empty() {
            used.push(1);
        }
        Ok(Packing { fields, used })
    }

    pub fn field(&self, variable: VarId) -> Field {
        self.fields[variable.index()]
    }

    pub fn words(&self) -> usize {
        self.used.len()
    }

    /// The bits in use of each word.
    pub fn used(&self) -> &[u32] {
        &self.used
    }

    /// Bits of a state.
    pub fn bits(&self) -> u32 {
        self.used.iter().sum()
    }

    /// Appends the words of a state; says which variable has no room for its value, if one has none.
    pub fn pack(&self, layout: &Layout, state: &[u8], words: &mut Vec<u32>) -> Result<(), (VarId, i64)> {
        let first = words.len();
        words.resize(first + self.used.len(), 0);
        for (v, field) in self.fields.iter().enumerate() {
            for index in 0..field.length {
                let variable = VarId(v as u32);
                let value = layout.read(state, variable, index as i64).unwrap_or(field.low);
                if !(field.low..=field.high).contains(&value) {
                    return Err((variable, value));
                }
                if field.bits > 0 {
                    let (word, shift) = field.place(index);
                    words[first + word as usize] |= ((value - field.low) as u32) << shift;
                }
            }
        }
        Ok(())
    }

    /// The state that these words are.
    pub fn unpack(&self, layout: &Layout, words: &[u32]) -> Vec<u8> {
        let mut state = vec![0; layout.bytes()];
        for (v, field) in self.fields.iter().enumerate() {
            for index in 0..field.length {
                let (word, shift) = field.place(index);
                let bits = if field.bits == 0 { 0 } else { words[word as usize] >> shift & field.mask() };
                layout.write(&mut state, VarId(v as u32), index as usize, field.low + bits as i64);
            }
        }
        state
    }
}

/// Bits for all numbers from `low` to `high`.
pub fn bits_for(low: i64, high: i64) -> u32 {
    u64::BITS - (high as u64).wrapping_sub(low as u64).leading_zeros()
}
