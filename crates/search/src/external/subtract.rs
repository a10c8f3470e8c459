//! The end of a level: what was collected, less what is visited, is the next level. Threads do so range by range.

use super::buffer::Buffer;
use super::crew::Watch;
use super::expand::Thread;
use super::filter::Filter;
use super::merge::{Merge, Source};
use super::ranges::{Range, Samples};
use super::run::{Aids, Help, Reader, Run, To, Writer};
use super::{Crew, External, Halt};
use crate::check::{Check, Flow, Seen};
use crate::outcome::Ended;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::words::hash;

/// States that are looked up together.
const BLOCK: usize = 256;

impl External<'_> {
    /// The new ones among the collected states, at `depth`, in parts.
    pub(super) fn subtract(
        &mut self,
        threads: &[Thread],
        (check, depth): (&dyn Check, u32),
        crew: &Crew,
    ) -> Result<Vec<(Run, Option<Aids>)>, Halt> {
        let n = self.model.state_bytes();
        let buffers: Vec<&Buffer> = threads.iter().map(|thread| &thread.buffer).collect();
        let spilled: Vec<_> = threads.iter().flat_map(|thread| &thread.spilled).collect();
        let most = spilled.iter().map(|(run, _)| run.count).chain(buffers.iter().map(|b| b.sorted() as u64)).sum();
        let mut samples = Samples::default();
        buffers.iter().for_each(|buffer| samples.of_buffer(buffer));
        for (run, aids) in &spilled {
            aids.iter().for_each(|aids| samples.of_run(run.count, &aids.index));
        }
        let ranges = samples.cut(crew.ranges_for(most));
        let words = Filter::words(most, self.visited.pool());
        let files = match &self.levels {
            Some((_, files)) => files.clone(),
            None => self.scratch.files(crew.threads.min(ranges.len()))?,
        };
        let found = AtomicU64::new(0);
        let subtracted = crew.each_range(ranges.len(), |thread, number, watch| {
            let range = &ranges[number];
            let mut sources: Vec<Source> = buffers.iter().map(|buffer| Source::Buffer(buffer, 0)).collect();
            for (run, aids) in &spilled {
                let start = aids.as_ref().map_or(0, |aids| aids.index.start(&range.low));
                sources.push(Source::Run(Reader::new(run, None).reading(self.read).at(start)));
            }
            let words = words.map(|words| Filter::share(words, range.states, most));
            let to = files.get(thread).map_or(To::Own(&self.scratch), To::End);
            let writer = Writer::new(n, to, Help::Lookup(words, self.visited.pool()));
            let merge = Merge::new(n, sources, Some(range))?;
            self.new_ones(range, merge, writer, (check, depth, &found), watch)
        });
        self.facts.states += found.load(Ordering::Relaxed);
        subtracted
    }

    fn new_ones(
        &self,
        range: &Range,
        mut merge: Merge,
        mut writer: Writer,
        (check, depth, found): (&dyn Check, u32, &AtomicU64),
        watch: &mut Watch,
    ) -> Result<(Run, Option<Aids>), Halt> {
        let n = self.model.state_bytes();
        let mut lookup = self.visited.lookup(range, self.read);
        let (mut states, mut hashes, mut known) = (Vec::with_capacity(BLOCK * n), Vec::new(), Vec::new());
        let wants_states = check.wants_states();
        let mut more = true;
        while more {
            states.clear();
            hashes.clear();
            while hashes.len() < BLOCK {
                let Some(state) = merge.next()? else {
                    more = false;
                    break;
                };
                states.extend_from_slice(state);
                hashes.push(hash(state));
            }
            watch.go_on()?;
            known.clear();
            known.resize(hashes.len(), false);
            lookup.mark(&states, &hashes, &mut known)?;
            let before = writer.count();
            for (i, state) in states.chunks_exact(n).enumerate().filter(|&(i, _)| !known[i]) {
                writer.push_hashed(state, hashes[i])?;
                if wants_states && check.state(Seen { state, depth, path: None }) == Flow::Stop {
                    found.fetch_add(writer.count() - before, Ordering::Relaxed);
                    return Err(Halt::Ended(Ended::Decided));
                }
            }
            found.fetch_add(writer.count() - before, Ordering::Relaxed);
        }
        Ok(writer.finish()?)
    }
}
