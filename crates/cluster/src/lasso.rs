//! From a set that stays as it is to a run: the way back along the states from which others were reached first, and a shortest way
//! to the cycle.

use crate::emptiness::{Passed, Said, Searcher};
use crate::numbered::{Address, NUMBER, PASSED, Phase, TARGET};
use crate::signals::Gone;
use scrimp_system::Model;

/// The longest run that is written down.
const LONGEST: usize = 2_000_000;

/// A cycle, which ends where it begins, and the address of that state.
type Cycle = (Vec<Vec<u8>>, Address);

/// States passed on the way back.
struct Back {
    /// As the first worker has them.
    states: Vec<Vec<u8>>,
    /// The state that was met twice, with its place among them, or the one that was not reached from another.
    end: Address,
    place: usize,
}

impl Searcher<'_, '_, '_> {
    /// A state with an accepting edge to itself.
    pub(crate) fn loop_of(&mut self, at: Address) -> Result<Option<Cycle>, Gone> {
        // Where memory is used up, all that is needed is there.
        self.owned.phase = Phase::Stem;
        let step = self.step_at(at)?;
        Ok(step.map(|(state, ..)| (vec![state], at)))
    }

    /// An accepting cycle of the set, which stays as it is.
    pub(crate) fn cycle(&mut self) -> Result<Option<Cycle>, Gone> {
        self.mail.carry(self.product.state_bytes() + NUMBER);
        self.owned.begin(Phase::Parents, true);
        if self.reach([Phase::Parents, Phase::Parents], true)?.is_none() {
            return Ok(None);
        }
        let first = self.owned.first_of_set();
        let waiting = self.owned.waiting();
        let Some(start) = self.say(Said { first, waiting, ..Said::default() }, false)?.address(|said| said.first)
        else {
            return Ok(None);
        };
        let Some(Back { mut states, end, place }) = self.back_from(start)? else { return Ok(None) };
        let mut cycle = states.split_off(place.min(states.len()));
        cycle.reverse();
        Ok(Some((cycle, end)))
    }

    /// A shortest run to a state.
    pub(crate) fn stem(&mut self, to: Address) -> Result<Option<Vec<Vec<u8>>>, Gone> {
        self.mail.carry(self.product.state_bytes() + NUMBER);
        self.owned.begin(Phase::Stem, true);
        if to.worker as usize == self.me {
            self.owned.mark(to.number, TARGET);
        }
        if !self.reach_target()? {
            return Ok(None);
        }
        let back = self.back_from(to)?;
        Ok(back.map(|back| back.states.into_iter().rev().collect()))
    }

    /// The states from which this one was reached, one after the other, until one is met twice or there is none before it.
    fn back_from(&mut self, start: Address) -> Result<Option<Back>, Gone> {
        let (mut at, mut states, mut passed) = (start, Vec::new(), Vec::new());
        for _ in 0..LONGEST {
            let Some((state, before, met)) = self.step_at(at)? else { return Ok(None) };
            if met {
                let place = passed.iter().position(|other| *other == at).unwrap_or(0);
                return Ok(Some(Back { states, end: at, place }));
            }
            if self.me == 0 {
                states.push(state);
                passed.push(at);
            }
            match before {
                Some(before) => at = before,
                None => return Ok(Some(Back { states, end: at, place: 0 })),
            }
        }
        Ok(None)
    }

    /// A state, from where it was reached, and whether it was passed before; from now on it was. All workers ask for the same one.
    fn step_at(&mut self, at: Address) -> Result<Option<Passed>, Gone> {
        let mine = at.worker as usize == self.me && at.number < self.owned.len();
        let step = mine.then(|| {
            let (mut state, met) = (Vec::new(), self.owned.has(at.number, PASSED));
            self.owned.load(at.number, &mut state);
            self.owned.mark(at.number, PASSED);
            (state, self.owned.parent(at.number), met)
        });
        let all = self.say(Said { step, ..Said::default() }, false)?;
        Ok(if all.is_stopped() { None } else { all.step() })
    }
}
