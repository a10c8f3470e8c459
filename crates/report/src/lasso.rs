//! Runs that go on for ever: a stem that leads to a loop, and the loop, which begins again and again.

use crate::number::count_of;

/// How long a run is, in words: `7 steps`, or its stem and its cycle where it goes on for ever from a step on.
pub fn length(steps: usize, again: Option<usize>, unit: &str) -> String {
    let events = |count: usize| count_of(count as u64, unit);
    match again.map(|again| (again.min(steps), steps - again.min(steps))) {
        None => events(steps),
        Some((stem, 0)) => format!("{}, after which nothing more can happen", events(stem)),
        Some((0, all)) => format!("a cycle of {}", events(all)),
        Some((stem, all)) => format!("{}, then a cycle of {}", events(stem), events(all)),
    }
}

/// A run, in words: `a shortest run of 7 steps`, `an infinite run: 8 steps, then a cycle of 9 steps`.
pub fn run(shortest: bool, steps: usize, again: Option<usize>) -> String {
    let length = length(steps, again, "step");
    match (again, shortest) {
        (Some(again), _) if again < steps => format!("an infinite run: {length}"),
        (_, true) => format!("a shortest run of {length}"),
        (_, false) => format!("a run of {length}"),
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
        assert_eq!(length(3, Some(0), "event"), "a cycle of 3 events");
        assert_eq!(length(3, Some(2), "event"), "2 events, then a cycle of 1 event");
        assert_eq!(length(1200, Some(1), "event"), "1 event, then a cycle of 1,199 events");
        assert_eq!(run(true, 3, None), "a shortest run of 3 steps");
        assert_eq!(run(false, 3, Some(2)), "an infinite run: 2 steps, then a cycle of 1 step");
        assert_eq!(run(false, 3, Some(3)), "a run of 3 steps, after which nothing more can happen");
    }
}
