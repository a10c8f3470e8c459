//! Nets without bound: the minimal coverability set, and whether a net is bounded at all.
//!
//! The set is found with a tree as Karp and Miller's that keeps only what nothing else covers. A marking that is found to be
//! covered is not followed; a marking that covers others takes their place, but the branches below these go on unless they
//! are covered themselves. To cut whole branches there is what made the first minimal algorithm wrong. Why this is right:
//! what the kept markings cover only grows, and a marking left in the end had all its successors covered, so the kept ones
//! cover all that is reachable; every ω came from a repetition along a branch, so they cover no more than the limits of
//! that; and a branch without end would have a marking that is above an earlier one, and then one more ω, without end.

mod boundedness;
mod set;

use std::time::Instant;

use crate::Net;

pub use boundedness::{Boundedness, boundedness};
pub use set::{CoverabilitySet, coverability_set};

/// Tokens as coverability knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tokens {
    Finite(u128),
    /// More than any number.
    Omega,
}

/// How much may be spent.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub deadline: Instant,
    /// Markings in the tree.
    pub nodes: usize,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaveUp {
    Time,
    Nodes,
    /// Tokens beyond what can be counted.
    Count,
    /// Inhibitor or reset arcs, with which there is no such answer in general.
    Arcs,
}

/// Stands for ω in a marking; a number of tokens as large is given up on.
const OMEGA: u64 = u64::MAX;

/// A marking with what tells quickly that another does not cover it.
#[derive(Debug, Clone)]
struct Covering {
    tokens: Box<[u64]>,
    /// Which places are marked, folded into a word.
    marked: u64,
    /// Tokens in all, as far as can be counted.
    total: u64,
}

impl Covering {
    fn new(tokens: Box<[u64]>) -> Covering {
        let bit = |(place, &tokens): (usize, &u64)| u64::from(tokens > 0) << (place % 64);
        let marked = tokens.iter().enumerate().fold(0, |marked, entry| marked | bit(entry));
        let total = tokens.iter().fold(0u64, |total, &tokens| total.saturating_add(tokens));
        Covering { tokens, marked, total }
    }

    /// At most as many tokens everywhere as the other.
    fn is_covered_by(&self, other: &Covering) -> bool {
        self.total <= other.total
            && self.marked & !other.marked == 0
            && self.tokens.iter().zip(&other.tokens).all(|(a, b)| a <= b)
    }
}

/// Fires where ω stays ω; `None` where the transition is not enabled.
fn fire(net: &Net, tokens: &[u64], t: u32) -> Option<Result<Box<[u64]>, GaveUp>> {
    let transition = &net.transitions[t as usize];
    if transition.inputs.iter().any(|arc| tokens[arc.place as usize] < arc.weight) {
        return None;
    }
    let mut next: Box<[u64]> = tokens.into();
    for arc in transition.inputs.iter().filter(|arc| tokens[arc.place as usize] != OMEGA) {
        next[arc.place as usize] -= arc.weight;
    }
    for arc in transition.outputs.iter().filter(|arc| tokens[arc.place as usize] != OMEGA) {
        match next[arc.place as usize].checked_add(arc.weight).filter(|&sum| sum < OMEGA) {
            Some(sum) => next[arc.place as usize] = sum,
            None => return Some(Err(GaveUp::Count)),
        }
    }
    Some(Ok(next))
}

#[cfg(test)]
mod tests;
