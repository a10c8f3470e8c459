//! Properties of a model file: its own, and those written in the property language.

use crate::temporal::{RunKind, RunProperty};
use crate::{NativeModel, Property, PropertyKind, PropertyResult, Verdict};
use scrimp_core::Condition;
use scrimp_lang::PropertyKind as Parsed;
use scrimp_system::{BinaryOp, Expr, NamedFormula, System};

/// The assertion that a `never` claim does not come to its end.
pub(crate) const NEVER: &str = "never claim";

/// Everything a model can do wrong by itself: deadlocks, faults, violated assertions.
pub fn all(model: &NativeModel) -> Vec<Property<'_>> {
    let mut list = vec![Property::deadlock(), Property::faults()];
    list.extend(assertions(model));
    list
}

/// What an assertion that must hold in every state is called.
pub fn name_of(assertion: &scrimp_system::Assertion) -> String {
    match assertion.name == NEVER {
        true => NEVER.into(),
        false => format!("assertion: {}", assertion.name),
    }
}

/// The assertions that must hold in every state.
pub fn model_assertions(model: &NativeModel) -> Vec<Property<'_>> {
    let property = |a: &scrimp_system::Assertion| {
        let name = name_of(a);
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

/// What a system demands of its runs, but what a claim does.
pub fn own_runs(system: &System) -> Vec<RunProperty> {
    let formula = |f: &NamedFormula| RunProperty::new(format!("ltl {}", f.name), RunKind::Ltl(f.formula.clone()));
    let accepting = system.accepting.clone().map(|e| RunProperty::new("accepting", RunKind::Accepting(e)));
    system.formulas.iter().map(formula).chain(accepting).collect()
}

/// What is asked of a model: of its states, which one search decides together, and of its runs, each by itself.
#[derive(Debug, Default)]
pub struct Asked<'a> {
    pub states: Vec<Property<'a>>,
    pub runs: Vec<RunProperty>,
}

impl<'a> Asked<'a> {
    /// Everything that a model asks of itself, but what a claim does.
    pub fn by(model: &'a NativeModel) -> Asked<'a> {
        Asked { states: all(model), runs: own_runs(model.system()) }
    }

    /// Adds a property that was read for the model; `assertions` stands for as many as it has.
    pub fn add(&mut self, model: &'a NativeModel, parsed: scrimp_lang::Property) -> Result<(), String> {
        let system = model.system();
        let nothing = |what: &str| format!("error: property `{}`: the model says nothing of {what}", parsed.name);
        let (kind, expression) = match parsed.kind {
            Parsed::Assertions => {
                self.states.extend(assertions(model));
                return Ok(());
            }
            Parsed::Deadlock => (PropertyKind::Deadlock, None),
            Parsed::Faults => (PropertyKind::Faults, None),
            Parsed::Invariant(e) => (PropertyKind::Invariant(condition(model, &e)), Some(e)),
            Parsed::Reach(e) => (PropertyKind::Reach(condition(model, &e)), Some(e)),
            Parsed::Ltl(_) | Parsed::Ctl(_) | Parsed::Accepting | Parsed::Progress => {
                let kind = match parsed.kind {
                    Parsed::Ltl(formula) => RunKind::Ltl(formula),
                    Parsed::Ctl(formula) => RunKind::Ctl(formula),
                    Parsed::Accepting => {
                        RunKind::Accepting(system.accepting.clone().ok_or_else(|| nothing("accepting places"))?)
                    }
                    _ => RunKind::Progress(system.no_progress.clone().ok_or_else(|| nothing("progress"))?),
                };
                self.runs.push(RunProperty::new(parsed.name, kind));
                return Ok(());
            }
        };
        let evaluated = expression.as_ref().filter(|_| matches!(kind, PropertyKind::Reach(_)));
        let evaluated = evaluated.and_then(|e| evaluation(model, &parsed.name, e));
        self.states.push(Property { name: parsed.name, kind, expression });
        self.states.extend(evaluated);
        Ok(())
    }
}

/// What the demand is called that a property can be evaluated.
fn evaluation_name(name: &str) -> String {
    format!("evaluation of {name}")
}

/// Where a condition cannot be evaluated in some state, it is not known whether it holds there: what was not found may be
/// there after all.
pub(crate) fn doubt(properties: &[Property], results: &mut [PropertyResult]) {
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
fn evaluation<'a>(model: &'a NativeModel, name: &str, e: &Expr) -> Option<Property<'a>> {
    e.may_fault(&model.system().variables).then(|| {
        let evaluated = Expr::binary(BinaryOp::Or, e.clone(), Expr::TRUE);
        let kind = PropertyKind::Invariant(condition(model, &evaluated));
        Property::new(evaluation_name(name), kind).with_expression(evaluated)
    })
}

pub(crate) fn condition<'a>(model: &'a NativeModel, e: &Expr) -> Condition<'a> {
    let predicate = model.predicate(e);
    Box::new(move |state| predicate.holds(state))
}
