//! From text to automata. What is no Büchi condition, or alternates, is refused with its place.

use super::label::Infinitely;
use super::lexer::{HoaError, Placed, Word, words};
use crate::automaton::{Automaton, Cube, Edge, Guard, MOST_ATOMS, MOST_SETS, Marks};
use crate::diagram::{Diagram, Node};
use crate::limits::Meter;
use std::collections::{HashMap, VecDeque};

/// The most states that a text may name.
const MOST_STATES: usize = 1_000_000;

/// The first automaton of a text in the Hanoi format that was not given up by who wrote it, and the names of its atoms.
/// With several initial states it gets one more state for them.
///
/// # Errors
/// When the text is not in that format, or its automaton is none of ours: the place and the reason.
pub fn read(text: &str) -> Result<(Automaton, Vec<String>), HoaError> {
    let mut words = words(text)?;
    // Whoever writes may give up anywhere, and begin again.
    let end = words.iter().position(|placed| placed.word == Word::Mark("END".to_string())).unwrap_or(words.len());
    let given_up = words[..end].iter().rposition(|placed| placed.word == Word::Mark("ABORT".to_string()));
    if let Some(place) = given_up {
        words.drain(..=place);
        if words.len() == 1 {
            return Err(words[0].error("the automaton ends with --ABORT--"));
        }
    }
    let mut parser = Parser { words: words.into(), names: Vec::new(), aliases: HashMap::new(), infinitely: Vec::new() };
    // Conditions are written, not computed: their size is that of the text.
    let automaton = parser.automaton(&mut Diagram::new(Meter::free()))?;
    Ok((automaton, parser.names))
}

pub(crate) struct Parser {
    words: VecDeque<Placed>,
    names: Vec<String>,
    aliases: HashMap<String, Node>,
    infinitely: Vec<Infinitely>,
}

/// What the header says.
#[derive(Default)]
struct Header {
    states: Option<usize>,
    starts: Vec<usize>,
    has_atoms: bool,
    accepts: Option<usize>,
}

/// An edge as it stands in the body.
struct Draft {
    label: Option<Node>,
    to: u32,
    marks: Marks,
    line: usize,
    column: usize,
}

impl Parser {
    pub fn here(&self) -> &Placed {
        // The word that says that the text ends is never taken.
        &self.words[0]
    }

    pub fn here_word(&self) -> &Word {
        &self.here().word
    }

    pub fn take(&mut self) -> Placed {
        let Placed { ref word, line, column } = self.words[0];
        if *word == Word::End {
            return Placed { word: Word::End, line, column };
        }
        self.words.pop_front().unwrap_or(Placed { word: Word::End, line, column })
    }

    pub fn sign(&mut self, sign: char) -> bool {
        let found = *self.here_word() == Word::Sign(sign);
        if found {
            self.take();
        }
        found
    }

    pub fn expect(&mut self, sign: char) -> Result<(), HoaError> {
        if self.sign(sign) { Ok(()) } else { Err(self.here().error(format!("expected '{sign}'"))) }
    }

    pub fn number(&mut self, what: &str) -> Result<usize, HoaError> {
        let place = self.take();
        match place.word {
            Word::Number(number) => Ok(number),
            _ => Err(place.error(format!("expected {what}"))),
        }
    }

    pub fn atoms(&self) -> usize {
        self.names.len()
    }

    pub fn alias(&self, name: &str) -> Option<Node> {
        self.aliases.get(name).copied()
    }

    fn automaton(&mut self, diagram: &mut Diagram) -> Result<Automaton, HoaError> {
        let begin = self.take();
        if begin.word != Word::Header("HOA".to_string()) {
            return Err(begin.error("expected 'HOA:', the beginning of an automaton in the Hanoi format"));
        }
        let version = self.take();
        if version.word != Word::Name("v1".to_string()) {
            return Err(version.error("only version v1 is supported"));
        }
        let mut header = Header::default();
        loop {
            let place = self.take();
            match &place.word {
                Word::Mark(mark) if mark == "BODY" => break,
                Word::Header(name) => self.header(name, &place, &mut header, diagram)?,
                _ => return Err(place.error("expected a header, or '--BODY--'")),
            }
        }
        if header.accepts.is_none() {
            return Err(self.here().error("the header 'Acceptance:' is missing"));
        }
        self.body(&header, diagram)
    }

    fn header(
        &mut self,
        name: &str,
        place: &Placed,
        header: &mut Header,
        diagram: &mut Diagram,
    ) -> Result<(), HoaError> {
        let twice = || Err(place.error(format!("the header '{name}:' appears twice")));
        match name {
            "States" if header.states.is_some() => return twice(),
            "AP" if header.has_atoms => return twice(),
            "Acceptance" if header.accepts.is_some() => return twice(),
            "States" => {
                let states = self.number("the number of states")?;
                if states > MOST_STATES {
                    return Err(place.error(format!("more than {MOST_STATES} states")));
                }
                header.states = Some(states);
            }
            "Start" => {
                let start = self.number("the number of a state")?;
                self.refuse_alternation()?;
                if start >= MOST_STATES {
                    return Err(place.error(format!("more than {MOST_STATES} states")));
                }
                header.starts.push(start);
            }
            "AP" => {
                let count = self.number("the number of atoms")?;
                if count > MOST_ATOMS {
                    return Err(place.error(format!("more than {MOST_ATOMS} atoms")));
                }
                for _ in 0..count {
                    let name = self.take();
                    let Word::Text(text) = name.word else { return Err(name.error("expected the name of an atom")) };
                    self.names.push(text);
                }
                header.has_atoms = true;
            }
            "Alias" => {
                let alias = self.take();
                let Word::Alias(name) = &alias.word else { return Err(alias.error("expected the name of an alias")) };
                let label = self.label(diagram, 0)?;
                if self.aliases.insert(name.clone(), label).is_some() {
                    return Err(alias.error(format!("the alias @{name} is defined twice")));
                }
            }
            "Acceptance" => {
                let count = self.number("the number of sets")?;
                let mut found = Vec::new();
                self.acceptance(&mut found, 0)?;
                found.sort_unstable_by_key(|one| (one.set, one.others));
                found.dedup();
                if found.iter().any(|one| one.set >= count) {
                    return Err(place.error("the acceptance condition names an unknown set"));
                }
                if found.len() > MOST_SETS {
                    return Err(place.error(format!("more than {MOST_SETS} sets")));
                }
                self.infinitely = found;
                header.accepts = Some(count);
            }
            _ if name.starts_with(|first: char| first.is_ascii_uppercase()) => {
                return Err(place.error(format!("the header '{name}:' is not known, and could change the meaning")));
            }
            _ => {
                while matches!(self.here_word(), Word::Name(_) | Word::Number(_) | Word::Text(_)) {
                    self.take();
                }
            }
        }
        Ok(())
    }

    fn refuse_alternation(&self) -> Result<(), HoaError> {
        match self.here_word() {
            Word::Sign('&') => Err(self.here().error("alternation is not supported")),
            _ => Ok(()),
        }
    }

    fn body(&mut self, header: &Header, diagram: &mut Diagram) -> Result<Automaton, HoaError> {
        let mut states: Vec<Option<Vec<Edge>>> = Vec::new();
        loop {
            let place = self.take();
            match &place.word {
                Word::Mark(mark) if mark == "END" => break,
                Word::Header(name) if name == "State" => self.state(header, &mut states, diagram)?,
                _ => return Err(place.error("expected 'State:' or '--END--'")),
            }
        }
        let starts = header.starts.iter().map(|&start| start + 1).max().unwrap_or(0);
        let targets = states.iter().flatten().flatten().map(|edge| edge.to as usize + 1).max().unwrap_or(0);
        let count = header.states.unwrap_or(starts.max(targets).max(states.len()));
        if starts > count {
            return Err(self.here().error("unknown initial state"));
        }
        // Several initial states become one more.
        if count + usize::from(header.starts.len() != 1) > MOST_STATES {
            return Err(self.here().error(format!("more than {MOST_STATES} states")));
        }
        if states.len() < count {
            states.resize(count, None);
        }
        let mut states: Vec<Vec<Edge>> = states.into_iter().map(Option::unwrap_or_default).collect();
        let initial = match header.starts.as_slice() {
            &[one] => one,
            several => {
                let edges = several.iter().flat_map(|&start| states[start].clone()).collect();
                states.push(edges);
                states.len() - 1
            }
        };
        let (atoms, sets) = (self.atoms(), self.infinitely.len());
        Ok(Automaton { atoms, states, initial: initial as u32, sets })
    }

    fn state(
        &mut self,
        header: &Header,
        states: &mut Vec<Option<Vec<Edge>>>,
        diagram: &mut Diagram,
    ) -> Result<(), HoaError> {
        let own_label = self.bracketed_label(diagram)?;
        let place = self.take();
        let state = match place.word {
            Word::Number(state) if state < header.states.unwrap_or(MOST_STATES) => state,
            Word::Number(state) => return Err(place.error(format!("there is no state {state}"))),
            _ => return Err(place.error("expected the number of a state")),
        };
        if let Word::Text(_) = self.here_word() {
            self.take();
        }
        let own_sets = self.sets(header)?;
        let mut drafts = Vec::new();
        while matches!(self.here_word(), Word::Sign('[') | Word::Number(_)) {
            drafts.push(self.edge(header, &own_sets, diagram)?);
        }
        let edges = self.labelled(drafts, own_label, &place, diagram)?;
        if states.len() <= state {
            states.resize(state + 1, None);
        }
        match states[state].replace(edges) {
            Some(_) => Err(place.error(format!("state {state} appears twice"))),
            None => Ok(()),
        }
    }

    fn bracketed_label(&mut self, diagram: &mut Diagram) -> Result<Option<Node>, HoaError> {
        if !self.sign('[') {
            return Ok(None);
        }
        let label = self.label(diagram, 0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    /// The sets in braces, if there are some.
    fn sets(&mut self, header: &Header) -> Result<Vec<usize>, HoaError> {
        let mut sets = Vec::new();
        if self.sign('{') {
            while !self.sign('}') {
                let place = self.take();
                match place.word {
                    Word::Number(set) if header.accepts.is_some_and(|count| set < count) => sets.push(set),
                    Word::Number(set) => return Err(place.error(format!("there is no set {set}"))),
                    _ => return Err(place.error("expected the number of a set, or '}'")),
                }
            }
        }
        Ok(sets)
    }

    fn edge(&mut self, header: &Header, own_sets: &[usize], diagram: &mut Diagram) -> Result<Draft, HoaError> {
        let (line, column) = (self.here().line, self.here().column);
        let label = self.bracketed_label(diagram)?;
        let place = self.take();
        let to = match place.word {
            Word::Number(to) if to < header.states.unwrap_or(MOST_STATES) => to as u32,
            Word::Number(to) => return Err(place.error(format!("there is no state {to}"))),
            _ => return Err(place.error("expected the number of a state")),
        };
        self.refuse_alternation()?;
        let sets = self.sets(header)?;
        let has = |set: &usize| sets.contains(set) || own_sets.contains(set);
        let meets = |(_, one): &(usize, &Infinitely)| has(&one.set) != one.others;
        let marks = self.infinitely.iter().enumerate().filter(meets).fold(0, |marks, (i, _)| marks | 1 << i);
        Ok(Draft { label, to, marks, line, column })
    }

    /// Edges with their conditions: each its own, all that of the state, or by their order.
    fn labelled(
        &self,
        drafts: Vec<Draft>,
        own: Option<Node>,
        place: &Placed,
        diagram: &mut Diagram,
    ) -> Result<Vec<Edge>, HoaError> {
        let labels = drafts.iter().filter(|draft| draft.label.is_some()).count();
        let implicit = own.is_none() && labels == 0;
        if implicit && !drafts.is_empty() && 1usize.checked_shl(self.atoms() as u32) != Some(drafts.len()) {
            let message = format!("without conditions there is one edge for each letter of {} atoms", self.atoms());
            return Err(place.error(message));
        }
        let mut edges = Vec::with_capacity(drafts.len());
        for (letter, draft) in drafts.into_iter().enumerate() {
            let wrong =
                |message: &str| HoaError { line: draft.line, column: draft.column, message: message.to_string() };
            let guard = match (own, draft.label) {
                (Some(_), Some(_)) => return Err(wrong("the state has a condition already")),
                (Some(label), None) | (None, Some(label)) => {
                    diagram.guard(label).map_err(|_| wrong("this condition is too large"))?
                }
                (None, None) if implicit => {
                    let (positive, all) = (letter as u64, crate::graph::every(self.atoms()));
                    Guard { cubes: vec![Cube { positive, negative: all & !positive }] }
                }
                (None, None) => return Err(wrong("expected a condition: other edges have one")),
            };
            if !guard.cubes.is_empty() {
                edges.push(Edge { guard, to: draft.to, marks: draft.marks });
            }
        }
        Ok(edges)
    }
}
