//! A model as one looks at it state by state: what walks, charts and the explorer ask beside what a search asks.
//!
//! Model files answer from their text. A model in Rust has no text: [`Plain`] answers from what the model says of its states
//! and events.

mod plain;

pub use plain::Plain;

use scrimp_core::Property;
use scrimp_native::{Entry, EntryKind, NativeModel};
use scrimp_system::Expr;
use scrimp_system::{Batch, DescribedModel, EventCode, Fault};

/// A model that can be looked at. Unless said otherwise it answers as well as any described model can.
pub trait Explorable: DescribedModel {
    /// What people call it.
    fn name(&self) -> String;

    /// What it asks of itself: the names of properties that can be checked.
    fn asks(&self) -> Vec<String>;

    /// What should hold in every state and does not in this one.
    fn violations(&self, state: &[u8]) -> Vec<String>;

    /// What every state consists of, in the order of [`values`](scrimp_system::Describe::values). A value with the name of a process says where
    /// that is, and `process.x` is a value of its own.
    fn entries(&self) -> Vec<Entry> {
        let mut starts = Batch::new(self.state_bytes());
        self.initial(&mut starts);
        let values = if starts.is_empty() { Vec::new() } else { self.values(starts.state(0)) };
        let lanes = self.lanes();
        let entry = |(name, _): (String, String)| {
            let rest = |lane: &String| name.strip_prefix(lane.as_str());
            let owner = lanes.iter().position(|lane| rest(lane).is_some_and(|r| r.is_empty() || r.starts_with('.')));
            let kind = if lanes.contains(&name) { EntryKind::Place } else { EntryKind::Value };
            Entry { name, owner, kind, instance: None }
        };
        values.into_iter().map(entry).collect()
    }

    /// The values of all entries in a state.
    fn shown_values(&self, state: &[u8]) -> Vec<String> {
        self.values(state).into_iter().map(|(_, value)| value).collect()
    }

    /// The names of the processes that are known so far, in the order of their numbers.
    fn lanes(&self) -> Vec<String> {
        self.processes()
    }

    /// The name of a process.
    fn lane_name(&self, lane: usize) -> String {
        self.lanes().into_iter().nth(lane).unwrap_or_else(|| lane.to_string())
    }

    /// The numbers of the processes that take part in an event, first the one that the event is called by.
    fn lanes_of(&self, code: EventCode) -> Vec<usize>;

    /// What is wrong with the event with this code in `state`, where it asserts what does not hold there. The state may be one
    /// that an edge of several steps only passes through.
    fn violated(&self, state: &[u8], code: EventCode) -> Option<String> {
        let mut batch = Batch::new(self.state_bytes());
        self.expand(state, &mut batch);
        let record = batch.faults().iter().find(|record| record.event == code && record.fault == Fault::Assertion);
        record.map(|record| self.fault(*record))
    }

    /// The model file behind it, for all that only a text has: lines, places of processes, nets, claims.
    fn file(&self) -> Option<&NativeModel> {
        None
    }
}

impl Explorable for NativeModel {
    fn name(&self) -> String {
        self.system().source.name.clone()
    }

    fn asks(&self) -> Vec<String> {
        let asked = Property::all(self.system()).into_iter().chain(Property::of_runs(self.system()));
        asked.map(|property| property.name).collect()
    }

    fn violations(&self, state: &[u8]) -> Vec<String> {
        let holds = |property: &Property<Expr>| {
            property.condition().is_none_or(|condition| self.layout().eval(condition, state).unwrap_or(0) != 0)
        };
        let asked = Property::invariants(self.system()).into_iter();
        asked.filter(|property| !holds(property)).map(|property| property.name).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        NativeModel::entries(self)
    }

    fn shown_values(&self, state: &[u8]) -> Vec<String> {
        NativeModel::shown_values(self, state)
    }

    fn lane_name(&self, lane: usize) -> String {
        self.system().processes.get(lane).map_or_else(|| lane.to_string(), |process| process.name.clone())
    }

    fn lanes_of(&self, code: EventCode) -> Vec<usize> {
        self.movers(code)
    }

    fn violated(&self, state: &[u8], code: EventCode) -> Option<String> {
        NativeModel::violated(self, state, code)
    }

    fn file(&self) -> Option<&NativeModel> {
        Some(self)
    }
}
