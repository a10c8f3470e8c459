//! The state table: from 32 bits of a state's hash to numbers, twelve in a cache line.
//!
//! Where a state stands says most of its hash, so only the rest is kept, as in a quotient filter, and a slot takes five
//! bytes: the rest, how many buckets it stands behind its own, and its number. Each hash can be told from its slot. So the
//! table grows in place, without asking for the states, in one pass from its end to its start: hashes ascend with buckets.
//!
//! The larger the table, the more bits numbers have and the fewer the rests; together it is always the same.
//! States for which there is no room near their bucket, very few, are in a set beside.

use crate::region::Region;
use crate::store::StateId;
use crate::store::index::prefetch;
use std::collections::BTreeSet;
use std::io;

/// States in a bucket.
pub const SLOTS: usize = 12;
const BUCKET_BYTES: usize = size_of::<Bucket>();
/// Bits that say how far from its bucket a state stands, and so how far it may.
const AWAY_BITS: u32 = 3;
const REACH: usize = 1 << AWAY_BITS;
/// Bits of a slot, and those of them that do not stand among the tags.
const SLOT_BITS: u32 = 40;
const LOW_BITS: u32 = 24;

#[derive(Default)]
#[repr(C, align(64))]
struct Bucket {
    count: u32,
    /// The high bits of slots, to be compared at once, and the low ones.
    tags: [u16; SLOTS],
    lows: [[u8; 3]; SLOTS],
}

impl Bucket {
    #[inline(always)]
    fn slot(&self, i: usize) -> u64 {
        let [a, b, c] = self.lows[i];
        (self.tags[i] as u64) << LOW_BITS | u32::from_le_bytes([a, b, c, 0]) as u64
    }

    #[inline(always)]
    fn push(&mut self, slot: u64) {
        let i = self.count as usize;
        let [a, b, c, ..] = slot.to_le_bytes();
        (self.tags[i], self.lows[i]) = ((slot >> LOW_BITS) as u16, [a, b, c]);
        self.count += 1;
    }

    /// The slots whose tags have these bits of those in the mask, as bits.
    #[inline(always)]
    fn like(&self, tag: u16, mask: u16) -> u32 {
        let taken = (1 << self.count) - 1;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of x86-64, and twelve tags are read.
        let like = unsafe {
            use std::arch::x86_64::*;
            let (tag, mask) = (_mm_set1_epi16(tag as i16), _mm_set1_epi16(mask as i16));
            let first = _mm_loadu_si128(self.tags.as_ptr().cast());
            let last = _mm_loadl_epi64(self.tags.as_ptr().add(8).cast());
            let equal = |tags| _mm_cmpeq_epi16(_mm_and_si128(tags, mask), tag);
            _mm_movemask_epi8(_mm_packs_epi16(equal(first), equal(last))) as u32
        };
        #[cfg(not(target_arch = "x86_64"))]
        let like = self.tags.iter().enumerate().map(|(i, &t)| ((t & mask == tag) as u32) << i).sum::<u32>();
        like & taken
    }
}

/// How slots are written in a table of so many buckets.
#[derive(Clone, Copy)]
struct Layout {
    buckets: usize,
    /// Hashes for each bucket, times 2³².
    width: u64,
    number_bits: u32,
    /// The bits of a tag that do not belong to a number.
    tag_mask: u16,
}

impl Layout {
    fn new(buckets: usize) -> Layout {
        let bits = |most: u64| u64::BITS - most.leading_zeros();
        let (width, number_bits) = (u64::MAX / buckets as u64, bits((buckets * SLOTS) as u64));
        debug_assert!(bits((width >> 32) + 2) + AWAY_BITS + number_bits <= SLOT_BITS);
        Layout { buckets, width, number_bits, tag_mask: u16::MAX << number_bits.saturating_sub(LOW_BITS) }
    }

    /// The bucket of a hash.
    #[inline(always)]
    fn home(&self, piece: u32) -> usize {
        ((piece as u64 * self.buckets as u64) >> 32) as usize
    }

    /// A hash that is not above those of a bucket, and at most two below the lowest.
    #[inline(always)]
    fn base(&self, home: usize) -> u32 {
        ((home as u64 * self.width) >> 32) as u32
    }

    /// The slot of a hash that stands `away` from its bucket, but for the number.
    #[inline(always)]
    fn slot(&self, piece: u32, home: usize, away: usize) -> u64 {
        (((piece - self.base(home)) as u64) << AWAY_BITS | away as u64) << self.number_bits
    }

    /// The hash and the number of a slot in bucket `at`.
    fn read(&self, slot: u64, at: usize) -> (u32, StateId) {
        let key = slot >> self.number_bits;
        let away = key as usize & (REACH - 1);
        (self.base(at - away) + (key >> AWAY_BITS) as u32, self.number(slot))
    }

    #[inline(always)]
    fn number(&self, slot: u64) -> StateId {
        (slot & ((1 << self.number_bits) - 1)) as StateId
    }

    /// The buckets where a state may stand whose bucket is this one.
    #[inline(always)]
    fn near(&self, home: usize) -> std::ops::Range<usize> {
        home..self.buckets.min(home + REACH)
    }
}

pub struct Index {
    region: Region,
    layout: Layout,
    /// Those for which there was no room.
    astray: BTreeSet<(u32, StateId)>,
}

impl Index {
    /// Bytes of a slot.
    pub const SLOT_BYTES: f64 = BUCKET_BYTES as f64 / SLOTS as f64;

    /// An index of `bytes`, a multiple of a page, that may grow up to `reserve`.
    pub fn new(reserve: usize, bytes: usize) -> io::Result<Index> {
        let mut region = Region::reserve(reserve)?;
        region.commit(bytes)?;
        Ok(Index { layout: Layout::new(bytes / BUCKET_BYTES), region, astray: BTreeSet::new() })
    }

    pub fn slots(&self) -> usize {
        self.layout.buckets * SLOTS
    }

    pub fn bytes(&self) -> usize {
        self.layout.buckets * BUCKET_BYTES + self.astray.len() * size_of::<(u32, StateId)>()
    }

    /// Bytes of the buckets.
    pub fn held(&self) -> usize {
        self.layout.buckets * BUCKET_BYTES
    }

    pub fn most_bytes(&self) -> usize {
        self.region.reserved()
    }

    #[inline(always)]
    fn buckets(&self) -> &[Bucket] {
        // SAFETY: committed memory, zero at first, for which zero is valid; aligned by the region's pages.
        unsafe { std::slice::from_raw_parts(self.region.base() as *const Bucket, self.layout.buckets) }
    }

    #[inline(always)]
    fn bucket_mut(&mut self, at: usize) -> &mut Bucket {
        assert!(at < self.layout.buckets);
        // SAFETY: as above, and `&mut self` says that nobody else looks.
        unsafe { &mut *(self.region.base() as *mut Bucket).add(at) }
    }

    #[inline(always)]
    pub fn prefetch(&self, piece: u32) {
        prefetch((self.region.base() as *const Bucket).wrapping_add(self.layout.home(piece)).cast());
    }

    /// The first number with this hash for which `same` holds.
    #[inline(always)]
    pub fn find(&self, piece: u32, mut same: impl FnMut(StateId) -> bool) -> Option<StateId> {
        let layout = self.layout;
        let home = layout.home(piece);
        for (away, bucket) in self.buckets()[layout.near(home)].iter().enumerate() {
            let sought = layout.slot(piece, home, away);
            let mut hits = bucket.like((sought >> LOW_BITS) as u16, layout.tag_mask);
            while hits != 0 {
                let slot = bucket.slot(hits.trailing_zeros() as usize);
                if (slot ^ sought) >> layout.number_bits == 0 && same(layout.number(slot)) {
                    return Some(layout.number(slot));
                }
                hits &= hits - 1;
            }
            if bucket.count < SLOTS as u32 {
                return None;
            }
        }
        self.find_astray(piece, same)
    }

    #[cold]
    fn find_astray(&self, piece: u32, mut same: impl FnMut(StateId) -> bool) -> Option<StateId> {
        self.astray.range((piece, 0)..=(piece, StateId::MAX)).map(|&(_, id)| id).find(|&id| same(id))
    }

    /// Enters a state, whose number is smaller than that of the slots.
    #[inline(always)]
    pub fn enter(&mut self, piece: u32, id: StateId) {
        let layout = self.layout;
        let home = layout.home(piece);
        for at in layout.near(home) {
            let bucket = self.bucket_mut(at);
            if bucket.count < SLOTS as u32 {
                return bucket.push(layout.slot(piece, home, at - home) | id as u64);
            }
        }
        self.astray.insert((piece, id));
    }

    /// Gives the index `bytes`, a multiple of a page and more than before.
    pub fn grow(&mut self, bytes: usize) -> io::Result<()> {
        // Memory first: when there is none, the index stays as it is.
        self.region.commit(bytes)?;
        let old = std::mem::replace(&mut self.layout, Layout::new(bytes / BUCKET_BYTES));
        let astray = std::mem::take(&mut self.astray);
        let mut waiting = Vec::new();
        for at in (0..old.buckets).rev() {
            let bucket = std::mem::take(self.bucket_mut(at));
            // Nobody belongs further to the start than before; but some stood behind where they belong now, and wait.
            waiting.retain(|&(piece, id)| !self.enter_behind(at, piece, id));
            for i in 0..bucket.count as usize {
                let (piece, id) = old.read(bucket.slot(i), at);
                if !self.enter_behind(at, piece, id) {
                    waiting.push((piece, id));
                }
            }
        }
        waiting.into_iter().chain(astray).for_each(|(piece, id)| self.enter(piece, id));
        Ok(())
    }

    /// Enters a state if it does not belong before bucket `at`.
    #[inline(always)]
    fn enter_behind(&mut self, at: usize, piece: u32, id: StateId) -> bool {
        let behind = self.layout.home(piece) >= at;
        if behind {
            self.enter(piece, id);
        }
        behind
    }

    /// All hashes with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u32, StateId)> {
        let standing = self.buckets().iter().enumerate().flat_map(move |(at, bucket)| {
            (0..bucket.count as usize).map(move |i| self.layout.read(bucket.slot(i), at))
        });
        standing.chain(self.astray.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_system::Random;

    /// Against a list, while the index grows; with random hashes, and with some that many share.
    #[test]
    fn what_was_entered_is_found() {
        for (mask, fullest) in [(u32::MAX, 0.95), (u32::MAX, 1.0), (0xfff0_0000, 0.9), (0xff, 0.9)] {
            let mut random = Random(5);
            let mut index = Index::new(1 << 24, 1 << 12).unwrap();
            let mut pieces = Vec::new();
            for id in 0..40_000u32 {
                if (id as f64) >= index.slots() as f64 * fullest - 1.0 {
                    let larger = Region::rounded((index.held() as f64 * 1.13) as usize + 1);
                    index.grow(larger).unwrap();
                    let mut all: Vec<_> = index.all().map(|(piece, id)| (id, piece)).collect();
                    all.sort_unstable();
                    assert!(all.into_iter().eq((0..id).zip(pieces.iter().copied())), "{mask:x}, {id} entries");
                }
                let piece = random.below(1 << 32) as u32 & mask;
                index.enter(piece, id);
                pieces.push(piece);
            }
            for (id, &piece) in pieces.iter().enumerate() {
                assert_eq!(index.find(piece, |other| other == id as u32), Some(id as u32));
                assert!(index.find(piece, |other| pieces[other as usize] != piece).is_none());
            }
            if mask == u32::MAX {
                assert!(
                    (0..10_000u32).all(|i| index.find(i * 17, |_| true).is_none_or(|id| pieces[id as usize] == i * 17))
                );
                assert!(index.astray.len() < 2_000, "{} astray", index.astray.len());
            }
        }
    }

    #[test]
    fn slots_have_room_at_any_size() {
        for buckets in
            (64..5_000).chain((12..29).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) / 3 * 4 + 1]))
        {
            let layout = Layout::new(buckets);
            for piece in [0, 1, 77, u32::MAX / 2, u32::MAX / 3 * 2, u32::MAX - 1, u32::MAX] {
                let home = layout.home(piece);
                for away in 0..REACH {
                    let most = (buckets * SLOTS - 1) as u64;
                    let slot = layout.slot(piece, home, away) | most;
                    assert!(slot >> SLOT_BITS == 0 && home < buckets);
                    assert_eq!(layout.read(slot, home + away), (piece, most as u32));
                }
            }
        }
    }
}
