//! Which edges are drawn upwards, so that the others lead down.
//!
//! Vertices are numbered breadth-first from those that come first; within a strongly connected component the edges against these
//! numbers are turned round, and turned back where no cycle needs them.

/// Effort for turning edges back, in edges looked at.
const EFFORT: usize = 1_000_000;

/// The same edges, turned round where they are drawn upwards. There are no loops among them, and then no cycles.
pub(crate) fn downward(vertices: usize, edges: &[(u32, u32)], first: &[u32]) -> Vec<(u32, u32)> {
    let mut next = vec![Vec::new(); vertices];
    let mut entered = vec![false; vertices];
    for &(from, to) in edges {
        next[from as usize].push(to);
        entered[to as usize] = true;
    }
    let number = breadth_first(&next, &entered, first);
    let component = components(&next);
    let same = |from: u32, to: u32| component[from as usize] == component[to as usize];
    let upward = |&(from, to): &(u32, u32)| same(from, to) && number[from as usize] > number[to as usize];
    let mut down: Vec<(u32, u32)> =
        edges.iter().map(|edge| if upward(edge) { (edge.1, edge.0) } else { *edge }).collect();
    let mut below = vec![Vec::new(); vertices];
    down.iter().for_each(|&(from, to)| below[from as usize].push(to));
    let mut seen = vec![0u32; vertices];
    let mut effort = EFFORT;
    for (round, edge) in edges.iter().enumerate() {
        if !upward(edge) || effort == 0 {
            continue;
        }
        let &(from, to) = edge;
        // The edge itself, turned round, does not count.
        if let Some(at) = below[to as usize].iter().position(|&v| v == from) {
            below[to as usize].swap_remove(at);
        }
        match leads(&below, to, from, &mut seen, round as u32 + 1, &mut effort) {
            true => below[to as usize].push(from),
            false => {
                below[from as usize].push(to);
                down[round] = *edge;
            }
        }
    }
    down
}

/// Does a way lead from one to the other? When the effort is used up: it may.
fn leads(next: &[Vec<u32>], from: u32, to: u32, seen: &mut [u32], round: u32, effort: &mut usize) -> bool {
    let mut open = vec![from];
    seen[from as usize] = round;
    while let Some(vertex) = open.pop() {
        for &target in &next[vertex as usize] {
            if target == to || *effort == 0 {
                return true;
            }
            *effort -= 1;
            if seen[target as usize] != round {
                seen[target as usize] = round;
                open.push(target);
            }
        }
    }
    false
}

fn breadth_first(next: &[Vec<u32>], entered: &[bool], first: &[u32]) -> Vec<u32> {
    let all = 0..next.len() as u32;
    let roots = all.clone().filter(|&v| !entered[v as usize]);
    let mut number = vec![u32::MAX; next.len()];
    let mut queue = Vec::with_capacity(next.len());
    // All that come first are numbered before any other.
    for &vertex in first {
        if number[vertex as usize] == u32::MAX {
            number[vertex as usize] = queue.len() as u32;
            queue.push(vertex);
        }
    }
    let mut at = 0;
    for start in roots.chain(all) {
        while at < queue.len() {
            let vertex = queue[at];
            at += 1;
            for &target in &next[vertex as usize] {
                if number[target as usize] == u32::MAX {
                    number[target as usize] = queue.len() as u32;
                    queue.push(target);
                }
            }
        }
        if number[start as usize] == u32::MAX {
            number[start as usize] = queue.len() as u32;
            queue.push(start);
        }
    }
    number
}

/// Strongly connected components, by Tarjan's algorithm without recursion.
fn components(next: &[Vec<u32>]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let (mut index, mut low, mut component) = (vec![NONE; next.len()], vec![0; next.len()], vec![NONE; next.len()]);
    let (mut counter, mut found) = (0, 0);
    let (mut stack, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    for root in 0..next.len() as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some(&mut (vertex, ref mut edge)) = calls.last_mut() {
            let v = vertex as usize;
            if *edge == 0 {
                (index[v], low[v]) = (counter, counter);
                counter += 1;
                stack.push(vertex);
            }
            if let Some(&target) = next[v].get(*edge) {
                *edge += 1;
                if index[target as usize] == NONE {
                    calls.push((target, 0));
                } else if component[target as usize] == NONE {
                    low[v] = low[v].min(index[target as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller as usize] = low[caller as usize].min(low[v]);
            }
            if low[v] == index[v] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = found;
                    if member == vertex {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
