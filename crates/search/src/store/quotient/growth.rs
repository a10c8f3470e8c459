//! Making room in place: more buckets, or wider keys, without a second copy of the table.
//!
//! The new memory is added at the end. Segments are rebuilt from the last to the first: the keys of one are taken out into a
//! small buffer and put where the segment is in the larger table, which never reaches down to one that still has to be moved.

use super::form::{Form, KeyBits, Place};
use super::{BUCKET_BYTES, COUNT, Cells};
use crate::region::Region;
use crate::store::Full;
use crate::sync::atomic::Ordering;
use crate::sync::size;

/// Buckets of an empty table: one page.
pub const FIRST_BUCKETS: usize = size(64, 2);
/// The table is enlarged when this share of its slots is taken …
const FULLEST: f64 = 0.93;
/// … by this factor, or by a smaller one where the budget is near its end. Never by less: every rebuild goes through all
/// keys.
const GROWTH: [f64; 5] = [1.25, 1.2, 1.1, 1.05, 1.02];

/// Keys that a table of this form may hold: any number of them, where there is room for all that there are.
pub fn room(form: &Form) -> usize {
    let slots = form.all_slots() as f64;
    // Small segments are filled unevenly.
    let deviations = 3.0 * (form.buckets as f64 * form.slots as f64).sqrt() * form.segments() as f64;
    let uneven = if form.segments() > 1 { slots - deviations } else { slots };
    let room = (slots * FULLEST).min(uneven) as usize;
    if room as u64 >= form.bits.keys() { usize::MAX } else { room }
}

/// A form of at least so many buckets that fills whole pages.
fn paged(bits: KeyBits, buckets: usize) -> Form {
    let bytes = Region::rounded((buckets * BUCKET_BYTES).next_multiple_of(1 << 12));
    Form::new(bits, bytes / BUCKET_BYTES)
}

/// The smallest such form, of at least `buckets` buckets, with room for so many keys.
fn smallest(bits: KeyBits, buckets: usize, keys: usize) -> Form {
    let mut form = paged(bits, buckets);
    while room(&form) < keys {
        let more = form.all_buckets() as f64 * (keys as f64 / room(&form).max(1) as f64).min(2.0);
        form = paged(bits, (more as usize).max(form.all_buckets() + 1));
    }
    form
}

impl Cells {
    /// Makes room for `more` keys, of a width that may be larger than before. Beyond what it must have, the table takes at
    /// most this `share` of what the budget has left. Afterwards it [has](Cells::has_room) that room.
    pub fn make_room(&mut self, more: usize, bits: KeyBits, share: f64) -> Result<(), Full> {
        let bits = bits.max(self.form.bits);
        // There are no more keys than these.
        let most = bits.keys().min(usize::MAX as u64) as usize;
        let wanted = self.len().saturating_add(more).min(most);
        // A table as large as before may have as many strays as before, so it grows until there are few.
        while bits != self.form.bits || !self.has_room(more) {
            self.enlarge(wanted, bits, share)?;
        }
        Ok(())
    }

    fn enlarge(&mut self, wanted: usize, bits: KeyBits, share: f64) -> Result<(), Full> {
        let now = self.form.all_buckets();
        // Wider keys alone need not make the table larger.
        let only_bits = room(&Form::new(bits, now)) as f64 * 0.8 >= wanted as f64 && bits != self.form.bits;
        let left = self.budget.left();
        for (i, growth) in GROWTH.iter().enumerate() {
            let growth = if only_bits { 1.0 } else { *growth };
            let at_least = (now as f64 * growth).ceil() as usize;
            let form = smallest(bits, at_least.max(now), wanted);
            let bytes = form.all_buckets() * BUCKET_BYTES;
            let taken = bytes.saturating_sub(self.region.committed());
            let last = i + 1 == GROWTH.len();
            let allowed = if last { left } else { (left as f64 * share) as usize };
            // What is taken out at a time is needed for a moment only.
            if taken > allowed || taken + self.buffer_bytes(&form) > left || bytes > self.region.reserved() {
                continue;
            }
            return self.rebuild(form);
        }
        Err(Full)
    }

    /// Is the table rebuilt segment by segment?
    fn by_segment(&self, form: &Form) -> bool {
        form.segment_bits == self.form.segment_bits && form.segment_bits > 0
    }

    /// Bytes of the buffer for what is taken out at a time.
    fn buffer_bytes(&self, form: &Form) -> usize {
        let keys = if self.by_segment(form) { self.form.buckets * self.form.slots } else { self.len() };
        keys * 8
    }

    fn rebuild(&mut self, form: Form) -> Result<(), Full> {
        let mut buffer: Vec<u64> = Vec::new();
        buffer.try_reserve_exact(self.buffer_bytes(&form) / 8).map_err(|_| Full)?;
        let committed = self.region.committed();
        self.region.commit(form.all_buckets() * BUCKET_BYTES).map_err(|_| Full)?;
        self.budget.take(self.region.committed() - committed);
        let strays = std::mem::take(self.strays.get_mut().unwrap_or_else(|e| e.into_inner()));
        self.stray_count.store(0, Ordering::Relaxed);
        let old = self.form;
        if self.by_segment(&form) {
            // Keys of the same width have the same mixed numbers.
            let same = form.bits == old.bits;
            for segment in (0..old.segments()).rev() {
                buffer.clear();
                self.each_in(segment, |mixed| {
                    buffer.push(if same { mixed } else { old.key(segment, mixed) });
                    true
                });
                self.clear(segment * old.buckets, old.buckets);
                self.form = form;
                for &number in &buffer {
                    let place = if same { form.place_of(segment, number) } else { form.place(number) };
                    self.put_back(place, || if same { form.key(segment, number) } else { number });
                }
                self.form = old;
            }
            self.form = form;
        } else {
            for segment in 0..old.segments() {
                self.each_in(segment, |mixed| {
                    buffer.push(old.key(segment, mixed));
                    true
                });
            }
            self.clear(0, old.all_buckets());
            self.form = form;
            buffer.iter().for_each(|&key| self.put_back(form.place(key), || key));
        }
        strays.iter().for_each(|&key| self.put_back(form.place(key), || key));
        self.room = room(&form);
        Ok(())
    }

    /// Adds a key that is not there.
    #[inline(always)]
    fn put_back(&self, place: Place, key: impl Fn() -> u64) {
        let mut at = place.home;
        let mut entry = place.entry;
        for _ in 0..self.form.reach {
            let bucket = self.bucket(place.segment + at);
            let first = bucket[0].load(Ordering::Relaxed);
            if ((first & COUNT) as usize) < self.form.slots {
                return self.put(bucket, first, entry);
            }
            at = if at + 1 == self.form.buckets { 0 } else { at + 1 };
            entry += self.form.divisor;
        }
        self.add_stray(key());
    }

    pub(super) fn clear(&mut self, first: usize, buckets: usize) {
        // SAFETY: the buckets lie within committed memory, and `&mut self` says that nobody reads them.
        unsafe { std::ptr::write_bytes(self.region.base().add(first * BUCKET_BYTES), 0, buckets * BUCKET_BYTES) };
    }
}
