//! What a store that may take different states for one has probably left out.

/// How much a lossy search may have missed, estimated from what happened in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Omission {
    /// The probability that any state was missed.
    Probability(f64),
    /// The share of the states found that were told apart from others, expected.
    Coverage(f64),
}

impl Omission {
    /// Of `states` states, each kept as one of 2^`bits` hashes.
    ///
    /// A state that comes when n hashes are kept is taken for a known one with probability n / m, where m = 2^bits. None of
    /// N states is missed with probability (1 - 0/m)(1 - 1/m) … (1 - (N-1)/m) (Wolper and Leroy 1993, Stern and Dill 1995).
    /// Its logarithm is -N(N-1)/2m as long as N is small beside m, and -m((1-x) ln(1-x) + x) - ln(1-x)/2 with x = N/m
    /// in general (Euler and Maclaurin).
    pub fn of_hashes(states: u64, bits: u32) -> Omission {
        let (states, m) = (states as f64, (bits as f64).exp2());
        let x = states / m;
        let none = if x < 1e-3 {
            -states * (states - 1.0) / (2.0 * m) * (1.0 + x / 3.0)
        } else if x < 1.0 {
            -m * ((1.0 - x) * (-x).ln_1p() + x) - (-x).ln_1p() / 2.0
        } else {
            f64::NEG_INFINITY
        };
        // Without states there is none to miss, and no zero with a sign.
        Omission::Probability((-none.exp_m1()).clamp(0.0, 1.0).abs())
    }

    /// Of `states` states found new, where so many others are expected to have been taken for known ones.
    pub fn of_missed(states: u64, missed: f64) -> Omission {
        let states = states as f64;
        Omission::Coverage(if missed > 0.0 { states / (states + missed) } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(states: u64, bits: u32) -> f64 {
        let m = (bits as f64).exp2();
        1.0 - (0..states).map(|n| 1.0 - n as f64 / m).product::<f64>()
    }

    #[test]
    fn hashes_are_missed_as_often_as_birthdays_are_shared() {
        for (states, bits) in [(0, 16), (1, 16), (2, 16), (300, 16), (1000, 20), (30_000, 40), (70_000, 17), (5000, 13)]
        {
            let Omission::Probability(p) = Omission::of_hashes(states, bits) else { panic!("a probability") };
            assert!((p - exactly(states, bits)).abs() < 1e-3, "{states} states, {bits} bits: {p}");
        }
        let Omission::Probability(p) = Omission::of_hashes(1_000_000, 64) else { panic!("a probability") };
        assert!((p / 2.71e-8 - 1.0).abs() < 0.01, "{p}");
        assert_eq!(Omission::of_hashes(1 << 20, 16), Omission::Probability(1.0));
    }
}
