//! Giving a set of keys up for another store: they come out in ascending order, but for their lowest bits, and memory goes as
//! they do.
//!
//! There is never a second copy. Segment by segment the keys are taken out into a small buffer, sorted, and written to where
//! the segments were, each as its difference from the one before: its lowest bits as they are, and how often it exceeds those
//! in ones and a zero (Golomb and Rice). That takes about half as much, so that half the memory is free at once. Then the
//! sorted segments are merged.

use super::Cells;
use super::form::{HEAD, SEGMENT_BITS, SEGMENTS, key_of};
use super::line::LINE_BYTES;
use crate::store::Full;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Bits of a word, and words of a bucket.
const WORD: usize = 64;
const BUCKET_WORDS: usize = LINE_BYTES / 8;
/// What was read goes in steps of so many bytes: whole pages.
const STEP: usize = 1 << 14;

/// The keys of a segment, sorted.
struct Run {
    /// The next bit to be read, and the word after the last.
    at: usize,
    end: usize,
    keys: usize,
    low_bits: u32,
    last: u128,
    /// Bytes up to here have gone, or belong to others.
    gone: usize,
}

/// Words that hold runs.
struct Runs {
    /// Whose memory it is.
    cells: Cells,
}

impl Cells {
    /// Shows every key until `show` answers `false`; `true` when all were shown. The set is empty afterwards. Where there is
    /// no memory for the keys of one segment, it fails and is as it was.
    pub fn drain(&mut self, mut show: impl FnMut(u128) -> bool) -> Result<bool, Full> {
        let (form, budget) = (self.form, &self.budget);
        let (most, mut buffer) = ((form.buckets / SEGMENTS + 2 * form.reach) * form.slots, Vec::<u128>::new());
        if !budget.may_take(size_of::<u128>() * most) || buffer.try_reserve_exact(most).is_err() {
            return Err(Full);
        }
        let mut full = self.take()?;
        let strays = std::mem::take(full.strays.get_mut().unwrap_or_else(|e| e.into_inner()));
        let (mut runs, mut sorted) = full.sort(buffer);
        let mut heap = BinaryHeap::new();
        for (segment, run) in sorted.iter_mut().enumerate() {
            heap.extend(runs.next(run).map(|rest| Reverse((rest, segment))));
        }
        while let Some(mut first) = heap.peek_mut() {
            let Reverse((rest, segment)) = *first;
            if !show(key_of(segment, rest)) {
                return Ok(false);
            }
            match runs.next(&mut sorted[segment]) {
                Some(rest) => *first = Reverse((rest, segment)),
                None => drop(PeekMut::pop(first)),
            }
        }
        Ok(strays.into_iter().all(show))
    }

    /// The same in any order, with no memory to begin with but for an empty set.
    pub fn drain_in_any_order(&mut self, mut show: impl FnMut(u128) -> bool) -> Result<bool, Full> {
        let full = self.take()?;
        let (mut runs, mut gone) = (Runs { cells: full }, 0);
        let strays = std::mem::take(runs.cells.strays.get_mut().unwrap_or_else(|e| e.into_inner()));
        for at in 0..runs.cells.form.all_buckets() {
            if !runs.cells.each_in(at..at + 1, |mixed| show(mixed.key())) {
                return Ok(false);
            }
            let read = at * LINE_BYTES / STEP * STEP;
            if read > gone {
                runs.release(gone, read);
                gone = read;
            }
        }
        Ok(strays.into_iter().all(show))
    }

    /// All that is in the set, which is empty afterwards.
    fn take(&mut self) -> Result<Cells, Full> {
        let empty = Cells::new(self.form.bits, &self.budget).map_err(|_| Full)?;
        let full = std::mem::replace(self, empty);
        // Handles go on with the empty one.
        self.leases = full.leases.clone();
        self.leases.set_used(0);
        self.leases.end();
        Ok(full)
    }

    /// Sorts every segment in place, with a buffer for the keys of one.
    fn sort(self, mut keys: Vec<u128>) -> (Runs, Vec<Run>) {
        let (form, mut sorted, mut to, mut read) = (self.form, Vec::new(), 0, 0);
        for segment in 0..SEGMENTS {
            keys.clear();
            // The last keys of a segment may stand behind the first home of the next.
            let next = form.first_home(segment + 1).min(form.buckets);
            let end = (next + 1 + form.reach).min(form.all_buckets());
            self.each_in(read..end, |mixed| {
                if mixed.segment() == segment {
                    keys.push(mixed.rest());
                }
                true
            });
            keys.sort_unstable();
            let free = if segment + 1 == SEGMENTS { form.all_buckets() } else { next };
            (read..free).for_each(|at| self.line(at).clear());
            read = free;
            // SAFETY: all buckets before `free` are zero from word `to` on, and nobody else looks: this is the only owner.
            let words = unsafe {
                let base = self.region.base().cast::<u64>();
                std::slice::from_raw_parts_mut(base.add(to), free * BUCKET_WORDS - to)
            };
            let low_bits = low_bits(form.bits.max(HEAD) - SEGMENT_BITS, keys.len());
            let (at, end) = (to * WORD, to + write(&keys, low_bits, words));
            sorted.push(Run { at, end, keys: keys.len(), low_bits, last: 0, gone: (to * 8).next_multiple_of(STEP) });
            to = end;
        }
        let mut runs = Runs { cells: self };
        runs.release((to * 8).next_multiple_of(STEP), runs.cells.region.committed());
        (runs, sorted)
    }
}

/// How many bits of the differences of so many keys are written as they are. The keys have `rest_bits`, so that what is left
/// takes at most three bits for each, and all of it less than a segment.
fn low_bits(rest_bits: u32, keys: usize) -> u32 {
    ((1u128 << rest_bits) / keys.max(1) as u128).max(1).ilog2()
}

/// Writes ascending keys to words that are zero; how many of these it takes.
fn write(keys: &[u128], low_bits: u32, words: &mut [u64]) -> usize {
    let (mut at, mut last) = (0, 0);
    let mut put = |at: usize, bits: u64| {
        words[at / WORD] |= bits << (at % WORD);
        let beyond = bits >> 1 >> (WORD - 1 - at % WORD);
        if beyond != 0 {
            words[at / WORD + 1] |= beyond;
        }
    };
    for &key in keys {
        let difference = key - std::mem::replace(&mut last, key);
        for _ in 0..difference >> low_bits {
            put(at, 1);
            at += 1;
        }
        at += 1;
        let (low, upper) = halves(low_bits);
        put(at, difference as u64 & ones(low));
        put(at + low as usize, (difference >> low) as u64 & ones(upper));
        at += low_bits as usize;
    }
    at.div_ceil(WORD)
}

/// The low bits of a difference, in two words.
fn halves(low_bits: u32) -> (u32, u32) {
    (low_bits.min(63), low_bits.saturating_sub(63))
}

fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Runs {
    /// The bits of a run so far beyond the next, as many as a word has; behind its end they are zero.
    #[inline(always)]
    fn bits(&self, run: &Run, beyond: usize) -> u64 {
        let word = |at: usize| {
            // SAFETY: the word belongs to the run, and was not read to its end, so it has not gone.
            if at < run.end { unsafe { *self.cells.region.base().cast::<u64>().add(at) } } else { 0 }
        };
        let bit = run.at + beyond;
        let (at, shift) = (bit / WORD, bit % WORD);
        word(at) >> shift | word(at + 1) << 1 << (WORD - 1 - shift)
    }

    /// The next key of a run.
    fn next(&mut self, run: &mut Run) -> Option<u128> {
        run.keys = run.keys.checked_sub(1)?;
        let mut high = 0;
        loop {
            let ones = self.bits(run, 0).trailing_ones() as usize;
            high += ones as u128;
            run.at += ones;
            if ones < WORD {
                break;
            }
        }
        run.at += 1;
        let (low, upper) = halves(run.low_bits);
        let upper = (self.bits(run, low as usize) & ones(upper)) as u128;
        run.last += high << run.low_bits | upper << low | (self.bits(run, 0) & ones(low)) as u128;
        run.at += run.low_bits as usize;
        let read = run.at / WORD * 8 / STEP * STEP;
        if read > run.gone {
            self.release(run.gone, read);
            run.gone = read;
        }
        Some(run.last)
    }

    fn release(&mut self, from: usize, to: usize) {
        if from < to {
            self.cells.region.release(from, to);
            self.cells.released += to - from;
            self.cells.budget.give_back(to - from);
        }
    }
}
