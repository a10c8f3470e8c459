//! Formulas of linear and of branching time: a tree, and its text.

use crate::coverage::Written;
use std::fmt::Write;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    Truth(bool),
    /// The condition of this number.
    Atom(usize),
    Not(Box<Formula>),
    Both(Connective, Box<Formula>, Box<Formula>),
    /// Behind a quantifier in branching time, without one in linear time; with one operand or two.
    Runs(Option<Quantifier>, Temporal, Vec<Formula>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connective {
    And,
    Or,
    Implies,
    Equivalent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    All,
    Some,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporal {
    Next,
    Finally,
    Globally,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
}

impl Temporal {
    pub const ALL: [Temporal; 7] = [
        Temporal::Next,
        Temporal::Finally,
        Temporal::Globally,
        Temporal::Until,
        Temporal::WeakUntil,
        Temporal::Release,
        Temporal::StrongRelease,
    ];

    pub fn operands(self) -> usize {
        if matches!(self, Temporal::Next | Temporal::Finally | Temporal::Globally) { 1 } else { 2 }
    }
}

impl Connective {
    pub const ALL: [Connective; 4] = [Connective::And, Connective::Or, Connective::Implies, Connective::Equivalent];
}

impl Formula {
    pub fn negated(self) -> Formula {
        Formula::Not(Box::new(self))
    }

    pub fn both(connective: Connective, a: Formula, b: Formula) -> Formula {
        Formula::Both(connective, Box::new(a), Box::new(b))
    }

    pub fn operands(&self) -> Vec<&Formula> {
        match self {
            Formula::Truth(_) | Formula::Atom(_) => Vec::new(),
            Formula::Not(a) => vec![a],
            Formula::Both(_, a, b) => vec![a, b],
            Formula::Runs(_, _, list) => list.iter().collect(),
        }
    }

    fn operands_mut(&mut self) -> Vec<&mut Formula> {
        match self {
            Formula::Truth(_) | Formula::Atom(_) => Vec::new(),
            Formula::Not(a) => vec![a],
            Formula::Both(_, a, b) => vec![a, b],
            Formula::Runs(_, _, list) => list.iter_mut().collect(),
        }
    }

    pub fn production(&self) -> &'static str {
        use Temporal::*;
        match self {
            Formula::Truth(_) => "truth",
            Formula::Atom(_) => "atom",
            Formula::Not(_) => "!",
            Formula::Both(Connective::And, ..) => "&&",
            Formula::Both(Connective::Or, ..) => "||",
            Formula::Both(Connective::Implies, ..) => "->",
            Formula::Both(Connective::Equivalent, ..) => "<->",
            Formula::Runs(None, Next, _) => "X",
            Formula::Runs(None, Finally, _) => "F",
            Formula::Runs(None, Globally, _) => "G",
            Formula::Runs(None, Until, _) => "U",
            Formula::Runs(None, WeakUntil, _) => "W",
            Formula::Runs(None, Release, _) => "R",
            Formula::Runs(None, StrongRelease, _) => "M",
            Formula::Runs(Some(Quantifier::All), Next, _) => "AX",
            Formula::Runs(Some(Quantifier::All), Finally, _) => "AF",
            Formula::Runs(Some(Quantifier::All), Globally, _) => "AG",
            Formula::Runs(Some(Quantifier::All), Until, _) => "AU",
            Formula::Runs(Some(Quantifier::All), WeakUntil, _) => "AW",
            Formula::Runs(Some(Quantifier::All), Release, _) => "AR",
            Formula::Runs(Some(Quantifier::All), StrongRelease, _) => "AM",
            Formula::Runs(Some(Quantifier::Some), Next, _) => "EX",
            Formula::Runs(Some(Quantifier::Some), Finally, _) => "EF",
            Formula::Runs(Some(Quantifier::Some), Globally, _) => "EG",
            Formula::Runs(Some(Quantifier::Some), Until, _) => "EU",
            Formula::Runs(Some(Quantifier::Some), WeakUntil, _) => "EW",
            Formula::Runs(Some(Quantifier::Some), Release, _) => "ER",
            Formula::Runs(Some(Quantifier::Some), StrongRelease, _) => "EM",
        }
    }

    /// Notes what stands inside what.
    pub fn note(&self, written: &mut Written) {
        written.enter(self.production());
        self.operands().into_iter().for_each(|operand| operand.note(written));
        written.leave();
    }

    /// The text; `style` chooses among the words that an operator has, and whether parentheses stand that need not.
    pub fn text(&self, atoms: &[String], style: u64) -> String {
        let mut out = String::new();
        self.write(&mut out, atoms, &mut { style }, 0);
        out
    }

    /// How strongly the formula's own operator binds.
    fn strength(&self) -> u8 {
        match self {
            Formula::Both(Connective::Equivalent, ..) => 0,
            Formula::Both(Connective::Implies, ..) => 2,
            Formula::Both(Connective::Or, ..) => 3,
            Formula::Both(Connective::And, ..) => 4,
            Formula::Runs(None, temporal, _) if temporal.operands() == 2 => 5,
            _ => 6,
        }
    }

    fn write(&self, out: &mut String, atoms: &[String], style: &mut u64, least: u8) {
        let mut choose = |words: &[&'static str]| {
            *style = style.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            words[(*style >> 33) as usize % words.len()]
        };
        let word = match self {
            Formula::Both(Connective::And, ..) => choose(&[" && ", " and "]),
            Formula::Both(Connective::Or, ..) => choose(&[" || ", " or "]),
            Formula::Both(Connective::Implies, ..) => choose(&[" -> ", " implies ", " imply "]),
            Formula::Both(Connective::Equivalent, ..) => " <-> ",
            _ => "",
        };
        // `->`, `implies` and `<->` group to the right, the others to the left; `imply` takes what `->` groups before it.
        let right = matches!(word, " -> " | " implies " | " <-> ");
        let own = if word == " imply " { 1 } else { self.strength() };
        let needed = own < least;
        let open = needed || choose(&["", "", "", "("]) == "(";
        if open {
            out.push('(');
        }
        match self {
            Formula::Truth(value) => out.push_str(if *value { "true" } else { "false" }),
            Formula::Atom(number) => {
                let _ = write!(out, "({})", atoms[*number]);
            }
            Formula::Not(a) => {
                out.push_str(choose(&["!", "not "]));
                a.write(out, atoms, style, 6);
            }
            Formula::Both(_, a, b) => {
                a.write(out, atoms, style, own + right as u8);
                out.push_str(word);
                b.write(out, atoms, style, own + !right as u8);
            }
            Formula::Runs(quantifier, temporal, list) => {
                Formula::write_runs(out, atoms, style, (*quantifier, *temporal, list))
            }
        }
        if open {
            out.push(')');
        }
    }

    fn write_runs(
        out: &mut String,
        atoms: &[String],
        style: &mut u64,
        (quantifier, temporal, list): (Option<Quantifier>, Temporal, &[Formula]),
    ) {
        let mut choose = |words: &[&'static str]| {
            *style = style.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            words[(*style >> 33) as usize % words.len()]
        };
        let letter = match quantifier {
            None => "",
            Some(Quantifier::All) => "A",
            Some(Quantifier::Some) => "E",
        };
        let plain = quantifier.is_none();
        let word = match temporal {
            Temporal::Next if plain => choose(&["X ", "next "]),
            Temporal::Finally if plain => choose(&["F ", "<> ", "eventually "]),
            Temporal::Globally if plain => choose(&["G ", "[] ", "always "]),
            Temporal::Next => "X ",
            Temporal::Finally => "F ",
            Temporal::Globally => "G ",
            Temporal::Until => choose(&[" U ", " until "]),
            Temporal::WeakUntil => choose(&[" W ", " weakuntil "]),
            Temporal::Release => choose(&[" R ", " V ", " release "]),
            Temporal::StrongRelease => " M ",
        };
        let brackets =
            if plain { ("", "") } else { [("[", "]"), ("(", ")"), (" (", ")")][choose(&["", ".", ".."]).len()] };
        match list {
            [a] => {
                out.push_str(letter);
                out.push_str(word);
                a.write(out, atoms, style, 6);
            }
            [a, b] => {
                out.push_str(letter);
                out.push_str(brackets.0);
                // `U` and its like group to the right.
                a.write(out, atoms, style, 6);
                out.push_str(word);
                b.write(out, atoms, style, if plain { 5 } else { 6 });
                out.push_str(brackets.1);
            }
            _ => {}
        }
    }

    /// The formulas with one part replaced by something smaller.
    pub fn smaller(&self) -> Vec<Formula> {
        let mut found: Vec<Formula> = self.operands().into_iter().cloned().collect();
        if !matches!(self, Formula::Truth(_)) {
            found.extend([Formula::Truth(true), Formula::Truth(false)]);
        }
        let count = self.operands().len();
        for number in 0..count {
            for part in self.operands()[number].smaller() {
                let mut whole = self.clone();
                if let Some(place) = whole.operands_mut().into_iter().nth(number) {
                    *place = part;
                }
                found.push(whole);
            }
        }
        found
    }

    /// The same by other words, as De Morgan and the dualities of time have it: `!` is pushed one step down or pulled up.
    pub fn dual(&self) -> Formula {
        use Connective::{And, Or};
        use Temporal::*;
        let not = |f: &Formula| f.clone().negated();
        match self {
            Formula::Truth(value) => Formula::Truth(!value).negated(),
            Formula::Atom(_) => self.clone().negated().negated(),
            Formula::Not(a) => a.dual().negated(),
            Formula::Both(And, a, b) => Formula::both(Or, not(&a.dual()), not(&b.dual())).negated(),
            Formula::Both(Or, a, b) => Formula::both(And, not(&a.dual()), not(&b.dual())).negated(),
            Formula::Both(Connective::Implies, a, b) => Formula::both(Or, not(&a.dual()), b.dual()),
            Formula::Both(Connective::Equivalent, a, b) => {
                let (a, b) = (a.dual(), b.dual());
                Formula::both(Or, Formula::both(And, a.clone(), b.clone()), Formula::both(And, not(&a), not(&b)))
            }
            Formula::Runs(quantifier, temporal, list) => {
                let other = quantifier.map(|q| match q {
                    Quantifier::All => Quantifier::Some,
                    Quantifier::Some => Quantifier::All,
                });
                let list = list.iter().map(|f| f.dual().negated()).collect();
                let temporal = match temporal {
                    Next => Next,
                    Finally => Globally,
                    Globally => Finally,
                    Until => Release,
                    Release => Until,
                    WeakUntil => StrongRelease,
                    StrongRelease => WeakUntil,
                };
                Formula::Runs(other, temporal, list).negated()
            }
        }
    }

    /// Does it speak of the next state?
    pub fn has_next(&self) -> bool {
        matches!(self, Formula::Runs(_, Temporal::Next, _)) || self.operands().into_iter().any(Formula::has_next)
    }

    /// How many temporal operators it has.
    pub fn size(&self) -> usize {
        matches!(self, Formula::Runs(..)) as usize + self.operands().into_iter().map(Formula::size).sum::<usize>()
    }
}
