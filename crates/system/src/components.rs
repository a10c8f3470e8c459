//! The parts of a state for stores that keep each part once: processes, channels, and what is global.
//!
//! After Holzmann's COLLAPSE ("State Compression in SPIN", 1997): a process with its local variables takes few different
//! values, however many states there are. Global variables go together as far as they are declared next to each other and
//! stay short; arrays stand alone, in pieces.

use crate::layout::Layout;
use crate::system::{ProcessId, Role, System, VarId, Variable};
use std::collections::BTreeMap;
use std::ops::Range;

/// The most bytes of global variables in one part.
const GLOBAL: usize = 8;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Process(ProcessId),
    Channel(&'a str),
    /// The global variable that it begins with, and which piece of it.
    Global(usize, usize),
}

/// Where the bytes of each part are in a state.
pub fn components(system: &System, layout: &Layout) -> Vec<Vec<Range<usize>>> {
    if system.packed {
        // Variables share bytes: the parts are words.
        let bytes = layout.bytes();
        return (0..bytes)
            .step_by(GLOBAL)
            .map(|start| std::iter::once(start..bytes.min(start + GLOBAL)).collect())
            .collect();
    }
    let mut parts: BTreeMap<Part, Vec<usize>> = BTreeMap::new();
    // The global variable that began the present group of them, and the bytes of that group.
    let mut group = (0, GLOBAL);
    for (v, variable) in system.variables.iter().enumerate() {
        let slot = layout.slot(VarId(v as u32));
        let bytes = slot.width * slot.length;
        if let Some(part) = owner(variable) {
            parts.entry(part).or_default().extend(slot.offset..slot.offset + bytes);
            continue;
        }
        if variable.length.is_some() {
            let cells = (GLOBAL / slot.width.max(1)).max(1);
            for byte in 0..bytes {
                let piece = byte / (cells * slot.width);
                parts.entry(Part::Global(v, piece)).or_default().push(slot.offset + byte);
            }
            continue;
        }
        if group.1 + bytes > GLOBAL {
            group = (v, 0);
        }
        group.1 += bytes;
        parts.entry(Part::Global(group.0, 0)).or_default().extend(slot.offset..slot.offset + bytes);
    }
    let mut parts: Vec<_> = parts.into_values().filter(|bytes| !bytes.is_empty()).map(ranges).collect();
    if parts.is_empty() {
        parts.push(std::iter::once(0..layout.bytes()).collect());
    }
    parts
}

/// The process or the channel that a variable belongs to.
fn owner(variable: &Variable) -> Option<Part<'_>> {
    match (variable.role, variable.owner) {
        (Role::Control(process), _) | (_, Some(process)) => Some(Part::Process(process)),
        (Role::Channel, None) => Some(Part::Channel(variable.name.rsplit_once('.').map_or("", |(name, _)| name))),
        (Role::Data, None) => None,
    }
}

/// The same bytes as ranges.
fn ranges(mut bytes: Vec<usize>) -> Vec<Range<usize>> {
    bytes.sort_unstable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for byte in bytes {
        match ranges.last_mut() {
            Some(last) if last.end == byte => last.end += 1,
            _ => ranges.push(byte..byte + 1),
        }
    }
    ranges
}
