//! What can happen in a composition of labelled transition systems: who takes part with which label, and what is seen.
//!
//! A [`Joint`] stands for every combination of edges with these labels. Each operator makes new ones of those of its
//! operands; how many is bounded, because a product of products can be as large as it likes.

use super::lts::{gate, is_invisible};
use super::syntax::{Change, LabelSet, Rule, Vector, Word};
use crate::diagnostic::{Place, Problem};
use crate::symbols::Map;

/// Combinations of labels that a network may have.
const MOST_JOINTS: usize = 1 << 20;

/// Several components move at the same time.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    /// What is seen, a number in [`Names`].
    pub label: u32,
    /// Components and the numbers of their labels.
    pub parts: Vec<(u32, u32)>,
    /// Where the text says so, in the whole of the network's texts.
    pub place: Place,
    /// Must not happen.
    pub forbidden: bool,
}

/// All labels of a network, each with its number; the invisible one is 0.
#[derive(Debug)]
pub(super) struct Names {
    pub texts: Vec<String>,
    numbers: Map<String, u32>,
}

pub(super) const HIDDEN: u32 = 0;

impl Names {
    pub fn new() -> Names {
        let mut names = Names { texts: Vec::new(), numbers: Map::default() };
        names.add("i".to_string());
        names
    }

    fn add(&mut self, text: String) -> u32 {
        let number = self.texts.len() as u32;
        self.numbers.insert(text.clone(), number);
        self.texts.push(text);
        number
    }

    pub fn number(&mut self, text: &str) -> u32 {
        if is_invisible(text) {
            return HIDDEN;
        }
        match self.numbers.get(text) {
            Some(number) => *number,
            None => self.add(text.to_string()),
        }
    }

    /// What is seen of a label with these offers that becomes `word`: a gate keeps them, and what is invisible has none.
    fn seen(&mut self, word: &Word, offers: &str) -> u32 {
        match word {
            Word::Gate(gate) if !is_invisible(gate) => self.number(&format!("{gate}{offers}")),
            Word::Label(text) | Word::Gate(text) => self.number(text),
        }
    }

    fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }
}

type Joints = Vec<Joint>;

/// Labels that no vector names, with the operand they belong to.
pub(super) type Unused = Vec<(usize, String)>;

pub(super) fn change(change: &Change, mut joints: Joints, names: &mut Names) -> Joints {
    match change {
        Change::Hide(set) => {
            for joint in &mut joints {
                if set.contains(names.text(joint.label)) {
                    joint.label = HIDDEN;
                }
            }
        }
        Change::Cut(set) => joints.retain(|j| j.label == HIDDEN || !set.contains(names.text(j.label))),
        Change::Rename(pairs) => {
            for joint in joints.iter_mut().filter(|joint| joint.label != HIDDEN) {
                let text = names.text(joint.label);
                let (begin, offers) = text.split_at(gate(text).len());
                // What is written out in full goes before what is only a gate.
                let exact = pairs.iter().find(|(from, _)| matches!(from, Word::Label(label) if label == text));
                let found =
                    exact.or_else(|| pairs.iter().find(|(from, _)| matches!(from, Word::Gate(g) if g == begin)));
                let Some((from, to)) = found else { continue };
                let offers = if matches!(from, Word::Gate(_)) { offers.to_string() } else { String::new() };
                joint.label = names.seen(to, &offers);
            }
        }
    }
    joints
}

/// The operands side by side. `base` is added to places of vectors.
pub(super) fn parallel(
    rule: &Rule,
    operands: Vec<Joints>,
    (place, base): (Place, u32),
    names: &mut Names,
    unused: &mut Unused,
) -> Result<Joints, Problem> {
    let made = match rule {
        Rule::On(set) => on(set, operands, (place, base), names)?,
        Rule::Using(vectors, alone) => using(vectors, alone, operands, base, names, unused)?,
    };
    too_many(made.len(), place).map(|()| made)
}

fn too_many(count: usize, place: Place) -> Result<(), Problem> {
    match count <= MOST_JOINTS {
        true => Ok(()),
        false => Err(Problem::new(place, format!("more than {MOST_JOINTS} combinations of labels can happen here"))
            .help("let fewer operands with the same label synchronise")),
    }
}

pub(super) fn moved(place: Place, base: u32) -> Place {
    Place { start: place.start.saturating_add(base), end: place.end.saturating_add(base) }
}

/// Labels of the set happen in all operands, others in one.
fn on(set: &LabelSet, operands: Vec<Joints>, (place, base): (Place, u32), names: &Names) -> Result<Joints, Problem> {
    let mut made = Joints::new();
    let mut shared: Vec<Map<u32, Joints>> = Vec::new();
    let mut order: Vec<u32> = Vec::new();
    for (number, operand) in operands.into_iter().enumerate() {
        let mut by_label: Map<u32, Joints> = Map::default();
        for joint in operand {
            if joint.label == HIDDEN || !set.contains(names.text(joint.label)) {
                made.push(joint);
                continue;
            }
            let entry = by_label.entry(joint.label).or_default();
            if number == 0 && entry.is_empty() {
                order.push(joint.label);
            }
            entry.push(joint);
        }
        shared.push(by_label);
    }
    for label in order {
        let lists: Option<Vec<&Joints>> = shared.iter().map(|operand| operand.get(&label)).collect();
        if let Some(lists) = lists {
            product(&lists, label, (place, base), &mut made)?;
        }
    }
    Ok(made)
}

/// One joint for each way to take one of each list.
fn product(lists: &[&Joints], label: u32, (place, base): (Place, u32), made: &mut Joints) -> Result<(), Problem> {
    let product = lists.iter().try_fold(1usize, |all, list| all.checked_mul(list.len()));
    too_many(product.and_then(|count| count.checked_add(made.len())).unwrap_or(usize::MAX), place)?;
    let mut partial = vec![Joint { label, parts: Vec::new(), place: moved(place, base), forbidden: false }];
    for list in lists {
        let longer = partial.iter().flat_map(|joint| {
            list.iter().map(|part| {
                let mut joint = joint.clone();
                joint.parts.extend_from_slice(&part.parts);
                joint.forbidden |= part.forbidden;
                joint
            })
        });
        partial = longer.collect();
    }
    made.append(&mut partial);
    Ok(())
}

fn using(
    vectors: &[Vector],
    alone: &LabelSet,
    operands: Vec<Joints>,
    base: u32,
    names: &mut Names,
    unused: &mut Unused,
) -> Result<Joints, Problem> {
    let mut made = Joints::new();
    let mut tables: Vec<Operand> = operands.into_iter().map(|joints| Operand::new(joints, names)).collect();
    for vector in vectors {
        for (part, table) in vector.parts.iter().zip(&mut tables) {
            table.note(part.as_ref(), names, vector.place)?;
        }
        for (labels, result) in choices(vector, &tables, names) {
            let lists: Vec<&Joints> =
                tables.iter().zip(&labels).filter_map(|(table, label)| table.by_label.get(label.as_ref()?)).collect();
            product(&lists, result, (vector.place, base), &mut made)?;
        }
    }
    for (number, table) in tables.into_iter().enumerate() {
        for label in table.order {
            let joints = table.by_label.get(&label).cloned().unwrap_or_default();
            if label == HIDDEN {
                made.extend(joints);
            } else if !table.named.contains_key(&label) {
                match alone.contains(names.text(label)) {
                    true => made.extend(joints),
                    false => unused.push((number, names.text(label).to_string())),
                }
            }
        }
    }
    Ok(made)
}

/// What can happen in an operand, by label.
struct Operand {
    by_label: Map<u32, Joints>,
    /// The labels, as they first occur.
    order: Vec<u32>,
    /// By gate, the labels that have it.
    by_gate: Map<String, Vec<u32>>,
    /// Labels that a vector names.
    named: Map<u32, ()>,
}

impl Operand {
    fn new(joints: Joints, names: &Names) -> Operand {
        let mut operand =
            Operand { by_label: Map::default(), order: vec![], by_gate: Map::default(), named: Map::default() };
        for joint in joints {
            let label = joint.label;
            let entry = operand.by_label.entry(label).or_default();
            if entry.is_empty() {
                operand.order.push(label);
                if label != HIDDEN {
                    operand.by_gate.entry(gate(names.text(label)).to_string()).or_default().push(label);
                }
            }
            entry.push(joint);
        }
        operand
    }

    /// Remembers that a vector names these labels.
    fn note(&mut self, part: Option<&Word>, names: &Names, place: Place) -> Result<(), Problem> {
        match part {
            Some(Word::Label(text) | Word::Gate(text)) if is_invisible(text) => {
                Err(Problem::new(place, "the invisible label cannot synchronise: it belongs to one component"))
            }
            Some(Word::Label(text)) => {
                if let Some(label) = names.numbers.get(text) {
                    self.named.insert(*label, ());
                }
                Ok(())
            }
            Some(Word::Gate(gate)) => {
                self.named.extend(self.by_gate.get(gate).into_iter().flatten().map(|label| (*label, ())));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// For each operand the label that takes part, if any; and what is seen.
type Choice = (Vec<Option<u32>>, u32);

/// The labels that a vector stands for. Gates must come with the same offers.
fn choices(vector: &Vector, operands: &[Operand], names: &mut Names) -> Vec<Choice> {
    let first = vector.parts.iter().zip(operands).find_map(|(part, operand)| match part {
        Some(Word::Gate(gate)) => Some((gate, operand)),
        _ => None,
    });
    let offers: Vec<String> = match first {
        None => vec![String::new()],
        Some((gate, operand)) => {
            let labels = operand.by_gate.get(gate).into_iter().flatten();
            labels.map(|label| names.text(*label)[gate.len()..].to_string()).collect()
        }
    };
    let mut choices = Vec::new();
    'offers: for offers in offers {
        let mut labels = Vec::with_capacity(operands.len());
        for (part, operand) in vector.parts.iter().zip(operands) {
            let known = match part {
                None => {
                    labels.push(None);
                    continue;
                }
                Some(Word::Label(text)) => names.numbers.get(text),
                Some(Word::Gate(gate)) => names.numbers.get(&format!("{gate}{offers}")),
            };
            match known.filter(|label| operand.by_label.contains_key(label)) {
                Some(label) => labels.push(Some(*label)),
                None => continue 'offers,
            }
        }
        choices.push((labels, names.seen(&vector.result, &offers)));
    }
    choices
}
