//! The states of several sorted sources, cut into ranges with about as many of them in each.

use super::buffer::Buffer;
use super::index::Index;

/// States of a source that are looked at.
const SAMPLES: usize = 128;

/// States from `low` on and before `high`. An empty `low` is before all.
pub struct Range {
    pub low: Vec<u8>,
    pub high: Option<Vec<u8>>,
    /// About how many there are.
    pub states: u64,
}

impl Range {
    /// May there be some of those from `first` on and before `next`?
    pub fn meets(&self, first: &[u8], next: Option<&[u8]>) -> bool {
        self.high.as_ref().is_none_or(|high| first < &high[..]) && next.is_none_or(|next| next > &self.low[..])
    }
}

/// Some states of the sources, and how many each stands for: those from it to the next.
#[derive(Default)]
pub struct Samples(Vec<(Vec<u8>, u64)>);

impl Samples {
    /// Takes samples of `all` states by their places, of which there are so many.
    fn add<'a>(&mut self, all: u64, places: usize, state: impl Fn(usize) -> &'a [u8]) {
        let step = places.div_ceil(SAMPLES).max(1);
        let samples = places.div_ceil(step) as u64;
        for (i, place) in (0..).zip((0..places).step_by(step)) {
            let stands_for = all * (i + 1) / samples - all * i / samples;
            self.0.push((state(place).to_vec(), stands_for));
        }
    }

    pub fn of_run(&mut self, states: u64, index: &Index) {
        self.add(states, index.len(), |entry| index.first(entry));
    }

    pub fn of_buffer(&mut self, buffer: &Buffer) {
        self.add(buffer.sorted() as u64, buffer.sorted(), |place| buffer.state(place));
    }

    /// At most so many ranges, at least one, that hold all states.
    pub fn cut(mut self, most: usize) -> Vec<Range> {
        self.0.sort_unstable();
        let all: u64 = self.0.iter().map(|(_, states)| states).sum();
        let mut ranges = vec![Range { low: Vec::new(), high: None, states: 0 }];
        let mut before = 0;
        for (state, states) in self.0 {
            let due = (all as u128 * ranges.len() as u128 / most.max(1) as u128) as u64;
            if let Some(last) = ranges.last_mut() {
                if before >= due && last.states > 0 && state > last.low {
                    last.high = Some(state.clone());
                    ranges.push(Range { low: state, high: None, states });
                } else {
                    last.states += states;
                }
            }
            before += states;
        }
        ranges
    }
}
