//! Which values variables take, in the states near the beginning of a model.

use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Batch, Describe, Model, System};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// States that are visited, and values of a variable that are kept.
const MOST_STATES: usize = 20_000;
const MOST_VALUES: usize = 200;

/// What was seen of a model's variables.
#[derive(Debug, Default)]
pub struct Values {
    /// Are these all states?
    pub all: bool,
    pub states: usize,
    seen: HashMap<String, BTreeSet<String>>,
}

impl Values {
    /// Visits states, breadth-first, until there are no more, or enough, or somebody asks to end.
    pub fn of(system: &Arc<System>, stop: &AtomicBool) -> Option<Values> {
        let model = NativeModel::new(system.clone(), Mode::Interpreted).ok()?;
        let mut values = Values { all: true, ..Values::default() };
        let (mut known, mut open) = (HashSet::new(), VecDeque::new());
        let mut batch = Batch::new(model.state_bytes());
        model.initial(&mut batch);
        loop {
            for state in (0..batch.len()).map(|number| batch.state(number)) {
                if known.len() >= MOST_STATES {
                    values.all = false;
                    break;
                }
                if known.insert(Box::<[u8]>::from(state)) {
                    values.note(&model, state);
                    open.push_back(Box::<[u8]>::from(state));
                }
            }
            let Some(next) = open.pop_front() else { break };
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            batch.clear();
            model.expand(&next, &mut batch);
        }
        values.states = known.len();
        Some(values)
    }

    fn note(&mut self, model: &NativeModel, state: &[u8]) {
        for (name, value) in model.values(state) {
            let seen = self.seen.entry(name).or_default();
            if seen.len() <= MOST_VALUES {
                seen.insert(value);
            }
        }
    }

    /// What was seen of a variable, as a person reads it: of all processes and elements that have it.
    pub fn told(&self, owner: Option<&str>, name: &str) -> Option<String> {
        let mut all = BTreeSet::new();
        let mut whole = true;
        for (entry, seen) in &self.seen {
            if is_of(entry, owner, name) {
                whole &= seen.len() <= MOST_VALUES;
                all.extend(seen.iter().map(String::as_str));
            }
        }
        if all.is_empty() {
            return None;
        }
        let numbers: Option<Vec<i64>> = all.iter().map(|value| value.parse().ok()).collect();
        let told = match numbers {
            Some(mut numbers) => {
                numbers.sort_unstable();
                let (least, most) = (numbers[0], numbers[numbers.len() - 1]);
                match numbers.len() {
                    1 => format!("always {least}"),
                    2..=8 => numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
                    _ => format!("{least} to {most}"),
                }
            }
            None if all.len() <= 8 => all.into_iter().collect::<Vec<_>>().join(", "),
            None => format!("{} values", all.len()),
        };
        let more = if whole { "" } else { " and more" };
        Some(format!("{told}{more}"))
    }

    /// Of which states this is said.
    pub fn scope(&self) -> String {
        match self.all {
            true => format!("in all {} states", self.states),
            false => format!("in the first {} states", self.states),
        }
    }
}

/// Is an entry, such as `P_1.x[3]`, of this variable of a process of this type?
fn is_of(entry: &str, owner: Option<&str>, name: &str) -> bool {
    let bare = entry.split('[').next().unwrap_or(entry);
    match owner {
        None => bare == name,
        Some(owner) => bare.rsplit_once('.').is_some_and(|(process, variable)| {
            let rest = process.strip_prefix(owner);
            variable == name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_belong_to_variables() {
        assert!(is_of("x", None, "x") && is_of("x[3]", None, "x") && !is_of("P.x", None, "x"));
        assert!(is_of("P.x", Some("P"), "x") && is_of("P_2.x[0]", Some("P"), "x") && !is_of("PQ.x", Some("P"), "x"));
    }

    #[test]
    fn values_are_told_as_ranges() {
        let seen = |values: &[&str]| values.iter().map(|value| value.to_string()).collect();
        let entries =
            [("x", seen(&["1", "0"])), ("y", (0..20).map(|n| n.to_string()).collect()), ("z", seen(&["red", "green"]))];
        let seen = entries.into_iter().map(|(name, values)| (name.to_string(), values)).collect();
        let values = Values { all: true, states: 40, seen };
        assert_eq!(values.told(None, "x").unwrap(), "0, 1");
        assert_eq!(values.told(None, "y").unwrap(), "0 to 19");
        assert_eq!(values.told(None, "z").unwrap(), "green, red");
        assert_eq!(values.told(None, "u"), None);
        assert_eq!(values.scope(), "in all 40 states");
    }
}
