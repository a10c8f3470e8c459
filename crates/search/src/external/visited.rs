//! All visited states, in sorted runs: a few of similar size, a few that are several times smaller, and so on.
//!
//! A level's new states come as one more run. When four or more runs are of similar size, they become one. So each state is
//! written again a number of times that is logarithmic in the number of levels, and few runs must be asked. Where there is
//! memory for it, each run has a filter that spares most questions.

use super::crew::Watch;
use super::disk::Scratch;
use super::filter::Filter;
use super::merge::{Merge, Source};
use super::ranges::{Range, Samples};
use super::run::{Aids, Help, Reader, Run, To, Writer};
use super::share::Pool;
use super::{Crew, Halt};
use crate::words::hash;
use std::io;
use std::sync::Arc;

/// So many runs of similar size are merged.
const SIMILAR: usize = 4;

/// A part of a run, with what helps to look states up in it.
struct Part {
    run: Arc<Run>,
    aids: Option<Aids>,
}

/// A run in parts, one after the other.
struct Known {
    parts: Vec<Part>,
    count: u64,
}

impl Known {
    fn new(parts: impl IntoIterator<Item = (Arc<Run>, Option<Aids>)>) -> Known {
        let parts = parts.into_iter().filter(|(run, _)| run.count > 0).map(|(run, aids)| Part { run, aids });
        let parts: Vec<Part> = parts.collect();
        Known { count: parts.iter().map(|part| part.run.count).sum(), parts }
    }

    /// The parts that may hold states of a range.
    fn within(&self, range: &Range) -> &[Part] {
        let next = |i: usize| self.parts.get(i + 1).map(|next| &next.run.first[..]);
        let meets = |i: &usize| range.meets(&self.parts[*i].run.first, next(*i));
        let first = (0..self.parts.len()).find(meets).unwrap_or(self.parts.len());
        let count = (first..self.parts.len()).take_while(meets).count();
        &self.parts[first..first + count]
    }
}

pub struct Visited {
    state_bytes: usize,
    /// The largest first.
    runs: Vec<Known>,
    scratch: Arc<Scratch>,
    pool: Pool,
}

impl Visited {
    pub fn new(state_bytes: usize, scratch: &Arc<Scratch>, pool: &Pool) -> Visited {
        Visited { state_bytes, runs: Vec::new(), scratch: scratch.clone(), pool: pool.clone() }
    }

    /// Memory for what helps to look states up, from now on. Runs that came without a filter get one.
    pub fn use_pool(&mut self, pool: &Pool, watch: &mut Watch) -> Result<(), Halt> {
        self.pool = pool.clone();
        for Part { run, aids } in self.runs.iter_mut().flat_map(|known| &mut known.parts) {
            let Some(aids @ Aids { filter: None, .. }) = aids else { continue };
            let Some(words) = Filter::words(run.count, pool) else { continue };
            let mut filter = Filter::new(words, pool);
            let mut reader = Reader::new(run, None);
            for tick in 0u64.. {
                if tick.is_multiple_of(4096) {
                    watch.go_on()?;
                }
                if !reader.next()? {
                    break;
                }
                filter.add(hash(reader.state()));
            }
            aids.filter = Some(filter);
        }
        Ok(())
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Adds a run, in parts, of states that are in no other.
    pub fn add(&mut self, parts: Vec<(Arc<Run>, Option<Aids>)>, read: usize, crew: &Crew) -> Result<(), Halt> {
        let known = Known::new(parts);
        if known.count == 0 {
            return Ok(());
        }
        self.insert(known);
        let similar = (0..self.runs.len().saturating_sub(SIMILAR - 1)).find(|&i| {
            let smaller: u64 = self.runs[i + 1..].iter().map(|known| known.count).sum();
            (SIMILAR - 1) as u64 * self.runs[i].count <= smaller
        });
        similar.map_or(Ok(()), |first| self.merge(first, read, crew))
    }

    fn insert(&mut self, known: Known) {
        let at = self.runs.partition_point(|other| other.count >= known.count);
        self.runs.insert(at, known);
    }

    /// Makes one run of those from `first` on.
    fn merge(&mut self, first: usize, read: usize, crew: &Crew) -> Result<(), Halt> {
        let old = &mut self.runs[first..];
        let states = old.iter().map(|known| known.count).sum();
        let mut samples = Samples::default();
        for Part { run, aids } in old.iter().flat_map(|known| &known.parts) {
            aids.iter().for_each(|aids| samples.of_run(run.count, &aids.index));
        }
        let ranges = samples.cut(crew.ranges_for(states));
        // For each range, what is to be read, and from where on.
        let start = |part: &Part, range: &Range| part.aids.as_ref().map_or(0, |aids| aids.index.start(&range.low));
        let sources: Vec<Vec<(Arc<Run>, u64)>> = ranges
            .iter()
            .map(|range| {
                let parts = old.iter().flat_map(|known| known.within(range));
                parts.map(|part| (part.run.clone(), start(part, range))).collect()
            })
            .collect();
        old.iter_mut().flat_map(|known| &mut known.parts).for_each(|part| part.aids = None);
        let words = Filter::words(states, &self.pool);
        let files = self.scratch.files(crew.threads.min(ranges.len()))?;
        let parts = crew.each_range(ranges.len(), |thread, number, watch| {
            let range = &ranges[number];
            let to = files.get(thread).map_or(To::Own(&self.scratch), To::End);
            let words = words.map(|words| Filter::share(words, range.states, states));
            let writer = Writer::new(self.state_bytes, to, Help::Lookup(words, &self.pool));
            let reader = |(run, start)| Source::Run(Reader::new(run, None).reading(read).at(start));
            let sources = sources[number].iter().map(|(run, start)| reader((run, *start))).collect();
            merge(self.state_bytes, sources, Some(range), writer, watch)
        })?;
        self.runs.truncate(first);
        self.insert(Known::new(parts.into_iter().map(|(run, aids)| (Arc::new(run), aids))));
        Ok(())
    }

    pub fn runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.runs.iter().flat_map(|known| &known.parts).map(|part| &part.run)
    }

    /// Asks for states of a range in ascending order.
    pub fn lookup(&self, range: &Range, read: usize) -> Lookup<'_> {
        // Most of what is known was found lately: in the smallest runs.
        let asked = self.runs.iter().rev().filter_map(|known| Asked::new(known.within(range), read));
        Lookup { asked: asked.collect() }
    }
}

/// Makes one run of all that the sources hold, or of those in a range.
pub fn merge(
    state_bytes: usize,
    sources: Vec<Source>,
    range: Option<&Range>,
    mut writer: Writer,
    watch: &mut Watch,
) -> Result<(Run, Option<Aids>), Halt> {
    let mut merge = Merge::new(state_bytes, sources, range)?;
    while let Some(state) = merge.next()? {
        writer.push(state)?;
        if writer.count().is_multiple_of(4096) {
            watch.go_on()?;
        }
    }
    Ok(writer.finish()?)
}

/// Parts of a run that are asked, from the beginning of the first to the end of the last.
struct Asked<'a> {
    reader: Reader<'a>,
    filter: Option<&'a Filter>,
    /// Those that come next.
    next: &'a [Part],
    read: usize,
}

impl<'a> Asked<'a> {
    fn new(parts: &'a [Part], read: usize) -> Option<Asked<'a>> {
        let (Part { run, aids }, next) = parts.split_first()?;
        let reader = Reader::new(run, aids.as_ref().map(|aids| &aids.index)).reading(read);
        Some(Asked { reader, filter: aids.as_ref().and_then(|aids| aids.filter.as_ref()), next, read })
    }

    /// Marks the states that the present part holds, of those from `from` on. Says where the next part takes over.
    fn mark(&mut self, from: usize, states: &[u8], hashes: &[u64], known: &mut [bool]) -> io::Result<usize> {
        let n = states.len() / hashes.len();
        let state = |i: usize| &states[i * n..][..n];
        let mut end = hashes.len();
        if let Some(next) = self.next.first().filter(|next| next.run.first[..] <= *state(end - 1)) {
            end = (from..end).find(|&i| next.run.first[..] <= *state(i)).unwrap_or(end);
        }
        if let Some(filter) = self.filter {
            hashes[from..end].iter().for_each(|&hash| filter.prefetch(hash));
        }
        for i in from..end {
            if !known[i] && self.filter.is_none_or(|filter| filter.may_hold(hashes[i])) {
                known[i] = self.reader.holds(state(i))?;
            }
        }
        Ok(end)
    }
}

pub struct Lookup<'a> {
    asked: Vec<Asked<'a>>,
}

impl Lookup<'_> {
    /// Marks those of some states, which stand one after the other in ascending order, that are visited. From call to call
    /// states ascend too.
    pub fn mark(&mut self, states: &[u8], hashes: &[u64], known: &mut [bool]) -> io::Result<()> {
        for asked in &mut self.asked {
            let mut from = 0;
            while from < hashes.len() {
                from = asked.mark(from, states, hashes, known)?;
                if from < hashes.len()
                    && let Some(next) = Asked::new(asked.next, asked.read)
                {
                    *asked = next;
                }
            }
        }
        Ok(())
    }
}
