//! From a program and its instances to a system.
//!
//! Every place of the stack of processes is a process of the system, with the control states of all instances that can be
//! there, and 0 for nobody. What the instances of a place have in variables is zero while they are not there.

use super::channels::Queue;
use super::core::{Access, Flow, Leaf, Program, Scalar, State, Variable, VariableId};
use super::instances::{Initialised, Instance, Instances};
use super::known::{Knowledge, Known};
use super::values::{Bounded, Context};
use crate::diagnostic::{Place, Problem};
use crate::lines::Lines;
use scrimp_system::{Assign, BinaryOp, Domain, Expr, Moment, Overflow, Process, ProcessId, Role, System, VarId};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Where a leaf of a variable is kept.
#[derive(Debug, Clone)]
pub(crate) enum Storage {
    /// It never changes: these are its cells.
    Constant(Arc<[i64]>),
    Variable(VarId),
}

pub(crate) struct Lowering<'p> {
    pub program: &'p Program,
    pub instances: &'p Instances,
    pub knowledge: Knowledge,
    pub system: System,
    globals: Vec<Vec<Storage>>,
    /// For each instance.
    pub(super) locals: Vec<Vec<Vec<Storage>>>,
    pub queues: Vec<Queue>,
    /// The first location of each instance.
    bases: Vec<u32>,
    controls: Vec<VarId>,
    pub last: Option<VarId>,
    /// The priority of whoever is at each place, if priorities change.
    priorities: Vec<VarId>,
    /// The statement being lowered, for problems.
    pub here: Cell<Place>,
    pub receivers: Vec<super::events::Receiver>,
    pub statements: super::outline::Numbers,
}

impl<'p> Lowering<'p> {
    pub fn new(program: &'p Program, instances: &'p Instances) -> Result<Lowering<'p>, Problem> {
        let mut system = System::new(program.source.clone());
        system.warnings = program.warnings.clone();
        let mut lowering = Lowering {
            program,
            instances,
            knowledge: Knowledge::new(program, instances),
            system,
            globals: Vec::new(),
            locals: Vec::new(),
            queues: Vec::new(),
            bases: vec![0; instances.all.len()],
            controls: Vec::new(),
            last: None,
            priorities: Vec::new(),
            here: Cell::new(Place::default()),
            receivers: Vec::new(),
            statements: Default::default(),
        };
        lowering.processes();
        lowering.variables();
        lowering.channels();
        lowering.outline_names();
        lowering.outline_places();
        lowering.statements = lowering.outline_statements();
        for mtype in &program.mtypes {
            let value = scrimp_system::ConstantValue::Number(mtype.value);
            let name = mtype.name.to_string();
            lowering.system.constants.push(scrimp_system::Constant { name, owner: None, value });
        }
        lowering.initial()?;
        Ok(lowering)
    }

    fn processes(&mut self) {
        let mut lines = Lines::of(&self.program.source);
        for slot in 0..self.instances.slots() {
            let here: Vec<usize> = (0..self.instances.all.len()).filter(|i| self.instance(*i).slot == slot).collect();
            let mut locations = vec!["-".to_string()];
            for &instance in &here {
                self.bases[instance] = locations.len() as u32;
                let process = &self.program.processes[self.instance(instance).process];
                let prefix = if here.len() > 1 { format!("{}.", process.name) } else { String::new() };
                let names = location_names(&process.flow, &mut lines);
                locations.extend(names.into_iter().map(|name| format!("{prefix}{name}")));
            }
            let control = VarId(self.system.variables.len() as u32);
            let id = ProcessId(slot as u32);
            let name = self.process_name(slot, &here);
            self.system.variables.push(scrimp_system::Variable {
                name: name.clone(),
                owner: Some(id),
                domain: Domain::range(0, locations.len() as i64 - 1),
                length: None,
                role: Role::Control(id),
            });
            self.controls.push(control);
            let place = here.first().map(|i| self.program.processes[self.instance(*i).process].place);
            let span = lines.span(place.unwrap_or_default());
            self.system.processes.push(Process { name, control, locations, accepting: vec![], span });
        }
    }

    /// The proctype's name, with the number of the process where there are several.
    fn process_name(&self, slot: usize, here: &[usize]) -> String {
        let of = |i: &usize| self.instance(*i).process;
        match here {
            [only] => {
                let process = of(only);
                let name = &self.program.processes[process].name;
                let slots: BTreeSet<usize> =
                    self.instances.all.iter().filter(|i| i.process == process).map(|i| i.slot).collect();
                if slots.len() == 1 { name.to_string() } else { format!("{name}_{slot}") }
            }
            _ => format!("process_{slot}"),
        }
    }

    fn variables(&mut self) {
        if self.program.uses_last {
            self.last = Some(self.add_variable("_last".into(), None, Domain::BYTE, None, Role::Data));
        }
        if self.program.sets_priority {
            for slot in self.slots() {
                let owner = Some(ProcessId(slot as u32));
                let priority = self.add_variable("_priority".into(), owner, Domain::BYTE, None, Role::Data);
                self.priorities.push(priority);
            }
        }
        let globals = &self.program.globals;
        self.globals = self.leaves(globals, None, &self.knowledge.globals.clone());
        for number in 0..self.instances.all.len() {
            let instance = *self.instance(number);
            let variables = &self.program.processes[instance.process].locals;
            let known = self.knowledge.locals[number].clone();
            let storage = self.leaves(variables, Some(number), &known);
            self.locals.push(storage);
        }
    }

    fn add_variable(
        &mut self,
        name: String,
        owner: Option<ProcessId>,
        domain: Domain,
        length: Option<u32>,
        role: Role,
    ) -> VarId {
        self.system.variables.push(scrimp_system::Variable { name, owner, domain, length, role });
        VarId(self.system.variables.len() as u32 - 1)
    }

    fn leaves(&mut self, variables: &[Variable], instance: Option<usize>, known: &[Vec<Known>]) -> Vec<Vec<Storage>> {
        let mut names: HashMap<String, usize> = HashMap::new();
        let owner = instance.map(|i| ProcessId(self.instance(i).slot as u32));
        let several = instance.is_some_and(|i| {
            let slot = self.instance(i).slot;
            self.instances.all.iter().filter(|other| other.slot == slot).count() > 1
        });
        let mut all = Vec::new();
        for (variable, known) in variables.iter().zip(known) {
            let mut leaves = Vec::new();
            let count = names.entry(variable.name.to_string()).and_modify(|n| *n += 1).or_insert(1);
            let mut name = variable.name.to_string();
            if *count > 1 {
                name = format!("{name}_{count}");
            }
            if several && let Some(instance) = instance {
                name = format!("{}.{name}", self.program.processes[self.instance(instance).process].name);
            }
            for (leaf, known) in variable.leaves.iter().zip(known) {
                leaves.push(match known {
                    Known::Cells(cells) => Storage::Constant(cells.clone().into()),
                    // A parameter that is always the same.
                    Known::Values(values)
                        if values.len() == 1 && variable.parameter && !self.is_assigned(instance, variable) =>
                    {
                        let value = values.first().copied().unwrap_or(0);
                        Storage::Constant(vec![value; leaf.cells() as usize].into())
                    }
                    _ => {
                        let full = format!("{name}{}", leaf.suffix);
                        let length = (!leaf.dimensions.is_empty()).then(|| leaf.cells() as u32);
                        let id = self.add_variable(full, owner, domain(&leaf.scalar), length, Role::Data);
                        self.show_by(id, &leaf.scalar);
                        self.belongs_to(id, instance.filter(|_| several));
                        Storage::Variable(id)
                    }
                });
            }
            all.push(leaves);
        }
        all
    }

    fn is_assigned(&self, instance: Option<usize>, variable: &Variable) -> bool {
        let Some(instance) = instance else { return true };
        let process = self.instance(instance).process;
        let locals = &self.program.processes[process].locals;
        let Some(number) = locals.iter().position(|v| std::ptr::eq(v, variable)) else { return true };
        super::known::assigned_locals(self.program, process).iter().any(|(v, _)| *v == number)
    }

    fn channels(&mut self) {
        let found = self.instances.channels(self.program);
        for Initialised { instance, id, kind, name } in &found {
            let kind_of = &self.program.channels[*kind];
            let owner = instance.map(|i| ProcessId(self.instance(i).slot as u32));
            let capacity = kind_of.capacity;
            let mut fields = Vec::new();
            let mut length = None;
            if capacity > 0 {
                let count = Domain::range(0, capacity as i64);
                let count = Domain { overflow: Overflow::Wrap, ..count };
                let count = if count.fills_width() { count } else { Domain::BYTE };
                length = Some(self.add_variable(format!("{name}.len"), owner, count, None, Role::Channel));
                for (number, scalar) in kind_of.fields.clone().iter().enumerate() {
                    let label = match kind_of.fields.len() {
                        1 => format!("{name}.msg"),
                        _ => format!("{name}.{number}"),
                    };
                    let field = self.add_variable(label, owner, domain(scalar), Some(capacity), Role::Channel);
                    self.show_by(field, scalar);
                    fields.push(field);
                }
            }
            let place = length.map(|_| self.system.outline.queues.len() as u32);
            if let Some(length) = length {
                self.belongs_to(length, *instance);
                let (name, fields) = (name.clone(), fields.clone());
                self.system.outline.queues.push(scrimp_system::outline::Queue { name, owner, length, fields });
            }
            let (instance, id, kind, name) = (*instance, *id, *kind, name.clone());
            self.queues.push(Queue { id, kind, capacity, instance, length, fields, name, place });
        }
    }

    /// Says of which instance a variable is.
    fn belongs_to(&mut self, variable: VarId, instance: Option<usize>) {
        if let Some(instance) = instance {
            self.system.outline.instances.insert(variable, instance as u32);
        }
    }

    pub fn instance(&self, number: usize) -> &Instance {
        &self.instances.all[number]
    }

    pub fn find(&self, instance: &Instance) -> Option<usize> {
        self.instances.all.iter().position(|i| i == instance)
    }

    pub fn flow(&self, instance: usize) -> &'p Flow {
        &self.program.processes[self.instance(instance).process].flow
    }

    /// The priority of an instance that exists.
    pub fn priority(&self, instance: usize) -> Expr {
        let instance = self.instance(instance);
        self.priorities.get(instance.slot).map_or(Expr::Const(instance.priority), |v| Expr::Var(*v))
    }

    /// The variable of a place's priority, if priorities change.
    pub fn priority_variable(&self, slot: usize) -> Option<VarId> {
        self.priorities.get(slot).copied()
    }

    pub fn slots(&self) -> Range<usize> {
        0..self.controls.len()
    }

    pub fn control(&self, slot: usize) -> VarId {
        self.controls[slot]
    }

    pub fn location(&self, instance: usize, state: usize) -> u32 {
        self.bases[instance] + state as u32
    }

    /// Somebody is at this place of the stack.
    pub fn alive(&self, slot: usize) -> Expr {
        Expr::not(Expr::equals(self.control(slot), 0))
    }

    /// This instance is the one that is at its place.
    pub fn present(&self, instance: usize) -> Expr {
        let slot = self.instance(instance).slot;
        let control = Expr::Var(self.control(slot));
        let (first, count) = (self.bases[instance] as i64, self.flow(instance).states.len() as i64);
        let from = Expr::binary(BinaryOp::GreaterEqual, control.clone(), Expr::Const(first));
        Expr::and(from, Expr::binary(BinaryOp::Less, control, Expr::Const(first + count)))
    }

    /// Is whoever is at this place in a state of such a kind?
    pub fn slot_flag(&self, slot: usize, flag: impl Fn(&State) -> bool) -> Expr {
        let mut table = vec![0; self.system.processes[slot].locations.len()];
        for number in 0..self.instances.all.len() {
            if self.instance(number).slot == slot {
                for (state, described) in self.flow(number).states.iter().enumerate() {
                    table[self.location(number, state) as usize] = flag(described) as i64;
                }
            }
        }
        match table.iter().any(|flag| *flag != 0) {
            true => Expr::Table(table.into(), Box::new(Expr::Var(self.control(slot)))),
            false => Expr::FALSE,
        }
    }

    pub fn label_exists(&self, process: usize, label: &str) -> bool {
        self.program.processes[process].flow.label_names().any(|name| name == label)
    }

    pub fn storage(&self, variable: VariableId, leaf: usize, instance: Option<usize>) -> &Storage {
        match (variable, instance) {
            (VariableId::Global(v), _) => &self.globals[v][leaf],
            (VariableId::Local(v), Some(instance)) => &self.locals[instance][v][leaf],
            (VariableId::Local(_), None) => unreachable!("claims have no variables"),
        }
    }

    pub fn leaf(&self, access: &Access, instance: Option<usize>) -> &'p Leaf {
        match (access.variable, instance) {
            (VariableId::Global(v), _) => &self.program.globals[v].leaves[access.leaf],
            (VariableId::Local(v), Some(instance)) => {
                &self.program.processes[self.instance(instance).process].locals[v].leaves[access.leaf]
            }
            (VariableId::Local(_), None) => unreachable!("claims have no variables"),
        }
    }

    pub fn scalar(&self, access: &Access, instance: Option<usize>) -> &'p Scalar {
        &self.leaf(access, instance).scalar
    }

    pub fn known_values(&self, access: &Access, context: Context) -> Option<BTreeSet<i64>> {
        let slot = context.instance.map_or(0, |i| self.instance(i).slot) as i64;
        let dimensions = &self.leaf(access, context.instance).dimensions;
        self.knowledge.access(context.instance, slot, access, dimensions).values()
    }

    /// The value that a variable of this type keeps.
    pub fn keep(&self, scalar: &Scalar, value: Bounded) -> Bounded {
        let (low, high) = scalar.range();
        if value.low >= low && value.high <= high {
            return value;
        }
        if let Some(constant) = value.expr.as_const() {
            return Bounded::constant(scalar.keep(constant));
        }
        let expr = match scalar {
            Scalar::Bits(32) | Scalar::Int => value.expr,
            Scalar::Short => {
                let up = Expr::binary(BinaryOp::ShiftLeft, value.expr, Expr::Const(48));
                Expr::binary(BinaryOp::ShiftRight, up, Expr::Const(48))
            }
            _ => Expr::binary(BinaryOp::BitAnd, value.expr, Expr::Const(high)),
        };
        Bounded { expr, low, high }
    }

    /// The assignment of a value to a variable.
    pub fn store(&self, access: &Access, value: Bounded, moment: Moment, context: Context) -> Result<Assign, Problem> {
        let scalar = self.scalar(access, context.instance);
        let value = self.keep(scalar, value).expr;
        let (storage, index) = self.cell(access, context)?;
        match storage {
            Storage::Variable(target) => Ok(Assign { target: *target, index, value, moment }),
            Storage::Constant(_) => Err(Problem::new(access.place, "this variable was taken for a constant")),
        }
    }
}

/// A system, with what it has no room for yet.
pub(crate) struct Lowered {
    pub system: System,
    pub wanted: Vec<super::events::Wanted>,
}

/// The system, with the `never` claim if it is wanted and there is one.
pub(crate) fn lower(program: &Program, instances: &Instances, with_claim: bool) -> Result<Lowered, Problem> {
    let mut lowering = Lowering::new(program, instances)?;
    let mut wanted = lowering.events()?;
    let flags = lowering.slots().map(|slot| {
        let ended = Expr::equals(lowering.control(slot), 0);
        super::values::any([ended, lowering.slot_flag(slot, |state| state.valid_end)])
    });
    let valid_end = super::values::all(flags.collect::<Vec<_>>());
    lowering.system.valid_end = Some(valid_end);
    lowering.temporal()?;
    if let Some(trace) = &program.trace {
        lowering.trace(trace, &mut wanted)?;
    }
    if let Some(flow) = program.never.as_ref().filter(|_| with_claim) {
        lowering.claim(flow)?;
    }
    Ok(Lowered { system: lowering.system, wanted })
}

/// The domain of a variable of this type: the machine integer that holds it.
fn domain(scalar: &Scalar) -> Domain {
    let wrap = |low, high| Domain { low, high, overflow: Overflow::Wrap };
    match scalar {
        Scalar::Bits(bits @ 1..=31) => match bits {
            ..=8 => Domain::BYTE,
            9..=16 => wrap(0, u16::MAX as i64),
            _ => wrap(0, u32::MAX as i64),
        },
        Scalar::Bits(_) | Scalar::Int => wrap(i32::MIN as i64, i32::MAX as i64),
        Scalar::Byte | Scalar::Pid | Scalar::Chan | Scalar::Mtype(_) => Domain::BYTE,
        Scalar::Short => Domain::INT16,
    }
}

/// Names of control states: a label, or the line.
pub(crate) fn location_names(flow: &Flow, lines: &mut Lines<'_>) -> Vec<String> {
    let mut used: HashMap<String, usize> = HashMap::new();
    // The first label of a state is its name.
    let labels: HashMap<usize, &str> = flow.labels.iter().rev().map(|(name, at)| (*at, &**name)).collect();
    let mut names = Vec::new();
    for (number, state) in flow.states.iter().enumerate() {
        let label = labels.get(&number).map(|name| name.to_string());
        let name = label.unwrap_or_else(|| format!("line_{}", lines.span(state.place).line));
        let count = used.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
        names.push(if *count > 1 { format!("{name}_{count}") } else { name });
    }
    names
}
