//! Strongly connected components.

/// The component of each node, numbered so that no edge leads to a component of a higher number.
pub(crate) struct Components {
    pub of: Vec<u32>,
    pub count: usize,
}

/// Of the graph with nodes below `count`, in which `successor(node, i)` is the i-th successor, if it has so many.
pub(crate) fn components(count: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Components {
    const NONE: u32 = u32::MAX;
    let mut of = vec![NONE; count];
    let mut order = vec![NONE; count];
    let mut lowest = vec![0; count];
    let (mut open, mut path, mut next, mut found) = (Vec::new(), Vec::new(), 0, 0);
    for root in 0..count {
        if order[root] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (node, ref mut edge)) = path.last_mut() {
            if *edge == 0 {
                order[node] = next;
                lowest[node] = next;
                next += 1;
                open.push(node);
            }
            let step = successor(node, *edge);
            *edge += 1;
            match step {
                Some(to) if order[to] == NONE => path.push((to, 0)),
                Some(to) if of[to] == NONE => lowest[node] = lowest[node].min(order[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        lowest[before] = lowest[before].min(lowest[node]);
                    }
                    if lowest[node] == order[node] {
                        while let Some(member) = open.pop() {
                            of[member] = found;
                            if member == node {
                                break;
                            }
                        }
                        found += 1;
                    }
                }
            }
        }
    }
    Components { of, count: found as usize }
}
