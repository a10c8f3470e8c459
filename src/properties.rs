//! Properties of a model file: its own, and those written in the property language.

use crate::{NativeModel, Property, PropertyKind};
use scrimp_lang::PropertyKind as Parsed;
use scrimp_search::check::Condition;
use scrimp_system::Expr;

/// The assertion that a `never` claim does not come to its end.
pub(crate) const NEVER: &str = "never claim";

/// Everything a model can do wrong by itself: deadlocks, faults, violated assertions.
pub fn all(model: &NativeModel) -> Vec<Property<'_>> {
    let mut list = vec![Property::deadlock(), Property::faults()];
    list.extend(assertions(model));
    list
}

/// The assertions that must hold in every state.
pub fn model_assertions(model: &NativeModel) -> Vec<Property<'_>> {
    let property = |a: &scrimp_system::Assertion| {
        let name = if a.name == NEVER { NEVER.into() } else { format!("assertion: {}", a.name) };
        let kind = PropertyKind::Invariant(condition(model, &a.condition));
        Property::new(name, kind).with_expression(a.condition.clone())
    };
    model.system().assertions.iter().map(property).collect()
}

/// The assertions in the model: those that must hold in every state each by itself, those that events make as one.
pub fn assertions(model: &NativeModel) -> Vec<Property<'_>> {
    let mut list = model_assertions(model);
    if model.system().events.iter().any(|event| event.assertion.is_some()) {
        list.push(Property::assertions());
    }
    list
}

/// A property that was read for this model; `assertions` stands for as many as the model has. Those of infinite runs are
/// refused, with a reason.
pub fn of(model: &NativeModel, parsed: scrimp_lang::Property) -> Result<Vec<Property<'_>>, String> {
    let (kind, expression) = match parsed.kind {
        Parsed::Assertions => return Ok(assertions(model)),
        Parsed::Deadlock => (PropertyKind::Deadlock, None),
        Parsed::Faults => (PropertyKind::Faults, None),
        Parsed::Invariant(e) => (PropertyKind::Invariant(condition(model, &e)), Some(e)),
        Parsed::Reach(e) => (PropertyKind::Reach(condition(model, &e)), Some(e)),
        Parsed::Ltl(_) | Parsed::Ctl(_) | Parsed::Accepting | Parsed::Progress => {
            return Err(format!("error: `{}` is decided by a search for cycles", parsed.name));
        }
    };
    Ok(vec![Property { name: parsed.name, kind, expression }])
}

fn condition<'a>(model: &'a NativeModel, e: &Expr) -> Condition<'a> {
    let predicate = model.predicate(e);
    Box::new(move |state| predicate.holds(state))
}
