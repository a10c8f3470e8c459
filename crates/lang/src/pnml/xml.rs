//! One pull reader over XML: elements with their attributes, text, and where each stands.
//!
//! Nothing is expanded: a document that defines entities is refused, so that a small text cannot become a large one.

use super::counted::{At, Counted};
use super::wrong::Wrong;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::io::BufRead;

/// How deep elements may be nested.
const DEPTH: usize = 4000;

#[derive(Debug)]
pub(super) struct Xml<R: BufRead> {
    reader: Reader<Counted<R>>,
    buffer: Vec<u8>,
    /// The element that was opened last.
    tag: Tag,
    /// Elements that are open.
    depth: usize,
    text: String,
    opened_any: bool,
}

/// An element's name and attributes, without namespaces.
#[derive(Debug, Default)]
struct Tag {
    name: String,
    at: At,
    /// Names and values one after the other in one string, because every element has some.
    attributes: String,
    bounds: Vec<(usize, usize)>,
}

enum Step {
    Open,
    Close,
    Other,
    End,
}

impl<R: BufRead> Xml<R> {
    pub fn new(reader: R) -> Xml<R> {
        let mut reader = Reader::from_reader(Counted::new(reader));
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, buffer: Vec::new(), tag: Tag::default(), depth: 0, text: String::new(), opened_any: false }
    }

    /// How many elements are open: of an element just entered, its own depth.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The name of the element entered last.
    pub fn name(&self) -> &str {
        &self.tag.name
    }

    pub fn at(&self) -> At {
        self.tag.at
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.tag.attributes().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tag.attributes()
    }

    /// Enters the next element inside the one at this depth; `false` when that one has ended. Whatever was not entered is
    /// passed over.
    pub fn child(&mut self, depth: usize) -> Result<bool, Wrong> {
        loop {
            self.text.clear();
            match self.step()? {
                Step::Open if self.depth == depth + 1 => return Ok(true),
                Step::Close if self.depth < depth => return Ok(false),
                Step::End => return Ok(false),
                _ => {}
            }
        }
    }

    /// The text of the element at this depth up to its end, without that of elements inside it.
    pub fn text(&mut self, depth: usize) -> Result<&str, Wrong> {
        self.text.clear();
        let mut kept = 0;
        loop {
            let here = self.depth == depth;
            match self.step()? {
                Step::Other if here => kept = self.text.len(),
                Step::Close if self.depth < depth => break,
                Step::End => break,
                _ => self.text.truncate(kept),
            }
        }
        Ok(self.text.trim())
    }

    fn step(&mut self) -> Result<Step, Wrong> {
        let at = self.reader.get_mut().begin();
        self.buffer.clear();
        match self.reader.read_event_into(&mut self.buffer) {
            Ok(Event::Start(start)) => {
                if self.depth == 0 && self.opened_any {
                    return Err(Wrong::new(at, "a second root element"));
                }
                self.opened_any = true;
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(Wrong::new(at, format!("elements are nested more than {DEPTH} deep")));
                }
                self.tag.set(&start, at)?;
                Ok(Step::Open)
            }
            Ok(Event::End(_)) => {
                self.depth -= 1;
                Ok(Step::Close)
            }
            Ok(Event::Text(text)) => {
                let text = utf8(&text, at)?;
                if self.depth == 0 && !text.trim_matches('\u{feff}').trim().is_empty() {
                    return Err(Wrong::new(at, "this is not XML: there is text outside of the root element"));
                }
                self.text.push_str(text);
                Ok(Step::Other)
            }
            Ok(Event::CData(text)) => {
                self.text.push_str(utf8(&text, at)?);
                Ok(Step::Other)
            }
            Ok(Event::GeneralRef(reference)) => {
                let name = utf8(&reference, at)?;
                let c = match reference.resolve_char_ref() {
                    Ok(Some(c)) => Some(c),
                    Ok(None) => predefined(name),
                    Err(e) => return Err(Wrong::new(at, format!("a wrong character reference: {e}"))),
                };
                self.text.push(c.ok_or_else(|| unknown_entity(at, name))?);
                Ok(Step::Other)
            }
            Ok(Event::DocType(text)) => match text.contains(&b'[') {
                true => Err(Wrong::new(at, "a document type that defines entities or elements is not supported")
                    .help("write the entities out, and take the document type away")),
                false => Ok(Step::Other),
            },
            Ok(Event::Eof) if self.depth > 0 => {
                let message = format!("the text ends inside an element; {} are not closed", self.depth);
                Err(Wrong::new(at, message).help("the file may have been cut off"))
            }
            Ok(Event::Eof) => Ok(Step::End),
            Ok(Event::Decl(_) | Event::PI(_) | Event::Comment(_)) => Ok(Step::Other),
            Ok(Event::Empty(_)) => Ok(Step::Other),
            Err(quick_xml::Error::Io(e)) => Err(Wrong::new(at, format!("the file cannot be read further: {e}"))),
            Err(e) => Err(Wrong::new(at, format!("this is not well-formed XML: {e}"))),
        }
    }
}

impl Tag {
    fn set(&mut self, start: &BytesStart<'_>, at: At) -> Result<(), Wrong> {
        self.at = at;
        self.name.clear();
        self.name.push_str(utf8(start.local_name().as_ref(), at)?);
        self.attributes.clear();
        self.bounds.clear();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|e| Wrong::new(at, format!("a wrong attribute: {e}")))?;
            self.attributes.push_str(utf8(attribute.key.local_name().as_ref(), at)?);
            let middle = self.attributes.len();
            self.push_value(utf8(&attribute.value, at)?, at)?;
            self.bounds.push((middle, self.attributes.len()));
        }
        Ok(())
    }

    /// A value with its references replaced.
    fn push_value(&mut self, value: &str, at: At) -> Result<(), Wrong> {
        let mut rest = value;
        while let Some(i) = rest.find('&') {
            self.attributes.push_str(&rest[..i]);
            let Some(length) = rest[i..].find(';') else {
                return Err(Wrong::new(at, "a \"&\" in an attribute that does not begin a reference"));
            };
            let name = &rest[i + 1..i + length];
            let number = match name.strip_prefix('#') {
                Some(digits) => match digits.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => digits.parse().ok(),
                },
                None => None,
            };
            let c = number.and_then(char::from_u32).or_else(|| predefined(name));
            self.attributes.push(c.ok_or_else(|| unknown_entity(at, name))?);
            rest = &rest[i + length + 1..];
        }
        self.attributes.push_str(rest);
        Ok(())
    }

    fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.bounds.iter().map(|&(_, end)| end));
        starts
            .zip(&self.bounds)
            .map(|(start, &(middle, end))| (&self.attributes[start..middle], &self.attributes[middle..end]))
    }
}

fn predefined(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

fn unknown_entity(at: At, name: &str) -> Wrong {
    Wrong::new(at, format!("the entity \"&{name};\" is not known; entities of a document are not expanded"))
}

fn utf8(bytes: &[u8], at: At) -> Result<&str, Wrong> {
    std::str::from_utf8(bytes)
        .map_err(|_| Wrong::new(at, "the text is not UTF-8").help("save the file in the encoding UTF-8"))
}
