//! One set instead of several: copies of states count which sets have been met in turn. And marks on states instead of
//! edges, as never claims want them.

use crate::automaton::{Automaton, Edge, Guard, Marks};
use crate::diagram::Diagram;
use crate::graph::{Arc, Graph, every};
use crate::limits::{Meter, TooLarge};
use crate::marks::Outside;
use crate::translate::reduce;
use std::collections::HashMap;

/// With so many sets every order in which to meet them is tried.
const PERMUTED: usize = 4;
/// How many steps may go into making the result smaller.
const STEPS: u64 = 2_000_000;

impl Automaton {
    /// An automaton with one set at most that accepts the same words.
    pub fn degeneralised(&self) -> Automaton {
        self.counting(false)
    }

    /// An automaton with one set that accepts the same words, in which all edges of a state have the mark or none has.
    pub fn state_based(&self) -> Automaton {
        self.counting(true)
    }

    fn counting(&self, on_states: bool) -> Automaton {
        let mut best: Option<Automaton> = None;
        let smaller = |a: &Automaton, b: &Automaton| a.size() < b.size();
        for order in orders(self.sets) {
            let mut diagram = Diagram::new(Meter::free().part(STEPS));
            let found = match self.reduced_counting(&order, on_states, &mut diagram) {
                Ok(automaton) => automaton,
                Err(_) if best.is_some() => continue,
                // Too large to work on: as it comes, with its conditions as they are.
                Err(_) => self.plain_counting(&order, on_states),
            };
            if best.as_ref().is_none_or(|best| smaller(&found, best)) {
                best = Some(found);
            }
        }
        best.unwrap_or_else(|| self.clone())
    }

    fn size(&self) -> (usize, usize) {
        (self.states.len(), self.states.iter().map(Vec::len).sum())
    }

    fn reduced_counting(&self, order: &[usize], on_states: bool, diagram: &mut Diagram) -> Result<Automaton, TooLarge> {
        let mut graph = Graph::of(self, diagram)?;
        graph.trim();
        graph.settle_marks(Outside::None);
        let mut graph = graph.counted(order, on_states);
        // When it takes too long it is reduced as far as it came.
        let _ = reduce(&mut graph, diagram, on_states);
        if on_states {
            graph.sets = 1;
        }
        diagram.meter = Meter::free().part(STEPS);
        graph.automaton(self.atoms, diagram)
    }

    fn plain_counting(&self, order: &[usize], on_states: bool) -> Automaton {
        let mut guards: Vec<&Guard> = Vec::new();
        let mut graph = Graph { states: Vec::new(), initial: self.initial, sets: self.sets };
        for edges in &self.states {
            let mut arcs = Vec::new();
            for edge in edges.iter().filter(|edge| edge.guard.is_satisfiable()) {
                guards.push(&edge.guard);
                arcs.push(Arc { to: edge.to, marks: edge.marks & every(self.sets), label: guards.len() as u32 - 1 });
            }
            graph.states.push(arcs);
        }
        graph.trim();
        graph.settle_marks(Outside::None);
        let graph = graph.counted(order, on_states);
        let edge = |arc: &Arc| Edge { guard: guards[arc.label as usize].clone(), to: arc.to, marks: arc.marks };
        let states = graph.states.iter().map(|arcs| arcs.iter().map(edge).collect()).collect();
        Automaton { atoms: self.atoms, states, initial: graph.initial, sets: graph.sets }
    }
}

/// Orders of so many sets that are worth trying.
fn orders(sets: usize) -> Vec<Vec<usize>> {
    if sets > PERMUTED {
        return vec![(0..sets).collect(), (0..sets).rev().collect()];
    }
    let mut orders = vec![Vec::new()];
    for set in 0..sets {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).map(move |place| {
                let mut order = order.clone();
                order.insert(place, set);
                order
            })
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

impl Graph {
    /// Copies of the states count the sets in this order (numbers that there are not are passed over). Conditions are
    /// not looked at.
    fn counted(&self, order: &[usize], on_states: bool) -> Graph {
        if !on_states && self.sets <= 1 {
            return self.clone();
        }
        let order: Vec<usize> = order.iter().copied().filter(|set| *set < self.sets).collect();
        let levels = order.len();
        let found = self.components();
        let accepting = self.accepting(&found);
        // The marks that every edge which stays has: whoever comes to the state meets them.
        let ahead: Vec<Marks> = (0..self.states.len())
            .map(|state| {
                let stay = self.states[state].iter().filter(|arc| found.of[arc.to as usize] == found.of[state]);
                stay.fold(every(self.sets), |marks, arc| marks & arc.marks)
            })
            .collect();
        let count = |from: usize, marks: Marks| {
            let met = order[from..].iter().take_while(|set| marks >> **set & 1 == 1).count();
            from + met
        };
        let mut copies = Copies::default();
        // Where a run that comes from outside begins: any copy will do, so one that is there.
        let enter = |copies: &mut Copies, state: u32| match copies.first.get(&state) {
            Some(&copy) => copy,
            None if !accepting[found.of[state as usize] as usize] => copies.number(state, 0),
            None => {
                let level = count(0, ahead[state as usize]);
                copies.number(state, if on_states || level < levels { level } else { 0 })
            }
        };
        let initial = enter(&mut copies, self.initial);
        let mut states = Vec::new();
        while states.len() < copies.all.len() {
            let (state, level) = copies.all[states.len()];
            let component = found.of[state as usize];
            let accepts = accepting[component as usize];
            let mut arcs = Vec::new();
            for arc in &self.states[state as usize] {
                let inside = accepts && found.of[arc.to as usize] == component;
                let (to, marked) = if !inside {
                    let to = if found.of[arc.to as usize] == component {
                        copies.number(arc.to, 0)
                    } else {
                        enter(&mut copies, arc.to)
                    };
                    (to, false)
                } else if on_states {
                    let met = count(if level == levels { 0 } else { level }, arc.marks);
                    (copies.number(arc.to, count(met, ahead[arc.to as usize])), false)
                } else {
                    let met = count(level, arc.marks);
                    let again = count(0, arc.marks);
                    let to = if met < levels { met } else { again % levels.max(1) };
                    (copies.number(arc.to, to), met == levels)
                };
                let marked = if on_states { accepts && level == levels } else { marked };
                arcs.push(Arc { to, marks: Marks::from(marked), label: arc.label });
            }
            states.push(arcs);
        }
        let mut graph = Graph { states, initial, sets: 1 };
        graph.keep_lowest(&copies.all);
        graph.trim();
        graph
    }

    /// Of the copies of a state, all of which accept the same, uses those in the last component that has one.
    fn keep_lowest(&mut self, copies: &[(u32, usize)]) {
        let found = self.components();
        let mut lowest: HashMap<u32, u32> = HashMap::new();
        for (copy, &(state, _)) in copies.iter().enumerate() {
            let best = lowest.entry(state).or_insert(copy as u32);
            if found.of[copy] < found.of[*best as usize] {
                *best = copy as u32;
            }
        }
        let instead = |copy: u32| {
            let best = lowest[&copies[copy as usize].0];
            if found.of[best as usize] < found.of[copy as usize] { best } else { copy }
        };
        self.states.iter_mut().flatten().for_each(|arc| arc.to = instead(arc.to));
        self.initial = instead(self.initial);
    }

    /// The same marks on all edges of a state, which are those that its component needs.
    pub(crate) fn settle_states(&mut self, outside: Outside) {
        let found = self.components();
        let accepting = self.accepting(&found);
        let unmarked = crate::component::components(self.states.len(), |state, i| {
            let arc = self.states[state].get(i)?;
            // An edge with the mark leads nowhere here: to the state itself, which makes no difference to components.
            Some(if arc.marks == 0 { arc.to as usize } else { state })
        });
        let mut weak = accepting.clone();
        for (state, arcs) in self.states.iter().enumerate() {
            let turns = |arc: &&Arc| arc.marks == 0 && unmarked.of[arc.to as usize] == unmarked.of[state];
            if arcs.iter().any(|arc| turns(&arc)) {
                weak[found.of[state] as usize] = false;
            }
        }
        for (state, arcs) in self.states.iter_mut().enumerate() {
            let own = found.of[state] as usize;
            let stays = arcs.iter().any(|arc| found.of[arc.to as usize] as usize == own);
            let marked = match () {
                () if weak[own] => true,
                () if accepting[own] => arcs.iter().any(|arc| arc.marks != 0),
                () => !stays && outside == Outside::All,
            };
            arcs.iter_mut().for_each(|arc| arc.marks = Marks::from(marked));
        }
    }
}

/// Copies of states at levels, numbered as they come.
#[derive(Default)]
struct Copies {
    all: Vec<(u32, usize)>,
    numbers: HashMap<(u32, usize), u32>,
    first: HashMap<u32, u32>,
}

impl Copies {
    fn number(&mut self, state: u32, level: usize) -> u32 {
        let all = &mut self.all;
        let number = *self.numbers.entry((state, level)).or_insert_with(|| {
            all.push((state, level));
            all.len() as u32 - 1
        });
        self.first.entry(state).or_insert(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use crate::examples::Chance;
    use crate::limits::Limits;
    use crate::translate::translate;

    /// What is used when an automaton is too large to work on.
    #[test]
    fn counting_without_looking_at_conditions_accepts_the_same() {
        let mut chance = Chance(0x5eed_0009);
        for round in 0..600 {
            let formula = chance.formula(4 + round % 12, 3);
            let automaton = translate(&formula, &Limits::default()).expect("small enough");
            let order: Vec<usize> = (0..automaton.sets).rev().collect();
            let (one_set, on_states) =
                (automaton.plain_counting(&order, false), automaton.plain_counting(&order, true));
            assert!(one_set.sets <= 1 && on_states.sets <= 1);
            for _ in 0..40 {
                let (stem, cycle) = chance.word(3);
                let holds = formula.holds_on(&stem, &cycle);
                assert_eq!(one_set.accepts(&stem, &cycle), holds, "{formula} on {stem:?} {cycle:?}");
                assert_eq!(on_states.accepts(&stem, &cycle), holds, "{formula} on {stem:?} {cycle:?}");
            }
        }
    }
}
