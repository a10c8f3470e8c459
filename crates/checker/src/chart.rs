//! Message sequence charts of runs: what each step of a run is in the chart.

use crate::Explorable;
use scrimp_core::PropertyResult;
use scrimp_native::NativeModel;
use scrimp_report::chart::{Chart, Message, Row};
use scrimp_system::{EventCode, FaultRecord, Passed};
use std::collections::BTreeMap;

/// A chart in the making. Its lanes are numbers of processes until it is written.
#[derive(Default, Clone)]
pub struct Drawing {
    rows: Vec<Row>,
    /// For each row, whether it is shown beside messages.
    notable: Vec<bool>,
    /// For each row, the number of its step; and how many steps are over.
    numbers: Vec<usize>,
    steps: usize,
    /// How many rows are before those that happen again and again.
    again: Option<usize>,
    /// Among those are steps that belong to no process.
    unseen: bool,
    /// The names of the processes that took part, by number.
    names: BTreeMap<usize, Vec<String>>,
}

impl Drawing {
    /// The run of a property that has one.
    pub fn of(model: &NativeModel, property: &PropertyResult) -> Option<Drawing> {
        let trace = property.trace.as_ref()?;
        let mut drawing = Drawing::default();
        let fault = property.fault_record();
        let mut before = &trace.initial;
        let steps = trace.single_steps(model, fault);
        let again = property.loop_among(&steps);
        for (i, step) in steps.iter().enumerate() {
            if again == Some(i) {
                drawing.begin_loop();
            }
            drawing.step(model, before, step.event);
            // What is atomic is one step.
            drawing.steps -= usize::from(step.edge.is_none());
            before = &step.state;
        }
        if again == Some(steps.len()) {
            drawing.begin_loop();
        }
        if let Some(record) = fault {
            drawing.fault(model, record);
        }
        Some(drawing)
    }

    /// Adds the step that an event makes in a state.
    pub fn step(&mut self, model: &dyn Explorable, state: &[u8], event: EventCode) {
        self.steps += 1;
        let Some(Shown { row, notable, names }) = row(model, state, event) else {
            self.unseen |= self.again.is_some();
            return;
        };
        names.into_iter().for_each(|(process, name)| self.name(process, name));
        self.notable.push(notable);
        self.numbers.push(self.steps);
        self.rows.push(row);
    }

    /// From here on the steps happen again and again; where none is added, nothing more happens.
    pub fn begin_loop(&mut self) {
        self.again = Some(self.rows.len());
    }

    /// Adds the fault that a run ends in.
    pub fn fault(&mut self, model: &dyn Explorable, record: FaultRecord) {
        let Some(actor) = model.lanes_of(record.event).first().copied() else { return };
        let text = model.event(record.event);
        let name = text.steps.first().map(|s| lane_name(&s.name, s.process));
        self.name(actor, name.unwrap_or_else(|| model.lane_name(actor)));
        self.numbers.push(self.steps + 1);
        self.rows.push(Row::step(actor, model.fault(record)));
        self.notable.push(true);
    }

    /// Notes the name of a process; another name than before counts only for languages where places are taken anew.
    fn name(&mut self, process: usize, name: String) {
        let names = self.names.entry(process).or_default();
        if !names.contains(&name) && (names.is_empty() || name.contains(':')) {
            names.push(name);
        }
    }

    /// Where there are messages, the chart is about them, what is printed and who is started; else it shows every step. Stem
    /// and loop are charts of their own in this.
    pub fn chart(self) -> Chart {
        let lane: BTreeMap<usize, usize> = self.names.keys().enumerate().map(|(lane, p)| (*p, lane)).collect();
        let lanes = self.names.values().map(|names| names.join(" / ")).collect();
        let place = |mut row: Row| {
            row.lane = lane.get(&row.lane).copied()?;
            if let Some(Message::Rendezvous { receiver }) = &mut row.message {
                *receiver = lane.get(receiver).copied()?;
            }
            Some(row)
        };
        let part = |part: Vec<Drawn>| -> Vec<(Row, usize)> {
            let messages = part.iter().any(|drawn| drawn.row.message.is_some());
            let shown = part.into_iter().filter(|drawn| drawn.notable || !messages);
            shown.filter_map(|drawn| Some((place(drawn.row)?, drawn.number))).collect()
        };
        let drawn = |((row, notable), number)| Drawn { row, notable, number };
        let mut stem: Vec<Drawn> = self.rows.into_iter().zip(self.notable).zip(self.numbers).map(drawn).collect();
        let of_loop = stem.split_off(self.again.unwrap_or(stem.len()));
        let mut rows = part(stem);
        // A loop of steps without a lane cannot be drawn, but is not nothing.
        let again = self.again.filter(|_| !(self.unseen && of_loop.is_empty())).map(|_| rows.len());
        rows.extend(part(of_loop));
        let (rows, numbers) = rows.into_iter().unzip();
        Chart { lanes, rows, numbers, again }
    }
}

/// A row that was added.
struct Drawn {
    row: Row,
    notable: bool,
    number: usize,
}

/// What a step is in a chart. Lanes are numbers of processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub row: Row,
    /// It is shown beside messages.
    pub notable: bool,
    /// The processes that take part, by number and name.
    pub names: Vec<(usize, String)>,
}

/// The row of the step that an event makes in a state; `None` where no process makes it.
pub fn row(model: &dyn Explorable, state: &[u8], event: EventCode) -> Option<Shown> {
    let text = model.event(event);
    let actor = *model.lanes_of(event).first()?;
    let mut names: Vec<(usize, String)> = match text.steps.is_empty() {
        false => text.steps.iter().map(|s| (s.process as usize, lane_name(&s.name, s.process))).collect(),
        true => vec![(actor, model.lane_name(actor))],
    };
    let printed = model.printed(state, event).map(|(_, text)| text.trim().to_string());
    let statement = text.steps.first().map(|step| step.statement.clone());
    let notable = printed.is_some() || !text.started.is_empty();
    let label = printed.or(statement).unwrap_or_else(|| text.label.clone());
    let row = match model.passed(state, event) {
        None => Row::step(actor, label),
        Some(passed) => {
            let both = [passed.from, passed.to].into_iter().flatten();
            names.extend(both.map(|process| (process, model.lane_name(process))));
            message(passed, actor, &text.label)
        }
    };
    Some(Shown { notable: notable || row.message.is_some(), row, names })
}

/// What a process of a type is called: `Node:1`, and `init:0` for what Promela calls `:init:`.
pub fn lane_name(kind: &str, number: u32) -> String {
    format!("{}:{number}", kind.trim_matches(':'))
}

/// The row of a step that passes a message. Where its values are not known, the model's own words stand for it.
fn message(passed: Passed, actor: usize, label: &str) -> Row {
    let Passed { channel, queue, from, to, values, position } = passed;
    let (lane, sign, message) = match (from, to) {
        (Some(from), Some(receiver)) => (from, '!', Message::Rendezvous { receiver }),
        (Some(from), None) => (from, '!', Message::Sent { channel: queue, position }),
        (None, Some(to)) => (to, '?', Message::Received { channel: queue, position: position.unwrap_or(0) }),
        (None, None) => return Row::step(actor, label),
    };
    let label = match values.is_empty() {
        true if channel.is_empty() => label.to_string(),
        true => label.split(": ").next().unwrap_or(label).to_string(),
        false => format!("{channel}{sign}{}", values.join(",")),
    };
    Row { lane, label, message: Some(message) }
}
