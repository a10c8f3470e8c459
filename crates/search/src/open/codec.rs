//! Keys, one after the other, each as what differs from the one before it.
//!
//! Neighbours in an open list come from the same source or from similar ones, so most of their bytes agree. A key is taken
//! as words of eight bytes; a bit for each word says whether it differs, and for one that does, a bit for each byte.

/// Bytes that a key can take at most.
pub fn longest(key_bytes: usize) -> usize {
    let words = key_bytes.div_ceil(8);
    words.div_ceil(8) + words + key_bytes
}

fn word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(whole) => u64::from_le_bytes(*whole),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64),
    }
}

/// Appends `key` as its difference from `before`.
pub fn pack(key: &[u8], before: &[u8], out: &mut Vec<u8>) {
    for (key, before) in key.chunks(64).zip(before.chunks(64)) {
        let mask_at = out.len();
        out.push(0);
        for (i, (key, before)) in key.chunks(8).zip(before.chunks(8)).enumerate() {
            let mut difference = word(key) ^ word(before);
            if difference == 0 {
                continue;
            }
            out[mask_at] |= 1 << i;
            let bytes_at = out.len();
            out.push(0);
            let mut bit = 1;
            while difference != 0 {
                let low = difference as u8;
                if low != 0 {
                    out[bytes_at] |= bit;
                    out.push(low);
                }
                difference >>= 8;
                bit <<= 1;
            }
        }
    }
}

/// Turns `key`, the one before, into the next one; `packed` moves on behind it. Nothing when there is too little of it.
pub fn unpack(packed: &mut &[u8], key: &mut [u8]) -> Option<()> {
    for key in key.chunks_mut(64) {
        let mut words = *packed.split_off_first()?;
        while words != 0 {
            let word = words.trailing_zeros() as usize * 8;
            words &= words - 1;
            let mut bytes = *packed.split_off_first()?;
            while bytes != 0 {
                let byte = key.get_mut(word + bytes.trailing_zeros() as usize)?;
                *byte ^= *packed.split_off_first()?;
                bytes &= bytes - 1;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn keys_come_back() {
        let mut random = Random(3);
        for length in [1, 3, 7, 8, 9, 24, 63, 64, 65, 130, 300] {
            let mut keys = vec![vec![0u8; length]];
            for _ in 0..200 {
                let mut key = keys.last().unwrap().clone();
                for _ in 0..random.below(4) {
                    key[random.below(length)] = random.below(256) as u8;
                }
                keys.push(key);
            }
            keys.push(vec![0xff; length]);
            let mut packed = Vec::new();
            for pair in keys.windows(2) {
                let before = packed.len();
                pack(&pair[1], &pair[0], &mut packed);
                assert!(packed.len() - before <= longest(length));
            }
            let (mut rest, mut key) = (&packed[..], vec![0; length]);
            for expected in &keys[1..] {
                unpack(&mut rest, &mut key).unwrap();
                assert_eq!(&key, expected);
            }
            assert!(rest.is_empty());
            assert!(unpack(&mut &packed[..packed.len() - 1][..0], &mut key).is_none());
        }
    }
}
