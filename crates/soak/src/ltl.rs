//! LTL by the book, slowly: what the real search is held against.
//!
//! For each state and each guess of which formulas hold in the next state, it is known which formulas hold here. A guess must
//! come true in the next state, and what is promised by an `U` must come. So a run that satisfies a formula is a path to
//! a strongly connected part of this graph in which every promise is kept. Nothing here is shared with the translation to
//! automata.

use crate::oracle::closure::{Closure, components};
use scrimp::{Batch, Fault, Model};
use scrimp_temporal::Formula;
use std::collections::{BTreeSet, HashMap};

/// The processes that runs must be fair to: those that may not wait for ever where they always can move, and those that may not
/// where they can again and again.
#[derive(Debug, Clone, Default)]
pub struct Fair {
    pub weak: Vec<usize>,
    pub strong: Vec<usize>,
}

/// Who takes part in what leads from a state, by an event, to another: first the one who begins.
pub type TakingPart<'a> = dyn Fn(&[u8], u32, &[u8]) -> Vec<usize> + 'a;

/// A state space written out: a state without successors goes on to itself for ever.
pub struct Explicit {
    pub initial: Vec<usize>,
    /// For each state its successors, and which processes take part, first the one that begins; none where nothing can happen.
    pub edges: Vec<Vec<(usize, Vec<usize>)>>,
    /// For each state which processes could begin something.
    pub enabled: Vec<Vec<usize>>,
    /// For each state which atoms hold.
    pub labels: Vec<u64>,
}

impl Explicit {
    /// All states of a model, unless there are more than that, or some are not known because a step does not end.
    pub fn of(
        model: &dyn Model,
        most: usize,
        processes: &TakingPart,
        label: &dyn Fn(&[u8]) -> u64,
    ) -> Option<Explicit> {
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut states: Vec<Vec<u8>> = Vec::new();
        let mut number = |state: &[u8], states: &mut Vec<Vec<u8>>| {
            *numbers.entry(state.to_vec()).or_insert_with(|| {
                states.push(state.to_vec());
                states.len() - 1
            })
        };
        let mut batch = Batch::new(model.state_bytes());
        model.initial(&mut batch);
        let initial = (0..batch.len()).map(|i| number(batch.state(i), &mut states)).collect();
        let mut all = Explicit { initial, edges: Vec::new(), enabled: Vec::new(), labels: Vec::new() };
        while let Some(state) = states.get(all.edges.len()).cloned() {
            if states.len() > most {
                return None;
            }
            let successors = crate::replay::successors(model, &state);
            if successors.faults().iter().any(|record| record.fault == Fault::Endless) {
                return None;
            }
            let mut edges = Vec::new();
            for i in 0..successors.len() {
                let next = successors.state(i);
                edges.push((number(next, &mut states), processes(&state, successors.event(i), next)));
            }
            let mut enabled: Vec<usize> =
                edges.iter().filter_map(|(_, processes)| processes.first().copied()).collect();
            enabled.sort_unstable();
            enabled.dedup();
            if edges.is_empty() {
                edges.push((all.edges.len(), Vec::new()));
            }
            all.edges.push(edges);
            all.enabled.push(enabled);
            all.labels.push(label(&state));
        }
        Some(all)
    }

    /// Is there a run that satisfies the formula? With `fair`, only runs count in which every process moves again and again,
    /// unless it again and again cannot.
    pub fn some_run(&self, formula: &Formula<usize>, fair: bool) -> bool {
        let everyone: BTreeSet<usize> = self.enabled.iter().flatten().copied().filter(|_| fair).collect();
        self.some_fair_run(formula, &Fair { weak: everyone.into_iter().collect(), strong: Vec::new() })
    }

    /// The same, where only runs count that are fair. To a process of strong fairness a run is fair in one of two ways: from some
    /// time on it never can move, or it moves again and again. Each set of processes is tried for which it is the first.
    pub fn some_fair_run(&self, formula: &Formula<usize>, fair: &Fair) -> bool {
        let mut closure = Closure::default();
        let top = add(&mut closure, formula);
        assert!(closure.nexts.len() < 20, "too many guesses");
        let guesses = 1usize << closure.nexts.len();
        let node = |state: usize, guess: usize| state * guesses + guess;
        // Which formulas hold: from the guess about the next state.
        let holds: Vec<Vec<bool>> = (0..self.labels.len() * guesses)
            .map(|at| closure.values(self.labels[at / guesses], at % guesses))
            .collect();
        // From where a guess about the next state is right: exactly one guess for each state before it.
        let mut edges: Vec<Vec<(usize, &[usize])>> = vec![Vec::new(); holds.len()];
        for (state, successors) in self.edges.iter().enumerate() {
            for (next, processes) in successors {
                for guess in 0..guesses {
                    let to = node(*next, guess);
                    let bits = closure.nexts.iter().enumerate();
                    let right = bits.fold(0, |sum, (bit, promised)| sum | (holds[to][*promised] as usize) << bit);
                    edges[node(state, right)].push((to, processes));
                }
            }
        }
        let starts = self.initial.iter().flat_map(|state| (0..guesses).map(move |guess| node(*state, guess)));
        let starts: Vec<usize> = starts.filter(|at| holds[*at][top]).collect();
        let reached: Vec<bool> = components(&edges, &starts).iter().map(Option::is_some).collect();
        (0..1usize << fair.strong.len()).any(|set| {
            let chosen = |wanted: bool| -> Vec<usize> {
                let bits = fair.strong.iter().enumerate().filter(|(bit, _)| (set >> bit & 1 == 1) == wanted);
                bits.map(|(_, process)| *process).collect()
            };
            let (still, moving) = (chosen(true), chosen(false));
            let allowed =
                |at: usize| reached[at] && !still.iter().any(|process| self.enabled[at / guesses].contains(process));
            let within: Vec<Vec<(usize, &[usize])>> = (0..edges.len())
                .map(|at| edges[at].iter().copied().filter(|(to, _)| allowed(at) && allowed(*to)).collect())
                .collect();
            self.goes_round(&closure, &holds, &within, &fair.weak, &moving)
        })
    }

    /// Is there a strongly connected part of these edges in which every promise is kept, the first processes are fairly treated
    /// in the weak sense, and the others move?
    fn goes_round(
        &self,
        closure: &Closure,
        holds: &[Vec<bool>],
        edges: &[Vec<(usize, &[usize])>],
        weak: &[usize],
        moving: &[usize],
    ) -> bool {
        let guesses = holds.len() / self.labels.len().max(1);
        let everywhere: Vec<usize> = (0..edges.len()).collect();
        let components = &components(edges, &everywhere);
        let mut parts: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, component) in components.iter().enumerate() {
            if let Some(component) = component {
                parts.entry(*component).or_default().push(at);
            }
        }
        parts.values().any(|part| {
            let within = |at: usize| {
                let component = components[at];
                edges[at].iter().filter(move |(to, _)| components[*to] == component)
            };
            part.iter().any(|at| within(*at).next().is_some())
                && closure
                    .promises
                    .iter()
                    .all(|(until, kept)| part.iter().any(|at| !holds[*at][*until] || holds[*at][*kept]))
                && weak.iter().all(|process| {
                    let moves = |at: usize| within(at).any(|(_, processes)| processes.contains(process));
                    part.iter().any(|at| !self.enabled[at / guesses].contains(process) || moves(*at))
                })
                && moving
                    .iter()
                    .all(|process| part.iter().any(|at| within(*at).any(|(_, processes)| processes.contains(process))))
        })
    }
}

/// The number of a formula among the parts of the closure.
fn add(closure: &mut Closure, formula: &Formula<usize>) -> usize {
    let all: Vec<usize> = formula.operands().into_iter().map(|operand| add(closure, operand)).collect();
    match formula {
        Formula::True => closure.truth(true),
        Formula::False => closure.truth(false),
        Formula::Atom(atom) => closure.atom(*atom),
        Formula::Not(_) => closure.not(all[0]),
        Formula::And(_) => {
            let always = closure.truth(true);
            all.into_iter().fold(always, |a, b| closure.and(a, b))
        }
        Formula::Or(_) => {
            let never = closure.truth(false);
            all.into_iter().fold(never, |a, b| closure.or(a, b))
        }
        Formula::Implies(..) => closure.implies(all[0], all[1]),
        Formula::Equivalent(..) => closure.equivalent(all[0], all[1]),
        Formula::Next(_) => closure.next(all[0]),
        Formula::Finally(_) => closure.finally(all[0]),
        Formula::Globally(_) => closure.globally(all[0]),
        Formula::Until(..) => closure.until(all[0], all[1]),
        Formula::WeakUntil(..) => closure.weak_until(all[0], all[1]),
        Formula::Release(..) => closure.release(all[0], all[1]),
        Formula::StrongRelease(..) => closure.strong_release(all[0], all[1]),
        Formula::AllPaths(_) | Formula::ExistsPath(_) => panic!("not a formula of LTL"),
    }
}

/// Does a formula hold on a word: these letters, and then again those from `again` on, for ever? By what each operator means.
pub fn holds_on_word(formula: &Formula<usize>, word: &[u64], again: usize) -> Vec<bool> {
    let all: Vec<Vec<bool>> =
        formula.operands().into_iter().map(|operand| holds_on_word(operand, word, again)).collect();
    let places = 0..word.len();
    let next = |place: usize| if place + 1 < word.len() { place + 1 } else { again };
    // The places that come, each once: from there on nothing new does.
    let coming = |place: usize| std::iter::successors(Some(place), move |at| Some(next(*at))).take(2 * word.len());
    // Is there a place where the second holds, and the first at all before?
    let until = |place: usize, a: &dyn Fn(usize) -> bool, b: &dyn Fn(usize) -> bool| {
        coming(place).take_while(|at| b(*at) || a(*at)).any(b)
    };
    let value = |place: usize| {
        let (a, b) = (|at: usize| all[0][at], |at: usize| all[1][at]);
        let (not_a, not_b) = (|at: usize| !all[0][at], |at: usize| !all[1][at]);
        match formula {
            Formula::True => true,
            Formula::False => false,
            Formula::Atom(atom) => word[place] >> atom & 1 == 1,
            Formula::Not(_) => !a(place),
            Formula::And(_) => all.iter().all(|operand| operand[place]),
            Formula::Or(_) => all.iter().any(|operand| operand[place]),
            Formula::Implies(..) => !a(place) || b(place),
            Formula::Equivalent(..) => a(place) == b(place),
            Formula::Next(_) => a(next(place)),
            Formula::Finally(_) => coming(place).any(a),
            Formula::Globally(_) => coming(place).all(a),
            Formula::Until(..) => until(place, &a, &b),
            Formula::WeakUntil(..) => coming(place).all(a) || until(place, &a, &b),
            Formula::Release(..) => !until(place, &not_a, &not_b),
            Formula::StrongRelease(..) => until(place, &b, &|at| a(at) && b(at)),
            Formula::AllPaths(_) | Formula::ExistsPath(_) => panic!("not a formula of LTL"),
        }
    };
    places.map(value).collect()
}
