//! One state as words, and all that can happen in it.

use crate::circuit::{Bit, Circuit};
use crate::encoding::Encoding;
use crate::evaluate::{Cells, Value, evaluate};
use crate::word::Word;
use scrimp_system::{Assign, Domain, Event, Moment, Overflow, ProcessId, System, Then, VarId};
use std::collections::HashMap;

/// The cells of a state as words.
pub struct State<'s> {
    /// The cells, and who is alone if somebody can be.
    pub words: Vec<Word>,
    encoding: &'s Encoding<'s>,
}

impl<'s> State<'s> {
    /// A state of these words.
    pub fn new(encoding: &'s Encoding<'s>, words: Vec<Word>) -> State<'s> {
        State { words, encoding }
    }
}

impl Cells for State<'_> {
    fn cells(&self, variable: VarId) -> &[Word] {
        &self.words[self.encoding.cells_of(variable)]
    }
}

/// What an event would do in a state.
pub struct Happening {
    /// Its number.
    pub event: u32,
    /// It can happen, and has a successor.
    pub fires: Bit,
    /// It ends in a fault.
    pub fault: Bit,
    /// Its assertion does not hold.
    pub violated: Bit,
    /// It is enabled, or ends in a fault.
    tried: Bit,
    /// The words that it changes, and what they become.
    pub writes: Vec<(usize, Word)>,
}

/// A state, and what can happen in it.
pub struct Frame<'s> {
    /// The state itself.
    pub state: State<'s>,
    /// The events that may be enabled or end in a fault there.
    pub happenings: Vec<Happening>,
    /// Everybody may move: this is a state of the model.
    pub free: Bit,
    /// A process that must go on by itself cannot.
    pub stuck: Bit,
    /// Some event is enabled or ends in a fault.
    pub tried: Bit,
}

impl<'s> Frame<'s> {
    /// Works out what can happen in a state.
    pub fn new(circuit: &mut Circuit, mut state: State<'s>) -> Frame<'s> {
        let encoding = state.encoding;
        let mut happenings = Vec::new();
        for (number, event) in encoding.system.events.iter().enumerate() {
            if circuit.is_overfull() {
                break;
            }
            happenings.extend(happening(circuit, &mut state, number as u32, event));
        }
        let mut frame = Frame { state, happenings, free: Bit::TRUE, stuck: Bit::FALSE, tried: Bit::FALSE };
        let turns = frame.turns(circuit);
        frame.allow(circuit, &turns);
        frame
    }

    /// Whose turn it is, where that is not everybody's; says who is free and who is stuck.
    fn turns(&mut self, circuit: &mut Circuit) -> HashMap<ProcessId, Bit> {
        let encoding = self.state.encoding;
        let mut turns = HashMap::new();
        if encoding.holders.is_empty() {
            return turns;
        }
        let holder = self.state.words[encoding.words() - 1].clone();
        self.free = Word::equal(circuit, &holder, &Word::constant(0));
        for (number, then) in encoding.holders.iter().enumerate() {
            let Some(process) = then.exclusive() else { continue };
            let alone = Word::equal(circuit, &holder, &Word::constant(number as i64 + 1));
            let own = |happening: &&Happening| {
                let event = &encoding.system.events[happening.event as usize];
                !event.late && event.moves.first().is_some_and(|m| m.process == process)
            };
            let tried: Vec<Bit> = self.happenings.iter().filter(own).map(|happening| happening.tried).collect();
            let moves = circuit.any(tried);
            let blocked = circuit.and(alone, !moves);
            match then {
                Then::DStep(_) => self.stuck = circuit.or(self.stuck, blocked),
                _ => self.free = circuit.or(self.free, blocked),
            }
            let turn = turns.entry(process).or_insert(Bit::FALSE);
            *turn = circuit.or(*turn, alone);
        }
        turns
    }

    /// Restricts events to where it is their turn.
    fn allow(&mut self, circuit: &mut Circuit, turns: &HashMap<ProcessId, Bit>) {
        let system = self.state.encoding.system;
        let late = |happening: &Happening| system.events[happening.event as usize].late;
        let at_once: Vec<Bit> = self.happenings.iter().filter(|h| !late(h)).map(|h| h.tried).collect();
        let at_once = circuit.any(at_once);
        let any: Vec<Bit> = self.happenings.iter().map(|h| h.tried).collect();
        self.tried = circuit.any(any);
        for happening in &mut self.happenings {
            let event = &system.events[happening.event as usize];
            let turn = event.moves.first().and_then(|m| turns.get(&m.process)).copied().unwrap_or(Bit::FALSE);
            let allowed = match event.late {
                true => circuit.and(self.free, !at_once),
                false => circuit.or(self.free, turn),
            };
            for bit in [&mut happening.fires, &mut happening.fault, &mut happening.violated] {
                *bit = circuit.and(*bit, allowed);
            }
        }
    }
}

/// What an event would do if it were its turn; nothing if it cannot be tried. The state is changed on the way, and is what it
/// was in the end.
fn happening(circuit: &mut Circuit, state: &mut State, number: u32, event: &Event) -> Option<Happening> {
    let (encoding, system) = (state.encoding, state.encoding.system);
    let control = |process: ProcessId| encoding.cells_of(system.processes[process.index()].control).start;
    let places: Vec<Bit> = event
        .moves
        .iter()
        .map(|m| Word::equal(circuit, &state.words[control(m.process)], &Word::constant(m.from as i64)))
        .collect();
    let there = circuit.all(places);
    if there == Bit::FALSE {
        return None;
    }
    let guard = evaluate(circuit, &event.guard, state);
    let guard_fault = circuit.and(there, guard.fault);
    let enabled = guard.holds(circuit);
    let enabled = circuit.and(there, enabled);
    let tried = circuit.or(guard_fault, enabled);
    if tried == Bit::FALSE {
        return None;
    }
    let mut happening =
        Happening { event: number, fires: Bit::FALSE, fault: tried, violated: Bit::FALSE, tried, writes: Vec::new() };
    if event.fault.is_some() || enabled == Bit::FALSE {
        return Some(happening);
    }
    let mut wrong = Bit::FALSE;
    if let Some(assertion) = &event.assertion {
        let Value { word, fault } = evaluate(circuit, assertion, state);
        let holds = word.is_true(circuit);
        let fails = circuit.and(!fault, !holds);
        happening.violated = circuit.and(enabled, fails);
        wrong = fault;
    }
    // What is read in the source state is read before anything changes.
    let early: Vec<Option<Value>> = event
        .effects
        .iter()
        .map(|a| (a.moment == Moment::Source).then(|| evaluate(circuit, &a.value, state)))
        .collect();
    let mut change = Change { state, before: Vec::new() };
    for m in &event.moves {
        change.set(control(m.process), Word::constant(m.to as i64));
    }
    for (a, early) in event.effects.iter().zip(early) {
        let fault = assign(circuit, system, a, early, &mut change);
        wrong = circuit.or(wrong, fault);
    }
    if !encoding.holders.is_empty() {
        change.set(encoding.words() - 1, Word::constant(encoding.holder_after(event)));
    }
    let failed = circuit.and(enabled, wrong);
    happening.fault = circuit.or(guard_fault, failed);
    happening.fires = circuit.and(enabled, !wrong);
    happening.writes = change.undo();
    Some(happening)
}

/// A state while an event changes it.
struct Change<'c, 's> {
    state: &'c mut State<'s>,
    /// The words that were changed and what they were, each time.
    before: Vec<(usize, Word)>,
}

impl Change<'_, '_> {
    fn set(&mut self, at: usize, word: Word) {
        let old = std::mem::replace(&mut self.state.words[at], word);
        self.before.push((at, old));
    }

    /// Makes the state what it was; says which words were changed, and to what.
    fn undo(self) -> Vec<(usize, Word)> {
        let words = &mut self.state.words;
        let mut cells: Vec<usize> = self.before.iter().map(|(at, _)| *at).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut changed: Vec<(usize, Word)> = cells.into_iter().map(|at| (at, words[at].clone())).collect();
        for (at, old) in self.before.into_iter().rev() {
            words[at] = old;
        }
        changed.retain(|(at, word)| words[*at] != *word);
        changed
    }
}

/// Runs an assignment, whose value may have been read early; says where it is a fault.
fn assign(circuit: &mut Circuit, system: &System, a: &Assign, early: Option<Value>, change: &mut Change) -> Bit {
    let domain = system.variables[a.target.index()].domain;
    let value = early.unwrap_or_else(|| evaluate(circuit, &a.value, change.state));
    let mut fault = value.fault;
    if domain.overflow == Overflow::Error {
        let fits = value.word.is_within(circuit, domain.low, domain.high);
        fault = circuit.or(fault, !fits);
    }
    let stored = stored(domain, &value.word);
    let cells = change.state.encoding.cells_of(a.target);
    let Some(index) = &a.index else {
        change.set(cells.start, stored);
        return fault;
    };
    let index = evaluate(circuit, index, change.state);
    let inside = index.word.is_within(circuit, 0, cells.len() as i64 - 1);
    let outside = circuit.or(index.fault, !inside);
    let (low, high) = index.word.hull();
    for at in low.max(0)..=high.min(cells.len() as i64 - 1) {
        let cell = cells.start + at as usize;
        let here = Word::equal(circuit, &index.word, &Word::constant(at));
        let word = Word::choose(circuit, here, &stored, &change.state.words[cell]);
        change.set(cell, word);
    }
    circuit.or(fault, outside)
}

/// What a variable of this domain keeps of a value that is no fault.
fn stored(domain: Domain, value: &Word) -> Word {
    let (low, high) = value.hull();
    if domain.contains(low) && domain.contains(high) {
        return value.clone();
    }
    let (low, high) = match domain.overflow {
        Overflow::Error if low.max(domain.low) <= high.min(domain.high) => (low.max(domain.low), high.min(domain.high)),
        _ => (domain.low, domain.high),
    };
    Word::within(low, high, |i| value.bit(i))
}
