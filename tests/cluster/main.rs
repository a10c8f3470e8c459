//! Searches by several processes, on one host and on several.

#[cfg(target_os = "linux")]
mod losses;
mod network;
mod one_host;
