//! States on their way: each as what differs from the one before it.
//!
//! Successors of states that were found one after the other have most bytes in common. A state is the number of bytes that
//! differ and, for each, how many bytes are the same before it, and its value; where many differ, a bit for each byte says which, and then the
//! values follow. The first state of a parcel differs from one of zeros.

use scrimp_system::Batch;

/// In place of a number of bytes: a bit for each byte follows.
const MANY: u8 = u8::MAX;
/// In place of a number of equal bytes: so many, and then another such number.
const FAR: u8 = u8::MAX;

/// States that are collected for one owner.
pub struct Collected {
    before: Vec<u8>,
    pub bytes: Vec<u8>,
    pub count: u32,
}

impl Collected {
    pub fn new(state_bytes: usize) -> Collected {
        Collected { before: vec![0; state_bytes], bytes: Vec::new(), count: 0 }
    }

    #[inline]
    pub fn push(&mut self, state: &[u8]) {
        let Collected { before, bytes, count } = self;
        *count += 1;
        let start = bytes.len();
        let most = state.len() / 8 + 1;
        bytes.push(0);
        let (mut changes, mut last) = (0usize, 0usize);
        let ((words, rest), (others, other_rest)) = (state.as_chunks::<8>(), before.as_chunks::<8>());
        let mut change = |at: usize| {
            let mut gap = at - last;
            while gap >= FAR as usize {
                bytes.push(FAR);
                gap -= FAR as usize;
            }
            bytes.extend([gap as u8, state[at]]);
            (changes, last) = (changes + 1, at + 1);
        };
        for (word, (here, there)) in words.iter().zip(others).enumerate() {
            let mut differs = u64::from_le_bytes(*here) ^ u64::from_le_bytes(*there);
            while differs != 0 {
                let byte = differs.trailing_zeros() / 8;
                change(8 * word + byte as usize);
                differs &= !(0xff << (8 * byte));
            }
        }
        let first = 8 * words.len();
        (0..rest.len()).filter(|&at| rest[at] != other_rest[at]).for_each(|at| change(first + at));
        if changes > most || changes >= MANY as usize {
            bytes.truncate(start);
            bytes.push(MANY);
            let mask = bytes.len();
            bytes.resize(mask + state.len().div_ceil(8), 0);
            for at in (0..state.len()).filter(|&at| state[at] != before[at]) {
                bytes[mask + at / 8] |= 1 << (at % 8);
                bytes.push(state[at]);
            }
        } else {
            bytes[start] = changes as u8;
        }
        before.copy_from_slice(state);
    }

    /// Everything collected; then it begins anew.
    pub fn take(&mut self) -> (u32, Vec<u8>) {
        self.before.fill(0);
        (std::mem::take(&mut self.count), std::mem::take(&mut self.bytes))
    }
}

/// Appends the states of a parcel to a batch; `None` where the bytes are no states.
pub fn read(mut bytes: &[u8], count: u32, batch: &mut Batch) -> Option<()> {
    let length = batch.state_bytes();
    let mut state = vec![0; length];
    for _ in 0..count {
        let (&changes, rest) = bytes.split_first()?;
        bytes = rest;
        if changes == MANY {
            let (mask, rest) = bytes.split_at_checked(length.div_ceil(8))?;
            bytes = rest;
            for at in (0..length).filter(|at| mask[at / 8] >> (at % 8) & 1 == 1) {
                let (&value, rest) = bytes.split_first()?;
                (state[at], bytes) = (value, rest);
            }
        } else {
            let mut at = 0;
            for _ in 0..changes {
                let mut gap = FAR;
                while gap == FAR {
                    (gap, bytes) = bytes.split_first().map(|(gap, rest)| (*gap, rest))?;
                    at += gap as usize;
                }
                let (&value, rest) = bytes.split_first()?;
                (*state.get_mut(at)?, bytes) = (value, rest);
                at += 1;
            }
        }
        batch.push(&state, 0);
    }
    bytes.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn states_come_back() {
        let mut random = Random(7);
        for length in [0, 1, 3, 8, 9, 64, 254, 255, 256, 700] {
            let (mut all, mut states) = (Collected::new(length), Vec::new());
            let mut state = vec![0u8; length];
            for round in 0..200 {
                for _ in 0..if round % 10 == 0 { length } else { round % 4 } {
                    if length > 0 {
                        state[random.below(length)] = random.below(256) as u8;
                    }
                }
                all.push(&state);
                states.push(state.clone());
            }
            let (count, bytes) = all.take();
            let mut batch = Batch::new(length);
            assert_eq!(read(&bytes, count, &mut batch), Some(()), "{length}");
            assert!((0..states.len()).all(|i| batch.state(i) == &states[i][..]));
            // What is cut or longer is no parcel, and does no harm.
            for cut in 0..bytes.len().min(300) {
                assert_eq!(read(&bytes[..cut], count, &mut Batch::new(length)), None);
            }
            assert_eq!(read(&[&bytes[..], &[0]].concat(), count, &mut Batch::new(length)), None);
        }
    }
}
