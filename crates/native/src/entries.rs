//! What a state consists of, as people see it: one entry after the other, each with a name, an owner and a value.

use crate::NativeModel;
use scrimp_system::outline::Queue;
use scrimp_system::{Change, Role, VarId, ViewOf};

/// An entry of [`values`](scrimp_system::Describe::values).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// The number of the process that it belongs to.
    pub owner: Option<usize>,
    pub kind: EntryKind,
    /// Where the owner can be one thing or another, which of them has it: see [`NativeModel::instances`].
    pub instance: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// Where its owner is.
    Place,
    Value,
    /// What waits in a channel.
    Channel,
}

/// Where the value of an entry comes from.
enum From<'a> {
    View(&'a ViewOf),
    /// A variable, or an element of an array.
    Cell(VarId, Option<u32>),
    Queue(&'a Queue),
}

impl NativeModel {
    /// The entries of every state, in the order of their values.
    pub fn entries(&self) -> Vec<Entry> {
        let system = &self.program.system;
        let mut entries = Vec::new();
        self.each_entry(|from| {
            entries.push(match from {
                From::View(view) => {
                    Entry { name: view.name.clone(), owner: None, kind: EntryKind::Value, instance: None }
                }
                From::Cell(variable, _) => {
                    let declared = &system.variables[variable.index()];
                    let (owner, kind) = match declared.role {
                        Role::Control(process) => (Some(process.index()), EntryKind::Place),
                        Role::Channel => (declared.owner.map(|p| p.index()), EntryKind::Channel),
                        Role::Data => (declared.owner.map(|p| p.index()), EntryKind::Value),
                    };
                    let instance = system.outline.instances.get(&variable).copied();
                    Entry { name: self.name_of(&from), owner, kind, instance }
                }
                From::Queue(queue) => {
                    let owner = queue.owner.map(|owner| owner.index());
                    let instance = system.outline.instances.get(&queue.length).copied();
                    Entry { name: self.name_of(&from), owner, kind: EntryKind::Channel, instance }
                }
            });
        });
        entries
    }

    fn name_of(&self, from: &From) -> String {
        let system = &self.program.system;
        match from {
            From::View(view) => view.name.clone(),
            From::Cell(variable, None) => system.full_name(*variable),
            From::Cell(variable, Some(index)) => format!("{}[{index}]", system.full_name(*variable)),
            From::Queue(queue) => match queue.owner {
                Some(owner) => format!("{}.{}", system.processes[owner.index()].name, queue.name),
                None => queue.name.clone(),
            },
        }
    }

    /// What waits in the channel that an entry is.
    pub(crate) fn messages_of(&self, state: &[u8], entry: usize) -> Option<Vec<Vec<String>>> {
        let (mut found, mut number) = (None, 0);
        self.each_entry(|from| {
            if let (From::Queue(queue), true) = (&from, number == entry) {
                found = Some(self.messages(state, queue));
            }
            number += 1;
        });
        found
    }

    /// The values of all entries in a state.
    pub fn shown_values(&self, state: &[u8]) -> Vec<String> {
        let mut values = Vec::new();
        self.each_entry(|from| values.push(self.value_of(state, &from)));
        values
    }

    pub(crate) fn changes_between(&self, before: &[u8], after: &[u8]) -> Vec<Change> {
        let mut found = Vec::new();
        let mut number = 0;
        self.each_entry(|from| {
            // Most are equal: text is made of those only that are not.
            let equal = match from {
                From::Cell(variable, index) => {
                    let index = index.unwrap_or(0) as i64;
                    self.read(before, variable, index) == self.read(after, variable, index)
                }
                From::View(view) => {
                    let value = |state| view.value.eval(&|v, index| self.program.layout.read(state, v, index));
                    value(before) == value(after)
                }
                From::Queue(_) => false,
            };
            if !equal {
                let (old, new) = (self.value_of(before, &from), self.value_of(after, &from));
                if old != new {
                    found.push(Change { entry: number, name: self.name_of(&from), before: old, after: new });
                }
            }
            number += 1;
        });
        found
    }

    pub(crate) fn values_in(&self, state: &[u8]) -> Vec<(String, String)> {
        self.entries().into_iter().map(|entry| entry.name).zip(self.shown_values(state)).collect()
    }

    fn value_of(&self, state: &[u8], from: &From) -> String {
        match from {
            From::View(view) => self.shown(state, &view.value, None),
            From::Cell(variable, index) => {
                let value = self.read(state, *variable, index.unwrap_or(0) as i64);
                self.program.system.show_value(*variable, value)
            }
            From::Queue(queue) => {
                let messages = self.messages(state, queue);
                match messages.is_empty() {
                    true => "[]".into(),
                    false => messages.iter().map(|message| format!("[{}]", message.join(","))).collect(),
                }
            }
        }
    }

    /// Places of processes first, then variables, then channels; of a net, its places.
    fn each_entry<'a>(&'a self, mut entry: impl FnMut(From<'a>)) {
        let system = &self.program.system;
        if !system.views.is_empty() {
            return system.views.iter().for_each(|view| entry(From::View(view)));
        }
        // A process of which only one place is left, though it has several, is a claim that was taken out.
        let there = |p: &&scrimp_system::Process| {
            p.locations.len() < 2 || system.variables[p.control.index()].domain.width() > 0
        };
        system.processes.iter().filter(there).for_each(|process| entry(From::Cell(process.control, None)));
        for variable in (0..system.variables.len() as u32).map(VarId) {
            let declared = &system.variables[variable.index()];
            let elsewhere = match declared.role {
                Role::Control(_) => true,
                Role::Channel => !system.outline.queues.is_empty(),
                Role::Data => false,
            };
            match declared.length {
                _ if elsewhere => {}
                None => entry(From::Cell(variable, None)),
                Some(_) => (0..declared.cells() as u32).for_each(|index| entry(From::Cell(variable, Some(index)))),
            }
        }
        system.outline.queues.iter().for_each(|queue| entry(From::Queue(queue)));
    }
}
