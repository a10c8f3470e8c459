//! The body of a process as linked elements, the first half of making a control graph.
//!
//! Which points of a text are control states, and which are passed through, decides how many states a model has. To have
//! those of SPIN, this keeps its structure: an element for each statement, for each selection and each block, and dots where
//! branches join. [`super::flow`] turns elements into states and transitions.

use super::core::{Action, LeafInitial, Statement, Value, Variable};
use super::declare::{Kind, Names};
use super::print;
use super::resolve::Scope;
use super::syntax::{self, Expression, ExpressionKind, Ident, Reference, Sequence, Step, StepKind};
use crate::diagnostic::{Place, Problem};
use scrimp_system::BinaryOp;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) type Id = usize;

#[derive(Debug)]
pub(crate) struct Element {
    pub kind: Kinds,
    pub place: Place,
    /// What follows in the same sequence; where a jump goes is another matter.
    pub next: Option<Id>,
    /// Within `atomic`, but not its last element.
    pub atomic: bool,
    /// The last element of an `atomic`.
    pub last_of_atomic: bool,
    /// The `d_step` that it is in, by number.
    pub in_d_step: Option<u32>,
    /// A label stands before it.
    pub labelled: bool,
    /// The escape sequences that cover it, the outermost first.
    pub escapes: Vec<Part>,
}

impl Element {
    /// An element by itself.
    pub fn new(kind: Kinds, place: Place) -> Element {
        Element {
            kind,
            place,
            next: None,
            atomic: false,
            last_of_atomic: false,
            in_d_step: None,
            labelled: false,
            escapes: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Kinds {
    Action(Arc<Action>),
    /// Where branches join, or a loop begins.
    Dot,
    /// The place behind a loop.
    Break,
    /// To a label, from within these blocks, the innermost last.
    Goto(Ident, Vec<u32>),
    /// A `break`: to the element behind the loop.
    Leave(usize),
    Select(Vec<Part>),
    Unless(Vec<Part>),
    Block(Block, Part),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    Plain,
    Atomic,
    DStep,
}

/// A sequence of elements: its first, its last, and the last that was written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub first: Id,
    pub last: Id,
    pub extent: Id,
}

#[derive(Debug)]
pub(crate) struct Label {
    pub name: Arc<str>,
    pub element: Id,
    /// The innermost block that it is in, by number; 0 for the body itself.
    pub block: u32,
}

/// The elements of one body.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub elements: Vec<Element>,
    pub labels: Vec<Label>,
    /// The elements behind loops, as [`Kinds::Leave`] numbers them.
    pub exits: Vec<Option<Id>>,
    pub whole: Option<Part>,
}

/// Makes the elements of a body.
pub(crate) struct Builder<'a> {
    pub names: &'a mut Names,
    pub scope: Scope,
    pub locals: Vec<Variable>,
    pub body: Body,
    /// Sequences being filled.
    pub(super) open: Vec<Option<(Id, Id)>>,
    /// Exits of the loops around.
    pub(super) loops: Vec<usize>,
    blocks: Vec<u32>,
    next_block: u32,
    /// The elements behind labels, by name and block.
    labelled: HashMap<(Arc<str>, u32), Id>,
    is_claim: bool,
    /// Nothing but declarations so far: variables begin with their values. Later ones are assigned to where they stand.
    at_start: bool,
}

impl<'a> Builder<'a> {
    pub fn new(names: &'a mut Names, scope: Scope, locals: Vec<Variable>, is_claim: bool) -> Builder<'a> {
        Builder {
            names,
            scope,
            locals,
            body: Body::default(),
            open: Vec::new(),
            loops: Vec::new(),
            blocks: Vec::new(),
            next_block: 0,
            labelled: HashMap::new(),
            is_claim,
            at_start: true,
        }
    }

    /// The whole body, with the element where the process ends.
    pub fn whole(mut self, steps: &Sequence, end: Place) -> Result<(Body, Vec<Variable>), Problem> {
        self.open.push(None);
        self.steps(steps)?;
        let action = Action { statement: Statement::End, place: end, text: "-end-".into() };
        let end_element = self.element(Kinds::Action(Arc::new(action)), end);
        self.append(end_element);
        let part = self.close(end)?;
        self.body.whole = Some(part);
        Ok((self.body, self.locals))
    }

    pub(super) fn element(&mut self, kind: Kinds, place: Place) -> Id {
        self.body.elements.push(Element::new(kind, place));
        self.body.elements.len() - 1
    }

    pub(super) fn action(&mut self, statement: Statement, place: Place, text: String) -> Id {
        self.element(Kinds::Action(Arc::new(Action { statement, place, text })), place)
    }

    /// Puts an element at the end of the sequence being filled.
    pub(super) fn append(&mut self, id: Id) {
        let sequence = self.open.last_mut().expect("a sequence is open");
        match sequence {
            None => *sequence = Some((id, id)),
            Some((_, last)) => {
                self.body.elements[*last].next = Some(id);
                *last = id;
            }
        }
    }

    pub(super) fn close(&mut self, place: Place) -> Result<Part, Problem> {
        match self.open.pop().flatten() {
            Some((first, last)) => Ok(Part { first, last, extent: last }),
            None => Err(Problem::new(place, "there is no statement here")),
        }
    }

    /// Puts an element behind a sequence that is closed.
    pub(super) fn extend(&mut self, part: &mut Part, id: Id) {
        self.body.elements[part.last].next = Some(id);
        part.last = id;
    }

    fn label(&mut self, label: &Ident, element: Id) -> Result<(), Problem> {
        let block = self.blocks.last().copied().unwrap_or(0);
        if let Some(earlier) = self.labelled.insert((label.name.clone(), block), element) {
            let problem = Problem::new(label.place, format!("the label `{}` is already there", label.name));
            return Err(problem.on_line_of(self.body.elements[earlier].place));
        }
        self.body.labels.push(Label { name: label.name.clone(), element, block });
        self.body.elements[element].labelled = true;
        Ok(())
    }

    pub(super) fn enter_block(&mut self) {
        self.scope.open();
        self.next_block += 1;
        self.blocks.push(self.next_block);
    }

    pub(super) fn leave_block(&mut self) {
        self.scope.close();
        self.blocks.pop();
    }

    /// A sequence in braces.
    fn braces(&mut self, steps: &Sequence, place: Place) -> Result<Part, Problem> {
        self.at_start = false;
        self.enter_block();
        self.open.push(None);
        self.steps(steps)?;
        let part = self.close(place);
        self.leave_block();
        part
    }

    /// A sequence without braces around it: an option.
    pub(super) fn option(&mut self, steps: &Sequence, place: Place) -> Result<Part, Problem> {
        self.at_start = false;
        self.open.push(None);
        self.steps(steps)?;
        let mut part = self.close(place)?;
        if !self.is_claim {
            self.prune(&mut part);
        }
        Ok(part)
    }

    pub(super) fn steps(&mut self, steps: &Sequence) -> Result<(), Problem> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Problem> {
        let place = step.place;
        match &step.kind {
            StepKind::Declaration(declarations) => {
                if let Some(label) = step.labels.first() {
                    return Err(Problem::new(label.place, "a label cannot stand before a declaration"));
                }
                return declarations.iter().try_for_each(|d| self.declaration(d));
            }
            StepKind::Exclusive { channels, .. } => {
                // Only a partial-order reduction would use the promise; the channels must exist all the same.
                return channels.iter().try_for_each(|c| match self.scope.find(self.names, c)?.0.length {
                    None => Ok(()),
                    Some(_) => Err(Problem::new(c.name.place, "`xr` and `xs` are not for elements of arrays")),
                });
            }
            // A label before an `unless` is one before the block that it makes.
            StepKind::Unless { .. } if !step.labels.is_empty() => {
                let inner = Step { labels: vec![], ..step.clone() };
                let part = self.braces(&vec![inner], place)?;
                let id = self.element(Kinds::Block(Block::Plain, part), place);
                self.append(id);
                return step.labels.iter().try_for_each(|l| self.label(l, id));
            }
            _ => {}
        }
        self.at_start = false;
        let id = match self.statement(step) {
            Err(problem) if is_simple(&step.kind) => {
                self.names.problems.push(problem);
                self.action(Statement::Nothing, place, String::new())
            }
            done => done?,
        };
        for label in &step.labels {
            self.label(label, id)?;
        }
        // A labelled jump needs a place of its own for labels that mean something.
        let special = |l: &Ident| ["end", "accept", "progress"].iter().any(|p| l.name.starts_with(p));
        if matches!(self.body.elements[id].kind, Kinds::Goto(..) | Kinds::Leave(_)) && step.labels.iter().any(special) {
            let skip = self.action(Statement::Nothing, place, "(1)".into());
            let first = self.body.labels.len() - step.labels.len();
            self.body.labels[first..].iter_mut().for_each(|label| label.element = skip);
            self.body.elements[id].labelled = false;
            self.body.elements[skip].labelled = true;
            self.append(skip);
        }
        let appended = matches!(step.kind, StepKind::If(_) | StepKind::Do(_) | StepKind::Unless { .. })
            || matches!(step.kind, StepKind::ForRange { .. } | StepKind::ForIn { .. } | StepKind::Select { .. });
        if !appended {
            self.append(id);
        }
        Ok(())
    }

    fn declaration(&mut self, declaration: &syntax::Declaration) -> Result<(), Problem> {
        let declared = self.names.declared(declaration)?;
        let given = self.names.initial(&declared, declaration.initial.as_ref(), Some(&self.scope))?;
        if let (false, LeafInitial::List(_)) = (self.at_start, &given) {
            return Err(Problem::new(
                declared.place,
                "a list of initial values can only stand at the beginning of a process",
            ));
        }
        let now = self.at_start || matches!(given, LeafInitial::Channel(_));
        let initial = if now { given.clone() } else { LeafInitial::Zero };
        let variable = self.names.variable(&declared, &initial, false)?;
        let (name, kind, place) = (declaration.name.clone(), declared.kind.clone(), declared.place);
        let array = declared.length.is_some();
        self.scope.declare(declared)?;
        self.locals.push(variable);
        if now {
            return Ok(());
        }
        // As in SPIN, that is a statement; of an array, it sets the first element.
        let value = match given {
            LeafInitial::Value(value) => value,
            _ => Value::Number(0),
        };
        let text = match (array, &declaration.initial) {
            (true, _) => format!("{}[0] = {}", name.name, value.number().unwrap_or(0)),
            (false, Some(syntax::Initial::Value(e))) => format!("{} = {}", name.name, print::expression(e)),
            (false, _) => format!("{} = 0", name.name),
        };
        let statement = match kind {
            // Nothing happens, but it is a step.
            Kind::Record(_) => Statement::Condition(Value::Number(1)),
            Kind::Scalar(_) => {
                let first = || Box::new(Expression { kind: Box::new(ExpressionKind::Number(0)), place });
                let reference = Reference { name, index: array.then(first), field: None };
                Statement::Assign(self.scope.variable(self.names, &reference)?, value)
            }
        };
        let id = self.action(statement, place, text);
        self.append(id);
        Ok(())
    }

    /// The element of a statement. Selections, loops and `unless` are in the sequence already.
    fn statement(&mut self, step: &Step) -> Result<Id, Problem> {
        let place = step.place;
        let text = || print::statement(&step.kind);
        let simple = match &step.kind {
            StepKind::Condition(e) => match (&*e.kind, self.scope.value(self.names, e)?) {
                // Only what is written as the number 1 is a `skip`: other conditions that always hold are steps wherever they stand.
                (ExpressionKind::Number(_) | ExpressionKind::Name(_), Value::Number(1)) => Statement::Nothing,
                (_, value) => Statement::Condition(value),
            },
            StepKind::Assign { target, value } => {
                if &*target.name.name == "_priority" {
                    Statement::SetPriority(Value::Pid, self.scope.value(self.names, value)?)
                } else if &*target.name.name == "_" {
                    // The value goes nowhere, but it is computed.
                    let value = self.scope.value(self.names, value)?;
                    Statement::Condition(Value::Binary(BinaryOp::Or, Box::new(value), Box::new(Value::Number(1))))
                } else {
                    let access = self.scope.variable(self.names, target)?;
                    Statement::Assign(access, self.scope.value(self.names, value)?)
                }
            }
            StepKind::Send { channel, sorted, arguments } => {
                let channel = self.scope.channel(self.names, channel)?;
                let mut values = Vec::new();
                for argument in arguments {
                    values.extend(self.scope.values(self.names, argument)?);
                }
                Statement::Send { channel, sorted: *sorted, arguments: values }
            }
            StepKind::Receive { channel, random, keep, arguments } => {
                let channel = self.scope.channel(self.names, channel)?;
                let arguments = self.scope.fields(self.names, arguments)?;
                Statement::Receive { channel, random: *random, keep: *keep, arguments }
            }
            StepKind::Assert(e) => Statement::Assert(self.scope.value(self.names, e)?),
            StepKind::Print { format, arguments } => {
                let arguments = arguments.iter().map(|a| self.scope.value(self.names, a)).collect::<Result<_, _>>()?;
                Statement::Print { format: format.clone(), arguments }
            }
            StepKind::PrintName(e) => {
                let value = self.scope.value(self.names, e)?;
                Statement::Print { format: "%e".into(), arguments: vec![value] }
            }
            StepKind::SetPriority { process, priority } => {
                let process = self.scope.value(self.names, process)?;
                Statement::SetPriority(process, self.scope.value(self.names, priority)?)
            }
            StepKind::Else => Statement::Else,
            StepKind::Break => {
                let Some(exit) = self.loops.last() else {
                    return Err(Problem::new(place, "`break` is not in a loop"));
                };
                let exit = *exit;
                return Ok(self.element(Kinds::Leave(exit), place));
            }
            StepKind::Goto(label) => {
                let blocks = self.blocks.clone();
                return Ok(self.element(Kinds::Goto(label.clone(), blocks), place));
            }
            StepKind::If(options) => return self.selection(options, place),
            StepKind::Do(options) => {
                self.enter_loop();
                let mut parts = Vec::new();
                for option in options {
                    parts.push(self.option(option, place)?);
                }
                return self.repetition(parts, place);
            }
            StepKind::Atomic(steps) => {
                let part = self.braces(steps, place)?;
                self.mark_atomic(part, None);
                return Ok(self.element(Kinds::Block(Block::Atomic, part), place));
            }
            StepKind::DStep(steps) => {
                let part = self.braces(steps, place)?;
                self.mark_atomic(part, Some(part.first as u32));
                return Ok(self.element(Kinds::Block(Block::DStep, part), place));
            }
            StepKind::Block(steps) => {
                let part = self.braces(steps, place)?;
                return Ok(self.element(Kinds::Block(Block::Plain, part), place));
            }
            StepKind::Unless { main, escape } => {
                let mut main = self.braces(main, place)?;
                let mut escape = self.braces(escape, place)?;
                let id = self.element(Kinds::Dot, place);
                let target = self.element(Kinds::Dot, place);
                self.extend(&mut main, target);
                self.extend(&mut escape, target);
                self.body.elements[id].kind = Kinds::Unless(vec![main, escape]);
                self.attach(main, escape);
                self.append(id);
                self.append(target);
                return Ok(id);
            }
            StepKind::ForRange { variable, from, to, body } => return self.range(variable, from, to, body, place),
            StepKind::ForIn { variable, container, body } => return self.each(variable, container, body, place),
            StepKind::Select { variable, from, to } => {
                let first = self.assign_to(variable, from, place)?;
                self.append(first);
                self.open.push(None);
                let access = self.scope.variable(self.names, variable)?;
                let limit = self.scope.value(self.names, to)?;
                let condition = Value::Binary(BinaryOp::Less, Box::new(Value::Read(access)), Box::new(limit));
                let text = format!("(({}<{}))", variable, print::expression(to));
                let condition = self.action(Statement::Condition(condition), place, text);
                self.append(condition);
                self.enter_loop();
                self.count_up(variable, place)?;
                let body = self.close(place)?;
                return self.finish_loop(body, false, place);
            }
            StepKind::Declaration(_) | StepKind::Exclusive { .. } => unreachable!("handled before"),
        };
        Ok(self.action(simple, place, text()))
    }

    /// Takes out a `skip` that follows another one, where neither end of the sequence is touched.
    fn prune(&mut self, part: &mut Part) {
        let mut before = part.first;
        let mut skips = 0;
        let mut at = Some(part.first);
        while let Some(id) = at {
            let element = &self.body.elements[id];
            at = element.next;
            let (is_skip, is_print) = match &element.kind {
                Kinds::Action(action) => match &action.statement {
                    Statement::Nothing => (true, false),
                    Statement::Print { .. } => (true, true),
                    _ => (false, false),
                },
                _ => (false, false),
            };
            if is_skip && !element.labelled {
                skips += 1;
                if skips > 1 && !is_print && id != part.first && id != part.last {
                    self.body.elements[before].next = at;
                    continue;
                }
            } else {
                skips = 0;
            }
            before = id;
        }
    }

    /// Marks everything in a sequence as atomic, its very last element as the last.
    fn mark_atomic(&mut self, part: Part, d_step: Option<u32>) {
        self.walk_atomic(part.first, part.last, d_step);
        let last = part.last;
        if let Kinds::Block(Block::Plain | Block::Atomic, inner) = self.body.elements[last].kind {
            self.mark_atomic(inner, d_step);
        } else {
            let last = &mut self.body.elements[last];
            last.atomic = false;
            last.last_of_atomic = true;
        }
    }

    fn walk_atomic(&mut self, first: Id, last: Id, d_step: Option<u32>) {
        let mut at = Some(first);
        while let Some(id) = at {
            let element = &mut self.body.elements[id];
            if let (Kinds::Unless(_), Some(_), None) = (&element.kind, d_step, element.in_d_step) {
                let message = "`unless` has no effect within a d_step";
                self.names.warnings.push(Problem::new(element.place, message));
            }
            element.atomic = true;
            element.in_d_step = d_step.or(element.in_d_step);
            let next = element.next;
            let inner: Vec<Part> = match &mut element.kind {
                Kinds::Block(block, part) => {
                    if *block == Block::Atomic || *block == Block::DStep && d_step.is_some() {
                        *block = Block::Plain;
                    }
                    if *block == Block::Plain { vec![*part] } else { vec![] }
                }
                Kinds::Select(parts) | Kinds::Unless(parts) => parts.clone(),
                _ => vec![],
            };
            for part in inner {
                self.walk_atomic(part.first, part.last, d_step);
            }
            at = if id == last { None } else { next };
        }
    }

    /// Covers every element of a sequence with an escape.
    fn attach(&mut self, part: Part, escape: Part) {
        let mut at = Some(part.first);
        while let Some(id) = at {
            self.cover(id, escape);
            at = if id == part.extent { None } else { self.body.elements[id].next };
        }
    }

    fn cover(&mut self, id: Id, escape: Part) {
        if self.body.elements[id].escapes.contains(&escape) {
            return;
        }
        for inner in self.body.elements[id].escapes.clone() {
            self.attach(inner, escape);
        }
        self.body.elements[id].escapes.insert(0, escape);
        match &self.body.elements[id].kind {
            Kinds::Unless(parts) => {
                let main = parts[0];
                self.attach(main, escape);
            }
            Kinds::Select(parts) => parts.clone().into_iter().for_each(|part| self.attach(part, escape)),
            Kinds::Block(Block::DStep, part) => {
                let first = part.first;
                self.cover(first, escape);
            }
            Kinds::Block(_, part) => {
                let part = *part;
                self.attach(part, escape);
            }
            _ => {}
        }
    }
}

/// Statements that have no others in them: where one is wrong, the rest of the body can be looked at.
fn is_simple(kind: &StepKind) -> bool {
    matches!(
        kind,
        StepKind::Condition(_)
            | StepKind::Assign { .. }
            | StepKind::Send { .. }
            | StepKind::Receive { .. }
            | StepKind::Assert(_)
            | StepKind::Print { .. }
            | StepKind::PrintName(_)
            | StepKind::SetPriority { .. }
    )
}
