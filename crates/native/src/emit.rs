//! Expressions as Cranelift code.
//!
//! Everything is a 64-bit integer while it is computed on. Conditions become control flow, not values. Nothing traps:
//! what could go wrong is tested first, and the test leads to a fault block, which whoever uses the emitter fills in
//! once per [`Emitter::take_faults`]. The state that is left never changes while code runs, so its variables are read
//! with loads that the optimiser may merge; what an event has written so far is remembered as values, not read back.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;
use scrimp_system::{BinaryOp, Expr, Fault, Field, Layout, Overflow, System, UnaryOp, VarId};
use std::collections::{HashMap, HashSet};

/// Memory that is there; it need not be aligned.
pub fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Memory that also does not change while the function runs.
fn constant() -> MemFlagsData {
    plain().with_readonly()
}

/// Such memory at a fixed place, where a load is as good at one point of the program as at another.
pub fn fixed() -> MemFlagsData {
    constant().with_can_move()
}

/// Where a branch goes, and what it brings.
#[derive(Clone, Copy)]
pub struct Target<'t> {
    pub block: Block,
    pub arguments: &'t [BlockArg],
}

impl Target<'static> {
    pub fn to(block: Block) -> Target<'static> {
        Target { block, arguments: &[] }
    }
}

/// The state in which an expression is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The one that is left.
    Source,
    /// The copy that is becoming the successor.
    Copy,
}

/// The copy: where it is, and how it differs from the source so far.
struct Successor {
    pointer: Value,
    /// Cells whose value is known.
    cells: HashMap<(VarId, u32), Value>,
    /// Variables with a cell written that is not known by number.
    blurred: HashSet<VarId>,
}

pub struct Emitter<'e, 'f> {
    pub builder: &'e mut FunctionBuilder<'f>,
    system: &'e System,
    layout: &'e Layout,
    source: Value,
    successor: Option<Successor>,
    faults: Vec<(Fault, Block)>,
}

fn cell_type(width: usize) -> Type {
    match width {
        1 => I8,
        2 => I16,
        4 => I32,
        _ => I64,
    }
}

impl<'e, 'f> Emitter<'e, 'f> {
    pub fn new(
        builder: &'e mut FunctionBuilder<'f>,
        system: &'e System,
        layout: &'e Layout,
        source: Value,
    ) -> Emitter<'e, 'f> {
        Emitter { builder, system, layout, source, successor: None, faults: vec![] }
    }

    pub fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    /// From here on, `View::Copy` is a copy of the source at `pointer`.
    pub fn begin_copy(&mut self, pointer: Value) {
        self.successor = Some(Successor { pointer, cells: HashMap::new(), blurred: HashSet::new() });
    }

    /// The fault blocks that were branched to since the last call; each still needs its code.
    pub fn take_faults(&mut self) -> Vec<(Fault, Block)> {
        std::mem::take(&mut self.faults)
    }

    fn fault_block(&mut self, fault: Fault) -> Block {
        if let Some((_, block)) = self.faults.iter().find(|(f, _)| *f == fault) {
            return *block;
        }
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        self.faults.push((fault, block));
        block
    }

    /// Goes on only if `good` is not zero.
    fn check(&mut self, good: Value, fault: Fault) {
        let bad = self.fault_block(fault);
        let go_on = self.builder.create_block();
        self.builder.ins().brif(good, go_on, &[], bad, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// A fault for certain. What is emitted behind it is never reached, and the optimiser drops it.
    pub fn raise(&mut self, fault: Fault) -> Value {
        let bad = self.fault_block(fault);
        self.builder.ins().jump(bad, &[]);
        let unreachable = self.builder.create_block();
        self.builder.switch_to_block(unreachable);
        self.number(0)
    }

    /// Branches on a condition.
    pub fn branch(&mut self, e: &Expr, view: View, then: Target, otherwise: Target) {
        match e {
            Expr::Const(value) => {
                let target = if *value != 0 { then } else { otherwise };
                self.builder.ins().jump(target.block, target.arguments);
            }
            Expr::Unary(UnaryOp::Not, a) => self.branch(a, view, otherwise, then),
            Expr::Binary(BinaryOp::And, a, b) => {
                let both = self.builder.create_block();
                self.branch(a, view, Target::to(both), otherwise);
                self.builder.switch_to_block(both);
                self.branch(b, view, then, otherwise);
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                let second = self.builder.create_block();
                self.branch(a, view, then, Target::to(second));
                self.builder.switch_to_block(second);
                self.branch(b, view, then, otherwise);
            }
            Expr::If(condition, a, b) => {
                let (first, second) = (self.builder.create_block(), self.builder.create_block());
                self.branch(condition, view, Target::to(first), Target::to(second));
                self.builder.switch_to_block(first);
                self.branch(a, view, then, otherwise);
                self.builder.switch_to_block(second);
                self.branch(b, view, then, otherwise);
            }
            _ => {
                let truth = match e {
                    Expr::Binary(op, a, b) if comparison(*op).is_some() => self.compare(*op, a, b, view),
                    _ => self.value(e, view),
                };
                self.builder.ins().brif(truth, then.block, then.arguments, otherwise.block, otherwise.arguments);
            }
        }
    }

    /// The value of an expression.
    pub fn value(&mut self, e: &Expr, view: View) -> Value {
        match e {
            Expr::Const(value) => self.number(*value),
            Expr::Var(v) => self.cell(*v, 0, view),
            Expr::Element(v, index) => self.element(*v, index, view),
            Expr::Table(values, index) => self.table(values, index, view),
            Expr::Unary(op, a) => {
                let a = self.value(a, view);
                match op {
                    UnaryOp::Negate => self.builder.ins().ineg(a),
                    UnaryOp::Complement => self.builder.ins().bnot(a),
                    UnaryOp::Not => {
                        let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, a, 0);
                        self.builder.ins().uextend(I64, zero)
                    }
                }
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
                let (no, yes) = (self.number(0), self.number(1));
                let (join, truth) = self.join();
                let then = Target { block: join, arguments: &[yes.into()] };
                self.branch(e, view, then, Target { block: join, arguments: &[no.into()] });
                self.builder.switch_to_block(join);
                truth
            }
            Expr::Binary(op, a, b) if comparison(*op).is_some() => {
                let truth = self.compare(*op, a, b, view);
                self.builder.ins().uextend(I64, truth)
            }
            Expr::Binary(op, a, b) => self.arithmetic(*op, a, b, view),
            Expr::If(condition, a, b) => {
                let (first, second) = (self.builder.create_block(), self.builder.create_block());
                let (join, value) = self.join();
                self.branch(condition, view, Target::to(first), Target::to(second));
                for (block, e) in [(first, a), (second, b)] {
                    self.builder.switch_to_block(block);
                    let value = self.value(e, view);
                    self.builder.ins().jump(join, &[value.into()]);
                }
                self.builder.switch_to_block(join);
                value
            }
        }
    }

    /// A block that several others bring a value to.
    fn join(&mut self) -> (Block, Value) {
        let block = self.builder.create_block();
        let value = self.builder.append_block_param(block, I64);
        (block, value)
    }

    fn compare(&mut self, op: BinaryOp, a: &Expr, b: &Expr, view: View) -> Value {
        let code = comparison(op).expect("a comparison");
        let a = self.value(a, view);
        match b {
            Expr::Const(b) => self.builder.ins().icmp_imm_s(code, a, *b),
            _ => {
                let b = self.value(b, view);
                self.builder.ins().icmp(code, a, b)
            }
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, a: &Expr, b: &Expr, view: View) -> Value {
        let known = b.as_const();
        let a = self.value(a, view);
        let b = self.value(b, view);
        match op {
            BinaryOp::Add => self.builder.ins().iadd(a, b),
            BinaryOp::Subtract => self.builder.ins().isub(a, b),
            BinaryOp::Multiply => self.builder.ins().imul(a, b),
            BinaryOp::BitAnd => self.builder.ins().band(a, b),
            BinaryOp::BitOr => self.builder.ins().bor(a, b),
            BinaryOp::BitXor => self.builder.ins().bxor(a, b),
            BinaryOp::Divide | BinaryOp::Remainder => self.divide(op == BinaryOp::Remainder, a, b, known),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.shift(op == BinaryOp::ShiftRight, a, b, known),
            _ => unreachable!("comparisons and conditions are handled where they are met"),
        }
    }

    /// The machine's division must not see a divisor of 0 or -1: the second overflows for the smallest number.
    fn divide(&mut self, remainder: bool, a: Value, b: Value, known: Option<i64>) -> Value {
        match (known, remainder) {
            (Some(0), _) => self.raise(Fault::Division),
            (Some(-1), false) => self.builder.ins().ineg(a),
            (Some(-1), true) => self.number(0),
            (Some(_), false) => self.builder.ins().sdiv(a, b),
            (Some(_), true) => self.builder.ins().srem(a, b),
            (None, _) => {
                let good = self.builder.ins().icmp_imm_s(IntCC::NotEqual, b, 0);
                self.check(good, Fault::Division);
                let minus = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
                let one = self.number(1);
                let divisor = self.builder.ins().select(minus, one, b);
                if remainder {
                    return self.builder.ins().srem(a, divisor);
                }
                let quotient = self.builder.ins().sdiv(a, divisor);
                let negated = self.builder.ins().ineg(a);
                self.builder.ins().select(minus, negated, quotient)
            }
        }
    }

    fn shift(&mut self, right: bool, a: Value, b: Value, known: Option<i64>) -> Value {
        let within = match known {
            Some(distance) if (0..64).contains(&distance) => None,
            _ => Some(self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, b, 64)),
        };
        if right {
            let distance = match within {
                Some(within) => {
                    let all = self.number(63);
                    self.builder.ins().select(within, b, all)
                }
                None => b,
            };
            return self.builder.ins().sshr(a, distance);
        }
        let shifted = self.builder.ins().ishl(a, b);
        match within {
            Some(within) => {
                let zero = self.number(0);
                self.builder.ins().select(within, shifted, zero)
            }
            None => shifted,
        }
    }

    fn table(&mut self, values: &[i64], index: &Expr, view: View) -> Value {
        if let Some(index) = index.as_const() {
            return match usize::try_from(index).ok().and_then(|i| values.get(i)) {
                Some(value) => self.number(*value),
                None => self.raise(Fault::Index),
            };
        }
        let index = self.value(index, view);
        self.check_index(index, values.len());
        // The table is part of the model, which the code keeps alive and which never changes.
        let start = self.number(values.as_ptr() as i64);
        let pointer = self.scaled(start, index, 8);
        self.builder.ins().load(I64, constant().with_aligned(), pointer, 0)
    }

    fn check_index(&mut self, index: Value, length: usize) {
        let good = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, length as i64);
        self.check(good, Fault::Index);
    }

    fn scaled(&mut self, start: Value, index: Value, width: usize) -> Value {
        let distance = match width {
            1 => index,
            _ => self.builder.ins().ishl_imm_u(index, width.trailing_zeros() as i64),
        };
        self.builder.ins().iadd(start, distance)
    }

    fn element(&mut self, v: VarId, index: &Expr, view: View) -> Value {
        let slot = self.layout.slot(v);
        if let Some(index) = index.as_const() {
            return match index {
                _ if (0..slot.length as i64).contains(&index) => self.cell(v, index as u32, view),
                _ => self.raise(Fault::Index),
            };
        }
        let index = self.value(index, view);
        self.check_index(index, slot.length);
        if slot.width == 0 {
            return self.number(self.system.variables[v.index()].domain.low);
        }
        let copy = self.successor.as_ref().filter(|copy| view == View::Copy && copy.touches(v));
        let (start, flags) = copy.map_or((self.source, constant()), |copy| (copy.pointer, plain()));
        let pointer = self.scaled(start, index, slot.width);
        self.load(v, flags, pointer, slot.offset)
    }

    /// The value of a cell that is known to exist.
    pub fn cell(&mut self, v: VarId, index: u32, view: View) -> Value {
        let slot = self.layout.slot(v);
        if slot.width == 0 {
            return self.number(self.system.variables[v.index()].domain.low);
        }
        let offset = slot.offset + slot.width * index as usize;
        if let Some(copy) = self.successor.as_ref().filter(|_| view == View::Copy) {
            if let Some(value) = copy.cells.get(&(v, index)) {
                return *value;
            }
            if copy.blurred.contains(&v) {
                let pointer = copy.pointer;
                return self.load(v, plain(), pointer, offset);
            }
        }
        self.load(v, fixed(), self.source, offset)
    }

    fn load(&mut self, v: VarId, flags: MemFlagsData, pointer: Value, offset: usize) -> Value {
        let slot = self.layout.slot(v);
        let value = self.builder.ins().load(cell_type(slot.width), flags, pointer, offset as i32);
        self.extended(v, value)
    }

    /// The low bits of a cell as the number they stand for.
    fn extended(&mut self, v: VarId, low: Value) -> Value {
        let slot = self.layout.slot(v);
        let whole = match (slot.width, slot.signed) {
            (8, _) => low,
            (_, true) => self.builder.ins().sextend(I64, low),
            (_, false) => self.builder.ins().uextend(I64, low),
        };
        let Some(field) = slot.field else { return whole };
        let shifted = self.builder.ins().ushr_imm_u(whole, field.shift as i64);
        let mask = self.number(field.mask as i64);
        self.builder.ins().band(shifted, mask)
    }

    /// Stores `value` in the copy if the variable's domain allows it.
    pub fn assign(&mut self, v: VarId, index: Option<&Expr>, value: &Expr, view: View) {
        let slot = self.layout.slot(v);
        let place = match index.map(|index| (index, index.as_const())) {
            None => Place::Cell(0),
            Some((_, Some(index))) if (0..slot.length as i64).contains(&index) => Place::Cell(index as u32),
            Some((_, Some(_))) => {
                self.raise(Fault::Index);
                return;
            }
            Some((index, None)) => {
                let index = self.value(index, View::Copy);
                self.check_index(index, slot.length);
                Place::Somewhere(index)
            }
        };
        let domain = self.system.variables[v.index()].domain;
        let known = value.as_const();
        let value = self.value(value, view);
        let checked = domain.overflow == Overflow::Error;
        if checked && !known.is_some_and(|value| domain.contains(value)) {
            let above = self.builder.ins().iadd_imm_s(value, domain.low.wrapping_neg());
            let span = domain.high.wrapping_sub(domain.low);
            let good = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, above, span);
            self.check(good, Fault::Range);
        }
        self.store(v, place, value, checked);
    }

    /// Sets the location of a process in the copy.
    pub fn set_control(&mut self, control: VarId, location: u32) {
        let value = self.number(location as i64);
        self.store(control, Place::Cell(0), value, true);
    }

    /// Stores the low bits of `value`; `fits` says that they are the whole value.
    fn store(&mut self, v: VarId, place: Place, value: Value, fits: bool) {
        let slot = self.layout.slot(v);
        if slot.width == 0 {
            return;
        }
        let narrow = cell_type(slot.width);
        if let Some(field) = slot.field {
            return self.store_field(v, field, narrow, value);
        }
        let low = if narrow == I64 { value } else { self.builder.ins().ireduce(narrow, value) };
        let back = if fits { value } else { self.extended(v, low) };
        let copy = self.successor.as_mut().expect("effects run on a copy");
        let mut pointer = copy.pointer;
        let offset = match place {
            Place::Cell(index) => {
                copy.cells.insert((v, index), back);
                slot.offset + slot.width * index as usize
            }
            Place::Somewhere(index) => {
                copy.cells.retain(|(other, _), _| *other != v);
                copy.blurred.insert(v);
                pointer = self.scaled(pointer, index, slot.width);
                slot.offset
            }
        };
        self.builder.ins().store(plain(), low, pointer, offset as i32);
    }
}

impl Emitter<'_, '_> {
    /// Stores a value, which fits, into bits that share their bytes with other variables.
    fn store_field(&mut self, v: VarId, field: Field, narrow: Type, value: Value) {
        let offset = self.layout.slot(v).offset as i32;
        let copy = self.successor.as_mut().expect("effects run on a copy");
        copy.cells.insert((v, 0), value);
        let pointer = copy.pointer;
        let old = self.builder.ins().load(narrow, plain(), pointer, offset);
        let old = if narrow == I64 { old } else { self.builder.ins().uextend(I64, old) };
        let others = self.number(!(field.mask << field.shift) as i64);
        let kept = self.builder.ins().band(old, others);
        let placed = self.builder.ins().ishl_imm_u(value, field.shift as i64);
        let new = self.builder.ins().bor(kept, placed);
        let new = if narrow == I64 { new } else { self.builder.ins().ireduce(narrow, new) };
        self.builder.ins().store(plain(), new, pointer, offset);
    }
}

/// Which cell of a variable: one known by number, or one that a value tells.
enum Place {
    Cell(u32),
    Somewhere(Value),
}

impl Successor {
    fn touches(&self, v: VarId) -> bool {
        self.blurred.contains(&v) || self.cells.keys().any(|(other, _)| *other == v)
    }
}

fn comparison(op: BinaryOp) -> Option<IntCC> {
    Some(match op {
        BinaryOp::Equal => IntCC::Equal,
        BinaryOp::NotEqual => IntCC::NotEqual,
        BinaryOp::Less => IntCC::SignedLessThan,
        BinaryOp::LessEqual => IntCC::SignedLessThanOrEqual,
        BinaryOp::Greater => IntCC::SignedGreaterThan,
        BinaryOp::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
        _ => return None,
    })
}
