//! The bindings of a transition for which a given token is there, and all others that it needs as well.
//!
//! Variables are bound by matching what arcs say against the tokens that there are, one arc after the other; only those that
//! no arc and no equality tells are tried one value after the other.

use super::super::wrong::Wrong;
use super::MOST;
use super::bindings::{Tries, flatten, solve};
use super::folded::{Inscription, Says, Transition};
use super::reached::Tokens;
use super::values::{Guard, Value, bind_parts};

/// A token that a transition needs: the place, and the element with its parts and their weights.
pub(super) struct Need {
    pub place: usize,
    pub parts: Vec<(u64, Value)>,
}

/// How the bindings of a transition are found.
pub(super) struct Joins {
    pub needs: Vec<Need>,
    /// Arcs whose needs are not single tokens: they are looked at when everything is bound.
    pub others: Vec<usize>,
    conjuncts: Vec<Guard>,
    /// What is done when a token of one of the needs is there, and at last where none is.
    orders: Vec<Vec<Step>>,
}

enum Step {
    /// A condition whose variables are bound.
    Test(usize),
    /// A variable that has one value only.
    Determined(usize, u64, Value),
    /// The tokens that a need can be met by.
    Match(usize),
    /// A variable that can have any value.
    Each(usize, u64),
}

impl Joins {
    pub fn new(transition: &Transition) -> Joins {
        let (mut needs, mut others) = (Vec::new(), Vec::new());
        for (number, inscription) in transition.inscriptions.iter().enumerate().filter(|(_, i)| i.needs()) {
            let Inscription { place, says, .. } = inscription;
            let elements = match says {
                Says::Term(term) => term.elements(),
                Says::Weight(_) | Says::All => Some(vec![&[][..]]),
            };
            match elements {
                Some(elements) => {
                    needs.extend(elements.iter().map(|parts| Need { place: *place, parts: parts.to_vec() }))
                }
                None => others.push(number),
            }
        }
        let mut conjuncts = Vec::new();
        transition.guards.iter().for_each(|guard| flatten(guard.clone(), &mut conjuncts));
        let mut joins = Joins { needs, others, conjuncts, orders: Vec::new() };
        joins.orders = (0..=joins.needs.len()).map(|first| joins.order(first, &transition.variables)).collect();
        joins
    }

    /// The steps after the variables that this need tells are bound.
    fn order(&self, first: usize, variables: &[(usize, u64)]) -> Vec<Step> {
        let mut free: Vec<(usize, u64)> = variables.to_vec();
        let mut needs: Vec<usize> = (0..self.needs.len()).filter(|need| *need != first).collect();
        let mut conjuncts: Vec<usize> = (0..self.conjuncts.len()).collect();
        let mut steps = Vec::new();
        if let Some(need) = self.needs.get(first) {
            need.told(&mut |variable| free.retain(|(v, _)| *v != variable));
        }
        loop {
            let is_free = |variable: usize| free.iter().any(|(v, _)| *v == variable);
            conjuncts.retain(|&number| {
                let mut open = false;
                self.conjuncts[number].variables(&mut |v| open |= is_free(v));
                if !open {
                    steps.push(Step::Test(number));
                }
                open
            });
            if free.is_empty() && needs.is_empty() {
                return steps;
            }
            // How many variables a need would bind; one that binds none is a test.
            let binds = |need: usize| {
                let (mut bound, mut new) = (false, 0);
                self.needs[need].told(&mut |v| if is_free(v) { new += 1 } else { bound = true });
                (new, bound)
            };
            let determined = conjuncts.iter().find_map(|&number| self.determined(number, &free));
            let is_ready = |need: usize| !self.needs[need].untold().into_iter().any(is_free);
            let test = needs.iter().position(|&need| is_ready(need) && binds(need).0 == 0);
            // Tokens that are tied to what is known already are few.
            let tied = needs.iter().position(|&need| is_ready(need) && binds(need).1);
            let ready = tied.or_else(|| needs.iter().position(|&need| is_ready(need)));
            match (test, determined, ready) {
                (Some(at), ..) => steps.push(Step::Match(needs.remove(at))),
                (None, Some((place, value)), _) => {
                    let (variable, size) = free.remove(place);
                    steps.push(Step::Determined(variable, size, value));
                }
                (None, None, Some(at)) => {
                    let need = needs.remove(at);
                    self.needs[need].told(&mut |variable| free.retain(|(v, _)| *v != variable));
                    steps.push(Step::Match(need));
                }
                _ => {
                    let Some(place) = (0..free.len()).min_by_key(|&place| free[place].1) else { return steps };
                    let (variable, size) = free.remove(place);
                    steps.push(Step::Each(variable, size));
                }
            }
        }
    }

    /// The place among the free variables of one that this conjunct determines, and its value.
    fn determined(&self, conjunct: usize, free: &[(usize, u64)]) -> Option<(usize, Value)> {
        let Guard::Equal(a, b) = &self.conjuncts[conjunct] else { return None };
        let mut open = Vec::new();
        self.conjuncts[conjunct].variables(&mut |v| open.extend(free.iter().position(|(f, _)| *f == v)));
        open.dedup();
        let [place] = open[..] else { return None };
        let solved = solve(a, b, free[place].0).or_else(|| solve(b, a, free[place].0));
        solved.map(|value| (place, value))
    }
}

impl Need {
    fn told(&self, found: &mut impl FnMut(usize)) {
        self.parts.iter().for_each(|(_, part)| part.told(found));
    }

    /// The variables that a token does not tell: they must be known before one is matched.
    fn untold(&self) -> Vec<usize> {
        let (mut told, mut untold) = (Vec::new(), Vec::new());
        self.told(&mut |v| told.push(v));
        self.parts.iter().for_each(|(_, part)| part.variables(&mut |v| untold.push(v)));
        untold.retain(|v| !told.contains(v));
        untold
    }

    /// The colour under a binding of all variables.
    fn colour(&self, binding: &[u64]) -> Option<u64> {
        self.parts.iter().try_fold(0, |sum, (weight, part)| Some(sum + weight * part.of(binding)?))
    }
}

/// A search for bindings.
pub(super) struct Join<'j, 's> {
    pub transition: &'j Transition,
    pub joins: &'j Joins,
    pub tokens: &'j Tokens,
    /// The need and the token that all begins with; of the tokens only those up to this one count, and this one only for
    /// needs behind. So every binding is found once, when the last of its tokens has come.
    pub begin: Option<(usize, u32)>,
    pub tries: &'j mut Tries<'s>,
    pub binding: Vec<u64>,
    pub bound: Vec<bool>,
}

impl Join<'_, '_> {
    /// Calls for each binding.
    pub fn each(&mut self, found: &mut dyn FnMut(&[u64])) -> Result<(), Wrong> {
        let order = match self.begin {
            None => self.joins.needs.len(),
            Some((need, token)) => {
                let mut noted = Vec::new();
                if !self.bind(need, token, &mut noted) {
                    self.free(&noted);
                    return Ok(());
                }
                need
            }
        };
        let joins = self.joins;
        self.step(&joins.orders[order], found)
    }

    fn bind(&mut self, need: usize, token: u32, noted: &mut Vec<usize>) -> bool {
        let colour = self.tokens.colour(token);
        bind_parts(&self.joins.needs[need].parts, colour, &mut self.binding, &mut self.bound, noted)
    }

    fn free(&mut self, noted: &[usize]) {
        noted.iter().for_each(|variable| self.bound[*variable] = false);
    }

    /// Does this token count for this need?
    fn counts(&self, need: usize, token: u32) -> bool {
        self.begin.is_none_or(|(first, last)| token < last || token == last && need > first)
    }

    fn step(&mut self, steps: &[Step], found: &mut dyn FnMut(&[u64])) -> Result<(), Wrong> {
        let Some((step, rest)) = steps.split_first() else {
            if self.is_met()? {
                found(&self.binding);
            }
            return Ok(());
        };
        match step {
            Step::Test(conjunct) => match self.joins.conjuncts[*conjunct].holds(&self.binding) {
                Some(true) => self.step(rest, found),
                _ => Ok(()),
            },
            Step::Determined(variable, size, value) => match value.of(&self.binding) {
                Some(value) if value < *size => self.with(*variable, value, rest, found),
                _ => Ok(()),
            },
            Step::Each(variable, size) => (0..*size).try_for_each(|value| self.with(*variable, value, rest, found)),
            Step::Match(need) => self.matched(*need, rest, found),
        }
    }

    fn with(&mut self, variable: usize, value: u64, rest: &[Step], found: &mut dyn FnMut(&[u64])) -> Result<(), Wrong> {
        self.tries.take(self.transition.at)?;
        (self.binding[variable], self.bound[variable]) = (value, true);
        let done = self.step(rest, found);
        self.bound[variable] = false;
        done
    }

    /// Every token that meets a need. Where all that it says is known, there is one at most.
    fn matched(&mut self, need: usize, rest: &[Step], found: &mut dyn FnMut(&[u64])) -> Result<(), Wrong> {
        let Need { place, parts } = &self.joins.needs[need];
        let mut open = false;
        parts.iter().for_each(|(_, part)| part.variables(&mut |v| open |= !self.bound[v]));
        let tokens = self.tokens;
        let list = match open {
            true => tokens.of_place(*place),
            false => {
                let known = self.joins.needs[need].colour(&self.binding).and_then(|colour| tokens.find(*place, colour));
                return match known {
                    Some(token) if self.counts(need, token) => self.step(rest, found),
                    _ => Ok(()),
                };
            }
        };
        let mut noted = Vec::new();
        for &token in list {
            if !self.counts(need, token) {
                break;
            }
            self.tries.take(self.transition.at)?;
            noted.clear();
            let fits = self.bind(need, token, &mut noted);
            let done = if fits { self.step(rest, found) } else { Ok(()) };
            self.free(&noted);
            done?;
        }
        Ok(())
    }

    /// Is every token there, and the one that it began with where it is needed?
    fn is_met(&self) -> Result<bool, Wrong> {
        let binding = &self.binding;
        let met = self.joins.needs.iter().enumerate().all(|(number, need)| {
            let token = need.colour(binding).and_then(|colour| self.tokens.find(need.place, colour));
            match self.begin {
                Some((first, last)) if first == number => token == Some(last),
                _ => token.is_some_and(|token| self.counts(number, token)),
            }
        });
        if !met {
            return Ok(false);
        }
        for &number in &self.joins.others {
            let Inscription { place, at, .. } = &self.transition.inscriptions[number];
            let Some(term) = self.transition.inscriptions[number].term() else { continue };
            let there = |(colour, _): &(u64, u64)| self.tokens.find(*place, *colour).is_some();
            if !term.of(binding, MOST, *at)?.is_some_and(|elements| elements.iter().all(there)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
