//! From a formula or a claim to the runs that a model must not have.

use super::claim::Apart;
use scrimp_system::{BinaryOp, Expr, System};
use scrimp_temporal::{Automaton, Formula, Limits, MOST_ATOMS, hoa, is_stutter_invariant, propositions, translate};
use std::time::{Duration, Instant};

/// What may go into an automaton before it is given up.
const MOST_STATES: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// What no run of a model may be like.
#[derive(Debug, Clone)]
pub struct Bad {
    pub name: String,
    pub automaton: Automaton,
    /// What its atoms stand for.
    pub atoms: Vec<Expr>,
    /// Does it not tell a state from its repetition?
    pub stutters: bool,
    /// Does a run that comes to an end stay there for ever? Otherwise it is none.
    pub repeats: bool,
}

impl Bad {
    /// The runs on which a formula does not hold.
    pub fn against(name: impl Into<String>, formula: &Formula<Expr>) -> Result<Bad, String> {
        Bad::soon(name, formula, PATIENCE)
    }

    /// The same, unless it takes longer than this.
    pub fn soon(name: impl Into<String>, formula: &Formula<Expr>, patience: Duration) -> Result<Bad, String> {
        let name = name.into();
        let limits = Limits { states: MOST_STATES, until: Some(Instant::now() + patience.min(PATIENCE)) };
        let (letters, atoms) = propositions(&Formula::Not(Box::new(formula.clone())));
        let atoms: Vec<Expr> = atoms.iter().map(condition).collect();
        if atoms.len() > MOST_ATOMS {
            return Err(format!("{name}: more than {} conditions are not supported", MOST_ATOMS));
        }
        let too_large = |why| format!("{name}: there is no automaton of this formula: {why}");
        let automaton = translate(&letters, &limits).map_err(too_large)?;
        let stutters = is_stutter_invariant(&letters, &limits).unwrap_or(false);
        Ok(Bad { name, automaton, atoms, stutters, repeats: true })
    }

    /// The runs that a claim accepts.
    pub fn of_claim(claim: &Apart) -> Bad {
        let Apart { automaton, atoms, name, .. } = claim.clone();
        Bad { name, automaton, atoms, stutters: false, repeats: true }
    }
}

impl Bad {
    /// The runs that an automaton in the Hanoi format accepts. Its propositions are conditions, read by `atom`.
    pub fn of_text(name: &str, text: &str, atom: &dyn Fn(&str) -> Result<Expr, String>) -> Result<Bad, String> {
        let (automaton, names) =
            hoa::read(text).map_err(|e| format!("{name}:{}:{}: error: {}", e.line, e.column, e.message))?;
        let atoms = names.iter().map(|text| atom(text)).collect::<Result<Vec<Expr>, String>>()?;
        Ok(Bad { name: format!("hoa: {name}"), automaton, atoms, stutters: false, repeats: true })
    }

    /// The automaton in the Hanoi format, its propositions in terms of a system.
    pub fn text(&self, system: &System) -> String {
        let names: Vec<String> = self.atoms.iter().map(|e| system.spell(e)).collect();
        hoa::write(&self.automaton, &names, &self.name)
    }
}

/// A formula about one moment as an expression.
pub(super) fn condition(formula: &Formula<Expr>) -> Expr {
    let both = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    let joined = |op, all: &[Formula<Expr>], empty: Expr| {
        all.iter().map(condition).reduce(|a, b| both(op, a, b)).unwrap_or(empty)
    };
    match formula {
        Formula::True => Expr::TRUE,
        Formula::False => Expr::Const(0),
        Formula::Atom(e) => e.clone(),
        Formula::Not(a) => Expr::not(condition(a)),
        Formula::And(all) => joined(BinaryOp::And, all, Expr::TRUE),
        Formula::Or(all) => joined(BinaryOp::Or, all, Expr::Const(0)),
        Formula::Implies(a, b) => both(BinaryOp::Or, Expr::not(condition(a)), condition(b)),
        Formula::Equivalent(a, b) => both(BinaryOp::Equal, Expr::not(condition(a)), Expr::not(condition(b))),
        // Propositions are about one moment.
        _ => Expr::TRUE,
    }
}
