//! The readers as targets of a fuzzer. What they are given, and what becomes of it, is shared with the tests.

#[path = "../../tests/readers/feed.rs"]
pub mod feed;
