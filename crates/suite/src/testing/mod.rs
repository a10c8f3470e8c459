//! Every model is a test: what its leading comments declare is held against what a check of it says.
//!
//! [`declared`] reads the `comments`, [`runner`] runs the commands that decide them, each a process of its own, so that a model that
//! takes all memory or crashes takes no other along, [`judge`] holds one against the other, [`cache`] knows what has passed before, and [`told`] and [`files`] say what came
//! of it: as text, for JUnit's readers and as SARIF.

pub mod cache;
mod comments;
pub mod declared;
pub mod files;
mod flags;
pub mod judge;
pub mod runner;
pub mod told;
