//! Automata against sets of words, over random insertions and deletions.

use super::*;
use crate::store::Set;
use scrimp_system::{Batch, Random};
use std::collections::BTreeSet;

fn plenty() -> Arc<Budget> {
    Arc::new(Budget::new(usize::MAX / 4))
}

fn scarce(bytes: usize) -> Arc<Budget> {
    Arc::new(Budget::apart(bytes))
}

/// A word over so many values, spread over the bytes.
fn word(random: &mut Random, length: usize, values: usize) -> Vec<u8> {
    let step = 256 / values;
    (0..length).map(|_| (random.below(values) * step) as u8).collect()
}

/// A word that differs from others in a few bytes only.
fn near(random: &mut Random, length: usize, values: usize) -> Vec<u8> {
    let mut word = vec![0; length];
    for _ in 0..random.below(4) {
        word[random.below(length)] = random.below(values) as u8;
    }
    word
}

#[test]
fn the_example_of_the_paper() {
    let mut automaton = Automaton::new(3, &plenty()).unwrap();
    let mut words = BTreeSet::new();
    for word in [[0, 0, 0], [0, 0, 1], [1, 0, 1]] {
        assert_eq!(automaton.insert(&word), Ok(true));
        words.insert(word.to_vec());
        automaton.prove(&words);
    }
    // Figure 1 without the rejecting end: the start, two nodes in each of the two layers after it.
    assert_eq!((automaton.nodes(), automaton.edges()), (5, 6));
    assert_eq!(automaton.insert(&[1, 0, 0]), Ok(true));
    words.insert(vec![1, 0, 0]);
    automaton.prove(&words);
    // Figure 2: one node in each layer, with one range each.
    assert_eq!((automaton.nodes(), automaton.edges()), (3, 3));
    assert_eq!((automaton.insert(&[1, 0, 0]), automaton.remove(&[1, 1, 0])), (Ok(false), Ok(false)));
    assert_eq!(automaton.remove(&[1, 0, 0]), Ok(true));
    words.remove(&vec![1, 0, 0]);
    automaton.prove(&words);
    assert_eq!((automaton.nodes(), automaton.edges()), (5, 6));
}

#[test]
fn random_insertions_and_deletions_keep_it_minimal() {
    let mut random = Random(1);
    let mut operations = 0;
    for (length, values) in [(1, 256), (1, 3), (2, 16), (3, 256), (4, 4), (6, 2), (8, 3), (16, 2), (24, 8), (300, 5)] {
        let mut automaton = Automaton::new(length, &plenty()).unwrap();
        let mut words = BTreeSet::new();
        let rounds = if length > 100 { 600 } else { 12_000 };
        for round in 0..rounds {
            let word = match random.below(8) {
                0..4 => near(&mut random, length, values),
                4 if !words.is_empty() => {
                    // One that is there.
                    let start = word(&mut random, length, values);
                    words.range(start..).next().or(words.first()).cloned().unwrap()
                }
                _ => word(&mut random, length, values),
            };
            assert_eq!(automaton.contains(&word), words.contains(&word));
            // There are times when it grows and times when it shrinks.
            if random.below(10) < if round / 1000 % 2 == 0 { 7 } else { 3 } {
                assert_eq!(automaton.insert(&word), Ok(words.insert(word)));
            } else {
                assert_eq!(automaton.remove(&word), Ok(words.remove(&word)));
            }
            operations += 1;
            if round < 100 || round % 1201 == 0 {
                automaton.prove(&words);
            }
        }
        automaton.prove(&words);
        for word in std::mem::take(&mut words) {
            assert_eq!(automaton.remove(&word), Ok(true));
        }
        automaton.prove(&words);
        assert_eq!((automaton.nodes(), automaton.edges(), automaton.is_empty()), (0, 0, true));
    }
    assert!(operations > 100_000, "{operations}");
}

#[test]
fn sorted_words_at_once_give_the_same_automaton() {
    let mut random = Random(2);
    for (length, values) in [(1, 256), (2, 7), (5, 3), (12, 4), (40, 2)] {
        let mut automaton = Automaton::new(length, &plenty()).unwrap();
        let mut words = BTreeSet::new();
        for count in [1, 2, 50, 1000, 5000] {
            let mut fresh = BTreeSet::new();
            for _ in 0..count {
                fresh.insert(near(&mut random, length, values));
                fresh.insert(word(&mut random, length, values));
            }
            let fresh: Vec<Vec<u8>> = fresh.difference(&words).cloned().collect();
            assert_eq!(automaton.insert_sorted(fresh.len(), |i| &fresh[i]), fresh.len());
            words.extend(fresh);
            automaton.prove(&words);
        }
        let mut single = Automaton::new(length, &plenty()).unwrap();
        words.iter().rev().for_each(|word| assert_eq!(single.insert(word), Ok(true)));
        assert_eq!((single.nodes(), single.edges()), (automaton.nodes(), automaton.edges()));
    }
}

#[test]
fn several_words_are_asked_for_at_once() {
    let mut random = Random(3);
    let mut automaton = Automaton::new(6, &plenty()).unwrap();
    for _ in 0..3000 {
        automaton.insert(&word(&mut random, 6, 4)).unwrap();
    }
    assert_eq!(automaton.contains_each(&[0; 6 * walk::LANES])[0], automaton.contains(&[0; 6]));
    for _ in 0..500 {
        let words: Vec<u8> = (0..walk::LANES).flat_map(|_| word(&mut random, 6, 4)).collect();
        let expected: Vec<bool> = words.chunks(6).map(|word| automaton.contains(word)).collect();
        assert_eq!(automaton.contains_each(&words).to_vec(), expected);
    }
}

#[test]
fn tags_move_and_the_stack_is_dropped() {
    const ON: u8 = 0;
    const OFF: u8 = 3;
    let mut random = Random(4);
    let order = [2, 0, 1, 4, 3];
    let mut tagged = Tagged::new(5, &order, &plenty()).unwrap();
    let mut words: BTreeSet<Vec<u8>> = BTreeSet::new();
    let word_of = |state: &[u8], tag: u8| {
        let mut word: Vec<u8> = order.iter().map(|&byte| state[byte as usize]).collect();
        word.push(tag);
        word
    };
    for round in 0..20_000 {
        let state = word(&mut random, 5, 3);
        let (on, off) = (word_of(&state, ON), word_of(&state, OFF));
        assert_eq!(tagged.contains(&state), words.contains(&on) || words.contains(&off));
        match random.below(6) {
            0 | 1 => assert_eq!(tagged.insert_tagged(&state, ON), Ok(words.insert(on))),
            // As the paper has it: both copies stay.
            2 => assert_eq!(tagged.insert_tagged(&state, OFF), Ok(words.insert(off))),
            3 => {
                let was = words.remove(&on);
                if was {
                    words.insert(off);
                }
                assert_eq!(tagged.retag(&state, ON, OFF), Ok(was));
            }
            4 => assert_eq!(tagged.remove_tagged(&state, OFF), Ok(words.remove(&off))),
            _ => assert_eq!(tagged.contains_tagged(&state, ON), words.contains(&on)),
        }
        if round % 1500 == 0 {
            tagged.automaton().prove(&words);
            let open = |w: &Vec<u8>| {
                let mut off = w.clone();
                off[5] = OFF;
                w[5] == ON && !words.contains(&off)
            };
            let left: BTreeSet<Vec<u8>> = words.iter().filter(|w| !open(w)).cloned().collect();
            let dropped = (words.len() - left.len()) as u64;
            assert_eq!(tagged.drop_stack(ON, OFF), Ok(dropped));
            words = left;
            tagged.automaton().prove(&words);
        }
    }
}

/// A batch of states over so many values.
fn batch(random: &mut Random, count: usize, bytes: usize, values: usize) -> Batch {
    let mut batch = Batch::new(bytes);
    for _ in 0..count {
        batch.push(&word(random, bytes, values), 0);
    }
    batch
}

fn shown(set: &AutomatonSet) -> BTreeSet<Vec<u8>> {
    let mut states = BTreeSet::new();
    assert!(set.each(&mut |state| states.insert(state.to_vec())), "a state shown twice");
    states
}

#[test]
fn the_set_knows_what_is_new() {
    let mut random = Random(5);
    for (bytes, values) in [(1, 200), (2, 50), (9, 3), (24, 2), (300, 2)] {
        let mut order: Vec<u32> = (0..bytes as u32).collect();
        (1..bytes).for_each(|i| order.swap(i, random.below(i + 1)));
        let mut set = AutomatonSet::new(bytes, &order, &plenty()).unwrap();
        let mut states: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut sources = Batch::new(bytes);
        for round in 0..60 {
            let count = [0, 1, 7, 8, 9, 300, 1000][random.below(7)];
            let batch = batch(&mut random, count, bytes, values);
            let (mut new, mut keys) = (vec![77], vec![]);
            set.insert(&batch, &vec![0; count], &mut new, &mut keys).unwrap();
            let expected: Vec<u32> =
                (0..count as u32).filter(|&i| states.insert(batch.state(i as usize).to_vec())).collect();
            assert_eq!((new[0], &new[1..]), (77, &expected[..]));
            sources.clear();
            set.load(&keys, &mut sources);
            assert_eq!(sources.len(), expected.len());
            expected.iter().enumerate().for_each(|(n, &i)| assert_eq!(sources.state(n), batch.state(i as usize)));
            if round % 7 == 3 {
                let gone: Vec<Vec<u8>> = states.iter().step_by(5).cloned().collect();
                for state in gone {
                    assert_eq!(set.remove(&state), Ok(states.remove(&state)));
                    assert_eq!((set.remove(&state), set.contains(&state)), (Ok(false), false));
                }
            }
            assert_eq!(set.len(), states.len() as u64);
            assert!(states.iter().all(|state| set.contains(state)));
        }
        assert_eq!(shown(&set), states);
        let words = states.iter().map(|s| order.iter().map(|&b| s[b as usize]).collect()).collect();
        set.merged(|automaton| automaton.prove(&words)).unwrap();
    }
}

#[test]
fn a_saved_set_is_the_same_again() {
    let mut random = Random(6);
    let order = [3, 1, 0, 2, 4, 5];
    let mut set = AutomatonSet::new(6, &order, &plenty()).unwrap();
    let mut states = BTreeSet::new();
    for round in 0..30 {
        let batch = batch(&mut random, 400, 6, 4);
        set.insert(&batch, &[0; 400], &mut vec![], &mut vec![]).unwrap();
        states.extend((0..400).map(|i| batch.state(i).to_vec()));
        if round % 10 == 9 {
            let mut file = Vec::new();
            set.save(&mut file).unwrap();
            let mut again = AutomatonSet::new(6, &order, &plenty()).unwrap();
            again.restore(&mut file.as_slice()).unwrap();
            assert_eq!((again.len(), shown(&again)), (set.len(), states.clone()));
            // Cut short, or of another length, it is refused.
            let mut short = AutomatonSet::new(6, &order, &plenty()).unwrap();
            assert!(short.restore(&mut &file[..file.len() - 1]).is_err());
            let mut other = AutomatonSet::new(2, &[0, 1], &plenty()).unwrap();
            assert!(other.restore(&mut file.as_slice()).is_err());
            set = again;
        }
    }
    let words = states.iter().map(|s| order.iter().map(|&b| s[b as usize]).collect()).collect();
    set.merged(|automaton| automaton.prove(&words)).unwrap();
}

#[test]
fn a_full_set_takes_nothing_and_stays_whole() {
    let mut random = Random(7);
    let budget = scarce(6 << 20);
    let order: Vec<u32> = (0..24).collect();
    let mut set = AutomatonSet::new(24, &order, &budget).unwrap();
    let mut states: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut failures = 0;
    while failures < 3 {
        // Random words share little: each needs nodes of its own.
        let batch = batch(&mut random, 200, 24, 256);
        let (mut new, mut keys) = (vec![], vec![]);
        match set.insert(&batch, &[0; 200], &mut new, &mut keys) {
            Ok(()) => states.extend((0..200).map(|i| batch.state(i).to_vec())),
            Err(Full) => {
                assert!(new.is_empty() && keys.is_empty());
                failures += 1;
                assert_eq!(set.make_room(1 << 20), Err(Full));
            }
        }
        assert_eq!(set.len(), states.len() as u64);
        assert!(set.bytes() <= 6 << 20, "{} bytes", set.bytes());
        assert!(states.len() < 1 << 20);
    }
    assert!(states.len() > 1000, "{} states", states.len());
    assert_eq!(shown(&set), states);
    // Room to take states away was kept. Where that makes more nodes, it may be used up for a while.
    let mut kept = 0;
    for state in &states {
        kept += set.remove(state).map_or(1, |was| !was as u64);
    }
    assert_eq!(set.len(), kept);
    assert!(kept < states.len() as u64 / 2, "{kept} states stay");
}

/// Whatever a file says that has the right length: it is refused, or what it makes is an automaton and can be changed.
#[test]
fn forged_files_are_refused() {
    let mut random = Random(8);
    let mut automaton = Automaton::new(3, &plenty()).unwrap();
    for _ in 0..60 {
        automaton.insert(&word(&mut random, 3, 5)).unwrap();
    }
    for _ in 0..40 {
        automaton.remove(&word(&mut random, 3, 5)).unwrap();
    }
    assert!(automaton.nodes.free_words > 0 && automaton.nodes() > 10);
    let mut saved = Vec::new();
    automaton.save(&mut saved).unwrap();
    let (mut refused, mut taken) = (0, 0);
    for at in (0..saved.len() - 4).step_by(2) {
        let before = u32::from_le_bytes(saved[at..at + 4].try_into().unwrap());
        for value in [0, 4, 8, before.wrapping_add(1), before.wrapping_add(4), before ^ 0x100, 1 << 20, u32::MAX] {
            let mut forged = saved.clone();
            forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let mut other = Automaton::new(3, &plenty()).unwrap();
            if other.restore(&mut &forged[..]).is_err() {
                assert!(other.is_empty() && !other.contains(&[0; 3]));
                refused += 1;
                continue;
            }
            let mut words = BTreeSet::new();
            other.each(&mut |word| words.insert(word.to_vec()));
            other.len = words.len() as u64;
            other.prove(&words);
            for _ in 0..20 {
                let word = word(&mut random, 3, 5);
                assert_eq!(other.insert(&word), Ok(words.insert(word)));
            }
            other.prove(&words);
            taken += 1;
        }
    }
    assert!(refused > 1000 && taken > 100, "{refused} refused, {taken} taken");
}

/// A word that waits and is in the automaton already would be added twice.
#[test]
fn a_word_that_waits_twice_is_refused() {
    let mut set = AutomatonSet::new(2, &[0, 1], &plenty()).unwrap();
    let mut batch = Batch::new(2);
    batch.push(&[3, 4], 0);
    set.insert(&batch, &[0], &mut vec![], &mut vec![]).unwrap();
    set.merged(|_| ()).unwrap();
    batch.clear();
    batch.push(&[3, 5], 0);
    set.insert(&batch, &[0], &mut vec![], &mut vec![]).unwrap();
    let mut saved = Vec::new();
    set.save(&mut saved).unwrap();
    let again = |bytes: &[u8]| AutomatonSet::new(2, &[0, 1], &plenty()).unwrap().restore(&mut &bytes[..]);
    assert!(again(&saved).is_ok());
    *saved.last_mut().unwrap() = 4;
    assert!(again(&saved).is_err());
}
