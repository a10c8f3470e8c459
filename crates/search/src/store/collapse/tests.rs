//! Collapsed states against a map: growing, widening, removing, saving, and several threads.

use super::*;
use scrimp_system::Random;
use std::collections::HashMap;

/// Only the form of its states matters: parts of so many bytes, each scattered.
struct Form {
    bytes: usize,
    parts: usize,
}

impl Model for Form {
    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn initial(&self, _: &mut Batch) {}

    fn expand(&self, _: &[u8], _: &mut Batch) {}

    /// Byte by byte in turn, two at a time in the first half.
    fn components(&self) -> Vec<Vec<Range<usize>>> {
        let mut components = vec![Vec::new(); self.parts.min(self.bytes)];
        let (mut at, mut turn) = (0, 0);
        while at < self.bytes {
            let end = (at + if at < self.bytes / 2 { 2 } else { 1 }).min(self.bytes);
            components[turn % self.parts].push(at..end);
            (at, turn) = (end, turn + 1);
        }
        components.retain(|ranges: &Vec<_>| !ranges.is_empty());
        components
    }
}

const FORMS: [Form; 7] = [
    Form { bytes: 1, parts: 1 },
    Form { bytes: 3, parts: 2 },
    Form { bytes: 8, parts: 8 },
    Form { bytes: 9, parts: 1 },
    Form { bytes: 21, parts: 5 },
    Form { bytes: 64, parts: 30 },
    Form { bytes: 300, parts: 7 },
];

fn budget(memory: usize) -> Arc<Budget> {
    Arc::new(Budget::apart(memory))
}

/// A state that has much in common with others.
fn state(i: u32, bytes: usize) -> Vec<u8> {
    let mut random = Random(i as u64 % 50);
    let mut state = vec![0; bytes];
    for _ in 0..3 {
        state[random.below(bytes)] = random.below(5) as u8;
    }
    state[i as usize % bytes] ^= (i / 50) as u8;
    state[bytes / 2] = state[bytes / 2].wrapping_add((i / 1000) as u8);
    state
}

fn store(form: &Form, memory: usize) -> Collapse {
    Collapse::new(form, &budget(memory)).unwrap()
}

#[test]
fn agrees_with_a_map_while_growing_and_widening() {
    for form in &FORMS {
        let mut store = store(form, 1 << 30);
        let mut map: HashMap<Vec<u8>, u32> = HashMap::new();
        let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
        for round in 0..300u32 {
            batch.clear();
            found.clear();
            (0..100).for_each(|i| batch.push(&state((round * 61 + i * i) % 20_000, form.bytes), 0));
            store.offer(&batch, 0..batch.len(), &mut found).unwrap();
            for (i, f) in found.iter().enumerate() {
                let next = map.len() as u32;
                let known = map.get(batch.state(i)).copied();
                assert_eq!(*f, Found { id: known.unwrap_or(next), new: known.is_none() });
                map.entry(batch.state(i).to_vec()).or_insert(next);
                assert_eq!(store.find(&batch, i), Some(f.id));
            }
        }
        assert_eq!(store.len(), map.len());
        check(&store, &map);
    }
}

fn check(store: &dyn Store, map: &HashMap<Vec<u8>, u32>) {
    let mut out = vec![0; map.keys().next().unwrap().len()];
    for (state, id) in map {
        store.load(*id, &mut out);
        assert_eq!(&out, state);
    }
}

#[test]
fn states_come_and_go_and_survive_a_file() {
    for form in &FORMS[1..] {
        let mut store = store(form, 1 << 30).removable().unwrap();
        let mut map: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut random = Random(7);
        let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
        for step in 0..20_000 {
            batch.clear();
            found.clear();
            batch.push(&state(random.below(1 + step / 4) as u32, form.bytes), 0);
            let known = map.get(batch.state(0)).copied();
            assert_eq!(store.find(&batch, 0), known);
            match known {
                Some(id) if random.below(2) == 0 => {
                    store.remove(id);
                    map.remove(batch.state(0));
                }
                _ => {
                    store.offer(&batch, 0..1, &mut found).unwrap();
                    assert_eq!(found[0].new, known.is_none());
                    assert!(known.is_none_or(|id| id == found[0].id));
                    map.insert(batch.state(0).to_vec(), found[0].id);
                }
            }
        }
        assert_eq!(store.len(), map.len());
        check(&store, &map);
        let mut file = Vec::new();
        store.save_to(&mut file).unwrap();
        let mut again = self::store(form, 1 << 30).removable().unwrap();
        again.restore_from(&mut &file[..]).unwrap();
        assert_eq!((again.len(), again.numbers()), (store.len(), store.numbers()));
        check(&again, &map);
        for i in 0..6_000 {
            batch.clear();
            batch.push(&state(i, form.bytes), 0);
            assert_eq!(again.find(&batch, 0), map.get(batch.state(0)).copied());
        }
        for (state, _) in map.iter().take(100) {
            batch.clear();
            found.clear();
            batch.push(state, 0);
            again.offer(&batch, 0..1, &mut found).unwrap();
            assert!(!found[0].new);
        }
        file.truncate(file.len() - 1);
        assert!(self::store(form, 1 << 30).removable().unwrap().restore_from(&mut &file[..]).is_err());
    }
}

/// More values of a component than its cache holds, again and again, need no wider fields.
#[test]
fn values_that_displace_each_other_need_no_more_bits() {
    let form = &FORMS[3];
    let mut store = store(form, 1 << 30);
    let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
    for i in 0..5000u64 {
        let state = batch.push_with(0);
        state[..8].copy_from_slice(&i.to_le_bytes());
        state[8] = 0;
    }
    for _ in 0..3 {
        found.clear();
        store.offer(&batch, 0..batch.len(), &mut found).unwrap();
        assert!(found.iter().enumerate().all(|(i, f)| f.id as usize == i));
        assert_eq!((store.len(), store.form.bytes()), (5000, 2));
    }
}

#[test]
fn full_is_an_answer() {
    let form = &FORMS[6];
    let mut store = store(form, 6 << 20);
    let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
    let mut random = Random(3);
    loop {
        batch.clear();
        found.clear();
        (0..50).for_each(|_| batch.push_with(0).fill_with(|| random.below(256) as u8));
        let before = store.len();
        if store.offer(&batch, 0..50, &mut found).is_err() {
            assert!(found.is_empty() && store.len() == before);
            return;
        }
        assert!(store.len() < 100_000, "the budget was not kept");
    }
}

#[test]
fn threads_agree_on_what_is_new() {
    const STATES: u32 = 20_000;
    let form = &FORMS[4];
    let threads = 3;
    let shares = store(form, 1 << 30).share(threads);
    // Room for all: wide fields from the first state on, and enough values.
    let mut first = store(form, 1 << 30);
    let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
    (0..STATES).for_each(|i| batch.push(&state(i, form.bytes), 0));
    first.offer(&batch, 0..batch.len(), &mut found).unwrap();
    let distinct = first.len();
    let gate = std::sync::Barrier::new(threads);
    let pause = Mutex::new(());
    let new: usize = std::thread::scope(|scope| {
        let (batch, gate, pause) = (&batch, &gate, &pause);
        let work = move |(me, mut store): (usize, Collapse)| {
            let (mut new, mut found) = (0, Vec::new());
            // All threads offer, wait, let the first one make room, and offer again what found none, in one component after the other.
            for start in (0..batch.len()).step_by(100) {
                let from = (start + me * 700) % batch.len();
                let which = from..(from + 100).min(batch.len());
                let mut done = false;
                for _ in 0..12 {
                    found.clear();
                    if !done && store.offer(batch, which.clone(), &mut found).is_ok() {
                        new += found.iter().filter(|f| f.new).count();
                        done = true;
                    }
                    gate.wait();
                    if me == 0 {
                        let _alone = pause.lock();
                        // SAFETY: all others wait at the gate.
                        unsafe {
                            if store.prepare_room(threads * 400).unwrap() {
                                store.table().shared().fill_index::<true>(0..store.numbers() as u32, &[]);
                            }
                        }
                    }
                    gate.wait();
                }
                assert!(done);
            }
            new
        };
        let handles: Vec<_> = shares.into_iter().enumerate().map(|share| scope.spawn(move || work(share))).collect();
        handles.into_iter().map(|h| h.join().unwrap()).sum()
    });
    assert_eq!(new, distinct);
}

/// A thread that was not told of wider fields saves, and shares out, what is there.
#[test]
fn handles_that_stood_still_know_the_form_of_tuples() {
    let form = &FORMS[4];
    let mut shares = store(form, 1 << 30).share(2);
    let (mut batch, mut found) = (Batch::new(form.bytes), Vec::new());
    (0..500).for_each(|i| batch.push(&state(i, form.bytes), 0));
    let mut busy = shares.pop().unwrap();
    while busy.offer(&batch, 0..batch.len(), &mut found).is_err() {
        // SAFETY: there is one thread.
        unsafe {
            if busy.prepare_room(2000).unwrap() {
                busy.table().shared().fill_index::<true>(0..busy.numbers() as u32, &[busy.table().gap()]);
            }
        }
    }
    // SAFETY: there is one thread, and this is the gap it left.
    unsafe { busy.table().shared().close_gaps(&[busy.table().gap()]) };
    drop(busy);
    let mut still = shares.pop().unwrap();
    let mut file = Vec::new();
    still.save_to(&mut file).unwrap();
    let mut again = store(form, 1 << 30);
    again.restore_from(&mut &file[..]).unwrap();
    Concurrent::own(&mut still);
    let known: HashMap<Vec<u8>, u32> = found.iter().enumerate().map(|(i, f)| (batch.state(i).to_vec(), f.id)).collect();
    for store in [&mut again, &mut still] {
        assert_eq!(store.len(), known.len());
        check(store, &known);
        found.clear();
        store.offer(&batch, 0..batch.len(), &mut found).unwrap();
        assert!(found.iter().all(|f| !f.new));
    }
    check(&still.share(2)[1], &known);
}

#[test]
fn tuples_of_one_length_stand_for_states() {
    for form in &FORMS {
        let mut folder = Folder::new(form, &budget(1 << 30)).unwrap();
        let mut states = Batch::new(form.bytes);
        (0..3000).for_each(|i| states.push(&state(i, form.bytes), i));
        let mut tuples = Batch::new(folder.tuple_bytes());
        folder.fold_all(&states, &mut tuples).unwrap();
        let (mut tuple, mut state) = (vec![0; folder.tuple_bytes()], vec![0; form.bytes]);
        let mut file = Vec::new();
        folder.save(&mut file).unwrap();
        let mut again = Folder::new(form, &budget(1 << 30)).unwrap();
        again.restore(&mut &file[..]).unwrap();
        for i in 0..states.len() {
            folder.fold(states.state(i), &mut tuple).unwrap();
            assert_eq!(tuple, tuples.state(i));
            folder.unfold(&tuple, &mut state);
            assert_eq!(state, states.state(i));
            assert!(again.find(&state, &mut tuple) && tuple == tuples.state(i));
            state.fill(0);
            again.unfold(&tuple, &mut state);
            assert_eq!(state, states.state(i));
        }
        for i in 0..states.len().min(200) {
            for j in 0..i {
                assert_eq!(states.state(i) == states.state(j), tuples.state(i) == tuples.state(j));
            }
        }
    }
}

/// A number in a tuple without a value would be asked for in vain.
#[test]
fn forged_files_are_refused() {
    let form = Form { bytes: 21, parts: 5 };
    let mut random = Random(4);
    let mut store = Collapse::new(&form, &budget(1 << 30)).unwrap();
    let mut batch = Batch::new(21);
    (0..40).for_each(|_| batch.push(&(0..21).map(|_| random.below(3) as u8).collect::<Vec<u8>>(), 0));
    store.offer(&batch, 0..40, &mut Vec::new()).unwrap();
    let mut saved = Vec::new();
    store.save(&mut saved).unwrap();
    let (mut refused, mut out) = (0, vec![0; 21]);
    for at in 0..saved.len() {
        for value in [0, 1, 77, 0xff] {
            let mut forged = saved.clone();
            forged[at] = value;
            let mut other = Collapse::new(&form, &budget(1 << 30)).unwrap();
            match other.refill(&mut &forged[..]) {
                Ok(()) => (0..other.numbers() as u32).for_each(|id| other.load(id, &mut out)),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 100, "{refused} refused");
}

#[test]
fn only_tuples_of_values_are_known() {
    let form = Form { bytes: 8, parts: 8 };
    let mut folder = Folder::new(&form, &budget(1 << 30)).unwrap();
    let mut tuple = vec![0; folder.tuple_bytes()];
    folder.fold(&[7; 8], &mut tuple).unwrap();
    assert!(folder.knows(&tuple) && !folder.knows(&tuple[1..]));
    for at in 0..tuple.len() {
        let mut other = tuple.clone();
        other[at] ^= 1;
        assert!(!folder.knows(&other));
    }
}
