//! The whole text that runs on a card, or on the threads of a processor.

use crate::events::{Functions, Numbering};
use crate::key::Key;
use crate::packing::Packing;
use scrimp_system::{Expr, System};
use std::fmt::Write;

/// What is remembered when it is met: these, and then the conditions.
pub const DEADLOCK: usize = 0;
pub const FAULT: usize = 1;
pub const VIOLATION: usize = 2;
pub const TOO_SMALL: usize = 3;
pub const FIRST_CONDITION: usize = 4;

/// Bytes of the functions for events that are put together into one.
const LARGE: usize = 200_000;

/// Where the text is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Card,
    Host,
}

/// Everything that a text is made of.
pub struct Source<'a> {
    pub system: &'a System,
    pub packing: &'a Packing,
    pub numbering: &'a Numbering,
    pub key: Key,
    pub node_log: u32,
    /// Conditions on states that are looked for, with the value that they have there.
    pub wanted: &'a [(Expr, bool)],
}

impl Source<'_> {
    pub fn text(&self, target: Target) -> String {
        let Source { system, packing, numbering, key, node_log, wanted } = self;
        let mut out = String::from(include_str!("text/words.h"));
        out.push_str(match target {
            Target::Card => include_str!("text/card.h"),
            Target::Host => include_str!("text/host.h"),
        });
        let held = system.events.iter().any(|event| event.then.exclusive().is_some());
        // Threads leave the state of the level for steps of one process alone, and for the moves of a claim.
        let leaves = held || system.claim.is_some();
        let ends = system.valid_end.is_some();
        for (name, value) in [
            ("WORDS", packing.words()),
            ("ROOT_BITS", key.root_bits as usize),
            ("FOUND", found_words(packing)),
            ("GROUPS", numbering.groups.len()),
            ("LEAVES", leaves as usize),
            ("LATE", numbering.has_late() as usize),
            ("HAS_ENDS", ends as usize),
            ("FAULTS_MOVE", faults_move(system, numbering) as usize),
            ("FOUND_DEADLOCK", DEADLOCK),
            ("FOUND_FAULT", FAULT),
            ("FOUND_VIOLATION", VIOLATION),
            ("FOUND_TOO_SMALL", TOO_SMALL),
            ("FIRST_CONDITION", FIRST_CONDITION),
        ] {
            let _ = writeln!(out, "#define {name} {value}");
        }
        out.push_str("struct State { u32 w[WORDS]; };\n");
        out.push_str(include_str!("text/arithmetic.h"));
        out.push_str(include_str!("text/table.h"));
        out.push_str(include_str!("text/stage.h"));
        let functions = Functions::text(system, packing, numbering, wanted);
        // What is large is compiled twice as fast where it is not put together.
        let _ = writeln!(out, "#define EVENT {}", if functions.len() > LARGE { "APART" } else { "DEVICE" });
        out.push_str(&functions);
        out.push_str(&key.text(packing, *node_log));
        out.push_str(include_str!("text/kernels.h"));
        out
    }
}

/// Words of 64 bits for something found: whether it was, and the state.
pub fn found_words(packing: &Packing) -> usize {
    1 + packing.words().div_ceil(2)
}

/// Where there is more to a system than events, a state in which one ends in a fault is no deadlock.
fn faults_move(system: &System, numbering: &Numbering) -> bool {
    let special = system.claim.is_some() || system.valid_end.is_some() || system.outgrown.is_some() || system.guessed;
    special || numbering.has_late() || system.events.iter().any(|event| event.then.exclusive().is_some())
}
