//! What a model tells of its states and events, for traces, simulations and charts.

use crate::NativeModel;
use crate::interpret::Interpreter;
use scrimp_system::outline::{Place, Queue};
use scrimp_system::{
    Describe, Event, EventCode, EventText, Expr, Fault, FaultRecord, Passed, Span, Standing, StepText, VarId,
};

impl NativeModel {
    pub(crate) fn event_of(&self, code: EventCode) -> Option<&Event> {
        self.parts(code).0.and_then(|number| self.program.system.events.get(number as usize))
    }

    pub(crate) fn read(&self, state: &[u8], variable: VarId, index: i64) -> i64 {
        let low = self.program.system.variables[variable.index()].domain.low;
        self.program.layout.read(state, variable, index).unwrap_or(low)
    }

    /// What is read in a state, with its name where it has one.
    pub(crate) fn shown(&self, state: &[u8], value: &Expr, table: Option<u32>) -> String {
        match value.eval(&|variable, index| self.program.layout.read(state, variable, index)) {
            Ok(value) => match self.program.system.outline.name(table, value) {
                Some(name) => name.to_string(),
                None => value.to_string(),
            },
            Err(_) => "?".to_string(),
        }
    }

    /// What is wrong with the event with this code in `state`, where it asserts what does not hold there.
    pub fn violated(&self, state: &[u8], code: EventCode) -> Option<String> {
        let event = self.event_of(code)?;
        let holds = event.assertion.as_ref()?.eval(&|v, index| self.program.layout.read(state, v, index));
        let record = FaultRecord { event: code, fault: Fault::Assertion };
        (holds == Ok(0)).then(|| self.fault(record))
    }

    /// The numbers of the processes that move in an event, first the one that the event is called by.
    pub fn movers(&self, code: EventCode) -> Vec<usize> {
        self.event_of(code).map_or(Vec::new(), |event| event.moves.iter().map(|step| step.process.index()).collect())
    }

    pub(crate) fn message_passed(&self, state: &[u8], code: EventCode) -> Option<Passed> {
        let message = self.event_of(code)?.message.as_ref()?;
        let table = |i: usize| message.shown_by.get(i).copied().flatten();
        let values: Vec<String> =
            message.values.iter().enumerate().map(|(i, value)| self.shown(state, value, table(i))).collect();
        let queue = message.queue.and_then(|number| self.program.system.outline.queues.get(number as usize));
        let position = queue.and_then(|queue| match (message.from, message.to) {
            (Some(_), None) => Some(self.put(state, code, queue)),
            (None, Some(_)) => self.messages(state, queue).iter().position(|other| *other == values),
            _ => None,
        });
        let number = |process: scrimp_system::ProcessId| process.index();
        let (from, to) = (message.from.map(number), message.to.map(number));
        let channel = message.channel.clone();
        let queue = message.queue.map_or_else(|| channel.clone(), |number| number.to_string());
        Some(Passed { channel, queue, from, to, values, position })
    }

    /// Where the message that an event sends comes to stand: before larger ones, where the send is a sorted one.
    fn put(&self, state: &[u8], code: EventCode, queue: &Queue) -> usize {
        let before = self.messages(state, queue);
        let after = self.parts(code).0.and_then(|event| Interpreter::new(&self.program).single(event, state));
        let after = after.map_or(Vec::new(), |after| self.messages(&after, queue));
        before.iter().zip(&after).position(|(one, other)| one != other).unwrap_or(before.len())
    }

    pub(crate) fn messages(&self, state: &[u8], queue: &Queue) -> Vec<Vec<String>> {
        let system = &self.program.system;
        let field = |at: i64| {
            let value = |field: &VarId| system.show_value(*field, self.read(state, *field, at));
            queue.fields.iter().map(value).collect()
        };
        (0..self.read(state, queue.length, 0)).map(field).collect()
    }

    pub(crate) fn text_printed(&self, state: &[u8], code: EventCode) -> Option<(u32, String)> {
        let event = self.event_of(code)?;
        let print = event.print.as_ref()?;
        let process = event.moves.first().map_or(0, |step| step.process.0);
        let read = |value: &Expr| value.eval(&|v, index| self.program.layout.read(state, v, index)).unwrap_or(0);
        let mut values = print.values.iter().zip(&print.shown_by);
        let mut out = String::new();
        let mut characters = print.format.chars();
        while let Some(c) = characters.next() {
            match c {
                '"' => {}
                '\\' => match characters.next() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some(other) => out.push(other),
                    None => {}
                },
                '%' => match characters.next() {
                    Some('%') | None => out.push('%'),
                    Some(conversion) => {
                        let Some((value, table)) = values.next() else { continue };
                        let number = read(value) as i32;
                        match conversion {
                            'c' => out.push(char::from(number as u8)),
                            'e' => out.push_str(&self.shown(state, value, *table)),
                            'o' => out.push_str(&format!("{number:o}")),
                            'u' => out.push_str(&(number as u32).to_string()),
                            'x' => out.push_str(&format!("{number:x}")),
                            _ => out.push_str(&number.to_string()),
                        }
                    }
                },
                c => out.push(c),
            }
        }
        Some((process, out))
    }

    /// What each process is in a state, where processes come and go; nothing where it is not there.
    pub fn instances(&self, state: &[u8]) -> Vec<Option<u32>> {
        let system = &self.program.system;
        let instance = |(process, places): (&scrimp_system::Process, &Vec<Place>)| {
            let place = places.get(usize::try_from(self.read(state, process.control, 0)).ok()?)?;
            (!place.process.is_empty()).then_some(place.instance)
        };
        system.processes.iter().zip(&system.outline.places).map(instance).collect()
    }

    pub(crate) fn standing_in(&self, state: &[u8]) -> Vec<Standing> {
        let system = &self.program.system;
        let mut all = Vec::new();
        for (number, (process, places)) in system.processes.iter().zip(&system.outline.places).enumerate() {
            let location = self.read(state, process.control, 0);
            let Some(place) = usize::try_from(location).ok().and_then(|location| places.get(location)) else {
                continue;
            };
            if place.process.is_empty() {
                continue;
            }
            let own = |event: &&Event| {
                let here = |m: &scrimp_system::Move| m.process.index() == number && m.from as i64 == location;
                event.moves.iter().take(event.statements.len()).any(here)
            };
            let mut statements: Vec<String> = Vec::new();
            for event in system.events.iter().filter(own) {
                for (step, statement) in event.moves.iter().zip(&event.statements) {
                    let text = &system.outline.statements[*statement as usize].text;
                    if step.process.index() == number && !statements.contains(text) {
                        statements.push(text.clone());
                    }
                }
            }
            all.push(Standing {
                process: number as u32,
                name: place.process.clone(),
                file: system.source.file_name(place.span.part).to_string(),
                line: place.span.line,
                number: place.number,
                end: place.end,
                statements,
            });
        }
        all
    }

    /// What each process does in an event, where the language says so.
    fn step_texts(&self, event: &Event) -> Vec<StepText> {
        let system = &self.program.system;
        let text = |(step, statement): (&scrimp_system::Move, &u32)| {
            let statement = system.outline.statements.get(*statement as usize)?;
            Some(StepText {
                process: step.process.0,
                name: statement.process.clone(),
                file: system.source.file_name(statement.span.part).to_string(),
                line: statement.span.line,
                number: statement.number,
                statement: statement.text.clone(),
                last: step.to == 0,
            })
        };
        event.moves.iter().zip(&event.statements).filter_map(text).collect()
    }

    fn started(&self, event: &Event) -> Vec<(u32, String)> {
        let place = |step: &scrimp_system::Move| {
            let places = self.program.system.outline.places.get(step.process.index())?;
            let place = places.get(step.to as usize)?;
            (step.from == 0).then(|| (step.process.0, place.process.clone()))
        };
        match event.statements.len() {
            0 => Vec::new(),
            acting => event.moves.iter().skip(acting).filter_map(place).collect(),
        }
    }

    pub(crate) fn text_of(&self, code: EventCode) -> EventText {
        let system = &self.program.system;
        let claim_move = self.parts(code).1;
        let mut text = EventText::default();
        let mut span = Span::default();
        if let Some(event) = self.event_of(code) {
            text.label = event.label.clone();
            text.processes = event.moves.iter().map(|m| system.processes[m.process.index()].name.clone()).collect();
            text.steps = self.step_texts(event);
            text.started = self.started(event);
            span = event.span;
        }
        if let Some((claim, number)) = system.claim.as_ref().zip(claim_move)
            && let Some(m) = claim.moves.get(number as usize)
        {
            let process = &system.processes[claim.process.index()];
            let (from, to) = (&process.locations[m.from as usize], &process.locations[m.to as usize]);
            if !text.label.is_empty() {
                text.label.push_str("; ");
            }
            text.label.push_str(&format!("{0}.{from} -> {0}.{to}", process.name));
            text.processes.push(process.name.clone());
            if span.line == 0 {
                span = m.span;
            }
        }
        text.line = span.line;
        if span.line != 0 {
            text.source = shortened(system.source.line(span).trim());
            text.file = system.source.file_name(span.part).to_string();
        }
        text
    }
}

/// Characters of a line that are worth showing: a model may be written on one.
const READABLE: usize = 300;

fn shortened(line: &str) -> String {
    match line.char_indices().nth(READABLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_string(),
    }
}
