//! The tree against a set, with and without origins; its memory; several threads on one tree.

use super::*;
use crate::store::{NO_ORIGIN, Store};
use scrimp_system::Random;
use std::collections::{HashMap, HashSet};

fn tree(state_bytes: usize, memory: usize) -> Tree {
    Tree::new(state_bytes, &Arc::new(Budget::apart(memory))).unwrap()
}

/// A walk: from each open state a few successors that differ from it in few bytes.
struct Walk {
    random: Random,
    values: u64,
    seen: HashSet<Vec<u8>>,
}

impl Walk {
    fn step(&mut self, sources: &Batch, batch: &mut Batch, origins: &mut Vec<u32>) {
        for source in 0..sources.len() {
            for _ in 0..=self.random.next() % 5 {
                let mut state = sources.state(source).to_vec();
                for _ in 0..=self.random.next() % 2 {
                    let at = self.random.next() as usize % state.len();
                    state[at] = (self.random.next() % self.values) as u8;
                }
                batch.push(&state, 0);
                // Origins help, and nothing depends on them.
                origins.push(if self.random.next().is_multiple_of(9) { NO_ORIGIN } else { source as u32 });
            }
        }
    }

    /// Inserts a batch and compares the answer.
    fn insert(&mut self, tree: &mut Tree, batch: &Batch, origins: &[u32], keys: &mut Vec<u8>) {
        let (mut new, before) = (Vec::new(), keys.len());
        tree.insert(batch, origins, &mut new, keys).unwrap();
        let expected = (0..batch.len()).filter(|&i| self.seen.insert(batch.state(i).to_vec())).map(|i| i as u32);
        assert_eq!(new, expected.collect::<Vec<u32>>());
        // Keys stand for their states.
        let mut states = Batch::new(batch.state_bytes());
        tree.load(&keys[before..], &mut states);
        assert_eq!(states.len(), new.len());
        new.iter().enumerate().for_each(|(at, &i)| assert_eq!(states.state(at), batch.state(i as usize)));
    }

    fn run(&mut self, tree: &mut Tree, bytes: usize, states: usize) {
        let (mut batch, mut sources) = (Batch::new(bytes), Batch::new(bytes));
        let (mut keys, mut origins, mut first) = (Vec::new(), vec![NO_ORIGIN], 0);
        batch.push(&vec![0; bytes], 0);
        self.insert(tree, &batch, &origins, &mut keys);
        while first < keys.len() && self.seen.len() < states {
            let last = keys.len().min(first + 200 * tree.key_bytes());
            sources.clear();
            batch.clear();
            origins.clear();
            tree.load(&keys[first..last], &mut sources);
            self.step(&sources, &mut batch, &mut origins);
            self.insert(tree, &batch, &origins, &mut keys);
            first = last;
        }
    }
}

fn all(tree: &Tree) -> HashSet<Vec<u8>> {
    let mut states = HashSet::new();
    assert!(tree.each(&mut |state| states.insert(state.to_vec())));
    assert_eq!(states.len() as u64, tree.len());
    states
}

#[test]
fn agrees_with_a_set() {
    for bytes in [1, 2, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 33, 64, 100, 300] {
        let values = if bytes < 3 { 256 } else { 5 };
        let mut tree = tree(bytes, 1 << 30);
        let mut walk = Walk { random: Random(bytes as u64), values, seen: HashSet::new() };
        walk.run(&mut tree, bytes, 20_000);
        assert!(walk.seen.len() > 200, "{bytes} bytes");
        assert_eq!(all(&tree), walk.seen, "{bytes} bytes");
    }
}

#[test]
fn what_is_saved_comes_back_with_the_same_keys() {
    for bytes in [3, 8, 9, 40] {
        let mut first = tree(bytes, 1 << 30);
        let mut walk = Walk { random: Random(3), values: 7, seen: HashSet::new() };
        walk.run(&mut first, bytes, 30_000);
        let (mut saved, mut keys, mut new) = (Vec::new(), Vec::new(), Vec::new());
        first.save(&mut saved).unwrap();
        let mut second = tree(bytes, 1 << 30);
        second.restore(&mut saved.as_slice()).unwrap();
        assert_eq!(all(&second), walk.seen);
        let mut batch = Batch::new(bytes);
        walk.seen.iter().for_each(|state| batch.push(state, 0));
        second.insert(&batch, &vec![NO_ORIGIN; batch.len()], &mut new, &mut keys).unwrap();
        assert!(new.is_empty());
        assert!(tree(bytes, 1 << 30).restore(&mut &saved[..saved.len() - 1]).is_err());
    }
}

#[test]
fn what_is_drained_is_all_and_keys_still_stand_for_it() {
    for bytes in [3, 8, 9, 40] {
        let mut tree = tree(bytes, 1 << 30);
        let mut walk = Walk { random: Random(4), values: 6, seen: HashSet::new() };
        walk.run(&mut tree, bytes, 30_000);
        let (mut batch, mut new, mut keys) = (Batch::new(bytes), Vec::new(), Vec::new());
        batch.push(&vec![9; bytes], 0);
        tree.insert(&batch, &[NO_ORIGIN], &mut new, &mut keys).unwrap();
        walk.seen.insert(vec![9; bytes]);
        let mut states = HashSet::new();
        assert_eq!(tree.drain(true, &mut |state| states.insert(state.to_vec())), Some(true));
        assert!(states == walk.seen && tree.is_empty(), "{bytes} bytes");
        let mut loaded = Batch::new(bytes);
        tree.load(&keys, &mut loaded);
        assert_eq!(loaded.state(0), batch.state(0));
    }
}

#[test]
fn full_is_an_answer() {
    let mut tree = tree(64, 8 << 20);
    let (mut batch, mut new, mut keys) = (Batch::new(64), Vec::new(), Vec::new());
    let mut random = Random(1);
    loop {
        batch.clear();
        keys.clear();
        new.clear();
        for _ in 0..100 {
            let state: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
            batch.push(&state, 0);
        }
        let before = tree.len();
        if tree.insert(&batch, &[NO_ORIGIN; 100], &mut new, &mut keys).is_err() {
            assert!(new.is_empty() && keys.is_empty() && tree.len() == before);
            assert!(tree.make_room(100).is_err());
            assert_eq!(all(&tree).len() as u64, before);
            return;
        }
        assert!(tree.bytes() < 9 << 20, "the budget was not kept");
    }
}

#[test]
fn threads_agree_on_what_is_new() {
    const STATES: usize = 60_000;
    for bytes in [6, 22] {
        let first = tree(bytes, 1 << 30);
        let state = |i: usize| {
            let mut state = vec![0; bytes];
            (0..5).for_each(|digit| state[digit * (bytes - 1) / 5] = (i / 10usize.pow(digit as u32) % 10) as u8);
            state
        };
        let gate = std::sync::RwLock::new(());
        let work = |me: usize, mut tree: Box<dyn Set>| {
            let (mut batch, mut new, mut keys, mut count) = (Batch::new(bytes), Vec::new(), Vec::new(), 0);
            for start in (0..STATES).step_by(50) {
                batch.clear();
                new.clear();
                (0..50).for_each(|i| batch.push(&state((start + i + me * 25) % STATES), 0));
                loop {
                    let inside = gate.read().unwrap();
                    if tree.insert(&batch, &[NO_ORIGIN; 50], &mut new, &mut keys).is_ok() {
                        break;
                    }
                    drop(inside);
                    let _everyone_waits = gate.write().unwrap();
                    tree.make_room(4 * 50).unwrap();
                }
                count += new.len();
            }
            count
        };
        let work = &work;
        let handles: Vec<Box<dyn Set>> = (0..4).map(|_| first.share().unwrap()).collect();
        let count: usize = std::thread::scope(|scope| {
            let threads: Vec<_> =
                handles.into_iter().enumerate().map(|(me, tree)| scope.spawn(move || work(me, tree))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        let expected: HashSet<Vec<u8>> = (0..STATES).map(state).collect();
        assert_eq!(count, expected.len());
        assert_eq!(all(&first), expected);
    }
}

/// With ids: against a map, while states come and go and nodes are swept away, and against a budget.
#[test]
fn an_indexed_tree_agrees_with_a_map_while_states_go() {
    struct Bytes(usize);
    impl Model for Bytes {
        fn state_bytes(&self) -> usize {
            self.0
        }
        fn initial(&self, _: &mut Batch) {}
        fn expand(&self, _: &[u8], _: &mut Batch) {}
    }
    for bytes in [1, 5, 8, 9, 16, 17, 40, 133] {
        let mut store =
            IndexedTree::of_model(&Bytes(bytes), &Arc::new(Budget::new(4 << 30))).unwrap().removable().unwrap();
        let mut map: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut random = Random(bytes as u64);
        let (mut batch, mut found, mut loaded) = (Batch::new(bytes), Vec::new(), vec![0; bytes]);
        for round in 0..400u32 {
            batch.clear();
            found.clear();
            for _ in 0..100 {
                let state = batch.push_with(0);
                state.fill(round as u8 / 16);
                (0..3).for_each(|_| state[random.below(bytes)] = random.below(30) as u8);
            }
            // Only a part of the batch is offered.
            store.offer(&batch, 7..95, &mut found).unwrap();
            for (i, found) in (7..).zip(&found) {
                assert_eq!(map.contains_key(batch.state(i)), !found.new);
                assert_eq!(*map.entry(batch.state(i).to_vec()).or_insert(found.id), found.id);
                store.load(found.id, &mut loaded);
                assert_eq!(loaded, batch.state(i));
            }
            for i in (0..100).filter(|i| !(7..95).contains(i)) {
                assert_eq!(store.find(&batch, i), map.get(batch.state(i)).copied());
            }
            if map.len() > 300 {
                let gone: Vec<Vec<u8>> = map.keys().take(250).cloned().collect();
                gone.iter().for_each(|state| store.remove(map.remove(state).unwrap()));
            }
            assert_eq!(store.len(), map.len());
        }
        for (state, id) in &map {
            store.load(*id, &mut loaded);
            assert_eq!(loaded, *state);
            batch.clear();
            batch.push(state, 0);
            assert_eq!(store.find(&batch, 0), Some(*id));
        }
    }
}

/// Nodes of states that are gone are swept away: however many have come and gone, a thousand states take little.
#[test]
fn nodes_that_nobody_leads_to_are_swept_away() {
    struct Wide;
    impl Model for Wide {
        fn state_bytes(&self) -> usize {
            64
        }
        fn initial(&self, _: &mut Batch) {}
        fn expand(&self, _: &[u8], _: &mut Batch) {}
    }
    let mut store = IndexedTree::of_model(&Wide, &Arc::new(Budget::new(4 << 30))).unwrap().removable().unwrap();
    let (mut random, mut batch, mut found) = (Random(1), Batch::new(64), Vec::new());
    let mut stored = std::collections::VecDeque::new();
    for _ in 0..300_000 {
        batch.clear();
        found.clear();
        batch.push_with(0).iter_mut().for_each(|byte| *byte = random.below(256) as u8);
        store.offer(&batch, 0..1, &mut found).unwrap();
        stored.push_back(found[0].id);
        if stored.len() > 1000 {
            store.remove(stored.pop_front().unwrap());
        }
    }
    assert!(store.bytes() < 4 << 20, "{} bytes", store.bytes());
}

/// Numbers of nodes that there are not, in nodes and in keys, are refused before anybody follows them.
#[test]
fn forged_files_are_refused() {
    // Halves that are leaves, pairs of leaves, and pairs of pairs; and states that are their own keys.
    for bytes in [20, 40, 100, 7] {
        let mut first = tree(bytes, 1 << 30);
        let mut walk = Walk { random: Random(5), values: 3, seen: HashSet::new() };
        walk.run(&mut first, bytes, 60);
        let mut saved = Vec::new();
        first.save(&mut saved).unwrap();
        let mut refused = 0;
        for at in (0..saved.len() - 4).step_by(4) {
            for value in [0u32, 1, 30, 300, 1 << 20, u32::MAX] {
                let mut forged = saved.clone();
                forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let mut other = tree(bytes, 1 << 30);
                if other.restore(&mut &forged[..]).is_err() {
                    refused += 1;
                    continue;
                }
                let mut batch = Batch::new(bytes);
                other.each(&mut |state| {
                    batch.push(state, 0);
                    true
                });
                let (mut new, mut keys) = (Vec::new(), Vec::new());
                other.insert(&batch, &vec![NO_ORIGIN; batch.len()], &mut new, &mut keys).unwrap();
            }
        }
        assert!(refused > 50, "{bytes} bytes: {refused} refused");
    }
}

#[test]
fn only_keys_of_its_states_are_keys() {
    for bytes in [7, 20, 40] {
        let mut tree = tree(bytes, 1 << 30);
        let (mut batch, mut new, mut keys) = (Batch::new(bytes), Vec::new(), Vec::new());
        batch.push(&vec![1; bytes], 0);
        tree.insert(&batch, &[NO_ORIGIN], &mut new, &mut keys).unwrap();
        assert!(tree.is_key(&keys) && !tree.is_key(&keys[1..]));
        for at in 0..keys.len() {
            let mut other = keys.clone();
            other[at] ^= 0x81;
            assert!(!tree.is_key(&other));
        }
    }
}
