//! Which colours a place can ever be marked with, and which bindings of a transition can ever be enabled, seen colour by
//! colour: a token that was there once is taken to stay, and one is as good as many.
//!
//! A token is looked at when it has come: with those before it, it may enable bindings, which bring more tokens.

use super::super::wrong::Wrong;
use super::bindings::Tries;
use super::folded::{Folded, Says, Transition};
use super::joins::{Join, Joins};
use super::take;
use std::collections::{HashMap, HashSet};

pub(super) struct Reached {
    /// For each place the colours that it can have, in ascending order; one at least.
    pub colours: Vec<Vec<u64>>,
    /// For each transition the values of its variables, binding by binding, in ascending order.
    pub bindings: Vec<Vec<Box<[u64]>>>,
}

/// The tokens so far, in the order in which they came.
#[derive(Default)]
pub(super) struct Tokens {
    all: Vec<(usize, u64)>,
    numbers: HashMap<(usize, u64), u32>,
    by_place: Vec<Vec<u32>>,
}

impl Tokens {
    pub fn colour(&self, token: u32) -> u64 {
        self.all[token as usize].1
    }

    pub fn find(&self, place: usize, colour: u64) -> Option<u32> {
        self.numbers.get(&(place, colour)).copied()
    }

    pub fn of_place(&self, place: usize) -> &[u32] {
        &self.by_place[place]
    }

    /// Adds a token; `false` where there was one already.
    fn add(&mut self, place: usize, colour: u64) -> bool {
        let number = self.all.len() as u32;
        let new = *self.numbers.entry((place, colour)).or_insert(number) == number;
        if new {
            self.all.push((place, colour));
            self.by_place[place].push(number);
        }
        new
    }
}

/// What is known so far.
struct Search<'f, 's> {
    folded: &'f Folded,
    joins: Vec<Joins>,
    tokens: Tokens,
    bindings: Vec<Vec<Box<[u64]>>>,
    room: u64,
    tries: Tries<'s>,
}

impl Reached {
    /// Within so much room for places, transitions and arcs.
    pub fn of(folded: &Folded, room: u64, tries: Tries) -> Result<Reached, Wrong> {
        let joins: Vec<Joins> = folded.transitions.iter().map(Joins::new).collect();
        // Where a token of a place is needed.
        let mut needed: Vec<Vec<(usize, usize)>> = vec![Vec::new(); folded.places.len()];
        for (t, join) in joins.iter().enumerate().filter(|(_, join)| join.others.is_empty()) {
            join.needs.iter().enumerate().for_each(|(number, need)| needed[need.place].push((t, number)));
        }
        // What needs nothing, or more than tokens one by one, is looked at as a whole.
        let is_whole = |join: &Joins| join.needs.is_empty() || !join.others.is_empty();
        let whole: Vec<usize> = (0..joins.len()).filter(|&t| is_whole(&joins[t])).collect();
        let tokens = Tokens { by_place: vec![Vec::new(); folded.places.len()], ..Tokens::default() };
        let bindings = vec![Vec::new(); folded.transitions.len()];
        let mut search = Search { folded, joins, tokens, bindings, room, tries };
        for (number, place) in folded.places.iter().enumerate() {
            for &(colour, _) in &place.marking {
                search.mark(number, colour, place.at)?;
            }
        }
        let mut seen: HashSet<(usize, Box<[u64]>)> = HashSet::new();
        let mut next = 0;
        loop {
            while let Some(&(place, _)) = search.tokens.all.get(next) {
                for &(t, need) in &needed[place] {
                    for binding in search.enabled(t, Some((need, next as u32)))? {
                        search.fire(t, binding)?;
                    }
                }
                next += 1;
            }
            for &t in &whole {
                for binding in search.enabled(t, None)? {
                    if seen.insert((t, binding.clone())) {
                        search.fire(t, binding)?;
                    }
                }
            }
            if next == search.tokens.all.len() {
                return Ok(search.done());
            }
        }
    }
}

impl Search<'_, '_> {
    fn mark(&mut self, place: usize, colour: u64, at: super::At) -> Result<(), Wrong> {
        if self.tokens.add(place, colour) { take(&mut self.room, 1, at) } else { Ok(()) }
    }

    /// The bindings that are enabled now that this token is there, for this need.
    fn enabled(&mut self, t: usize, begin: Option<(usize, u32)>) -> Result<Vec<Box<[u64]>>, Wrong> {
        let Search { folded, joins, tokens, tries, .. } = self;
        let transition = &folded.transitions[t];
        let (binding, bound) = (vec![0; folded.variables], vec![false; folded.variables]);
        let mut list = Vec::new();
        let mut join = Join { transition, joins: &joins[t], tokens, begin, tries, binding, bound };
        join.each(&mut |binding| list.push(transition.variables.iter().map(|(v, _)| binding[*v]).collect()))?;
        Ok(list)
    }

    /// Takes up a binding, and the tokens that it brings.
    fn fire(&mut self, t: usize, values: Box<[u64]>) -> Result<(), Wrong> {
        let Transition { inscriptions, variables, at, .. } = &self.folded.transitions[t];
        let mut binding = vec![0; self.folded.variables];
        variables.iter().zip(&values).for_each(|(&(variable, _), value)| binding[variable] = *value);
        for inscription in inscriptions.iter().filter(|inscription| inscription.gives()) {
            let colours = match &inscription.says {
                Says::Term(term) => term.of(&binding, self.room, inscription.at)?.unwrap_or_default(),
                Says::Weight(_) | Says::All => vec![(0, 1)],
            };
            for (colour, _) in colours {
                self.mark(inscription.place, colour, inscription.at)?;
            }
        }
        take(&mut self.room, 1 + inscriptions.len() as u64, *at)?;
        self.bindings[t].push(values);
        Ok(())
    }

    fn done(self) -> Reached {
        let Search { tokens, mut bindings, .. } = self;
        bindings.iter_mut().for_each(|list| list.sort_unstable());
        let colours = tokens.by_place.iter().map(|list| {
            let mut colours: Vec<u64> = list.iter().map(|&token| tokens.colour(token)).collect();
            colours.sort_unstable();
            if colours.is_empty() { vec![0] } else { colours }
        });
        Reached { colours: colours.collect(), bindings }
    }
}
