//! Checks evidence without knowing how it was made: every step exists, every run shows what it is to show, and everything
//! that is said along it is true by the book.

use super::reference::{Graph, fair_meaning, meaning};
use scrimp_core::Evidence;
use scrimp_temporal::Formula;

/// A graph, and the runs in it that count.
pub struct Book<'g> {
    pub graph: &'g Graph,
    pub fairness: &'g [u32],
}

fn named(formula: &Formula<u32>) -> String {
    formula.map(&mut |atom| format!("p{atom}")).to_string()
}

impl Book<'_> {
    pub fn meaning(&self, formula: &Formula<u32>) -> Vec<bool> {
        match self.fairness {
            [] => meaning(self.graph, formula),
            _ => fair_meaning(self.graph, formula, self.fairness),
        }
    }

    /// Fails unless the evidence shows that the formula is as it says.
    pub fn verify(&self, formula: &Formula<u32>, told: &Evidence) {
        assert_eq!(told.formula, named(formula));
        let mut run = vec![Graph::number(&told.initial) as usize];
        assert_eq!(told.holds, self.meaning(formula)[run[0]], "{formula}");
        for (event, state) in &told.steps {
            let next = Graph::number(state);
            assert_eq!(self.graph.lists[run[run.len() - 1]][*event as usize], next, "{formula}: no such step");
            run.push(next as usize);
        }
        let last = run[run.len() - 1];
        assert!(!told.ends || self.graph.lists[last].is_empty());
        if let Some(cycle) = told.cycle {
            assert!(cycle < told.steps.len() && run[cycle] == last, "{formula}: it does not go round");
        }
        let operands = match formula {
            Formula::AllPaths(path) | Formula::ExistsPath(path) => {
                let exists = matches!(formula, Formula::ExistsPath(_));
                assert_eq!(told.universal, exists != told.holds, "{formula}");
                if told.universal {
                    assert!(run.len() == 1 && told.parts.is_empty());
                } else {
                    self.shows(path, told, &run);
                }
                path.operands()
            }
            _ => {
                assert!(!told.universal && run.len() == 1 && !told.ends);
                formula.operands()
            }
        };
        let mut values = vec![None; operands.len()];
        for (at, part) in &told.parts {
            let found = operands.iter().position(|operand| named(operand) == part.formula);
            let operand = found.expect("a part is about an operand");
            assert_eq!(Graph::number(&part.initial) as usize, run[*at]);
            self.verify(operands[operand], part);
            // Operands may be equal; what is said of one then goes for the others.
            for i in (0..operands.len()).filter(|&i| operands[i] == operands[operand]) {
                values[i] = Some(part.holds);
            }
        }
        if !formula.is_state() {
            let (any, all) = (|v| values.contains(&Some(v)), |v| values.iter().all(|value| *value == Some(v)));
            assert!(
                match (formula, told.holds) {
                    (Formula::Not(_), holds) => all(!holds),
                    (Formula::And(_), true) => all(true),
                    (Formula::And(_), false) => any(false),
                    (Formula::Or(_), true) => any(true),
                    (Formula::Or(_), false) => all(false),
                    (Formula::Implies(..), true) => values[0] == Some(false) || values[1] == Some(true),
                    (Formula::Implies(..), false) => values == [Some(true), Some(false)],
                    (Formula::Equivalent(..), holds) => values[0].is_some() && (values[0] == values[1]) == holds,
                    _ => true,
                },
                "{formula}: the parts do not say why"
            );
        }
    }

    /// Is the path formula decided on the run, whatever may come after it?
    fn shows(&self, path: &Formula<u32>, told: &Evidence, run: &[usize]) {
        let fair = |at: &[usize]| self.fairness.iter().all(|&c| at.iter().any(|&s| self.graph.has(c, s)));
        let (last, mut whole) = (run[run.len() - 1], run.to_vec());
        match told.cycle {
            Some(cycle) => {
                assert!(fair(&run[cycle..]), "{path}: the run is not fair");
                whole.extend_from_slice(&run[cycle + 1..]);
            }
            None if told.ends => assert!(fair(&[last]), "{path}: the end is not fair"),
            None => assert!(self.meaning(&Formula::ExistsPath(Formula::Globally(Formula::True.into()).into()))[last]),
        }
        let sets: Vec<Vec<bool>> = path.operands().into_iter().map(|operand| self.meaning(operand)).collect();
        let (a, b) = (&sets[0], sets.last().unwrap());
        let decided = |s: usize| match path {
            Formula::Finally(_) => a[s].then_some(true),
            Formula::Globally(_) => (!a[s]).then_some(false),
            Formula::Until(..) | Formula::WeakUntil(..) => b[s].then_some(true).or((!a[s]).then_some(false)),
            _ => (!b[s]).then_some(false).or(a[s].then_some(true)),
        };
        let at_last = matches!(path, Formula::Globally(_) | Formula::WeakUntil(..) | Formula::Release(..));
        let for_ever = (told.cycle.is_some() || told.ends).then_some(at_last);
        let value = match path {
            Formula::Next(_) => whole.get(1).map(|&s| a[s]),
            _ => whole.iter().find_map(|&s| decided(s)).or(for_ever),
        };
        assert_eq!(value, Some(told.holds), "{path}: the run {run:?} does not show it");
        if matches!(path, Formula::Finally(_) | Formula::Globally(_)) && for_ever.is_none() {
            assert_eq!(Some(told.steps.len()), self.distance(run[0], a, told.holds), "{path}: there is a shorter run");
        }
    }

    /// How many steps it takes to a state with a value from which a fair run starts.
    fn distance(&self, from: usize, set: &[bool], value: bool) -> Option<usize> {
        let fair = self.meaning(&Formula::ExistsPath(Formula::Globally(Formula::True.into()).into()));
        let (mut level, mut seen) = (vec![from], vec![false; set.len()]);
        for steps in 0..=set.len() {
            if level.iter().any(|&s| set[s] == value && fair[s]) {
                return Some(steps);
            }
            level.iter().for_each(|&s| seen[s] = true);
            let next = level.iter().flat_map(|&s| &self.graph.lists[s]).map(|&s| s as usize);
            level = next.filter(|&s| !seen[s]).collect();
        }
        None
    }
}
