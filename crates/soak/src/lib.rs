//! Random models of every language that Scrimp reads, held against oracles that share no code with it, and against every way
//! to search that it has.
//!
//! A [`Language`](language::Language) writes models, notes which production of its grammar it wrote inside which other
//! ([`coverage`]), and knows an oracle for them. [`case`] takes one model through all of it, [`matrix`] through the
//! configurations of the program; [`soak`] does so for as long as one wants.

pub mod case;
pub mod command;
pub mod configuration;
pub mod coverage;
pub mod dve;
pub mod formula;
pub mod formulas;
pub mod inquiry;
pub mod language;
pub mod ltl;
pub mod matrix;
pub mod network;
pub mod oracle;
pub mod pnml;
pub mod promela;
pub mod replay;
pub mod shrink;
pub mod soak;
pub mod summary;

/// Every language, with its share of a hundred models.
pub fn languages() -> Vec<soak::Entry> {
    vec![
        soak::Entry::of::<promela::Promela>(10),
        soak::Entry::of::<dve::Dve>(30),
        soak::Entry::of::<pnml::Pnml>(30),
        soak::Entry::of::<network::Network>(30),
    ]
}
