//! Reading `.aut` files: `des (initial, transitions, states)` and one edge in a line, `(from, label, to)`.
//!
//! The text is read line by line and never held as a whole, so that memory goes with the edges that are there, whatever
//! the first line promises. A promise that is not kept is an error: the file was cut off or is damaged.

use super::lts::{Edge, Lts};
use crate::symbols::Map;
use std::io::{self, BufRead, Read};

/// Bytes that a line may have.
const LONGEST_LINE: u64 = 1 << 20;
/// States may be numbered up to here.
const MOST_STATES: u64 = 1 << 31;
/// Edges may be as many as this.
const MOST_EDGES: usize = 1 << 31;
/// As many states may occur in no edge, which cannot be reached then.
const MOST_IDLE: u64 = 1 << 16;

/// What is wrong, and where: the line and the stretch of it in bytes.
#[derive(Debug)]
pub(super) struct Wrong {
    pub line: u32,
    pub start: usize,
    pub end: usize,
    /// The text of the line.
    pub text: String,
    pub message: String,
    pub help: Option<String>,
}

#[derive(Debug)]
pub(super) enum Failure {
    Wrong(Box<Wrong>),
    Io(io::Error),
}

/// A stretch of a line and what is wrong with it.
type Complaint = (usize, usize, String, Option<&'static str>);

#[derive(Debug, Clone, Copy)]
struct Header {
    initial: u64,
    edges: u64,
    states: u64,
}

/// Reads a whole file; `lines` says whether to remember the line of each edge.
pub(super) fn read(mut input: impl BufRead, lines: bool) -> Result<Lts, Failure> {
    let mut reader = Reader { lts: Lts::default(), header: None, known: Map::default(), texts: Map::default() };
    let (mut line, mut number) = (Vec::new(), 0u32);
    loop {
        line.clear();
        let count = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(Failure::Io)?;
        if count == 0 {
            break;
        }
        number = number.saturating_add(1);
        if number == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        let content = line.trim_ascii_end();
        let result = match count as u64 > LONGEST_LINE {
            true => Err((0, 1, format!("a line of more than {LONGEST_LINE} bytes is not supported"), None)),
            false if content.is_empty() => Ok(()),
            false => reader.line(content),
        };
        match result {
            Ok(()) if lines => reader.lts.lines.resize(reader.lts.edges.len(), number),
            Ok(()) => {}
            Err(complaint) => return Err(wrong(number, content, complaint)),
        }
    }
    reader.finish().map_err(|complaint| wrong(number.max(1), line.trim_ascii_end(), complaint))
}

fn wrong(line: u32, content: &[u8], (start, end, message, help): Complaint) -> Failure {
    let text: Vec<u8> = content.iter().copied().take(4096).collect();
    let text = String::from_utf8_lossy(&text).into_owned();
    Failure::Wrong(Box::new(Wrong { line, start, end, text, message, help: help.map(str::to_string) }))
}

struct Reader {
    lts: Lts,
    header: Option<Header>,
    /// Labels by how they are written, and by what they say: a label may stand within quotation marks or not.
    known: Map<Box<[u8]>, u32>,
    texts: Map<String, u32>,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), Complaint> {
        match self.header {
            None => self.first(line),
            Some(header) => self.edge(line, header),
        }
    }

    fn first(&mut self, line: &[u8]) -> Result<(), Complaint> {
        let help = Some("the first line is `des (initial, transitions, states)`");
        let start = line.len() - line.trim_ascii_start().len();
        let expected = |at: usize, what: &str| {
            let end = (at + 1).min(line.len().max(at));
            (at, end, format!("expected {what} of a labelled transition system"), help)
        };
        let Some(rest) = line[start..].strip_prefix(b"des") else {
            return Err(expected(start, "`des (`, the beginning"));
        };
        let inner = rest.trim_ascii().strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
        let Some(inner) = inner else {
            return Err(expected(start + 3, "three numbers in parentheses"));
        };
        let parts: Vec<&[u8]> = inner.split(|b| *b == b',').collect();
        let [initial, edges, states] = parts[..] else {
            return Err(expected(
                offset(line, inner),
                "three numbers, the initial state and the counts of edges and states,",
            ));
        };
        let header =
            Header { initial: number(line, initial)?, edges: number(line, edges)?, states: number(line, states)? };
        let at =
            |part: &[u8]| (offset(line, part.trim_ascii()), offset(line, part.trim_ascii()) + part.trim_ascii().len());
        if header.states > MOST_STATES {
            let (start, end) = at(states);
            return Err((start, end, format!("{} states; at most {MOST_STATES} are supported", header.states), None));
        }
        if header.initial >= header.states {
            let (start, end) = at(initial);
            let message =
                format!("the initial state is {}, but there are only {} states", header.initial, header.states);
            return Err((start, end, message, Some("states are numbered from 0")));
        }
        (self.lts.initial, self.lts.states) = (header.initial as u32, header.states as u32);
        self.header = Some(header);
        Ok(())
    }

    fn edge(&mut self, line: &[u8], header: Header) -> Result<(), Complaint> {
        if self.lts.edges.len() >= MOST_EDGES {
            return Err((0, line.len(), format!("more than {MOST_EDGES} edges are not supported"), None));
        }
        if self.lts.edges.len() as u64 >= header.edges {
            let message = format!("there are more edges than the {} that the first line announces", header.edges);
            return Err((0, line.len(), message, None));
        }
        let bad = || (0, line.len(), "expected an edge".to_string(), Some("an edge is written `(from, label, to)`"));
        let inner = line.trim_ascii().strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).ok_or_else(bad)?;
        let first = inner.iter().position(|b| *b == b',').ok_or_else(bad)?;
        let last = inner.iter().rposition(|b| *b == b',').filter(|last| *last > first).ok_or_else(bad)?;
        let from = self.state(line, &inner[..first], header)?;
        let to = self.state(line, &inner[last + 1..], header)?;
        let label = self.label(line, inner[first + 1..last].trim_ascii())?;
        self.lts.edges.push(Edge { from, label, to });
        Ok(())
    }

    fn state(&self, line: &[u8], part: &[u8], header: Header) -> Result<u32, Complaint> {
        let state = number(line, part)?;
        if state < header.states {
            return Ok(state as u32);
        }
        let part = part.trim_ascii();
        let start = offset(line, part);
        let message = format!("unknown state {state}: the first line announces {} states", header.states);
        Err((start, start + part.len(), message, Some("states are numbered from 0")))
    }

    fn label(&mut self, line: &[u8], written: &[u8]) -> Result<u32, Complaint> {
        if let Some(known) = self.known.get(written) {
            return Ok(*known);
        }
        let start = offset(line, written);
        let text = match written {
            [] => return Err((start, start + 1, "expected a label".into(), None)),
            [b'"', inner @ .., b'"'] => unescaped(&decoded(inner)),
            [b'"', ..] => {
                return Err((start, start + written.len(), "this label has no closing quotation mark".into(), None));
            }
            bare => decoded(bare),
        };
        let fresh = self.texts.len() as u32;
        let label = *self.texts.entry(text.clone()).or_insert(fresh);
        if label == fresh {
            self.lts.labels.push(text);
        }
        self.known.insert(written.into(), label);
        Ok(label)
    }

    fn finish(self) -> Result<Lts, Complaint> {
        let Some(header) = self.header else {
            return Err((
                0,
                1,
                "the file is empty".into(),
                Some("it begins with `des (initial, transitions, states)`"),
            ));
        };
        let edges = self.lts.edges.len() as u64;
        if edges < header.edges {
            let message = format!("the file ends after {edges} edges, but the first line announces {}", header.edges);
            return Err((0, 0, message, Some("was the file cut off?")));
        }
        if header.states > 2 * edges + 1 + MOST_IDLE {
            let message =
                format!("the first line announces {} states, far more than {edges} edges can reach", header.states);
            return Err((0, 0, message, Some("number the states from 0 without gaps")));
        }
        Ok(self.lts)
    }
}

/// Where a part of a line begins in it.
fn offset(line: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}

fn number(line: &[u8], part: &[u8]) -> Result<u64, Complaint> {
    let part = part.trim_ascii();
    let start = offset(line, part);
    let complain = |message: &str| (start, start + part.len().max(1), message.to_string(), None);
    if part.is_empty() || !part.iter().all(u8::is_ascii_digit) {
        return Err(complain("expected a number"));
    }
    let value = part.iter().try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add((digit - b'0') as u64));
    value.filter(|value| i64::try_from(*value).is_ok()).ok_or_else(|| complain("this number is too large"))
}

/// UTF-8, or else one character per byte.
fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|byte| *byte as char).collect(),
    }
}

/// `\"` and `\\` stand for the second character; any other backslash is one.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let kept = match (c, rest.peek()) {
            ('\\', Some('"' | '\\')) => rest.next().unwrap_or(c),
            _ => c,
        };
        out.push(kept);
    }
    out
}
