//! The rules that everything behind the front ends relies on.

use crate::event::Event;
use crate::expr::Expr;
use crate::system::{Invalid, Overflow, ProcessId, Role, System, Variable};

impl System {
    /// Checks the rules that everything behind the front ends relies on.
    pub fn validate(&self) -> Result<(), Invalid> {
        let fail = |what: String| Err(Invalid(what));
        for v in &self.variables {
            if v.domain.low > v.domain.high {
                return fail(format!("variable {} has an empty domain", v.name));
            }
            if v.domain.overflow == Overflow::Wrap && !v.domain.fills_width() {
                return fail(format!("variable {} wraps but its domain is not that of a machine integer", v.name));
            }
            if v.length == Some(0) {
                return fail(format!("array {} is empty", v.name));
            }
        }
        for (i, p) in self.processes.iter().enumerate() {
            let control = self.variables.get(p.control.index());
            if control.map(|c| c.role) != Some(Role::Control(ProcessId(i as u32))) {
                return fail(format!("process {} has no control variable of its own", p.name));
            }
        }
        if self.initial.is_empty() {
            return fail("there is no initial state".into());
        }
        let cells: usize = self.variables.iter().map(Variable::cells).sum();
        for values in &self.initial {
            if values.len() != cells {
                return fail(format!("an initial state has {} values for {cells} cells", values.len()));
            }
            let mut at = 0;
            for v in &self.variables {
                for value in &values[at..at + v.cells()] {
                    if !v.domain.contains(*value) {
                        return fail(format!("initial value {value} of {} is outside its domain", v.name));
                    }
                }
                at += v.cells();
            }
        }
        for e in &self.events {
            self.check_event(e)?;
            for m in &e.moves {
                let Some(p) = self.processes.get(m.process.index()) else {
                    return fail(format!("event {} moves an unknown process", e.label));
                };
                if m.from.max(m.to) as usize >= p.locations.len() {
                    return fail(format!("event {} moves {} to an unknown location", e.label, p.name));
                }
            }
            for a in &e.effects {
                self.check_shape(&a.value)?;
                if let Some(index) = &a.index {
                    self.check_shape(index)?;
                }
                let is_array = self.variables.get(a.target.index()).map(|v| v.length.is_some());
                if is_array != Some(a.index.is_some()) {
                    return fail(format!("event {} assigns to an array without an index or the reverse", e.label));
                }
            }
        }
        if let Some(condition) = &self.valid_end {
            self.check_shape(condition)?;
        }
        for a in &self.assertions {
            self.check_shape(&a.condition)?;
        }
        for m in self.claim.iter().flat_map(|c| &c.moves) {
            self.check_shape(&m.guard)?;
        }
        Ok(())
    }

    /// The conditions of an event, and what happens after it.
    fn check_event(&self, event: &Event) -> Result<(), Invalid> {
        self.check_shape(&event.guard)?;
        if let Some(assertion) = &event.assertion {
            self.check_shape(assertion)?;
        }
        if event.fault.is_some_and(|message| message as usize >= self.fault_messages.len()) {
            return Err(Invalid(format!("event {} is a fault without a message", event.label)));
        }
        match event.then.exclusive() {
            Some(process) if process.index() >= self.processes.len() => {
                Err(Invalid(format!("after event {} an unknown process goes on", event.label)))
            }
            Some(process) if self.claim.as_ref().is_some_and(|claim| claim.process == process) => {
                Err(Invalid(format!("after event {} the claim goes on", event.label)))
            }
            _ => Ok(()),
        }
    }

    /// Scalars are read as scalars and arrays as arrays.
    fn check_shape(&self, e: &Expr) -> Result<(), Invalid> {
        match e {
            Expr::Const(_) => Ok(()),
            Expr::Var(v) => match self.variables.get(v.index()) {
                Some(v) if v.length.is_none() => Ok(()),
                _ => Err(Invalid(format!("variable {} is not a scalar", v.0))),
            },
            Expr::Element(v, index) => match self.variables.get(v.index()) {
                Some(v) if v.length.is_some() => self.check_shape(index),
                _ => Err(Invalid(format!("variable {} is not an array", v.0))),
            },
            Expr::Table(_, a) | Expr::Unary(_, a) => self.check_shape(a),
            Expr::Binary(_, a, b) => self.check_shape(a).and_then(|_| self.check_shape(b)),
            Expr::If(a, b, c) => {
                self.check_shape(a)?;
                self.check_shape(b)?;
                self.check_shape(c)
            }
        }
    }
}
