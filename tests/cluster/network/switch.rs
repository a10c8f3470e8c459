//! Hosts in network namespaces, and between them a switch that loses packets, delivers them late, or cuts hosts off from each other.
//!
//! Each host has a TUN device: what it sends is read by a thread of this process, which writes it to the host that it is addressed to when
//! its time has come. Which packets are lost and how long they take is random, with a fixed seed. A test of this runs in
//! [namespaces of its own](apart), so that nothing is left behind however it ends.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Says that a test is in its namespaces.
const APART: &str = "SCRIMP_TEST_APART";
/// A packet that comes while so many are under way is lost.
const MOST: usize = 20_000;

/// Runs a test once more in namespaces of its own; is this that run? `module` is that of the test. Skips with a word where there can be no
/// namespaces or no TUN devices.
pub fn apart(module: &str, test: &str) -> bool {
    if std::env::var_os(APART).is_some() {
        return true;
    }
    // SAFETY: it only answers a number.
    let user: &[&str] = if unsafe { libc::geteuid() } == 0 { &[] } else { &["--user", "--map-root-user"] };
    let inside = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(user).args(["--mount", "--net", "sh", "-c", &format!("mount -t tmpfs none /run && {script}")]);
        command
    };
    let probe = inside("ip netns add a && nsenter --net=/run/netns/a ip tuntap add t0 mode tun").output();
    let missing = match probe {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        Err(e) => Some(e.to_string()),
    };
    if let Some(why) = missing {
        eprintln!("skipped: network namespaces and TUN devices may not be made here ({why})");
        return false;
    }
    let name = module.split_once("::").map_or(test.to_string(), |(_, module)| format!("{module}::{test}"));
    let mut again = inside("exec \"$0\" \"$@\"");
    again.arg(std::env::current_exe().expect("a program")).args([&name, "--exact", "--nocapture"]);
    let output = again.env(APART, "yes").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// How packets get from one host to another one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    /// So many of a thousand are lost.
    pub lost_of_1000: u64,
    pub delay: Duration,
    /// It may take so much more or less.
    pub more_or_less: Duration,
    pub cut: bool,
}

#[derive(Debug, Default)]
struct Paths {
    /// From each host to each.
    paths: Vec<Vec<Path>>,
    /// Packets that were sent on each, and lost by chance.
    sent: Vec<Vec<u64>>,
    lost: u64,
}

pub struct Network {
    hosts: usize,
    hosts_file: String,
    paths: Arc<Mutex<Paths>>,
    over: Arc<AtomicBool>,
    switch: Option<JoinHandle<()>>,
}

fn ip(words: &[&str]) {
    let output = Command::new("ip").args(words).output().expect("ip runs");
    assert!(output.status.success(), "ip {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
}

fn namespace(host: usize) -> String {
    format!("/run/netns/h{host}")
}

/// The TUN device of a host, made in its namespace.
fn device(host: usize) -> File {
    let made = thread::spawn(move || {
        let space = File::open(namespace(host)).expect("a namespace");
        // SAFETY: the descriptor is open; only this thread, which ends, changes its namespace.
        assert_eq!(unsafe { libc::setns(space.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true).write(true), libc::O_NONBLOCK);
        let device = options.open("/dev/net/tun").expect("a TUN device");
        // SAFETY: a request of zeros is a valid one.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name[..2].copy_from_slice(&[b'e' as libc::c_char, b'0' as libc::c_char]);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request lives as long as the call.
        assert_eq!(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }, 0);
        device
    });
    made.join().expect("a device")
}

impl Network {
    /// So many hosts that reach each other at once. In the namespaces of [`apart`].
    pub fn new(hosts: usize) -> Network {
        let folder = std::path::Path::new("/run/scrimp");
        std::fs::create_dir_all(folder).expect("a folder");
        let hosts_file = folder.join("hosts.txt");
        let lines: String = (1..=hosts).map(|host| format!("10.9.0.{host}:7300\n")).collect();
        std::fs::write(&hosts_file, lines).expect("a file");
        let mut devices = Vec::new();
        for host in 0..hosts {
            let space = format!("h{host}");
            ip(&["netns", "add", &space]);
            devices.push(device(host));
            ip(&["-n", &space, "addr", "add", &format!("10.9.0.{}/24", host + 1), "dev", "e0"]);
            ip(&["-n", &space, "link", "set", "e0", "up"]);
            ip(&["-n", &space, "link", "set", "lo", "up"]);
        }
        let paths =
            Paths { paths: vec![vec![Path::default(); hosts]; hosts], sent: vec![vec![0; hosts]; hosts], lost: 0 };
        let (paths, over) = (Arc::new(Mutex::new(paths)), Arc::new(AtomicBool::new(false)));
        let (shared, is_over) = (paths.clone(), over.clone());
        let switch = thread::spawn(move || Switch::new(devices, shared).run(&is_over));
        let hosts_file = hosts_file.to_string_lossy().into_owned();
        Network { hosts, hosts_file, paths, over, switch: Some(switch) }
    }

    /// Changes the paths between two hosts, there and back.
    pub fn between(&self, a: usize, b: usize, change: impl Fn(&mut Path)) {
        let mut paths = self.paths.lock().expect("the switch runs");
        change(&mut paths.paths[a][b]);
        change(&mut paths.paths[b][a]);
    }

    /// Changes all paths from and to a host.
    pub fn around(&self, host: usize, change: impl Fn(&mut Path)) {
        (0..self.hosts).filter(|other| *other != host).for_each(|other| self.between(host, other, &change));
    }

    pub fn everywhere(&self, change: impl Fn(&mut Path)) {
        (0..self.hosts).for_each(|a| (a + 1..self.hosts).for_each(|b| self.between(a, b, &change)));
    }

    /// Packets that were lost by chance.
    pub fn lost(&self) -> u64 {
        self.paths.lock().expect("the switch runs").lost
    }

    /// Waits until so many packets were sent from any host to any other one: by then all work.
    pub fn wait_for_traffic(&self, packets: u64) {
        let end = Instant::now() + Duration::from_secs(30);
        let all = 0..self.hosts;
        let busy = || {
            let paths = self.paths.lock().expect("the switch runs");
            all.clone().all(|a| all.clone().all(|b| a == b || paths.sent[a][b] >= packets))
        };
        while !busy() {
            assert!(Instant::now() < end, "the hosts do not speak: {:?}", self.paths);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts `scrimp cluster` on a host.
    pub fn start(&self, host: usize, words: &[&str]) -> Child {
        Command::new("nsenter")
            .args([&format!("--net={}", namespace(host)), env!("CARGO_BIN_EXE_scrimp"), "cluster"])
            .args(["--hosts", &self.hosts_file, "--index", &host.to_string(), "--wait", "30s"])
            .args(words)
            .env("SCRIMP_SECRET", "known to all hosts of this test")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("nsenter starts the command")
    }

    /// The same command on all hosts.
    pub fn start_all(&self, words: &[&str]) -> Vec<Child> {
        (0..self.hosts).map(|host| self.start(host, words)).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let _ = self.switch.take().map(JoinHandle::join);
    }
}

/// A packet under way; the one that is due first is the greatest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    due: std::cmp::Reverse<(Instant, u64)>,
    to: usize,
    bytes: Vec<u8>,
}

struct Switch {
    devices: Vec<File>,
    paths: Arc<Mutex<Paths>>,
    under_way: BinaryHeap<Packet>,
    number: u64,
    random: u64,
}

impl Switch {
    fn new(devices: Vec<File>, paths: Arc<Mutex<Paths>>) -> Switch {
        Switch { devices, paths, under_way: BinaryHeap::new(), number: 0, random: 0x9E37_79B9_7F4A_7C15 }
    }

    /// A number below this one (xorshift).
    fn below(&mut self, most: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % most.max(1)
    }

    fn run(mut self, over: &AtomicBool) {
        let mut buffer = vec![0; 1 << 16];
        while !over.load(Ordering::Acquire) {
            self.wait();
            for from in 0..self.devices.len() {
                while let Ok(length) = self.devices[from].read(&mut buffer) {
                    self.take(from, &buffer[..length]);
                }
            }
            while self.under_way.peek().is_some_and(|packet| packet.due.0.0 <= Instant::now()) {
                if let Some(Packet { to, bytes, .. }) = self.under_way.pop() {
                    // A host that takes no more loses it, as anywhere.
                    let _ = self.devices[to].write(&bytes);
                }
            }
        }
    }

    /// Until something comes, or is due.
    fn wait(&self) {
        let most = Duration::from_millis(20);
        let wait =
            self.under_way.peek().map_or(most, |packet| packet.due.0.0.saturating_duration_since(Instant::now()));
        let wait = libc::timespec { tv_sec: 0, tv_nsec: wait.min(most).as_nanos() as _ };
        let ready = |device: &File| libc::pollfd { fd: device.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut all: Vec<libc::pollfd> = self.devices.iter().map(ready).collect();
        // SAFETY: the descriptors are open, and the list and the time live as long as the call.
        unsafe { libc::ppoll(all.as_mut_ptr(), all.len() as _, &raw const wait, std::ptr::null()) };
    }

    /// Takes a packet that a host has sent: IPv4 to another host, or of no concern.
    fn take(&mut self, from: usize, bytes: &[u8]) {
        // The last byte of the address that it is for.
        let to = bytes.get(19).filter(|_| bytes[0] >> 4 == 4).and_then(|to| (*to as usize).checked_sub(1));
        let Some(to) = to.filter(|to| *to < self.devices.len() && *to != from) else { return };
        let (lost, late) = (self.below(1000), self.below(1 << 20));
        let due = {
            let mut paths = self.paths.lock().expect("nobody panics with it");
            let path = paths.paths[from][to];
            paths.sent[from][to] += 1;
            let unlucky = lost < path.lost_of_1000;
            paths.lost += (unlucky && !path.cut) as u64;
            if path.cut || unlucky || self.under_way.len() >= MOST {
                return;
            }
            let late = path.more_or_less.mul_f64(2.0 * late as f64 / (1 << 20) as f64);
            Instant::now() + (path.delay + late).saturating_sub(path.more_or_less)
        };
        self.number += 1;
        self.under_way.push(Packet { due: std::cmp::Reverse((due, self.number)), to, bytes: bytes.to_vec() });
    }
}
