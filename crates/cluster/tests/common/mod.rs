//! A cluster within one process: threads that follow, over connections of this machine.

use scrimp_cluster::{At, Cluster, Followed, Hosts, Options, Secret, follow};
use scrimp_search::checkpoint::Identity;
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub const MEMORY: usize = 4 << 30;
pub const WAIT: Duration = Duration::from_secs(20);

pub fn secret() -> Secret {
    Secret::new(b"a secret for tests").expect("long enough")
}

/// Ports that nobody uses now.
pub fn hosts(processes: usize) -> Hosts {
    let held: Vec<TcpListener> = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines = held.iter().map(|held| format!("{}\n", held.local_addr().expect("an address")));
    Hosts::parse(&lines.collect::<String>()).expect("hosts")
}

pub type Followers = Vec<JoinHandle<Result<Followed, String>>>;

pub fn followers(hosts: &Hosts) -> Followers {
    let follow = |index: usize| {
        let hosts = hosts.clone();
        thread::spawn(move || follow(At::Hosts { hosts: &hosts, command: Vec::new() }, index, &secret(), MEMORY, WAIT))
    };
    (1..hosts.0.len()).map(follow).collect()
}

pub fn cluster(processes: usize, threads: usize) -> (Cluster, Followers) {
    let hosts = hosts(processes);
    let followers = followers(&hosts);
    let cluster = Cluster::lead(&hosts, threads, &secret(), Vec::new(), WAIT, &mut || None);
    (cluster.unwrap_or_else(|why| panic!("{why}")), followers)
}

pub fn options() -> Options {
    Options {
        memory: MEMORY,
        keep_going: true,
        checkpoint: None,
        every: Duration::from_secs(600),
        resume: None,
        identity: Identity { model: 1, options: 1 },
    }
}
