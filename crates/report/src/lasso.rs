//! Runs that go on for ever: a stem that leads to a loop, and the loop, which begins again and again.

use crate::number::count_of;
use crate::style::Style;
use crate::trace;
use scrimp_core::Step;
use scrimp_system::Describe;
use std::collections::BTreeSet;

/// How long a run is, in words: `7 events`, or its stem and its loop where it goes on for ever from a step on.
pub fn length(steps: usize, again: Option<usize>) -> String {
    let events = |count: usize| count_of(count as u64, "event");
    let round =
        |count: usize| format!("{} that {} round for ever", events(count), if count == 1 { "goes" } else { "go" });
    match again.map(|again| (again.min(steps), steps - again.min(steps))) {
        None => events(steps),
        Some((stem, 0)) => format!("{}, after which nothing more can happen", events(stem)),
        Some((0, all)) => round(all),
        Some((stem, all)) => format!("{}, then {}", events(stem), round(all)),
    }
}

/// The line before the first step of the loop, which begins in `state`; users of SPIN know another one.
pub fn beginning(model: &dyn Describe, state: &[u8], style: Style) -> String {
    match model.standing(state).is_empty() {
        true => format!("       {}\n", style.bold("the loop:")),
        false => "  <<<<<START OF CYCLE>>>>>\n".to_string(),
    }
}

/// What is said behind the last step of a run whose loop has all but the first `again` steps: that it begins again, who takes
/// part in it, and what it changes on its way.
pub fn end(model: &dyn Describe, initial: &[u8], steps: &[Step], again: usize) -> String {
    let (stem, steps) = steps.split_at(again.min(steps.len()));
    if steps.is_empty() {
        return "       nothing more can happen, for ever\n".to_string();
    }
    let mut out = format!("       and so on for ever, from step {} again\n", stem.len() + 1);
    let mut processes = BTreeSet::new();
    let mut changed = BTreeSet::new();
    let mut before = stem.last().map_or(initial, |step| &step.state);
    for step in steps {
        processes.extend(model.event(step.event).processes);
        changed.extend(trace::changes(model, before, &step.state).into_iter().map(|(name, _, _)| name));
        before = &step.state;
    }
    let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
    if !processes.is_empty() {
        out.push_str(&format!("       processes that move in the loop: {}\n", list(processes)));
    }
    out.push_str(&match changed.is_empty() {
        true => "       no value changes in the loop\n".to_string(),
        false => format!("       values that change in the loop: {}\n", list(changed)),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_words() {
        assert_eq!(length(1, None), "1 event");
        assert_eq!(length(3, Some(3)), "3 events, after which nothing more can happen");
        assert_eq!(length(3, Some(9)), "3 events, after which nothing more can happen");
        assert_eq!(length(3, Some(0)), "3 events that go round for ever");
        assert_eq!(length(3, Some(2)), "2 events, then 1 event that goes round for ever");
        assert_eq!(length(1200, Some(1)), "1 event, then 1,199 events that go round for ever");
    }
}
