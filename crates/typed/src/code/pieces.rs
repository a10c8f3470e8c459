//! Strings of bytes that are kept once and have a number each, for all threads.
//!
//! Looking a piece up takes no lock: what is written never changes, and becomes visible by one word that is written last. Whoever
//! adds a piece locks one of several parts.

use scrimp_system::Spend;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The pieces are spread over so many parts, by their hashes.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 6;

/// The number of a piece within its part: the place of its first word.
const PLACE_BITS: u32 = 32 - PART_BITS;

/// Words of the first block of a part; each further one has twice as many.
const FIRST: usize = 1 << 6;
const BLOCKS: usize = (PLACE_BITS - FIRST.trailing_zeros()) as usize;

/// Places of the first index of a part; each that follows it has four times as many.
const SMALLEST: usize = 1 << 5;
const INDICES: usize = PLACE_BITS as usize / 2;

/// A part pays for more than so many bytes at once, so that threads seldom meet at the budget.
const DUE: usize = 1 << 12;

/// The pieces of all states.
pub struct Pieces {
    parts: Box<[Part]>,
    budget: Mutex<Option<Arc<dyn Spend>>>,
}

/// A word for the length of a piece, the bytes of the piece, eight to a word, and so on.
type Words = Box<[AtomicU64]>;

#[derive(Default)]
struct Part {
    blocks: [OnceLock<Words>; BLOCKS],
    /// Open addressing: places of pieces, one more than they are, with some bits of their hashes above. One index follows another
    /// when it is full; those before are left as they are, because somebody may be looking into them.
    indices: [OnceLock<Box<[AtomicU32]>>; INDICES],
    /// Which index is the newest.
    newest: AtomicU32,
    written: Mutex<Written>,
}

/// How much there is in a part.
#[derive(Default)]
struct Written {
    pieces: usize,
    words: usize,
    /// Bytes of all pieces and indices. Words of a block that nobody has touched take no memory.
    bytes: usize,
    /// How many of them were paid for.
    paid: usize,
}

impl Written {
    /// What is to be paid, where it is more than so many bytes.
    fn due(&mut self, least: usize) -> usize {
        let due = self.bytes - self.paid;
        if due <= least {
            return 0;
        }
        self.paid = self.bytes;
        due
    }
}

impl Default for Pieces {
    fn default() -> Pieces {
        Pieces { parts: (0..PARTS).map(|_| Part::default()).collect(), budget: Mutex::new(None) }
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
        let part = (hash >> (64 - PART_BITS)) as usize;
        let own = |place: u32| place << PART_BITS | part as u32;
        if let Some(place) = self.parts[part].find(hash, piece) {
            return Some(own(place));
        }
        let mut written = self.parts[part].written.lock().unwrap_or_else(PoisonError::into_inner);
        let place = self.parts[part].add(&mut written, hash, piece)?;
        let due = written.due(DUE);
        drop(written);
        self.pay(due);
        Some(own(place))
    }

    fn pay(&self, bytes: usize) {
        if bytes > 0
            && let Some(budget) = &*self.budget.lock().unwrap_or_else(PoisonError::into_inner)
        {
            budget.spend(bytes);
        }
    }

    /// Appends the piece with this number; `false` where there is none.
    #[inline]
    pub fn read(&self, number: u32, out: &mut Vec<u8>) -> bool {
        self.parts[number as usize % PARTS].read(number >> PART_BITS, out)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.written(|written| written.pieces)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.written(|written| written.bytes)
    }

    fn written(&self, how_much: impl Fn(&Written) -> usize) -> usize {
        self.parts.iter().map(|part| how_much(&part.written.lock().unwrap_or_else(PoisonError::into_inner))).sum()
    }

    /// Writes all pieces, so that they can have the same numbers again.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        for part in &self.parts {
            let words = part.written.lock().unwrap_or_else(PoisonError::into_inner).words;
            out.write_all(&(words as u64).to_le_bytes())?;
            for place in 0..words as u32 {
                let word = part.word(place).map_or(0, |word| word.load(Ordering::Acquire));
                out.write_all(&word.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Reads pieces that were saved. Fails where those that are there already are not the first among them.
    pub fn restore(&self, from: &mut dyn Read) -> io::Result<()> {
        let damaged = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_string());
        let number = |from: &mut dyn Read| -> io::Result<u64> {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        };
        let mut piece = Vec::new();
        for part in &self.parts {
            let mut written = part.written.lock().unwrap_or_else(PoisonError::into_inner);
            let words = number(from)?;
            if words < written.words as u64 || words >= 1 << PLACE_BITS {
                return Err(damaged("the pieces of states are those of another model"));
            }
            let mut place = 0;
            while place < words {
                let head = number(from)?;
                // A block's last words may be left over.
                if head == 0 {
                    place += 1;
                    continue;
                }
                let length = head - 1;
                if length.div_ceil(8) >= words - place {
                    return Err(damaged("a piece of a state is longer than all of them"));
                }
                piece.clear();
                for _ in 0..length.div_ceil(8) {
                    piece.extend_from_slice(&number(from)?.to_le_bytes());
                }
                piece.truncate(length as usize);
                let hash = hash(&piece);
                let known = part.find(hash, &piece);
                let added = match known {
                    Some(known) => Some(known),
                    None => part.add(&mut written, hash, &piece),
                };
                if added != Some(place as u32) {
                    return Err(damaged("the pieces of states are those of another model"));
                }
                place += 1 + length.div_ceil(8);
            }
            let due = written.due(0);
            drop(written);
            self.pay(due);
        }
        Ok(())
    }
}

/// The block of a place, and the place in it.
#[inline]
fn block(place: u32) -> (usize, usize) {
    let place = place as usize + FIRST;
    let block = place.ilog2() - FIRST.ilog2();
    (block as usize, place - (FIRST << block))
}

impl Part {
    #[inline]
    fn word(&self, place: u32) -> Option<&AtomicU64> {
        let (block, place) = block(place);
        self.blocks.get(block)?.get()?.get(place)
    }

    /// The words of a piece behind its length, and its length.
    #[inline]
    fn piece(&self, place: u32) -> Option<(&[AtomicU64], usize)> {
        let (block, first) = block(place);
        let words = self.blocks.get(block)?.get()?;
        let length = (words.get(first)?.load(Ordering::Acquire) as usize).checked_sub(1)?;
        Some((words.get(first + 1..)?.get(..length.div_ceil(8))?, length))
    }

    #[inline]
    fn read(&self, place: u32, out: &mut Vec<u8>) -> bool {
        let Some((words, length)) = self.piece(place) else { return false };
        let start = out.len();
        out.reserve(8 * words.len());
        for word in words {
            out.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        out.truncate(start + length);
        true
    }

    /// Is this the piece there?
    #[inline]
    fn is(&self, place: u32, piece: &[u8]) -> bool {
        let Some((words, length)) = self.piece(place) else { return false };
        length == piece.len()
            && piece.chunks(8).zip(words).all(|(chunk, word)| of_bytes(chunk) == word.load(Ordering::Relaxed))
    }

    /// The place of a piece.
    #[inline]
    fn find(&self, hash: u64, piece: &[u8]) -> Option<u32> {
        let index = self.indices[self.newest.load(Ordering::Acquire) as usize].get()?;
        let (mask, tag) = (index.len() - 1, tag(hash));
        let mut at = hash as usize & mask;
        loop {
            let entry = index[at].load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            if entry >> PLACE_BITS == tag && self.is(entry % (1 << PLACE_BITS) - 1, piece) {
                return Some(entry % (1 << PLACE_BITS) - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a piece, unless another thread has. `None` where there is no more place.
    fn add(&self, written: &mut Written, hash: u64, piece: &[u8]) -> Option<u32> {
        if let Some(place) = self.find(hash, piece) {
            return Some(place);
        }
        let words = 1 + piece.len().div_ceil(8);
        // All of it stands in one block.
        let (mut number, mut first) = block(written.words as u32);
        while first + words > FIRST << number {
            (number, first) = (number + 1, 0);
            if number >= BLOCKS {
                return None;
            }
        }
        let place = ((FIRST << number) - FIRST + first) as u32;
        if place as usize + words >= 1 << PLACE_BITS {
            return None;
        }
        let block = self.blocks[number].get_or_init(|| zeroed(FIRST << number));
        written.bytes += 8 * words;
        for (word, chunk) in block[first + 1..].iter().zip(piece.chunks(8)) {
            word.store(of_bytes(chunk), Ordering::Relaxed);
        }
        block[first].store(piece.len() as u64 + 1, Ordering::Release);
        written.words = place as usize + words;
        written.pieces += 1;
        self.enter(written, hash, place);
        Some(place)
    }

    /// Enters a piece into the index; where that is full, into a larger one.
    fn enter(&self, written: &mut Written, hash: u64, place: u32) {
        let newest = self.newest.load(Ordering::Relaxed) as usize;
        match self.indices[newest].get() {
            Some(index) if written.pieces * 4 <= index.len() * 3 => put(index, hash, place),
            full => {
                let number = full.map_or(0, |_| newest + 1);
                let size = SMALLEST << (2 * number);
                let larger: Box<[AtomicU32]> = (0..size).map(|_| AtomicU32::new(0)).collect();
                written.bytes += 4 * size;
                let mut bytes = Vec::new();
                for entry in full.iter().flat_map(|index| index.iter()) {
                    let Some(known) = (entry.load(Ordering::Relaxed) % (1 << PLACE_BITS)).checked_sub(1) else {
                        continue;
                    };
                    bytes.clear();
                    self.read(known, &mut bytes);
                    put(&larger, self::hash(&bytes), known);
                }
                put(&larger, hash, place);
                self.indices[number].get_or_init(|| larger);
                self.newest.store(number as u32, Ordering::Release);
            }
        }
    }
}

fn put(index: &[AtomicU32], hash: u64, place: u32) {
    let mask = index.len() - 1;
    let mut at = hash as usize & mask;
    while index[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    index[at].store(tag(hash) << PLACE_BITS | (place + 1), Ordering::Release);
}

/// So many words, none of which takes memory before it is written to, where there are many.
fn zeroed(words: usize) -> Words {
    const { assert!(align_of::<AtomicU64>() == align_of::<u64>()) };
    let zeros = Box::into_raw(vec![0u64; words].into_boxed_slice());
    // SAFETY: an AtomicU64 is as large, as valid and, as asserted, as aligned as a u64; the memory came from a box, and nobody
    // else has it.
    unsafe { Box::from_raw(zeros as *mut [AtomicU64]) }
}

/// Bits of a hash that neither choose the part nor the first place in an index.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 40) as u32 % PARTS as u32
}

/// Up to eight bytes as a word.
#[inline]
fn of_bytes(bytes: &[u8]) -> u64 {
    match bytes.try_into() {
        Ok(all) => u64::from_le_bytes(all),
        Err(_) => {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(all)
        }
    }
}

/// A hash of bytes: eight at a time, multiplied and folded.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| {
        let product = (hash ^ word) as u128 * FACTOR as u128;
        product as u64 ^ (product >> 64) as u64
    };
    let mut chunks = bytes.chunks_exact(8);
    let mut all = FACTOR ^ bytes.len() as u64;
    for chunk in &mut chunks {
        all = fold(all, of_bytes(chunk));
    }
    fold(fold(all, of_bytes(chunks.remainder())), FACTOR.rotate_left(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_kept_once() {
        let pieces = Pieces::default();
        let piece = |i: u32| i.to_string().repeat(i as usize % 7 * (1 + i as usize % 97));
        let numbers: Vec<u32> = (0..10_000).map(|i| pieces.number(piece(i).as_bytes()).unwrap()).collect();
        let mut file = Vec::new();
        pieces.save(&mut file).unwrap();
        let again = Pieces::default();
        again.number(piece(0).as_bytes());
        again.restore(&mut file.as_slice()).unwrap();
        for pieces in [&pieces, &again] {
            for (i, number) in numbers.iter().enumerate() {
                let text = piece(i as u32);
                assert_eq!(pieces.number(text.as_bytes()), Some(*number));
                let mut out = Vec::new();
                assert!(pieces.read(*number, &mut out));
                assert_eq!(out, text.as_bytes());
            }
        }
        let distinct: std::collections::BTreeSet<String> = (0..10_000).map(piece).collect();
        assert_eq!((pieces.len(), again.len()), (distinct.len(), distinct.len()));
        assert!(!pieces.read(u32::MAX, &mut Vec::new()));
    }

    #[test]
    fn pieces_of_another_model_are_refused() {
        let pieces = |all: &[&str]| {
            let pieces = Pieces::default();
            all.iter().for_each(|piece| assert!(pieces.number(piece.as_bytes()).is_some()));
            pieces
        };
        let mut file = Vec::new();
        pieces(&["one", "two", "three"]).save(&mut file).unwrap();
        let outcome = |mine: &[&str], file: &[u8]| pieces(mine).restore(&mut &*file).is_ok();
        assert!(outcome(&[], &file) && outcome(&["one"], &file) && outcome(&["one", "two"], &file));
        assert!(!outcome(&["four"], &file) && !outcome(&["one"], &file[..file.len() - 1]));
        let mut random = scrimp_system::Random(3);
        for _ in 0..2000 {
            let mut forged = file.clone();
            let at = random.below(forged.len());
            forged[at] ^= 1 << random.below(8);
            let pieces = Pieces::default();
            if pieces.restore(&mut forged.as_slice()).is_ok() {
                assert!(pieces.number(b"five").is_some());
            }
        }
    }

    #[test]
    fn threads_agree_on_numbers() {
        let pieces = Pieces::default();
        let numbers = |step: usize| -> Vec<u32> {
            let mut numbers = vec![0; 20_000];
            for k in 0..numbers.len() {
                let i = k * step % numbers.len();
                numbers[i] = pieces.number(&(i as u64 / 3).to_le_bytes()[..5]).unwrap();
            }
            numbers
        };
        let all: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = [1, 3, 7, 9].map(|step| scope.spawn(move || numbers(step))).into();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|numbers| *numbers == all[0]));
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
        (0..50_000u32).for_each(|i| assert!(pieces.number(&i.to_le_bytes().repeat(3)).is_some()));
        let (paid, held) = (purse.0.load(std::sync::atomic::Ordering::Relaxed), pieces.bytes());
        assert!(paid <= held && held - paid <= PARTS * DUE, "{paid} of {held} bytes");
        assert!(paid > held / 2, "{paid} of {held} bytes");
    }
}
