//! Which of the states that may go goes first: replacement strategies for the state cache.
//!
//! A strategy is a list of keys. Of the candidates looked at, the one with the lowest first key goes; where that is equal,
//! the second key decides, and so on. A key with a minus sign counts the other way. Only some candidates, drawn by chance,
//! are looked at, so that no order among all of them has to be kept.

use crate::column::Column;
use crate::store::{Full, StateId};
use scrimp_core::Budget;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

/// What the states are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// None is better than another.
    Random,
    /// When the state was found.
    Age,
    /// When it was last reached.
    Recency,
    /// How often it was reached since it was closed.
    Frequency,
    /// How often it was reached.
    InDegree,
    /// How many successors it has.
    OutDegree,
    /// How many events lead to it.
    Depth,
    /// Strata of depths: every second one goes first, then every fourth, and so on; or, with a number n, those whose depth
    /// is not a multiple of n.
    Strata(u32),
}

const NAMES: [(&str, Key); 8] = [
    ("random", Key::Random),
    ("fifo", Key::Age),
    ("lru", Key::Recency),
    ("frequency", Key::Frequency),
    ("in-degree", Key::InDegree),
    ("out-degree", Key::OutDegree),
    ("depth", Key::Depth),
    ("strata", Key::Strata(0)),
];

/// Keys, the first one most important; `true` for those that count the other way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy(pub Vec<(Key, bool)>);

/// Those with few successors go first: what a visit would find again, and where it would go on, is least there. The best
/// single key by far on the models of the caching paper's table.
impl Default for Strategy {
    fn default() -> Strategy {
        Strategy(vec![(Key::OutDegree, false)])
    }
}

impl Strategy {
    /// Any state.
    pub fn by_chance() -> Strategy {
        Strategy(vec![(Key::Random, false)])
    }

    /// The one that is chosen where none is named, or none that looks at states.
    pub fn is_usual(&self) -> bool {
        *self == Strategy::default() || *self == Strategy::by_chance()
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, reversed)) in self.0.iter().enumerate() {
            let plain = if let Key::Strata(_) = key { Key::Strata(0) } else { *key };
            let name = NAMES.iter().find(|(_, k)| *k == plain).map_or("", |(name, _)| name);
            let number = if let Key::Strata(n @ 1..) = key { n.to_string() } else { String::new() };
            write!(f, "{}{}{name}{number}", if i > 0 { "+" } else { "" }, if *reversed { "-" } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        let key = |text: &str| {
            let (name, reversed) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
            let strata = name.strip_prefix("strata").and_then(|n| n.parse().ok()).filter(|&n| n > 1);
            let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, key)| *key);
            let key = strata.map(Key::Strata).or(known);
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            key.map(|key| (key, reversed)).ok_or_else(|| {
                let known = names.join(", ");
                format!("unknown replacement strategy `{text}`; choose from: {known}, strataN; `-` reverses one, `+` joins several")
            })
        };
        text.split('+').map(key).collect::<Result<_, _>>().map(Strategy)
    }
}

/// What a strategy must know of every state.
pub(crate) struct Traits {
    strategy: Strategy,
    clock: u32,
    found: Option<Column<u32>>,
    last: Option<Column<u32>>,
    hits: Option<Column<u16>>,
    reached: Option<Column<u16>>,
    successors: Option<Column<u16>>,
    depth: Option<Column<u32>>,
}

impl Traits {
    pub fn new(strategy: Strategy, budget: &Arc<Budget>) -> io::Result<Traits> {
        fn column<T: crate::column::Pod>(wanted: bool, budget: &Arc<Budget>) -> io::Result<Option<Column<T>>> {
            wanted.then(|| Column::new(budget)).transpose()
        }
        let has = |wanted: fn(Key) -> bool| strategy.0.iter().any(|&(key, _)| wanted(key));
        Ok(Traits {
            clock: 0,
            found: column(has(|k| k == Key::Age), budget)?,
            last: column(has(|k| k == Key::Recency), budget)?,
            hits: column(has(|k| k == Key::Frequency), budget)?,
            reached: column(has(|k| k == Key::InDegree), budget)?,
            successors: column(has(|k| k == Key::OutDegree), budget)?,
            depth: column(has(|k| matches!(k, Key::Depth | Key::Strata(_))), budget)?,
            strategy,
        })
    }

    pub fn prepare(&mut self, numbers: usize) -> Result<(), Full> {
        fn ensure<T: crate::column::Pod>(column: &mut Option<Column<T>>, numbers: usize) -> Result<(), Full> {
            column.as_mut().map_or(Ok(()), |c| c.ensure(numbers))
        }
        ensure(&mut self.found, numbers)?;
        ensure(&mut self.last, numbers)?;
        ensure(&mut self.hits, numbers)?;
        ensure(&mut self.reached, numbers)?;
        ensure(&mut self.successors, numbers)?;
        ensure(&mut self.depth, numbers)
    }

    /// Nothing distinguishes one candidate from another.
    pub fn by_chance(&self) -> bool {
        self.strategy.0.iter().all(|&(key, _)| key == Key::Random)
    }

    /// Must [`reached`](Traits::reached) be called at all?
    pub fn asks_who_is_reached(&self) -> bool {
        self.last.is_some() || self.hits.is_some() || self.reached.is_some()
    }

    pub fn opened(&mut self, id: StateId, depth: u32) {
        self.clock = self.clock.wrapping_add(1);
        set(&mut self.found, id, self.clock);
        set(&mut self.last, id, self.clock);
        set(&mut self.hits, id, 0);
        set(&mut self.reached, id, 1);
        set(&mut self.successors, id, 0);
        set(&mut self.depth, id, depth);
    }

    pub fn expanded(&mut self, id: StateId, successors: usize) {
        set(&mut self.successors, id, successors.min(u16::MAX as usize) as u16);
    }

    pub fn reached(&mut self, id: StateId, closed: bool) {
        set(&mut self.last, id, self.clock);
        if let Some(reached) = &mut self.reached {
            reached[id] = reached[id].saturating_add(1);
        }
        if let (Some(hits), true) = (&mut self.hits, closed) {
            hits[id] = hits[id].saturating_add(1);
        }
    }

    /// Does `a` go before `b`?
    pub fn goes_first(&self, a: StateId, b: StateId) -> bool {
        for &(key, reversed) in &self.strategy.0 {
            let (a, b) = (self.value(key, a), self.value(key, b));
            if a != b {
                return (a < b) != reversed;
            }
        }
        false
    }

    fn value(&self, key: Key, id: StateId) -> u32 {
        fn get<T: crate::column::Pod + Into<u32>>(column: &Option<Column<T>>, id: StateId) -> u32 {
            column.as_ref().map_or(0, |c| c[id].into())
        }
        match key {
            Key::Random => 0,
            // Ages, so that the clock may come round.
            Key::Age => u32::MAX - self.clock.wrapping_sub(get(&self.found, id)),
            Key::Recency => u32::MAX - self.clock.wrapping_sub(get(&self.last, id)),
            Key::Frequency => get(&self.hits, id),
            Key::InDegree => get(&self.reached, id),
            Key::OutDegree => get(&self.successors, id),
            Key::Depth => get(&self.depth, id),
            Key::Strata(0) => get(&self.depth, id).trailing_zeros(),
            Key::Strata(n) => get(&self.depth, id).is_multiple_of(n) as u32,
        }
    }

    pub fn bytes(&self) -> usize {
        fn bytes<T: crate::column::Pod>(column: &Option<Column<T>>) -> usize {
            column.as_ref().map_or(0, Column::bytes)
        }
        bytes(&self.found)
            + bytes(&self.last)
            + bytes(&self.hits)
            + bytes(&self.reached)
            + bytes(&self.successors)
            + bytes(&self.depth)
    }
}

fn set<T: crate::column::Pod>(column: &mut Option<Column<T>>, id: StateId, value: T) {
    if let Some(column) = column {
        column[id] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_read_as_they_are_written() {
        for text in ["random", "-depth+in-degree", "strata", "strata4+lru", "fifo", "-fifo", "out-degree+-frequency"] {
            assert_eq!(text.parse::<Strategy>().unwrap().to_string(), text);
        }
        for text in ["", "best", "strata1", "strata0", "strata-4", "depth,lru", "+depth"] {
            assert!(text.parse::<Strategy>().is_err(), "{text}");
        }
    }
}
