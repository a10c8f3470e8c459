//! Properties of a model file: its own, and those written in the property language.

use scrimp_core::{Condition, Predicate, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_native::NativeModel;
use scrimp_system::{BinaryOp, Expr, System};

/// Everything a model can do wrong by itself: deadlocks, faults, violated assertions.
pub fn all(model: &NativeModel) -> Vec<Property<Condition<'_>>> {
    evaluated(model, &Property::all(model.system()))
}

/// The assertions that must hold in every state.
pub fn model_assertions(model: &NativeModel) -> Vec<Property<Condition<'_>>> {
    evaluated(model, &Property::invariants(model.system()))
}

/// Properties as a model evaluates them.
pub fn evaluated<'m>(model: &'m NativeModel, properties: &[Property<Expr>]) -> Vec<Property<Condition<'m>>> {
    properties.iter().map(|property| property.map(&mut |e| condition(model, e.clone()))).collect()
}

/// What is asked of a model: of its states, which one search decides together, and of its runs, each by itself.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub states: Vec<Property<Expr>>,
    pub runs: Vec<Property<Expr>>,
}

impl Asked {
    /// Everything that a system asks of itself, but what a claim does.
    pub fn by(system: &System) -> Asked {
        Asked { states: Property::all(system), runs: Property::of_runs(system) }
    }

    /// Adds a property that was read for the system; `assertions` stands for as many as it has.
    pub fn add(&mut self, system: &System, property: Property<Expr>) {
        if property.kind.is_about_runs() {
            return self.runs.push(property);
        }
        if property.kind == PropertyKind::Assertions {
            return self.states.extend(Property::all_assertions(system));
        }
        let evaluation = match &property.kind {
            PropertyKind::Reach(e) => evaluation(system, &property.name, e),
            _ => None,
        };
        self.states.push(property);
        self.states.extend(evaluation);
    }
}

/// What the demand is called that a property can be evaluated.
fn evaluation_name(name: &str) -> String {
    format!("evaluation of {name}")
}

/// Where a condition cannot be evaluated in some state, it is not known whether it holds there: what was not found may be
/// there after all.
pub(crate) fn doubt(properties: &[Property<Condition>], results: &mut [PropertyResult]) {
    for (number, property) in properties.iter().enumerate() {
        let name = evaluation_name(&property.name);
        let faulty = |result: &PropertyResult| result.name == name && result.verdict == Verdict::Violated;
        if matches!(property.kind, PropertyKind::Reach(_))
            && results.iter().any(faulty)
            && let Some(result) = results.get_mut(number).filter(|result| result.verdict == Verdict::Violated)
        {
            result.verdict = Verdict::Undecided;
        }
    }
}

/// That evaluating the condition of a property is a run-time error in no state; nothing where its text shows that it never is.
fn evaluation(system: &System, name: &str, e: &Expr) -> Option<Property<Expr>> {
    e.may_fault(&system.variables).then(|| {
        let evaluated = Expr::binary(BinaryOp::Or, e.clone(), Expr::TRUE);
        Property::new(evaluation_name(name), PropertyKind::Invariant(evaluated))
    })
}

/// An expression as a model evaluates it.
pub(crate) fn predicate<'a>(model: &'a NativeModel, e: &Expr) -> Predicate<'a> {
    let predicate = model.predicate(e);
    Box::new(move |state| predicate.holds(state))
}

pub(crate) fn condition(model: &NativeModel, e: Expr) -> Condition<'_> {
    Condition { holds: predicate(model, &e), expression: Some(e) }
}
