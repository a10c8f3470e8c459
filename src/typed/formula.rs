//! Formulas about conditions that are functions of a state.

use scrimp_core::{Predicate, PropertyKind};
use scrimp_lang::parse_property;
use scrimp_system::{Domain, Expr, Role, Source, System, Variable};
use scrimp_temporal::Formula;

/// Reads a formula of this logic, `ltl` or `ctl`, in which conditions have these names. Its atoms are variables, by the numbers
/// of the names.
pub fn read(logic: &str, text: &str, names: &[&str]) -> Result<Formula<Expr>, String> {
    let variable = |name: &&str| Variable {
        name: name.to_string(),
        owner: None,
        domain: Domain::range(0, 1),
        length: None,
        role: Role::Data,
    };
    let system =
        System { variables: names.iter().map(variable).collect(), ..System::new(Source::new("formula", text)) };
    let property = parse_property(&system, &format!("{logic}: {text}")).map_err(|problem| problem.to_string())?;
    match property.kind {
        PropertyKind::Ltl(formula) | PropertyKind::Ctl(formula) => Ok(formula),
        _ => Err(format!("`{text}` is not a formula")),
    }
}

/// A condition in a formula, evaluated by what its variables stand for.
pub fn evaluated<'a>(condition: &Expr, atoms: &'a [Predicate<'a>]) -> Predicate<'a> {
    let condition = condition.clone();
    Box::new(move |state| {
        let value = condition.eval(&|variable, _| atoms[variable.index()](state).map(i64::from));
        value.map(|value| value != 0)
    })
}
