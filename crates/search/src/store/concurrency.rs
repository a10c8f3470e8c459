//! Two or three threads that fill a store together, under very many schedules; see [`concurrency`](crate::concurrency).

use super::quotient::Cells;
use super::table::{Concurrent, Table, batch_need};
use super::{AutomatonSet, NO_ORIGIN, Set, Store, Tree};
use crate::concurrency::{explore, explore_all};
use scrimp_core::Budget;
use scrimp_system::Batch;
use shuttle::sync::{Mutex, RwLock};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

/// States in the order in which a thread offers them: all of them, each from another place on, some twice.
fn states(me: usize) -> Vec<Vec<u8>> {
    (0..6u8).map(|i| vec![(i + 2 * me as u8) % 5, 7, 0, 1]).collect()
}

/// Threads offer these states, one after the other; then each has one number, and was new once.
fn fill_table(parts: &[Vec<u8>]) {
    let first = Table::new(4, budget()).unwrap();
    let shared = first.shared().clone();
    // SAFETY: nobody else has the table yet.
    unsafe { shared.make_room(32, None).unwrap() };
    let start = |(mut table, part): (Table, &Vec<u8>)| {
        let part = part.clone();
        shuttle::thread::spawn(move || {
            let (mut batch, mut found, mut numbers) = (Batch::new(4), Vec::new(), Vec::new());
            for number in part {
                let state = vec![number, 7, 0, 1];
                batch.clear();
                batch.push(&state, 0);
                table.offer(&batch, 0..1, &mut found).unwrap();
                numbers.push((state, found[numbers.len()]));
            }
            (numbers, table.gap())
        })
    };
    let threads: Vec<_> = first.share(parts.len()).into_iter().zip(parts).map(start).collect();
    let (found, gaps): (Vec<_>, Vec<Range<u32>>) = threads.into_iter().map(|thread| thread.join().unwrap()).unzip();
    let found = found.concat();
    let states: HashSet<&Vec<u8>> = found.iter().map(|(state, _)| state).collect();
    let numbered: HashSet<(&Vec<u8>, u32)> = found.iter().map(|(state, found)| (state, found.id)).collect();
    assert_eq!(found.iter().filter(|(_, found)| found.new).count(), states.len(), "each is new once");
    assert_eq!(numbered.len(), states.len(), "one number for each state");
    assert!(numbered.iter().all(|(state, id)| shared.state(*id) == *state));
    // SAFETY: the threads are gone, and these are the gaps they left.
    unsafe { shared.close_gaps(&gaps) };
    assert_eq!(shared.len(), states.len());
}

/// Threads that find no room make some while all others wait. No two of them count on the same room.
#[test]
fn a_table_grows_between_offers() {
    explore(|| {
        let common = Arc::new((RwLock::new(()), Mutex::new(vec![0..0; 3])));
        let start = |(me, mut table): (usize, Table)| {
            let common = common.clone();
            shuttle::thread::spawn(move || {
                let (gate, gaps) = &*common;
                let (mut batch, mut found) = (Batch::new(4), Vec::new());
                for part in (0..6).collect::<Vec<u8>>().chunks(3) {
                    batch.clear();
                    part.iter().for_each(|&i| batch.push(&[i, me as u8 % 2, 0, 1], 0));
                    loop {
                        let inside = gate.read().unwrap();
                        let offered = table.offer(&batch, 0..batch.len(), &mut found);
                        assert!(table.numbers() <= table.room());
                        gaps.lock().unwrap()[me] = table.gap();
                        drop(inside);
                        if offered.is_ok() {
                            break;
                        }
                        let _everyone_waits = gate.write().unwrap();
                        let shared = table.shared();
                        // SAFETY: all others wait at the gate.
                        if unsafe { shared.prepare_room(2 * batch_need(batch.len()), 0).unwrap() } {
                            shared.fill_index::<true>(0..shared.len() as u32, &gaps.lock().unwrap());
                        }
                    }
                }
                found
            })
        };
        let tables = Table::new(4, budget()).unwrap().share(3);
        let threads: Vec<_> = tables.into_iter().enumerate().map(start).collect();
        let found: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let numbers: HashSet<u32> = found.iter().map(|found| found.id).collect();
        assert_eq!((numbers.len(), found.iter().filter(|found| found.new).count()), (12, 12));
    });
}

#[test]
fn a_state_is_new_once_in_the_table() {
    explore(|| fill_table(&[0, 2, 4].map(|first| (first..first + 6).map(|i| i % 5).collect())));
}

#[test]
fn a_key_is_new_once_in_the_cells() {
    explore(|| {
        let mut cells = Cells::new(40, &budget()).unwrap();
        cells.make_room(64, cells.bits(), 1.0).unwrap();
        let cells = Arc::new(cells);
        let threads: Vec<_> = (0..3u64)
            .map(|me| {
                let cells = cells.clone();
                shuttle::thread::spawn(move || {
                    let (mut new, mut lease) = (0, cells.lease());
                    for i in 0..3 {
                        let keys = [(i + me) % 4, (i + 2 * me) % 4 + 1];
                        cells.secure(&mut lease, 2).unwrap();
                        cells.insert::<false>(&mut lease, 2, |i| keys[i] as u128, |_| new += 1);
                    }
                    new
                })
            })
            .collect();
        let new: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        let mut seen = HashSet::new();
        assert!(cells.each(|key| seen.insert(key)), "a key is there twice");
        assert_eq!((new, cells.len()), (seen.len(), seen.len()));
    });
}

#[test]
fn no_two_threads_count_on_the_same_room_in_the_cells() {
    explore(|| {
        let cells = Arc::new(Cells::new(40, &budget()).unwrap());
        let start = |me: u64| {
            let cells = cells.clone();
            shuttle::thread::spawn(move || {
                let mut lease = cells.lease();
                for part in 0..40 {
                    let key = |i: usize| (64 * part + 16 * me + i as u64) as u128;
                    if cells.secure(&mut lease, 16).is_ok() {
                        cells.insert::<false>(&mut lease, 16, key, |_| ());
                    }
                    assert!(cells.len() <= cells.room());
                }
            })
        };
        let threads: Vec<_> = (0..3).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(cells.len() < 3 * 40 * 16, "not all of them found room");
    });
}

/// Threads insert these states, some of each at a time, and make room while all others wait; then every state is there once,
/// and its key stands for it. The states of each thread are distinct.
fn fill_tree(bytes: usize, at_once: usize, parts: &[Vec<Vec<u8>>]) {
    fill_set(&mut Tree::new(bytes, &budget()).unwrap(), bytes, at_once, parts);
}

/// The same with an automaton.
fn fill_automaton(bytes: usize, at_once: usize, parts: &[Vec<Vec<u8>>]) {
    let order: Vec<u32> = (0..bytes as u32).rev().collect();
    fill_set(&mut AutomatonSet::new(bytes, &order, &budget()).unwrap(), bytes, at_once, parts);
}

fn fill_set(set: &mut dyn Set, bytes: usize, at_once: usize, parts: &[Vec<Vec<u8>>]) {
    let gate = Arc::new(RwLock::new(()));
    let start = |states: &Vec<Vec<u8>>| {
        let (mut set, gate, states) = (set.share().unwrap(), gate.clone(), states.clone());
        shuttle::thread::spawn(move || {
            let (mut batch, mut found) = (Batch::new(bytes), Vec::new());
            for part in states.chunks(at_once) {
                batch.clear();
                part.iter().for_each(|state| batch.push(state, 0));
                let (mut new, mut keys) = (Vec::new(), Vec::new());
                loop {
                    let inside = gate.read().unwrap();
                    if set.insert(&batch, &vec![NO_ORIGIN; part.len()], &mut new, &mut keys).is_ok() {
                        break;
                    }
                    drop(inside);
                    let _everyone_waits = gate.write().unwrap();
                    set.make_room(part.len()).unwrap();
                }
                let keys = keys.chunks_exact(set.key_bytes()).map(<[u8]>::to_vec);
                found.extend(new.iter().map(|&i| part[i as usize].clone()).zip(keys));
            }
            found
        })
    };
    let threads: Vec<_> = parts.iter().map(start).collect();
    let found: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let expected: BTreeSet<&Vec<u8>> = parts.iter().flatten().collect();
    let new: Vec<&Vec<u8>> = found.iter().map(|(state, _)| state).collect();
    assert_eq!((new.len(), set.len()), (expected.len(), expected.len() as u64), "each is new once");
    assert!(new.into_iter().collect::<BTreeSet<_>>() == expected);
    let mut shown = Vec::new();
    assert!(set.each(&mut |state| {
        shown.push(state.to_vec());
        true
    }));
    shown.sort_unstable();
    assert!(shown.iter().eq(expected), "each is there once");
    for (state, key) in &found {
        let mut batch = Batch::new(bytes);
        set.load(key, &mut batch);
        assert_eq!(batch.state(0), state, "the key of a state stands for it");
    }
}

/// A state that consists of parts of eight bytes, each of one number.
fn made_of(parts: &[u8]) -> Vec<u8> {
    parts.iter().flat_map(|&part| [part; 8]).collect()
}

#[test]
fn a_state_is_new_once_in_the_tree() {
    explore(|| fill_tree(4, 2, &[0, 1, 2].map(|me| states(me)[..5].to_vec())));
}

/// Six parts make two levels of pairs; all threads make the same parts, pairs and halves of them.
#[test]
fn halves_that_states_have_in_common_are_kept_once() {
    explore(|| {
        let state = |me: u8, i: u8| made_of(&[i % 2, 1, (i + me) % 3, i % 2, 1, (i + me) % 3]);
        fill_tree(
            48,
            1,
            &[0, 1, 2].map(|me| (0..4).map(|i| state(me, i)).collect::<BTreeSet<_>>().into_iter().collect()),
        );
    });
}

/// There is room for eleven nodes of a kind at first.
#[test]
fn a_tree_grows_between_insertions() {
    explore(|| {
        let state = |me: u8, i: u8| made_of(&[i, i + me, 7, i + me, me]);
        fill_tree(40, 2, &[0, 1, 2].map(|me| (0..6).map(|i| state(me, i)).collect()));
    });
}

/// What waits goes into the automaton every few states, while others look for theirs.
#[test]
fn a_state_is_new_once_in_the_automaton() {
    explore(|| fill_automaton(4, 1, &[0, 1, 2].map(|me| states(me)[..5].to_vec())));
    explore(|| fill_automaton(4, 2, &[0, 1, 2].map(|me| states(me)[..5].to_vec())));
}

#[test]
fn every_schedule_makes_a_state_new_once() {
    explore_all(3, || fill_table(&[vec![0], vec![0]]));
    explore_all(2, || fill_table(&[vec![0, 1], vec![1, 0]]));
    explore_all(2, || fill_tree(4, 1, &[vec![vec![1, 7, 0, 1]], vec![vec![1, 7, 0, 1]]]));
    explore_all(2, || fill_tree(24, 1, &[vec![made_of(&[1, 2, 1])], vec![made_of(&[1, 2, 2])]]));
    explore_all(2, || fill_automaton(4, 1, &[vec![vec![1, 7, 0, 1]], vec![vec![1, 7, 0, 1], vec![2, 7, 0, 1]]]));
}
