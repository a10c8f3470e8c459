//! Random graphs, written down, read back, turned round and taken apart.

use super::*;
use scrimp_system::Random;
use std::collections::BTreeSet;

type Lists = Vec<Vec<(Number, EventCode)>>;

fn budget() -> Arc<Budget> {
    Arc::new(Budget::new(4 << 30))
}

fn random_lists(states: u32, random: &mut Random) -> Lists {
    let event = |random: &mut Random| random.next() as u32 >> random.below(32);
    let list = |random: &mut Random| {
        (0..random.below(4)).map(|_| (random.below(states as usize) as u32, event(random))).collect()
    };
    (0..states).map(|_| list(random)).collect()
}

/// Through a recorder, under names that have nothing to do with the numbers; expanded in any order, one state not at all.
fn record(lists: &Lists, random: &mut Random) -> Lts {
    let conditions: Vec<(String, scrimp_core::Predicate)> =
        vec![("even".into(), Box::new(|s| Ok(s[0] % 2 == 0))), ("third".into(), Box::new(|s| Ok(s[0] % 3 == 0)))];
    let recorder = Recorder::new(&conditions, 5, &budget()).unwrap();
    let name = |number: u32| number ^ 5;
    for number in 0..lists.len() as u32 {
        recorder.found(name(number), &[number as u8], number % 7 == 0).unwrap();
    }
    let mut order: Vec<u32> = (0..lists.len() as u32 - 1).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    for number in order {
        lists[number as usize].iter().for_each(|&(next, event)| recorder.leads_to(name(next), event));
        recorder.expanded(name(number)).unwrap();
    }
    recorder.finish()
}

fn same(graph: &Lts, lists: &Lists) {
    let last = lists.len() - 1;
    assert_eq!(graph.states() as usize, lists.len());
    assert_eq!(graph.transitions(), lists[..last].iter().map(|list| list.len() as u64).sum());
    for (number, list) in lists.iter().enumerate().take(last) {
        assert!(graph.is_expanded(number as u32));
        assert_eq!(graph.successors(number as u32).collect::<Vec<_>>(), *list);
        assert_eq!(graph.holds(0, number as u32), (number as u8).is_multiple_of(2));
        assert_eq!(graph.holds(1, number as u32), (number as u8).is_multiple_of(3));
    }
    assert!(!graph.is_expanded(last as u32));
    assert_eq!(graph.successors(last as u32).len(), 0);
    assert!(graph.initial().iter().all(|number| number % 7 == 0));
    assert_eq!(graph.labels().collect::<Vec<_>>(), ["even", "third"]);
}

#[test]
fn lists_are_what_was_noted() {
    let mut random = Random(1);
    for states in [1, 2, 8, 100, 70_000] {
        let lists = random_lists(states, &mut random);
        let graph = record(&lists, &mut random);
        same(&graph, &lists);
        assert_eq!(graph.vector(0), Some([0].as_slice()));
        assert_eq!(graph.vector(5), None);
    }
}

#[test]
fn reads_what_it_wrote_and_nothing_else() {
    let mut random = Random(2);
    for states in [1, 2, 9, 64, 65, 3000] {
        let lists = random_lists(states, &mut random);
        let graph = record(&lists, &mut random);
        let mut bytes = Vec::new();
        graph.write(&mut bytes).unwrap();
        let read = |bytes: &[u8]| Lts::read(&mut &bytes[..], &budget());
        let again = read(&bytes).unwrap();
        same(&again, &lists);
        assert_eq!(again.initial(), graph.initial());
        let mut twice = Vec::new();
        again.write(&mut twice).unwrap();
        assert_eq!(twice, bytes);
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            damaged[random.below(bytes.len())] ^= 1 << random.below(8);
            assert!(read(&damaged).is_err());
        }
        for _ in 0..50 {
            assert!(read(&bytes[..random.below(bytes.len())]).is_err());
        }
        assert!(read(&[bytes.as_slice(), &[0]].concat()).is_err());
    }
}

#[test]
fn predecessors_are_successors_the_other_way_round() {
    let mut random = Random(3);
    for states in [1, 5, 400] {
        let lists = random_lists(states, &mut random);
        let graph = record(&lists, &mut random);
        let reverse = Reverse::new(&graph, &budget()).unwrap();
        let mut expected = vec![Vec::new(); states as usize];
        for state in 0..states {
            graph.successors(state).for_each(|(next, _)| expected[next as usize].push(state));
        }
        for state in 0..states {
            assert_eq!(reverse.predecessors(state), expected[state as usize]);
        }
    }
}

#[test]
fn components_are_where_states_reach_each_other() {
    let mut random = Random(4);
    for round in 0..100 {
        let states = 1 + random.below(40) as u32;
        let graph = record(&random_lists(states, &mut random), &mut random);
        let components = Components::new(&graph, &budget()).unwrap();
        let reach = |from: u32| {
            let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
            while let Some(state) = open.pop() {
                open.extend(graph.successors(state).map(|(next, _)| next).filter(|&next| seen.insert(next)));
            }
            seen
        };
        let reached: Vec<BTreeSet<u32>> = (0..states).map(reach).collect();
        for a in 0..states {
            for b in 0..states {
                let both = reached[a as usize].contains(&b) && reached[b as usize].contains(&a);
                assert_eq!(components.together(a, b), both, "round {round}: {a} and {b}");
            }
            assert!(graph.successors(a).all(|(next, _)| components.of(next) <= components.of(a)));
        }
        let all: BTreeSet<u32> = (0..states).map(|state| components.of(state)).collect();
        assert_eq!(all, (0..components.count()).collect());
    }
}

#[test]
fn a_full_budget_is_said() {
    let lists = random_lists(200_000, &mut Random(5));
    let graph = record(&lists, &mut Random(6));
    let small = Arc::new(Budget::apart(1 << 19));
    assert!(Reverse::new(&graph, &small).is_err());
    assert!(Components::new(&graph, &small).is_err());
    let mut bytes = Vec::new();
    graph.write(&mut bytes).unwrap();
    let small = Arc::new(Budget::apart(1 << 19));
    let error = Lts::read(&mut bytes.as_slice(), &small).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
}
