//! What a network means: every operator makes of the steps of its operands its own, state by state.

use super::tree::*;
use crate::oracle::graph::{Meaning, Steps};

/// Some parts of a vector together: the offers they agree on, and the moves they make.
type Partial = (Option<String>, Vec<(usize, usize)>);

/// A step of part of a network: what is seen, and who moves where.
#[derive(Debug, Clone)]
struct Step {
    label: Label,
    moves: Vec<(usize, usize)>,
}

#[derive(Debug)]
pub struct Interpreter<'m> {
    model: &'m Model,
}

impl<'m> Interpreter<'m> {
    pub fn new(model: &'m Model) -> Interpreter<'m> {
        Interpreter { model }
    }

    fn matches(&self, pattern: &Pattern, label: &Label) -> bool {
        match pattern {
            Pattern::Gate(gate) => label.gate == *gate,
            Pattern::Exactly(own) => own == label,
            Pattern::Set(number) => self.model.sets[*number].iter().any(|inner| self.matches(inner, label)),
        }
    }

    /// The invisible label is in no list.
    fn is_in(&self, labels: &Labels, label: &Label) -> bool {
        let any = |list: &[Pattern]| list.iter().any(|pattern| self.matches(pattern, label));
        !label.is_hidden()
            && match labels {
                Labels::These(list) => any(list),
                Labels::All => true,
                Labels::AllBut(list) => !any(list),
            }
    }

    fn component(&self, number: usize, state: &[usize]) -> Vec<Step> {
        let lts = &self.model.files[self.model.components[number]];
        let leaving = lts.edges.iter().filter(|(from, ..)| *from == state[number]);
        leaving.map(|(_, label, to)| Step { label: label.clone(), moves: vec![(number, *to)] }).collect()
    }

    fn behaviour(&self, behaviour: &Behaviour, state: &[usize]) -> Vec<Step> {
        let all = |list: &[Behaviour]| list.iter().map(|inner| self.behaviour(inner, state)).collect::<Vec<_>>();
        match behaviour {
            Behaviour::Component(number) => self.component(*number, state),
            Behaviour::Beside(list) => self.joined(&all(list), &|_| false),
            Behaviour::Together(list) => self.joined(&all(list), &|label| !label.is_hidden()),
            Behaviour::On(gates, a, b) => {
                let parts = [self.behaviour(a, state), self.behaviour(b, state)];
                self.joined(&parts, &|label| self.is_in(&Labels::These(gates.clone()), label))
            }
            Behaviour::Par(gates, list) => {
                self.joined(&all(list), &|label| self.is_in(&Labels::These(gates.clone()), label))
            }
            Behaviour::Using(vectors, alone, list) => self.by_vectors(vectors, alone.iter().collect(), &all(list)),
            Behaviour::Hide(labels, inner) => self.hide(labels, self.behaviour(inner, state)),
            Behaviour::Cut(labels, inner) => self.cut(labels, self.behaviour(inner, state)),
            Behaviour::Rename(pairs, inner) => self.rename(pairs, self.behaviour(inner, state)),
        }
    }

    /// Labels like this happen in all operands together, all others in one.
    fn joined(&self, parts: &[Vec<Step>], together: &dyn Fn(&Label) -> bool) -> Vec<Step> {
        let mut steps: Vec<Step> = parts.iter().flatten().filter(|step| !together(&step.label)).cloned().collect();
        let (first, rest) = parts.split_first().map_or((&[][..], &[][..]), |(first, rest)| (first.as_slice(), rest));
        for step in first.iter().filter(|step| together(&step.label)) {
            let mut found = vec![step.clone()];
            for part in rest {
                found = (found.iter())
                    .flat_map(|one| part.iter().filter(|other| other.label == one.label).map(move |other| (one, other)))
                    .map(|(one, other)| {
                        let moves = one.moves.iter().chain(&other.moves).copied().collect();
                        Step { label: one.label.clone(), moves }
                    })
                    .collect();
            }
            steps.extend(found);
        }
        steps
    }

    fn by_vectors(&self, vectors: &[Vector], alone: Vec<&Labels>, parts: &[Vec<Step>]) -> Vec<Step> {
        let mut steps = Vec::new();
        for vector in vectors {
            // What is seen so far is known by its offers.
            let mut found: Vec<Partial> = vec![(None, Vec::new())];
            for (pattern, part) in vector.parts.iter().zip(parts).filter_map(|(p, part)| p.as_ref().map(|p| (p, part)))
            {
                let mut next = Vec::new();
                for (offers, moves) in &found {
                    for step in part.iter().filter(|s| !s.label.is_hidden() && self.matches(pattern, &s.label)) {
                        let exact = matches!(pattern, Pattern::Exactly(_));
                        if exact || offers.as_ref().is_none_or(|offers| *offers == step.label.offers) {
                            let offers = if exact { Some(String::new()) } else { Some(step.label.offers.clone()) };
                            next.push((offers, moves.iter().chain(&step.moves).copied().collect()));
                        }
                    }
                }
                found = next;
            }
            for (offers, moves) in found {
                let label = renamed(&vector.seen, &offers.unwrap_or_default());
                steps.push(Step { label, moves });
            }
        }
        for (number, part) in parts.iter().enumerate() {
            let named = |label: &Label| {
                vectors.iter().any(|v| v.parts[number].as_ref().is_some_and(|pattern| self.matches(pattern, label)))
            };
            let happens = |step: &&Step| {
                let listed = alone.iter().any(|labels| self.is_in(labels, &step.label));
                step.label.is_hidden() || listed && !named(&step.label)
            };
            steps.extend(part.iter().filter(happens).cloned());
        }
        steps
    }

    fn hide(&self, labels: &Labels, steps: Vec<Step>) -> Vec<Step> {
        let hidden = |step: Step| match self.is_in(labels, &step.label) {
            true => Step { label: Label::hidden(), ..step },
            false => step,
        };
        steps.into_iter().map(hidden).collect()
    }

    fn cut(&self, labels: &Labels, steps: Vec<Step>) -> Vec<Step> {
        steps.into_iter().filter(|step| !self.is_in(labels, &step.label)).collect()
    }

    /// All at once: the first pair that fits counts.
    fn rename(&self, pairs: &[(Pattern, Pattern)], steps: Vec<Step>) -> Vec<Step> {
        let change = |step: Step| {
            let fits = |(from, _): &&(Pattern, Pattern)| !step.label.is_hidden() && self.matches(from, &step.label);
            match pairs.iter().find(fits) {
                Some((_, to)) => Step { label: renamed(to, &step.label.offers), ..step },
                None => step,
            }
        };
        steps.into_iter().map(change).collect()
    }

    fn all_steps(&self, state: &[usize]) -> Vec<Step> {
        let lines = match &self.model.body {
            Body::Behaviour(behaviour) => return self.behaviour(behaviour, state),
            Body::Lines(lines) => lines,
        };
        let parts: Vec<Vec<Step>> = (0..self.model.components.len()).map(|c| self.component(c, state)).collect();
        let vectors: Vec<Vector> =
            lines.iter().filter_map(|l| if let Line::Sync(vector) = l { Some(vector.clone()) } else { None }).collect();
        let alone: Vec<&Labels> =
            lines.iter().filter_map(|l| if let Line::Alone(labels) = l { Some(labels) } else { None }).collect();
        let mut steps = self.by_vectors(&vectors, alone, &parts);
        for line in lines {
            steps = match line {
                Line::Hide(labels) => self.hide(labels, steps),
                Line::Cut(labels) => self.cut(labels, steps),
                Line::Rename(pairs) => self.rename(pairs, steps),
                Line::Sync(_) | Line::Alone(_) => steps,
            };
        }
        steps
    }
}

/// What a label with these offers becomes: a gate keeps them; what is hidden has none.
fn renamed(to: &Pattern, offers: &str) -> Label {
    match to {
        Pattern::Gate(gate) if gate == "i" => Label::hidden(),
        Pattern::Gate(gate) => Label { gate: gate.clone(), offers: offers.to_string() },
        Pattern::Exactly(label) => label.clone(),
        Pattern::Set(_) => Label::hidden(),
    }
}

impl Meaning for Interpreter<'_> {
    type State = Vec<usize>;

    fn initial(&self) -> Vec<usize> {
        self.model.components.iter().map(|file| self.model.files[*file].initial).collect()
    }

    fn steps(&self, state: &Vec<usize>) -> Steps<Vec<usize>> {
        let mut steps = Steps::default();
        for step in self.all_steps(state) {
            let forbidden = self.model.forbid.as_ref().is_some_and(|labels| self.is_in(labels, &step.label));
            let mut next = state.clone();
            step.moves.iter().for_each(|(component, to)| next[*component] = *to);
            // What is forbidden happens all the same, and is told.
            steps.forbidden += forbidden as usize;
            steps.moves.push((next, step.moves.iter().map(|(component, _)| *component).collect()));
        }
        steps
    }
}
