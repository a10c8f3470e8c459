//! Which productions of a grammar stand directly inside which others, in theory and in what was generated.

/// A production, by its place in the table of its grammar.
pub type Production = usize;

/// The productions of a language, and which may stand directly inside which.
#[derive(Debug)]
pub struct Grammar {
    pub productions: &'static [&'static str],
    /// Pairs (outer, inner) that cannot be, each with the reason. `*` stands for every production.
    pub excluded: &'static [Exclusion],
    /// Pairs that can be: every inner one may stand directly inside every outer one of its line.
    pub allowed: &'static [Nesting],
}

/// Every one of `inner` may stand directly inside every one of `outer`.
#[derive(Debug)]
pub struct Nesting {
    pub outer: &'static [&'static str],
    pub inner: &'static [&'static str],
}

/// Pairs that the lines of [`Grammar::allowed`] have and the language has not.
#[derive(Debug)]
pub struct Exclusion {
    pub outer: &'static [&'static str],
    pub inner: &'static [&'static str],
    /// `SPIN refuses: …`, `the grammar does not allow …`, `not comparable: …`
    pub why: &'static str,
}

impl Grammar {
    /// The number of a production.
    ///
    /// # Panics
    /// Where there is none of that name: a table is wrong.
    pub fn production(&self, name: &str) -> Production {
        let place = self.productions.iter().position(|known| *known == name);
        place.unwrap_or_else(|| panic!("there is no production `{name}`"))
    }

    /// All pairs (outer, inner) that can be.
    pub fn possible(&self) -> Vec<(Production, Production)> {
        let size = self.productions.len();
        let mut can = vec![false; size * size];
        let mut mark = |outer: &[&str], inner: &[&str], value: bool| {
            for (o, i) in self.each(outer, inner) {
                can[o * size + i] = value;
            }
        };
        for nesting in self.allowed {
            mark(nesting.outer, nesting.inner, true);
        }
        for exclusion in self.excluded {
            mark(exclusion.outer, exclusion.inner, false);
        }
        (0..size * size).filter(|at| can[*at]).map(|at| (at / size, at % size)).collect()
    }

    fn each(&self, outer: &[&str], inner: &[&str]) -> Vec<(Production, Production)> {
        let numbers = |names: &[&str]| -> Vec<Production> {
            match names {
                ["*"] => (0..self.productions.len()).collect(),
                names => names.iter().map(|name| self.production(name)).collect(),
            }
        };
        let inner = numbers(inner);
        numbers(outer).into_iter().flat_map(|o| inner.iter().map(move |i| (o, *i))).collect()
    }

    /// Why a pair cannot be, where somebody has said so.
    pub fn reason(&self, pair: (Production, Production)) -> Option<&'static str> {
        self.excluded.iter().find(|e| self.each(e.outer, e.inner).contains(&pair)).map(|e| e.why)
    }

    /// A pair in words.
    pub fn show(&self, (outer, inner): (Production, Production)) -> String {
        format!("{} in {}", self.productions[inner], self.productions[outer])
    }
}

/// What was written of a grammar: how often each production stood directly inside each other.
#[derive(Debug, Clone)]
pub struct Written {
    grammar: &'static Grammar,
    counts: Vec<u64>,
    /// The places of `counts` in the order in which they were counted, so that it can be undone.
    log: Vec<usize>,
    /// The productions that are being written, innermost last.
    inside: Vec<Production>,
}

impl Written {
    pub fn new(grammar: &'static Grammar) -> Written {
        let size = grammar.productions.len();
        Written { grammar, counts: vec![0; size * size], log: Vec::new(), inside: Vec::new() }
    }

    /// Begins a production, inside the one that is being written; [`leave`](Written::leave) ends it.
    pub fn enter(&mut self, name: &str) {
        let inner = self.grammar.production(name);
        if let Some(outer) = self.inside.last() {
            let place = outer * self.grammar.productions.len() + inner;
            self.counts[place] += 1;
            self.log.push(place);
        }
        self.inside.push(inner);
    }

    pub fn leave(&mut self) {
        self.inside.pop();
    }

    /// Writes a production that has nothing inside.
    pub fn leaf(&mut self, name: &str) {
        self.enter(name);
        self.leave();
    }

    /// Where the writing stands, to come back to.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets what was written since: it came to nothing.
    pub fn back_to(&mut self, mark: usize) {
        self.log.drain(mark..).for_each(|place| self.counts[place] -= 1);
    }

    /// What was written first since, inside what is being written.
    pub fn top(&self, mark: usize) -> Option<&'static str> {
        self.log.get(mark).map(|place| self.grammar.productions[place % self.grammar.productions.len()])
    }

    /// Adds what was written elsewhere.
    pub fn add(&mut self, other: &Written) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    fn count(&self, (outer, inner): (Production, Production)) -> u64 {
        self.counts[outer * self.grammar.productions.len() + inner]
    }

    /// Pairs that can be and were never written.
    pub fn missing(&self) -> Vec<String> {
        let never = |pair: &(Production, Production)| self.count(*pair) == 0;
        self.grammar.possible().into_iter().filter(never).map(|pair| self.grammar.show(pair)).collect()
    }

    /// Pairs that were written though the tables say that they cannot be: the tables are wrong.
    pub fn impossible(&self) -> Vec<String> {
        let possible = self.grammar.possible();
        let size = self.grammar.productions.len();
        let pairs = (0..size * size).map(|at| (at / size, at % size));
        let wrong = pairs.filter(|pair| self.count(*pair) > 0 && possible.binary_search(pair).is_err());
        wrong.map(|pair| self.grammar.show(pair)).collect()
    }

    /// How many pairs were written, of how many that can be.
    pub fn covered(&self) -> (usize, usize) {
        let possible = self.grammar.possible();
        (possible.iter().filter(|pair| self.count(**pair) > 0).count(), possible.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TINY: Grammar = Grammar {
        productions: &["block", "skip", "break"],
        allowed: &[Nesting { outer: &["block"], inner: &["*"] }],
        excluded: &[Exclusion { outer: &["block"], inner: &["break"], why: "there is no loop" }],
    };

    #[test]
    fn pairs_are_counted() {
        let mut written = Written::new(&TINY);
        written.enter("block");
        written.leaf("skip");
        assert_eq!((written.covered(), written.missing()), ((1, 2), vec!["block in block".to_string()]));
        written.leaf("break");
        assert_eq!(written.impossible(), ["break in block"]);
        assert_eq!(TINY.reason((0, 2)), Some("there is no loop"));
    }
}
