//! The cells against a set, their memory, and several threads on one table.

use super::*;
use scrimp_system::Random;
use std::collections::HashSet;

fn budget(memory: usize) -> Arc<Budget> {
    Arc::new(Budget::apart(memory))
}

fn insert(cells: &mut Cells, keys: &[u64]) -> Vec<usize> {
    if !cells.has_room(keys.len()) {
        cells.make_room(keys.len(), cells.bits(), 1.0).unwrap();
    }
    let mut new = Vec::new();
    cells.insert::<true>(keys, |i| new.push(i));
    new
}

fn check(cells: &Cells, expected: &HashSet<u64>) {
    assert_eq!(cells.len(), expected.len());
    let mut seen = HashSet::new();
    assert!(cells.each(|key| {
        assert!(expected.contains(&key), "{key:x} was never inserted");
        seen.insert(key)
    }));
    assert_eq!(seen.len(), expected.len());
}

#[test]
fn a_place_gives_its_key_again() {
    let mut random = Random(1);
    let widths = [(0, 8), (0, 2), (0, 20), (8, 32), (32, 32), (17, 17), (12, 31), (20, 9)];
    for (left, right) in widths {
        for buckets in [1, 3, 64, 1000, 1 << 14, (1 << 14) + 7 * 64, 1 << 20] {
            let form = Form::new(KeyBits { left, right }, buckets);
            assert!(form.width <= 64 && form.slots >= 7, "{form:?}");
            for _ in 0..1000 {
                let half = |bits: u32, x: u64| x & ((1u64 << bits) - 1);
                let key = half(left, random.next()) << 32 | half(right, random.next());
                let (segment, mixed) = form.split(key);
                let place = form.place(key);
                assert!(place.home < form.buckets && segment < form.segments());
                assert_eq!(form.key(segment, mixed), key, "{form:?}");
                for beyond in [0, 1, form.reach - 1].into_iter().filter(|&b| b < form.reach) {
                    let at = (place.home + beyond) % form.buckets;
                    let entry = place.entry + beyond as u64 * form.divisor;
                    assert!(form.width == 64 || entry < 1 << form.width);
                    assert_eq!(form.mixed(at, entry), mixed, "{form:?}");
                }
            }
        }
    }
}

#[test]
fn agrees_with_a_set_while_growing() {
    for (bits, range) in [(8, 256), (16, 65_536), (21, 1 << 21), (40, 300_000), (64, 200_000), (56, 3_000_000)] {
        let mut cells = Cells::new(KeyBits::whole(bits), &budget(1 << 30)).unwrap();
        let mut set = HashSet::new();
        let mut random = Random(bits as u64);
        for _ in 0..3000 {
            // Keys that come close to each other, and keys that do not.
            let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
            let mut key =
                |_| if bits > 30 && bits != 56 { spread(random.next() % range) } else { random.next() % range };
            let keys: Vec<u64> = (0..150).map(&mut key).collect();
            let expected: Vec<usize> = (0..keys.len()).filter(|&i| set.insert(keys[i])).collect();
            assert_eq!(insert(&mut cells, &keys), expected);
        }
        check(&cells, &set);
    }
}

#[test]
fn keys_may_become_wider() {
    let mut cells = Cells::new(KeyBits { left: 8, right: 8 }, &budget(1 << 30)).unwrap();
    let mut set = HashSet::new();
    let mut random = Random(5);
    for bits in 8..=26 {
        let wider = KeyBits { left: bits, right: bits.min(21) };
        cells.make_room(0, wider, 1.0).unwrap();
        for _ in 0..30 {
            let mut key =
                |_| (random.next() & ((1 << wider.left) - 1)) << 32 | random.next() & ((1 << wider.right) - 1);
            let keys: Vec<u64> = (0..2000).map(&mut key).collect();
            let expected: Vec<usize> = (0..keys.len()).filter(|&i| set.insert(keys[i])).collect();
            assert_eq!(insert(&mut cells, &keys), expected);
        }
        check(&cells, &set);
    }
}

#[test]
fn a_key_of_forty_bits_costs_less_than_six_bytes() {
    let mut cells = Cells::new(KeyBits::whole(40), &budget(1 << 30)).unwrap();
    for round in 0..2000u64 {
        let keys: Vec<u64> = (0..1000).map(|i| (round * 1000 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24).collect();
        insert(&mut cells, &keys);
        let each = cells.bytes() as f64 / cells.len() as f64;
        assert!(round < 100 || each < 6.0, "{each} bytes a key at {} keys", cells.len());
    }
    assert_eq!(cells.stray_count.load(Ordering::Relaxed), 0);
}

#[test]
fn full_is_an_answer_and_the_budget_is_used_up() {
    let budget = budget(24 << 20);
    let mut cells = Cells::new(KeyBits::whole(48), &budget).unwrap();
    for round in 0.. {
        let keys: Vec<u64> =
            (0..1000).map(|i| (round * 1000 + i + 1u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16).collect();
        if !cells.has_room(1000) && cells.make_room(1000, cells.bits(), 1.0).is_err() {
            break;
        }
        cells.insert::<true>(&keys, |_| ());
        assert!(cells.bytes() <= 24 << 20, "the budget was not kept");
    }
    assert!(cells.len() > 1_000_000, "{} keys", cells.len());
}

#[test]
fn strays_are_kept_and_come_home() {
    let mut cells = Cells::new(KeyBits::whole(40), &budget(1 << 30)).unwrap();
    // More keys than there is room for: some find no place, and none is lost.
    let count = cells.form.all_slots() as u64 + 20;
    let keys: Vec<u64> = (1..=count).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24).collect();
    let mut new = 0;
    cells.insert::<true>(&keys, |_| new += 1);
    cells.insert::<true>(&keys, |i| panic!("{i} is not new"));
    assert!(new == count && cells.stray_count.load(Ordering::Relaxed) >= 20);
    cells.make_room(10, cells.bits(), 1.0).unwrap();
    assert_eq!(cells.stray_count.load(Ordering::Relaxed), 0);
    check(&cells, &keys.into_iter().collect());
}

#[test]
fn room_that_was_made_is_there() {
    let mut cells = Cells::new(KeyBits::whole(40), &budget(1 << 30)).unwrap();
    // So many keys with one home that some find no place, in a table that is far from full.
    let form = cells.form;
    let count = (form.slots * form.reach + 40) as u64;
    let keys: Vec<u64> = (0..count).map(|i| form.key(0, i * (form.divisor / count))).collect();
    cells.insert::<true>(&keys, |_| ());
    assert!(!cells.has_room(10) && cells.len() + 10 < cells.room);
    // Nothing beyond what must be.
    cells.make_room(10, cells.bits(), 0.0).unwrap();
    assert!(cells.has_room(10));
    check(&cells, &keys.into_iter().collect());
}

#[test]
fn where_all_keys_have_room_any_batch_has() {
    let mut cells = Cells::new(KeyBits::whole(16), &budget(1 << 30)).unwrap();
    cells.insert::<true>(&[1, 2, 3], |_| ());
    cells.make_room(1 << 20, cells.bits(), 1.0).unwrap();
    cells.promise(1 << 20).unwrap();
    cells.keep(1 << 20);
}

#[test]
fn threads_agree_on_what_is_new() {
    const KEYS: u64 = 200_000;
    let mut cells = Cells::new(KeyBits::whole(40), &budget(1 << 30)).unwrap();
    cells.make_room(KEYS as usize + 4000, cells.bits(), 1.0).unwrap();
    let key = |i: u64| (i % KEYS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    let work = |me: u64| {
        let mut new = 0;
        for start in (0..KEYS).step_by(100) {
            let keys: Vec<u64> = (0..100).map(|i| key(start + i + me * 50)).collect();
            cells.promise(100).unwrap();
            cells.insert::<false>(&keys, |_| new += 1);
            cells.keep(100);
        }
        new
    };
    let new: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|me| scope.spawn(move || work(me))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    let expected: HashSet<u64> = (0..KEYS).map(key).collect();
    assert_eq!(new, expected.len());
    assert!(cells.is_quiet());
    check(&cells, &expected);
}

/// Every key comes out once, in ascending order but for the bits that tell segments apart, and no memory stays behind.
#[test]
fn what_is_drained_comes_out_sorted() {
    let mut random = Random(9);
    // Small tables have one segment; keys that fill their range, and keys far apart; strays.
    for (bits, range, count) in
        [(2, 4, 3), (8, 256, 256), (21, 1 << 21, 600_000), (40, 1 << 40, 700_000), (64, 0, 400_000), (40, 1 << 20, 900)]
    {
        let budget = budget(1 << 30);
        let mut cells = Cells::new(KeyBits::whole(bits), &budget).unwrap();
        let key = |random: &mut Random| if range == 0 { random.next() } else { random.next() % range };
        let mut expected: Vec<u64> = (0..count).map(|_| key(&mut random)).collect();
        expected.chunks(1000).for_each(|keys| drop(insert(&mut cells, keys)));
        let stray = key(&mut random);
        if !cells.contains(stray) {
            cells.add_stray(stray);
            expected.push(stray);
        }
        expected.sort_unstable();
        expected.dedup();
        let (lowest, mut shown) = (cells.form.segments().ilog2(), Vec::new());
        let all = cells.drain(|key| {
            shown.push(key);
            true
        });
        assert_eq!((all, cells.len()), (Ok(true), 0));
        // A stray comes last.
        let last = shown.len() - 1;
        assert!(shown[..last].is_sorted_by_key(|key| key >> lowest), "{bits} bits");
        shown.sort_unstable();
        assert!(shown == expected, "{bits} bits");
        // It can be filled again, and given up halfway.
        insert(&mut cells, &expected[..2]);
        assert_eq!(cells.drain(|_| false), Ok(false));
        insert(&mut cells, &expected);
        check(&cells, &expected.into_iter().collect());
    }
}

#[test]
fn what_cannot_be_drained_is_as_it_was() {
    let budget = budget(1 << 30);
    let mut cells = Cells::new(KeyBits::whole(40), &budget).unwrap();
    insert(&mut cells, &[5, 3, 1 << 39]);
    budget.hold(1 << 30);
    assert_eq!(cells.drain(|_| true), Err(Full));
    check(&cells, &[5, 3, 1 << 39].into());
}
