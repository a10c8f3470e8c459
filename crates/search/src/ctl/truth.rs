//! What an engine knows of each state, for those who explain its verdict.

use scrimp_system::Batch;

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
