//! What is known of variables before any search: those that never change, and which channels a channel variable can be.
//!
//! A value that an instance never changes after it starts is a constant of that instance, so it takes no room in a state,
//! and an operation on a channel is one on a channel that is known. The analysis ignores the order of statements.

use super::core::{Access, Field, LeafInitial, Program, Scalar, Statement, Value, Variable, VariableId};
use super::instances::{Instance, Instances, Launch};
use std::collections::BTreeSet;

/// Values that are told apart before a variable counts as unknown.
const MAX_VALUES: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// These are its values, cell by cell, always.
    Cells(Vec<i64>),
    /// Every cell has one of these at any time.
    Values(BTreeSet<i64>),
    Anything,
}

/// What is known of each leaf of each variable.
pub(crate) type Leaves = Vec<Vec<Known>>;

#[derive(Debug)]
pub(crate) struct Knowledge {
    pub globals: Leaves,
    /// For each instance.
    pub locals: Vec<Leaves>,
    /// The values of the fields of messages that are channels: for each channel type and field.
    fields: Vec<Vec<Known>>,
    /// The proctype of each instance.
    processes: Vec<usize>,
    /// The number and the type of each channel.
    channels: Vec<(u32, usize)>,
}

impl Known {
    fn nothing() -> Known {
        Known::Values(BTreeSet::new())
    }

    fn one(value: i64) -> Known {
        Known::Values(BTreeSet::from([value]))
    }

    /// All values together; `None` when there may be any.
    pub fn values(&self) -> Option<BTreeSet<i64>> {
        match self {
            Known::Cells(cells) => Some(cells.iter().copied().collect()),
            Known::Values(values) => Some(values.clone()),
            Known::Anything => None,
        }
    }

    /// Adds values; says whether that changed anything.
    fn add(&mut self, more: &Known) -> bool {
        if *self == Known::Anything {
            return false;
        }
        let merged = match (self.values(), more.values()) {
            (Some(mut all), Some(more)) => {
                all.extend(more);
                if all.len() > MAX_VALUES { Known::Anything } else { Known::Values(all) }
            }
            _ => Known::Anything,
        };
        let changed = merged.values() != self.values();
        if changed {
            *self = merged;
        }
        changed
    }
}

impl Knowledge {
    pub fn new(program: &Program, instances: &Instances) -> Knowledge {
        let mut next = 0;
        let assigned = assigned_globals(program);
        let globals = begin(&program.globals, &|v, l| assigned.contains(&(v, l)), &mut next);
        let mut locals = Vec::new();
        for instance in &instances.all {
            let process = &program.processes[instance.process];
            let assigned = assigned_locals(program, instance.process);
            let mut next = instance.channels;
            locals.push(begin(&process.locals, &|v, l| assigned.contains(&(v, l)), &mut next));
        }
        let fields = program.channels.iter().map(|c| vec![Known::nothing(); c.fields.len()]).collect();
        let processes = instances.all.iter().map(|i| i.process).collect();
        let channels = instances.channels(program).into_iter().map(|c| (c.id, c.kind)).collect();
        let mut knowledge = Knowledge { globals, locals, fields, processes, channels };
        let initial = program.active.len();
        for (number, instance) in instances.all.iter().enumerate() {
            // Parameters of the processes that exist at first are zero.
            if instance.slot < initial && program.active[instance.slot] == instance.process {
                for v in 0..program.processes[instance.process].parameters {
                    knowledge.locals[number][v][0].add(&Known::one(0));
                }
            }
        }
        while knowledge.round(program, instances) {}
        knowledge
    }

    pub fn leaf(&self, instance: Option<usize>, variable: VariableId, leaf: usize) -> &Known {
        static ANYTHING: Known = Known::Anything;
        match (variable, instance) {
            (VariableId::Global(v), _) => &self.globals[v][leaf],
            (VariableId::Local(v), Some(instance)) => &self.locals[instance][v][leaf],
            (VariableId::Local(_), None) => &ANYTHING,
        }
    }

    fn leaf_mut(&mut self, instance: usize, access: &Access) -> &mut Known {
        match access.variable {
            VariableId::Global(v) => &mut self.globals[v][access.leaf],
            VariableId::Local(v) => &mut self.locals[instance][v][access.leaf],
        }
    }

    /// The values that an access can have.
    pub fn access(&self, instance: Option<usize>, slot: i64, access: &Access, dimensions: &[u32]) -> Known {
        let known = self.leaf(instance, access.variable, access.leaf);
        let Known::Cells(cells) = known else { return known.clone() };
        let mut cell = 0usize;
        for (index, dimension) in access.indices.iter().zip(dimensions) {
            match self.constant(instance, slot, index) {
                Some(i) if (0..*dimension as i64).contains(&i) => cell = cell * *dimension as usize + i as usize,
                Some(_) => return Known::Anything,
                None => return Known::Values(cells.iter().copied().collect()),
            }
        }
        cells.get(cell).map_or(Known::Anything, |value| Known::one(*value))
    }

    /// The value of an expression, if it is always the same.
    pub fn constant(&self, instance: Option<usize>, slot: i64, value: &Value) -> Option<i64> {
        match value {
            Value::Number(n) => Some(*n),
            Value::Pid => instance.map(|_| slot),
            Value::Read(access) => match self.leaf(instance, access.variable, access.leaf) {
                Known::Cells(cells) if access.indices.is_empty() => cells.first().copied(),
                Known::Values(values) if values.len() == 1 && access.indices.is_empty() => values.first().copied(),
                _ => None,
            },
            Value::Unary(op, a) => Some(op.apply(self.constant(instance, slot, a)?) as i32 as i64),
            Value::Binary(op, a, b) => {
                let (a, b) = (self.constant(instance, slot, a)?, self.constant(instance, slot, b)?);
                op.apply(a, b).ok().map(|value| value as i32 as i64)
            }
            _ => None,
        }
    }

    fn value(&self, program: &Program, instance: Option<usize>, slot: i64, value: &Value) -> Known {
        if let Some(constant) = self.constant(instance, slot, value) {
            return Known::one(constant);
        }
        match value {
            Value::Read(access) => {
                let variable = match (access.variable, instance) {
                    (VariableId::Global(v), _) => &program.globals[v],
                    (VariableId::Local(v), Some(instance)) => &program.processes[self.processes[instance]].locals[v],
                    (VariableId::Local(_), None) => return Known::Anything,
                };
                self.access(instance, slot, access, &variable.leaves[access.leaf].dimensions)
            }
            Value::Conditional(_, a, b) => {
                let mut either = self.value(program, instance, slot, a);
                either.add(&self.value(program, instance, slot, b));
                either
            }
            _ => Known::Anything,
        }
    }

    /// One pass over all statements of all instances.
    fn round(&mut self, program: &Program, instances: &Instances) -> bool {
        let mut changed = false;
        for (v, variable) in program.globals.iter().enumerate() {
            for (l, leaf) in variable.leaves.iter().enumerate() {
                // What a global variable begins with may be another one's value.
                if let LeafInitial::Value(value) = &leaf.initial
                    && value.number().is_none()
                {
                    let known = stored(&self.value(program, None, 0, value), &leaf.scalar);
                    changed |= self.globals[v][l].add(&known);
                }
            }
        }
        for (number, instance) in instances.all.iter().enumerate() {
            let slot = instance.slot as i64;
            let process = &program.processes[instance.process];
            for (v, variable) in process.locals.iter().enumerate() {
                for (l, leaf) in variable.leaves.iter().enumerate() {
                    // What a local variable begins with may depend on parameters.
                    if let LeafInitial::Value(value) = &leaf.initial
                        && value.number().is_none()
                    {
                        let known = stored(&self.value(program, Some(number), slot, value), &leaf.scalar);
                        changed |= self.locals[number][v][l].add(&known);
                    }
                }
            }
            let alternatives = process.flow.states.iter().flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives);
            for alternative in alternatives {
                changed |= self.statement(program, instances, number, &alternative.action.statement);
            }
        }
        for launch in &instances.launches {
            changed |= self.launch(program, instances, launch);
        }
        changed
    }

    fn statement(&mut self, program: &Program, instances: &Instances, number: usize, statement: &Statement) -> bool {
        let mut changed = false;
        let slot = instances.all[number].slot as i64;
        match statement {
            Statement::Assign(access, value) => {
                let known = match value.any(|v| matches!(v, Value::Run { .. })) {
                    true => Known::Anything,
                    false => self.value(program, Some(number), slot, value),
                };
                changed |= self.leaf_mut(number, access).add(&known);
            }
            Statement::Send { channel, arguments, .. } => {
                for kind in self.types(program, instances, number, channel) {
                    for (field, scalar) in program.channels[kind].fields.iter().enumerate() {
                        if *scalar == Scalar::Chan {
                            // What the statement has too few values for is zero.
                            let known = arguments.get(field).map(|a| self.value(program, Some(number), slot, a));
                            let known = known.unwrap_or(Known::one(0));
                            changed |= self.fields[kind][field].add(&stored(&known, scalar));
                        }
                    }
                }
            }
            Statement::Receive { channel, arguments, .. } => {
                for kind in self.types(program, instances, number, channel) {
                    for (field, argument) in arguments.iter().enumerate() {
                        if let Field::Store(access) = argument
                            && field < self.fields[kind].len()
                        {
                            let known = match program.channels[kind].fields[field] {
                                Scalar::Chan => self.fields[kind][field].clone(),
                                _ => Known::Anything,
                            };
                            changed |= self.leaf_mut(number, access).add(&known);
                        }
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// A new process gets its parameters.
    fn launch(&mut self, program: &Program, instances: &Instances, launch: &Launch) -> bool {
        let find = |wanted: &Instance| instances.all.iter().position(|i| i == wanted);
        let (Some(from), Some(to)) = (find(&launch.from), find(&launch.to)) else { return false };
        let Some(run) = launch.run(program) else { return false };
        let mut changed = false;
        for (parameter, argument) in run.iter().enumerate() {
            let scalar = &program.processes[launch.to.process].locals[parameter].leaves[0].scalar;
            let known = stored(&self.value(program, Some(from), launch.from.slot as i64, argument), scalar);
            changed |= self.locals[to][parameter][0].add(&known);
        }
        changed
    }

    /// The types of the channels that an access can be.
    fn types(&self, program: &Program, instances: &Instances, number: usize, channel: &Access) -> Vec<usize> {
        let known = self.value(program, Some(number), instances.all[number].slot as i64, &Value::Read(channel.clone()));
        match known.values() {
            None => (0..program.channels.len()).collect(),
            Some(values) => {
                let possible = self.channels.iter().filter(|(id, _)| values.contains(&(*id as i64)));
                let types: BTreeSet<usize> = possible.map(|(_, kind)| *kind).collect();
                types.into_iter().collect()
            }
        }
    }
}

/// What is known of variables when they begin. Channels are numbered from `next` on.
fn begin(variables: &[Variable], assigned: &dyn Fn(usize, usize) -> bool, next: &mut u32) -> Leaves {
    let mut all = Vec::new();
    for (v, variable) in variables.iter().enumerate() {
        let mut leaves = Vec::new();
        for (l, leaf) in variable.leaves.iter().enumerate() {
            let cells = leaf.cells() as usize;
            let initial = match &leaf.initial {
                LeafInitial::Zero => Some(vec![0; cells]),
                LeafInitial::Value(value) => value.number().map(|n| vec![leaf.scalar.keep(n); cells]),
                LeafInitial::List(list) => {
                    let numbers: Option<Vec<i64>> = list.iter().map(Value::number).collect();
                    numbers.map(|numbers| {
                        let at = |i: usize| numbers.get(i).or(numbers.last()).copied().unwrap_or(0);
                        (0..cells).map(|i| leaf.scalar.keep(at(i))).collect()
                    })
                }
                LeafInitial::Channel(_) => {
                    let first = *next as i64 + 1;
                    *next += cells as u32;
                    Some((first..first + cells as i64).collect())
                }
            };
            leaves.push(match (assigned(v, l), initial) {
                _ if variable.parameter && assigned(v, l) && leaf.scalar != Scalar::Chan => Known::Anything,
                _ if variable.parameter => Known::nothing(),
                (false, Some(cells)) => Known::Cells(cells),
                (false, None) => Known::nothing(),
                (true, Some(cells)) if leaf.scalar == Scalar::Chan => Known::Values(cells.into_iter().collect()),
                (true, None) if leaf.scalar == Scalar::Chan => Known::nothing(),
                (true, _) => Known::Anything,
            });
        }
        all.push(leaves);
    }
    all
}

/// What is kept of values when they are stored.
fn stored(known: &Known, scalar: &Scalar) -> Known {
    match known.values() {
        None => Known::Anything,
        Some(values) => Known::Values(values.into_iter().map(|v| scalar.keep(v)).collect()),
    }
}

fn targets(statement: &Statement) -> Vec<&Access> {
    match statement {
        Statement::Assign(access, _) => vec![access],
        Statement::Receive { arguments, .. } => {
            let stores = arguments.iter().filter_map(|a| match a {
                Field::Store(access) => Some(access),
                _ => None,
            });
            stores.collect()
        }
        _ => vec![],
    }
}

fn assigned_globals(program: &Program) -> BTreeSet<(usize, usize)> {
    let mut assigned = BTreeSet::new();
    for process in &program.processes {
        for alternative in process.flow.states.iter().flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives) {
            for access in targets(&alternative.action.statement) {
                if let VariableId::Global(v) = access.variable {
                    assigned.insert((v, access.leaf));
                }
            }
        }
    }
    assigned
}

pub(crate) fn assigned_locals(program: &Program, process: usize) -> BTreeSet<(usize, usize)> {
    let mut assigned = BTreeSet::new();
    let flow = &program.processes[process].flow;
    for alternative in flow.states.iter().flat_map(|s| &s.transitions).flat_map(|t| &t.alternatives) {
        for access in targets(&alternative.action.statement) {
            if let VariableId::Local(v) = access.variable {
                assigned.insert((v, access.leaf));
            }
        }
    }
    assigned
}
