//! The hosts file: a line for each process, with the address at which it is reached.
//!
//! ```text
//! # process 0 leads
//! 10.0.0.1:7300
//! 10.0.0.2:7300
//! # reached through a tunnel, and listens where that ends
//! 127.0.0.1:7403 listen=127.0.0.1:7300
//! ```

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

/// Most processes.
pub const MOST: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// As it was written.
    pub name: String,
    /// Where it is reached, and where it listens.
    pub reached: String,
    pub listens: String,
}

/// Where all processes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(pub Vec<Host>);

impl Hosts {
    pub fn read(file: &Path) -> Result<Hosts, String> {
        let wrong = |why: String| format!("--hosts {}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
        Hosts::parse(&text).map_err(wrong)
    }

    pub fn parse(text: &str) -> Result<Hosts, String> {
        let mut all: Vec<Host> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(reached) = words.next() else { continue };
            let mut listens = reached;
            for word in words {
                listens = word.strip_prefix("listen=").ok_or_else(|| {
                    format!(
                        "line {number}: expected ADDRESS:PORT, or ADDRESS:PORT listen=ADDRESS:PORT, found \"{word}\""
                    )
                })?;
            }
            for address in [reached, listens] {
                let port = address
                    .rsplit_once(':')
                    .and_then(|(host, port)| port.parse::<u16>().ok().filter(|_| !host.is_empty()));
                if port.is_none_or(|port| port == 0) {
                    return Err(format!("line {number}: expected ADDRESS:PORT, found \"{address}\""));
                }
            }
            if let Some(at) = all.iter().position(|host| host.reached == reached) {
                return Err(format!("line {number}: {reached} is process {at} already"));
            }
            let name = reached.to_string();
            all.push(Host { reached: name.clone(), name, listens: listens.to_string() });
        }
        match all.len() {
            0 => Err("there is no host in it".to_string()),
            many if many > MOST => Err(format!("{many} processes are too many; expected at most {MOST}")),
            _ => Ok(Hosts(all)),
        }
    }
}

/// What a name stands for.
pub fn resolve(address: &str) -> Result<Vec<SocketAddr>, String> {
    let all: Vec<SocketAddr> = address.to_socket_addrs().map_err(|e| format!("{address}: {e}"))?.collect();
    if all.is_empty() { Err(format!("{address}: there is no such address")) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_lines() {
        let hosts = Hosts::parse("# a\n10.0.0.1:7300\n\n h:1  listen=0.0.0.0:2 # b\n").unwrap();
        let all: Vec<(&str, &str)> = hosts.0.iter().map(|host| (&host.reached[..], &host.listens[..])).collect();
        assert_eq!(all, [("10.0.0.1:7300", "10.0.0.1:7300"), ("h:1", "0.0.0.0:2")]);
        for wrong in ["", "# a", "h", "h:x", ":1", "h:0", "h:70000", "h:1 g:2", "h:1\nh:1", "h:1 listen=x"] {
            assert!(Hosts::parse(wrong).is_err(), "{wrong}");
        }
    }
}
