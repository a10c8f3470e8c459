//! The bindings of a transition's variables that its guard allows, found without looking at all combinations.
//!
//! The guard is cut into conjuncts. Variables are bound one after the other; one that an equality determines by those
//! before it has only one value, and a conjunct is tested as soon as all its variables are bound.

use super::super::counted::At;
use super::super::wrong::Wrong;
use super::values::{Guard, Value};
use scrimp_system::{Rounds, Stop};

/// Variables that one transition may have.
const MOST_VARIABLES: usize = 500;

/// How many values may still be tried, and whether there is time to try them.
#[derive(Debug)]
pub(super) struct Tries<'s> {
    left: u64,
    rounds: Rounds<'s>,
}

impl<'s> Tries<'s> {
    pub fn new(left: u64, stop: &'s Stop) -> Tries<'s> {
        Tries { left, rounds: Rounds::new(stop, 1 << 12) }
    }

    /// Another one.
    #[inline]
    pub fn take(&mut self, at: At) -> Result<(), Wrong> {
        let too_many = || Wrong::large(at, "too many combinations of values are tried for the transitions' guards");
        self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
        Ok(self.rounds.next()?)
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    /// Conjuncts without variables.
    first: Vec<Guard>,
    steps: Vec<Step>,
    at: At,
}

#[derive(Debug)]
struct Step {
    variable: usize,
    size: u64,
    /// The only value that it can have.
    determined: Option<Value>,
    tests: Vec<Guard>,
}

struct Conjunct {
    guard: Guard,
    variables: Vec<usize>,
}

impl Plan {
    /// An order for these variables, given with the sizes of their sorts.
    pub fn new(conjuncts: Vec<Guard>, variables: &[(usize, u64)], at: At) -> Result<Plan, Wrong> {
        if variables.len() > MOST_VARIABLES {
            return Err(Wrong::new(at, format!("a transition with more than {MOST_VARIABLES} variables")));
        }
        let mut parts = Vec::new();
        conjuncts.into_iter().for_each(|guard| flatten(guard, &mut parts));
        let mut waiting: Vec<Conjunct> = parts.into_iter().map(Conjunct::new).collect();
        let mut free = variables.to_vec();
        let mut plan = Plan { first: ready(&mut waiting, &free), steps: Vec::new(), at };
        while !free.is_empty() {
            let (place, determined) = next(&waiting, &free);
            let (variable, size) = free.swap_remove(place);
            let tests = ready(&mut waiting, &free);
            plan.steps.push(Step { variable, size, determined, tests });
        }
        Ok(plan)
    }

    /// Calls for every binding. `tries` is how many values may still be tried.
    pub fn each(
        &self,
        binding: &mut [u64],
        tries: &mut Tries,
        found: &mut dyn FnMut(&[u64]) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        if !passes(&self.first, binding) {
            return Ok(());
        }
        self.from(0, binding, tries, found)
    }

    fn from(
        &self,
        step: usize,
        binding: &mut [u64],
        tries: &mut Tries,
        found: &mut dyn FnMut(&[u64]) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let Some(Step { variable, size, determined, tests }) = self.steps.get(step) else { return found(binding) };
        let values = match determined.as_ref().map(|value| value.of(binding)) {
            None => 0..*size,
            Some(Some(value)) if value < *size => value..value + 1,
            Some(_) => 0..0,
        };
        for value in values {
            tries.take(self.at)?;
            binding[*variable] = value;
            if passes(tests, binding) {
                self.from(step + 1, binding, tries, found)?;
            }
        }
        Ok(())
    }
}

impl Conjunct {
    fn new(guard: Guard) -> Conjunct {
        let mut variables = Vec::new();
        guard.variables(&mut |variable| variables.push(variable));
        variables.sort_unstable();
        variables.dedup();
        Conjunct { guard, variables }
    }
}

fn passes(tests: &[Guard], binding: &[u64]) -> bool {
    tests.iter().all(|test| test.holds(binding) == Some(true))
}

/// Cuts conjunctions, negated disjunctions, and equalities of tuples.
pub(super) fn flatten(guard: Guard, out: &mut Vec<Guard>) {
    match guard {
        Guard::All(parts) => parts.into_iter().for_each(|part| flatten(part, out)),
        Guard::Not(inner) => match *inner {
            Guard::Any(parts) => parts.into_iter().for_each(|part| flatten(Guard::Not(Box::new(part)), out)),
            Guard::Not(inner) => flatten(*inner, out),
            other => out.push(Guard::Not(Box::new(other))),
        },
        // Tuples of the same sort have the same weights.
        Guard::Equal(Value::Tuple(a), Value::Tuple(b)) => {
            a.into_iter().zip(b).for_each(|((_, a), (_, b))| flatten(Guard::Equal(a, b), out));
        }
        other => out.push(other),
    }
}

/// Takes out the conjuncts none of whose variables is free.
fn ready(waiting: &mut Vec<Conjunct>, free: &[(usize, u64)]) -> Vec<Guard> {
    let is_free = |variable: &usize| free.iter().any(|(f, _)| f == variable);
    waiting.extract_if(.., |c| !c.variables.iter().any(is_free)).map(|conjunct| conjunct.guard).collect()
}

/// The place among the free variables of the one to bind next, and its only value if it is determined. Otherwise one that
/// soon lets a conjunct be tested, and of those the one with the fewest values.
fn next(waiting: &[Conjunct], free: &[(usize, u64)]) -> (usize, Option<Value>) {
    let is_free = |variable: &usize| free.iter().any(|(f, _)| f == variable);
    let still_free = |conjunct: &Conjunct| conjunct.variables.iter().filter(|v| is_free(v)).count();
    for conjunct in waiting.iter().filter(|conjunct| still_free(conjunct) == 1) {
        let Some(place) = free.iter().position(|(f, _)| conjunct.variables.contains(f)) else { continue };
        if let Guard::Equal(a, b) = &conjunct.guard {
            let solved = solve(a, b, free[place].0).or_else(|| solve(b, a, free[place].0));
            if solved.is_some() {
                return (place, solved);
            }
        }
    }
    let key = |&place: &usize| {
        let (variable, size) = free[place];
        let concerned = waiting.iter().filter(|conjunct| conjunct.variables.contains(&variable));
        (concerned.map(still_free).min().unwrap_or(usize::MAX), size, variable)
    };
    ((0..free.len()).min_by_key(key).unwrap_or(0), None)
}

/// The term that `left` = `right` makes the variable equal to.
pub(super) fn solve(left: &Value, right: &Value, variable: usize) -> Option<Value> {
    let (mut left, mut right) = (left, right.clone());
    let mut occurs = false;
    right.variables(&mut |v| occurs |= v == variable);
    while let Value::Shift { of, by, size, cyclic } = left {
        right = Value::Shift { of: Box::new(right), by: -by, size: *size, cyclic: *cyclic };
        left = of;
    }
    (matches!(left, Value::Variable(v) if *v == variable) && !occurs).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bindings(conjuncts: Vec<Guard>, sizes: &[u64], budget: u64) -> Result<Vec<Vec<u64>>, Wrong> {
        let variables: Vec<(usize, u64)> = sizes.iter().copied().enumerate().collect();
        let plan = Plan::new(conjuncts, &variables, At::default())?;
        let mut found = Vec::new();
        plan.each(&mut vec![0; sizes.len()], &mut Tries::new(budget, &Stop::never()), &mut |binding| {
            found.push(binding.to_vec());
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    fn shift(variable: usize, by: i64, size: u64, cyclic: bool) -> Value {
        Value::Shift { of: Box::new(Value::Variable(variable)), by, size, cyclic }
    }

    #[test]
    fn equalities_determine() {
        // Of 1000^3 combinations only some thousands are looked at.
        let next = Guard::Equal(shift(1, 1, 1000, true), Value::Variable(0));
        let last = Guard::Equal(Value::Variable(2), shift(1, -1, 1000, false));
        let found = bindings(vec![Guard::All(vec![next, last])], &[1000, 1000, 1000], 3000).unwrap();
        assert_eq!(found.len(), 999);
        assert!(found.contains(&vec![0, 999, 998]));
        assert!(found.contains(&vec![2, 1, 0]));
    }

    #[test]
    fn without_a_guard_everything_is_a_binding() {
        assert_eq!(bindings(Vec::new(), &[3, 4], 100).unwrap().len(), 12);
        assert!(bindings(Vec::new(), &[30, 40], 100).is_err());
        assert_eq!(bindings(vec![Guard::Constant(false)], &[3, 4], 0).unwrap().len(), 0);
    }

    #[test]
    fn all_ways_to_write_a_guard() {
        let (x, y) = (Value::Variable(0), Value::Variable(1));
        let equal = Guard::Equal(x.clone(), y.clone());
        let neither = Guard::Not(Box::new(Guard::Any(vec![equal, Guard::Less(x.clone(), y.clone())])));
        assert_eq!(bindings(vec![neither], &[3, 3], 100).unwrap(), [[1, 0], [2, 0], [2, 1]]);
        let tuples = Guard::Equal(
            Value::Tuple(vec![(3, x.clone()), (1, y.clone())]),
            Value::Tuple(vec![(3, y.clone()), (1, Value::Constant(2))]),
        );
        assert_eq!(bindings(vec![tuples], &[3, 3], 100).unwrap(), [[2, 2]]);
        let square = Guard::Equal(Value::Variable(0), shift(0, 1, 3, true));
        assert_eq!(bindings(vec![square], &[3, 3], 100).unwrap().len(), 0);
    }
}
