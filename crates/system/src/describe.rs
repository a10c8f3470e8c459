//! The view that people have of a model: its states and events in words.

use crate::model::{EventCode, FaultRecord, Model};

/// A model in words: what traces, charts, reports and the explorer say of its states and events. Searches do without.
pub trait Describe: Sync {
    /// What a trace says of the event with this code.
    fn event(&self, code: EventCode) -> EventText;

    /// The state as names and values, always in the same order, so that two states can be compared entry by entry.
    fn values(&self, state: &[u8]) -> Vec<(String, String)>;

    /// The entries of [`values`](Describe::values) that differ between two states.
    fn changes(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        let pairs = self.values(before).into_iter().zip(self.values(after)).enumerate();
        let change = |(entry, ((name, before), (_, after)))| Change { entry, name, before, after };
        pairs.filter(|(_, (before, after))| before != after).map(change).collect()
    }

    /// A fault as a person reads it.
    fn fault(&self, record: FaultRecord) -> String {
        record.fault.to_string()
    }

    /// The single steps of an edge, where it stands for several: each event with the state that it leads to, the last one
    /// being the successor. What lies between is no state of the model.
    fn steps(&self, state: &[u8], code: EventCode, successor: &[u8]) -> Vec<(EventCode, Vec<u8>)> {
        let _ = state;
        vec![(code, successor.to_vec())]
    }

    /// The single steps from a state that was expanded to where the event of one of its faults was tried; none where that
    /// is the state itself.
    fn steps_to_fault(&self, state: &[u8], record: FaultRecord) -> Vec<(EventCode, Vec<u8>)> {
        let _ = (state, record);
        Vec::new()
    }

    /// Where each process stands in a state, those that exist, in the order of their numbers; nothing where that is not
    /// told apart from the values.
    fn standing(&self, state: &[u8]) -> Vec<Standing> {
        let _ = state;
        Vec::new()
    }

    /// Does this entry of [`values`](Describe::values) say where a process is, which a step's own text says already?
    fn is_place(&self, entry: usize) -> bool {
        let _ = entry;
        false
    }

    /// What waits in a channel, message by message, where this entry of [`values`](Describe::values) is one.
    fn messages(&self, state: &[u8], entry: usize) -> Option<Vec<Vec<String>>> {
        let _ = (state, entry);
        None
    }

    /// Does a state as a whole leave out what is zero, as markings of nets do?
    fn leaves_out_zeros(&self) -> bool {
        false
    }

    /// What the event with this code prints when it happens in `state`, and the number of the process that does.
    fn printed(&self, state: &[u8], code: EventCode) -> Option<(u32, String)> {
        let _ = (state, code);
        None
    }

    /// The names of the processes, in the order of their numbers; nothing where there are none, or where only events name
    /// them.
    fn processes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The message that the event with this code passes on when it happens in `state`.
    fn passed(&self, state: &[u8], code: EventCode) -> Option<Passed> {
        let _ = (state, code);
        None
    }
}

/// A model that can be searched and shown.
pub trait DescribedModel: Model + Describe {}

impl<M: Model + Describe + ?Sized> DescribedModel for M {}

/// An entry of a state that has become another in the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its number among the entries.
    pub entry: usize,
    pub name: String,
    pub before: String,
    pub after: String,
}

/// An event as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventText {
    pub label: String,
    /// The processes that take part.
    pub processes: Vec<String>,
    /// Line in the model's text, 0 when there is none, and that line.
    pub line: u32,
    pub source: String,
    /// The file of that line.
    pub file: String,
    /// What each process does, where the label alone does not say that.
    pub steps: Vec<StepText>,
    /// The processes that the event starts, by number and name.
    pub started: Vec<(u32, String)>,
}

/// What one process does in an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepText {
    /// The number of the process, and the name of its type.
    pub process: u32,
    pub name: String,
    pub file: String,
    pub line: u32,
    /// The number that the language's own tool has for the statement.
    pub number: u32,
    pub statement: String,
    /// The process is gone afterwards.
    pub last: bool,
}

/// A message that an event passes on, as a chart shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Passed {
    /// The channel's name, such as people read it; empty where the message is called what its event is called.
    pub channel: String,
    /// What tells the channel from all others.
    pub queue: String,
    /// Numbers of processes; one of them is missing where the message waits in the channel.
    pub from: Option<usize>,
    pub to: Option<usize>,
    /// Its fields, in words.
    pub values: Vec<String>,
    /// The message's place among those in the channel, where it is put there or taken out; unknown where the language does
    /// not say what is in a channel, which is then first in, first out.
    pub position: Option<usize>,
}

/// Where a process is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// The number of the process, and the name of its type.
    pub process: u32,
    pub name: String,
    pub file: String,
    pub line: u32,
    /// The number that the language's own tool has for the place.
    pub number: u32,
    /// It may stay there for ever.
    pub end: bool,
    /// The statements that it could execute there.
    pub statements: Vec<String>,
}
