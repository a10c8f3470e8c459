//! What variables begin with, in the first state and when a process starts, and that they are zero again when it ends.

use super::channels::set;
use super::core::{LeafInitial, Variable, VariableId};
use super::instances::Instances;
use super::lower::{Lowering, Storage};
use super::values::Context;
use crate::diagnostic::Problem;
use scrimp_system::{Assign, Expr, Fault, VarId};

impl Lowering<'_> {
    /// The state in which the active processes begin.
    pub(super) fn initial(&mut self) -> Result<(), Problem> {
        let cells: usize = self.system.variables.iter().map(scrimp_system::Variable::cells).sum();
        let mut offsets = Vec::new();
        let mut at = 0;
        for variable in &self.system.variables {
            offsets.push(at);
            at += variable.cells();
        }
        let mut values = vec![0i64; cells];
        self.run_at_start(&self.begin(&self.program.globals, None)?, &offsets, &mut values)?;
        let active = Instances::initial(self.program);
        for instance in &active.all {
            let number = self.find(instance).expect("the first instances are always there");
            let location = self.location(number, self.flow(number).start);
            values[offsets[self.control(instance.slot).index()]] = location as i64;
            let mut effects = self.begin(&self.program.processes[instance.process].locals, Some(number))?;
            let priority = self.program.processes[instance.process].priority;
            effects.extend(self.begin_priority(instance.slot, priority));
            self.run_at_start(&effects, &offsets, &mut values)?;
        }
        self.system.initial = vec![values];
        Ok(())
    }

    /// Runs assignments on the values of the initial state.
    pub(super) fn run_at_start(
        &self,
        effects: &[Assign],
        offsets: &[usize],
        values: &mut [i64],
    ) -> Result<(), Problem> {
        for effect in effects {
            let run = |e: &Expr| {
                let read = |v: VarId, i: i64| {
                    let cells = self.system.variables[v.index()].cells();
                    let inside = (0..cells as i64).contains(&i);
                    if inside { Ok(values[offsets[v.index()] + i as usize]) } else { Err(Fault::Index) }
                };
                e.eval(&read).map_err(|fault| Problem::new(self.here.get(), format!("an initial value: {fault}")))
            };
            let index = effect.index.as_ref().map_or(Ok(0), run)?;
            let value = run(&effect.value)?;
            let domain = self.system.variables[effect.target.index()].domain;
            values[offsets[effect.target.index()] + index as usize] = domain.wrap(value);
        }
        Ok(())
    }

    /// What variables are set to when they begin; those that begin with zero are left out.
    pub fn begin(&self, variables: &[Variable], instance: Option<usize>) -> Result<Vec<Assign>, Problem> {
        let mut effects = Vec::new();
        let context = Context { instance, timeout: false, started: None };
        let mut channel = instance.map_or(0, |i| self.instance(i).channels) as i64;
        for (v, variable) in variables.iter().enumerate() {
            self.here.set(variable.place);
            for (l, leaf) in variable.leaves.iter().enumerate() {
                let first = channel;
                if let LeafInitial::Channel(_) = leaf.initial {
                    channel += leaf.cells() as i64;
                }
                let id = if instance.is_some() { VariableId::Local(v) } else { VariableId::Global(v) };
                let Storage::Variable(target) = *self.storage(id, l, instance) else { continue };
                for cell in 0..leaf.cells() {
                    let value = match &leaf.initial {
                        LeafInitial::Zero => continue,
                        LeafInitial::Value(value) => self.keep(&leaf.scalar, self.value(value, context)?).expr,
                        LeafInitial::List(list) => match list.get(cell as usize).or(list.last()) {
                            Some(value) => self.keep(&leaf.scalar, self.value(value, context)?).expr,
                            None => continue,
                        },
                        LeafInitial::Channel(_) => Expr::Const(first + 1 + cell as i64),
                    };
                    let index = (!leaf.dimensions.is_empty()).then_some(Expr::Const(cell as i64));
                    effects.push(set(target, index, value));
                }
            }
        }
        Ok(effects)
    }

    /// A new process has the priority that it was started with.
    pub fn begin_priority(&self, slot: usize, priority: i64) -> Option<Assign> {
        self.priority_variable(slot).map(|v| set(v, None, Expr::Const(priority)))
    }

    /// Makes the variables and channels of an instance zero, as they are while it does not exist.
    pub fn clear(&self, instance: usize) -> Vec<Assign> {
        let mut effects = Vec::new();
        let mut zero = |variable: VarId| {
            let declared = &self.system.variables[variable.index()];
            match declared.length {
                None => effects.push(set(variable, None, Expr::Const(0))),
                Some(length) => {
                    for i in 0..length as i64 {
                        effects.push(set(variable, Some(Expr::Const(i)), Expr::Const(0)));
                    }
                }
            }
        };
        for storage in self.locals[instance].iter().flatten() {
            if let Storage::Variable(variable) = storage {
                zero(*variable);
            }
        }
        for queue in self.queues.iter().filter(|q| q.instance == Some(instance)) {
            queue.length.into_iter().chain(queue.fields.iter().copied()).for_each(&mut zero);
        }
        self.priority_variable(self.instance(instance).slot).into_iter().for_each(&mut zero);
        effects
    }
}
