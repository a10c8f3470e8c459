//! The intermediate representation: variables, processes, events, initial states.
//!
//! Events are deterministic: from one state an event leads to at most one state. Nondeterminism is several events.
//! What a language has beyond this (rendezvous, committed locations, channels, broadcast) its front end lowers into it;
//! `docs/internals.md` says how, language by language.

use crate::event::Event;
use crate::expr::Expr;
use crate::known::{Known, Later, Terms};
use crate::outline::Outline;
use crate::source::{Source, Span};
use scrimp_temporal::Formula;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VarId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProcessId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

impl VarId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ProcessId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EventId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone)]
pub struct System {
    pub source: Source,
    pub variables: Vec<Variable>,
    pub processes: Vec<Process>,
    pub events: Vec<Event>,
    pub initial: Initial,
    /// Conditions that the model itself demands of every state.
    pub assertions: Vec<Assertion>,
    /// An automaton that reads every state the system leaves and moves in step with it.
    pub claim: Option<Claim>,
    /// Where this holds, a state without successors is an end and no deadlock.
    pub valid_end: Option<Expr>,
    /// What [`Event::fault`] can say.
    pub fault_messages: Vec<String>,
    /// The one of these that says that the system was made too small for its model: where it is met, a larger one is needed.
    pub outgrown: Option<u32>,
    /// Names that stand for numbers: nothing of the system needs them, but properties may.
    pub constants: Vec<Constant>,
    /// Remarks of the front end for the user, each complete with its place.
    pub warnings: Vec<String>,
    /// How the text of the program is shown.
    pub outline: Outline,
    /// Scalars take as few bits as they need, not whole bytes.
    pub packed: bool,
    /// What a user sees instead of the variables, if there is any: such as the places of a net, whatever they are kept as.
    pub views: Vec<ViewOf>,
    /// Names beside those of the views that properties may use.
    pub also_named: Vec<ViewOf>,
    /// Bounds of variables are guesses: where one turns out too small, a larger system is needed.
    pub guessed: bool,
    /// What whoever made it had to find out first, in numbers of his own: with these he makes the same system again.
    pub making: Vec<u64>,
    /// What else is known of its reachable states.
    pub known: Later<Known>,
    /// A sum that most events let grow; empty if there is none.
    pub growing: Later<Terms>,
    /// What the model itself demands of every run.
    pub formulas: Vec<NamedFormula>,
    /// Where this holds, some process is at an accepting place; `None` if there are no such places.
    pub accepting: Option<Expr>,
    /// Where this holds, no process is at a place that is progress; `None` if the model says nothing about progress.
    pub no_progress: Option<Expr>,
}

/// A formula of linear time.
#[derive(Debug, Clone)]
pub struct NamedFormula {
    pub name: String,
    /// As it was written.
    pub text: String,
    pub formula: Formula<Expr>,
    pub span: Span,
}

/// A name with a value of its own, made of variables.
#[derive(Debug, Clone)]
pub struct ViewOf {
    pub name: String,
    pub value: Expr,
}

impl System {
    /// A hash of everything that has to do with its behaviour.
    pub fn digest(&self) -> u64 {
        struct Fnv(u64);
        impl std::fmt::Write for Fnv {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.0 = text.bytes().fold(self.0, |sum, byte| (sum ^ byte as u64).wrapping_mul(0x100_0000_01b3));
                Ok(())
            }
        }
        let System { variables, processes, events, initial, assertions, claim, valid_end, packed, .. } = self;
        let mut sum = Fnv(0xcbf2_9ce4_8422_2325);
        // Writing to a sum cannot fail.
        let _ = std::fmt::write(
            &mut sum,
            format_args!(
                "{variables:?} {processes:?} {events:?} {initial:?} {assertions:?} {claim:?} {valid_end:?} {packed}"
            ),
        );
        sum.0
    }
}

/// One value per cell: the variables in order, an array's elements one after the other.
pub type Valuation = Vec<i64>;

/// One initial state or many.
pub type Initial = Vec<Valuation>;

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variable {
    /// The name within its owner.
    pub name: String,
    /// The process that declares it; `None` for a global one.
    pub owner: Option<ProcessId>,
    pub domain: Domain,
    /// `Some(n)` for an array of n elements, `None` for a scalar.
    pub length: Option<u32>,
    pub role: Role,
}

#[derive(Debug, Clone)]
pub struct Constant {
    /// The name within its owner.
    pub name: String,
    /// The process that declares it; `None` for a global one.
    pub owner: Option<ProcessId>,
    pub value: ConstantValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConstantValue {
    Number(i64),
    Array(Arc<[i64]>),
}

/// What a variable is for; only reports care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Role {
    Data,
    /// The control location of a process; its values index [`Process::locations`].
    Control(ProcessId),
    /// Contents or fill level of a channel.
    Channel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Domain {
    pub low: i64,
    pub high: i64,
    pub overflow: Overflow,
}

/// What storing a value outside the domain does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Overflow {
    /// Keeps the low bits that fit the variable's width: the domain must be that of an integer of 8, 16, 32 or 64 bits.
    Wrap,
    /// [`Fault::Range`](crate::Fault::Range).
    Error,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Process {
    pub name: String,
    pub control: VarId,
    pub locations: Vec<String>,
    /// Accepting locations (Büchi), as indices.
    pub accepting: Vec<u32>,
    pub span: Span,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assertion {
    pub name: String,
    /// Must be non-zero in every state; a fault counts as a violation.
    pub condition: Expr,
    pub span: Span,
}

/// A Büchi automaton in lockstep with the system: its guard reads the state that is left, and when the system has no
/// successor the claim moves alone. Its process owns a control variable like any other.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claim {
    pub process: ProcessId,
    pub moves: Vec<ClaimMove>,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClaimMove {
    pub from: u32,
    pub to: u32,
    pub guard: Expr,
    pub span: Span,
}

/// A system that breaks a rule of the representation: a fault of the front end, not of the user's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);

impl Domain {
    pub const BYTE: Domain = Domain { low: 0, high: 255, overflow: Overflow::Wrap };
    pub const INT16: Domain = Domain { low: -32768, high: 32767, overflow: Overflow::Wrap };

    /// `low..=high`, a value outside it being an error.
    pub fn range(low: i64, high: i64) -> Domain {
        Domain { low, high, overflow: Overflow::Error }
    }

    /// Bytes that hold every value: 0 when there is only one, else 1, 2, 4 or 8.
    pub fn width(self) -> usize {
        if self.low == self.high {
            return 0;
        }
        let fits = |bits: u32| {
            if self.low < 0 {
                self.low >= -(1i64 << (bits - 1)) && self.high < (1i64 << (bits - 1))
            } else {
                self.high < (1i64 << bits)
            }
        };
        [(8, 1), (16, 2), (32, 4)].into_iter().find(|&(bits, _)| fits(bits)).map_or(8, |(_, bytes)| bytes)
    }

    pub fn is_signed(self) -> bool {
        self.low < 0
    }

    pub fn contains(self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The value that a wrapping variable of this domain keeps of `value`.
    pub fn wrap(self, value: i64) -> i64 {
        match (self.width(), self.is_signed()) {
            (0, _) => self.low,
            (1, false) => value as u8 as i64,
            (1, true) => value as i8 as i64,
            (2, false) => value as u16 as i64,
            (2, true) => value as i16 as i64,
            (4, false) => value as u32 as i64,
            (4, true) => value as i32 as i64,
            _ => value,
        }
    }

    /// True when every value of the variable's width is in the domain, so that storing low bits is wrapping.
    pub fn fills_width(self) -> bool {
        match (self.width(), self.is_signed()) {
            (0, _) => true,
            (8, _) => self.low == i64::MIN && self.high == i64::MAX,
            (w, false) => self.low == 0 && self.high == (1i64 << (8 * w)) - 1,
            (w, true) => self.low == -(1i64 << (8 * w - 1)) && self.high == (1i64 << (8 * w - 1)) - 1,
        }
    }
}

impl Variable {
    /// A control variable that waits for its name and its domain.
    pub fn control(process: ProcessId) -> Variable {
        let domain = Domain::range(0, 0);
        Variable { name: String::new(), owner: None, domain, length: None, role: Role::Control(process) }
    }

    /// Number of cells: the length of an array, 1 for a scalar.
    pub fn cells(&self) -> usize {
        self.length.unwrap_or(1) as usize
    }
}

impl System {
    /// A system with nothing in it yet, not even an initial state.
    pub fn new(source: Source) -> System {
        System {
            source,
            variables: Vec::new(),
            processes: Vec::new(),
            events: Vec::new(),
            initial: Vec::new(),
            assertions: Vec::new(),
            claim: None,
            valid_end: None,
            fault_messages: Vec::new(),
            outgrown: None,
            constants: Vec::new(),
            warnings: Vec::new(),
            outline: Outline::default(),
            packed: false,
            views: Vec::new(),
            also_named: Vec::new(),
            guessed: false,
            making: Vec::new(),
            known: Later::default(),
            growing: Later::default(),
            formulas: Vec::new(),
            accepting: None,
            no_progress: None,
        }
    }

    /// The name a user would write in a property: `x`, or `P.x` for a variable of process P.
    pub fn full_name(&self, variable: VarId) -> String {
        let v = &self.variables[variable.index()];
        match (v.role, v.owner) {
            (Role::Control(p), _) => self.processes[p.index()].name.clone(),
            (_, Some(p)) => format!("{}.{}", self.processes[p.index()].name, v.name),
            (_, None) => v.name.clone(),
        }
    }

    /// A value of `variable` as a user reads it: a location's name, or that of a value, or the number.
    pub fn show_value(&self, variable: VarId, value: i64) -> String {
        match self.variables[variable.index()].role {
            Role::Control(p) => match self.processes[p.index()].locations.get(value as usize) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
            _ => match self.outline.name(self.outline.shown_by.get(&variable).copied(), value) {
                Some(name) => name.to_string(),
                None => value.to_string(),
            },
        }
    }

    /// "Process `process` is at its location number `location`."
    pub fn at(&self, process: ProcessId, location: u32) -> Expr {
        Expr::equals(self.processes[process.index()].control, location as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_smallest_that_fit() {
        assert_eq!(Domain::BYTE.width(), 1);
        assert_eq!(Domain::INT16.width(), 2);
        assert_eq!(Domain::range(0, 0).width(), 0);
        assert_eq!(Domain::range(-1, 127).width(), 1);
        assert_eq!(Domain::range(-1, 128).width(), 2);
        assert_eq!(Domain::range(0, 65536).width(), 4);
        assert_eq!(Domain::range(0, 1 << 32).width(), 8);
    }

    #[test]
    fn wrapping_keeps_the_low_bits() {
        assert_eq!(Domain::BYTE.wrap(256), 0);
        assert_eq!(Domain::BYTE.wrap(-1), 255);
        assert_eq!(Domain::INT16.wrap(32768), -32768);
    }
}
