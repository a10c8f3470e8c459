//! From a formula or a claim to the runs that a model must not have.

use crate::property::{Never, Property, PropertyKind, of_one_moment};
use scrimp_system::{Expr, System};
use scrimp_temporal::{Formula, Limits, MOST_ATOMS, hoa, is_stutter_invariant, propositions, translate};
use std::time::{Duration, Instant};

/// What may go into an automaton before it is given up.
const MOST_STATES: usize = 20_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// The runs on which a formula does not hold.
pub fn negation(name: &str, formula: &Formula<Expr>) -> Result<Never<Expr>, String> {
    negation_within(name, formula, PATIENCE)
}

/// The same, unless it takes longer than this.
pub fn negation_within(name: &str, formula: &Formula<Expr>, patience: Duration) -> Result<Never<Expr>, String> {
    let limits = Limits { states: MOST_STATES, until: Some(Instant::now() + patience.min(PATIENCE)) };
    let (letters, atoms) = propositions(&Formula::Not(Box::new(formula.clone())));
    let atoms: Vec<Expr> = atoms.iter().map(of_one_moment).collect();
    if atoms.len() > MOST_ATOMS {
        return Err(format!("{name}: more than {MOST_ATOMS} conditions in a formula are not supported"));
    }
    let too_large = |why| format!("{name}: the formula cannot be translated into an automaton: {why}");
    let automaton = translate(&letters, &limits).map_err(too_large)?;
    let stutters = is_stutter_invariant(&letters, &limits).unwrap_or(false);
    Ok(Never { automaton, atoms, stutters, repeats: true })
}

/// The runs that an automaton in the Hanoi format accepts, as what must not be. Its propositions are conditions, read by `atom`.
pub fn read(name: &str, text: &str, atom: &dyn Fn(&str) -> Result<Expr, String>) -> Result<Property<Expr>, String> {
    let (automaton, names) = hoa::read(text).map_err(|e| {
        let line = text.lines().nth(e.line.saturating_sub(1)).filter(|line| !line.trim().is_empty());
        let shown = line.map(|line| format!("\n  {line}\n  {}^", " ".repeat(e.column.saturating_sub(1))));
        format!("{name}:{}:{}: error: {}{}", e.line, e.column, e.message, shown.unwrap_or_default())
    })?;
    let atoms = names.iter().map(|text| atom(text)).collect::<Result<Vec<Expr>, String>>()?;
    let never = Never { automaton, atoms, stutters: false, repeats: true };
    Ok(Property::new(format!("hoa: {name}"), PropertyKind::Never(Box::new(never))))
}

/// The automaton in the Hanoi format, its propositions in terms of a system.
pub fn write(name: &str, never: &Never<Expr>, system: &System) -> String {
    let names: Vec<String> = never.atoms.iter().map(|e| system.spell(e)).collect();
    hoa::write(&never.automaton, &names, name)
}

/// The runs that break a property, of those on which these conditions hold again and again. Fails where that takes too long.
pub fn broken_by(property: &Property<Expr>, fair: &[Expr], patience: Duration) -> Result<Never<Expr>, String> {
    let negation = |formula: &Formula<Expr>| negation_within(&property.name, &under(fair, formula), patience);
    let atom = |e: &Expr| Box::new(Formula::Atom(e.clone()));
    match &property.kind {
        PropertyKind::Never(never) => Ok(Never::clone(never)),
        PropertyKind::Ltl(formula) => negation(formula),
        PropertyKind::Accepting(e) => {
            let often = Formula::Globally(Box::new(Formula::Finally(atom(e))));
            negation(&Formula::Not(Box::new(often)))
        }
        PropertyKind::Progress(e) => {
            let ever = Formula::Finally(Box::new(Formula::Globally(atom(e))));
            Ok(Never { repeats: false, ..negation(&Formula::Not(Box::new(ever)))? })
        }
        _ => Err(format!("{}: this property is not violated by a single run", property.name)),
    }
}

/// The formula, where conditions hold again and again.
fn under(fair: &[Expr], formula: &Formula<Expr>) -> Formula<Expr> {
    if fair.is_empty() {
        return formula.clone();
    }
    let often = |e: &Expr| Formula::Globally(Box::new(Formula::Finally(Box::new(Formula::Atom(e.clone())))));
    Formula::Implies(Box::new(Formula::And(fair.iter().map(often).collect())), Box::new(formula.clone()))
}
