//! Runs that go on for ever: a stem that leads to a loop, and the loop, which begins again and again.

use crate::number::count_of;

/// How long a run is, in words: `7 steps`, or its stem and its loop where it goes on for ever from a step on.
pub fn length(steps: usize, again: Option<usize>, unit: &str) -> String {
    let events = |count: usize| count_of(count as u64, unit);
    let round =
        |count: usize| format!("{} that {} round for ever", events(count), if count == 1 { "goes" } else { "go" });
    match again.map(|again| (again.min(steps), steps - again.min(steps))) {
        None => events(steps),
        Some((stem, 0)) => format!("{}, after which nothing more can happen", events(stem)),
        Some((0, all)) => round(all),
        Some((stem, all)) => format!("{}, then {}", events(stem), round(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_words() {
        assert_eq!(length(1, None, "event"), "1 event");
        assert_eq!(length(3, Some(3), "event"), "3 events, after which nothing more can happen");
        assert_eq!(length(3, Some(9), "event"), "3 events, after which nothing more can happen");
        assert_eq!(length(3, Some(0), "event"), "3 events that go round for ever");
        assert_eq!(length(3, Some(2), "event"), "2 events, then 1 event that goes round for ever");
        assert_eq!(length(1200, Some(1), "event"), "1 event, then 1,199 events that go round for ever");
    }
}
