//! The explorer: its server, and its page in a real browser.

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod driver;
mod models;
mod rust;
mod server;
mod walks;
