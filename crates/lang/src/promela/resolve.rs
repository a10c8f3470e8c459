//! Looking names up: from expressions as they are written to [`Value`]s.

use super::core::{Access, Field, Match, Value, VariableId};
use super::declare::{Declared, Kind, Names};
use super::syntax::{Argument, Expression, ExpressionKind, Ident, Reference};
use crate::diagnostic::Problem;
use crate::symbols::{sorted_suggestion, suggestion_or_all};
use std::collections::HashMap;
use std::sync::Arc;

/// The local names that are visible at a place.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Everything declared in the proctype so far.
    pub locals: Vec<Declared>,
    blocks: Vec<HashMap<Arc<str>, usize>>,
}

impl Scope {
    pub fn new() -> Scope {
        Scope { locals: Vec::new(), blocks: vec![HashMap::new()] }
    }

    pub fn open(&mut self) {
        self.blocks.push(HashMap::new());
    }

    pub fn close(&mut self) {
        self.blocks.pop();
    }

    /// Declares a local variable; gives its number.
    pub fn declare(&mut self, declared: Declared) -> Result<usize, Problem> {
        let number = self.locals.len();
        if let Some(block) = self.blocks.last_mut()
            && let Some(earlier) = block.insert(declared.name.clone(), number)
        {
            let message = format!("the variable `{}` is already declared", declared.name);
            return Err(Problem::new(declared.place, message).on_line_of(self.locals[earlier].place));
        }
        self.locals.push(declared);
        Ok(number)
    }

    fn local(&self, name: &str) -> Option<usize> {
        self.blocks.iter().rev().find_map(|block| block.get(name)).copied()
    }

    /// The value of an expression that must be constant.
    pub fn constant(names: &Names, e: &Expression) -> Result<i64, Problem> {
        Scope::new().value(names, e)?.number().ok_or_else(|| Problem::new(e.place, "expected a constant"))
    }
}

impl Scope {
    pub fn value(&self, names: &Names, e: &Expression) -> Result<Value, Problem> {
        let boxed = |e: &Expression| self.value(names, e).map(Box::new);
        Ok(match &*e.kind {
            ExpressionKind::Number(n) => Value::Number(*n as i32 as i64),
            ExpressionKind::Name(reference) => self.name(names, reference)?,
            ExpressionKind::Unary(op, a) => match self.value(names, a)? {
                Value::Number(a) => Value::Number(op.apply(a) as i32 as i64),
                a => Value::Unary(*op, Box::new(a)),
            },
            ExpressionKind::Binary(op, a, b) => {
                let (a, b) = Problem::both(self.value(names, a), self.value(names, b))?;
                // A division by zero is an error where it is evaluated.
                match a.number().zip(b.number()).map(|(x, y)| op.apply(x, y)) {
                    Some(Ok(value)) => Value::Number(value as i32 as i64),
                    _ => Value::Binary(*op, Box::new(a), Box::new(b)),
                }
            }
            ExpressionKind::Conditional(c, a, b) => Value::Conditional(boxed(c)?, boxed(a)?, boxed(b)?),
            ExpressionKind::Channel(test, reference) => {
                Value::Channel(*test, Box::new(self.channel(names, reference)?))
            }
            ExpressionKind::Poll { channel, random, arguments } => {
                let channel = Box::new(self.channel(names, channel)?);
                let arguments = self.fields(names, arguments)?.into_iter().map(|field| match field {
                    Field::Match(value) => Some(value),
                    Field::Store(_) | Field::Ignore => None,
                });
                Value::Poll { channel, random: *random, arguments: arguments.collect::<Vec<Match>>() }
            }
            ExpressionKind::Timeout => Value::Timeout,
            ExpressionKind::NonProgress => Value::NonProgress,
            ExpressionKind::Run { process, arguments, priority } => {
                let number = self.process(names, process)?;
                let mut values = Vec::new();
                for argument in arguments {
                    values.extend(self.values(names, argument)?);
                }
                let wanted = names.parameters[number];
                if values.len() != wanted {
                    let message = format!("`{}` has {wanted} parameters, not {}", process.name, values.len());
                    return Err(Problem::new(process.place, message));
                }
                let priority = priority.as_ref().map(|p| Scope::constant(names, p)).transpose()?;
                Value::Run { process: number, arguments: values, priority, place: e.place }
            }
            ExpressionKind::RemoteVariable { process, pid, variable } => {
                let number = self.process(names, process)?;
                let pid = pid.as_ref().map(boxed).transpose()?;
                let locals = &names.locals[number];
                let Some(local) = locals.iter().position(|l| l.name == variable.name.name) else {
                    let message = format!("`{}` has no variable `{}`", process.name, variable.name.name);
                    let known = locals.iter().map(|local| &*local.name);
                    let help = sorted_suggestion(&variable.name.name, known);
                    return Err(Problem::new(variable.name.place, message).maybe_help(help));
                };
                let access = self.access(names, variable, &locals[local], VariableId::Local(local))?;
                Value::Remote { process: number, pid, access: Box::new(access) }
            }
            ExpressionKind::RemoteLabel { process, pid, label } => {
                let number = self.process(names, process)?;
                let pid = pid.as_ref().map(boxed).transpose()?;
                Value::At { process: number, pid, label: label.name.clone(), place: label.place }
            }
            ExpressionKind::Enabled(a) => Value::Enabled(boxed(a)?),
            ExpressionKind::PcValue(a) => Value::Counter(boxed(a)?),
            ExpressionKind::GetPriority(a) => Value::GetPriority(boxed(a)?),
            ExpressionKind::Temporal(..) => {
                return Err(Problem::new(e.place, "a temporal operator can only stand in an `ltl` formula"));
            }
        })
    }

    fn process(&self, names: &Names, name: &Ident) -> Result<usize, Problem> {
        names.processes.get(&name.name).copied().ok_or_else(|| unknown_proctype(names, name))
    }

    /// "unknown variable", with what may have been meant.
    fn unknown(&self, names: &Names, name: &Ident) -> Problem {
        let locals = self.blocks.iter().flat_map(|block| block.keys());
        let known = locals.chain(names.global_names.keys()).chain(names.mtype_values.keys()).map(|name| &**name);
        let problem = Problem::new(name.place, format!("unknown variable `{}`", name.name));
        match &*name.name {
            "STDIN" => problem.help("reading from standard input is not supported"),
            "TRUE" | "FALSE" => problem.help(format!("write `{}`", name.name.to_lowercase())),
            word => problem.maybe_help(sorted_suggestion(word, known)),
        }
    }

    /// A name in an expression: a variable, a predefined one, or an mtype value.
    fn name(&self, names: &Names, reference: &Reference) -> Result<Value, Problem> {
        let plain = reference.index.is_none() && reference.field.is_none();
        let name = &*reference.name.name;
        if plain && self.local(name).is_none() {
            match name {
                "_" => return Ok(Value::Anything),
                "_pid" => return Ok(Value::Pid),
                "_nr_pr" => return Ok(Value::Processes),
                "_last" => return Ok(Value::Last),
                "_priority" => return Ok(Value::Priority),
                _ => {}
            }
            if !names.global_names.contains_key(name)
                && let Some(number) = names.mtype_values.get(name)
            {
                return Ok(Value::Number(names.mtypes[*number].value));
            }
        }
        Ok(Value::Read(self.variable(names, reference)?))
    }

    /// A reference to a scalar variable.
    pub fn variable(&self, names: &Names, reference: &Reference) -> Result<Access, Problem> {
        let (declared, id) = self.find(names, reference)?;
        self.access(names, reference, declared, id)
    }

    pub fn channel(&self, names: &Names, reference: &Reference) -> Result<Access, Problem> {
        let (declared, id) = self.find(names, reference)?;
        let (access, kind) = self.walk(names, reference, declared, id)?;
        match kind {
            // As in SPIN, the number of a channel may be kept in any variable.
            Kind::Scalar(_) => Ok(access),
            Kind::Record(_) => Err(Problem::new(reference.name.place, "a record is not a channel")),
        }
    }

    pub fn find<'a>(&'a self, names: &'a Names, reference: &Reference) -> Result<(&'a Declared, VariableId), Problem> {
        self.known(names, reference).ok_or_else(|| self.unknown(names, &reference.name))
    }

    /// The same where it may also be something else: what was meant instead is not looked for, which takes long.
    fn known<'a>(&'a self, names: &'a Names, reference: &Reference) -> Option<(&'a Declared, VariableId)> {
        let name = &reference.name.name;
        if let Some(local) = self.local(name) {
            return Some((&self.locals[local], VariableId::Local(local)));
        }
        let global = *names.global_names.get(name)?;
        Some((&names.globals[global], VariableId::Global(global)))
    }

    fn access(
        &self,
        names: &Names,
        reference: &Reference,
        declared: &Declared,
        id: VariableId,
    ) -> Result<Access, Problem> {
        let (access, kind) = self.walk(names, reference, declared, id)?;
        match kind {
            Kind::Scalar(_) => Ok(access),
            Kind::Record(_) => {
                let message = format!("`{}` is a record; name one of its fields", reference.name.name);
                Err(Problem::new(reference.name.place, message))
            }
        }
    }

    /// Follows indices and fields; also says what is there, which is no whole array.
    fn walk(
        &self,
        names: &Names,
        reference: &Reference,
        declared: &Declared,
        id: VariableId,
    ) -> Result<(Access, Kind), Problem> {
        let (access, kind, whole) = self.follow(names, reference, declared, id)?;
        match whole {
            None => Ok((access, kind)),
            Some(_) => Err(missing_index(reference.last_name())),
        }
    }

    /// Follows indices and fields; also says what is there, and the length where it is a whole array.
    fn follow(
        &self,
        names: &Names,
        reference: &Reference,
        declared: &Declared,
        id: VariableId,
    ) -> Result<(Access, Kind, Option<u32>), Problem> {
        let mut access = Access { variable: id, leaf: 0, indices: Vec::new(), place: reference.name.place };
        let mut part = reference;
        let mut declared = declared;
        loop {
            let mut whole = None;
            match (&part.index, declared.length) {
                (Some(index), Some(length)) => {
                    let index_value = self.value(names, index)?;
                    if let Value::Number(n) = index_value
                        && !(0..length as i64).contains(&n)
                    {
                        let message = format!("`{}` has no element {n}: it has {length}", declared.name);
                        return Err(Problem::new(index.place, message));
                    }
                    access.indices.push(index_value);
                }
                (Some(index), None) => {
                    // A scalar is an array of one element to SPIN.
                    match self.value(names, index)? {
                        Value::Number(0) => {}
                        _ => {
                            let message = format!("`{}` is not an array", declared.name);
                            return Err(Problem::new(index.place, message));
                        }
                    }
                }
                (None, Some(_)) if part.field.is_some() => return Err(missing_index(&part.name)),
                (None, Some(length)) => {
                    whole = Some(length);
                    access.indices.push(Value::Number(0));
                }
                (None, None) => {}
            }
            match (&part.field, &declared.kind) {
                (None, kind) => return Ok((access, kind.clone(), whole)),
                (Some(field), Kind::Record(record)) => {
                    let fields = &names.records[*record].fields;
                    let Some(number) = fields.iter().position(|(f, _)| f.name == field.name.name) else {
                        let message = format!("`{}` has no field `{}`", declared.name, field.name.name);
                        let known = fields.iter().map(|(field, _)| &*field.name);
                        let help = sorted_suggestion(&field.name.name, known);
                        return Err(Problem::new(field.name.place, message).maybe_help(help));
                    };
                    access.leaf += fields[..number].iter().map(|(f, _)| names.leaf_count(&f.kind)).sum::<usize>();
                    declared = &fields[number].0;
                    part = field;
                }
                (Some(field), Kind::Scalar(_)) => {
                    let message = format!("`{}` is not a record", declared.name);
                    return Err(Problem::new(field.name.place, message));
                }
            }
        }
    }

    /// The cells that a reference to a record or a scalar stands for, as arguments of a message.
    fn cells(&self, names: &Names, reference: &Reference) -> Result<Vec<Access>, Problem> {
        let (declared, id) = self.find(names, reference)?;
        let (access, kind) = self.walk(names, reference, declared, id)?;
        self.cells_at(names, access, kind)
    }

    /// The cells at an access to something of a kind.
    fn cells_at(&self, names: &Names, access: Access, kind: Kind) -> Result<Vec<Access>, Problem> {
        let Kind::Record(_) = kind else { return Ok(vec![access]) };
        let declared = Declared { name: "".into(), kind, length: None, place: access.place };
        let leaves = names.variable(&declared, &super::core::LeafInitial::Zero, false)?.leaves;
        let mut cells = Vec::new();
        for (i, leaf) in leaves.iter().enumerate() {
            for cell in 0..leaf.cells() {
                let mut indices = access.indices.clone();
                let mut rest = cell;
                let mut inner = Vec::new();
                for dimension in leaf.dimensions.iter().rev() {
                    inner.push(Value::Number((rest % *dimension as u64) as i64));
                    rest /= *dimension as u64;
                }
                indices.extend(inner.into_iter().rev());
                cells.push(Access { leaf: access.leaf + i, indices, ..access.clone() });
            }
        }
        Ok(cells)
    }

    /// The values of an argument: one, or one for each field of a record.
    pub fn values(&self, names: &Names, e: &Expression) -> Result<Vec<Value>, Problem> {
        if let ExpressionKind::Name(reference) = &*e.kind
            && let Some((declared, id)) = self.known(names, reference)
            && let Kind::Record(_) = self.walk(names, reference, declared, id)?.1
        {
            return Ok(self.cells(names, reference)?.into_iter().map(Value::Read).collect());
        }
        Ok(vec![self.value(names, e)?])
    }

    /// The fields of a receive.
    pub fn fields(&self, names: &Names, arguments: &[Argument]) -> Result<Vec<Field>, Problem> {
        let mut fields = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Eval(e) => fields.extend(self.values(names, e)?.into_iter().map(Field::Match)),
                Argument::Plain(e) => match &*e.kind {
                    ExpressionKind::Name(reference) => {
                        let name = &*reference.name.name;
                        let is_variable = self.known(names, reference).is_some();
                        if name == "_" && !is_variable {
                            fields.push(Field::Ignore);
                        } else if is_variable {
                            let cells = self.cells(names, reference)?;
                            if let [cell] = &cells[..]
                                && cell.indices.is_empty()
                                && fields
                                    .iter()
                                    .any(|field| matches!(field, Field::Store(other) if other.is_same(cell)))
                            {
                                let message = format!("`{name}` cannot receive two fields of one message");
                                return Err(Problem::new(e.place, message));
                            }
                            fields.extend(cells.into_iter().map(Field::Store));
                        } else {
                            fields.push(Field::Match(self.name(names, reference)?));
                        }
                    }
                    _ => match self.value(names, e)? {
                        value @ Value::Number(_) => fields.push(Field::Match(value)),
                        _ => {
                            return Err(Problem::new(
                                e.place,
                                "a receive needs variables, constants or `eval(...)` here",
                            )
                            .help("to wait for a value, write `eval(expression)`"));
                        }
                    },
                },
            }
        }
        Ok(fields)
    }

    /// The length of the array that a reference names as a whole, if it does.
    pub fn whole_array(&self, names: &Names, reference: &Reference) -> Result<Option<u32>, Problem> {
        let (declared, id) = self.find(names, reference)?;
        Ok(self.follow(names, reference, declared, id)?.2)
    }

    /// Is this a record? Then its cells.
    pub fn record_cells(&self, names: &Names, reference: &Reference) -> Result<Option<Vec<Access>>, Problem> {
        let (declared, id) = self.find(names, reference)?;
        match self.follow(names, reference, declared, id)? {
            (access, kind @ Kind::Record(_), _) => self.cells_at(names, access, kind).map(Some),
            _ => Ok(None),
        }
    }
}

pub(crate) fn unknown_proctype(names: &Names, name: &Ident) -> Problem {
    let problem = Problem::new(name.place, format!("unknown proctype `{}`", name.name));
    let mut known: Vec<&str> = names.processes.keys().map(|name| &**name).collect();
    known.sort_unstable();
    problem.maybe_help(suggestion_or_all("known proctypes", &name.name, known))
}

fn missing_index(name: &Ident) -> Problem {
    Problem::new(name.place, format!("missing array index: `{}` is an array", name.name))
}
