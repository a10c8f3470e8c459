//! The table against a map, on a grid where several events lead from each state and some lead to the same one.

use super::*;
use std::collections::HashMap;

/// Points of a torus with a label that no two points share; a step in one of three directions, or a jump to the start.
struct Torus {
    side: u16,
    bytes: usize,
}

impl Torus {
    fn state(&self, x: u16, y: u16) -> Vec<u8> {
        let mut state = vec![(x ^ y) as u8; self.bytes];
        state[..2].copy_from_slice(&x.to_le_bytes());
        state[2..4].copy_from_slice(&y.to_le_bytes());
        state
    }
}

impl Model for Torus {
    fn state_bytes(&self) -> usize {
        self.bytes
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&self.state(0, 0), 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        let [x, y] = [0, 2].map(|at| u16::from_le_bytes([state[at], state[at + 1]]));
        let near = |a: u16, by: u16| (a + by) % self.side;
        out.push(&self.state(near(x, 1), y), 7);
        out.push(&self.state(x, near(y, 1)), 3);
        // One event, two outcomes.
        out.push(&self.state(near(x, 2), near(y, 1)), 5);
        out.push(&self.state(near(x, 3), near(y, 1)), 5);
        out.push(&self.state(0, 0), 1);
    }
}

/// What the test knows of a state.
struct Known {
    id: StateId,
    predecessor: Option<Vec<u8>>,
    stripped: bool,
    /// Stripped states found from it.
    leaning: u32,
}

#[derive(Default)]
struct Map(HashMap<Vec<u8>, Known>);

impl Map {
    /// The number of the predecessor, where the state can be replayed from it.
    fn support(&self, state: &[u8]) -> Option<StateId> {
        let first = self.0[state].predecessor.as_ref()?;
        let mut at = first;
        while self.0.get(at)?.stripped {
            at = self.0[at].predecessor.as_ref()?;
        }
        (at != state).then(|| self.0[first].id)
    }

    fn lean(&mut self, state: &[u8], stripped: bool) {
        let entry = self.0.get_mut(state).unwrap();
        if std::mem::replace(&mut entry.stripped, stripped) != stripped {
            let before = entry.predecessor.clone().unwrap();
            let leaning = &mut self.0.get_mut(&before).unwrap().leaning;
            *leaning = if stripped { *leaning + 1 } else { *leaning - 1 };
        }
    }
}

fn draw(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % below
}

#[test]
fn agrees_with_a_map_whatever_is_stripped() {
    for (bytes, side, mut seed) in [(4, 20, 1), (9, 60, 2), (70, 45, 3)] {
        let torus = Torus { side, bytes };
        let mut store = Replaying::new(&torus, &Arc::new(Budget::new(usize::MAX / 4))).unwrap();
        let mut map = Map::default();
        let (mut batch, mut found) = (Batch::new(bytes), Vec::new());
        for round in 0..60_000 {
            batch.clear();
            found.clear();
            let state = torus.state(draw(&mut seed, side as usize) as u16, draw(&mut seed, side as usize) as u16);
            let known = map.0.get(&state).map(|entry| (entry.id, entry.leaning));
            match (known, draw(&mut seed, 10)) {
                (None, _) => torus.initial(&mut batch),
                (Some(_), 0..4) => torus.expand(&state, &mut batch),
                (Some((id, _)), 4..8) => {
                    if let Some(before) = map.support(&state) {
                        store.strip(id, before);
                        map.lean(&state, true);
                    }
                }
                (Some((id, leaning)), which) => {
                    store.restore(id).unwrap();
                    map.lean(&state, false);
                    if which == 9 && leaning == 0 {
                        store.remove(id);
                        map.0.remove(&state);
                    }
                }
            }
            let source = known.map(|_| state);
            store.offer(&batch, 0..batch.len(), &mut found).unwrap();
            for (i, f) in found.iter().enumerate() {
                let next = Known { id: f.id, predecessor: source.clone(), stripped: false, leaning: 0 };
                assert_eq!(f.new, !map.0.contains_key(batch.state(i)), "round {round}");
                assert_eq!(map.0.entry(batch.state(i).to_vec()).or_insert(next).id, f.id, "round {round}");
                assert_eq!(store.find(&batch, i), Some(f.id));
            }
            assert_eq!(store.len(), map.0.len());
            assert!(store.room() >= store.len() && store.numbers() >= store.len());
        }
        let stripped = map.0.values().filter(|entry| entry.stripped).count();
        assert!(store.replays() > 1000 && stripped * 5 > map.0.len(), "{stripped} of {} stripped", map.0.len());
        let mut out = vec![0; bytes];
        for (state, entry) in &map.0 {
            store.load(entry.id, &mut out);
            assert_eq!(&out, state);
        }
    }
}

#[test]
fn stripped_states_can_be_removed() {
    let torus = Torus { side: 9, bytes: 30 };
    let mut store = Replaying::new(&torus, &Arc::new(Budget::new(usize::MAX / 4))).unwrap();
    let (mut batch, mut found) = (Batch::new(30), Vec::new());
    torus.initial(&mut batch);
    torus.expand(&torus.state(0, 0), &mut batch);
    store.offer(&batch, 0..2, &mut found).unwrap();
    store.strip(1, 0);
    store.remove(1);
    assert_eq!((store.len(), store.find(&batch, 1)), (1, None));
    store.offer(&batch, 2..3, &mut found).unwrap();
    assert_eq!(found[2], Found { id: 1, new: true });
    let mut out = [0; 30];
    store.load(1, &mut out);
    assert_eq!(out, batch.state(2));
}

#[test]
fn full_is_an_answer_and_stripping_makes_room() {
    const BYTES: usize = 20_000;
    let torus = Torus { side: 1000, bytes: BYTES };
    let mut store = Replaying::new(&torus, &Arc::new(Budget::apart(8 << 20))).unwrap();
    let (mut batch, mut found) = (Batch::new(BYTES), Vec::new());
    let mut offer = |store: &mut Replaying, x: u16| {
        batch.clear();
        found.clear();
        batch.push(&torus.state(x, 0), 7);
        let stored = store.len();
        let answer = store.offer(&batch, 0..1, &mut found);
        let taken = answer.is_ok() as usize;
        assert_eq!((found.len(), store.len() - stored), (taken, taken));
        answer
    };
    let most = (0..1000).find(|&x| offer(&mut store, x).is_err()).unwrap();
    assert!(most > 100 && store.room() == store.len());
    store.strip(1, 0);
    assert!(store.room() > store.len());
    offer(&mut store, most).unwrap();
    assert_eq!(store.restore(1), Err(Full));
    let mut out = vec![0; BYTES];
    store.load(1, &mut out);
    assert_eq!(out, torus.state(1, 0));
}
