//! Expressions of one instance as expressions over the system's variables.
//!
//! Promela computes with 32-bit integers: a result that can be larger is cut back. A bound on each result shows where.

use super::core::{Access, ChannelTest, Match, Value, VariableId};
use super::known::Known;
use super::lower::{Lowering, Storage};
use crate::diagnostic::Problem;
use crate::symbols::sorted_suggestion;
use scrimp_system::{BinaryOp, Expr, UnaryOp, Variable};

/// What an expression is evaluated for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// The instance that runs; none for a claim.
    pub instance: Option<usize>,
    /// The value of `timeout`.
    pub timeout: bool,
    /// The value of `run`: the number of the process that it starts.
    pub started: Option<i64>,
}

/// An expression with a bound on its value.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    pub expr: Expr,
    pub low: i64,
    pub high: i64,
}

impl Bounded {
    pub fn constant(value: i64) -> Bounded {
        Bounded { expr: Expr::Const(value), low: value, high: value }
    }

    pub fn truth(expr: Expr) -> Bounded {
        match expr.as_const() {
            Some(value) => Bounded::constant((value != 0) as i64),
            None => Bounded { expr, low: 0, high: 1 },
        }
    }

    /// Cut back to 32 bits where it may be larger.
    fn narrow(self) -> Bounded {
        let (min, max) = (i32::MIN as i64, i32::MAX as i64);
        if self.low >= min && self.high <= max {
            return self;
        }
        let by = || Expr::Const(32);
        let up = Expr::binary(BinaryOp::ShiftLeft, self.expr, by());
        Bounded { expr: Expr::binary(BinaryOp::ShiftRight, up, by()), low: min, high: max }
    }
}

/// Any of these conditions.
pub(crate) fn any(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    let mut result: Option<Expr> = None;
    for condition in conditions {
        match condition.as_const() {
            Some(0) => {}
            Some(_) => return Expr::TRUE,
            None => {
                result = Some(match result {
                    None => condition,
                    Some(before) => Expr::binary(BinaryOp::Or, before, condition),
                });
            }
        }
    }
    result.unwrap_or(Expr::FALSE)
}

/// All of these conditions.
pub(crate) fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    let mut result = Expr::TRUE;
    for condition in conditions {
        match condition.as_const() {
            Some(0) => return Expr::FALSE,
            Some(_) => {}
            None => result = Expr::and(result, condition),
        }
    }
    result
}

/// A condition that always holds, where evaluating these expressions is no fault; without those that never are.
pub(crate) fn harmless<'e>(variables: &[Variable], expressions: impl IntoIterator<Item = &'e Expr>) -> Expr {
    let risky = expressions.into_iter().filter(|e| e.may_fault(variables));
    all(risky.map(|e| Expr::binary(BinaryOp::Or, e.clone(), Expr::TRUE)))
}

/// The second condition behind the first, whose evaluation may be a fault even where the second never holds.
pub(crate) fn both(variables: &[Variable], first: Expr, second: Expr) -> Expr {
    match second.as_const() {
        Some(0) if first.may_fault(variables) => Expr::binary(BinaryOp::And, first, second),
        _ => all([first, second]),
    }
}

pub(crate) fn equal(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Equal, a, b)
}

/// `condition ? then : otherwise`.
pub(crate) fn choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match condition.as_const() {
        Some(0) => otherwise,
        Some(_) => then,
        None => Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
    }
}

/// A value that cannot be: evaluating it is a fault.
pub(crate) fn impossible() -> Expr {
    let outside = |index| Expr::Table([0].into(), Box::new(index));
    outside(outside(Expr::Const(1)))
}

impl Lowering<'_> {
    /// A condition: zero is false.
    pub fn condition(&self, value: &Value, context: Context) -> Result<Expr, Problem> {
        let bounded = self.value(value, context)?;
        Ok(match bounded.expr.as_const() {
            Some(value) => Expr::Const((value != 0) as i64),
            None => bounded.expr,
        })
    }

    pub fn value(&self, value: &Value, context: Context) -> Result<Bounded, Problem> {
        Ok(match value {
            Value::Number(n) => Bounded::constant(*n),
            Value::Anything => return Err(Problem::new(self.here.get(), "`_` has no value")),
            Value::Read(access) => self.read(access, context)?,
            Value::Unary(op, a) => {
                let a = self.value(a, context)?;
                let (low, high) = match op {
                    UnaryOp::Not => (0, 1),
                    UnaryOp::Negate => (-a.high, -a.low),
                    UnaryOp::Complement => (!a.high, !a.low),
                };
                Bounded { expr: Expr::unary(*op, a.expr), low, high }.narrow()
            }
            Value::Binary(BinaryOp::And, a, b) => {
                let (a, b) = (self.value(a, context)?, self.value(b, context)?);
                Bounded::truth(truth(both(&self.system.variables, a.expr, b.expr)))
            }
            Value::Binary(op, a, b) => binary(*op, self.value(a, context)?, self.value(b, context)?),
            Value::Conditional(c, a, b) => {
                let c = self.condition(c, context)?;
                let (a, b) = (self.value(a, context)?, self.value(b, context)?);
                match c.as_const() {
                    Some(0) => b,
                    Some(_) => a,
                    None => Bounded {
                        expr: Expr::If(Box::new(c), Box::new(a.expr), Box::new(b.expr)),
                        low: a.low.min(b.low),
                        high: a.high.max(b.high),
                    },
                }
            }
            Value::Channel(test, channel) => self.channel_test(*test, channel, context)?,
            Value::Poll { channel, random, arguments } => self.poll(channel, *random, arguments, context)?,
            Value::Timeout if context.instance.is_none() => Bounded::truth(self.nothing_moves()?),
            Value::Timeout => Bounded::constant(context.timeout as i64),
            Value::NonProgress => {
                let none = self.slots().map(|slot| Expr::not(self.slot_flag(slot, |state| state.progress)));
                Bounded::truth(all(none))
            }
            Value::Pid => match context.instance {
                Some(instance) => Bounded::constant(self.instance(instance).slot as i64),
                None => Bounded::constant(0),
            },
            Value::Processes => {
                let alive = self.slots().map(|slot| self.alive(slot));
                let sum = alive.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
                Bounded { expr: sum.unwrap_or(Expr::Const(0)), low: 0, high: 255 }
            }
            Value::Last => match self.last {
                Some(last) => Bounded { expr: Expr::Var(last), low: 0, high: 255 },
                None => Bounded::constant(0),
            },
            Value::Priority => match context.instance {
                Some(instance) => Bounded { expr: self.priority(instance), low: 0, high: 255 },
                None => Bounded::constant(0),
            },
            Value::Run { .. } => match context.started {
                Some(number) => Bounded::constant(number),
                None => Bounded::constant(1),
            },
            Value::Remote { process, pid, access } => self.remote(*process, pid.as_deref(), access, context)?,
            Value::At { process, pid, label, place } => {
                let pid = pid.as_deref().map(|pid| self.value(pid, context)).transpose()?;
                let name = &self.program.processes[*process].name;
                let flow = &self.program.processes[*process].flow;
                if !self.label_exists(*process, label) {
                    let known = flow.labels.iter().map(|(label, _)| &**label);
                    let problem = Problem::new(*place, format!("`{name}` has no label `{label}`"));
                    return Err(problem.maybe_help(sorted_suggestion(label, known)));
                }
                let mut places = Vec::new();
                for instance in self.of_process(*process, pid.is_none()) {
                    let slot = self.instance(instance).slot;
                    let here = flow.labels.iter().filter(|(l, _)| l == label);
                    let at =
                        any(here.map(|(_, state)| {
                            Expr::equals(self.control(slot), self.location(instance, *state) as i64)
                        }));
                    let same = pid.as_ref().map_or(Expr::TRUE, |p| equal(p.expr.clone(), Expr::Const(slot as i64)));
                    places.push(all([same, at]));
                }
                Bounded::truth(any(places))
            }
            Value::Enabled(_) if context.instance.is_some() => {
                return Err(Problem::new(self.here.get(), "`enabled` can only be used in a `never` claim"));
            }
            Value::Enabled(pid) => {
                let pid = self.value(pid, context)?.expr;
                let mut conditions = Vec::new();
                for instance in 0..self.instances.all.len() {
                    let slot = self.instance(instance).slot as i64;
                    conditions.push(all([equal(pid.clone(), Expr::Const(slot)), self.can_move(instance, context)?]));
                }
                Bounded::truth(any(conditions))
            }
            Value::Counter(_) => {
                return Err(
                    Problem::new(self.here.get(), "`pc_value` is not supported").help("use a label: `P[1]@label`")
                );
            }
            Value::GetPriority(pid) => {
                let pid = self.value(pid, context)?.expr;
                let mut result = Expr::Const(0);
                for instance in 0..self.instances.all.len() {
                    let slot = self.instance(instance).slot as i64;
                    let here = all([equal(pid.clone(), Expr::Const(slot)), self.present(instance)]);
                    let priority = self.priority(instance);
                    result = Expr::If(Box::new(here), Box::new(priority), Box::new(result));
                }
                Bounded { expr: result, low: 0, high: 255 }
            }
        })
    }

    /// The cell that an access names, as a storage and an index into it.
    pub fn cell(&self, access: &Access, context: Context) -> Result<(&Storage, Option<Expr>), Problem> {
        let storage = self.storage(access.variable, access.leaf, context.instance);
        let dimensions = self.dimensions(access, context.instance);
        if dimensions.is_empty() {
            return Ok((storage, None));
        }
        let mut index: Option<Expr> = None;
        for (value, dimension) in access.indices.iter().zip(dimensions) {
            let part = self.value(value, context)?;
            let inside = part.low >= 0 && part.high < *dimension as i64;
            // Where several dimensions become one, each must be checked by itself; and a constant outside must not be taken
            // for harmless.
            let alone = dimensions.len() == 1 && part.expr.as_const().is_none();
            let checked = match alone || inside {
                true => part.expr,
                false => Expr::Table((0..*dimension as i64).collect(), Box::new(part.expr)),
            };
            index = Some(match index {
                None => checked,
                Some(outer) => {
                    let outer = Expr::binary(BinaryOp::Multiply, outer, Expr::Const(*dimension as i64));
                    Expr::binary(BinaryOp::Add, outer, checked)
                }
            });
        }
        Ok((storage, index))
    }

    pub fn read(&self, access: &Access, context: Context) -> Result<Bounded, Problem> {
        if let Known::Values(values) = self.knowledge.leaf(context.instance, access.variable, access.leaf)
            && values.len() == 1
            // An index is checked even where all elements are alike.
            && access.indices.is_empty()
            && let Some(value) = values.first()
        {
            return Ok(Bounded::constant(*value));
        }
        let (low, high) = self.scalar(access, context.instance).range();
        let (storage, index) = self.cell(access, context)?;
        Ok(match (storage, index) {
            (Storage::Constant(cells), None) => Bounded::constant(cells[0]),
            (Storage::Constant(cells), Some(index)) => match index.as_const() {
                Some(i) if (0..cells.len() as i64).contains(&i) => Bounded::constant(cells[i as usize]),
                _ => {
                    let low = cells.iter().min().copied().unwrap_or(0);
                    let high = cells.iter().max().copied().unwrap_or(0);
                    Bounded { expr: Expr::Table(cells.clone(), Box::new(index)), low, high }
                }
            },
            (Storage::Variable(v), None) => Bounded { expr: Expr::Var(*v), low, high },
            (Storage::Variable(v), Some(index)) => Bounded { expr: Expr::Element(*v, Box::new(index)), low, high },
        })
    }

    fn remote(
        &self,
        process: usize,
        pid: Option<&Value>,
        access: &Access,
        context: Context,
    ) -> Result<Bounded, Problem> {
        let pid = pid.map(|pid| self.value(pid, context)).transpose()?;
        // As in SPIN, the variables of a process that is not there are zero.
        let mut result = Bounded::constant(0);
        for instance in self.of_process(process, pid.is_none()).into_iter().rev() {
            // Indices are those of whoever asks, the variable is the other's.
            let mut there = access.clone();
            let mut indices = Vec::new();
            for index in &access.indices {
                indices.push(self.value(index, context)?.expr.as_const().map(Value::Number));
            }
            for (index, constant) in there.indices.iter_mut().zip(indices) {
                match constant {
                    Some(constant) => *index = constant,
                    None => {
                        return Err(Problem::new(
                            access.place,
                            "the index of another process's array must be constant",
                        ));
                    }
                }
            }
            let value = self.read(&there, Context { instance: Some(instance), ..context })?;
            let slot = Expr::Const(self.instance(instance).slot as i64);
            let meant = pid.as_ref().map_or(Expr::TRUE, |pid| equal(pid.expr.clone(), slot));
            result = Bounded {
                expr: choose(all([meant, self.present(instance)]), value.expr, result.expr),
                low: value.low.min(result.low),
                high: value.high.max(result.high),
            };
        }
        Ok(result)
    }

    fn channel_test(&self, test: ChannelTest, channel: &Access, context: Context) -> Result<Bounded, Problem> {
        let capacities = self.meant(channel, context)?.into_iter().map(|(queue, _)| self.queues[queue].capacity as i64);
        let high = if test == ChannelTest::Length { capacities.max().unwrap_or(0) } else { 1 };
        let expr = self.asked(channel, context, |queue| {
            let queue = &self.queues[queue];
            let capacity = queue.capacity as i64;
            Ok(match (test, queue.length) {
                (ChannelTest::Length, Some(length)) => Expr::Var(length),
                (ChannelTest::Empty, Some(length)) => Expr::equals(length, 0),
                (ChannelTest::NotEmpty, Some(length)) => Expr::not(Expr::equals(length, 0)),
                (ChannelTest::Full, Some(length)) => Expr::equals(length, capacity),
                (ChannelTest::NotFull, Some(length)) => Expr::not(Expr::equals(length, capacity)),
                (ChannelTest::Length | ChannelTest::NotEmpty | ChannelTest::Full, None) => Expr::Const(0),
                (ChannelTest::Empty | ChannelTest::NotFull, None) => Expr::Const(1),
            })
        })?;
        Ok(Bounded { expr, low: 0, high })
    }

    fn poll(&self, channel: &Access, random: bool, arguments: &[Match], context: Context) -> Result<Bounded, Problem> {
        let found = self.asked(channel, context, |queue| {
            // There is never anything in a rendezvous channel; SPIN takes the question for an error too.
            if self.queues[queue].capacity == 0 {
                return Ok(impossible());
            }
            let matching = self.matches(queue, arguments, context)?;
            Ok(match random {
                // As in SPIN, what is asked for is evaluated even where the channel is empty.
                true => {
                    all([harmless(&self.system.variables, matching.iter().flatten()), self.any_match(queue, &matching)])
                }
                false => self.match_at(queue, &matching, 0),
            })
        })?;
        Ok(Bounded::truth(found))
    }

    /// The instances of a proctype; as in SPIN, only the first where one is meant without saying which.
    fn of_process(&self, process: usize, only_first: bool) -> Vec<usize> {
        let of = (0..self.instances.all.len()).filter(|i| self.instance(*i).process == process);
        if only_first { of.take(1).collect() } else { of.collect() }
    }

    fn dimensions(&self, access: &Access, instance: Option<usize>) -> &[u32] {
        match (access.variable, instance) {
            (VariableId::Global(v), _) => &self.program.globals[v].leaves[access.leaf].dimensions,
            (VariableId::Local(v), Some(instance)) => {
                let process = self.instance(instance).process;
                &self.program.processes[process].locals[v].leaves[access.leaf].dimensions
            }
            (VariableId::Local(_), None) => &[],
        }
    }
}

fn binary(op: BinaryOp, a: Bounded, b: Bounded) -> Bounded {
    let corners = |f: fn(i64, i64) -> i64| {
        let all = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
        (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
    };
    let widest = || (i32::MIN as i64, i32::MAX as i64);
    let bits = |high: i64| (1i64 << (64 - (high.max(1) as u64).leading_zeros())) - 1;
    let (low, high) = match op {
        BinaryOp::Add => (a.low + b.low, a.high + b.high),
        BinaryOp::Subtract => (a.low - b.high, a.high - b.low),
        BinaryOp::Multiply => corners(i64::wrapping_mul),
        BinaryOp::Divide => {
            let most = a.low.abs().max(a.high.abs());
            (-most, most)
        }
        BinaryOp::Remainder => {
            let most = (b.low.abs().max(b.high.abs()) - 1).max(0).min(a.low.abs().max(a.high.abs()));
            (if a.low < 0 { -most } else { 0 }, most)
        }
        // Shifting far moves beyond 32 bits, which is cut back below.
        BinaryOp::ShiftLeft if a.low >= 0 && b.low >= 0 && b.high < 31 && a.high < 1 << 31 => (0, a.high << b.high),
        BinaryOp::ShiftLeft => (i64::MIN, i64::MAX),
        BinaryOp::ShiftRight if a.low >= 0 => (0, a.high),
        BinaryOp::ShiftRight => (a.low, a.high.max(0)),
        BinaryOp::BitAnd if a.low >= 0 && b.low >= 0 => (0, a.high.min(b.high)),
        BinaryOp::BitOr | BinaryOp::BitXor if a.low >= 0 && b.low >= 0 => (0, bits(a.high.max(b.high))),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => widest(),
        _ => (0, 1),
    };
    let expr = match op {
        BinaryOp::Or => match a.expr.as_const() {
            Some(0) => truth(b.expr),
            _ => Expr::binary(op, a.expr, b.expr),
        },
        _ => Expr::binary(op, a.expr, b.expr),
    };
    match expr.as_const() {
        Some(value) => Bounded::constant(value as i32 as i64),
        None => Bounded { expr, low, high }.narrow(),
    }
}

/// 0 or 1, where the expression may be another number.
fn truth(expr: Expr) -> Expr {
    match &expr {
        Expr::Const(value) => Expr::Const((*value != 0) as i64),
        Expr::Unary(UnaryOp::Not, _)
        | Expr::Binary(
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual,
            ..,
        ) => expr,
        _ => Expr::binary(BinaryOp::NotEqual, expr, Expr::Const(0)),
    }
}
