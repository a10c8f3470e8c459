//! All lanes of a bucket, or bits across its words, at once, where the processor has AVX2.
//!
//! This stands for reads and writes of the atomics that it covers, so it is machine code, which no compiler takes for memory that
//! nobody else reads or writes. Entries that are there do not change, and others are not looked at.

#[cfg(all(target_arch = "x86_64", not(feature = "shuttle")))]
pub use there::{add_bits, bits, is_there, lanes_with, set_lane};

use super::line::Line;

/// Bits that are read at once at most, wherever they begin.
pub const MOST: u32 = 57;

#[cfg(all(target_arch = "x86_64", not(feature = "shuttle")))]
mod there {
    use super::Line;
    use std::arch::asm;
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi16, _mm256_movemask_epi8, _mm256_packs_epi16, _mm256_permute4x64_epi64,
        _mm256_set1_epi16,
    };

    pub fn is_there() -> bool {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2")
    }

    /// All lanes that equal `low`, as bits.
    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    pub fn lanes_with(line: &Line, low: u16) -> u64 {
        let (start, first, second): (_, __m256i, __m256i);
        start = line.0.as_ptr();
        // SAFETY: a line has 64 bytes and begins at a multiple of that.
        unsafe {
            asm!(
                "vmovdqa {first}, [{start}]",
                "vmovdqa {second}, [{start} + 32]",
                start = in(reg) start,
                first = out(ymm_reg) first,
                second = lateout(ymm_reg) second,
                options(readonly, nostack, preserves_flags)
            );
        }
        let low = _mm256_set1_epi16(low as i16);
        let (first, second) = (_mm256_cmpeq_epi16(first, low), _mm256_cmpeq_epi16(second, low));
        // Both are packed in two halves, which are put in order.
        let lanes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(first, second));
        _mm256_movemask_epi8(lanes) as u32 as u64
    }

    /// Sets a lane, which is zero. No other thread may write to the line.
    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    pub fn set_lane(line: &Line, lane: usize, low: u16) {
        // SAFETY: a line has 32 lanes.
        unsafe {
            let start = line.0.as_ptr().cast::<u16>().add(lane & 31);
            asm!("mov [{start}], {low:x}", start = in(reg) start, low = in(reg) low, options(nostack, preserves_flags));
        }
    }

    /// Sets bits from this one on, which are zero. No other thread may write to the line.
    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    pub fn add_bits(line: &Line, bit: usize, bits: u64) {
        let byte = (bit / 8).min(56);
        // SAFETY: the eight bytes lie in the line.
        unsafe {
            let start = line.0.as_ptr().cast::<u8>().add(byte);
            asm!("or [{start}], {bits}", start = in(reg) start, bits = in(reg) bits << (bit - 8 * byte), options(nostack));
        }
    }

    /// The bits from this one on, up to [`MOST`](super::MOST), and others above them.
    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    pub fn bits(line: &Line, bit: usize) -> u64 {
        let byte = (bit / 8).min(56);
        let word: u64;
        // SAFETY: the eight bytes lie in the line.
        unsafe {
            let start = line.0.as_ptr().cast::<u8>().add(byte);
            asm!(
                "mov {word}, [{start}]",
                start = in(reg) start,
                word = lateout(reg) word,
                options(readonly, nostack, preserves_flags)
            );
        }
        word >> (bit - 8 * byte)
    }
}

#[cfg(not(all(target_arch = "x86_64", not(feature = "shuttle"))))]
mod missing {
    use super::Line;

    pub fn is_there() -> bool {
        false
    }

    /// # Safety
    /// Not to be called.
    pub unsafe fn lanes_with(_: &Line, _: u16) -> u64 {
        unreachable!()
    }

    /// # Safety
    /// Not to be called.
    pub unsafe fn bits(_: &Line, _: usize) -> u64 {
        unreachable!()
    }

    /// # Safety
    /// Not to be called.
    pub unsafe fn set_lane(_: &Line, _: usize, _: u16) {
        unreachable!()
    }

    /// # Safety
    /// Not to be called.
    pub unsafe fn add_bits(_: &Line, _: usize, _: u64) {
        unreachable!()
    }
}

#[cfg(not(all(target_arch = "x86_64", not(feature = "shuttle"))))]
pub use missing::{add_bits, bits, is_there, lanes_with, set_lane};
