//! A body whose loose ends are tied: what follows every element, and where every jump goes.
//!
//! While a body is read, nothing follows the last element of a block yet, since what comes behind the block is not known.
//! Control graphs are made of [`Linked`] bodies only, in which an element that nothing follows cannot be.

use super::core::{Action, Statement};
use super::element::{Block, Body, Element, Id, Kinds, Label, Part};
use crate::diagnostic::Problem;
use crate::symbols::sorted_suggestion;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Linked {
    pub elements: Vec<Element>,
    pub labels: Vec<Label>,
    pub whole: Part,
    /// What follows each element in the text; the end of the process follows itself.
    behind: Vec<Id>,
    /// Where each jump goes.
    targets: HashMap<Id, Id>,
}

impl Linked {
    /// Ties the loose ends. `referred` are the labels that are asked about from elsewhere.
    pub fn new(mut body: Body, referred: &HashSet<Arc<str>>) -> Result<Linked, Problem> {
        keep_labels(&mut body, referred);
        tie_blocks(&mut body);
        refuse_escapes(&body)?;
        let targets = resolve_jumps(&body)?;
        let whole = body.whole.expect("the body is complete");
        let behind = |(id, element): (Id, &Element)| match element.next {
            Some(next) => Ok(next),
            None if id == whole.last => Ok(id),
            None => {
                let message = format!("internal error: nothing follows element {id} of this body");
                Err(Problem::new(element.place, message).help("please report this"))
            }
        };
        let behind = body.elements.iter().enumerate().map(behind).collect::<Result<_, _>>()?;
        Ok(Linked { elements: body.elements, labels: body.labels, whole, behind, targets })
    }

    /// Where control goes from an element that is done; `None` where the process ends.
    pub fn next(&self, id: Id) -> Option<Id> {
        (id != self.whole.last).then(|| self.target(id).unwrap_or(self.behind[id]))
    }

    /// What follows an element in the text, which for a jump is not where it goes.
    pub fn behind(&self, id: Id) -> Id {
        self.behind[id]
    }

    /// Where a jump goes; `None` for other elements.
    pub fn target(&self, id: Id) -> Option<Id> {
        self.targets.get(&id).copied()
    }
}

/// A jump is passed through; where its label is asked about, a step before it can be seen.
fn keep_labels(body: &mut Body, referred: &HashSet<Arc<str>>) {
    let asked: Vec<Id> = body.labels.iter().filter(|l| referred.contains(&l.name)).map(|l| l.element).collect();
    for id in asked {
        let jump = body.elements.len();
        let element = &mut body.elements[id];
        if !matches!(element.kind, Kinds::Goto(..) | Kinds::Leave(_)) {
            continue;
        }
        let place = element.place;
        let skip = Action { statement: Statement::Nothing, place, text: "(1)".into() };
        let kind = std::mem::replace(&mut element.kind, Kinds::Action(Arc::new(skip)));
        let (next, in_d_step) = (element.next.replace(jump), element.in_d_step);
        body.elements.push(Element { next, in_d_step, ..Element::new(kind, place) });
    }
}

/// What follows a block follows its last element. Blocks have larger numbers than what is in them, so the outer ones come
/// first.
fn tie_blocks(body: &mut Body) {
    for id in (0..body.elements.len()).rev() {
        let next = body.elements[id].next;
        if let Kinds::Block(_, part) = &mut body.elements[id].kind {
            let last = part.last;
            // A jump that was put behind the last element is the last now.
            let last = match body.elements[last].next {
                Some(jump) => jump,
                None => last,
            };
            if let Kinds::Block(_, part) = &mut body.elements[id].kind {
                part.last = last;
            }
            body.elements[last].next = next;
        }
    }
}

/// As in SPIN, a `d_step` cannot begin with an `unless`; others within it have no effect.
fn refuse_escapes(body: &Body) -> Result<(), Problem> {
    for element in &body.elements {
        let Kinds::Block(Block::DStep, part) = &element.kind else { continue };
        let mut first = &body.elements[part.first];
        while let Kinds::Block(_, part) = &first.kind {
            first = &body.elements[part.first];
        }
        if let Kinds::Unless(_) = first.kind {
            return Err(Problem::new(first.place, "a d_step cannot begin with `unless`"));
        }
    }
    Ok(())
}

/// Where every jump goes: to the label in the same block, else in one around it, else anywhere in the process.
fn resolve_jumps(body: &Body) -> Result<HashMap<Id, Id>, Problem> {
    let mut in_block: HashMap<(&str, u32), Id> = HashMap::new();
    let mut anywhere: HashMap<&str, Id> = HashMap::new();
    for label in &body.labels {
        in_block.insert((&label.name, label.block), label.element);
        anywhere.insert(&label.name, label.element);
    }
    let (mut targets, mut problems) = (HashMap::new(), Vec::new());
    for (id, element) in body.elements.iter().enumerate() {
        let target = match &element.kind {
            Kinds::Goto(label, blocks) => {
                let name = &*label.name;
                let near = blocks.iter().rev().chain(&[0]).find_map(|block| in_block.get(&(name, *block)));
                let Some(target) = near.or_else(|| anywhere.get(name)) else {
                    let help = sorted_suggestion(name, anywhere.keys().copied());
                    problems.push(Problem::new(label.place, format!("unknown label `{name}`")).maybe_help(help));
                    continue;
                };
                *target
            }
            Kinds::Leave(exit) => {
                body.exits[*exit].ok_or_else(|| Problem::new(element.place, "this loop is not closed"))?
            }
            _ => continue,
        };
        match (element.in_d_step, body.elements[target].in_d_step) {
            (from, to) if from == to => {}
            (None, _) => return Err(Problem::new(element.place, "a jump into a d_step is not supported")),
            _ => return Err(Problem::new(element.place, "a jump out of a d_step is not supported")),
        }
        targets.insert(id, target);
    }
    Problem::all(problems)?;
    Ok(targets)
}
