//! The state graph around where one is: states that were met, what leads from one to another, and a readable part of it.

use super::net::tenth;
use crate::{Batch, Describe, DescribedModel, EventCode, Model};
use scrimp_draw::{Size, layered};
use scrimp_system::Change;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// States before the current one that are shown.
const ANCESTORS: usize = 3;
/// The most states that are drawn, whatever is asked for.
const MOST_DRAWN: usize = 400;
/// Successors of one state that are looked at.
const MOST_SUCCESSORS: usize = 1000;
/// States that are remembered, and their bytes.
const MOST_STATES: usize = 100_000;
const MOST_BYTES: usize = 40 << 20;
/// How long the outermost states of a drawing are looked at.
const PATIENCE: Duration = Duration::from_millis(25);
/// Changes on a label, characters of one, and how large they are drawn.
const CHANGES: usize = 3;
const CHARACTERS: usize = 26;
/// The most lines that have their events written beside them, characters of one, and how large they are.
const MOST_NAMED: usize = 150;
const NAME_CHARACTERS: usize = 34;
const NAME_CHARACTER: f64 = 6.3;
const NAME_LINE: f64 = 13.0;
const CHARACTER: f64 = 7.3;
const LINE: f64 = 15.0;
const PADDING: f64 = 8.0;
const MARGIN: f64 = 20.0;
/// How far the button of a state, at its lower right corner, reaches beyond it.
const BUTTON: f64 = 10.0;

/// A vertex by its number, which is never given to another state.
pub type VertexId = u32;

/// States that were met around those that were visited.
#[derive(Debug, Default)]
pub struct Graph {
    vertices: HashMap<VertexId, Vertex>,
    numbers: HashMap<Arc<[u8]>, VertexId>,
    next: VertexId,
    bytes: usize,
}

#[derive(Debug)]
struct Vertex {
    state: Arc<[u8]>,
    /// Where each choice leads, once that was asked for.
    successors: Option<Vec<(EventCode, VertexId)>>,
    looks: Option<Looks>,
}

/// What is seen of a state when it is looked at what can happen in it.
#[derive(Debug, Clone, Copy)]
struct Looks {
    successors: usize,
    /// Nothing can happen, and it should; or something would end in a fault.
    bad: bool,
}

/// What is drawn of the graph.
struct Shown {
    order: Vec<VertexId>,
    places: HashMap<VertexId, usize>,
    most: usize,
    cut: bool,
}

impl Shown {
    fn add(&mut self, vertex: VertexId) -> bool {
        if self.places.contains_key(&vertex) {
            return true;
        }
        if self.order.len() == self.most {
            self.cut = true;
            return false;
        }
        self.places.insert(vertex, self.order.len());
        self.order.push(vertex);
        true
    }
}

/// The end of the path, and the state before it.
struct Way<'a> {
    vertices: Vec<VertexId>,
    before: Option<&'a [u8]>,
}

/// A step between two drawn vertices: from, event, to.
type Edge = (VertexId, EventCode, VertexId);

impl Graph {
    /// Forgets everything: the model has become another one.
    pub fn clear(&mut self) {
        *self = Graph { next: self.next, ..Graph::default() };
    }

    /// The answer to `api/graph`: what is around the last state of a path, with what follows the expanded vertices.
    pub fn view(&mut self, model: &dyn DescribedModel, path: &[&[u8]], expanded: &[VertexId], most: usize) -> Value {
        let most = most.clamp(1, MOST_DRAWN);
        let (earlier, last) = path.split_at(path.len().saturating_sub(ANCESTORS + 1));
        let vertices: Vec<VertexId> = last.iter().map(|state| self.number(state)).collect();
        let way = Way { vertices, before: earlier.last().copied() };
        let Some((&current, before)) = way.vertices.split_last() else { return json!({}) };
        let mut shown = Shown { order: Vec::new(), places: HashMap::new(), most, cut: false };
        shown.add(current);
        before.iter().rev().for_each(|&vertex| {
            shown.add(vertex);
        });
        let mut open: HashSet<VertexId> = HashSet::new();
        for &vertex in [current].iter().chain(expanded) {
            if !self.vertices.contains_key(&vertex) || !shown.add(vertex) {
                continue;
            }
            self.expand(model, vertex);
            open.insert(vertex);
            let successors = self.vertices.get(&vertex).and_then(|v| v.successors.as_ref());
            // All are tried, so that it is known whether something is left out.
            successors.into_iter().flatten().for_each(|&(_, to)| {
                shown.add(to);
            });
        }
        // States of the path are known for how one came from one to the next.
        before.iter().for_each(|&vertex| self.expand(model, vertex));
        let edges = self.edges(model, &shown);
        let drawn = self.drawn(model, &shown, &edges, &way, &open);
        self.forget(&shown);
        drawn
    }

    /// The choices that lead from a state to a vertex by a shortest way, as far as they are known.
    pub fn way(&self, from: &[u8], vertex: VertexId) -> Option<Vec<usize>> {
        let start = *self.numbers.get(from)?;
        let mut reached: HashMap<VertexId, Option<(VertexId, usize)>> = HashMap::from([(start, None)]);
        let mut queue = VecDeque::from([start]);
        while let Some(here) = queue.pop_front() {
            if here == vertex {
                let mut choices = Vec::new();
                let mut at = vertex;
                while let Some(&Some((before, choice))) = reached.get(&at) {
                    choices.push(choice);
                    at = before;
                }
                choices.reverse();
                return Some(choices);
            }
            let successors = self.vertices.get(&here).and_then(|v| v.successors.as_ref());
            for (choice, &(_, to)) in successors.into_iter().flatten().enumerate() {
                if let std::collections::hash_map::Entry::Vacant(new) = reached.entry(to) {
                    new.insert(Some((here, choice)));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// Is there such a vertex?
    pub fn knows(&self, vertex: VertexId) -> bool {
        self.vertices.contains_key(&vertex)
    }

    /// The state that a vertex stands for.
    pub fn state(&self, vertex: VertexId) -> Option<Arc<[u8]>> {
        self.vertices.get(&vertex).map(|vertex| vertex.state.clone())
    }

    fn number(&mut self, state: &[u8]) -> VertexId {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        let (number, state): (VertexId, Arc<[u8]>) = (self.next, state.into());
        self.next = self.next.wrapping_add(1);
        self.bytes += state.len() + size_of::<Vertex>() + 64;
        self.numbers.insert(state.clone(), number);
        self.vertices.insert(number, Vertex { state, successors: None, looks: None });
        number
    }

    fn expand(&mut self, model: &dyn Model, vertex: VertexId) {
        let Some(state) = self.vertices.get(&vertex).filter(|v| v.successors.is_none()).map(|v| v.state.clone()) else {
            return;
        };
        let mut batch = Batch::new(model.state_bytes());
        let looks = look(model, &state, &mut batch);
        let successors: Vec<(EventCode, VertexId)> = (0..batch.len().min(MOST_SUCCESSORS))
            .map(|choice| (batch.event(choice), self.number(batch.state(choice))))
            .collect();
        self.bytes += successors.len() * size_of::<(EventCode, VertexId)>();
        if let Some(vertex) = self.vertices.get_mut(&vertex) {
            (vertex.successors, vertex.looks) = (Some(successors), Some(looks));
        }
    }

    /// All steps between drawn vertices. The outermost are looked at too, as long as that does not take too long.
    fn edges(&mut self, model: &dyn DescribedModel, shown: &Shown) -> Vec<Edge> {
        let begun = Instant::now();
        let mut batch = Batch::new(model.state_bytes());
        let mut edges = Vec::new();
        for &from in &shown.order {
            let Some(vertex) = self.vertices.get_mut(&from) else { continue };
            if let Some(successors) = &vertex.successors {
                let drawn = successors.iter().filter(|(_, to)| shown.places.contains_key(to));
                edges.extend(drawn.map(|&(event, to)| (from, event, to)));
                continue;
            }
            if begun.elapsed() > PATIENCE {
                continue;
            }
            batch.clear();
            vertex.looks = Some(look(model, &vertex.state, &mut batch));
            for choice in 0..batch.len().min(MOST_SUCCESSORS) {
                let to = self.numbers.get(batch.state(choice)).filter(|to| shown.places.contains_key(to));
                edges.extend(to.map(|&to| (from, batch.event(choice), to)));
            }
        }
        edges
    }

    fn drawn(
        &self,
        model: &dyn DescribedModel,
        shown: &Shown,
        edges: &[Edge],
        way: &Way<'_>,
        open: &HashSet<VertexId>,
    ) -> Value {
        let initial: HashSet<VertexId> = {
            let mut batch = Batch::new(model.state_bytes());
            model.initial(&mut batch);
            (0..batch.len()).filter_map(|i| self.numbers.get(batch.state(i)).copied()).collect()
        };
        // Several events between the same two states are one line.
        let mut lines: Vec<(VertexId, VertexId, Vec<EventCode>)> = Vec::new();
        let mut line_of: HashMap<(VertexId, VertexId), usize> = HashMap::new();
        for &(from, event, to) in edges {
            let line = *line_of.entry((from, to)).or_insert_with(|| {
                lines.push((from, to, Vec::new()));
                lines.len() - 1
            });
            lines[line].2.push(event);
        }
        let labels = self.labels(model, shown, &lines, way);
        // Names of events have places of their own, half way: then nothing is written over anything else.
        let named = lines.len() <= MOST_NAMED;
        let names: Vec<Vec<String>> =
            lines.iter().map(|(_, _, events)| if named { short_names(model, events) } else { Vec::new() }).collect();
        let states = shown.order.len();
        // To the right of a state there is room for its button.
        let with_button = |size: Size| Size { right: size.right + BUTTON, ..size };
        let mut sizes: Vec<Size> = labels.iter().map(|label| with_button(size(label))).collect();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for (line, (from, to, _)) in lines.iter().enumerate() {
            let (from, to) = (shown.places[from], shown.places[to]);
            match named {
                true => ends.extend([(from, states + line), (states + line, to)]),
                false => ends.push((from, to)),
            }
            sizes.extend(named.then(|| name_size(&names[line])));
        }
        let first = self.first(shown, &lines, way, named);
        let drawing = layered(&sizes, &ends, &first);
        let vertices = shown.order.iter().enumerate().map(|(i, vertex)| {
            let ((x, y), Size { left, right, height }) = (drawing.places[i], sizes[i]);
            let looks = self.vertices.get(vertex).and_then(|v| v.looks);
            json!({
                "vertex": vertex,
                "x": tenth(x - left + MARGIN), "y": tenth(y - height / 2.0 + MARGIN),
                "width": tenth(left + right - BUTTON), "height": tenth(height),
                "label": labels[i],
                "current": way.vertices.last() == Some(vertex),
                "on_path": way.vertices.contains(vertex),
                "initial": initial.contains(vertex),
                "expanded": open.contains(vertex),
                "successors": looks.map(|looks| looks.successors),
                "dead": looks.is_some_and(|looks| looks.successors == 0),
                "bad": looks.is_some_and(|looks| looks.bad),
            })
        });
        let edges = lines.iter().enumerate().map(|(number, (from, to, events))| {
            let parts =
                if named { &drawing.lines[2 * number..2 * number + 2] } else { &drawing.lines[number..=number] };
            let points: Vec<Value> =
                parts.iter().flatten().map(|&(x, y)| json!([tenth(x + MARGIN), tenth(y + MARGIN)])).collect();
            let on_path = way.vertices.windows(2).any(|pair| pair == [*from, *to]);
            let at = named.then(|| drawing.places[states + number]);
            json!({
                "from": from, "to": to, "label": all_names(model, events), "on_path": on_path, "points": points,
                "names": names[number], "at": at.map(|(x, y)| [tenth(x + MARGIN), tenth(y + MARGIN)]),
            })
        });
        json!({
            "width": tenth(drawing.width + 2.0 * MARGIN),
            "height": tenth(drawing.height + 2.0 * MARGIN),
            "vertices": vertices.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
            "cut": shown.cut,
        })
    }

    /// What comes first in the drawing: the path, with the names between its states.
    fn first(
        &self,
        shown: &Shown,
        lines: &[(VertexId, VertexId, Vec<EventCode>)],
        way: &Way<'_>,
        named: bool,
    ) -> Vec<usize> {
        let mut first = Vec::new();
        for (place, vertex) in way.vertices.iter().enumerate() {
            first.extend(shown.places.get(vertex));
            let next = way.vertices.get(place + 1).filter(|_| named);
            let line = lines.iter().position(|(from, to, _)| from == vertex && Some(to) == next);
            first.extend(line.map(|line| shown.order.len() + line));
        }
        first
    }

    /// What makes each vertex another state than the one before it: on the path, or the first drawn one that leads to it.
    fn labels(
        &self,
        model: &dyn DescribedModel,
        shown: &Shown,
        lines: &[(VertexId, VertexId, Vec<EventCode>)],
        way: &Way<'_>,
    ) -> Vec<Vec<String>> {
        let mut before: HashMap<VertexId, VertexId> = way.vertices.windows(2).map(|pair| (pair[1], pair[0])).collect();
        for (from, to, _) in lines {
            if from != to && way.vertices.first() != Some(to) {
                before.entry(*to).or_insert(*from);
            }
        }
        let state = |vertex: &VertexId| self.vertices.get(vertex).map(|v| &v.state);
        let label = |vertex: &VertexId| {
            let Some(now) = state(vertex) else { return Vec::new() };
            let first = way.before.filter(|_| way.vertices.first() == Some(vertex));
            let Some(old) = before.get(vertex).and_then(|before| Some(&**state(before)?)).or(first) else {
                return Vec::new();
            };
            let changes = model.changes(old, now);
            let told = |c: &Change| shortened(&format!("{}: {} → {}", c.name, c.before, c.after));
            let mut lines: Vec<String> = changes.iter().take(CHANGES).map(told).collect();
            if changes.len() > CHANGES {
                lines.push(format!("and {} more", changes.len() - CHANGES));
            }
            lines
        };
        shown.order.iter().map(label).collect()
    }

    /// Keeps what is drawn, where there is too much.
    fn forget(&mut self, shown: &Shown) {
        if self.vertices.len() <= MOST_STATES && self.bytes <= MOST_BYTES {
            return;
        }
        self.vertices.retain(|vertex, _| shown.places.contains_key(vertex));
        self.numbers.retain(|_, vertex| shown.places.contains_key(vertex));
        self.bytes = 0;
        for vertex in self.vertices.values_mut() {
            // What was behind it is found again when it is asked for.
            let complete = |successors: &Vec<(EventCode, VertexId)>| {
                successors.iter().all(|(_, to)| shown.places.contains_key(to))
            };
            vertex.successors = vertex.successors.take().filter(complete);
            let edges = vertex.successors.as_ref().map_or(0, Vec::len);
            self.bytes += vertex.state.len() + size_of::<Vertex>() + 64 + edges * size_of::<(EventCode, VertexId)>();
        }
    }
}

/// Looks at what can happen in a state; it is in the batch afterwards.
fn look(model: &dyn Model, state: &[u8], batch: &mut Batch) -> Looks {
    model.expand(state, batch);
    let successors = batch.len();
    let dead = batch.take_deadlock(successors);
    Looks { successors, bad: dead || !batch.faults().is_empty() }
}

fn size(label: &[String]) -> Size {
    let longest = label.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(9);
    Size::new(longest as f64 * CHARACTER + 2.0 * PADDING, label.len().max(1) as f64 * LINE + PADDING)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        None => text.to_string(),
        Some(_) => text.chars().take(CHARACTERS - 1).chain(['…']).collect(),
    }
}

/// Room for the names of a line.
fn name_size(names: &[String]) -> Size {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    // Lines are drawn round where they bend, so they need more room than a box has.
    Size::new(longest as f64 * NAME_CHARACTER + 16.0, names.len().max(1) as f64 * NAME_LINE + 2.0)
}

/// The names of events as they stand beside a line: no longer than can be read there.
fn short_names(model: &dyn Describe, events: &[EventCode]) -> Vec<String> {
    let short = |label: &str| match label.char_indices().nth(NAME_CHARACTERS) {
        None => label.to_string(),
        Some(_) => label.chars().take(NAME_CHARACTERS - 1).chain(['…']).collect(),
    };
    let name = |event: &EventCode| {
        let text = model.event(*event);
        let who = text.processes.first().filter(|who| !text.label.starts_with(who.as_str()));
        short(&who.map_or(text.label.clone(), |who| format!("{who}: {}", text.label)))
    };
    let shown = if events.len() > CHANGES { CHANGES - 1 } else { events.len() };
    let mut names: Vec<String> = events.iter().take(shown).map(name).collect();
    if events.len() > shown {
        names.push(format!("and {} more", events.len() - shown));
    }
    names
}

fn all_names(model: &dyn Describe, events: &[EventCode]) -> String {
    let mut names: Vec<String> = events.iter().take(CHANGES).map(|&event| model.event(event).label).collect();
    if events.len() > CHANGES {
        names.push(format!("{} more", events.len() - CHANGES));
    }
    names.join("; ")
}

#[cfg(test)]
mod tests;
