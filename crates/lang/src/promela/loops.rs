//! Selections and loops: `if`, `do`, and what is a `do` in disguise, `for` and `select`.

use super::core::{Access, ChannelTest, Field, LeafInitial, Scalar, Statement, Value};
use super::declare::{Declared, Kind};
use super::element::{Builder, Id, Kinds, Part};
use super::print;
use super::syntax::{Expression, ExpressionKind, Ident, Reference, Sequence};
use crate::diagnostic::{Place, Problem};
use scrimp_system::BinaryOp;
use std::sync::Arc;

impl Builder<'_> {
    pub(super) fn enter_loop(&mut self) {
        self.body.exits.push(None);
        self.loops.push(self.body.exits.len() - 1);
    }

    pub(super) fn selection(&mut self, options: &[Sequence], place: Place) -> Result<Id, Problem> {
        let mut parts = Vec::new();
        for option in options {
            parts.push(self.option(option, place)?);
        }
        let id = self.element(Kinds::Dot, place);
        let target = self.element(Kinds::Dot, place);
        self.else_last(&mut parts, place)?;
        for part in &mut parts {
            self.extend(part, target);
        }
        self.body.elements[id].kind = Kinds::Select(parts);
        self.append(id);
        self.append(target);
        Ok(id)
    }

    /// A loop, whose options are there.
    pub(super) fn repetition(&mut self, mut parts: Vec<Part>, place: Place) -> Result<Id, Problem> {
        let id = self.element(Kinds::Dot, place);
        let head = self.element(Kinds::Dot, place);
        self.else_last(&mut parts, place)?;
        for part in &mut parts {
            self.extend(part, head);
        }
        self.body.elements[id].kind = Kinds::Select(parts);
        let exit = self.element(Kinds::Break, place);
        let number = self.loops.pop().expect("a loop was entered");
        self.body.exits[number] = Some(exit);
        self.append(head);
        self.append(id);
        self.append(exit);
        Ok(id)
    }

    /// Moves `else` behind the other options.
    pub(super) fn else_last(&self, parts: &mut [Part], place: Place) -> Result<(), Problem> {
        let is_else = |part: &Part| match &self.body.elements[part.first].kind {
            Kinds::Action(action) => matches!(action.statement, Statement::Else),
            _ => false,
        };
        if parts.iter().filter(|p| is_else(p)).count() > 1 {
            return Err(Problem::new(place, "there are two `else` here"));
        }
        if let Some(position) = parts.iter().position(is_else) {
            parts[position..].rotate_left(1);
        }
        Ok(())
    }

    pub(super) fn assign_to(&mut self, variable: &Reference, value: &Expression, place: Place) -> Result<Id, Problem> {
        let access = self.scope.variable(self.names, variable)?;
        let text = format!("{} = {}", variable, print::expression(value));
        let value = self.scope.value(self.names, value)?;
        Ok(self.action(Statement::Assign(access, value), place, text))
    }

    /// Appends `variable = variable + 1`.
    pub(super) fn count_up(&mut self, variable: &Reference, place: Place) -> Result<(), Problem> {
        let access = self.scope.variable(self.names, variable)?;
        let name = variable.to_string();
        let more = increment(&access);
        let id = self.action(Statement::Assign(access, more), place, format!("{name} = ({name}+1)"));
        self.append(id);
        Ok(())
    }

    /// The loop of a `for` or `select`: leaving it is an option of its own.
    pub(super) fn finish_loop(&mut self, body: Part, with_else: bool, place: Place) -> Result<Id, Problem> {
        self.open.push(None);
        if with_else {
            let otherwise = self.action(Statement::Else, place, "else".into());
            self.append(otherwise);
        }
        let exit = *self.loops.last().expect("a loop was entered");
        let leave = self.element(Kinds::Leave(exit), place);
        self.append(leave);
        let leaving = self.close(place)?;
        self.repetition(vec![leaving, body], place)
    }

    pub(super) fn range(
        &mut self,
        variable: &Reference,
        from: &Expression,
        to: &Expression,
        body: &Sequence,
        place: Place,
    ) -> Result<Id, Problem> {
        let first = self.assign_to(variable, from, place)?;
        self.append(first);
        let access = self.scope.variable(self.names, variable)?;
        let limit = self.scope.value(self.names, to)?;
        let condition = Value::Binary(BinaryOp::LessEqual, Box::new(Value::Read(access)), Box::new(limit));
        let text = format!("(({}<={}))", variable, print::expression(to));
        self.loop_body(condition, text, None, body, place)?;
        self.count_and_finish(variable, place)
    }

    /// Opens the option of a `for` that goes on: the condition, then the body.
    pub(super) fn loop_body(
        &mut self,
        condition: Value,
        text: String,
        rotate: Option<[(Statement, String); 2]>,
        body: &Sequence,
        place: Place,
    ) -> Result<(), Problem> {
        self.open.push(None);
        let condition = self.action(Statement::Condition(condition), place, text);
        self.append(condition);
        for (statement, text) in rotate.into_iter().flatten() {
            let id = self.action(statement, place, text);
            self.append(id);
        }
        self.enter_loop();
        self.enter_block();
        self.steps(body)?;
        self.leave_block();
        Ok(())
    }

    pub(super) fn count_and_finish(&mut self, variable: &Reference, place: Place) -> Result<Id, Problem> {
        self.count_up(variable, place)?;
        let body = self.close(place)?;
        self.finish_loop(body, true, place)
    }

    /// `for (x in container)`.
    pub(super) fn each(
        &mut self,
        variable: &Reference,
        container: &Reference,
        body: &Sequence,
        place: Place,
    ) -> Result<Id, Problem> {
        // Counts messages; declared in any case, so that the numbers of variables do not depend on types.
        let name: Arc<str> = format!("for_{}", self.scope.locals.len()).into();
        let declared = Declared { name: name.clone(), kind: Kind::Scalar(Scalar::Byte), length: None, place };
        let counter = self.names.variable(&declared, &LeafInitial::Zero, false)?;
        self.scope.declare(declared)?;
        self.locals.push(counter);
        let counter = Reference { name: Ident { name, place }, index: None, field: None };
        if let Some(cells) = self.scope.record_cells(self.names, variable)? {
            return self.each_message(&counter, variable, cells, container, body, place);
        }
        let Some(length) = self.scope.whole_array(self.names, container)? else {
            let message = format!("`{}` is not an array", container.name.name);
            return Err(Problem::new(container.name.place, message));
        };
        let number = |n: i64| Expression { kind: Box::new(ExpressionKind::Number(n)), place: container.name.place };
        self.range(variable, &number(0), &number(length as i64 - 1), body, place)
    }

    /// Every message of a channel: each is taken out, put back behind the others, and looked at.
    pub(super) fn each_message(
        &mut self,
        counter: &Reference,
        variable: &Reference,
        cells: Vec<Access>,
        container: &Reference,
        body: &Sequence,
        place: Place,
    ) -> Result<Id, Problem> {
        let channel = self.scope.channel(self.names, container)?;
        let name = &counter.name.name;
        let access = self.scope.variable(self.names, counter)?;
        let first = self.action(Statement::Assign(access.clone(), Value::Number(0)), place, format!("{name} = 0"));
        self.append(first);
        let length = Value::Channel(ChannelTest::Length, Box::new(channel.clone()));
        let condition = Value::Binary(BinaryOp::Less, Box::new(Value::Read(access)), Box::new(length));
        let fields = cells.iter().cloned().map(Field::Store).collect();
        let values = cells.into_iter().map(Value::Read).collect();
        let (of, what) = (container.to_string(), variable.to_string());
        let receive = Statement::Receive { channel: channel.clone(), random: false, keep: false, arguments: fields };
        let send = Statement::Send { channel, sorted: false, arguments: values };
        let rotate = [(receive, format!("{of}?{what}")), (send, format!("{of}!{what}"))];
        self.loop_body(condition, format!("(({name}<len({of})))"), Some(rotate), body, place)?;
        self.count_and_finish(counter, place)
    }
}

fn increment(access: &Access) -> Value {
    Value::Binary(BinaryOp::Add, Box::new(Value::Read(access.clone())), Box::new(Value::Number(1)))
}
