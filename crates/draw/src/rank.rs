//! Which layer each vertex is in: below everything that leads to it, and near what it is connected with.

/// How often vertices look for a better layer.
const ROUNDS: usize = 4;

/// For edges without a cycle, layers such that each edge leads at least one layer down, counted from 0.
pub(crate) fn ranks(vertices: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let (mut above, mut below) = (vec![Vec::new(); vertices], vec![Vec::new(); vertices]);
    for &(from, to) in edges {
        below[from as usize].push(to);
        above[to as usize].push(from);
    }
    let order = sorted(&above, &below);
    let mut rank = vec![0u32; vertices];
    for &v in &order {
        rank[v as usize] = above[v as usize].iter().map(|&u| rank[u as usize] + 1).max().unwrap_or(0);
    }
    // More edges down than up: as low as they allow; fewer: as high. Both shorten edges and lengthen none that count more.
    for _ in 0..ROUNDS {
        let mut moved = false;
        for &v in order.iter().rev() {
            let (up, down) = (&above[v as usize], &below[v as usize]);
            let lowest = down.iter().map(|&u| rank[u as usize] - 1).min();
            if let Some(lowest) = lowest.filter(|&lowest| down.len() > up.len() && lowest > rank[v as usize]) {
                rank[v as usize] = lowest;
                moved = true;
            }
        }
        for &v in &order {
            let (up, down) = (&above[v as usize], &below[v as usize]);
            let highest = up.iter().map(|&u| rank[u as usize] + 1).max();
            if let Some(highest) = highest.filter(|&highest| up.len() > down.len() && highest < rank[v as usize]) {
                rank[v as usize] = highest;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let top = rank.iter().copied().min().unwrap_or(0);
    rank.iter_mut().for_each(|rank| *rank -= top);
    rank
}

/// Vertices so that each comes after all above it.
fn sorted(above: &[Vec<u32>], below: &[Vec<u32>]) -> Vec<u32> {
    let mut waits: Vec<usize> = above.iter().map(Vec::len).collect();
    let mut order: Vec<u32> = (0..above.len() as u32).filter(|&v| waits[v as usize] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for &target in &below[order[at] as usize] {
            waits[target as usize] -= 1;
            if waits[target as usize] == 0 {
                order.push(target);
            }
        }
        at += 1;
    }
    order
}
