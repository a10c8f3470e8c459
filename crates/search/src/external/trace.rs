//! From a state back to how it came about: level by level, each expanded once more until the state turns up.

use super::External;
use super::run::Reader;
use scrimp_core::Trace;
use scrimp_system::{Batch, EventCode};
use std::io;

impl External<'_> {
    /// A shortest run to `target`, which was found at `depth`, where the levels were kept and can be read.
    pub fn trace(&self, target: &[u8], depth: u32) -> Option<Trace> {
        let mut steps = Vec::new();
        let mut target = target.to_vec();
        for level in (0..depth as usize).rev() {
            let (event, before) = self.predecessor(level, &target).ok()??;
            steps.push((event, std::mem::replace(&mut target, before)));
        }
        steps.reverse();
        Some(Trace { initial: target, steps })
    }

    /// A state of a level that an event leads from to `target`, and the event.
    fn predecessor(&self, level: usize, target: &[u8]) -> io::Result<Option<(EventCode, Vec<u8>)>> {
        let mut source = Batch::new(self.model.state_bytes());
        let mut successors = Batch::new(self.model.state_bytes());
        for part in self.levels.iter().filter_map(|(levels, _)| levels.get(level)).flatten() {
            let mut reader = Reader::new(part, None);
            while reader.next()? {
                source.clear();
                successors.clear();
                source.push(reader.state(), 0);
                self.model.expand(source.state(0), &mut successors);
                if let Some(i) = (0..successors.len()).find(|&i| successors.state(i) == target) {
                    return Ok(Some((successors.event(i), reader.state().to_vec())));
                }
            }
        }
        Ok(None)
    }
}
