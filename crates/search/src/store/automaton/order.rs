//! The order of the layers: which byte of the state each layer of the automaton stands for.
//!
//! The size of the automaton depends on it, as that of a decision diagram depends on the order of its variables.

use scrimp_system::Batch;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LayerOrder {
    /// The order of the layout: variables that few events write come first.
    #[default]
    Layout,
    Reversed,
    /// Bytes that had few values in a sample of states come first.
    ByChange,
    /// These bytes first, then the others in the order of the layout.
    Given(Vec<u32>),
}

/// Does every number below `count` occur once?
pub(super) fn is_permutation(order: &[u32], count: usize) -> bool {
    let mut seen = vec![false; count];
    order.len() == count
        && order.iter().all(|&byte| seen.get_mut(byte as usize).is_some_and(|s| !std::mem::replace(s, true)))
}

impl LayerOrder {
    /// For every layer the byte of the state. `sample` holds some of the states; only [`ByChange`](LayerOrder::ByChange)
    /// looks at it. Says what is wrong with an order that does not suit states of this length.
    pub fn permutation(&self, state_bytes: usize, sample: &Batch) -> Result<Vec<u32>, String> {
        let mut order: Vec<u32> = (0..state_bytes as u32).collect();
        match self {
            LayerOrder::Layout => {}
            LayerOrder::Reversed => order.reverse(),
            LayerOrder::ByChange => {
                let changes = changes(state_bytes, sample);
                order.sort_by_key(|&byte| changes[byte as usize]);
            }
            LayerOrder::Given(first) => {
                if let Some(byte) = first.iter().find(|&&byte| byte as usize >= state_bytes) {
                    return Err(format!("there is no byte {byte}: states have {state_bytes} bytes"));
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

/// How many values each byte has in a sample.
fn changes(state_bytes: usize, sample: &Batch) -> Vec<usize> {
    let values = |byte: usize| {
        let mut seen = [false; 256];
        (0..sample.len()).for_each(|i| seen[sample.state(i)[byte] as usize] = true);
        seen.iter().filter(|&&s| s).count()
    };
    (0..state_bytes).map(values).collect()
}

impl fmt::Display for LayerOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayerOrder::Layout => f.write_str("layout"),
            LayerOrder::Reversed => f.write_str("reversed"),
            LayerOrder::ByChange => f.write_str("by-change"),
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
            "layout" => Ok(LayerOrder::Layout),
            "reversed" => Ok(LayerOrder::Reversed),
            "by-change" => Ok(LayerOrder::ByChange),
            _ => {
                let bytes = text.split(',').map(|byte| byte.trim().parse()).collect::<Result<Vec<u32>, _>>();
                bytes.map(LayerOrder::Given).map_err(|_| {
                    format!(
                        "`{text}` is no order of layers: `layout`, `reversed`, `by-change`, or bytes such as `3,0,1`"
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
        let mut sample = Batch::new(4);
        for i in 0..20u8 {
            sample.push(&[i, 7, i / 2, i % 3], 0);
        }
        for (text, expected) in [
            ("layout", vec![0, 1, 2, 3]),
            ("reversed", vec![3, 2, 1, 0]),
            ("by-change", vec![1, 3, 2, 0]),
            ("2, 0", vec![2, 0, 1, 3]),
        ] {
            let order: LayerOrder = text.parse().unwrap();
            assert_eq!(order.permutation(4, &sample), Ok(expected), "{text}");
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for text in ["", "up", "1,,2", "-1"] {
            assert!(text.parse::<LayerOrder>().is_err(), "{text}");
        }
        for wrong in [vec![4], vec![1, 0, 1]] {
            assert!(LayerOrder::Given(wrong).permutation(4, &sample).is_err());
        }
    }
}
