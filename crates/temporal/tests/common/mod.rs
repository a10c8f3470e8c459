//! Formulas for tests: read from text, and made at random.

#![allow(dead_code)]

use scrimp_temporal::{Formula, Letter};

/// Reads `G F X U W R M ! && || -> <->` (and `&`, `|`, `[]`, `<>`), names and quoted names; atoms are numbered as they
/// come.
pub fn read(text: &str) -> (Formula<u32>, Vec<String>) {
    let mut reader = Reader { words: words(text), at: 0, names: Vec::new() };
    let formula = reader.equivalence();
    assert_eq!(reader.at, reader.words.len(), "{text}: something is left");
    (formula, reader.names)
}

/// Reads a formula whose atoms are the letters from `a` on: `a` is 0.
pub fn letters(text: &str) -> Formula<u32> {
    let (formula, names) = read(text);
    formula.map(&mut |atom| u32::from(names[*atom as usize].as_bytes()[0] - b'a'))
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').expect("an end of the name") + 2,
            'G' | 'F' | 'X' | 'U' | 'V' | 'W' | 'R' | 'M'
                if !rest[1..].starts_with(|c: char| c.is_ascii_lowercase()) =>
            {
                1
            }
            _ if first.is_ascii_alphanumeric() => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => ["<->", "->", "&&", "||", "[]", "<>"]
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(1, |s| s.len()),
        };
        // Letters of operators may stand before a name without a space.
        let length = if first.is_ascii_uppercase() && "GFX".contains(first) { 1 } else { length };
        words.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    words
}

struct Reader {
    words: Vec<String>,
    at: usize,
    names: Vec<String>,
}

impl Reader {
    fn take(&mut self, signs: &[&str]) -> Option<String> {
        let found = self.words.get(self.at).filter(|word| signs.contains(&word.as_str())).cloned();
        self.at += usize::from(found.is_some());
        found
    }

    fn equivalence(&mut self) -> Formula<u32> {
        let first = self.implication();
        match self.take(&["<->"]) {
            Some(_) => Formula::Equivalent(Box::new(first), Box::new(self.equivalence())),
            None => first,
        }
    }

    fn implication(&mut self) -> Formula<u32> {
        let first = self.disjunction();
        match self.take(&["->"]) {
            Some(_) => Formula::Implies(Box::new(first), Box::new(self.implication())),
            None => first,
        }
    }

    fn disjunction(&mut self) -> Formula<u32> {
        let mut all = vec![self.conjunction()];
        while self.take(&["|", "||"]).is_some() {
            all.push(self.conjunction());
        }
        if all.len() == 1 { all.remove(0) } else { Formula::Or(all) }
    }

    fn conjunction(&mut self) -> Formula<u32> {
        let mut all = vec![self.binary()];
        while self.take(&["&", "&&"]).is_some() {
            all.push(self.binary());
        }
        if all.len() == 1 { all.remove(0) } else { Formula::And(all) }
    }

    fn binary(&mut self) -> Formula<u32> {
        let first = self.unary();
        let Some(sign) = self.take(&["U", "W", "R", "M", "V"]) else { return first };
        let (first, second) = (Box::new(first), Box::new(self.binary()));
        match sign.as_str() {
            "U" => Formula::Until(first, second),
            "W" => Formula::WeakUntil(first, second),
            "M" => Formula::StrongRelease(first, second),
            _ => Formula::Release(first, second),
        }
    }

    fn unary(&mut self) -> Formula<u32> {
        let word = self.words.get(self.at).cloned().expect("an operand");
        self.at += 1;
        match word.as_str() {
            "!" => Formula::Not(Box::new(self.unary())),
            "G" | "[]" => Formula::Globally(Box::new(self.unary())),
            "F" | "<>" => Formula::Finally(Box::new(self.unary())),
            "X" => Formula::Next(Box::new(self.unary())),
            "(" => {
                let inner = self.equivalence();
                assert!(self.take(&[")"]).is_some(), "a closing parenthesis in {:?} at {}", self.words, self.at);
                inner
            }
            "true" => Formula::True,
            "false" => Formula::False,
            name => {
                let known = self.names.iter().position(|known| known == name);
                let number = known.unwrap_or_else(|| {
                    self.names.push(name.to_string());
                    self.names.len() - 1
                });
                Formula::Atom(number as u32)
            }
        }
    }
}

/// Numbers that look random and are the same in every run.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }

    /// A formula of so many operators and atoms, or about.
    pub fn formula(&mut self, size: usize, atoms: usize) -> Formula<u32> {
        if size <= 1 {
            return match self.below(12) {
                0 => Formula::True,
                1 => Formula::False,
                _ => Formula::Atom(self.below(atoms) as u32),
            };
        }
        let kind = self.below(if size == 2 { 4 } else { 14 });
        if kind < 4 {
            let a = Box::new(self.formula(size - 1, atoms));
            return match kind {
                0 => Formula::Not(a),
                1 => Formula::Next(a),
                2 => Formula::Finally(a),
                _ => Formula::Globally(a),
            };
        }
        let left = 1 + self.below(size - 2);
        let (a, b) = (self.formula(left, atoms), self.formula(size - 1 - left, atoms));
        let pair = |a, b| (Box::new(a), Box::new(b));
        match kind {
            4 | 5 => Formula::And(vec![a, b]),
            6 | 7 => Formula::Or(vec![a, b]),
            8 | 9 => Formula::Until(Box::new(a), Box::new(b)),
            10 => Formula::WeakUntil(Box::new(a), Box::new(b)),
            11 => Formula::Release(Box::new(a), Box::new(b)),
            12 => Formula::StrongRelease(Box::new(a), Box::new(b)),
            _ => {
                let equivalent = self.below(3) == 0;
                let (a, b) = pair(a, b);
                if equivalent { Formula::Equivalent(a, b) } else { Formula::Implies(a, b) }
            }
        }
    }

    /// A stem and a cycle.
    pub fn word(&mut self, atoms: usize) -> (Vec<Letter>, Vec<Letter>) {
        let (stem, cycle) = (self.below(4), 1 + self.below(4));
        let mut letters = |count| (0..count).map(|_| self.below(1 << atoms) as Letter).collect();
        (letters(stem), letters(cycle))
    }
}
