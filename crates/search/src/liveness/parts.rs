//! The parts of a graph in which a run can go round and be accepted: strongly connected, with every mark, every request granted.
//!
//! A component without some mark has none. Where all there is amiss is a request without a grant, no accepted run passes the
//! states that make it again and again: they are taken away, and what is left is taken apart again. After Emerson and Lei (1987);
//! each round takes states away, so it ends.

use super::acceptance::Acceptance;
use super::walk::Halt;
use scrimp_temporal::Marks;

pub(super) const NONE: u32 = u32::MAX;

/// A graph whose states are numbers.
pub(super) trait Edges {
    fn len(&self) -> usize;

    /// Where an edge leads, and its marks; only edges that can be on cycles.
    fn edge(&self, state: u32, place: usize) -> Option<(u32, Marks)>;
}

/// Bytes that taking a graph apart needs for each state.
pub(super) const BYTES_PER_STATE: usize = 40;

/// Shows each part, with all marks within, until `show` has seen enough. `tick` is called now and then, and may end it.
pub(super) fn accepting_parts(
    graph: &dyn Edges,
    acceptance: &Acceptance,
    tick: &mut dyn FnMut() -> Result<(), Halt>,
    show: &mut dyn FnMut(&[u32], Marks) -> bool,
) -> Result<(), Halt> {
    let mut apart = Apart {
        graph,
        part: vec![0; graph.len()],
        parts: 1,
        rank: vec![NONE; graph.len()],
        lowest: vec![0; graph.len()],
        ranks: 0,
        ticks: 0,
    };
    // What is still to be taken apart: the number of a part, and its states.
    let mut open: Vec<(u32, Vec<u32>)> = vec![(0, (0..graph.len() as u32).collect())];
    while let Some((own, members)) = open.pop() {
        members.iter().for_each(|&state| apart.rank[state as usize] = NONE);
        apart.ranks = 0;
        for &root in &members {
            if apart.part[root as usize] != own || apart.rank[root as usize] != NONE {
                continue;
            }
            for component in apart.components(root, own, tick)? {
                let Some((marks, met)) = apart.marks_within(&component) else { continue };
                if acceptance.accepts(marks) {
                    if !show(&component, marks) {
                        return Ok(());
                    }
                    continue;
                }
                if marks & acceptance.all != acceptance.all {
                    continue;
                }
                let requests = acceptance.requests(acceptance.ungranted(marks));
                let left = component.iter().zip(&met).filter(|(_, met)| **met & requests == 0);
                let left: Vec<u32> = left.map(|(state, _)| *state).collect();
                if !left.is_empty() {
                    open.push((apart.number(&left), left));
                }
            }
        }
    }
    Ok(())
}

struct Apart<'g> {
    graph: &'g dyn Edges,
    /// Which part each state is in: edges to others lead nowhere.
    part: Vec<u32>,
    parts: u32,
    rank: Vec<u32>,
    lowest: Vec<u32>,
    ranks: u32,
    ticks: u64,
}

impl Apart<'_> {
    /// States become a part of their own.
    fn number(&mut self, states: &[u32]) -> u32 {
        let number = self.parts;
        self.parts += 1;
        states.iter().for_each(|&state| self.part[state as usize] = number);
        number
    }

    /// The strongly connected components of a part that a state leads to, each a part of its own now. After Tarjan.
    fn components(
        &mut self,
        root: u32,
        own: u32,
        tick: &mut dyn FnMut() -> Result<(), Halt>,
    ) -> Result<Vec<Vec<u32>>, Halt> {
        let mut found = Vec::new();
        let (mut live, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), vec![(root, 0)]);
        while let Some((state, done)) = path.last_mut() {
            self.ticks += 1;
            if self.ticks.is_multiple_of(1 << 12) {
                tick()?;
            }
            let at = *state as usize;
            if *done == 0 {
                (self.rank[at], self.lowest[at]) = (self.ranks, self.ranks);
                self.ranks += 1;
                live.push(*state);
            }
            let next = self.graph.edge(*state, *done as usize);
            *done += 1;
            match next {
                Some((to, _)) if self.part[to as usize] != own => {}
                Some((to, _)) if self.rank[to as usize] == NONE => path.push((to, 0)),
                Some((to, _)) => self.lowest[at] = self.lowest[at].min(self.rank[to as usize]),
                None => {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        let before = *before as usize;
                        self.lowest[before] = self.lowest[before].min(self.lowest[at]);
                    }
                    if self.lowest[at] == self.rank[at] {
                        let first = live.iter().rposition(|&member| member as usize == at).unwrap_or(0);
                        let component = live.split_off(first);
                        self.number(&component);
                        found.push(component);
                    }
                }
            }
        }
        Ok(found)
    }

    /// All marks within a part, and those that the edges of each of its states have; `None` where it has no cycle.
    fn marks_within(&self, component: &[u32]) -> Option<(Marks, Vec<Marks>)> {
        let own = self.part[component[0] as usize];
        let mut met = Vec::with_capacity(component.len());
        let mut cyclic = false;
        for &state in component {
            let mut marks = 0;
            for (to, given) in (0..).map_while(|place| self.graph.edge(state, place)) {
                if self.part[to as usize] == own {
                    cyclic = true;
                    marks |= given;
                }
            }
            met.push(marks);
        }
        cyclic.then(|| (met.iter().fold(0, |all, marks| all | marks), met))
    }
}
