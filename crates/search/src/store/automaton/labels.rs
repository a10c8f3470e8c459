//! The few instructions that everything is made of: hashing and comparing edges, and finding the range of a byte.

/// The hash of a node's edges.
#[inline(always)]
pub(super) fn hash(edges: &[u32]) -> u32 {
    const KEYS: [u64; 2] = [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9];
    let mut sum = KEYS[1] ^ edges.len() as u64;
    let (pairs, rest) = edges.as_chunks::<2>();
    for pair in pairs {
        sum = fold(sum ^ (pair[0] as u64 | (pair[1] as u64) << 32), KEYS[0]);
    }
    if let [last] = rest {
        sum = fold(sum ^ *last as u64, KEYS[0]);
    }
    (sum >> 16) as u32 ^ sum as u32
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
pub(super) fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// How many of the ascending bytes at `labels` are not above `byte`.
///
/// # Safety
/// So many bytes are there, and fifteen more may be read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn not_above(labels: *const u8, count: usize, byte: u8) -> usize {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8};
    let mut before = 0;
    loop {
        // SAFETY: SSE2 is part of x86-64; the bytes may be read, as the caller promises.
        let below = unsafe {
            let here = _mm_loadu_si128(labels.add(before).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(here, _mm_set1_epi8(byte as i8)), here)) as u32
        };
        let rest = count - before;
        let valid = if rest >= 16 { 0xffff } else { (1u32 << rest) - 1 };
        // A run of ones, for the bytes are ascending.
        let run = (!(below & valid)).trailing_zeros() as usize;
        before += run;
        if run < 16 || before >= count {
            return before;
        }
    }
}

/// As above.
///
/// # Safety
/// So many bytes are there.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) unsafe fn not_above(labels: *const u8, count: usize, byte: u8) -> usize {
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(labels, count) }.partition_point(|&label| label <= byte)
}
