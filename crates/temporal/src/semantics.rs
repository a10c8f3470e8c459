//! What formulas mean: their truth on words that end in a cycle, by fixpoints. It knows nothing of automata, which are
//! tested against it.

use crate::automaton::Letter;
use crate::formula::Formula;

impl Formula<u32> {
    /// Does it hold on the word that begins with the stem and then repeats the cycle for ever? Atoms from 64 on hold
    /// nowhere. Path quantifiers say nothing: there is only the one path. With an empty cycle there is no infinite word,
    /// and the answer is `false`.
    pub fn holds_on(&self, stem: &[Letter], cycle: &[Letter]) -> bool {
        let word = Word { stem: stem.len(), letters: stem.iter().chain(cycle).copied().collect() };
        !cycle.is_empty() && word.values(self)[0]
    }
}

struct Word {
    stem: usize,
    letters: Vec<Letter>,
}

impl Word {
    /// The position after this one.
    fn after(&self, position: usize) -> usize {
        if position + 1 < self.letters.len() { position + 1 } else { self.stem }
    }

    /// Where the formula holds.
    fn values(&self, formula: &Formula<u32>) -> Vec<bool> {
        let positions = self.letters.len();
        let combine = |a: &Formula<u32>, b: &Formula<u32>, how: &dyn Fn(bool, bool) -> bool| {
            let (a, b) = (self.values(a), self.values(b));
            a.into_iter().zip(b).map(|(a, b)| how(a, b)).collect()
        };
        match formula {
            Formula::True => vec![true; positions],
            Formula::False => vec![false; positions],
            Formula::Atom(atom) => {
                self.letters.iter().map(|letter| letter.checked_shr(*atom).unwrap_or(0) & 1 == 1).collect()
            }
            Formula::Not(a) => self.values(a).into_iter().map(|a| !a).collect(),
            Formula::And(all) => all.iter().fold(vec![true; positions], |mut so_far, a| {
                so_far.iter_mut().zip(self.values(a)).for_each(|(so_far, a)| *so_far &= a);
                so_far
            }),
            Formula::Or(all) => all.iter().fold(vec![false; positions], |mut so_far, a| {
                so_far.iter_mut().zip(self.values(a)).for_each(|(so_far, a)| *so_far |= a);
                so_far
            }),
            Formula::Implies(a, b) => combine(a, b, &|a, b| !a || b),
            Formula::Equivalent(a, b) => combine(a, b, &|a, b| a == b),
            Formula::Next(a) => {
                let values = self.values(a);
                (0..positions).map(|position| values[self.after(position)]).collect()
            }
            Formula::Finally(a) => {
                let a = self.values(a);
                self.fixpoint(false, |position, next| a[position] || next)
            }
            Formula::Globally(a) => {
                let a = self.values(a);
                self.fixpoint(true, |position, next| a[position] && next)
            }
            Formula::Until(a, b) => {
                let (a, b) = (self.values(a), self.values(b));
                self.fixpoint(false, |position, next| b[position] || a[position] && next)
            }
            Formula::WeakUntil(a, b) => {
                let (a, b) = (self.values(a), self.values(b));
                self.fixpoint(true, |position, next| b[position] || a[position] && next)
            }
            Formula::Release(a, b) => {
                let (a, b) = (self.values(a), self.values(b));
                self.fixpoint(true, |position, next| b[position] && (a[position] || next))
            }
            Formula::StrongRelease(a, b) => {
                let (a, b) = (self.values(a), self.values(b));
                self.fixpoint(false, |position, next| b[position] && (a[position] || next))
            }
            Formula::AllPaths(a) | Formula::ExistsPath(a) => self.values(a),
        }
    }

    /// The least fixpoint (from `false`) or the greatest (from `true`) of what a position's value is by the next one's.
    fn fixpoint(&self, start: bool, value: impl Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut values = vec![start; self.letters.len()];
        loop {
            let mut changed = false;
            for position in (0..values.len()).rev() {
                let new = value(position, values[self.after(position)]);
                changed |= new != values[position];
                values[position] = new;
            }
            if !changed {
                return values;
            }
        }
    }
}
