//! Conditions on single states, as invariants need them, and numbers that states tell: machine code where there is some, the interpreter elsewhere.
//!
//! A condition that ends in a fault does not hold; a [`Predicate`] says which fault it was. Both types own all they need
//! and are used from several threads.

use crate::BuildError;
use crate::code::{Assembler, Code};
use crate::emit::{Emitter, Target, View};
use crate::interpret::Interpreter;
use crate::program::{Program, fits};
use crate::run::evaluate;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types::I64;
use scrimp_system::{Expr, Fault};
use std::sync::Arc;

/// Conditions that share one function, and one word of answers.
const GROUP: usize = 64;

/// A condition ready to be evaluated.
pub struct Predicate {
    program: Arc<Program>,
    /// Owns the tables that the code reads.
    condition: Expr,
    code: Option<Code>,
}

/// A number that a state tells, ready to be evaluated.
pub struct Quantity {
    program: Arc<Program>,
    value: Expr,
    code: Option<Code>,
}

impl Quantity {
    /// Panics if the expression reads a variable that the system does not have.
    pub fn new(program: Arc<Program>, value: &Expr, compiled: bool) -> Quantity {
        assert!(fits(&program.system, value), "the expression does not fit the system");
        let value = value.clone();
        let code = if compiled && !value.may_fault(&program.system.variables) {
            compile_value(&program, &value).ok()
        } else {
            None
        };
        Quantity { program, value, code }
    }

    pub fn of(&self, state: &[u8]) -> Result<i64, Fault> {
        assert_eq!(state.len(), self.program.layout.bytes());
        match &self.code {
            // SAFETY: this is the code's only function, made for states of this length.
            Some(code) => Ok(unsafe { evaluate(code.entries()[0], state) } as i64),
            None => self.program.layout.eval(&self.value, state),
        }
    }
}

/// Returns the value of an expression that has no faults.
fn compile_value(program: &Program, value: &Expr) -> Result<Code, BuildError> {
    let mut assembler = Assembler::new()?;
    assembler.function(1, |builder, parameters| {
        let mut emitter = Emitter::new(builder, &program.system, &program.layout, parameters[0]);
        let value = emitter.value(value, View::Source);
        emitter.builder.ins().return_(&[value]);
    })?;
    assembler.finish()
}

/// Several conditions, evaluated together.
pub struct Conditions {
    program: Arc<Program>,
    conditions: Vec<Expr>,
    code: Option<Code>,
}

impl Predicate {
    /// Panics if the condition reads a variable that the system does not have: properties are checked when parsed.
    pub fn new(program: Arc<Program>, condition: &Expr, compiled: bool) -> Predicate {
        assert!(fits(&program.system, condition), "the condition does not fit the system");
        let condition = condition.clone();
        let code = if compiled { compile_one(&program, &condition).ok() } else { None };
        Predicate { program, condition, code }
    }

    pub fn holds(&self, state: &[u8]) -> Result<bool, Fault> {
        assert_eq!(state.len(), self.program.layout.bytes());
        let Some(code) = &self.code else {
            return Interpreter::new(&self.program).holds(&self.condition, state);
        };
        // SAFETY: this is the code's only function, made for states of this length.
        match unsafe { evaluate(code.entries()[0], state) } {
            0 => Ok(false),
            1 => Ok(true),
            fault => Err(Fault::from_code(fault as u32 - 1).unwrap_or(Fault::Range)),
        }
    }
}

/// Returns 0, 1, or one more than the number of a fault.
fn compile_one(program: &Program, condition: &Expr) -> Result<Code, BuildError> {
    let mut assembler = Assembler::new()?;
    assembler.function(1, |builder, parameters| {
        let mut emitter = Emitter::new(builder, &program.system, &program.layout, parameters[0]);
        let (yes, no) = (emitter.builder.create_block(), emitter.builder.create_block());
        emitter.branch(condition, View::Source, Target::to(yes), Target::to(no));
        let faults = emitter.take_faults().into_iter().map(|(fault, block)| (block, fault as i64 + 1));
        for (block, answer) in [(yes, 1), (no, 0)].into_iter().chain(faults) {
            emitter.builder.switch_to_block(block);
            let answer = emitter.number(answer);
            emitter.builder.ins().return_(&[answer]);
        }
    })?;
    assembler.finish()
}

impl Conditions {
    /// Panics if a condition reads a variable that the system does not have.
    pub fn new(program: Arc<Program>, conditions: &[Expr], compiled: bool) -> Conditions {
        assert!(conditions.iter().all(|e| fits(&program.system, e)), "a condition does not fit the system");
        let conditions = conditions.to_vec();
        let code = if compiled { compile_groups(&program, &conditions).ok() } else { None };
        Conditions { program, conditions, code }
    }

    pub fn len(&self) -> usize {
        self.conditions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Do all of them hold?
    pub fn hold(&self, state: &[u8]) -> bool {
        self.masks(state).all(|(_, mask)| mask == 0)
    }

    /// The number of the first that does not hold.
    pub fn first_failing(&self, state: &[u8]) -> Option<usize> {
        self.failing(state).next()
    }

    /// The numbers of those that do not hold.
    pub fn failing<'a>(&'a self, state: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        self.masks(state)
            .flat_map(|(start, mask)| (0..GROUP).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| start + bit))
    }

    /// What one of them comes to, fault included.
    pub fn result(&self, number: usize, state: &[u8]) -> Result<bool, Fault> {
        Interpreter::new(&self.program).holds(&self.conditions[number], state)
    }

    /// For each group its first condition and the mask of those that do not hold.
    fn masks<'a>(&'a self, state: &'a [u8]) -> impl Iterator<Item = (usize, u64)> + 'a {
        assert_eq!(state.len(), self.program.layout.bytes());
        let groups = self.conditions.chunks(GROUP).enumerate();
        groups.map(move |(group, conditions)| {
            let mask = match &self.code {
                // SAFETY: there is one function per group, made for states of this length.
                Some(code) => unsafe { evaluate(code.entries()[group], state) },
                None => {
                    let interpreter = Interpreter::new(&self.program);
                    let fails = |e: &Expr| interpreter.holds(e, state) != Ok(true);
                    conditions.iter().enumerate().map(|(bit, e)| (fails(e) as u64) << bit).sum()
                }
            };
            (group * GROUP, mask)
        })
    }
}

fn compile_groups(program: &Program, conditions: &[Expr]) -> Result<Code, BuildError> {
    let mut assembler = Assembler::new()?;
    for group in conditions.chunks(GROUP) {
        assembler.function(1, |builder, parameters| {
            let mut emitter = Emitter::new(builder, &program.system, &program.layout, parameters[0]);
            let mut mask = emitter.number(0);
            for (bit, condition) in group.iter().enumerate() {
                let next = emitter.builder.create_block();
                let joined = emitter.builder.append_block_param(next, I64);
                let fails = emitter.builder.create_block();
                let good = Target { block: next, arguments: &[mask.into()] };
                emitter.branch(condition, View::Source, good, Target::to(fails));
                for (_, fault) in emitter.take_faults() {
                    emitter.builder.switch_to_block(fault);
                    emitter.builder.ins().jump(fails, &[]);
                }
                emitter.builder.switch_to_block(fails);
                let this = emitter.number(1i64 << bit);
                let marked = emitter.builder.ins().bor(mask, this);
                emitter.builder.ins().jump(next, &[marked.into()]);
                emitter.builder.switch_to_block(next);
                mask = joined;
            }
            emitter.builder.ins().return_(&[mask]);
        })?;
    }
    assembler.finish()
}
