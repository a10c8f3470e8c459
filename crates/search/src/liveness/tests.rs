//! Fair runs of random graphs, held against the definition: every set of states is tried that a run may pass again and again.

use super::{Fairness, Lasso, Question, search};
use crate::plan::{self, FairnessChoice, FairnessKind, Feature, ModelFacts, Options, Plan, StoreChoice};
use scrimp_core::{Control, Predicate};
use scrimp_system::{Batch, EventCode, Model, Random};
use scrimp_temporal::{Automaton, Cube, Edge, Guard};

const PROCESSES: usize = 3;

/// For each state the processes that can move, and where to. State 0 is the initial one.
#[derive(Debug)]
struct Moves {
    lists: Vec<Vec<(usize, u8)>>,
    /// The states in which the atom holds, as bits.
    atom: u32,
}

impl Model for Moves {
    fn state_bytes(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Batch) {
        out.push(&[0], 0);
    }

    fn expand(&self, state: &[u8], out: &mut Batch) {
        self.lists[state[0] as usize].iter().for_each(|&(process, next)| out.push(&[next], process as EventCode));
    }
}

/// What is asked of each process.
type Asked = [Option<FairnessKind>; PROCESSES];

impl Moves {
    /// Half of them have moves out of where the others go round: to the last state, which is never left. Then a component can
    /// enable a process that does not move in it, which is where weak and strong fairness differ.
    fn random(random: &mut Random) -> Moves {
        let states = 3 + random.below(6);
        let (exits, last) = (random.below(2) == 0, states - 1);
        let inner = if exits { last } else { states };
        let mut lists: Vec<Vec<(usize, u8)>> = Vec::new();
        for state in 0..states {
            let mut list = Vec::new();
            // Few of them come to an end.
            let moves = if random.below(20) == 0 { 0 } else { 1 + random.below(3) };
            for _ in 0..moves {
                let process = random.below(if exits { PROCESSES - 1 } else { PROCESSES });
                list.push((process, random.below(inner) as u8));
            }
            if exits && random.below(3) == 0 {
                list.push((PROCESSES - 1, last as u8));
            }
            lists.push(if exits && state == last { vec![(0, last as u8)] } else { list });
        }
        let atom = (random.next() & random.next()) as u32;
        Moves { lists, atom: if exits { atom & !(1 << last) } else { atom } }
    }

    fn enabled(&self, state: usize, process: usize) -> bool {
        self.lists[state].iter().any(|(mover, _)| *mover == process)
    }

    /// Is a run fair that passes these states again and again, and in which these processes move again and again?
    fn is_fair(&self, states: &[usize], moves: &dyn Fn(usize) -> bool, asked: &Asked) -> bool {
        (0..PROCESSES).all(|process| {
            let enabled = |state: &usize| self.enabled(*state, process);
            match asked[process] {
                None => true,
                Some(FairnessKind::Weak) => moves(process) || !states.iter().all(enabled),
                Some(FairnessKind::Strong) => moves(process) || !states.iter().any(enabled),
            }
        })
    }

    /// Is there a fair run on which the atom holds again and again? Or one that passes all states of a component?
    fn some_run(&self, asked: &Asked, whole: bool) -> bool {
        let reached = self.closure(0, &|_| true);
        (1u32..1 << self.lists.len()).any(|set| {
            let inside = |state: usize| set >> state & 1 == 1;
            let states: Vec<usize> = (0..self.lists.len()).filter(|state| inside(*state)).collect();
            let connected = states.iter().all(|&from| {
                let way = self.closure(from, &inside);
                states.iter().all(|&to| way.contains(&to))
            });
            let way = self.closure(states[0], &|_| true);
            let more = |&to: &usize| !inside(to) && self.closure(to, &|_| true).contains(&states[0]);
            if whole && way.iter().any(more) {
                return false;
            }
            // What comes to an end stays there.
            let ends = states.len() == 1 && self.lists[states[0]].is_empty();
            let moves = |process: usize| {
                states.iter().any(|&s| self.lists[s].iter().any(|&(p, next)| p == process && inside(next as usize)))
            };
            let starts = states[0] == 0 || reached.contains(&states[0]);
            let atom = states.iter().any(|state| self.atom >> state & 1 == 1);
            starts && atom && (connected || ends) && self.is_fair(&states, &moves, asked)
        })
    }

    /// The states that a state leads to, by one step at least, through those inside.
    fn closure(&self, from: usize, inside: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let (mut found, mut at, mut next): (Vec<usize>, usize, usize) = (Vec::new(), from, 0);
        loop {
            for to in self.lists[at].iter().map(|(_, to)| *to as usize).filter(|to| inside(*to)) {
                if !found.contains(&to) {
                    found.push(to);
                }
            }
            if next == found.len() {
                return found;
            }
            at = found[next];
            next += 1;
        }
    }

    fn verify(&self, lasso: &Lasso, asked: &Asked) {
        let states: Vec<usize> = std::iter::once(&lasso.trace.initial)
            .chain(lasso.trace.steps.iter().map(|(_, state)| state))
            .map(|state| state[0] as usize)
            .collect();
        let steps = &lasso.trace.steps;
        assert_eq!(states[0], 0);
        for (i, (event, next)) in steps.iter().enumerate() {
            assert!(self.lists[states[i]].contains(&(*event as usize, next[0])), "{lasso:?} in {self:?}");
        }
        let cycle = &states[lasso.cycle..];
        assert_eq!(cycle.first(), cycle.last(), "{lasso:?} does not go round");
        assert!(cycle.len() > 1 || self.lists[cycle[0]].is_empty(), "{lasso:?}: something more can happen");
        assert!(cycle.iter().any(|state| self.atom >> state & 1 == 1), "{lasso:?} in {self:?}");
        let moves = |process: usize| steps[lasso.cycle..].iter().any(|(event, _)| *event as usize == process);
        assert!(self.is_fair(cycle, &moves, asked), "{lasso:?} is not fair to {asked:?} in {self:?}");
    }
}

/// Accepts what meets the atom again and again.
fn again_and_again() -> Automaton {
    let edge = |positive, negative, marks| {
        let guard = Guard { cubes: vec![Cube { positive, negative }] };
        Edge { guard, to: 0, marks }
    };
    Automaton { atoms: 1, states: vec![vec![edge(1, 0, 1), edge(0, 1, 0)]], initial: 0, sets: 1 }
}

/// Whether there is a fair run, by the search; a run that it finds is looked at.
fn decide(moves: &Moves, asked: &Asked, store: StoreChoice) -> bool {
    let number = |wanted| asked.iter().filter(|kind| **kind == Some(wanted)).count();
    let (weak, strong) = (number(FairnessKind::Weak), number(FairnessKind::Strong));
    let bit = |process: usize| {
        let before = |wanted| asked[..process].iter().filter(|kind| **kind == Some(wanted)).count();
        match asked[process] {
            None => 0,
            Some(FairnessKind::Weak) => 1 << before(FairnessKind::Weak),
            Some(FairnessKind::Strong) => 1 << (weak + before(FairnessKind::Strong)),
        }
    };
    let begins = Box::new(|event: EventCode| bit(event as usize));
    let taking_part = Box::new(|_: &[u8], event: EventCode, _: &[u8]| bit(event as usize));
    let fairness = Fairness { weak, strong, begins, moves: taking_part };
    let atoms: [Predicate; 1] = [Box::new(|state: &[u8]| Ok(moves.atom >> state[0] & 1 == 1))];
    let automaton = again_and_again();
    let question = Question {
        model: moves,
        automaton: &automaton,
        atoms: &atoms,
        expressions: &[],
        fairness: Some(&fairness),
        stutters: false,
        repeats: true,
        progress: None,
    };
    let fair = if strong > 0 { FairnessChoice::strong() } else { FairnessChoice::weak() };
    let options = Options { memory: Some(1 << 30), store: Some(store), fair, ..Options::default() };
    let plan = Plan::of(&options, plan::Question::about(Feature::Automaton), &ModelFacts::default()).unwrap();
    let answer = search(&question, &plan, &Control::new(None)).unwrap();
    let found = answer.accepted.expect("decided");
    if found {
        moves.verify(&answer.lasso.expect("a run"), asked);
    }
    found
}

/// Every choice of processes, among them those where strong fairness is what decides.
#[test]
fn fair_runs_are_those_of_the_definition() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0u64);
    let mut random = Random(0x5eed_0010 + seed);
    let (mut found, mut none, mut by_strong, mut in_part) = (0, 0, 0, 0);
    for round in 0..2000 {
        let moves = Moves::random(&mut random);
        let mut asked: Asked = [None; PROCESSES];
        for kind in &mut asked {
            *kind = [None, Some(FairnessKind::Weak), Some(FairnessKind::Strong), Some(FairnessKind::Strong)]
                [random.below(4)];
        }
        let expected = moves.some_run(&asked, false);
        let store = if round % 4 == 0 { StoreChoice::Collapse } else { StoreChoice::Table };
        assert_eq!(decide(&moves, &asked, store), expected, "{asked:?} in {moves:?}");
        let weaker = asked.map(|kind| kind.map(|_| FairnessKind::Weak));
        by_strong += (!expected && moves.some_run(&weaker, false)) as usize;
        in_part += (expected && !moves.some_run(&asked, true)) as usize;
        found += expected as usize;
        none += !expected as usize;
    }
    println!(
        "{found} have a fair run, {none} have none, {by_strong} of them by strong fairness; {in_part} in a part of a component"
    );
    assert!(found > 100 && none > 100 && by_strong > 20 && in_part > 20, "{found} {none} {by_strong} {in_part}");
}
