//! Formulas that hold for want of occasion: where `a` demands `b`, and `a` never happens.
//!
//! A formula in which `false` stands in place of `b` is stronger. Where that holds too, nobody ever had to do what is
//! demanded.

use super::{Context, decide_alone};
use scrimp_core::{Control, Property, PropertyKind, Report, Verdict};
use scrimp_native::NativeModel;
use scrimp_system::Expr;
use scrimp_temporal::{Formula, antecedents};
use std::time::Duration;

/// The most implications that are looked at.
const MOST: usize = 8;
/// What one of them may take, if the formula itself did not take longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks for conditions that never matter to a property that holds.
pub fn look(model: &NativeModel, property: &Property<Expr>, means: &Context, report: &mut Report) {
    let (PropertyKind::Ltl(formula) | PropertyKind::Ctl(formula)) = &property.kind else { return };
    let Some(result) = report.properties.first_mut().filter(|result| result.verdict == Verdict::Verified) else {
        return;
    };
    let plan = &means.plan.unsaved();
    for (condition, stronger) in antecedents(formula).into_iter().take(MOST) {
        let control = Control::under(means.control.stop().within(PATIENCE.max(report.elapsed)));
        let stronger = match &property.kind {
            PropertyKind::Ctl(_) => PropertyKind::Ctl(stronger),
            _ => PropertyKind::Ltl(stronger),
        };
        let stronger = Property::new(property.name.clone(), stronger);
        let found = decide_alone(model, &stronger, &Context { plan, control: &control, ..*means });
        let verified = |found: Report| found.properties.first().is_some_and(|p| p.verdict == Verdict::Verified);
        if found.is_ok_and(verified) {
            let condition: Formula<String> = condition.map(&mut |e| model.system().spell(e));
            result.vacuous.push(condition.to_string());
        }
    }
}
