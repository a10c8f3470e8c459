//! Systems of counters, run by tables instead of code: what nets are, with thousands of events of which few are enabled.
//!
//! Every event compares variables with constants and adds constants to them, and variables are bits of a few words. So an
//! event is a handful of masks: what some words must be, and what is added to them; a sum of packed numbers is the packed
//! sums. An event is only looked at when the variable that it *watches* is not zero, or has the value it waits for, so that
//! most disabled ones cost nothing.

mod read;
mod tally;
mod watch;

pub use tally::Tally;

use crate::program::Program;
use read::{Reading, Rule};
use scrimp_system::{Batch, Fault, Layout, Random};
use std::cell::RefCell;
use tally::Tokens;
use watch::Watching;

/// Words of a state that are kept on the stack.
const NEAR: usize = 16;
/// States that are visited to see how often events are looked at in vain.
const SAMPLE: usize = 2_000;

thread_local! {
    static FAR: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

pub struct Counters {
    bytes: usize,
    words: usize,
    rules: Vec<Rule>,
    watching: Watching,
    equals: Vec<Equal>,
    ranges: Vec<Range>,
    clears: Vec<Clear>,
    adds: Vec<Add>,
    tokens: Option<Tokens>,
}

/// These bits of a word have this value.
#[derive(Debug, Clone, Copy)]
struct Equal {
    word: u32,
    mask: u64,
    value: u64,
}

/// A number in a word is between two.
#[derive(Debug, Clone, Copy)]
struct Range {
    word: u32,
    shift: u32,
    mask: u64,
    low: u64,
    high: u64,
}

/// These bits of a word become zero.
#[derive(Debug, Clone, Copy)]
struct Clear {
    word: u32,
    mask: u64,
}

/// This is added to a word.
#[derive(Debug, Clone, Copy)]
struct Add {
    word: u32,
    amount: u64,
}

impl Counters {
    /// `None` if the system is of another kind.
    pub fn new(program: &Program) -> Option<Counters> {
        let Reading { rules, equals, ranges, clears, adds, watchable } = read::read(program)?;
        let bytes = program.layout.bytes();
        let words = bytes.div_ceil(8);
        let watching = Watching::new(&watchable, words, &[]);
        let tokens = Tokens::of(program);
        let mut counters = Counters { bytes, words, rules, watching, equals, ranges, clears, adds, tokens };
        let sample = counters.sample(program);
        counters.watching = Watching::new(&watchable, words, &sample);
        Some(counters)
    }

    /// Appends the successors of `state`, and the events for which a variable has no room.
    pub fn expand(&self, state: &[u8], out: &mut Batch) {
        assert!(state.len() == self.bytes && out.state_bytes() == self.bytes);
        if self.words <= NEAR {
            let mut words = [0; NEAR];
            load(state, &mut words[..self.words]);
            self.expand_words(&mut words[..self.words], out);
        } else {
            FAR.with_borrow_mut(|words| {
                words.resize(self.words, 0);
                load(state, words);
                self.expand_words(words, out);
            });
        }
    }

    /// From now on what is expanded is counted.
    pub fn tally(&self, state: &[u8], tally: &Tally) {
        let Some(tokens) = &self.tokens else { return };
        if self.words <= NEAR {
            let mut words = [0; NEAR];
            load(state, &mut words[..self.words]);
            tokens.count(&words[..self.words], tally);
        } else {
            FAR.with_borrow_mut(|words| {
                words.resize(self.words, 0);
                load(state, words);
                tokens.count(words, tally);
            });
        }
    }

    pub fn counts_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    fn expand_words(&self, words: &mut [u64], out: &mut Batch) {
        let watching = &self.watching;
        for &event in &watching.always {
            self.attempt(event, words, out);
        }
        for word in 0..words.len() {
            // Each variable that is not zero is found by its lowest bit.
            let mut rest = words[word] & watching.watched[word];
            while rest != 0 {
                let variable = watching.at[64 * word + rest.trailing_zeros() as usize];
                let field = &watching.variables[variable as usize];
                rest &= !field.bits;
                for &event in watching.events(field, words[word]) {
                    self.attempt(event, words, out);
                }
            }
        }
        for &variable in &watching.from_zero {
            let field = &watching.variables[variable as usize];
            for &event in watching.events_at_zero(field, words[field.word as usize]) {
                self.attempt(event, words, out);
            }
        }
    }

    #[inline]
    fn attempt(&self, event: u32, words: &mut [u64], out: &mut Batch) {
        let rule = &self.rules[event as usize];
        for e in &self.equals[rule.equals()] {
            if words[e.word as usize] & e.mask != e.value {
                return;
            }
        }
        for r in &self.ranges[rule.ranges()] {
            if !r.holds(words) {
                return;
            }
        }
        if rule.fault {
            return out.push_fault(event, Fault::Model);
        }
        let full = |e: &Equal| words[e.word as usize] & e.mask != e.value;
        if self.equals[rule.room()].iter().any(full) || self.ranges[rule.wide_room()].iter().any(|r| !r.holds(words)) {
            return out.push_fault(event, Fault::Range);
        }
        let clears = &self.clears[rule.clears()];
        if clears.is_empty() {
            let adds = &self.adds[rule.adds()];
            for add in adds {
                words[add.word as usize] = words[add.word as usize].wrapping_add(add.amount);
            }
            store(words, out.push_with(event));
            for add in adds {
                words[add.word as usize] = words[add.word as usize].wrapping_sub(add.amount);
            }
        } else {
            let target = out.push_with(event);
            store(words, target);
            for clear in clears {
                change(target, clear.word, |word| word & !clear.mask);
            }
            for add in &self.adds[rule.adds()] {
                change(target, add.word, |word| word.wrapping_add(add.amount));
            }
        }
    }

    /// How often each event's variables stand as it needs them: a few walks, as the words of the states on the way.
    fn sample(&self, program: &Program) -> Vec<u64> {
        let mut random = Random(1);
        let mut batch = Batch::new(self.bytes);
        let mut seen = Vec::new();
        let limit = SAMPLE.min((1 << 20) / self.words);
        let start = |program: &Program| {
            let mut state = vec![0; self.bytes];
            if let Some(values) = program.system.initial.first() {
                program.layout.encode(values, &mut state);
            }
            state
        };
        let mut state = start(program);
        for step in 0..limit {
            let mut words = vec![0; self.words];
            load(&state, &mut words);
            seen.extend_from_slice(&words);
            batch.clear();
            self.expand_words(&mut words, &mut batch);
            if batch.is_empty() || step % 500 == 499 {
                state = start(program);
            } else {
                state.copy_from_slice(batch.state(random.below(batch.len())));
            }
        }
        seen
    }
}

impl Range {
    #[inline]
    fn holds(&self, words: &[u64]) -> bool {
        let value = words[self.word as usize] >> self.shift & self.mask;
        value >= self.low && value <= self.high
    }
}

/// Where a variable is in the words of a state, and whether it is there at all.
pub(crate) fn place(layout: &Layout, variable: scrimp_system::VarId) -> Option<(u32, u32, u64)> {
    let slot = layout.slot(variable);
    let field = slot.field?;
    let bit = 8 * slot.offset as u32 + field.shift;
    Some((bit / 64, bit % 64, field.mask))
}

#[inline]
pub(crate) fn load(state: &[u8], words: &mut [u64]) {
    let mut chunks = state.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        words[at] = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        at += 1;
    }
    let tail = chunks.remainder();
    if !tail.is_empty() {
        let mut bytes = [0; 8];
        bytes[..tail.len()].copy_from_slice(tail);
        words[at] = u64::from_le_bytes(bytes);
    }
}

#[inline]
fn store(words: &[u64], state: &mut [u8]) {
    let mut chunks = state.chunks_exact_mut(8);
    let mut at = 0;
    for chunk in &mut chunks {
        chunk.copy_from_slice(&words[at].to_le_bytes());
        at += 1;
    }
    let tail = chunks.into_remainder();
    if !tail.is_empty() {
        tail.copy_from_slice(&words[at].to_le_bytes()[..tail.len()]);
    }
}

/// Changes one word of a state.
fn change(state: &mut [u8], word: u32, new: impl Fn(u64) -> u64) {
    let start = 8 * word as usize;
    let end = state.len().min(start + 8);
    let mut bytes = [0; 8];
    bytes[..end - start].copy_from_slice(&state[start..end]);
    let changed = new(u64::from_le_bytes(bytes)).to_le_bytes();
    state[start..end].copy_from_slice(&changed[..end - start]);
}
