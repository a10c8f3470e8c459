//! Random Promela programs: small, finite, and together every production of the grammar directly inside every other.
//!
//! The oracle is SPIN. A program has a wish: one pair of productions that it writes somewhere, whatever else it writes, so
//! that rare pairs come as often as others. It uses about half of the features, drawn anew for each: that brings out what few
//! features do together, which programs that use everything hide.

mod ask;
mod channel;
mod declare;
mod expression;
mod grammar;
mod mended;
mod nested;
mod process;
mod smaller;
pub mod spin;
mod statement;
pub mod tree;
mod twin;

pub use grammar::GRAMMAR;

use crate::coverage::{Grammar, Written};
use crate::language::{Language, Oracle, Twin};
use ask::Question;
use scrimp_system::Random;
use std::path::Path;
use std::sync::OnceLock;
use tree::Program;

/// The language, against SPIN.
pub struct Promela;

/// A program with what is asked of it.
#[derive(Debug, Clone)]
pub struct Model {
    pub program: Program,
    pub question: Question,
    /// Everything that it declares, which may be called otherwise.
    pub names: Vec<String>,
    /// Are its states those of SPIN? Not where some variables are hidden, or `_last` is named.
    pub counts: bool,
}

impl Language for Promela {
    type Model = Model;
    const NAME: &'static str = "promela";
    const GRAMMAR: &'static Grammar = &GRAMMAR;

    fn generate(random: &mut Random, written: &mut Written) -> Model {
        Maker::new(random, written).model()
    }

    fn files(model: &Model, stem: &str) -> Vec<(String, String)> {
        vec![(format!("{stem}.pml"), model.text())]
    }

    fn judge(model: &Model, folder: &Path, doubt: bool) -> Oracle {
        static SPIN: OnceLock<Result<spin::Spin, String>> = OnceLock::new();
        match SPIN.get_or_init(spin::Spin::find) {
            Ok(spin) if doubt => spin.careful().judge(model, folder),
            Ok(spin) => spin.judge(model, folder),
            Err(problem) => Oracle::Incomparable(problem.clone()),
        }
    }

    fn twin(model: &Model, random: &mut Random) -> Option<Twin<Model>> {
        twin::twin(model, random)
    }

    fn smaller(model: &Model, number: usize) -> Option<Model> {
        let program = smaller::change(&model.program, number)?;
        Some(Model { program, ..model.clone() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned(u32),
    Mtype,
    /// Of the named kind.
    Named,
}

/// Where a value is kept: `prefix[index]suffix`, or without the index where the length is 1.
#[derive(Debug, Clone)]
struct Variable {
    prefix: String,
    length: usize,
    suffix: String,
    of: Type,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Value(Type),
    /// A channel of that signature.
    Channel(usize),
    /// The record type.
    Record,
}

/// Something that holds a channel.
#[derive(Debug, Clone)]
struct Channel {
    name: String,
    length: usize,
    signature: usize,
    /// `None` where it depends on the run, as for a parameter.
    capacity: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Value(Type),
    Channel(usize),
}

/// A proctype, before its body is written.
#[derive(Debug, Clone)]
struct Kind {
    name: String,
    /// Instances from the beginning.
    active: usize,
    parameters: Vec<Parameter>,
}

/// What a model may use, drawn for each.
#[derive(Debug, Clone, Copy)]
struct Features {
    arrays: bool,
    records: bool,
    mtypes: bool,
    channels: bool,
    rendezvous: bool,
    /// Channels travel in messages.
    travelling: bool,
    init: bool,
    running: bool,
    remote: bool,
    priorities: bool,
    counts_processes: bool,
    pids: bool,
    last: bool,
    wide: bool,
    unless: bool,
    atomic: bool,
    d_step: bool,
    inline: bool,
    goto: bool,
    asserts: bool,
    timeouts: bool,
    hidden: bool,
    /// Errors at run time may happen: indices, divisors, channels without a queue, steps that block.
    risky: bool,
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Atomic,
    Step,
}

/// What surrounds a statement.
#[derive(Debug, Clone, Copy)]
struct Here {
    /// The production that it stands directly inside.
    inside: &'static str,
    mode: Mode,
    depth: usize,
    /// The first statement of an atomic sequence or a d_step may wait.
    may_wait: bool,
    /// Is there a loop to break out of, without leaving a d_step?
    in_loop: bool,
    in_inline: bool,
}

/// The process whose body is being written.
#[derive(Default)]
struct Body {
    number: usize,
    locals: Vec<Variable>,
    channels: Vec<Channel>,
    declarations: Vec<tree::Node>,
    counters: usize,
    /// The counter of the inline that is being written.
    turns: String,
    /// So many statements may still be written.
    left: usize,
    loops: usize,
    /// In an initial value or a d_step, where remote references may not stand.
    no_remote: bool,
    labels: usize,
}

struct Maker<'a> {
    random: &'a mut Random,
    written: &'a mut Written,
    /// A pair that is to be written: its outer and inner production.
    wish: Option<(&'static str, &'static str)>,
    on: Features,
    question: Question,
    globals: Vec<Variable>,
    signatures: Vec<Vec<Field>>,
    channels: Vec<Channel>,
    kinds: Vec<Kind>,
    /// Inlines with as many parameters, and whether they return a value.
    inlines: Vec<(String, bool)>,
    macros: bool,
    body: Body,
    names: Vec<String>,
    /// Expressions that are being written, one inside the other.
    deep: usize,
    /// May expressions ask channels here? Not beside `else`.
    asks: bool,
    /// In `eval`: SPIN puts a message back by evaluating it again, when the channel is shorter.
    in_eval: bool,
}

const MTYPES: [&str; 3] = ["red", "green", "blue"];
const NAMED: [&str; 2] = ["up", "down"];

impl<'a> Maker<'a> {
    fn new(random: &'a mut Random, written: &'a mut Written) -> Maker<'a> {
        let question = Question::draw(random);
        let mut chance = |percent: usize| random.below(100) < percent;
        let safety = question == Question::States;
        let on = Features {
            arrays: chance(60),
            records: chance(45),
            mtypes: chance(50),
            channels: chance(75),
            rendezvous: chance(50),
            travelling: chance(25),
            init: chance(45),
            running: chance(55),
            remote: chance(50),
            priorities: safety && chance(12),
            // To SPIN a claim is one more process.
            counts_processes: safety && chance(40),
            pids: !question.is_about_progress() && chance(50),
            last: safety && chance(10),
            wide: chance(40),
            unless: chance(40),
            atomic: chance(70),
            d_step: chance(70),
            inline: chance(60),
            goto: chance(55),
            // SPIN takes formulas such as `[] p` for assertions.
            asserts: safety && chance(70),
            timeouts: chance(35),
            hidden: safety && chance(4),
            risky: safety && chance(6),
        };
        // SPIN does not take both.
        let on = Features { rendezvous: on.rendezvous && !on.priorities, ..on };
        let wish = grammar::wish(random.next());
        Maker {
            random,
            written,
            wish,
            on,
            question,
            globals: Vec::new(),
            signatures: Vec::new(),
            channels: Vec::new(),
            kinds: Vec::new(),
            inlines: Vec::new(),
            macros: false,
            body: Body::default(),
            names: Vec::new(),
            deep: 0,
            asks: false,
            in_eval: false,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.random.below(among.len())].clone()
    }

    fn pick_where<T: Clone>(&mut self, among: &[T], fits: impl Fn(&T) -> bool) -> Option<T> {
        let fitting: Vec<T> = among.iter().filter(|one| fits(one)).cloned().collect();
        if fitting.is_empty() { None } else { Some(self.pick(&fitting)) }
    }

    /// A name that occurs once.
    fn fresh(&mut self, stem: &str) -> String {
        let name = format!("{stem}{}", self.names.len());
        self.names.push(name.clone());
        name
    }

    /// Is this pair wished for, and not written yet?
    fn wishes(&self, outer: &str) -> Option<&'static str> {
        self.wish.filter(|(wished, _)| *wished == outer).map(|(_, inner)| inner)
    }

    /// Writes what is inside a production.
    fn inside<T>(&mut self, production: &str, write: impl FnOnce(&mut Self) -> T) -> T {
        self.written.enter(production);
        let done = write(self);
        self.written.leave();
        done
    }
}
