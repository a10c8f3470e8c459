//! Rules as machine code: the functions that the partition asks for.
//!
//! A function is given a state and where to put successors, event numbers and faults. It copies the state for each
//! enabled event and lets the event's effects work on the copy; only when they are through does the place for the next
//! successor move on, so an event that ends in a fault leaves nothing behind. `call` says what the parameters are.

use crate::BuildError;
use crate::code::{Assembler, Code};
use crate::emit::{Emitter, Target, View, fixed, plain};
use crate::partition::{Partition, Segment, Step, Unit};
use crate::program::{Program, Rules};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, JumpTableData, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use scrimp_system::{BinaryOp, Event, Expr, Fault, Moment, Move, ProcessId};
use std::sync::atomic::{AtomicBool, Ordering};

/// Copies longer than this are loops.
const UNROLLED: usize = 256;

/// What the code leaves behind for an enabled event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The successor and the event's number.
    States,
    /// The event's number.
    Numbers,
}

/// The code of some rules and the steps that lead through it.
pub struct Compiled {
    pub code: Code,
    pub steps: Vec<Step>,
}

/// Compiles rules; gives up between two functions once `stop` is set.
pub fn compile(
    program: &Program,
    rules: &Rules,
    output: Output,
    partition: Partition,
    stop: &AtomicBool,
) -> Result<Compiled, BuildError> {
    let mut assembler = Assembler::new()?;
    for unit in &partition.units {
        if stop.load(Ordering::Relaxed) {
            return Err(BuildError("compilation was called off".into()));
        }
        assembler.function(4, |builder, parameters| {
            let cursor = Cursor { state: parameters[1], event: parameters[2] };
            let emitter = Emitter::new(builder, &program.system, &program.layout, parameters[0]);
            Function { emitter, program, rules, output, source: parameters[0], faults: parameters[3], cursor }
                .emit(unit)
        })?;
    }
    Ok(Compiled { code: assembler.finish()?, steps: partition.steps })
}

/// Where the next successor and its event go.
#[derive(Clone, Copy)]
struct Cursor {
    state: Value,
    event: Value,
}

impl Cursor {
    fn arguments(self) -> [BlockArg; 2] {
        [self.state.into(), self.event.into()]
    }
}

struct Function<'e, 'f> {
    emitter: Emitter<'e, 'f>,
    program: &'e Program,
    rules: &'e Rules,
    output: Output,
    source: Value,
    faults: Value,
    cursor: Cursor,
}

impl<'e, 'f> Function<'e, 'f> {
    fn builder(&mut self) -> &mut FunctionBuilder<'f> {
        self.emitter.builder
    }

    fn emit(mut self, unit: &Unit) {
        for segment in unit {
            match segment {
                Segment::At { process, locations } => self.dispatch(*process, locations),
                Segment::Always(events) => self.attempts(events),
            }
        }
        let end = self.cursor.event;
        self.builder().ins().return_(&[end]);
    }

    /// A block that continues with a cursor of its own.
    fn cursor_block(&mut self) -> (Block, Cursor) {
        let block = self.builder().create_block();
        let state = self.builder().append_block_param(block, I64);
        let event = self.builder().append_block_param(block, I64);
        (block, Cursor { state, event })
    }

    fn dispatch(&mut self, process: ProcessId, locations: &[(u32, Vec<u32>)]) {
        let control = self.program.system.processes[process.index()].control;
        let location = self.emitter.cell(control, 0, View::Source);
        let before = self.cursor;
        let (after, after_cursor) = self.cursor_block();
        let blocks: Vec<Block> = locations.iter().map(|_| self.builder().create_block()).collect();
        if let ([(only, _)], [block]) = (locations, &blocks[..]) {
            let here = self.builder().ins().icmp_imm_s(IntCC::Equal, location, *only as i64);
            self.builder().ins().brif(here, *block, &[], after, &before.arguments());
        } else {
            let dfg = &mut self.builder().func.dfg;
            let elsewhere = dfg.block_call(after, &before.arguments());
            let mut table = vec![elsewhere; locations.last().map_or(0, |(l, _)| *l as usize + 1)];
            for ((location, _), block) in locations.iter().zip(&blocks) {
                table[*location as usize] = dfg.block_call(*block, &[]);
            }
            let table = self.builder().create_jump_table(JumpTableData::new(elsewhere, &table));
            let location = self.builder().ins().ireduce(I32, location);
            self.builder().ins().br_table(location, table);
        }
        for ((_, events), block) in locations.iter().zip(blocks) {
            self.builder().switch_to_block(block);
            self.cursor = before;
            self.attempts(events);
            let arguments = self.cursor.arguments();
            self.builder().ins().jump(after, &arguments);
        }
        self.builder().switch_to_block(after);
        self.cursor = after_cursor;
    }

    /// Events one after the other, whose first moves are known to be possible.
    fn attempts(&mut self, events: &[u32]) {
        let (program, rules) = (self.program, self.rules);
        let tests = events.iter().map(|number| {
            let event = &rules.events(&program.system)[*number as usize];
            let control = |m: &Move| program.system.processes[m.process.index()].control;
            let mut tests: Vec<Expr> =
                event.moves.iter().skip(1).map(|m| Expr::equals(control(m), m.from as i64)).collect();
            if program.silent {
                split(&event.guard, &mut tests);
            } else {
                tests.push(event.guard.clone());
            }
            (*number, tests)
        });
        let tests: Vec<(u32, Vec<Expr>)> = tests.collect();
        self.grouped(&tests, 0);
    }

    /// Events of which the first `done` tests are known to hold. Where an event has become many, as in an inverse, what
    /// they test alike is tested once.
    fn grouped(&mut self, events: &[(u32, Vec<Expr>)], done: usize) {
        let alike = |a: &(u32, Vec<Expr>), b: &(u32, Vec<Expr>)| match (a.1.get(done), b.1.get(done)) {
            (Some(a), Some(b)) => self.program.silent && a == b,
            _ => false,
        };
        let groups: Vec<_> = events.chunk_by(alike).collect();
        for group in groups {
            let (number, tests) = &group[0];
            if group.len() == 1 {
                self.attempt(*number, &tests[done..]);
                continue;
            }
            let arguments = self.cursor.arguments();
            let (next, next_cursor) = self.cursor_block();
            self.branch_or(&tests[done], Target { block: next, arguments: &arguments });
            if let Some(holds) = self.builder().current_block() {
                for (_, block) in self.emitter.take_faults() {
                    self.builder().switch_to_block(block);
                    self.builder().ins().jump(next, &arguments);
                    self.builder().switch_to_block(holds);
                }
            }
            self.grouped(group, done + 1);
            let arguments = self.cursor.arguments();
            self.builder().ins().jump(next, &arguments);
            self.builder().switch_to_block(next);
            self.cursor = next_cursor;
        }
    }

    /// One event, which these tests decide.
    fn attempt(&mut self, number: u32, tests: &[Expr]) {
        let (program, rules) = (self.program, self.rules);
        let event = &rules.events(&program.system)[number as usize];
        let arguments = self.cursor.arguments();
        let (next, next_cursor) = self.cursor_block();
        let pass = Target { block: next, arguments: &arguments };
        for test in tests {
            self.branch_or(test, pass);
        }
        if event.fault.is_some() {
            self.emitter.raise(Fault::Model);
            self.builder().ins().jump(next, &arguments);
        } else {
            if let Some(assertion) = &event.assertion {
                self.assert(number, assertion);
            }
            let state = match self.output {
                Output::States => self.successor(event),
                Output::Numbers => self.cursor.state,
            };
            let place = self.cursor.event;
            let code = self.builder().ins().iconst(I32, number as i64);
            self.builder().ins().store(plain(), code, place, 0);
            let done = Cursor { state, event: self.builder().ins().iadd_imm_s(place, 4) };
            self.builder().ins().jump(next, &done.arguments());
        }
        for (fault, block) in self.emitter.take_faults() {
            self.builder().switch_to_block(block);
            self.record(number, fault);
            self.builder().ins().jump(next, &arguments);
        }
        self.builder().switch_to_block(next);
        self.cursor = next_cursor;
    }

    /// Goes on whether the assertion holds or not.
    fn assert(&mut self, number: u32, assertion: &Expr) {
        let (holds, violated) = (self.builder().create_block(), self.builder().create_block());
        self.builder().set_cold_block(violated);
        self.emitter.branch(assertion, View::Source, Target::to(holds), Target::to(violated));
        self.builder().switch_to_block(violated);
        self.record(number, Fault::Assertion);
        self.builder().ins().jump(holds, &[]);
        self.builder().switch_to_block(holds);
    }

    /// Leaves a record of a fault.
    fn record(&mut self, number: u32, fault: Fault) {
        if !self.program.silent {
            let list = self.faults;
            let top = self.builder().ins().load(I64, plain(), list, 0);
            let top = self.builder().ins().iadd_imm_s(top, -8);
            let record = self.emitter.number((fault as i64) << 32 | number as i64);
            self.builder().ins().store(plain(), record, top, 0);
            self.builder().ins().store(plain(), top, list, 0);
        }
    }

    /// Goes on in a new block if the condition holds.
    fn branch_or(&mut self, condition: &Expr, otherwise: Target) {
        if condition.as_const().is_some_and(|value| value != 0) {
            return;
        }
        let holds = self.builder().create_block();
        self.emitter.branch(condition, View::Source, Target::to(holds), otherwise);
        self.builder().switch_to_block(holds);
    }

    /// Makes the successor at the cursor; returns where the one after it goes.
    fn successor(&mut self, event: &Event) -> Value {
        let place = self.cursor.state;
        let length = self.program.layout.bytes();
        let stride = length.next_multiple_of(8);
        self.copy(place, length);
        self.emitter.begin_copy(place);
        for m in &event.moves {
            // Setting the location a process is already at would only cost a store, except where an earlier move of
            // the same process has set another.
            let twice = event.moves.iter().filter(|other| other.process == m.process).count() > 1;
            if m.from != m.to || twice {
                self.emitter.set_control(self.program.system.processes[m.process.index()].control, m.to);
            }
        }
        for a in &event.effects {
            let view = match a.moment {
                Moment::Source => View::Source,
                Moment::Current => View::Copy,
            };
            self.emitter.assign(a.target, a.index.as_ref(), &a.value, view);
        }
        self.builder().ins().iadd_imm_s(place, stride as i64)
    }

    /// Copies `length` bytes from the source to `to`, in pieces that may overlap at the end but never reach beyond it.
    fn copy(&mut self, to: Value, length: usize) {
        let mut at = 0;
        if length > UNROLLED {
            let rounds = length / 64 * 64;
            let block = self.builder().create_block();
            let offset = self.builder().append_block_param(block, I64);
            let zero = self.emitter.number(0);
            self.builder().ins().jump(block, &[zero.into()]);
            self.builder().switch_to_block(block);
            let from = self.source;
            let from = self.builder().ins().iadd(from, offset);
            let into = self.builder().ins().iadd(to, offset);
            for piece in (0..64).step_by(16) {
                let bytes = self.builder().ins().load(I8X16, plain(), from, piece);
                self.builder().ins().store(plain(), bytes, into, piece);
            }
            let offset = self.builder().ins().iadd_imm_s(offset, 64);
            let more = self.builder().ins().icmp_imm_u(IntCC::UnsignedLessThan, offset, rounds as i64);
            let done = self.builder().create_block();
            self.builder().ins().brif(more, block, &[offset.into()], done, &[]);
            self.builder().switch_to_block(done);
            at = rounds;
        }
        let source = self.source;
        // Short copies may share loads between events; long ones would only fill the registers.
        let flags: MemFlagsData = if length <= 64 { fixed() } else { plain() };
        while at < length {
            let pieces = [(I8X16, 16), (I64, 8), (I32, 4), (I16, 2), (I8, 1)];
            let rest = length - at;
            let covers = pieces.into_iter().rev().find(|&(_, size)| rest <= size && size <= length);
            let largest = pieces.into_iter().find(|&(_, size)| size <= rest);
            let (kind, size) = covers.or(largest).unwrap_or((I8, 1));
            at = at.min(length - size);
            let bytes = self.builder().ins().load(kind, flags, source, at as i32);
            self.builder().ins().store(plain(), bytes, to, at as i32);
            at += size;
        }
    }
}

/// The operands of a conjunction, whatever its nesting.
fn split(e: &Expr, into: &mut Vec<Expr>) {
    match e {
        Expr::Binary(BinaryOp::And, a, b) => {
            split(a, into);
            split(b, into);
        }
        _ => into.push(e.clone()),
    }
}
