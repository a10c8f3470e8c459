//! Small cases on two or three threads, under very many schedules: `cargo test --release -p scrimp-search --features shuttle
//! --lib concurrency`. Each operation on what threads share is a point at which another thread may go on.

use super::cells::{Cells, KeyBits};
use super::table::{Concurrent, Table};
use super::{NO_ORIGIN, Set, Store, Tree};
use scrimp_core::Budget;
use scrimp_system::Batch;
use shuttle::sync::RwLock;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

const SCHEDULES: usize = 3_000;

/// Schedules drawn by chance, and those that change between threads seldom, at the worst moments.
fn explore(case: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(case, SCHEDULES);
    shuttle::check_pct(case, SCHEDULES, 3);
}

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(1 << 30))
}

/// States in the order in which a thread offers them: all of them, each from another place on, some twice.
fn states(me: usize) -> Vec<Vec<u8>> {
    (0..6u8).map(|i| vec![(i + 2 * me as u8) % 5, 7, 0, 1]).collect()
}

#[test]
fn a_state_is_new_once_in_the_table() {
    explore(|| {
        let first = Table::new(4, budget()).unwrap();
        let shared = first.shared().clone();
        // SAFETY: nobody else has the table yet.
        unsafe { shared.make_room(1 << 16, None).unwrap() };
        let threads = first.share(3).into_iter().enumerate().map(|(me, mut table)| {
            shuttle::thread::spawn(move || {
                let (mut batch, mut found, mut numbers) = (Batch::new(4), Vec::new(), Vec::new());
                for part in states(me).chunks(2) {
                    batch.clear();
                    found.clear();
                    part.iter().for_each(|state| batch.push(state, 0));
                    table.offer(&batch, 0..batch.len(), &mut found).unwrap();
                    numbers.extend(part.iter().cloned().zip(found.iter().map(|f| (f.id, f.new))));
                }
                (numbers, table.gap())
            })
        });
        let threads: Vec<_> = threads.collect();
        let done: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let all: Vec<(Vec<u8>, (u32, bool))> = done.iter().flat_map(|(numbers, _)| numbers.clone()).collect();
        assert_eq!(all.iter().filter(|(_, (_, new))| *new).count(), 5);
        let distinct: HashSet<(Vec<u8>, u32)> = all.into_iter().map(|(state, (id, _))| (state, id)).collect();
        assert_eq!(distinct.len(), 5, "one number for each state");
        for (state, id) in &distinct {
            assert_eq!(shared.state(*id), state);
        }
        let gaps: Vec<Range<u32>> = done.into_iter().map(|(_, gap)| gap).collect();
        // SAFETY: the threads are gone, and these are the gaps they left.
        unsafe { shared.close_gaps(&gaps) };
        assert_eq!(shared.len(), 5);
    });
}

#[test]
fn a_key_is_new_once_in_the_cells() {
    explore(|| {
        let mut cells = Cells::new(KeyBits::whole(40), &budget()).unwrap();
        cells.make_room(64, cells.bits(), 1.0).unwrap();
        let cells = Arc::new(cells);
        let threads: Vec<_> = (0..3u64)
            .map(|me| {
                let cells = cells.clone();
                shuttle::thread::spawn(move || {
                    let mut new = 0;
                    for i in 0..3 {
                        let keys = [(i + me) % 4, (i + 2 * me) % 4 + 1];
                        cells.promise(2).unwrap();
                        cells.insert::<false>(&keys, |_| new += 1);
                        cells.keep(2);
                    }
                    new
                })
            })
            .collect();
        let new: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        let mut seen = HashSet::new();
        assert!(cells.each(|key| seen.insert(key)), "a key is there twice");
        assert_eq!((new, cells.len(), cells.is_quiet()), (seen.len(), seen.len(), true));
    });
}

#[test]
fn a_state_is_new_once_in_the_tree() {
    explore(|| {
        let tree = Tree::new(4, &budget()).unwrap();
        let gate = Arc::new(RwLock::new(()));
        let threads: Vec<_> = (0..2)
            .map(|me| (me, tree.share().unwrap(), gate.clone()))
            .map(|(me, mut tree, gate)| {
                shuttle::thread::spawn(move || {
                    let (mut batch, mut new, mut keys, mut count) = (Batch::new(4), Vec::new(), Vec::new(), 0);
                    for part in states(me).chunks(2) {
                        batch.clear();
                        new.clear();
                        part.iter().for_each(|state| batch.push(state, 0));
                        loop {
                            let inside = gate.read().unwrap();
                            if tree.insert(&batch, &[NO_ORIGIN; 2], &mut new, &mut keys).is_ok() {
                                break;
                            }
                            drop(inside);
                            let _everyone_waits = gate.write().unwrap();
                            tree.make_room(8).unwrap();
                        }
                        count += new.len();
                    }
                    count
                })
            })
            .collect();
        let new: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!((new, tree.len()), (5, 5));
    });
}
