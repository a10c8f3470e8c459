//! States compared and copied a word at a time: they are short, and a call for each takes longer than the work itself.

use std::cmp::Ordering;

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

/// Compares two states of the same length.
#[inline]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let n = a.len().min(b.len());
    if !(8..=64).contains(&n) {
        return a.cmp(b);
    }
    let mut at = 0;
    while at + 8 < n {
        let order = word(a, at).cmp(&word(b, at));
        if order != Ordering::Equal {
            return order;
        }
        at += 8;
    }
    // The last word, some of whose bytes may be known to be equal.
    word(a, n - 8).cmp(&word(b, n - 8))
}

/// Copies some bytes to a place of the same length.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        1 => to[0] = from[0],
        2 | 3 => {
            let n = from.len();
            let (first, last) = ([from[0], from[1]], from[n - 1]);
            to[..2].copy_from_slice(&first);
            to[n - 1] = last;
        }
        4..8 => copy_ends::<4>(to, from),
        8..=16 => copy_ends::<8>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Copies up to twice `N` bytes, at least `N`.
#[inline]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    let n = from.len();
    to[..N].copy_from_slice(&from[..N]);
    to[n - N..n].copy_from_slice(&from[n - N..]);
}

/// How many bytes two states have in common at their beginning, from `at` on, up to which they are equal.
#[inline]
pub fn common_from(a: &[u8], b: &[u8], mut at: usize) -> usize {
    let n = a.len().min(b.len());
    while at + 8 <= n {
        let difference = word(a, at) ^ word(b, at);
        if difference != 0 {
            return at + difference.leading_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < n && a[at] == b[at] {
        at += 1;
    }
    at
}

/// Where two states that differ at `from` begin to end alike.
#[inline]
pub fn end_of_difference(a: &[u8], b: &[u8], from: usize) -> usize {
    let mut end = a.len();
    while end >= from + 8 {
        let difference = word(a, end - 8) ^ word(b, end - 8);
        if difference != 0 {
            return end - difference.trailing_zeros() as usize / 8;
        }
        end -= 8;
    }
    while end > from && a[end - 1] == b[end - 1] {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    #[test]
    fn as_the_standard_library_does() {
        let mut random = Random(5);
        for n in 1..80 {
            for _ in 0..200 {
                let a: Vec<u8> = (0..n).map(|_| random.below(3) as u8 * 127).collect();
                let mut b = a.clone();
                for _ in 0..random.below(3) {
                    b[random.below(n)] = random.below(256) as u8;
                }
                assert_eq!(compare(&a, &b), a.cmp(&b), "{a:?} {b:?}");
                let common = (0..n).find(|&i| a[i] != b[i]).unwrap_or(n);
                assert_eq!(common_from(&a, &b, 0), common);
                let end = (common..n).rev().find(|&i| a[i] != b[i]).map_or(common, |i| i + 1);
                assert_eq!(end_of_difference(&a, &b, common), end);
                let mut copied = vec![1; n];
                copy(&mut copied, &b);
                assert_eq!(copied, b);
            }
        }
    }
}
