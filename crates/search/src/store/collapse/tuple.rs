//! The form of a tuple: a field for each component's number, with as many bits as its numbers need by now.

use super::component::Component;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    fields: Vec<Field>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    /// Where it begins, in bits.
    start: usize,
    bits: u32,
}

impl Field {
    #[inline(always)]
    fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }
}

impl Form {
    /// For components with so many values, and no field shorter than it was. Bits that are left of the last byte go to the
    /// fields that will be too short first.
    pub fn new(counts: impl Iterator<Item = usize>, before: Option<&Form>) -> Form {
        let counts: Vec<usize> = counts.collect();
        let needed = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let least = |c: usize| before.map_or(0, |form| form.fields[c].bits);
        let mut bits: Vec<u32> = counts.iter().enumerate().map(|(c, &count)| needed(count).max(least(c))).collect();
        let bytes = (bits.iter().sum::<u32>() as usize).div_ceil(8).max(1);
        for _ in bits.iter().sum::<u32>() as usize..bytes * 8 {
            // What has a single value seems to be constant.
            let fill = |&c: &usize| if counts[c] > 1 { (counts[c] << 24) >> bits[c] } else { 0 };
            if let Some(fullest) = (0..bits.len()).filter(|&c| bits[c] < 31).max_by_key(fill) {
                bits[fullest] += 1;
            }
        }
        Form::with_bits(bits.into_iter())
    }

    pub fn with_bits(bits: impl Iterator<Item = u32>) -> Form {
        let mut start = 0;
        let mut fields = Vec::new();
        for bits in bits {
            fields.push(Field { start, bits });
            start += bits as usize;
        }
        Form { fields, bytes: start.div_ceil(8).max(1) }
    }

    /// Length of a tuple.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().map(|field| field.bits)
    }

    /// Can a field hold a number with these bits?
    #[inline(always)]
    pub fn fits(&self, component: usize, number: u32) -> bool {
        number as u64 & !self.fields[component].mask() == 0
    }

    /// Words that [`pack`](Form::pack) needs.
    pub fn words(&self) -> usize {
        self.bytes / 8 + 1
    }

    /// Puts numbers together, in `words`, all of which are written.
    #[inline(always)]
    pub fn pack(&self, numbers: impl Iterator<Item = u32>, words: &mut [u64], tuple: &mut [u8]) {
        words.fill(0);
        for (field, number) in self.fields.iter().zip(numbers) {
            let (word, shift) = (field.start / 64, field.start % 64);
            words[word] |= (number as u64) << shift;
            if shift + field.bits as usize > 64 {
                words[word + 1] |= number as u64 >> (64 - shift);
            }
        }
        let mut chunks = tuple.chunks_exact_mut(8);
        let mut at = 0;
        for chunk in chunks.by_ref() {
            chunk.copy_from_slice(&words[at].to_le_bytes());
            at += 1;
        }
        let rest = chunks.into_remainder();
        rest.copy_from_slice(&words[at].to_le_bytes()[..rest.len()]);
    }

    /// The numbers in a tuple.
    #[inline(always)]
    pub fn unpack<'a>(&'a self, tuple: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
        self.fields.iter().map(|&field| (word_from(tuple, field.start / 8) >> (field.start % 8) & field.mask()) as u32)
    }
}

/// Eight bytes from `start` on; zeros follow the last one.
#[inline(always)]
fn word_from(tuple: &[u8], start: usize) -> u64 {
    match tuple.get(start..start + 8) {
        Some(word) => u64::from_le_bytes(word.try_into().unwrap()),
        None => tuple.iter().skip(start).rev().fold(0, |word, &byte| word << 8 | byte as u64),
    }
}

/// The form that these components need now.
pub fn wider(components: &[Component], before: &Form) -> Form {
    Form::new(components.iter().map(Component::len), Some(before))
}
