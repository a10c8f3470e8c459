//! What must come out: states enumerated one by one, and formulas evaluated by what they mean.

pub mod branching;
pub mod closure;
pub mod graph;
pub mod linear;

/// Models with more states than this are left out.
pub const MOST_STATES: usize = 1500;

/// Is there a cycle, among states that can be reached from state 0, through one like this?
pub fn cycle_through(edges: &[Vec<(usize, graph::Movers)>], is_wanted: impl Fn(usize) -> bool) -> bool {
    let comes_back = |start: usize| {
        let (mut seen, mut open) = (vec![false; edges.len()], vec![start]);
        while let Some(at) = open.pop() {
            for (next, _) in &edges[at] {
                if *next == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[*next], true) {
                    open.push(*next);
                }
            }
        }
        false
    };
    (0..edges.len()).any(|state| is_wanted(state) && comes_back(state))
}

/// Is there, from every state, a way to one that has a label?
pub fn from_everywhere(labels: &[u64], edges: &[Vec<(usize, graph::Movers)>]) -> bool {
    let mut there: Vec<bool> = labels.iter().map(|label| *label > 0).collect();
    loop {
        let next = |state: usize| there[state] || edges[state].iter().any(|(to, _)| there[*to]);
        let more: Vec<bool> = (0..edges.len()).map(next).collect();
        if more == there {
            return there.into_iter().all(|value| value);
        }
        there = more;
    }
}
