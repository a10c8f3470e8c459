//! Runs that show something: shortest ones to a state, and ones that go on for ever.
//!
//! What holds where is asked of an engine; the model is run beside it. Only numbers of states are remembered, and the states on
//! the run that was found are made once more.

use super::check::CtlTask;
use super::normal::Table;
use super::truth::Truth;
use scrimp_core::budget::resident;
use scrimp_system::{Batch, EventCode};
use std::collections::{HashMap, HashSet, VecDeque};

/// A state, and where the engine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub place: u32,
    pub state: Vec<u8>,
}

/// A subformula that is to hold, or not to.
pub(super) type Need = (usize, bool);

/// A run from a state: events and what they lead to.
pub(super) type Steps = Vec<(EventCode, Spot)>;

/// A run that cannot be made longer: it goes on from where it was after so many steps, or ends.
pub(super) struct Maximal {
    pub steps: Steps,
    pub cycle: Option<usize>,
}

/// Where a run is to lead.
pub(super) enum Target<'t> {
    /// To where these hold, and a run that counts begins.
    Needs(&'t [Need]),
    /// To where a condition of fairness holds, among the states on the way.
    Fair(usize),
    /// To this place, by a step at least.
    Place(u32),
}

/// Looks for runs.
pub(super) struct Runs<'r, 'a> {
    pub task: &'r CtlTask<'a>,
    pub table: &'r Table<'r>,
    pub truth: &'r mut dyn Truth,
    /// How many states may still be looked at.
    pub patience: usize,
}

/// Found on the way: the place, the entry that led there, and the event.
type Entry = (u32, u32, EventCode);

/// States looked at for a shortest run, and for a short one that goes round, before any will do.
const NEAR: usize = 100_000;
const FEW: usize = 20_000;
/// From so many states a short way back to themselves is looked for, among so many others.
const ROUNDS: usize = 40;
const AROUND: usize = 2_000;

/// There is none among the states that were looked at.
struct Far;

impl Runs<'_, '_> {
    /// Does a subformula hold in a state?
    pub fn holds(&mut self, subformula: usize, spot: &Spot) -> Option<bool> {
        let node = self.table.subformulas()[subformula].node;
        if self.table.is_state(node) {
            return Some(self.table.holds_in(node, &|atom| self.task.atoms[atom as usize](&spot.state) == Ok(true)));
        }
        self.truth.holds(subformula, spot.place, &spot.state)
    }

    pub fn meets(&mut self, needs: &[Need], spot: &Spot) -> Option<bool> {
        for &(subformula, value) in needs {
            if self.holds(subformula, spot)? != value {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The initial states, in the order of the model.
    pub fn initial(&mut self) -> Option<Vec<Spot>> {
        let mut batch = Batch::new(self.task.model.state_bytes());
        self.task.model.initial(&mut batch);
        let places = self.truth.begin(&batch)?;
        Some(places.into_iter().enumerate().map(|(i, place)| Spot { place, state: batch.state(i).to_vec() }).collect())
    }

    /// The successors of a state, in the order of the model.
    pub fn successors(&mut self, spot: &Spot) -> Option<Steps> {
        self.patience = self.patience.checked_sub(1)?;
        if self.patience.is_multiple_of(1024) {
            let full = resident().is_some_and(|used| used > self.task.plan.memory());
            if full || self.task.control.stopped(0).is_some() {
                return None;
            }
        }
        let mut batch = Batch::new(self.task.model.state_bytes());
        self.task.model.expand(&spot.state, &mut batch);
        let places = self.truth.go_on(spot.place, &batch)?;
        let step = |(i, place)| (batch.event(i), Spot { place, state: batch.state(i).to_vec() });
        Some(places.into_iter().enumerate().map(step).collect())
    }

    fn is_fair_here(&self, condition: usize, spot: &Spot) -> bool {
        self.task.fairness[condition](&spot.state) == Ok(true)
    }

    /// Is a state what a run through states that meet these needs is to lead to?
    pub fn is_target(&mut self, target: &Target, through: &[Need], spot: &Spot) -> Option<bool> {
        match target {
            Target::Needs(needs) => Some(self.meets(needs, spot)? && self.truth.is_fair(spot.place, &spot.state)?),
            Target::Fair(condition) => Some(self.is_fair_here(*condition, spot) && self.meets(through, spot)?),
            Target::Place(place) => Some(spot.place == *place),
        }
    }

    /// A run to a target through states that meet these needs, a shortest one unless that is far away; `Some(None)` where
    /// there is none.
    pub fn shortest(&mut self, from: &Spot, through: &[Need], target: &Target) -> Option<Option<Steps>> {
        if !matches!(target, Target::Place(_)) && self.is_target(target, through, from)? {
            return Some(Some(Vec::new()));
        }
        match self.nearest(from, through, target, NEAR)? {
            Ok(found) => Some(found),
            Err(Far) => self.any_way(from, through, target),
        }
    }

    /// A shortest run to a target by a step at least, if no more than so many states must be looked at.
    fn nearest(
        &mut self,
        from: &Spot,
        through: &[Need],
        target: &Target,
        most: usize,
    ) -> Option<Result<Option<Steps>, Far>> {
        let mut entries: Vec<Entry> = vec![(from.place, 0, 0)];
        let mut known = HashSet::from([from.place]);
        let mut open = VecDeque::from([(0u32, from.clone())]);
        while let Some((entry, spot)) = open.pop_front() {
            if entries.len() > most {
                return Some(Err(Far));
            }
            if !self.meets(through, &spot)? {
                continue;
            }
            for (event, next) in self.successors(&spot)? {
                if self.is_target(target, through, &next)? {
                    let mut steps = self.again(from, &entries, entry)?;
                    steps.push((event, next));
                    return Some(Ok(Some(steps)));
                }
                if known.insert(next.place) {
                    open.push_back((entries.len() as u32, next.clone()));
                    entries.push((next.place, entry, event));
                }
            }
        }
        Some(Ok(None))
    }

    /// Any run to a target, depth first, as engines look for one too.
    fn any_way(&mut self, from: &Spot, through: &[Need], target: &Target) -> Option<Option<Steps>> {
        let mut known = HashSet::from([from.place]);
        let mut path = Steps::new();
        // What is left to try after each state of the path.
        let mut left = vec![self.successors(from)?.into_iter()];
        while let Some(choices) = left.last_mut() {
            let Some((event, next)) = choices.next() else {
                left.pop();
                path.pop();
                continue;
            };
            if self.is_target(target, through, &next)? {
                path.push((event, next));
                return Some(Some(path));
            }
            if known.insert(next.place) && self.meets(through, &next)? {
                left.push(self.successors(&next)?.into_iter());
                path.push((event, next));
            }
        }
        Some(None)
    }

    /// The run to an entry, made once more.
    fn again(&mut self, from: &Spot, entries: &[Entry], entry: u32) -> Option<Steps> {
        let mut way = Vec::new();
        let mut at = entry;
        while at != 0 {
            way.push(at);
            at = entries[at as usize].1;
        }
        let mut steps: Steps = Vec::with_capacity(way.len());
        for &at in way.iter().rev() {
            let (place, _, event) = entries[at as usize];
            let before = steps.last().map_or(from, |(_, spot)| spot).clone();
            let next = self.successors(&before)?.into_iter().find(|(code, spot)| *code == event && spot.place == place);
            steps.push(next?);
        }
        Some(steps)
    }

    /// A run that stays for ever, or to its end, among states that meet these needs: every such state must have a successor of
    /// the kind, or be the end of a run. All conditions of fairness hold on it again and again.
    pub fn for_ever(&mut self, from: &Spot, through: &[Need]) -> Option<Maximal> {
        if !self.task.fairness.is_empty() {
            return self.fair_for_ever(from, through);
        }
        match self.short_round(from, through)? {
            Some(found) => Some(found),
            None => self.any_round(from, through),
        }
    }

    /// Breadth first, until a run ends or leads back to a state that it has passed; for a while.
    fn short_round(&mut self, from: &Spot, through: &[Need]) -> Option<Option<Maximal>> {
        let mut entries: Vec<Entry> = vec![(from.place, 0, 0)];
        let mut known: HashMap<u32, u32> = HashMap::from([(from.place, 0)]);
        let mut open = VecDeque::from([(0u32, from.clone())]);
        while let Some((entry, spot)) = open.pop_front() {
            if entries.len() > FEW {
                return Some(None);
            }
            let successors = self.successors(&spot)?;
            if successors.is_empty() {
                return Some(Some(Maximal { steps: self.again(from, &entries, entry)?, cycle: None }));
            }
            for (event, next) in successors {
                if let Some(&before) = known.get(&next.place) {
                    let mut at = entry;
                    let mut back = 0;
                    while at > before {
                        at = entries[at as usize].1;
                        back += 1;
                    }
                    if at == before {
                        let mut steps = self.again(from, &entries, entry)?;
                        let cycle = steps.len() - back;
                        steps.push((event, next));
                        let found = Maximal { steps, cycle: Some(cycle) };
                        return Some(Some(self.shorter(from, through, &entries, found)?));
                    }
                } else if self.meets(through, &next)? {
                    known.insert(next.place, entries.len() as u32);
                    open.push_back((entries.len() as u32, next.clone()));
                    entries.push((next.place, entry, event));
                }
            }
        }
        Some(None)
    }

    /// A shorter run that goes round, if there is one by way of a state that was found early.
    fn shorter(&mut self, from: &Spot, through: &[Need], entries: &[Entry], mut best: Maximal) -> Option<Maximal> {
        for entry in 0..entries.len().min(ROUNDS) as u32 {
            let mut steps = self.again(from, entries, entry)?;
            let at = steps.last().map_or(from, |(_, spot)| spot).clone();
            let cycle = steps.len();
            if let Ok(Some(round)) = self.nearest(&at, through, &Target::Place(at.place), AROUND)?
                && cycle + round.len() < best.steps.len()
            {
                steps.extend(round);
                best = Maximal { steps, cycle: Some(cycle) };
            }
        }
        Some(best)
    }

    /// Goes on and on until the run ends or is where it was before.
    fn any_round(&mut self, from: &Spot, through: &[Need]) -> Option<Maximal> {
        let mut known: HashMap<u32, usize> = HashMap::from([(from.place, 0)]);
        let (mut steps, mut at) = (Steps::new(), from.clone());
        loop {
            let successors = self.successors(&at)?;
            if successors.is_empty() {
                return Some(Maximal { steps, cycle: None });
            }
            steps.push(self.first(successors, through)?);
            at = steps.last().map_or(from, |(_, spot)| spot).clone();
            if let Some(cycle) = known.insert(at.place, steps.len()) {
                return Some(Maximal { steps, cycle: Some(cycle) });
            }
        }
    }

    /// From one condition to the next and back to the first; where that does not lead back, once more from there, which is
    /// further down among the components.
    fn fair_for_ever(&mut self, from: &Spot, through: &[Need]) -> Option<Maximal> {
        let conditions = self.task.fairness.len();
        let mut steps = Steps::new();
        let mut at = from.clone();
        loop {
            let mut anchor: Option<(usize, Spot)> = None;
            for condition in 0..conditions {
                let way = self.shortest(&at, through, &Target::Fair(condition))?;
                steps.extend(way?);
                at = steps.last().map_or(from, |(_, spot)| spot).clone();
                anchor.get_or_insert((steps.len(), at.clone()));
            }
            let (cycle, first) = anchor?;
            match self.shortest(&at, through, &Target::Place(first.place))? {
                Some(way) => {
                    steps.extend(way);
                    return Some(Maximal { steps, cycle: Some(cycle) });
                }
                None if self.ends_fairly(&at)? => return Some(Maximal { steps, cycle: None }),
                // One step further, so that a state that is left for good is not begun with again.
                None => {
                    let successors = self.successors(&at)?;
                    steps.push(self.first(successors, through)?);
                    at = steps.last().map_or(from, |(_, spot)| spot).clone();
                }
            }
        }
    }

    /// The first of these steps that leads to where needs are met.
    fn first(&mut self, steps: Steps, needs: &[Need]) -> Option<(EventCode, Spot)> {
        for step in steps {
            if self.meets(needs, &step.1)? {
                return Some(step);
            }
        }
        None
    }

    fn ends_fairly(&mut self, spot: &Spot) -> Option<bool> {
        let fair = (0..self.task.fairness.len()).all(|condition| self.is_fair_here(condition, spot));
        Some(fair && self.successors(spot)?.is_empty())
    }
}
