//! From the elements of a document to a draft of the net, one after the other.

use super::counted::At;
use super::draft::{ArcKind, Draft, DraftArc, DraftPlace, DraftTransition, Meaning, Reference};
use super::element::Element;
use super::wrong::Wrong;
use super::xml::Xml;
use super::{number, nupn, position};
use scrimp_system::{Rounds, Stop};
use std::io::BufRead;

/// The draft of the document's only net.
pub(super) fn read<R: BufRead>(xml: &mut Xml<R>, stop: &Stop) -> Result<Draft, Wrong> {
    if !xml.child(0)? {
        return Err(Wrong::new(At { line: 1, column: 1 }, "the file has no XML element"));
    }
    if xml.name() != "pnml" {
        let message = format!("this is not a PNML file: it begins with <{}>, not <pnml>", xml.name());
        return Err(Wrong::new(xml.at(), message));
    }
    let root = xml.at();
    let mut draft = None;
    while xml.child(1)? {
        if xml.name() != "net" {
            continue;
        }
        if draft.is_some() {
            return Err(Wrong::new(xml.at(), "a second net; files with one net are supported"));
        }
        draft = Some(net(xml, stop)?);
    }
    // What follows the root must be nothing.
    while xml.child(0)? {}
    draft.ok_or_else(|| Wrong::new(root, "the file has no <net>"))
}

fn net<R: BufRead>(xml: &mut Xml<R>, stop: &Stop) -> Result<Draft, Wrong> {
    let rounds = Rounds::new(stop, 1 << 8);
    let mut draft = Draft { name: xml.attribute("id").unwrap_or_default().to_string(), ..Draft::default() };
    let kind = xml.attribute("type").unwrap_or_default().to_ascii_lowercase();
    draft.coloured = ["symmetric", "highlevel", "hlpng"].iter().any(|word| kind.contains(word));
    let outermost = xml.depth();
    // Pages only group what is on them; they can be nested.
    let mut depth = outermost;
    loop {
        rounds.next()?;
        if !xml.child(depth)? {
            if depth == outermost {
                break;
            }
            depth -= 1;
            draft.placing.close_page();
            continue;
        }
        match xml.name() {
            "page" => {
                depth = xml.depth();
                draft.placing.open_page();
            }
            "place" => place(xml, &mut draft)?,
            "transition" => transition(xml, &mut draft)?,
            "referencePlace" => reference(xml, &mut draft, true)?,
            "referenceTransition" => reference(xml, &mut draft, false)?,
            "arc" => arc(xml, &mut draft)?,
            "declaration" => declaration(xml, &mut draft)?,
            "toolspecific" if xml.attribute("tool") == Some("nupn") => nupn::read(xml, &mut draft)?,
            _ => {}
        }
    }
    Ok(draft)
}

/// The `id` of the element just entered.
fn id<R: BufRead>(xml: &Xml<R>) -> Result<Box<str>, Wrong> {
    match xml.attribute("id") {
        Some(id) if !id.is_empty() => Ok(id.into()),
        _ => Err(Wrong::new(xml.at(), format!("a <{}> without an id", xml.name()))),
    }
}

/// The text of an annotation: inside `<text>`, or `<value>` as some tools write it.
fn annotation<R: BufRead>(xml: &mut Xml<R>) -> Result<Option<(Box<str>, At)>, Wrong> {
    let depth = xml.depth();
    let mut found = None;
    while xml.child(depth)? {
        if matches!(xml.name(), "text" | "value") && found.is_none() {
            let (at, depth) = (xml.at(), xml.depth());
            found = Some((xml.text(depth)?.into(), at));
        }
    }
    Ok(found)
}

fn name<R: BufRead>(xml: &mut Xml<R>) -> Result<Option<Box<str>>, Wrong> {
    Ok(annotation(xml)?.map(|(text, _)| text).filter(|text| !text.is_empty()))
}

/// The term in an annotation's `<structure>`, kept for later. `None` if there is none.
fn term<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<Option<u32>, Wrong> {
    let depth = xml.depth();
    let (annotation, at) = (xml.name().to_string(), xml.at());
    let mut found = None;
    while xml.child(depth)? {
        if xml.name() == "structure" {
            let mut structure = Element::read(xml)?;
            // An empty structure says nothing.
            if structure.children.len() > 1 || found.is_some() {
                return Err(structure.wrong("a structure with more than one term"));
            }
            if let Some(term) = structure.children.pop() {
                draft.terms.push(term);
                found = Some(draft.terms.len() as u32 - 1);
            }
        }
    }
    // What a text alone says is not known. Other kinds of nets have types of their own.
    if found.is_none() && (draft.coloured || annotation != "type") {
        return Err(Wrong::new(at, format!("<{annotation}> without a term in a <structure>")));
    }
    draft.coloured |= found.is_some();
    Ok(found)
}

fn place<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<(), Wrong> {
    let (id, at, depth) = (id(xml)?, xml.at(), xml.depth());
    let number = draft.places.len() as u32;
    let symbol = draft.declare(&id, Meaning::Place(number), at)?;
    let called = xml.attribute("name").filter(|name| !name.is_empty()).map(Into::into);
    if xml.attribute("invariant").is_some_and(|text| text.replace(' ', "") != "<inf") {
        return Err(Wrong::new(at, "tokens whose age is bounded are not supported"));
    }
    let initial = xml.attribute("initialMarking").map(|text| number::tokens(text, at, "the initial marking"));
    let initial = initial.transpose()?.unwrap_or(0);
    let mut drawn = position::attributes(xml, "positionX", "positionY");
    let mut place = DraftPlace { symbol, name: called, initial, sort: None, marking: None, at };
    while xml.child(depth)? {
        match xml.name() {
            "name" => place.name = name(xml)?,
            "initialMarking" => {
                if let Some((text, at)) = annotation(xml)? {
                    place.initial = number::tokens(&text, at, "the initial marking")?;
                }
            }
            "graphics" => drawn = position::graphics(xml)?.or(drawn),
            "hlinitialMarking" => place.marking = term(xml, draft)?,
            "type" => place.sort = term(xml, draft)?,
            "capacity" => {
                if let Some((text, at)) = annotation(xml)?
                    && number::tokens(&text, at, "the capacity")? != 0
                {
                    return Err(Wrong::new(at, "capacities of places are not supported"));
                }
            }
            _ => {}
        }
    }
    draft.placing.place(drawn);
    draft.places.push(place);
    Ok(())
}

fn transition<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<(), Wrong> {
    let (id, at, depth) = (id(xml)?, xml.at(), xml.depth());
    let number = draft.transitions.len() as u32;
    let symbol = draft.declare(&id, Meaning::Transition(number), at)?;
    let called = xml.attribute("name").filter(|name| !name.is_empty()).map(Into::into);
    let mut drawn = position::attributes(xml, "positionX", "positionY");
    let mut transition = DraftTransition { symbol, name: called, guard: None, at };
    while xml.child(depth)? {
        match xml.name() {
            "name" => transition.name = name(xml)?,
            "graphics" => drawn = position::graphics(xml)?.or(drawn),
            "condition" => transition.guard = term(xml, draft)?,
            "priority" => {
                if let Some((text, at)) = annotation(xml)?
                    && *draft.priority.get_or_insert_with(|| text.clone()) != text
                {
                    return Err(Wrong::new(at, "transitions of different priorities are not supported"));
                }
            }
            _ => {}
        }
    }
    draft.placing.transition(drawn);
    draft.transitions.push(transition);
    Ok(())
}

fn reference<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft, is_place: bool) -> Result<(), Wrong> {
    let (id, at) = (id(xml)?, xml.at());
    let Some(to) = xml.attribute("ref") else {
        return Err(Wrong::new(at, format!("a <{}> without the attribute \"ref\"", xml.name())));
    };
    let to = draft.symbols.number(to);
    draft.declare(&id, Meaning::Reference(draft.references.len() as u32), at)?;
    draft.references.push(Reference { to, is_place, at });
    Ok(())
}

fn arc<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<(), Wrong> {
    let (at, depth) = (xml.at(), xml.depth());
    let mut end = |name: &str| match xml.attribute(name) {
        Some(id) => Ok(draft.symbols.number(id)),
        None => Err(Wrong::new(at, format!("an arc without the attribute \"{name}\""))),
    };
    let (source, target) = (end("source")?, end("target")?);
    let kind = xml.attribute("type").map_or(Ok(ArcKind::Normal), |text| kind(text, at))?;
    let mut arc = DraftArc { source, target, weight: 1, kind, term: None, at };
    // Nets with time write the interval of an arc where others write the weight.
    if let Some(text) = xml.attribute("inscription").filter(|text| !text.replace(' ', "").starts_with("[0,inf)")) {
        arc.weight = number::weight(text, at)?;
    }
    if let Some(text) = xml.attribute("weight") {
        arc.weight = number::weight(text, at)?;
    }
    while xml.child(depth)? {
        match xml.name() {
            "inscription" => {
                if let Some((text, at)) = annotation(xml)? {
                    arc.weight = number::weight(&text, at)?;
                }
            }
            "hlinscription" => arc.term = term(xml, draft)?,
            "type" | "arctype" | "arcType" => {
                let at = xml.at();
                let value = xml.attribute("value").map(Box::from);
                if let Some(text) = value.or(annotation(xml)?.map(|(text, _)| text)) {
                    arc.kind = self::kind(&text, at)?;
                }
            }
            _ => {}
        }
    }
    draft.arcs.push(arc);
    Ok(())
}

fn kind(text: &str, at: At) -> Result<ArcKind, Wrong> {
    match text.trim().to_ascii_lowercase().as_str() {
        "normal" | "timed" | "ordinary" | "default" | "" => Ok(ArcKind::Normal),
        "inhibitor" | "tapninhibitor" => Ok(ArcKind::Inhibitor),
        "reset" => Ok(ArcKind::Reset),
        "test" | "read" => Ok(ArcKind::Test),
        other => Err(Wrong::new(at, format!("an arc of the kind \"{other}\""))
            .help("the kinds are normal, inhibitor, reset and test (or read)")),
    }
}

/// The declarations of a coloured net.
fn declaration<R: BufRead>(xml: &mut Xml<R>, draft: &mut Draft) -> Result<(), Wrong> {
    let depth = xml.depth();
    while xml.child(depth)? {
        if xml.name() == "structure" {
            let structure = Element::read(xml)?;
            for declarations in structure.children {
                match &*declarations.name {
                    "declarations" => draft.declarations.extend(declarations.children),
                    _ => draft.declarations.push(declarations),
                }
            }
            draft.coloured = true;
        }
    }
    Ok(())
}
