//! Formulas of linear and of branching time at random.

pub mod generate;
pub mod tree;

pub use tree::{Connective, Formula, Quantifier, Temporal};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Written;
    use scrimp_system::Random;

    #[test]
    fn every_pair_is_written() {
        let mut written = Written::new(&generate::GRAMMAR);
        for seed in 0..20_000 {
            generate::formula(&mut Random(seed), seed % 2 == 0, 3, 4).note(&mut written);
        }
        assert_eq!((written.missing(), written.impossible()), (vec![], vec![]), "{:?}", written.covered());
    }
}
