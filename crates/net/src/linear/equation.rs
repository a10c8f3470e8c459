//! The state equation of a net as a linear program: tokens are what was there at first and what the transitions moved.
//!
//! Every reachable marking is a solution, so what no solution does, no marking does. Inhibitors are left out, and a reset is
//! a removal of any number of tokens. Every conclusion is drawn from one row of the tableau, which is multiplied out again
//! from the net itself before it is believed.

use super::number::{Sparse, floor};
use super::simplex::Largest;
use super::siphons::{Sets, never_marked};
use super::tableau::{NO_LOWER, NO_UPPER, Stop, Tableau};
use crate::net::{Net, PlaceId, TransitionId};
use crate::question::Sum;
use std::collections::HashMap;
use std::time::Instant;

/// The sum of tokens, each with its weight, is at most the bound in every reachable marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequality {
    pub weights: Vec<(PlaceId, i64)>,
    pub bound: i128,
}

impl Inequality {
    pub fn holds(&self, marking: &[u64]) -> bool {
        super::number::dot(&self.weights, |p| marking[p as usize].into()).is_some_and(|sum| sum <= self.bound)
    }
}

/// Larger numbers than this in a net are left to others.
const LARGEST: u64 = 1 << 40;

/// The variables are first the ways to move tokens, then for each place the tokens more than at first, then sums of these.
#[derive(Clone)]
pub(super) struct Equation {
    pub tableau: Tableau,
    pub initial: Vec<i64>,
    /// Different effects of transitions, and removals by resets.
    moves: Vec<Sparse>,
    /// The transitions with each effect; none for removals.
    pub members: Vec<Vec<TransitionId>>,
    /// What each variable after the places sums up, over moves and places.
    sums: Vec<Sparse>,
    known: HashMap<Sparse, u32>,
}

impl Equation {
    /// Nothing when the net has numbers that are too large.
    pub fn new(net: &Net) -> Option<Equation> {
        let initial = net.places.iter().map(|p| (p.initial <= LARGEST).then_some(p.initial as i64));
        let initial = initial.collect::<Option<Vec<i64>>>()?;
        let never = never_marked(net);
        let mut moves: Vec<Sparse> = Vec::new();
        let mut members: Vec<Vec<TransitionId>> = Vec::new();
        let mut seen: HashMap<Sparse, usize> = HashMap::new();
        let mut reset = vec![false; net.places.len()];
        for (t, transition) in net.transitions.iter().enumerate() {
            if transition.inputs.iter().any(|arc| never[arc.place as usize]) {
                continue;
            }
            let small =
                |(p, change): (u32, i128)| (change.unsigned_abs() <= LARGEST.into()).then_some((p, change as i64));
            let effect = transition.effect().into_iter().map(small).collect::<Option<Sparse>>()?;
            transition.resets.iter().for_each(|&p| reset[p as usize] = true);
            if effect.is_empty() {
                continue;
            }
            let at = *seen.entry(effect).or_insert_with_key(|effect| {
                moves.push(effect.clone());
                members.push(Vec::new());
                moves.len() - 1
            });
            members[at].push(t as u32);
        }
        for place in (0..net.places.len() as u32).filter(|&p| reset[p as usize]) {
            moves.push(vec![(place, -1)]);
            members.push(Vec::new());
        }
        let mut tableau = Tableau::default();
        let mut rows: Vec<Sparse> = vec![Vec::new(); net.places.len()];
        for (i, effect) in moves.iter().enumerate() {
            tableau.add_free(0, NO_UPPER);
            effect.iter().for_each(|&(p, change)| rows[p as usize].push((i as u32, change)));
        }
        for (row, &tokens) in rows.iter().zip(&initial) {
            let variable = tableau.add_sum(row).ok()?;
            tableau.lower[variable as usize] = -tokens;
        }
        Some(Equation { tableau, initial, moves, members, sums: Vec::new(), known: HashMap::new() })
    }

    pub fn place(&self, place: PlaceId) -> u32 {
        self.moves.len() as u32 + place
    }

    pub fn places(&self) -> usize {
        self.initial.len()
    }

    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The variable for a sum of tokens more than at first. The weights must be sorted and not zero.
    pub fn sum(&mut self, weights: &[(PlaceId, i64)]) -> Result<u32, Stop> {
        self.sum_of(weights.iter().map(|&(p, w)| (self.place(p), w)).collect())
    }

    /// The variable for a sum of moves and places.
    pub fn sum_of(&mut self, terms: Sparse) -> Result<u32, Stop> {
        if let [(variable, 1)] = terms.as_slice() {
            return Ok(*variable);
        }
        if let Some(&variable) = self.known.get(&terms) {
            return Ok(variable);
        }
        let variable = self.tableau.add_sum(&terms)?;
        self.sums.push(terms.clone());
        self.known.insert(terms, variable);
        Ok(variable)
    }

    /// The effect of a move.
    pub fn effect(&self, at: usize) -> &Sparse {
        &self.moves[at]
    }

    /// What the sum of these places is at first.
    pub fn at_first(&self, weights: &[(PlaceId, i64)]) -> Option<i128> {
        super::number::dot(weights, |p| self.initial[p as usize].into())
    }

    /// Whether the row follows from the net: it is multiplied out over the moves and must vanish.
    pub fn row_is_right(&self, at: usize) -> bool {
        self.weights_of_row(at).is_some()
    }

    /// The row as weights over places, `basic * denominator - entries`, with moves left out, once it has been checked.
    fn weights_of_row(&self, at: usize) -> Option<Vec<i128>> {
        let row = &self.tableau.rows[at];
        let mut moved = vec![0i128; self.moves.len()];
        let mut weights = vec![0i128; self.places()];
        let simple = self.moves.len() + self.places();
        let mut add = |variable: u32, factor: i128| -> Option<()> {
            let itself = [(variable, 1)];
            let sum = (variable as usize).checked_sub(simple).map_or(itself.as_slice(), |at| &self.sums[at]);
            for &(term, weight) in sum {
                let place = (term as usize).checked_sub(self.moves.len());
                let total = place.map_or(&mut moved[0..], |_| &mut weights[0..]);
                let total = &mut total[place.unwrap_or(term as usize)];
                *total = total.checked_add(factor.checked_mul(weight.into())?)?;
            }
            Some(())
        };
        add(row.basic, row.denominator.into())?;
        for &(variable, weight) in &row.entries {
            add(variable, -i128::from(weight))?;
        }
        for (effect, &direct) in self.moves.iter().zip(&moved) {
            let mut sum = direct;
            for &(place, change) in effect {
                sum = sum.checked_add(weights[place as usize].checked_mul(change.into())?)?;
            }
            if sum != 0 {
                return None;
            }
        }
        Some(weights)
    }

    /// The largest that a variable can be, floored, with its proof checked: `Ok(None)` when the equation sets no bound.
    pub fn largest(&mut self, variable: u32, deadline: Instant) -> Result<Option<i128>, Stop> {
        match self.tableau.maximise(variable, deadline)? {
            Largest::Unbounded => Ok(None),
            Largest::Value(numerator, denominator) => {
                if let Some(at) = self.tableau.row_index(variable)
                    && !(self.row_is_right(at) && self.stops_growth(at))
                {
                    return Err(Stop);
                }
                Ok(Some(floor(numerator, denominator.into())))
            }
        }
    }

    /// Whether each entry of the row is at the bound that keeps the basic variable from growing, and the value is right.
    fn stops_growth(&self, at: usize) -> bool {
        let row = &self.tableau.rows[at];
        let mut sum = 0i128;
        for &(variable, weight) in &row.entries {
            let (lower, upper) = (self.tableau.lower[variable as usize], self.tableau.upper[variable as usize]);
            let bound = if weight > 0 { upper } else { lower };
            if bound == NO_LOWER || bound == NO_UPPER {
                return false;
            }
            match sum.checked_add(i128::from(weight) * i128::from(bound)) {
                Some(next) => sum = next,
                None => return false,
            }
        }
        sum == row.numerator
    }

    /// The proof of a largest value as an inequality over tokens, where no sums and no upper bounds take part in it.
    pub fn proof_of_largest(&self, variable: u32) -> Option<Inequality> {
        let at = self.tableau.row_index(variable)?;
        let weights = self.weights_of_row(at)?;
        if self.tableau.rows[at].entries.iter().any(|e| e.1 > 0 || e.0 as usize >= self.moves.len() + self.places()) {
            return None;
        }
        // What is left of the row are moves with a weight that is not above zero.
        let mut sparse = Sparse::new();
        let mut bound = 0i128;
        for (place, &weight) in weights.iter().enumerate().filter(|e| *e.1 != 0) {
            sparse.push((place as u32, i64::try_from(weight).ok()?));
            bound = bound.checked_add(weight.checked_mul(self.initial[place].into())?)?;
        }
        Some(Inequality { weights: sparse, bound })
    }

    /// Whether the row contradicts the bounds of its variables: with its proof checked.
    pub fn is_contradiction(&self, at: usize, larger: bool) -> bool {
        let row = &self.tableau.rows[at];
        let mut sum = 0i128;
        for &(variable, weight) in &row.entries {
            let up = (weight > 0) == larger;
            let bound = if up { self.tableau.upper[variable as usize] } else { self.tableau.lower[variable as usize] };
            if bound == NO_LOWER || bound == NO_UPPER {
                return false;
            }
            match sum.checked_add(i128::from(weight) * i128::from(bound)) {
                Some(next) => sum = next,
                None => return false,
            }
        }
        let denominator = i128::from(row.denominator);
        let (lower, upper) = (self.tableau.lower[row.basic as usize], self.tableau.upper[row.basic as usize]);
        let beyond = if larger {
            lower != NO_LOWER && sum < i128::from(lower) * denominator
        } else {
            upper != NO_UPPER && sum > i128::from(upper) * denominator
        };
        beyond && self.row_is_right(at)
    }

    /// Looks for a trap that is marked at first and empty at the point where the tableau is, and makes it a constraint.
    pub fn learn_trap(&mut self, net: &Net, sets: &Sets) -> Result<bool, Stop> {
        let empty: Vec<bool> = (0..self.places() as u32)
            .map(|p| {
                let (numerator, denominator) = self.tableau.value(self.place(p));
                numerator + i128::from(self.initial[p as usize]) * i128::from(denominator) == 0
            })
            .collect();
        let Some(trap) = sets.marked_trap(net, &empty) else { return Ok(false) };
        let weights: Sparse = trap.iter().map(|&p| (p, 1)).collect();
        let first = self.at_first(&weights).and_then(|n| i64::try_from(n).ok()).ok_or(Stop)?;
        let variable = self.sum(&weights)? as usize;
        let least = (1 - first).max(self.tableau.lower[variable]);
        self.tableau.lower[variable] = least;
        Ok(true)
    }
}

/// The most that a sum can be in a reachable marking, as far as the state equation tells.
pub fn upper_bound(net: &Net, sum: &Sum, deadline: Instant) -> Option<i128> {
    let mut equation = Equation::new(net)?;
    upper_bound_in(&mut equation, sum, deadline).ok()?
}

pub(super) fn upper_bound_in(equation: &mut Equation, sum: &Sum, deadline: Instant) -> Result<Option<i128>, Stop> {
    if sum.terms.is_empty() {
        return Ok(Some(sum.constant.into()));
    }
    let first = equation.at_first(&sum.terms).ok_or(Stop)?;
    let variable = equation.sum(&sum.terms)?;
    let Some(more) = equation.largest(variable, deadline)? else { return Ok(None) };
    Ok(more.checked_add(first).and_then(|most| most.checked_add(sum.constant.into())))
}
