//! Which variable each event watches: of those that must not be zero for it, the one that is zero most often.

use super::read::Watchable;
use std::collections::HashMap;

/// Variables with more values than this are only told apart from zero.
const MOST_VALUES: u64 = 255;

#[derive(Default)]
pub struct Watching {
    /// Events that are looked at in every state.
    pub always: Vec<u32>,
    /// For each word, the bits of variables that are watched.
    pub watched: Vec<u64>,
    /// For each bit, the variable that it belongs to.
    pub at: Vec<u32>,
    pub variables: Vec<Watched>,
    /// Variables that are watched for being zero.
    pub from_zero: Vec<u32>,
    /// Where the list of each variable, or each value of it, begins in `events`.
    starts: Vec<u32>,
    events: Vec<u32>,
}

pub struct Watched {
    pub word: u32,
    shift: u32,
    mask: u64,
    /// Its bits in its word.
    pub bits: u64,
    first: u32,
    by_value: bool,
}

/// How often a condition held in the sample.
struct Frequency<'a> {
    words: usize,
    sample: &'a [u64],
    known: HashMap<(u32, u32, Option<u64>), usize>,
}

impl Watching {
    /// `sample` has the words of some states, one after the other.
    pub fn new(watchable: &[Vec<Watchable>], words: usize, sample: &[u64]) -> Watching {
        let mut frequency = Frequency { words, sample, known: HashMap::new() };
        let mut taken: HashMap<(u32, u32), usize> = HashMap::new();
        // For each variable, its events with the value that they wait for.
        let mut lists: Vec<(Watchable, Vec<(Option<u64>, u32)>)> = Vec::new();
        let mut numbers: HashMap<(u32, u32), usize> = HashMap::new();
        let mut watching = Watching { watched: vec![0; words], at: vec![0; 64 * words], ..Watching::default() };
        for (event, choices) in watchable.iter().enumerate() {
            let useful = |w: &&Watchable| w.mask <= MOST_VALUES || w.value != Some(0);
            let cost = |w: &&Watchable| (frequency.of(w), taken.get(&(w.word, w.shift)).copied().unwrap_or(0));
            let Some(choice) = choices.iter().filter(useful).min_by_key(cost) else {
                watching.always.push(event as u32);
                continue;
            };
            *taken.entry((choice.word, choice.shift)).or_default() += 1;
            let number = *numbers.entry((choice.word, choice.shift)).or_insert_with(|| {
                lists.push((*choice, Vec::new()));
                lists.len() - 1
            });
            let value = choice.value.filter(|_| choice.mask <= MOST_VALUES);
            lists[number].1.push((value, event as u32));
        }
        for (number, (Watchable { word, shift, mask, .. }, list)) in lists.into_iter().enumerate() {
            let by_value = list.iter().any(|(value, _)| value.is_some());
            let first = watching.starts.len() as u32;
            let bits = mask << shift;
            let values = if by_value { mask + 1 } else { 1 };
            for value in 0..values {
                watching.starts.push(watching.events.len() as u32);
                let here = |wanted: Option<u64>| wanted.map_or(!by_value || value != 0, |wanted| wanted == value);
                watching.events.extend(list.iter().filter(|(wanted, _)| here(*wanted)).map(|(_, event)| event));
            }
            if by_value && list.iter().any(|(value, _)| *value == Some(0)) {
                watching.from_zero.push(number as u32);
            }
            watching.watched[word as usize] |= bits;
            (0..64)
                .filter(|bit| bits >> bit & 1 == 1)
                .for_each(|bit| watching.at[64 * word as usize + bit] = number as u32);
            watching.variables.push(Watched { word, shift, mask, bits, first, by_value });
        }
        watching.starts.push(watching.events.len() as u32);
        watching
    }

    /// The events to look at where a variable is not zero.
    #[inline]
    pub fn events(&self, variable: &Watched, word: u64) -> &[u32] {
        let value = if variable.by_value { word >> variable.shift & variable.mask } else { 0 };
        self.list(variable.first as usize + value as usize)
    }

    /// The events to look at if it is zero.
    #[inline]
    pub fn events_at_zero(&self, variable: &Watched, word: u64) -> &[u32] {
        if word & variable.bits == 0 { self.list(variable.first as usize) } else { &[] }
    }

    #[inline]
    fn list(&self, number: usize) -> &[u32] {
        &self.events[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

impl Frequency<'_> {
    fn of(&mut self, w: &Watchable) -> usize {
        let Frequency { words, sample, known } = self;
        *known.entry((w.word, w.shift, w.value)).or_insert_with(|| {
            let value = |state: &[u64]| state[w.word as usize] >> w.shift & w.mask;
            let held = |state: &&[u64]| w.value.map_or(value(state) != 0, |wanted| value(state) == wanted);
            sample.chunks_exact((*words).max(1)).filter(held).count()
        })
    }
}
