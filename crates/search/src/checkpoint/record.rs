//! What a checkpoint says of a search beside its store, as bytes. All numbers have eight of them, the lowest first.

use crate::check::Finding;
use crate::outcome::Position;
use scrimp_core::GraphFacts;
use scrimp_system::Fault;
use std::io::{self, Read, Write};

pub fn put(to: &mut (impl Write + ?Sized), number: u64) -> io::Result<()> {
    to.write_all(&number.to_le_bytes())
}

pub fn get(from: &mut (impl Read + ?Sized)) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a checkpoint says what cannot be")
}

/// A number that may be missing.
fn put_maybe(to: &mut dyn Write, number: Option<u64>) -> io::Result<()> {
    put(to, number.is_some() as u64)?;
    put(to, number.unwrap_or(0))
}

fn get_maybe(from: &mut dyn Read) -> io::Result<Option<u64>> {
    let there = get(from)? != 0;
    let number = get(from)?;
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
        states: get(from)?,
        transitions: get(from)?,
        deadlocks: get(from)?,
        faults: get(from)?,
        initial_states: get(from)?,
        depth: get(from)? as u32,
        widest: get(from)?,
        open: get(from)?,
        max_out_degree: get(from)?,
        back_level_edges: get_maybe(from)?,
        longest_back_level_edge: get_maybe(from)?,
        max_in_degree: None,
        level_sizes: Vec::new(),
    })
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
    let number = |from: &mut dyn Read| get(from).and_then(|n| u32::try_from(n).map_err(|_| wrong()));
    let levels = (0..get(from)?).map(|_| number(from)).collect::<io::Result<Vec<u32>>>()?;
    let left = (0..get(from)?).map(|_| Ok(number(from)?..number(from)?)).collect::<io::Result<Vec<_>>>()?;
    let last = levels.last().copied().unwrap_or(0);
    if levels.len() == 1 || !levels.is_sorted() || left.iter().any(|range| range.start > range.end || range.end > last)
    {
        return Err(wrong());
    }
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
    let fault = |code: u64| Fault::from_code(code as u32 & 0xff).ok_or_else(wrong);
    let finding = |from: &mut dyn Read| -> io::Result<Finding> {
        let (property, depth) = (get(from)? as usize, get(from)? as u32);
        let led_to = get_maybe(from)?.map(|code| Ok::<_, io::Error>(((code >> 8) as u32, fault(code)?))).transpose()?;
        let condition_fault = get_maybe(from)?.map(fault).transpose()?;
        if get(from)? != state_bytes as u64 {
            return Err(wrong());
        }
        let mut state = vec![0; state_bytes];
        from.read_exact(&mut state)?;
        Ok(Finding { property, state, depth, path: None, fault: led_to, condition_fault })
    };
    (0..get(from)?).map(|_| finding(from)).collect()
}
