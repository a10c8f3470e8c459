//! Bounded model checking against plain search.

mod expressions;
mod random;
