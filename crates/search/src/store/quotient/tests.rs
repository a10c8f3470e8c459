//! The cells against a set, their memory, and several threads on one table.

use super::form::{MOST_BITS, SEGMENT_BITS, key_of};
use super::*;
use scrimp_system::Random;
use std::collections::HashSet;

fn budget(memory: usize) -> Arc<Budget> {
    Arc::new(Budget::apart(memory))
}

/// Cells with the lease of a single owner.
struct Alone {
    cells: Cells,
    lease: Lease,
}

impl Alone {
    fn new(bits: u32, budget: &Arc<Budget>) -> Alone {
        let cells = Cells::new(bits, budget).unwrap();
        Alone { lease: cells.lease(), cells }
    }

    fn try_insert(&mut self, keys: &[u128]) -> Result<Vec<usize>, Full> {
        let Alone { cells, lease } = self;
        if cells.secure(lease, keys.len()).is_err() {
            cells.make_room(keys.len(), cells.bits(), 1.0)?;
            cells.secure(lease, keys.len()).expect("room that was made is there");
        }
        let mut new = Vec::new();
        cells.insert::<true>(lease, keys.len(), |i| keys[i], |i| new.push(i));
        Ok(new)
    }

    fn insert(&mut self, keys: &[u128]) -> Vec<usize> {
        self.try_insert(keys).unwrap()
    }

    /// Adds keys whether there is room or not; how many were new?
    fn force(&mut self, keys: &[u128]) -> usize {
        let added = keys.iter().filter(|&&key| self.cells.add_one(key)).count();
        self.cells.leases.set_used(self.cells.len() + added);
        added
    }
}

fn check(cells: &Cells, expected: &HashSet<u128>) {
    assert_eq!(cells.len(), expected.len());
    let mut seen = HashSet::new();
    assert!(cells.each(|key| {
        assert!(expected.contains(&key), "{key:x} was never inserted");
        seen.insert(key)
    }));
    assert_eq!(seen.len(), expected.len());
}

/// A number of so many bits.
fn number(random: &mut Random, bits: u32) -> u128 {
    ((random.next() as u128) << 64 | random.next() as u128) & ((1 << bits) - 1)
}

/// Numbers that are far apart.
fn spread(i: u64, bits: u32) -> u128 {
    let wide = (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    wide >> (128 - bits)
}

#[test]
fn a_place_gives_its_key_again() {
    let mut random = Random(1);
    for bits in [2, 8, 20, 40, 41, 64, 90, MOST_BITS] {
        for buckets in [1, 130, 192, 1000, 1 << 14, (1 << 14) + 7 * 64, 1 << 20, 1 << 34] {
            let form = Form::new(bits, buckets);
            assert!(form.slots >= 4 && form.slots <= line::MOST_SLOTS && form.reach >= 64, "{form:?}");
            assert!(LANE_BITS + form.slots * (form.width + form.tail) as usize <= 512);
            for _ in 0..1000 {
                let key = number(&mut random, bits);
                let (mixed, place) = (Mixed::of(key), form.place(key));
                assert!(place.home < form.buckets);
                assert_eq!((mixed.key(), key_of(mixed.segment(), mixed.rest())), (key, key));
                assert!(place.home >= form.first_home(mixed.segment()));
                assert!(place.home <= form.first_home(mixed.segment() + 1));
                for beyond in [0, 1, form.reach - 1] {
                    let entry = place.entry + beyond as u64 * form.divisor;
                    assert!(entry < 1 << form.width);
                    assert_eq!(form.mixed(place.home + beyond, entry, place.tail), mixed, "{form:?}");
                }
            }
        }
    }
}

const LANE_BITS: usize = form::LANE as usize;

#[test]
fn agrees_with_a_set_while_growing() {
    let cases =
        [(8, 256), (16, 65_536), (21, 1 << 21), (40, 300_000), (64, 200_000), (90, 200_000), (MOST_BITS, 300_000)];
    for (bits, range) in cases {
        let mut cells = Alone::new(bits, &budget(1 << 30));
        let mut set = HashSet::new();
        let mut random = Random(bits as u64);
        for _ in 0..3000 {
            // Keys that come close to each other, and keys that do not.
            let mut key = |_| {
                let one = random.next() % range;
                if bits > 30 && random.next().is_multiple_of(2) { spread(one, bits) } else { one as u128 }
            };
            let keys: Vec<u128> = (0..150).map(&mut key).collect();
            let expected: Vec<usize> = (0..keys.len()).filter(|&i| set.insert(keys[i])).collect();
            assert_eq!(cells.insert(&keys), expected);
        }
        check(&cells.cells, &set);
    }
}

#[test]
fn keys_may_become_wider() {
    let mut cells = Alone::new(16, &budget(1 << 30));
    let mut set = HashSet::new();
    let mut random = Random(5);
    for bits in (16..=MOST_BITS).step_by(3) {
        cells.cells.make_room(0, bits, 1.0).unwrap();
        for _ in 0..10 {
            let keys: Vec<u128> = (0..2000).map(|_| number(&mut random, bits)).collect();
            let expected: Vec<usize> = (0..keys.len()).filter(|&i| set.insert(keys[i])).collect();
            assert_eq!(cells.insert(&keys), expected);
        }
        check(&cells.cells, &set);
    }
}

#[test]
fn keys_cost_a_few_bytes() {
    for (bits, most) in [(40, 8.5), (72, 18.0), (90, 23.0)] {
        let mut cells = Alone::new(bits, &budget(128 << 20));
        for round in 0..2000u64 {
            let keys: Vec<u128> = (0..1000).map(|i| spread(round * 1000 + i, bits)).collect();
            cells.insert(&keys);
            let each = cells.cells.bytes() as f64 / cells.cells.len() as f64;
            assert!(round < 400 || each < most, "{each} bytes a key of {bits} bits at {} keys", cells.cells.len());
        }
        assert_eq!(cells.cells.stray_count.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn full_is_an_answer_and_the_budget_is_used_up() {
    let budget = budget(24 << 20);
    let mut cells = Alone::new(48, &budget);
    for round in 0.. {
        let keys: Vec<u128> = (0..1000).map(|i| spread(round * 1000 + i, 48)).collect();
        if cells.try_insert(&keys).is_err() {
            break;
        }
        assert!(cells.cells.bytes() <= 24 << 20, "the budget was not kept");
    }
    assert!(cells.cells.bytes() > 20 << 20, "{} bytes", cells.cells.bytes());
    assert!(cells.cells.len() > 3_700_000, "{} keys", cells.cells.len());
}

#[test]
fn strays_are_kept_and_come_home() {
    let mut cells = Alone::new(40, &budget(1 << 30));
    // More keys than there is room for: some find no place, and none is lost.
    let count = (cells.cells.form.all_buckets() * cells.cells.form.slots) as u64 + 20;
    let keys: Vec<u128> = (0..count).map(|i| spread(i, 40)).collect();
    assert_eq!(cells.force(&keys), keys.len());
    assert_eq!(cells.force(&keys), 0);
    assert!(cells.cells.stray_count.load(Ordering::Relaxed) >= 20);
    cells.cells.make_room(10, 40, 1.0).unwrap();
    assert_eq!(cells.cells.stray_count.load(Ordering::Relaxed), 0);
    check(&cells.cells, &keys.into_iter().collect());
}

#[test]
fn room_that_was_made_is_there() {
    let mut cells = Alone::new(40, &budget(1 << 30));
    // So many keys with one home that some find no place, in a table that is far from full.
    cells.cells.make_room(100_000, 40, 1.0).unwrap();
    let form = cells.cells.form;
    let count = (form.slots * form.reach + 40) as u64;
    let key = |i: u64| Mixed { number: i * (form.divisor / count), tail: 0 }.key();
    let keys: Vec<u128> = (0..count).map(key).collect();
    cells.force(&keys);
    assert!(cells.cells.secure(&mut cells.lease, 10).is_err() && cells.cells.len() + 10 < cells.cells.room);
    // Nothing beyond what must be.
    cells.cells.make_room(10, 40, 0.0).unwrap();
    assert!(cells.cells.secure(&mut cells.lease, 10).is_ok());
    check(&cells.cells, &keys.into_iter().collect());
}

#[test]
fn where_all_keys_have_room_any_batch_has() {
    let mut cells = Alone::new(16, &budget(1 << 30));
    cells.insert(&[1, 2, 3]);
    cells.cells.make_room(1 << 20, 16, 1.0).unwrap();
    cells.cells.secure(&mut cells.lease, 1 << 20).unwrap();
}

/// Room for all keys of a few bits is no room for wider ones.
#[test]
fn wider_keys_need_more_room() {
    let mut cells = Alone::new(0, &budget(1 << 30));
    cells.cells.make_room(100_000, 35, 1.0).unwrap();
    assert!(cells.cells.room >= 100_000 && cells.cells.room < 1_000_000, "{}", cells.cells.room);
    let before = cells.cells.form;
    (0..100).for_each(|round| drop(cells.insert(&(0..1000).map(|i| spread(1000 * round + i, 35)).collect::<Vec<_>>())));
    assert_eq!(cells.cells.form, before);
}

/// Also while the table grows, which all of them do together.
#[test]
fn threads_agree_on_what_is_new() {
    const KEYS: u64 = 400_000;
    for bits in [40, 80] {
        let mut cells = Cells::new(bits, &budget(1 << 30)).unwrap();
        let mut leases: Vec<Lease> = (0..4).map(|_| cells.lease()).collect();
        let (mut new, mut starts) = (0, vec![0; 4]);
        while starts.iter().any(|&start| start < KEYS) {
            let work = |me: u64, lease: &mut Lease, start: &mut u64| {
                let mut new = 0;
                while *start < KEYS && cells.secure(lease, 100).is_ok() {
                    let key = |i: usize| spread((*start + i as u64 + me * 50) % KEYS, bits);
                    cells.insert::<false>(lease, 100, key, |_| new += 1);
                    *start += 100;
                }
                new
            };
            new += std::thread::scope(|scope| {
                let all = leases.iter_mut().zip(&mut starts).zip(0..);
                let start = |((lease, start), me)| scope.spawn(move || work(me, lease, start));
                let threads: Vec<_> = all.map(start).collect();
                threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>()
            });
            cells.make_room(400, bits, 1.0).unwrap();
        }
        let expected: HashSet<u128> = (0..KEYS).map(|i| spread(i, bits)).collect();
        assert_eq!(new, expected.len());
        assert!(cells.leases.threads() == 4 && cells.form.all_buckets() > 1 << 14, "{:?}", cells.form);
        check(&cells, &expected);
    }
}

/// Every key comes out once, in ascending order but for the bits that tell segments apart, and no memory stays behind.
#[test]
fn what_is_drained_comes_out_sorted() {
    let mut random = Random(9);
    // Keys that fill their range, and keys far apart; strays.
    let cases = [
        (2, 2, 3),
        (8, 8, 256),
        (21, 21, 600_000),
        (40, 40, 700_000),
        (64, 64, 400_000),
        (40, 20, 900),
        (104, 104, 300_000),
    ];
    for (bits, range, count) in cases {
        let budget = budget(1 << 30);
        let mut cells = Alone::new(bits, &budget);
        let mut expected: Vec<u128> = (0..count).map(|_| number(&mut random, range)).collect();
        expected.chunks(1000).for_each(|keys| drop(cells.insert(keys)));
        let stray = number(&mut random, range);
        if !cells.cells.contains(stray) {
            cells.cells.add_stray(stray);
            expected.push(stray);
        }
        expected.sort_unstable();
        expected.dedup();
        let mut shown = Vec::new();
        let all = cells.cells.drain(|key| {
            shown.push(key);
            true
        });
        assert_eq!((all, cells.cells.len()), (Ok(true), 0));
        // A stray comes last.
        let last = shown.len() - 1;
        assert!(shown[..last].is_sorted_by_key(|key| key >> SEGMENT_BITS), "{bits} bits");
        shown.sort_unstable();
        assert!(shown == expected, "{bits} bits");
        // It can be filled again, and given up halfway.
        cells.insert(&expected[..2]);
        assert_eq!(cells.cells.drain(|_| false), Ok(false));
        cells.insert(&expected);
        check(&cells.cells, &expected.into_iter().collect());
    }
}

#[test]
fn what_cannot_be_drained_is_as_it_was() {
    let budget = budget(1 << 30);
    let mut cells = Alone::new(40, &budget);
    cells.insert(&[5, 3, 1 << 39]);
    budget.hold(1 << 30);
    assert_eq!(cells.cells.drain(|_| true), Err(Full));
    check(&cells.cells, &[5, 3, 1 << 39].into());
}
