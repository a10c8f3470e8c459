//! All visited states, in a few sorted runs of which each is about as large as all smaller ones together.
//!
//! A level's new states come as one more run. When four or more runs are of similar size, they become one. So each state is
//! written again a number of times that is logarithmic in the number of levels, and few runs must be asked. Where there is
//! memory for it, each run has a filter that spares most questions.

use super::Halt;
use super::disk::Scratch;
use super::filter::Filter;
use super::merge::{Merge, Source};
use super::run::{Aids, Reader, Run, To, Writer};
use super::share::Pool;
use crate::words::hash;
use std::io;
use std::sync::Arc;

/// So many runs of similar size are merged.
const SIMILAR: usize = 4;

struct Known {
    run: Arc<Run>,
    aids: Option<Aids>,
}

pub struct Visited {
    state_bytes: usize,
    /// The largest first.
    runs: Vec<Known>,
    scratch: Arc<Scratch>,
    pool: Pool,
}

/// May the search go on?
pub type Stopped<'a> = dyn FnMut() -> Result<(), Halt> + 'a;

impl Visited {
    pub fn new(state_bytes: usize, scratch: &Arc<Scratch>, pool: &Pool) -> Visited {
        Visited { state_bytes, runs: Vec::new(), scratch: scratch.clone(), pool: pool.clone() }
    }

    /// Memory for what helps to look states up, from now on. Runs that came without a filter get one.
    pub fn use_pool(&mut self, pool: &Pool, stopped: &mut Stopped) -> Result<(), Halt> {
        self.pool = pool.clone();
        for Known { run, aids } in &mut self.runs {
            let Some(aids @ Aids { filter: None, .. }) = aids else { continue };
            let Some(mut filter) = Filter::new(run.count, pool) else { continue };
            let mut reader = Reader::new(run, None);
            for tick in 0u64.. {
                if tick.is_multiple_of(4096) {
                    stopped()?;
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

    /// Adds a run of states that are in no other.
    pub fn add(&mut self, run: Arc<Run>, aids: Option<Aids>, stopped: &mut Stopped) -> Result<(), Halt> {
        if run.count == 0 {
            return Ok(());
        }
        let at = self.runs.partition_point(|other| other.run.count >= run.count);
        self.runs.insert(at, Known { run, aids });
        let similar = (0..self.runs.len().saturating_sub(SIMILAR - 1)).find(|&i| {
            let smaller: u64 = self.runs[i + 1..].iter().map(|known| known.run.count).sum();
            self.runs[i].run.count <= smaller
        });
        similar.map_or(Ok(()), |first| self.merge(first, stopped))
    }

    /// Makes one run of those from `first` on.
    fn merge(&mut self, first: usize, stopped: &mut Stopped) -> Result<(), Halt> {
        self.runs[first..].iter_mut().for_each(|known| known.aids = None);
        let sources = self.runs[first..].iter().map(|known| Source::Run(Reader::new(&known.run, None))).collect();
        let states = self.runs[first..].iter().map(|known| known.run.count).sum();
        let writer = Writer::new(self.state_bytes, To::Own(&self.scratch), Some((Some(states), &self.pool)));
        let (run, aids) = merge(self.state_bytes, sources, writer, stopped)?;
        self.runs.truncate(first);
        let at = self.runs.partition_point(|other| other.run.count >= run.count);
        self.runs.insert(at, Known { run: Arc::new(run), aids });
        Ok(())
    }

    pub fn runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.runs.iter().map(|known| &known.run)
    }

    /// Asks for states in ascending order.
    pub fn lookup(&self) -> Lookup<'_> {
        let asked = self.runs.iter().map(|Known { run, aids }| Asked {
            reader: Reader::new(run, aids.as_ref().map(|aids| &aids.index)),
            filter: aids.as_ref().and_then(|aids| aids.filter.as_ref()),
        });
        Lookup { asked: asked.collect() }
    }
}

/// Makes one run of all that the sources hold.
pub fn merge(
    state_bytes: usize,
    sources: Vec<Source>,
    mut writer: Writer,
    stopped: &mut Stopped,
) -> Result<(Run, Option<Aids>), Halt> {
    let mut merge = Merge::new(state_bytes, sources)?;
    while let Some(state) = merge.next()? {
        writer.push(state)?;
        if writer.count().is_multiple_of(4096) {
            stopped()?;
        }
    }
    Ok(writer.finish()?)
}

/// A run that is asked, from its beginning to its end.
struct Asked<'a> {
    reader: Reader<'a>,
    filter: Option<&'a Filter>,
}

pub struct Lookup<'a> {
    asked: Vec<Asked<'a>>,
}

impl Lookup<'_> {
    /// Marks those of some states, which stand one after the other in ascending order, that are visited. From call to call
    /// states ascend too.
    pub fn mark(&mut self, states: &[u8], hashes: &[u64], known: &mut [bool]) -> io::Result<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let state_bytes = states.len() / hashes.len();
        for Asked { reader, filter } in &mut self.asked {
            if let Some(filter) = filter {
                hashes.iter().for_each(|&hash| filter.prefetch(hash));
            }
            for (i, state) in states.chunks_exact(state_bytes).enumerate() {
                if !known[i] && filter.is_none_or(|filter| filter.may_hold(hashes[i])) {
                    known[i] = reader.holds(state)?;
                }
            }
        }
        Ok(())
    }
}
