//! Making room in place: more buckets, or wider keys, without a second copy of the table, by as many threads as use it.
//!
//! The new memory is added at the end. Keys keep their order by home, so what stands in the last buckets moves behind all
//! others: to where nothing is, or nothing any more. Then come those before, until few are left, which are taken out at once.
//! Of what moves together each thread moves a part.

use super::form::{Form, Mixed, keys};
use super::line::{LINE_BYTES, MOST_SLOTS};
use super::{Cells, Lease, wide};
use crate::gate::Gate;
use crate::panics::Panics;
use crate::region::Region;
use crate::store::Full;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{size, start, thread};
use std::ops::Range;

/// Buckets of an empty table.
pub const FIRST_BUCKETS: usize = size(192, 130);
/// By which factors the table is enlarged where nothing is known of keys to come: the first that the budget allows. Never by
/// less: all keys move.
const GROWTH: [f64; 6] = [1.4, 1.25, 1.2, 1.1, 1.05, LEAST];
const LEAST: f64 = 1.02;
/// More than this is for tables that take at most such a share of the budget.
const FAST: f64 = 1.25;
const SMALL_SHARE: usize = 8;
/// The least and the most where it is known, and what is added to that.
const EXPECTED: (f64, f64) = (1.1, 2.0);
const MARGIN: f64 = 1.05;
/// Buckets that are not worth a wave.
const FEW: usize = size(256, 1);
/// Buckets for each thread that moves a part of them.
const WORTH_A_THREAD: usize = size(1 << 12, 1);

/// Keys that a table of this form may hold: any number of them, where there is room for all that there are.
pub fn room(form: &Form) -> usize {
    // The fewer slots a bucket has, the more unevenly they are filled, and the farther overflows reach.
    let fullest = 1.0 - 0.55 / (form.slots as f64).sqrt();
    let room = (form.all_slots() as f64 * fullest) as usize;
    if room as u64 >= keys(form.bits) { usize::MAX } else { room }
}

/// A form of at least so many buckets that fills whole pages.
fn paged(bits: u32, buckets: usize) -> Form {
    Form::new(bits, Region::rounded(buckets * LINE_BYTES) / LINE_BYTES)
}

/// About so many buckets, not fewer than `least`: as many as whole pages hold.
fn about(buckets: usize, least: usize) -> usize {
    let page = Region::page(buckets * LINE_BYTES) / LINE_BYTES;
    let below = buckets / page * page;
    if below >= least { below } else { buckets }
}

/// The smallest such form, of at least `buckets` buckets, with room for so many keys.
fn smallest(bits: u32, buckets: usize, keys: usize) -> Form {
    let mut form = paged(bits, buckets);
    while room(&form) < keys {
        let more = form.all_buckets() as f64 * (keys as f64 / room(&form).max(1) as f64).min(2.0);
        form = paged(bits, (more as usize).max(form.all_buckets() + 1));
    }
    form
}

impl Cells {
    /// Makes room for `more` keys, of a width that may be larger than before. Beyond what it must have, the table takes at
    /// most this `share` of what the budget has left.
    pub fn make_room(&mut self, more: usize, bits: u32, share: f64) -> Result<(), Full> {
        let bits = bits.max(self.form.bits);
        if bits <= self.form.most_bits {
            self.form.bits = bits;
            self.room = room(&self.form);
        }
        // There are no more keys than these.
        let most = keys(bits).min(usize::MAX as u64) as usize;
        let wanted = self.len().saturating_add(more).min(most);
        let scarce =
            |cells: &Cells| wanted > cells.room || cells.stray_count.load(Ordering::Relaxed) > super::MOST_STRAYS;
        // A table as large as before may have as many strays as before, so it grows until there are few.
        while bits > self.form.most_bits || scarce(self) {
            self.enlarge(wanted, bits, share)?;
        }
        self.leases.end();
        Ok(())
    }

    /// Replaces every key by what `change` appends for it, a key of so many bits, with room for `more` keys, in other
    /// memory. Where there is not enough of it, nothing has changed.
    pub fn remake(
        &mut self,
        bits: u32,
        more: usize,
        change: impl Fn(&[u128], &mut Vec<u128>) + Sync,
    ) -> Result<(), Full> {
        const AT_ONCE: usize = size(1 << 10, 1);
        let mut other = Cells::new(bits, &self.budget).map_err(|_| Full)?;
        other.make_room(self.len() + more, bits, 1.0)?;
        let (all, threads) = (0..self.form.all_buckets(), self.threads(self.form.all_buckets()));
        in_parts(std::slice::from_ref(&all), threads, |part| {
            let (mut lease, mut keys, mut changed) = (other.lease(), Vec::new(), Vec::new());
            let mut hand_over = |keys: &mut Vec<u128>| {
                changed.clear();
                change(keys, &mut changed);
                keys.clear();
                other.add_all(&mut lease, &changed);
            };
            self.each_in(part, |mixed| {
                keys.push(mixed.key());
                if keys.len() == AT_ONCE {
                    hand_over(&mut keys);
                }
                true
            });
            hand_over(&mut keys);
        });
        let mut changed = Vec::new();
        change(&self.strays.lock().unwrap_or_else(|e| e.into_inner()), &mut changed);
        other.add_all(&mut other.lease(), &changed);
        // All handles go on with the other cells.
        let keys = other.len();
        other.leases = self.leases.clone();
        other.expected = self.expected;
        *self = other;
        self.leases.set_used(keys);
        self.leases.end();
        Ok(())
    }

    /// Adds keys for which there is room in all, while others do the same.
    fn add_all(&self, lease: &mut Lease, keys: &[u128]) {
        if self.secure(lease, keys.len()).is_ok() {
            return self.insert::<false>(lease, keys.len(), |i| keys[i], |_| ());
        }
        // What is left is in the leases of others.
        lease.count(keys.iter().filter(|&&key| self.add_one(key)).count());
    }

    /// So many more keys are expected.
    pub fn expect(&mut self, more: Option<u64>) {
        self.expected = more;
    }

    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// Is there too little room for so many more keys?
    pub fn must_grow(&self, more: usize) -> bool {
        self.len().saturating_add(more) > self.room
    }

    /// By how much the table should grow, if the budget allows it.
    fn wished(&self) -> f64 {
        let keys = self.len().max(1) as f64;
        let by = |more: u64| (1.0 + more as f64 / keys) * MARGIN * keys / self.room.max(1) as f64;
        self.expected.map_or(GROWTH[0], |more| by(more).clamp(EXPECTED.0, EXPECTED.1))
    }

    fn enlarge(&mut self, wanted: usize, bits: u32, share: f64) -> Result<(), Full> {
        let now = self.form.all_buckets();
        let left = self.budget.left();
        let wished = self.wished();
        let growths = [wished].into_iter().chain(GROWTH.into_iter().filter(|&growth| growth < wished));
        for growth in growths {
            // Wider keys alone need no more than they must have.
            let only_bits = bits > self.form.most_bits && wanted <= self.room;
            let growth = if only_bits { LEAST } else { growth };
            let least = (now as f64 * (1.0 + (growth - 1.0) * 0.8)).ceil() as usize;
            let form = smallest(bits, about((now as f64 * growth) as usize, least), wanted);
            let bytes = form.all_buckets() * LINE_BYTES;
            let taken = bytes.saturating_sub(self.region.committed());
            if growth > FAST && bytes > self.budget.memory() / SMALL_SHARE {
                continue;
            }
            let allowed = if growth == LEAST { left } else { (left as f64 * share) as usize };
            // What is taken out at once is needed for a moment only.
            let (waves, rest) = waves(&self.form, &form);
            let buffer = rest * self.form.slots * size_of::<Mixed>();
            if taken > allowed || taken + buffer > left || bytes > self.region.reserved() {
                continue;
            }
            return self.rebuild(form, &waves, rest);
        }
        Err(Full)
    }

    fn threads(&self, buckets: usize) -> usize {
        self.leases.threads().min(buckets / WORTH_A_THREAD).max(1)
    }

    fn rebuild(&mut self, form: Form, waves: &[Range<usize>], rest: usize) -> Result<(), Full> {
        let mut buffer: Vec<Mixed> = Vec::new();
        buffer.try_reserve_exact(rest * self.form.slots).map_err(|_| Full)?;
        let committed = self.region.committed();
        self.region.commit(form.all_buckets() * LINE_BYTES).map_err(|_| Full)?;
        self.budget.take(self.region.committed() - committed);
        let strays = std::mem::take(self.strays.get_mut().unwrap_or_else(|e| e.into_inner()));
        self.stray_count.store(0, Ordering::Relaxed);
        let moving = Moving { cells: self, new: &form };
        let threads = self.threads(self.form.all_buckets());
        in_parts(waves, threads, |part| moving.carry(part));
        self.each_in(0..rest, |mixed| {
            buffer.push(mixed);
            true
        });
        (0..rest).for_each(|at| self.line(at).clear());
        let own = 0..form.all_buckets();
        buffer.iter().for_each(|&mixed| moving.put::<false>(mixed, &own));
        strays.iter().for_each(|&key| moving.put::<false>(Mixed::of(key), &own));
        self.form = form;
        self.room = room(&form);
        Ok(())
    }
}

/// The stretches of buckets that move together, the last ones first, and how many buckets are left.
fn waves(old: &Form, new: &Form) -> (Vec<Range<usize>>, usize) {
    let (mut end, mut waves) = (old.all_buckets(), Vec::new());
    loop {
        let start = old.beyond(end, new);
        if start + FEW > end {
            return (waves, end);
        }
        waves.push(start..end);
        end = start;
    }
}

/// Shows every stretch in parts, one stretch after the other, the parts of each to several threads at once.
fn in_parts(stretches: &[Range<usize>], threads: usize, show: impl Fn(Range<usize>) + Sync) {
    if threads <= 1 {
        return stretches.iter().for_each(|stretch| show(stretch.clone()));
    }
    let (gate, panics) = (Gate::of(threads), Panics::default());
    let taken: Vec<AtomicUsize> = stretches.iter().map(|_| AtomicUsize::new(0)).collect();
    let work = || {
        for (stretch, taken) in stretches.iter().zip(&taken) {
            let bound = |part: usize| stretch.start + (stretch.len() as u128 * part as u128 / threads as u128) as usize;
            while let Some(part) = Some(taken.fetch_add(1, Ordering::Relaxed)).filter(|part| *part < threads) {
                panics.catch(|| show(bound(part)..bound(part + 1)));
            }
            gate.wait();
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system has no more threads, the others have more to do.
            if start(scope, work).is_err() {
                gate.leave();
            }
        }
        work();
    });
    panics.pass_on();
}

/// Keys on their way to another form.
struct Moving<'a> {
    cells: &'a Cells,
    new: &'a Form,
}

impl Moving<'_> {
    /// Empties some buckets and puts their keys where they belong.
    fn carry(&self, buckets: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi2")]
            fn fast(moving: &Moving, buckets: Range<usize>) {
                moving.carry_by::<true>(buckets);
            }
            if wide::is_there() {
                // SAFETY: the processor has what it needs.
                return unsafe { fast(self, buckets) };
            }
        }
        self.carry_by::<false>(buckets);
    }

    #[inline(always)]
    fn carry_by<const FAST: bool>(&self, buckets: Range<usize>) {
        let (old, new) = (&self.cells.form, self.new);
        // What other threads move comes from other homes, and does not reach these.
        let home = |old_home: usize| (old_home as u128 * old.divisor as u128 / new.divisor as u128) as usize;
        let own = home(buckets.start) + 1 + new.reach..home(buckets.end.saturating_sub(old.reach));
        let mut keys = [Mixed::default(); MOST_SLOTS];
        for at in buckets {
            let count = self.take_out::<FAST>(at, &mut keys);
            keys[..count].iter().for_each(|&mixed| self.put::<FAST>(mixed, &own));
        }
    }

    #[inline(always)]
    fn take_out<const FAST: bool>(&self, at: usize, keys: &mut [Mixed; MOST_SLOTS]) -> usize {
        let (line, old) = (self.cells.line(at), &self.cells.form);
        let count = line.count();
        for (slot, key) in keys.iter_mut().enumerate().take(count) {
            let (entry, tail) = line.entry::<FAST>(old, slot);
            *key = old.mixed(at, entry, tail);
        }
        line.clear();
        count
    }

    /// Adds a key that is not there. Other threads may do the same, but for this thread's `own` buckets.
    #[inline(always)]
    fn put<const FAST: bool>(&self, mixed: Mixed, own: &Range<usize>) {
        let mut place = self.new.place_of(mixed);
        for at in place.home..place.home + self.new.reach {
            let line = self.cells.line(at);
            while let Some(first) = line.with_room(self.new) {
                if own.contains(&at) {
                    return line.put::<FAST>(self.new, first, place);
                }
                if let Some(first) = line.lock(first) {
                    return line.put::<FAST>(self.new, first, place);
                }
                crate::sync::spin_loop();
            }
            place.entry += self.new.divisor;
        }
        self.cells.add_stray(mixed.key());
    }
}
