//! Saturation that stays within a set: the least set that holds a given one and those successors of its own vectors that
//! are in the other.
//!
//! As in `saturate.rs`, with the node of the other set beside each node: what a relation leads to is met with it on the way
//! down, so that nothing outside is ever made. With the relations turned round this is how "until" is worked out, without
//! a set for each distance.

use super::cache::{SATURATE_WITHIN, at};
use super::saturate::{Item, Run};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Halt, Kept, Relation, Set};
use scrimp_core::Control;

impl Diagrams {
    /// The least set that holds the vectors of `set` that are in `within` and, with each vector, its successors by all of
    /// the relations that are.
    ///
    /// Collects by itself: what is used afterwards beside the sets and the relations must be named in `kept`.
    pub fn saturate_within(
        &mut self,
        set: Set,
        relations: &[Relation],
        within: Set,
        kept: Kept<'_>,
        control: &Control,
    ) -> Result<Set, Halt> {
        self.edges.clear();
        self.items.clear();
        let plan = self.plan(relations)?;
        // As for preimages, the cache serves one length at a time.
        let length = self.length(within);
        if length != self.within_length {
            self.cache.drop_firings();
            self.within_length = length;
        }
        self.guards.clear();
        self.guards.extend([set.0, within.0]);
        let mut run = Run { layout: &plan.0, kept, control, tick: 0 };
        let answer = self.met_within(set.0, within.0, 0, &mut run).map(Set);
        self.edges.clear();
        self.items.clear();
        self.guards.clear();
        answer
    }

    /// What both have, saturated.
    fn met_within(&mut self, node: u32, within: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        let both = self.retry(run, |d| d.intersect_nodes(node, within))?;
        self.guards.push(both);
        let result = self.saturate_nodes_within(both, within, level, run);
        self.guards.pop();
        result
    }

    /// The node, of whose vectors none is outside, saturated.
    fn saturate_nodes_within(&mut self, node: u32, within: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        // Nothing can be added to all there is, nor by relations that belong to no level from here on.
        if node <= UNIT || node == within || level >= run.layout.firings.len() {
            return Ok(node);
        }
        if let Some(known) = self.cache.get(at(SATURATE_WITHIN, level), node, within) {
            return Ok(known);
        }
        let base = self.items.len();
        let mut edges = self.store.span(node);
        while edges.at < edges.end {
            let value = self.store.word(edges.at);
            let room = self.store.child(within, value);
            let child = self.saturate_nodes_within(self.store.word(edges.at + 1), room, level + 1, run)?;
            self.items.push(Item { value, child, done: EMPTY });
            edges.at += 2;
        }
        self.close_within(base, within, level, run)?;
        let result = self.make_items(base, run)?;
        self.cache.put(at(SATURATE_WITHIN, level), node, within, result);
        Ok(result)
    }

    /// Applies the relations of this level to the node in the making until nothing is added.
    fn close_within(&mut self, base: usize, within: u32, level: usize, run: &mut Run<'_>) -> Result<(), Halt> {
        let layout = run.layout;
        let Some(firings) = layout.firings.get(level).filter(|firings| !firings.is_empty()) else { return Ok(()) };
        // Down and up in turn, as without a set to stay in.
        let (mut grown, mut down) = (true, false);
        while std::mem::take(&mut grown) {
            down = !down;
            let mut index = if down { self.items.len() - 1 } else { base };
            loop {
                let item = self.items[index];
                if item.done != item.child {
                    grown = true;
                    self.items[index].done = item.child;
                    let first = firings.partition_point(|firing| firing.from < item.value);
                    for firing in firings[first..].iter().take_while(|firing| firing.from == item.value) {
                        run.look(self.live())?;
                        let room = self.store.child(within, firing.to);
                        if room == EMPTY {
                            continue;
                        }
                        let after = self.fire_within(self.items[index].child, firing.rest, room, level + 1, run)?;
                        if after != EMPTY && self.add_item(base, firing.to, after, run)? && firing.to < item.value {
                            index += 1;
                        }
                    }
                }
                if index == if down { base } else { self.items.len() - 1 } {
                    break;
                }
                index = if down { index - 1 } else { index + 1 };
            }
        }
        Ok(())
    }

    /// The successors by what is left of a relation that are within, saturated.
    fn fire_within(&mut self, node: u32, rest: u32, within: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        if rest == UNIT {
            return self.met_within(node, within, level, run);
        }
        if node <= UNIT || within <= UNIT {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get_firing(node, rest, within) {
            return Ok(known);
        }
        let base = self.items.len();
        let mut edges = self.store.span(node);
        if self.store.level(rest) > level {
            let mut rooms = self.store.span(within);
            while edges.at < edges.end && rooms.at < rooms.end {
                let (value, other) = (self.store.word(edges.at), self.store.word(rooms.at));
                if value == other {
                    let (child, room) = (self.store.word(edges.at + 1), self.store.word(rooms.at + 1));
                    let child = self.fire_within(child, rest, room, level + 1, run)?;
                    if child != EMPTY {
                        self.items.push(Item { value, child, done: EMPTY });
                    }
                }
                edges.at += if value <= other { 2 } else { 0 };
                rooms.at += if other <= value { 2 } else { 0 };
            }
        } else {
            let mut triples = self.store.triples(rest);
            while edges.at < edges.end && triples.at < triples.end {
                let (value, from) = (self.store.word(edges.at), self.store.word(triples.at));
                if value < from {
                    edges.at += 2;
                    continue;
                }
                let room = self.store.child(within, self.store.word(triples.at + 1));
                if value == from && room != EMPTY {
                    let child = self.store.word(edges.at + 1);
                    let after = self.fire_within(child, self.store.word(triples.at + 2), room, level + 1, run)?;
                    if after != EMPTY {
                        self.add_item(base, self.store.word(triples.at + 1), after, run)?;
                    }
                }
                triples.at += 3;
            }
        }
        let result = if self.items.len() == base { EMPTY } else { self.finish_within(base, within, level, run)? };
        self.cache.put_firing(node, rest, within, result);
        Ok(result)
    }

    /// The saturated node for the items from `base` on, whose children are saturated.
    fn finish_within(&mut self, base: usize, within: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        if run.layout.firings.get(level).is_none_or(|firings| firings.is_empty()) {
            return self.make_items(base, run);
        }
        let node = self.node_of_items(base, run)?;
        let known = match node == within {
            true => Some(node),
            false => self.cache.get(at(SATURATE_WITHIN, level), node, within),
        };
        if let Some(known) = known {
            self.items.truncate(base);
            return Ok(known);
        }
        self.guards.push(node);
        self.close_within(base, within, level, run)?;
        let result = self.make_items(base, run)?;
        self.guards.pop();
        self.cache.put(at(SATURATE_WITHIN, level), node, within, result);
        Ok(result)
    }
}
