//! `scrimp cluster` between hosts: network namespaces of this machine, with a cable between them that loses packets or is cut. Skips
//! with a word where namespaces may not be made.

#![cfg(target_os = "linux")]

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const HOSTS: usize = 3;

/// Hosts on one bridge, each with an address of its own.
struct Network {
    /// Tells it apart from those of other tests.
    name: String,
    hosts_file: String,
}

fn ip(words: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(words).output().map_err(|e| format!("ip: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Network {
    fn new(number: u8) -> Result<Network, String> {
        let name = format!("s{:x}{number}", std::process::id());
        let folder = std::env::temp_dir().join(format!("scrimp-network-{name}"));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let hosts_file = folder.join("hosts.txt");
        let lines: String = (1..=HOSTS).map(|host| format!("10.{}.0.{host}:7300\n", 200 + number)).collect();
        std::fs::write(&hosts_file, lines).map_err(|e| e.to_string())?;
        let network = Network { name, hosts_file: hosts_file.to_string_lossy().into_owned() };
        let bridge = format!("{}b", network.name);
        ip(&["link", "add", &bridge, "type", "bridge"])?;
        ip(&["link", "set", &bridge, "up"])?;
        for host in 0..HOSTS {
            let (space, cable) = (network.host(host), network.cable(host));
            ip(&["netns", "add", &space])?;
            ip(&["link", "add", &cable, "type", "veth", "peer", "name", "e0", "netns", &space])?;
            ip(&["link", "set", &cable, "master", &bridge, "up"])?;
            ip(&["-n", &space, "addr", "add", &format!("10.{}.0.{}/24", 200 + number, host + 1), "dev", "e0"])?;
            ip(&["-n", &space, "link", "set", "e0", "up"])?;
            ip(&["-n", &space, "link", "set", "lo", "up"])?;
        }
        Ok(network)
    }

    fn host(&self, host: usize) -> String {
        format!("{}h{host}", self.name)
    }

    fn cable(&self, host: usize) -> String {
        format!("{}c{host}", self.name)
    }

    fn start(&self, host: usize, words: &[&str]) -> Child {
        Command::new("ip")
            .args(["netns", "exec", &self.host(host), env!("CARGO_BIN_EXE_scrimp"), "cluster"])
            .args(["--hosts", &self.hosts_file, "--index", &host.to_string(), "--wait", "30s"])
            .args(words)
            .env("SCRIMP_SECRET", "known to all hosts of this test")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ip starts the command")
    }

    /// The same command on all hosts.
    fn start_all(&self, words: &[&str]) -> Vec<Child> {
        (0..HOSTS).map(|host| self.start(host, words)).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in 0..HOSTS {
            let _ = ip(&["netns", "del", &self.host(host)]);
        }
        let _ = ip(&["link", "del", &format!("{}b", self.name)]);
    }
}

fn ended(children: Vec<Child>) -> Vec<Output> {
    children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect()
}

fn states(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    json["states"].clone()
}

fn model(name: &str) -> String {
    format!("{}/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn hosts_count_as_one_machine_does_and_a_cut_cable_ends_all() {
    let network = match Network::new(1) {
        Ok(network) => network,
        Err(why) => return eprintln!("skipped: no network namespaces here ({why})"),
    };
    for output in ended(network.start_all(&["count", &model("phils6.dve"), "--json"])).iter().take(1) {
        assert_eq!(states(output), 24_040);
    }
    let mut children = network.start_all(&["count", &model("large/counters20.dve"), "--memory", "200M"]);
    std::thread::sleep(Duration::from_secs(3));
    assert!(children.iter_mut().all(|child| child.try_wait().expect("a state").is_none()), "it takes longer than that");
    let cut = Instant::now();
    ip(&["link", "set", &network.cable(1), "down"]).expect("a cable can be cut");
    let outputs = ended(children);
    assert!(cut.elapsed() < Duration::from_secs(15), "{:?}", cut.elapsed());
    for output in &outputs {
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&outputs[0].stdout).into_owned() + &String::from_utf8_lossy(&outputs[0].stderr);
    assert!(said.contains("process 1"), "{said}");
}

/// Packets are lost, or come late, where the system can do that.
#[test]
fn packets_may_be_lost() {
    let network = match Network::new(2) {
        Ok(network) => network,
        Err(why) => return eprintln!("skipped: no network namespaces here ({why})"),
    };
    for host in 0..HOSTS {
        let (space, worse) = (network.host(host), ["root", "netem", "loss", "3%", "delay", "3ms", "2ms"]);
        let tc = Command::new("tc").args(["-n", &space, "qdisc", "add", "dev", "e0"]).args(worse).output();
        if !tc.as_ref().is_ok_and(|output| output.status.success()) {
            return eprintln!("skipped: the system cannot lose packets (netem)");
        }
    }
    let outputs = ended(network.start_all(&["count", &model("phils6.dve"), "--json"]));
    assert_eq!(states(&outputs[0]), 24_040);
    assert!(outputs.iter().all(|output| output.status.success()));
}
