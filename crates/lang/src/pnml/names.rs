//! What nodes are called: by the name that people read where it is the only one, or else by the identifier.

use super::draft::Draft;
use scrimp_net::Group;
use std::collections::{HashMap, HashSet};

/// Groups without members, and the name to show for each.
pub(super) struct Names {
    pub places: Vec<Group>,
    pub place_names: Vec<String>,
    pub transitions: Vec<Group>,
    pub transition_names: Vec<String>,
}

impl Names {
    /// Takes the names and identifiers out of the draft.
    pub fn of(draft: &mut Draft) -> Names {
        let mut ids = std::mem::take(&mut draft.symbols).into_ids();
        let mut group = |symbol: u32, name: &mut Option<Box<str>>, line: u32| {
            let id = std::mem::take(&mut ids[symbol as usize]).into_string();
            let name = name.take().map_or_else(|| id.clone(), str::into_string);
            Group { id, name, members: Vec::new(), line }
        };
        let places = draft.places.iter_mut();
        let places: Vec<Group> = places.map(|p| group(p.symbol, &mut p.name, p.at.line)).collect();
        let transitions = draft.transitions.iter_mut();
        let transitions: Vec<Group> = transitions.map(|t| group(t.symbol, &mut t.name, t.at.line)).collect();
        Names { place_names: shown(&places), transition_names: shown(&transitions), places, transitions }
    }
}

/// A name is shown where no other node has it as its name or identifier. So no two are shown the same.
fn shown(groups: &[Group]) -> Vec<String> {
    let mut users: HashMap<&str, u32> = HashMap::with_capacity(groups.len());
    for group in groups {
        *users.entry(&group.id).or_default() += 1;
        if group.name != group.id {
            *users.entry(&group.name).or_default() += 1;
        }
    }
    groups.iter().map(|group| if users[&*group.name] == 1 { group.name.clone() } else { group.id.clone() }).collect()
}

/// Makes names distinct that are not. Those of unfolded nodes can be the same where the text's names have brackets.
pub(super) fn tell_apart<'n>(names: impl Iterator<Item = &'n mut String>) {
    let names: Vec<&mut String> = names.collect();
    let mut seen: HashSet<&str> = HashSet::with_capacity(names.len());
    let repeated: Vec<bool> = names.iter().map(|name| !seen.insert(name)).collect();
    if !repeated.contains(&true) {
        return;
    }
    let mut taken: HashSet<String> = seen.into_iter().map(str::to_string).collect();
    for (name, _) in names.into_iter().zip(repeated).filter(|(_, repeated)| *repeated) {
        while taken.contains(name) {
            name.push('\'');
        }
        taken.insert(name.clone());
    }
}
