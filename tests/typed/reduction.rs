//! Typed models of which some actions concern one process alone: with less to visit, the same answers.

use scrimp::{Checker, CheckerError, TypedModel, Verdict};
use serde::{Deserialize, Serialize};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Processes that go from place to place, by themselves or by what they do to a variable that all share.
#[derive(Clone)]
struct Places {
    /// For each process and place, the edges that leave it.
    edges: Vec<Vec<Vec<Edge>>>,
    /// Says of every edge that it is local.
    lies: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Edge {
    process: usize,
    to: u8,
    /// What the variable must be, and what it becomes.
    shared: Option<(u8, u8)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct State {
    shared: u8,
    at: Vec<u8>,
}

impl Places {
    fn random(random: &mut Random) -> Places {
        let processes = 2 + random.below(4);
        let places = 3 + random.below(3);
        let edges = (0..processes).map(|process| {
            let of_place = |random: &mut Random| {
                let shared = random.below(3) == 0;
                let edge = |random: &mut Random| Edge {
                    process,
                    to: random.below(places) as u8,
                    shared: shared.then(|| (random.below(3) as u8, random.below(3) as u8)),
                };
                (0..(1 + random.below(3)).min(random.below(12))).map(|_| edge(random)).collect()
            };
            (0..places).map(|_| of_place(random)).collect()
        });
        Places { edges: edges.collect(), lies: false }
    }

    fn checker(&self) -> Checker<Places> {
        Checker::new(self.clone())
            .no_deadlock()
            .invariant("not two", |_, state| state.shared != 2)
            .reach("one", |_, state| state.shared == 1)
            .eventually("some time one", |_, state| state.shared == 1)
            .ltl(
                "again and again",
                "[] <> zero -> [] (one -> <> two)",
                [
                    ("zero", |_, state| state.shared == 0),
                    ("one", |_, state| state.shared == 1),
                    ("two", |_, state| state.shared == 2),
                ],
            )
    }
}

impl TypedModel for Places {
    type State = State;
    type Action = Edge;

    fn initial(&self) -> Vec<State> {
        vec![State { shared: 0, at: vec![0; self.edges.len()] }]
    }

    fn actions(&self, state: &State, out: &mut Vec<Edge>) {
        for (edges, at) in self.edges.iter().zip(&state.at) {
            out.extend_from_slice(&edges[*at as usize]);
        }
    }

    fn next(&self, state: &State, edge: &Edge) -> Option<State> {
        let mut next = state.clone();
        next.at[edge.process] = edge.to;
        match edge.shared {
            Some((is, _)) if is != state.shared => return None,
            Some((_, becomes)) => next.shared = becomes,
            None => {}
        }
        Some(next)
    }

    fn process(&self, edge: &Edge) -> usize {
        edge.process
    }

    fn local(&self, _: &State, edge: &Edge) -> bool {
        edge.shared.is_none() || self.lies
    }
}

const ASKED: [&str; 5] = ["deadlock", "not two", "one", "some time one", "again and again"];

#[test]
fn answers_stay_the_same_with_fewer_states() {
    let mut random = Random(7);
    let (mut all, mut fewer, mut violated) = (0, 0, [0; ASKED.len()]);
    for round in 0..200 {
        let model = Places::random(&mut random);
        let whole = model.checker().threads(1).check().unwrap();
        for (deep, threads) in [(false, 1), (false, 2), (true, 1)] {
            let checker = model.checker().reduce("por").threads(threads);
            let reduced = if deep { checker.order("dfs") } else { checker }.check().unwrap();
            for (asked, violated) in ASKED.iter().zip(&mut violated) {
                let verdict = reduced.verdict(asked);
                assert_eq!(verdict, whole.verdict(asked), "{asked} of system {round}, {deep}, {threads}");
                *violated += (verdict == Verdict::Violated) as usize;
                if let Some(path) = reduced.trace(asked) {
                    path.replay(&model).unwrap();
                }
            }
            (all, fewer) = (all + whole.states(), fewer + reduced.states());
        }
    }
    assert!(fewer * 10 < all * 7, "{fewer} of {all} states");
    assert!(violated.iter().all(|count| (20..=590).contains(count)), "{violated:?}");
}

#[test]
fn what_is_not_true_is_found_out() {
    let (mut random, mut found) = (Random(8), 0);
    for _ in 0..100 {
        let model = Places { lies: true, ..Places::random(&mut random) };
        match model.checker().reduce("por").check() {
            Err(CheckerError::Model(why)) => {
                assert!(why.contains("`local` is said of"), "{why}");
                found += 1;
            }
            // Here it is true, or does no harm.
            reduced => {
                let (reduced, whole) = (reduced.unwrap(), model.checker().check().unwrap());
                ASKED.iter().for_each(|asked| assert_eq!(reduced.verdict(asked), whole.verdict(asked), "{asked}"));
            }
        }
    }
    assert!(found >= 20, "{found} of 100");
}

#[test]
fn what_cannot_be_left_out_is_refused() {
    let model = Places::random(&mut Random(9));
    let refused = |checker: Checker<Places>| checker.check().err().map(|error| error.to_string()).unwrap();
    assert!(refused(model.checker().reduce("por").symmetry()).contains("not supported together"));
    assert!(refused(model.checker().reduce("edge-lean")).contains("edge-lean"));
    assert!(refused(model.checker().reduce("some")).contains("unknown reduction"));
    let next = Checker::new(model.clone()).ltl("next", "X zero", [("zero", |_, state| state.shared == 0)]);
    assert!(!refused(next.reduce("por")).is_empty());
    let branching = Checker::new(model.clone()).ctl("back", "AG EF zero", [("zero", |_, state| state.shared == 0)]);
    assert!(!refused(branching.reduce("por")).is_empty());
    assert!(!refused(model.checker().reduce("por").fair_weak()).is_empty());
}

/// A process whose one action is called local, though it gets another once the other process has gone two steps.
struct Late;

impl TypedModel for Late {
    type State = (u8, u8, bool);
    type Action = &'static str;

    fn initial(&self) -> Vec<(u8, u8, bool)> {
        vec![(0, 0, false)]
    }

    fn actions(&self, _: &(u8, u8, bool), out: &mut Vec<&'static str>) {
        out.extend(["a", "b", "w"]);
    }

    fn next(&self, (v, w, x): &(u8, u8, bool), action: &&'static str) -> Option<(u8, u8, bool)> {
        match *action {
            "a" if *v == 0 => Some((1, *w, *x)),
            "b" if *v == 0 && *w == 2 => Some((0, *w, true)),
            "w" if *w < 2 => Some((*v, w + 1, *x)),
            _ => None,
        }
    }

    fn process(&self, action: &&'static str) -> usize {
        (*action == "w") as usize
    }

    fn local(&self, _: &(u8, u8, bool), action: &&'static str) -> bool {
        *action == "a"
    }
}

#[test]
fn an_action_that_comes_late_is_found_out() {
    let error = Checker::new(Late).invariant("not x", |_, state| !state.2).reduce("por").check().err();
    assert!(matches!(&error, Some(CheckerError::Model(why)) if why.contains("\"b\" can happen")), "{error:?}");
}
