//! Properties of a model file: its own, and those written in the property language.

use scrimp_core::{Condition, Predicate, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_native::NativeModel;
use scrimp_system::{BinaryOp, Expr};

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
#[derive(Debug, Default)]
pub struct Asked<'a> {
    pub states: Vec<Property<Condition<'a>>>,
    pub runs: Vec<Property<Expr>>,
}

impl<'a> Asked<'a> {
    /// Everything that a model asks of itself, but what a claim does.
    pub fn by(model: &'a NativeModel) -> Asked<'a> {
        Asked { states: all(model), runs: Property::of_runs(model.system()) }
    }

    /// Adds a property that was read for the model; `assertions` stands for as many as it has.
    pub fn add(&mut self, model: &'a NativeModel, property: Property<Expr>) {
        if property.kind.is_about_runs() {
            return self.runs.push(property);
        }
        if property.kind == PropertyKind::Assertions {
            return self.states.extend(evaluated(model, &Property::all_assertions(model.system())));
        }
        self.states.push(property.map(&mut |e| condition(model, e.clone())));
        if let PropertyKind::Reach(e) = &property.kind {
            self.states.extend(evaluation(model, &property.name, e));
        }
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

/// That evaluating the condition of a property is a fault in no state; nothing where its text shows that it never is.
fn evaluation<'a>(model: &'a NativeModel, name: &str, e: &Expr) -> Option<Property<Condition<'a>>> {
    e.may_fault(&model.system().variables).then(|| {
        let evaluated = Expr::binary(BinaryOp::Or, e.clone(), Expr::TRUE);
        Property::new(evaluation_name(name), PropertyKind::Invariant(condition(model, evaluated)))
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
