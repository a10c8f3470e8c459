//! Symmetries of a system: what can be exchanged without anybody noticing.
//!
//! A symmetry renames variables, elements of arrays and values that are identities, such that the system stays the same: its
//! events, its initial states, its ends. Then it maps the graph of states to itself, and of an orbit, the states that symmetries
//! turn into each other, one is as good as all. Nothing of a model declares what is symmetric: candidates come from the
//! structure of the system, and each is used only after the renamed system was seen to be the same.
//! Interchangeable processes are one case, rings another, and the colours of a net a third.
//!
//! The ideas are those of Ip and Dill ("Better Verification Through Symmetry", 1996) and of Emerson and Sistla ("Symmetry and
//! Model Checking", 1996).

mod automorphisms;
mod factor;
mod identities;
mod moves;
mod partition;
mod term;
mod translate;

use crate::expr::Expr;
use crate::layout::Layout;
use crate::system::System;
use automorphisms::{Generators, generators, images};
use factor::{Factor, Scratch};
use moves::{Cells, From, Place, Tables};
use std::cell::RefCell;
use translate::{Leaf, Translation};

/// A condition that symmetries turn into more different ones than this must be kept as it is.
const MOST_IMAGES: usize = 64;

/// The symmetries of a system that are used, and what they make of its states.
pub struct Symmetry {
    factors: Vec<Factor>,
    generators: Vec<StateMap>,
    order: Option<u128>,
    alike: Vec<Vec<String>>,
    /// For each condition that need not be kept, how states are seen from what it becomes.
    images: Vec<Vec<StateMap>>,
}

/// What the inverse of a symmetry does to a state.
struct StateMap {
    places: Vec<Place>,
    tables: Tables,
    moves: Vec<From>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Symmetry {
    /// The symmetries of a system that keep each of these conditions, and what they make of others. Fails where there are none.
    pub fn of(system: &System, layout: &Layout, kept: &[&Expr], others: &[&Expr]) -> Result<Symmetry, String> {
        if system.claim.is_some() {
            return Err("a never claim moves with it".into());
        }
        // Cells that only initial states tell apart would not be looked at.
        if system.initial.len() > 1 {
            return Err("it has several initial states".into());
        }
        let none = || match kept.is_empty() {
            true => "no two of its processes, variables or values are interchangeable".to_string(),
            false => "nothing is interchangeable that the property does not tell apart".to_string(),
        };
        let mut translation = Translation::new(system, kept, others);
        let found = generators(&translation);
        let Generators { renamings, .. } = &found;
        let conditions = translation.others.clone();
        let mut all = Vec::new();
        for (number, condition) in conditions.into_iter().enumerate() {
            match images(&mut translation, renamings, condition, MOST_IMAGES) {
                Some(images) => {
                    let map = |renaming: &Vec<u32>| StateMap::inverse(system, layout, &translation, renaming);
                    all.push(images.iter().map(map).collect());
                }
                None => {
                    // It becomes too many things: what is left is what keeps it.
                    let mut kept = kept.to_vec();
                    kept.push(others[number]);
                    return Symmetry::of(system, layout, &kept, others);
                }
            }
        }
        let mut factors = Vec::new();
        for part in independent(&translation, renamings) {
            let part: Vec<&Vec<u32>> = part.iter().map(|&number| &renamings[number]).collect();
            let cells = Cells::new(system, layout, &translation, &part);
            if !cells.leaves.is_empty() {
                factors.push(Factor::new(&cells, &part));
            }
        }
        if factors.is_empty() {
            return Err(none());
        }
        let known = factors.iter().try_fold(1u128, |all, factor| all.checked_mul(factor.order()?));
        let generators = renamings.iter().map(|renaming| StateMap::inverse(system, layout, &translation, renaming));
        Ok(Symmetry {
            factors,
            generators: generators.collect(),
            order: known.or(found.order),
            alike: alike(system, &translation, renamings),
            images: all,
        })
    }

    /// How many symmetries there are: so many states may be one. `None` where that is not known.
    pub fn order(&self) -> Option<u128> {
        self.order
    }

    /// The processes that are interchangeable, group by group.
    pub fn alike(&self) -> &[Vec<String>] {
        &self.alike
    }

    /// How many symmetries are at hand that all others are made of.
    pub fn generators(&self) -> usize {
        self.generators.len()
    }

    /// What one of them makes of a state.
    pub fn exchanged(&self, generator: usize, state: &[u8]) -> Vec<u8> {
        self.generators[generator].apply(state)
    }

    /// Has every orbit one representative? Otherwise it may have a few.
    pub fn is_exact(&self) -> bool {
        self.factors.iter().all(Factor::is_exact)
    }

    /// Puts the representative of its orbit in place of a state.
    pub fn represent(&self, state: &mut [u8]) {
        SCRATCH.with_borrow_mut(|scratch| {
            for factor in &self.factors {
                factor.represent(state, scratch);
            }
        });
    }

    /// How many states the orbit of a state has, where that is known.
    pub fn orbit_size(&self, state: &[u8]) -> Option<u128> {
        let mut state = state.to_vec();
        SCRATCH.with_borrow_mut(|scratch| {
            self.factors.iter().try_fold(1u128, |size, factor| {
                let same = factor.represent(&mut state, scratch)?;
                size.checked_mul(factor.order()? / same)
            })
        })
    }

    /// For each condition that need not be kept: in how many ways symmetries change it, the condition itself among them.
    pub fn images(&self, condition: usize) -> usize {
        self.images[condition].len()
    }

    /// A state in which a condition holds if and only if its image of this number holds in `state`.
    pub fn seen_from(&self, condition: usize, image: usize, state: &[u8]) -> Vec<u8> {
        self.images[condition][image].apply(state)
    }

    /// In one sentence.
    pub fn describe(&self) -> String {
        let states = match self.order {
            Some(order) => format!("up to {order} states are searched as one"),
            None => "many states are searched as one".to_string(),
        };
        let named = |names: &Vec<String>| match &names[..] {
            [first, second, .., last] if names.len() > 3 => format!("{first}, {second}, …, {last}"),
            names => names.join(", "),
        };
        match self.alike.is_empty() {
            true => format!("symmetry: {states}"),
            false => {
                let alike: Vec<String> = self.alike.iter().map(named).collect();
                format!("symmetry: {states}; interchangeable: {}", alike.join("; "))
            }
        }
    }
}

impl StateMap {
    fn inverse(system: &System, layout: &Layout, translation: &Translation, renaming: &[u32]) -> StateMap {
        let mut inverse = vec![0; renaming.len()];
        renaming.iter().zip(0..).for_each(|(&to, from)| inverse[to as usize] = from);
        let cells = Cells::new(system, layout, translation, &[&inverse]);
        let mut tables = Tables::default();
        let moves = cells.moves(&inverse, &mut tables);
        StateMap { places: cells.places, tables, moves }
    }

    fn apply(&self, state: &[u8]) -> Vec<u8> {
        let mut after = state.to_vec();
        for (place, from) in self.places.iter().zip(&self.moves) {
            let value = self.places[from.cell as usize].read(state);
            place.write(&mut after, self.tables.list[from.table as usize].of(value));
        }
        after
    }
}

/// Renamings that have to do with the same cells together, by their numbers.
fn independent(translation: &Translation, renamings: &[Vec<u32>]) -> Vec<Vec<usize>> {
    // What a renaming has to do with: leaves that it moves, and types of which it moves values.
    let touches = |renaming: &Vec<u32>| {
        let mut touched = vec![false; renaming.len()];
        for leaf in 0..renaming.len() {
            if renaming[leaf] == leaf as u32 {
                continue;
            }
            touched[leaf] = true;
            if let Leaf::Value(of, _) = translation.leaves[leaf]
                && let Some(number) = translation.number(Leaf::Type(of))
            {
                touched[number as usize] = true;
            }
        }
        // A cell holds values of its type.
        for leaf in 0..renaming.len() {
            if let Leaf::Cell(cell) = translation.leaves[leaf]
                && let Some(of) = translation.identity_of(translation.variable(cell))
                && let Some(number) = translation.number(Leaf::Type(of))
                && touched[number as usize]
            {
                touched[leaf] = true;
            }
        }
        touched
    };
    let mut parts: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
    for (number, renaming) in renamings.iter().enumerate() {
        let (mut touched, mut numbers) = (touches(renaming), vec![number]);
        let meets =
            |part: &(Vec<bool>, Vec<usize>), touched: &[bool]| part.0.iter().zip(touched).any(|(a, b)| *a && *b);
        while let Some(at) = parts.iter().position(|part| meets(part, &touched)) {
            let (other, others) = parts.swap_remove(at);
            touched.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
            numbers.extend(others);
        }
        numbers.sort_unstable();
        parts.push((touched, numbers));
    }
    parts.into_iter().map(|(_, numbers)| numbers).collect()
}

/// The names of processes that renamings turn into each other.
fn alike(system: &System, translation: &Translation, renamings: &[Vec<u32>]) -> Vec<Vec<String>> {
    let mut group: Vec<usize> = (0..system.processes.len()).collect();
    let leaf_of = |process: usize| {
        let control = system.processes[process].control;
        translation.number(Leaf::Cell(translation.first_cell(control.index())))
    };
    let leaves: Vec<Option<u32>> = (0..system.processes.len()).map(leaf_of).collect();
    for renaming in renamings {
        for process in 0..leaves.len() {
            let image = leaves[process].and_then(|leaf| renaming.get(leaf as usize));
            if let Some(other) = image.and_then(|image| leaves.iter().position(|leaf| leaf.as_ref() == Some(image))) {
                let (from, to) = (group[process].max(group[other]), group[process].min(group[other]));
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    let members = |first: usize| -> Vec<String> {
        let of = (0..group.len()).filter(|&process| group[process] == first);
        of.map(|process| system.processes[process].name.clone()).collect()
    };
    (0..group.len()).map(members).filter(|names| names.len() > 1).collect()
}
