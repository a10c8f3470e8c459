//! Units of places (NUPN), as the tool-specific part of a document gives them.

use super::draft::{Draft, DraftUnit, DraftUnits, Meaning};
use super::wrong::Wrong;
use super::xml::Xml;
use scrimp_net::{Unit, Units};
use std::collections::HashMap;
use std::io::BufRead;

pub(super) fn read<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<(), Wrong> {
    let depth = xml.depth();
    while xml.child(depth)? {
        if xml.name() != "structure" {
            continue;
        }
        if draft.units.is_some() {
            return Err(Wrong::new(xml.at(), "a second structure of units"));
        }
        let root = xml.attribute("root").unwrap_or_default().into();
        let safe = xml.attribute("safe") == Some("true");
        let mut units = DraftUnits { root, safe, units: Vec::new(), at: xml.at() };
        let depth = xml.depth();
        while xml.child(depth)? {
            if xml.name() == "unit" {
                units.units.push(unit(xml, draft)?);
            }
        }
        draft.units = Some(units);
    }
    Ok(())
}

fn unit<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<DraftUnit, Wrong> {
    let (at, depth) = (xml.at(), xml.depth());
    let id = xml.attribute("id").ok_or_else(|| Wrong::new(at, "a <unit> without an id"))?.into();
    let mut unit = DraftUnit { id, places: Vec::new(), subunits: Vec::new(), at };
    while xml.child(depth)? {
        let depth = xml.depth();
        match xml.name() {
            "places" => unit.places = xml.text(depth)?.split_whitespace().map(|id| draft.symbols.number(id)).collect(),
            "subunits" => unit.subunits = xml.text(depth)?.split_whitespace().map(Into::into).collect(),
            _ => {}
        }
    }
    Ok(unit)
}

/// Units with their names resolved: a tree from the root.
pub(super) fn resolve(draft: &Draft) -> Result<Option<Units>, Wrong> {
    let Some(units) = &draft.units else { return Ok(None) };
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (number, unit) in units.units.iter().enumerate() {
        if numbers.insert(&unit.id, number as u32).is_some() {
            return Err(Wrong::new(unit.at, format!("the unit \"{}\" is there twice", unit.id)));
        }
    }
    let find = |id: &str, at| {
        let unknown = || Wrong::new(at, format!("the unit \"{id}\" does not exist"));
        numbers.get(id).copied().ok_or_else(unknown)
    };
    let root = find(&units.root, units.at)?;
    let mut has_parent = vec![false; units.units.len()];
    has_parent[root as usize] = true;
    let mut resolved = Vec::with_capacity(units.units.len());
    for unit in &units.units {
        let mut places = Vec::with_capacity(unit.places.len());
        for &symbol in &unit.places {
            match draft.symbols.meaning(symbol) {
                Meaning::Place(place) => places.push(place),
                _ => {
                    let id = draft.symbols.id(symbol);
                    return Err(Wrong::new(unit.at, format!("\"{id}\" in this unit is not a place of the net")));
                }
            }
        }
        let mut subunits = Vec::with_capacity(unit.subunits.len());
        for id in &unit.subunits {
            let number = find(id, unit.at)?;
            if std::mem::replace(&mut has_parent[number as usize], true) {
                let message = format!("the unit \"{id}\" is in several units, or contains the one it is in");
                return Err(Wrong::new(unit.at, message));
            }
            subunits.push(number);
        }
        resolved.push(Unit { id: unit.id.to_string(), places, subunits });
    }
    match has_parent.iter().position(|has| !has) {
        Some(alone) => {
            let unit = &units.units[alone];
            Err(Wrong::new(unit.at, format!("the unit \"{}\" is not inside the root", unit.id)))
        }
        None => Ok(Some(Units { root, safe: units.safe, units: resolved })),
    }
}
