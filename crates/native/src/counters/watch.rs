//! How the events to look at in a state are found: each waits for one variable, and those that wait for the same value of it
//! are told apart by another.
//!
//! An event *watches*, of the variables that it needs to be something, the one that is so least often. Variables that are
//! watched for not being zero are found by their bits, and so are single bits watched for being zero; others are switches
//! that are always asked. Where many events are left, those that also need a second variable are below a switch of that one.

use super::read::Watchable;
use std::collections::{BTreeMap, HashMap};

/// Variables with more values than this are only told apart from zero.
const MOST_VALUES: u64 = 255;
/// Switches on the way to an event, and events that are worth one.
const DEEPEST: usize = 4;
const FEW: usize = 3;
/// Entries of a switch for each event below it.
const MOST_ENTRIES: u64 = 8;

#[derive(Default)]
pub struct Watching {
    /// What is looked at in every state.
    always: u32,
    /// For each word, the bits of variables that are watched for not being zero, and single bits watched for being zero.
    bits: Vec<Watched>,
    /// For each bit, the list of the variable that it belongs to; and the list of the bit if it is zero.
    at: Vec<Field>,
    at_zero: Vec<u32>,
    lists: Vec<List>,
    switches: Vec<Switch>,
    /// The lists of switches, by value.
    tables: Vec<u32>,
    events: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Watched {
    set: u64,
    clear: u64,
}

/// A variable that is found by one of its bits.
#[derive(Clone, Copy, Default)]
struct Field {
    bits: u64,
    list: u32,
}

/// Some events, and switches to more.
#[derive(Clone, Copy, Default)]
struct List {
    events: (u32, u32),
    switches: (u32, u32),
}

/// A variable decides by its value, or by not being zero, which list comes next.
#[derive(Clone, Copy)]
struct Switch {
    word: u32,
    shift: u32,
    mask: u64,
    /// Where its lists begin in the tables.
    first: u32,
    by_value: bool,
}

/// What can be asked of a state: a variable's value, or whether it is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    word: u32,
    shift: u32,
    mask: u64,
    by_value: bool,
}

/// How often a condition held in the sample.
struct Frequency<'a> {
    words: usize,
    sample: &'a [u64],
    known: HashMap<(Key, u64), usize>,
}

struct Builder<'a> {
    watchable: &'a [Vec<Watchable>],
    made: Watching,
}

impl Watching {
    /// `sample` has the words of some states, one after the other. Events that can `never` happen are left out.
    pub fn new(watchable: &[Vec<Watchable>], never: &[bool], words: usize, sample: &[u64]) -> Watching {
        let mut frequency = Frequency { words, sample, known: HashMap::new() };
        let mut taken: HashMap<(u32, u32), usize> = HashMap::new();
        let mut always = Vec::new();
        let mut chosen: BTreeMap<Key, BTreeMap<u64, Vec<u32>>> = BTreeMap::new();
        for (event, choices) in watchable.iter().enumerate().filter(|(event, _)| !never[*event]) {
            let cost = |&(key, value): &(Key, u64)| {
                (frequency.of(key, value), taken.get(&(key.word, key.shift)).copied().unwrap_or(0))
            };
            match choices.iter().filter_map(asked).min_by_key(cost) {
                None => always.push(event as u32),
                Some((key, value)) => {
                    *taken.entry((key.word, key.shift)).or_default() += 1;
                    chosen.entry(key).or_default().entry(value).or_default().push(event as u32);
                }
            }
        }
        let made = Watching {
            bits: vec![Watched::default(); words],
            at: vec![Field::default(); 64 * words],
            at_zero: vec![0; 64 * words],
            lists: vec![List::default()],
            ..Watching::default()
        };
        let mut builder = Builder { watchable, made };
        let mut switches = Vec::new();
        for (key, lists) in chosen {
            builder.variable(key, lists, &mut switches);
        }
        let always = builder.list(always, &[]);
        builder.made.always = builder.joined(always, &switches);
        builder.made
    }

    /// Calls `visit` with each event that is to be looked at in a state.
    #[inline]
    pub fn each(&self, words: &mut [u64], visit: &mut impl FnMut(u32, &mut [u64])) {
        self.visit(self.always, words, visit);
        for word in 0..words.len() {
            let Watched { set, clear } = self.bits[word];
            // Each variable that is not zero is found by its lowest bit.
            let mut rest = words[word] & set;
            while rest != 0 {
                let field = self.at[64 * word + rest.trailing_zeros() as usize];
                rest &= !field.bits;
                self.visit(field.list, words, visit);
            }
            let mut rest = !words[word] & clear;
            while rest != 0 {
                let list = self.at_zero[64 * word + rest.trailing_zeros() as usize];
                rest &= rest - 1;
                self.visit(list, words, visit);
            }
        }
    }

    fn visit(&self, list: u32, words: &mut [u64], visit: &mut impl FnMut(u32, &mut [u64])) {
        let List { events, switches } = self.lists[list as usize];
        for &event in &self.events[events.0 as usize..events.1 as usize] {
            visit(event, words);
        }
        for switch in &self.switches[switches.0 as usize..switches.1 as usize] {
            let value = words[switch.word as usize] >> switch.shift & switch.mask;
            let entry = if switch.by_value { value } else { (value != 0) as u64 };
            let next = self.tables[switch.first as usize + entry as usize];
            // The first list is empty.
            if next != 0 {
                self.visit(next, words, visit);
            }
        }
    }
}

impl Builder<'_> {
    /// Puts the events that watch a variable where they are found.
    fn variable(&mut self, key: Key, mut lists: BTreeMap<u64, Vec<u32>>, switches: &mut Vec<Switch>) {
        let Key { word, shift, mask, .. } = key;
        let first = 64 * word as usize;
        if mask == 1 {
            if let Some(events) = lists.remove(&0) {
                self.made.at_zero[first + shift as usize] = self.list(events, &[key]);
                self.made.bits[word as usize].clear |= 1 << shift;
            }
            if let Some(events) = lists.remove(&1) {
                let list = self.list(events, &[key]);
                self.made.at[first + shift as usize] = Field { bits: 1 << shift, list };
                self.made.bits[word as usize].set |= 1 << shift;
            }
            return;
        }
        let (zero, sole) = (lists.contains_key(&0), !key.by_value);
        let known = self.made.at[first + shift as usize];
        if zero || known.list != 0 {
            // It is looked at whether it is zero or not, or by its value as well.
            switches.push(self.switch(key, lists, &[key]));
            return;
        }
        let list = if sole {
            self.list(lists.remove(&1).unwrap_or_default(), &[key])
        } else {
            let switch = self.switch(key, lists, &[key]);
            self.joined(0, &[switch])
        };
        let bits = mask << shift;
        self.made.bits[word as usize].set |= bits;
        let own = (0..64).filter(|bit| bits >> bit & 1 == 1);
        own.for_each(|bit| self.made.at[first + bit] = Field { bits, list });
    }

    /// A switch with these lists.
    fn switch(&mut self, key: Key, lists: BTreeMap<u64, Vec<u32>>, path: &[Key]) -> Switch {
        let entries = if key.by_value { key.mask + 1 } else { 2 };
        let first = self.made.tables.len();
        self.made.tables.resize(first + entries as usize, 0);
        for (value, events) in lists {
            self.made.tables[first + value as usize] = self.list(events, path);
        }
        let Key { word, shift, mask, by_value } = key;
        Switch { word, shift, mask, first: first as u32, by_value }
    }

    /// A list of events, told apart further where that is worth it. What was asked on the `path` is known.
    fn list(&mut self, events: Vec<u32>, path: &[Key]) -> u32 {
        if events.is_empty() {
            return 0;
        }
        let watchable = self.watchable;
        let open = |event: u32| {
            let known = |key: &Key| path.iter().any(|p| (p.word, p.shift) == (key.word, key.shift));
            watchable[event as usize].iter().filter_map(asked).filter(move |(key, _)| !known(key))
        };
        let mut plain = Vec::new();
        let mut below: BTreeMap<Key, BTreeMap<u64, Vec<u32>>> = BTreeMap::new();
        if path.len() >= DEEPEST || events.len() < FEW {
            plain = events;
        } else {
            let mut shared: HashMap<Key, usize> = HashMap::new();
            events.iter().flat_map(|&e| open(e)).for_each(|(key, _)| *shared.entry(key).or_default() += 1);
            for event in events {
                // What most of the others need too.
                match open(event).max_by_key(|(key, _)| (shared[key], *key)) {
                    Some((key, value)) if shared[&key] >= FEW => {
                        below.entry(key).or_default().entry(value).or_default().push(event);
                    }
                    _ => plain.push(event),
                }
            }
        }
        let mut switches = Vec::new();
        for (key, lists) in below {
            let count: usize = lists.values().map(Vec::len).sum();
            if count < FEW || key.by_value && key.mask + 1 > MOST_ENTRIES * count as u64 {
                plain.extend(lists.into_values().flatten());
                continue;
            }
            let path: Vec<Key> = path.iter().copied().chain([key]).collect();
            switches.push(self.switch(key, lists, &path));
        }
        let start = self.made.events.len() as u32;
        self.made.events.extend(plain);
        let events = (start, self.made.events.len() as u32);
        let switches = self.kept(&switches);
        self.made.lists.push(List { events, switches });
        self.made.lists.len() as u32 - 1
    }

    /// A list, and these switches.
    fn joined(&mut self, list: u32, more: &[Switch]) -> u32 {
        let List { events, switches } = self.made.lists[list as usize];
        let mut all = self.made.switches[switches.0 as usize..switches.1 as usize].to_vec();
        all.extend_from_slice(more);
        let switches = self.kept(&all);
        self.made.lists.push(List { events, switches });
        self.made.lists.len() as u32 - 1
    }

    fn kept(&mut self, switches: &[Switch]) -> (u32, u32) {
        let start = self.made.switches.len() as u32;
        self.made.switches.extend_from_slice(switches);
        (start, self.made.switches.len() as u32)
    }
}

/// A condition as what is asked, and the answer that is needed: 1 for not being zero. `None` if it cannot be asked.
fn asked(w: &Watchable) -> Option<(Key, u64)> {
    let by_value = w.mask == 1 || w.value.is_some() && w.mask <= MOST_VALUES;
    let key = Key { word: w.word, shift: w.shift, mask: w.mask, by_value };
    match w.value {
        None => Some((key, 1)),
        Some(value) if by_value => Some((key, value)),
        Some(0) => None,
        Some(_) => Some((key, 1)),
    }
}

impl Frequency<'_> {
    fn of(&mut self, key: Key, value: u64) -> usize {
        let Frequency { words, sample, known } = self;
        *known.entry((key, value)).or_insert_with(|| {
            let now = |state: &[u64]| state[key.word as usize] >> key.shift & key.mask;
            let held = |state: &&[u64]| if key.by_value { now(state) == value } else { now(state) != 0 };
            sample.chunks_exact((*words).max(1)).filter(held).count()
        })
    }
}
