//! Systems of counters, run by tables instead of code: what nets are, with thousands of events of which few are enabled.
//!
//! Every event compares variables with constants and adds constants to them, and variables are bits of a few words. So an
//! event is a handful of masks: what some words must be, and what is added to them; a sum of packed numbers is the packed
//! sums. An event is only looked at when the variable that it *watches* is not zero, or has the value it waits for, and so
//! on for those of which many watch the same, so that most disabled ones cost nothing.

mod read;
mod tally;
mod watch;

pub use tally::Tally;

use crate::program::Program;
use read::{Reading, Rule};
use scrimp_system::{Batch, Fault, Layout, Random};
use std::cell::RefCell;
use watch::Watching;

/// Words of a state that are kept on the stack.
const NEAR: usize = 16;
/// States that are visited to see how often events are looked at in vain.
const SAMPLE: usize = 2_000;
/// How far from the start they are at most: half of them near, half of them far.
const SHORT_WALK: usize = 50;
const LONG_WALK: usize = 500;
/// Words of those states that are kept, and events that are looked at for them.
const SAMPLE_WORDS: usize = 1 << 20;
const SAMPLE_LOOKS: usize = 10_000_000;

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
}

/// These bits of a word have this value.
#[derive(Debug, Clone, Copy)]
struct Equal {
    word: u32,
    mask: u64,
    value: u64,
}

/// A number in a word is at least `low`, and at most so much more.
#[derive(Debug, Clone, Copy)]
struct Range {
    word: u32,
    shift: u32,
    mask: u64,
    low: u64,
    more: u64,
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
        let Reading { rules, equals, ranges, clears, adds, watchable, never } = read::read(program)?;
        let bytes = program.layout.bytes();
        let words = bytes.div_ceil(8);
        let watching = Watching::new(&watchable, &never, words, &[]);
        let mut counters = Counters { bytes, words, rules, watching, equals, ranges, clears, adds };
        // A short look first, so that the long one is quick.
        for states in [SAMPLE / 20, SAMPLE] {
            let sample = counters.sample(program, states);
            counters.watching = Watching::new(&watchable, &never, words, &sample);
        }
        Some(counters)
    }

    /// Appends the successors of `state`, and the events for which a variable has no room.
    pub fn expand(&self, state: &[u8], out: &mut Batch) {
        assert!(state.len() == self.bytes && out.state_bytes() == self.bytes);
        with_words(state, self.words, |words| self.expand_words(words, out));
    }

    fn expand_words(&self, words: &mut [u64], out: &mut Batch) {
        self.watching.each(words, &mut |event, words| {
            let rule = &self.rules[event as usize];
            if self.enabled(rule, words) {
                self.happen(event, rule, words, out);
            }
        });
    }

    #[inline]
    fn enabled(&self, rule: &Rule, words: &[u64]) -> bool {
        words[rule.first.word as usize] & rule.first.mask == rule.first.value
            && self.equals[rule.equals()].iter().all(|e| words[e.word as usize] & e.mask == e.value)
            && self.ranges[rule.ranges()].iter().all(|r| r.holds(words))
    }

    #[inline]
    fn has_room(&self, rule: &Rule, words: &[u64]) -> bool {
        self.equals[rule.room()].iter().all(|e| words[e.word as usize] & e.mask == e.value)
            && self.ranges[rule.wide_room()].iter().all(|r| r.holds(words))
    }

    #[inline]
    fn happen(&self, event: u32, rule: &Rule, words: &mut [u64], out: &mut Batch) {
        if rule.fault {
            return out.push_fault(event, Fault::Model);
        }
        if !self.has_room(rule, words) {
            return out.push_fault(event, Fault::Range);
        }
        let adds = &self.adds[rule.adds()];
        let clears = &self.clears[rule.clears()];
        if clears.is_empty() {
            for add in adds {
                words[add.word as usize] = words[add.word as usize].wrapping_add(add.amount);
            }
            push(words, event, out);
            for add in adds {
                words[add.word as usize] = words[add.word as usize].wrapping_sub(add.amount);
            }
        } else {
            let target = out.push_with(event);
            store(words, target);
            for clear in clears {
                change(target, clear.word, |word| word & !clear.mask);
            }
            for add in adds {
                change(target, add.word, |word| word.wrapping_add(add.amount));
            }
        }
    }

    /// How often each event's variables stand as it needs them: a few walks of so many states, as their words.
    fn sample(&self, program: &Program, states: usize) -> Vec<u64> {
        let mut random = Random(1);
        let mut batch = Batch::new(self.bytes);
        let mut seen = Vec::new();
        let mut enabled = Vec::new();
        let limit = states.min(SAMPLE_WORDS / self.words.max(1)).max(1);
        let mut looked = 0;
        let mut start = vec![0; self.bytes];
        if let Some(values) = program.system.initial.first() {
            program.layout.encode(values, &mut start);
        }
        let mut words = vec![0; self.words];
        load(&start, &mut words);
        for step in 0..limit {
            seen.extend_from_slice(&words);
            enabled.clear();
            self.watching.each(&mut words, &mut |event, words| {
                looked += 1;
                let rule = &self.rules[event as usize];
                if self.enabled(rule, words) && self.has_room(rule, words) && !rule.fault {
                    enabled.push(event);
                }
            });
            if looked > SAMPLE_LOOKS {
                break;
            }
            // States near the start count as much as those far away.
            let length = if step < limit / 2 { SHORT_WALK } else { LONG_WALK };
            if enabled.is_empty() || step % length == length - 1 {
                load(&start, &mut words);
            } else {
                let event = enabled[random.below(enabled.len())];
                batch.clear();
                self.happen(event, &self.rules[event as usize], &mut words, &mut batch);
                load(batch.state(0), &mut words);
            }
        }
        seen
    }
}

impl Range {
    #[inline]
    fn holds(&self, words: &[u64]) -> bool {
        let value = words[self.word as usize] >> self.shift & self.mask;
        value.wrapping_sub(self.low) <= self.more
    }
}

/// The words of a state, to work on.
#[inline]
fn with_words<T>(state: &[u8], count: usize, work: impl FnOnce(&mut [u64]) -> T) -> T {
    if count <= NEAR {
        let mut words = [0; NEAR];
        load(state, &mut words[..count]);
        work(&mut words[..count])
    } else {
        FAR.with_borrow_mut(|words| {
            words.resize(count, 0);
            load(state, words);
            work(words)
        })
    }
}

/// Is every variable among the words of a state, or not in it at all?
fn is_all_fields(program: &Program) -> bool {
    (0..program.system.variables.len()).all(|v| {
        let slot = program.layout.slot(scrimp_system::VarId(v as u32));
        slot.field.is_some() || slot.width == 0
    })
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

/// Appends a state and its event.
#[inline]
fn push(words: &[u64], event: u32, out: &mut Batch) {
    assert!(8 * words.len() == out.stride());
    out.reserve(1);
    let (state, number) = out.spare();
    let state = state.cast::<u64>();
    // SAFETY: room for one more was reserved: its event, and `stride` bytes of its state, which is as many as there are in
    // these words. All of them are written. Bits beyond the last variable are zero in every state, so nothing but zero comes
    // behind a state's last byte.
    unsafe {
        match *words {
            [a] => state.write_unaligned(a.to_le()),
            [a, b] => {
                state.write_unaligned(a.to_le());
                state.add(1).write_unaligned(b.to_le());
            }
            _ => words.iter().enumerate().for_each(|(i, word)| state.add(i).write_unaligned(word.to_le())),
        }
        number.write(event);
        out.commit(1);
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
