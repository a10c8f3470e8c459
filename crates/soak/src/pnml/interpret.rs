//! What a net means: markings, bindings and firings, by the standard and by what tools agree on.

use super::tree::*;
use crate::oracle::graph::{Meaning, Steps};

/// Tokens: for each place, of each colour.
pub type Marking = Vec<Vec<u64>>;

/// A transition with values for its variables: what it does in each place to each colour.
#[derive(Debug, Clone)]
pub struct Firing {
    pub transition: usize,
    taken: Marking,
    given: Marking,
    tested: Marking,
    /// Fewer than so many, where there is a limit.
    below: Vec<Vec<Option<u64>>>,
    emptied: Vec<bool>,
}

/// There is no such colour, or more is taken away from a multiset than is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    Colour,
    Number,
}

#[derive(Debug)]
pub struct Interpreter<'m> {
    pub model: &'m Model,
    pub firings: Vec<Firing>,
    initial: Marking,
}

impl<'m> Interpreter<'m> {
    /// Nothing where some multiset of a binding that the guard allows is less than empty.
    pub fn new(model: &'m Model) -> Option<Interpreter<'m>> {
        let mut new = Interpreter { model, firings: Vec::new(), initial: Vec::new() };
        for place in &model.places {
            let tokens = new.multiset(&place.marking, place.sort, &[]).ok()?;
            new.initial.push(tokens);
        }
        for number in 0..model.transitions.len() {
            let used = variables(&model.transitions[number]);
            let mut binding = vec![0; model.variables.len()];
            new.bind(number, &used, &mut binding)?;
        }
        Some(new)
    }

    /// Tries every value of every variable that the transition has.
    fn bind(&mut self, number: usize, used: &[usize], binding: &mut Vec<usize>) -> Option<()> {
        let Some((variable, rest)) = used.split_first() else {
            return match self.firing(number, binding) {
                Ok(firing) => {
                    self.firings.extend(firing);
                    Some(())
                }
                // What a variable cannot be given does not happen.
                Err(Undefined::Colour) => Some(()),
                Err(Undefined::Number) => None,
            };
        };
        for value in 0..self.model.size(self.model.variables[*variable]) {
            binding[*variable] = value;
            self.bind(number, rest, binding)?;
        }
        Some(())
    }

    fn firing(&self, number: usize, binding: &[usize]) -> Result<Option<Firing>, Undefined> {
        let transition = &self.model.transitions[number];
        if let Some(guard) = &transition.guard
            && !self.guard(guard, binding)?
        {
            return Ok(None);
        }
        let none: Marking = self.model.places.iter().map(|place| vec![0; self.model.size(place.sort)]).collect();
        let mut firing = Firing {
            transition: number,
            taken: none.clone(),
            given: none.clone(),
            tested: none.clone(),
            below: none.iter().map(|colours| vec![None; colours.len()]).collect(),
            emptied: vec![false; none.len()],
        };
        for arc in &transition.arcs {
            let term = self.multiset(&arc.term, self.model.places[arc.place].sort, binding)?;
            for (colour, count) in term.into_iter().enumerate() {
                let at = (arc.place, colour);
                match arc.kind {
                    Kind::Taking => firing.taken[at.0][at.1] += count,
                    Kind::Giving => firing.given[at.0][at.1] += count,
                    Kind::Test => firing.tested[at.0][at.1] = firing.tested[at.0][at.1].max(count),
                    Kind::Inhibitor if count > 0 => {
                        let below = &mut firing.below[at.0][at.1];
                        *below = Some(below.map_or(count, |before| before.min(count)));
                    }
                    Kind::Inhibitor => {}
                    Kind::Reset => firing.emptied[at.0] = true,
                }
            }
        }
        Ok(Some(firing))
    }

    /// A colour and its sort; `usize::MAX` stands for the sort of parts.
    fn value(&self, value: &Value, binding: &[usize]) -> Result<(usize, usize), Undefined> {
        let model = self.model;
        Ok(match value {
            Value::Variable(number) => (binding[*number], model.variables[*number]),
            Value::Constant(sort, colour) => (*colour, *sort),
            Value::Successor(inner) | Value::Predecessor(inner) => {
                let (colour, sort) = self.value(inner, binding)?;
                let size = model.size(sort);
                let up = matches!(value, Value::Successor(_));
                let next = if up { colour + 1 } else { colour + size - 1 };
                let inside = if up { next < size } else { colour > 0 };
                if !inside && !matches!(model.sorts[sort], Sort::Cyclic(_)) {
                    return Err(Undefined::Colour);
                }
                (next % size, sort)
            }
            Value::Tuple(_) => return Err(Undefined::Colour),
            Value::PartOf(partition, inner) => {
                let (colour, _) = self.value(inner, binding)?;
                (model.partitions[*partition].parts[colour], usize::MAX)
            }
            Value::Part(_, part) => (*part, usize::MAX),
        })
    }

    /// A colour where its sort is known: only a tuple needs to be told.
    fn colour(&self, value: &Value, sort: usize, binding: &[usize]) -> Result<usize, Undefined> {
        let (Value::Tuple(list), Sort::Product(parts)) = (value, self.model.sorts.get(sort).unwrap_or(&Sort::Dot))
        else {
            return self.value(value, binding).map(|(colour, _)| colour);
        };
        let mut colour = 0;
        for (value, part) in list.iter().zip(parts) {
            colour = colour * self.model.size(*part) + self.colour(value, *part, binding)?;
        }
        Ok(colour)
    }

    fn guard(&self, guard: &Guard, binding: &[usize]) -> Result<bool, Undefined> {
        Ok(match guard {
            Guard::Truth(value) => *value,
            Guard::Compare(comparison, a, b) => {
                let sort = sort_of(self.model, a).or(sort_of(self.model, b)).unwrap_or(usize::MAX);
                let (a, b) = (self.colour(a, sort, binding)?, self.colour(b, sort, binding)?);
                comparison.holds(a, b)
            }
            Guard::Not(inner) => !self.guard(inner, binding)?,
            // Everything must be defined, whatever decides.
            Guard::And(list) => self.guards(list, binding)?.into_iter().all(|value| value),
            Guard::Or(list) => self.guards(list, binding)?.into_iter().any(|value| value),
            Guard::Imply(a, b) => {
                let (a, b) = (self.guard(a, binding)?, self.guard(b, binding)?);
                !a || b
            }
        })
    }

    fn guards(&self, list: &[Guard], binding: &[usize]) -> Result<Vec<bool>, Undefined> {
        list.iter().map(|guard| self.guard(guard, binding)).collect()
    }

    fn multiset(&self, term: &Multiset, sort: usize, binding: &[usize]) -> Result<Vec<u64>, Undefined> {
        let size = self.model.size(sort);
        let mut tokens = vec![0; size];
        match term {
            Multiset::Plain(count) => tokens[0] = *count,
            Multiset::One(value) => tokens[self.colour(value, sort, binding)?] = 1,
            Multiset::Times(factor, inner) | Multiset::Scaled(factor, inner) => {
                tokens = self.multiset(inner, sort, binding)?.into_iter().map(|count| count * factor).collect();
            }
            Multiset::Add(list) => {
                for inner in list {
                    let more = self.multiset(inner, sort, binding)?;
                    tokens.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
            }
            Multiset::Subtract(a, b) => {
                let (a, b) = (self.multiset(a, sort, binding)?, self.multiset(b, sort, binding)?);
                let less = a.iter().zip(&b).map(|(a, b)| a.checked_sub(*b).ok_or(Undefined::Number));
                tokens = less.collect::<Result<_, _>>()?;
            }
            Multiset::All(_) => tokens = vec![1; size],
            Multiset::Tuple(list) => {
                let Sort::Product(parts) = &self.model.sorts[sort] else { return Err(Undefined::Colour) };
                let inner: Vec<Vec<u64>> = (list.iter().zip(parts))
                    .map(|(inner, part)| self.multiset(inner, *part, binding))
                    .collect::<Result<_, _>>()?;
                for (colour, count) in tokens.iter_mut().enumerate() {
                    let parts = self.model.parts(sort, colour);
                    *count = parts.iter().zip(&inner).map(|(part, inner)| inner[*part]).product();
                }
            }
            Multiset::Empty(_) => {}
        }
        Ok(tokens)
    }

    /// Can it fire in this marking?
    pub fn enabled(&self, firing: &Firing, marking: &Marking) -> bool {
        marking.iter().enumerate().all(|(place, colours)| {
            colours.iter().enumerate().all(|(colour, tokens)| {
                let need = firing.taken[place][colour].max(firing.tested[place][colour]);
                *tokens >= need && firing.below[place][colour].is_none_or(|below| *tokens < below)
            })
        })
    }

    fn fired(&self, firing: &Firing, marking: &Marking) -> Marking {
        let mut next = marking.clone();
        for (place, colours) in next.iter_mut().enumerate() {
            for (colour, tokens) in colours.iter_mut().enumerate() {
                *tokens = match firing.emptied[place] {
                    true => firing.given[place][colour],
                    false => *tokens - firing.taken[place][colour] + firing.given[place][colour],
                };
            }
        }
        next
    }

    pub fn sum(&self, sum: &Sum, marking: &Marking) -> i64 {
        let tokens = |place: usize, colour: Option<usize>| match colour {
            Some(colour) => marking[place][colour],
            None => marking[place].iter().sum(),
        };
        sum.terms.iter().map(|(place, colour, factor)| factor * tokens(*place, *colour) as i64).sum::<i64>()
            + sum.constant
    }

    pub fn holds(&self, condition: &Condition, marking: &Marking) -> bool {
        let enabled = |number: Option<usize>| {
            let fits = |firing: &&Firing| number.is_none_or(|number| firing.transition == number);
            self.firings.iter().filter(fits).any(|firing| self.enabled(firing, marking))
        };
        match condition {
            Condition::Truth(value) => *value,
            Condition::Deadlock => !enabled(None),
            Condition::Fireable(number) => enabled(Some(*number)),
            Condition::Compare(comparison, a, b) => comparison.holds(self.sum(a, marking), self.sum(b, marking)),
            Condition::Not(a) => !self.holds(a, marking),
            Condition::And(a, b) => self.holds(a, marking) && self.holds(b, marking),
            Condition::Or(a, b) => self.holds(a, marking) || self.holds(b, marking),
            Condition::Imply(a, b) => !self.holds(a, marking) || self.holds(b, marking),
        }
    }
}

impl Meaning for Interpreter<'_> {
    type State = Marking;

    fn initial(&self) -> Marking {
        self.initial.clone()
    }

    fn steps(&self, marking: &Marking) -> Steps<Marking> {
        let enabled = self.firings.iter().filter(|firing| self.enabled(firing, marking));
        let moves = enabled.map(|firing| (self.fired(firing, marking), vec![firing.transition])).collect();
        Steps { moves, ..Steps::default() }
    }
}

/// The sort of a value, where it shows it.
pub fn sort_of(model: &Model, value: &Value) -> Option<usize> {
    match value {
        Value::Variable(number) => Some(model.variables[*number]),
        Value::Constant(sort, _) => Some(*sort),
        Value::Successor(inner) | Value::Predecessor(inner) => sort_of(model, inner),
        Value::Tuple(_) | Value::PartOf(..) | Value::Part(..) => None,
    }
}

/// The variables of a transition.
fn variables(transition: &Transition) -> Vec<usize> {
    fn of_value(value: &Value, found: &mut Vec<usize>) {
        match value {
            Value::Variable(number) => found.push(*number),
            Value::Successor(inner) | Value::Predecessor(inner) | Value::PartOf(_, inner) => of_value(inner, found),
            Value::Tuple(list) => list.iter().for_each(|inner| of_value(inner, found)),
            Value::Constant(..) | Value::Part(..) => {}
        }
    }
    fn of_guard(guard: &Guard, found: &mut Vec<usize>) {
        match guard {
            Guard::Truth(_) => {}
            Guard::Compare(_, a, b) => [a, b].into_iter().for_each(|value| of_value(value, found)),
            Guard::Not(inner) => of_guard(inner, found),
            Guard::And(list) | Guard::Or(list) => list.iter().for_each(|inner| of_guard(inner, found)),
            Guard::Imply(a, b) => [a, b].into_iter().for_each(|inner| of_guard(inner, found)),
        }
    }
    fn of_term(term: &Multiset, found: &mut Vec<usize>) {
        match term {
            Multiset::One(value) => of_value(value, found),
            Multiset::Times(_, inner) | Multiset::Scaled(_, inner) => of_term(inner, found),
            Multiset::Add(list) | Multiset::Tuple(list) => list.iter().for_each(|inner| of_term(inner, found)),
            Multiset::Subtract(a, b) => [a, b].into_iter().for_each(|inner| of_term(inner, found)),
            Multiset::Plain(_) | Multiset::All(_) | Multiset::Empty(_) => {}
        }
    }
    let mut found = Vec::new();
    transition.guard.iter().for_each(|guard| of_guard(guard, &mut found));
    transition.arcs.iter().filter(|arc| arc.kind != Kind::Reset).for_each(|arc| of_term(&arc.term, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}
