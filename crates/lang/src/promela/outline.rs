//! What traces show of a program: its statements, where its processes stand, and names for values.

use super::channels::Queue;
use super::core::{Access, Action, Proctype, Scalar, Statement, Value};
use super::lower::Lowering;
use super::values::Context;
use crate::lines::Lines;
use scrimp_system::{VarId, outline};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The numbers of statements, by process type and statement.
pub(crate) type Numbers = HashMap<(usize, *const Action), u32>;

/// The table with the names of channels; those of the kinds of mtype follow.
const CHANNELS: u32 = 0;

impl Lowering<'_> {
    /// Lists all statements, in the order of SPIN's numbers.
    pub fn outline_statements(&mut self) -> Numbers {
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        let mut numbers = Numbers::new();
        for (p, process) in self.program.processes.iter().enumerate() {
            let alternatives = process.flow.states.iter().flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives);
            let alive = alternatives.map(|a| (a.action.clone(), a.number));
            let mut all: Vec<(Arc<Action>, u32)> = alive.chain(process.flow.dead.iter().cloned()).collect();
            all.sort_by_key(|(_, number)| *number);
            for (action, number) in all {
                let statements = &mut self.system.outline.statements;
                let known = *numbers.entry((p, Arc::as_ptr(&action))).or_insert(statements.len() as u32);
                if known as usize == statements.len() {
                    statements.push(outline::Statement {
                        process: shown_name(process),
                        text: action.text.clone(),
                        number,
                        span: lines.span(action.place),
                        passes: is_jump(&action),
                    });
                }
            }
        }
        numbers
    }

    /// Says what the locations of each process are.
    pub fn outline_places(&mut self) {
        let source = self.program.source.clone();
        let mut lines = Lines::of(&source);
        let (process, span) = (String::new(), scrimp_system::Span::default());
        let nobody = outline::Place { process, number: 0, span, end: true, instance: u32::MAX };
        let mut places: Vec<Vec<outline::Place>> =
            self.system.processes.iter().map(|process| vec![nobody.clone(); process.locations.len()]).collect();
        for instance in 0..self.instances.all.len() {
            let slot = self.instance(instance).slot;
            let process = &self.program.processes[self.instance(instance).process];
            for (number, state) in process.flow.states.iter().enumerate() {
                places[slot][self.location(instance, number) as usize] = outline::Place {
                    process: shown_name(process),
                    number: state.number,
                    span: lines.span(state.place),
                    end: state.valid_end,
                    instance: instance as u32,
                };
            }
        }
        self.system.outline.places = places;
    }

    /// Makes the tables of names; those of variables refer to them as they are added.
    pub fn outline_names(&mut self) {
        let mut channels: BTreeMap<i64, String> = BTreeMap::new();
        for number in 0..self.queues.len() {
            let (name, Queue { id, name: short, .. }) = (self.channel_name(number), &self.queues[number]);
            let known = channels.entry(*id as i64).or_insert_with(|| name.clone());
            // The same number, at different times, for channels of different processes.
            if *known != name {
                *known = format!("{short}#{id}");
            }
        }
        let mut tables = vec![channels];
        for kind in self.kinds() {
            let members = self.program.mtypes.iter().filter(|m| m.kind == kind);
            tables.push(members.map(|m| (m.value, m.name.to_string())).collect());
        }
        self.system.outline.names = tables;
    }

    /// What a channel is called: by its name alone where no other has it, else with its owner, as values show it.
    pub fn channel_name(&self, queue: usize) -> String {
        let Queue { name, instance, id, .. } = &self.queues[queue];
        let slot = |instance: Option<usize>| instance.map(|instance| self.instance(instance).slot);
        let own = slot(*instance);
        let another = |other: &Queue| other.name == *name && (other.id != *id || slot(other.instance) != own);
        match own.filter(|_| self.queues.iter().any(another)) {
            Some(slot) => format!("{}.{name}", self.system.processes[slot].name),
            None => name.clone(),
        }
    }

    /// The kinds of mtype, the nameless one first.
    fn kinds(&self) -> Vec<Option<Arc<str>>> {
        let mut kinds = vec![None];
        for mtype in &self.program.mtypes {
            if !kinds.contains(&mtype.kind) {
                kinds.push(mtype.kind.clone());
            }
        }
        kinds
    }

    /// The table for values of this type.
    pub fn table(&self, scalar: &Scalar) -> Option<u32> {
        match scalar {
            Scalar::Chan => Some(CHANNELS),
            Scalar::Mtype(kind) => {
                let number = self.kinds().iter().position(|other| other == kind)?;
                Some(CHANNELS + 1 + number as u32)
            }
            _ => None,
        }
    }

    /// Values of this variable are shown by the table for its type.
    pub fn show_by(&mut self, variable: VarId, scalar: &Scalar) {
        if let Some(table) = self.table(scalar) {
            self.system.outline.shown_by.insert(variable, table);
        }
    }

    /// The table for a value to print: by what it is read from; a number may be of any kind that has it.
    pub fn printed_by(&self, value: &Value, context: Context) -> Option<u32> {
        let of_access = |access: &Access| self.table(self.scalar(access, context.instance));
        match value {
            Value::Read(access) => of_access(access).or(Some(CHANNELS + 1)),
            Value::Number(number) => {
                let kinds = self.kinds();
                let has =
                    |kind: &Option<Arc<str>>| self.program.mtypes.iter().any(|m| m.kind == *kind && m.value == *number);
                kinds.iter().position(has).map(|place| CHANNELS + 1 + place as u32)
            }
            _ => Some(CHANNELS + 1),
        }
    }

    /// The tables for the fields of a channel's messages.
    pub fn field_tables(&self, queue: usize) -> Vec<Option<u32>> {
        let fields = &self.program.channels[self.queues[queue].kind].fields;
        fields.iter().map(|scalar| self.table(scalar)).collect()
    }
}

/// SPIN's name for it.
fn shown_name(process: &Proctype) -> String {
    if process.is_init { ":init:".into() } else { process.name.to_string() }
}

/// Only leads elsewhere.
fn is_jump(action: &Action) -> bool {
    matches!(action.statement, Statement::Nothing) && action.text != "(1)"
}
