//! Few runs that cover all items: a run goes to the item that is farthest away, or nowhere at first, and then on to what is
//! nearest of what is left, as long as there is something; the better one counts, and then comes the next. What turns out to be
//! covered by others is taken away.
//!
//! To find the fewest of all is hard. That there cannot be fewer is proven where each run has an item that no run can have
//! together with that of another; where the graph is small, the fewest are found by trying everything.

use super::exact::{Fewer, fewer};
use super::graph::{Graph, NOBODY, Way};
use scrimp_system::Stop;
use std::collections::{HashMap, HashSet};

/// Nodes that are visited between two looks at the clock.
const GLANCE: u32 = 4096;

/// Few runs for all items that a graph has. Is it proven that no fewer runs cover them? Of a graph that is not whole, that says
/// nothing.
pub fn cover(graph: &mut Graph, items: usize, whole: bool, stop: &Stop) -> (Vec<Way>, bool) {
    let runs = greedy(graph, items, stop);
    if !whole {
        return (runs, false);
    }
    if is_fewest(graph, &runs, items, stop) {
        return (runs, true);
    }
    match fewer(graph, items, runs.len(), stop) {
        Fewer::No => (runs, true),
        Fewer::Unknown => (runs, false),
        Fewer::Found(mut runs) => {
            without_spare(graph, &mut runs, items);
            (runs, true)
        }
    }
}

/// Runs for all items that a graph has.
fn greedy(graph: &mut Graph, items: usize, stop: &Stop) -> Vec<Way> {
    let mut greedy = Greedy { graph, left: vec![false; items], stop };
    let nearest = greedy.nearest_edges();
    let mut order: Vec<(u32, u32, u32)> = Vec::new();
    for (item, place) in (0..).zip(&nearest) {
        if let Some((source, target, _)) = place {
            greedy.left[item as usize] = true;
            order.push((if *source == NOBODY { 0 } else { source + 1 }, *target, item));
        }
    }
    // Numbers are in breadth-first order: the last ones are the farthest.
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut runs = Vec::new();
    for (.., item) in order {
        while greedy.left[item as usize] {
            runs.push(greedy.run(nearest[item as usize]));
        }
    }
    let counts = without_spare(greedy.graph, &mut runs, items);
    debug_assert!(nearest.iter().zip(&counts).all(|(place, count)| place.is_none() || *count > 0));
    runs
}

/// Is it proven that no fewer runs cover the same items? So it is where one item of each run can be chosen such that no run can
/// have two of them.
fn is_fewest(graph: &mut Graph, runs: &[Way], items: usize, stop: &Stop) -> bool {
    /// With more runs a proof would take long, and so it would with more items of each.
    const MOST: usize = 64;
    const TRIED: usize = 16;
    /// Edges that are visited for it, about.
    const WORTH: usize = 1 << 30;
    if runs.len() <= 1 {
        return true;
    }
    let tried = (WORTH / runs.len() / (graph.edges() as usize).max(1)).min(TRIED);
    if runs.len() > MOST || tried == 0 {
        return false;
    }
    let counts = counted(graph, runs, items);
    // The last items that a run alone has: what comes after them is least.
    let alone = |run: &Way| {
        let backwards = run.steps.iter().rev().flat_map(|(_, set)| graph.items(*set).iter().rev());
        let mut alone: Vec<u32> = backwards.filter(|&&item| counts[item as usize] == 1).copied().collect();
        let mut seen = HashSet::new();
        alone.retain(|item| seen.insert(*item));
        alone.truncate(tried);
        alone
    };
    let candidates: Vec<Vec<u32>> = runs.iter().map(alone).collect();
    let mut with = HashMap::new();
    for &item in candidates.iter().flatten() {
        let Some(others) = items_with(graph, item, items, stop) else { return false };
        with.insert(item, others);
    }
    let apart = |a: u32, b: u32| !with[&a][b as usize] && !with[&b][a as usize];
    chosen(&candidates, &mut Vec::new(), &mut 0, &apart)
}

/// Can one of each list be chosen such that each two are apart? Gives up after many attempts.
fn chosen(lists: &[Vec<u32>], so_far: &mut Vec<u32>, attempts: &mut u32, apart: &dyn Fn(u32, u32) -> bool) -> bool {
    const MOST: u32 = 100_000;
    let Some(list) = lists.get(so_far.len()) else { return true };
    for &item in list {
        *attempts += 1;
        if *attempts > MOST {
            return false;
        }
        if so_far.iter().all(|&other| apart(item, other)) {
            so_far.push(item);
            if chosen(lists, so_far, attempts, apart) {
                return true;
            }
            so_far.pop();
        }
    }
    false
}

struct Greedy<'g> {
    graph: &'g mut Graph,
    left: Vec<bool>,
    stop: &'g Stop,
}

/// An edge: where it begins, where it leads, and its set. One that begins nowhere stands for an initial node.
type Edge = (u32, u32, u32);

impl Greedy<'_> {
    /// For each item, the first edge that covers it.
    fn nearest_edges(&self) -> Vec<Option<Edge>> {
        let mut seen = vec![false; self.graph.sets() as usize];
        let mut nearest: Vec<Option<Edge>> = vec![None; self.left.len()];
        let mut note = |edge: Edge| {
            if !std::mem::replace(&mut seen[edge.2 as usize], true) {
                for &item in self.graph.items(edge.2) {
                    nearest[item as usize].get_or_insert(edge);
                }
            }
        };
        self.graph.initial.iter().for_each(|&(node, set)| note((NOBODY, node, set)));
        for source in 0..self.graph.expanded() {
            self.graph.successors(source).for_each(|(target, set)| note((source, target, set)));
        }
        nearest
    }

    /// A run over an edge and on, or from where that begins to what is nearest.
    fn run(&mut self, edge: Option<Edge>) -> Way {
        let Some((source, target, set)) = edge else { return Way { steps: Vec::new() } };
        let mut far = match source {
            NOBODY => Way { steps: Vec::new() },
            source => self.graph.way_to(source),
        };
        far.steps.push((target, set));
        let near = Way { steps: vec![far.steps[0]] };
        let before = self.left.clone();
        let far = self.on(far);
        let after_far = std::mem::replace(&mut self.left, before);
        let near = self.on(near);
        let many = |left: &[bool]| left.iter().filter(|left| **left).count();
        if many(&self.left) < many(&after_far) {
            return near;
        }
        self.left = after_far;
        far
    }

    /// A way, and on to what is left as long as there is something.
    fn on(&mut self, mut way: Way) -> Way {
        way.steps.iter().for_each(|(_, set)| covered(self.graph, &mut self.left, *set));
        while let Some(more) = self.nearest_from(way.end()) {
            more.iter().for_each(|(_, set)| covered(self.graph, &mut self.left, *set));
            way.steps.extend(more);
        }
        way
    }

    /// The shortest way from a node to an item that is left; nothing where there is none, or no time to look.
    fn nearest_from(&mut self, node: u32) -> Option<Vec<(u32, u32)>> {
        let left = &self.left;
        if !left.contains(&true) {
            return None;
        }
        let mut worth: Vec<Option<bool>> = vec![None; self.graph.sets() as usize];
        let graph = &mut *self.graph;
        let is_worth = |graph: &Graph, set: u32| {
            *worth[set as usize].get_or_insert_with(|| graph.items(set).iter().any(|&item| left[item as usize]))
        };
        let last = search(graph, &[node], self.stop, is_worth).ok()??;
        let scratch = &graph.scratch;
        let (source, target, set) = last;
        let mut steps = vec![(target, set)];
        let mut at = source;
        while at != node {
            steps.push((at, scratch.by[at]));
            at = scratch.from[at];
        }
        steps.reverse();
        Some(steps)
    }
}

fn covered(graph: &Graph, left: &mut [bool], set: u32) {
    graph.items(set).iter().for_each(|&item| left[item as usize] = false);
}

/// Goes through the graph breadth-first, from some nodes on, until an edge has a set that is wanted. Fails where there is no
/// time left.
fn search(
    graph: &mut Graph,
    from: &[u32],
    stop: &Stop,
    mut wanted: impl FnMut(&Graph, u32) -> bool,
) -> Result<Option<Edge>, ()> {
    graph.scratch.round += 1;
    let round = graph.scratch.round;
    let (mut next, mut end) = (0, 0);
    for &node in from {
        if graph.scratch.stamps[node] != round {
            (graph.scratch.stamps[node], graph.scratch.queue[end]) = (round, node);
            end += 1;
        }
    }
    while next < end {
        if next % GLANCE == 0 && stop.due().is_some() {
            return Err(());
        }
        let source = graph.scratch.queue[next];
        next += 1;
        for edge in graph.range(source) {
            let (target, set) = graph.edge(edge);
            if wanted(graph, set) {
                return Ok(Some((source, target, set)));
            }
            let scratch = &mut graph.scratch;
            if scratch.stamps[target] != round {
                (scratch.stamps[target], scratch.queue[end]) = (round, target);
                (scratch.from[target], scratch.by[target]) = (source, set);
                end += 1;
            }
        }
    }
    Ok(None)
}

/// Which items a run can have after this one or by the same step; nothing where there is no time to find out.
fn items_with(graph: &mut Graph, item: u32, items: usize, stop: &Stop) -> Option<Vec<bool>> {
    let mut with = vec![false; items];
    let has: Vec<bool> = (0..graph.sets()).map(|set| graph.items(set).binary_search(&item).is_ok()).collect();
    let mut from: Vec<u32> = Vec::new();
    let mut note = |graph: &Graph, set: u32| graph.items(set).iter().for_each(|&item| with[item as usize] = true);
    for &(node, set) in graph.initial.iter().filter(|(_, set)| has[*set as usize]) {
        note(graph, set);
        from.push(node);
    }
    for source in 0..graph.expanded() {
        if source % GLANCE == 0 && stop.due().is_some() {
            return None;
        }
        for (target, set) in graph.successors(source).filter(|(_, set)| has[*set as usize]) {
            note(graph, set);
            from.push(target);
        }
    }
    from.sort_unstable();
    from.dedup();
    let mut seen = vec![false; graph.sets() as usize];
    let searched = search(graph, &from, stop, |graph, set| {
        if !std::mem::replace(&mut seen[set as usize], true) {
            note(graph, set);
        }
        false
    });
    searched.ok().map(|_| with)
}

/// By how many runs each item is covered.
fn counted(graph: &Graph, runs: &[Way], items: usize) -> Vec<u32> {
    let mut counts = vec![0; items];
    runs.iter().for_each(|run| count(graph, run, &mut counts, 1));
    counts
}

/// Adds so much for each item of a run, once.
fn count(graph: &Graph, run: &Way, counts: &mut [u32], by: i32) {
    let mut items: Vec<u32> = run.steps.iter().flat_map(|(_, set)| graph.items(*set)).copied().collect();
    items.sort_unstable();
    items.dedup();
    items.iter().for_each(|&item| counts[item as usize] = counts[item as usize].wrapping_add_signed(by));
}

/// Cuts off the end of each run behind the last item that only this one covers; what is left of some is nothing. Answers by how
/// many runs each item is covered then.
fn without_spare(graph: &Graph, runs: &mut Vec<Way>, items: usize) -> Vec<u32> {
    let mut counts = counted(graph, runs, items);
    for run in runs.iter_mut() {
        let mut seen = vec![false; items];
        let mut needed = 0;
        for (place, (_, set)) in run.steps.iter().enumerate() {
            for &item in graph.items(*set) {
                if !std::mem::replace(&mut seen[item as usize], true) && counts[item as usize] == 1 {
                    needed = place + 1;
                }
            }
        }
        if needed < run.steps.len() {
            count(graph, run, &mut counts, -1);
            run.steps.truncate(needed);
            count(graph, run, &mut counts, 1);
        }
    }
    runs.retain(|run| !run.steps.is_empty());
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrimp_core::Budget;
    use std::sync::Arc;

    /// A graph from 0 on: for each node, where its edges lead and the items of each.
    fn graph(edges: &[&[(u32, &[u32])]]) -> Graph {
        let mut graph = Graph::new(&Arc::new(Budget::apart(1 << 30))).unwrap();
        graph.add(NOBODY, 0).ok().unwrap();
        graph.initial.push((0, 0));
        for (source, edges) in (0..).zip(edges) {
            let mut list = Vec::new();
            for (target, items) in *edges {
                let set = graph.intern(items.to_vec());
                while *target >= graph.nodes() {
                    graph.add(source, set).ok().unwrap();
                }
                list.push((*target, set));
            }
            graph.expand(&list).ok().unwrap();
        }
        graph
    }

    fn covers(graph: &Graph, runs: &[Way], items: usize) -> bool {
        counted(graph, runs, items).iter().all(|count| *count > 0)
    }

    #[test]
    fn one_run_goes_round_and_round() {
        // Two loops at one place.
        let mut graph = graph(&[&[(1, &[0]), (2, &[1])], &[(0, &[2])], &[(0, &[3])]]);
        let runs = greedy(&mut graph, 4, &Stop::never());
        assert_eq!(runs.len(), 1);
        assert!(covers(&graph, &runs, 4) && runs[0].steps.len() == 5, "{runs:?}");
        assert!(is_fewest(&mut graph, &runs, 4, &Stop::never()));
    }

    #[test]
    fn ways_that_part_need_a_run_each_and_spare_ones_go() {
        let mut forked = graph(&[&[(1, &[0]), (2, &[1]), (3, &[0, 1])], &[], &[], &[(4, &[2])], &[]]);
        let runs = greedy(&mut forked, 3, &Stop::never());
        assert_eq!(runs.len(), 1, "the deepest has all: {runs:?}");
        let mut forked = graph(&[&[(1, &[0]), (2, &[1]), (3, &[])], &[], &[], &[(4, &[2])], &[]]);
        let runs = greedy(&mut forked, 3, &Stop::never());
        assert!(runs.len() == 3 && covers(&forked, &runs, 3), "{runs:?}");
        assert!(is_fewest(&mut forked, &runs, 3, &Stop::never()), "each ends somewhere else");
        // A run too many is no proof.
        let mut line = graph(&[&[(1, &[0])], &[(2, &[1])], &[]]);
        let two = [Way { steps: vec![(0, 0), (1, 1)] }, Way { steps: vec![(0, 0), (1, 0), (2, 2)] }];
        assert!(!is_fewest(&mut line, &two, 2, &Stop::never()));
    }

    /// The fewest runs that cover all items which some run has, and which these are: by trying everything.
    fn fewest(graph: &Graph, items: usize) -> (usize, u32) {
        let mask = |set: u32| graph.items(set).iter().fold(0u32, |mask, item| mask | 1 << item);
        let mut open: Vec<(u32, u32)> = graph.initial.iter().map(|&(node, set)| (node, mask(set))).collect();
        let mut seen: HashSet<(u32, u32)> = open.iter().copied().collect();
        while let Some((node, had)) = open.pop() {
            for (target, set) in graph.successors(node) {
                let next = (target, had | mask(set));
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        let sets: HashSet<u32> = seen.iter().map(|(_, mask)| *mask).collect();
        let all = sets.iter().fold(0, |all, mask| all | mask);
        let mut covered: HashSet<u32> = HashSet::from([0]);
        for runs in 0..=items {
            if covered.contains(&all) {
                return (runs, all);
            }
            covered = covered.iter().flat_map(|had| sets.iter().map(move |mask| had | mask)).collect();
        }
        unreachable!("each item has a run")
    }

    #[test]
    fn what_is_said_to_be_fewest_is() {
        let mut proven = [0, 0];
        for seed in 0..3000 {
            let mut random = scrimp_system::Random(seed);
            let (nodes, items) = (2 + random.below(5), 1 + random.below(5));
            let mut list: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); nodes];
            for _ in 0..nodes + random.below(4) {
                // Mostly forwards, so that ways part.
                let (a, b) = (random.below(nodes), random.below(nodes));
                let (a, b) = if random.below(4) > 0 { (a.min(b), a.max(b)) } else { (a, b) };
                let has = (0..items as u32).filter(|_| random.below(4) == 0).collect();
                list[a].push((b as u32, has));
            }
            // Numbers in breadth-first order, as in any graph.
            let mut order = vec![0usize];
            let mut next = 0;
            while let Some(&node) = order.get(next) {
                next += 1;
                list[node].sort();
                for (target, _) in &list[node] {
                    if !order.contains(&(*target as usize)) {
                        order.push(*target as usize);
                    }
                }
            }
            let number = |node: u32| order.iter().position(|other| *other == node as usize).unwrap() as u32;
            let edges: Vec<Vec<(u32, Vec<u32>)>> = order
                .iter()
                .map(|node| list[*node].iter().map(|(t, has)| (number(*t), has.clone())).collect())
                .collect();
            let lent: Vec<Vec<(u32, &[u32])>> =
                edges.iter().map(|edges| edges.iter().map(|(t, has)| (*t, &has[..])).collect()).collect();
            let mut graph = graph(&lent.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let (least, all) = fewest(&graph, items);
            let runs = greedy(&mut graph, items, &Stop::never());
            let counts = counted(&graph, &runs, items);
            assert!((0..items).all(|item| (counts[item] > 0) == (all >> item & 1 == 1)), "{seed}: {runs:?}");
            let is = is_fewest(&mut graph, &runs, items, &Stop::never());
            assert!(runs.len() >= least && (!is || runs.len() == least), "{seed}: {least} of {runs:?}");
            proven[usize::from(is)] += usize::from(runs.len() > 1);
            // Of graphs as small as these, the fewest are always found.
            let (runs, is) = cover(&mut graph, items, true, &Stop::never());
            assert!(is && runs.len() == least, "{seed}: {least} of {runs:?}");
            let counts = counted(&graph, &runs, items);
            assert!((0..items).all(|item| (counts[item] > 0) == (all >> item & 1 == 1)), "{seed}: {runs:?}");
        }
        assert!(proven[1] > 250, "{proven:?}");
    }
}
