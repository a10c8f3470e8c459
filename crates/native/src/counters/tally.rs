//! The most tokens that were seen in one place, and in all places together.

use super::{is_all_fields, place, with_words};
use crate::program::Program;
use scrimp_system::{BinaryOp, Expr, VarId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What was seen so far, by any thread and however events are run.
pub struct Tally {
    tokens: Tokens,
    words: usize,
    in_place: AtomicU64,
    in_all: AtomicU64,
}

impl Tally {
    /// `None` if the system has no tokens, or they are not in the words of a state.
    pub fn of(program: &Program) -> Option<Tally> {
        let words = program.layout.bytes().div_ceil(8);
        let tokens = Tokens::of(program).filter(|_| program.system.packed && is_all_fields(program))?;
        Some(Tally { tokens, words, in_place: AtomicU64::new(0), in_all: AtomicU64::new(0) })
    }

    /// Counts the tokens of a state.
    pub fn count(&self, state: &[u8]) {
        with_words(state, self.words, |words| {
            let (in_place, in_all) = self.tokens.count(words);
            self.see(in_place, in_all);
        });
    }

    /// The most in one place, the most in all.
    pub fn most(&self) -> (u64, u64) {
        (self.in_place.load(Ordering::Relaxed), self.in_all.load(Ordering::Relaxed))
    }

    fn see(&self, in_place: u64, in_all: u64) {
        // Nearly always there is nothing to write, and then no thread disturbs another.
        if in_place > self.in_place.load(Ordering::Relaxed) {
            self.in_place.fetch_max(in_place, Ordering::Relaxed);
        }
        if in_all > self.in_all.load(Ordering::Relaxed) {
            self.in_all.fetch_max(in_all, Ordering::Relaxed);
        }
    }
}

/// How the views of a system are read from the words of a state.
#[derive(Default)]
struct Tokens {
    /// Places with one token at most: bits of a word.
    bits: Vec<(u32, u64)>,
    /// Other places: word, shift, mask.
    wide: Vec<(u32, u32, u64)>,
    one_of: Vec<Group>,
    /// Places that others determine.
    sums: Vec<(i64, Vec<Term>)>,
    /// Places that never change.
    constant: (u64, u64),
}

/// Word, shift and mask of a variable, and its weight.
type Term = (u32, u32, u64, i64);

/// Places of which at most one is marked, and the values that stand for one.
struct Group {
    word: u32,
    shift: u32,
    mask: u64,
    /// The largest value that the variable can have.
    most: usize,
    marked: Vec<bool>,
}

/// Where the bits of a word, and the group of a variable, are kept.
#[derive(Default)]
struct Known {
    bits: HashMap<u32, usize>,
    groups: HashMap<(u32, u32), usize>,
}

impl Tokens {
    fn of(program: &Program) -> Option<Tokens> {
        let mut tokens = Tokens::default();
        if program.system.views.is_empty() {
            return None;
        }
        let mut known = Known::default();
        for view in &program.system.views {
            tokens.view(program, &view.value, &mut known)?;
        }
        // Of places of which one is always marked it does not matter which.
        let mut always = 0;
        tokens.one_of.retain(|group| {
            let every = group.marked[..=group.most].iter().all(|marked| *marked);
            always += every as u64;
            !every
        });
        (0..always).for_each(|_| tokens.same(1));
        Some(tokens)
    }

    fn view(&mut self, program: &Program, value: &Expr, known: &mut Known) -> Option<()> {
        let at = |v: &VarId| place(&program.layout, *v);
        match value {
            Expr::Const(value) => self.same(*value),
            Expr::Var(v) => match at(v) {
                None => self.same(program.system.variables[v.index()].domain.low),
                Some((word, shift, 1)) => {
                    let number = *known.bits.entry(word).or_insert_with(|| {
                        self.bits.push((word, 0));
                        self.bits.len() - 1
                    });
                    // Two views of one place count twice.
                    if self.bits[number].1 >> shift & 1 == 0 {
                        self.bits[number].1 |= 1 << shift;
                    } else {
                        self.wide.push((word, shift, 1));
                    }
                }
                Some(field) => self.wide.push(field),
            },
            Expr::Binary(BinaryOp::Equal, a, b) => {
                let (Expr::Var(v), Expr::Const(value)) = (&**a, &**b) else { return None };
                let (word, shift, mask) = at(v)?;
                let most = usize::try_from(program.system.variables[v.index()].domain.high).ok()?;
                let number = *known.groups.entry((word, shift)).or_insert_with(|| {
                    self.one_of.push(Group { word, shift, mask, most, marked: vec![false; mask as usize + 1] });
                    self.one_of.len() - 1
                });
                let marked = self.one_of[number].marked.get_mut(usize::try_from(*value).ok()?)?;
                if *marked {
                    return None;
                }
                *marked = true;
            }
            sum => {
                let (mut constant, mut terms) = (0, Vec::new());
                linear(sum, 1, &mut |variable, weight| match variable.map(|v| (v, at(&v))) {
                    None => constant += weight,
                    Some((v, None)) => constant += weight * program.system.variables[v.index()].domain.low,
                    Some((_, Some((word, shift, mask)))) => terms.push((word, shift, mask, weight)),
                })?;
                self.sums.push((constant, terms));
            }
        }
        Some(())
    }

    fn same(&mut self, value: i64) {
        let value = value.max(0) as u64;
        self.constant = (self.constant.0.max(value), self.constant.1.saturating_add(value));
    }

    /// The most in one place, and all together.
    fn count(&self, words: &[u64]) -> (u64, u64) {
        let (mut most, mut all) = self.constant;
        for &(word, bits) in &self.bits {
            let set = words[word as usize] & bits;
            most = most.max((set != 0) as u64);
            all += set.count_ones() as u64;
        }
        for &(word, shift, mask) in &self.wide {
            let value = words[word as usize] >> shift & mask;
            most = most.max(value);
            all += value;
        }
        for group in &self.one_of {
            let value = words[group.word as usize] >> group.shift & group.mask;
            let one = group.marked[value as usize] as u64;
            most = most.max(one);
            all += one;
        }
        for (constant, terms) in &self.sums {
            let term = |&(word, shift, mask, weight): &Term| weight * (words[word as usize] >> shift & mask) as i64;
            let value = (constant + terms.iter().map(term).sum::<i64>()).max(0) as u64;
            most = most.max(value);
            all += value;
        }
        (most, all)
    }
}

/// Calls `visit` with each variable's weight in a sum, and with `None` for a constant; `None` if it is no sum.
fn linear(e: &Expr, sign: i64, visit: &mut dyn FnMut(Option<VarId>, i64)) -> Option<()> {
    match e {
        Expr::Const(value) => visit(None, sign * value),
        Expr::Var(v) => visit(Some(*v), sign),
        Expr::Binary(BinaryOp::Multiply, a, b) => match (&**a, &**b) {
            (Expr::Const(weight), rest) | (rest, Expr::Const(weight)) => linear(rest, sign * weight, visit)?,
            _ => return None,
        },
        Expr::Binary(BinaryOp::Add, a, b) => {
            linear(a, sign, visit)?;
            linear(b, sign, visit)?;
        }
        Expr::Binary(BinaryOp::Subtract, a, b) => {
            linear(a, sign, visit)?;
            linear(b, -sign, visit)?;
        }
        _ => return None,
    }
    Some(())
}
