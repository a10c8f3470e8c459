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
        let high = low + ranks.len() as i64 - 1;
        let binary = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        let above = binary(BinaryOp::GreaterEqual, (**read).clone(), Expr::Const(low));
        let below = binary(BinaryOp::LessEqual, (**read).clone(), Expr::Const(high));
        let inside = binary(BinaryOp::And, above, below);
        let expected = Expr::If(Box::new(inside), Box::new(table.clone()), Box::new(Expr::Const(0)));
        (*whole == expected).then_some((self.cell(read)?, Ranks { low, table: ranks }))
    }
}

impl Component {
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
