//! Vector clocks: what each process knew of all of them when it wrote a record. They say which record came before which.
//!
//! Lamport, "Time, clocks, and the ordering of events in a distributed system" (1978); Mattern, "Virtual time and global
//! states of distributed systems" (1989).

use serde_json::Value;
use std::collections::BTreeMap;

/// A time for each process; 0 for those that are not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clock(BTreeMap<String, u64>);

impl Clock {
    /// Reads `{"a": 1, "b": 4}` or `[1, 4]`.
    pub fn of(value: &Value) -> Option<Clock> {
        let entry = |(name, time): (String, &Value)| Some((name, time.as_u64()?));
        let entries: Option<BTreeMap<String, u64>> = match value {
            Value::Object(object) => object.iter().map(|(name, time)| entry((name.clone(), time))).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(i, time)| entry((i.to_string(), time))).collect(),
            _ => None,
        };
        entries.map(|entries| Clock(entries.into_iter().filter(|(_, time)| *time > 0).collect()))
    }

    /// Did it happen before the other, so that the other may know of it?
    pub fn is_before(&self, other: &Clock) -> bool {
        let known = |(name, time): (&String, &u64)| other.0.get(name).is_some_and(|theirs| theirs >= time);
        self != other && self.0.iter().all(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_knows_of_another_came_later() {
        let clock = |value: Value| Clock::of(&value).unwrap();
        let (a, b, c) = (clock(json!({"a": 1})), clock(json!({"a": 1, "b": 2})), clock(json!({"b": 1})));
        assert!(a.is_before(&b) && c.is_before(&b) && !b.is_before(&a));
        assert!(!a.is_before(&c) && !c.is_before(&a) && !a.is_before(&a));
        assert!(clock(json!([1, 0])).is_before(&clock(json!([1, 1]))));
        assert_eq!(clock(json!({"a": 0, "b": 1})), c);
        assert_eq!(Clock::of(&json!("1")), None);
        assert_eq!(Clock::of(&json!({"a": -1})), None);
    }
}
