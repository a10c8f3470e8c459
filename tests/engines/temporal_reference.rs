//! The reference that searches for infinite runs are held against, held against the meaning of formulas on single words.

use scrimp_soak::formulas::ltl;
use scrimp_soak::ltl::{Explicit, holds_on_word};
use scrimp_system::Random;

const ATOMS: usize = 3;

/// A graph in which there is only one run.
fn single_run(word: &[u64], again: usize) -> Explicit {
    let next = |at: usize| if at + 1 < word.len() { at + 1 } else { again };
    Explicit {
        initial: vec![0],
        edges: (0..word.len()).map(|at| vec![(next(at), vec![0])]).collect(),
        enabled: vec![vec![0]; word.len()],
        labels: word.to_vec(),
    }
}

#[test]
fn single_runs() {
    let mut random = Random(1);
    let mut satisfied = 0;
    for _ in 0..3000 {
        let operators = random.below(7);
        let formula = ltl(&mut random, ATOMS, operators, true);
        let word: Vec<u64> = (0..1 + random.below(6)).map(|_| random.below(1 << ATOMS) as u64).collect();
        let again = random.below(word.len());
        let expected = holds_on_word(&formula, &word, again)[0];
        let found = single_run(&word, again).some_run(&formula, false);
        assert_eq!(found, expected, "{formula} on {word:?} again from {again}");
        satisfied += expected as usize;
    }
    assert!((500..2500).contains(&satisfied), "{satisfied}");
}

/// Where there are several runs: one that satisfies the formula is found among all short ones, if there is one among them.
#[test]
fn several_runs() {
    let mut random = Random(2);
    for _ in 0..300 {
        let states = 2 + random.below(3);
        let successors =
            |random: &mut Random| (0..1 + random.below(2)).map(|_| (random.below(states), vec![0])).collect();
        let edges: Vec<Vec<(usize, Vec<usize>)>> = (0..states).map(|_| successors(&mut random)).collect();
        let labels: Vec<u64> = (0..states).map(|_| random.below(1 << ATOMS) as u64).collect();
        let graph = Explicit { initial: vec![0], edges, enabled: vec![vec![0]; states], labels };
        let operators = 1 + random.below(4);
        let formula = ltl(&mut random, ATOMS, operators, true);
        let mut walks = vec![vec![0usize]];
        let mut some = false;
        while let Some(walk) = walks.pop() {
            let last = walk[walk.len() - 1];
            for (next, _) in &graph.edges[last] {
                for (again, _) in walk.iter().enumerate().filter(|(_, state)| *state == next) {
                    let word: Vec<u64> = walk.iter().map(|state| graph.labels[*state]).collect();
                    some |= holds_on_word(&formula, &word, again)[0];
                }
                if walk.len() < 8 {
                    walks.push(walk.iter().copied().chain([*next]).collect());
                }
            }
        }
        let found = graph.some_run(&formula, false);
        // A run that is longer than those tried may be the only one, but mostly is not.
        assert!(found || !some, "{formula} holds on a run of {:?} with {:?}", graph.edges, graph.labels);
        if states < 4 && operators < 3 {
            assert_eq!(found, some, "{formula} on {:?} with {:?}", graph.edges, graph.labels);
        }
    }
}

/// A process that could always move and never does is not treated fairly.
#[test]
fn fairness() {
    use scrimp_temporal::Formula;
    // One process goes round at 0; the other can leave for 1, where it stays.
    let graph = |enabled: Vec<usize>| Explicit {
        initial: vec![0],
        edges: vec![vec![(2, vec![0]), (1, vec![1])], vec![(1, vec![1])], vec![(0, vec![0])]],
        enabled: vec![vec![0, 1], vec![1], enabled],
        labels: vec![0, 1, 0],
    };
    let never = Formula::Not(Box::new(Formula::Finally(Box::new(Formula::Atom(0)))));
    assert!(graph(vec![0, 1]).some_run(&never, false));
    assert!(!graph(vec![0, 1]).some_run(&never, true));
    assert!(graph(vec![0]).some_run(&never, true));
}
