//! Searches by several processes, on one host and on several.

mod network;
mod one_host;
