//! The least set that holds a given one and the successors of its own vectors, by saturation.
//!
//! Relations belong to the highest level they touch. A node is *saturated* when the vectors below it are closed under all
//! relations of its level and of those below. Nodes are saturated from the bottom up, and what a relation leads to is
//! saturated at once, level by level, before it is used: so the diagram grows from below, where sets are small, and most
//! of what is in between never becomes part of a large set.
//!
//! Everything in hand is kept on stacks of items and guards, so that a collection can happen in the middle.

use super::cache::{FIRE, SATURATE, at};
use super::store::{EMPTY, UNIT};
use super::{Diagrams, Edge, Halt, Kept, Relation, Set};
use scrimp_core::Control;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An edge of a node in the making.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub value: u32,
    pub child: u32,
    /// The child that the relations of this level were last applied to.
    pub done: u32,
}

/// At the level it belongs to, a relation leads from one value to another when `rest` applies below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Firing {
    pub from: u32,
    pub to: u32,
    pub rest: u32,
}

/// The relations by level.
#[derive(Clone)]
pub(super) struct Plan(pub Arc<Layout>);

pub(super) struct Layout {
    relations: Vec<Relation>,
    pub firings: Vec<Vec<Firing>>,
}

impl Plan {
    /// The nodes that it needs.
    pub fn roots(&self) -> impl Iterator<Item = u32> {
        let rests = self.0.firings.iter().flatten().map(|firing| firing.rest);
        self.0.relations.iter().map(|relation| relation.0).chain(rests)
    }
}

/// What goes down through the recursion.
pub(super) struct Run<'a> {
    pub layout: &'a Layout,
    pub kept: Kept<'a>,
    pub control: &'a Control,
    pub tick: u64,
}

impl Run<'_> {
    /// Looks now and then whether a limit is reached, and says how many nodes there are.
    #[inline]
    pub fn look(&mut self, nodes: usize) -> Result<(), Halt> {
        self.tick += 1;
        if self.tick & 0xfff == 0 {
            self.control.nodes.store(nodes as u64, Ordering::Relaxed);
            if let Some(limit) = self.control.stopped(0) {
                return Err(Halt::Limit(limit));
            }
        }
        Ok(())
    }
}

impl Diagrams {
    /// The least set that holds this one and, with each vector, its successors by all of the relations.
    ///
    /// Collects by itself: what is used afterwards beside the set and the relations must be named in `kept`.
    pub fn saturate(
        &mut self,
        set: Set,
        relations: &[Relation],
        kept: Kept<'_>,
        control: &Control,
    ) -> Result<Set, Halt> {
        self.edges.clear();
        self.items.clear();
        let plan = self.plan(relations)?;
        self.guards.clear();
        self.guards.push(set.0);
        let mut run = Run { layout: &plan.0, kept, control, tick: 0 };
        let answer = self.saturate_nodes(set.0, 0, &mut run).map(Set);
        self.edges.clear();
        self.items.clear();
        self.guards.clear();
        answer
    }

    /// Sorts the relations by level; what is known for other relations is forgotten.
    pub(super) fn plan(&mut self, relations: &[Relation]) -> Result<Plan, Halt> {
        if let Some(plan) = self.saturation.as_ref().filter(|plan| plan.0.relations == relations) {
            return Ok(plan.clone());
        }
        self.cache.drop_saturation();
        let mut firings: Vec<Vec<Firing>> = Vec::new();
        for relation in relations.iter().map(|relation| relation.0).filter(|&relation| relation > UNIT) {
            let level = self.store.level(relation);
            if firings.len() <= level {
                firings.resize(level + 1, Vec::new());
            }
            let triples = self.store.triples(relation);
            firings[level].extend((triples.at..triples.end).step_by(3).map(|place| Firing {
                from: self.store.word(place),
                to: self.store.word(place + 1),
                rest: self.store.word(place + 2),
            }));
        }
        for level in &mut firings {
            level.sort_unstable();
            level.dedup();
            // Nothing changes here or below.
            level.retain(|firing| firing.from != firing.to || firing.rest != UNIT);
        }
        let plan = Plan(Arc::new(Layout { relations: relations.to_vec(), firings }));
        self.saturation = Some(plan.clone());
        Ok(plan)
    }

    fn saturate_nodes(&mut self, node: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        // Below the last level that a relation belongs to, everything is saturated.
        if node <= UNIT || level >= run.layout.firings.len() {
            return Ok(node);
        }
        if let Some(known) = self.cache.get(at(SATURATE, level), node, EMPTY) {
            return Ok(known);
        }
        let base = self.items.len();
        let mut edges = self.store.span(node);
        while edges.at < edges.end {
            let child = self.saturate_nodes(self.store.word(edges.at + 1), level + 1, run)?;
            self.items.push(Item { value: self.store.word(edges.at), child, done: EMPTY });
            edges.at += 2;
        }
        self.close(base, level, run)?;
        let result = self.make_items(base, run)?;
        self.cache.put(at(SATURATE, level), node, EMPTY, result);
        Ok(result)
    }

    /// The saturated node for the items from `base` on, whose children are saturated.
    fn finish(&mut self, base: usize, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        if run.layout.firings.get(level).is_none_or(|firings| firings.is_empty()) {
            return self.make_items(base, run);
        }
        // The same comes up again and again, from different sets by different relations.
        let node = self.node_of_items(base, run)?;
        if let Some(known) = self.cache.get(at(SATURATE, level), node, EMPTY) {
            self.items.truncate(base);
            return Ok(known);
        }
        self.guards.push(node);
        self.close(base, level, run)?;
        let result = self.make_items(base, run)?;
        self.guards.pop();
        self.cache.put(at(SATURATE, level), node, EMPTY, result);
        Ok(result)
    }

    /// Applies the relations of this level to the node in the making until nothing is added.
    fn close(&mut self, base: usize, level: usize, run: &mut Run<'_>) -> Result<(), Halt> {
        let layout = run.layout;
        let Some(firings) = layout.firings.get(level).filter(|firings| !firings.is_empty()) else { return Ok(()) };
        // Down and up in turn: tokens that go out and tokens that come in each need a single pass then.
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
                        let after = self.fire(self.items[index].child, firing.rest, level + 1, run)?;
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

    /// The successors by what is left of a relation, saturated.
    fn fire(&mut self, node: u32, rest: u32, level: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        if rest == UNIT {
            return Ok(node);
        }
        if node <= UNIT {
            return Ok(EMPTY);
        }
        if let Some(known) = self.cache.get(at(FIRE, level), node, rest) {
            return Ok(known);
        }
        let base = self.items.len();
        let mut edges = self.store.span(node);
        if self.store.level(rest) > level {
            while edges.at < edges.end {
                let child = self.fire(self.store.word(edges.at + 1), rest, level + 1, run)?;
                if child != EMPTY {
                    self.items.push(Item { value: self.store.word(edges.at), child, done: EMPTY });
                }
                edges.at += 2;
            }
        } else {
            let mut triples = self.store.triples(rest);
            while edges.at < edges.end && triples.at < triples.end {
                let (value, from) = (self.store.word(edges.at), self.store.word(triples.at));
                if value < from {
                    edges.at += 2;
                    continue;
                }
                if value == from {
                    let child = self.store.word(edges.at + 1);
                    let after = self.fire(child, self.store.word(triples.at + 2), level + 1, run)?;
                    if after != EMPTY {
                        self.add_item(base, self.store.word(triples.at + 1), after, run)?;
                    }
                }
                triples.at += 3;
            }
        }
        let result = if self.items.len() == base { EMPTY } else { self.finish(base, level, run)? };
        self.cache.put(at(FIRE, level), node, rest, result);
        Ok(result)
    }

    /// Adds saturated vectors at a value to the node in the making. Says whether the value is new there.
    pub(super) fn add_item(&mut self, base: usize, value: u32, child: u32, run: &mut Run<'_>) -> Result<bool, Halt> {
        let place = base + self.items[base..].partition_point(|item| item.value <= value);
        if place == base || self.items[place - 1].value != value {
            self.items.insert(place, Item { value, child, done: EMPTY });
            return Ok(true);
        }
        let before = self.items[place - 1].child;
        // While the two are united, the new one is in nobody's hand.
        self.guards.push(child);
        let both = self.retry(run, |d| d.union_nodes(before, child))?;
        self.guards.pop();
        self.items[place - 1].child = both;
        Ok(false)
    }

    /// The node with the items from `base` on, which are taken off.
    pub(super) fn make_items(&mut self, base: usize, run: &mut Run<'_>) -> Result<u32, Halt> {
        run.look(self.live())?;
        if self.store.is_littered() {
            self.collect_beside(run.kept);
        }
        let result = self.node_of_items(base, run)?;
        self.items.truncate(base);
        Ok(result)
    }

    /// The node with the items from `base` on.
    pub(super) fn node_of_items(&mut self, base: usize, run: &Run<'_>) -> Result<u32, Halt> {
        self.retry(run, |d| {
            let edges = d.edges.len();
            for index in base..d.items.len() {
                let Item { value, child, .. } = d.items[index];
                d.edges.push(Edge { value, child });
            }
            d.make(edges)
        })
    }

    /// Does the work again after a collection when there is no room for it.
    pub(super) fn retry(
        &mut self,
        run: &Run<'_>,
        work: impl Fn(&mut Diagrams) -> Result<u32, Halt>,
    ) -> Result<u32, Halt> {
        let base = self.edges.len();
        match work(self) {
            Err(Halt::Full) => {}
            done => return done,
        }
        self.edges.truncate(base);
        self.collect_beside(run.kept);
        work(self)
    }
}
