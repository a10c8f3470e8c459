//! Ranks of keys among each other.

/// Memory for ranking, used again from one time to the next.
#[derive(Debug, Default)]
pub struct Ranker {
    narrow: Vec<u64>,
    wide: Vec<(u128, u32)>,
}

impl Ranker {
    /// Writes the rank of each key among the different ones into `ranks`, and returns how many there are.
    pub fn rank(&mut self, keys: &[u128], ranks: &mut Vec<u32>) -> usize {
        ranks.resize(keys.len(), 0);
        let bits = usize::BITS - keys.len().leading_zeros();
        let highest = keys.iter().copied().max().unwrap_or(0);
        let mut rank = 0;
        if highest >> (64 - bits) == 0 {
            // Key and position fit one word: much quicker to sort.
            self.narrow.clear();
            self.narrow.extend(keys.iter().enumerate().map(|(at, &key)| (key as u64) << bits | at as u64));
            self.narrow.sort_unstable();
            let mut last = self.narrow.first().map_or(0, |first| first >> bits);
            for &entry in &self.narrow {
                let (key, at) = (entry >> bits, entry & ((1 << bits) - 1));
                rank += (key != last) as u32;
                last = key;
                ranks[at as usize] = rank;
            }
        } else {
            self.wide.clear();
            self.wide.extend(keys.iter().copied().zip(0..));
            self.wide.sort_unstable();
            let mut last = self.wide.first().map_or(0, |first| first.0);
            for &(key, at) in &self.wide {
                rank += (key != last) as u32;
                last = key;
                ranks[at as usize] = rank;
            }
        }
        rank as usize + 1
    }
}
