//! States as words of eight bytes, as they lie in batches: there each is padded to whole words. What is done for every successor is
//! written for each small number of words apart (`W`), so that its loops disappear, and once for any number (`W` = 0).

use scrimp_search::hash_words;

/// How states of one length lie in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub words: usize,
    /// The bits of the last word that belong to the state.
    last: u64,
}

impl Shape {
    pub fn new(state_bytes: usize) -> Shape {
        let beyond = 8 * (state_bytes.next_multiple_of(8) - state_bytes);
        Shape { words: state_bytes.div_ceil(8), last: u64::MAX >> beyond }
    }

    /// Has the last word at most so many bits of a state?
    pub fn last_fits(self, bits: u32) -> bool {
        self.words > 0 && self.last.count_ones() <= bits
    }
}

/// A state in its words.
#[derive(Clone, Copy)]
pub struct Words<'s, const W: usize> {
    words: &'s [[u8; 8]],
    last: u64,
}

impl<'s, const W: usize> Words<'s, W> {
    /// Of a state with what pads it, which does not count.
    #[inline(always)]
    pub fn new(padded: &'s [u8], shape: Shape) -> Words<'s, W> {
        let words = padded.as_chunks::<8>().0;
        Words { words: &words[..if W == 0 { shape.words } else { W }], last: shape.last }
    }

    #[inline(always)]
    pub fn count(self) -> usize {
        if W == 0 { self.words.len() } else { W }
    }

    #[inline(always)]
    pub fn get(self, i: usize) -> u64 {
        u64::from_le_bytes(self.words[i]) & if i + 1 == self.count() { self.last } else { u64::MAX }
    }

    #[inline(always)]
    pub fn hash(self) -> u64 {
        hash_words(self.count(), |i| self.get(i))
    }

    #[inline(always)]
    pub fn all(self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.count()).map(move |i| self.get(i))
    }
}

/// A state that lies anywhere: its whole words, and what is left, filled up with zeros, if anything is. That is cut from the last eight
/// bytes: to copy so few takes longer.
#[inline]
pub fn words_of(state: &[u8]) -> (&[[u8; 8]], Option<u64>) {
    let (words, rest) = state.as_chunks::<8>();
    let last = match state.last_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes) >> (8 * (8 - rest.len()) % 64),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | *byte as u64),
    };
    (words, (!rest.is_empty()).then_some(last))
}

/// Evaluates an expression in which `$w` is a number of words as a constant where it is small, and 0 elsewhere.
macro_rules! by_words {
    ($words:expr, $w:ident => $body:expr) => {
        $crate::words::by_words!(@ $words, $w, $body, 1 2 3 4 5 6 7 8)
    };
    (@ $words:expr, $w:ident, $body:expr, $($number:literal)+) => {
        match $words {
            $($number => { const $w: usize = $number; $body })+
            _ => { const $w: usize = 0; $body }
        }
    };
}
pub(crate) use by_words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pads_a_state_does_not_count() {
        let bytes: Vec<u8> = (1..=24).collect();
        let all = |length: usize| Words::<0>::new(&bytes, Shape::new(length)).all().collect::<Vec<_>>();
        assert_eq!(all(0), [0; 0]);
        assert_eq!(all(3), [0x03_02_01]);
        assert_eq!(all(8), [0x08_07_06_05_04_03_02_01]);
        assert_eq!(all(10), [0x08_07_06_05_04_03_02_01, 0x0a_09]);
        for length in 0..=24 {
            let (words, last) = words_of(&bytes[..length]);
            assert_eq!(words.iter().map(|word| u64::from_le_bytes(*word)).chain(last).collect::<Vec<_>>(), all(length));
        }
        assert_eq!(Words::<2>::new(&bytes, Shape::new(10)).all().collect::<Vec<_>>(), all(10));
    }
}
