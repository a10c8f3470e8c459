//! The store against a map, on pseudo-random graphs, with hashes so short that many states share them.

use super::*;
use scrimp_system::Random;
use std::collections::HashMap;

/// States with a number below `count`, spread over `bytes` bytes; a few pseudo-random successors each, some near, some by
/// the same event, some twice.
struct Web {
    count: u64,
    bytes: usize,
    degree: usize,
}

impl Web {
    fn state(&self, number: u64) -> Vec<u8> {
        let mut state = vec![0; self.bytes];
        let width = self.bytes.min(4);
        state[..width].copy_from_slice(&number.to_le_bytes()[..width]);
        for (i, byte) in state.iter_mut().enumerate().skip(4) {
            *byte = (number >> (i % 11)) as u8 ^ i as u8;
        }
        state
    }

    fn number(&self, state: &[u8]) -> u64 {
        let width = self.bytes.min(4);
        (0..width).fold(0, |number, i| number | (state[i] as u64) << (8 * i))
    }
}

impl Model for Web {
    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&self.state(0), 0);
        out.push(&self.state(1), 0);
        out.push(&self.state(0), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let number = self.number(state);
        let mut random = Random(number.wrapping_mul(0x9e37_79b9) + 1);
        for i in 0..self.degree {
            let to = if i % 2 == 0 { random.next() % self.count } else { (number + i as u64) % self.count };
            out.push(&self.state(to), i as u32 / 2);
        }
    }
}

/// How a search offers states, and what it asks of the store.
#[derive(Debug, Clone, Copy)]
struct Way {
    backedges: BackedgeChoice,
    hash_bits: u32,
    cache: Option<usize>,
    /// Sources at once.
    sources: usize,
    /// The state found last comes first, one successor at a time.
    depth_first: bool,
    sweeping: bool,
}

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(4 << 30))
}

/// Visits all states of a model, comparing each answer with a map.
fn search<'a>(model: &'a Web, way: Way, budget: &Arc<Budget>) -> (ComBack<'a>, HashMap<Vec<u8>, StateId>) {
    let mut store = ComBack::new(model, way.backedges, way.cache, budget).unwrap();
    if way.hash_bits < 32 {
        store = store.with_hash_bits(way.hash_bits);
    }
    if way.sweeping {
        store = store.sweeping().unwrap();
    }
    let mut map = HashMap::new();
    let (mut successors, mut origins, mut open) = (Batch::new(model.bytes), Vec::new(), Vec::new());
    model.initial(&mut successors);
    let mut initial = true;
    let mut next = 0;
    loop {
        let mut found = Vec::new();
        let step = if way.depth_first { 1 } else { successors.len().max(1) };
        for start in (0..successors.len()).step_by(step) {
            let which = start..start + step;
            if initial {
                store.offer(&successors, which, &mut found).unwrap();
            } else {
                store.offer_from(&successors, which, &origins, &mut found).unwrap();
            }
        }
        assert_eq!(found.len(), successors.len());
        // Within a batch, numbers need not follow the order of the states; but each state has one, and once it is new.
        for (i, found) in found.iter().enumerate() {
            let state = successors.state(i).to_vec();
            let known = map.get(&state).copied();
            assert_eq!((found.new, known.unwrap_or(found.id)), (known.is_none(), found.id), "{way:?}, state {i}");
            if found.new {
                map.insert(state, found.id);
                open.push(found.id);
            }
        }
        assert_eq!(store.len(), map.len());
        initial = false;
        successors.clear();
        origins.clear();
        let sources: Vec<StateId> = if way.depth_first {
            open.pop().into_iter().collect()
        } else {
            let end = open.len().min(next + way.sources);
            open[std::mem::replace(&mut next, end)..end].to_vec()
        };
        if sources.is_empty() {
            return (store, map);
        }
        for source in sources {
            let mut state = vec![0; model.bytes];
            store.load(source, &mut state);
            assert_eq!(map.get(&state), Some(&source), "{way:?}");
            let first = successors.len();
            model.expand(&state, &mut successors);
            origins.extend((first..successors.len()).map(|i| Origin { source, place: (i - first) as u32 }));
            if way.sweeping {
                store.strip(source, source);
            }
        }
    }
}

/// Every state is found and comes out as it went in, in any order.
fn check_all(store: &ComBack, map: &HashMap<Vec<u8>, StateId>, model: &Web, context: &str) {
    let mut batch = Batch::new(model.bytes);
    let mut out = vec![0; model.bytes];
    for (state, &id) in map {
        store.load(id, &mut out);
        assert_eq!(&out, state, "{context}");
        batch.clear();
        batch.push(state, 0);
        assert_eq!(store.find(&batch, 0), Some(id), "{context}");
        let ancestors = store.ancestors(id).unwrap();
        assert!(ancestors.windows(2).all(|pair| pair[0] > pair[1]), "{context}");
        if let Some(&before) = ancestors.first() {
            store.load(before, &mut out);
            batch.clear();
            model.expand(&out, &mut batch);
            assert!((0..batch.len()).any(|i| batch.state(i) == &state[..]), "{context}: {before} is not before {id}");
        }
    }
    for number in model.count..(model.count + 20).min(1 << (8 * model.bytes.min(4))) {
        batch.clear();
        batch.push(&model.state(number), 0);
        assert_eq!(store.find(&batch, 0), None, "{context}");
    }
}

fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for backedges in [BackedgeChoice::Events, BackedgeChoice::States] {
        for (hash_bits, cache) in [(32, None), (12, Some(1)), (8, None), (3, Some(64))] {
            for (sources, depth_first, sweeping) in
                [(1, false, false), (700, false, true), (100, false, false), (1, true, false)]
            {
                ways.push(Way { backedges, hash_bits, cache, sources, depth_first, sweeping });
            }
        }
    }
    ways
}

#[test]
fn exact_however_short_the_hashes() {
    for (bytes, count) in [(1, 200), (2, 900), (20, 1500), (300, 700)] {
        let model = Web { count, bytes, degree: 5 };
        for way in ways() {
            // States with the same hash are compared one by one.
            if way.hash_bits == 3 && count > 1000 {
                continue;
            }
            let (store, map) = search(&model, way, &budget());
            assert!(map.len() as u64 > count / 2);
            check_all(&store, &map, &model, &format!("{bytes} bytes, {way:?}"));
        }
    }
}

#[test]
fn what_has_no_room_is_replayed() {
    for bytes in [5, 40, 120] {
        let model = Web { count: 30_000, bytes, degree: 4 };
        for backedges in [BackedgeChoice::Events, BackedgeChoice::States] {
            let way =
                Way { backedges, hash_bits: 32, cache: Some(16), sources: 300, depth_first: false, sweeping: false };
            let (store, map) = search(&model, way, &budget());
            assert!(store.whole() < store.len() && store.replays() > 0, "{} of {}", store.whole(), store.len());
            assert!(store.bytes() < 16 * store.len() + (160 << 10), "{} bytes, {} states", store.bytes(), store.len());
            check_all(&store, &map, &model, &format!("{way:?}"));
        }
    }
}

#[test]
fn what_was_saved_comes_back_and_goes_on() {
    let model = Web { count: 20_000, bytes: 30, degree: 4 };
    for backedges in [BackedgeChoice::Events, BackedgeChoice::States] {
        for hash_bits in [32, 12] {
            let way = Way { backedges, hash_bits, cache: None, sources: 200, depth_first: false, sweeping: false };
            let (store, map) = search(&model, way, &budget());
            let mut saved = Vec::new();
            store.save(&mut saved).unwrap();
            let mut again = ComBack::new(&model, backedges, Some(256), &budget()).unwrap().with_hash_bits(hash_bits);
            again.refill(&mut &saved[..]).unwrap();
            assert_eq!(again.len(), store.len());
            let mut few = map.clone();
            few.retain(|_, id| *id % 8 == 3);
            check_all(&again, &few, &model, &format!("{way:?}"));
            // More states, as if from the last one.
            let (mut batch, mut found) = (Batch::new(30), Vec::new());
            (0..100).for_each(|i| batch.push(&model.state(30_000 + i), 0));
            again.offer(&batch, 0..100, &mut found).unwrap();
            assert!(found.iter().all(|found| found.new) && again.len() == store.len() + 100);
            let mut out = vec![0; 30];
            for (i, found) in found.iter().enumerate() {
                again.load(found.id, &mut out);
                assert_eq!(out, model.state(30_000 + i as u64));
            }
            assert!(again.refill(&mut &saved[..saved.len() - 1]).is_err());
        }
    }
}

#[test]
fn a_full_budget_stores_nothing_more() {
    let budget = Arc::new(Budget::apart(32 << 20));
    let model = Web { count: 1 << 30, bytes: 60, degree: 4 };
    let mut store = ComBack::new(&model, BackedgeChoice::Events, None, &budget).unwrap();
    let (mut batch, mut found) = (Batch::new(60), Vec::new());
    batch.push(&model.state(0), 0);
    store.offer(&batch, 0..1, &mut found).unwrap();
    let mut next = 0;
    let stored = loop {
        batch.clear();
        let mut origins = Vec::new();
        let mut state = vec![0; 60];
        for source in next..(next + 200).min(store.len() as u32) {
            store.load(source, &mut state);
            model.expand(&state, &mut batch);
            origins.extend((0..4).map(|place| Origin { source, place }));
        }
        next += origins.len() as u32 / 4;
        let before = store.len();
        found.clear();
        match store.offer_from(&batch, 0..batch.len(), &origins, &mut found) {
            Ok(()) => assert_eq!(store.len() - before, found.iter().filter(|found| found.new).count()),
            Err(Full) => break before,
        }
    };
    assert!(stored > 50_000 && store.len() == stored, "{stored} states");
    let mut state = vec![0; 60];
    for id in (0..stored as u32).step_by(997) {
        store.load(id, &mut state);
        batch.clear();
        batch.push(&state, 0);
        assert_eq!(store.find(&batch, 0), Some(id));
    }
}

/// What cannot be replayed is told, where it was not refused at once.
#[test]
fn forged_files_are_refused_or_found_out() {
    let model = Web { count: 200, bytes: 10, degree: 3 };
    for backedges in [BackedgeChoice::Events, BackedgeChoice::States] {
        let way = Way { backedges, hash_bits: 32, cache: None, sources: 20, depth_first: false, sweeping: false };
        let (store, _) = search(&model, way, &budget());
        let (mut saved, mut states) = (Vec::new(), Vec::new());
        store.save(&mut saved).unwrap();
        let load = |store: &ComBack, id: u32| {
            let mut out = vec![0; 10];
            store.load(id, &mut out);
            out
        };
        states.extend((0..store.len() as u32).map(|id| load(&store, id)));
        let (mut refused, mut found_out) = (0, 0);
        for at in (0..saved.len() - 4).step_by(4) {
            for value in [0u32, 1, 150, u32::MAX] {
                let mut forged = saved.clone();
                forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let mut other = ComBack::new(&model, backedges, Some(256), &budget()).unwrap();
                if other.refill(&mut &forged[..]).is_err() {
                    refused += 1;
                    continue;
                }
                let same = (0..other.len() as u32).filter(|&id| load(&other, id) == states[id as usize]).count();
                let mut batch = Batch::new(10);
                batch.push(&model.state(0), 0);
                let offered = other.offer(&batch, 0..1, &mut Vec::new());
                assert_eq!(offered.is_err(), other.is_damaged());
                found_out += (other.is_damaged() && same < states.len()) as usize;
            }
        }
        assert!(refused > 100 && found_out > 100, "{refused} refused, {found_out} found out");
    }
}
