//! What a checkpoint says of a search beside its store, as bytes. All numbers have eight of them, the lowest first.

use crate::check::Finding;
use crate::outcome::Position;
use scrimp_core::{ForgetFacts, GraphFacts};
use scrimp_system::Fault;
use std::io::{self, Read, Write};

/// No text is longer.
const LONGEST: u64 = 1 << 24;

pub fn put(to: &mut (impl Write + ?Sized), number: u64) -> io::Result<()> {
    to.write_all(&number.to_le_bytes())
}

pub fn get(from: &mut (impl Read + ?Sized)) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub fn put_text(to: &mut dyn Write, text: &str) -> io::Result<()> {
    put(to, text.len() as u64)?;
    to.write_all(text.as_bytes())
}

pub fn get_text(from: &mut dyn Read) -> io::Result<String> {
    let length = Some(get(from)?).filter(|&length| length <= LONGEST).ok_or_else(|| impossible("so long a text"))?;
    let mut text = vec![0; length as usize];
    from.read_exact(&mut text)?;
    String::from_utf8(text).map_err(|_| impossible("a text that is none"))
}

/// Why a checkpoint is refused whose checksum is right: it says what no search would have written.
pub fn impossible(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the checkpoint is damaged: {what}"))
}

/// A number that may be missing.
fn put_maybe(to: &mut dyn Write, number: Option<u64>) -> io::Result<()> {
    put(to, number.is_some() as u64)?;
    put(to, number.unwrap_or(0))
}

fn maybe(from: &mut dyn Read, number: fn(&mut dyn Read) -> io::Result<u64>) -> io::Result<Option<u64>> {
    let there = get(from)? != 0;
    let number = number(from)?;
    Ok(there.then_some(number))
}

pub fn put_facts(to: &mut dyn Write, facts: &GraphFacts) -> io::Result<()> {
    let GraphFacts { states, transitions, deadlocks, faults, initial_states, depth, widest, open, .. } = *facts;
    for number in [states, transitions, deadlocks, faults, initial_states, depth as u64, widest, open] {
        put(to, number)?;
    }
    put(to, facts.max_out_degree)?;
    put_maybe(to, facts.back_level_edges)?;
    put_maybe(to, facts.longest_back_level_edge)
}

/// The facts that were put; in-degrees are not among them, nor levels, which are saved with where the search stands.
pub fn get_facts(from: &mut dyn Read) -> io::Result<GraphFacts> {
    Ok(GraphFacts {
        states: count(from)?,
        transitions: count(from)?,
        deadlocks: count(from)?,
        faults: count(from)?,
        initial_states: count(from)?,
        depth: u32::try_from(count(from)?).map_err(|_| impossible("a depth"))?,
        widest: count(from)?,
        open: count(from)?,
        max_out_degree: count(from)?,
        back_level_edges: maybe(from, count)?,
        longest_back_level_edge: maybe(from, count)?,
        max_in_degree: None,
        level_sizes: Vec::new(),
    })
}

pub fn put_forgotten(to: &mut dyn Write, facts: &ForgetFacts) -> io::Result<()> {
    let ForgetFacts { stored_peak, released, never_came, retracted, evictions, candidates_peak, replays, .. } = *facts;
    let ForgetFacts { sweeps, persistent, largest_class, tree_peak, .. } = *facts;
    let numbers = [stored_peak, released, never_came, retracted, evictions, candidates_peak, replays];
    numbers.into_iter().chain([sweeps, persistent, largest_class]).try_for_each(|number| put(to, number))?;
    put_maybe(to, tree_peak)
}

pub fn get_forgotten(from: &mut dyn Read) -> io::Result<ForgetFacts> {
    Ok(ForgetFacts {
        stored_peak: count(from)?,
        released: count(from)?,
        never_came: count(from)?,
        retracted: count(from)?,
        evictions: count(from)?,
        candidates_peak: count(from)?,
        replays: count(from)?,
        sweeps: count(from)?,
        persistent: count(from)?,
        largest_class: count(from)?,
        tree_peak: maybe(from, count)?,
    })
}

/// A number that something was counted up to, so that counting can go on.
pub fn count(from: &mut dyn Read) -> io::Result<u64> {
    get(from).and_then(|n| if n <= u64::MAX / 2 { Ok(n) } else { Err(impossible("a number that nobody counts up to")) })
}

pub fn put_position(to: &mut dyn Write, position: &Position) -> io::Result<()> {
    put_facts(to, &position.facts)?;
    put(to, position.levels.len() as u64)?;
    for &first in &position.levels {
        put(to, first as u64)?;
    }
    put(to, position.left.len() as u64)?;
    for range in &position.left {
        put(to, range.start as u64)?;
        put(to, range.end as u64)?;
    }
    Ok(())
}

pub fn get_position(from: &mut dyn Read) -> io::Result<Position> {
    let facts = get_facts(from)?;
    let number = |from: &mut dyn Read| get(from).and_then(|n| u32::try_from(n).map_err(|_| impossible("a number")));
    let levels = (0..get(from)?).map(|_| number(from)).collect::<io::Result<Vec<u32>>>()?;
    let left = (0..get(from)?).map(|_| Ok(number(from)?..number(from)?)).collect::<io::Result<Vec<_>>>()?;
    if levels.len() == 1 || levels.first().is_some_and(|&first| first > 0) || !levels.is_sorted() {
        return Err(impossible("levels that do not follow each other"));
    }
    // What is left are parts of the last level, each of them once.
    let (first, end) = levels.last_chunk().map_or((0, 0), |&[first, end]| (first, end));
    let mut parts = left.clone();
    parts.sort_by_key(|part| (part.start, part.end));
    let ordered = parts.iter().try_fold(first, |last, part| {
        (last <= part.start && part.start <= part.end && part.end <= end).then_some(part.end)
    });
    ordered.ok_or_else(|| impossible("what is left of a level is no part of it"))?;
    Ok(Position { levels, left, facts })
}

pub fn put_findings(to: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    put(to, findings.len() as u64)?;
    for finding in findings {
        put(to, finding.property as u64)?;
        put(to, finding.depth as u64)?;
        put_maybe(to, finding.fault.map(|(event, fault)| (event as u64) << 8 | fault as u64))?;
        put_maybe(to, finding.condition_fault.map(|fault| fault as u64))?;
        put(to, finding.state.len() as u64)?;
        to.write_all(&finding.state)?;
    }
    Ok(())
}

pub fn get_findings(from: &mut dyn Read, state_bytes: usize) -> io::Result<Vec<Finding>> {
    let fault = |code: u64| Fault::from_code(code as u32 & 0xff).ok_or_else(|| impossible("a fault that there is not"));
    let finding = |from: &mut dyn Read| -> io::Result<Finding> {
        let (property, depth) = (get(from)? as usize, get(from)? as u32);
        let led_to = maybe(from, |from| get(from))?
            .map(|code| Ok::<_, io::Error>(((code >> 8) as u32, fault(code)?)))
            .transpose()?;
        let condition_fault = maybe(from, |from| get(from))?.map(fault).transpose()?;
        if get(from)? != state_bytes as u64 {
            return Err(impossible("a state of another length"));
        }
        let mut state = vec![0; state_bytes];
        from.read_exact(&mut state)?;
        Ok(Finding { property, state, depth, path: None, fault: led_to, condition_fault })
    };
    (0..get(from)?).map(|_| finding(from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(levels: &[u32], left: &[(u32, u32)], transitions: u64) -> io::Result<Position> {
        let left = left.iter().map(|&(start, end)| start..end).collect();
        let facts = GraphFacts { transitions, ..GraphFacts::default() };
        let mut bytes = Vec::new();
        put_position(&mut bytes, &Position { levels: levels.to_vec(), left, facts })?;
        get_position(&mut &bytes[..])
    }

    #[test]
    fn positions_that_cannot_be_are_refused() {
        for (levels, left) in
            [(&[][..], &[][..]), (&[0, 3], &[(0, 3)]), (&[0, 1, 5, 9], &[(7, 9), (5, 6)]), (&[0, 0], &[(0, 0)])]
        {
            let position = read(levels, left, 7).unwrap();
            assert_eq!((&position.levels[..], position.left.len()), (levels, left.len()));
        }
        for levels in [&[0][..], &[1, 3], &[0, 5, 3]] {
            assert!(read(levels, &[], 0).is_err(), "{levels:?}");
        }
        // Beyond the last level, before it, backwards, and twice.
        for left in [&[(5, 10)][..], &[(4, 6)], &[(8, 7)], &[(5, 8), (7, 9)], &[(5, 9), (5, 9)]] {
            assert!(read(&[0, 1, 5, 9], left, 0).is_err(), "{left:?}");
        }
        assert!(read(&[0, 3], &[], u64::MAX).is_err(), "counting must be able to go on");
    }
}
