//! A set between two others that needs few nodes: what may be in or out is chosen so that nodes become the same.

use super::cache::BETWEEN;
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Halt, Set};

impl Diagrams {
    /// A set that holds all of `low` and nothing outside `high`, with few nodes: never more than the smaller of the two has.
    /// `low` must be a part of `high`.
    pub fn least_between(&mut self, low: Set, high: Set) -> Result<Set, Halt> {
        let found = Set(self.enter(|d| d.between_nodes(low.0, high.0))?);
        let candidates = [found, low, high];
        Ok(candidates.into_iter().min_by_key(|&set| self.nodes(&[set])).unwrap_or(low))
    }

    /// Values whose children have a set in common between their bounds share it; values that need not be there are left out.
    fn between_nodes(&mut self, low: u32, high: u32) -> Result<u32, Halt> {
        if low == high || low <= UNIT || high <= UNIT {
            return Ok(low);
        }
        if let Some(known) = self.cache.get(BETWEEN, low, high) {
            return Ok(known);
        }
        // The bounds of groups of values, and the group of each value.
        let mut groups: Vec<(u32, u32)> = Vec::new();
        let lows: Vec<_> = self.store.edges(low).collect();
        let mut member = Vec::with_capacity(lows.len());
        for edge in &lows {
            let (least, most) = (edge.child, self.store.child(high, edge.value));
            let mut home = None;
            for (index, &(other_least, other_most)) in groups.iter().enumerate() {
                let most = self.intersect_nodes(most, other_most)?;
                let least = self.union_nodes(least, other_least)?;
                if most != EMPTY && self.minus_nodes(least, most)? == EMPTY {
                    home = Some((index, (least, most)));
                    break;
                }
            }
            match home {
                Some((index, bounds)) => {
                    groups[index] = bounds;
                    member.push(index);
                }
                None => {
                    member.push(groups.len());
                    groups.push((least, most));
                }
            }
        }
        for bounds in &mut groups {
            bounds.0 = self.between_nodes(bounds.0, bounds.1)?;
        }
        let base = self.edges.len();
        for (edge, group) in lows.iter().zip(member) {
            self.push(edge.value, groups[group].0);
        }
        let result = self.make(base)?;
        self.cache.put(BETWEEN, low, high, result);
        Ok(result)
    }
}
