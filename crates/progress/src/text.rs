//! Components from expressions, and back to text that can be read again.

use crate::component::{Cell, Component, Form, Ranks, Term};
use crate::range::range;
use scrimp_system::{BinaryOp, Expr, Layout, Role, System, UnaryOp};
use std::sync::Arc;

/// The component that an expression is: a sum if it has that form, else the tree itself.
pub fn component(system: &System, layout: &Arc<Layout>, value: &Expr, text: &str) -> Component {
    let mut sum = Summing { system, layout, terms: vec![], constant: 0 };
    if sum.add(value, 1).is_some()
        && let Some(component) = Component::sum(sum.terms, sum.constant)
    {
        return component;
    }
    let (low, high) = range(system, value);
    let form = Form::Tree { tree: value.clone(), layout: layout.clone(), text: text.to_string() };
    Component { form, low, high, name: None }
}

struct Summing<'a> {
    system: &'a System,
    layout: &'a Layout,
    terms: Vec<Term>,
    constant: i64,
}

impl Summing<'_> {
    /// Adds `weight` times an expression; `None` if it is no sum.
    fn add(&mut self, e: &Expr, weight: i64) -> Option<()> {
        match e {
            Expr::Const(value) => self.constant = self.constant.checked_add(value.checked_mul(weight)?)?,
            Expr::Unary(UnaryOp::Negate, a) => self.add(a, weight.checked_neg()?)?,
            Expr::Binary(BinaryOp::Add, a, b) => {
                self.add(a, weight)?;
                self.add(b, weight)?;
            }
            Expr::Binary(BinaryOp::Subtract, a, b) => {
                self.add(a, weight)?;
                self.add(b, weight.checked_neg()?)?;
            }
            Expr::Binary(BinaryOp::Multiply, a, b) => match (a.as_const(), b.as_const()) {
                (Some(k), _) => self.add(b, weight.checked_mul(k)?)?,
                (_, Some(k)) => self.add(a, weight.checked_mul(k)?)?,
                _ => return None,
            },
            Expr::If(_, table, _) => {
                let (cell, ranks) = self.ranking(e, table)?;
                self.terms.push(Term::new(self.system, self.layout, cell, weight, Some(ranks)));
            }
            leaf => {
                let cell = self.cell(leaf)?;
                self.terms.push(Term::new(self.system, self.layout, cell, weight, None));
            }
        }
        Some(())
    }

    fn cell(&self, e: &Expr) -> Option<Cell> {
        match e {
            Expr::Var(variable) => Some(Cell { variable: *variable, index: 0 }),
            Expr::Element(variable, index) => {
                let index = u32::try_from(index.as_const()?).ok()?;
                let exists = (index as usize) < self.system.variables[variable.index()].cells();
                exists.then_some(Cell { variable: *variable, index })
            }
            _ => None,
        }
    }

    /// What a ranking is lowered to: the table behind a test that the value is in it.
    fn ranking(&self, whole: &Expr, table: &Expr) -> Option<(Cell, Ranks)> {
        let Expr::Table(values, at) = table else { return None };
        let Expr::Binary(BinaryOp::Subtract, read, low) = &**at else { return None };
        let low = low.as_const()?;
        let ranks = values.iter().map(|&rank| u32::try_from(rank).ok()).collect::<Option<Arc<[u32]>>>()?;
        let ranks = Ranks { low, table: ranks };
        (*whole == ranked(read, &ranks)).then_some((self.cell(read)?, ranks))
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// The rank of what is read, as an expression: a table, behind a test that the value is in it.
fn ranked(read: &Expr, ranks: &Ranks) -> Expr {
    let low = ranks.low;
    let high = low + ranks.table.len() as i64 - 1;
    let above = binary(BinaryOp::GreaterEqual, read.clone(), Expr::Const(low));
    let below = binary(BinaryOp::LessEqual, read.clone(), Expr::Const(high));
    let values = ranks.table.iter().map(|&rank| i64::from(rank)).collect();
    let table = Expr::Table(values, Box::new(binary(BinaryOp::Subtract, read.clone(), Expr::Const(low))));
    Expr::If(Box::new(binary(BinaryOp::And, above, below)), Box::new(table), Box::new(Expr::Const(0)))
}

impl Component {
    /// As a tree that is not deep, of which [`component`] makes the same again.
    pub fn expression(&self) -> Expr {
        let (terms, constant) = match &self.form {
            Form::Tree { tree, .. } => return tree.clone(),
            Form::Sum(terms, constant) => (terms, *constant),
        };
        let mut parts: Vec<Expr> = terms.iter().map(Term::expression).collect();
        parts.push(Expr::Const(constant));
        while parts.len() > 1 {
            let mut rest = std::mem::take(&mut parts).into_iter();
            while let Some(a) = rest.next() {
                parts.push(match rest.next() {
                    Some(b) => binary(BinaryOp::Add, a, b),
                    None => a,
                });
            }
        }
        parts.pop().unwrap_or(Expr::Const(0))
    }

    /// As it is written.
    pub fn text(&self, system: &System) -> String {
        if let Some(name) = self.name {
            return name.into();
        }
        let (terms, constant) = match &self.form {
            Form::Tree { text, .. } => return text.clone(),
            Form::Sum(terms, constant) => (terms, *constant),
        };
        let mut text = String::new();
        for term in terms {
            let sign = match (text.is_empty(), term.weight < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text.push_str(sign);
            if term.weight.unsigned_abs() != 1 {
                text.push_str(&format!("{} * ", term.weight.unsigned_abs()));
            }
            text.push_str(&term.text(system));
        }
        match constant {
            0 if !text.is_empty() => {}
            _ if text.is_empty() => text = constant.to_string(),
            ..0 => text.push_str(&format!(" - {}", constant.unsigned_abs())),
            _ => text.push_str(&format!(" + {constant}")),
        }
        text
    }
}

impl Term {
    fn expression(&self) -> Expr {
        let Cell { variable, index } = self.cell;
        let read = match index {
            0 if !self.in_array => Expr::Var(variable),
            _ => Expr::Element(variable, Box::new(Expr::Const(index.into()))),
        };
        let value = match &self.ranks {
            Some(ranks) => ranked(&read, ranks),
            None => read,
        };
        binary(BinaryOp::Multiply, Expr::Const(self.weight), value)
    }

    fn text(&self, system: &System) -> String {
        let name = self.cell.name(system);
        let control = match system.variables[self.cell.variable.index()].role {
            Role::Control(process) => Some(&system.processes[process.index()].locations),
            _ => None,
        };
        let spell = |value: i64| match control.and_then(|names| names.get(usize::try_from(value).ok()?)) {
            Some(location) => location.clone(),
            None => value.to_string(),
        };
        let Some(ranks) = &self.ranks else { return name };
        // Lowest values are left out where they are not needed to name the first rank and the extent of the table.
        let mut groups = vec![vec![]; ranks.highest() as usize + 1];
        let last = ranks.table.len() - 1;
        for (at, &rank) in ranks.table.iter().enumerate() {
            let needed = rank > 0 || control.is_some() || at == 0 || at == last || groups[0].is_empty();
            let known = control.is_none_or(|names| (at as i64 + ranks.low) < names.len() as i64);
            if needed && known {
                groups[rank as usize].push(spell(ranks.low + at as i64));
            }
        }
        let groups: Vec<String> = groups.into_iter().filter(|group| !group.is_empty()).map(|g| g.join(", ")).collect();
        format!("{name}{{{}}}", groups.join(" < "))
    }
}
