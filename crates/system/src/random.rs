//! Pseudo-random numbers, the same for the same seed.

/// A small generator of pseudo-random numbers (splitmix).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    #[allow(clippy::should_implement_trait)] // there is no end to it
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 where that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
