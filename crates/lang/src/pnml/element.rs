//! A small piece of a document as a tree: the terms and declarations of coloured nets.

use super::counted::At;
use super::wrong::Wrong;
use super::xml::Xml;
use std::io::BufRead;

/// How deep terms may be nested.
const DEPTH: usize = 500;

#[derive(Debug, Clone)]
pub(super) struct Element {
    pub name: Box<str>,
    pub at: At,
    attributes: Vec<(Box<str>, Box<str>)>,
    pub children: Vec<Element>,
}

impl Element {
    fn of<R: BufRead>(xml: &Xml<R>) -> Element {
        let attributes = xml.attributes().filter(|(name, _)| *name != "xmlns");
        Element {
            name: xml.name().into(),
            at: xml.at(),
            attributes: attributes.map(|(name, value)| (name.into(), value.into())).collect(),
            children: Vec::new(),
        }
    }

    /// The element that was just entered, with all that is in it. What only wraps others is taken away.
    pub fn read<R: BufRead>(xml: &mut Xml<R>) -> Result<Element, Wrong> {
        let base = xml.depth();
        let mut open = vec![(base, Element::of(xml))];
        // Wrappers are passed through: their children are those of the element around them.
        let mut depth = base;
        loop {
            if xml.child(depth)? {
                depth = xml.depth();
                if !matches!(xml.name(), "subterm" | "structure" | "positive" | "graphics" | "text" | "toolspecific") {
                    if open.len() > DEPTH {
                        return Err(Wrong::new(xml.at(), format!("terms are nested more than {DEPTH} deep")));
                    }
                    open.push((depth, Element::of(xml)));
                } else if matches!(xml.name(), "graphics" | "text" | "toolspecific" | "positive") {
                    depth -= 1;
                }
                continue;
            }
            if let Some((_, done)) = open.pop_if(|(at, _)| *at == depth) {
                match open.last_mut() {
                    Some((_, parent)) => parent.children.push(done),
                    None => return Ok(done),
                }
            }
            depth -= 1;
        }
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| **n == *name).map(|(_, value)| &**value)
    }

    /// An attribute that must be there.
    pub fn need(&self, name: &str) -> Result<&str, Wrong> {
        let missing = || Wrong::new(self.at, format!("<{}> without the attribute \"{name}\"", self.name));
        self.attribute(name).ok_or_else(missing)
    }

    /// The only child.
    pub fn only(&self) -> Result<&Element, Wrong> {
        match &self.children[..] {
            [child] => Ok(child),
            others => Err(Wrong::new(self.at, format!("<{}> must have one part, and has {}", self.name, others.len()))),
        }
    }

    /// Both children of an operator with two operands.
    pub fn pair(&self) -> Result<(&Element, &Element), Wrong> {
        match &self.children[..] {
            [first, second] => Ok((first, second)),
            others => {
                Err(Wrong::new(self.at, format!("<{}> must have two parts, and has {}", self.name, others.len())))
            }
        }
    }

    pub fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong::new(self.at, message)
    }
}
