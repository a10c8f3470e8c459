//! What came of the tests, for people.

use super::runner::{Outcome, Tested};
use scrimp_report::Style;
use scrimp_report::number::count_of;
use std::fmt::Write;

/// So many steps of a run are shown, the last ones.
const STEPS: usize = 12;

/// A model, with all that differs.
pub fn model(tested: &Tested, style: Style) -> String {
    let name = tested.file.display();
    if tested.results.is_empty() {
        return format!("{}  {name}: nothing is declared\n", style.warn("none   "));
    }
    let declared = count_of(tested.results.len() as u64, "claim");
    if tested.passed() {
        let how = if tested.unchanged { "unchanged".to_string() } else { format!("{:.2} s", tested.seconds) };
        return format!("{}  {name}: {declared}, {how}\n", style.good("passed "));
    }
    let mut out = String::new();
    for result in &tested.results {
        let Some(differs) = &result.differs else { continue };
        let Outcome { claim, run, command, .. } = result;
        let _ = writeln!(out, "{}  {name}:{}: {}", style.bad("differs"), claim.line, claim.text);
        let _ = writeln!(out, "         {differs}");
        let left = run.len().saturating_sub(STEPS);
        if left > 0 {
            let _ = writeln!(out, "           … {} before", count_of(left as u64, "step"));
        }
        for step in &run[left..] {
            let _ = writeln!(out, "           {}:{}: {}", tested.file_of(step), step.line, step.label);
        }
        let _ = writeln!(out, "         {}", style.faint(command));
    }
    out
}

/// All of them in one line.
pub fn summary(all: &[Tested]) -> String {
    let count = |wanted: &dyn Fn(&&Tested) -> bool| all.iter().filter(wanted).count();
    let none = count(&|tested| tested.results.is_empty());
    let passed = count(&|tested| !tested.results.is_empty() && tested.passed());
    let unchanged = count(&|tested| tested.unchanged && !tested.results.is_empty());
    let differs = count(&|tested| !tested.passed());
    let mut parts = vec![format!("{passed} passed")];
    if unchanged > 0 {
        parts[0] += &format!(" ({unchanged} unchanged)");
    }
    parts.extend((differs > 0).then(|| format!("{differs} not as declared")));
    parts.extend((none > 0).then(|| format!("{none} without expectations")));
    format!("{}: {}", count_of(all.len() as u64, "model"), parts.join(", "))
}
