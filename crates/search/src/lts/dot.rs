//! The graph in Graphviz's form, for people to look at: what states are, which are initial or dead ends, and where a run goes.

use super::export::{Labels, quoted};
use super::{Lts, Number};
use scrimp_core::Trace;
use scrimp_system::Describe;
use std::collections::HashSet;
use std::io::{self, Write};

/// Characters of a state's values that a picture shows.
const READABLE: usize = 200;
/// Values up to which a state is shown whole; of larger ones, what differs from the initial state.
const FEW: usize = 8;

const HEAD: &str = "digraph states {
  graph [fontname=\"Helvetica\"];
  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11, margin=\"0.08,0.05\"];
  edge [fontname=\"Helvetica\", fontsize=9, color=\"#57606a\", fontcolor=\"#57606a\", arrowsize=0.7];
";

impl Lts {
    /// States without a successor have two borders, those that were not expanded a dashed one. A run is drawn in colour.
    pub(super) fn write_dot(&self, model: &dyn Describe, run: Option<&Trace>, out: &mut dyn Write) -> io::Result<()> {
        let mut labels = Labels::new(model);
        let (on_run, edges) = run.map(|run| self.way(run)).unwrap_or_default();
        out.write_all(HEAD.as_bytes())?;
        for state in self.initial() {
            writeln!(out, "  initial{state} [shape=point, label=\"\"];\n  initial{state} -> {state};")?;
        }
        let first = self.initial().first().and_then(|first| self.vector(*first)).map(|state| model.values(state));
        let often = |label: usize| (0..self.states).filter(|state| self.holds(label, *state)).count();
        let usual: Vec<bool> = (0..self.labels.len()).map(|label| 2 * often(label) > self.states as usize).collect();
        for state in 0..self.states {
            let mut marks = String::new();
            if !self.is_expanded(state) {
                marks.push_str(", style=\"rounded,dashed\"");
            } else if self.successors(state).next().is_none() {
                marks.push_str(", peripheries=2");
            }
            if on_run.contains(&state) {
                marks.push_str(", color=\"#cf222e\", penwidth=1.8");
            }
            let text = quoted(&self.text(model, state, first.as_deref(), &usual));
            writeln!(out, "  {state} [label={text}{marks}];")?;
        }
        for state in 0..self.states {
            for (place, (next, event)) in self.successors(state).enumerate() {
                let colour = match edges.contains(&(state, place)) {
                    true => ", color=\"#cf222e\", fontcolor=\"#cf222e\", penwidth=1.8",
                    false => "",
                };
                writeln!(out, "  {state} -> {next} [label={}{colour}];", labels.of(event))?;
            }
        }
        writeln!(out, "}}")
    }

    /// The states of a run, and its edges as places in the lists of successors; as far as it can be followed.
    fn way(&self, run: &Trace) -> (HashSet<Number>, HashSet<(Number, usize)>) {
        let initial = |number: &&Number| self.vector(**number).is_none_or(|state| state == run.initial);
        let (mut states, mut edges) = (HashSet::new(), HashSet::new());
        let Some(mut here) = self.initial().iter().find(initial).copied() else { return (states, edges) };
        states.insert(here);
        for (event, after) in &run.steps {
            // An event may lead to several states: the one that looks like it.
            let suits = |next: Number| self.vector(next).is_none_or(|state| state == after);
            let found = self.successors(here).enumerate().find(|(_, (next, code))| code == event && suits(*next));
            let Some((place, (next, _))) = found else { break };
            edges.insert((here, place));
            states.insert(next);
            here = next;
        }
        (states, edges)
    }

    /// A state as a picture shows it: its number, its values as far as they can be read, and the conditions that are not in
    /// it what they are in most states.
    fn text(&self, model: &dyn Describe, state: Number, first: Option<&[(String, String)]>, usual: &[bool]) -> String {
        let mut text = state.to_string();
        let values = self.vector(state).map(|state| model.values(state)).unwrap_or_default();
        let brief = values.len() > FEW && !self.initial().contains(&state);
        let as_at_first = |entry: usize| first.is_some_and(|first| first.get(entry) == values.get(entry));
        for (entry, (name, value)) in values.iter().enumerate() {
            if brief && as_at_first(entry) {
                continue;
            }
            if text.len() + name.len() + value.len() > READABLE {
                text.push_str("\n…");
                break;
            }
            text.push_str(&format!("\n{name} = {value}"));
        }
        for (label, (name, _)) in self.labels.iter().enumerate() {
            match (self.holds(label, state), usual[label]) {
                (true, false) => text.push_str(&format!("\n[{name}]")),
                (false, true) => text.push_str(&format!("\nnot [{name}]")),
                _ => {}
            }
        }
        text
    }
}
