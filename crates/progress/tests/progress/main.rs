//! Progress measures: found, read, and swept with.

mod measures;
mod sweeps;
