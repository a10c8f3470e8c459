//! Random Promela programs, each a function of its seed: small, finite, free of errors that stop SPIN, and together
//! they use every part of the language.
//!
//! A program uses about half of the features, drawn anew for each seed: that brings out what few features do together,
//! which programs that use everything hide. Variables stay finite because each assignment stores one of a few values.

#![allow(dead_code)] // each test file uses its own part

pub mod features;
pub mod shrink;
pub mod spin;
pub mod temporal;
pub mod tree;

mod channels;
mod declarations;
mod expressions;
mod processes;
mod statements;
mod steps;

use features::{Feature, Features};
use scrimp_system::Random;
use tree::Program;

/// A program with the features that are really in it.
pub struct Generated {
    pub program: Program,
    pub used: Features,
}

/// The program of that seed, from the allowed features.
pub fn generate(seed: u64, allowed: Features) -> Generated {
    let mut maker = Maker::new(seed, allowed);
    let program = maker.program();
    Generated { program, used: maker.used }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(u32),
    Mtype,
}

/// Where a value is kept: `prefix[index]suffix`, or without the index where the length is 1.
#[derive(Debug, Clone)]
struct Place {
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
    /// Has the label `here`, to which remote references refer.
    labelled: bool,
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Atomic,
}

/// The process whose body is being written.
#[derive(Default)]
struct Body {
    number: usize,
    locals: Vec<Place>,
    channels: Vec<Channel>,
    declarations: Vec<tree::Node>,
    /// Statements of the outermost level: how many there are, which one is being written, which are jumped to.
    slots: usize,
    slot: usize,
    targets: Vec<usize>,
    inner_labels: Vec<String>,
    loops: usize,
    inside_unless: bool,
    /// In a d_step or an initial value, where remote references may not stand.
    no_remote: bool,
    counters: usize,
}

struct Maker {
    random: Random,
    on: Features,
    used: Features,
    globals: Vec<Place>,
    signatures: Vec<Vec<Field>>,
    channels: Vec<Channel>,
    kinds: Vec<Kind>,
    inlines: Vec<String>,
    macros: Vec<String>,
    body: Body,
    /// For names that occur once.
    names: usize,
}

const MTYPES: [&str; 3] = ["red", "green", "blue"];

impl Maker {
    fn new(seed: u64, allowed: Features) -> Maker {
        let mut random = Random(seed);
        let mut on = Features::NONE;
        for &feature in Feature::ALL {
            if random.below(100) < 60 && allowed.has(feature) {
                on = on.with(feature);
            }
        }
        Maker {
            random,
            on,
            used: Features::NONE,
            globals: Vec::new(),
            signatures: Vec::new(),
            channels: Vec::new(),
            kinds: Vec::new(),
            inlines: Vec::new(),
            macros: Vec::new(),
            body: Body::default(),
            names: 0,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Whether the program may use the feature and does here, with that chance; if so, it is noted as used.
    fn uses(&mut self, feature: Feature, percent: usize) -> bool {
        let uses = self.on.has(feature) && self.chance(percent);
        if uses {
            self.note(feature);
        }
        uses
    }

    fn note(&mut self, feature: Feature) {
        self.used = self.used.with(feature);
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.random.below(among.len())].clone()
    }

    /// One of several, by weight.
    fn weighted<T: Copy>(&mut self, among: &[(usize, T)]) -> T {
        let mut left = self.random.below(among.iter().map(|(weight, _)| weight).sum());
        for &(weight, value) in among {
            if left < weight {
                return value;
            }
            left -= weight;
        }
        among[0].1
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }
}
