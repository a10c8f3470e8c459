//! A search on disk in a checkpoint: as it stood when its level began.
//!
//! Files have no names and are gone with the program, so the states are written once more, as what differs from the one before.
//! What was found since the level began is found again.

use super::run::{Reader, Run};
use super::{External, Resume};
use crate::checkpoint::{get, get_facts, impossible, put, put_facts};
use crate::open::Packed;
use scrimp_core::GraphFacts;
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// What was counted when a level began.
#[derive(Debug, Default)]
pub struct Begun {
    pub facts: GraphFacts,
    pub widths: Vec<u64>,
    pub depth: u32,
}

impl External<'_> {
    /// Writes all that is needed to go on from where the present level begins. Only for searches that have begun.
    pub fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        let Begun { facts, widths, depth } = &self.level;
        put_facts(to, facts)?;
        put(to, *depth as u64)?;
        put(to, widths.len() as u64)?;
        widths.iter().try_for_each(|&width| put(to, width))?;
        let bytes = self.model.state_bytes();
        put_states(&mut self.visited.runs(), bytes, to)?;
        put_states(&mut self.frontier.iter(), bytes, to)?;
        put_states(&mut self.found.iter(), bytes, to)
    }

    /// Takes up a search that was saved; this one must be new.
    pub fn restore(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let facts = get_facts(from)?;
        let depth = get(from)?.try_into().ok().filter(|&depth| depth < u32::MAX);
        let depth: u32 = depth.ok_or_else(|| impossible("a depth"))?;
        let widths = (0..get(from)?).map(|_| get(from)).collect::<io::Result<Vec<u64>>>()?;
        if widths.iter().any(|&width| width > u64::MAX / 2) {
            return Err(impossible("a level so wide"));
        }
        let bytes = self.model.state_bytes();
        let (from, failed) = (RefCell::new(from), RefCell::new(None));
        let each = |show: &mut dyn FnMut(&[u8]) -> bool| match each_state(bytes, &mut **from.borrow_mut(), show) {
            Ok(whole) => whole,
            Err(error) => {
                failed.replace(Some(error));
                false
            }
        };
        let resumed = self.resume(Resume {
            visited: &mut |show| each(show),
            now: &mut |show| each(show),
            next: &mut |show| each(show),
            depth,
            facts,
            widths,
        });
        failed.into_inner().map_or(resumed, Err)?;
        if self.facts.states == 0 {
            return Err(impossible("a search that has found nothing"));
        }
        Ok(())
    }
}

/// Writes the states of all runs, in packed blocks, and an empty one behind them.
fn put_states(runs: &mut dyn Iterator<Item = &Arc<Run>>, state_bytes: usize, to: &mut dyn Write) -> io::Result<()> {
    let mut packed = Packed::new(state_bytes);
    for run in runs {
        let mut reader = Reader::new(run, None);
        while reader.next()? {
            if packed.is_full() {
                packed.save(to)?;
                packed.clear();
            }
            packed.push(reader.state());
        }
    }
    if !packed.is_empty() {
        packed.save(to)?;
        packed.clear();
    }
    packed.save(to)
}

/// Shows all states that were put, until it is told to stop by `false`; `false` when it was.
fn each_state(state_bytes: usize, from: &mut dyn Read, show: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let (mut packed, mut states) = (Packed::new(state_bytes), Vec::new());
    while packed.restore(from)? {
        states.clear();
        packed.unpack(&mut states);
        if !states.chunks_exact(state_bytes).all(&mut *show) {
            return Ok(false);
        }
    }
    Ok(true)
}
