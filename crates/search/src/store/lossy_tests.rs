//! Both lossy stores against a set: they miss hardly anything where there is room, say how much they miss where there is
//! not, survive a file, and are the same for several threads.

use super::{BitState, Compact, Full, NO_ORIGIN, Set};
use scrimp_core::{Budget, Omission};
use scrimp_system::{Batch, Random};
use std::collections::HashSet;
use std::sync::Arc;

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

fn random_batch(random: &mut Random, bytes: usize, count: usize, spread: usize) -> Batch {
    let mut batch = Batch::new(bytes);
    for _ in 0..count {
        let number = (random.below(spread) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        let state = batch.push_with(0);
        state.fill(0);
        let length = bytes.min(8);
        state[..length].copy_from_slice(&number[..length]);
    }
    batch
}

/// The states that a set finds new in a batch.
fn insert(set: &mut dyn Set, batch: &Batch) -> Result<Vec<u32>, Full> {
    let (mut new, mut keys) = (Vec::new(), Vec::new());
    set.insert(batch, &vec![NO_ORIGIN; batch.len()], &mut new, &mut keys)?;
    let mut again = Batch::new(batch.state_bytes());
    set.load(&keys, &mut again);
    assert_eq!(again.len(), new.len());
    (0..again.len()).for_each(|i| assert_eq!(again.state(i), batch.state(new[i] as usize)));
    Ok(new)
}

fn sets(bytes: usize) -> [Box<dyn Set>; 2] {
    [Box::new(Compact::new(bytes, 64, &budget()).unwrap()), Box::new(BitState::new(bytes, 64, &budget()).unwrap())]
}

#[test]
fn with_much_room_nothing_is_missed() {
    for bytes in [1, 2, 7, 8, 20, 300] {
        for set in &mut sets(bytes) {
            let (mut random, mut reference) = (Random(bytes as u64), HashSet::new());
            for _ in 0..100 {
                let batch = random_batch(&mut random, bytes, 200, 10_000);
                let expected: Vec<u32> =
                    (0..200).filter(|&i| reference.insert(batch.state(i as usize).to_vec())).collect();
                assert_eq!(insert(&mut **set, &batch), Ok(expected));
            }
            assert_eq!(set.len(), reference.len() as u64);
            match set.omission().unwrap() {
                Omission::Probability(p) => assert!(p < 1e-9),
                Omission::Coverage(share) => assert!(share > 0.999_999),
            }
        }
    }
}

#[test]
fn what_is_missed_is_as_much_as_is_said() {
    const STATES: usize = 3_000_000;
    let mut random = Random(5);
    let mut bits = BitState::new(8, 1, &budget()).unwrap();
    let mut hashes = Compact::new(8, 24, &budget()).unwrap();
    // Numbers below so many, each once.
    let mut batch = Batch::new(8);
    for first in (0..STATES).step_by(1000) {
        batch.clear();
        (first..first + 1000).for_each(|i| batch.push(&(i as u64 ^ 0x5bd1_e995 << 20).to_le_bytes(), 0));
        insert(&mut bits, &batch).unwrap();
        insert(&mut hashes, &batch).unwrap();
    }
    let share = bits.len() as f64 / STATES as f64;
    let Some(Omission::Coverage(expected)) = bits.omission() else { panic!("a coverage") };
    assert!(share < 0.95 && (share - expected).abs() < 0.01, "{share}, expected {expected}");
    // So many balls hit so many of 2^24 bins.
    let bins = 24f64.exp2();
    let hit = bins * (1.0 - (-(STATES as f64) / bins).exp());
    assert!((hashes.len() as f64 / hit - 1.0).abs() < 0.01, "{} of {hit}", hashes.len());
    assert_eq!(hashes.omission(), Some(Omission::Probability(1.0)));
    let known = random_batch(&mut random, 8, 1, 1);
    insert(&mut bits, &known).unwrap();
    assert!(insert(&mut bits, &known).unwrap().is_empty());
}

#[test]
fn a_file_brings_them_back() {
    for (set, other) in sets(9).iter_mut().zip(&mut sets(9)) {
        let batch = random_batch(&mut Random(1), 9, 5000, 1 << 20);
        insert(&mut **set, &batch).unwrap();
        let mut file = Vec::new();
        set.save(&mut file).unwrap();
        other.restore(&mut &file[..]).unwrap();
        assert_eq!((other.len(), other.omission()), (set.len(), set.omission()));
        assert_eq!(insert(&mut **other, &batch), Ok(vec![]));
    }
    let mut file = Vec::new();
    BitState::new(9, 1, &budget()).unwrap().save(&mut file).unwrap();
    assert!(BitState::new(9, 2, &budget()).unwrap().restore(&mut &file[..]).is_err());
}

#[test]
fn forty_bits_take_at_most_seven_bytes() {
    let mut set = Compact::new(8, 40, &Arc::new(Budget::apart(64 << 20))).unwrap();
    let mut batch = Batch::new(8);
    for first in (0..2_000_000u64).step_by(1000) {
        batch.clear();
        (first..first + 1000).for_each(|i| batch.push(&i.to_le_bytes(), 0));
        insert(&mut set, &batch).unwrap();
        let each = set.bytes() as f64 / set.len() as f64;
        assert!(first < 1_000_000 || each <= 7.0, "{each} bytes a state at {} states", set.len());
    }
}

#[test]
fn threads_agree_on_what_is_new() {
    for set in &mut sets(8) {
        let mut random = Random(9);
        let batches: Vec<Batch> = (0..200).map(|_| random_batch(&mut random, 8, 300, 20_000)).collect();
        let distinct: HashSet<&[u8]> = batches.iter().flat_map(|b| (0..b.len()).map(|i| b.state(i))).collect();
        set.make_room(100_000).unwrap();
        let mut shares: Vec<Box<dyn Set>> = (0..3).map(|_| set.share().unwrap()).collect();
        let new: usize = std::thread::scope(|scope| {
            let work = |set: &mut dyn Set| batches.iter().map(|batch| insert(set, batch).unwrap().len()).sum::<usize>();
            let handles: Vec<_> = shares.iter_mut().map(|set| scope.spawn(move || work(&mut **set))).collect();
            handles.into_iter().map(|h| h.join().unwrap()).sum()
        });
        assert_eq!((new, set.len()), (distinct.len(), distinct.len() as u64));
    }
}

#[test]
fn the_budget_is_kept() {
    let tight = Arc::new(Budget::apart(8 << 20));
    assert!(BitState::new(8, 64, &tight).is_err());
    let mut set = Compact::new(8, 64, &tight).unwrap();
    let mut random = Random(3);
    while insert(&mut set, &random_batch(&mut random, 8, 1000, usize::MAX)).is_ok() {
        assert!(set.bytes() <= 8 << 20);
    }
}

/// The bits say how many are set, whatever the file does.
#[test]
fn forged_counts_of_bits_are_refused() {
    let mut set = BitState::new(9, 1, &budget()).unwrap();
    insert(&mut set, &random_batch(&mut Random(2), 9, 100, 1 << 20)).unwrap();
    let mut file = Vec::new();
    set.save(&mut file).unwrap();
    // The number of states, that of bits, what was missed, and the bits themselves.
    for (at, value) in [(15, 1), (16, 1), (17, 9), (31, 0xff), (40, 0xff)] {
        let mut forged = file.clone();
        forged[at] ^= value;
        assert!(BitState::new(9, 1, &budget()).unwrap().restore(&mut &forged[..]).is_err(), "byte {at}");
    }
}
