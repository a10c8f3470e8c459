//! Strings of bytes that are kept once and have a number each, for all threads.

use scrimp_system::Spend;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The pieces are spread over so many parts, by their hashes, so that threads seldom wait for each other.
const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// In place of the number of a piece.
const NONE: u32 = u32::MAX;

/// The pieces of all states.
pub struct Pieces {
    shards: Box<[RwLock<Shard>]>,
    budget: Mutex<Option<Arc<dyn Spend>>>,
}

#[derive(Default)]
struct Shard {
    /// Open addressing: numbers of pieces by their hashes.
    index: Vec<u32>,
    /// Where each piece ends in `bytes`, and so where the next begins.
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Default for Pieces {
    fn default() -> Pieces {
        Pieces { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), budget: Mutex::new(None) }
    }
}

impl Pieces {
    /// What comes is paid for from this budget.
    pub fn spend_from(&self, budget: Arc<dyn Spend>) {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = Some(budget);
    }

    /// The number of a piece. `None` where there are more than numbers.
    pub fn number(&self, piece: &[u8]) -> Option<u32> {
        let hash = hash(piece);
        let shard = (hash >> (64 - SHARD_BITS)) as usize;
        let own = |number: u32| number << SHARD_BITS | shard as u32;
        if let Ok(number) = self.shards[shard].read().unwrap_or_else(PoisonError::into_inner).find(hash, piece) {
            return Some(own(number));
        }
        let mut kept = self.shards[shard].write().unwrap_or_else(PoisonError::into_inner);
        let place = match kept.find(hash, piece) {
            Ok(number) => return Some(own(number)),
            Err(place) => place,
        };
        let before = kept.held();
        let number = kept.ends.len() as u32;
        if number >= 1 << (32 - SHARD_BITS) {
            return None;
        }
        kept.bytes.extend_from_slice(piece);
        let end = kept.bytes.len() as u64;
        kept.ends.push(end);
        match place {
            Some(place) if kept.ends.len() * 4 <= kept.index.len() * 3 => kept.index[place] = number,
            _ => kept.enlarge(),
        }
        let more = kept.held() - before;
        drop(kept);
        if more > 0
            && let Some(budget) = &*self.budget.lock().unwrap_or_else(PoisonError::into_inner)
        {
            budget.spend(more);
        }
        Some(own(number))
    }

    /// Appends the piece with this number; `false` where there is none.
    pub fn read(&self, number: u32, out: &mut Vec<u8>) -> bool {
        let shard = &self.shards[number as usize % SHARDS];
        let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
        let piece = shard.piece(number >> SHARD_BITS);
        out.extend_from_slice(piece.unwrap_or_default());
        piece.is_some()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).ends.len()).sum()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).held()).sum()
    }
}

impl Shard {
    fn piece(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.bytes.get(start..end)
    }

    /// The number of a piece, or the place in the index where it would stand.
    fn find(&self, hash: u64, piece: &[u8]) -> Result<u32, Option<usize>> {
        if self.index.is_empty() {
            return Err(None);
        }
        let mask = self.index.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.index[place] {
                NONE => return Err(Some(place)),
                number if self.piece(number) == Some(piece) => return Ok(number),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Makes the index larger, and puts all pieces into it.
    fn enlarge(&mut self) {
        let size = (2 * self.ends.len()).next_power_of_two().max(16);
        self.index = vec![NONE; size];
        for number in 0..self.ends.len() as u32 {
            let piece = self.piece(number).unwrap_or_default();
            let mut place = hash(piece) as usize & (size - 1);
            while self.index[place] != NONE {
                place = (place + 1) & (size - 1);
            }
            self.index[place] = number;
        }
    }

    fn held(&self) -> usize {
        4 * self.index.capacity() + 8 * self.ends.capacity() + self.bytes.capacity()
    }
}

/// A hash of bytes: eight at a time, multiplied and folded.
pub fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| {
        let product = (hash ^ word) as u128 * FACTOR as u128;
        product as u64 ^ (product >> 64) as u64
    };
    let mut chunks = bytes.chunks_exact(8);
    let mut all = FACTOR ^ bytes.len() as u64;
    for chunk in &mut chunks {
        all = fold(all, u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    fold(fold(all, u64::from_le_bytes(last)), FACTOR.rotate_left(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_kept_once() {
        let pieces = Pieces::default();
        let piece = |i: u32| i.to_string().repeat(i as usize % 7);
        let numbers: Vec<u32> = (0..10_000).map(|i| pieces.number(piece(i).as_bytes()).unwrap()).collect();
        for (i, number) in numbers.iter().enumerate() {
            let text = piece(i as u32);
            assert_eq!(pieces.number(text.as_bytes()), Some(*number));
            let mut out = Vec::new();
            assert!(pieces.read(*number, &mut out));
            assert_eq!(out, text.as_bytes());
        }
        let distinct: std::collections::BTreeSet<String> = (0..10_000).map(piece).collect();
        assert_eq!(pieces.len(), distinct.len());
        assert!(!pieces.read(u32::MAX, &mut Vec::new()));
    }

    #[test]
    fn what_is_kept_is_paid_for() {
        struct Purse(std::sync::atomic::AtomicUsize);
        impl Spend for Purse {
            fn spend(&self, bytes: usize) {
                self.0.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let purse = Arc::new(Purse(0.into()));
        let pieces = Pieces::default();
        pieces.spend_from(purse.clone());
        (0..5000u32).for_each(|i| assert!(pieces.number(&i.to_le_bytes().repeat(3)).is_some()));
        assert_eq!(purse.0.load(std::sync::atomic::Ordering::Relaxed), pieces.bytes());
    }
}
