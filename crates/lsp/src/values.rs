//! Which values variables take, in the states near the beginning of a model.

use scrimp_native::{Mode, NativeModel};
use scrimp_system::{Batch, Describe, Model, Stop, System};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What a search may visit and keep: states, their bytes, values of a variable, and the time that it takes.
const MOST_STATES: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;
const MOST_VALUES: usize = 200;
const PATIENCE: Duration = Duration::from_secs(2);

/// A variable: the process type that declares it, if one does, and its name there.
type Key = (Option<String>, String);

/// What was seen of a model's variables.
#[derive(Debug, Default)]
pub struct Values {
    /// Are these all states?
    pub all: bool,
    pub states: usize,
    seen: HashMap<Key, BTreeSet<String>>,
    /// Bytes that are kept.
    bytes: usize,
}

impl Values {
    /// Visits states, breadth-first, until there are no more, or enough, or somebody asks to end.
    pub fn of(system: &Arc<System>, stop: &Stop) -> Option<Values> {
        let model = NativeModel::new(system.clone(), Mode::Interpreted).ok()?;
        let owners = Owners::of(system);
        let mut values = Values { all: true, ..Values::default() };
        let (mut known, mut open) = (HashSet::new(), VecDeque::new());
        let mut batch = Batch::new(model.state_bytes());
        // A state is kept twice.
        let state_bytes = 2 * model.state_bytes() + 64;
        let stop = stop.within(PATIENCE);
        model.initial(&mut batch);
        loop {
            for state in (0..batch.len()).map(|number| batch.state(number)) {
                if known.len() >= MOST_STATES || values.bytes > MOST_BYTES || stop.due().is_some() {
                    values.all = false;
                    break;
                }
                if known.insert(Box::<[u8]>::from(state)) {
                    values.bytes += state_bytes;
                    values.note(&owners, &model, state);
                    open.push_back(Box::<[u8]>::from(state));
                }
            }
            let Some(next) = open.pop_front().filter(|_| values.all) else { break };
            if stop.asked().is_some() {
                return None;
            }
            batch.clear();
            model.expand(&next, &mut batch);
        }
        // There may be more processes than the system has room for.
        values.all &= model.outgrown().is_none();
        values.states = known.len();
        stop.asked().is_none().then_some(values)
    }

    fn note(&mut self, owners: &Owners, model: &NativeModel, state: &[u8]) {
        for (name, value) in model.values(state) {
            let Some(key) = owners.key(&name) else { continue };
            let size = key.1.len() + value.len() + 64;
            let seen = self.seen.entry(key).or_default();
            if seen.len() <= MOST_VALUES && seen.insert(value) {
                self.bytes += size;
            }
        }
    }

    /// What was seen of a variable, as a person reads it: of all processes and elements that have it.
    pub fn told(&self, owner: Option<&str>, name: &str) -> Option<String> {
        let all = self.seen.get(&(owner.map(String::from), name.to_string()))?;
        let whole = all.len() <= MOST_VALUES;
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
            None if all.len() <= 8 => all.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            None => format!("{} values", all.len()),
        };
        let more = if whole { "" } else { " and more" };
        Some(format!("{told}{more}"))
    }

    /// Of which states this is said.
    pub fn scope(&self) -> String {
        match self.all {
            true => format!("in all {} states", self.states),
            false => format!("in the {} states nearest to the beginning", self.states),
        }
    }
}

/// Which process types the processes of a system are of.
#[derive(Debug)]
struct Owners {
    /// By the name of a process: its types, and whether it can be one of several.
    of: HashMap<String, (BTreeSet<String>, bool)>,
}

impl Owners {
    fn of(system: &System) -> Owners {
        let of = system.processes.iter().enumerate().map(|(number, process)| {
            let places = system.outline.places.get(number).map_or(&[][..], Vec::as_slice);
            let named = places.iter().filter(|place| !place.process.is_empty());
            let mut types: BTreeSet<String> = named.clone().map(|place| place.process.clone()).collect();
            if types.is_empty() {
                types.insert(process.name.clone());
            }
            let several = named.map(|place| place.instance).collect::<BTreeSet<_>>().len() > 1;
            (process.name.clone(), (types, several))
        });
        Owners { of: of.collect() }
    }

    /// The variable that an entry such as `P_1.x[3]` is of; `None` where that is not sure.
    fn key(&self, entry: &str) -> Option<Key> {
        let bare = entry.split('[').next().unwrap_or(entry);
        let owner = bare.split_once('.').and_then(|(process, rest)| Some((self.of.get(process)?, rest)));
        let Some(((types, several), rest)) = owner else {
            // Where a process stands is no variable.
            return (!self.of.contains_key(bare)).then(|| (None, bare.to_string()));
        };
        if *several && let Some((of_type, rest)) = rest.split_once('.').filter(|(of_type, _)| types.contains(*of_type))
        {
            return Some((Some(of_type.to_string()), rest.to_string()));
        }
        let only = types.first().filter(|_| types.len() == 1)?;
        Some((Some(only.clone()), rest.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_belong_to_variables() {
        let types = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>();
        let of = [
            ("P_0", (types(&["P"]), false)),
            ("P_b", (types(&["P_b"]), false)),
            ("process_1", (types(&["P", "Q"]), true)),
        ];
        let owners = Owners { of: of.map(|(name, of)| (name.to_string(), of)).into() };
        let key = |entry: &str| owners.key(entry).map(|(of, name)| (of.unwrap_or_default(), name));
        let is = |of: &str, name: &str| Some((of.to_string(), name.to_string()));
        assert_eq!(key("x[3]"), is("", "x"));
        assert_eq!(key("P_0.x[3]"), is("P", "x"));
        assert_eq!(key("P_b.x"), is("P_b", "x"));
        assert_eq!(key("process_1.Q.x"), is("Q", "x"));
        assert_eq!(key("process_1.x"), None);
        assert_eq!(key("P_0"), None);
    }

    #[test]
    fn values_are_told_as_ranges() {
        let seen = |values: &[&str]| values.iter().map(|value| value.to_string()).collect();
        let entries =
            [("x", seen(&["1", "0"])), ("y", (0..20).map(|n| n.to_string()).collect()), ("z", seen(&["red", "green"]))];
        let seen = entries.into_iter().map(|(name, values)| ((None, name.to_string()), values)).collect();
        let values = Values { all: true, states: 40, seen, bytes: 0 };
        assert_eq!(values.told(None, "x").unwrap(), "0, 1");
        assert_eq!(values.told(None, "y").unwrap(), "0 to 19");
        assert_eq!(values.told(None, "z").unwrap(), "green, red");
        assert_eq!(values.told(None, "u"), None);
        assert_eq!(values.scope(), "in all 40 states");
    }
}
