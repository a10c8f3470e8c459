//! Predecessors that what is known of reachable states rules out.
//!
//! The state that they come before is reachable and breaks no rule, so that only rules count that undoing an event can
//! break: sums that grow by it, and what must not go together with something that it makes true.

use crate::counters::{load, place};
use crate::program::Program;
use scrimp_system::{AtMost, Batch, BinaryOp, Event, Expr, Intervals, Known, VarId, Weight, intervals};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// Entries of lists that are made.
const MOST_ENTRIES: usize = 20_000_000;

pub struct Pruning {
    words: usize,
    sums: Vec<Sum>,
    literals: Vec<Literal>,
    /// For each inverse event the sums and the literals to look at, one after the other.
    starts: Vec<(u32, u32)>,
    sums_of: Vec<u32>,
    literals_of: Vec<u32>,
}

/// Where a variable is.
#[derive(Debug, Clone, Copy)]
struct Field {
    word: u32,
    shift: u32,
    mask: u64,
}

struct Sum {
    terms: Vec<(Field, Weight)>,
    most: i64,
}

/// If a variable is within these bounds, bits are zero and other variables have one of some values.
struct Literal {
    field: Field,
    low: u64,
    high: u64,
    zero: Vec<(u32, u64)>,
    allowed: Vec<(Field, Box<[u64]>)>,
}

thread_local! {
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Pruning {
    /// `None` if nothing is known that would help. `inverse` has the events that lead back.
    pub fn new(program: &Program, inverse: &[Event]) -> Option<Pruning> {
        let known = program.system.known.of(&program.system);
        let at = |v: VarId| place(&program.layout, v).map(|(word, shift, mask)| Field { word, shift, mask });
        let term = |(v, weight): &(VarId, Weight)| Some((at(*v)?, weight.clone()));
        let mut sums = Vec::new();
        for AtMost { terms, most } in &known.sums {
            // Variables that are not stored have one value.
            let fixed = terms.iter().filter(|(v, _)| at(*v).is_none());
            let fixed = fixed.map(|(v, weight)| weight.of(program.system.variables[v.index()].domain.low));
            let most = most.saturating_sub(fixed.fold(0, i64::wrapping_add));
            sums.push(Sum { terms: terms.iter().filter_map(term).collect(), most });
        }
        let literals = literals(program, &known, &at)?;
        let mut pruning = Pruning {
            words: program.layout.bytes().div_ceil(8),
            sums,
            literals,
            starts: vec![(0, 0)],
            sums_of: Vec::new(),
            literals_of: Vec::new(),
        };
        let with = Index::new(&known);
        for event in inverse {
            pruning.event(program, &known, &with, event)?;
        }
        (!pruning.sums_of.is_empty() || !pruning.literals_of.is_empty()).then_some(pruning)
    }

    fn event(&mut self, program: &Program, known: &Known, with: &Index, event: &Event) -> Option<()> {
        let after = intervals(&program.system, &event.guard)?;
        let mut growing: BTreeMap<u32, i128> = BTreeMap::new();
        for assign in &event.effects {
            let variable = assign.target;
            for &(sum, term) in with.sums.get(&variable).into_iter().flatten() {
                let weight = &known.sums[sum as usize].terms[term as usize].1;
                let more = growth(program, &after, variable, &assign.value, weight);
                let entry = growing.entry(sum).or_default();
                *entry = entry.saturating_add(more);
            }
            let made_true = with.literals.get(&variable).into_iter().flatten().filter(|&&number| {
                let literal = &known.literals[number as usize];
                let possible = assign.value.as_const().is_none_or(|value| literal.holds_for(value));
                let own = &self.literals[number as usize];
                possible && (!own.zero.is_empty() || !own.allowed.is_empty())
            });
            self.literals_of.extend(made_true);
        }
        self.sums_of.extend(growing.into_iter().filter(|(_, more)| *more > 0).map(|(sum, _)| sum));
        self.starts.push((self.sums_of.len() as u32, self.literals_of.len() as u32));
        (self.sums_of.len() + self.literals_of.len() <= MOST_ENTRIES).then_some(())
    }

    /// Takes away the states from `first` on that cannot be reached. Their events are still those of the inverse.
    pub fn prune(&self, out: &mut Batch, first: usize) {
        WORDS.with_borrow_mut(|words| {
            words.resize(self.words, 0);
            let mut end = first;
            for i in first..out.len() {
                let event = out.event(i) as usize;
                let ((sums, literals), (last_sum, last_literal)) = (self.starts[event], self.starts[event + 1]);
                let sums = &self.sums_of[sums as usize..last_sum as usize];
                let literals = &self.literals_of[literals as usize..last_literal as usize];
                load(out.state(i), words);
                let possible = literals.iter().all(|&number| self.literals[number as usize].allows(words))
                    && sums.iter().all(|&number| self.sums[number as usize].holds(words));
                if possible {
                    if i != end {
                        out.copy(i, end);
                    }
                    end += 1;
                }
            }
            out.truncate(end);
        });
    }
}

/// In which sums and literals a variable is.
struct Index {
    sums: HashMap<VarId, Vec<(u32, u32)>>,
    literals: HashMap<VarId, Vec<u32>>,
}

impl Index {
    fn new(known: &Known) -> Index {
        let mut index = Index { sums: HashMap::new(), literals: HashMap::new() };
        for (number, sum) in (0..).zip(&known.sums) {
            for (term, (variable, _)) in (0..).zip(&sum.terms) {
                index.sums.entry(*variable).or_default().push((number, term));
            }
        }
        for (number, literal) in (0..).zip(&known.literals) {
            index.literals.entry(literal.variable).or_default().push(number);
        }
        index
    }
}

/// How much more a variable can weigh when this is stored in it.
fn growth(program: &Program, after: &Intervals, variable: VarId, value: &Expr, weight: &Weight) -> i128 {
    let domain = program.system.variables[variable.index()].domain;
    let (low, high) = after.get(&variable).copied().unwrap_or((domain.low, domain.high));
    let weigh = |value: i64| i128::from(weight.of(value));
    match (value, weight) {
        (Expr::Const(value), _) if low == high => weigh(*value) - weigh(low),
        (Expr::Binary(BinaryOp::Add, _, amount), Weight::Times(weight)) => {
            i128::from(amount.as_const().unwrap_or(0)) * i128::from(*weight)
        }
        // Whatever it is: the sum is looked at.
        _ => i128::from(i64::MAX),
    }
}

fn literals(program: &Program, known: &Known, at: &dyn Fn(VarId) -> Option<Field>) -> Option<Vec<Literal>> {
    let mut entries = 0;
    let mut literals = Vec::new();
    for (own, apart) in known.literals.iter().zip(&known.apart) {
        // A place of which structure says that it is never marked has no values; it says nothing about others.
        let Some(field) = at(own.variable).filter(|_| own.low <= own.high) else {
            let field = Field { word: 0, shift: 0, mask: 0 };
            literals.push(Literal { field, low: 1, high: 0, zero: vec![], allowed: vec![] });
            continue;
        };
        let mut zero: BTreeMap<u32, u64> = BTreeMap::new();
        let mut allowed: BTreeMap<VarId, Box<[u64]>> = BTreeMap::new();
        for &other in apart {
            let other = known.literals[other as usize];
            let domain = program.system.variables[other.variable.index()].domain;
            let Some(Field { word, shift, mask }) = at(other.variable).filter(|_| other.low <= other.high) else {
                continue;
            };
            if (other.low, other.high) == (1, domain.high) {
                *zero.entry(word).or_default() |= mask << shift;
            } else if mask < 1 << 16 {
                let blank = || vec![!0; (mask as usize + 1).div_ceil(64)].into_boxed_slice();
                let table = allowed.entry(other.variable).or_insert_with(blank);
                for value in other.low.max(0) as u64..=(other.high.max(0) as u64).min(mask) {
                    table[value as usize / 64] &= !(1 << (value % 64));
                }
            }
        }
        let zero: Vec<(u32, u64)> = zero.into_iter().collect();
        let allowed: Vec<(Field, Box<[u64]>)> =
            allowed.into_iter().filter_map(|(variable, table)| Some((at(variable)?, table))).collect();
        entries += zero.len() + allowed.iter().map(|(_, table)| 4 + table.len()).sum::<usize>();
        if entries > MOST_ENTRIES {
            return None;
        }
        literals.push(Literal { field, low: own.low.max(0) as u64, high: own.high.max(0) as u64, zero, allowed });
    }
    Some(literals)
}

impl Field {
    #[inline]
    fn value(self, words: &[u64]) -> u64 {
        words[self.word as usize] >> self.shift & self.mask
    }
}

impl Literal {
    /// It does not hold, or nothing that is never with it does.
    fn allows(&self, words: &[u64]) -> bool {
        let own = self.field.value(words);
        if own < self.low || own > self.high {
            return true;
        }
        let fits = |(field, table): &(Field, Box<[u64]>)| {
            let value = field.value(words);
            table[value as usize / 64] >> (value % 64) & 1 == 1
        };
        self.zero.iter().all(|&(word, mask)| words[word as usize] & mask == 0) && self.allowed.iter().all(fits)
    }
}

impl Sum {
    fn holds(&self, words: &[u64]) -> bool {
        let term = |(field, weight): &(Field, Weight)| weight.of(field.value(words) as i64);
        self.terms.iter().map(term).fold(0i64, i64::wrapping_add) <= self.most
    }
}
