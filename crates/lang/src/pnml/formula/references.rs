//! What the names in formulas stand for: a place means all its colours together, a transition any of its bindings.

use crate::symbols::nearest;
use scrimp_net::{Group, Net};
use std::collections::HashMap;

pub(super) struct References<'n> {
    places: Table<'n>,
    transitions: Table<'n>,
}

struct Table<'n> {
    groups: &'n [Group],
    ids: HashMap<&'n str, u32>,
    /// Names that are not ids; with `None`, several nodes have it.
    names: HashMap<&'n str, Option<u32>>,
    /// Single colours and bindings.
    single: HashMap<&'n str, u32>,
}

impl<'n> References<'n> {
    pub fn of(net: &'n Net) -> References<'n> {
        let unfolded = |groups: &[Group]| groups.iter().any(|group| group.members.len() != 1);
        let places = match unfolded(&net.place_groups) {
            true => numbered(net.places.iter().map(|place| &*place.name)),
            false => HashMap::new(),
        };
        let transitions = match unfolded(&net.transition_groups) {
            true => numbered(net.transitions.iter().map(|transition| &*transition.name)),
            false => HashMap::new(),
        };
        References {
            places: Table::of(&net.place_groups, places),
            transitions: Table::of(&net.transition_groups, transitions),
        }
    }

    /// Appends what a name stands for.
    pub fn find(&self, kind: &str, name: &str, members: &mut Vec<u32>) -> Result<(), String> {
        let table = if kind == "place" { &self.places } else { &self.transitions };
        let group = match (table.ids.get(name), table.names.get(name)) {
            (Some(&group), _) => Some(group),
            (None, Some(&Some(group))) => Some(group),
            (None, Some(None)) => return Err(format!("several {kind}s are called \"{name}\"\nhelp: use the id")),
            (None, None) => None,
        };
        match (group, table.single.get(name)) {
            (Some(group), _) => members.extend_from_slice(&table.groups[group as usize].members),
            (None, Some(&member)) => members.push(member),
            (None, None) => {
                let known = table.groups.iter().flat_map(|group| [group.name.as_str(), group.id.as_str()]);
                let near = nearest(name, known).map(|near| format!("\nhelp: did you mean \"{near}\"?"));
                return Err(format!("the net has no {kind} \"{name}\"{}", near.unwrap_or_default()));
            }
        }
        Ok(())
    }
}

impl<'n> Table<'n> {
    fn of(groups: &'n [Group], single: HashMap<&'n str, u32>) -> Table<'n> {
        let ids = numbered(groups.iter().map(|group| &*group.id));
        let mut names = HashMap::new();
        for (number, group) in groups.iter().enumerate().filter(|(_, group)| group.name != group.id) {
            names.entry(&*group.name).and_modify(|which| *which = None).or_insert(Some(number as u32));
        }
        Table { groups, ids, names, single }
    }
}

fn numbered<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, u32> {
    names.zip(0..).collect()
}
