//! Successors that a reduction leaves out under a condition, until it is known whether the condition is met.
//!
//! States are expanded many at a time, and only the store's answer says whether one of the successors explored is new. What
//! was left out waits here meanwhile: if the condition is met it is dropped, if not it is explored after all.

use scrimp_system::Batch;
use std::ops::Range;

/// What was left out of the successors of several sources.
#[derive(Debug)]
pub struct DeferredEvents {
    rest: Batch,
    /// For each of them its source, and which of that one's successors it is.
    origins: Vec<u32>,
    places: Vec<u32>,
    /// The sources with a condition, in order.
    sources: Vec<u32>,
}

impl DeferredEvents {
    pub fn new(state_bytes: usize) -> DeferredEvents {
        DeferredEvents { rest: Batch::new(state_bytes), origins: Vec::new(), places: Vec::new(), sources: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.rest.clear();
        self.origins.clear();
        self.places.clear();
        self.sources.clear();
    }

    /// Something is left out of the successors of this source.
    pub fn begin(&mut self, source: u32) {
        self.sources.push(source);
    }

    /// This successor is left out: number `i` of the batch, and its number among those of the source begun last.
    pub fn leave_out(&mut self, batch: &Batch, i: usize, place: u32) {
        self.rest.push(batch.state(i), batch.event(i));
        self.origins.push(self.sources.last().copied().unwrap_or(0));
        self.places.push(place);
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// `origins` are the sources of successors that were explored, in order, and `met` says of those of a source whether they
    /// meet the condition. Puts what was left out of the sources that do not in the place of the successors.
    pub fn release(
        &mut self,
        successors: &mut Batch,
        origins: &mut Vec<u32>,
        places: &mut Vec<u32>,
        mut met: impl FnMut(u32, Range<usize>) -> bool,
    ) -> bool {
        let mut at = 0;
        self.sources.retain(|&source| {
            while origins.get(at).is_some_and(|&origin| origin < source) {
                at += 1;
            }
            let first = at;
            while origins.get(at) == Some(&source) {
                at += 1;
            }
            !met(source, first..at)
        });
        successors.clear();
        origins.clear();
        places.clear();
        let mut unmet = self.sources.iter().peekable();
        for i in 0..self.rest.len() {
            while unmet.next_if(|&&source| source < self.origins[i]).is_some() {}
            if unmet.peek() == Some(&&self.origins[i]) {
                successors.push(self.rest.state(i), self.rest.event(i));
                origins.push(self.origins[i]);
                places.push(self.places[i]);
            }
        }
        self.clear();
        !successors.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_without_a_witness_are_explored_whole() {
        let mut batch = Batch::new(1);
        (0..8).for_each(|i| batch.push(&[i], i as u32));
        let mut held = DeferredEvents::new(1);
        for (source, left_out) in [(1, [1, 2].as_slice()), (3, &[4]), (4, &[6, 7])] {
            held.begin(source);
            left_out.iter().for_each(|&i| held.leave_out(&batch, i, i as u32 + 10));
        }
        // Explored so far: 0 of source 1, 3 of source 3 twice, 5 of source 4; those at 2 and 3 lead somewhere new.
        let (mut origins, mut places) = (vec![0, 1, 3, 3, 4], vec![0; 5]);
        assert!(held.release(&mut batch, &mut origins, &mut places, |_, range| range.contains(&3)));
        let states: Vec<u8> = (0..batch.len()).map(|i| batch.state(i)[0]).collect();
        assert_eq!((states, origins, places), (vec![1, 2, 6, 7], vec![1, 1, 4, 4], vec![11, 12, 16, 17]));
        assert!(held.is_empty());
    }
}
