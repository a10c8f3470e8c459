//! The order of the layers: which byte of the state each layer of the automaton stands for.
//!
//! The size of the automaton depends on it, as that of a decision diagram depends on the order of its variables. No rule is
//! best for all models, so that unless an order is named, several are tried on a sample of the states.

use super::Automaton;
use scrimp_core::Budget;
use scrimp_system::{Batch, Model, Random};
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LayerOrder {
    /// The one of the others that makes the smallest automaton of a sample of states.
    #[default]
    Best,
    /// The order of the layout: variables that few events write come first.
    Layout,
    Reversed,
    /// Bytes that had few values in a sample of states come first.
    ByChange,
    /// Bytes that depend on each other in a sample of states come next to each other.
    Linked,
    /// These bytes first, then the others in the order of the layout.
    Given(Vec<u32>),
}

/// States in a sample, how many are expanded around one of a walk, how many steps it takes from there to the next, and after
/// how many of these it begins anew.
const SAMPLE: usize = 4000;
/// Bytes in a sample, about.
const SAMPLE_BYTES: usize = 256 << 10;
const AROUND: usize = 16;
const STEPS: usize = 20;
const RESTART: usize = 16;
/// States among which bytes are held against each other, and the most bytes for which that is done.
const ROWS: usize = 500;
const LINKED: usize = 250;

/// Does every number below `count` occur once?
pub(super) fn is_permutation(order: &[u32], count: usize) -> bool {
    let mut seen = vec![false; count];
    order.len() == count
        && order.iter().all(|&byte| seen.get_mut(byte as usize).is_some_and(|s| !std::mem::replace(s, true)))
}

impl LayerOrder {
    /// A sample of the states of a model: those around some states along random walks. What is near shows how states share
    /// nodes, and what is far which bytes change at all.
    pub fn sample(model: &dyn Model) -> Batch {
        let (mut sample, mut known) = (Batch::new(model.state_bytes()), HashSet::new());
        let mut successors = Batch::new(model.state_bytes());
        let mut random = Random(1);
        model.initial(&mut successors);
        let initial: Vec<Vec<u8>> = (0..successors.len()).map(|i| successors.state(i).to_vec()).collect();
        if initial.is_empty() {
            return sample;
        }
        // Automata of long words take their time.
        let most = (SAMPLE_BYTES / model.state_bytes()).clamp(50, SAMPLE);
        let mut centre = initial[0].clone();
        for _ in 0..most / AROUND * 4 + 4 {
            if sample.len() >= most {
                break;
            }
            let mut around = VecDeque::from([centre.clone()]);
            for _ in 0..AROUND {
                let Some(state) = around.pop_front() else { break };
                successors.clear();
                model.expand(&state, &mut successors);
                for i in 0..successors.len() {
                    if known.insert(successors.state(i).to_vec()) {
                        sample.push(successors.state(i), 0);
                        around.push_back(successors.state(i).to_vec());
                    }
                }
            }
            for _ in 0..STEPS {
                successors.clear();
                model.expand(&centre, &mut successors);
                centre = match successors.len() {
                    0 => initial[random.below(initial.len())].clone(),
                    count => successors.state(random.below(count)).to_vec(),
                };
            }
            if random.below(RESTART) == 0 {
                centre = initial[random.below(initial.len())].clone();
            }
        }
        sample.truncate(most);
        sample
    }

    /// For every layer the byte of the state. `sample` holds some of the states; the orders that are named by numbers or by the
    /// layout do not look at it. Says what is wrong with an order that does not suit states of this
    /// length.
    pub fn permutation(&self, state_bytes: usize, sample: &Batch, budget: &Arc<Budget>) -> Result<Vec<u32>, String> {
        let mut order: Vec<u32> = (0..state_bytes as u32).collect();
        match self {
            LayerOrder::Best => {
                let rules = [LayerOrder::ByChange, LayerOrder::Layout, LayerOrder::Reversed, LayerOrder::Linked];
                let mut orders = Vec::new();
                for rule in rules {
                    orders.push(rule.permutation(state_bytes, sample, budget)?);
                }
                let best = orders.into_iter().min_by_key(|order| size(order, sample, budget));
                return Ok(best.unwrap_or(order));
            }
            LayerOrder::Layout => {}
            LayerOrder::Reversed => order.reverse(),
            LayerOrder::ByChange => {
                let changes = changes(state_bytes, sample);
                order.sort_by_key(|&byte| changes[byte as usize]);
            }
            LayerOrder::Linked => order = linked(state_bytes, sample),
            LayerOrder::Given(first) => {
                if let Some(byte) = first.iter().find(|&&byte| byte as usize >= state_bytes) {
                    return Err(format!("there is no byte {byte}; states have {state_bytes} bytes, numbered from 0"));
                }
                if let Some(at) = (1..first.len()).find(|&at| first[..at].contains(&first[at])) {
                    return Err(format!("byte {} is named twice", first[at]));
                }
                order.retain(|byte| !first.contains(byte));
                order.splice(0..0, first.iter().copied());
            }
        }
        Ok(order)
    }
}

/// Bytes of the automaton of a sample, with the layers in this order.
fn size(order: &[u32], sample: &Batch, budget: &Arc<Budget>) -> usize {
    let word = |i: usize| order.iter().map(|&byte| sample.state(i)[byte as usize]).collect::<Vec<u8>>();
    let mut words: Vec<Vec<u8>> = (0..sample.len()).map(word).collect();
    words.sort_unstable();
    words.dedup();
    let Ok(mut automaton) = Automaton::new(order.len(), budget) else {
        return usize::MAX;
    };
    // Where not all find room, the larger part of it counts.
    let added = automaton.insert_sorted(words.len(), |i| &words[i]);
    (automaton.bytes() - automaton.free_bytes()).saturating_mul(words.len().max(1)) / added.max(1)
}

/// How many values each byte has in a sample.
fn changes(state_bytes: usize, sample: &Batch) -> Vec<usize> {
    let values = |byte: usize| {
        let mut seen = [false; 256];
        (0..sample.len()).for_each(|i| seen[sample.state(i)[byte] as usize] = true);
        seen.iter().filter(|&&s| s).count()
    };
    (0..state_bytes).map(values).collect()
}

/// Bytes that never change first, then always the one that tells most about those placed last.
fn linked(state_bytes: usize, sample: &Batch) -> Vec<u32> {
    let changes = changes(state_bytes, sample);
    let (mut order, mut left): (Vec<u32>, Vec<u32>) =
        (0..state_bytes as u32).partition(|&byte| changes[byte as usize] <= 1);
    if left.len() > LINKED {
        return (0..state_bytes as u32).collect();
    }
    let rows: Vec<&[u8]> = (0..sample.len()).step_by(sample.len() / ROWS + 1).map(|i| sample.state(i)).collect();
    let mut counts = vec![0u32; 1 << 16];
    let alone: Vec<f64> = (0..state_bytes).map(|byte| entropy(&rows, byte, byte, &mut counts)).collect();
    let mut links = vec![0f64; state_bytes];
    left.sort_by_key(|&byte| std::cmp::Reverse(changes[byte as usize]));
    while let Some(next) = (0..left.len()).max_by(|&a, &b| links[left[a] as usize].total_cmp(&links[left[b] as usize]))
    {
        let last = left.remove(next);
        order.push(last);
        for &byte in &left {
            let (a, b) = (byte as usize, last as usize);
            // What two bytes tell about each other; what was placed long ago counts less.
            let told = alone[a] + alone[b] - entropy(&rows, a, b, &mut counts);
            links[a] = links[a] * 0.7 + told;
        }
    }
    order
}

/// How many bits two bytes take together. `counts` are all 0, before and after.
fn entropy(rows: &[&[u8]], a: usize, b: usize, counts: &mut [u32]) -> f64 {
    let pair = |row: &[u8]| (row[a] as usize) << 8 | row[b] as usize;
    rows.iter().for_each(|row| counts[pair(row)] += 1);
    let total = rows.len() as f64;
    let mut bits = 0.0;
    for row in rows {
        let count = std::mem::take(&mut counts[pair(row)]) as f64;
        if count > 0.0 {
            bits -= count / total * (count / total).log2();
        }
    }
    bits
}

impl fmt::Display for LayerOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayerOrder::Best => f.write_str("best"),
            LayerOrder::Layout => f.write_str("layout"),
            LayerOrder::Reversed => f.write_str("reversed"),
            LayerOrder::ByChange => f.write_str("by-change"),
            LayerOrder::Linked => f.write_str("linked"),
            LayerOrder::Given(first) => {
                let texts: Vec<String> = first.iter().map(u32::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

impl FromStr for LayerOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<LayerOrder, String> {
        match text {
            "best" => Ok(LayerOrder::Best),
            "layout" => Ok(LayerOrder::Layout),
            "reversed" => Ok(LayerOrder::Reversed),
            "by-change" => Ok(LayerOrder::ByChange),
            "linked" => Ok(LayerOrder::Linked),
            _ => {
                let bytes = text.split(',').map(|byte| byte.trim().parse()).collect::<Result<Vec<u32>, _>>();
                bytes.map(LayerOrder::Given).map_err(|_| {
                    format!(
                        "unknown order of layers `{text}`\nhelp: choose from: best, layout, reversed, by-change, linked, or bytes such as 3,0,1"
                    )
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_computed() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        let mut sample = Batch::new(4);
        for i in 0..20u8 {
            sample.push(&[i, 7, i / 2, i % 3], 0);
        }
        for (text, expected) in [
            ("layout", vec![0, 1, 2, 3]),
            ("reversed", vec![3, 2, 1, 0]),
            ("by-change", vec![1, 3, 2, 0]),
            // Byte 3 has the fewest values; 0 tells all about it, and then 2 about 0.
            ("linked", vec![1, 3, 0, 2]),
            ("2, 0", vec![2, 0, 1, 3]),
        ] {
            let order: LayerOrder = text.parse().unwrap();
            assert_eq!(order.permutation(4, &sample, &budget), Ok(expected), "{text}");
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for text in ["", "up", "1,,2", "-1"] {
            assert!(text.parse::<LayerOrder>().is_err(), "{text}");
        }
        for wrong in [vec![4], vec![1, 0, 1]] {
            assert!(LayerOrder::Given(wrong).permutation(4, &sample, &budget).is_err());
        }
    }

    #[test]
    fn the_best_order_makes_the_smallest_automaton() {
        let budget = Arc::new(Budget::new(usize::MAX / 4));
        // The first half decides the second, byte by byte, and the last byte never changes.
        let mut sample = Batch::new(5);
        for i in 0..600u32 {
            let (a, b) = ((i % 30) as u8, (i / 30) as u8);
            sample.push(&[a, b, a / 2, b / 2, 9], 0);
        }
        let best = LayerOrder::Best.permutation(5, &sample, &budget).unwrap();
        for rule in [LayerOrder::Layout, LayerOrder::Reversed, LayerOrder::ByChange, LayerOrder::Linked] {
            let other = rule.permutation(5, &sample, &budget).unwrap();
            assert!(size(&best, &sample, &budget) <= size(&other, &sample, &budget), "{rule}");
        }
        assert!(size(&[4, 0, 2, 1, 3], &sample, &budget) < size(&[4, 0, 1, 2, 3], &sample, &budget));
    }
}
