//! The shortest run to a state, found again: owners keep no predecessors, so every process looks on its part of the level before for a
//! state that leads there, and so on back to the first. Levels that had to make room are searched for once more.

use crate::search::Search;
use crate::signals::Gone;
use crate::word::{Finding, Word};
use scrimp_system::{Batch, Model};
use std::collections::VecDeque;

impl Search<'_, '_> {
    /// The states of a shortest run to a state; none where there is no time or memory to find it.
    pub(crate) fn way_to(&mut self, finding: &Finding) -> Result<Option<Vec<Vec<u8>>>, Gone> {
        let mut path = VecDeque::from([finding.state.clone()]);
        for before in (0..finding.level).rev() {
            let found = loop {
                let has_level = self.level(before).is_some();
                let predecessor = if has_level { self.predecessor(before, &path[0]) } else { None };
                let sum = self.say(Word { has_level, predecessor, ..Word::default() })?;
                if let Some(found) = sum.words.iter().find_map(|word| word.predecessor.clone()) {
                    break found;
                }
                let everywhere = sum.words.iter().all(|word| word.has_level);
                if everywhere || sum.limit.is_some() || !self.again(before)? {
                    return Ok(None);
                }
            };
            path.push_front(found);
        }
        Ok(Some(path.into()))
    }

    /// A state of this process on that level which leads to another one. Each thread looks at a part of the level.
    fn predecessor(&self, level: u32, target: &[u8]) -> Option<Vec<u8>> {
        let model = &*self.task.model;
        let (level, mut out, mut seen) = (self.level(level)?, Batch::new(model.state_bytes()), 0);
        let part = |thread: usize| (level.len() as u128 * thread as u128 / self.exchange.threads() as u128) as u64;
        let (mut at, end) = (part(self.thread), part(self.thread + 1));
        while at < end {
            for state in level.from(at).take((end - at) as usize) {
                out.clear();
                model.expand(state, &mut out);
                out.take_deadlock(0);
                if (0..out.len()).any(|i| out.state(i) == target) {
                    return Some(state.to_vec());
                }
                (at, seen) = (at + 1, seen + 1);
                if u64::is_multiple_of(seen, 1024) && self.exchange.signals().stopped().is_some() {
                    return None;
                }
            }
        }
        None
    }
}
