//! From automata to text.

use crate::automaton::{Automaton, Guard, Letter};
use std::fmt::Write;

/// The automaton in the Hanoi format. Atoms without a name get `p` and their number.
pub fn write(automaton: &Automaton, names: &[String], title: &str) -> String {
    let mut text = String::from("HOA: v1\n");
    let sets = automaton.sets;
    // Writing into a string cannot fail.
    let _ = writeln!(text, "name: {}", quoted(title));
    let _ = writeln!(text, "States: {}", automaton.states.len());
    let _ = writeln!(text, "Start: {}", automaton.initial);
    let _ = write!(text, "AP: {}", automaton.atoms);
    for atom in 0..automaton.atoms {
        let name = names.get(atom).cloned().unwrap_or_else(|| format!("p{atom}"));
        let _ = write!(text, " {}", quoted(&name));
    }
    let all = (0..sets).map(|set| format!("Inf({set})")).collect::<Vec<_>>().join("&");
    let _ = match sets {
        0 => writeln!(text, "\nacc-name: all\nAcceptance: 0 t"),
        1 => writeln!(text, "\nacc-name: Buchi\nAcceptance: 1 Inf(0)"),
        _ => writeln!(text, "\nacc-name: generalized-Buchi {sets}\nAcceptance: {sets} {all}"),
    };
    text.push_str("properties: trans-labels explicit-labels trans-acc\n--BODY--\n");
    for (state, edges) in automaton.states.iter().enumerate() {
        let _ = writeln!(text, "State: {state}");
        for edge in edges {
            let _ = write!(text, "[{}] {}", condition(&edge.guard), edge.to);
            let marks: Vec<String> =
                (0..sets).filter(|set| edge.marks >> set & 1 == 1).map(|set| set.to_string()).collect();
            if !marks.is_empty() {
                let _ = write!(text, " {{{}}}", marks.join(" "));
            }
            text.push('\n');
        }
    }
    text.push_str("--END--\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn condition(guard: &Guard) -> String {
    if guard.cubes.is_empty() {
        return "f".to_string();
    }
    let cube = |positive: Letter, negative: Letter| {
        let mut literals = Vec::new();
        for atom in 0..Letter::BITS {
            if positive >> atom & 1 == 1 {
                literals.push(format!("{atom}"));
            }
            if negative >> atom & 1 == 1 {
                literals.push(format!("!{atom}"));
            }
        }
        if literals.is_empty() { "t".to_string() } else { literals.join("&") }
    };
    guard.cubes.iter().map(|one| cube(one.positive, one.negative)).collect::<Vec<_>>().join(" | ")
}
