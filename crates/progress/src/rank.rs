//! Rankings of values: an order in which few steps go back.
//!
//! The steps between values that were seen make a weighted graph. Its strongly connected components can be ordered so that
//! no step goes back; within one, the order is chosen to let little weight go back (a feedback arc set, by a greedy start
//! and by moving single values to better places).

/// Steps between `n` values, with weights.
#[derive(Debug, Clone)]
pub struct Steps {
    n: usize,
    weight: Vec<f32>,
    /// How far from the beginning each value is found on average; breaks ties.
    pub depth: Vec<f64>,
}

impl Steps {
    pub fn new(n: usize) -> Steps {
        Steps { n, weight: vec![0.0; n * n], depth: vec![0.0; n] }
    }

    pub fn add(&mut self, from: usize, to: usize, weight: f64) {
        self.weight[from * self.n + to] += weight as f32;
    }

    pub fn weight(&self, from: usize, to: usize) -> f64 {
        self.at(from, to)
    }

    fn at(&self, from: usize, to: usize) -> f64 {
        self.weight[from * self.n + to] as f64
    }

    /// The component of each value, numbered so that no step leads to a lower number.
    pub fn components(&self) -> Vec<u32> {
        let order = self.finishing_order();
        // Kosaraju: in reverse finishing order, what reaches a value backwards and is not taken yet is its component.
        let mut component = vec![u32::MAX; self.n];
        let mut count = 0;
        for &root in order.iter().rev() {
            if component[root] != u32::MAX {
                continue;
            }
            let mut stack = vec![root];
            component[root] = count;
            while let Some(v) = stack.pop() {
                for (u, its) in component.iter_mut().enumerate() {
                    if self.at(u, v) > 0.0 && *its == u32::MAX {
                        *its = count;
                        stack.push(u);
                    }
                }
            }
            count += 1;
        }
        component
    }

    fn finishing_order(&self) -> Vec<usize> {
        let mut by_depth: Vec<usize> = (0..self.n).collect();
        // Deep values first: they finish first, and so end up last.
        by_depth.sort_by(|&a, &b| self.depth[b].total_cmp(&self.depth[a]).then(b.cmp(&a)));
        let mut seen = vec![false; self.n];
        let mut order = Vec::with_capacity(self.n);
        for &root in &by_depth {
            if seen[root] {
                continue;
            }
            seen[root] = true;
            let mut stack = vec![(root, 0)];
            while let Some((v, next)) = stack.last_mut() {
                match by_depth[*next..].iter().position(|&u| self.at(*v, u) > 0.0 && !seen[u]) {
                    Some(ahead) => {
                        let u = by_depth[*next + ahead];
                        *next += ahead + 1;
                        seen[u] = true;
                        stack.push((u, 0));
                    }
                    None => {
                        order.push(*v);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// A rank for each value, all different, with little weight going back.
    pub fn order(&self) -> Vec<u32> {
        let component = self.components();
        let mut order: Vec<usize> = (0..self.n).collect();
        order.sort_by(|&a, &b| component[a].cmp(&component[b]).then(self.depth[a].total_cmp(&self.depth[b])));
        let greedy = self.greedy(&component);
        let mut best = self.improve(order);
        let other = self.improve(greedy);
        if self.back(&other) < self.back(&best) {
            best = other;
        }
        let mut ranks = vec![0; self.n];
        for (rank, &value) in best.iter().enumerate() {
            ranks[value] = rank as u32;
        }
        ranks
    }

    /// Eades, Lin and Smyth: sources to the front, sinks to the back, else the value with most weight out over in.
    fn greedy(&self, component: &[u32]) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.n).collect();
        let (mut front, mut back) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let out = |v: usize| left.iter().filter(|&&u| u != v).map(|&u| self.at(v, u)).sum::<f64>();
            let into = |v: usize| left.iter().filter(|&&u| u != v).map(|&u| self.at(u, v)).sum::<f64>();
            let scored: Vec<(f64, f64)> = left.iter().map(|&v| (out(v), into(v))).collect();
            if let Some(at) = scored.iter().position(|&(out, into)| out == 0.0 && into > 0.0) {
                back.push(left.remove(at));
                continue;
            }
            let best = (0..left.len()).min_by(|&a, &b| {
                let gain = |i: usize| if scored[i].1 == 0.0 { f64::INFINITY } else { scored[i].0 - scored[i].1 };
                gain(b).total_cmp(&gain(a)).then(self.depth[left[a]].total_cmp(&self.depth[left[b]]))
            });
            front.push(left.remove(best.unwrap_or(0)));
        }
        front.extend(back.into_iter().rev());
        front.sort_by_key(|&v| component[v]);
        front
    }

    fn back(&self, order: &[usize]) -> f64 {
        let pairs = order.iter().enumerate().flat_map(|(i, &v)| order[..i].iter().map(move |&u| self.at(v, u)));
        pairs.sum()
    }

    /// Moves single values to where less weight goes back, until none helps.
    fn improve(&self, mut order: Vec<usize>) -> Vec<usize> {
        if self.n > 300 {
            return order;
        }
        for _ in 0..20 {
            let mut moved = false;
            for at in 0..self.n {
                let v = order[at];
                let (mut best, mut gain, mut sum) = (at, 0.0, 0.0);
                for to in (0..at).rev() {
                    let u = order[to];
                    sum += self.at(u, v) - self.at(v, u);
                    if sum < gain - 1e-9 {
                        (best, gain) = (to, sum);
                    }
                }
                sum = 0.0;
                for (to, &u) in order.iter().enumerate().skip(at + 1) {
                    sum += self.at(v, u) - self.at(u, v);
                    if sum < gain - 1e-9 {
                        (best, gain) = (to, sum);
                    }
                }
                if best != at {
                    order.remove(at);
                    order.insert(best, v);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(n: usize, edges: &[(usize, usize, f64)]) -> Steps {
        let mut steps = Steps::new(n);
        edges.iter().for_each(|&(from, to, weight)| steps.add(from, to, weight));
        steps
    }

    #[test]
    fn without_cycles_nothing_goes_back() {
        let edges = [(3, 1, 1.0), (1, 0, 1.0), (3, 2, 1.0), (2, 0, 1.0), (0, 4, 1.0)];
        let steps = steps(5, &edges);
        for ranks in [steps.components(), steps.order()] {
            assert!(edges.iter().all(|&(from, to, _)| ranks[from] < ranks[to]), "{ranks:?}");
        }
    }

    #[test]
    fn a_cycle_is_cut_where_it_is_thinnest() {
        let edges = [(0, 1, 9.0), (1, 2, 9.0), (2, 3, 1.0), (3, 0, 9.0), (1, 4, 1.0)];
        let steps = steps(5, &edges);
        let components = steps.components();
        assert!(components[..4].iter().all(|&c| c == components[0]) && components[4] > components[0]);
        let ranks = steps.order();
        let back: Vec<_> = edges.iter().filter(|&&(from, to, _)| ranks[to] < ranks[from]).collect();
        assert_eq!(back, [&(2, 3, 1.0)]);
    }
}
