//! What an engine knows of each state, for those who explain its verdict.

use scrimp_system::Batch;
use std::collections::HashMap;

/// Says which subformulas hold where. States are named by places: numbers of the engine's own, asked for on the way.
pub trait Truth {
    /// The places of the initial states, which are given in the order of the model.
    fn begin(&mut self, initial: &Batch) -> Option<Vec<u32>>;

    /// The places of the successors of the state at a place, which are given in the order of the model.
    fn go_on(&mut self, place: u32, successors: &Batch) -> Option<Vec<u32>>;

    /// Does a subformula hold in a state? By its number in the [table](super::Table::subformulas). Those about one state only
    /// are not asked for.
    fn holds(&mut self, subformula: usize, place: u32, state: &[u8]) -> Option<bool>;

    /// Does a run that counts start in a state?
    fn is_fair(&mut self, place: u32, state: &[u8]) -> Option<bool> {
        let _ = (place, state);
        Some(true)
    }
}

/// The truth by an engine that knows states by their bytes.
pub struct ByState<F> {
    places: HashMap<Vec<u8>, u32>,
    holds: F,
}

impl<F: FnMut(usize, &[u8]) -> Option<bool>> ByState<F> {
    /// `holds` says whether a subformula holds in a state.
    pub fn new(holds: F) -> ByState<F> {
        ByState { places: HashMap::new(), holds }
    }

    fn places(&mut self, batch: &Batch) -> Option<Vec<u32>> {
        let place = |i: usize| {
            if let Some(&place) = self.places.get(batch.state(i)) {
                return Some(place);
            }
            let place = u32::try_from(self.places.len()).ok()?;
            self.places.insert(batch.state(i).to_vec(), place);
            Some(place)
        };
        (0..batch.len()).map(place).collect()
    }
}

impl<F: FnMut(usize, &[u8]) -> Option<bool>> Truth for ByState<F> {
    fn begin(&mut self, initial: &Batch) -> Option<Vec<u32>> {
        self.places(initial)
    }

    fn go_on(&mut self, _: u32, successors: &Batch) -> Option<Vec<u32>> {
        self.places(successors)
    }

    fn holds(&mut self, subformula: usize, _: u32, state: &[u8]) -> Option<bool> {
        (self.holds)(subformula, state)
    }
}
