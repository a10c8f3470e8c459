//! The table against a map, its memory, and several threads on one table.

use super::*;
use std::collections::HashMap;

fn table(state_bytes: usize, memory: usize) -> Table {
    Table::new(state_bytes, Arc::new(Budget::apart(memory))).unwrap()
}

fn state(i: u32, bytes: usize) -> Vec<u8> {
    let mut state = vec![0; bytes];
    let number = i.wrapping_mul(2_654_435_761).to_le_bytes();
    let length = bytes.min(4);
    state[..length].copy_from_slice(&number[..length]);
    state[bytes - 1] ^= (i % 7) as u8;
    state
}

#[test]
fn agrees_with_a_map_while_growing() {
    for bytes in [1, 3, 7, 8, 9, 16, 25, 100] {
        let mut table = table(bytes, 1 << 30);
        let mut map: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut batch = Batch::new(bytes);
        let mut found = Vec::new();
        for round in 0..400u32 {
            batch.clear();
            found.clear();
            for i in 0..100 {
                batch.push(&state((round * 61 + i * i) % 20_000, bytes), 0);
            }
            table.offer(&batch, 0..batch.len(), &mut found).unwrap();
            for (i, f) in found.iter().enumerate() {
                let next = map.len() as u32;
                let known = map.get(batch.state(i)).copied();
                assert_eq!(*f, Found { id: known.unwrap_or(next), new: known.is_none() });
                map.entry(batch.state(i).to_vec()).or_insert(next);
            }
        }
        assert_eq!(table.len(), map.len());
        let mut out = vec![0; bytes];
        for (state, id) in &map {
            table.load(*id, &mut out);
            assert_eq!(&out, state);
        }
    }
}

#[test]
fn a_state_costs_its_length_and_at_most_eight_bytes() {
    let mut table = table(20, 1 << 30);
    let mut batch = Batch::new(20);
    let mut found = Vec::new();
    for round in 0..4000u32 {
        batch.clear();
        found.clear();
        (0..100).for_each(|i| batch.push(&state(round * 100 + i, 20), 0));
        table.offer(&batch, 0..100, &mut found).unwrap();
        if round > 200 {
            let each = table.bytes() as f64 / table.len() as f64;
            assert!(each <= 28.0, "{each} bytes a state at {} states", table.len());
        }
    }
}

#[test]
fn full_is_an_answer() {
    let mut table = table(64, 8 << 20);
    let mut batch = Batch::new(64);
    let mut found = Vec::new();
    for round in 0.. {
        batch.clear();
        found.clear();
        (0..100).for_each(|i| batch.push(&state(round * 100 + i, 64), 0));
        if table.offer(&batch, 0..100, &mut found).is_err() {
            assert!(found.is_empty() && table.len() < 8 << 20 >> 6);
            return;
        }
        assert!(table.len() < 1 << 20, "the budget was not kept");
    }
}

#[test]
fn threads_agree_on_what_is_new() {
    const STATES: u32 = 60_000;
    let threads = 4;
    let first = table(12, 1 << 30);
    let shared = first.shared().clone();
    // SAFETY: nobody else has the table yet.
    unsafe { shared.make_room(STATES as usize * 2, None).unwrap() };
    let offer_all = |(me, mut table): (usize, Table)| {
        let mut batch = Batch::new(12);
        let mut found = Vec::new();
        let mut new = 0;
        for start in (0..STATES).step_by(50) {
            batch.clear();
            found.clear();
            // Each thread goes through all states, from another place.
            let from = start + me as u32 * 50;
            (0..50).for_each(|i| batch.push(&state((from + i) % STATES, 12), 0));
            table.offer(&batch, 0..50, &mut found).unwrap();
            new += found.iter().filter(|f| f.new).count();
        }
        (new, table.gap())
    };
    let results: Vec<(usize, Range<u32>)> = std::thread::scope(|scope| {
        let handles: Vec<_> =
            first.share(threads).into_iter().enumerate().map(|t| scope.spawn(move || offer_all(t))).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    let distinct: std::collections::HashSet<Vec<u8>> = (0..STATES).map(|i| state(i, 12)).collect();
    assert_eq!(results.iter().map(|(new, _)| new).sum::<usize>(), distinct.len());
    let gaps: Vec<Range<u32>> = results.into_iter().map(|(_, gap)| gap).collect();
    // SAFETY: the threads are gone, and these are the gaps they left.
    unsafe { shared.close_gaps(&gaps) };
    assert_eq!(shared.len(), distinct.len());
    for id in 0..shared.len() as u32 {
        assert!(distinct.contains(shared.state(id)));
        let h = shared.hash_of::<0>(id);
        assert_eq!(h, crate::words::hash(shared.state(id)));
        assert_eq!(shared.inner().index.find(h, |n| n == id).ok(), Some(id));
    }
}
