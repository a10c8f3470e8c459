//! Makes a model smaller as long as something remains true of it.

use std::time::{Duration, Instant};

/// The smallest model that is found within some time by single steps: `step` gives the model after its `number`th possible step.
pub fn shrink<M: Clone>(
    model: &M,
    step: impl Fn(&M, usize) -> Option<M>,
    patience: Duration,
    mut still: impl FnMut(&M) -> bool,
) -> M {
    let end = Instant::now() + patience;
    let mut best = model.clone();
    let (mut number, mut since) = (0, 0);
    // Round and round, until a whole round changes nothing.
    while Instant::now() < end {
        match step(&best, number) {
            None if number == 0 || since >= number => break,
            None => number = 0,
            Some(smaller) if still(&smaller) => {
                best = smaller;
                since = 0;
            }
            Some(_) => {
                number += 1;
                since += 1;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let without = |list: &Vec<u32>, number: usize| {
            let mut list = list.clone();
            (number < list.len()).then(|| list.remove(number)).map(|_| list)
        };
        let still = |list: &Vec<u32>| list.contains(&3) && list.contains(&7);
        let found = shrink(&(0..20).collect(), without, Duration::from_secs(5), still);
        assert_eq!(found, [3, 7]);
    }
}
