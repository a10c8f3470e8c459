//! `scrimp cluster` between hosts: network namespaces of this machine, with cables between them that lose packets, are long, or are cut.

#![cfg(target_os = "linux")]

mod switch;

use std::process::{Child, Output};
use std::time::{Duration, Instant};
use switch::{Network, apart};

const HOSTS: usize = 3;
/// A search that takes much longer than any of these tests.
const LONG: &str = "large/counters20.dve";

fn ended(children: Vec<Child>) -> Vec<Output> {
    children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn model(name: &str) -> String {
    format!("{}/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Counts on all hosts, and finds what one machine finds; answers what process 0 says.
fn counts(network: &Network) -> String {
    let outputs = ended(network.start_all(&["count", &model("phils6.dve"), "--json"]));
    for output in &outputs {
        assert!(output.status.success(), "{}", text(output));
    }
    let told: serde_json::Value = serde_json::from_slice(&outputs[0].stdout).expect("JSON");
    for (figure, value) in [("states", 24_040), ("transitions", 128_478), ("levels", 31), ("deadlocks", 1)] {
        assert_eq!(told[figure], value, "{figure}: {told}");
    }
    text(&outputs[0])
}

/// Begins a long search on all hosts, and lets something go wrong; all end with code 3 within `time`. Answers what each says.
fn ends(network: &Network, time: Duration, wrong: impl FnOnce(&mut [Child])) -> Vec<String> {
    let mut children = network.start_all(&["count", &model(LONG), "--memory", "200M"]);
    network.wait_for_traffic(300);
    for child in &mut children {
        assert_eq!(child.try_wait().expect("a state"), None, "the search goes on");
    }
    let begun = Instant::now();
    wrong(&mut children);
    let outputs = ended(children);
    let took = begun.elapsed();
    let said: Vec<String> = outputs.iter().map(text).collect();
    assert!(took < time, "{took:?} {said:?}");
    for output in &outputs {
        assert_eq!(output.status.code(), Some(3), "{said:?}");
    }
    said
}

/// What all say of hosts that reach each other, packets that are lost or late, and a host that is far away.
#[test]
fn hosts_count_as_one_machine_does() {
    if !apart(module_path!(), "hosts_count_as_one_machine_does") {
        return;
    }
    let network = Network::new(HOSTS);
    let said = counts(&network);
    assert!(!said.contains("is far away") && !said.contains("is slow"), "{said}");
    assert_eq!(network.lost(), 0);
}

#[test]
fn packets_may_be_lost_and_late() {
    if !apart(module_path!(), "packets_may_be_lost_and_late") {
        return;
    }
    let network = Network::new(HOSTS);
    network.everywhere(|path| {
        path.lost_of_1000 = 30;
        (path.delay, path.more_or_less) = (Duration::from_millis(3), Duration::from_millis(2));
    });
    counts(&network);
    assert!(network.lost() > 20, "{} packets were lost", network.lost());
}

#[test]
fn a_host_may_be_far_away() {
    if !apart(module_path!(), "a_host_may_be_far_away") {
        return;
    }
    let network = Network::new(HOSTS);
    network.around(2, |path| path.delay = Duration::from_millis(40));
    let said = counts(&network);
    assert!(said.contains("process 2 (10.9.0.3:7300) is far away: 80 ms there and back"), "{said}");
}

#[test]
fn a_cut_cable_ends_all() {
    if !apart(module_path!(), "a_cut_cable_ends_all") {
        return;
    }
    let network = Network::new(HOSTS);
    let said = ends(&network, Duration::from_secs(12), |_| network.around(1, |path| path.cut = true));
    assert!(said[0].contains("process 1 (10.9.0.2:7300) is gone"), "{}", said[0]);
    assert!(said[2].contains("process 1 (10.9.0.2:7300) is gone"), "{}", said[2]);
}

/// Two hosts that lose each other, while the first one hears both.
#[test]
fn who_loses_whom_is_told() {
    if !apart(module_path!(), "who_loses_whom_is_told") {
        return;
    }
    let network = Network::new(HOSTS);
    let said = ends(&network, Duration::from_secs(12), |_| network.between(1, 2, |path| path.cut = true));
    for said in said {
        let either = ["process 1 (10.9.0.2:7300) and process 2", "process 2 (10.9.0.3:7300) and process 1"];
        assert!(either.iter().any(|names| said.contains(names)), "{said}");
        assert!(said.contains("do not reach each other"), "{said}");
    }
}

/// A process that dies on another host closes its connections: that is seen at once.
#[test]
fn who_dies_on_another_host_is_named() {
    if !apart(module_path!(), "who_dies_on_another_host_is_named") {
        return;
    }
    let network = Network::new(HOSTS);
    let mut children = network.start_all(&["count", &model(LONG), "--memory", "200M"]);
    network.wait_for_traffic(300);
    let begun = Instant::now();
    let _ = children.pop().map(|mut last| (last.kill(), last.wait()));
    for output in ended(children) {
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains("process 2 (10.9.0.3:7300) is gone"), "{}", text(&output));
    }
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}
